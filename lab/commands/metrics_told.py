"""What `hitlab metrics` prints: tables for people, one JSON document, or one CSV table."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from math import floor, log10

import msgspec

from annotators.metrics import Number
from annotators.metrics.measured import Group
from lab.output import print_json, say
from lab.plain import plain
from lab.rounded import rounded
from lab.tables import print_table
from store.formats.tables.csv_writer import harmless, line

_REST = "left out; note"
TITLES = {
    "pspa": "PSPA-Bench",
    "dac": "DAC-Bench",
    "knowu": "KnowU-Bench",
    "memgui": "MemGUI-Bench",
    "fingertip": "FingerTip-20K",
}


class TermsTold(msgspec.Struct, frozen=True, omit_defaults=True):
    """On what terms numbers were made: what was asked for on the command line."""

    step_budget: float | None = None
    golden_tokens: float | None = None
    token_budget: int | None = None
    rule_weight: float | None = None
    embedder: str = ""


class Measured(msgspec.Struct, frozen=True):
    """The papers' numbers over runs: `metrics`. `left_out` counts runs that are in no number at all, by reason.

    `by` is what runs were grouped by, `rated` whose answers of which study settled what they were rated.
    """

    db: str
    runs: int
    left_out: dict[str, int]
    papers: tuple[str, ...]
    terms: TermsTold
    groups: tuple[Group, ...]
    by: tuple[str, ...] = ()
    rated: str = ""


def tell(told: Measured) -> None:
    """Tables, one for each group and paper, that a person reads."""
    out = f"; left out: {_counts(told.left_out.items())}" if told.left_out else ""
    _say_folded(f"{_counted(told.runs, 'runs')} in {told.db}{out}")
    if told.rated:
        _say_folded(f"rated: {told.rated}")
    if not told.groups:
        say("Nothing to measure: no run is there that has ended.")
    for group in told.groups:
        if group.by:
            named = ", ".join(f"{key} {plain(value, lines=False)}" for key, value in group.by.items())
            say(f"\n== {named}: {_counted(group.runs, 'runs')}")
        for paper in told.papers:
            _tell_paper(paper, [number for number in group.numbers if number.paper == paper])


def _tell_paper(paper: str, numbers: list[Number]) -> None:
    there = [number for number in numbers if number.value is not None]
    say(f"\n{TITLES[paper]}")
    if there:
        print_table(["metric", "of", "value", "n", _REST], [_row(number) for number in there], wide=_REST)
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for number in numbers:
        if number.value is None:
            key = (number.part, number.undefined, _counts(number.left_out))
            reasons.setdefault(key, []).append(_name(number))
    for (part, reason, out), names in reasons.items():
        of = f" ({part})" if part else ""
        _say_folded(f"  no {', '.join(dict.fromkeys(names))}{of}: {reason}{f' (left out: {out})' if out else ''}")
    if not numbers:
        say("  nothing: it has no number for these runs")


def _row(number: Number) -> list[str]:
    return [
        _name(number),
        number.part or "all",
        _value(number),
        _counted(number.n, number.of),
        "; ".join(text for text in (_counts(number.left_out), number.note) if text),
    ]


def _say_folded(text: str) -> None:
    """A line that a terminal does not break within words; elsewhere it stays one line."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    if not width:
        say(text)
        return
    for piece in textwrap.wrap(
        text, max(width, 40), subsequent_indent=" " * 5, break_long_words=False, break_on_hyphens=False
    ):
        say(piece)


def _counts(reasons: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count:,} {why}" for why, count in reasons)


def _counted(count: int, of: str) -> str:
    return f"{count:,} {of.removesuffix('s') if count == 1 else of}"


def _name(number: Number) -> str:
    return f"{number.metric} ({number.version})" if number.version else number.metric


def _value(number: Number) -> str:
    """A number as its unit is read; a change bears its sign, and one of shares is in points of 100."""
    value = number.value
    assert value is not None
    change = number.metric.startswith("Δ")
    sign = "-" if value < 0 else "+" if change and value > 0 else ""
    size = abs(value)
    match number.unit:
        case "share":
            return f"{sign}{rounded(size, 1, 100)} {'points' if change else '%'}"
        case "seconds":
            return f"{sign}{rounded(size, 1)} s"
        case "usd":
            return f"{sign}${_cents(size)}"
        case "count":
            return f"{sign}{rounded(size, 0 if size == int(size) else 2)}"
    return f"{sign}{rounded(size, 3)}"


def _cents(size: float) -> str:
    """Dollars with four digits behind the point, or as many as it takes to show two that count."""
    return f"{size:,.{4 if size >= 0.001 or not size else min(12, 1 - floor(log10(size)))}f}"


def explain(texts: Mapping[str, Mapping[str, str]], *, as_json: bool) -> None:
    """What each number is and where it is defined, by paper."""
    if as_json:
        print_json(texts)
        return
    for paper, metrics in texts.items():
        say(f"{TITLES[paper]}\n")
        rows = [row for name, text in metrics.items() for row in ([name, text], ["", ""])]
        print_table(["metric", "what it is"], rows[:-1], wide="what it is")
        say("")


def print_csv(told: Measured) -> None:
    """One line for each number, those that are undefined too: their value is empty and the reason told.

    Texts stand in quotes and never run as a formula, as in the tables that runs are written as.
    """
    rest = ("paper", "metric", "part", "version", "value", "unit", "n", "of", "left_out", "undefined", "note")
    sys.stdout.write(line([*map(harmless, told.by), *rest]))
    for group in told.groups:
        for number in group.numbers:
            out = "; ".join(f"{count} {why}" for why, count in number.left_out)
            named = map(harmless, (*group.by.values(), number.paper, number.metric, number.part, number.version))
            texts = map(harmless, (number.of, out, number.undefined, number.note))
            sys.stdout.write(line([*named, number.value, number.unit, number.n, *texts]))
