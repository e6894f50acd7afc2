"""From labels to arrays: what was asked, said and missing; before and after derivation; what most say."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.agreement.ratings.answers import field_named
from annotators.agreement.ratings.derivations import sheets_from_labels
from annotators.agreement.ratings.fields import (
    categories_of,
    derived_numbers,
    join_columns,
    numbers_of,
    ratings_of,
    truth_of,
)
from annotators.agreement.ratings.ratings import RatedItem, Ratings
from annotators.derived import rubric_score, tdg_derived
from annotators.settled import settled_marks
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Gold, Target, Unit
from lab.core.task.task import Actor, Tdg, TdgNode
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.settling.settled_runs import counted
from store.store import Store
from tests.answered import R1, R2, R3, Answered, M, protocol

YES_NO = {"c": "completed", "n": "not_completed", "?": "?cannot_judge"}
GRAPH = Tdg(
    (
        TdgNode("a", "a"),
        TdgNode("ways", "ways", alternatives=((TdgNode("b1", "b1", kind="flexible"),), (TdgNode("b2", "b2"),))),
        TdgNode("c", "c", requires=("a",)),
    ),
    (("a", "ways"), ("ways", "c")),
)  # fmt: skip
NODES = tuple(Target(id, id, kind="flexible" if id == "b1" else "fixed") for id in ("a", "b1", "b2", "c"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def nodes(id: str, **changes: object) -> Unit:
    return Unit(id, (f"run-{id}",), targets=NODES, tdg=GRAPH, **changes)  # type: ignore[arg-type]


def rows(ratings: Ratings) -> dict[tuple[str, str], str]:
    """By place what each said, a letter each."""
    words = dict(enumerate(name[0] for name in ratings.categories)) | {-1: "."}
    return {
        (place.unit, place.target): "".join(words[code] for code in codes)
        for place, codes in zip(ratings.places, ratings.codes.tolist(), strict=True)
    }


def test_ratings_are_the_people_s_in_the_order_of_units_and_targets(store: Store) -> None:
    made = Answered(store, [nodes("u2"), nodes("u1")], protocol("tdg"))
    said = {("u1", "a"): "ccn", ("u1", "c"): "nnn", ("u2", "a"): "c?.", ("u2", "b1"): "..."}
    made.table("state", (R1, R2, R3), said, YES_NO)
    made.says(M, "u1", "a", "state", "not_completed")
    found = ratings_of(made.studied(), "state")
    assert list(rows(found).items()) == [(("u2", "a"), "c.."), (("u1", "a"), "ccn"), (("u1", "c"), "nnn")]
    assert found.raters == ("R1", "R2", "R3")
    assert found.categories == ("completed", "not_completed")
    assert [found.traces[at] for at in found.trace] == ["run-u2", "run-u1", "run-u1"]
    # 8 places by 3 people; 7 answered, one said why not, the rest of their sheets is empty
    assert found.reasons == {"cannot_judge": 1, "unanswered": 16}


def test_what_is_not_handed_in_is_missing_and_what_was_never_dealt_is_not(store: Store) -> None:
    dealt = [("R1", "u1", 1), ("R2", "u1", 1), ("R1", "u2", 1)]
    made = Answered(store, [nodes("u1"), nodes("u2")], protocol("tdg"), raters=("R1", "R2"), dealt=dealt)
    for target in ("a", "b1", "b2", "c"):
        made.says(R1, "u1", target, "state", "completed")
        made.says(R2, "u1", target, "state", "completed")
    made.hands_in(R1, "u1")
    found = ratings_of(made.studied(), "state")
    assert found.raters == ("R1",)
    assert found.reasons == {"not_handed_in": 8}


def test_pilots_and_what_a_rule_answered_never_count(store: Store) -> None:
    other = Gold("c", "partial", True, "by rule, of another question")
    ruled = nodes("u2", mechanical=(Gold("a", "state", "completed", "by rule"), other))
    made = Answered(store, [nodes("u1", pilot=True), ruled], protocol("tdg"))
    made.table("state", (R1, R2, R3), {("u1", "a"): "ccc", ("u2", "a"): "ccc", ("u2", "c"): "cnc"}, YES_NO)
    found = ratings_of(made.studied(), "state")
    assert rows(found) == {("u2", "c"): "cnc"}
    assert found.reasons == {"unanswered": 6}


def test_a_flag_that_is_not_raised_is_no_where_the_sheet_is_handed_in(store: Store) -> None:
    made = Answered(store, [nodes("u1")], protocol("tdg"))
    made.table("state", (R1, R2, R3), {("u1", "a"): "ccc"}, YES_NO)
    made.says(M, "u1", "a", "state", "completed")
    made.says(Actor("model", "flags"), "u1", "a", "partial", True)
    studied = made.studied()
    found = ratings_of(studied, "partial")
    assert rows(found) == {("u1", id): "nnn" for id in ("a", "b1", "b2", "c")}
    assert found.reasons == {}
    judges = {studied.columns.raters[at].id: at for at in studied.judges}
    assert not ratings_of(studied, "partial", [judges["judge"]]).places  # it never raises one: it does not flag
    assert rows(ratings_of(studied, "partial", [judges["flags"]]))["u1", "a"] == "y"
    assert rows(ratings_of(studied, "partial", [judges["flags"]]))["u1", "c"] == "n"


def test_what_was_not_asked_is_not_missing(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",)) for i in range(3)]
    made = Answered(store, units, protocol("success"), raters=("R1", "R2"))
    for unit, one, other in (
        ("u0", "impossible", "impossible"),
        ("u1", "success", "impossible"),
        ("u2", "success", "success"),
    ):
        made.says(R1, unit, "", "outcome", one)
        made.says(R2, unit, "", "outcome", other)
    made.says(R1, "u0", "", "why_impossible", "ambiguous")
    made.says(R2, "u1", "", "why_impossible", "convention")
    for unit in ("u0", "u1", "u2"):
        made.hands_in(R1, unit)
        made.hands_in(R2, unit)
    made.says(M, "u2", "", "outcome", "impossible")
    made.says(M, "u2", "", "why_impossible", "ambiguous")
    made.says(M, "u2", "", "outcome", "success")  # what it said before is asked no more
    studied = made.studied()
    found = ratings_of(studied, "why_impossible")
    assert found.reasons == {"unanswered": 1}  # R2 at u0
    assert {place.unit: tuple(codes) for place, codes in zip(found.places, found.codes.tolist(), strict=True)} == {
        "u0": (2, -1), "u1": (-1, 0),
    }  # fmt: skip
    assert not ratings_of(studied, "why_impossible", list(studied.judges)).places


def test_a_field_of_the_unit_opens_fields_of_its_targets(store: Store) -> None:
    asks = Protocol(
        "both", "Both", "run",
        (Field("done", "Done?", "nominal", (Option("yes"), Option("no")), per="unit"),
         Field("why", "Why?", "nominal", (Option("x"), Option("y")), show_if="done=no")),
        targets="items",
    )  # fmt: skip
    made = Answered(store, [Unit("u1", ("run1",), targets=(Target("t", "t"), Target("s", "s")))], asks, raters=("R1",))
    made.says(R1, "u1", "", "done", "no")
    made.says(R1, "u1", "t", "why", "y")
    made.hands_in(R1, "u1")
    found = ratings_of(made.studied(), "why")
    assert [place.target for place in found.places] == ["t"]
    assert found.reasons == {"unanswered": 1}


def test_kinds_of_targets_are_told_apart(store: Store) -> None:
    made = Answered(store, [nodes("u1")], protocol("tdg"))
    made.table("state", (R1, R2, R3), {("u1", id): "ccn" for id in ("a", "b1", "b2", "c")}, YES_NO)
    studied = made.studied()
    assert [place.target for place in ratings_of(studied, "state", kind="flexible").places] == ["b1"]
    assert [place.target for place in ratings_of(studied, "state", kind="fixed").places] == ["a", "b2", "c"]


def test_branches_have_their_targets_own_ways_in_declared_order(store: Store) -> None:
    targets = (Target("one", "one", options=("buy", "leave")), Target("two", "two", options=("wait", "buy", "go")))
    made = Answered(store, [Unit("u1", ("run1",), targets=targets)], protocol("decision-points"), raters=("R1", "R2"))
    made.says(R1, "u1", "one", "taken", "leave")
    made.says(R1, "u1", "two", "taken", "buy")
    made.hands_in(R1, "u1")
    studied = made.studied()
    found = ratings_of(studied, "taken")
    assert found.categories == ("buy", "leave", "wait", "go")
    assert found.codes.tolist() == [[1], [0]]


def test_what_a_rule_alone_gives_is_no_category(store: Store) -> None:
    made = Answered(store, [Unit("u1", ("run1",))], protocol("failure-mode-memgui"), raters=("R1",))
    studied = made.studied()
    names = categories_of(studied, field_named(studied, "primary"))
    assert "execution_timeout" not in names
    assert names[-1] == "other"


def test_categories_come_from_the_protocol_not_from_the_data(store: Store) -> None:
    made = Answered(store, [Unit("u1", ("run1",))], protocol("personal-rating"), raters=("R1", "R2"))
    for rater in (R1, R2):
        made.says(rater, "u1", "", "personal", "4")
        made.hands_in(rater, "u1")
    found = ratings_of(made.studied(), "personal")
    assert found.categories == ("1", "2", "3", "4", "5")
    assert found.scores == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert numbers_of(made.studied(), "personal").values.tolist() == [[4.0, 4.0]]


def test_after_derivation_is_what_each_sheet_derives(store: Store) -> None:
    made = Answered(store, [nodes("u1"), nodes("u2")], protocol("tdg"))
    said = {
        ("u1", "a"): "cnc", ("u1", "b1"): "cnn", ("u1", "b2"): "ncc", ("u1", "c"): "ccn",
        ("u2", "a"): "cc?", ("u2", "b1"): "ccc", ("u2", "b2"): "ccc", ("u2", "c"): "ccc",
    }  # fmt: skip
    made.table("state", (R1, R2, R3), said, YES_NO)
    studied = made.studied()
    after = ratings_of(studied, "state", derived="after")
    names = ("completed", "not_completed")
    by_place = dict(zip(after.places, after.codes.tolist(), strict=True))
    for unit, rater, sheet in sheets_from_labels(studied, studied.people):
        expected = tdg_derived(studied.units[unit], sheet).after
        column = after.raters.index(studied.columns.raters[rater].id)
        for target, word in expected.items():
            place = RatedItem(studied.units[unit].id, target)
            code = by_place[place][column] if place in by_place else -1
            assert (place, column, names[code] if code >= 0 else None) == (
                place,
                column,
                word if word in names else None,
            )
    assert after.derived == "after"
    assert after.reasons["not_applicable"] == 5  # of two ways one each; R3's path in u2 is not settled
    assert "not_applicable" not in ratings_of(studied, "state").reasons


def test_without_a_graph_nothing_changes_after_derivation(store: Store) -> None:
    bare = Unit("u1", ("run1",), targets=NODES)
    made = Answered(store, [bare], protocol("tdg"))
    made.table("state", (R1, R2, R3), {("u1", "a"): "ccn", ("u1", "c"): "nnn"}, YES_NO)
    studied = made.studied()
    assert rows(ratings_of(studied, "state", derived="after")) == rows(ratings_of(studied, "state"))


def test_steps_decide_between_ways_that_are_as_good(store: Store) -> None:
    made = Answered(store, [nodes("u1")], protocol("tdg"), raters=("R1",))
    for target, step in (("a", 1), ("b1", 9), ("b2", 4), ("c", 10)):
        made.says(R1, "u1", target, "state", "completed", step=step)
    made.hands_in(R1, "u1")
    found = ratings_of(made.studied(), "state", derived="after")
    assert [place.target for place in found.places] == ["a", "b1", "c"]  # the flexible one goes before the earlier


def test_most_is_more_than_half_of_those_who_said_anything(store: Store) -> None:
    made = Answered(store, [nodes("u1"), nodes("u2")], protocol("tdg"))
    said = {
        ("u1", "a"): "ccn", ("u1", "b1"): "c??", ("u1", "b2"): "cn.", ("u1", "c"): "nn?", ("u2", "a"): "c..",
    }  # fmt: skip
    made.table("state", (R1, R2, R3), said, YES_NO)
    studied = made.studied()
    ratings = ratings_of(studied, "state")
    truth = truth_of(studied, ratings)
    assert truth.raters == ("truth",)
    assert truth.places is ratings.places
    assert rows(truth) == {
        ("u1", "a"): "c", ("u1", "b1"): ".", ("u1", "b2"): ".", ("u1", "c"): "n", ("u2", "a"): "c",
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_is_what_metrics_take_as_settled(store: Store, seed: int) -> None:
    dice = random.Random(seed)
    units = [nodes(f"u{i}") for i in range(4)]
    made = Answered(store, units, protocol("tdg"))
    said = {(unit.id, one.id): "".join(dice.choices("cn?.", (5, 5, 2, 2), k=3)) for unit in units for one in NODES}
    made.table("state", (R1, R2, R3), said, YES_NO)
    studied = made.studied()
    truth = truth_of(studied, ratings_of(studied, "state"))
    found = {place: letter for place, letter in rows(truth).items() if letter != "."}
    marks = settled_marks(made.study, units, counted(store, made.study, ""))
    expected = {
        (where.rpartition(" ")[2], node): "n" if step is None else "c"
        for where, one in marks for node, step in (one.nodes or {}).items()
    }  # fmt: skip
    assert found == expected


def test_what_was_adjudicated_stands_in_place_of_most(store: Store) -> None:
    made = Answered(store, [nodes("u1")], protocol("tdg"))
    made.table("state", (R1, R2, R3), {("u1", "a"): "ccn", ("u1", "b1"): "ccc", ("u1", "c"): "ccn"}, YES_NO)
    for target, value, reason in (("a", "not_completed", None), ("b1", None, "cannot_judge")):
        detail = {"target": target, "field": "state", "by_means": "adjudicator", "value": value, "reason": "seen",
                  "reason_missing": reason}  # fmt: skip
        store.labels.record_act(
            Act(uuid7(), made.study.id, 1, Actor("human", "A1"), "adjudicated", now(), "u1", detail=detail)
        )
    studied = made.studied()
    ratings = ratings_of(studied, "state")
    assert rows(truth_of(studied, ratings)) == {("u1", "a"): "n", ("u1", "b1"): ".", ("u1", "c"): "c"}
    assert rows(ratings)["u1", "a"] == "ccn"  # what was said stays as it was


def test_after_derivation_what_was_adjudicated_stands_but_where_most_paths_pass_by(store: Store) -> None:
    made = Answered(store, [nodes("u1"), nodes("u2")], protocol("tdg"))
    said = {
        ("u1", "a"): "cn?", ("u1", "b1"): "ccc", ("u1", "b2"): "nnn", ("u1", "c"): "c??",
        ("u2", "a"): "ccc", ("u2", "b1"): "ncn", ("u2", "b2"): "cnc", ("u2", "c"): "ccc",
    }  # fmt: skip
    made.table("state", (R1, R2, R3), said, YES_NO)
    before = made.studied()
    after = ratings_of(before, "state", derived="after")
    assert rows(truth_of(before, after)) == {
        ("u1", "a"): ".", ("u1", "b1"): "c", ("u1", "b2"): "n", ("u1", "c"): ".",
        ("u2", "a"): "c", ("u2", "b1"): ".", ("u2", "b2"): "c", ("u2", "c"): "c",
    }  # fmt: skip
    for unit, target in (("u1", "a"), ("u1", "c"), ("u2", "b1")):
        detail = {"target": target, "field": "state", "by_means": "adjudicator", "value": "completed", "reason": "seen"}
        store.labels.record_act(
            Act(uuid7(), made.study.id, 1, Actor("human", "A1"), "adjudicated", now(), unit, detail=detail)
        )
    settled_ = rows(truth_of(made.studied(), after))
    assert (settled_["u1", "a"], settled_["u1", "c"]) == ("c", "c")  # no majority, and adjudicated
    assert settled_["u2", "b1"] == "."  # of most the path goes by b2


def test_the_truth_beside_a_judge_is_the_people_s(store: Store) -> None:
    made = Answered(store, [nodes("u1")], protocol("tdg"))
    made.table("state", (R1, R2, R3), {("u1", "a"): "ccn", ("u1", "c"): "ccc"}, YES_NO)
    made.says(M, "u1", "a", "state", "not_completed")
    made.says(M, "u1", "b2", "state", "completed")
    studied = made.studied()
    judge = ratings_of(studied, "state", list(studied.judges))
    two = join_columns(truth_of(studied, ratings_of(studied, "state")), judge)
    assert two.raters == ("truth", "judge")
    assert rows(two) == {("u1", "a"): "cn", ("u1", "c"): "c."}
    assert rows(truth_of(studied, judge)) == {("u1", "a"): "c", ("u1", "b2"): "."}


def test_repeats_are_apart(store: Store) -> None:
    dealt = [("R1", "u1", 1), ("R2", "u1", 1), ("R1", "u1", 2)]
    made = Answered(store, [nodes("u1")], protocol("tdg"), raters=("R1", "R2"), dealt=dealt)
    made.table("state", (R1, R2), {("u1", "a"): "cc"}, YES_NO)
    made.says(R1, "u1", "a", "state", "not_completed", run=2)
    made.hands_in(R1, "u1", 2)
    studied = made.studied()
    assert rows(ratings_of(studied, "state")) == {("u1", "a"): "cc"}
    assert rows(ratings_of(studied, "state", run=2)) == {("u1", "a"): "n"}


def test_numbers_follow_from_sheets(store: Store) -> None:
    targets = (Target("x", "x", weight=2.0), Target("y", "y", weight=1.0))
    units = [Unit(f"u{i}", (f"run{i}",), targets=targets) for i in range(2)]
    made = Answered(store, units, protocol("rubric"), raters=("R1", "R2"))
    made.says(R1, "u0", "x", "score", 1)
    made.says(R1, "u0", "y", "score", 0.5)
    made.says(R2, "u0", "x", "score", 0.25)
    for unit in ("u0", "u1"):
        made.hands_in(R1, unit)
    made.hands_in(R2, "u0")
    studied = made.studied()
    found = derived_numbers(studied, "score")
    assert found.raters == ("R1",)
    assert found.values.tolist() == [[pytest.approx(2.5 / 3)]]
    assert found.places == (RatedItem("u0", ""),)
    assert found.reasons == {"not_handed_in": 1, "nothing_follows": 1}  # R2 left one criterion open; and R2's u1
    for at, rater, sheet in sheets_from_labels(studied, studied.people):
        assert rubric_score(studied.units[at], sheet) in (None, pytest.approx(2.5 / 3))
        assert studied.columns.raters[rater].id in ("R1", "R2")


def test_apr_is_what_metrics_make_of_the_same_answers(store: Store) -> None:
    made = Answered(store, [nodes("u1")], protocol("tdg"), raters=("R1", "R2"))
    made.table(
        "state",
        (R1, R2),
        {("u1", id): said for id, said in (("a", "cc"), ("b1", "cn"), ("b2", "nc"), ("c", "cn"))},
        YES_NO,
    )
    studied = made.studied()
    assert derived_numbers(studied, "apr").values.tolist() == [[1.0, pytest.approx(2 / 3)]]
    assert derived_numbers(studied, "ppr").values.tolist() == [[1.0]]  # R2's path has no flexible one
    assert derived_numbers(studied, "ppr").raters == ("R1",)


def test_irr_is_all_of_it_where_the_run_succeeded(store: Store) -> None:
    targets = (Target("p", "price"), Target("q", "name"))
    made = Answered(store, [Unit("u1", ("run1",), targets=targets)], protocol("information-units"), raters=("R1",))
    made.says(R1, "u1", "p", "use", "correct")
    made.says(R1, "u1", "q", "use", "missing")
    made.hands_in(R1, "u1")
    found = derived_numbers(made.studied(), "irr")
    assert found.places == ()
    assert found.reasons == {"nothing_follows": 1}  # whether the run succeeded is not known here


def test_fields_that_are_not_asked_are_refused(store: Store) -> None:
    made = Answered(store, [nodes("u1")], protocol("tdg"))
    with pytest.raises(ValueError, match="asks nothing named nope"):
        ratings_of(made.studied(), "nope")
    one = ratings_of(made.studied(), "state")
    with pytest.raises(ValueError, match="different answers"):
        join_columns(one, one._replace(categories=("x",)))
