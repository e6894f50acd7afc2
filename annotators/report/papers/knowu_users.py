"""KnowU-Bench 4.1, 4.3: people in the simulator's place. The paper's numbers by condition, and paired by task.

A condition is who answered, and whether they saw the phone. A run that was interrupted, or goes on, counts nowhere. A
difference is of one task's mean under one condition and under the other, over the tasks that were played under both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from msgspec.structs import replace

from annotators.metrics import DEFAULTS, Tally
from annotators.metrics.knowu_policy import Group, paper_policy
from annotators.metrics.knowu_runs import Run, runs_of
from annotators.report.papers.cells import Item, average, few
from annotators.report.papers.knowu_answering import answering
from annotators.studied import Studied
from lab.agreement import Agreement, How
from lab.report import Bars, Cell, Number, Section, Table

_SOURCE = "KnowU-Bench 4.1"


class Made(NamedTuple):
    """One run of the study that has ended: its task, its condition, who answered, and the run as metrics read it."""

    task: str
    condition: str
    by: str
    run: Run


class Measure(NamedTuple):
    """One of the paper's numbers: what a run adds to its mean, None where it is not among those it is of."""

    name: str
    value: Callable[[Run], float | None]
    share: bool
    of: str
    digits: int = 2


def _kept(group: Group) -> Callable[[Run], float | None]:
    def value(run: Run) -> float | None:
        policy = paper_policy(run, DEFAULTS)
        return float(policy.kept) if policy.group == group else None

    return value


def _efficient(run: Run) -> float | None:
    """S_i / max(c_i, 1) of a personalized task."""
    return None if run.score is None or run.split != "personalized" else run.score / max(run.queries, 1)


MEASURES = (
    Measure("SR", lambda run: None if run.score is None else float(run.done), True, "run with a score"),
    Measure("Average score", lambda run: run.score, False, "run with a score"),
    Measure("Questions per task", lambda run: float(run.queries), False, "run"),
    Measure("IE", _efficient, False, "personalized run with a score"),
    Measure("Act", _kept("need"), True, "proactive run that warranted help"),
    Measure("Silent", _kept("noneed"), True, "proactive run that warranted none"),
    Measure("Stop", _kept("reject"), True, "proactive run in which the person refused"),
)  # fmt: skip


def sections(studied: Studied) -> list[Section]:
    """The numbers by condition, differences paired by task, and how people answered."""
    left: dict[str, int] = defaultdict(int)
    made = list(_made(studied, left))
    conditions = _conditions(studied, made)
    tasks = len({one.task for one in made})
    says = [f"{_many(len(made), 'run')} of {_many(tasks, 'task')} under {_many(len(conditions), 'condition')}."]
    says += [f"Left out: {', '.join(f'{many:,} {why}' for why, many in sorted(left.items()))}."] if left else []
    by: Mapping[str, list[Made]] = {name: [one for one in made if one.condition == name] for name in conditions}
    tables = [_by_condition(studied, by), *_paired(studied, by)]
    first = Section("People in the simulator's place", (*says, *few(tasks, "tasks")), tuple(tables), _bars(studied, by))
    return [first, *answering(studied, {name: [one.run.case for one in some] for name, some in by.items()})]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what if count == 1 else what + 's'}"


def _made(studied: Studied, left: dict[str, int]) -> Iterator[Made]:
    """The runs that count; the others are counted in `left`."""
    seen = set()
    for one in studied.played:
        case = studied.case(one.trace) if one.status not in ("interrupted", "open") else None
        why = one.status if one.status in ("interrupted", "open") else "" if case is not None else "not in this file"
        tally = Tally()
        runs = runs_of([case], DEFAULTS, tally) if case is not None else []
        why = why or next((reason for reason, _ in tally.told), "")
        if why:
            left[_WORDS.get(why, why)] += 1
        elif one.trace not in seen:
            seen.add(one.trace)
            yield Made(one.task, one.condition, one.by.id, runs[0])


_WORDS = {"open": "not ended"}


def _conditions(studied: Studied, made: Sequence[Made]) -> list[str]:
    """In the order in which the study's units name them."""
    planned = [unit.play.condition for unit in studied.units if unit.play is not None]
    return list(dict.fromkeys((*planned, *(one.condition for one in made))))


def _items(made: Sequence[Made], measure: Measure) -> list[Item]:
    values = ((one, measure.value(one.run)) for one in made)
    return [Item(one.run.case.id, one.task, value) for one, value in values if value is not None]


