"""Rookery, a team chat: workspaces, channels, direct messages, threads, mentions.

State, `apps.teamchat`:
- `me`: the owner's name there; `status`: `{kind, text}`, `kind` one of Active, Away, In a meeting, On the move, Do not
  disturb; `workspaces`: names; `workspace`: the one that is open.
- `channels`, each `{workspace, kind, name, topic, private, muted, unread, joined, members: [names], messages}`; `kind`
  is channel or direct (then `name` is the other person's); `unread` counts the last messages. A message is `{from,
  text, time, pinned, reactions: [{name, by: [names]}], replies}`, the oldest first, `from` a name or `me`; a reply
  has `from, text, time, reactions`. A workspace of "" is the open one.
- `people`, each `{name, title, status}`; `drafts`: unsent text by channel, or by channel and number for a thread;
  `query` (what is searched) and `to` (what was typed to find someone).

A notification or a task opens a channel by `screen: channel, args: {channel: NAME}`.
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.teamchat_channel import Channels
from simulators.phone.apps.teamchat_data import (
    PEOPLE,
    STATUSES,
    MessagePlace,
    day,
    first_channels,
    mentions,
    moment,
    places,
)
from simulators.phone.apps.teamchat_views import channel_row, direct_row, message_view, status_icon, tab_bar
from simulators.phone.views import Button, Column, Field, Icon, ListView, Page, Row, Screen, Sheet, Space, Text, View
from simulators.phone.widgets import app_bar, avatar, badge, empty, fab, inset, item, marked, section


class TeamChat(Channels):
    id, label, icon, colour, hue = "teamchat", "Rookery", "forum", "#6a4bbf", 262
    shapes: ClassVar[dict[str, State]] = {
        "channels": {"workspace": "", "kind": "channel", "name": "", "topic": "", "private": False, "muted": False,
                     "unread": 0, "joined": True, "members": [], "messages": []},
        "channels.messages": {"from": "me", "text": "", "time": "", "pinned": False, "reactions": [], "replies": []},
        "channels.messages.reactions": {"name": "thumb", "by": []},
        "channels.messages.replies": {"from": "me", "text": "", "time": "", "reactions": []},
        "people": {"name": "", "title": "", "status": "Active"},
    }  # fmt: skip

    def first_state(self, rng: Random, clock: datetime) -> State:
        people = [{"name": name, "title": title, "status": status} for name, title, status in PEOPLE]
        channels = first_channels(clock)
        rng.shuffle(channels)
        return {
            "me": "Ines Varga",
            "status": {"kind": "Active", "text": ""},
            "workspaces": ["Soft Matter", "Rope Team"],
            "workspace": "Soft Matter",
            "channels": channels,
            "people": people,
            "drafts": {},
            "query": "",
            "to": "",
        }

    def _open_here(self, here: AppContext) -> list[State]:
        """The channels of the open workspace."""
        return [c for c in here.own["channels"] if c["workspace"] in ("", here.own["workspace"])]

    def screen_home(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        name = str(here.own["workspace"])
        row = Row(
            [Text(name, "headline", lines=1, id="workspace"), Icon("down", 56)], gap=16, pad=(48, 16, 48, 8),
            on=("go", "workspaces"), id="switch", desc="Switch workspace",
        )  # fmt: skip
        field = Field(["query"], hint="Search channels, messages", kind="search", id="search", action="Search")
        rows = self._found(here, query) if query else self._listed(here)
        new = fab("edit", "New message", ("go", "new"), "new_message") if not query else None
        return Page(ListView([*rows, Space(220)], id="channels"), bar=Column([row, inset(field, 0, 20)]), fab=new,
                    foot=tab_bar("Home"))  # fmt: skip

    def _listed(self, here: AppContext) -> list[View | None]:
        me = str(here.own["me"])
        my_channels = [c for c in self._open_here(here) if c["joined"]]
        channels = sorted((c for c in my_channels if c["kind"] == "channel"), key=lambda c: str(c["name"]))
        directs = [c for c in my_channels if c["kind"] == "direct"]
        directs.sort(key=lambda c: c["messages"][-1]["time"] if c["messages"] else "", reverse=True)
        rows: list[View | None] = [section("Channels")]
        for channel in channels:
            last = channel["messages"][-channel["unread"] :] if channel["unread"] else []
            rows.append(channel_row(channel, any(mentions(message, me) for message in last)))
        rows.append(item("Browse channels", lead=Icon("add", 56, width=72), on=("go", "browse"), id="browse"))
        rows.append(section("Direct messages"))
        for channel in directs:
            status = str(self.person(here, channel["name"]).get("status", ""))
            rows.append(direct_row(channel, status, me, here.clock))
        if not directs:
            rows.append(Text("Nobody has written yet.", "body", "faint", pad=(48, 16)))
        return rows

    def _found(self, here: AppContext, query: str) -> list[View | None]:
        me, channels = str(here.own["me"]), [c for c in self._open_here(here) if c["joined"]]
        rows: list[View | None] = []
        for channel in channels:
            if query in str(channel["name"]).casefold() and channel["kind"] == "channel":
                rows.append(channel_row(channel, False))
            elif query in str(channel["name"]).casefold():
                rows.append(direct_row(channel, "", me, here.clock))
        rows += [
            self._hit(here, place)
            for channel in channels
            for place in places(channel)
            if query in f"{place.message['text']}".casefold()
        ]
        return rows or [empty("search", "Nothing found", "Nothing here holds these words.")]

    def _hit(self, here: AppContext, place: MessagePlace) -> View:
        """A message away from its channel: where and when it was said, and the message."""
        to = {"channel": place.channel["name"], "index": place.number}
        sign = "" if place.channel["kind"] == "direct" else "#"
        where = f"{sign}{place.channel['name']}, {day(moment(place.message, here.clock), here.clock)}"
        text = message_view(place, str(here.own["me"]), here.clock, on=("go", "thread", to),
                            long=("go", "actions", to | {"reply": place.reply}))  # fmt: skip
        return Column([Text(where, "sub", "faint", lines=1, pad=(36, 12, 36, 0), id="where"), text])

    def opened(self, here: AppContext) -> None:
        if "channel" in here.args:
            channel = self.channel(here, here.args["channel"])
            channel["unread"] = 0
            here.own["workspace"] = channel["workspace"] or here.own["workspace"]

    def do_tab(self, here: AppContext, label: str) -> None:
        here.own["query"] = ""
        here.back(len(here.phone["nav"]["stacks"][self.id]) - 1)
        if label != "Home":
            here.go({"Mentions": "mentions", "You": "you"}[label])

    def screen_workspaces(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        for name in here.own["workspaces"]:
            unread = sum(c["unread"] for c in here.own["channels"] if c["workspace"] == name and not c["muted"])
            sub = f"{unread} unread" if unread else "All read"
            rows.append(marked("radio", str(name), name == here.own["workspace"], ("workspace", name), sub=sub))
        return Sheet(Column(rows), title="Workspaces")

    def do_workspace(self, here: AppContext, name: str) -> None:
        here.own["workspace"], here.own["query"] = name, ""
        here.back()

    def screen_browse(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        for channel in sorted(self._open_here(here), key=lambda c: str(c["name"])):
            if channel["kind"] == "channel":
                join = Button("Join", "tonal", on=("join", channel["name"]), id="join", width=240)
                trail = Text("Joined", "sub", "faint", lines=1) if channel["joined"] else join
                rows.append(item(f"#{channel['name']}", str(channel["topic"]), trail=trail, id="channel",
                                 on=("open", channel["name"])))  # fmt: skip
        nothing = empty("hash", "No channels", "This workspace has none.")
        return Page(ListView([*(rows or [nothing]), Space(40)], id="browse"), bar=app_bar("All channels"))

    def screen_new(self, here: AppContext) -> Screen:
        query = str(here.own["to"]).strip().casefold()
        rows: list[View | None] = [
            item(f"#{c['name']}", "Channel", lead=badge("hash"), on=("choose", c["name"]), id="channel")
            for c in sorted(self._open_here(here), key=lambda c: str(c["name"]))
            if c["kind"] == "channel" and c["joined"] and query in str(c["name"]).casefold()
        ]
        rows += [
            item(str(p["name"]), f"{p['title']}", lead=avatar(p["name"]), on=("choose", p["name"]), id="person")
            for p in sorted(here.own["people"], key=lambda p: str(p["name"]))
            if query in f"{p['name']}".casefold()
        ]
        nothing = empty("search", "Nobody found", "No person or channel has this name.")
        field = Field(["to"], hint="To: person or channel", kind="search", id="to", action="Next")
        bar = Column([app_bar("New message"), inset(field, 0, 20)])
        return Page(ListView([*(rows or [nothing]), Space(40)], id="people"), bar=bar)

    def do_choose(self, here: AppContext, name: str) -> None:
        here.own["to"] = ""
        self.do_open(here, name, 1)
        here.focus("message")

    def screen_mentions(self, here: AppContext) -> Screen:
        me = str(here.own["me"])
        mention_list = [
            place
            for channel in self._open_here(here)
            for place in places(channel)
            if channel["joined"] and mentions(place.message, me)
        ]
        mention_list.sort(key=lambda place: moment(place.message, here.clock), reverse=True)
        nothing = empty("bell", "No mentions", "Messages that call you are shown here.")
        rows: list[View | None] = [self._hit(here, place) for place in mention_list]
        bar = Text("Mentions", "headline", pad=(48, 32, 48, 24))
        return Page(ListView([*(rows or [nothing]), Space(40)], id="mentions"), bar=bar, foot=tab_bar("Mentions"))

    def screen_you(self, here: AppContext) -> Screen:
        status = here.own["status"]
        head = item(str(here.own["me"]), str(here.own["workspace"]), lead=avatar(here.own["me"]), strong=True)
        field = Field(["status", "text"], hint="What are you up to?", id="status_text")
        rows: list[View | None] = [head, section("Status text"), inset(field, 8, 8), section("Status")]
        for kind, words in STATUSES:
            row = marked("radio", kind, status["kind"] == kind, ("status", kind), sub=words)
            row.children = [*row.children[:2], Icon(status_icon(kind), 56)]
            rows.append(row)
        clear = Button("Clear status", "outlined", on=("clear_status",), id="clear")
        rows.append(Column([clear], pad=(48, 24), align="start"))
        bar = Text("You", "headline", pad=(48, 32, 48, 24))
        return Page(ListView([*rows, Space(40)], id="you"), bar=bar, foot=tab_bar("You"))

    def do_status(self, here: AppContext, kind: str) -> None:
        here.own["status"]["kind"] = kind
        here.toast(f"Status: {kind}")

    def do_clear_status(self, here: AppContext) -> None:
        here.own["status"] = {"kind": "Active", "text": ""}
        here.toast("Status cleared")
