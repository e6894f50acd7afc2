"""Contacts: the phone's one address book, and its calls.

State, `apps.contacts`:
- `people`, each `{name, number, email, company, favourite}`. No two have the same name.
- `calls`, oldest first, each `{name, number, kind: outgoing | incoming | missed, time, seconds}`. `name` is empty for
  an unknown number. `seconds` is the duration of the talk.
- `call`: the current call, `{name, number, time, answered, mute, speaker}`, or nothing. `answered` is a time or
  empty.
- `draft`: the person in the form, `{name, number, email, company, of}`. `of` names the entry to change, if any.
- `dialled` and `query`: as typed. `tab`: Contacts | Recents | Keypad.

Other apps read `people(phone)` and open this app by `show_person`, `start_call` and `start_entry`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any, ClassVar

from simulators.phone import nav
from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.mail import Mail
from simulators.phone.kit.views import (
    Act,
    Button,
    Column,
    Dialog,
    Field,
    Icon,
    ListView,
    Page,
    Row,
    Screen,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import app_bar, avatar, badge, empty, fab, icon_button, inset, item, section, tabs

_BLANK: State = {"name": "", "number": "", "email": "", "company": "", "of": ""}


class Contacts(App):
    id, label, icon, colour, hue = "contacts", "Contacts", "person", "#2d7f8f", 190
    shapes: ClassVar[dict[str, State]] = {
        "people": {"name": "", "number": "", "email": "", "company": "", "favourite": False},
        "calls": {"name": "", "number": "", "kind": "outgoing", "time": "", "seconds": 0},
    }

    def first_state(self, rng: Random, clock: datetime) -> State:
        names = ("name", "number", "email", "company", "favourite")
        everybody = [dict(zip(names, person, strict=True)) for person in PEOPLE]
        numbers = {name: number for name, number, *_ in PEOPLE}
        calls = [
            {"name": name if name in numbers else "", "number": numbers.get(name, name), "kind": kind}
            | {"time": _days_ago(clock, days, time), "seconds": seconds}
            for name, kind, days, time, seconds in reversed(CALLS)
        ]
        rng.shuffle(everybody)
        return {
            "people": everybody, "calls": calls, "call": {}, "draft": dict(_BLANK), "dialled": "", "query": "",
            "tab": "Contacts",
        }  # fmt: skip

    def screen_home(self, here: AppContext) -> Screen:
        tab = str(here.own["tab"])
        icons = {"Contacts": "person", "Recents": "clock", "Keypad": "keypad"}
        foot = tabs([(name, icon, ("tab", name)) for name, icon in icons.items()], tab)
        going = call_banner(here)
        if tab == "Keypad":
            return Page(keypad(here), bar=Column([going, Space(24)]), foot=foot)
        if tab == "Recents":
            return self._recents(here, going, foot)
        field = Field(["query"], hint="Search contacts", kind="search", id="search", action="Search")
        top = Column([going, Text("Contacts", "headline", pad=(48, 24, 48, 16)), inset(field, 0, 20)])
        new = fab("add", "New contact", ("new",), "new_contact")
        return Page(ListView([*_book(here), Space(220)], id="people"), bar=top, foot=foot, fab=new)

    def _recents(self, here: AppContext, going: View | None, foot: View) -> Page:
        calls = here.own["calls"]
        rows: list[View | None] = [call_row(call, here) for call in reversed(calls)]
        nothing = empty("call", "No recent calls", "Calls that you make or miss stand here.")
        clear = icon_button("delete", "Clear call history", ("go", "clear")) if calls else None
        bar = Column([going, app_bar("Recent calls", clear, back=False)])
        return Page(ListView([*(rows or [nothing]), Space(60)], id="calls"), bar=bar, foot=foot)

    def do_tab(self, here: AppContext, name: str) -> None:
        here.focus(None)
        here.own["tab"] = name

    def screen_person(self, here: AppContext) -> Screen:
        return person_page(here, str(here.args["name"]), str(here.args.get("number", "")))

    def do_open(self, here: AppContext, name: str, number: str = "") -> None:
        here.go("person", name=name, number=number)

    def do_favourite(self, here: AppContext, name: str) -> None:
        person = person_of(here.phone, name)
        if person is not None:
            person["favourite"] = not person["favourite"]
            here.toast("Added to favourites" if person["favourite"] else "Removed from favourites")

    def do_message(self, here: AppContext, name: str) -> None:
        _open_app(here.phone, "messages", "thread", {"name": name})

    def do_mail(self, here: AppContext, address: str) -> None:
        _open_app(here.phone, "mail", "home", {})
        Mail().do_compose(AppContext(here.phone, "mail"), address)

    # -- writing people down --------------------------------------------------------------------------------

    def do_new(self, here: AppContext, name: str = "", number: str = "") -> None:
        here.own["draft"] = _BLANK | {"name": name, "number": number}
        here.go("edit")
        here.focus("name")

    def do_edit(self, here: AppContext, name: str) -> None:
        person = person_of(here.phone, name)
        if person is not None:
            here.own["draft"] = {key: person[key] for key in ("name", "number", "email", "company")} | {"of": name}
            here.go("edit")

    def screen_edit(self, here: AppContext) -> Screen:
        return entry_page(here.own["draft"], _draft_error(here))

    def do_next(self, here: AppContext, field: str) -> None:
        here.focus(field)
        here.phone["keyboard"]["page"] = "numbers" if field == "number" else "letters"

    def do_save(self, here: AppContext) -> None:
        wrong = _draft_error(here)
        if wrong:
            here.toast(wrong)
            return
        draft = {key: " ".join(str(value).split()) for key, value in here.own["draft"].items()}
        of = draft.pop("of")
        person = person_of(here.phone, of) if of else None
        if person is None:
            here.own["people"].append(draft | {"favourite": False})
        else:
            person |= draft
        for call in here.own["calls"]:
            if dialled_digits(call["number"]) == dialled_digits(draft["number"]) and draft["number"]:
                call["name"] = draft["name"]
        here.close_screens()
        under = nav.stack(here.phone, self.id)[-1]
        if under["screen"] == "person":
            under["args"] = {"name": draft["name"], "number": ""}
        else:
            self.do_open(here, draft["name"])
        here.toast("Contact saved")

    def screen_delete(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        return Dialog(
            "Delete this contact?",
            Text(f"{name} is taken out of the phone's contacts.", "body", "faint"),
            [Button("Cancel", "text", on=("back",)), Button("Delete", "danger", on=("delete", name), id="delete")],
        )

    def do_delete(self, here: AppContext, name: str) -> None:
        here.own["people"] = [person for person in here.own["people"] if person["name"] != name]
        for call in here.own["calls"]:
            call["name"] = "" if call["name"] == name else call["name"]
        here.close_screens(len(nav.stack(here.phone, self.id)) - 1)
        here.toast("Contact deleted")

    # -- calls ----------------------------------------------------------------------------------------------

    def do_call(self, here: AppContext, number: str) -> None:
        begin_call(here, number)

    def do_dial(self, here: AppContext, key: str) -> None:
        number = str(here.own["dialled"])
        here.own["dialled"] = number[:-1] if key == "backspace" else number + key

    def screen_call(self, here: AppContext) -> Screen:
        return call_page(here.own["call"], call_seconds(here))

    def do_end(self, here: AppContext) -> None:
        end_call(here)
        here.close_screens()

    def screen_clear(self, here: AppContext) -> Screen:
        return Dialog(
            "Clear call history?",
            Text("All recent calls are taken off this list.", "body", "faint"),
            [Button("Cancel", "text", on=("back",)), Button("Clear", "danger", on=("clear",), id="clear")],
        )

    def do_clear(self, here: AppContext) -> None:
        here.own["calls"] = []
        here.close_screens()

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        advance_call(here, after)


def people(phone: State) -> list[State]:
    """Return everybody in the phone's address book."""
    people_list: list[State] = phone["apps"]["contacts"]["people"]
    return people_list