def _mean(studied: Studied, made: Sequence[Made], measure: Measure, condition: str) -> Agreement:
    return average(
        studied, _items(made, measure), "play", measure.name, most=1.0 if measure.share else None, part=condition,
        between=f"user: {condition}", raters=len({one.by for one in made}), why=f"no {measure.of}",
    )  # fmt: skip


def _cell(one: Agreement, measure: Measure) -> Number:
    return Number(one, 1, 100, " %") if measure.share else Number(one, measure.digits)


def _by_condition(studied: Studied, by: Mapping[str, Sequence[Made]]) -> Table:
    rows: list[tuple[Cell, ...]] = [("Runs", *(f"{len(some):,}" for some in by.values()))]
    rows.append(("Tasks", *(f"{len({one.task for one in some}):,}" for some in by.values())))
    for measure in MEASURES:
        rows.append((measure.name, *(_cell(_mean(studied, some, measure, name), measure) for name, some in by.items())))
    notes = (
        "SR: score above .99. IE: score over questions, at least 1, of personalized tasks. Act, Silent and Stop are of "
        "proactive tasks that warranted help, that warranted none, and in which the person refused.",
        "Intervals are clustered by task.",
    )
    return Table("users", "The paper's numbers by who answered", ("", *by), tuple(rows), _SOURCE, notes)


def _paired(studied: Studied, by: Mapping[str, Sequence[Made]]) -> list[Table]:
    """For each two conditions the mean difference over tasks that both have."""
    tables = []
    for at, (one, other) in enumerate(combinations(by, 2), 1):
        rows = [_difference(studied, by, one, other, measure) for measure in MEASURES]
        columns = ("", one, other, "Difference", "Difference, bootstrap", "Tasks")
        notes = (
            "Means of the tasks' means, over the tasks that both have; the difference is paired by task.",
            f"Its first interval leaves out one task after another (jackknife-t); for the second whole tasks, each "
            f"under both conditions, are drawn {studied.how.resamples:,} times, seed {studied.how.seed}.",
        )
        tables.append(
            Table(f"paired-{at}", f"{one} against {other}, paired by task", columns, tuple(rows), _SOURCE, notes)
        )
    return tables


def _difference(
    studied: Studied, by: Mapping[str, Sequence[Made]], one: str, other: str, measure: Measure
) -> tuple[Cell, ...]:
    first, second = (_by_task(by[name], measure) for name in (one, other))
    tasks = sorted(first.keys() & second.keys())
    why = "no task has such runs under both"
    told: list[Cell] = [measure.name]
    for name, means in ((one, first), (other, second)):
        items = [Item(task, task, means[task]) for task in tasks]
        most = 1.0 if measure.share else None
        mean = average(
            studied, items, "play", f"{measure.name}, mean of tasks", most=most, part=name, between=f"user: {name}",
            raters=_by_whom(by[name], tasks), why=why,
        )  # fmt: skip
        told.append(_cell(mean, measure))
    items = [Item(task, task, first[task] - second[task]) for task in tasks]
    raters = _by_whom([*by[one], *by[other]], tasks)
    jackknife = How(level=studied.how.level)
    for how in (jackknife, replace(studied.how, interval="bootstrap")):
        gap = average(
            studied, items, "play", f"{measure.name}, difference", between=f"{one} minus {other}", raters=raters,
            why=why, how=how,
        )  # fmt: skip
        told.append(_cell(gap, measure))
    return (*told, f"{len(tasks):,}")


def _by_whom(made: Sequence[Made], tasks: Sequence[str]) -> int:
    return len({one.by for one in made if one.task in tasks})


def _by_task(made: Sequence[Made], measure: Measure) -> dict[str, float]:
    """Each task's mean over its runs, summed in their order."""
    values: dict[str, list[float]] = defaultdict(list)
    for item in sorted(_items(made, measure)):
        values[item.cluster].append(item.value)
    return {task: sum(some) / len(some) for task, some in values.items()}


def _bars(studied: Studied, by: Mapping[str, Sequence[Made]]) -> tuple[Bars, ...]:
    found: list[Any] = [(name, _mean(studied, some, MEASURES[0], name)) for name, some in by.items() if some]
    if not found:
        return ()
    return (Bars("users-sr", "SR by who answered", tuple(one for _, one in found), tuple(name for name, _ in found)),)
