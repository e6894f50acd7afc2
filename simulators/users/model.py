"""A language model as the user simulator: it plays a persona and answers the agent's questions.

Its prompt holds what KnowU-Bench (3.2, E.2) gives its user agent: profile, environment, the task's instruction and
decision policy, the dialogue, the question. It holds the screen's texts only if a study shows people the phone, and
never a rubric, an outcome or the agent's thoughts. All of it passes the filter that also prepares runs for raters
(`lab.core.study.blinding`). The prompts are our own, in files beside this one.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.step import Action, Observation, Proposed, Question, Reply, Usage
from lab.core.run.trace import Asked, Started, Step
from lab.core.settings import Settings
from lab.core.study.blinding import NOBODY, blind_event
from lab.core.study.protocol import Show
from lab.core.task.task import Actor, Persona, Task
from lab.core.text.plain_text import plain
from lab.core.text.prompt_files import fill_prompt, prompts_version
from lab.core.values.ids_and_clock import now
from lab.llm.client import Llm, Message, NoModelAnswer, terms
from lab.llm.json_in_text import SeveralAnswers, answer_in, why_no_object

USER_SHOWS: tuple[Show, ...] = ("instruction", "context", "persona", "policy", "dialogue")
"""Parts of a run that every user sees, person or model."""
SEEING_SHOWS: tuple[Show, ...] = (*USER_SHOWS, "screens")
"""Parts of a run for a user who also sees the phone."""
UNKNOWN, UNKNOWN_ZH = "I don't know.", "我不知道。"
"""Complete reply if neither profile nor task holds the answer."""
PACKAGE = "simulators.users"
VERSION = prompts_version(
    PACKAGE, "user-rules.md", "user-unseen.md", "user-seen.md", "user-question.md", "user-proposal.md", "user-repair.md"
)
"""Hash of the whole prompt except the person and the dialogue."""
_LONGEST = 4_000
"""Most characters of one line of the dialogue."""
_MOST_WORDS = 120
"""Most texts of one screen, from top to bottom."""


class UnusableReply(Exception):
    """A model's answer holds no reply. The message states the reason, for the model and for people."""


class UserPart(NamedTuple):
    """Part that a model plays: the unblinded task and persona, and the parts it may see (`shows`)."""

    task: Task
    persona: Persona | None
    shows: tuple[Show, ...] = USER_SHOWS


class ModelUser:
    """A `User` that asks a model, with a self-contained prompt for each question, so that runs resume and fork.

    It asks once more, with the reason, if an answer is unusable. If that fails too, or no answer arrives, a `LabError`
    fails the run: it never makes up a reply.
    """

    def __init__(
        self, name: str, llm: Llm, task: Task, persona: Persona | None, shows: Collection[Show] = USER_SHOWS
    ) -> None:
        self.actor = Actor("model", f"model:{name}", name)
        self._llm = llm
        self._part = UserPart(task, persona, tuple(shows))
        self._screen = Observation()

    @property
    def config_sha(self) -> str:
        """Hash of its model, prompt and sampling terms, without costs and time limits."""
        on = self._llm.terms
        screen_terms = ("screens",) if "screens" in self._part.shows else ()
        terms = (self._llm.model, VERSION, *screen_terms, on.base, on.tokens, on.temperature)
        return hashlib.sha256(encode(terms)).hexdigest()

    def see_screen(self, screen: Observation) -> None:
        """Store the phone's screen for the next question. Only a user who sees the phone gets it in the prompt."""
        self._screen = screen

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """Return the model's reply. Raise `WaitCancelled` soon after `stop` is set."""
        # Loading the client library first excludes its seconds from the model's answer time.
        self._llm.load(stop)
        shown_at, usage = now(), Usage(tries=0)
        messages = list(user_messages(self._part, question, history, self._screen))
        why = ""
        for _ in range(2):
            try:
                answer = self._llm.ask(messages, stop)
            except NoModelAnswer as error:
                # The first answer was paid for, too.
                error.usage = usage.plus(error.usage)
                raise
            usage = usage.plus(answer.usage)
            try:
                text, decision = read_reply(answer.text, proposal=question.kind == "propose")
            except UnusableReply as unusable:
                why = str(unusable)
                again = fill_prompt(PACKAGE, "user-repair.md", problem=why)
                messages += [Message("assistant", (answer.text,)), Message("user", (again,))]
            else:
                return Reply(
                    question.id, text, self.actor, decision, shown_at=shown_at, sent_at=now(), edits=0, usage=usage
                )
        raise UnusedReplies(
            f"user {self.actor.id}", f"gave no usable reply in two answers: {plain(why, lines=False)}.", usage
        )


class UnusedReplies(LabError):
    """A model gave no usable reply in two answers. `usage` is their cost."""

    def __init__(self, title: str, message: str, usage: Usage) -> None:
        super().__init__(title, message)
        self.usage = usage


