"""`hitlab adjudicate` without a screen: the queue, one item, settling one, several, most, from a file, and gold."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from annotators.gold import read_gold, with_gold
from annotators.papers.marks import Marks
from annotators.protocols import protocol
from lab.cli.main import main
from lab.core.study.adjudication import count_of_answer
from lab.core.study.label import Act
from lab.core.study.study import Study, Target, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.settling.settled_runs import study_marks
from store.store import Store
from tests.lab.fitting import fits
from tests.lab.openings import openings
from tests.studied_runs import RUNS
from tests.studies import frozen, label

TDG = protocol("tdg")
TARGETS = (Target("open", "Open the app", kind="fixed"), Target("pay", "Pay", kind="flexible"))
CODES = ("ZR1code", "ZR2code", "ZR3code")
SAID = {
    "u1": {"open": "ccn", "pay": "ccc"},
    "u2": {"open": "cnn", "pay": "cn?"},
    "u3": {"open": "nnn", "pay": "ccc"},
}
"""By unit and item what the three people say: completed, not completed, cannot judge."""
WORDS = {"c": "completed", "n": "not_completed"}

Call = Callable[..., tuple[int, Any]]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    monkeypatch.setenv("HITLAB_PERSON", "D1")
    monkeypatch.chdir(tmp_path)
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add_all(RUNS)
        _study(store)
    return tmp_path / "lab.db"


def _study(store: Store, **more: Any) -> Study:
    units = [Unit(id, (run,), targets=TARGETS) for id, run in zip(SAID, ("a1", "a2", "b1"), strict=True)]
    plan = frozen(store, units, TDG, raters=CODES, id="s", seed=3, **more)
    for one in units:
        for target, said in SAID[one.id].items():
            for code, word in zip(CODES, said, strict=True):
                missing = {"reason_missing": "cannot_judge"} if word == "?" else {}
                by = Actor("human", code)
                evidence = f"{one.runs[0]}@{1 + 'cn?'.index(word)}"
                note = f"what {word} means" if one.id == "u2" else ""
                value = WORDS.get(word)
                given: dict[str, Any] = {"rater": by, "evidence": evidence, "note": note, **missing}
                store.labels.record(plan, one, label(plan, one, target, "state", value, **given))
        judge = Actor("model", "Zjudge")
        store.labels.record(plan, one, label(plan, one, "open", "state", "completed", rater=judge, config_sha="x"))
        for code in CODES:
            store.labels.record_act(Act(uuid7(), "s", 1, Actor("human", code), "commit", now(), one.id))
    store.labels.record_act(Act(uuid7(), "s", 1, Actor("human", "D1"), "locked", now()))
    return plan


@pytest.fixture
def call(file: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs `hitlab labels adjudicate`; what it prints as JSON is held against its schema."""

    def called(
        *args: str, shape: str = "adjudicate", stdin: str = "", study: str = "s", seat: str = "developer"
    ) -> tuple[int, Any]:
        monkeypatch.setenv("HITLAB_SEAT", seat)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        try:
            code = main(["adjudicate", study, *args])
        except SystemExit as left:
            code = int(left.code or 0)
        said = capsysbinary.readouterr()
        if "--json" not in args:
            return code, (said.out + said.err).decode()
        found = json.loads(said.out)
        fits(found, shape if code == 0 else "error")
        return code, found

    return called


def standing(file: Path) -> dict[tuple[str, str], Any]:
    with Store.open(file, readonly=True) as store:
        return {
            (unit, spot.target): one.what
            for (unit, spot), one in store.adjudications.settlements(store.studies.study("s")).items()
        }


def test_the_queue_says_what_differs_and_names_nobody(call: Call) -> None:
    code, found = call("--list", "--json", shape="adjudicate-list")
    assert code == 0
    assert {(one["unit"], one["target"]) for one in found["open"]} == {("u1", "open"), ("u2", "open"), ("u2", "pay")}
    by = {(one["unit"], one["target"]): one for one in found["open"]}
    assert by["u1", "open"]["majority"] == {"value": "completed", "missing": None, "people": 2}
    assert by["u2", "pay"]["majority"] is None
    assert [(one["value"], one["missing"]) for one in by["u2", "pay"]["said"]] == [
        ("completed", None), ("not_completed", None), (None, "cannot_judge"),
    ]  # fmt: skip
    assert all(one["moves"] > 0 for one in found["open"])
    words = call("--list")[1]
    assert "3 to settle, 2 of them with a majority; 0 settled" in words
    assert not any(name in words + json.dumps(found) for name in (*CODES, "Zjudge"))
    assert call("--list", "--field", "partial", "--json", shape="adjudicate-list")[1]["open"] == []
    assert "is none of state, partial, unlisted" in call("--list", "--field", "x")[1]


