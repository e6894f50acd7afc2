"""Throwing pictures of certain days away."""

from __future__ import annotations

from datetime import date

from lab.agents.dates import days_meant, last_date_in
from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.pictures import Discard
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Gallery", "Photos", "相册", "图库")
_ALBUMS, _SELECT = ("Albums", "Collections", "相册"), ("Select photos", "Select items", "Select", "选择")
_DELETE = ("Delete", "Move to bin", "Remove", "删除")
_KINDS = {"screenshots": ("Screenshots", "Screenshot", "截图")}
_MOST = 30


def do_discard(work: Work, goal: Discard) -> Doing[None]:
    """Ticks every picture of those days and deletes them together; nothing where there is none left."""
    if work.now is None:
        raise GiveUp("I was not told what day it is")
    days = days_meant(goal.when, work.now.date())
    if days is None:
        raise GiveUp(f"I cannot tell which {goal.things} are meant by {goal.when!r}")
    if not (yield from work.open_app(*_APP, hints=("gallery", "photo"))):
        raise GiveUp("I found no gallery on this phone")
    if not (yield from _album(work, goal.things)):
        return
    if not (yield from _tick(work, days)):
        return
    yield from _delete(work, goal)
    if work.find(*_DELETE, exact=True, role="tap") is not None and any(n.checked for n in work.nodes()):
        raise GiveUp(f"the {goal.things} were not deleted")


def _album(work: Work, things: str) -> Doing[bool]:
    """Opens where such pictures are and begins to choose among them; False where there is none."""
    names = _KINDS.get(things)
    tab = work.find(*_ALBUMS, exact=True, role="tap")
    if names is not None and tab is not None:
        yield from work.tap(tab, "I go to the albums.")
        row = yield from work.seek(*names, exact=True)
        if row is None:
            return False
        yield from work.tap(work.row(row), f"I open the {things}.")
    select = work.find(*_SELECT, role="tap")
    if select is None:
        return False
    yield from work.tap(select, f"I choose among the {things}.")
    return True


def _tick(work: Work, days: tuple[date, date]) -> Doing[int]:
    """Ticks what was taken on those days, page by page; how many that were."""
    ticked: set[str] = set()
    for _ in range(_MOST):
        for _ in range(_MOST):
            box = next((n for n in work.nodes() if _meant(work, n, days) and not n.checked), None)
            if box is None:
                break
            yield from work.tap(box, f"I choose {box.desc!r}.")
            ticked.add(box.desc)
        if not (yield from work.scroll("down", "I look further down.")):
            break
    return len(ticked)


def _meant(work: Work, node: Node, days: tuple[date, date]) -> bool:
    assert work.now is not None
    if not node.checkable:
        return False
    day = last_date_in(node.desc, work.now.date())
    return day is not None and days[0] <= day < days[1]


def _delete(work: Work, goal: Discard) -> Doing[None]:
    for thought in (f"I delete the {goal.things} that I have chosen.", "I confirm it."):
        button = work.find(*_DELETE, exact=True, role="tap")
        if button is None:
            raise GiveUp(f"I found no way to delete the {goal.things}")
        yield from work.tap(button, thought)
