"""hitlab report, its answers: every kind of question of every preset, numbers recomputed by others' arithmetic."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import msgspec
import numpy as np
import pytest

from annotators.presets import HERE as PRESETS
from annotators.presets import presets
from annotators.protocols import protocol as built_in
from lab.cli.main import main
from lab.core.codec import read_file, read_yaml
from lab.core.redaction.text_redaction import MASK
from lab.core.study.agreement import Agreement
from lab.core.study.label import Act, ActKind
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.report import Number, Report, Table
from lab.core.study.study import Play, Study, Target, Unit, UnitText
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from simulators import library
from store.store import Store
from tests.rated import Answer, rated
from tests.studied_runs import run

Hitlab = Callable[..., str]
Sheets = Mapping[str, Mapping[str, Mapping[tuple[str, str], Any]]]

FIVE = tuple(Option(str(at), f"degree {at}") for at in range(1, 6))
ASKS = Protocol(
    "own", "How it went", "run",
    (
        Field("outcome", "Did it succeed?", "nominal", (Option("success"), Option("failure"), Option("unclear"))),
        Field("polite", "Was it polite?", "flag"),
        Field("trust", "How far would you trust it?", "ordinal", FIVE),
        Field("done", "How much was done?", "interval", least=0, most=100),
        Field("problems", "Which problems?", "many", (Option("slow"), Option("wrong_app"))),
        Field("remark", "Anything else?", "text", required=False),
    ),
)  # fmt: skip
RUNS = {
    f"r{at}": run(f"r{at}", ("usual_lunch", "way_home", "earbuds_left")[at % 3], by=Actor("model", f"agent{at % 2}"))
    for at in range(8)
}
OUTCOMES = {"R1": "sssfsfus", "R2": "sffssfus", "R3": "ssufsusu"}
"""By rater the first letter of the outcome of each run."""


def wilson(right: int, count: int) -> tuple[float, float]:
    """Return the interval that statsmodels computes."""
    from statsmodels.stats.proportion import proportion_confint  # pandas and scipy come with it: 130 MB

    low, high = proportion_confint(right, count, method="wilson")
    return low, high


@pytest.fixture
def hitlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Hitlab:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    monkeypatch.setenv("COLUMNS", "80")

    def call(*args: str) -> str:
        assert main(args) == 0, capsysbinary.readouterr().err
        return capsysbinary.readouterr().out.decode()

    return call


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as store:
        yield store


def answered(store: Store, **plan: Any) -> tuple[Study, Sheets]:
    """Three people's answers about eight runs of two agents; the last sheet of R3 is not handed in."""
    words = {"s": "success", "f": "failure", "u": "unclear"}
    said: dict[str, dict[str, dict[tuple[str, str], Any]]] = {}
    for turn, (rater, letters) in enumerate(OUTCOMES.items()):
        for at, letter in enumerate(letters):
            sheet: dict[tuple[str, str], Any] = {
                ("", "outcome"): words[letter],
                ("", "polite"): (at + turn) % 3 > 0,
                ("", "trust"): str(1 + (at * 2 + turn) % 5),
                ("", "done"): (at * 13 + turn * 7) % 101,
                ("", "problems"): [o for bit, o in enumerate(("slow", "wrong_app")) if (at + turn) >> bit & 1],
            }
            if at == 1:
                sheet["", "remark"] = f"{rater} found it <slow> | and [red]said[/red] so"
            if at == 2 and turn == 0:
                sheet["", "trust"] = Answer(missing="cannot_judge")
            said.setdefault(rater, {})[f"u{at}"] = sheet
    said["R3"]["u7"]["", "remark"] = "written on a sheet that is open"
    for one in RUNS.values():
        store.runs.add(one)
    units = [Unit(f"u{at}", runs=(f"r{at}",)) for at in range(8)]
    return rated(store, units, ASKS, said, open=[("R3", "u7")], id="own", **plan), said


def report(hitlab: Hitlab, study: str = "own") -> Report:
    return msgspec.json.decode(hitlab("report", study, "--json"), type=Report)


def table(found: Report, id: str) -> Table:
    (one,) = [table for section in found.sections for table in section.tables if table.id == id]
    return one