def test_one_item_is_shown_side_by_side_under_letters(call: Call) -> None:
    at = ("--unit", "u2", "--target", "pay", "--field", "state")
    code, found = call(*at, "--json", shape="adjudicate-unit")
    assert code == 0
    assert [one["rater"] for one in found["said"]] == ["A", "B", "C"]
    assert {(one["value"], one["missing"], one["step"], one["note"]) for one in found["said"]} == {
        ("completed", None, 1, "what c means"), ("not_completed", None, 2, "what n means"),
        (None, "cannot_judge", 3, "what ? means"),
    }  # fmt: skip
    assert found["judges"] == []
    _, open_ = call("--unit", "a2", "--target", "open", "--judges", "--json", shape="adjudicate-unit")
    assert [(one["rater"], one["value"]) for one in open_["judges"]] == [("J1", "completed")]
    words = call(*at)[1] + call("--unit", "u2", "--target", "open", "--judges")[1]
    assert not any(name in words + json.dumps([found, open_]) for name in (*CODES, "Zjudge"))


def test_one_is_settled_after_a_discussion(call: Call, file: Path) -> None:
    at = ("--unit", "u1", "--target", "open")
    mover = next(
        one["rater"]
        for one in call(*at, "--json", shape="adjudicate-unit")[1]["said"]
        if one["value"] == "not_completed"
    )
    code, found = call(
        *at, "--value", "completed", "--reason", "Step 1 shows it", "--minutes", "4",
        "--move", f"{mover}::completed:oversight", "--json",
    )  # fmt: skip
    assert code == 0
    told = found["settled"][0]
    assert (told["means"], told["minutes"], told["by"]) == ("discussion", 4.0, "D1")
    assert [(one["rater"], one["was"], one["now"], one["code"]) for one in told["moves"]] == [
        (mover, "not_completed", "completed", "oversight")
    ]
    assert standing(file)["u1", "open"].moves[0].rater == "ZR3code"
    words = call(*at)[1]
    assert f"moved     {mover}: not_completed -> completed (oversight)" in words
    assert "settled   completed by discussion, 4 min, D1: Step 1 shows it" in words
    assert "ZR3code" not in words + json.dumps(found)


def test_codes_are_told_once_a_unit_is_decided_where_the_study_does_not_hide_them(file: Path, call: Call) -> None:
    with Store.open(file) as store:
        frozen_again(store)
    settle = ("--value", "completed", "--reason", "x")
    shown = ("--unit", "u2", "--target", "open")
    assert not any(code in call(*shown, study="seen")[1] for code in CODES)
    call(*shown, *settle, study="seen")
    assert not any(code in call(*shown, study="seen")[1] for code in CODES), "another item of the run is still open"
    call("--unit", "u2", "--target", "pay", *settle, study="seen")
    assert all(code in call(*shown, study="seen")[1] for code in CODES)


def frozen_again(store: Store) -> None:
    """The same study that does not hide its raters."""
    plan = store.studies.study("s")
    units = list(store.studies.units(plan))
    again = frozen(store, units, TDG, raters=CODES, id="seen", blind=("people", "models"))
    for one in store.labels.read(plan):
        if one.rater.kind == "human":
            unit = store.studies.unit(again, one.unit)
            changes = {"study": "seen", "id": f"{one.id}x", "supersedes": None}
            store.labels.record(again, unit, msgspec.structs.replace(one, **changes))
    for unit in units:
        for code in CODES:
            store.labels.record_act(Act(uuid7(), "seen", 1, Actor("human", code), "commit", now(), unit.id))


