"""Reading a note, and writing one."""

from __future__ import annotations

import re

from lab.agents.doing import Doing, GiveUp
from lab.agents.facts import from_texts
from lab.agents.goals import Fact, Write
from lab.agents.reading import mentions, words
from lab.agents.search import by_search
from lab.agents.skills.looking import told
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Notes", "Notepad", "Keep", "备忘录", "笔记")
_NEW = ("New note", "Add note", "Create", "Compose", "新建")
_DONE = ("Done", "Save", "完成", "保存")
_HINTS = re.compile(r"^(add an? |new )?item$|^title$|^note$|^edited\b", re.IGNORECASE)


def do_write(work: Work, goal: Write) -> Doing[None]:
    """A note whose words may have to be looked up first."""
    text = goal.text or (yield from told(work, goal.facts))
    yield from write_note(work, goal.title, text)


def look(work: Work, fact: Fact) -> Doing[str | int]:
    """What of a note is asked for: a number, a time, its open items, or all of it, line by line."""
    title, what = fact.name, fact.what
    yield from _open_note(work, title)
    lines: list[str] = []
    for _ in range(8):
        lines += [line for line in _lines(work, title, what == "open") if line not in lines]
        moved = yield from work.scroll("down", f"I read on in the note {title!r}.")
        if not moved:
            break
    lines += [line for line in _lines(work, title, what == "open") if line not in lines]
    found = "\n".join(lines) if what in ("all", "open") else from_texts(lines, what)
    if found is None or found == "":
        raise GiveUp(f"I found no {what} in the note {title!r}")
    return found


def write_note(work: Work, title: str, text: str) -> Doing[None]:
    """A new note with a title and a text, unless there is one with both."""
    if not (yield from work.open_app(*_APP, hints=("note",))):
        raise GiveUp("I found no notes on this phone")
    if work.find(title, exact=True) is not None and (not text or work.find(text) is not None):
        return
    button = yield from work.seek(*_NEW, role="tap", most=2)
    if button is None:
        raise GiveUp("I found no way to begin a note")
    yield from work.tap(button, "I begin a new note.")
    parts = [part for part in (title, text) if part]
    for number, part in enumerate(parts):
        fields = work.fields()
        if not fields:
            raise GiveUp("I found no place to write the note")
        field = fields[min(number if len(parts) > 1 else len(fields) - 1, len(fields) - 1)]
        yield from work.fill(field, part, "I write the note's title." if number == 0 else "I write the note.")
    done = work.find(*_DONE, exact=True, role="tap")
    if done is not None:
        yield from work.tap(done, "The note is written.")


def _open_note(work: Work, title: str) -> Doing[None]:
    if not (yield from work.open_app(*_APP, hints=("note",))):
        raise GiveUp("I found no notes on this phone")
    card = yield from work.seek(title, exact=True)
    card = card or (yield from work.seek(title)) or (yield from by_search(work, title))
    if card is None:
        raise GiveUp(f"I found no note called {title!r}")
    yield from work.tap(work.row(card), f"I open the note {title!r}.")


def _lines(work: Work, title: str, only_open: bool) -> list[str]:
    """The note's lines that can be seen now, in order, without its title and the words of the app."""
    boxes = [n for n in work.nodes() if n.checkable]
    lines = []
    for node in _written(work):
        if not node.text or _HINTS.match(node.text) or words(node.text) == words(title):
            continue
        box = next((b for b in boxes if b.bounds.top < node.bounds.center[1] < b.bounds.bottom), None)
        if not (only_open and (box is None or box.checked)):
            lines += [line.strip() for line in node.text.splitlines() if line.strip()]
    return lines


def _written(work: Work) -> list[Node]:
    """What holds the note's words: its fields, or where it is shown for reading, its texts."""
    fields = [field for field in work.fields() if not mentions(field.desc, "search")]
    if fields:
        return fields
    body = work.body()
    return [n for n in body.walk() if n.text and not n.clickable] if body else []
