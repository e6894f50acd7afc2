"""The command compare: two runs side by side, without a screen."""

from __future__ import annotations

import msgspec

from lab.cli.arguments import Parser, TableArguments, argument
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result, print_table, table_form
from lab.runs.replay.comparison import RunComparison, Side, sign_of
from lab.runs.replay.comparison import compare as laid
from lab.studies.seats import sees_outcomes


class ComparedRun(msgspec.Struct, frozen=True):
    """One of the two runs. Tokens, cost and seconds are null if its source does not record them."""

    id: str
    task: str
    agent: str
    status: str
    score: float | None
    steps: int
    tokens: int | None
    cost: float | None
    seconds: float | None


class ComparedPair(msgspec.Struct, frozen=True):
    """A pair of matching steps (from 1) with their actions in words, null for a run that has none there.

    `end` marks the pair of the runs' ends, which are not steps.
    """

    left: int | None
    right: int | None
    same: bool
    left_words: str
    right_words: str
    end: bool = False


class Comparison(msgspec.Struct, frozen=True):
    """Result of `compare`: `first` is the index (from 0) of the first pair that differs, null if none does."""

    left: ComparedRun
    right: ComparedRun
    same_task: bool
    first: int | None
    differences: tuple[int, ...]
    pairs: tuple[ComparedPair, ...]


class CompareArguments(TableArguments):
    left: str = argument("ID", "id of a run, or its beginning", completes="run")
    right: str = argument("ID", "id of the other run, or its beginning", completes="run")


def add_runs_compare(parser: Parser) -> None:
    parser.runs(compare, CompareArguments, prints={"compare": Comparison})
    parser.examples(
        """\
  hitlab runs compare 019a 019b
  hitlab runs compare 019a 019b --json
"""
    )


def compare(args: CompareArguments) -> int:
    """Print two runs with matching steps side by side and the first difference marked."""
    settings = settings_for(args.db, sees_outcomes, "compare")
    with open_store(settings, create=False, readonly=True) as store:
        comparison = laid(store, store.runs.find(args.left), store.runs.find(args.right))
    print_result(_comparison(comparison), lambda _: _print_comparison(comparison), json=args.json)
    return 0


def _comparison(comparison: RunComparison) -> Comparison:
    return Comparison(
        _compared_run(comparison.left),
        _compared_run(comparison.right),
        comparison.same_task,
        comparison.first_difference,
        tuple(comparison.starts),
        tuple(_compared_pair(comparison, index) for index in range(len(comparison.pairs))),
    )


def _compared_run(side: Side) -> ComparedRun:
    started, ended, cost = side.start_event, side.ended, side.cost
    return ComparedRun(
        side.recording.id,
        started.task.id,
        started.agent.identity,
        ended.status if ended is not None else "open",
        ended.score if ended is not None else None,
        side.steps_taken,
        cost.tokens,
        cost.dollars,
        cost.seconds,
    )


def _compared_pair(comparison: RunComparison, index: int) -> ComparedPair:
    pair, words = comparison.pairs[index], comparison.words(index)
    end = comparison.is_end(index)
    left = None if pair.left is None or end else pair.left + 1
    right = None if pair.right is None or end else pair.right + 1
    return ComparedPair(left, right, pair.same, *words, end=end)


def _print_comparison(comparison: RunComparison) -> None:
    if comparison.same_task:
        print_line(f"task   {comparison.left.task}")
    else:
        print_line(f"two tasks: {comparison.left.task} | {comparison.right.task}")
    for name, side in (("left", comparison.left), ("right", comparison.right)):
        print_line(f"{name:<6} {side.name}   {side.facts}   {side.recording.id}")
    print_line("")
    rows = []
    for index in range(len(comparison.pairs)):
        pair = _compared_pair(comparison, index)
        first = "►" if index == comparison.first_difference else " "
        numbers = ["" if number is None else str(number) for number in (pair.left, pair.right)]
        rows.append([first + sign_of(comparison, index), numbers[0], pair.left_words, numbers[1], pair.right_words])
    if rows or table_form.is_data:
        columns = ["differs", "left step", "left action", "right step", "right action"]
        pairs = [_compared_pair(comparison, index) for index in range(len(comparison.pairs))]
        print_table(columns, rows, records=(ComparedPair, pairs))
    print_line("")
    if comparison.first_difference is None:
        print_line("both did the same")
    else:
        print_line(f"{comparison.size_words}; the first: {'  /  '.join(comparison.words(comparison.first_difference))}")
