"""Windowsill, a social app: other people's posts, and the owner's own, each with its audience.

State, `apps.social`:
- `me`: `{name, handle, about}`. `people`, each `{name, handle, about, following, friend, close}`. `friend` is true if
  both follow each other, `close` if the person is on the owner's list of close friends.
- `posts`, in no order, each `{id, author, text, picture, caption, place, time, visibility, likes: [names], comments:
  [{from, text, time}]}`. `author`, `from` and `likes` name people or `me`. `visibility` is Everyone, Friends, Close
  friends or Only me. `picture` is `scene/name` of a photo in the Gallery, or "". The posts of a task need ids of
  their own.
- `default_visibility`: the first audience of a new post. `draft`: the unsent post, `{text, picture, caption, place,
  visibility}`. `comments`: unsent comments by post. `hidden`: ids of posts that the feed omits. `query`: the typed
  search.

A notification or a task opens a post by `screen: post, args: {post: ID}`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import App, AppContext, State, moment
from simulators.phone.kit.views import (
    Act,
    Art,
    Button,
    Column,
    Dialog,
    Field,
    Icon,
    Line,
    ListView,
    Page,
    Row,
    Screen,
    Sheet,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import (
    action_row,
    app_bar,
    avatar,
    badge,
    checkable,
    empty,
    fab,
    icon_button,
    inset,
    item,
    section,
    tabs,
)


def pictures(here: AppContext) -> list[tuple[str, str]]:
    """Return the pictures on the phone, latest first: drawing and caption."""
    photos = sorted(here.phone["apps"]["gallery"]["photos"], key=lambda photo: str(photo["time"]), reverse=True)
    return [(f"{photo['scene']}/{photo['name']}", str(photo["caption"] or photo["name"])) for photo in photos]


def _choice(key: str, caption: str) -> View:
    words = Text(caption, "sub", "faint", lines=1, id="caption")
    cell = Column([Art("photo", key, height=360, radius=36), words], desc=caption, id="choice", width=480)
    cell.on = ("picture", key, caption)
    return cell


def _blank_draft(here: AppContext) -> State:
    return {"text": "", "picture": "", "caption": "", "place": "", "visibility": here.own["default_visibility"]}


class Social(App):
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
        """Return posts as a list, latest first, with lines between them."""
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
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)
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
            rows += self._posts(
                here, [p for p in self._visible_posts(here) if query in f"{p['text']} {p['place']}".casefold()]
            )
        else:
            rows += [section("You follow"), *(person_row(p) for p in matching if p["following"])]
            rows += [section("You may know"), *(person_row(p) for p in matching if not p["following"])]
        nothing = empty("search", "Nothing found", "Nobody and no post has these words.")
        bar = Column([Text("People", "headline", pad=(48, 24, 48, 16)), inset(field, 0, 20)])
        return Page(ListView([*(rows or [nothing]), Space(40)], id="people"), bar=bar, foot=tab_bar("People"))

    def _visible_posts(self, here: AppContext) -> list[State]:
        """Return the posts that the owner may see."""
        return [p for p in here.own["posts"] if p["author"] == "me" or p["visibility"] != "Only me"]

    def do_follow(self, here: AppContext, name: str, close: bool = False) -> None:
        """Follow or unfollow a person."""
        if close:
            here.close_screens()
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
        posts = [p for p in self._visible_posts(here) if p["author"] == name]
        if person is None:
            rows = self._posts(here, posts) or [empty("person", name, "This person is not on Windowsill.")]
            return Page(ListView([*rows, Space(40)], id="person"), bar=app_bar(name))
        following, bond = bool(person["following"]), "Friends" if person["friend"] else ""
        counts = f"{len(posts)} post{'' if len(posts) == 1 else 's'}{', ' if bond else ''}{bond}"
        follow = Button(
            "Unfollow" if following else "Follow", "outlined" if following else "filled", on=("follow", name)
        )
        follow.id, follow.grow = "follow", 1
        close = checkable("switch", "Close friend", bool(person["close"]), ("close", name), lead=badge("close_friends"))
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
            row = checkable("checkbox", name, bool(person["close"]), ("close", name), sub=f"@{person['handle']}")
            row.children = [avatar(name), *reversed(row.children[:2])]
            rows.append(row)
        nothing = empty("close_friends", "Nobody yet", "Follow somebody first.")
        return Page(ListView([*(rows or [nothing]), Space(40)], id="close"), bar=app_bar("Close friends"))

    def post(self, here: AppContext, key: str) -> State | None:
        """Return the post of that id, or None if there is none."""
        return next((post for post in here.own["posts"] if post["id"] == key), None)

    def screen_post(self, here: AppContext) -> Screen:
        key, me = str(here.args["post"]), here.own["me"]
        post = self.post(here, key)
        if post is None:
            return Page(empty("sill", "No such post", "It was deleted."), bar=app_bar("Post"))
        rows: list[View | None] = [post_view(post, me, here.clock, whole=True)]
        for number, comment in enumerate(post["comments"]):
            removable = comment["from"] == "me" or post["author"] == "me"
            long = ("go", "delete_comment", {"post": key, "number": number}) if removable else None
            rows.append(comment_row(comment, me, here.clock, long))
        if not post["comments"]:
            rows.append(Text("No comments yet.", "body", "faint", pad=(48, 12)))
        field = Field(["comments", key], hint="Write a comment", kind="pill", id="comment_field", action="Send", grow=1)
        field.submit = ("send_comment", key)
        send = icon_button(
            "send", "Send comment", ("send_comment", key), disc="primary", colour="on_primary", id="send"
        )
        foot = Row([field, send], gap=16, pad=(36, 16, 24, 24))
        return Page(ListView([*rows, Space(40)], id="post_page"), bar=app_bar("Post"), foot=foot)

    def do_like(self, here: AppContext, key: str) -> None:
        post = self.post(here, key)
        if post is not None:
            likes = post["likes"]
            post["likes"] = [name for name in likes if name != "me"] if "me" in likes else [*likes, "me"]

    def do_comment_on(self, here: AppContext, key: str) -> None:
        if here.phone["nav"]["stacks"][self.id][-1]["screen"] != "post":
            here.go("post", post=key)
        here.focus("comment_field")

    def do_send_comment(self, here: AppContext, key: str) -> None:
        text, post = str(here.own["comments"].get(key, "")).strip(), self.post(here, key)
        if not text or post is None:
            return
        post["comments"].append({"from": "me", "text": text, "time": here.clock.isoformat()})
        here.own["comments"].pop(key)
        here.focus(None)

    def screen_delete_comment(self, here: AppContext) -> Screen:
        post, number = self.post(here, str(here.args["post"])), int(here.args["number"])
        text = str(post["comments"][number]["text"]) if post and number < len(post["comments"]) else ""
        remove = Button("Delete", "danger", on=("delete_comment", here.args["post"], number), id="delete")
        words = Text(text, "body", "faint", lines=4)
        return Dialog("Delete comment?", words, [Button("Cancel", "text", on=("back",)), remove])

    def do_delete_comment(self, here: AppContext, key: str, number: int) -> None:
        post = self.post(here, key)
        here.close_screens()
        if post is not None and number < len(post["comments"]):
            del post["comments"][number]
            here.toast("Comment deleted")

    def screen_menu(self, here: AppContext) -> Screen:
        key = str(here.args["post"])
        post = self.post(here, key)
        if post is None:
            return Sheet(Text("It was deleted.", "body", "faint", pad=(48, 24)))
        rows: list[View | None] = []
        if post["author"] == "me":
            rows.append(
                action_row(visibility_icon(post["visibility"]), "Change who can see it", ("replace", "visibility", key))
            )
            rows.append(action_row("delete", "Delete post", ("replace", "delete", key)))
        else:
            person = next((p for p in here.own["people"] if p["name"] == post["author"]), {"following": False})
            word = "Unfollow" if person["following"] else "Follow"
            rows.append(action_row("person", f"{word} {post['author']}", ("follow", post["author"], True)))
            rows.append(action_row("eyes", "Hide this post", ("hide", key)))
        return Sheet(Column(rows), title="Post")

    def do_replace(self, here: AppContext, screen: str, key: str) -> None:
        """Replace a menu by the screen that it leads to."""
        here.close_screens()
        here.go(screen, post=key)

    def do_hide(self, here: AppContext, key: str) -> None:
        here.own["hidden"].append(key)
        here.close_screens()
        here.toast("Hidden from your feed")

    def screen_visibility(self, here: AppContext) -> Screen:
        post = self.post(here, str(here.args["post"]))
        current = str(post["visibility"]) if post else ""
        return Sheet(Column(visibility_rows(current, "see", here.args["post"])), title="Who can see this post?")

    def do_see(self, here: AppContext, key: str, visibility: str) -> None:
        post = self.post(here, key)
        here.close_screens()
        if post is not None:
            post["visibility"] = visibility
            here.toast(f"Visible to: {visibility}")

    def screen_delete(self, here: AppContext) -> Screen:
        remove = Button("Delete", "danger", on=("delete", here.args["post"]), id="delete")
        words = Text("Its likes and comments go with it.", "body", "faint")
        return Dialog("Delete this post?", words, [Button("Cancel", "text", on=("back",)), remove])

    def do_delete(self, here: AppContext, key: str) -> None:
        here.own["posts"] = [post for post in here.own["posts"] if post["id"] != key]
        here.close_screens()
        if here.phone["nav"]["stacks"][self.id][-1]["screen"] == "post":
            here.close_screens()
        here.toast("Post deleted")

    def do_compose(self, here: AppContext) -> None:
        """Start a post, or continue the unfinished one."""
        draft = here.own["draft"]
        if not (draft["text"] or draft["picture"] or draft["place"]):
            here.own["draft"] = _blank_draft(here)
        here.go("compose")

    def screen_compose(self, here: AppContext) -> Screen:
        draft, name = here.own["draft"], str(here.own["me"]["name"])
        who = str(draft["visibility"] or here.own["default_visibility"])
        head = item(name, f"Visible to: {who}", lead=avatar(name), trail=Icon(visibility_icon(who), 56))
        text = Field(
            ["draft", "text"], hint="What is on your sill?", kind="outline", id="text", many=True, action="Enter"
        )
        picture = item("Add a picture", "From this phone", lead=badge("image"), on=("go", "pictures"), id="picture")
        preview: View | None = None
        if draft["picture"]:
            key, caption = str(draft["picture"]), str(draft["caption"])
            preview = inset(Art("photo", key, height=380, radius=36, desc=caption), 8)
            away = icon_button("close", "Remove picture", ("picture", "", ""), id="remove")
            picture = item(caption, "Tap for another one", lead=badge("image"), trail=away, id="picture")
            picture.on = ("go", "pictures")
        place = Field(["draft", "place"], hint="Add a place", id="place")
        see = item("Who can see it", who, lead=badge(visibility_icon(who)), trail=Icon("next", 48), id="audience")
        see.on = ("go", "audience")
        rows = [head, inset(text), preview, picture, see, inset(place), Space(40)]
        discard = icon_button("delete", "Discard", ("go", "discard"))
        bar = app_bar("New post", discard, Button("Post", on=("publish",), id="publish", width=230))
        return Page(ListView(rows, id="compose", gap=12), bar=bar)

    def screen_audience(self, here: AppContext) -> Screen:
        who = str(here.own["draft"]["visibility"] or here.own["default_visibility"])
        return Sheet(Column(visibility_rows(who, "audience")), title="Who can see it?")

    def do_audience(self, here: AppContext, visibility: str) -> None:
        here.own["draft"]["visibility"] = visibility
        here.close_screens()

    def screen_pictures(self, here: AppContext) -> Screen:
        cells = [_choice(key, caption) for key, caption in pictures(here)]
        rows: list[View | None] = [Row([*cells[i : i + 2]], gap=24, align="top") for i in range(0, len(cells), 2)]
        nothing = empty("image", "No pictures", "There are none on this phone.")
        return Page(ListView([inset(Column(rows, gap=24)) if rows else nothing, Space(40)], id="pictures"),
                    bar=app_bar("Choose a picture"))  # fmt: skip

    def do_picture(self, here: AppContext, key: str, caption: str) -> None:
        here.own["draft"] |= {"picture": key, "caption": caption}
        if key:
            here.close_screens()

    def screen_discard(self, here: AppContext) -> Screen:
        remove = Button("Discard", "danger", on=("discard",), id="discard")
        words = Text("What you wrote will be gone.", "body", "faint")
        return Dialog("Discard this post?", words, [Button("Keep", "text", on=("back",)), remove])

    def do_discard(self, here: AppContext) -> None:
        here.own["draft"] = _blank_draft(here)
        here.close_screens(2)
        here.toast("Discarded")

    def do_publish(self, here: AppContext) -> None:
        draft = here.own["draft"]
        text = str(draft["text"]).strip()
        if not text and not draft["picture"]:
            here.toast("Write something or choose a picture first")
            return
        numbers = [int(post["id"][1:]) for post in here.own["posts"] if post["id"][1:].isdecimal()]
        post = {"id": f"p{1 + max(numbers, default=0)}", "author": "me", "text": text, "picture": draft["picture"]}
        post |= {"caption": draft["caption"]}
        post |= {"place": str(draft["place"]).strip(), "time": here.clock.isoformat()}
        post |= {"visibility": draft["visibility"] or here.own["default_visibility"]}
        here.own["posts"].append(post | {"likes": [], "comments": []})
        here.own["draft"] = _blank_draft(here)
        here.close_screens()
        here.toast(f"Posted, visible to: {post['visibility']}")


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
        row = checkable("radio", name, name == current, (act, *args, name), sub=words)
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
