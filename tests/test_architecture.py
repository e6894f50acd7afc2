"""docs/architecture.md is true: its paths and words are there, and what it says of adding one more of a kind works."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import Ended, Started, Step
from lab.core.task.task import Actor, Task
from store.store import Store

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = ("annotators", "lab", "screens", "simulators", "store")


def section(title: str) -> str:
    """What stands below a heading of the page."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The rows of a section's table, without its heading."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def paths_in(text: str) -> list[str]:
    """The files and folders that a text names from the project's root on."""
    return [name for name in re.findall(r"`([\w./]+)`", text) if name.partition("/")[0] in (*PACKAGES, "tests", "docs")]


def defined_in(path: Path) -> set[str]:
    """The classes, functions and constants of a module, those of its classes among them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def docstrings_of(path: Path) -> str:
    """All that a module says of itself: its docstrings and those of what it defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return "\n".join(ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds))


# -- paths and words ------------------------------------------------------------------------------------------


def test_every_path_is_there() -> None:
    paths = paths_in(PAGE)
    assert len(paths) > 60
    for path in paths:
        assert (ROOT / path).exists(), path


def test_the_map_names_every_folder_of_a_floor() -> None:
    folders = [row[1].strip("`/") for row in rows("The map")]
    for folder in folders:
        assert (ROOT / folder).is_dir(), folder
    of_lab = {f"lab/{path.name}" for path in (ROOT / "lab").iterdir() if (path / "__init__.py").exists()}
    assert set(folders) == of_lab | set(PACKAGES) - {"lab"}


@pytest.mark.parametrize("row", rows("Where is ...?"), ids=lambda row: str(row[0]))
def test_what_stands_where_is_defined_there(row: list[str]) -> None:
    _, where = row
    assert paths_in(where)
    for path, name in re.findall(r"`([\w/.]+\.py)`, `(\w+)`", where):
        assert name in defined_in(ROOT / path), f"{path} has no {name}"


def test_every_class_named_beside_a_path_is_defined_there() -> None:
    pairs = re.findall(r"`([A-Z][a-z]\w+)`[^`.]{0,6}`([\w/]+\.py)`", PAGE)
    assert len(pairs) >= 5
    for name, path in pairs:
        assert name in defined_in(ROOT / path), f"{path} has no {name}"


@pytest.mark.parametrize("row", rows("Glossary"), ids=lambda row: str(row[0]))
def test_a_word_is_held_by_its_module(row: list[str]) -> None:
    """As its name, as a class or function, or in a docstring."""
    words, meaning, where = row
    assert meaning
    modules = [ROOT / path for path in paths_in(where)]
    assert modules
    for word in words.split(", "):
        plain = word.replace(" ", "").lower()
        held = "\n".join(
            " ".join([module.stem, *defined_in(module)]).replace("_", "").lower() + docstrings_of(module).lower()
            for module in modules
        )
        assert plain in held or word in held, f"{where} does not hold {word!r}"


def test_the_glossary_is_in_order_and_has_each_word_once() -> None:
    words = [row[0] for row in rows("Glossary")]
    assert words == sorted(words)
    each = [word for row in words for word in row.split(", ")]
    assert len(each) == len(set(each)) > 30


# -- how to add: a copy of the house, and one more of a kind in it ---------------------------------------------


class House(NamedTuple):
    """The packages in a folder of their own, file by file as links, so that the copy can be changed."""

    folder: Path
    env: dict[str, str]

    def write(self, path: str, text: str) -> None:
        """A new file, or one in the place of a link."""
        there = self.folder / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.unlink(missing_ok=True)
        there.write_text(text, encoding="utf-8")

    def edit(self, path: str, before: str, after: str) -> None:
        """Puts a text in the place of another, which stands in the file once."""
        text = (self.folder / path).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{path}: {before!r} stands there {text.count(before)} times"
        self.write(path, text.replace(before, after))

    def python(self, code: str) -> str:
        """What a program of this house prints; it must succeed."""
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def hitlab(self, *commands: str, codes: Sequence[int] = ()) -> str:
        """What several commands of this house print, one after the other in one process; 0 is success."""
        expected = list(codes) or [0] * len(commands)
        return self.python(f"from lab.cli.main import main\nassert [main(c.split()) for c in {commands}] == {expected}")


