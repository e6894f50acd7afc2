"""`hitlab file merge`: what it says, what it prints with --json, and who may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.cli.main import main
from lab.core.study.label import Act
from lab.core.study.study import Gold
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.erasing.withdrawal import withdraw
from store.store import Store
from tests.merging import say
from tests.store.test_merging import STATE, UNITS
from tests.studies import R1, frozen, unit
from tests.withdrawals import CODE, fill

Out = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two copies of a study, in both of which R1 rated the same."""
    with Store.open(tmp_path / "A.db") as store:
        frozen(store, UNITS)
        store.pack(tmp_path / "B.db")
    for name in ("A.db", "B.db"):
        with Store.open(tmp_path / name) as store:
            say(store, store.studies.study("trial"), UNITS[0], "R1", STATE, "completed")
    return [str(tmp_path / "A.db"), str(tmp_path / "B.db")]


def test_it_says_what_came_in_and_what_its_raters_have_to_settle(tmp_path: Path, files: list[str], capsys: Out) -> None:
    out = str(tmp_path / "whole.db")
    assert main(["merge", *files, "--db", out]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{out}: 2 files brought together\n")
    assert "2 answers, with their history" in said
    assert "1 place has two last words of one rater, who settles them on opening the study" in said
    assert "R1 in trial v1: state of open in u1\n" in said
    assert main(["merge", *files, "--db", out]) == 0
    assert "nothing new" in capsys.readouterr().out


def test_with_json_it_is_one_document(tmp_path: Path, files: list[str], capsys: Out) -> None:
    out = str(tmp_path / "whole.db")
    assert main(["merge", *files, "--db", out, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["came"] == {"studies": 1, "units": 3, "dealt": 6, "labels": 2}
    assert told["clashes"] == [
        {
            "study": "trial",
            "version": 1,
            "rater": "R1",
            "unit": "u1",
            "run": 1,
            "target": "open",
            "field": "state",
            "handed_in": False,
        }
    ]
    assert (told["db"], told["files"], told["gone"], told["kits"]) == (out, files, {}, [])


def test_what_is_refused_is_one_sentence_and_makes_no_file(tmp_path: Path, files: list[str], capsys: Out) -> None:
    out = tmp_path / "whole.db"
    assert main(["merge", files[0], str(tmp_path / "nowhere.db"), "--db", str(out)]) == 1
    assert capsys.readouterr().err == f"hitlab: database {tmp_path / 'nowhere.db'}: is not there.\n"
    assert not out.exists()
    assert main(["merge", files[0], "--db", str(tmp_path / "no" / "whole.db")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_a_blind_seat_merges_nothing(
    tmp_path: Path, files: list[str], capsys: Out, monkeypatch: pytest.MonkeyPatch, seat: str
) -> None:
    monkeypatch.setenv("HITLAB_SEAT", seat)
    assert main(["merge", *files, "--db", str(tmp_path / "whole.db")]) == 1
    assert capsys.readouterr().err == f"hitlab: merge: is not there for the seat {seat}.\n"
    assert not (tmp_path / "whole.db").exists()


def test_who_withdrew_elsewhere_is_told_with_what_went(tmp_path: Path, capsys: Out) -> None:
    with Store.open(tmp_path / "A.db") as store:
        filled = fill(store, tmp_path)
        store.pack(tmp_path / "B.db")
    with Store.open(tmp_path / "B.db") as store:
        withdraw(store, CODE, Actor("human", "D01"))
    assert main(["merge", str(tmp_path / "B.db"), "--db", str(tmp_path / "A.db")]) == 0
    said = capsys.readouterr()
    assert f"{CODE} withdrew elsewhere and is taken out here, too" in said.out
    assert "10 went: answers of theirs in studies, with their history" in said.out
    assert str(filled.outside) in said.err


def test_of_what_showed_what_is_right_it_does_not_say_that_its_rater_settles_it(tmp_path: Path, capsys: Out) -> None:
    units = [unit("u1", gold=(Gold("open", "state", "completed", "it opens"),), pilot=True), *UNITS[1:]]
    with Store.open(tmp_path / "A.db") as store:
        plan = frozen(store, units)
        store.pack(tmp_path / "B.db")
    for name, value in (("A.db", "completed"), ("B.db", "not_completed")):
        with Store.open(tmp_path / name) as store:
            say(store, plan, units[0], "R1", STATE, value)
            store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))
    files = [str(tmp_path / name) for name in ("A.db", "B.db")]
    assert main(["merge", *files, "--db", str(tmp_path / "whole.db")]) == 0
    said = capsys.readouterr().out
    assert "1 of these stay open: what is right was shown there" in " ".join(said.split())
    assert "R1 in trial v1: state of open in u1, handed in\n" in said