def user_messages(
    part: UserPart, question: Question, history: Sequence[Step], screen: Observation
) -> tuple[Message, ...]:
    """Return the exact messages for a question: the rules, then the person, the dialogue and, if seen, the screen.

    They contain nothing that `part.shows` does not name, whatever task, persona, history or screen hold.
    """
    shows = part.shows
    start_event = blind_event(Started(trace="", task=part.task, agent=NOBODY, persona=part.persona), shows)
    question_event = blind_event(Asked(index=0, question=question, proposed=_NOTHING, before=screen), shows)
    assert isinstance(start_event, Started)
    assert isinstance(question_event, Asked)
    steps = [step for past_step in history if isinstance(step := blind_event(past_step, shows), Step)]
    lines = [seat_words(start_event.task, start_event.persona), ""]
    lines += ["# Said so far", *(dialogue_lines(steps) or ["Nothing yet."]), ""]
    if "screens" in shows:
        lines += ["# The phone shows", *(screen_lines(question_event.before) or ["Nothing that can be read."]), ""]
    lines += ["# The assistant now says", _line(question_event.question.text)]
    lines += [f"  {number}  {_line(option)}" for number, option in enumerate(question_event.question.options, 1)]
    lines += ["", fill_prompt(PACKAGE, "user-proposal.md" if question.kind == "propose" else "user-question.md")]
    return Message("system", (rules(shows),)), Message("user", ("\n".join(lines),))


def rules(shows: Collection[Show] = USER_SHOWS) -> str:
    """Return the system prompt of a model user."""
    general_rules = fill_prompt(PACKAGE, "user-rules.md", unknown=UNKNOWN, unknown_zh=UNKNOWN_ZH)
    screen_rules = fill_prompt(PACKAGE, "user-seen.md" if "screens" in shows else "user-unseen.md")
    return f"{general_rules}\n\n{screen_rules}\n(instructions {VERSION})"


def seat_words(task: Task, persona: Persona | None) -> str:
    """Describe the persona, the situation, the request and the decision policy."""
    facts = json.dumps(persona.facts, ensure_ascii=False, indent=1) if persona is not None else "Nothing is known."
    parts = [
        f"# Who you are\n{persona.name if persona is not None else 'The owner of the phone.'}\n{facts}",
        f"# When and where\n{', '.join(part for part in (task.time, task.place) if part) or 'Not said.'}",
        f"# What you asked the assistant for\n{task.instruction or 'Nothing.'}",
        f"# How you decide here\n{task.policy or 'As the profile says.'}",
    ]
    return "\n\n".join(parts)


def dialogue_lines(history: Sequence[Step]) -> list[str]:
    """Return the questions and replies so far, without actions and thoughts."""
    lines: list[str] = []
    for step in history:
        if step.question is None or step.reply is None:
            continue
        decided = f"[{step.reply.decision}] " if step.reply.decision else ""
        lines += [f"Assistant: {_line(step.question.text)}", f"You: {decided}{_line(step.reply.text)}".rstrip()]
    return lines


def screen_lines(screen: Observation) -> list[str]:
    """Return a screen's distinct texts from top to bottom, without those of password fields."""
    if screen.tree is None:
        return []
    nodes = [node for node in screen.tree.nodes() if node.label.strip() and not node.password]
    nodes.sort(key=lambda node: (node.bounds.top, node.bounds.left))
    return list(dict.fromkeys(plain(node.label.strip(), lines=False) for node in nodes))[:_MOST_WORDS]


def read_reply(text: str, *, proposal: bool) -> tuple[str, Literal["accept", "reject"] | None]:
    """Parse the reply in a model's answer.

    Raise `UnusableReply` if there is none, or it leaves a proposal undecided.
    """
    try:
        answer = answer_in(text, lambda found: "text" in found or "decision" in found)
    except SeveralAnswers as error:
        raise UnusableReply(str(error)) from error
    if answer is None:
        raise UnusableReply(f"there is no JSON object with a text in it{why_no_object(text)}")
    reply_text: Any = answer.get("text")
    words = reply_text.strip() if isinstance(reply_text, str) else ""
    if not proposal:
        if not words:
            raise UnusableReply("text is empty; the question needs an answer in words")
        return words, None
    decision = answer.get("decision")
    decision = decision.strip().casefold() if isinstance(decision, str) else decision
    match decision:
        case "accept" | "reject":
            return words, decision
        case "none" if words:
            return words, None
    raise UnusableReply('decision must be "accept" or "reject", or "none" with an answer in words')


_NOTHING = Proposed(Action("wait"))


def _line(text: str) -> str:
    line = plain(text.strip())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def model_user(
    name: str, settings: Settings, task: Task, persona: Persona | None, shows: Collection[Show] = USER_SHOWS
) -> ModelUser:
    """Return the user for `model:NAME` with the terms of the settings."""
    llm = Llm(name, terms(settings))
    llm.check()
    return ModelUser(name, llm, task, persona, shows)
