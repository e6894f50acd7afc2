"""Assignment of units to raters and their order, drawn from a seed so that a study is dealt the same everywhere.

Chance is a hash of the study's id, its seed and what is drawn: no version of Python or of this program changes a draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeVar

from msgspec.structs import replace

from annotators.counterbalance import PlayTurn, counterbalance, spread_over_raters
from lab.core.errors import LabError
from lab.core.study.study import Assignment, Stage, Study, Unit

T = TypeVar("T")


def draw_number(study: Study, *of: object) -> int:
    """Return a number drawn for `of`, the same in every run of this program and in every version of the study."""
    return _draw_number((study.id, study.seed), *of)


def shuffled(seeds: tuple[str, int], values: Sequence[str], *of: object) -> list[str]:
    """Return values in an order drawn for `of` from a study's name and seed, independent of their given order."""
    return sorted(values, key=lambda value: _draw_number(seeds, *of, value))


def _draw_number(seeds: tuple[str, int], *of: object) -> int:
    # The separator keeps ("a", "bc") and ("ab", "c") apart.
    text = "\x1f".join(map(str, (*seeds, *of)))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def round_share(share: float, of: int) -> int:
    """Return a share of a count, rounded half up."""
    # Decimal from repr, because a float such as 0.35 * 10 rounds the wrong way.
    return int((Decimal(repr(float(share))) * of).quantize(Decimal(1), ROUND_HALF_UP))


def deal(study: Study, units: Iterable[Unit]) -> list[Assignment]:
    """Return every assignment of a study, rater by rater in their order, with an empty `at`.

    Calibration units come first and go to everyone. Each other unit goes to `overlap` raters, in an order of each
    rater's own. A share `repeats` of them returns late with the sides swapped. Loads differ by one at most. A unit with
    an owner goes to no one else. A unit that a rule has answered, that raters practise on, or that a model or a script
    plays goes to nobody. Plays are counterbalanced over tasks, conditions and order. In protocols without going back,
    the units of one cluster retain the order in which they were made, because a later one may reveal the answer to an
    earlier one.
    """
    units_to_rate = [unit for unit in units if not unit.mechanical and not unit.practice]
    check_raters(study, units_to_rate)
    raters = _shuffle(study, study.raters, "rater")
    if study.protocol.unit == "task to play":
        turns = counterbalance(study, units_to_rate, raters, draw_number)
        return [one for rater in study.raters for one in _play_assignments(study, rater, turns[rater])]
    pilot = [unit.id for unit in units_to_rate if unit.pilot or unit.gold]
    main = {rater: list[str]() for rater in raters}
    free = [unit for unit in units_to_rate if not (unit.pilot or unit.gold)]
    for unit in free:
        if unit.owner:
            main[unit.owner].append(unit.id)
    for id, people in spread_over_raters(_rater_counts(study, [unit.id for unit in free if not unit.owner]), raters):
        for rater in people:
            main[rater].append(id)
    after = (
        {unit.id: (unit.clustered, place) for place, unit in enumerate(units_to_rate)} if study.protocol.forward else {}
    )
    return [one for rater in study.raters for one in _rater_assignments(study, rater, pilot, main[rater], after)]


def deal_in_order(study: Study, units: Iterable[Unit], order: Sequence[str]) -> list[Assignment]:
    """Return the assignments of `deal` in one order for all people: the pilot, then `order`, then repeats.

    Raise `LabError` if the protocol has its own order: plays, and protocols without going back.
    """
    if study.protocol.unit == "task to play" or study.protocol.forward:
        raise LabError(f"study {study.name}", f"{study.protocol.id} has an order of its own.")
    place = {unit: at for at, unit in enumerate(order)}
    stages: Sequence[Stage] = ("pilot", "main", "repeat")
    assignments = deal(study, units)
    ordered = sorted(
        assignments,
        key=lambda one: (
            stages.index(one.stage), place.get(one.unit, len(place)) if one.stage == "main" else one.position
        ),
    )  # fmt: skip
    theirs = {rater: [one for one in ordered if one.rater == rater] for rater in study.raters}
    return [replace(one, position=at) for rater in study.raters for at, one in enumerate(theirs[rater])]


