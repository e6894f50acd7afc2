"""A team chat: posting to a channel, reading one, one's status, an update in its usual form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.doing import Doing, GiveUp
from lab.agents.facts import from_texts
from lab.agents.goals.nouns import Fact, Goal
from lab.agents.goals.team import Post, Presence, Update, app_beside
from lab.agents.habits import Deed, majority
from lab.agents.reading import clock_times, mentions, shown_time
from lab.agents.search import by_search
from lab.agents.skills.looking import told
from lab.agents.talk import Work, listed
from lab.uitree import Node

_HINTS = ("team", "chat", "channels")
_FRONT = ("Home", "Channels", "首页")
_SPACE = ("Switch workspace", "Workspaces", "切换")
_SEND = ("Send", "Post", "发送")
_YOU = ("You", "Profile", "Status", "Set status", "我")
_SHARE = 0.75
"""The share of an update's cases in which something is part of its form."""


def do_post(work: Work, goal: Post) -> Doing[None]:
    """A post whose words may have to be looked up first; nothing where somebody has posted it meanwhile."""
    text = goal.text or (yield from told(work, goal.facts))
    if not text:
        raise GiveUp(f"I do not know what to post in #{goal.channel}")
    yield from _open_channel(work, goal.channel, goal.app)
    before = work.known.setdefault(("channel", goal.channel, text), _tail(work))
    if _tail(work) != before and text.split() in map(str.split, _tail(work)):
        return
    field = _writing(work)
    if field is None or not (yield from work.fill(field, text, f"I write it into #{goal.channel}.")):
        raise GiveUp(f"I found no place to write in #{goal.channel}")
    button = work.find(*_SEND, exact=True, role="tap")
    if button is None:
        raise GiveUp("I found no way to send what I wrote")
    yield from work.tap(button, f"I post it in #{goal.channel}.")
    if text.split() not in map(str.split, _tail(work)):
        raise GiveUp(f"it did not come into #{goal.channel}")


def look(work: Work, fact: Fact) -> Doing[str | int]:
    """A fact out of a channel, the latest message that holds it first; of one person where one is named."""
    named = re.fullmatch(r"(?:(?P<who>.+) in )?#(?P<channel>.+)", fact.name)
    who, channel = (named["who"] or "", named["channel"]) if named else ("", fact.name)
    yield from _open_channel(work, channel, app_beside(work.brief.instruction))
    for _ in range(6):
        rows = [n for n in _rows(work) if not who or mentions(work.words_of(n), who)]
        texts = [max((n.text for n in row.walk()), key=len) for row in rows]
        found = from_texts(texts, fact.what)
        if found is not None:
            return found
        if not (yield from work.scroll("up", f"The {fact.what} is not in what I see of it; I look further up.")):
            break
    raise GiveUp(f"I found no {fact.what} in #{channel}")


def do_presence(work: Work, goal: Presence) -> Doing[None]:
    """Sets one's status."""
    yield from _open(work, goal.app)
    for _ in range(2):
        row = work.switch(goal.status) or (yield from work.seek(goal.status, exact=True, role="check", most=3))
        if row is not None and row.checked:
            return
        door = work.find(*_YOU, exact=True, role="tap") if row is None else None
        if row is not None:
            yield from work.tap(row, f"I set the status to {goal.status}.")
        elif door is not None:
            yield from work.tap(door, "I go to where one sets one's status.")
    row = work.switch(goal.status)
    if row is None or not row.checked:
        raise GiveUp(f"I found no way to set the status to {goal.status}")


def do_update(work: Work, goal: Update) -> Doing[None]:
    """Sends an update as the log always shows it; what varies in it is asked."""
    usual = _usual(work, goal.name)
    text = yield from _text(work, goal.name, usual.texts)
    yield from do_post(work, Post(usual.channel, text, (), usual.app))
    for presence in usual.presences:
        yield from do_presence(work, presence if presence.app else presence._replace(app=usual.app))


class _Usual(NamedTuple):
    """An update as the log shows it: where, each time's words, and which statuses belong to it."""

    channel: str
    app: str
    texts: tuple[str, ...]
    presences: tuple[Presence, ...]


def _usual(work: Work, name: str) -> _Usual:
    done = [(deed.goal, deed) for deed in work.deeds if isinstance(deed.goal, Post)]
    posts = [(post, deed) for post, deed in done if mentions(post.text, name)]
    channel, seen = majority(post.channel for post, _ in posts)
    if not seen:
        raise GiveUp(f"the log shows no {name}")
    kept = [(post, deed) for post, deed in posts if post.channel == (channel or seen[0])]
    app, apps = majority(post.app for post, _ in kept if post.app)
    return _Usual(
        channel or seen[0], app or (apps[0] if apps else ""), tuple(post.text for post, _ in kept),
        tuple(_beside(work, [deed for _, deed in kept])),
    )  # fmt: skip


