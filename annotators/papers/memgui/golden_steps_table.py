"""Golden steps (MemGUI-Bench A.4.2): changes by the second expert, agreement of counts, and difficulty of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from annotators.agreement.coefficients.numbers import icc
from annotators.agreement.ratings.ratings import RatedItem
from annotators.papers import cells
from annotators.papers.answer_arrays import AnswerRow, numbers_by
from annotators.papers.cells import UnitValue, average, coefficient, count, few_runs_warning, share_of_independent
from annotators.papers.field_answers import answers_in, asked_units
from annotators.study_data import StudyData
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.report import Cell, Number, Point, Scatter, Section, Table
from lab.core.study.study import Unit

STEPS = "steps"
EASY, MEDIUM = 20, 40
"""Maximum golden steps of an easy task, and of one of medium difficulty."""
_SOURCE = "MemGUI-Bench A.4.2"


class ExpertWord(NamedTuple):
    """One expert's answer on a task: True if executable, True if its way is the shortest, and its steps."""

    executable: bool
    optimal: bool | None
    steps: float | None


class GoldenWay(NamedTuple):
    """A task's way with its experts' answers. `first` and `second` are None if nobody has walked it yet."""

    unit: Unit
    first: ExpertWord | None
    second: ExpertWord | None
    third: ExpertWord | None
    settled: float | None

    @property
    def changed(self) -> bool | None:
        """True if the second expert changed the first one's answer, or None if one of them has not answered.

        A missing number of steps does not count as a change.
        """
        if self.first is None or self.second is None:
            return None
        one, other = self.first, self.second
        steps_differ = one.steps is not None and other.steps is not None and other.steps != one.steps
        return other.executable != one.executable or other.optimal is False or steps_differ

    @property
    def final(self) -> float | None:
        """Number of golden steps: adjudicated, else shared by two experts, else the third's, or None if undecided."""
        if self.settled is not None:
            return self.settled
        steps = [word.steps for word in (self.first, self.second, self.third) if word is not None and word.steps]
        most = Counter(steps).most_common(1)
        if most and most[0][1] > 1:
            return most[0][0]
        return self.third.steps if self.third is not None else None

    @property
    def needs_third_expert(self) -> bool:
        """True if a third expert must decide. A task that the second or third cannot execute needs no number."""
        return self.final is None and all(word is None or word.executable for word in (self.second, self.third))


def sections(study_data: StudyData) -> list[Section]:
    """Return the section of the experts, and of tasks by difficulty."""
    ways = ways_of(study_data)
    title = "Golden steps"
    if not any(way.second is not None for way in ways):
        return [Section(title, ("No task has been walked by a second expert yet.",))]
    return [Section(title, (), (_change_table(study_data, ways), _difficulty(study_data, ways)), _picture(ways))]


def ways_of(study_data: StudyData) -> list[GoldenWay]:
    """Return each task's experts in order.

    The first is the author of the given way, else the plan's first rater. The others follow.
    """
    answers: dict[tuple[str, int], dict[str, object]] = {}
    for field in ("executable", "optimal", STEPS):
        for one in answers_in(study_data, field):
            answers.setdefault((one.unit, one.rater), {})[field] = one.value
    codes = {code: place for place, code in enumerate(study_data.study.raters)}
    order = sorted(study_data.people, key=lambda i: (codes.get(study_data.columns.raters[i].id, len(codes)), i))
    ways = []
    for unit in asked_units(study_data):
        shortest = unit.task.shortest if unit.task is not None else None
        # A given way counts as the first expert's answer.
        words = [ExpertWord(True, None, float(shortest))] if shortest else []
        words += [_expert_word(own) for i in order if _has_answered(own := answers.get((unit.id, i), {}))]
        first, second, third = (*words[:3], None, None, None)[:3]
        ways.append(GoldenWay(unit, first, second, third, _settled_steps(study_data, unit)))
    return ways


def _has_answered(own: dict[str, object]) -> bool:
    """Return True if an expert has any answer on a task."""
    return any(value is not None for value in own.values())


def _expert_word(own: dict[str, object]) -> ExpertWord:
    steps, optimal = own.get(STEPS), own.get("optimal")
    number = float(steps) if isinstance(steps, int | float) and not isinstance(steps, bool) else None
    return ExpertWord(own.get("executable") != "no", None if optimal is None else optimal == "yes", number)


