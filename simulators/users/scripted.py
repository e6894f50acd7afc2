"""A user who answers from a script: canned replies by what the question says. For tests, the demo and CI."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from lab.core.codec import convert, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.ids_and_clock import now
from lab.core.safe_patterns import UnsafePattern, compile_pattern
from lab.core.seams import WaitCancelled
from lab.core.step import Question, Reply
from lab.core.task import Actor
from lab.core.trace import Step

UNPREPARED = "I don't mind, you decide."
UNFORESEEN = "No, leave it."
"""What a script without `otherwise` says to a question, and to a proposal, that it does not foresee."""

_SHOWN = 80
_SIMPLER = "`when` is a text or a regular expression with few repeats."


class ScriptedReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reply: its text, and the decision it carries (null for an answer to a plain question)."""

    say: str
    decision: Literal["accept", "reject"] | None = None


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reply to every question in which `when` is found, whatever its case; at most `times` times."""

    when: str
    say: str
    decision: Literal["accept", "reject"] | None = None
    times: int | None = None

    def fits(self, question: str) -> bool:
        """Whether `when` stands in the question: as it is written, or as a regular expression."""
        return _fits(self.when, question)


@lru_cache(maxsize=4096)
def _fits(when: str, question: str) -> bool:
    return when.casefold() in question.casefold() or compile_pattern(when, any_case=True).matches(question)


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The replies of one person in one run, first fitting one first."""

    id: str
    persona: str = ""
    replies: tuple[Line, ...] = ()
    otherwise: ScriptedReply | None = None


def load_script(path: Path) -> Script:
    """A script from a YAML file; a `LabError` names the file and the field that is wrong."""
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

    It keeps nothing: how often a line was used is counted in the history, so that a resumed run goes on as the
    first would have. A question nothing fits is answered by `otherwise`; without one, the choice is left to the
    agent (`UNPREPARED`), and a proposal is rejected (`UNFORESEEN`), because nobody has agreed to it.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.actor = Actor("script", script.id)

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """The first line that fits and is not used up, at once; `WaitCancelled` where `stop` is set."""
        if stop.is_set():
            raise WaitCancelled
        use_counts = [0] * len(self.script.replies)
        for step in history:
            if step.question is not None and step.reply is not None and step.reply.by == self.actor:
                reply_index = self._choose(step.question, use_counts, stop)
                if reply_index is not None:
                    use_counts[reply_index] += 1
        reply_index = self._choose(question, use_counts, stop)
        reply_text = self._unprepared(question) if reply_index is None else self.script.replies[reply_index]
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

    def _unprepared(self, question: Question) -> ScriptedReply:
        if self.script.otherwise is not None:
            return self.script.otherwise
        return ScriptedReply(UNFORESEEN, "reject") if question.kind == "propose" else ScriptedReply(UNPREPARED)


class Unscripted:
    """A `User` of a task without a script: nobody is needed until a question comes, which ends the run."""

    def __init__(self, task: str) -> None:
        self.actor = Actor("script", task)

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """No reply: a `LabError` says what was asked and how to answer it."""
        problem = f'has no script, and the agent asks: "{question.text[:_SHOWN]}"'
        raise LabError(f"task {self.actor.id}", problem, "--user script:FILE or model:NAME answers.")