def number(found: Report, id: str, row: str, column: str) -> Agreement:
    one = table(found, id)
    (cells,) = [cells for cells in one.rows if cells[0] == row]
    cell = cells[one.columns.index(column)]
    assert isinstance(cell, Number), cell
    return cell.agreement


def of_item(said: Sheets, field: str) -> list[list[Any]]:
    """By run the answers that are handed in."""
    return [
        [
            value
            for rater, sheets in said.items()
            if not ((rater, at) == ("R3", 7) or isinstance(value := sheets[f"u{at}"]["", field], Answer))
        ]
        for at in range(8)
    ]


def majority(values: Sequence[Any], of: int) -> Any:
    value, many = Counter(values).most_common(1)[0]
    return value if 2 * many > of else None


# -- numbers ---------------------------------------------------------------------------------------------------


def test_answers_stand_first_and_are_those_of_other_arithmetic(hitlab: Hitlab, store: Store) -> None:
    _, said = answered(store)
    found = report(hitlab)
    assert found.sections[0].title == "Answers"
    outcomes = of_item(said, "outcome")
    most = [majority(values, len(values)) for values in outcomes]
    settled = [one for one in most if one is not None]
    assert len(settled) < len(most)
    for option in ("success", "failure", "unclear"):
        right = settled.count(option)
        one = number(found, "answers-outcome", option, "By majority")
        assert (one.value, one.places) == (right / len(settled), len(settled))
        assert (one.low, one.high) == pytest.approx(wilson(right, len(settled)))
        assert one.reasons == {"no_majority": len(most) - len(settled)}
        every = number(found, "answers-outcome", option, "Every answer")
        pooled = [value == option for values in outcomes for value in values]
        assert every.value == pytest.approx(np.mean(pooled))
        assert (every.places, every.traces) == (23, 8)
        without = [
            np.mean([value == option for at, values in enumerate(outcomes) if at != out for value in values])
            for out in range(8)
        ]
        error = (7 / 8 * sum((one - np.mean(without)) ** 2 for one in without)) ** 0.5
        assert every.standard_error == pytest.approx(error)
        assert every.low is not None
        assert every.high is not None
        assert every.low <= np.mean(pooled) <= every.high
        assert every.reasons == {"not_handed_in": 1}
    done = of_item(said, "done")
    means = [fmean(values) for values in done]
    pooled_done = [value for values in done for value in values]
    for column, values in (("Items' means", means), ("Every answer", pooled_done)):
        assert number(found, "answers-done", "mean", column).value == pytest.approx(fmean(values))
        assert number(found, "answers-done", "median", column).value == pytest.approx(median(values))
        assert number(found, "answers-done", "standard deviation", column).value == pytest.approx(stdev(values))
    trust = [int(value) for values in of_item(said, "trust") for value in values]
    mean = number(found, "answers-trust", "mean", "Every answer")
    assert mean.value == pytest.approx(fmean(trust))
    assert mean.reasons == {"cannot_judge": 1, "not_handed_in": 1}
    for option in ("slow", "wrong_app"):
        chosen = [option in values for item in of_item(said, "problems") for values in item]
        assert number(found, "answers-problems", option, "Every answer").value == pytest.approx(np.mean(chosen))
    flags = [majority(values, len(values)) for values in of_item(said, "polite")]
    raised = [flag for flag in flags if flag is not None]
    assert number(found, "answers-polite", "yes", "By majority").value == pytest.approx(np.mean(raised))


def test_answers_by_rater_agent_and_kind_of_task(hitlab: Hitlab, store: Store) -> None:
    _, said = answered(store)
    found = report(hitlab)
    for rater in OUTCOMES:
        own = [
            values["", "outcome"] == "success" for unit, values in said[rater].items() if (rater, unit) != ("R3", "u7")
        ]
        one = number(found, "answers-outcome-by-rater", rater, "success")
        assert one.value == pytest.approx(np.mean(own))
        assert (one.places, one.between) == (len(own), rater)
    most = [majority(values, len(values)) for values in of_item(said, "outcome")]
    for agent in (0, 1):
        own = [value == "success" for at, value in enumerate(most) if at % 2 == agent and value is not None]
        one = number(found, "answers-outcome-by-agent", f"agent{agent}", "success")
        assert one.value == pytest.approx(np.mean(own))
        assert one.places == len(own)
    kinds = {row[0] for row in table(found, "answers-outcome-by-kind").rows}
    assert kinds == {library.task(name).kind for name in ("usual_lunch", "way_home", "earbuds_left")}
    done = [fmean(values) for values in of_item(said, "done")]
    assert number(found, "answers-done-by-agent", "agent1", "mean").value == pytest.approx(fmean(done[1::2]))