def _settled_steps(study_data: StudyData, unit: Unit) -> float | None:
    one = study_data.settled.get((unit.id, FieldReference("", STEPS)))
    value = one.what.value if one is not None else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _change_table(study_data: StudyData, ways: Sequence[GoldenWay]) -> Table:
    both = [way for way in ways if way.changed is not None]
    change_count = sum(way.changed is True for way in both)
    not_done = sum(way.second is not None and not way.second.executable for way in both)
    shorter = sum(way.second is not None and way.second.optimal is False for way in both)
    rows = [
        AnswerRow(
            RatedItem(way.unit.id, ""), way.unit.clustered, [_steps(way.first), _steps(way.second)], ("not_told",) * 2
        )
        for way in both
    ]
    steps = numbers_by(STEPS, ("first expert", "second expert"), rows)
    open_ = sum(way.needs_third_expert for way in both)
    n = len(both)
    table: tuple[tuple[Cell, ...], ...] = (
        ("tasks that two experts walked", count(n, STEPS, part="tasks")),
        (
            "changed by the second expert",
            cells.percent(share_of_independent(study_data, change_count, n, STEPS, "share changed", raters=2)),
        ),
        ("of these not executable", count(not_done, STEPS, part="not executable")),
        ("of these walked in fewer steps", count(shorter, STEPS, part="not optimal")),
        ("step counts, ICC(A,1)", Number(coefficient(study_data, icc(steps, "A,1"), steps, between="two experts"))),
        ("waiting for a third expert", count(open_, STEPS, part="open")),
    )
    notes = (
        "The first expert is who wrote the way that is given; where none is given, the plan's first who walked it.",
        "Changed: the second says that it cannot be done, that it is not the shortest, or another number of steps.",
        "The paper names the three experts and gives no numbers of theirs.",
        *few_runs_warning(n, "tasks"),
    )
    return Table("memgui-golden", "What the second expert changed", ("", "Value"), table, _SOURCE, notes)


def _steps(word: ExpertWord | None) -> float | None:
    return word.steps if word is not None else None


def _picture(ways: Sequence[GoldenWay]) -> tuple[Scatter, ...]:
    """Return a scatter of the two experts' counts, one point per task, empty if fewer than two tasks have both."""
    points = tuple(
        Point(first, second, way.unit.id)
        for way in ways
        if (first := _steps(way.first)) is not None and (second := _steps(way.second)) is not None
    )
    if len(points) < 2:
        return ()
    most = max(value for point in points for value in (point.x, point.y))
    return (Scatter("memgui-steps", "Step counts of two experts", points, "first expert", "second expert", 0.0, most),)


def _difficulty(study_data: StudyData, ways: Sequence[GoldenWay]) -> Table:
    final_ways = [(way, way.final) for way in ways if way.final is not None]
    values = [steps for _, steps in final_ways]
    parts = (
        (f"Easy (1-{EASY})", sum(steps <= EASY for steps in values)),
        (f"Medium ({EASY + 1}-{MEDIUM})", sum(EASY < steps <= MEDIUM for steps in values)),
        (f"Hard ({MEDIUM + 1}+)", sum(steps > MEDIUM for steps in values)),
    )
    n = len(values)
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            count(many, STEPS, part=name),
            cells.percent(share_of_independent(study_data, many, n, STEPS, "share", part=name)),
        )
        for name, many in parts
    ]
    items = [UnitValue(way.unit.id, way.unit.clustered, steps) for way, steps in final_ways]
    rows.append(
        ("Golden steps (mean)", Number(average(study_data, items, STEPS, "mean golden steps", least=0.0), 1), "")
    )
    between = f"From {min(values):g} to {max(values):g} steps." if values else "No task has settled golden steps."
    notes = (
        between,
        "The paper has 37.5 / 32.8 / 29.7 % of 128 tasks, from 3 to 160 steps, 36.2 on average.",
        *few_runs_warning(n, "tasks"),
    )
    head = ("Difficulty", "Tasks", "Share")
    return Table("memgui-difficulty", "Tasks by difficulty", head, tuple(rows), _SOURCE, notes)
