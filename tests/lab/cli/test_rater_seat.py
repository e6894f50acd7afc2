"""A rater's seat on the command line: no command tells what a rater must not see, and each is tried."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lab.cli.commands import all_commands
from lab.cli.main import main
from lab.core.study.label import Act
from lab.core.study.study import Assignment, Gold, Study, Target, sample_sha
from lab.core.task.task import Actor, Tdg, TdgNode
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.blind import RUN, SCORE, Planted, found, planted
from tests.crossed import IN_SOAK, crossed
from tests.studies import label, study, unit

R1, R2, MODEL = Actor("human", "R1"), Actor("human", "ZR2code"), Actor("model", "Zmodelname")
SAID = ("Zgoldreason", "Zsideword", "Zrulereason", "Znoteofother", "Znoteofmodel", "ZR2code", "Zmodelname", "Zplannote",
        "Zplanner", "Zlater", "Zcluster", "Zsettledwhy", "Zmovedwhy", str(SCORE), "0.739")  # fmt: skip
"""What others said, what is right, and the designer's words."""
OTHER = "0197cccc-0000-7000-8000-0000000000b2"

Call = Callable[..., tuple[int, str]]

ALONE = {
    "demo", "live", "run", "record", "settings scrcpy", "devices", "serve phone", "study new", "study kit import",
    "import", "settings completion",
}  # fmt: skip
"""Commands that make something new, or speak with phones: they tell of nothing that is stored."""
TRIED: dict[str, list[str]] = {
    "replay": [f"{RUN}", f"{RUN}@2"],
    "runs rename-agent": [f"{RUN} --to Qbaba", f"{RUN} --undo"],
    "runs fork": [f"{RUN}@2 --say x --headless --json"],
    "serve user": ["--list --all", "--list --all --json", f"--reply {RUN} --text x", f"--close {RUN}", "--room"],
    "runs family": [f"{RUN}", f"{RUN} --json"],
    "runs review": ["--list", f"{RUN} --show", f"{RUN} --show --json", f"{RUN}", f"{RUN} --accept 1"],
    "runs redact": [
        "--list", f"{RUN} --show", f"{RUN} --show --json", f"{RUN}", f"{RUN} --clear", f"{RUN} --text Qbaba",
    ],
    "tasks design": ["--list", f"{RUN} --show", f"{RUN} --begin run"],
    "study protocols": ["", "tdg", "tdg --json"],
    "study deal": ["s", "s --json"],
    "study extend": ["s --runs all --even-so", "s --runs all --even-so --json"],
    "study runs": ["s", "s --json"],
    "study status": ["", "--json", "s", "s --json"],
    "study watch": ["", "--json", "s", "s --json", "s --once", "s --open"],
    "study show": ["s", "s --json"],
    "study rate": ["s", "s --as R1", "s --as R9"],
    "study play": ["s --json"],
    "study lock": ["s", "s --even-so --json"],
    "study replace": ["s ZR2 --by R3", "s R1 --by R3 --json"],
    "study release": ["s R1", "s R1 --json"],
    "study archive": ["s", "s --json"],
    "study restore": ["s", "s --json"],
    "study links": ["s", "s --again R1 --json", "s --revoke R1", "s --watch", "s --no-watch --json"],
    "judge": [
        "s --validate", "s --validate --json", "s --model x --dry-run", "s --model x --show-prompt u1 --json",
        "s --model x",
    ],
    "serve study": ["--study s", "--study none", "--study s --watch"],
    "study kit export": ["s --rater R1 --out mine.db", "s --rater R9 --out theirs.db --json"],
    "labels list": [
        "s", "s --json", "s --history --acts --json", "s --csv", "s --pilot", "s --pilot --json", "s --rater R9",
        "s --past", "s --past --json", "s --find Znoteofother --json", "s --past --rater ZR2code --json",
        "s --unit u1 --history --json", "s --unit u2 --json", "s --unit u", "s --unit zz --json",
    ],
    "labels adjudicate": [
        "s --list", "s --list --json", "s", "s --as D1 --list", "s --unit u1 --target open --field state --json",
        "s --unit u1 --target open --field state --value completed --reason x --json", "s --majority --reason x",
        "s --from rows.jsonl", "s --gold gold.jsonl", "s --unit u1 --target open --field state --withdraw --reason x",
    ],
    "file withdraw": ["R9 --show", "R1 --show --json"],
    "traces": ["", "--json", "--archived", "--tag mine --json"],
    "runs show": [f"{RUN}", f"{RUN} --json", "0197"],
    "report": ["s", "s --md", "s --html", "s --json", "s --out r.md", "s --with s", "s --embed m", "none"],
    "agreement": ["s", "s --json", "s --bootstrap 200 --json", "none"],
    "study raters": ["s", "s --json"],
    "file merge": ["lab.db other.db", "other.db --db whole.db --json"],
    "file pack": ["copy.db", "copy2.db --json"],
    "export": [f"{RUN} --out out --json", "--all --out out"],
    "runs ocr": [f"{RUN}", "--all --json", "--study s --json"],
    "runs list": ["", "--json", "--archived --json", "score<1", "--group agent --json"],
    "runs tag": ["", "--json", f"{RUN} +mine", f"{RUN} -mine --json", "score<1 +mine --json"],
    "runs archive": [f"{RUN}", f"{RUN} --json", "score<1 --json"],
    "runs restore": [f"{RUN}", f"{RUN} --json"],
    "runs compare": [f"{RUN} {OTHER}", f"{RUN} {OTHER} --json"],
    "runs metrics": ["", "--json", "--study s --json", "--study s --rater R1 --csv", f"{RUN} --explain"],
    "tasks list": ["", "--json"],
    "tasks check": ["usual_lunch", "usual_lunch --json"],
    "settings show": ["", "--json"],
    "tasks personas": ["", "--json"],
    "settings keys": ["", "--json"],
    "file where": ["", "--json"],
    "settings doctor": ["", "--json"],
    "settings schema": ["", "run-result"],
}  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"unit": "u1", "target": "open", "field": "state", "value": "Zwrong"},
    {"unit": "u1", "target": "nowhere", "field": "state", "value": "completed"},
    {"unit": "u1", "target": "open", "field": "nothing", "value": "completed"},
    {"unit": "u1", "target": "pay", "field": "why", "value": "because"},
    {"unit": "u1", "target": "open", "field": "state", "value": "completed", "step": 99},
    {"unit": "u1", "target": "open", "field": "state", "value": "completed", "evidence": "0197@1"},
    {"unit": "u1", "field": "rating", "value": 1000},
    {"unit": "u1", "commit": True},
    {"unit": "u2", "target": "open", "field": "state", "value": "completed"},
    {"unit": "u2", "target": "pay", "field": "why", "value": "completed"},
    {"unit": "u2", "target": "open", "field": "state", "value": "completed", "step": 99},
    {"unit": "u", "target": "open", "field": "state", "value": "completed"},
    {"unit": "u1", "target": "open", "field": "state", "value": "completed", "rater": "R9"},
    {"unit": "u1", "target": "open", "field": "state", "value": "completed", "kind": "model"},
    {"unit": "u1", "undo": True},
    {"unit": "u1", "target": "open", "field": "state", "value": "not_completed", "evidence": f"{OTHER}@1"},
]
"""Rows by which a rater may feel their way."""


