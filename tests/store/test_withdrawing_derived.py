"""What was made of a withdrawn person's answers goes with them: items on disagreements, majorities, quotations."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab.core.redaction.text_redaction import WITHDRAWN
from store.store import Store
from tests.replied import Hitlab, bytes_of, hitlab, keep, replied


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "lab.db"
    keep(path, *(replied(f"run-{i}", said=f"reply {i}", typed=f"typed {i}") for i in range(3)))
    return path


def shown(run: Hitlab, study: str) -> Any:
    code, out, err = run("study", "show", study, "--json")
    assert code == 0, err
    return json.loads(out)


def rate(run: Hitlab, study: str, rater: str, *values: str, note: str = "") -> None:
    """One choice an item, in the items' order, each handed in."""
    plan = shown(run, study)
    asked = next(field for field in plan["plan"]["protocol"]["fields"] if field["kind"] in ("nominal", "ordinal"))["id"]
    rows = []
    for unit, value in zip(plan["units"], values, strict=True):
        places = [target["id"] for target in unit["targets"]] or [""]
        said = [{"target": place, "value": value, "note": note} for place in places]
        rows += [{"unit": unit["id"], "field": asked, "run": 1, **one} for one in said]
        rows[-1]["commit"] = True
    code, _, err = run("label", study, "--as", rater, stdin="\n".join(map(json.dumps, rows)))
    assert code == 0, err


@pytest.fixture
def call(db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hitlab:
    """Three rated three runs: R3 is alone on the first, all agree on the second, R3 makes the majority on the third."""
    run = hitlab(db, capsys, monkeypatch)
    assert (
        run(
            "study",
            "new",
            "success",
            "--even-so",
            "--runs",
            "all",
            "--raters",
            "R1,R2,R3",
            "--overlap",
            "3",
            "--name",
            "s",
        )[0]
        == 0
    )
    assert run("study", "deal", "s")[0] == 0
    yes, no = [one["id"] for one in shown(run, "s")["plan"]["protocol"]["fields"][0]["options"]][:2]
    rate(run, "s", "R1", yes, yes, yes)
    rate(run, "s", "R2", yes, yes, no)
    rate(run, "s", "R3", no, yes, no, note="a red bag")
    return run


def causes(run: Hitlab) -> None:
    words = ("--name", "causes", "--earlier", "s", "--raters", "C1")
    assert run("study", "new", "disagreement-cause", *words)[0] == 0
    assert run("study", "deal", "causes")[0] == 0
    rate(run, "causes", "C1", *["slip"] * len(shown(run, "causes")["units"]))


def details(db: Path) -> list[str]:
    with Store.open(db) as store:
        return [target.detail for unit in store.studies.units(store.studies.study("causes")) for target in unit.targets]


def test_items_made_of_their_answers_are_told_and_go(db: Path, call: Hitlab) -> None:
    causes(call)
    assert any("1 x" in detail and "2 x" in detail for detail in details(db))
    assert json.loads(call("withdraw", "R3", "--show", "--json")[1])["counts"]["units"] == 2
    assert "were made of their answers" in call("withdraw", "R3", "--show")[1]
    assert call("withdraw", "R3", "--yes")[0] == 0
    assert details(db) == []
    assert b"1 x " not in bytes_of(db)
    assert b"2 x " not in bytes_of(db)


def test_items_made_without_them_stay(db: Path, call: Hitlab) -> None:
    causes(call)
    before = details(db)
    assert call("withdraw", "C1", "--yes")[0] == 0
    assert details(db) == before


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_no_copy_brings_them_back(
    db: Path, call: Hitlab, tmp_path: Path, order: tuple[int, int], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    causes(call)
    kit, other = tmp_path / "C1.db", tmp_path / "other.db"
    assert call("study", "kit", "causes", "--rater", "C1", "--out", str(kit))[0] == 0
    shutil.copy(db, other)
    assert call("withdraw", "R3", "--yes")[0] == 0
    assert call("study", "take", str(kit))[0] == 0
    whole = tmp_path / "whole" / "whole.db"
    whole.parent.mkdir()
    merged = hitlab(whole, capsys, monkeypatch)
    code, _, err = merged("merge", *(str((db, other)[at]) for at in order))
    assert code == 0, err
    assert details(whole) == []
    assert b"2 x " not in bytes_of(db, whole)


def settled(db: Path) -> dict[str, str]:
    """The reason of what is settled, by item."""
    with Store.open(db) as store:
        return {
            unit: one.what.reason
            for (unit, _), one in store.adjudications.settlements(store.studies.study("s")).items()
        }


def test_a_majority_that_they_made_is_none_any_more(db: Path, call: Hitlab) -> None:
    assert call("adjudicate", "s", "--as", "D1", "--majority", "--reason", "most say so")[0] == 0
    assert set(settled(db)) == {"run-0", "run-2"}
    assert json.loads(call("withdraw", "R3", "--show", "--json")[1])["counts"]["settlements"] == 1
    assert call("withdraw", "R3", "--yes")[0] == 0
    assert set(settled(db)) == {"run-0"}


def test_a_short_quotation_goes_from_a_reason_and_the_reason_stays(db: Path, call: Hitlab) -> None:
    place = ("--unit", "run-2", "--field", "outcome", "--value", "failure")
    code, _, err = call("adjudicate", "s", "--as", "D1", *place, "--reason", "one wrote: a red bag, and it was blue")
    assert code == 0, err
    told = call("withdraw", "R3", "--show")[1]
    assert "A shorter text of theirs is taken out" in told
    assert "answers, notes and reasons of others that quote or name them" in told
    assert call("withdraw", "R3", "--yes")[0] == 0
    assert settled(db) == {"run-2": f"one wrote: {WITHDRAWN}, and it was blue"}
    assert b"a red bag" not in bytes_of(db)