def deal_more(
    study: Study, units: Iterable[Unit], people: Sequence[str], behind: Mapping[str, int]
) -> list[Assignment]:
    """Return assignments of units added to a study, by its own rules, to the people who are present now.

    Each person's new positions follow their last one (`behind`, by code). Raise `LabError` if there are fewer people
    than raters per unit.
    """
    present = replace(study, raters=tuple(people))
    return [replace(one, position=one.position + behind.get(one.rater, -1) + 1) for one in deal(present, units)]


def check_raters(study: Study, units: Iterable[Unit]) -> None:
    """Raise `LabError` if the study cannot be dealt to these people."""
    what = f"study {study.name}"
    if not study.raters:
        raise LabError(what, "field raters: there is none")
    for code in study.raters:
        if study.raters.count(code) > 1:
            raise LabError(what, f"field raters: {code!r} is there twice")
    if not 1 <= study.overlap <= len(study.raters):
        problem = f"field overlap: {study.overlap} is not from 1 to {len(study.raters)}, the number of raters"
        raise LabError(what, problem)
    for name in ("shared", "repeats"):
        if not 0 <= getattr(study, name) <= 1:
            raise LabError(what, f"field {name}: {getattr(study, name):g} is no share from 0 to 1")
    if study.protocol.forward and study.repeats:
        problem = f"{study.protocol.id} has no going back: what comes later may tell what would be asked again"
        raise LabError(what, f"field repeats: {problem}", "--repeats 0")
    for unit in units:
        if unit.owner and unit.owner not in study.raters:
            raise LabError(what, f"field raters: {unit.owner!r}, whose unit {unit.id} is, is not among them")


def _rater_counts(study: Study, ids: Sequence[str]) -> list[tuple[str, int]]:
    """Return units in the order of dealing, each with its number of raters."""
    shuffled_ids = _shuffle(study, ids, "unit")
    # The order is random, so the first units are a random sample of the shared share.
    several = round_share(study.shared, len(shuffled_ids))
    return [(id, study.overlap if place < several else 1) for place, id in enumerate(shuffled_ids)]


