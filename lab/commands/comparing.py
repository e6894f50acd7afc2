"""Two runs side by side without a screen: compare."""

from __future__ import annotations

import argparse

import msgspec

from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.output import print_json, say
from lab.settings import load
from lab.tables import print_table
from screens.compare.sides import Compared, Side, sign_of
from screens.compare.sides import compare as laid
from screens.seats import sees_outcomes


class ComparedRun(msgspec.Struct, frozen=True):
    """One of the two runs. What it cost is null where its source does not tell."""

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
    """Steps (from 1) that answer one another, null where a run has none there; what either did, in words.

    `end` is the pair of the runs' ends, which are no steps.
    """

    left: int | None
    right: int | None
    same: bool
    left_words: str
    right_words: str
    end: bool = False


class Comparison(msgspec.Struct, frozen=True):
    """What `compare` prints: `first` is the place (from 0) of the first pair that differs, null where none does."""

    left: ComparedRun
    right: ComparedRun
    same_task: bool
    first: int | None
    differences: tuple[int, ...]
    pairs: tuple[ComparedPair, ...]


def compare(args: argparse.Namespace) -> int:
    """Two runs, each step beside the one of the other that answers it, the first difference marked."""
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "compare")
    with open_store(settings, create=False, readonly=True) as store:
        compared = laid(store, store.find(args.left), store.find(args.right))
    if args.json:
        print_json(_comparison(compared))
    else:
        _tell(compared)
    return 0


def _comparison(compared: Compared) -> Comparison:
    return Comparison(
        _run(compared.left),
        _run(compared.right),
        compared.same_task,
        compared.first,
        tuple(compared.starts),
        tuple(_pair(compared, index) for index in range(len(compared.pairs))),
    )


def _run(side: Side) -> ComparedRun:
    started, ended, cost = side.started, side.ended, side.cost
    return ComparedRun(
        side.reel.id,
        started.task.id,
        started.agent.id,
        ended.status if ended is not None else "open",
        ended.score if ended is not None else None,
        side.steps,
        cost.tokens,
        cost.dollars,
        cost.seconds,
    )


def _pair(compared: Compared, index: int) -> ComparedPair:
    pair, words = compared.pairs[index], compared.words(index)
    end = compared.is_end(index)
    left = None if pair.left is None or end else pair.left + 1
    right = None if pair.right is None or end else pair.right + 1
    return ComparedPair(left, right, pair.same, *words, end=end)


def _tell(compared: Compared) -> None:
    if compared.same_task:
        say(f"task   {compared.left.task}")
    else:
        say(f"two tasks: {compared.left.task} | {compared.right.task}")
    for name, side in (("left", compared.left), ("right", compared.right)):
        say(f"{name:<6} {side.name}   {side.facts}   {side.reel.id}")
    say("")
    rows = []
    for index in range(len(compared.pairs)):
        pair = _pair(compared, index)
        first = "►" if index == compared.first else " "
        numbers = ["" if number is None else str(number) for number in (pair.left, pair.right)]
        rows.append([first + sign_of(compared, index), numbers[0], pair.left_words, numbers[1], pair.right_words])
    if rows:
        print_table(["", "left", compared.left.name, "right", compared.right.name], rows)
    say("")
    count = len(compared.starts)
    if compared.first is None:
        say("both did the same")
    else:
        differences = f"{count} difference{'' if count == 1 else 's'}"
        say(f"{differences}; the first: {'  /  '.join(compared.words(compared.first))}")
