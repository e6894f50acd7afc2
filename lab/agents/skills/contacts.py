"""Saving a number in the book of people, and calling somebody."""

from __future__ import annotations

import re

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.people import Call, SaveContact
from lab.agents.reading import words
from lab.agents.search import by_search
from lab.agents.skills.looking import look_up
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Contacts", "People", "Phone", "通讯录", "联系人")
_HINTS = ("contact", "people")
_BOOK = ("Contacts", "People", "联系人")
_NEW = ("New contact", "Add contact", "Create contact", "Create new contact", "新建联系人")
_SAVE = ("Save", "Done", "OK", "保存", "完成")
_CALL = ("Call", "Dial", "呼叫", "拨打")
_NAME, _PHONE = ("Name", "Full name", "First name", "姓名"), ("Phone", "Number", "Phone number", "Mobile", "电话")
_TALKING = ("End call", "Hang up", "挂断")


def do_save(work: Work, goal: SaveContact) -> Doing[None]:
    """A new entry with a name and a number, unless there is one with both."""
    number = goal.number
    if not number:
        if goal.fact is None:
            raise GiveUp(f"I do not know the number of {goal.name}")
        number = str((yield from look_up(work, goal.fact)))
    person = yield from _find(work, goal.name)
    if person is not None:
        yield from work.tap(work.row(person), f"There is a {goal.name} already; I look at the number.")
        if _same(number, work.texts()):
            return
        raise GiveUp(f"there is a {goal.name} with another number in the contacts")
    yield from work.to_root()
    button = yield from work.seek(*_NEW, role="tap", most=2)
    if button is None:
        raise GiveUp("I found no way to add a contact")
    yield from work.tap(button, f"There is no {goal.name} in the contacts yet; I add one.")
    yield from _fill(work, _NAME, goal.name, f"I type the name {goal.name}.")
    yield from _fill(work, _PHONE, number, f"I type the number {number}.")
    save = work.find(*_SAVE, exact=True, role="tap")
    if save is None:
        raise GiveUp("I found no way to save the contact")
    yield from work.tap(save, f"I save {goal.name}.")
    if work.find(*_PHONE, exact=True, role="field") is not None:
        raise GiveUp(f"{goal.name} was not saved")


def do_call(work: Work, goal: Call) -> Doing[None]:
    """Rings somebody up, from their page in the contacts."""
    if _rings(work, goal.who):
        return
    person = yield from _find(work, goal.who)
    if person is None:
        raise GiveUp(f"I found no {goal.who} in the contacts")
    yield from work.tap(work.row(person), f"I open the page of {goal.who}.")
    if _rings(work, goal.who):
        return
    button = work.find(*_CALL, exact=True, role="tap") or (yield from work.seek(*_CALL, role="tap", most=2))
    if button is None:
        raise GiveUp(f"I found no way to call {goal.who}")
    yield from work.tap(button, f"I call {goal.who}.")
    if not _rings(work, goal.who):
        raise GiveUp(f"the call to {goal.who} did not go out")


def _rings(work: Work, who: str) -> bool:
    """Whether a call to somebody is on the screen."""
    return work.find(*_TALKING, exact=True) is not None and work.find(who, exact=True) is not None


def _open(work: Work) -> Doing[None]:
    if not (yield from work.open_app(*_APP, hints=_HINTS)):
        raise GiveUp("I found no contacts on this phone")
    tab = next((n for n in work.nodes() if n.clickable and n.label in _BOOK and not n.selected), None)
    if tab is not None:
        yield from work.tap(tab, "I go to the list of people.")


def _find(work: Work, name: str) -> Doing[Node | None]:
    """Somebody in the book, by its own search where it has one."""
    yield from _open(work)
    found = yield from by_search(work, name)
    if found is None and not work.fields():
        found = yield from work.seek(name, exact=True)
    return found if found is not None and words(found.label) == words(name) else None


def _fill(work: Work, names: tuple[str, ...], text: str, thought: str) -> Doing[None]:
    field = work.find(*names, role="field") or (yield from work.seek(*names, role="field", most=3))
    if field is None or not (yield from work.fill(field, text, thought)):
        raise GiveUp(f"I found no place for the {names[0].lower()} of a contact")


def _same(number: str, texts: list[str]) -> bool:
    digits = re.sub(r"\D", "", number)
    return any(re.sub(r"\D", "", text) == digits for text in texts if digits)
