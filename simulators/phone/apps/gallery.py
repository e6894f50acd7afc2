"""Gallery: photos by day and by album, with favourites and a bin.

State, `apps.gallery`:
- `photos`, in no order: `{name, scene, album, time, caption, place, favourite, deleted}`. `name` is the file's and
  unique. `scene` is the drawing (`Art("photo", f"{scene}/{name}")`, see `scenes.SCENES`). `deleted` is empty.
- `bin`: photos with the time in `deleted`. They are erased after 30 days.
- `albums`: names in order of creation. `tab` (Photos | Albums | Bin). `query`. `selected`: names while several photos
  are selected. `caption` and `album`: the texts being typed.

The first photos are invented. A line of them is: scene (of `scenes.SCENES`, or a dish of `pictures.KINDS`), album, days
ago, time, caption, place, favourite.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone import nav
from simulators.phone.app import App, AppContext, State
from simulators.phone.kit.pickers import day_words, short_day
from simulators.phone.kit.views import (
    Art,
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
from simulators.phone.kit.widgets import app_bar, badge, checkable, empty, icon_button, inset, item, section, tabs

FAVOURITES = "Favourites"
_PHOTO: State = {"name": "", "scene": "garden", "album": "Camera", "time": "", "caption": "", "place": "",
                 "favourite": False, "deleted": ""}  # fmt: skip


class Gallery(App):
    id, label, icon, colour, hue = "gallery", "Gallery", "image", "#8a4fa8", 286
    shapes: ClassVar[dict[str, State]] = {"photos": _PHOTO, "bin": _PHOTO}

    def first_state(self, rng: Random, clock: datetime) -> State:
        photos = [_new_photo(clock, *line[:6]) | {"favourite": line[6]} for line in LINES]
        deleted_photos = [
            _new_photo(clock, *line[:6]) | {"deleted": (clock - timedelta(days=line[6])).isoformat()} for line in BINNED
        ]
        rng.shuffle(photos)
        return {
            "photos": photos, "bin": deleted_photos, "albums": list(ALBUMS), "tab": "Photos", "query": "",
            "selected": [], "caption": "", "album": "",
        }  # fmt: skip

    # -- photos and albums ----------------------------------------------------------------------------------

    def screen_home(self, here: AppContext) -> Screen:
        tab = str(here.own["tab"])
        icons = {"Photos": "image", "Albums": "album", "Bin": "delete"}
        foot = tabs([(name, icon, ("tab", name)) for name, icon in icons.items()], tab)
        if tab == "Albums":
            return self._albums(here, foot)
        if tab == "Bin":
            return self._bin(here, foot)
        query = str(here.own["query"]).strip().casefold()
        photos = [photo for photo in here.own["photos"] if query in _words(photo)]
        field = Field(["query"], hint="Search photos", kind="search", id="search", action="Search")
        bar = Column([_bar("Gallery", photos, ""), inset(field, 0, 16)])
        nothing = empty("image", "No photos", "What you photograph is shown here.")
        if query:
            nothing = empty("search", "Nothing found", "No photo, place or album has these words.")
        rows = grid(photos, here.clock.date()) or [nothing]
        return Page(ListView([*rows, Space(60)], id="photos", gap=16), bar=bar, foot=foot)

    def do_tab(self, here: AppContext, name: str) -> None:
        here.focus(None)
        here.own["tab"] = name

    def _albums(self, here: AppContext, foot: View) -> Page:
        names = [*dict.fromkeys([*here.own["albums"], *(p["album"] for p in here.own["photos"])])]
        rows: list[View | None] = [album_row(name, _album_photos(here, name)) for name in (FAVOURITES, *names)]
        new = item("New album", lead=badge("add"), on=("new_album",), id="new_album")
        bar = Text("Albums", "headline", pad=(48, 32, 48, 24), id="title")
        return Page(ListView([*rows, new, Space(60)], id="albums"), bar=bar, foot=foot)

    def screen_album(self, here: AppContext) -> Screen:
        name = str(here.args["album"])
        photos = _album_photos(here, name)
        rows = grid(photos, here.clock.date(), months=True) or [empty("album", "No photos", "This album is empty.")]
        pick = icon_button("list", "Select photos", ("select", "", name), id="select") if photos else None
        return Page(ListView([*rows, Space(60)], id="photos", gap=16), bar=app_bar(name, pick, sub=many(len(photos))))

    def do_new_album(self, here: AppContext) -> None:
        here.own["album"] = ""
        here.go("new_album")
        here.focus("album_name")

    def screen_new_album(self, here: AppContext) -> Screen:
        field = Field(["album"], hint="Album name", kind="box", id="album_name", submit=("make_album",))
        make = Button("Create", on=("make_album",), id="create")
        return Dialog("New album", field, [Button("Cancel", "text", on=("back",)), make])

    def do_make_album(self, here: AppContext) -> None:
        name = " ".join(str(here.own["album"]).split())
        if not name or name in (*here.own["albums"], FAVOURITES):
            here.toast("Enter a name first" if not name else "There is an album of this name")
            return
        here.own["albums"].append(name)
        here.close_screens()

    # -- one photo ------------------------------------------------------------------------------------------

    def do_open(self, here: AppContext, name: str) -> None:
        album = here.args.get("album", "")
        here.go("photo", name=name, album=album)

    def do_turn(self, here: AppContext, name: str) -> None:
        nav.stack(here.phone, self.id)[-1]["args"]["name"] = name

    def screen_photo(self, here: AppContext) -> Screen:
        photo = _photo(here, here.args["name"])
        if photo is None:
            return Page(empty("image", "No such photo", "It is not in the gallery any more."), bar=app_bar(""))
        album = str(here.args.get("album", ""))
        row = sorted(_album_photos(here, album) if album else here.own["photos"], key=photo_time, reverse=True)
        at = row.index(photo) if photo in row else 0
        return photo_page(photo, here, row[at - 1] if at else None, row[at + 1] if at + 1 < len(row) else None)

    def do_favourite(self, here: AppContext, name: str) -> None:
        photo = _photo(here, name)
        if photo is not None:
            photo["favourite"] = not photo["favourite"]
            here.toast("Added to favourites" if photo["favourite"] else "Removed from favourites")

    def do_details(self, here: AppContext, name: str) -> None:
        photo = _photo(here, name)
        here.own["caption"] = photo["caption"] if photo else ""
        here.go("details", name=name)

    def edited(self, here: AppContext, field: str) -> None:
        """Store a caption as it is typed."""
        photo = _photo(here, here.args.get("name", "")) if field == "caption" else None
        if photo is not None:
            photo["caption"] = here.own["caption"]

    def screen_details(self, here: AppContext) -> Screen:
        photo = _photo(here, here.args["name"])
        if photo is None:
            return self.screen_photo(here)
        return details_page(photo, here.own["albums"])

    # -- several photos -------------------------------------------------------------------------------------

    def do_select(self, here: AppContext, name: str, album: str = "") -> None:
        here.own["selected"] = [name] if name else []
        here.go("select", album=album or here.args.get("album", ""))

    def do_tick(self, here: AppContext, name: str) -> None:
        selected = here.own["selected"]
        here.own["selected"] = [n for n in selected if n != name] if name in selected else [*selected, name]

    def screen_select(self, here: AppContext) -> Screen:
        selected, album = here.own["selected"], str(here.args.get("album", ""))
        photos = _album_photos(here, album) if album else here.own["photos"]
        names = {"names": list(selected)}
        bar = app_bar(
            f"{len(selected)} selected",
            icon_button("album", "Move to album", ("go", "move", names), id="move") if selected else None,
            icon_button("delete", "Delete", ("go", "delete", names), id="delete") if selected else None,
        )
        rows = grid(photos, here.clock.date(), selected, months=bool(album))
        return Page(ListView([*rows, Space(60)], id="photos", gap=16), bar=bar)

    def screen_move(self, here: AppContext) -> Screen:
        names = list(here.args["names"])
        now = {str(photo["album"]) for photo in here.own["photos"] if photo["name"] in names}
        rows: list[View | None] = [
            checkable("radio", album, now == {album}, ("move", names, album)) for album in here.own["albums"]
        ]
        return Dialog("Move to album", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_move(self, here: AppContext, names: list[str], album: str) -> None:
        for photo in here.own["photos"]:
            if photo["name"] in names:
                photo["album"] = album
        _close_selection(here)
        here.toast(f"Moved to {album}")

    # -- deleting and the bin -------------------------------------------------------------------------------

    def screen_delete(self, here: AppContext) -> Screen:
        names = list(here.args["names"])
        first = _photo(here, names[0]) if len(names) == 1 else None
        what = f"“{photo_name(first)}”" if first else many(len(names))
        return _confirm_dialog(
            "Move to bin?", f"{what} can be restored for {KEPT_DAYS} days.", "Delete", ("delete", names)
        )

    def do_delete(self, here: AppContext, names: list[str]) -> None:
        deleted_photos = [p | {"deleted": here.phone["clock"]} for p in here.own["photos"] if p["name"] in names]
        here.own["photos"] = [photo for photo in here.own["photos"] if photo["name"] not in names]
        here.own["bin"] += deleted_photos
        _close_selection(here)
        here.toast(f"{many(len(deleted_photos))} moved to bin")

    def _bin(self, here: AppContext, foot: View) -> Page:
        deleted_photos = sorted(here.own["bin"], key=lambda p: str(p["deleted"]), reverse=True)
        rows: list[View | None] = [bin_row(photo, here) for photo in deleted_photos]
        nothing = empty("delete", "The bin is empty", f"Deleted photos stay here for {KEPT_DAYS} days.")
        names = [photo["name"] for photo in deleted_photos]
        clear = (
            Button("Empty bin", "text", on=("go", "erase", {"names": names}), id="empty_bin")
            if deleted_photos
            else None
        )
        return Page(ListView([*(rows or [nothing]), Space(60)], id="bin"), bar=app_bar("Bin", clear, back=False),
                    foot=foot)  # fmt: skip

    def screen_binned(self, here: AppContext) -> Screen:
        photo = next((p for p in here.own["bin"] if p["name"] == here.args["name"]), None)
        if photo is None:
            return Page(empty("delete", "No such photo", "It is not in the bin any more."), bar=app_bar("Bin"))
        return binned_page(photo, here)

    def do_restore(self, here: AppContext, name: str) -> None:
        back = [photo | {"deleted": ""} for photo in here.own["bin"] if photo["name"] == name]
        here.own["bin"] = [photo for photo in here.own["bin"] if photo["name"] != name]
        here.own["photos"] += back
        here.close_screens()
        here.toast("Photo restored")

    def screen_erase(self, here: AppContext) -> Screen:
        names = list(here.args["names"])
        words = f"{many(len(names))} will be gone for good."
        return _confirm_dialog("Delete for good?", words, "Delete", ("erase", names))

    def do_erase(self, here: AppContext, names: list[str]) -> None:
        here.own["bin"] = [photo for photo in here.own["bin"] if photo["name"] not in names]
        here.close_screens(len(nav.stack(here.phone, self.id)) - 1)
        here.toast(f"{many(len(names))} deleted")

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """Erase photos whose time in the bin is over."""
        here.own["bin"] = [photo for photo in here.own["bin"] if days_left(photo, here) > 0]


def _new_photo(clock: datetime, scene: str, album: str, days: int, time: str, caption: str, place: str) -> State:
    """Return a photo taken that many days ago, named after its time."""
    then = (clock - timedelta(days=days)).replace(hour=int(time[:2]), minute=int(time[3:]), second=0, microsecond=0)
    name = f"{'Screenshot' if album == 'Screenshots' else 'IMG'}_{then:%Y%m%d_%H%M}.jpg"
    # A photo of today must not be from the future.
    what = {"name": name, "scene": scene, "album": album, "time": min(then, clock).isoformat()}
    return _PHOTO | what | {"caption": caption, "place": place}


def _confirm_dialog(title: str, words: str, verb: str, on: tuple[object, ...]) -> Dialog:
    buttons = [Button("Cancel", "text", on=("back",)), Button(verb, "danger", on=on, id="confirm")]
    return Dialog(title, Text(words, "body", "faint", lines=4), buttons)


def _bar(title: str, photos: list[State], album: str) -> View:
    pick = icon_button("list", "Select photos", ("select", "", album), id="select") if photos else None
    return app_bar(title, pick, back=False)


def _close_selection(here: AppContext) -> None:
    """Close the dialog and the screens that selected or showed the photos. An album below stays open."""
    here.own["selected"] = []
    while nav.stack(here.phone, here.app)[-1]["screen"] not in ("home", "album"):
        here.close_screens()


def _photo(here: AppContext, name: str) -> State | None:
    return next((photo for photo in here.own["photos"] if photo["name"] == name), None)


def _album_photos(here: AppContext, album: str) -> list[State]:
    """Return the photos of an album, or the favourites of all."""
    if album == FAVOURITES:
        return [photo for photo in here.own["photos"] if photo["favourite"]]
    return [photo for photo in here.own["photos"] if photo["album"] == album]


def _words(photo: State) -> str:
    return f"{photo['caption']} {photo['name']} {photo['place']} {photo['album']}".casefold()


ALBUMS = ("Camera", "Screenshots", "Downloads", "Lab")

LINES: tuple[tuple[str, str, int, str, str, str, bool], ...] = (
    ("garden", "Camera", 0, "07:58", "Frangipani by the gate", "Heron Walk", False),
    ("desk", "Lab", 1, "16:20", "Film 7 after annealing", "Room 4.07", True),
    ("screen", "Screenshots", 1, "22:11", "Bus times to the institute", "", False),
    ("noodles", "Camera", 2, "12:34", "芝麻担担面", "Copper Ladle", False),
    ("desk", "Lab", 2, "15:41", "样品三号", "Room 4.07", False),
    ("people", "Camera", 4, "18:02", "Noor's birthday", "Canal garden", True),
    ("hills", "Camera", 6, "10:15", "North Wall from below", "North Wall", False),
    ("people", "Camera", 6, "10:48", "Jonas on the red route", "North Wall", False),
    ("screen", "Screenshots", 6, "08:05", "Climbing hall opening hours", "", False),
    ("poster", "Lab", 9, "17:30", "Poster draft, third version", "Room 4.12", False),
    ("cat", "Camera", 11, "19:27", "The cat from the ground floor", "Heron Walk", True),
    ("screen", "Screenshots", 13, "13:00", "Conference badge code", "", False),
    ("poster", "Downloads", 14, "09:12", "Floor plan of the hall", "", False),
    ("lanterns", "Camera", 18, "20:40", "元宵节的灯", "River promenade", True),
    ("lanterns", "Camera", 18, "20:52", "Lanterns over the water", "River promenade", False),
    ("screen", "Screenshots", 22, "21:33", "Recipe for sesame paste", "", False),
    ("sea", "Camera", 30, "17:55", "Last ferry", "South pier", False),
    ("sea", "Camera", 30, "18:10", "Mamá would like this", "South pier", True),
    ("screen", "Screenshots", 41, "11:20", "Parcel label", "", False),
    ("city", "Camera", 47, "19:05", "View from the tower", "Old town", False),
    ("screen", "Screenshots", 52, "16:44", "Wi-Fi code of the guest house", "", False),
    ("snow", "Downloads", 61, "08:30", "Tomas in the snow", "", False),
)

BINNED: tuple[tuple[str, str, int, str, str, str, int], ...] = (
    ("desk", "Camera", 8, "11:11", "Blurred bench", "Room 4.07", 3),
    ("screen", "Screenshots", 20, "19:02", "Old tram map", "", 12),
)
"""Lines as above, with days since the deletion instead of the favourite."""


KEPT_DAYS = 30
"""Days that a deleted photo stays in the bin."""


def art(photo: State, height: int, width: int | None = None, radius: int = 0) -> Art:
    """Return the picture of a photo."""
    picture = Art("photo", f"{photo['scene']}/{photo['name']}", height=height, radius=radius)
    picture.width = width
    return picture


def photo_time(photo: State) -> datetime:
    return datetime.fromisoformat(photo["time"])


def photo_name(photo: State) -> str:
    """Return a photo's caption, or its file name."""
    return str(photo["caption"] or photo["name"])


