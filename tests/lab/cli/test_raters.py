"""`hitlab study raters`: a block for each rater, one JSON document, a sentence where there is nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lab.cli.main import main
from store.store import Store
from tests.annotators.test_raters import ASKED, SAID, UNITS, sheets
from tests.killing import ROOT
from tests.rated import rated
from tests.studies import frozen

Out = pytest.CaptureFixture[str]


@pytest.fixture
def db(tmp_path: Path) -> str:
    with Store.open(tmp_path / "lab.db") as store:
        said = {who: sheets(one) for who, one in SAID.items()}
        rated(store, UNITS, ASKED, {**said, "model:glass": sheets("yyyyyy")}, title="What [bold]is[/bold] right")
        frozen(store, UNITS, ASKED, id="nobody", raters=())
    return str(tmp_path / "lab.db")


def test_each_rater_is_told_with_every_number_its_interval_and_n(db: str, capsys: Out) -> None:
    assert main(["raters", "trial", "--db", db]) == 0
    said = capsys.readouterr().out
    assert said.startswith("trial v1: What [bold]is[/bold] right\n")
    blocks = said.split("\n\n")[1:]
    assert [block.split()[:2] for block in blocks] == [
        ["R1", "person"], ["R2", "person"], ["R3", "person"], ["glass", "judge"],
    ]  # fmt: skip
    lines = {line.strip().partition("  ")[0]: line.split() for line in blocks[1].splitlines()[3:]}
    assert lines["as the rest"][3:5] == ["75.0", "%"]
    assert lines["as the rest"][-4:] == ["4", "in", "4", "runs"]
    assert lines["drift"][1:3] == ["-50.0", "points"]
    assert "undefined: nothing rated twice" in blocks[1]
    assert "6 of 6 items handed in, 6 answers" in blocks[1]
    assert "pace: not known, no answer came by keys here" in blocks[1]
    assert "longest row of the same answer: 2 of 6 (y to ok)" in blocks[1]


def test_with_json_it_is_one_document_and_says_the_same(db: str, capsys: Out) -> None:
    assert main(["raters", "trial", "--db", db, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["rater"] for one in told["raters"]] == ["R1", "R2", "R3", "glass"]
    two = told["raters"][1]
    assert (two["rest"]["value"], two["rest"]["places"], two["rest"]["traces"]) == (0.75, 4, 4)
    assert two["gold"]["undefined"] == "no gold"
    assert two["seconds"] is None


def test_the_interval_is_made_as_it_is_asked_for(db: str, capsys: Out) -> None:
    assert main(["raters", "trial", "--db", db, "--json", "--bootstrap", "200", "--seed", "5"]) == 0
    first = capsys.readouterr().out
    told = json.loads(first)
    assert told["how"] == {"interval": "bootstrap", "resamples": 200, "seed": 5}
    assert main(["raters", "trial", "--db", db, "--json", "--bootstrap", "200", "--seed", "5"]) == 0
    assert capsys.readouterr().out == first


def test_what_is_not_there_is_a_sentence(db: str, tmp_path: Path, capsys: Out) -> None:
    assert main(["raters", "nobody", "--db", db]) == 0
    assert "Nobody was dealt anything yet, and nobody has answered." in capsys.readouterr().out
    assert main(["raters", "else", "--db", db]) == 1
    assert capsys.readouterr().err.startswith("hitlab: study else: is not in ")


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_codes_and_numbers_are_not_for_a_blind_seat(
    db: str, capsys: Out, monkeypatch: pytest.MonkeyPatch, seat: str
) -> None:
    monkeypatch.setenv("HITLAB_SEAT", seat)
    for words in (["raters", "trial", "--db", db], ["raters", "trial", "--db", db, "--json"]):
        assert main(words) == 1
        said = capsys.readouterr()
        assert said.err == f"hitlab: raters: is not there for the seat {seat}.\n"
        assert "R1" not in said.out
        assert "glass" not in said.out


def test_it_loads_no_screen(db: str) -> None:
    code = f"import sys\nimport lab.cli.main\nassert lab.cli.main.main(['raters', 'trial', '--db', {db!r}]) == 0\n"
    code += "sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not set(done.stderr.split()) & {"textual", "litellm", "PIL", "sqlite_utils", "av", "adbutils"}
