"""An app that one test after the other uses: to start one takes longer than most of what is looked at.

What was opened is left after each test, and an app that does not stand as it was found is ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from textual.pilot import Pilot

from lab.core.settings import Settings
from lab.core.study.study import Study
from screens.agreement.agreement import AgreementScreen
from screens.annotate.annotate import AnnotateScreen
from screens.app import LabApp
from screens.author.author import AuthorScreen
from screens.navigation import Opening
from screens.raters.raters import RatersScreen
from screens.rooms import ROOMS
from screens.study_progress.study_progress import ProgressScreen
from store.store import Store


class SharedApp:
    """An app that goes on while tests come and go, over whatever file the test has that is there now."""

    def __init__(self, settings: Settings, opening: Opening, *, notifications: bool = False) -> None:
        self.store = Store.__new__(Store)
        self.opening = opening
        self.app: LabApp | None = None
        self.pilot: Pilot[Any] | None = None
        self._settings = settings
        self._notifications = notifications
        self._up, self._end = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def take(self, store: Store, opening: Opening) -> LabApp:
        """The app over that file; what is to be opened in it is opened by `start`."""
        self.store.__dict__, self.opening = store.__dict__, opening
        if self.app is None or self.pilot is None:
            self.app = LabApp(self.store, self._settings, opening)
        return self.app

    async def start(self, size: tuple[int, int]) -> Pilot[Any]:
        """Starts the app, or opens what is to be opened in the one that runs."""
        assert self.app is not None
        if self.pilot is None:
            self._task = asyncio.create_task(self._run(self.app, size))
            await self._up.wait()
            if self._task.done():
                await self._task
        assert self.pilot is not None
        if self._task is not None and self.app.opening is not self.opening:
            with self.app._context():
                if self.app.size != size:
                    await self.pilot.resize_terminal(*size)
                await self.app.enter(self.opening)
                await self.pilot.pause()
        return self.pilot

    async def _run(self, app: LabApp, size: tuple[int, int]) -> None:
        try:
            async with app.run_test(size=size, notifications=self._notifications) as self.pilot:
                self._up.set()
                await self._end.wait()
        finally:
            self._up.set()

    @property
    def is_tidy(self) -> bool:
        """Whether the next test finds it as one that was started for it."""
        app = self.app
        return (
            app is not None
            and app.is_running
            and app._exception is None
            and app.current_mode == self.opening.screen
            and len(app.screen_stack) == 1
            and not app.screen.query("HelpPanel")
        )

    def leave(self) -> None:
        """Leaves what is open as one does who ends the app."""
        assert self.app is not None
        self.app.clear_notifications()
        screen = self.app.screen
        screen.query("ToastHolder").remove()  # without its toast each keeps its rows, and the next stands below them
        if isinstance(screen, AnnotateScreen):
            screen._leave()
            screen.unit_pane.study = None  # what is unfolded beside one study is not so beside the next
        elif isinstance(screen, AuthorScreen):
            screen.form.close()
            screen.session = None
            screen.close_texts()
            screen.remove_class("-drawn")
            screen.footage.remove_class("-asked-words", "-words")
        elif isinstance(screen, AgreementScreen | RatersScreen | ProgressScreen):
            screen.study = None  # nor is what was looked at in one study looked at in the next

    async def end(self) -> None:
        """Ends the app; raises what it failed with."""
        if self._task is not None:
            self._end.set()
            await self._task


class SharedApps:
    """The apps that are kept from test to test: one for each kind of person."""

    def __init__(self) -> None:
        self._apps: dict[str, SharedApp] = {}
        self._taken: tuple[str, SharedApp] | None = None

    def rating(
        self,
        store: Store,
        study: Study,
        person: str = "R1",
        *,
        notifications: bool = False,
        apart: str = "",
        **settings: Any,
    ) -> LabApp:
        """The app in the room where that study is rated."""
        given = Settings(person=person, seat="rater", bell=False, **settings)
        return self.open(store, given, Opening("annotate", study=study), notifications=notifications, apart=apart)

    def open(
        self, store: Store, settings: Settings, opening: Opening, *, notifications: bool = False, apart: str = ""
    ) -> LabApp:
        """The app in which this is opened; toasts are painted where `notifications` are wanted.

        Until what is opened is read, what stood there before is seen: what must not be is rated `apart`.
        """
        key = repr((settings, notifications, apart))
        shared = self._apps.get(key) or SharedApp(settings, opening, notifications=notifications)
        self._apps[key] = shared
        self._taken = (key, shared)
        return shared.take(store, opening)

    @asynccontextmanager
    async def at(self, size: tuple[int, int]) -> AsyncIterator[Pilot[Any]]:
        """The app that was asked for last, in a terminal of this size."""
        assert self._taken is not None
        key, shared = self._taken
        await self._clear_away(shared)
        kept = False
        try:
            pilot = await shared.start(size)
            with pilot.app._context():
                yield pilot
                if shared.is_tidy:
                    shared.leave()
                    kept = True
        finally:
            if not kept:
                del self._apps[key]
                await shared.end()

    async def _clear_away(self, but: SharedApp) -> None:
        """Ends the other apps that look by themselves what is new in a file: theirs is gone."""
        for key, shared in list(self._apps.items()):
            if shared is not but and ROOMS[shared.opening.screen].shows_results:
                del self._apps[key]
                await shared.end()

    async def close(self) -> None:
        """Ends all apps."""
        for shared in self._apps.values():
            await shared.end()


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def shared_apps() -> AsyncIterator[SharedApps]:
    """Tests that ask for them run in one loop: see `share_loop`."""
    made = SharedApps()
    yield made
    await made.close()


def share_loop(items: Iterable[pytest.Item]) -> None:
    """An app lives in one loop: the tests that share one run in that."""
    for item in items:
        if "shared_apps" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
