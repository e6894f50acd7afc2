"""Gallery: photos by day and by album, with favourites and a bin.

State, `apps.gallery`:
- `photos`, in no order: `{name, scene, album, time, caption, place, favourite, deleted}`. `name` is the file's and no
  two are the same; `scene` is what is drawn (`Art("photo", f"{scene}/{name}")`, see `scenes.SCENES`); `deleted` is
  empty.
- `bin`: photos as above, `deleted` being when; they are gone for good after 30 days.
- `albums`: names, in the order in which they were made; `tab` (Photos | Albums | Bin); `query`; `selected`, names
  while several photos are chosen; `caption` and `album`, what is being written.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone import nav
from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.gallery_data import ALBUMS, BINNED, LINES
from simulators.phone.apps.gallery_views import (
    KEPT_DAYS,
    album_row,
    bin_row,
    binned_page,
    called,
    days_left,
    details_page,
    grid,
    many,
    photo_page,
    photo_time,
)
from simulators.phone.views import Button, Column, Dialog, Field, ListView, Page, Screen, Space, Text, View
from simulators.phone.widgets import app_bar, badge, empty, icon_button, inset, item, marked, tabs

FAVOURITES = "Favourites"
_PHOTO: State = {"name": "", "scene": "garden", "album": "Camera", "time": "", "caption": "", "place": "",
                 "favourite": False, "deleted": ""}  # fmt: skip


class Gallery(App):
    id, label, icon, colour, hue = "gallery", "Gallery", "image", "#8a4fa8", 286
    shapes: ClassVar[dict[str, State]] = {"photos": _PHOTO, "bin": _PHOTO}

    def first_state(self, rng: Random, clock: datetime) -> State:
        photos = [_taken(clock, *line[:6]) | {"favourite": line[6]} for line in LINES]
        deleted_photos = [
            _taken(clock, *line[:6]) | {"deleted": (clock - timedelta(days=line[6])).isoformat()} for line in BINNED
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
        rows: list[View | None] = [album_row(name, _of(here, name)) for name in (FAVOURITES, *names)]
        new = item("New album", lead=badge("add"), on=("new_album",), id="new_album")
        bar = Text("Albums", "headline", pad=(48, 32, 48, 24), id="title")
        return Page(ListView([*rows, new, Space(60)], id="albums"), bar=bar, foot=foot)

    def screen_album(self, here: AppContext) -> Screen:
        name = str(here.args["album"])
        photos = _of(here, name)
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
        here.back()

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
        row = sorted(_of(here, album) if album else here.own["photos"], key=photo_time, reverse=True)
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
        """A caption is kept as it is typed."""
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
        photos = _of(here, album) if album else here.own["photos"]
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
            marked("radio", album, now == {album}, ("move", names, album)) for album in here.own["albums"]
        ]
        return Dialog("Move to album", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_move(self, here: AppContext, names: list[str], album: str) -> None:
        for photo in here.own["photos"]:
            if photo["name"] in names:
                photo["album"] = album
        _leave(here)
        here.toast(f"Moved to {album}")

    # -- deleting and the bin -------------------------------------------------------------------------------

    def screen_delete(self, here: AppContext) -> Screen:
        names = list(here.args["names"])
        first = _photo(here, names[0]) if len(names) == 1 else None
        what = f"“{called(first)}”" if first else many(len(names))
        return _ask("Move to bin?", f"{what} can be restored for {KEPT_DAYS} days.", "Delete", ("delete", names))

    def do_delete(self, here: AppContext, names: list[str]) -> None:
        deleted_photos = [p | {"deleted": here.phone["clock"]} for p in here.own["photos"] if p["name"] in names]
        here.own["photos"] = [photo for photo in here.own["photos"] if photo["name"] not in names]
        here.own["bin"] += deleted_photos
        _leave(here)
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
        here.back()
        here.toast("Photo restored")

    def screen_erase(self, here: AppContext) -> Screen:
        names = list(here.args["names"])
        words = f"{many(len(names))} will be gone for good."
        return _ask("Delete for good?", words, "Delete", ("erase", names))

    def do_erase(self, here: AppContext, names: list[str]) -> None:
        here.own["bin"] = [photo for photo in here.own["bin"] if photo["name"] not in names]
        here.back(len(nav.stack(here.phone, self.id)) - 1)
        here.toast(f"{many(len(names))} deleted")

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """What has been in the bin long enough is gone."""
        here.own["bin"] = [photo for photo in here.own["bin"] if days_left(photo, here) > 0]


def _taken(clock: datetime, scene: str, album: str, days: int, time: str, caption: str, place: str) -> State:
    """A photo so many days old, named after its moment."""
    then = (clock - timedelta(days=days)).replace(hour=int(time[:2]), minute=int(time[3:]), second=0, microsecond=0)
    name = f"{'Screenshot' if album == 'Screenshots' else 'IMG'}_{then:%Y%m%d_%H%M}.jpg"
    what = {"name": name, "scene": scene, "album": album, "time": min(then, clock).isoformat()}
    return _PHOTO | what | {"caption": caption, "place": place}


def _ask(title: str, words: str, verb: str, on: tuple[object, ...]) -> Dialog:
    buttons = [Button("Cancel", "text", on=("back",)), Button(verb, "danger", on=on, id="confirm")]
    return Dialog(title, Text(words, "body", "faint", lines=4), buttons)


def _bar(title: str, photos: list[State], album: str) -> View:
    pick = icon_button("list", "Select photos", ("select", "", album), id="select") if photos else None
    return app_bar(title, pick, back=False)


def _leave(here: AppContext) -> None:
    """Closes the dialog, and what chose or showed the photos; an album under it stays open."""
    here.own["selected"] = []
    while nav.stack(here.phone, here.app)[-1]["screen"] not in ("home", "album"):
        here.back()


def _photo(here: AppContext, name: str) -> State | None:
    return next((photo for photo in here.own["photos"] if photo["name"] == name), None)


def _of(here: AppContext, album: str) -> list[State]:
    """The photos of an album; of all, the favourites."""
    if album == FAVOURITES:
        return [photo for photo in here.own["photos"] if photo["favourite"]]
    return [photo for photo in here.own["photos"] if photo["album"] == album]


def _words(photo: State) -> str:
    return f"{photo['caption']} {photo['name']} {photo['place']} {photo['album']}".casefold()