@pytest.fixture
def plants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Planted]:
    """Two runs in a file, of which R1 is dealt one, and others have said much of both."""
    monkeypatch.chdir(tmp_path)
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    plants = [planted(), planted(OTHER, "W")]
    with Store.open(tmp_path / "lab.db") as store:
        for one in plants:
            store.runs.add(one.run)
        _study(store)
    return plants


def _study(store: Store) -> Study:
    targets = (Target("open", "Open it"), Target("pay", "Pay it"))
    gold = (Gold("open", "state", "not_completed", "Zgoldreason"), Gold("pay", "state", "completed", "Zlater"))
    units = [
        unit("u1", runs=(RUN,), targets=targets, pilot=True, gold=gold, hidden={"A": "Zsideword"}, cluster="Zcluster",
             tdg=Tdg((TdgNode("open", "open", ""), TdgNode("pay", "pay", "")))),
        unit("u2", runs=(OTHER,), targets=targets, mechanical=(Gold("pay", "why", "Zlater", "Zrulereason"),)),
    ]  # fmt: skip
    plan = study(units, id="s", raters=("R1", R2.id), note="Zplannote", by=Actor("human", "Zplanner"), bar=0.5)
    plan = replace(plan, sample_sha=sample_sha(units))
    store.studies.freeze(plan, units)
    dealt = [("R1", 0, "u1"), (R2.id, 0, "u1"), (R2.id, 1, "u2")]
    store.studies.deal(
        plan, [Assignment("s", 1, who, at, of, "pilot" if of == "u1" else "main") for who, at, of in dealt]
    )
    for by, note in ((R2, "Znoteofother"), (MODEL, "Znoteofmodel")):
        store.labels.record(plan, units[0], label(plan, units[0], "open", "state", "completed", rater=by, note=note))
    store.labels.record(plan, units[0], label(plan, units[0], "open", "state", "completed", note="Mynote"))
    store.labels.record_act(Act(uuid7(), "s", 1, R2, "sat", now(), detail={"words": "Znoteofother"}))
    moves = [{"rater": R2.id, "was": "completed", "now": "not_completed", "why": "Zmovedwhy"}]
    told = {"target": "open", "field": "state", "by_means": "discussion", "value": "not_completed", "moves": moves}
    settled = Act(uuid7(), "s", 1, Actor("human", "Zplanner"), "adjudicated", now(), "u1", detail=told)
    store.labels.record_act(replace(settled, detail={**told, "reason": "Zsettledwhy"}))
    return plan


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs one command at a seat, with all that it said."""

    def called(seat: str, *args: str, stdin: str = "") -> tuple[int, str]:
        monkeypatch.setenv("HITLAB_SEAT", seat)
        monkeypatch.setenv("HITLAB_PERSON", "R1")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        try:
            code = main(args)
        except SystemExit as left:
            code = int(left.code or 0)
        said = capsys.readouterr()
        return code, said.out + said.err

    return called


def _commands() -> Iterator[str]:
    """Every command, as it is typed."""
    yield from (words for words, _ in all_commands())


def _hidden(plants: list[Planted]) -> set[str]:
    """On a command line a rater is told nothing of a run: every planted word, and what others said."""
    return {word for one in plants for word in one.words} | set(SAID)


def test_every_command_is_tried() -> None:
    assert {*_commands(), "traces"} == ALONE | TRIED.keys() | {"labels add"}


@crossed
@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_no_command_tells_who_rates_what_is_hidden(plants: list[Planted], call: Call, seat: str) -> None:
    """A rater tries all; a participant each command in one way, and in a soak in every way."""
    hidden = _hidden(plants)
    for command, tries in TRIED.items():
        for args in tries if seat == "rater" or IN_SOAK else tries[:1]:
            _, said = call(seat, *command.split(), *args.split())
            asked = set(found(hidden, args))
            assert (command, args, found(hidden, said) - asked) == (command, args, set())


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_a_stored_run_is_not_done_again_to_learn_how_it_ended(plants: list[Planted], call: Call, seat: str) -> None:
    for command in ("live usual_lunch --headless", "live usual_lunch --json", "run usual_lunch"):
        code, said = call(seat, *command.split(), "--agent", f"recorded:{RUN}")
        assert (code, f"is not there for the seat {seat}." in said, "score" in said) == (1, True, False)


def test_the_same_commands_tell_a_developer(plants: list[Planted], call: Call) -> None:
    """So the search above can find them: nearly every word of a run, what others said, and what a rule settled."""
    said = "".join(
        call("developer", *command.split(), *args.split())[1]
        for command in ("runs show", "traces", "labels list", "study status", "study show", "runs list")
        for args in TRIED[command]
    )
    words = found(_hidden(plants), said)
    assert {"ZR2code", "Zplannote", "Zplanner"} <= words
    assert len(words) > 100


def test_no_row_that_is_refused_tells_gold_or_what_others_said(plants: list[Planted], call: Call) -> None:
    hidden = {*SAID, "not_completed"} - {"Zwrong"}
    for row in ROWS:
        for more in ([], ["--json"]):
            _, said = call("rater", "label", "s", *more, stdin=json.dumps(row))
            options_told = row.get("value") in ("Zwrong", "not_completed") or row.get("field") == "why"
            known = {"not_completed"} if options_told else set()
            assert (row, found(hidden | plants[1].words.keys(), said) - known) == (row, set())
    _, said = call("rater", "label", "s", "--as", "R9", stdin=json.dumps(ROWS[0]))
    assert "labels of R9 cannot be given here, only those of R1" in said
    for config in (["--kind", "model", "--config", "x", "--as", "m"], ["--kind", "script", "--as", "m"]):
        assert "cannot be given here" in call("rater", "label", "s", *config, stdin=json.dumps(ROWS[0]))[1]


def test_gold_and_what_follows_come_with_handing_in_and_bar_the_way_back(plants: list[Planted], call: Call) -> None:
    before = call("rater", "labels", "s", "--pilot", "--json")[1] + call("rater", "labels", "s", "--acts", "--json")[1]
    assert found(["Zgoldreason", "not_completed"], before) == set()
    rows = [
        {"unit": "u1", "values": {"open": "completed", "pay": "completed"}, "field": "state"},
        {"unit": "u1", "field": "rating", "value": 50},
    ]
    code, said = call("rater", "label", "s", "--json", stdin="\n".join(map(json.dumps, rows)))
    assert code == 0
    assert found(["Zgoldreason"], said) == set()
    assert [line["derived"] for line in map(json.loads, filter(lambda at: at.startswith("{"), said.splitlines()))] == [
        [], [],
    ]  # fmt: skip
    code, said = call("rater", "label", "s", "--json", stdin='{"unit": "u1", "commit": true}')
    assert found(["Zgoldreason"], said) == {"Zgoldreason"}
    for row in ({"reopen": True}, {"undo": True}, {"target": "open", "field": "state", "value": "not_completed"}):
        assert call("rater", "label", "s", stdin=json.dumps({"unit": "u1", **row}))[0] == 1


def test_a_run_that_is_no_demonstration_is_not_looked_into_by_privacy(plants: list[Planted], call: Call) -> None:
    code, said = call("rater", "privacy", RUN, "--text", "Qbaba")
    assert code == 1
    assert "rates in a study here" in said


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_a_copy_of_everything_is_not_made_at_a_blind_seat(
    tmp_path: Path, plants: list[Planted], call: Call, seat: str
) -> None:
    assert call(seat, "pack", "copy.db") == (1, f"hitlab: pack: is not there for the seat {seat}.\n")
    assert not (tmp_path / "copy.db").exists()


def test_before_anything_is_dealt_a_rater_of_a_plan_looks_nothing_up_either(
    tmp_path: Path, plants: list[Planted]
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        plan = study([unit("u9", runs=(RUN,))], id="later", raters=("R7",))
        store.studies.freeze(plan, [unit("u9", runs=(RUN,))])
        assert store.studies.is_active_rater("R7")
        assert not store.studies.is_active_rater("R8")
        store.labels.record_act(Act(uuid7(), "later", 1, R1, "locked", now()))
        assert not store.studies.is_active_rater("R7")
