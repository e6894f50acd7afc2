"""The shell: rooms, seats, errors as sentences, small terminals, keys and the palette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, OptionList

from lab.core.errors import LabError
from lab.core.run.mailbox import Mailbox
from lab.core.settings import Settings, folder
from lab.core.task.task import Task
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.crash import Crash
from screens.dialogs import AskScreen, QuitScreen, TooSmallScreen
from screens.home.home import HomeScreen
from screens.home.lists import RunList, Tasks
from screens.launcher import LiveLauncher
from screens.live.live import LiveScreen
from screens.navigation import Opening
from screens.play.lobby import LobbyScreen
from screens.replay.replay import ReplayScreen
from screens.widgets.help_panel import KeyTable
from screens.widgets.lines import LineList
from screens.widgets.text_page import TextPage
from store.store import Store
from tests.screens.resting import burst
from tests.screens.runs import ASKING, WHOLE, asking_run, painted

Until = Callable[..., Awaitable[None]]


class Held:
    """A session as far as the shell looks at one: it is under way until it is left."""

    over = False
    trace_id = "held"
    spec = Spec(Task("held", "general"))
    questions: Mailbox[Any, Any] = Mailbox()
    decisions: Mailbox[Any, Any] = Mailbox()

    def leave(self) -> None:
        self.over = True


def commands(app: LabApp) -> set[str]:
    return {command.title for command in app.get_system_commands(app.screen)}


def toasts(app: LabApp) -> list[str]:
    return [f"{toast.title}: {toast.message}" for toast in app._notifications]


async def test_too_small_a_terminal_shows_one_sentence_and_comes_back(
    full: Store, settings: Settings, until: Until
) -> None:
    app = LabApp(full, settings)
    async with app.run_test(size=(60, 15)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, TooSmallScreen))
        await until(pilot, lambda: "64x18" in painted(app) and "60x15" in painted(app))
        await pilot.press("f4", "question_mark", "escape")
        assert isinstance(app.screen, TooSmallScreen)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and "lunch" in painted(app))


async def test_a_participant_has_no_home_with_scores_and_no_replay(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(seat="participant"))
    async with app.run_test() as pilot:
        assert isinstance(app.screen, LobbyScreen)
        await pilot.press("f4", "f2")
        assert isinstance(app.screen, LobbyScreen)
        assert "Replay" not in commands(app)
        assert "replay" not in app._modes
        assert not {"lunch", "0.75", "score"} & set(painted(app).split())
        with pytest.raises(LabError, match="participant"):
            app.open_replay(WHOLE)
    with pytest.raises(LabError, match="participant"):
        LabApp(full, Settings(seat="participant"), Opening("replay", WHOLE))


async def test_a_rater_sees_no_score_no_agent_no_verdict_and_starts_nothing(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(seat="rater"))
    seen = ""
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(RunList).count == 3)
        assert not app.screen.query("#tasks")
        seen += painted(app)
        app.open_replay(WHOLE, 7)
        await until(pilot, lambda: "The end" in painted(app))
        seen += painted(app)
        await pilot.press("p")
        seen += painted(app)
        assert "Sent" not in commands(app)
    for hidden in ("0.75", "rule", "some-model", "nothing paid", "basket holds", "one check failed"):
        assert hidden not in seen


async def test_what_an_action_or_a_worker_refuses_is_a_toast(store: Store, settings: Settings, until: Until) -> None:
    app = LabApp(store, settings)

    def refuse() -> None:
        raise LabError("disk", "[b]is full[/b]", "Make room.")

    async with app.run_test(notifications=True) as pilot:
        await pilot.press("f3")
        assert "Live: no run is live. Enter on a task in Home (F2) starts one." in toasts(app)
        app.run_worker(refuse, thread=True)
        await until(pilot, lambda: "disk: [b]is full[/b]. Make room." in toasts(app))
        await until(pilot, lambda: "[b]is full[/b]" in painted(app))
        assert app.is_running


@pytest.mark.parametrize("way", ["message", "timer", "callback", "next", "resume"])
async def test_what_a_room_refuses_where_no_key_asked_is_a_toast_and_the_room_goes_on(
    store: Store, settings: Settings, until: Until, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    def refuse(*_: object) -> None:
        raise LabError("disk", "is full.")

    monkeypatch.setattr(HomeScreen, "on_paste", refuse, raising=False)
    app = LabApp(store, settings)
    async with app.run_test(notifications=True) as pilot:
        room = app.screen
        assert isinstance(room, HomeScreen)
        if way == "message":
            room.post_message(events.Paste("words"))
        elif way == "timer":
            with room._context():
                room.set_timer(0.001, refuse)
        elif way == "callback":
            with room._context():
                app.push_screen(AskScreen("Sure?", "It cannot be undone.", "Do it"), refuse)
            await pilot.press("enter")
        elif way == "next":
            room.call_next(refuse)
        else:
            monkeypatch.setattr(HomeScreen, "_mark_live", refuse)
            await pilot.press("f11", "f2")
        await until(pilot, lambda: "disk: is full." in toasts(app))
        assert room.is_running
        assert app.is_running


async def test_without_what_a_room_lays_first_nobody_goes_on(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(room: HomeScreen) -> None:
        raise LabError("disk", "is full.")

    monkeypatch.setattr(HomeScreen, "on_mount", refuse)

    async def run() -> None:
        async with LabApp(store, settings).run_test() as pilot:
            await pilot.pause()

    with pytest.raises(Crash) as caught:
        await run()
    assert caught.value.sentence == "disk: is full."


async def test_any_other_error_ends_with_one_panel_and_a_log_without_values(store: Store, settings: Settings) -> None:
    app = LabApp(store, settings)

    def fail() -> None:
        said_by_a_person = "my secret words"
        assert said_by_a_person
        raise RuntimeError("broken")

    async def run() -> None:
        async with app.run_test() as pilot:
            app.call_later(fail)
            await pilot.pause()

    with pytest.raises(Crash) as caught:
        await run()
    log = folder("cache") / "crash.log"
    assert str(log) in caught.value.sentence
    panel = "".join(line.text for line in app.console.render(caught.value))
    assert "RuntimeError" in panel
    assert "my secret words" not in panel.replace("\n", "")
    trail = log.read_text()
    assert "RuntimeError: broken" in trail
    assert not trail.count("said_by_a_person = my secret words")


async def test_a_run_that_cannot_begin_says_why_where_it_would_be(
    store: Store, settings: Settings, until: Until
) -> None:
    app = LabApp(store, settings)
    async with app.run_test() as pilot:
        app.open_resume("no-such-run")
        await until(pilot, lambda: isinstance(app.screen, LiveLauncher) and "run no-such-run" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_quitting_asks_only_where_a_run_is_live(store: Store, settings: Settings, until: Until) -> None:
    app = LabApp(store, settings)
    held: Any = Held()
    async with app.run_test() as pilot:
        app.session = held
        with pytest.raises(LabError, match="a run is live already"):
            app.open_task("usual_lunch")
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, QuitScreen))
        await pilot.press("escape")
        assert app.is_running
        assert not held.over
        await pilot.press("ctrl+q", "enter")
        await until(pilot, lambda: not app.is_running)
    assert held.over
    other = LabApp(store, settings)
    async with other.run_test() as pilot:
        await pilot.press("q")
        await until(pilot, lambda: not other.is_running)


async def test_a_run_is_left_and_gone_on_with(store: Store, settings: Settings, until: Until) -> None:
    from lab.runs.spec import Spec

    store.runs.add(asking_run())
    spec = Spec(Task("ask", "general", "", "Ask me."), agent=f"recorded:{ASKING}")
    app = LabApp(store, settings, Opening("live", spec=spec))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "The agent asks" in painted(app))
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and "● asks you" in painted(app))
        assert "Enter: go to this live run" in painted(app)
        await pilot.press("enter")
        await until(pilot, lambda: "The agent asks" in painted(app))
        await pilot.press("ctrl+q", "enter")
        await until(pilot, lambda: not app.is_running)
    assert app.session is not None
    run = app.session.trace_id
    assert store.runs.summary(run).status == "open"
    again = LabApp(store, settings)
    async with again.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Enter: resume this run at its question" in painted(again))
        await pilot.press("enter")
        await until(pilot, lambda: "The agent asks" in painted(again))
        assert again.session is not None
        assert again.session.trace_id == run
        again.session.leave()


async def test_a_run_that_this_seat_cannot_have_is_said_in_its_place_and_left_unbegun(
    store: Store, settings: Settings, until: Until
) -> None:
    from lab.runs.spec import Spec

    store.runs.add(asking_run())
    spec = Spec(
        Task("ask", "general", "", "Ask me."), agent=f"recorded:{ASKING}", user="human", seat="participant", gate="ask"
    )
    app = LabApp(store, settings, Opening("live", spec=spec))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "lets no actions through. Leave out --gate." in painted(app))
        assert not app.run_is_live
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    assert [run.id for run in store.runs.summaries()] == [ASKING]


async def test_letters_typed_into_a_field_are_only_letters(full: Store, settings: Settings) -> None:
    app = LabApp(full, settings)
    async with app.run_test() as pilot:
        await pilot.press("slash", *"qvy", "plus", "question_mark", "left_square_bracket")
        assert app.is_running
        assert app.screen.query_one("#filter", Input).value == "qvy+?["
        assert isinstance(app.screen, HomeScreen)


async def test_keys_are_remapped_by_the_settings(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(keymap={"home.filter": "ctrl+f", "app.replay": "f9"}))
    async with app.run_test() as pilot:
        await pilot.press("slash")
        assert not app.screen.has_class("-filtering")
        await pilot.press("ctrl+f")
        assert app.screen.has_class("-filtering")


async def test_the_palette_finds_a_task_by_its_name(store: Store, settings: Settings, until: Until) -> None:
    app = LabApp(store, settings)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: bool(app.screen.query_one(Tasks).count))
        await pilot.press("ctrl+p")
        await burst(pilot, *"usual_lunch")
        await until(pilot, lambda: "Run The usual lunch (usual_lunch)" in painted(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen) and "the agent works" in painted(app))
        assert app.session is not None
        assert app.session.spec.task.id == "usual_lunch"
        app.session.leave()


async def test_a_theme_that_was_chosen_is_there_next_time(store: Store, until: Until) -> None:
    from lab.core.settings import load, settings_file

    path = settings_file()
    path.parent.mkdir(parents=True)
    path.write_text('# mine\nfps = 7\ntheme="nord"\n[keymap]\n"home.filter" = "ctrl+f"\n')
    app = LabApp(store, load())
    async with app.run_test() as pilot:
        assert app.theme == "nord"
        app.theme = "gruvbox"
        await until(pilot, lambda: "gruvbox" in path.read_text())
    again = load()
    assert (again.theme, again.fps, again.keymap) == ("gruvbox", 7, {"home.filter": "ctrl+f"})
    assert "# mine" in path.read_text()


async def test_the_palette_reaches_every_action_of_a_screen(full: Store, settings: Settings, until: Until) -> None:
    app = LabApp(full, settings)
    async with app.run_test() as pilot:
        await until(pilot, lambda: bool(app.screen.query_one(Tasks).count))
        own = {b.description for b in bindings(HomeScreen)}
        rooms = {f"Go to {b.description}" for b in bindings(LabApp) if b.action.startswith("show")}
        rest = {b.description for b in bindings(LabApp) if not b.action.startswith("show")}
        there = {"Back", "Help, read on", "Help, read back"}  # Home has an escape of its own, and no help is open
        assert own | rooms | rest - there <= commands(app)
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert len(titles) == len(set(titles))
        assert not {"Up", "Down", "Page up"} & set(titles)
        app.open_replay(WHOLE)
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
        assert "Close up" not in commands(app)  # no graphics are chosen
        same = {"Back", "First step", "The end", "Close up"}  # the list under the focus does these by other names
        enlarged = {"Further", "Look left", "Look right", "Look up", "Look down"}  # nothing is, and no word is unread
        assert {b.description for b in bindings(ReplayScreen)} - same - enlarged - {"Read words"} <= commands(app)
        before = painted(app)
        run = next(c for c in app.get_system_commands(app.screen) if c.title == "Help")
        await run.callback()
        await until(pilot, lambda: painted(app) != before and len(app.screen.query("HelpPanel")) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.query("HelpPanel"))
        assert isinstance(app.screen, ReplayScreen)


async def test_help_that_is_open_when_the_app_ends_has_no_keys(store: Store, settings: Settings, until: Until) -> None:
    """An app that ends takes its screens down one by one, and Textual may lay the last of them out meanwhile."""
    app = LabApp(store, settings)
    async with app.run_test() as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: bool(app.screen.query(KeyTable)))
        table, stack = app.screen.query_one(KeyTable), app._screen_stacks[app.current_mode]
        assert list(table.rows())
        standing = stack[:]
        stack.clear()
        try:
            assert not list(table.rows())
        finally:
            stack[:] = standing


def test_every_binding_has_an_id_a_tooltip_and_a_place() -> None:
    found = list(bindings(LabApp, HomeScreen, ReplayScreen, LineList, TextPage, QuitScreen))
    assert all(b.id and b.tooltip and b.description for b in found)
    assert len({b.id for b in found}) == len(found)
    for screen in (HomeScreen, ReplayScreen):
        assert sum(b.show for b in bindings(screen, LabApp)) <= 7


def test_an_id_of_a_binding_stands_for_one_key() -> None:
    """Who moves a key by its id moves that one; and a sentence that names an id tells its key."""
    import importlib
    import pkgutil

    import screens

    for module in pkgutil.walk_packages(screens.__path__, "screens."):
        importlib.import_module(module.name)
    kinds: list[type[DOMNode]] = [DOMNode]
    keys: dict[str, set[str]] = {}
    for kind in kinds:
        kinds += [one for one in kind.__subclasses__() if one not in kinds]
        for binding in kind.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and kind.__module__.startswith("screens."):
                keys.setdefault(binding.id, set()).add(binding.key.partition(",")[0])
    assert {id: found for id, found in keys.items() if len(found) > 1} == {}


def test_a_theme_that_is_not_there_is_a_sentence(store: Store) -> None:
    with pytest.raises(LabError, match="field theme: 'pink' is none of"):
        LabApp(store, Settings(theme="pink"))


def test_home_loads_nothing_heavy(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys, screens.app, screens.home.home, screens.launcher; "
        "print([m for m in ('litellm', 'sqlite_utils', 'numpy', 'PIL', 'av', 'adbutils', 'yaml', 'sqlite3',"
        " 'screens.mirror.mirror', 'screens.live.live', 'screens.replay.replay', 'lab.runs.session')"
        " if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def bindings(*owners: type[LabApp] | type[Screen[Any]] | type[LineList] | type[TextPage]) -> Iterable[Binding]:
    for owner in owners:
        for binding in owner.__dict__["BINDINGS"]:
            assert isinstance(binding, Binding)
            yield binding


async def test_a_palette_opens_in_a_room_while_another_room_holds_one(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.current_mode == "home")
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.action_show("runs")
        await until(pilot, lambda: app.current_mode == "runs" and not isinstance(app.screen, CommandPalette))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))


async def test_a_question_that_was_asked_in_a_small_terminal_leaves_nothing_before_a_large_one(
    full: Store, until: Until
) -> None:
    app = LabApp(full, Settings(person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.current_mode == "home")
        app.open_task("way_home")
        await until(pilot, lambda: app.run_is_live)
        room = app.screen
        await pilot.resize_terminal(40, 10)
        await until(pilot, lambda: isinstance(app.screen, TooSmallScreen))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuitScreen))
        await pilot.resize_terminal(40, 11)
        await until(pilot, lambda: isinstance(app.screen, TooSmallScreen))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: isinstance(app.screen, QuitScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is room)


async def test_a_palette_beneath_a_question_dismisses_nothing(full: Store, until: Until) -> None:
    """A click that was on its way to the palette when the question came over it."""
    app = LabApp(full, Settings(person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.current_mode == "home")
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        palette = app.screen
        app.push_screen(QuitScreen())
        await until(pilot, lambda: isinstance(app.screen, QuitScreen))
        palette.dismiss()
        palette.dismiss()
        await until(pilot, lambda: isinstance(app.screen, QuitScreen) and palette in app.screen_stack)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is palette)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


def click(node: Widget, at: Offset, style: Style | None = None) -> events.Click:
    """A click that was on its way while what it was meant for went."""
    return events.Click(node, *at, 0, 0, 1, False, False, False, *at, style=style)


async def test_a_click_beside_the_screen_closes_the_palette(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.current_mode == "home")
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.resize_terminal(80, 24)
        app.screen.post_message(click(app.screen, Offset(119, 39)))
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_a_click_on_a_line_that_a_list_lost_does_nothing_and_the_list_goes_on(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.current_mode == "home")
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette) and "Compared runs" in painted(app))
        lines = app.screen.query_one(OptionList)
        count = lines.option_count
        await burst(pilot, *"gotoruns")
        await until(pilot, lambda: "Go to Runs" in painted(app) and lines.option_count < count)
        lines.post_message(click(lines, Offset(1, 1), Style.from_meta({"option": count - 1})))
        lines.post_message(click(lines, Offset(1, 0), Style.from_meta({"option": 0})))
        await until(pilot, lambda: app.current_mode == "runs")


async def test_a_task_that_the_palette_names_is_refused_in_a_sentence_while_a_run_is_live(
    full: Store, until: Until
) -> None:
    app = LabApp(full, Settings(person="D1"))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.current_mode == "home")
        app.open_task("way_home")
        await until(pilot, lambda: app.run_is_live)
        app._task_from_palette("usual_lunch")
        await until(pilot, lambda: "a run is live already" in painted(app))
