"""One spelling of an action for programs, playbooks and forks; what a stuck playbook and an unscripted task say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.lab.programs import program

__all__ = ["hitlab"]

TASK = """\
kind: general
instruction: Open the settings
budget: 12
checks: [{name: open, path: nav.app, equals: settings}]
"""
SETTINGS = "- open: Settings\n"


def tree_of(hitlab: Hitlab, run: str, step: int) -> list[Any]:
    """The elements of the screen before a step (from 0), in drawing order."""
    flat: list[Any] = []

    def walk(nodes: list[Any]) -> None:
        for node in nodes:
            flat.append(node)
            walk(node.get("children", []))

    walk(hitlab("show", run, "--json").json["steps"][step]["before"]["tree"]["roots"])
    return flat


def own_task(folder: Path, moves: str, name: str = "own") -> str:
    lines = "".join(f"  {line}\n" for line in moves.splitlines())
    (folder / f"{name}.yaml").write_text(f"{TASK}playbook:\n{lines}", encoding="utf-8")
    return str(folder / f"{name}.yaml")


def made(hitlab: Hitlab, task: str, *words: str) -> Any:
    """A run without a screen, as `show` gives it."""
    done = hitlab("live", task, "--headless", "--json", *words)
    assert done.code == 0, done.err
    return hitlab("show", done.json["trace"], "--json").json


def test_a_fork_takes_an_element_by_its_number(hitlab: Hitlab, tmp_path: Path) -> None:
    run = made(hitlab, own_task(tmp_path, SETTINGS))["id"]
    nodes = tree_of(hitlab, run, 0)
    number = next(i for i, node in enumerate(nodes) if node.get("text") == "Settings")
    left, top, right, bottom = nodes[number]["bounds"]
    line = {"line": "action", "kind": "click", "node": number, "thought": "as a program says it"}
    forked = hitlab("fork", f"{run}@1", "--action", json.dumps(line), "--user", "script", "--json")
    assert forked.code == 0, forked.err
    action = hitlab("show", forked.json["trace"], "--json").json["steps"][0]["decision"]["action"]
    assert left <= action["at"][0] < right
    assert top <= action["at"][1] < bottom
    assert action["raw"] == {"node": number}


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"kind": "click", "node": 99999}, "field node: there is no element 99999; the last is"),
        ({"kind": "click", "node": 1, "at": [1, 1]}, "field node: names a target that at names too"),
        ({"kind": "click", "nod": 1}, "did you mean node?"),
        ({"kind": "drag", "node": "x"}, "field node:"),
    ],
)
def test_an_element_that_is_not_there_forks_nothing(
    hitlab: Hitlab, tmp_path: Path, action: dict[str, Any], words: str
) -> None:
    run = made(hitlab, own_task(tmp_path, SETTINGS))["id"]
    done = hitlab("fork", f"{run}@1", "--action", json.dumps(action), "--user", "script", "--json")
    assert done.code != 0
    assert words in done.err
    assert len(hitlab("traces", "--json").json) == 1


def test_a_playbook_takes_actions_as_programs_write_them(hitlab: Hitlab, tmp_path: Path) -> None:
    moves = SETTINGS + "- {kind: click, at: [540, 1200]}\n- {kind: navigate_back}\n- {kind: wait, ms: 5}\n- back\n"
    run = made(hitlab, own_task(tmp_path, moves + "- {kind: open_app, app: Notes}\n- {kind: answer, text: Done.}\n"))
    actions = [step["proposed"]["action"] for step in run["steps"]]
    assert actions[-6:] == [
        {"kind": "click", "at": [540, 1200]}, {"kind": "navigate_back"}, {"kind": "wait", "ms": 5},
        {"kind": "navigate_back"}, {"kind": "open_app", "app": "Notes"}, {"kind": "answer", "text": "Done."},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ("- {kind: click}", "field playbook[0].at: click needs at or node"),
        ("- {kind: drag, at: [1, 2]}", "field playbook[0].to: drag needs to or to_node"),
        ("- {tap: Settings, node: 3}", "field playbook[0].node: belongs to kind, not to tap"),
        ("- {kind: wait, ms: -1}", "field playbook[0].ms: -1 is not 0 to 3,600,000"),
        ("- {kind: tap, at: [1, 2]}", "field playbook[0].kind"),
    ],
)
def test_an_action_in_a_playbook_that_is_none_names_its_field(
    hitlab: Hitlab, tmp_path: Path, move: str, words: str
) -> None:
    done = hitlab("live", own_task(tmp_path, move), "--headless")
    assert done.code != 0
    assert words in done.err


def test_a_stuck_playbook_says_so_where_its_run_ends(hitlab: Hitlab, tmp_path: Path) -> None:
    run = made(hitlab, own_task(tmp_path, "- tap: Nosuchthing"))
    assert run["ended"]["status"] == "completed"
    assert run["ended"]["score"] == 0
    assert run["ended"]["reason"].startswith("the agent gave up: I do not find 'Nosuchthing' on the screen")
    assert "the agent gave up: I do not find 'Nosuchthing'" in hitlab("show", run["id"]).out
    ended = made(hitlab, own_task(tmp_path, "- done: No."))["ended"]
    assert "gave up" not in ended.get("reason", "")


def test_a_task_of_ones_own_needs_no_script_until_it_asks(hitlab: Hitlab, tmp_path: Path) -> None:
    task = own_task(tmp_path, SETTINGS)
    assert made(hitlab, task)["ended"]["score"] == 1
    assert hitlab("run", task).code == 0
    ends = 'observed()\nsay(kind="status", status="complete")\nobserved()'
    assert made(hitlab, task, "--agent", program(tmp_path, ends))["status"] == "completed"
    asks = made(hitlab, own_task(tmp_path, "- ask: Light or dark?", "asks"))
    assert asks["status"] == "failed"
    assert 'task asks: has no script, and the agent asks: "Light or dark?"' in asks["ended"]["reason"]
    assert "--user script:FILE or model:NAME answers." in asks["ended"]["reason"]
    assert "script 'asks'" in hitlab("run", str(tmp_path / "asks.yaml")).err
