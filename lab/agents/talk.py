"""What the agent asks of the person, and what it makes of the answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from lab.agents.doing import Doing, GiveUp, Seen
from lab.agents.habits import Deed, deeds
from lab.agents.hands import Hands
from lab.agents.reading import Entry, agrees, chosen, chosen_time, leaves_open, read_log, read_time, refuses, shown_time
from lab.seams import Brief
from lab.turn import Action, Reply

T = TypeVar("T")

_NONE = re.compile(r"\b(no|without an?|skip the) alarm\b|不用闹钟|不要闹钟", re.IGNORECASE)


class Refused(Exception):
    """The person said no to the whole thing."""


class Work(Hands):
    """The phone in hand, what was asked, and what the log tells."""

    def __init__(self, brief: Brief, seen: Seen, looks: Mapping[str, Any] | None = None) -> None:
        """`looks` reads a fact by its kind (`lab.agents.skills.LOOKS`)."""
        super().__init__(seen)
        self.brief = brief
        self.looks = looks or {}
        self.entries: list[Entry] = read_log(brief.log)
        self.deeds: list[Deed] = deeds(self.entries)
        self.said: list[str] = []
        """What the person said in this run, in order."""
        self.known: dict[object, Any] = {}
        """What was asked or read already, so that an errand begun anew does not ask again."""

    @property
    def now(self) -> datetime | None:
        """The time that was told."""
        return read_time(self.brief.time)

    def ask(self, question: str, thought: str) -> Doing[Reply]:
        """Asks, and gives the reply; a question that is not let through is asked once more."""
        for _ in range(2):
            yield from self.act(Action("ask_user", text=question), thought)
            if self.seen.reply is not None:
                self.said.append(self.seen.reply.text)
                return self.seen.reply
        raise GiveUp("my question was not let through")

    def once(self, key: object, doing: Doing[T]) -> Doing[T]:
        """What a doing comes to, done only the first time."""
        if key not in self.known:
            self.known[key] = yield from doing
        found: T = self.known[key]
        return found

    def ask_once(self, question: str, thought: str) -> Doing[str]:
        """The words of a reply; refusing them raises `Refused`."""
        if question not in self.known:
            reply = yield from self.ask(question, thought)
            if reply.decision == "reject" or _off(reply.text):
                raise Refused
            self.known[question] = reply.text
        return str(self.known[question])

    def propose(self, question: str, thought: str) -> Doing[str]:
        """Asks for leave, once more where the answer is only another question; the words that came with it.

        Raises `Refused` where the answer is no, or is still none after the second time.
        """
        for said in (question, f"That I cannot tell. {question}"):
            reply = yield from self.ask(said, thought)
            if reply.decision == "accept":
                return reply.text
            if reply.decision == "reject" or refuses(reply.text):
                raise Refused
            if agrees(reply.text):
                return reply.text
            thought = "That was no yes and no no, so I ask once more."
        raise Refused

    def choose(self, question: str, options: Sequence[str], usual: str | None, thought: str) -> Doing[str]:
        """Which of some options the person wants, asked once; the usual one where they leave it open."""
        return (yield from self.once(question, self._choose(question, options, usual, thought)))

    def _choose(self, question: str, options: Sequence[str], usual: str | None, thought: str) -> Doing[str]:
        for _ in range(2):
            reply = yield from self.ask(question, thought)
            picked = chosen(reply.text, options)
            if reply.decision == "reject" or (picked is None and _off(reply.text)):
                raise Refused
            if picked is not None:
                return picked
            if leaves_open(reply.text):
                return usual or options[0]
            question = f"I need one of these: {', '.join(options)}. Which shall it be?"
            thought = "I could not find any of the options in that answer, so I ask once more."
        if usual is None:
            raise GiveUp(f"I could not tell which of {', '.join(options)} you want")
        return usual

    def choose_time(self, question: str, options: Sequence[int], thought: str) -> Doing[int | None]:
        """What time the person wants, asked once; None where they want that left out."""
        return (yield from self.once(question, self._choose_time(question, options, thought)))

    def _choose_time(self, question: str, options: Sequence[int], thought: str) -> Doing[int | None]:
        for _ in range(2):
            reply = yield from self.ask(question, thought)
            if _NONE.search(reply.text):
                return None
            minute = chosen_time(reply.text, options)
            if reply.decision == "reject" or (minute is None and _off(reply.text)):
                raise Refused
            if minute is not None:
                return minute
            if leaves_open(reply.text) and options:
                return options[0]
            question = "I did not find a time in that. At what time, as in 09:05?"
            thought = "I could not read a time in that answer, so I ask once more."
        if not options:
            raise GiveUp("I could not tell what time you want")
        return options[0]


def _off(text: str) -> bool:
    return refuses(text) and not leaves_open(text)


def listed(options: Sequence[str], last: str = "or") -> str:
    """Options as a person would say them."""
    if len(options) < 2:
        return "".join(options)
    return f"{', '.join(options[:-1])} {last} {options[-1]}"


def listed_times(minutes: Sequence[int]) -> str:
    """Times of day as a person would say them."""
    return listed([shown_time(minute) for minute in sorted(minutes)])