def test_majority_settles_all_that_have_one(call: Call, file: Path) -> None:
    code, found = call("--majority", "--reason", "Most say so", "--field", "state", "--json")
    assert code == 0
    assert {(one["unit"], one["target"], one["value"], one["means"]) for one in found["settled"]} == {
        ("u1", "open", "completed", "majority"), ("u2", "open", "not_completed", "majority"),
    }  # fmt: skip
    assert "nothing that is open has a majority" in call("--majority", "--reason", "again")[1]
    _, left = call("--list", "--json", shape="adjudicate-list")
    assert [(one["unit"], one["target"]) for one in left["open"]] == [("u2", "pay")]
    assert len(left["settled"]) == 2


def test_a_file_settles_all_of_its_lines_or_none(call: Call, file: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"unit": "u1", "target": "open", "value": "completed", "reason": "Step 1"},
        {"unit": "a2", "target": "pay", "missing": "cannot_judge", "reason": "The run ends before"},
        {"unit": "u2", "target": "open", "value": "completed", "reason": "We talked", "minutes": 3,
         "moves": [{"rater": "A", "now": "completed", "code": "slip"}]},
    ]  # fmt: skip
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, [*rows, {**rows[0], "value": "maybe"}])))
    code, said = call("--from", "bad.jsonl")
    assert code == 1
    assert "'maybe' is none of completed, not_completed" in said
    assert standing(file) == {}
    code, found = call("--from", "-", "--json", stdin="\n".join(map(json.dumps, rows)))
    assert code == 0
    assert [one["means"] for one in found["settled"]] == ["adjudicator", "adjudicator", "discussion"]
    assert standing(file)["u2", "pay"].reason_missing == "cannot_judge"
    code, found = call(
        "--from", "-", "--json", stdin=json.dumps({"unit": "u1", "target": "open", "withdrawn": True, "reason": "no"})
    )
    assert (code, found["settled"][0]["withdrawn"]) == (0, True)
    assert ("u1", "open") not in standing(file)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1"),
        ('{"unit": "u1"}', "field"),
        ('{"unit": "u1", "target": "open", "reason": "x"}', "none of value, missing and withdrawn is told"),
        ('{"unit": "u1", "target": "open", "reason": "x", "value": "completed", "missing": "skipped"}', "2 of value"),
        ('{"unit": "u1", "reason": "x", "value": "completed"}', "field target: is not told"),
        ('{"unit": "zz", "target": "open", "reason": "x", "value": "completed"}', "'zz' is no unit"),
        ('{"unit": "u1", "target": "open", "reason": "", "value": "completed"}', "field reason: is empty"),
        ('{"unit": "u1", "target": "open", "reason": "x", "value": NaN}', "line 1"),
        ('{"unit": "u1", "target": "open", "reason": "x", "value": "completed", "extra": 1}', "extra"),
        ("", "holds no line"),
    ],
)
def test_a_line_that_does_not_fit_gets_a_sentence(call: Call, file: Path, line: str, words: str) -> None:
    code, said = call("--from", "-", stdin=line)
    assert code == 1
    assert words in said
    assert "Traceback" not in said
    assert standing(file) == {}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--value", "completed", "--reason", "x"], "--value needs --unit"),
        (["--unit", "u1", "--value", "completed"], "--value needs --reason"),
        (["--unit", "u1", "--value", "completed", "--withdraw", "--reason", "x"], "do not go together"),
        (["--unit", "u1", "--reason", "x"], "--reason settles nothing alone"),
        (["--unit", "u1", "--majority", "--reason", "x"], "--unit does not go with --majority"),
        (["--gold", "g.jsonl", "--list"], "--gold goes with --json alone"),
        (["--unit", "u1", "--target", "open", "--value", "x", "--reason", "x", "--move", "A"], "WHO:WAS:NOW:CODE"),
        (["--unit", "u1", "--target", "open", "--value", "maybe", "--reason", "x"], "'maybe' is none of"),
        (["--unit", "u9"], "--unit: 'u9' is no unit"),
        (["--unit", "u1", "--target", "open", "--withdraw", "--reason", "x"], "nothing to withdraw"),
        ([], "there is no terminal here"),
        (["--list", "--as", "ZR1code"], "3 to settle"),
        (["--unit", "u1", "--target", "open", "--value", "completed", "--reason", "x", "--as", "ZR1code"], "rated it"),
    ],
)
def test_what_does_not_go_gets_a_sentence(call: Call, file: Path, args: list[str], words: str) -> None:
    code, said = call(*args)
    assert words in said
    assert code or "--list" in args
    assert standing(file) == {}


