"""Notes: plain notes and checklists.

State, `apps.notes`: `notes`, newest first, each `{title, body, checklist, items: [{text, done}], edited}`. A plain note
has its text in `body`, a checklist in `items`. `query` is the typed search. Typed text is stored at once. Blank notes
and items are deleted.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any, ClassVar

from simulators.phone.app import App, AppContext, State
from simulators.phone.kit.views import (
    Button,
    Column,
    Dialog,
    Field,
    Icon,
    ListView,
    Mark,
    Page,
    Row,
    Screen,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import app_bar, card, empty, fab, icon_button, inset

_FIRST: tuple[tuple[str, str, tuple[tuple[str, bool], ...], int], ...] = (
    (
        "Weekend shopping",
        "",
        (("Oat milk", False), ("Lemons", True), ("Rice noodles", False), ("Dish soap", False)),
        15,
    ),
    (
        "Annealing times",
        "Film A: 40 min at 120 C\nFilm B: 55 min at 120 C\nFilm C: 40 min at 135 C, slow cooling",
        (),
        17,
    ),
    ("Gift ideas for Noor", "A book about lichens, or the small brass loupe from the museum shop.", (), 40),
    ("会议要点", "周五组会：样品进度、下个月的束线时间、新同学的安全培训。", (), 64),
    ("Garden path walk", "Start at the north gate, then the canal, then back over the bridge. About 5 km.", (), 160),
)


class Notes(App):
    id, label, icon, colour, hue = "notes", "Notes", "notes", "#d08a1d", 40
    shapes: ClassVar[dict[str, State]] = {
        "notes": {"title": "", "body": "", "checklist": False, "items": [], "edited": ""},
        "notes.items": {"text": "", "done": False},
    }

    def first_state(self, rng: Random, clock: datetime) -> State:
        notes = [
            {
                "title": title,
                "body": body,
                "checklist": bool(items),
                "items": [{"text": text, "done": done} for text, done in items],
                "edited": (clock - timedelta(hours=hours)).isoformat(),
            }
            for title, body, items, hours in _FIRST
        ]
        return {"notes": notes, "query": ""}

    def screen_home(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        rows: list[View | None] = [
            inset(_card(note, index))
            for index, note in enumerate(here.own["notes"])
            if not _is_blank(note) and query in _words(note)
        ]
        nothing = empty("notes", "No notes", "Write one with the button below.")
        if query:
            nothing = empty("search", "Nothing found", "No note holds these words.")
        field = Field(["query"], hint="Search notes", kind="search", id="search", action="Search")
        top = Column([Text("Notes", "headline", pad=(48, 24, 48, 16)), inset(field, 0, 20)])
        new = fab("add", "New note", ("new",), "new_note")
        return Page(ListView([*(rows or [nothing]), Space(220)], id="notes", gap=24), bar=top, fab=new)

    def do_new(self, here: AppContext) -> None:
        note = {"title": "", "body": "", "checklist": False, "items": [], "edited": here.clock.isoformat()}
        here.own["notes"].insert(0, note)
        here.own["query"] = ""
        here.go("edit", index=0)
        here.focus("title")

    def screen_edit(self, here: AppContext) -> Screen:
        index = int(here.args["index"])
        note = here.own["notes"][index]
        kind = "Plain text" if note["checklist"] else "Checklist"
        title = Field(["notes", index, "title"], hint="Title", kind="plain", style="headline", id="title")
        title.action, title.submit = "Next", ("begin", index)
        rows: list[View | None] = [inset(title, 8, 0)]
        if note["checklist"]:
            rows += [_item(index, i, entry) for i, entry in enumerate(note["items"])]
            rows.append(_new_item(index))
        else:
            body = Field(["notes", index, "body"], hint="Note", kind="plain", id="body", many=True, action="Enter")
            rows.append(inset(body))
        when = datetime.fromisoformat(note.get("edited") or here.phone["clock"]).strftime("%d %b, %H:%M").lstrip("0")
        rows.append(Text(f"Edited {when}", "small", "faint", pad=(48, 32), id="edited"))
        bar = app_bar(
            "",
            icon_button("notes" if note["checklist"] else "list", kind, ("turn", index), id="kind"),
            icon_button("delete", "Delete note", ("go", "delete", {"index": index}), id="delete"),
            icon_button("check", "Done", ("back",), colour="primary", id="done"),
        )
        return Page(ListView([*rows, Space(60)], id="note"), bar=bar)

    def do_begin(self, here: AppContext, index: int) -> None:
        if here.own["notes"][index]["checklist"]:
            self.do_add_item(here, index)
        else:
            here.focus("body")

    def do_turn(self, here: AppContext, index: int) -> None:
        """Convert plain text to a checklist, line by line, or back."""
        note = here.own["notes"][index]
        here.focus(None)
        if note["checklist"]:
            note["body"] = "\n".join(str(entry["text"]) for entry in note["items"])
            note["items"] = []
        else:
            note["items"] = [{"text": line, "done": False} for line in str(note["body"]).splitlines() if line.strip()]
            note["body"] = ""
        note["checklist"] = not note["checklist"]

    def do_add_item(self, here: AppContext, index: int) -> None:
        items = here.own["notes"][index]["items"]
        if not items or items[-1]["text"]:
            items.append({"text": "", "done": False})
        here.focus(f"item_{len(items) - 1}")

    def do_remove_item(self, here: AppContext, index: int, i: int) -> None:
        here.focus(None)
        del here.own["notes"][index]["items"][i]

    def edited(self, here: AppContext, field: str) -> None:
        if "index" in here.args:
            here.own["notes"][here.args["index"]]["edited"] = here.clock.isoformat()

    def screen_delete(self, here: AppContext) -> Screen:
        note = here.own["notes"][here.args["index"]]
        return Dialog(
            "Delete this note?",
            Text(str(note["title"] or note["body"] or "An empty note"), "body", "faint", lines=2),
            [Button("Cancel", "text", on=("back",)), Button("Delete", "danger", on=("delete", here.args["index"]))],
        )

    def do_delete(self, here: AppContext, index: int) -> None:
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)
        del here.own["notes"][index]
        here.toast("Note deleted")

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """Delete blank items and blank notes once their screen is left."""
        if len(here.phone["nav"]["stacks"][self.id]) > 1:
            return
        for note in here.own["notes"]:
            note["items"] = [entry for entry in note["items"] if entry["text"]]
        here.own["notes"] = [note for note in here.own["notes"] if not _is_blank(note)]


def _is_blank(note: State) -> bool:
    return not (note["title"] or note["body"] or note["items"])


def _words(note: State) -> str:
    return " ".join([str(note["title"]), str(note["body"]), *(str(i["text"]) for i in note["items"])]).casefold()


def _card(note: State, index: int) -> View:
    words: list[View | None] = [Text(str(note["title"]), "strong", lines=2, id="title")] if note["title"] else []
    if note["body"]:
        words.append(Text(str(note["body"]), "body", "faint", lines=3, id="body"))
    for entry in note["items"][:4]:
        box = Mark("checkbox", checked=bool(entry["done"]))
        words.append(Row([box, Text(str(entry["text"]), "body", "faint", lines=1, grow=1)], gap=20))
    if len(note["items"]) > 4:
        words.append(Text(f"and {len(note['items']) - 4} more", "sub", "faint"))
    return card(words, on=("go", "edit", {"index": index}), long=("go", "delete", {"index": index}), id="note", pad=36)


def _item(index: int, i: int, entry: dict[str, Any]) -> View:
    done = bool(entry["done"])
    box = Mark(
        "checkbox", checked=done, on=("toggle", ["notes", index, "items", i, "done"]), checkable=True, width=104,
        height=128, desc=str(entry["text"]), cls="CheckBox", id="done",
    )  # fmt: skip
    field = Field(
        ["notes", index, "items", i, "text"], hint="Item", kind="plain", id=f"item_{i}", grow=1, action="Next",
        submit=("add_item", index),
    )  # fmt: skip
    return Row([box, field, icon_button("close", "Remove item", ("remove_item", index, i))], pad=(28, 0, 36, 0), gap=8)


def _new_item(index: int) -> View:
    words = Text("Add item", "body", "faint", grow=1)
    return Row([Icon("add", 60, width=104), words], gap=8, pad=(28, 20), on=("add_item", index), id="add_item")
