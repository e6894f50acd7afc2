"""A report that holds one of everything, with a stranger's words wherever words stand."""

from __future__ import annotations

from typing import Any

from lab.core.study.agreement import Agreement
from lab.core.study.report import (
    Bars,
    Grid,
    Lines,
    Number,
    Point,
    Provenance,
    Report,
    Scatter,
    Section,
    Table,
)

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [red]not[/red] \x1b[31mred\x1b]0;title\x07 | a | *b* _c_ "
    "`d` [e](http://f.example) www.g.example h@i.example ![j](k) &lt; \u202eback \ud800 \r\n# l\n- m\n--- $n$ "
    "~~o~~ \x00"
)


def agreement(value: float | None, **more: Any) -> Agreement:
    """A kappa of 12 items of 4 units."""
    given: dict[str, Any] = {"places": 12, "units": 4, "traces": 4, "raters": 2, **more}
    if value is None:
        return Agreement("state", "cohen kappa", undefined="one category", **given)
    ends = {"low": value - 0.125, "high": value + 0.0625, "interval": "jackknife-t"}
    return Agreement("state", "cohen kappa", value, **{**ends, **given})


def number(value: float | None, **more: Any) -> Number:
    return Number(agreement(value), **more)


TABLE = Table(
    "t", f"A table {HOSTILE}", ("Items", "Acc.", "Prec.", HOSTILE),
    (
        ("Fixed", number(0.875), number(None), HOSTILE),
        (HOSTILE, number(0.25), number(0.125, digits=1, times=100, suffix=" %"), "x"),
        ("paper", "0.94", "0.93", ""),
    ),
    f"A paper {HOSTILE}", (f"A note {HOSTILE}",),
)  # fmt: skip
POINTS = tuple(Point(at / 8, (at * 3 % 8) / 8, f"u{at} {HOSTILE}", f"{'ab'[at % 2]} {HOSTILE}") for at in range(9))
PICTURES = (
    Grid("g", f"A grid {HOSTILE}", ("yes", HOSTILE), ("yes", HOSTILE), ((7, 1), (2.5, 0)), "one", HOSTILE),
    Grid("g2", "Nothing", (), (), ()),
    Scatter("s", f"A scatter {HOSTILE}", POINTS, f"across {HOSTILE}", f"up {HOSTILE}"),
    Scatter("s2", "Sorted", POINTS, "across", "up", band=0.05, sorted=True),
    Scatter("s3", "No point", (), "across", "up", sorted=True, band=0.1),
    Bars("b", f"Bars {HOSTILE}", (agreement(0.5), agreement(None), agreement(-0.5, low=None, high=None, interval="")),
         ("one", HOSTILE, "three"), least=-1),
    Bars("b2", "No bar", (), ()),
    Lines("l", f"Lines {HOSTILE}", POINTS, f"across {HOSTILE}", f"up {HOSTILE}"),
    Lines("l2", "One place", (Point(3, 0.5, "", "R1"),), "across", "up"),
    Lines("l3", "No line", (), "across", "up"),
)  # fmt: skip
REPORT = Report(
    f"A study {HOSTILE}",
    Provenance(
        "a study", 1, "a" * 64, "b" * 64, HOSTILE, "c" * 64, "d" * 64, "en", "e" * 64, "hitlab 1, code f", "CPython 3",
        beside=(HOSTILE,),
    ),
    (
        Section(f"First {HOSTILE}", (f"It says {HOSTILE}", "- not a list", "1. nor this"), (TABLE,)),
        Section("Second", (), (Table("e", "Empty", ("a",), ()),), PICTURES),
        Section("Third", tables=(Table("u", "Again", ("", "Value"), (("same", number(0.875)),)),)),
    ),
)  # fmt: skip