def day_heading(day: date, today: date) -> str:
    days = (today - day).days
    if days in (0, 1):
        return ("Today", "Yesterday")[days]
    return day_words(day, year=day.year != today.year)


def grid(
    photos: Sequence[State], today: date, selected: Sequence[str] | None = None, *, months: bool = False
) -> list[View | None]:
    """Return photos by day (or by month, each with its day), newest first, in two columns.

    With `selected` they have checkboxes.
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
    """Return a photo in the grid with its caption below."""
    name, text = str(photo["name"]), _photo_words(photo)
    words: View = Text(photo_name(photo), "small", lines=1, grow=1, id="caption")
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
    """Return the spoken description of a photo."""
    kind = "Screenshot" if photo["album"] == "Screenshots" else "Photo"
    return f"{kind}, {photo_name(photo)}, {short_day(photo_time(photo).date(), year=True)}"


def photo_page(photo: State, here: AppContext, before: State | None, after: State | None) -> Page:
    """Return a large photo with its actions."""
    name = str(photo["name"])
    loved = bool(photo["favourite"])
    star = icon_button("star" if loved else "star_line", "Remove from favourites" if loved else "Add to favourites",
                       ("favourite", name), colour="primary", id="favourite")  # fmt: skip
    bar = app_bar("", star, icon_button("info", "Details", ("details", name)),
                  icon_button("delete", "Delete", ("go", "delete", {"names": [name]})))  # fmt: skip
    when = f"{short_day(photo_time(photo).date(), year=True)}, {photo_time(photo):%H:%M}"
    where = f" · {photo['place']}" if photo["place"] else ""
    turns = Row([_turn_button("prev", "Newer photo", before), Space(grow=1),
                 Text(str(photo["album"]), "label", "faint"), Space(grow=1),
                 _turn_button("next", "Older photo", after)], pad=(24, 8))  # fmt: skip
    body = Column([
        Space(grow=1), art(photo, 1060), Space(24),
        Text(photo_name(photo), "title", lines=2, id="caption", pad=(48, 0)),
        Text(when + where, "sub", "faint", lines=1, id="when", pad=(48, 0)), Space(grow=1), turns,
    ])  # fmt: skip
    return Page(body, bar=bar)


def _turn_button(icon: str, desc: str, photo: State | None) -> View:
    return icon_button(icon, desc, ("turn", photo["name"]), id=icon) if photo is not None else Space(120)


def details_page(photo: State, albums: Sequence[str]) -> Page:
    """Return the details of a photo, with a field for its caption."""
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
    """Return an album: its newest picture, its name and its size."""
    newest = max(photos, key=photo_time, default=None)
    cover: View = art(newest, 180, 180, 32) if newest else Icon("album", 72, "on_soft", disc="soft", disc_size=180,
                                                                disc_radius=32)  # fmt: skip
    return item(name, many(len(photos)), lead=cover, on=("go", "album", {"album": name}), id="album")


def many(count: int) -> str:
    return f"{count} photo{'s' if count != 1 else ''}"


def bin_row(photo: State, here: AppContext) -> View:
    """Return a deleted photo with its remaining days."""
    remaining_days = days_left(photo, here)
    words = f"{photo['album']} · {remaining_days} day{'s' if remaining_days != 1 else ''} left"
    return item(photo_name(photo), words, lead=art(photo, 180, 180, 32), on=("go", "binned", {"name": photo["name"]}),
                id="binned")  # fmt: skip


def days_left(photo: State, here: AppContext) -> int:
    deleted_at = datetime.fromisoformat(photo["deleted"] or here.phone["clock"])
    return max(0, KEPT_DAYS - (here.clock.date() - deleted_at.date()).days)


def binned_page(photo: State, here: AppContext) -> Page:
    name = str(photo["name"])
    remaining_days = days_left(photo, here)
    body = Column([
        Space(grow=1), art(photo, 1060), Space(24),
        Text(photo_name(photo), "title", lines=2, id="caption", pad=(48, 0)),
        Text(f"Deleted for good in {remaining_days} day{'s' if remaining_days != 1 else ''}", "sub", "faint", lines=1,
             pad=(48, 0)),
        Space(grow=1),
    ])  # fmt: skip
    foot = Row([Button("Delete", "outlined", on=("go", "erase", {"names": [name]}), id="erase", grow=1),
                Button("Restore", icon="restore", on=("restore", name), id="restore", grow=1)],
               gap=24, pad=(48, 20, 48, 28))  # fmt: skip
    return Page(body, bar=app_bar("Bin"), foot=foot)
