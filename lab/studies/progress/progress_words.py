"""Progress of studies in words: the same tables in the terminal, on the screen Progress and on a browser's page.

A dash means unknown. Everything returned is plain text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from lab.core.study.study_progress import (
    NOTHING,
    FieldDisagreement,
    IntervalProgress,
    JudgeProgress,
    ProgressTotal,
    RaterProgress,
    RaterStatus,
    Share,
    StudyProgress,
)
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count, format_number

NONE = "-"
Cells = Mapping[str, str]
"""Cells of a row by column."""


class ProgressColumn(NamedTuple):
    """A column of a table: its title, its meaning, and right alignment."""

    title: str
    means: str = ""
    right: bool = True


RATERS: dict[str, ProgressColumn] = {
    "name": ProgressColumn("person", right=False),
    "done": ProgressColumn("done", "items handed in, of those dealt"),
    "left": ProgressColumn("left", "items that are theirs to do"),
    "pace": ProgressColumn("s each", "the median of the seconds of work on an item handed in, without times away"),
    "work": ProgressColumn("work left", "those items at that pace"),
    "until": ProgressColumn(
        "done by", "if it goes on as in the last seven days; known from two sittings on that lie a day apart"
    ),
    "pilot": ProgressColumn("pilot", "calibration answers that are right"),
    "seen": ProgressColumn("seen", "when they did anything last"),
    "differs": ProgressColumn(
        "differs", "answers that are not what most of the others say; a judge's: not what most people say"
    ),
    "flags": ProgressColumn("flags", "flags raised on what is handed in"),
    "back": ProgressColumn("back", "items taken back and not handed in again"),
    "cost": ProgressColumn("cost", "what a judge's answers cost, where that is stored"),
    "note": ProgressColumn("", right=False),
}
"""Columns of a study's people and judges."""
STATUS: dict[str, ProgressColumn] = {
    "name": RATERS["name"],
    "done": ProgressColumn("done"),
    "dealt": ProgressColumn("dealt"),
    "begun": ProgressColumn("begun", "items with an answer that are not handed in"),
    "minutes": ProgressColumn("minutes"),
    "seconds": ProgressColumn("seconds each", RATERS["pace"].means),
    "consent": ProgressColumn("agreed", "when they gave their consent", right=False),
    "note": ProgressColumn("state", right=False),
}
"""Columns of `study status`: numbers alone, for a spreadsheet."""
STUDIES: dict[str, ProgressColumn] = {
    "name": ProgressColumn("study", right=False),
    "state": ProgressColumn("", right=False),
    "people": ProgressColumn("people", "who takes part now"),
    **{name: RATERS[name] for name in ("done", "left", "pace", "work", "until", "seen")},
    "differs": ProgressColumn("differs", "items that two or more people answered, and not all the same"),
    "note": ProgressColumn("", right=False),
    "cost": RATERS["cost"],
    "title": ProgressColumn("title", right=False),
}
"""Columns of the list of studies."""
FIELDS: dict[str, ProgressColumn] = {
    "question": ProgressColumn("question", right=False),
    "differs": ProgressColumn("differs", STUDIES["differs"].means),
}
"""Columns of a study's questions."""
GIVE_WAY = ("title", "back", "flags", "cost", "pilot", "people", "differs", "until", "work", "seen", "pace")
"""Columns to omit if the width is too small, in this order."""
STRAGGLERS = (
    "quiet: away for a day or more, and for over three times the usual gap between two of their sittings "
    "(the others' usual gap if they had fewer than three sittings)",
    "behind: done less than half of what the others have (the median of at least two), once these have done a fifth",
)
"""Definitions of the two kinds of straggler, in words."""


def rater_cells(one: RaterProgress, at: str) -> Cells:
    """Return a person's row. `at` is now."""
    return {
        "name": _code(one.rater),
        "done": f"{one.done:,}/{one.dealt:,}",
        "left": f"{one.left:,}",
        "pace": _seconds(one.pace),
        "work": duration(one.work_left),
        "until": day(one.until),
        "pilot": share(one.pilot),
        "seen": ago(one.seen, at),
        "differs": share(one.apart),
        "flags": _some(one.flags),
        "back": _some(one.returned),
        "cost": "",
        "note": ", ".join(rater_notes(one)),
    }


def status_cells(one: RaterStatus) -> Cells:
    """Return a person's row of `study status`."""
    notes = [
        ("held", one.held),
        ("left", one.replaced),
        ("withdrew", one.withdrawn),
        (f"{one.clashes} to settle", one.clashes > 0),
    ]
    return {
        "name": one.rater,
        "done": f"{one.done:,}",
        "dealt": f"{one.dealt:,}",
        "begun": f"{max(0, one.begun - one.done):,}",
        "minutes": f"{one.minutes:.1f}",
        "seconds": NONE if one.seconds is None else f"{one.seconds:.1f}",
        "consent": (one.consent or NONE)[:16],
        "note": ", ".join(word for word, holds in notes if holds),
    }


