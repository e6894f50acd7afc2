"""Windowsill, a social app: what others put on their sill, and one's own, each for whom it is meant.

State, `apps.social`:
- `me`: `{name, handle, about}`; `people`, each `{name, handle, about, following, friend, close}`: `friend` where both
  follow each other, `close` where they are on the owner's list of close friends.
- `posts`, in no order: `{id, author, text, picture, caption, place, time, visibility, likes: [names], comments: [{from,
  text, time}]}`; `author`, `from` and `likes` name people or `me`; `visibility` is one of Everyone, Friends, Close
  friends, Only me; `picture` is `scene/name` of a photo in the Gallery, or "", and `caption` its caption. The posts of
  a task need ids of their own.
- `default_visibility`: what a new post begins with; `draft`: `{text, picture, caption, place, visibility}`, not posted
  yet; `comments`: unsent comments by post; `hidden`: ids of posts that the feed leaves out; `query`: what is searched.

A notification or a task opens a post by `screen: post, args: {post: ID}`.
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.social_data import ME, PEOPLE, first_posts, moment
from simulators.phone.apps.social_post import Posts
from simulators.phone.apps.social_views import page_head, person_row, post_view, tab_bar, visibility_rows
from simulators.phone.views import Button, Column, Field, Icon, Line, ListView, Page, Row, Screen, Space, Text, View
from simulators.phone.widgets import app_bar, avatar, badge, empty, fab, icon_button, inset, item, marked, section


class Social(Posts):
    id, label, icon, colour, hue = "social", "Windowsill", "sill", "#c2571a", 24
    shapes: ClassVar[dict[str, State]] = {
        "people": {"name": "", "handle": "", "about": "", "following": True, "friend": False, "close": False},
        "posts": {"id": "", "author": "me", "text": "", "picture": "", "caption": "", "place": "", "time": "",
                  "visibility": "Everyone", "likes": [], "comments": []},
        "posts.comments": {"from": "me", "text": "", "time": ""},
    }  # fmt: skip

    def first_state(self, rng: Random, clock: datetime) -> State:
        keys = ("name", "handle", "about", "following", "friend", "close")
        people = [dict(zip(keys, person, strict=True)) for person in PEOPLE]
        rng.shuffle(people)
        return {
            "me": dict(ME),
            "people": people,
            "posts": first_posts(clock),
            "default_visibility": "Everyone",
            "draft": {"text": "", "picture": "", "caption": "", "place": "", "visibility": "Everyone"},
            "comments": {},
            "hidden": [],
            "query": "",
        }

    def _posts(self, here: AppContext, posts: list[State]) -> list[View | None]:
        """Posts as a list, the latest first, with lines between them."""
        latest = sorted(posts, key=lambda post: moment(post, here.clock), reverse=True)
        rows: list[View | None] = []
        for post in latest:
            rows += [post_view(post, here.own["me"], here.clock), Line()]
        return rows

    def screen_home(self, here: AppContext) -> Screen:
        followed = {p["name"] for p in here.own["people"] if p["following"]} | {"me"}
        posts = [p for p in here.own["posts"] if p["author"] in followed and p["id"] not in here.own["hidden"]]
        nothing = empty("sill", "Nothing here yet", "Follow people to see what they post.")
        bar = Text("Windowsill", "headline", pad=(48, 32, 48, 20), id="title")
        return Page(
            ListView([*(self._posts(here, posts) or [nothing]), Space(220)], id="feed"),
            bar=bar,
            fab=fab("add", "New post", ("compose",), "new_post"),
            foot=tab_bar("Feed"),
        )

    def do_tab(self, here: AppContext, label: str) -> None:
        here.own["query"] = ""
        here.back(len(here.phone["nav"]["stacks"][self.id]) - 1)
        if label != "Feed":
            here.go({"People": "people", "Profile": "mine"}[label])

    def screen_people(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        field = Field(["query"], hint="Search people, posts", kind="search", id="search", action="Search")
        people = sorted(here.own["people"], key=lambda p: str(p["name"]))
        matching = [p for p in people if query in f"{p['name']} {p['handle']} {p['about']}".casefold()]
        rows: list[View | None] = []
        if query:
            rows += [person_row(person) for person in matching]
            rows += self._posts(here, [p for p in self._seen(here) if query in f"{p['text']} {p['place']}".casefold()])
        else:
            rows += [section("You follow"), *(person_row(p) for p in matching if p["following"])]
            rows += [section("You may know"), *(person_row(p) for p in matching if not p["following"])]
        nothing = empty("search", "Nothing found", "Nobody and no post has these words.")
        bar = Column([Text("People", "headline", pad=(48, 24, 48, 16)), inset(field, 0, 20)])
        return Page(ListView([*(rows or [nothing]), Space(40)], id="people"), bar=bar, foot=tab_bar("People"))

    def _seen(self, here: AppContext) -> list[State]:
        """The posts that the owner may see."""
        return [p for p in here.own["posts"] if p["author"] == "me" or p["visibility"] != "Only me"]

    def do_follow(self, here: AppContext, name: str, close: bool = False) -> None:
        """Follows somebody, or no longer."""
        if close:
            here.back()
        for person in here.own["people"]:
            if person["name"] == name:
                person["following"] = not person["following"]
                if not person["following"]:
                    person["friend"] = person["close"] = False
                here.toast(f"{'You follow' if person['following'] else 'You no longer follow'} {name}")

    def do_profile(self, here: AppContext, name: str) -> None:
        if name == "me":
            here.go("mine")
        else:
            here.go("person", name=name)

    def screen_person(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        person = next((p for p in here.own["people"] if p["name"] == name), None)
        posts = [p for p in self._seen(here) if p["author"] == name]
        if person is None:
            rows = self._posts(here, posts) or [empty("person", name, "This person is not on Windowsill.")]
            return Page(ListView([*rows, Space(40)], id="person"), bar=app_bar(name))
        following, bond = bool(person["following"]), "Friends" if person["friend"] else ""
        counts = f"{len(posts)} post{'' if len(posts) == 1 else 's'}{', ' if bond else ''}{bond}"
        follow = Button(
            "Unfollow" if following else "Follow", "outlined" if following else "filled", on=("follow", name)
        )
        follow.id, follow.grow = "follow", 1
        close = marked("switch", "Close friend", bool(person["close"]), ("close", name), lead=badge("close_friends"))
        head = page_head(person, counts, Row([follow]))
        nothing = Text("No posts that you may see.", "body", "faint", pad=(48, 24))
        rows = [head, close if following else None, Line(), *(self._posts(here, posts) or [nothing]), Space(40)]
        return Page(ListView(rows, id="person"), bar=app_bar(""))

    def do_close(self, here: AppContext, name: str) -> None:
        for person in here.own["people"]:
            if person["name"] == name:
                person["close"] = not person["close"]

    def screen_mine(self, here: AppContext) -> Screen:
        me, posts = here.own["me"], [p for p in here.own["posts"] if p["author"] == "me"]
        following = sum(bool(p["following"]) for p in here.own["people"])
        counts = f"{len(posts)} post{'' if len(posts) == 1 else 's'}, {following} followed"
        gear = icon_button("settings", "Settings", ("go", "options"), id="settings")
        title = Text("Profile", "headline", grow=1)
        rows = self._posts(here, posts) or [empty("sill", "No posts yet", "Write one with the button below.")]
        return Page(
            ListView([page_head(me, counts), Line(), *rows, Space(220)], id="mine"),
            bar=Row([title, gear], pad=(48, 24, 24, 12)),
            fab=fab("add", "New post", ("compose",), "new_post"),
            foot=tab_bar("Profile"),
        )

    def screen_options(self, here: AppContext) -> Screen:
        who, close = str(here.own["default_visibility"]), sum(bool(p["close"]) for p in here.own["people"])
        rows: list[View | None] = [
            section("Who can see new posts"),
            *visibility_rows(who, "default"),
            section("People"),
            item("Close friends", f"{close} {'person' if close == 1 else 'people'}", lead=badge("close_friends"),
                 trail=Icon("next", 48), on=("go", "close_friends"), id="close_friends"),
            Space(40),
        ]  # fmt: skip
        return Page(ListView(rows, id="options"), bar=app_bar("Settings"))

    def do_default(self, here: AppContext, visibility: str) -> None:
        here.own["default_visibility"] = visibility
        draft = here.own["draft"]
        if not (draft["text"] or draft["picture"] or draft["place"]):
            draft["visibility"] = visibility
        here.toast(f"New posts: {visibility}")

    def screen_close_friends(self, here: AppContext) -> Screen:
        people = sorted((p for p in here.own["people"] if p["following"]), key=lambda p: str(p["name"]))
        rows: list[View | None] = []
        for person in people:
            name = str(person["name"])
            row = marked("checkbox", name, bool(person["close"]), ("close", name), sub=f"@{person['handle']}")
            row.children = [avatar(name), *reversed(row.children[:2])]
            rows.append(row)
        nothing = empty("close_friends", "Nobody yet", "Follow somebody first.")
        return Page(ListView([*(rows or [nothing]), Space(40)], id="close"), bar=app_bar("Close friends"))
