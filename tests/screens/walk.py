"""A random walk over all rooms and keys: a person who presses anything, in any order, in any seat.

One file is walked in: runs that were imported, one that waits, live ones that the walk begins, demonstrations, studies
to rate and to play. After each step nothing has crashed and every row that was kept is kept still; at the end of each
stay in the app its keys still lead home.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from textual import events
from textual.geometry import Size
from textual.pilot import Pilot

from lab.core.settings import Settings
from lab.core.study.study import Study
from screens.app import LabApp
from screens.launcher import new_recording as recorded
from screens.launcher import task_spec
from screens.navigation import Opening
from store.store import Store
from tests import plays, studies
from tests.demonstrations import demonstration
from tests.screens.runs import BARE, WAITING, WHOLE, asking_run, bare_run, long_run, waiting_run, whole_run

SIZES = ((64, 18), (80, 24), (120, 40), (200, 60), (40, 10))
KEYS = (
    *"0123456789abcdefghijklmnopqrstuvwxyzACDEFGIJMNRSTVWZ",
    "enter", "enter", "enter", "escape", "escape", "tab", "shift+tab", "up", "down", "left", "right", "home", "end",
    "pageup", "pagedown", "space", "backspace", "delete", "slash", "plus", "full_stop", "comma", "question_mark",
    "left_square_bracket", "right_square_bracket", "greater_than_sign", "less_than_sign",
    "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
    "ctrl+p", "ctrl+x", "ctrl+r", "ctrl+j", "ctrl+o", "ctrl+q", "ctrl+down", "shift+down",
)  # fmt: skip
"""Keys that are pressed whether or not anything says that they act; what is met often in use stands several times."""
TEXTS = ("yes", "87", "no coriander, please", "好的，谢谢", "[bold]x[/] \x1b[31m", "word " * 300, "")
_SHARE = st.floats(0, 0.999)
_TURNS = ("press",) * 7 + ("offered",) * 8 + ("wait", "wait", "paste", "click", "resize")
"""Of twenty moves so many are of each kind."""
_OF: dict[str, st.SearchStrategy[Any]] = {
    "press": st.sampled_from(KEYS),
    "offered": st.integers(0, 63),
    "wait": st.none(),
    "paste": st.sampled_from(TEXTS),
    "click": st.tuples(_SHARE, _SHARE),
    "resize": st.sampled_from(SIZES),
}
MOVES: st.SearchStrategy[tuple[str, Any]] = st.integers(0, 19).flatmap(
    lambda turn: st.tuples(st.just(_TURNS[turn]), _OF[_TURNS[turn]])
)
_KEPT = {"event": "trace || ' ' || seq", "label": "id", "act": "id", "review": "id", "design": "id", "study": "id"}
"""Tables whose rows stay for good, and what tells one of their rows from the others."""
_HOPS = 3
_PATIENCE = 1000


def filled(store: Store) -> tuple[Study, Study]:
    """Puts runs of every kind and two studies into a file: one to be rated by R1, one to be played by P1."""
    for run in (whole_run(), bare_run(), asking_run(), long_run(6), demonstration()):
        store.runs.add(run)
    for event in waiting_run():
        store.runs.append_event(WAITING, event)
    units = [studies.unit(f"u{at}", runs=(run,)) for at, run in enumerate((WHOLE, BARE), 1)]
    rated = studies.frozen(store, units)
    return rated, plays.frozen(store, [plays.unit(plays.LUNCH), plays.unit(plays.COFFEE)])


class Walk(RuleBasedStateMachine):
    """One person after another sits down in the app and presses keys.

    `path` is the file, made anew for each walk; `visited` counts the steps that were taken in each screen.
    """

    path: Path
    visited: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.path.unlink(missing_ok=True)
        self.store = Store.open(self.path)
        self.rated, self.played = filled(self.store)
        self.runner = asyncio.Runner()
        self.app: LabApp | None = None
        self.kept: dict[str, set[str]] = {}
        self.presses: list[str] = []

    # -- sitting down and leaving --------------------------------------------------------------------------------

    @initialize(who=st.integers(0, 9), size=st.integers(0, 3))
    def sit_down(self, who: int, size: int) -> None:
        """Begins the app for one of ten people."""
        person, seat, opening = self._people()[who % 10]
        sits = Settings(person=person, seat=seat, pace=0.0, bell=False)  # type: ignore[arg-type]
        self.presses = [f"{person} ({seat}) at {opening.screen}, {SIZES[size]}"]
        self.app = LabApp(self.store, sits, opening)
        self._context = self.app.run_test(size=SIZES[size])
        self.pilot: Pilot[Any] = self.runner.run(_enter(self._context))
        self._look()

    def _people(self) -> list[tuple[str, str, Opening]]:
        """Study code, seat, and what each of them begins with."""
        lunch, coffee = (task_spec(name, Settings(person="P7")) for name in (plays.LUNCH, "friday_reorder"))
        gated = lunch._replace(person="D3", gate="ask", breaks=("ask",))
        return [
            ("D3", "developer", Opening("live", spec=gated)),
            ("P7", "participant", Opening("live", spec=coffee._replace(seat="participant", mirror=False))),
            ("D1", "developer", Opening("live", ask=recorded(plays.LUNCH, Settings(person="D1")))),
            ("D1", "developer", Opening("replay", WHOLE)),
            ("R1", "rater", Opening("annotate", study=self.rated)),
            ("P1", "participant", Opening("play", study=self.played)),
            ("D2", "designer", Opening("agreement", study=self.rated)),
            ("R9", "developer", Opening("review")),
            ("D1", "developer", Opening("home")),
            ("D2", "designer", Opening("author", WHOLE, task=self.store.runs.task(WHOLE))),
        ]

    def _leave(self) -> None:
        """Ends the app as a closed terminal does, and looks at what was kept."""
        if self.app is None:
            return
        app, self.app = self.app, None
        if app.session is not None:
            app.session.leave()
        self.runner.run(_exit(self._context))
        self._check_kept()

    def teardown(self) -> None:
        """The keys still lead home; then the app is left and the file closed."""
        try:
            if self.app is not None and self.app.is_running:
                self._find_home()
            self._leave()
        finally:
            self.store.close()
            self.runner.close()

    # -- steps ---------------------------------------------------------------------------------------------------

    @rule(move=MOVES)
    def step(self, move: tuple[str, Any]) -> None:
        """One of the things that a person does; one rule, so that no walk is without any of them."""
        kind, what = move
        match kind:
            case "press":
                self._do(what, lambda: self._press(what))
            case "offered":
                self._press_offered(what)
            case "paste":
                self._do(f"paste {what[:12]!r}", lambda: self._send(lambda app: app.post_message(events.Paste(what))))
            case "click":
                self._click(*what)
            case "resize":
                self._do(f"resize {what}", lambda: self._resize(what))
            case "wait":
                self._do("wait", lambda: asyncio.sleep(0.15))

    def _press_offered(self, at: int) -> None:
        """One of the keys that the room says it has now."""
        assert self.app is not None
        offered = [one.binding.key for one in self.app.screen.active_bindings.values() if one.enabled]
        if offered:
            key = offered[at % len(offered)]
            self._do(key, lambda: self._press(key))

    def _click(self, x: float, y: float) -> None:
        assert self.app is not None
        width, height = self.app.size
        at = int(x * width), int(y * height)
        self._do(f"click {at}", lambda: _ignored(self.pilot.click(offset=at)))

    def _do(self, what: str, act: Callable[[], Awaitable[object]]) -> None:
        """Takes a step, looks whether all is well, and sits down anew where it led out of the app."""
        assert self.app is not None
        self.presses.append(what)
        self.visited[type(self.app.screen).__name__] += 1
        if self.app.is_running:
            self.runner.run(_awaited(act()))
        self._look()
        if not self.app.is_running or self.app._exit:
            presses = self.presses
            self._leave()
            self.sit_down(len(presses), len(presses) % 4)

    # -- what must hold ------------------------------------------------------------------------------------------

    def _look(self) -> None:
        assert self.app is not None
        if self.app._exception is not None:
            raise AssertionError(f"the app ended: {self._story()}") from self.app._exception

    def _story(self) -> str:
        return " · ".join(self.presses[-60:])

    def _check_kept(self) -> None:
        """No row that was there is gone."""
        with sqlite3.connect(self.path) as db:
            for table, key in _KEPT.items():
                now = {str(row[0]) for row in db.execute(f"SELECT {key} FROM {table}")}
                lost = self.kept.get(table, set()) - now
                assert not lost, f"{table} lost {sorted(lost)[:3]}: {self._story()}"
                self.kept[table] = now
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def _find_home(self) -> None:
        """Esc, as often as there may be something open, and then the help: the keys still act."""
        app = self.app
        assert app is not None
        self.runner.run(self._resize((120, 40)))
        for _ in range(12):
            self.runner.run(self._press("escape"))
        if app.has_room("home"):
            self.runner.run(self._press("f2"))
            assert app.current_mode in ("home", "play"), f"no way home from {app.current_mode}: {self._story()}"
        before = self._helped()
        self.runner.run(self._press("f1"))
        self._look()
        assert self._helped() != before, f"no key acts in {app.current_mode} ({app.screen}): {self._story()}"

    def _helped(self) -> int:
        """In how many screens help is open: a run that begins just now may come before the one that was looked at."""
        assert self.app is not None
        return sum(bool(screen.query("HelpPanel")) for stack in self.app._screen_stacks.values() for screen in stack)

    # -- acting on the app -----------------------------------------------------------------------------------------

    async def _press(self, key: str) -> None:
        await self._send(lambda app: app.post_message(events.Key(key, key if len(key) == 1 else None)))

    async def _resize(self, size: tuple[int, int]) -> None:
        def send(app: LabApp) -> bool:
            app._driver._size = size  # type: ignore[union-attr]
            return app.post_message(events.Resize(Size(*size), Size(*size)))

        await self._send(send)

    async def _send(self, send: Callable[[LabApp], object]) -> None:
        """Something happens at the terminal; what it sets off is handled, as far as that is done at once."""
        app = self.app
        assert app is not None
        send(app)
        for _ in range(_HOPS):
            if app.is_running and app._exception is None:
                await self.pilot._wait_for_screen(timeout=120)
        for _ in range(_PATIENCE):
            if app.idle or not app.is_running or app._exception is not None:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"a key was never taken: {self._story()}")


async def _enter(context: Any) -> Pilot[Any]:
    pilot: Pilot[Any] = await context.__aenter__()
    return pilot


async def _exit(context: Any) -> None:
    await context.__aexit__(None, None, None)


async def _awaited(one: Awaitable[object]) -> None:
    await one


async def _ignored(click: Awaitable[object]) -> None:
    """A click where nothing stands any more, or nothing is laid out yet, is none, as it is in a terminal."""
    from textual.errors import NoWidget
    from textual.pilot import OutOfBounds

    try:
        await click
    except (NoWidget, OutOfBounds):
        return


def walked(path: Path, visited: Counter[str], *, walks: int, steps: int, derandomize: bool = False) -> None:
    """Walks that often, so many steps each; `visited` counts how many were taken in each screen."""
    machine = type("WalkOfFile", (Walk,), {"path": path, "visited": visited})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=walks, stateful_step_count=steps, derandomize=derandomize, deadline=None, database=None,
            phases=(Phase.generate,), suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
