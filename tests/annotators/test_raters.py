"""Each rater's numbers, worked out by hand: with the rest, halves, gold, themselves, what came before; and why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from annotators.agreement.ratings.rater_sequence import pairs_before, sequence_of
from annotators.rater_numbers import RaterNumbers
from annotators.raters import raters_of
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Assignment, Gold, Study, Target, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import uuid7
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.rated import Answer, rated
from tests.studies import frozen, label

OK = Field("ok", "Was it right?", "nominal", (Option("y", key="1"), Option("n", key="2")), per="unit")
ODD = Field("odd", "Is it odd?", "flag", required=False, per="unit")
MARK = Field("mark", "How much?", "interval", per="unit", least=0, most=10, step=1)
ASKED = Protocol("asked", "Asked", "run", (OK,), targets="unit", guide={"en": "Look."})
WIDE = Protocol("wide", "Wide", "run", (OK, ODD, MARK), targets="unit", guide={"en": "Look."})
UNITS = [Unit(f"u{at}", runs=(f"run-{at}",)) for at in range(1, 7)]
SAID = {"R1": "yynnyn", "R2": "yynyyn", "R3": "ynnnyy"}


def sheets(said: str, units: list[Unit] = UNITS) -> dict[str, dict[tuple[str, str], Any]]:
    """What one rater says of each unit, a letter each."""
    missing = Answer(missing="cannot_judge")
    return {unit.id: {("", "ok"): missing if one == "?" else one} for unit, one in zip(units, said, strict=True)}


def numbers(store: Store, study: Study, how: IntervalTerms | None = None) -> dict[str, RaterNumbers]:
    read = store.studies.study(study.id, study.version)
    return {
        one.rater: one for one in raters_of(load_study_data(store, read, how) if how else load_study_data(store, read))
    }


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def three(store: Store) -> dict[str, RaterNumbers]:
    return numbers(store, rated(store, UNITS, ASKED, {who: sheets(said) for who, said in SAID.items()}))


def told(one: Agreement) -> tuple[float | None, int, int]:
    return (None if one.value is None else round(one.value, 6)), one.places, one.traces


def test_the_rest_are_more_than_half_of_the_others(three: dict[str, RaterNumbers]) -> None:
    """Of R1 the other two agree on u1, u3 and u5; of R2 on u4, too; of R3 on all but u4."""
    assert told(three["R1"].rest) == (1.0, 3, 3)
    assert told(three["R2"].rest) == (0.75, 4, 4)
    assert told(three["R3"].rest) == (0.6, 5, 5)
    assert three["R1"].rest.no_interval == "it is the largest it can be"
    kappa = {one.statistic: one for one in three["R2"].fields}["kappa"]
    assert told(kappa) == (0.5, 4, 4)


def test_the_halves_and_what_is_between_them(three: dict[str, RaterNumbers]) -> None:
    one = three["R2"]
    assert (told(one.first), told(one.second)) == ((1.0, 2, 2), (0.5, 2, 2))
    assert told(one.drift) == (-0.5, 4, 4)
    assert (one.along[0].first, one.along[-1].last, sum(part.n for part in one.along)) == (1, 4, 4)


def test_one_answer_beside_the_rest_has_no_halves_and_says_that_it_is_one(store: Store) -> None:
    study = rated(store, UNITS[:1], ASKED, {who: sheets("y", UNITS[:1]) for who in SAID})
    one = numbers(store, study)["R1"]
    assert told(one.rest) == (1.0, 1, 1)
    assert told(one.drift) == (None, 1, 1)
    assert one.drift.undefined == "only one answered that most of the rest answer, too"


def test_what_the_item_before_does_to_the_next(three: dict[str, RaterNumbers]) -> None:
    """R1 says y y n n y n: of five pairs two are the same; margins make that 12 of 25."""
    one = three["R1"]
    assert one.same_before == pytest.approx(2 / 5)
    assert one.chance_before == pytest.approx(12 / 25)
    assert told(one.before) == (-0.08, 5, 5)
    assert one.before.low is not None
    assert one.before.low >= -1


def test_who_repeats_what_they_said_last_is_far_beyond_chance(store: Store) -> None:
    units = [Unit(f"u{at:02}", runs=(f"run-{at:02}",)) for at in range(40)]
    said = {"R1": "y" * 20 + "n" * 20, "R2": "yn" * 20, "R3": "yynn" * 10}
    found = numbers(store, rated(store, units, ASKED, {who: sheets(one, units) for who, one in said.items()}))
    before = {who: one.before for who, one in found.items()}
    assert before["R1"].value == pytest.approx(38 / 39 - 0.5, abs=0.01)
    assert before["R2"].value == pytest.approx(-0.5, abs=0.01)
    assert before["R1"].low is not None
    assert before["R1"].low > 0
    assert before["R3"].low is not None
    assert before["R3"].high is not None
    assert before["R3"].low < 0 < before["R3"].high
    longest = found["R1"].longest
    assert longest is not None
    assert (longest.value, longest.length, longest.of) == ("y", 20, 40)


def test_answers_to_one_unit_are_no_pairs(store: Store) -> None:
    """Of one unit its targets are alike; only from one unit to the next is what came before told."""
    state = Field("state", "Done?", "nominal", (Option("y", key="1"), Option("n", key="2")))
    nodes = Protocol("nodes", "Nodes", "run", (state,), targets="tdg nodes", guide={"en": "Look."})
    units = [Unit(f"u{at}", runs=(f"r{at}",), targets=(Target("a", "A"), Target("b", "B"))) for at in range(3)]
    said = {who: {unit.id: {("a", "state"): "y", ("b", "state"): "n"} for unit in units} for who in ("R1", "R2")}
    study = rated(store, units, nodes, said)
    read = load_study_data(store, store.studies.study(study.id))
    own = sequence_of(read, read.people[0])
    later, before = pairs_before(own, 1)
    assert [(int(own.code[one]), int(own.code[other])) for one, other in zip(later, before, strict=True)] == [
        (0, 1)
    ] * 2
    one = numbers(store, study)["R1"]
    assert (one.same_before, told(one.before)) == (0.0, (0.0, 2, 2))
    assert np.array_equal(np.sort(np.concatenate((own.unit, own.unit))), np.repeat(np.sort(own.unit), 2))


def test_what_is_missing_is_told_by_reason_and_open_items_are_not_missing(store: Store) -> None:
    said = {"R1": sheets("y?n?yn"), "R2": sheets("yynyyn")}
    one = numbers(store, rated(store, UNITS, ASKED, said, open=[("R1", "u6")]))["R1"]
    assert one.reasons == {"cannot_judge": 2}
    assert told(one.missing) == (0.4, 5, 5)
    assert (one.done, one.dealt, one.answers) == (5, 6, 5)


def test_a_flag_that_must_be_answered_is_missing_where_it_has_a_reason(store: Store) -> None:
    asked = replace(WIDE, fields=(OK, replace(ODD, required=True)))
    missing = Answer(missing="cannot_judge")
    said: dict[str, dict[tuple[str, str], Any]] = {
        "u1": {("", "ok"): "y", ("", "odd"): missing}, "u2": {("", "ok"): "y", ("", "odd"): False},
    }  # fmt: skip
    one = numbers(store, rated(store, UNITS[:2], asked, {"R1": said}))["R1"]
    assert (one.reasons, told(one.missing)) == ({"cannot_judge": 1}, (0.25, 4, 2))


def test_sheets_that_ask_for_nothing_are_handed_in_and_nothing_can_be_missing(store: Store) -> None:
    asked = replace(WIDE, fields=(ODD,))
    nothing: dict[tuple[str, str], Any] = {}
    one = numbers(store, rated(store, UNITS, asked, {"R1": {"u1": nothing, "u2": nothing}}))["R1"]
    assert (one.done, one.missing.value) == (2, None)
    assert one.missing.undefined == "what is handed in has no question that must be answered"


def test_flags_numbers_and_the_mean_of_the_rest(store: Store) -> None:
    marks = {"R1": [5, 5, 5, 5, 5, 5], "R2": [4, 4, 4, 4, 4, 4], "R3": [8, 8, 8, 8, 8, 6]}
    said = {
        who: {
            unit.id: {("", "ok"): "y", ("", "mark"): float(marks[who][at])} | ({("", "odd"): True} if at < most else {})
            for at, unit in enumerate(UNITS)
        }
        for who, most in (("R1", 0), ("R2", 2), ("R3", 6))
    }  # fmt: skip
    found = numbers(store, rated(store, UNITS, WIDE, said))
    assert {who: one.flags for who, one in found.items()} == {"R1": {"odd": 0}, "R2": {"odd": 2}, "R3": {"odd": 6}}
    distance = next(one for one in found["R1"].fields if one.field == "mark")
    assert told(distance) == (round((5 * 1 + 0) / 6, 6), 6, 6)


def test_gold_is_of_calibration_items_and_not_of_the_rest(store: Store) -> None:
    gold = [replace(unit, pilot=True, gold=(Gold("", "ok", "y"),)) for unit in UNITS[:3]]
    said = {who: sheets(one) for who, one in SAID.items()}
    found = numbers(store, rated(store, [*gold, *UNITS[3:]], ASKED, said))
    assert told(found["R1"].gold) == (round(2 / 3, 6), 3, 3)
    assert told(found["R3"].gold) == (round(1 / 3, 6), 3, 3)
    assert found["R1"].rest.places == 1  # u5: pilot items are none of these
    assert found["R1"].settled.undefined == "nothing settled"


def test_what_was_settled_is_held_against_what_they_had_said(store: Store) -> None:
    study = rated(store, UNITS, ASKED, {who: sheets(one) for who, one in SAID.items()})
    for unit, value in (("u2", "y"), ("u4", "n")):
        told_of = {"target": "", "field": "ok", "by_means": "majority", "value": value}
        store.labels.record_act(
            Act(uuid7(), study.id, 1, Actor("human", "D1"), "adjudicated", "2026-05-01", unit, detail=told_of)
        )
    found = numbers(store, study)
    assert {who: told(one.settled) for who, one in found.items()} == {
        "R1": (1.0, 2, 2), "R2": (0.5, 2, 2), "R3": (0.5, 2, 2),
    }  # fmt: skip


def test_items_rated_again(store: Store) -> None:
    study = rated(store, UNITS, ASKED, {who: sheets(one) for who, one in SAID.items()})
    again = [Assignment(study.id, 1, "R1", 6 + at, f"u{at}", "repeat", run=2) for at in (1, 2, 3, 4)]
    store.studies.deal(study, again)
    for unit, value in zip(UNITS[:4], "yyny", strict=True):
        store.labels.record(study, unit, label(study, unit, "", "ok", value, run=2))
        store.labels.record_act(Act(uuid7(), study.id, 1, Actor("human", "R1"), "commit", "2026-05-01", unit.id, 2))
    found = numbers(store, study)
    assert told(found["R1"].again) == (0.75, 4, 4)
    assert found["R2"].again.undefined == "nothing rated twice"
    assert found["R1"].rest.places == 3  # the first rating alone


def test_sets_that_were_rated_again_are_no_options_and_not_told_to_be_rated_once(store: Store) -> None:
    sets = Protocol("sets", "Sets", "run", (replace(OK, kind="many"),), targets="unit", guide={"en": "Look."})
    study = rated(store, UNITS[:1], sets, {"R1": {"u1": {("", "ok"): ["y"]}}})
    assert numbers(store, study)["R1"].again.undefined == "nothing rated twice"
    store.studies.deal(study, [Assignment(study.id, 1, "R1", 6, "u1", "repeat", run=2)])
    store.labels.record(study, UNITS[0], label(study, UNITS[0], "", "ok", ["y"], run=2))
    store.labels.record_act(Act(uuid7(), study.id, 1, Actor("human", "R1"), "commit", "2026-05-01", "u1", 2))
    assert numbers(store, study)["R1"].again.undefined == "no answer that is an option"


def test_pace_is_the_median_of_what_came_by_keys_in_the_order_of_answering(store: Store) -> None:
    units = [Unit(f"u{at:02}", runs=(f"run-{at:02}",)) for at in range(20)]
    study = frozen(store, units, ASKED, raters=("R1",))
    for at, unit in enumerate(units[::-1]):
        seconds = 4 if at < 10 else 2
        shown, given = f"2026-04-01T09:{at:02}:00.000000+00:00", f"2026-04-01T09:{at:02}:{seconds:02}.000000+00:00"
        said = replace(label(study, unit, "", "ok", "y"), id=uuid7(), shown_at=shown, at=given, source="keys")
        store.labels.record(study, unit, said)
        store.labels.record_act(Act(uuid7(), study.id, 1, Actor("human", "R1"), "commit", given, unit.id))
    one = numbers(store, study)["R1"]
    assert (one.seconds, one.quartiles, one.timed) == (3.0, (2.0, 4.0), 20)
    assert [(part.first, part.last, part.value, part.n) for part in one.pace] == [
        (1, 5, 4.0, 5), (6, 10, 4.0, 5), (11, 15, 2.0, 5), (16, 20, 2.0, 5),
    ]  # fmt: skip
    assert one.rest.undefined == "nothing answered that most of the rest answer, too"


def test_a_judge_is_held_against_all_people_and_comes_after_them(store: Store) -> None:
    said = {who: sheets(one) for who, one in SAID.items()}
    found = numbers(store, rated(store, UNITS, ASKED, {**said, "model:glass": sheets("yyyyyy")}))
    assert list(found) == ["R1", "R2", "R3", "glass"]
    assert found["glass"].kind == "judge"
    assert told(found["glass"].rest) == (0.5, 6, 6)  # y y n n y n
    assert told(found["R1"].rest) == (1.0, 3, 3)
    grid = found["glass"].grids[0]
    assert (grid.down, grid.counts) == (("y", "n"), ((3.0, 3.0), (0.0, 0.0)))


def test_one_rater_an_empty_study_and_constant_answers_are_a_sentence_each(store: Store) -> None:
    study = rated(store, UNITS, ASKED, {"R1": sheets("yyyyyy")})
    one = numbers(store, study)["R1"]
    assert one.rest.undefined == "nothing answered that most of the rest answer, too"
    assert one.drift.undefined
    assert (one.before.value, one.before.no_interval) == (0.0, "no run differs from the rest")
    empty = frozen(store, UNITS, ASKED, id="empty")
    found = numbers(store, empty)
    assert {who: (one.answers, one.dealt) for who, one in found.items()} == {"R1": (0, 6), "R2": (0, 6)}
    for one in found.values():
        assert all(number.value is None and number.undefined for number in one.numbers)
        assert (one.seconds, one.longest, one.pace, one.grids) == (None, None, (), ())
    bare = frozen(store, UNITS, ASKED, id="bare", raters=())
    assert numbers(store, bare) == {}


def test_every_number_has_an_interval_or_says_why_not(three: dict[str, RaterNumbers]) -> None:
    for one in three.values():
        for number in one.numbers:
            assert (number.value is None) == bool(number.undefined)
            if number.value is not None:
                assert (number.low is not None) != bool(number.no_interval)
                assert number.low is None or number.high is None or -1 <= number.low <= number.high <= 1


def test_the_bootstrap_is_the_same_with_the_same_seed(store: Store) -> None:
    study = rated(store, UNITS, ASKED, {who: sheets(one) for who, one in SAID.items()})
    how = IntervalTerms("bootstrap", resamples=200, seed=3)
    assert numbers(store, study, how) == numbers(store, study, how)
    assert numbers(store, study, how)["R3"].rest.resamples in (200, None)