def person_of(phone: State, name: str) -> State | None:
    """Return the person of that name, or None if there is none."""
    return next((person for person in people(phone) if person["name"] == name), None)


def show_person(phone: State, name: str, number: str = "") -> None:
    """Open a person's page from another app, or the page of an unknown number."""
    _open_app(phone, "contacts", "person", {"name": name, "number": number})


def start_call(phone: State, number: str) -> None:
    """Call a number from another app."""
    _open_app(phone, "contacts", "home", {})
    begin_call(AppContext(phone, "contacts"), number)


def start_entry(phone: State, number: str, name: str = "") -> None:
    """Open a new entry with this number from another app."""
    _open_app(phone, "contacts", "home", {})
    Contacts().do_new(AppContext(phone, "contacts"), name, number)


def _open_app(phone: State, app: str, screen: str, args: dict[str, Any]) -> None:
    """Bring an app to the front with one of its screens over its first."""
    nav.show(phone, app)
    while nav.pop(phone, app):
        pass
    if screen != nav.stack(phone, app)[-1]["screen"]:
        nav.push(phone, app, screen, args)


def _days_ago(clock: datetime, days: int, time: str) -> str:
    then = (clock - timedelta(days=days)).replace(hour=int(time[:2]), minute=int(time[3:]), second=0, microsecond=0)
    return then.isoformat()