def judge_cells(one: JudgeProgress) -> Cells:
    """Return a judge's row, without times, since nobody waits for a judge."""
    return {
        **dict.fromkeys(RATERS, ""),
        "name": _code(one.judge),
        "done": f"{one.answered:,}/{one.units:,}",
        "differs": share(one.apart),
        "cost": dollars(one.cost),
        "note": "judge" if one.kind == "model" else one.kind,
    }


def total_cells(progress: StudyProgress) -> Cells:
    """Return the row of all people together."""
    total = progress.total
    return {
        "name": "all",
        **_sums(total, progress.at),
        "pilot": share(total.pilot),
        "flags": _some(total.flags),
        "back": _some(total.returned),
        "note": ", ".join(total_notes(total)),
    }


def study_cells(progress: StudyProgress) -> Cells:
    """Return a study's row in the list of studies."""
    total = progress.total
    return {
        "name": _code(progress.name),
        "state": progress.state,
        "people": f"{total.people:,}",
        **_sums(total, progress.at),
        "note": ", ".join(total_notes(total)),
        "title": plain(progress.title, lines=False),
    }


def _sums(one: ProgressTotal, at: str) -> Cells:
    return {
        "done": f"{one.done:,}/{one.dealt:,}",
        "left": f"{one.left:,}",
        "pace": _seconds(one.pace),
        "work": duration(one.work_left),
        "until": day(one.until),
        "seen": ago(one.seen, at),
        "differs": share(one.differ),
        "cost": dollars(one.cost) if one.cost is not None else "",
    }


def field_cells(one: FieldDisagreement) -> Cells:
    """Return a question's row."""
    return {"question": plain(one.question, lines=False), "differs": share(one.differ)}


def rater_notes(one: RaterProgress) -> list[str]:
    """Return what a manager would act on, in a word or two each, the most urgent first."""
    notes = [
        ("withdrew", one.withdrawn),
        ("replaced", one.replaced),
        ("held", one.held),
        *((why, True) for why in one.straggler),
        (f"{one.clashes:,} to settle", one.clashes > 0),
        ("not begun", one.dealt > 0 and not one.begun and bool(one.left) and one.seen is None),
        ("done", one.dealt > 0 and not one.left and not one.replaced and not one.withdrawn),
    ]
    return [word for word, holds in notes if holds]


def total_notes(one: ProgressTotal) -> list[str]:
    """Return the same notes for all people together."""
    notes = [
        (f"{one.held:,} held", one.held),
        (count(one.stragglers, "straggler"), one.stragglers),
        (f"{one.clashes:,} to settle", one.clashes),
    ]
    return [word for word, many in notes if many]


def head_words(progress: StudyProgress) -> str:
    """Describe a study in one line: name, title, state."""
    state = "" if progress.state == "running" else progress.state
    parts = (_code(progress.name), plain(progress.title, lines=False), state)
    return "   ".join(filter(None, parts))


def rater_words(one: RaterProgress, at: str) -> str:
    """Describe a person in one line, each number with its meaning. Unknown ones are omitted."""
    cells = rater_cells(one, at)
    templates = {
        "pace": "{} s each",
        "work": "{} of work left",
        "until": "done by {}",
        "pilot": "pilot {} right",
        "seen": "seen {}",
        "differs": "differs in {}",
        "flags": "{} flags",
        "back": "{} taken back",
    }
    numbers = [words.format(cells[name]) for name, words in templates.items() if cells[name] not in ("", NONE)]
    notes = ", ".join(note for note in rater_notes(one) if note != "done")
    return "   ".join(filter(None, (cells["name"], f"{cells['done']} done", *numbers, notes)))


def judge_words(one: JudgeProgress) -> str:
    """Describe a judge in one line."""
    cells = judge_cells(one)
    parts = [cells["name"], cells["note"], f"{cells['done']} items answered"]
    parts += [f"differs from most people in {cells['differs']}"] if one.apart.n else []
    parts += [f"cost {cells['cost']}"] if one.cost is not None else []
    return "   ".join(parts)


def interval_words(one: IntervalProgress) -> str:
    """Compare the width of a judge's corrected interval with the planned one, in one line."""
    planned = f"planned {format_number(one.planned, 1, 100)}"
    coverage = f"{one.labelled:,} of {count(one.items, 'item')} labelled"
    what = f"{_code(one.judge)}, {_code(one.field)}"
    if one.width is None:
        return f"{what}: no interval yet ({planned} points; {coverage})"
    width = f"interval {format_number(one.width, 1, 100)} points wide, {planned}"
    if one.reached:
        return f"{what}: {width}: reached, nobody needs to label more ({coverage})"
    if one.more is None:
        return f"{what}: {width}; so few items are never so narrow ({coverage})"
    return f"{what}: {width}; about {count(one.more, 'label')} more ({coverage})"


