"""The weights of a task's rules stand wherever a score is told in full: `tasks`, `show`, Replay, and Live's end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lab.cli.main import main
from store.store import Store
from tests.screens.replay.test_replay import Until, at, replay
from tests.screens.runs import painted


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    path = str(tmp_path / "lab.db")
    assert main(["run", "usual_lunch", "--agent", "playbook:wrong-dish", "--db", path]) == 0
    return path


async def test_a_score_is_told_with_the_weights_that_it_follows_from(
    db: str, capsys: pytest.CaptureFixture[str], until: Until
) -> None:
    capsys.readouterr()
    with Store.open(Path(db)) as store:
        (run,) = (one.id for one in store.runs.summaries())
        assert main(["show", run, "--db", db]) == 0
        told = capsys.readouterr().out
        rules = re.findall(r"([✓✗]) (.+) \(weight ([0-9.]+)\)", told)
        held = sum(float(weight) for mark, _, weight in rules if mark == "✓")
        total = sum(float(weight) for _, _, weight in rules)
        sentence = f"The score is the weight of the rules that held over that of all: {held:g} of {total:g}."
        assert sentence in told
        assert f"score {held / total:g}" in told
        assert len(rules) == 9
        app = replay(store, run)
        async with app.run_test(size=(160, 60)) as pilot:
            await until(pilot, lambda: at(app, "Step 1"))
            await pilot.press("end")
            await until(pilot, lambda: at(app, "The end"))
            seen = " ".join(painted(app).split())
            assert "it is the usual dish (weight 2)" in seen
            assert f"{held:g} of {total:g}." in seen
    assert main(["tasks", "usual_lunch", "--json"]) == 0
    (task,) = json.loads(capsys.readouterr().out)
    weights = {rule["name"]: rule["weight"] for rule in task["rules"]}
    assert {name: float(weight) for _, name, weight in rules}.items() <= weights.items()
    assert main(["tasks", "usual_lunch"]) == 0
    assert re.search(r"it is the usual dish +2 +where nothing was refused", capsys.readouterr().out)


def test_a_participant_is_told_no_rules(
    db: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITLAB_SEAT", "participant")
    capsys.readouterr()
    assert main(["tasks", "usual_lunch"]) == 0
    assert "usual dish" not in capsys.readouterr().out
    assert main(["tasks", "usual_lunch", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["rules"] == []