def _book(here: AppContext) -> list[View | None]:
    """Return the rows of the address book, favourites first, or of the search's matches."""
    query = str(here.own["query"]).strip().casefold()
    everybody = sorted(here.own["people"], key=lambda p: str(p["name"]).casefold())
    if query:
        matching = [p for p in everybody if query in _words(p)]
        nothing = empty("search", "Nobody found", "No contact holds these words.")
        return [person_row(p) for p in matching] or [nothing]
    if not everybody:
        return [empty("person", "No contacts", "Add one with the button below.")]
    loved = [person_row(p) for p in everybody if p["favourite"]]
    head: list[View | None] = [section("Favourites"), *loved, section("All contacts")] if loved else []
    return [*head, *(person_row(p) for p in everybody)]


def _words(person: State) -> str:
    number = str(person["number"])
    return f"{person['name']} {number} {dialled_digits(number)} {person['email']} {person['company']}".casefold()


def _draft_error(here: AppContext) -> str:
    """Return the error that prevents saving the draft, empty if there is none."""
    draft = here.own["draft"]
    name = " ".join(str(draft["name"]).split())
    if not name:
        return "Enter a name first"
    if name != draft["of"] and person_of(here.phone, name) is not None:
        return "There is a contact of this name"
    return ""


_KEYS = ("123", "456", "789", "*0#")


def person_row(person: State) -> View:
    name = str(person["name"])
    return item(name, str(person["company"] or person["number"]), lead=avatar(name), on=("open", name), id="contact")


def call_row(call: State, here: AppContext) -> View:
    """Return a recent call. A tap on the row opens the person, a tap on the handset calls."""
    name, number, kind = str(call["name"]), str(call["number"]), str(call["kind"])
    then = datetime.fromisoformat(call["time"])
    days = (here.clock.date() - then.date()).days
    day = {0: "", 1: "Yesterday "}.get(days, then.strftime("%d %b ").lstrip("0"))
    words = f"{kind.title()}, {day}{then.strftime('%H:%M')}"
    who = Text(name or number, "item", "error" if kind == "missed" else "text", lines=1, id="name")
    about = Column([who, Text(words, "sub", "faint", lines=1, id="when")], gap=8, grow=1)
    again = icon_button("call", f"Call {name or number}", ("call", number), colour="primary", id="call")
    lead = avatar(name) if name else badge("person")
    return Row([lead, about, again], gap=36, pad=(48, 20, 24, 20), on=("open", name, number), id="recent")


