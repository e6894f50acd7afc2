"""`hitlab agreement --cases FILE`: the arithmetic tried on a file of verified cases."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from lab.output import print_json, say
from lab.tables import print_table


class CaseValue(msgspec.Struct, frozen=True):
    """One case of a file: `agreement --cases`. `value` is null where `undefined` says why.

    `expected` is the file's own number, null where it names none; `agrees` says whether value and it are no further
    apart than the file's tolerance, null where there is none to compare with.
    """

    id: str
    statistic: str
    value: float | None
    undefined: str
    expected: float | None
    agrees: bool | None


def cases(args: argparse.Namespace) -> int:
    """Every case with its value, in the file's order."""
    from annotators.agreement.cases import computed

    found = computed(Path(args.cases))
    told = [
        CaseValue(
            one.id,
            one.statistic,
            one.value,
            one.undefined,
            one.expected,
            _agrees(one.value, one.expected, found.tolerance),
        )
        for one in found.cases
    ]
    if args.json:
        print_json(told)
        return 0
    if told:
        print_table(["case", "value", "expected", "statistic"], [_row(one) for one in told], wide="statistic")
    compared = [one for one in told if one.agrees is not None]
    say(
        f"\n{len(told):,} case{'' if len(told) == 1 else 's'}; {sum(one.agrees is True for one in compared):,} of "
        f"{len(compared):,} agree to {found.tolerance:g}"
    )
    return 0


def _agrees(value: float | None, expected: float | None, tolerance: float) -> bool | None:
    if expected is None:
        return None
    return value is not None and abs(value - expected) <= tolerance


def _row(one: CaseValue) -> list[str]:
    value = f"undefined ({one.undefined})" if one.value is None else f"{one.value:.6f}"
    beside = "" if one.expected is None else f"{one.expected:.6f}{'' if one.agrees else ' differs'}"
    return [one.id, value, beside, one.statistic]