def test_shares_of_none_and_of_all_have_an_interval_and_one_run_alone_has_what_can_be_said(
    hitlab: Hitlab, store: Store
) -> None:
    """Two items of each of four runs, all alike; of clustered answers each run counts once."""
    field = Field("ok", "Was it so?", "nominal", (Option("yes"), Option("no")))
    rate = Field("rate", "How far?", "interval", per="unit", least=0, most=10)
    asks = Protocol("items", "Items", "run", (field, rate), targets="items")
    targets = (Target("a", "A"), Target("b", "B"))
    units = [Unit(f"u{at}", runs=(f"x{at}",), targets=targets) for at in range(4)]
    sheet = {("a", "ok"): "yes", ("b", "ok"): "yes", ("", "rate"): 7}
    rated(store, units, asks, {name: {f"u{at}": sheet for at in range(4)} for name in ("R1", "R2")}, id="four")
    found = report(hitlab, "four")
    every = number(found, "answers-ok", "yes", "Every answer")
    assert (every.value, every.places, every.traces) == (1.0, 16, 4)
    assert (every.low, every.high) == pytest.approx(wilson(4, 4))
    none = number(found, "answers-ok", "no", "By majority")
    assert (none.value, none.low, none.high) == pytest.approx((0.0, *wilson(0, 4)))
    same = number(found, "answers-rate", "mean", "Every answer")
    assert (same.value, same.low, same.no_interval) == (7.0, None, "no cluster differs from the rest")
    assert number(found, "answers-ok-by-item", "a", "yes").places == 4
    rated(store, units[:1], asks, {"R1": {"u0": sheet}}, id="one")
    alone = number(report(hitlab, "one"), "answers-rate", "mean", "Every answer")
    assert (alone.value, alone.low, alone.no_interval, alone.places) == (7.0, None, "too few to say", 1)


def test_what_was_settled_stands_in_the_place_of_the_majority_and_is_told(hitlab: Hitlab, store: Store) -> None:
    plan, _ = answered(store)
    before = number(report(hitlab), "answers-outcome", "failure", "By majority")
    what = {"target": "", "field": "outcome", "value": "failure", "reason": "seen again", "by_means": "adjudicator"}
    chair = Actor("human", "D1")
    store.labels.record_act(Act(uuid7(), plan.id, 1, chair, "adjudicated", now(), "u2", detail=what))
    found = report(hitlab)
    after = number(found, "answers-outcome", "failure", "By majority")
    assert after.value == pytest.approx(((before.value or 0) * before.places + 1) / (before.places + 1))
    assert "Settled: 1 of 8 items." in table(found, "answers-outcome").notes
    assert "Settled: 1 item." in found.sections[0].says


# -- words -----------------------------------------------------------------------------------------------------


def test_texts_are_quoted_without_who_wrote_them_and_none_of_an_open_sheet(hitlab: Hitlab, store: Store) -> None:
    answered(store)
    found = report(hitlab)
    quoted = table(found, "answers-remark-quoted")
    assert {row[1] for row in quoted.rows} == {f"{who} found it <slow> | and [red]said[/red] so" for who in OUTCOMES}
    assert quoted.columns == ("", "Text")
    printed = {form: hitlab("report", "own", *form) for form in ((), ("--md",), ("--html",))}
    for form, text in printed.items():
        assert "found it" in text, form
        assert "a sheet that is open" not in text, form
    assert "&lt;slow&gt; | and [red]said[/red] so" in printed["--html",]
    assert all(len(line) <= 80 for line in printed[()].splitlines())
    assert "a sheet that is open" not in hitlab("report", "own", "--json")


