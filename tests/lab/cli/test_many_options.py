"""A question of many options without a screen: its file, answers in and out, agreement, a judge, what is settled."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotators.judging.question import JudgeView, UnusableJudgement
from annotators.judging.sheet_answer import answer_schema, read_sheet
from annotators.judging.sheet_prompt import sheet_question
from lab.cli.main import main
from lab.core.study.rating_sheet import current_labels
from lab.core.study.study import Study, Unit
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.store import Store
from tests.modes import PROTOCOL
from tests.rated import Answer, rated
from tests.studies import frozen

Call = Callable[..., tuple[int, str]]
UNITS = [Unit(f"u{at}", (f"run-u{at}",)) for at in (1, 2, 3)]
SAID: dict[str, list[list[str] | None]] = {
    "R1": [["ask", "plan"], [], ["memory"]],
    "R2": [["ask"], [], ["memory"]],
    "R3": [["plan"], ["misread"], None],
}


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_SEAT", "designer")
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    monkeypatch.setenv("HITLAB_PERSON", "D1")
    monkeypatch.chdir(tmp_path)

    def called(*args: str) -> tuple[int, str]:
        capfd.readouterr()
        try:
            code = main([*args])
        except SystemExit as left:
            code = int(left.code or 0)
        said = capfd.readouterr()
        return code, said.out + said.err

    return called


def sheets(said: dict[str, list[list[str] | None]]) -> dict[str, dict[str, dict[tuple[str, str], Any]]]:
    """Every run failed; None is a rater who cannot judge why."""

    def sheet(one: list[str] | None) -> dict[tuple[str, str], Any]:
        modes = Answer(missing="cannot_judge") if one is None else one
        what = {("", "what"): "The price."} if one is not None and "memory" in one else {}
        return {("", "failed"): "yes", ("", "modes"): modes, **what}

    return {name: {unit.id: sheet(one) for unit, one in zip(UNITS, each, strict=True)} for name, each in said.items()}


def rated_study(tmp_path: Path) -> Study:
    with Store.open(tmp_path / "lab.db") as store:
        return rated(store, UNITS, PROTOCOL, sheets(SAID), id="s")


def stands(tmp_path: Path, plan: Study, rater: str = "R1") -> dict[tuple[str, str], Any]:
    with Store.open(tmp_path / "lab.db", readonly=True) as store:
        rows = current_labels(store.labels.read(plan, rater=rater))
    return {(one.unit, one.field): one.reason_missing or one.value for one in rows}


def test_a_protocol_file_is_checked_and_printed(call: Call, tmp_path: Path) -> None:
    text = {
        "title": "Modes", "unit": "run",
        "fields": [{"id": "modes", "ask": "What went wrong?", "kind": "many", "least": 1, "most": 2,
                    "options": [{"id": "ask"}, {"id": "plan"}]}],
    }  # fmt: skip
    (tmp_path / "modes.yaml").write_text(yaml.safe_dump(text), "utf-8")
    code, said = call("protocols", "modes.yaml")
    assert code == 0
    assert "What went wrong? (modes: many, at least 1, at most 2)" in said
    code, said = call("protocols", "modes.yaml", "--yaml")
    assert (code, yaml.safe_load(said)["fields"][0]["kind"]) == (0, "many")


def test_rows_take_lists_and_texts_and_come_out_as_one_form(call: Call, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        plan = frozen(store, UNITS, PROTOCOL, id="s")
    given = [["memory", "ask"], "plan,ask", "[]"]
    rows = [
        {"unit": unit.id, "values": {"failed": "yes", "modes": value}} for unit, value in zip(UNITS, given, strict=True)
    ]
    rows[0]["values"]["what"] = "The price."  # type: ignore[index]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    code, said = call("label", "s", "rows.jsonl", "--as", "R1")
    assert code == 0, said
    assert "modes = ask,memory" in said
    assert "modes = none" in said
    kept = {("u1", "modes"): ["ask", "memory"], ("u2", "modes"): ["ask", "plan"], ("u3", "modes"): []}
    assert {place: value for place, value in stands(tmp_path, plan).items() if place[1] == "modes"} == kept
    again = json.loads(call("labels", "s", "--json")[1])
    (tmp_path / "again.jsonl").write_text(json.dumps(again), "utf-8")
    assert call("label", "s", "again.jsonl", "--as", "R1")[0] == 0
    table = list(csv.DictReader(io.StringIO(call("labels", "s", "--csv")[1])))
    cells = [row["value"] for row in table if row["field"] == "modes"]
    assert sorted(cells) == ['["ask", "memory"]', '["ask", "plan"]', "[]"]
    more = [{"unit": row["unit"], "field": "modes", "value": row["value"]} for row in table if row["field"] == "modes"]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in more), "utf-8")
    code, said = call("label", "s", "more.jsonl", "--as", "R1")
    assert (code, said.count("there already")) == (0, 4)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"field": "modes", "value": ["slow"]}, "'slow' is none of ask, misread, plan, memory"),
        ({"field": "modes", "value": ["ask", "misread", "plan", "memory"]}, "4 options chosen; at most 3 may be."),
        ({"field": "modes", "value": 3}, "3 is no list of options"),
        ({"field": "what", "value": "The price."}, "is not asked here (only where modes=memory)"),
    ],
)
def test_what_does_not_fit_changes_nothing(call: Call, tmp_path: Path, row: dict[str, Any], problem: str) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        plan = frozen(store, UNITS, PROTOCOL, id="s")
    lines = [{"unit": "u1", "field": "failed", "value": "yes"}, {"unit": "u1", **row}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    code, said = call("label", "s", "rows.jsonl", "--as", "R1")
    assert code == 3
    assert problem in said
    assert stands(tmp_path, plan) == {("u1", "failed"): "yes"}


def test_agreement_report_and_raters_tell_of_it(call: Call, tmp_path: Path) -> None:
    rated_study(tmp_path)
    code, said = call("agreement", "s")
    assert code == 0
    for words in ("alpha masi", "alpha jaccard", "option misread", "fleiss kappa", "n: 3 items, 3 runs, 3 raters"):
        assert words in said
    numbers = json.loads(call("agreement", "s", "--json")[1])["agreements"]
    modes = [one for one in numbers if one["field"] == "modes" and one.get("part", "") == ""]
    assert [one["statistic"] for one in modes] == ["percent", "percent exact", "alpha masi", "alpha jaccard"]
    assert all(one["places"] == 3 for one in modes)
    code, said = call("report", "s")
    assert code == 0
    assert "alpha MASI" in said
    assert call("raters", "s")[0] == 0
    assert call("study", "status", "s")[0] == 0


def test_a_majority_of_options_is_settled_and_gold_reads_it(call: Call, tmp_path: Path) -> None:
    plan = rated_study(tmp_path)
    queue = json.loads(call("adjudicate", "s", "--list", "--json")[1])
    by_place = {(one["unit"], one["field"]): one for one in queue["open"]}
    assert by_place["u1", "modes"]["majority"] == {"value": ["ask", "plan"], "missing": None, "people": 1}
    assert by_place["u2", "modes"]["majority"] == {"value": [], "missing": None, "people": 2}
    assert "1 ask, plan" in call("adjudicate", "s", "--list")[1]
    code, said = call("adjudicate", "s", "--majority", "--field", "modes", "--reason", "what most chose")
    assert code == 0, said
    assert "u2, modes: none by majority" in said
    with Store.open(tmp_path / "lab.db", readonly=True) as store:
        settled = {unit: one.what.value for (unit, _), one in store.adjudications.settlements(plan).items()}
    assert settled == {"u1": ["ask", "plan"], "u2": [], "u3": ["memory"]}
    code, said = call("adjudicate", "s", "--unit", "u1", "--field", "modes", "--value", "plan,misread", "--reason", "x")
    assert code == 0, said
    code, said = call("adjudicate", "s", "--unit", "u1", "--field", "modes", "--value", "slow", "--reason", "x")
    assert (code, "'slow' is none of ask" in said) == (1, True)
    assert call("adjudicate", "s", "--gold", "gold.jsonl")[0] == 0
    gold = [json.loads(line) for line in (tmp_path / "gold.jsonl").read_text("utf-8").splitlines()]
    assert [one["value"] for one in gold] == [["misread", "plan"], [], ["memory"]]


def test_a_kit_brings_sets_back(call: Call, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        plan = frozen(store, UNITS, PROTOCOL, id="s", raters=("R1", "R2"))
        make_kit(store, plan, "R1", tmp_path / "kit.db")
    rows = [{"unit": "u1", "values": {"failed": "yes", "modes": ["plan"]}}]
    (tmp_path / "rows.jsonl").write_text(json.dumps(rows[0]) + "\n", "utf-8")
    code, said = call("label", "s", "rows.jsonl", "--as", "R1", "--db", "kit.db")
    assert code == 0, said
    with Store.open(tmp_path / "lab.db") as store:
        import_kit(store, tmp_path / "kit.db")
    assert stands(tmp_path, plan)["u1", "modes"] == ["plan"]


# -- a judge ---------------------------------------------------------------------------------------------------


VIEW = JudgeView(PROTOCOL, "en", frozenset(), UNITS[0], ())


def test_a_judge_is_asked_for_a_list_and_its_list_is_read() -> None:
    asked = str(sheet_question(VIEW).messages[-1].parts[-1])
    assert 'value: a list of all that hold, at most 3, such as ["ask"]; [] where none holds' in asked
    assert 'one of the list "misread": misread the screen' in asked
    schema = answer_schema(VIEW)["properties"]["answers"]["items"]["properties"]["value"]
    assert "array" in schema["type"]

    def read(value: Any) -> dict[str, Any]:
        entries = [{"item": "", "field": "failed", "value": "yes"}, {"item": "", "field": "modes", "value": value}]
        entries.append({"item": "", "field": "what", "value": "The price."})
        return {one.field: one.value for one in read_sheet(VIEW, json.dumps({"answers": entries}))}

    assert read(["memory", "Did not ask"])["modes"] == ["ask", "memory"]
    assert read([])["modes"] == []
    assert read("misread the screen")["modes"] == ["misread"]
    for wrong in (["slow"], ["ask", "misread", "plan", "memory"], 3):
        with pytest.raises(UnusableJudgement, match="field modes"):
            read(wrong)


def test_a_judge_leaves_out_what_its_list_does_not_open() -> None:
    entries: list[dict[str, Any]] = [
        {"item": "", "field": "failed", "value": "yes"},
        {"item": "", "field": "modes", "value": ["ask"]},
    ]
    assert [one.field for one in read_sheet(VIEW, json.dumps({"answers": entries}))] == ["failed", "modes"]
    entries[1]["value"] = ["memory"]
    with pytest.raises(UnusableJudgement, match="no entry for field what"):
        read_sheet(VIEW, json.dumps({"answers": entries}))


def test_a_judges_sets_are_validated_and_gated_option_by_option(call: Call, tmp_path: Path) -> None:
    rated_study(tmp_path)
    (tmp_path / "prompt.txt").write_text("Say what went wrong.", "utf-8")
    for name, said in {"first": ["ask,plan", "[]", "memory"], "later": ["ask", "[]", "memory,misread"]}.items():
        rows = []
        for unit, modes in zip(UNITS, said, strict=True):
            what = {"what": "The price."} if "memory" in modes else {}
            rows.append({"unit": unit.id, "values": {"failed": "yes", "modes": modes, **what}})
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        assert call("label", "s", "rows.jsonl", "--as", name, "--kind", "model", "--config", "prompt.txt")[0] == 0
    code, told = call("judge", "s", "--validate", "--as", "later", "--json")
    assert code == 0, told
    (section,) = json.loads(told)["judges"]
    first_rows = {
        table["title"].partition(": against")[0]: table["rows"][0][1]["agreement"]["value"]
        for table in section["tables"]
        if table["title"].endswith("against what people settled")
    }
    assert first_rows == {
        "failed": 1.0, "modes: did not ask": 1.0, "modes: misread the screen": pytest.approx(2 / 3),
        "modes: had a wrong plan": pytest.approx(2 / 3), "modes: forgot what it had read": 1.0,
    }  # fmt: skip
    assert call("judge", "s", "--as", "first", "--gate", "gate.json")[0] == 0
    kept = json.loads((tmp_path / "gate.json").read_bytes())["answers"]
    assert {"unit": "u1", "target": "", "field": "modes: plan", "settled": "yes", "said": "yes", "cluster": "u1"} in [
        {**one, "cluster": one["unit"]} for one in kept
    ]
    told = call("judge", "s", "--as", "later", "--gate", "gate.json")[1]
    assert "modes: plan" in told
    assert "later against most people" in call("agreement", "s")[1].replace("\n", " ")