@pytest.fixture
def house(tmp_path: Path) -> House:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, copy_function=os.symlink)
    db = tmp_path / "house.db"
    with Store.open(db) as store:
        started = Started(trace="walk", task=Task("walk", "general", instruction="Walk"), agent=Actor("script", "a"))
        wait = Step(index=0, proposed=Proposed(Action("wait")), before=Observation())
        store.runs.add(Imported(number_events([started, wait, Ended(status="completed")]), {}, []))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HITLAB_", "XDG_"))}
    env |= {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path / "home"), "HITLAB_DB": str(db)}
    return House(tmp_path, env)


READER = """
from collections.abc import Callable, Iterator

from lab.core.run.run_records import Imported
from lab.core.run.step import Action
from lab.core.task.task import Actor, Task
from store.formats import FailedRun, Format, KnownRun, RunSource
from store.formats.draft import RunDraft, run_id


def read(found: RunSource, known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    data = found.path.read_bytes()
    agent, instruction, *thoughts = data.decode().splitlines()
    if not thoughts:
        yield FailedRun(str(found.path), f"{found.path}: is a diary of nothing.")
        return
    task = Task(found.path.stem, "general", instruction=instruction)
    id = run_id("diary", found.path.stem, data)
    draft = RunDraft(id, task, Actor("model", agent), format="diary", path=str(found.path), data=data)
    for thought in thoughts:
        draft.step(Action("wait"), thought=thought)
    draft.end("completed")
    yield draft.imported()


DIARY = Format("diary", "a diary", lambda folder, names, root: False, lambda seen: seen.name.endswith(".diary"), read)
"""
"""Reads text files: the agent's name, the instruction, and a line for each turn in which it waited."""


def test_a_trace_format_is_added(house: House) -> None:
    house.write("store/formats/diary/__init__.py", "")
    house.write("store/formats/diary/reader.py", READER)
    house.edit("store/formats/__init__.py", "_READERS = {\n", '_READERS = {\n    "diary": "diary.reader:DIARY",\n')
    house.write("runs/monday.diary", "pacer\nWait for the bus\nNot yet\nStill not\n")
    house.write("runs/empty.diary", "pacer\nWait for nothing\n")
    told = house.hitlab("import runs", "traces --json", codes=(3, 0))
    assert "1 imported (diary), 0 already there, 1 failed" in told
    runs = json.loads(told[told.index("\n[") :])
    assert ("monday", 2, "completed") in [(run["task"], run["steps"], run["status"]) for run in runs]


PROTOCOL = """\
title: How polite the agent was
unit: run
shows: [instruction, dialogue]
fields:
  - id: polite
    ask: Was the agent polite?
    kind: nominal
    options: [{id: "yes", says: polite}, {id: "no", says: rude}]
guide:
  en: Judge the words alone.
"""


def test_a_protocol_is_added(house: House) -> None:
    house.write("annotators/protocols/politeness.yaml", PROTOCOL)
    told = house.hitlab("protocols --json", "study new politeness --runs all --raters R1")
    assert '"id":"politeness"' in told
    assert "politeness v1: How polite the agent was\nasks      politeness (version" in told


METRIC = """

def _patience(cases: Sequence[MeasuredRun]) -> Number:
    waits = [sum(step.action is not None and step.action.kind == "wait" for step in case.steps) for case in cases]
    return _number("Patience", "count", waits)
"""


def test_a_metric_is_added(house: House) -> None:
    metrics = "annotators/papers/fingertip/metrics.py"
    house.write(metrics, (house.folder / metrics).read_text(encoding="utf-8") + METRIC)
    house.edit(metrics, "*_execution(cases, context)]", "*_execution(cases, context), _patience(cases)]")
    house.edit(
        metrics,
        "DEFINITIONS: Mapping[str, str] = {\n",
        """DEFINITIONS: Mapping[str, str] = {
    "Patience": "Waits of a run, as a mean over runs.",
""",
    )
    told = house.hitlab("metrics --paper fingertip", "metrics --explain")
    assert re.search(r"^Patience +all +1 +1 run\b", told, re.MULTILINE), told
    assert "Waits of a run, as a mean over runs." in told


