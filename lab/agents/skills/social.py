"""Sharing a picture on a social app, with those for whom such pictures are."""

from __future__ import annotations

import re

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.social import Share
from lab.agents.habits import Deed, majority
from lab.agents.reading import leaves_open, quoted
from lab.agents.talk import Work, listed
from lab.uitree import Node

_HINTS = ("social", "feed", "moments", "朋友圈")
_FRONT = ("Feed", "Home", "首页")
_NEW = ("New post", "Create post", "Add post", "Share something", "发布")
_PICTURE = (
    "Add a picture",
    "Add picture",
    "Add photo",
    "Add a photo",
    "Tap for another one",
    "Change picture",
    "添加图片",
)
_WHO = ("Who can see it", "Who can see this", "Visible to", "Audience", "Visibility", "谁可以看")
_WORDS = ("Caption", "What is on", "What's on", "Write something", "Say something", "Text")
_POST = ("Post", "Publish", "Share", "发表")
_NONE = re.compile(
    r"\b(?:no|without(?: any)?)\s+(?:words|text|caption|line)|\bjust the (?:picture|photo)|不用文字", re.IGNORECASE
)
_LEAD = re.compile(
    r"^\W*(?:(?:please|just|then|ok|yes)\W+)*(?:write|say|put|use|take)\W+(?:that\s+|just\s+)?", re.IGNORECASE
)


def do_share(work: Work, goal: Share) -> Doing[None]:
    """Posts a picture; for whom is what the log shows of such pictures, its words what the person says."""
    before = _alike(work, goal)
    who = goal.who or (yield from _audience(work, goal, before))
    text = goal.text or (yield from _words(work, goal, before))
    yield from _front(work, goal.app or _app(before))
    if work.witnessed and work.find(goal.picture, exact=True) is not None:
        return
    button = yield from work.seek(*_NEW, role="tap", most=2)
    if button is None:
        raise GiveUp("I found no way to post something")
    yield from work.tap(button, "I begin a post.")
    yield from _choose_picture(work, goal.picture)
    yield from _let_see(work, who)
    if text:
        yield from _write(work, text)
    post = work.find(*_POST, exact=True, role="tap")
    if post is None:
        raise GiveUp("I found no way to publish the post")
    yield from work.tap(post, f"It is the picture, for {who}; I post it.")
    if work.find(*_WHO) is not None and work.find(*_POST, exact=True, role="tap") is not None:
        raise GiveUp("the post was not taken")


def _alike(work: Work, goal: Share) -> list[Share]:
    """What the log shows of pictures from the same album; of all pictures where no album is named."""
    done: list[Deed] = [deed for deed in work.deeds if isinstance(deed.goal, Share)]
    shares = [deed.goal for deed in done if isinstance(deed.goal, Share)]
    return [share for share in shares if share.album == goal.album] if goal.album else shares


def _app(before: list[Share]) -> str:
    always, seen = majority(share.app for share in before if share.app)
    return always or (seen[0] if seen else "")


def _audience(work: Work, goal: Share, before: list[Share]) -> Doing[str]:
    always, seen = majority(share.who for share in before if share.who)
    if always is not None:
        return always
    options = seen or ["everyone", "friends", "only me"]
    shown = f"The log shows {listed(seen, 'and')} and none prevails" if seen else "The log shows no such picture"
    question = f"Who shall see the picture {goal.picture!r}: {listed(options)}?"
    return (yield from work.choose(question, options, seen[0] if seen else None, f"{shown}, so I ask."))


def _words(work: Work, goal: Share, before: list[Share]) -> Doing[str]:
    """The words beside a picture: none where such pictures mostly have none; else what the person says."""
    always, _ = majority(share.text for share in before)
    if always is not None or not before:
        return always or ""
    question = f"Which words shall stand beside the picture {goal.picture!r}?"
    reply = yield from work.ask_once(question, "The log shows other words each time, so I ask.")
    if _NONE.search(reply) or leaves_open(reply):
        return ""
    said = quoted(reply)
    return said[0] if said else _LEAD.sub("", reply).strip()


def _front(work: Work, app: str) -> Doing[None]:
    if not (yield from work.open_app(*([app] if app else []), hints=_HINTS)):
        raise GiveUp("I found no app to post pictures with")
    tab = next((n for n in work.nodes() if n.clickable and n.label in _FRONT and not n.selected), None)
    if tab is not None:
        yield from work.tap(tab, "I go to the front of the app.")


def _choose_picture(work: Work, picture: str) -> Doing[None]:
    if work.find(picture, exact=True) is not None:
        return
    door = yield from work.seek(*_PICTURE, most=3)
    if door is None:
        raise GiveUp("I found no way to add a picture")
    yield from work.tap(work.row(door), "I look for the picture.")
    found = yield from work.seek(picture, exact=True)
    if found is None:
        raise GiveUp(f"I found no picture called {picture!r} on this phone")
    yield from work.tap(work.row(found), f"This is the picture {picture!r}.")


def _let_see(work: Work, who: str) -> Doing[None]:
    """Chooses who may see the post."""
    title = yield from work.seek(*_WHO, most=3)
    if title is None:
        raise GiveUp("I found no place that says who can see it")
    yield from work.tap(work.row(title), f"It is for {who}; I look who can see it.")
    choice = _choice(work, who) or (yield from work.seek(who, exact=True, role="check", most=3))
    if choice is None:
        raise GiveUp(f"I found no way to let {who} see it")
    if choice.checked:
        yield from work.back("That is chosen already.")
    else:
        yield from work.tap(choice, f"I let {who} see it.")


def _choice(work: Work, who: str) -> Node | None:
    return work.find(who, exact=True, role="check")


def _write(work: Work, text: str) -> Doing[None]:
    field = work.find(*_WORDS, role="field") or next(iter(work.fields()), None)
    field = field or (yield from work.seek(*_WORDS, role="field", most=3))
    if field is None or not (yield from work.fill(field, text, "I write the words beside it.")):
        raise GiveUp("I found no place for the words")
    if any(f.focused for f in work.fields()):
        yield from work.back("I put the keyboard away.")
