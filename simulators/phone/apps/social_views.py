"""Views that Windowsill's screens share: a post, a comment, a person, the choice of an audience."""

from __future__ import annotations

from datetime import datetime

from simulators.phone.app import State
from simulators.phone.apps.social_data import VISIBILITIES, ago, moment, visibility_icon
from simulators.phone.kit.views import Act, Art, Button, Column, Icon, Row, Text, View
from simulators.phone.kit.widgets import avatar, icon_button, inset, item, marked, tabs


def tab_bar(current: str) -> View:
    entries = (("Feed", "home"), ("People", "people"), ("Profile", "person"))
    return tabs([(label, icon, ("tab", label)) for label, icon in entries], current)


def post_view(post: State, me: State, clock: datetime, *, whole: bool = False) -> View:
    """Return a post with author, time, audience, text, picture, likes and comments.

    A tap opens it unless it is `whole`.
    """
    mine = post["author"] == "me"
    name = str(me["name"] if mine else post["author"])
    title = Text(name, "strong", lines=1, id="author", on=("profile", post["author"]))
    rows: list[View | None] = [
        Row([avatar(name), Column([title, _about_row(post, clock)], grow=1),
             icon_button("more", "Post menu", ("go", "menu", {"post": post["id"]}), id="menu")], gap=28),
        Text(str(post["text"]), "body", lines=0 if whole else 4, id="text") if post["text"] else None,
        _picture(post) if post["picture"] else None,
        Row([Icon("place", 44), Text(str(post["place"]), "sub", "faint", lines=1, id="place")], gap=12)
        if post["place"] else None,
        _count_row(post),
    ]  # fmt: skip
    open_it: Act | None = None if whole else ("go", "post", {"post": post["id"]})
    return Column([*rows], gap=12, pad=(48, 20, 36, 12), on=open_it, id="post")


def _about_row(post: State, clock: datetime) -> View:
    """Return the time and audience of a post."""
    who = str(post["visibility"])
    when = Text(ago(moment(post, clock), clock), "sub", "faint", lines=1, id="date")
    return Row([when, Icon(visibility_icon(who), 44), Text(who, "sub", "faint", lines=1, id="visibility")], gap=16)


def _picture(post: State) -> View:
    return Art("photo", str(post["picture"]), height=460, radius=36, desc=str(post["caption"]), id="picture")


def _count_row(post: State) -> View:
    liked, likes, comments = "me" in post["likes"], len(post["likes"]), len(post["comments"])
    heart = icon_button("heart" if liked else "heart_line", "Unlike" if liked else "Like", ("like", post["id"]),
                        colour="error" if liked else "faint", id="like")  # fmt: skip
    speak = icon_button("comment", "Comment", ("comment_on", post["id"]), id="comment")
    return Row(
        [
            heart,
            Text(f"{likes} like{'' if likes == 1 else 's'}", "sub", "faint", lines=1, id="likes"),
            speak,
            Text(f"{comments} comment{'' if comments == 1 else 's'}", "sub", "faint", lines=1, id="comments"),
        ],
        gap=8,
    )


def comment_row(comment: State, me: State, clock: datetime, long: Act | None) -> View:
    """Return a comment below a post."""
    name = str(me["name"] if comment["from"] == "me" else comment["from"])
    head = Row(
        [Text(name, "strong", lines=1, id="author"),
         Text(ago(moment(comment, clock), clock), "small", "faint", lines=1, id="date")], gap=20,
    )  # fmt: skip
    words = Column([head, Text(str(comment["text"]), "body", id="text")], grow=1)
    return Row([avatar(name, 88), words], gap=28, pad=(48, 12), align="top", id="comment_row", long=long)


def person_row(person: State) -> View:
    """Return a person in a list, with a button to follow or unfollow."""
    following, name = bool(person["following"]), str(person["name"])
    button = Button("Following" if following else "Follow", "outlined" if following else "tonal", on=("follow", name))
    button.desc, button.id, button.width = f"{'Unfollow' if following else 'Follow'} {name}", "follow", 300
    return item(name, f"@{person['handle']}", lead=avatar(name), trail=button, on=("profile", name), id="person")


def visibility_rows(current: str, act: str, *args: object) -> list[View | None]:
    """Return the choice of an audience."""
    rows: list[View | None] = []
    for name, icon, words in VISIBILITIES:
        row = marked("radio", name, name == current, (act, *args, name), sub=words)
        row.children = [*row.children[:2], Icon(icon, 56)]
        rows.append(row)
    return rows


def page_head(person: State, counts: str, *below: View | None) -> View:
    """Return the head of a profile: face, name, handle, self-description, counts."""
    name = str(person["name"])
    words = Column([Text(name, "headline", lines=1, id="name"), Text(f"@{person['handle']}", "sub", "faint", lines=1)])
    words.grow = 1
    rows: list[View | None] = [
        Row([avatar(name, 160), words], gap=36),
        Text(str(person["about"]), "body", lines=3, id="about") if person["about"] else None,
        Text(counts, "sub", "faint", lines=1, id="counts"),
        *below,
    ]
    return inset(Column(rows, gap=16), 8, 16)