def person_page(here: AppContext, name: str, number: str) -> Page:
    """Return a person's page, or that of a bare number if nobody has that name."""
    people: list[State] = here.own["people"]
    person = next((p for p in people if p["name"] == name), None)
    if person is None:
        return _number_page(here, number) if number else _gone_page()
    star = ("star", "Remove from favourites") if person["favourite"] else ("star_line", "Add to favourites")
    bar = app_bar(
        "",
        icon_button(star[0], star[1], ("favourite", name), id="favourite", colour="primary"),
        icon_button("edit", "Edit contact", ("edit", name), id="edit"),
        icon_button("delete", "Delete contact", ("go", "delete", {"name": name}), id="delete"),
    )
    phone, mail = str(person["number"]), str(person["email"])
    deeds = Row([_action_button("call", "Call", ("call", phone), bool(phone)),
                 _action_button("message", "Message", ("message", name), bool(phone)),
                 _action_button("mail", "Mail", ("mail", mail), bool(mail))], gap=24, pad=(48, 16))  # fmt: skip
    rows: list[View | None] = [
        *_page_head(name, str(person["company"])),
        deeds,
        Space(24),
        item(phone, "Phone", lead=badge("call"), on=("call", phone), id="number") if phone else None,
        item(mail, "Mail", lead=badge("mail"), on=("mail", mail), id="email") if mail else None,
        *_last_calls(here, name),
    ]
    return Page(ListView([*rows, Space(60)], id="person"), bar=bar)


def _page_head(name: str, under: str) -> list[View | None]:
    face = Column([avatar(name, 220)], align="center", pad=(0, 0, 0, 16))
    return [face, Text(name, "headline", align="center", lines=2, id="name", pad=(48, 0)),
            Text(under, "sub", "faint", "center", lines=1, id="company", pad=(48, 0)) if under else None]  # fmt: skip


def _last_calls(here: AppContext, name: str) -> list[View | None]:
    calls = [call for call in reversed(here.own["calls"]) if call["name"] == name][:5]
    if not calls:
        return []
    heading = Text("Recent calls", "label", "primary", pad=(48, 16, 48, 0), lines=1)
    return [heading, *(_past_call_row(call, here) for call in calls)]


def _past_call_row(call: State, here: AppContext) -> View:
    then = datetime.fromisoformat(call["time"])
    day = "Today" if then.date() == here.clock.date() else then.strftime("%a, %d %b").replace(" 0", " ")
    duration = "" if call["kind"] == "missed" else f", {duration_words(int(call['seconds']))}"
    return item(f"{day}, {then.strftime('%H:%M')}", f"{str(call['kind']).title()}{duration}", id="past")


def _number_page(here: AppContext, number: str) -> Page:
    contact_name = owner_name(here, number)
    face = Column([Icon("person", 110, "on_soft", disc="soft", disc_size=220)], align="center", pad=(0, 0, 0, 16))
    add = Button("Create new contact", icon="add", on=("new", "", number), id="create")
    if contact_name:
        add = Button(f"Saved as {contact_name}", "tonal", on=("open", contact_name), id="saved")
    deeds = Row([_action_button("call", "Call", ("call", number)),
                 _action_button("message", "Message", ("message", number))], gap=24, pad=(48, 16))  # fmt: skip
    title = Text(number, "headline", align="center", lines=1, id="number", pad=(48, 0))
    calls = [call for call in reversed(here.own["calls"]) if call["number"] == number][:5]
    rows: list[View | None] = [
        face,
        title,
        deeds,
        Column([add], pad=(48, 16)),
        *(_past_call_row(c, here) for c in calls),
    ]
    return Page(ListView([*rows, Space(60)], id="person"), bar=app_bar(""))


def _gone_page() -> Page:
    return Page(empty("person", "No such contact", "It is not in this phone's contacts any more."), bar=app_bar(""))


def _action_button(icon: str, label: str, on: Act, can: bool = True) -> View:
    """Return a button to reach somebody: a glyph above its label."""
    sign = Icon(icon, 64, "on_soft" if can else "outline")
    words = Text(label, "label", "on_soft" if can else "outline", "center", lines=1)
    return Column([Column([sign], align="center"), words], grow=1, fill="soft" if can else "container", radius=48,
                  pad=(8, 24, 8, 16), on=on, desc=label, cls="Button", id=label.lower(), enabled=can)  # fmt: skip


