"""The parts of Gallery: the grid, a photo's page and details, albums, the bin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from simulators.phone.app import AppContext, State
from simulators.phone.pickers import day_words, short_day
from simulators.phone.views import (
    Art,
    Button,
    Column,
    Field,
    Icon,
    ListView,
    Mark,
    Page,
    Row,
    Space,
    Text,
    View,
)
from simulators.phone.widgets import app_bar, badge, icon_button, inset, item, section

KEPT_DAYS = 30
"""How long a deleted photo stays in the bin."""


def art(photo: State, height: int, width: int | None = None, radius: int = 0) -> Art:
    """The picture of a photo."""
    picture = Art("photo", f"{photo['scene']}/{photo['name']}", height=height, radius=radius)
    picture.width = width
    return picture


def photo_time(photo: State) -> datetime:
    return datetime.fromisoformat(photo["time"])


def called(photo: State) -> str:
    """What a photo is called: its caption, or its file."""
    return str(photo["caption"] or photo["name"])


def day_heading(day: date, today: date) -> str:
    days = (today - day).days
    if days in (0, 1):
        return ("Today", "Yesterday")[days]
    return day_words(day, year=day.year != today.year)


def grid(
    photos: Sequence[State], today: date, selected: Sequence[str] | None = None, *, months: bool = False
) -> list[View | None]:
    """Photos by day (or month, each with its day), the newest first, two beside one another.

    With `selected` they can be ticked.
    """
    rows: list[View | None] = []
    last_heading = ""
    pair: list[View | None] = []

    def close() -> None:
        if pair:
            rows.append(Row([*pair, *([Space(grow=1)] if len(pair) == 1 else [])], gap=24, pad=(48, 0), align="top"))
            pair.clear()

    for photo in sorted(photos, key=lambda p: (photo_time(p), str(p["name"])), reverse=True):
        day = photo_time(photo).date()
        heading = day.strftime("%B %Y") if months else day_heading(day, today)
        if heading != last_heading:
            close()
            last_heading = heading
            rows.append(section(heading))
        pair.append(_tile(photo, selected, months))
        if len(pair) == 2:
            close()
    close()
    return rows


def _tile(photo: State, selected: Sequence[str] | None, dated: bool) -> View:
    """A photo in the grid with its caption below."""
    name, text = str(photo["name"]), _photo_words(photo)
    words: View = Text(called(photo), "small", lines=1, grow=1, id="caption")
    day = Text(short_day(photo_time(photo).date()), "small", "faint", lines=1, id="day") if dated else None
    if selected is None:
        heart = Icon("star", 40, "primary") if photo["favourite"] else None
        return Column([art(photo, 300, radius=28), Row([words, heart], gap=12), day], grow=1, on=("open", name),
                      long=("select", name), desc=text, id="photo")  # fmt: skip
    on, ticked = ("tick", name), name in selected
    mark = Mark("checkbox", checked=ticked, on=on, checkable=True, cls="CheckBox", desc=text, id="tick")
    return Column([art(photo, 300, radius=28), Row([mark, words], gap=12), day], grow=1, on=on, desc=text, id="photo",
                  fill="soft" if ticked else "", radius=28, pad=(0, 0, 0, 4))  # fmt: skip


def _photo_words(photo: State) -> str:
    """A photo in words, as it is read out."""
    kind = "Screenshot" if photo["album"] == "Screenshots" else "Photo"
    return f"{kind}, {called(photo)}, {short_day(photo_time(photo).date(), year=True)}"


def photo_page(photo: State, here: AppContext, before: State | None, after: State | None) -> Page:
    """A photo large, with what can be done with it."""
    name = str(photo["name"])
    loved = bool(photo["favourite"])
    star = icon_button("star" if loved else "star_line", "Remove from favourites" if loved else "Add to favourites",
                       ("favourite", name), colour="primary", id="favourite")  # fmt: skip
    bar = app_bar("", star, icon_button("info", "Details", ("details", name)),
                  icon_button("delete", "Delete", ("go", "delete", {"names": [name]})))  # fmt: skip
    when = f"{short_day(photo_time(photo).date(), year=True)}, {photo_time(photo):%H:%M}"
    where = f" · {photo['place']}" if photo["place"] else ""
    turns = Row([_turn("prev", "Newer photo", before), Space(grow=1), Text(str(photo["album"]), "label", "faint"),
                 Space(grow=1), _turn("next", "Older photo", after)], pad=(24, 8))  # fmt: skip
    body = Column([
        Space(grow=1), art(photo, 1060), Space(24),
        Text(called(photo), "title", lines=2, id="caption", pad=(48, 0)),
        Text(when + where, "sub", "faint", lines=1, id="when", pad=(48, 0)), Space(grow=1), turns,
    ])  # fmt: skip
    return Page(body, bar=bar)


def _turn(icon: str, desc: str, photo: State | None) -> View:
    return icon_button(icon, desc, ("turn", photo["name"]), id=icon) if photo is not None else Space(120)


def details_page(photo: State, albums: Sequence[str]) -> Page:
    """What is known of a photo; its caption can be written."""
    then = photo_time(photo)
    rows: list[View | None] = [
        inset(art(photo, 420, radius=40), 0, 24),
        inset(Field(["caption"], hint="Add a caption", kind="box", id="caption")),
        item(day_words(then.date(), year=True), then.strftime("%H:%M"), lead=badge("clock"), id="taken"),
        item(str(photo["name"]), "File", lead=badge("image"), id="file"),
        item(str(photo["album"]), "Album, tap to move", lead=badge("album"), id="album",
             on=("go", "move", {"names": [photo["name"]]})) if albums else None,
        item(str(photo["place"]), "Place", lead=badge("place"), id="place") if photo["place"] else None,
    ]  # fmt: skip
    return Page(ListView([*rows, Space(40)], id="details"), bar=app_bar("Details"))


def album_row(name: str, photos: Sequence[State]) -> View:
    """An album: its newest picture, its name, how many are in it."""
    newest = max(photos, key=photo_time, default=None)
    cover: View = art(newest, 180, 180, 32) if newest else Icon("album", 72, "on_soft", disc="soft", disc_size=180,
                                                                disc_radius=32)  # fmt: skip
    return item(name, many(len(photos)), lead=cover, on=("go", "album", {"album": name}), id="album")


def many(count: int) -> str:
    return f"{count} photo{'s' if count != 1 else ''}"


def bin_row(photo: State, here: AppContext) -> View:
    """A deleted photo and how long it stays."""
    remaining_days = days_left(photo, here)
    words = f"{photo['album']} · {remaining_days} day{'s' if remaining_days != 1 else ''} left"
    return item(called(photo), words, lead=art(photo, 180, 180, 32), on=("go", "binned", {"name": photo["name"]}),
                id="binned")  # fmt: skip


def days_left(photo: State, here: AppContext) -> int:
    deleted_at = datetime.fromisoformat(photo["deleted"] or here.phone["clock"])
    return max(0, KEPT_DAYS - (here.clock.date() - deleted_at.date()).days)


def binned_page(photo: State, here: AppContext) -> Page:
    name = str(photo["name"])
    remaining_days = days_left(photo, here)
    body = Column([
        Space(grow=1), art(photo, 1060), Space(24), Text(called(photo), "title", lines=2, id="caption", pad=(48, 0)),
        Text(f"Deleted for good in {remaining_days} day{'s' if remaining_days != 1 else ''}", "sub", "faint", lines=1,
             pad=(48, 0)),
        Space(grow=1),
    ])  # fmt: skip
    foot = Row([Button("Delete", "outlined", on=("go", "erase", {"names": [name]}), id="erase", grow=1),
                Button("Restore", icon="restore", on=("restore", name), id="restore", grow=1)],
               gap=24, pad=(48, 20, 48, 28))  # fmt: skip
    return Page(body, bar=app_bar("Bin"), foot=foot)
