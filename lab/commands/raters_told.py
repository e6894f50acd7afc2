"""What `hitlab raters` prints, as a shape and for people."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from annotators.rater_numbers import RaterNumbers
from lab.agreement import How
from lab.output import say
from lab.tables import print_table
from screens.raters.words import (
    apart_words,
    head_words,
    interval_words,
    lines_of,
    n_words,
    pace_words,
    stretch_lines,
    value_words,
)


class StudyRaters(msgspec.Struct, frozen=True):
    """Each rater of a study: `raters`. `sha` is the frozen plan's, `how` how intervals are made."""

    study: str
    version: int
    title: str
    sha: str
    how: How
    raters: tuple[RaterNumbers, ...]


def tell_raters(told: StudyRaters, shown: Mapping[str, str]) -> None:
    """A block for each rater; `shown` are questions in words."""
    say(f"{told.study} v{told.version}: {told.title}")
    if not told.raters:
        say("Nobody was dealt anything yet, and nobody has answered.")
        return
    say("The rest at an item are more than half of the other people; a judge is held against all people.")
    for one in told.raters:
        say("")
        _tell(one, shown)


def _tell(one: RaterNumbers, shown: Mapping[str, str]) -> None:
    say(head_words(one))
    if not one.answers:
        return
    say(f"  {pace_words(one)}")
    rows = [
        [f"  {line.name}", value_words(line), interval_words(line), n_words(line.number), line.beside]
        for line in lines_of(one, shown)
    ]
    print_table(["  number", "value", "interval", "n", "beside"], rows, wide="beside")
    for line in (*stretch_lines("pace", one.pace, "s"), *stretch_lines("as the rest", one.along, "%")):
        say(f"  {line}")
    for line in apart_words(one):
        say(f"  {line}")