def entry_page(draft: State, wrong: str) -> Page:
    """Return the form for a new or changed person."""
    new = not draft["of"]
    save = Button("Save", on=("save",), id="save")
    fields: list[View | None] = [
        Column([avatar(str(draft["name"]) or "?", 200)], align="center"),
        Field(["draft", "name"], hint="Name", id="name", kind="box", action="Next", submit=("next", "number")),
        Text(wrong, "sub", "error", lines=1, id="wrong") if wrong and draft["name"] else None,
        Field(
            ["draft", "number"],
            hint="Phone",
            id="number",
            kind="box",
            numeric=True,
            action="Next",
            submit=("next", "email"),
        ),
        Field(["draft", "email"], hint="Mail", id="email", kind="box", action="Next", submit=("next", "company")),
        Field(["draft", "company"], hint="Company", id="company", kind="box"),
    ]
    bar = app_bar("New contact" if new else "Edit contact", save)
    return Page(ListView([Column(fields, gap=36, pad=(48, 24)), Space(60)], id="form"), bar=bar)


def keypad(here: AppContext) -> View:
    """Return the keypad: the typed number, its owner, and the keys."""
    number = str(here.own["dialled"])
    caption = owner_name(here, number)
    if not caption and number:
        caption = "Not in your contacts"
    rows: list[View | None] = [Row([_key(ch) for ch in keys], gap=24, pad=(72, 0)) for keys in _KEYS]
    add = icon_button("add", "Add to contacts", ("new", "", number), id="add") if number else None
    rub = icon_button("backspace", "Backspace", ("dial", "backspace"), id="backspace") if number else None
    ring = Button("Call", icon="call", on=("call", number), id="call", grow=1)
    return Column(
        [
            Text(number or " ", "display", align="center", lines=1, id="digits", pad=(48, 0)),
            Text(caption or "Enter a number", "sub", "faint", "center", lines=1, id="known"),
            Space(grow=1), *rows, Row([_key("+"), _spot(add), _spot(rub)], gap=24, pad=(72, 0)), Space(24),
            Column([ring], pad=(72, 0)), Space(48),
        ],
        gap=20,
    )  # fmt: skip


def _key(ch: str) -> View:
    face = Text(ch, "headline", align="center", height=128)
    return Column([face], fill="high", radius=64, grow=1, on=("dial", ch), desc=ch, cls="Button", id="key")


def _spot(view: View | None) -> View:
    """Return the place of a key, with a glyph or empty."""
    return Column([view], align="center", grow=1)


def call_page(call: State, seconds: int | None) -> Page:
    """Return the current call, or a page without one."""
    if not call:
        return Page(empty("call", "No call", "The call has ended."), bar=app_bar(""))
    name, number = str(call["name"]), str(call["number"])
    state = "Ringing…" if seconds is None else duration_words(seconds)
    face = avatar(name, 300) if name else Icon("person", 150, "on_soft", disc="soft", disc_size=300)
    switches = Row([_switch("mic_off", "Mute", bool(call["mute"])), _switch("sound", "Speaker", bool(call["speaker"]))],
                   gap=24)  # fmt: skip
    end = Row([Icon("call_end", 72, "white"), Text("End call", "label", "white", lines=1)], gap=24, pad=(60, 40),
              fill="#c0392b", radius=76, on=("end",), desc="End call", cls="Button", id="end")  # fmt: skip
    body = Column(
        [
            Space(160), Column([face], align="center"), Space(40),
            Text(name or number, "headline", align="center", lines=2, id="name"),
            Text(number, "body", "faint", "center", lines=1, id="number") if name else None,
            Text(state, "title", "primary", "center", lines=1, id="state"),
            Space(grow=1), switches, Space(20), Column([end], align="center"), Space(60),
        ],
        gap=20, pad=(48, 0),
    )  # fmt: skip
    return Page(body, bar=app_bar("Call"))


def _switch(icon: str, label: str, on: bool) -> View:
    sign = Icon(icon, 64, "on_soft" if on else "text")
    words = Text(label, "label", "on_soft" if on else "text", "center", lines=1)
    return Column([Column([sign], align="center"), words], grow=1, fill="soft" if on else "high", radius=48,
                  pad=(8, 24, 8, 16), on=("toggle", ["call", label.lower()]), desc=label, cls="ToggleButton",
                  checkable=True, checked=on, id=label.lower())  # fmt: skip


