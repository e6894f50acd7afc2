"""Rookery, a team chat: workspaces, channels, direct messages, threads, mentions.

State, `apps.teamchat`:
- `me`: the owner's name there. `status`: `{kind, text}`, with `kind` one of Active, Away, In a meeting, On the move,
  Do not disturb. `workspaces`: names. `workspace`: the open one.
- `channels`, each `{workspace, kind, name, topic, private, muted, unread, joined, members: [names], messages}`.
  `kind` is channel or direct. The `name` of a direct one is the other person's. `unread` counts the last messages. A
  `workspace` of "" is the open one. A message is `{from, text, time, pinned, reactions: [{name, by: [names]}],
  replies}`, the oldest first, with `from` a name or `me`. A reply has `from`, `text`, `time` and `reactions`.
- `people`, each `{name, title, status}`. `drafts`: unsent text by channel, or by channel and number for a thread.
  `query`: the typed search. `to`: the text typed to find a person.

A notification or a task opens a channel by `screen: channel, args: {channel: NAME}`.
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import ClassVar

from simulators.phone.app import App, AppContext, State, moment
from simulators.phone.apps.teamchat_views import (
    PEOPLE,
    REACTIONS,
    STATUSES,
    MessagePlace,
    channel_row,
    day,
    direct_row,
    divider,
    first_channels,
    mentions,
    message_view,
    places,
    status_icon,
    tab_bar,
    writing,
)
from simulators.phone.kit.views import (
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
)


def long_act(name: str, index: int) -> tuple[object, ...]:
    """Return the act that opens the actions of a channel's message."""
    return ("go", "actions", {"channel": name, "index": index, "reply": -1})


def _key(name: str, index: int) -> str:
    """Return the key of a thread's draft."""
    return f"{name}/{index}"


