"""The keymap of the settings: it moves bindings as the README says, and says what it cannot do."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.settings import Settings, settings_file
from screens.app import LabApp
from screens.author.author import AuthorScreen
from screens.keymap import keymap_of, named_bindings
from store.store import Store
from tests.crossed import soak
from tests.screens.runs import painted


async def test_one_key_in_the_place_of_ctrl_x_pauses_and_ends_and_every_screen_says_so(
    live: Any, until: Any, cast: Any
) -> None:
    agent = cast.Cast((cast.TAP, ""), held=True)
    app = live(agent=agent, settings=Settings(keymap={"run.pause": "f12"}))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.shows("F12 Pause") or app.shows("f12 Pause"))
        await pilot.press("f12")
        await until(pilot, lambda: app.shows("paused: F12 again ends the run, ctrl+r goes on"))
        assert app.current_mode == "live"
        await pilot.press("ctrl+x")
        assert not app.session.over
        await pilot.press("f12")
        await until(pilot, lambda: app.session.over)
        assert app.current_mode == "live"
        agent.go.set()


def test_what_stood_on_the_same_key_stays_there() -> None:
    """The key `a` adds in a draft and accepts in a review."""
    moved = keymap_of({"author.add": "n"}).keys
    assert moved == {"author.add": "n", "author.accept": "a"}
    keys = AuthorScreen._merged_bindings.copy()  # type: ignore[union-attr]
    assert not keys.apply_keymap(moved).clashed_bindings
    assert [binding.id for binding in keys.key_to_bindings["a"]] == ["author.accept"]
    assert "author.add" in [binding.id for binding in keys.key_to_bindings["n"]]


@pytest.mark.parametrize(
    ("keymap", "said"),
    [
        (
            {"run.paus": "f12"},
            "field keymap: 'run.paus' is no binding; did you mean run.pause? `hitlab settings keys` lists them.",
        ),
        ({"zzz": "f12"}, "field keymap: 'zzz' is no binding. `hitlab settings keys` lists them."),
        ({"run.pause": "contrl+x"}, "field keymap: run.pause = 'contrl+x': 'contrl+x' is no key. Keys are written as"),
        ({"run.pause": "f12,f99"}, "'f99' is no key"),
        ({"run.pause": ""}, "'' is no key"),
    ],
)
def test_a_keymap_that_names_what_is_none_is_one_sentence_before_any_screen(
    store: Store, keymap: dict[str, str], said: str
) -> None:
    with pytest.raises(LabError) as refused:
        LabApp(store, Settings(keymap=keymap))
    assert said in refused.value.sentence


@pytest.mark.parametrize("key", ["ctrl+x", "f12", "A", "?", "question_mark", "shift+enter", "space", "alt+o", "plus"])
def test_keys_are_written_as_textual_writes_them(key: str) -> None:
    assert keymap_of({"home.filter": key}).keys["home.filter"] == key


async def test_what_loses_its_last_key_is_said_at_the_start(full: Store, until: Any) -> None:
    app = LabApp(full, Settings(keymap={"app.replay": "f9"}))
    async with app.run_test(notifications=True) as pilot:
        said = "Author (app.author) has no key: app.replay stands on f9."
        await until(pilot, lambda: said in [toast.message for toast in app._notifications])


def test_every_binding_is_listed_and_a_wrong_keymap_is_said_beside_the_list(
    capfd: pytest.CaptureFixture[str],
) -> None:
    from lab.cli.main import main

    assert main(["keys", "--json"]) == 0
    lines = {line["id"]: line for line in json.loads(capfd.readouterr().out)}
    assert lines.keys() == named_bindings().keys()
    assert lines["run.pause"]["keys"] == "ctrl+x"
    path = Path(settings_file())
    path.parent.mkdir(parents=True)
    path.write_text('[keymap]\n"run.pause" = "f12"\n')
    assert main(["keys", "--json"]) == 0
    lines = {line["id"]: line for line in json.loads(capfd.readouterr().out)}
    assert [lines[id]["keys"] for id in ("run.pause", "run.end", "run.resume")] == ["f12", "f12", "ctrl+r"]
    assert lines["run.end"]["usual"] == "ctrl+x"
    path.write_text('[keymap]\n"run.paus" = "f12"\n')
    assert main(["keys"]) == 3
    told = capfd.readouterr()
    assert "run.pause" in told.out
    assert "'run.paus' is no binding" in told.err


MOVED = {
    "app.home": "ctrl+f2", "app.live": "ctrl+f3", "app.agreement": "ctrl+f6", "app.raters": "ctrl+f8",
    "app.runs": "ctrl+f11", "app.quit": "Q", "home.author": "ctrl+a", "studies.agreement": "ctrl+a",
    "runs.compare": "ctrl+k", "run.pause": "ctrl+t", "quit.yes": "Y", "quit.no": "N",
}  # fmt: skip
EMPTY = ["live", "annotate", "agreement", "adjudicate", "raters", "compare"]
"""Rooms that have nothing to open from Home; Replay opens the run under the cursor, Author its design."""


async def test_a_room_in_which_nothing_is_open_names_the_keys_as_they_are_bound_now(full: Store, until: Any) -> None:
    app = LabApp(full, Settings(person="D1", keymap=MOVED))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.current_mode == "home" and app.is_running)
        said = ""
        for name in EMPTY:
            with pytest.raises(LabError) as refused:
                app.action_show(name)
            said += refused.value.sentence
        assert said.count("ctrl+F2") == len(EMPTY) - 1
        assert "ctrl+k on two runs in Runs (ctrl+F11)" in said
        assert not re.search(r"(?<![+])(F\d+|\b[ac] on )", said)
        for name in ("agreement", "raters"):
            await app.switch_mode(name)
            await until(pilot, lambda: "No study is open: ctrl+a on a study in Home (ctrl+F2)" in painted(app))
        await app.switch_mode("live")
        await until(pilot, lambda: "Home (ctrl+F2)" in painted(app))


async def test_leaving_a_live_run_names_the_keys_as_they_are_bound_now(live: Any, until: Any) -> None:
    app = live(settings=Settings(keymap=MOVED), kind="general", gate="ask")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.gated)
        await pilot.press("escape")
        await until(pilot, lambda: "ctrl+F2 leaves it waiting" in painted(app))
        await pilot.press("Q")
        await until(pilot, lambda: "Y  leave it open and quit" in painted(app))
        assert "N    stay" in painted(app)
        await pilot.press("N")
        await until(pilot, lambda: "leave it open" not in painted(app))
        with pytest.raises(LabError) as refused:
            app.check_no_run()
        assert "ctrl+F3 shows it; ctrl+t twice ends it." in refused.value.sentence


def test_every_key_that_a_sentence_names_is_one_of_a_binding() -> None:
    """`{home.author}` in a sentence is a binding's id, `{list.up:k}` another one of its keys."""
    known, named = named_bindings(), set[tuple[str, str]]()
    for path in (Path(__file__).parents[3] / "screens").rglob("*.py"):
        texts = (node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant))
        for text in texts:
            named |= set(re.findall(r"\{([a-z]+\.[\w-]+)(?::([\w+]+))?\}", text)) if isinstance(text, str) else set()
    assert len(named) > 150
    assert not [f"{id}:{key}" for id, key in named if id not in known or key not in ["", *known[id].keys.split(",")]]


@soak
def test_a_keymap_is_read_without_every_screen_once_they_were_read(tmp_path: Path) -> None:
    """The first start with a keymap imports all screens; what it learns it leaves to the next."""
    words = (
        "import sys; from screens.keymap import keymap_of; "
        "print(*keymap_of({'author.add': 'n', 'app.replay': 'f9'}), 'screens.author.author' in sys.modules)"
    )
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    told = [subprocess.check_output([sys.executable, "-c", words], text=True, env=env).strip() for _ in range(2)]
    assert [line.rpartition(" ")[2] for line in told] == ["True", "False"]
    assert told[0].rpartition(" ")[0] == told[1].rpartition(" ")[0]
    [copy] = (tmp_path / "hitlab").iterdir()
    copy.write_bytes(copy.read_bytes()[:-1])
    assert subprocess.check_output([sys.executable, "-c", words], text=True, env=env).strip() == told[0]
