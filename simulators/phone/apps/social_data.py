"""The first content of Windowsill, all invented, with the audiences of posts and times in words."""

from __future__ import annotations

from datetime import datetime, timedelta

from simulators.phone.app import State

VISIBILITIES = (
    ("Everyone", "globe", "Whoever looks at your page"),
    ("Friends", "people", "Who follows you and you follow"),
    ("Close friends", "close_friends", "Your list of close friends"),
    ("Only me", "lock", "Nobody else"),
)
"""Audiences of a post: the words in the state and on the screen, the icon, the explanation."""

ME = {"name": "Ines Varga", "handle": "ines.films", "about": "Thin films, thick soups, climbing on Saturdays"}

PEOPLE = (
    # name, handle, about, following, friend, close
    ("Noor Haddad", "noor.x", "X-rays and lichens", True, True, True),
    ("Jonas Weil", "jonas_climbs", "Mostly vertical", True, True, True),
    ("林小雨", "xiaoyu", "读书，画图，喝茶", True, True, False),
    ("Alba Ferrer", "alba.sets", "I set the routes you curse", True, False, False),
    ("Canal Garden", "canalgarden", "Open daily, bring shoes for mud", True, False, False),
    ("Priya Raman", "priya.r", "Polymers by day, pottery by night", False, False, False),
    ("慢炖厨房", "mandun", "一锅汤，一个下午", False, False, False),
    ("Old Tram Club", "oldtrams", "We ride what others scrapped", False, False, False),
)

_Comment = tuple[str, str]
_FIRST: tuple[tuple[str, float, str, str, str, tuple[str, ...], str, tuple[_Comment, ...]], ...] = (
    # author, hours ago, visibility, picture, place, likes, text, comments
    ("Noor Haddad", 2, "Friends", "garden/First lilies", "Canal garden", ("Jonas Weil", "林小雨"),
     "They are early this year. So am I.", (("Jonas Weil", "Which gate?"), ("Noor Haddad", "North, behind the pond."))),
    ("Jonas Weil", 14, "Everyone", "hills/Saddle ridge", "Saddle ridge", ("me",),
     "Six hours up, twenty minutes of view, worth it.", ()),
    ("林小雨", 20, "Friends", "desk/Thesis desk", "", (), "第三章终于写完了，今晚可以早点睡。",
     (("陈伟", "辛苦了！"),)),
    ("Canal Garden", 26, "Everyone", "poster/Lantern week", "Canal garden", ("Noor Haddad", "Alba Ferrer"),
     "Lantern week begins on Friday, 18:30 at the north gate. Entry is free, the tea is not.", ()),
    ("me", 40, "Close friends", "cat/Neighbour's cat", "", ("Noor Haddad",), "It has decided to live with me.",
     (("Noor Haddad", "What is its name?"), ("me", "It has not said."))),
    ("Alba Ferrer", 50, "Everyone", "", "Old Foundry Lane", ("Jonas Weil", "me"),
     "New blue routes in the cave. Be honest about the grade.", ()),
    ("me", 120, "Everyone", "poster/Film poster", "Institute of Soft Matter", ("林小雨", "Priya Raman"),
     "Our poster on cracked films hangs on level 4.", ()),
    ("me", 220, "Only me", "", "", (), "Buy the blue rope. Do not tell Jonas.", ()),
    ("Priya Raman", 30, "Everyone", "tea/Green glaze cup", "", (), "Pulled from the kiln this morning.", ()),
    ("慢炖厨房", 9, "Everyone", "soup/番茄牛腩", "", ("林小雨",), "番茄牛腩，小火三小时，别催。", ()),
    ("Old Tram Club", 70, "Everyone", "city/Line 5", "", (), "Line 5 runs again on Sundays.", ()),
)  # fmt: skip


def first_posts(clock: datetime) -> list[State]:
    """Return the first posts, oldest first."""
    out = []
    for number, line in enumerate(sorted(_FIRST, key=lambda line: -line[1]), 1):
        author, hours, visibility, picture, place, likes, text, comments = line
        then = clock - timedelta(hours=hours)
        posts = [
            {"from": who, "text": words, "time": (then + timedelta(minutes=20 * (i + 1))).isoformat()}
            for i, (who, words) in enumerate(comments)
        ]
        caption = picture.partition("/")[2]
        post = {"id": f"p{number}", "author": author, "text": text, "picture": picture, "caption": caption}
        post |= {"place": place, "time": then.isoformat(), "visibility": visibility}
        out.append(post | {"likes": list(likes), "comments": posts})
    return out


def moment(entry: State, clock: datetime) -> datetime:
    """Return the time of a post or a comment, with an offset."""
    then = datetime.fromisoformat(entry["time"]) if entry["time"] else clock
    return then if then.tzinfo else then.replace(tzinfo=clock.tzinfo)


def ago(then: datetime, clock: datetime) -> str:
    """Return the time since then in words."""
    minutes = int((clock - then).total_seconds() // 60)
    if minutes < 1:
        return "Just now"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 60 * 24:
        return f"{minutes // 60} h"
    return then.strftime("%d %b" if then.year == clock.year else "%d %b %Y").lstrip("0")


def visibility_icon(visibility: str) -> str:
    """Return the icon of an audience."""
    return next((icon for name, icon, _ in VISIBILITIES if name == visibility), "globe")
