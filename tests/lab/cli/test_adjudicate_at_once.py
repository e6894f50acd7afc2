"""Many items settled in one act: by majority, where all but one agree, by one rater; reasons by id; taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lab.cli.main import main
from lab.core.study.protocol import Field, Option, Protocol, Reason
from lab.core.study.study import Study, Target, Unit
from store.store import Store
from tests.lab.fitting import fits
from tests.rated import rated

STATE = Field("state", "Done?", "nominal", (Option("yes"), Option("no")))
WELL = Field("well", "How well?", "ordinal", (Option("bad"), Option("fair"), Option("good")), per="unit")
REASONS = (Reason("cut", "The recording was cut off"), Reason("slip", "A slip of one rater"))
PROTOCOL = Protocol(
    "nodes", "Nodes", "run", (STATE, WELL), targets="tdg nodes", reasons=REASONS,
    words={"zh": {"reasons.slip": "一名标注者的疏忽"}},
)  # fmt: skip
TARGETS = (Target("open", "Open it"), Target("pay", "Pay"))
WORDS = {"y": "yes", "n": "no", "b": "bad", "f": "fair", "g": "good"}
SAID = {"u1": ("yyyn", "yynn", "bbbf"), "u2": ("nyyy", "yyyy", "bfgg"), "u3": ("yyyy", "nnny", "gggg")}
"""By unit what the four say of open, of pay, and how well it was done."""
CODES = ("R1", "R2", "R3", "R4")
Call = Callable[..., tuple[int, Any]]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    for name, value in (("SEAT", "designer"), ("DB", str(tmp_path / "lab.db")), ("PERSON", "D1")):
        monkeypatch.setenv(f"HITLAB_{name}", value)
    monkeypatch.chdir(tmp_path)

    def called(*args: str) -> tuple[int, Any]:
        capfd.readouterr()
        try:
            code = main(["adjudicate", "trial", *args])
        except SystemExit as left:
            code = int(left.code or 0)
        said = capfd.readouterr()
        if "--json" not in args:
            return code, said.out + said.err
        found = json.loads(said.out)
        name = "adjudicate" if code == 0 else "error"
        fits(found, name)
        return code, found

    return called


def study(tmp_path: Path, **more: Any) -> Study:
    answers: dict[str, Any] = {code: {} for code in CODES}
    for unit, (opened, paid, well) in SAID.items():
        for at, code in enumerate(CODES):
            answers[code][unit] = {
                ("open", "state"): WORDS[opened[at]], ("pay", "state"): WORDS[paid[at]], ("", "well"): WORDS[well[at]],
            }  # fmt: skip
    units = [Unit(id, (f"run-{id}",), targets=TARGETS) for id in SAID]
    with Store.open(tmp_path / "lab.db") as store:
        return rated(store, units, PROTOCOL, answers, **more)


def standing(tmp_path: Path, plan: Study) -> dict[tuple[str, str, str], Any]:
    with Store.open(tmp_path / "lab.db", readonly=True) as store:
        settled = store.adjudications.settlements(plan)
    return {(unit, *spot): one.what.value for (unit, spot), one in settled.items()}


def rows(tmp_path: Path, plan: Study) -> int:
    with Store.open(tmp_path / "lab.db", readonly=True) as store:
        return sum(act.act == "adjudicated" for act in store.labels.acts(plan))


def test_all_with_a_majority_are_settled_and_the_rest_is_counted(call: Call, tmp_path: Path) -> None:
    plan = study(tmp_path)
    code, told = call("--majority", "--reason-id", "slip", "--json")
    assert code == 0
    assert standing(tmp_path, plan) == {
        ("u1", "open", "state"): "yes", ("u1", "", "well"): "bad", ("u2", "open", "state"): "yes",
        ("u3", "pay", "state"): "no",
    }  # fmt: skip
    assert told["left"] == {"no majority": 2}
    assert {one["reason"] for one in told["settled"]} == {"A slip of one rater"}
    assert {one["reason_id"] for one in told["settled"]} == {"slip"}
    assert len({one["batch"] for one in told["settled"]}) == 1
    assert rows(tmp_path, plan) == 4
    code, said = call("--majority", "--reason", "again")
    assert (code, "nothing that is open has a majority; nothing was done." in said) == (1, True)


def test_one_question_alone_and_all_but_one(call: Call, tmp_path: Path) -> None:
    plan = study(tmp_path)
    code, said = call("--all-but-one", "--field", "state", "--reason", "Cut short", "--reason-id", "cut")
    assert code == 0, said
    assert "The recording was cut off: Cut short" in said
    assert "left open: 1 (more than one differs)" in said
    assert set(standing(tmp_path, plan)) == {("u1", "open", "state"), ("u2", "open", "state"), ("u3", "pay", "state")}
    code, said = call("--majority", "--field", "stat", "--reason", "x")
    assert (code, "--field: 'stat' is none of" in said) == (1, True)


def test_undo_takes_a_batch_back_by_rows_but_for_what_was_settled_since(call: Call, tmp_path: Path) -> None:
    plan = study(tmp_path)
    assert call("--majority", "--reason", "most")[0] == 0
    assert call("--unit", "u1", "--target", "open", "--field", "state", "--value", "no", "--reason", "seen")[0] == 0
    code, told = call("--undo", "--json")
    assert code == 0
    assert len(told["settled"]) == 3
    assert all(one["withdrawn"] for one in told["settled"])
    assert standing(tmp_path, plan) == {("u1", "open", "state"): "no"}
    assert rows(tmp_path, plan) == 4 + 1 + 3, "nothing is changed or erased"
    code, said = call("--undo")
    assert (code, "nothing that D1 settled at once stands" in said) == (1, True)
    assert call("--majority", "--reason", "most")[0] == 0
    assert len(standing(tmp_path, plan)) == 4


def test_nobody_takes_anothers_batch_back(call: Call, tmp_path: Path) -> None:
    plan = study(tmp_path)
    assert call("--majority", "--reason", "most")[0] == 0
    code, said = call("--undo", "--as", "D2")
    assert (code, "nothing that D2 settled at once stands" in said) == (1, True)
    assert len(standing(tmp_path, plan)) == 4


def test_a_raters_answers_settle_only_where_the_study_names_raters(call: Call, tmp_path: Path) -> None:
    study(tmp_path)
    code, said = call("--by-rater", "R2", "--reason", "R2 is the expert")
    assert (code, "keeps hidden who said what" in said) == (1, True)
    plan = study(tmp_path, id="open", blind=("people", "models", "method", "outcome"))
    code, said = call("--by-rater", "R9", "--reason", "x")
    assert code == 1
    assert main(["adjudicate", "open", "--by-rater", "R9", "--reason", "x"]) == 1
    assert main(["adjudicate", "open", "--by-rater", "R2", "--reason", "R2 is the expert"]) == 0
    assert standing(tmp_path, plan) == {
        ("u1", "open", "state"): "yes", ("u1", "pay", "state"): "yes", ("u1", "", "well"): "bad",
        ("u2", "open", "state"): "yes", ("u2", "", "well"): "fair", ("u3", "pay", "state"): "no",
    }  # fmt: skip


def test_a_raters_answers_never_tell_a_letter(call: Call, tmp_path: Path, capfd: Any) -> None:
    """Of u1 and u2 other items would stay open, in which the letters of raters could be told from what was settled."""
    plan = study(tmp_path, blind=("people", "models", "method", "outcome"))
    code, told = call("--by-rater", "R2", "--field", "state", "--reason", "R2 is the expert", "--json")
    assert code == 0
    assert standing(tmp_path, plan) == {("u3", "pay", "state"): "no"}
    assert told["left"] == {"other items of the run would stay open": 3}


def test_who_rated_settles_nothing_of_it(call: Call, tmp_path: Path) -> None:
    plan = study(tmp_path)
    code, said = call("--majority", "--reason", "most", "--as", "R1")
    assert code == 1
    assert "not for you to settle" in said
    assert standing(tmp_path, plan) == {}


@pytest.mark.parametrize(
    ("args", "problem", "code"),
    [
        (("--majority",), "--majority needs --reason", 2),
        (("--majority", "--by-rater", "R1", "--reason", "x"), "--majority and --adopt-rater do not go together", 2),
        (("--majority", "--undo", "--reason", "x"), "--majority and --undo do not go together", 2),
        (("--undo", "--field", "state"), "--undo takes back all of a batch", 2),
        (("--all-but-one", "--undo"), "--all-but-one does not go with --undo", 2),
        (("--majority", "--unit", "u1", "--reason", "x"), "--unit does not go with --majority", 2),
        (("--majority", "--reason-id", "slipp"), "--reason-id: 'slipp' is none of", 1),
        (("--list", "--majority", "--reason", "x"), "--list does not go with --majority; nothing was done", 2),
        (("--list", "--undo"), "--list does not go with --undo; nothing was done", 2),
        (("--reason-id", "slip"), "--reason-id settles nothing alone", 2),
    ],
)
def test_what_does_not_go_together_is_said(
    call: Call, tmp_path: Path, args: tuple[str, ...], problem: str, code: int
) -> None:  # fmt: skip
    plan = study(tmp_path)
    found, said = call(*args)
    assert (found, problem in said) == (code, True), said
    assert standing(tmp_path, plan) == {}


def test_a_reason_is_known_by_the_words_it_begins_with() -> None:
    assert PROTOCOL.reason_id("en", "A slip of one rater, as its note says") == "slip"
    assert PROTOCOL.reason_id("zh", "一名标注者的疏忽") == "slip"
    assert PROTOCOL.reason_id("en", "Of my own") == ""
    assert replace(PROTOCOL, reasons=()).sha == msgspec.structs.replace(PROTOCOL, reasons=()).sha != PROTOCOL.sha