def _rater_assignments(
    study: Study, rater: str, pilot: Sequence[str], main: Sequence[str], after: Mapping[str, tuple[str, int]]
) -> list[Assignment]:
    """Return one rater's assignments: the pilot, then the rest, with repeats mixed into its end."""
    pilot_ids = _keep_cluster_order(_shuffle(study, pilot, "order", rater), after)
    order: list[tuple[str, Stage, int]] = [(id, "pilot", 1) for id in pilot_ids]
    main_ids = _keep_cluster_order(_shuffle(study, main, "order", rater), after)
    first: list[tuple[str, Stage, int]] = [(id, "main", 1) for id in main_ids]
    count = round_share(study.repeats, len(first))
    half = max(count, (len(first) + 1) // 2)  # what is repeated was rated in the first half, so that it lies behind
    again: list[tuple[str, Stage, int]] = [
        (id, "repeat", 2) for id, _, _ in _shuffle(study, first[:half], "repeat", rater)[:count]
    ]
    # Repeats are mixed with as many first ratings, not put at the end as a block.
    late_start = max(half, len(first) - count)
    late = _shuffle(study, [*first[late_start:], *again], "late", rater) if again else first[late_start:]
    order += [*first[:late_start], *late]
    return [
        Assignment(
            study.id,
            study.version,
            rater,
            at,
            id,
            stage,
            run,
            is_swapped(study, rater, id, run),
            prelabel=shows_prelabel(study, rater, id, stage),
        )
        for at, (id, stage, run) in enumerate(order)
    ]


def _keep_cluster_order(ids: Sequence[str], after: Mapping[str, tuple[str, int]]) -> list[str]:
    """Return units at the drawn positions, with those of one cluster in their own order.

    They are as drawn if `after` is empty.
    """
    if not after:
        return list(ids)
    of_cluster: dict[str, list[str]] = {}
    for id in sorted(ids, key=lambda id: after[id][1], reverse=True):
        # Each cluster is a stack with its earliest unit on top.
        of_cluster.setdefault(after[id][0], []).append(id)
    return [of_cluster[after[id][0]].pop() for id in ids]


def is_swapped(study: Study, rater: str, unit: str, run: int = 1) -> bool:
    """Return True if this rater sees a pair with its sides swapped. A repeat shows them the other way."""
    if not any(field.sided for field in study.protocol.fields):
        return False
    # The run number shifts the draw, so that a repeat always shows the other order.
    return bool((draw_number(study, "side", rater, unit) + run - 1) % 2)


def shows_prelabel(study: Study, rater: str, unit: str, stage: Stage) -> bool:
    """Return True if this rater sees the judge's answers before their own: half of the units, drawn for each rater.

    Never in the pilot, which calibrates people, and never in a repeat.
    """
    return bool(study.prelabel) and stage == "main" and draw_number(study, "prelabel", rater, unit) % 2 == 0


def _play_assignments(study: Study, rater: str, turns: Iterable[PlayTurn]) -> list[Assignment]:
    return [
        Assignment(study.id, study.version, rater, at, turn.unit, condition=turn.condition)
        for at, turn in enumerate(turns)
    ]


def _shuffle(study: Study, values: Sequence[T], *of: object) -> list[T]:
    """Return values in an order drawn for `of`, independent of their given order."""
    return sorted(values, key=lambda value: draw_number(study, *of, *(value if isinstance(value, tuple) else (value,))))


# -- afterwards ------------------------------------------------------------------------------------------------


def deal_to_successor(
    study: Study,
    leaving: Sequence[Assignment],
    handed_in: Collection[tuple[str, int]],
    by: str,
    theirs: Sequence[Assignment],
    tasks: Mapping[str, str] = {},
) -> list[Assignment]:
    """Return the assignments of `by` in place of a rater who leaves: all that was not handed in, in that rater's order.

    `handed_in` are the (unit, run) that were: the leaver retains them, and a repeat of one is not dealt. Each rater
    needs their own calibration, so it is dealt completely and first. Units that `by` has already (`theirs`), and plays
    of a task that they already play (`tasks` by unit), are not dealt again.
    """
    has = {tasks.get(one.unit, one.unit) for one in theirs}
    begun_units = {unit for unit, _ in handed_in}
    rest: dict[tuple[str, int], Assignment] = {}
    for one in sorted(leaving, key=lambda one: (one.stage != "pilot", one.position)):
        again = one.stage == "repeat"
        if tasks.get(one.unit, one.unit) not in has and (one.stage == "pilot" or one.unit not in begun_units):
            rest.setdefault((one.unit, 1 + again), one)
    # Behind everything that the successor has already.
    start = max((one.position for one in theirs), default=-1) + 1
    return [
        Assignment(
            study.id,
            study.version,
            by,
            start + at,
            unit,
            one.stage,
            run,
            is_swapped(study, by, unit, run),
            one.condition,
            shows_prelabel(study, by, unit, one.stage),
        )
        for at, ((unit, run), one) in enumerate(rest.items())
    ]


def deal_play_again(study: Study, interrupted: Assignment, theirs: Sequence[Assignment]) -> Assignment:
    """Return an interrupted play as a new assignment of the same participant, after all their others."""
    run = max(one.run for one in theirs if one.unit == interrupted.unit) + 1
    end = max(one.position for one in theirs) + 1
    return Assignment(
        study.id, study.version, interrupted.rater, end, interrupted.unit, run=run, condition=interrupted.condition
    )


def load_by_rater(assignments: Iterable[Assignment]) -> Mapping[str, int]:
    """Return the number of units of each rater, without repeats and the pilot."""
    counts: dict[str, int] = {}
    for one in assignments:
        counts[one.rater] = counts.get(one.rater, 0) + (one.stage == "main" and one.run == 1)
    return counts