def _beside(work: Work, posts: Sequence[Deed]) -> list[Presence]:
    """The statuses that are set in nearly all of the same lines of the log."""
    entries = {deed.entry for deed in posts}
    counts: Counter[Goal] = Counter(d.goal for d in work.deeds if d.entry in entries and isinstance(d.goal, Presence))
    return [goal for goal, n in counts.items() if n > _SHARE * len(entries) and isinstance(goal, Presence)]


def _text(work: Work, name: str, texts: Sequence[str]) -> Doing[str]:
    """The words of an update: as always, but for the one word that changes, which is asked."""
    always, seen = majority(texts)
    if always is not None:
        return always
    form = shape(texts)
    if form is None:
        question = f"What shall the {name} say? Before, you wrote {listed([repr(text) for text in seen[:3]])}."
        return (yield from work.choose(question, seen, None, "The log shows no form that prevails, so I ask."))
    before, options, after = form
    question = f"The {name} says {f'{before}... {after}'.strip()!r}. What shall stand there: {listed(options)}?"
    thought = f"The log shows {listed(options, 'and')} there and none prevails, so I ask."
    times = [found[0][1] for option in options if (found := clock_times(option))]
    if len(times) == len(options):
        minute = yield from work.choose_time(question, times, thought)
        return f"{before}{shown_time(times[0] if minute is None else minute)}{after}"
    return f"{before}{yield from work.choose(question, options, options[0], thought)}{after}"


def shape(texts: Sequence[str]) -> tuple[str, list[str], str] | None:
    """What most texts share before and after the one word in which they differ, and those words; None if none."""
    rows = [text.split(" ") for text in texts]
    length, _ = Counter(map(len, rows)).most_common(1)[0]
    rows = [row for row in rows if len(row) == length]
    common = [majority(row[i] for row in rows)[0] for i in range(length)]
    if common.count(None) != 1 or len(rows) <= _SHARE * len(texts):
        return None
    spot = common.index(None)
    kept = [row for row in rows if all(word in (None, row[i]) for i, word in enumerate(common))]
    options = majority(row[spot].strip(".,;!") for row in kept)[1]
    tail = re.sub(r"^[^.,;!]*", "", kept[0][spot])
    before, after = " ".join(row for row in common[:spot] if row), " ".join(row for row in common[spot + 1 :] if row)
    return f"{before} " if before else "", options, f"{tail} {after}".rstrip() if after else tail


def _open(work: Work, app: str) -> Doing[None]:
    """Opens the app that is named, else the one that the log names for posts, else one that is called like one."""
    used = Counter(d.goal.app for d in work.deeds if isinstance(d.goal, Post) and d.goal.app)
    names = [name for name in (app, *(known for known, _ in used.most_common(1))) if name]
    if not (yield from work.open_app(*names, hints=_HINTS)):
        raise GiveUp("I found no team chat on this phone")


def _open_channel(work: Work, channel: str, app: str) -> Doing[None]:
    yield from _open(work, app)
    tab = next((n for n in work.nodes() if n.clickable and n.label in _FRONT and not n.selected), None)
    if tab is not None:
        yield from work.tap(tab, "I go to the channels.")
    row = yield from _row(work, channel)
    spaces: set[str] = set()
    while row is None:
        if not (yield from _next_space(work, spaces)):
            raise GiveUp(f"I found no channel called {channel}")
        row = yield from _row(work, channel)
    yield from work.tap(work.row(row), f"I open #{channel}.")
    if _writing(work) is None:
        raise GiveUp(f"one cannot write in #{channel}")


def _row(work: Work, channel: str) -> Doing[Node | None]:
    return (yield from work.seek(channel, f"#{channel}", exact=True)) or (yield from by_search(work, channel))


def _next_space(work: Work, spaces: set[str]) -> Doing[bool]:
    """Goes to a workspace that was not looked at yet; False where there is none."""
    door = work.find(*_SPACE, role="tap")
    if door is None:
        return False
    yield from work.tap(door, "It is not in this workspace; I look at the others.")
    rows = [n for n in work.nodes() if n.checkable]
    spaces |= {n.label for n in rows if n.checked}
    other = next((n for n in rows if n.label not in spaces), None)
    if other is None:
        return False
    spaces.add(other.label)
    yield from work.tap(other, f"I go to the workspace {other.label}.")
    return True


def _rows(work: Work) -> list[Node]:
    """The messages of a channel on the screen, from the top down."""
    body = work.body()
    return [n for n in (body.walk() if body else ()) if n is not body and n.clickable and n.children]


def _tail(work: Work) -> tuple[str, ...]:
    """The last words in the channel: who, when and what."""
    body = work.body()
    return tuple(n.text for n in (body.walk() if body else ()) if n.text)[-4:]


def _writing(work: Work) -> Node | None:
    """The field in which one writes: the lowest that is not for searching."""
    fields = [f for f in work.fields() if not mentions(f"{f.desc} {f.id}", "search")]
    return fields[-1] if fields else None