def test_of_many_texts_some_are_drawn_and_long_ones_are_cut(hitlab: Hitlab, store: Store) -> None:
    asks = Protocol("say", "Say", "run", (Field("words", "What?", "text"),))
    units = [Unit(f"u{at}", runs=(f"x{at}",)) for at in range(50)]
    said = {f"u{at}": {("", "words"): f"words {at} " + "x" * (600 if at == 7 else 1)} for at in range(50)}
    rated(store, units, asks, {"R1": said}, id="say")
    quoted = table(report(hitlab, "say"), "answers-words-quoted")
    assert len(quoted.rows) == 40
    assert "40 of 50, drawn by their content" in quoted.notes[1]
    assert all(len(str(row[1])) < 540 for row in quoted.rows)


def test_words_that_were_redacted_are_covered_in_the_report(hitlab: Hitlab, store: Store) -> None:
    answered(store)
    hitlab("privacy", "r1", "--text", "found it")
    text = hitlab("report", "own", "--json")
    assert "found it" not in text
    assert MASK in text


def test_words_of_a_person_who_withdrew_are_gone_and_only_counted(hitlab: Hitlab, store: Store) -> None:
    answered(store)
    assert "R2 found it" in hitlab("report", "own")
    hitlab("withdraw", "R2", "--yes")
    found, text = report(hitlab), hitlab("report", "own")
    assert "R2 found it" not in text
    (section,) = [one for one in found.sections if one.title.startswith("Who took part")]
    assert section.says[0] == (
        "Planned: 3 people; withdrew: 1 (nothing of theirs is in any number here); left, another goes on: 0; "
        "handed anything in: 2."
    )
    assert [row[0] for row in table(found, "participation").rows] == ["R1", "R3"]
    assert [row[0] for row in table(found, "answers-outcome-by-rater").rows] == ["R1", "R3"]


def test_who_was_below_the_bar_who_left_and_what_is_open(hitlab: Hitlab, store: Store) -> None:
    plan, _ = answered(store, bar=0.8)
    acts: list[tuple[str, ActKind, dict[str, Any]]] = [
        ("R1", "held", {"share": 0.625, "bar": 0.8}), ("R1", "released", {"by": "D1"}),
        ("R2", "held", {"share": 0.5, "bar": 0.8}),
        ("R4", "replaced", {"for": "R3", "by": "D1"}), ("R3", "left", {"for": "R4", "by": "D1"}),
    ]  # fmt: skip
    for rater, act, detail in acts:
        store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", rater), act, now(), detail=detail))
    found = report(hitlab)
    (section,) = [one for one in found.sections if one.title.startswith("Who took part")]
    assert section.says[1:] == (
        "Below the bar of 80.0 % in calibration: 2; held: 1; released: 1.",
        "Assignments: 24 dealt; 23 handed in; 0 open; 1 passed on.",
    )
    rows = {row[0]: row[1:] for row in table(found, "participation").rows}
    assert rows["R1"] == ("below the bar, released", "62.5 %", "8", "8", "0", "0")
    assert rows["R2"][:2] == ("held, below the bar", "50.0 %")
    assert rows["R3"] == ("left", "—", "8", "7", "0", "1")


def test_nobody_has_answered_yet(hitlab: Hitlab, store: Store) -> None:
    rated(store, [Unit("u0", runs=("x0",))], ASKS, {"R1": {}}, id="none")
    found = report(hitlab, "none")
    assert found.sections[0].says == ("Nobody has handed in an answer yet.",)
    assert [row[:2] for row in table(found, "answers-overview").rows] == [(field.id, "0") for field in ASKS.fields]


# -- pairs, plays ----------------------------------------------------------------------------------------------


def test_pairs_tell_who_is_preferred_and_which_side(hitlab: Hitlab, store: Store) -> None:
    """The one method stands on side A of even pairs and on side B of odd ones, and wins five of six."""
    options = (Option("A"), Option("B"), Option("tie"))
    asks = Protocol(
        "which", "Which", "pair of runs", (Field("better", "Which is better?", "nominal", options, sided=True),)
    )
    sides = [("ours", "static"), ("static", "ours")]
    units = [
        Unit(f"u{at}", runs=(f"x{at}", f"y{at}"), hidden=dict(zip("AB", sides[at % 2], strict=True))) for at in range(7)
    ]
    said = {
        f"u{at}": {("", "better"): "AB"[at % 2] if at < 5 else "AB"[1 - at % 2] if at == 5 else "tie"}
        for at in range(7)
    }
    rated(store, units, asks, {"R1": said}, id="which")
    found = report(hitlab, "which")
    row = "ours against static"
    counts = {"First": 5, "Second": 1, "tie": 1}
    for column, many in counts.items():
        one = number(found, "answers-better-preference", row, column)
        assert one.value == pytest.approx(many / 7)
        assert one.places == 7
        assert (one.low, one.high) == pytest.approx(wilson(many, 7))
    assert number(found, "answers-better", "A", "Every answer").value == pytest.approx(4 / 7)
    assert table(found, "answers-sides-1").rows


