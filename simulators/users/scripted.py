"""A user with a script: canned replies selected by the question's text, for tests, the demo and CI."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from lab.core.codec import convert, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.run.step import Question, Reply
from lab.core.run.trace import Step
from lab.core.seams import WaitCancelled
from lab.core.task.task import Actor
from lab.core.text.safe_patterns import UnsafePattern, compile_pattern
from lab.core.values.ids_and_clock import now

UNPREPARED = "I don't mind, you decide."
UNFORESEEN = "No, leave it."
"""Replies of a script without `otherwise` to an unmatched question (`UNPREPARED`) and proposal (`UNFORESEEN`)."""

_SHOWN = 80
_SIMPLER = "`when` is a text or a regular expression with few repeats."


class ScriptedReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reply: its text and its decision (None for an answer to a plain question)."""

    say: str
    decision: Literal["accept", "reject"] | None = None


class ReplyRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reply to each question that contains `when`, ignoring case, at most `times` times."""

    when: str
    say: str
    decision: Literal["accept", "reject"] | None = None
    times: int | None = None

    def fits(self, question: str) -> bool:
        """Return True if the question contains `when` literally, or matches it as a regular expression."""
        return _matches(self.when, question)


@lru_cache(maxsize=4096)
def _matches(when: str, question: str) -> bool:
    # Matching repeats over the whole history at each question, hence the cache.
    return when.casefold() in question.casefold() or compile_pattern(when, any_case=True).matches(question)


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Replies of one person in one run. The first match wins."""

    id: str
    persona: str = ""
    replies: tuple[ReplyRule, ...] = ()
    otherwise: ScriptedReply | None = None


def load_script(path: Path) -> Script:
    """Load a script from a YAML file. Raise `LabError` with the file and the wrong field."""
    what = f"script file {path}"
    value = read_yaml(read_file(path, what), what).value
    if not isinstance(value, dict):
        raise LabError(what, "holds no mapping of fields", "It needs replies: a list of when and say.")
    value.setdefault("id", path.stem)
    script: Script = convert(value, Script, what)
    for number, line in enumerate(script.replies):
        place = f"field replies[{number}]"
        try:
            compile_pattern(line.when, any_case=True)
        except UnsafePattern as refused:
            raise LabError(what, f"{place}.when: {line.when[:_SHOWN]!r} {refused}", _SIMPLER) from refused
        if line.times is not None and line.times < 1:
            raise LabError(what, f"{place}.times: {line.times} is less than once")
    return script


class Scripted:
    """A `User` that answers from a script.

    It is stateless: it counts each line's uses in the history, so that a resumed run continues as the original would.
    `otherwise` answers an unmatched question. Without it, `UNPREPARED` leaves the choice to the agent, and `UNFORESEEN`
    rejects a proposal, because nobody has agreed to it.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.actor = Actor("script", script.id)

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """Return the first matching line that is not used up, at once. Raise `WaitCancelled` if `stop` is set."""
        if stop.is_set():
            raise WaitCancelled
        # Replays the script over the history to find which lines are used up.
        use_counts = [0] * len(self.script.replies)
        for step in history:
            if step.question is not None and step.reply is not None and step.reply.by == self.actor:
                reply_index = self._choose(step.question, use_counts, stop)
                if reply_index is not None:
                    use_counts[reply_index] += 1
        reply_index = self._choose(question, use_counts, stop)
        reply_text = self._fallback(question) if reply_index is None else self.script.replies[reply_index]
        at = now()
        return Reply(
            question_id=question.id,
            text=reply_text.say,
            by=self.actor,
            decision=reply_text.decision,
            shown_at=at,
            sent_at=at,
            edits=0,
        )

    def _choose(self, question: Question, use_counts: list[int], stop: threading.Event) -> int | None:
        for number, line in enumerate(self.script.replies):
            if stop.is_set():
                raise WaitCancelled
            if (line.times is None or use_counts[number] < line.times) and line.fits(question.text):
                return number
        return None

    def _fallback(self, question: Question) -> ScriptedReply:
        if self.script.otherwise is not None:
            return self.script.otherwise
        return ScriptedReply(UNFORESEEN, "reject") if question.kind == "propose" else ScriptedReply(UNPREPARED)


class Unscripted:
    """A `User` of a task without a script, which fails the run at the first question."""

    def __init__(self, task: str) -> None:
        self.actor = Actor("script", task)

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """Raise a `LabError` with the question and how to answer it."""
        problem = f'has no script, and the agent asks: "{question.text[:_SHOWN]}"'
        raise LabError(f"task {self.actor.id}", problem, "--user script:FILE or model:NAME answers.")