class TeamChat(App):
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

    def _open_channels(self, here: AppContext) -> list[State]:
        """Return the channels of the open workspace."""
        return [c for c in here.own["channels"] if c["workspace"] in ("", here.own["workspace"])]

    def screen_home(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        name = str(here.own["workspace"])
        row = Row(
            [Text(name, "headline", lines=1, id="workspace"), Icon("down", 56)], gap=16, pad=(48, 16, 48, 8),
            on=("go", "workspaces"), id="switch", desc="Switch workspace",
        )  # fmt: skip
        field = Field(["query"], hint="Search channels, messages", kind="search", id="search", action="Search")
        rows = self._search_rows(here, query) if query else self._channel_rows(here)
        new = fab("edit", "New message", ("go", "new"), "new_message") if not query else None
        return Page(ListView([*rows, Space(220)], id="channels"), bar=Column([row, inset(field, 0, 20)]), fab=new,
                    foot=tab_bar("Home"))  # fmt: skip

    def _channel_rows(self, here: AppContext) -> list[View | None]:
        me = str(here.own["me"])
        my_channels = [c for c in self._open_channels(here) if c["joined"]]
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

    def _search_rows(self, here: AppContext, query: str) -> list[View | None]:
        me, channels = str(here.own["me"]), [c for c in self._open_channels(here) if c["joined"]]
        rows: list[View | None] = []
        for channel in channels:
            if query in str(channel["name"]).casefold() and channel["kind"] == "channel":
                rows.append(channel_row(channel, False))
            elif query in str(channel["name"]).casefold():
                rows.append(direct_row(channel, "", me, here.clock))
        rows += [
            self._hit_row(here, place)
            for channel in channels
            for place in places(channel)
            if query in f"{place.message['text']}".casefold()
        ]
        return rows or [empty("search", "Nothing found", "Nothing here holds these words.")]

    def _hit_row(self, here: AppContext, place: MessagePlace) -> View:
        """Return a message outside its channel, below its channel and day."""
        to = {"channel": place.channel["name"], "index": place.number}
        sign = "" if place.channel["kind"] == "direct" else "#"
        where = f"{sign}{place.channel['name']}, {day(moment(place.message, here.clock), here.clock)}"
        text = message_view(place, str(here.own["me"]), here.clock, on=("go", "thread", to),
                            long=("go", "actions", to | {"reply": place.reply}))  # fmt: skip
        return Column([Text(where, "sub", "faint", lines=1, pad=(36, 12, 36, 0), id="where"), text])

    def react_to_notification(self, here: AppContext) -> None:
        if "channel" in here.args:
            channel = self.channel(here, here.args["channel"])
            channel["unread"] = 0
            here.own["workspace"] = channel["workspace"] or here.own["workspace"]

    def do_tab(self, here: AppContext, label: str) -> None:
        here.own["query"] = ""
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)
        if label != "Home":
            here.go({"Mentions": "mentions", "You": "you"}[label])

    def screen_workspaces(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        for name in here.own["workspaces"]:
            unread = sum(c["unread"] for c in here.own["channels"] if c["workspace"] == name and not c["muted"])
            sub = f"{unread} unread" if unread else "All read"
            rows.append(checkable("radio", str(name), name == here.own["workspace"], ("workspace", name), sub=sub))
        return Sheet(Column(rows), title="Workspaces")

    def do_workspace(self, here: AppContext, name: str) -> None:
        here.own["workspace"], here.own["query"] = name, ""
        here.close_screens()

    def screen_browse(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        for channel in sorted(self._open_channels(here), key=lambda c: str(c["name"])):
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
            for c in sorted(self._open_channels(here), key=lambda c: str(c["name"]))
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
            for channel in self._open_channels(here)
            for place in places(channel)
            if channel["joined"] and mentions(place.message, me)
        ]
        mention_list.sort(key=lambda place: moment(place.message, here.clock), reverse=True)
        nothing = empty("bell", "No mentions", "Messages that call you are shown here.")
        rows: list[View | None] = [self._hit_row(here, place) for place in mention_list]
        bar = Text("Mentions", "headline", pad=(48, 32, 48, 24))
        return Page(ListView([*(rows or [nothing]), Space(40)], id="mentions"), bar=bar, foot=tab_bar("Mentions"))

    def screen_you(self, here: AppContext) -> Screen:
        status = here.own["status"]
        head = item(str(here.own["me"]), str(here.own["workspace"]), lead=avatar(here.own["me"]), strong=True)
        field = Field(["status", "text"], hint="What are you up to?", id="status_text")
        rows: list[View | None] = [head, section("Status text"), inset(field, 8, 8), section("Status")]
        for kind, words in STATUSES:
            row = checkable("radio", kind, status["kind"] == kind, ("status", kind), sub=words)
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

    def channel(self, here: AppContext, name: str) -> State:
        """Return the channel or conversation of that name, the open workspace's first, or a new conversation."""
        channels: list[State] = [c for c in here.own["channels"] if c["name"] == name]
        channels.sort(key=lambda c: c["workspace"] not in ("", here.own["workspace"]))
        if channels:
            return channels[0]
        blank = {"workspace": here.own["workspace"], "kind": "direct", "name": name, "topic": "", "private": False}
        return blank | {"muted": False, "unread": 0, "joined": True, "members": [name], "messages": []}

    def do_open(self, here: AppContext, name: str, steps: int = 0) -> None:
        """Open a channel and mark it as read. Its screen still marks the messages that were unread."""
        channel = self.channel(here, name)
        here.close_screens(steps)
        unread = int(channel["unread"])
        here.go("channel", channel=name, new=len(channel["messages"]) - unread if unread else -1)
        channel["unread"] = 0

    def screen_channel(self, here: AppContext) -> Screen:
        name = str(here.args["channel"])
        channel = self.channel(here, name)
        new = int(here.args.get("new", -1))
        rows: list[View | None] = []
        days = ""
        for place in (p for p in places(channel) if p.reply < 0):
            then = day(moment(place.message, here.clock), here.clock)
            if then != days:
                days = then
                rows.append(divider(then))
            if place.number == new:
                rows.append(divider("New", "error"))
            to = {"channel": name, "index": place.number}
            long = ("go", "actions", to | {"reply": -1})
            rows.append(message_view(place, here.own["me"], here.clock, on=("go", "thread", to), long=long))
        if not rows:
            rows = [empty("comment", "No messages yet", "Write the first one below.")]
        direct = channel["kind"] == "direct"
        count = len(channel["members"]) + 1
        sub = self.person(here, name).get("status", "") if direct else f"{count} members, {channel['topic']}"
        about = icon_button("info", "Details", ("go", "details", {"channel": name}))
        pinned = icon_button("pin", "Pinned messages", ("go", "pinned", {"channel": name}), id="pinned")
        foot = writing(
            name, f"Message {name}", ("send", name), self._callable_names(here, channel), self._draft(here, name)
        )
        if not channel["joined"]:
            foot = Column([Button("Join channel", on=("join", name), id="join")], pad=(48, 20, 48, 28))
        return Page(
            ListView([*rows, Space(16)], id="messages", end=True),
            bar=app_bar(name if direct else f"#{name}", pinned, about, sub=str(sub)),
            foot=foot,
        )

    def person(self, here: AppContext, name: str) -> State:
        """Return a person's entry, empty if there is none."""
        owner: State = next((p for p in here.own["people"] if p["name"] == name), {})
        return owner

    def _draft(self, here: AppContext, key: str) -> str:
        return str(here.own["drafts"].get(key, ""))

    def _callable_names(self, here: AppContext, channel: State) -> list[str]:
        return ["everyone", *map(str, channel["members"])] if channel["kind"] == "channel" else []

    def do_call(self, here: AppContext, key: str, name: str) -> None:
        """Complete a name that was started with `@`."""
        here.own["drafts"][key] = f"{self._draft(here, key).rpartition('@')[0]}@{name} "

    def do_send(self, here: AppContext, name: str, index: int = -1) -> None:
        """Send the draft: to the channel, or as a reply to its message `index`."""
        key = name if index < 0 else _key(name, index)
        text = self._draft(here, key).strip()
        if not text:
            return
        channel = self.channel(here, name)
        if channel not in here.own["channels"]:
            here.own["channels"].append(channel)
        message: State = {"from": "me", "text": text, "time": here.clock.isoformat(), "reactions": []}
        if index < 0:
            channel["messages"].append(message | {"pinned": False, "replies": []})
        else:
            channel["messages"][index]["replies"].append(message)
        here.own["drafts"].pop(key)
        for place in [k for k in here.phone["scroll"] if k.startswith("teamchat/") and k.endswith("/messages")]:
            del here.phone["scroll"][place]

    def screen_thread(self, here: AppContext) -> Screen:
        name, index = str(here.args["channel"]), int(here.args["index"])
        channel = self.channel(here, name)
        rows: list[View | None] = []
        for place in (p for p in places(channel) if p.number == index):
            long = ("go", "actions", {"channel": name, "index": index, "reply": place.reply})
            rows.append(message_view(place, here.own["me"], here.clock, on=None, long=long))
            if place.reply < 0:
                count = len(place.message["replies"])
                rows += [
                    divider("No replies yet" if not count else "1 reply" if count == 1 else f"{count} replies"),
                    Line(),
                ]
        if not rows:
            return Page(empty("comment", "No such message", "It was deleted."), bar=app_bar("Thread"))
        key, send = _key(name, index), ("send", name, index)
        more = icon_button("more", "Message actions", long_act(name, index), id="more")
        return Page(
            ListView([*rows, Space(16)], id="messages"),
            bar=app_bar("Thread", more, sub=name if channel["kind"] == "direct" else f"#{name}"),
            foot=writing(key, "Reply", send, self._callable_names(here, channel), self._draft(here, key)),
        )

    def _message_of(self, here: AppContext) -> MessagePlace | None:
        """Return the message of an open sheet or dialog, or None if it no longer exists."""
        name, index, reply = str(here.args["channel"]), int(here.args["index"]), int(here.args.get("reply", -1))
        places_there = (p for p in places(self.channel(here, name)) if (p.number, p.reply) == (index, reply))
        return next(places_there, None)

    def screen_actions(self, here: AppContext) -> Screen:
        place = self._message_of(here)
        if place is None:
            return Sheet(Text("It was deleted.", "body", "faint", pad=(48, 24)))
        name, index, reply = str(place.channel["name"]), place.number, place.reply
        signs: list[View | None] = []
        for icon, words in REACTIONS:
            sign = icon_button(icon, words, ("react", name, index, reply, icon, True), disc="soft", colour="on_soft")
            signs.append(Column([sign], grow=1, align="center"))
        to = {"channel": name, "index": index, "reply": reply}
        pinned = bool(place.message.get("pinned"))
        rows: list[View | None] = [Row(signs, pad=(36, 8)), Line()]
        if reply < 0:
            rows.append(action_row("comment", "Reply in thread", ("thread", name, index)))
            rows.append(action_row("pin", "Unpin" if pinned else "Pin to channel", ("pin", name, index)))
            rows.append(action_row("unread", "Mark unread from here", ("unread", name, index)))
        if place.message["from"] == "me":
            rows.append(action_row("delete", "Delete message", ("go", "delete", to)))
        return Sheet(Column(rows), title="Message")

    def do_thread(self, here: AppContext, name: str, index: int) -> None:
        stack = here.phone["nav"]["stacks"][self.id]
        here.close_screens()
        if stack[-1]["screen"] != "thread":
            here.go("thread", channel=name, index=index)
        here.focus("message")

    def do_react(self, here: AppContext, name: str, index: int, reply: int, sign: str, close: bool = False) -> None:
        """Add the owner's reaction to a message, or remove it."""
        message = self.channel(here, name)["messages"][index]
        message = message["replies"][reply] if reply >= 0 else message
        reaction = next((r for r in message["reactions"] if r["name"] == sign), None)
        if reaction is None:
            message["reactions"].append({"name": sign, "by": ["me"]})
        elif "me" in reaction["by"]:
            reaction["by"].remove("me")
            message["reactions"] = [r for r in message["reactions"] if r["by"]]
        else:
            reaction["by"].append("me")
        if close:
            here.close_screens()

    def do_pin(self, here: AppContext, name: str, index: int) -> None:
        message = self.channel(here, name)["messages"][index]
        message["pinned"] = not message["pinned"]
        here.close_screens()
        here.toast("Pinned" if message["pinned"] else "No longer pinned")

    def do_unread(self, here: AppContext, name: str, index: int) -> None:
        channel = self.channel(here, name)
        channel["unread"] = len(channel["messages"]) - index
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)
        here.toast("Marked as unread")

    def screen_delete(self, here: AppContext) -> Screen:
        place = self._message_of(here)
        text = str(place.message["text"]) if place else ""
        remove = Button("Delete", "danger", on=("delete",), id="delete")
        words = Text(text, "body", "faint", lines=4)
        return Dialog("Delete message?", words, [Button("Cancel", "text", on=("back",)), remove])

    def do_delete(self, here: AppContext) -> None:
        stack = here.phone["nav"]["stacks"][self.id]
        place = self._message_of(AppContext(here.phone, self.id, stack[-1]["args"]))
        here.close_screens(2)
        if place is None:
            return
        if place.reply >= 0:
            del place.channel["messages"][place.number]["replies"][place.reply]
        else:
            del place.channel["messages"][place.number]
            if stack[-1]["screen"] == "thread":
                here.close_screens()
        here.toast("Message deleted")

    def screen_pinned(self, here: AppContext) -> Screen:
        channel = self.channel(here, str(here.args["channel"]))
        rows: list[View | None] = []
        for place in (p for p in places(channel) if p.message.get("pinned")):
            to = {"channel": channel["name"], "index": place.number}
            long = ("go", "actions", to | {"reply": -1})
            rows.append(message_view(place, here.own["me"], here.clock, on=("go", "thread", to), long=long))
        nothing = empty("pin", "Nothing pinned", "Hold a message to pin it here.")
        return Page(ListView([*(rows or [nothing]), Space(40)], id="pinned"), bar=app_bar("Pinned messages"))

    def screen_details(self, here: AppContext) -> Screen:
        name = str(here.args["channel"])
        channel = self.channel(here, name)
        index = here.own["channels"].index(channel) if channel in here.own["channels"] else -1
        direct = channel["kind"] == "direct"
        rows: list[View | None] = []
        if channel["topic"]:
            rows.append(item("Topic", str(channel["topic"]), lead=badge("info"), sub_lines=3))
        if index >= 0 and channel["joined"]:
            words = "No notifications from here"
            on = ("toggle", ["channels", index, "muted"])
            rows.append(checkable("switch", "Mute", bool(channel["muted"]), on, sub=words, lead=badge("muted")))
        rows.append(section("Person" if direct else f"Members ({len(channel['members']) + 1})"))
        for member in channel["members"]:
            person = self.person(here, str(member))
            about = ", ".join(str(person[k]) for k in ("status", "title") if person.get(k))
            row = item(str(member), about, lead=avatar(str(member)), id="member")
            row.on = None if direct else ("open", member, 2)
            rows.append(row)
        if not direct:
            rows.append(item(f"{here.own['me']} (you)", str(here.own["status"]["kind"]), lead=avatar(here.own["me"])))
            if channel["joined"]:
                leave = Button("Leave channel", "danger", on=("go", "leave", {"channel": name}), id="leave")
                rows.append(Column([leave], pad=(48, 24), align="start"))
        return Page(ListView([*rows, Space(40)], id="details"), bar=app_bar(name if direct else f"#{name}"))

    def do_join(self, here: AppContext, name: str) -> None:
        self.channel(here, name)["joined"] = True
        here.toast(f"You joined {name}")

    def screen_leave(self, here: AppContext) -> Screen:
        name = str(here.args["channel"])
        leave = Button("Leave", "danger", on=("leave", name), id="leave_now")
        words = Text("You can join it again at any time.", "body", "faint")
        return Dialog(f"Leave #{name}?", words, [Button("Cancel", "text", on=("back",)), leave])

    def do_leave(self, here: AppContext, name: str) -> None:
        self.channel(here, name)["joined"] = False
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)
        here.toast(f"You left {name}")
