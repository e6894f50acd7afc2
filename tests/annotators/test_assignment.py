"""Dealing: even loads, exact overlap, the same from the same seed, nothing twice, and plays without confounding."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from annotators.assignment import deal, deal_play_again, deal_to_successor, load_by_rater, round_share
from annotators.counterbalance import balanced_colouring, latin_square
from lab.core.errors import LabError
from lab.core.study.protocol import Field, Option, Protocol, UnitKind
from lab.core.study.study import Assignment, Gold, Play, Study, Unit
from lab.core.task.task import Task
from tests.fuzzing_examples import examples

CODES = [f"R{number}" for number in range(1, 8)]


def protocol(unit: UnitKind = "run", *, sided: bool = False) -> Protocol:
    options = (Option("A"), Option("B"))
    return Protocol("p", "P", unit, (Field("f", "Which?", "nominal", options, sided=sided),))


def study(
    raters: list[str], units: list[Unit], *, unit: UnitKind = "run", sided: bool = False, **more: object
) -> Study:
    made = Study("s", 1, "S", protocol(unit, sided=sided), tuple(raters), len(units), "", **more)  # type: ignore[arg-type]
    return made


def runs(count: int, pilot: int = 0) -> list[Unit]:
    return [Unit(f"u{at}", runs=(f"t{at}",), pilot=at < pilot) for at in range(count)]


def plays(tasks: int, users: list[tuple[str, bool]]) -> list[Unit]:
    return [
        Unit(f"k{at}-{user}-{mirror}", play=Play(Task(f"k{at}", "general"), user=user, mirror=mirror))  # type: ignore[arg-type]
        for at in range(tasks)
        for user, mirror in users
    ]


def spread(counts: Counter[object], of: object) -> int:
    found = [counts[key] for key in of]  # type: ignore[attr-defined]
    return max(found, default=0) - min(found, default=0)


@st.composite
def plans(draw: st.DrawFn) -> tuple[Study, list[Unit]]:
    raters = draw(st.lists(st.sampled_from(CODES), min_size=1, unique=True))
    total = draw(st.integers(0, 40))
    units = runs(total, draw(st.integers(0, total)))
    made = study(
        raters,
        units,
        sided=draw(st.booleans()),
        overlap=draw(st.integers(1, len(raters))),
        shared=draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])),
        repeats=draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])),
        seed=draw(st.integers(0, 3)),
    )
    return made, units


@given(plans())
def test_every_unit_goes_to_as_many_as_it_should_and_loads_differ_by_one_at_most(
    made: tuple[Study, list[Unit]],
) -> None:
    plan, units = made
    dealt = deal(plan, units)
    people: dict[str, list[str]] = defaultdict(list)
    for one in dealt:
        if one.run == 1:
            people[one.unit].append(one.rater)
    assert all(len(who) == len(set(who)) for who in people.values()), "nobody gets a unit twice but to repeat it"
    main = [unit for unit in units if not unit.pilot]
    several = round_share(plan.shared, len(main))
    assert Counter(len(people[unit.id]) for unit in main) == Counter(
        [plan.overlap] * several + [1] * (len(main) - several)
    )
    assert all(set(people[unit.id]) == set(plan.raters) for unit in units if unit.pilot)
    assert spread(Counter(load_by_rater(dealt)), plan.raters) <= 1


@given(plans())
def test_orders_begin_with_the_pilot_and_repeats_come_late(made: tuple[Study, list[Unit]]) -> None:
    plan, units = made
    for rater in plan.raters:
        mine = [one for one in deal(plan, units) if one.rater == rater]
        assert [one.position for one in mine] == list(range(len(mine)))
        stages = [one.stage for one in mine]
        assert "pilot" not in stages[stages.count("pilot") :]
        first = {one.unit: one for one in mine if one.run == 1}
        again = [one for one in mine if one.run == 2]
        assert len(again) == round_share(plan.repeats, stages.count("main"))
        for one in again:
            assert (one.stage, first[one.unit].stage) == ("repeat", "main")
            assert one.position > first[one.unit].position
            assert one.swap is (plan.protocol.fields[0].sided and not first[one.unit].swap)
        if not plan.protocol.fields[0].sided:
            assert not any(one.swap for one in mine)


@given(plans(), st.randoms(use_true_random=False))
def test_the_same_study_is_dealt_the_same_whatever_order_its_raters_and_units_are_named_in(
    made: tuple[Study, list[Unit]], random: object
) -> None:
    plan, units = made
    dealt = deal(plan, units)
    assert deal(plan, units) == dealt
    raters, mixed = list(plan.raters), list(units)
    random.shuffle(raters)  # type: ignore[attr-defined]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    other = deal(replace(plan, raters=tuple(raters)), mixed)
    assert sorted(other, key=repr) == sorted(dealt, key=repr)
    assert deal(replace(plan, version=2), units) == [replace(one, version=2) for one in dealt]


def test_a_deal_is_what_it_was() -> None:
    """Another version of this program, or of Python, deals a study as it was dealt."""
    units = runs(6, 1)
    dealt = deal(study(["a", "b", "c"], units, sided=True, overlap=2, repeats=0.25, seed=7), units)
    told = {
        who: " ".join(f"{one.unit}{'~' * one.swap}{'*' * (one.run - 1)}" for one in dealt if one.rater == who)
        for who in "abc"
    }
    assert told == PINNED


PINNED = {
    "a": "u0~ u2 u3~ u5 u2~*",
    "b": "u0~ u3~ u4~ u5 u4* u1~",
    "c": "u0~ u4~ u2 u1~ u4*",
}


def test_another_seed_is_another_order_and_each_rater_has_one_of_their_own() -> None:
    units = runs(30)
    plan = study(["a", "b"], units, overlap=2)
    orders = {
        (seed, who): tuple(one.unit for one in deal(replace(plan, seed=seed), units) if one.rater == who)
        for seed in (0, 1)
        for who in "ab"
    }
    assert len(set(orders.values())) == 4


def test_sides_are_swapped_about_half_the_time() -> None:
    units = runs(400)
    dealt = deal(study(["a"], units, sided=True, overlap=1), units)
    assert 160 <= sum(one.swap for one in dealt) <= 240


def test_every_pair_of_raters_meets() -> None:
    units = runs(60)
    dealt = deal(study(CODES[:4], units, overlap=2), units)
    people: dict[str, set[str]] = defaultdict(set)
    for one in dealt:
        people[one.unit].add(one.rater)
    met = Counter(frozenset(who) for who in people.values())
    assert spread(Counter(met), [frozenset(pair) for pair in combinations(CODES[:4], 2)]) <= 2


def test_what_a_rule_answered_goes_to_nobody_and_an_owners_to_the_owner_alone() -> None:
    units = [
        Unit("rule", mechanical=(Gold("", "f", "A"),)),
        Unit("gold", gold=(Gold("", "f", "A"),)),
        Unit("mine", owner="b"),
        Unit("any"),
    ]
    dealt = deal(study(["a", "b"], units, overlap=2), units)
    got = {unit.id: sorted(one.rater for one in dealt if one.unit == unit.id) for unit in units}
    assert got == {"rule": [], "gold": ["a", "b"], "mine": ["b"], "any": ["a", "b"]}
    assert {one.stage for one in dealt if one.unit == "gold"} == {"pilot"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"raters": ()}, "field raters: there is none"),
        ({"raters": ("a", "a")}, "field raters: 'a' is there twice"),
        ({"overlap": 3}, "field overlap: 3 is not from 1 to 2, the number of raters"),
        ({"overlap": 0}, "field overlap: 0 is not from 1"),
        ({"repeats": 1.5}, "field repeats: 1.5 is no share"),
        ({"shared": -0.1}, "field shared: -0.1 is no share"),
        ({"raters": ("a", "c")}, "'b', whose unit mine is, is not among them"),
    ],
)
def test_a_study_that_cannot_be_dealt_is_refused(change: dict[str, object], said: str) -> None:
    units = [Unit("mine", owner="b")]
    with pytest.raises(LabError) as refused:
        deal(replace(study(["a", "b"], units), **change), units)
    assert said in refused.value.message


# -- plays -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 4, 5, 6, 8])
def test_conditions_leave_the_square_of_tasks_as_it_is(size: int) -> None:
    units = plays(size, [("person", True), ("person", False)])
    people = [f"P{at}" for at in range(size)]
    dealt = deal(study(people, units, unit="task to play", overlap=size), units)
    for place in range(size):
        assert len({one.unit.split("-")[0] for one in dealt if one.position == place}) == size


@settings(deadline=None, max_examples=examples(60))
@given(
    st.integers(1, 9),
    st.integers(1, 6),
    st.sampled_from([[("person", False)], [("person", True), ("person", False), ("model", True)]]),
    st.integers(0, 3),
    st.data(),
)
def test_plays_are_counterbalanced(
    tasks: int, people: int, users: list[tuple[str, bool]], seed: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(1, people))
    units = plays(tasks, users)
    by_id = {unit.id: unit.play for unit in units}
    plan = study(CODES[:people], units, unit="task to play", overlap=overlap, seed=seed)
    dealt = deal(plan, units)
    conditions = [play.condition for play in plays_of(units[: len(users)]) if play.user == "person"]
    table: Counter[tuple[str, str, str]] = Counter()
    for one in dealt:
        play = by_id[one.unit]
        assert play is not None
        assert play.user == "person"
        assert one.condition == play.condition
        table[one.rater, play.task.id, play.condition] += 1
    names = [f"k{at}" for at in range(tasks)]
    seen = Counter((rater, task) for rater, task, _ in table.elements())
    assert not seen or max(seen.values()) == 1, "each participant plays each task at most once"
    assert all(sum(seen[rater, task] for rater in plan.raters) == overlap for task in names)
    assert spread(Counter(one.rater for one in dealt), plan.raters) <= 1
    for rater in plan.raters:
        assert spread(Counter(c for r, _, c in table.elements() if r == rater), conditions) <= 1
    for task in names:
        assert spread(Counter(c for _, t, c in table.elements() if t == task), conditions) <= 1
    assert spread(Counter(c for _, _, c in table.elements()), conditions) <= 1
    for rater in plan.raters:
        positions = [one.position for one in dealt if one.rater == rater]
        assert positions == list(range(len(positions)))


def plays_of(units: list[Unit]) -> list[Play]:
    return [unit.play for unit in units if unit.play is not None]


def test_four_participants_play_four_tasks_in_a_balanced_square() -> None:
    units = plays(4, [("person", False)])
    dealt = deal(study(CODES[:4], units, unit="task to play", overlap=4), units)
    orders = [[one.unit for one in dealt if one.rater == who] for who in CODES[:4]]
    for place in range(4):
        assert len({order[place] for order in orders}) == 4
    followed = Counter(pair for order in orders for pair in pairwise(order))
    assert len(followed) == 12
    assert set(followed.values()) == {1}


@pytest.mark.parametrize(
    ("tasks", "people", "overlap"),
    [(2, 2, 2), (4, 4, 4), (4, 2, 2), (6, 2, 2), (8, 4, 2), (6, 4, 2), (8, 8, 8), (12, 6, 2)],
)
@pytest.mark.parametrize("seed", range(3))
def test_no_condition_is_what_everybody_begins_or_ends_with(tasks: int, people: int, overlap: int, seed: int) -> None:
    units = plays(tasks, [("person", True), ("person", False)])
    dealt = deal(
        study([f"P{at}" for at in range(people)], units, unit="task to play", overlap=overlap, seed=seed), units
    )
    at_place: dict[int, Counter[object]] = defaultdict(Counter)
    for one in dealt:
        at_place[one.position][one.condition] += 1
    assert all(spread(counts, ["person", "person, no mirror"]) <= 1 for counts in at_place.values()), at_place


@given(st.integers(0, 12))
def test_a_latin_square_is_balanced_for_what_comes_before(size: int) -> None:
    rows = latin_square(size)
    assert len(rows) == (size if size % 2 == 0 or size == 1 else 2 * size)
    for place in range(size):
        assert spread(Counter(row[place] for row in rows), range(size)) == 0
    followed: Counter[object] = Counter(pair for row in rows for pair in pairwise(row))
    assert spread(followed, [(a, b) for a in range(size) for b in range(size) if a != b]) == 0
    assert all(sorted(row) == list(range(size)) for row in rows)


@given(st.sets(st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz"))), st.integers(1, 4))
def test_colours_of_edges_are_even_at_every_end(edges: set[tuple[str, str]], colours: int) -> None:
    found = sorted(edges)
    painted = list(zip(found, balanced_colouring(found, colours), strict=True))
    for end in "abcdefuvwxyz":
        assert spread(Counter(colour for edge, colour in painted if end in edge), range(colours)) <= 1
    assert spread(Counter(colour for _, colour in painted), range(colours)) <= 1


# -- afterwards ------------------------------------------------------------------------------------------------


@given(plans(), st.data())
def test_who_replaces_a_rater_gets_what_was_not_handed_in_in_that_order(
    made: tuple[Study, list[Unit]], data: st.DataObject
) -> None:
    plan, units = made
    dealt = deal(plan, units)
    leaving = [one for one in dealt if one.rater == plan.raters[0]]
    handed_in = leaving[: data.draw(st.integers(0, len(leaving)))]
    done = {(one.unit, one.run) for one in handed_in}
    fresh = deal_to_successor(plan, leaving, done, "R9", [])
    assert [one.position for one in fresh] == list(range(len(fresh)))
    assert {one.rater for one in fresh} <= {"R9"}
    pilot = [one.unit for one in leaving if one.stage == "pilot"]
    assert [one.unit for one in fresh if one.stage == "pilot"] == pilot, "calibration is each rater's own"
    rest = [one.unit for one in leaving if one.stage == "main" and (one.unit, 1) not in done]
    assert [one.unit for one in fresh if one.stage == "main"] == rest
    repeated = {one.unit for one in fresh if one.stage == "repeat"}
    assert repeated == {one.unit for one in leaving if one.stage == "repeat"} & set(rest)
    assert len({(one.unit, one.run) for one in fresh}) == len(fresh)
    for other in plan.raters[1:]:
        theirs = [one for one in dealt if one.rater == other]
        more = deal_to_successor(plan, leaving, done, other, theirs)
        assert not {one.unit for one in more} & {one.unit for one in theirs}
        assert [one.position for one in more] == list(range(len(theirs), len(theirs) + len(more)))


def test_an_interrupted_play_comes_again_at_the_end_and_to_whoever_replaces_only_once() -> None:
    units = plays(3, [("person", False)])
    plan = study(["a", "b"], units, unit="task to play", overlap=1)
    mine = [one for one in deal(plan, units) if one.rater == "a"]
    again = deal_play_again(plan, mine[0], mine)
    assert (again.unit, again.run, again.position) == (mine[0].unit, 2, len(mine))
    twice = deal_play_again(plan, again, [*mine, again])
    assert (twice.run, twice.position) == (3, len(mine) + 1)
    fresh = deal_to_successor(plan, [*mine, again], set(), "c", [])
    assert [(one.unit, one.run) for one in fresh] == [(one.unit, 1) for one in mine]
    tasks = {unit.id: unit.play.task.id for unit in units if unit.play}
    elsewhere = [Assignment("s", 1, "d", 0, "other condition of it")]
    fresh = deal_to_successor(
        plan, mine, set(), "d", elsewhere, {**tasks, "other condition of it": tasks[mine[0].unit]}
    )
    assert [one.unit for one in fresh] == [one.unit for one in mine[1:]]


@given(st.integers(0, 60), st.integers(1, 5), st.integers(0, 9))
def test_what_tells_an_earlier_answer_comes_after_it_where_there_is_no_going_back(
    total: int, clusters: int, seed: int
) -> None:
    """Units of one person keep their order for every rater; those of different people are mixed."""
    units = [Unit(f"u{at}", runs=(f"t{at}",), cluster=f"c{at * 7 % clusters}") for at in range(total)]
    made = study(CODES[:2], units, overlap=2, seed=seed)
    made = replace(made, protocol=replace(made.protocol, forward=True))
    cluster = {unit.id: unit.cluster for unit in units}
    for rater in made.raters:
        order = [one.unit for one in deal(made, units) if one.rater == rater]
        assert sorted(order) == sorted(cluster)
        for name in set(cluster.values()):
            of_one = [id for id in order if cluster[id] == name]
            assert of_one == [unit.id for unit in units if unit.cluster == name]


def test_people_are_mixed_although_each_ones_units_stand_in_time() -> None:
    units = [Unit(f"u{at}", runs=(f"t{at}",), cluster=f"c{at % 4}") for at in range(40)]
    made = study(CODES[:2], units, overlap=2)
    made = replace(made, protocol=replace(made.protocol, forward=True))
    orders = [[one.unit for one in deal(made, units) if one.rater == rater] for rater in made.raters]
    assert orders[0] != orders[1]
    assert orders[0] != [unit.id for unit in units]


def test_a_pilot_keeps_that_order_too_and_nothing_is_asked_again_where_there_is_no_going_back() -> None:
    units = [Unit(f"u{at}", runs=(f"t{at}",), cluster=f"c{at % 2}", pilot=at < 12) for at in range(20)]
    made = study(CODES[:2], units, overlap=2)
    made = replace(made, protocol=replace(made.protocol, forward=True))
    for rater in made.raters:
        order = [one.unit for one in deal(made, units) if one.rater == rater and one.stage == "pilot"]
        for name in ("c0", "c1"):
            assert [id for id in order if id in {unit.id for unit in units if unit.cluster == name}] == [
                unit.id for unit in units if unit.cluster == name and unit.pilot
            ]
    with pytest.raises(LabError, match="no going back"):
        deal(replace(made, repeats=0.1), units)