PEOPLE: tuple[tuple[str, str, str, str, bool], ...] = (
    ("Noor Haddad", "+65 5550 1820", "n.haddad@softmatter.example", "Institute of Soft Matter", True),
    ("Jonas Weil", "+65 5550 7714", "jonas@weil.example", "", False),
    ("陈伟", "+65 5550 3306", "chen.wei@softmatter.example", "Institute of Soft Matter", False),
    ("Priya Raman", "+65 5550 6482", "priya.raman@softmatter.example", "Institute of Soft Matter", False),
    ("Mamá", "+34 555 010 244", "", "", True),
    ("Dr. Okafor", "+65 5550 9057", "c.okafor@softmatter.example", "Institute of Soft Matter", False),
    ("林小雨", "+65 5550 2291", "lin.xiaoyu@softmatter.example", "Institute of Soft Matter", False),
    ("Tomas Brandt", "+49 555 019 63", "tomas.brandt@post.example", "Brandt Optik", False),
    ("Building desk", "+65 5550 0007", "desk@heronwalk.example", "", False),
    ("Quayside Dental", "+65 5550 4410", "hello@quaysidedental.example", "", False),
)
"""Name, number, mail address, company, and True for a favourite."""

CALLS: tuple[tuple[str, str, int, str, int], ...] = (
    ("Mamá", "incoming", 1, "20:31", 1260),
    ("Quayside Dental", "missed", 1, "10:04", 0),
    ("Noor Haddad", "outgoing", 2, "18:12", 95),
    ("+65 5550 8876", "missed", 3, "14:47", 0),
    ("Building desk", "outgoing", 4, "09:20", 41),
    ("陈伟", "incoming", 6, "11:02", 312),
)
"""Name (or number, if nobody has it), kind, days ago, time, seconds of talk."""


_RINGS = timedelta(seconds=6)
"""Ringing time before the other side answers."""


def dialled_digits(number: Any) -> str:
    """Return the digits and `+*#` of a number, without separators."""
    return "".join(ch for ch in str(number) if ch.isdecimal() or ch in "+*#")


def owner_name(here: AppContext, number: str) -> str:
    """Return the name of a number's owner, empty if nobody has it."""
    number_digits = dialled_digits(number)
    people: list[State] = here.phone["apps"]["contacts"]["people"]
    return next((str(p["name"]) for p in people if number_digits and dialled_digits(p["number"]) == number_digits), "")


def begin_call(here: AppContext, number: str) -> None:
    """Call a number, after ending the current call."""
    if not dialled_digits(number):
        here.toast("Enter a number first")
        return
    if here.own["call"]:
        end_call(here)
    call = {"name": owner_name(here, number), "number": number}
    now = here.clock.isoformat()
    here.own["calls"].append(call | {"kind": "outgoing", "time": now, "seconds": 0})
    here.own["call"] = call | {"time": now, "answered": "", "mute": False, "speaker": False}
    here.go("call")


def end_call(here: AppContext) -> None:
    """End the current call and record its duration."""
    going = here.own["call"]
    if not going:
        return
    for call in here.own["calls"]:
        if call["time"] == going["time"]:
            call["seconds"] = call_seconds(here) or 0
    here.own["call"] = {}
    here.toast("Call ended")


def call_seconds(here: AppContext) -> int | None:
    """Return the seconds since the call was answered, or None while it rings."""
    answered_at = here.own["call"].get("answered")
    return round((here.clock - datetime.fromisoformat(answered_at)).total_seconds()) if answered_at else None


def advance_call(here: AppContext, now: datetime) -> None:
    """Answer the call after it has rung long enough."""
    call = here.own["call"]
    if call and not call["answered"]:
        due = datetime.fromisoformat(call["time"]) + _RINGS
        if due <= now:
            call["answered"] = due.isoformat()


def duration_words(seconds: int) -> str:
    """Return a duration as 1:35."""
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def call_banner(here: AppContext) -> View | None:
    """Return a bar that leads back to the current call, or None if there is none."""
    call = here.own["call"]
    if not call:
        return None
    words = Text(f"Call with {call['name'] or call['number']}", "label", "on_primary", lines=1, grow=1)
    return Row([Icon("call", 56, "on_primary"), words], gap=28, pad=(48, 24), fill="primary", on=("go", "call"),
               id="ongoing", desc="Return to call")  # fmt: skip