def test_plays_are_told_by_condition_with_the_difference_within_each_person(hitlab: Hitlab, store: Store) -> None:
    """Six people play two tasks with the phone in view and two without; the sixth handed in one condition alone."""
    from scipy import stats

    tasks = [library.task(name) for name in ("usual_lunch", "way_home")]
    units = [
        Unit(f"{task.id}.{'see' if sees else 'blind'}", play=Play(task, user="person", mirror=sees), cluster=task.id)
        for task in tasks
        for sees in (True, False)
    ]
    people = [f"P{at}" for at in range(1, 7)]
    said = {
        who: {
            one.id: {
                ("", "realism"): str(1 + (turn * 3 + at) % 5), ("", "effort"): str(1 + (turn + 2 * at) % 5),
                ("", "wish"): "3", ("", "remark"): f"Seen {at % 2 == 0}, said by {turn}.",
            }
            for at, one in enumerate(units)
        }
        for turn, who in enumerate(people)
    }  # fmt: skip
    alone = [("P6", one.id) for one in units if one.play is not None and not one.play.mirror]
    rated(store, units, built_in("play"), said, id="plays", open=alone)
    found = report(hitlab, "plays")
    see, blind = "person", "person, no mirror"
    for field in ("realism", "effort"):
        values = {
            sees: [
                [int(said[who][one.id]["", field]) for one in units if one.play is not None and one.play.mirror is sees]
                for who in people
            ]
            for sees in (True, False)
        }
        gaps = [fmean(values[True][at]) - fmean(values[False][at]) for at in range(5)]
        one = number(found, "answers-paired-person-person-no-mirror", f"{field}, mean", "Difference")
        low, high = stats.t.interval(0.95, 4, loc=fmean(gaps), scale=stats.sem(gaps))
        assert one.value == pytest.approx(fmean(gaps))
        assert one.places == 5
        assert (one.low, one.high) == pytest.approx((low, high))
        assert one.reasons == {"answered_under_one_alone": 1}
        pooled = [value for own in values[True] for value in own]
        assert number(found, "answers-by-condition", f"{field}, mean", see).value == pytest.approx(fmean(pooled))
        assert number(found, "answers-by-condition", f"{field}, mean", blind).places == 10
    same = number(found, "answers-paired-person-person-no-mirror", "wish, mean", "Difference")
    assert (same.value, same.no_interval) == (0.0, "no person differs from the rest")
    persons = table(found, "answers-persons")
    assert persons.columns == ("Person", "Place 1", "Place 2", "Place 3", "Place 4")
    assert persons.rows[0] == ("P1", "person: usual_lunch", "person, no mirror: usual_lunch", "person: way_home",
                               "person, no mirror: way_home")  # fmt: skip
    assert persons.rows[5][2] == "person, no mirror: usual_lunch (not handed in)"
    quoted = table(found, "answers-remark-quoted")
    assert {row[2] for row in quoted.rows} == {see, blind}
    assert len(quoted.rows) == 11
    assert "P1" not in json.dumps([row[1] for row in quoted.rows])


# -- every preset ----------------------------------------------------------------------------------------------


def preset_protocols() -> list[tuple[str, str]]:
    found = []
    for name in presets():
        document = read_yaml(read_file(PRESETS / f"{name}.yaml"), name).value
        found += [(name, one) for one in document.get("protocols", {"": document.get("protocol", "")}).values()]
    return found


