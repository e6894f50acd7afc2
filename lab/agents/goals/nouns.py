"""What a goal is, and what a clause of an instruction (or of a line of the log) gives its readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from lab.agents.reading import quoted


class Fact(NamedTuple):
    """Something to be read first: `kind` says where (a message, a note, ...), `name` whose or which, `what` of it.

    `of` is a fact that has to be read before, where the name is only known from it; a fact without a name among
    several hangs on the one before it.
    """

    kind: str
    name: str
    what: str
    of: Fact | None = None


class Goal(Protocol):
    """Something wanted of a phone, or done on one; a NamedTuple whose fields are what was said of it."""

    @property
    def key(self) -> tuple[object, ...]:
        """What two goals share that are the same habit."""
        ...

    @property
    def definite(self) -> bool:
        """Whether enough is said of it to do it."""
        ...

    def said(self) -> str:
        """The goal in words, as one would propose it."""
        ...


class Clause(NamedTuple):
    """One thing that is wanted: its own words from the verb on, and the whole text it stands in."""

    words: str
    text: str
    sources: tuple[Source, ...] = ()

    def fact(self, what: str) -> Fact | None:
        """Where the clause, else the whole text, says that something is to be read."""
        return _first(self.sources, self.words, what) or _first(self.sources, self.text, what)

    def facts(self) -> tuple[Fact, ...]:
        """Everything that the clause wants looked up, part by part; what its text points at, where it names none."""
        parts = re.split(r"\s*[,;，、]\s*(?:and\s+)?|\s+and\s+", self.words)
        found = [fact for part in parts if (fact := _first(self.sources, part, content_of(part))) is not None]
        found = [
            fact if fact.name else fact._replace(of=before) for before, fact in zip([None, *found], found, strict=False)
        ]
        if len(set(found)) > 1:
            return tuple(dict.fromkeys(found))
        own = _first(self.sources, self.words, content_of(self.words))
        if found and own is not None and (own.kind, own.name) == (found[0].kind, found[0].name):
            return (own,)  # the parts before the one that says where are its particulars
        if found:
            return (found[0],)
        whole = self.fact(content_of(self.words))
        return (whole,) if whole is not None else ()

    def said(self) -> list[str]:
        """What the clause has in quotation marks, but for the names of what is to be read."""
        named = {fact.name for fact in self.facts()}
        return [words for words in quoted(self.words) if words not in named]


Source = Callable[[str, str], Fact | None]
"""Finds in a text (first) where `what` (second) is to be read."""
Reader = Callable[[Clause], Sequence[Goal]]
"""What one clause asks for; nothing where it turns out to ask for something else."""


class Grammar(NamedTuple):
    """How one family of goals is said: its verbs (patterns at the head of a clause) with their readers.

    `sources` find the facts that stand in the family's apps, `conditions` what an `if` may ask of them.
    """

    verbs: Mapping[str, tuple[str, Reader]] = {}
    sources: tuple[Source, ...] = ()
    conditions: tuple[Callable[[str], Condition | None], ...] = ()


class Condition(Protocol):
    """Something that is so or not so on this phone; a NamedTuple."""

    def said(self) -> str:
        """The condition in words."""
        ...


TITLES = r"(?:(?:Prof|Dr|Mr|Ms|Mrs)\.?\s+)?"
NAME = rf"(?:{TITLES}[A-Z][\w’-]*(?:\s+[A-Z][\w’-]*)*|[\u4e00-\u9fff]{{2,4}})"
"""A person, a place or a thing as names are written: capitals, or two to four Chinese characters."""


def cut(text: str, ends: str) -> str:
    """What of a text stands before the first of `ends`."""
    return re.split(ends, text, maxsplit=1, flags=re.IGNORECASE)[0].strip(" \t\n'\"“”‘’")


def hint_of(text: str) -> str:
    """The words of a text that say which of several times is meant."""
    return " ".join(re.findall(r"\b(?:arriv|land|leav|depart|start|begin|board|open|clos)\w*", text, re.IGNORECASE))


def content_of(clause: str) -> str:
    """What is to be passed on: a number, a time, what is not ticked off, else all of it."""
    if re.search(
        r"\bnot (?:yet )?(?:ticked|checked|crossed|done)|\bun(?:ticked|checked)|\bstill\b|\bopen items", clause
    ):
        return "open"
    m = re.search(r"\bthe\s+((?:[\w-]+\s+)?(?:number|code|time|address))\b", clause, re.IGNORECASE)
    return m[1].lower() if m else "all"


def _first(sources: Sequence[Source], text: str, what: str) -> Fact | None:
    return next((fact for source in sources if (fact := source(text, what)) is not None), None)
