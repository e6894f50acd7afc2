"""A language model in the user's chair: it is told whom it plays, and answers in their words.

What it is conditioned on is what KnowU-Bench (3.2, E.2) names for its user agent: profile, environment, the task's own
instruction and decision policy, the dialogue, the question. The words on the screen are told where a study shows
people the phone; no rubric, no outcome, no thoughts of the agent's ever are. All of it comes through the door by which
raters get runs (`lab.core.blinding`). The prompts are our own, and files beside this one.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

from lab.core.blinding import NOBODY, blind_event
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.ids_and_clock import now
from lab.core.plain_text import plain
from lab.core.prompt_files import fill_prompt, prompts_version
from lab.core.protocol import Show
from lab.core.settings import Settings
from lab.core.step import Action, Observation, Proposed, Question, Reply, Usage
from lab.core.task import Actor, Persona, Task
from lab.core.trace import Asked, Started, Step
from lab.llm.client import Llm, Message, NoModelAnswer, terms
from lab.llm.json_in_text import SeveralAnswers, answer_in, why_no_object

USER_SHOWS: tuple[Show, ...] = ("instruction", "context", "persona", "policy", "dialogue")
"""What every user is told, a person as a model."""
SEEING_SHOWS: tuple[Show, ...] = (*USER_SHOWS, "screens")
"""What a user is told who sees the phone, too."""
UNKNOWN, UNKNOWN_ZH = "I don't know.", "我不知道。"
"""What is said, and nothing else, where neither profile nor task holds what was asked."""
PACKAGE = "simulators.users"
VERSION = prompts_version(
    PACKAGE, "user-rules.md", "user-unseen.md", "user-seen.md", "user-question.md", "user-proposal.md", "user-repair.md"
)
"""The hash of all that is told besides the person and the dialogue."""
_LONGEST = 4_000
"""Characters of one line of the dialogue that are told."""
_MOST_WORDS = 120
"""Texts of one screen that are told, from top to bottom."""


class UnusableReply(Exception):
    """The answer holds no reply; the message says why, for the model and for people."""


class UserPart(NamedTuple):
    """Whom a model plays, and what it is shown: the task and the persona as they are, which `shows` cuts."""

    task: Task
    persona: Persona | None
    shows: tuple[Show, ...] = USER_SHOWS


class ModelUser:
    """A `User` that asks a model anew for each question, with all it needs to know, so that runs resume and fork.

    An answer that cannot be used is asked for once more with the reason; if that fails too, or none comes, a `LabError`
    says so, and the run fails with that sentence: no reply is ever made up.
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
        """The hash of its name, its prompt and how it is asked; what it cost or how long it may take is not in it."""
        on = self._llm.terms
        screen_terms = ("screens",) if "screens" in self._part.shows else ()
        terms = (self._llm.model, VERSION, *screen_terms, on.base, on.tokens, on.temperature)
        return hashlib.sha256(encode(terms)).hexdigest()

    def look(self, screen: Observation) -> None:
        """Takes what the phone shows when the next question is asked; told only to a user who sees it."""
        self._screen = screen

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """The model's answer; `Withdrawn` soon after `stop` is set."""
        self._llm.load(stop)  # the seconds of that are none that the model took
        shown_at, usage = now(), Usage(tries=0)
        messages = list(user_messages(self._part, question, history, self._screen))
        why = ""
        for _ in range(2):
            try:
                answer = self._llm.ask(messages, stop)
            except NoModelAnswer as error:
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
    """A model gave no reply in two answers; `usage` is what they cost."""

    def __init__(self, title: str, message: str, usage: Usage) -> None:
        super().__init__(title, message)
        self.usage = usage


def user_messages(
    part: UserPart, question: Question, history: Sequence[Step], screen: Observation
) -> tuple[Message, ...]:
    """Exactly what a model is sent for a question: the rules, then the person, what was said, the screen if it is seen.

    Nothing that `part.shows` does not name is in it, whatever task, persona, history or screen hold.
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
    """The instructions that a model plays a user by."""
    general_rules = fill_prompt(PACKAGE, "user-rules.md", unknown=UNKNOWN, unknown_zh=UNKNOWN_ZH)
    screen_rules = fill_prompt(PACKAGE, "user-seen.md" if "screens" in shows else "user-unseen.md")
    return f"{general_rules}\n\n{screen_rules}\n(instructions {VERSION})"


def seat_words(task: Task, persona: Persona | None) -> str:
    """Whom the model plays, where they are, what they asked for, and how they decide."""
    facts = json.dumps(persona.facts, ensure_ascii=False, indent=1) if persona is not None else "Nothing is known."
    parts = [
        f"# Who you are\n{persona.name if persona is not None else 'The owner of the phone.'}\n{facts}",
        f"# When and where\n{', '.join(part for part in (task.time, task.place) if part) or 'Not said.'}",
        f"# What you asked the assistant for\n{task.instruction or 'Nothing.'}",
        f"# How you decide here\n{task.policy or 'As the profile says.'}",
    ]
    return "\n\n".join(parts)


def dialogue_lines(history: Sequence[Step]) -> list[str]:
    """What the two have said to each other so far; nothing of what was done or thought in between."""
    lines: list[str] = []
    for step in history:
        if step.question is None or step.reply is None:
            continue
        decided = f"[{step.reply.decision}] " if step.reply.decision else ""
        lines += [f"Assistant: {_line(step.question.text)}", f"You: {decided}{_line(step.reply.text)}".rstrip()]
    return lines


def screen_lines(screen: Observation) -> list[str]:
    """The texts on a screen, each once, from top to bottom; none of a password field."""
    if screen.tree is None:
        return []
    nodes = [node for node in screen.tree.nodes() if node.label.strip() and not node.password]
    nodes.sort(key=lambda node: (node.bounds.top, node.bounds.left))
    return list(dict.fromkeys(plain(node.label.strip(), lines=False) for node in nodes))[:_MOST_WORDS]


def read_reply(text: str, *, proposal: bool) -> tuple[str, Literal["accept", "reject"] | None]:
    """The reply in a model's answer; `UnusableReply` where there is none, or a proposal is left undecided."""
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
    """The user that `model:NAME` stands for, on the terms that a person has set."""
    llm = Llm(name, terms(settings))
    llm.check()
    return ModelUser(name, llm, task, persona, shows)
