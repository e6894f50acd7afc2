"""The app's sheet: what is read when, and that nothing is read twice."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.screen import ModalScreen, Screen

import screens
from lab.core.settings import Settings
from screens.app import LabApp
from screens.runs.runs import RunsScreen
from screens.stylesheet import ROOM_STYLES, ThemedStylesheet
from store.store import Store
from tests.screens.runs import painted

Until = Callable[..., Awaitable[None]]
HERE = Path(screens.__file__).parent
SHEETS = [Path(path).relative_to(HERE).as_posix() for path in ROOM_STYLES]


def sheets(app: LabApp) -> list[str]:
    """The files that the app's sheet was read from, in their order."""
    return [Path(name).relative_to(HERE).as_posix() for name, _ in app.stylesheet.source if name.endswith(".tcss")]


def test_every_sheet_of_a_room_is_listed_once() -> None:
    assert sorted(SHEETS) == sorted(
        path.relative_to(HERE).as_posix() for path in HERE.rglob("*.tcss") if path.name != "lab.tcss"
    )


def test_a_sheet_stands_in_its_rooms_folder_and_says_of_which_it_is() -> None:
    for path in map(Path, ROOM_STYLES):
        assert path.stem == path.parent.name
        assert path.read_text(encoding="utf-8").startswith("/* "), path


async def test_home_reads_no_rooms_sheet_and_the_first_room_all_in_their_order(full: Store, until: Until) -> None:
    app = LabApp(full, Settings())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Enter: resume" in painted(app))
        assert sheets(app) == ["lab.tcss"]
        await app.push_screen(RunsScreen(app.store, app.settings))
        assert sheets(app) == ["lab.tcss", *SHEETS]


@pytest.mark.parametrize("folder", sorted({sheet.partition("/")[0] for sheet in SHEETS}))
def test_a_screen_in_a_rooms_folder_has_the_rooms_sheets_whoever_opens_it(folder: str) -> None:
    for _, name, _ in pkgutil.iter_modules([str(HERE / folder)], f"screens.{folder}."):
        for kind in vars(importlib.import_module(name)).values():
            if isinstance(kind, type) and issubclass(kind, Screen) and kind.__module__ == name:
                assert kind.CSS_PATH is ROOM_STYLES or issubclass(kind, ModalScreen), kind


def test_each_sheet_is_parsed_once_however_many_there_are() -> None:
    """A session through the rooms has more than the 64 that Textual keeps."""
    sheet = ThemedStylesheet(variables={})
    for number in range(100):
        sheet.add_source(f"#only-once-{number} {{ height: 1; }}", ("", f"Widget{number}"))
    assert len(sheet.rules) == 100
    assert len(sheet._parse_cache) == 100