def unit_of(asks: Protocol, at: int) -> Unit:
    """A unit such as a protocol asks about, with two items where it asks of items."""
    options = ("left", "right") if asks.targets == "branches" else ()
    targets = (
        () if asks.targets == "unit" else tuple(Target(id, id.upper(), kind="fixed", options=options) for id in "ab")
    )
    task, runs = library.task("usual_lunch"), (f"x{at}",)
    match asks.unit:
        case "task to play":
            return Unit(f"u{at}", play=Play(task, user="person", mirror=at % 2 > 0), cluster=task.id)
        case "pair of runs":
            return Unit(f"u{at}", runs=(f"x{at}", f"y{at}"), hidden={"A": "one", "B": "two"})
        case "pair of instruction sets" | "pair of texts":
            sides = tuple(UnitText(side, f"text {side}", side=side) for side in ("A", "B"))
            return Unit(f"u{at}", given=sides, hidden={"A": "one", "B": "two"}, cluster=f"user{at}")
        case "task":
            return Unit(f"u{at}", task=task, targets=targets)
        case "step":
            return Unit(f"u{at}", runs=runs, step=0)
        case "question":
            return Unit(f"u{at}", runs=runs, question="q0")
    return Unit(f"u{at}", runs=runs, targets=targets)


def value_of(field: Field, at: int, target: Target | None) -> Any:
    ids = [option.id for option in field.options if not option.by_rule] or list(target.options if target else ())
    match field.kind:
        case "nominal" | "ordinal":
            return ids[at % len(ids)]
        case "many":
            return ids[: max(1, int(field.least or 0))]
        case "flag":
            return at % 2 == 0
        case "interval":
            return (field.least or 0.0) + at % 2 * (field.step or 1.0)
        case "step":
            return 0
    return f"Words {at}"


def sheet_of(asks: Protocol, unit: Unit, at: int) -> dict[tuple[str, str], Any]:
    """An answer to every question that is asked, given what was answered before it."""
    sheet: dict[tuple[str, str], Any] = {}
    for field in asks.fields:
        whole = field.per == "unit" or asks.targets == "unit"
        for target in [None] if whole else unit.targets:
            id = target.id if target is not None else ""
            name = field.show_if.partition("=")[0]
            before = sheet.get((id, name), sheet.get(("", name)))
            first = sheet.get((id, field.after))
            if field.after and first is not None:
                before = asks.field(field.after)
                assert before is not None
                order = [option.id for option in before.options]
                later = [option.id for option in field.options if order.index(option.id) > order.index(first)]
                if later:
                    sheet[id, field.id] = later[0]
            elif not field.show_if or field.is_asked_for(before):
                sheet[id, field.id] = value_of(field, at, target)
    return sheet


@pytest.mark.parametrize(("preset", "name"), preset_protocols())
def test_every_question_of_every_preset_has_its_answers_in_every_form(
    hitlab: Hitlab, store: Store, preset: str, name: str
) -> None:
    asks = built_in(name)
    most = max([2, *(len(field.options) for field in asks.fields)])
    units = [unit_of(asks, at) for at in range(most)]
    said = {who: {unit.id: sheet_of(asks, unit, at) for at, unit in enumerate(units)} for who in ("R1", "R2")}
    rated(store, units, asks, said, id="all")
    found = report(hitlab, "all")
    asked = {field for sheet in said["R1"].values() for _, field in sheet}
    overview = {row[0]: row for row in table(found, "answers-overview").rows}
    assert list(overview) == [field.id for field in asks.fields]
    assert asked == set(overview), "every question is asked somewhere"
    for field in asks.fields:
        given = sum(
            one == field.id and value is not None
            for sheets in said.values()
            for sheet in sheets.values()
            for (_, one), value in sheet.items()
        )
        assert overview[field.id][1] == f"{given:,}" or field.kind == "flag", field.id
        value = overview[field.id][-1]
        assert isinstance(value, Number)
        assert value.agreement.value is not None
        assert value.agreement.places > 0
        assert table(found, f"answers-{field.id}").rows
        if field.kind == "text":
            assert table(found, f"answers-{field.id}-quoted").rows
    for one in (table for table in found.sections[0].tables):
        for row in one.rows:
            for cell in row:
                if isinstance(cell, Number) and cell.agreement.value is not None:
                    assert cell.agreement.places > 0
                    assert cell.agreement.low is not None or cell.agreement.no_interval, (one.id, row[0])
    for form in ((), ("--md",), ("--html",)):
        text = hitlab("report", "all", *form).replace("\\_", "_")
        assert all(field.id in text for field in asks.fields)
    assert all(len(line) <= 80 for line in hitlab("report", "all").splitlines())
