"""What `hitlab metrics` prints: tables for people, one JSON document, or one CSV table."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping

import msgspec

from annotators.metrics import Number
from annotators.metrics.measured import Group
from lab.output import print_json, say
from lab.tables import print_table

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
    """The papers' numbers over runs: `metrics`. `left_out` counts runs that are in no number at all, by reason."""

    db: str
    runs: int
    left_out: dict[str, int]
    papers: tuple[str, ...]
    terms: TermsTold
    groups: tuple[Group, ...]


def tell(told: Measured) -> None:
    """Tables, one for each group and paper, that a person reads."""
    out = "".join(f"; left out: {count} {why}" for why, count in told.left_out.items())
    say(f"{told.runs} run{'' if told.runs == 1 else 's'} in {told.db}{out}")
    for group in told.groups:
        if group.by:
            named = ", ".join(f"{key} {value}" for key, value in group.by.items())
            say(f"\n== {named}: {group.runs} run{'' if group.runs == 1 else 's'}")
        for paper in told.papers:
            _tell_paper(paper, [number for number in group.numbers if number.paper == paper])


def _tell_paper(paper: str, numbers: list[Number]) -> None:
    there = [number for number in numbers if number.value is not None]
    say(f"\n{TITLES[paper]}")
    if there:
        print_table(["metric", "of", "value", "n", "left out"], [_row(number) for number in there], wide="left out")
    reasons: dict[str, list[str]] = {}
    for number in numbers:
        if number.value is None:
            reasons.setdefault(number.undefined, []).append(_name(number))
    for reason, names in reasons.items():
        say(f"  no {', '.join(dict.fromkeys(names))}: {reason}")
    if not numbers:
        say("  nothing: it has no number for these runs")


def _row(number: Number) -> list[str]:
    out = ", ".join(f"{count} {why}" for why, count in number.left_out)
    return [
        _name(number),
        number.part or "all",
        _value(number),
        f"{number.n} {number.of}",
        "; ".join(text for text in (out, number.note) if text),
    ]


def _name(number: Number) -> str:
    return f"{number.metric} ({number.version})" if number.version else number.metric


def _value(number: Number) -> str:
    value = number.value
    assert value is not None
    match number.unit:
        case "share":
            return f"{100 * value:.1f} %"
        case "seconds":
            return f"{value:.1f} s"
        case "usd":
            return f"${value:.4f}"
        case "count":
            return f"{value:g}" if value == int(value) else f"{value:.2f}"
    return f"{value:.3f}"


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
    """One line for each number, those that are undefined too: their value is empty and the reason told."""
    keys = list(told.groups[0].by) if told.groups else []
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    rest = ["paper", "metric", "part", "version", "value", "unit", "n", "of", "left_out", "undefined", "note"]
    lines.writerow([*keys, *rest])
    for group in told.groups:
        for number in group.numbers:
            out = "; ".join(f"{count} {why}" for why, count in number.left_out)
            value = "" if number.value is None else repr(number.value)
            named = (number.paper, number.metric, number.part, number.version)
            found = (value, number.unit, number.n, number.of, out, number.undefined, number.note)
            lines.writerow([*group.by.values(), *named, *found])
    sys.stdout.write(text.getvalue())