APP = """
from simulators.phone.app import App, AppContext, State
from simulators.phone.kit.views import Button, Column, Page, Screen


class Torch(App):
    id, label, icon, colour, hue = "torch", "Torch", "check", "#d08a1d", 40

    def first_state(self, rng, clock) -> State:
        return {"on": False}

    def screen_home(self, here: AppContext) -> Screen:
        return Page(Column([Button("Off" if here.own["on"] else "On", on=("switch",))]))

    def do_switch(self, here: AppContext) -> None:
        here.own["on"] = not here.own["on"]
"""
USE = """
from lab.core.run.step import Action
from simulators.phone.phone import Phone

phone = Phone()
phone.perform(Action("open_app", app="Torch"))
(button,) = [node for node in phone.observe().tree.nodes() if node.text == "On"]
phone.perform(Action("click", at=button.bounds.center))
assert "Off" in [node.text for node in phone.observe().tree.nodes()]
print(phone.snapshot()["apps"]["torch"])
"""


def test_an_app_of_the_phone_is_added(house: House) -> None:
    house.write("simulators/phone/apps/torch.py", APP)
    installed, teamchat = "simulators/phone/installed.py", "from simulators.phone.apps.teamchat import TeamChat\n"
    house.edit(installed, teamchat, teamchat + "from simulators.phone.apps.torch import Torch\n")
    house.edit(installed, "    SettingsApp(),\n", "    SettingsApp(),\n    Torch(),\n")
    assert house.python(USE) == "{'on': True}\n"


COMMAND = """
from lab.cli.arguments import Arguments, Parser, argument
from lab.cli.output import print_line


class GreetArguments(Arguments):
    name: str = argument("NAME", "greet this person")


def add_greet(parser: Parser) -> None:
    parser.runs(greet, GreetArguments)


def greet(args: GreetArguments) -> int:
    print_line(f"Hello {args.name}")
    return 0
"""


def test_a_command_is_added(house: House) -> None:
    house.write("lab/cli/greet.py", COMMAND)
    house.edit("lab/cli/commands.py", "\nCOMMANDS = (\n", '\nCOMMANDS = (\n    Entry("greet", "say hello", "greet"),\n')
    assert house.hitlab("greet Noor") == "Hello Noor\n"


SCREEN = """
from textual.app import ComposeResult
from textual.widgets import Static

from lab.core.settings import Settings
from screens.background import Background
from screens.stylesheet import ROOM_STYLES
from screens.widgets.room_screen import RoomScreen
from store.store import Store


class TallyScreen(RoomScreen[None]):
    CSS_PATH = ROOM_STYLES

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.reading = Background(self, self.show)

    def compose(self) -> ComposeResult:
        yield Static("Counting ...", id="tally")

    def on_mount(self) -> None:
        self.reading.start(lambda: len(self.store.runs.rows(10)))

    def show(self, runs: int) -> None:
        self.query_one("#tally", Static).update(f"{runs} run is here")
"""
ROW = """
    Room(
        "tally", "Tally", "screens.tally.tally:TallyScreen", sees_outcomes, "f13", "How many runs are here", ("tally",),
        for_blind_rater="if named",
    ),
"""
WALK = """
import asyncio
import os
from pathlib import Path

from lab.core.settings import Settings
from screens.app import LabApp
from screens.keymap import named_bindings
from store.store import Store


async def walk(store, seat):
    app = LabApp(store, Settings(seat=seat))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f13")
        for _ in range(1000):
            shown = app.screen.query("#tally")
            if not app.has_room("tally") or (shown and "is here" in str(shown.first().content)):
                break
            await asyncio.sleep(0.02)
        titles = [command.title for command in app.get_system_commands(app.screen)]
        print(app.current_mode, *[f"{one.content} {one.styles.height}" for one in shown], "Go to Tally" in titles)


with Store.open(Path(os.environ["HITLAB_DB"])) as store:
    asyncio.run(walk(store, "developer"))
    asyncio.run(walk(store, "rater"))
print(named_bindings()["app.tally"].tooltip)
"""


def test_a_screen_is_added(house: House) -> None:
    house.write("screens/tally/__init__.py", "")
    house.write("screens/tally/tally.py", SCREEN)
    house.write("screens/tally/tally.tcss", "/* Tally */\n#tally { height: 7; }\n")
    house.edit("screens/rooms.py", "\n_ROOMS = (\n", "\n_ROOMS = (" + ROW)
    assert house.python(WALK) == "tally 1 run is here 7 True\nhome False\nHow many runs are here\n"
