"""hitlab metrics from the command line: tables, JSON and CSV that agree, groups, marks, and refusals in a sentence."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from annotators.papers.metrics import PAPERS, PaperNumber
from lab.cli.main import main
from lab.cli.runs import metrics
from lab.core.run import measured_run
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import AnyEvent, Ended, Forked, Started, Step
from lab.core.task.task import Actor, InformationUnit, Task, Tdg, TdgNode
from store.store import Store
from tests.lab.cli.test_table_printer import printed_in_terminal

TASK = Task(
    "lunch",
    "general",
    instruction="Order lunch",
    golden_steps=2,
    traits={"difficulty": "easy", "memory": "yes"},
    tdg=Tdg((TdgNode("open", "Open"), TdgNode("order", "Order", kind="flexible")), (("open", "order"),)),
    units=(InformationUnit("price", "the price"),),
)


def run(id: str, agent: str, score: float | None, *, ended: bool = True, **fields: Any) -> Imported:
    events: list[AnyEvent] = [Started(trace=id * 32, task=TASK, agent=Actor("model", agent), ms=0.0, **fields)]
    events += [Step(index=i, proposed=Proposed(Action("click", at=(i, i))), ms=1000.0 * i) for i in range(4)]
    if ended:
        events.append(Ended(status="completed", score=score, ms=8000.0))
    return Imported(number_events(events), {}, [])


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        store.runs.add(run("a", "=one", 1.0))
        store.runs.add(run("b", "=one", 0.0))
        store.runs.add(run("c", "two", 1.0))
        store.runs.add(run("d", "two", None, ended=False))
        store.runs.add(run("e", "two", 1.0, parent="c" * 32, forked=Forked(index=1, seq=2)))
    return path


def out(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["metrics", *words]) == code
    said = capsys.readouterr()
    return said.err if code else said.out


def told(capsys: pytest.CaptureFixture[str], db: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out(capsys, "--db", str(db), "--json", *words))
    return found


def values(group: dict[str, Any], paper: str, metric: str, version: str = "") -> list[float | None]:
    return [
        number["value"]
        for number in group["numbers"]
        if (number["paper"], number["metric"], number.get("version", "")) == (paper, metric, version)
        and not number.get("part")
    ]


def test_groups_have_their_own_numbers_and_what_is_left_out_is_counted(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, db, "--by", "agent")
    assert found["runs"] == 3
    assert found["left_out"] == {"not ended": 1, "forked from another run": 1}
    assert [group["by"] for group in found["groups"]] == [{"agent": "=one"}, {"agent": "two"}]
    assert [group["runs"] for group in found["groups"]] == [2, 1]
    assert values(found["groups"][0], "knowu", "SR", "paper") == [0.5]
    assert values(found["groups"][1], "knowu", "SR", "paper") == [1.0]
    assert values(found["groups"][0], "pspa", "CT") == [8.0]


def test_forks_come_in_where_they_are_asked_for(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, db, "--forks")["runs"] == 4
    assert told(capsys, db, "a", "c", "--paper", "knowu")["runs"] == 2


def test_the_table_says_the_same_as_json_and_csv(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, db, "--by", "agent,difficulty")
    rows = list(csv.DictReader(io.StringIO(out(capsys, "--db", str(db), "--csv", "--by", "agent,difficulty"))))
    numbers = [(group["by"], number) for group in found["groups"] for number in group["numbers"]]
    assert len(rows) == len(numbers) > 20
    for row, (by, number) in zip(rows, numbers, strict=True):
        assert (row["agent"].removeprefix("'"), row["difficulty"]) == (by["agent"], by["difficulty"])
        assert (row["paper"], row["metric"], int(row["n"])) == (number["paper"], number["metric"], number["n"])
        assert row["value"] == ("" if number["value"] is None else repr(number["value"]))
        assert bool(row["undefined"]) == (number["value"] is None)
    table = out(capsys, "--db", str(db), "--by", "agent")
    assert "== agent two: 1 run" in table
    assert "3 runs in" in table
    assert "left out: 1 not ended, 1 forked from another run" in table
    assert "  no IRR (paper): " in table


def test_a_number_without_a_value_is_never_printed_as_one(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for group in told(capsys, db)["groups"]:
        for number in group["numbers"]:
            assert (number["value"] is None) == bool(number.get("undefined")), number


def test_a_name_that_a_spreadsheet_would_run_bears_an_apostrophe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ['=HYPERLINK("http://x","y")', "@SUM(1)", "a,b\n\x1b[31mred", "-5", "'=x"]
    with Store.open(tmp_path / "lab.db") as store:
        for id, name in zip("abcde", names, strict=True):
            store.runs.add(run(id, name, 1.0))
    text = out(capsys, "--db", str(tmp_path / "lab.db"), "--csv", "--by", "agent", "--paper", "pspa")
    there = {row["agent"] for row in csv.DictReader(io.StringIO(text, newline=""))}
    assert there == {"'" + names[0], "'" + names[1], names[2], names[3], "'" + names[4]}
    assert text.startswith('"agent","paper","metric"')
    table = out(capsys, "--db", str(tmp_path / "lab.db"), "--by", "agent", "--paper", "pspa")
    assert "\x1b" not in table
    assert "== agent a,b⏎\\x1b[31mred: 1 run\n" in table


@pytest.mark.parametrize("by", [[], ["--by", "agent,difficulty"]])
def test_where_there_is_nothing_to_measure_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], by: list[str]
) -> None:
    with Store.open(tmp_path / "none.db"):
        pass
    with Store.open(tmp_path / "open.db") as store:
        store.runs.add(run("a", "m", None, ended=False))
    assert out(capsys, "--db", str(tmp_path / "none.db"), *by).splitlines()[1:] == [
        "Nothing to measure: no run is there that has ended."
    ]
    assert "0 runs in" in (said := out(capsys, "--db", str(tmp_path / "open.db"), *by))
    assert "; left out: 1 not ended\nNothing to measure" in said
    assert told(capsys, tmp_path / "none.db", *by)["groups"] == []
    head = out(capsys, "--db", str(tmp_path / "none.db"), "--csv", *by)
    assert head.startswith('"agent","difficulty","paper"' if by else '"paper","metric"')
    assert head.count("\n") == 1


def test_of_demonstrations_alone_it_is_said_that_they_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events: list[AnyEvent] = [Started(trace="a" * 32, task=TASK, agent=Actor("human", "h"), ms=0.0)]
    events.append(Ended(status="completed", score=1.0, ms=9.0))
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add(Imported(number_events(events), {}, []))
    said = out(capsys, "--db", str(tmp_path / "lab.db"), "--paper", "pspa,dac")
    assert "no CPT: no agent's run here has a known price (left out: 1 demonstrated by a person)" in said
    assert "ΔCPT (later minus first): no agent did a task" in said


@pytest.mark.parametrize(
    ("metric", "unit", "value", "told"),
    [
        ("SR", "share", 1 / 3, "33.3 %"), ("ΔAPR", "share", 0.125, "+12.5 points"),
        ("ΔAPR", "share", 0.0, "0.0 points"),
        ("CT", "seconds", 123456.78, "123,456.8 s"), ("ΔCT", "seconds", -3.25, "-3.3 s"),
        ("CPT", "usd", 0.0, "$0.0000"), ("CPT", "usd", 0.0125, "$0.0125"), ("CPT", "usd", 0.000042, "$0.000042"),
        ("ΔCPT", "usd", -0.004, "-$0.0040"), ("ΔCPT", "usd", 1e-9, "+$0.0000000010"),
        ("CPT", "usd", 1234.5, "$1,234.5000"),
        ("AveSteps", "count", 12.0, "12"), ("AveSteps", "count", 1234567.0, "1,234,567"),
        ("GP 4a", "count", 2.25, "2.25"),
        ("Step Ratio", "ratio", 1.5, "1.500"), ("Sim2", "score", 0.12345, "0.123"),
    ],
)  # fmt: skip
def test_numbers_are_told_as_their_unit_is_read(metric: str, unit: Any, value: float, told: str) -> None:
    assert metrics._format_value(PaperNumber("pspa", metric, value, unit, 1, "runs")) == told


@pytest.mark.parametrize(
    ("count", "of", "told"), [(1, "runs", "1 run"), (0, "pairs", "0 pairs"), (12345, "steps", "12,345 steps")]
)
def test_counts_read_as_english(count: int, of: str, told: str) -> None:
    assert metrics._format_count(count, of) == told


@pytest.mark.parametrize("columns", [80, 120])
def test_in_a_narrow_terminal_neither_value_nor_n_is_cut(db: Path, columns: int) -> None:
    lines = printed_in_terminal(columns, "metrics", "--db", str(db), "--by", "agent")
    assert all(len(line) <= columns or str(db) in line for line in lines)
    assert "…" not in "".join(lines)
    rows = [line.split() for line in lines if line.startswith("CT ")]
    assert [row[2:6] for row in rows if row[1] == "all"] == [["8.0", "s", "2", "runs"], ["8.0", "s", "1", "run"]]


def test_a_long_trait_is_what_is_cut_and_not_what_was_counted(tmp_path: Path) -> None:
    events: list[AnyEvent] = []
    with Store.open(tmp_path / "lab.db") as store:
        for id, who in (("a", Actor("human", "h")), ("b", Actor("model", "m"))):
            task = Task("t", "general", instruction="x", traits={"level": "very " * 60, "platform": "\x1b[31m" * 9})
            events = [Started(trace=id * 32, task=task, agent=who, ms=0.0)]
            events += [Step(index=i, proposed=Proposed(Action("wait"))) for i in range(1200)]
            store.runs.add(Imported(number_events([*events, Ended(status="completed", ms=9.0)]), {}, []))
    lines = printed_in_terminal(80, "metrics", "--db", str(tmp_path / "lab.db"), "--paper", "dac")
    assert all(len(line) <= 80 or "lab.db" in line for line in lines)
    rows = [line for line in lines if line.startswith("EM ")]
    assert len(rows) == 4
    assert all("100.0 %" in row and "1,200 steps" in row for row in rows)


def test_what_each_number_is_is_told_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    texts = json.loads(out(capsys, "--explain", "--json"))
    assert list(texts) == list(PAPERS)
    assert list(json.loads(out(capsys, "--explain", "--json", "--paper", "dac"))) == ["dac"]
    for columns in (80, 120):
        lines = printed_in_terminal(columns, "metrics", "--explain", "--paper", "pspa,dac")
        assert all(len(line) <= columns for line in lines)
        folded = " ".join(" ".join(lines).split())
        assert all(text in folded for paper in ("pspa", "dac") for text in texts[paper].values())


def test_marks_make_what_they_are_about_measurable(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert values(told(capsys, db)["groups"][0], "pspa", "APR") == [None]
    marks = tmp_path / "marks.jsonl"
    marks.write_text(
        '{"run":"a","nodes":{"open":1,"order":3}}\n{"run":"b","nodes":{"open":2,"order":null}}\n', encoding="utf-8"
    )
    group = told(capsys, db, "--marks", str(marks))["groups"][0]
    assert values(group, "pspa", "APR") == [(1.0 + 0.5) / 2]
    assert values(group, "pspa", "PPR") == [(1.0 + 0.0) / 2]
    marks.write_text('{"run":"a"}\n{"run":"aa"}\n', encoding="utf-8")
    said = out(capsys, "--db", str(db), "--marks", str(marks), code=1)
    assert "line 2: field run: aa is what" in said
    assert "line 1 is about" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "colour"], "cannot be grouped by 'colour'; they can by agent, model, task"),
        (["d"], "has not ended"),
        (["nothing"], "run nothing: is not in"),
        (["--marks", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--profiles", "nowhere"], "nowhere: is no folder of profiles"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    db: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    code = main(["metrics", "--db", str(db), *words])
    captured = capsys.readouterr()
    assert code in (1, 2)
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


@pytest.mark.parametrize("words", [["--paper", "best"], ["--lambda", "2"], ["--step-budget", "0"], ["--by", ","]])
def test_words_that_mean_nothing_are_refused_by_the_parser(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(["metrics", *words])


@pytest.mark.parametrize("seat", ["participant", "rater"])
def test_outcomes_are_not_there_for_those_who_must_not_see_them(
    db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, seat: str
) -> None:
    monkeypatch.setenv("HITLAB_SEAT", seat)
    assert "is not there for the seat" in out(capsys, "--db", str(db), code=1)


def test_every_trait_and_key_groups_all_runs(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from annotators.papers.measurement import KEYS

    for key in (*KEYS, "difficulty", "memory"):
        groups = told(capsys, db, "--by", key, "--paper", "knowu")["groups"]
        assert sum(group["runs"] for group in groups) == 3, key
        assert all(set(group["by"]) == {key} for group in groups)


def test_a_case_knows_its_verdicts_by_name() -> None:
    from lab.core.run.run_records import Verdict

    case = measured_run.MeasuredRun(
        "a", TASK, Actor("human", "x"), [], "completed", verdicts=(Verdict("irr", 1), Verdict("sr", 2))
    )
    assert case.verdict("sr") == Verdict("sr", 2)
    assert case.verdict("none") is None
    assert case.gold


def test_the_papers_share_of_right_guesses_is_told_as_the_paper_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """FingerTip-20K 5.2: people guessed 121 of 400 intents, 30.25 %, which the paper prints as 30.3."""
    guess = Task("lunch", "proactive", traits={"intent": "order lunch"})
    marks = tmp_path / "marks.jsonl"
    with Store.open(tmp_path / "lab.db") as store, marks.open("w", encoding="utf-8") as lines:
        for number in range(400):
            id = f"{number:032x}"
            answer = Step(index=0, proposed=Proposed(Action("answer", text="lunch")), ms=1.0)
            events: list[AnyEvent] = [Started(trace=id, task=guess, agent=Actor("human", "A7"), ms=0.0), answer]
            store.runs.add(Imported(number_events([*events, Ended(status="completed", ms=2.0)]), {}, []))
            lines.write(json.dumps({"run": id, "marks": {"sr1": float(number < 121)}}) + "\n")
    table = out(capsys, "--db", str(tmp_path / "lab.db"), "--paper", "fingertip", "--marks", str(marks))
    assert re.search(r"SR1 +all +30\.3 % +400 runs", table)
