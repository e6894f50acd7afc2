"""Reading what someone wrote, and writing to someone."""

from __future__ import annotations

import re
from typing import NamedTuple

from lab.agents.doing import Doing, GiveUp
from lab.agents.facts import from_texts
from lab.agents.goals import Fact, Send
from lab.agents.reading import mentions
from lab.agents.search import by_search
from lab.agents.skills.looking import told
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Messages", "Messaging", "SMS", "信息", "短信")
_NEW = ("Start chat", "New chat", "New message", "Compose", "新建")
_SEND = ("Send", "Send message", "发送")
_WRITE = ("Text message", "Message", "Type a message", "Write a message")
_STAMP = re.compile(r"^\W*(\d{1,2}:\d\d(\s?[ap]m)?|today|yesterday|\w+day,?.{0,20}|now|\d+ min)\W*$", re.IGNORECASE)


class Said(NamedTuple):
    """One message on the screen."""

    text: str
    mine: bool


def do_send(work: Work, goal: Send) -> Doing[None]:
    """A message whose words may have to be looked up first."""
    text = goal.text or (yield from told(work, goal.facts))
    if not text:
        raise GiveUp(f"I do not know what to write to {goal.to}")
    yield from send(work, goal.to, text)


def look(work: Work, fact: Fact) -> Doing[str | int]:
    """A fact out of what someone wrote, the latest message that holds it first; older ones are scrolled to."""
    name, what = fact.name, fact.what
    yield from _open_chat(work, name, new=False)
    for _ in range(6):
        heard = [said.text for said in messages(work) if not said.mine]
        found = from_texts(heard, what)
        if found is not None:
            return found
        moved = yield from work.scroll(
            "up", f"The {what} is not in what I see of {name}'s messages; I look further up."
        )
        if not moved:
            break
    raise GiveUp(f"I found no {what} in what {name} wrote")


def send(work: Work, name: str, text: str) -> Doing[None]:
    """Sends a text to someone, unless it was just sent."""
    yield from _open_chat(work, name, new=True)
    for _ in range(2):
        if any(said.mine and said.text.strip() == text.strip() for said in messages(work)[-1:]):
            return
        field = _writing(work)
        if field is None:
            raise GiveUp(f"I found no place to write to {name}")
        if not (yield from work.fill(field, text, f"I write the message to {name}.")):
            continue
        button = work.find(*_SEND, exact=True, role="tap")
        if button is None:
            raise GiveUp("I found no way to send the message")
        yield from work.tap(button, f"I send it to {name}.")
    if not any(said.mine and said.text.strip() == text.strip() for said in messages(work)):
        raise GiveUp(f"the message to {name} was not sent")


def messages(work: Work) -> list[Said]:
    """The messages on the screen from the top down: what stands at the left was written by the other."""
    body = work.body()
    if body is None:
        return []
    area = body.bounds
    out = []
    for node in body.walk():
        if not node.text or node.children or node.clickable or _STAMP.match(node.text):
            continue
        left, right = _bubble(work, node, area.width)
        if abs((left - area.left) - (area.right - right)) > 20:
            out.append(Said(node.text, left - area.left > area.right - right))
    return out


def _bubble(work: Work, node: Node, width: int) -> tuple[int, int]:
    """Left and right edge of the bubble that a text stands in."""
    around = [n for n in work.row_of(node) if n.bounds.width < 0.95 * width]
    outer = max(around, key=lambda n: n.bounds.area, default=node)
    return outer.bounds.left, outer.bounds.right


def _open_chat(work: Work, name: str, *, new: bool) -> Doing[None]:
    """The chat with someone, from the list, else (to write) as a new one."""
    if not (yield from work.open_app(*_APP, hints=("message", "chat"))):
        raise GiveUp("I found no messages on this phone")
    chat = (yield from work.seek(name)) or (yield from by_search(work, name))
    if chat is not None:
        yield from work.tap(work.row(chat), f"I open the chat with {name}.")
    elif new:
        yield from _start_chat(work, name)
    if _writing(work) is None and not (chat and work.shows(name)):
        raise GiveUp(f"I found no chat with {name}")


def _start_chat(work: Work, name: str) -> Doing[None]:
    button = yield from work.seek(*_NEW, role="tap", most=2)
    if button is None:
        raise GiveUp(f"I found no chat with {name} and no way to start one")
    yield from work.tap(button, f"There is no chat with {name} yet; I start one.")
    person = yield from work.seek(name)
    if person is None and work.fields():
        yield from work.fill(work.fields()[0], name, f"I look for {name} among the contacts.")
        person = next(
            (n for n in work.nodes() if n.clickable and mentions(work.words_of(n), name) and not n.focusable), None
        )
        person = person or work.find(name)
    if person is None:
        raise GiveUp(f"I found nobody called {name}")
    yield from work.tap(work.row(person), f"I choose {name}.")


def _writing(work: Work) -> Node | None:
    """The field in which a message is written: the lowest one that is not for searching."""
    fields = [f for f in work.fields() if not mentions(f.desc, "search") and not mentions(f.desc, "to")]
    return fields[-1] if fields else None
