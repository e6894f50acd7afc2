"""How those who stand in for a person answered: how long it took them, how much they wrote and took back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from statistics import median

from annotators.report.papers.cells import Item, average
from annotators.report.papers.said import asked_units, said
from annotators.studied import Studied
from lab.case import Case
from lab.report import Cell, Number, Section, Table
from lab.rounded import rounded
from lab.turn import Reply


def answering(studied: Studied, by: Mapping[str, Sequence[Case]]) -> list[Section]:
    """Replies by condition, and what people said after their tasks; nothing where there is neither."""
    tables = [table for table in (_replies(by), _afterwards(studied)) if table.rows]
    return [Section("How they answered", tables=tuple(tables))] if tables else []


def _replies(by: Mapping[str, Sequence[Case]]) -> Table:
    rows = []
    for name, cases in by.items():
        replies = [step.reply for case in cases for step in case.steps if step.reply is not None]
        if replies:
            rows.append(
                (
                    name, f"{len(replies):,}",
                    _middle(replies, lambda one: _seconds(one.shown_at, one.first_key_at), 1),
                    _middle(replies, lambda one: _seconds(one.shown_at, one.sent_at), 1),
                    _middle(replies, lambda one: float(len(one.text)), 0),
                    _middle(replies, lambda one: None if one.edits is None else float(one.edits), 0),
                    _decisions(replies),
                )
            )  # fmt: skip
    columns = ("Replies by", "Replies", "Seconds to first key", "Seconds until sent", "Characters", "Taken back",
               "Accepted / rejected")  # fmt: skip
    notes = ("Medians; in brackets the replies they are of, where not all tell it.",)
    return Table("replies", "Replies", columns, tuple(rows), notes=notes)


def _middle(replies: Sequence[Reply], value: Callable[[Reply], float | None], digits: int) -> str:
    found = [told for one in replies if (told := value(one)) is not None]
    if not found:
        return "not told"
    of = f" ({len(found):,})" if len(found) < len(replies) else ""
    return f"{rounded(median(found), digits)}{of}"


def _seconds(first: str | None, last: str | None) -> float | None:
    if not first or not last:
        return None
    try:
        return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    except (ValueError, TypeError):  # a stranger's time that is none, or of which one has no zone
        return None


def _decisions(replies: Sequence[Reply]) -> str:
    accepted, rejected = (sum(one.decision == what for one in replies) for what in ("accept", "reject"))
    return f"{accepted:,} / {rejected:,}"


def _afterwards(studied: Studied) -> Table:
    """The mean of what people said after their tasks, from 1 to 5."""
    units = {unit.id: unit for unit in asked_units(studied)}
    rows: list[tuple[Cell, ...]] = []
    for field in studied.study.protocol.fields:
        if field.kind != "ordinal":
            continue
        told = [one for one in said(studied, field.id) if one.value is not None]
        items = [Item(f"{one.unit} {one.rater}", units[one.unit].clustered, float(one.value)) for one in told]
        if items:
            raters = len({one.rater for one in told})
            rows.append(
                (field.ask, Number(average(studied, items, field.id, "mean", raters=raters)), f"{len(items):,}")
            )
    return Table("afterwards", "What people said after a task, from 1 to 5", ("", "Mean", "Answers"), tuple(rows))
