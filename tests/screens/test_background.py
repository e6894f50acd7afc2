"""Work off the UI thread, as a room sees it: what arrives, in what order, and what never does."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Awaitable, Callable, Generator
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.runs.listing.run_acts import archive_runs
from screens.app import LabApp
from screens.background import Background
from screens.home.home import HomeScreen
from screens.home.lists import RunList
from screens.runs.runs import RunsScreen
from store.store import Store
from tests.screens.runs import WHOLE, painted

Until = Callable[..., Awaitable[None]]


class Held:
    """Work that waits in its thread until it is let go."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.begun, self.free, self.over = threading.Event(), threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.free.wait(180)
        self.over.set()
        return self.name


async def test_an_older_result_never_arrives_after_a_newer_request_began(store: Store, until: Until) -> None:
    app = LabApp(store, Settings())
    async with app.run_test() as pilot:
        shown, first, second = list[str](), Held("first"), Held("second")
        background = Background(app.screen, shown.append)
        background.start(first)
        await until(pilot, first.begun.is_set)
        background.start(second)
        await until(pilot, second.begun.is_set)
        second.free.set()
        await until(pilot, lambda: shown == ["second"])
        assert not background.busy
        first.free.set()
        await until(pilot, first.over.is_set)
        await until(pilot, lambda: True)
        assert shown == ["second"]


async def test_requests_are_done_one_by_one_and_of_those_that_wait_only_the_newest(store: Store, until: Until) -> None:
    app = LabApp(store, Settings())
    async with app.run_test() as pilot:
        shown, works = list[tuple[str, bool]](), [Held("a"), Held("b"), Held("c")]

        def show(name: str) -> None:
            shown.append((name, background.busy))

        background = Background(app.screen, show)
        for work in works:
            background.request(work)
        await until(pilot, works[0].begun.is_set)
        for work in works:
            work.free.set()
        await until(pilot, lambda: len(shown) == 2)
        assert shown == [("a", True), ("c", False)], "the next one is begun before a result is shown"
        assert not works[1].begun.is_set()


async def test_pages_arrive_one_by_one_and_end_where_another_is_asked_for(store: Store, until: Until) -> None:
    app = LabApp(store, Settings())
    async with app.run_test() as pilot:
        shown, let, closed = list[str](), threading.Event(), threading.Event()
        ui = threading.get_ident()

        def pages() -> Generator[str, None, None]:
            try:
                assert threading.get_ident() != ui
                yield "1"
                assert let.wait(180)
                yield "2"
                raise AssertionError("nobody wants it any more")
            finally:
                closed.set()

        def show(page: str) -> None:
            assert threading.get_ident() == ui
            shown.append(page)

        background = Background(app.screen, show)
        background.start(pages)
        await until(pilot, lambda: shown == ["1"])
        assert background.busy
        background.cancel()
        assert not background.busy
        let.set()
        await until(pilot, closed.is_set)
        background.start(lambda: "other")
        await until(pilot, lambda: shown == ["1", "other"])


async def test_a_failure_arrives_as_its_error_or_a_toast_and_the_next_request_is_done(
    store: Store, until: Until
) -> None:
    def refuse() -> str:
        raise LabError("study trial", "is spoilt.", "Pack it anew.")

    app = LabApp(store, Settings())
    async with app.run_test(notifications=True) as pilot:
        errors, shown = list[LabError](), list[str]()
        background = Background(app.screen, shown.append, errors.append)
        background.request(refuse)
        background.request(lambda: "next")
        await until(pilot, lambda: shown == ["next"])
        assert [error.title for error in errors] == ["study trial"]
        Background(app.screen, shown.append).start(refuse)
        await until(pilot, lambda: "is spoilt. Pack it anew." in painted(app))
        assert app.is_running


async def test_what_a_room_cannot_show_is_a_toast_and_the_room_goes_on(store: Store, until: Until) -> None:
    def refuse(_: str) -> None:
        raise LabError("disk", "is full.")

    app = LabApp(store, Settings())
    async with app.run_test(notifications=True) as pilot:
        Background(app.screen, refuse).start(lambda: "words")
        await until(pilot, lambda: "is full." in painted(app))
        assert app.is_running


@pytest.mark.parametrize("part", ["result", "page", "error"])
async def test_nothing_arrives_in_a_screen_that_was_left_or_an_app_that_was_quit(
    store: Store, until: Until, part: str
) -> None:
    shown, begun, free, over = list[object](), threading.Event(), threading.Event(), threading.Event()

    def hold() -> str:
        begun.set()
        assert free.wait(180)
        over.set()
        if part == "error":
            raise LabError("disk", "is full.")
        return "late"

    def pages() -> Generator[str, None, None]:
        yield hold()

    def work() -> Any:
        return pages() if part == "page" else hold()

    app = LabApp(store, Settings())
    async with app.run_test() as pilot:
        screen = RunsScreen(store, app.settings)
        await app.push_screen(screen)
        Background(screen, shown.append, shown.append).start(work)
        await until(pilot, begun.is_set)
        app.pop_screen()
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and not screen.is_running)
        free.set()
        await until(pilot, over.is_set)
        for event in (begun, free, over):
            event.clear()
        Background(app.screen, shown.append, shown.append).start(work)
        await until(pilot, begun.is_set)
        app.exit()
    assert not over.is_set(), "to quit does not wait for it"
    free.set()
    await until(None, over.is_set)
    assert shown == []


async def test_a_file_that_another_program_locks_is_waited_for_while_keys_work(full: Store, until: Until) -> None:
    def archive() -> int:
        archive_runs(full, [WHOLE], "D1")
        return len(full.runs.summaries(10, archived=True))

    app = LabApp(full, Settings())
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.screen.query_one(RunList).count == 3)
        shown = list[int]()
        other = sqlite3.connect(full.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        archiving = Background(app.screen, shown.append)
        archiving.start(archive)
        await pilot.press("down")
        await until(pilot, lambda: app.screen.query_one(RunList).cursor == 1)
        assert archiving.busy
        assert shown == []
        other.execute("ROLLBACK")
        other.close()
        await until(pilot, lambda: shown == [1])