def test_where_nothing_is_handed_in_nothing_is_said_of_how_people_agree(file: Path, call: Call) -> None:
    with Store.open(file) as store:
        frozen(store, [Unit("v1", ("a1",), targets=TARGETS)], TDG, raters=CODES, id="later")
    code, said = call("--list", study="later")
    assert (code, said.splitlines()[-1]) == (0, "nothing to settle: people differ on nothing that is handed in")


def test_who_still_rates_sees_nothing_of_the_others(file: Path, call: Call) -> None:
    with Store.open(file) as store:
        frozen(store, [Unit("v1", ("a1",), targets=TARGETS)], TDG, raters=CODES, id="later")
    for more in (["--list"], ["--unit", "v1", "--target", "open"], ["--gold", "g.jsonl"]):
        assert "others' answers would sway them" in call("--as", "ZR1code", *more, study="later")[1]
    for seat in ("rater", "participant"):
        assert call("--list", seat=seat) == (1, f"hitlab: adjudicate: is not there for the seat {seat}.\n")


def test_what_only_tells_opens_the_file_only_to_read(call: Call, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call("--majority", "--reason", "Most say so", "--field", "state")
    opened = openings(monkeypatch)
    for told in (["--list"], ["--unit", "u2", "--target", "open"], ["--gold", "g.jsonl"]):
        assert call(*told)[0] == 0
    assert call("--json", shape="adjudicate-list")[0] == 0
    assert main(["judge", "s", "--model", "openai/x", "--dry-run"]) == 0
    assert opened
    assert all(opened)


def test_gold_is_what_a_later_pilot_reads(call: Call, file: Path, tmp_path: Path) -> None:
    assert "nothing is settled yet" in call("--gold", "g.jsonl")[1]
    call("--majority", "--reason", "Most say so", "--field", "state")
    call("--unit", "u2", "--target", "pay", "--missing", "cannot_judge", "--reason", "It ends before")
    code, found = call("--gold", "g.jsonl", "--json", shape="adjudicate-gold")
    assert (code, found) == (0, {"path": "g.jsonl", "lines": 2})
    with Store.open(file, readonly=True) as store:
        units = with_gold(TDG, list(store.studies.units(store.studies.study("s"))), read_gold(tmp_path / "g.jsonl"))
    assert {unit.id: [(gold.target, gold.value, gold.reason) for gold in unit.gold] for unit in units} == {
        "u1": [("open", "completed", "Most say so")],
        "u2": [("open", "not_completed", "Most say so")],
        "u3": [],
    }
    assert "is there already" in call("--gold", "g.jsonl")[1]


def opened(marks: dict[str, tuple[str, Marks]]) -> int | None:
    """The step at which a1 is held to have opened the app."""
    nodes = marks["a1"][1].nodes
    assert nodes is not None
    return nodes["open"]


def test_metrics_count_what_was_adjudicated(call: Call, file: Path) -> None:
    with Store.open(file, readonly=True) as store:
        before, whose = study_marks(store, "s", "")
        assert "adjudicated" not in whose
    assert opened(before) == 1
    call("--unit", "u1", "--target", "open", "--value", "not_completed", "--reason", "The app never opened")
    with Store.open(file, readonly=True) as store:
        after, whose = study_marks(store, "s", "")
        alone, of_one = study_marks(store, "s", "ZR1code")
    assert opened(after) is None
    assert "1 item adjudicated" in whose
    assert opened(alone) == 1, "one rater's word stays that rater's"
    assert "adjudicated" not in of_one


def test_a_strangers_words_are_plain(call: Call, file: Path) -> None:
    code, said = call(
        "--unit", "u1", "--target", "open", "--value", "completed", "--reason", "\x1b]0;x\x07[bold]so[/bold]\nnext"
    )
    assert code == 0
    assert "\x1b" not in said
    assert "[bold]so[/bold]" in said
    assert "\x1b" not in call("--unit", "u1", "--target", "open")[1]


def test_how_many_say_a_number_is_not_read_as_a_number() -> None:
    assert [count_of_answer(2, says) for says in ("completed", "35", "-1", "step 5")] == [
        "2 completed", "2 × 35", "2 × -1", "2 × step 5",
    ]  # fmt: skip