def total_words(progress: StudyProgress) -> str:
    """Describe all people together in one line."""
    total, cells = progress.total, total_cells(progress)
    templates = {
        "pace": "{} s each",
        "work": "{} of work left",
        "until": "done by {}",
        "differs": "people differ in {} items",
    }
    numbers = [words.format(cells[name]) for name, words in templates.items() if cells[name] != NONE]
    return "   ".join([count(total.people, "person", "people"), f"{cells['done']} done", *numbers, *total_notes(total)])


def legend(columns: Sequence[str], table: Mapping[str, ProgressColumn]) -> list[str]:
    """Return the meaning of each column of a table, one line each."""
    return [f"{table[name].title}: {table[name].means}" for name in columns if table[name].means]


class ProgressRow(NamedTuple):
    """A row of a table: its cells, its owner, and its words in one line."""

    cells: Cells
    kind: Literal["rater", "judge", "all", "question"]
    id: str
    words: str
    urgent: bool = False
    """True if a manager should act on it."""


def people_rows(progress: StudyProgress) -> list[ProgressRow]:
    """Return the rows of a study's people, then judges, then the total."""
    at = progress.at
    rows = [
        ProgressRow(
            rater_cells(one, at), "rater", one.rater, rater_words(one, at),
            one.held or bool(one.straggler) or one.clashes > 0,
        )
        for one in progress.raters
    ]  # fmt: skip
    for one in progress.judges:
        intervals = [interval_words(its) for its in progress.intervals if its.judge == one.judge]
        rows.append(ProgressRow(judge_cells(one), "judge", one.judge, "   ".join([judge_words(one), *intervals])))
    return [*rows, ProgressRow(total_cells(progress), "all", "", total_words(progress))]


def question_rows(progress: StudyProgress) -> list[ProgressRow]:
    """Return the questions that at least two people answered for the same item."""
    return [
        ProgressRow(cells, "question", one.field, f"{cells['question']}: people differ in {cells['differs']} items")
        for one in progress.fields
        if one.differ.n
        for cells in (field_cells(one),)
    ]


def filled_columns(table: Mapping[str, ProgressColumn], rows: Sequence[Cells]) -> list[str]:
    """Return the columns that have a value in any row."""
    return [name for name in table if any(row.get(name) for row in rows)]


def column_widths(
    table: Mapping[str, ProgressColumn], rows: Sequence[Cells], needs: Mapping[str, int], width: int, gap: int
) -> dict[str, int]:
    """Return the columns to show in `width` cells, and their widths: none that is empty, as many others as fit.

    `needs` is the width of each column, `gap` the blanks between two. If it is still too wide, names, questions and
    notes are cut, which can be read then.
    """
    columns = filled_columns(table, rows)
    for name in GIVE_WAY:
        if sum(needs[one] + gap for one in columns) - gap <= width:
            break
        columns = [one for one in columns if one != name]
    widths = {name: needs[name] for name in columns}
    over = sum(widths.values()) + gap * (len(widths) - 1) - width
    for name in sorted(("name", "question", "note"), key=lambda name: -widths.get(name, 0)):
        if over > 0 and name in widths:
            least = max(4, widths[name] - over)
            over -= widths[name] - least
            widths[name] = least
    return widths


# -- single values -----------------------------------------------------------------------------------------------


def share(one: Share) -> str:
    """Format a share with its n: `12 % of 40`."""
    return NONE if one == NOTHING or one.share is None else f"{format_number(one.share, 0, 100)} % of {one.n:,}"


def duration(seconds: float | None) -> str:
    """Format seconds of work in minutes or hours."""
    if seconds is None:
        return NONE
    if seconds < 60:
        return f"{format_number(seconds, 0)} s"
    return f"{format_number(seconds / 60, 0)} min" if seconds < 5400 else f"{format_number(seconds / 3600, 1)} h"


def ago(then: str | None, at: str) -> str:
    """Format the time between `then` and `at`."""
    if then is None:
        return NONE
    seconds = (datetime.fromisoformat(at) - datetime.fromisoformat(then)).total_seconds()
    for least, unit, word in ((172_800, 86_400, "days"), (7200, 3600, "h"), (60, 60, "min")):
        if seconds >= least:
            return f"{int(seconds // unit):,} {word} ago"
    return "just now"


def day(then: str | None) -> str:
    """Format a time as a date in the manager's time zone."""
    return NONE if then is None else datetime.fromisoformat(then).astimezone().strftime("%Y-%m-%d")


def dollars(cost: float | None) -> str:
    """Format US dollars. Amounts below a cent get four digits."""
    return NONE if cost is None else f"${format_number(cost, 2 if cost >= 0.01 or not cost else 4)}"


def _seconds(seconds: float | None) -> str:
    return NONE if seconds is None else format_number(seconds, 1)


def _some(many: int) -> str:
    return f"{many:,}" if many else ""


def _code(name: str) -> str:
    return plain(name, lines=False)
