"""Labels in words: a line for each row that is taken in, tables of those that are there and of how a pilot stands."""

from __future__ import annotations

from typing import Any

from lab.commands.labels_told import LabelDone, LabelLine, LabelList, PilotTold
from lab.commands.records import SHORT_ID
from lab.label import Missing
from lab.labels import MISSING
from lab.output import say
from lab.tables import print_table


def said_words(value: Any, missing: Missing | None) -> str:
    """An answer as people read it."""
    if missing is not None:
        return f"({MISSING[missing]})"
    if value is None:
        return "(taken back)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def done_words(done: LabelDone) -> str:
    """What became of one row, in a line."""
    if done.state == "refused":
        return f"refused  {done.where}: {done.error}"
    parts = [
        " ".join(filter(None, (one.target, one.field, "=", said_words(one.value, one.missing))))
        + (" (there already)" if one.state == "there already" and done.state == "kept" else "")
        for one in done.labels
    ]
    if done.handed_in:
        parts.append("handed in")
    if done.share is not None:
        right = sum(one.right for one in done.gold)
        parts.append(f"{right} of {len(done.gold)} right, {done.share:.0%} of the pilot so far")
    parts += ["held below the study's bar"] if done.held else []
    parts += [f"{name} {value}" for name, value in done.derived]
    again = f" run {done.run}" if done.run > 1 else ""
    return f"{done.state}  {done.unit[:SHORT_ID]} {done.rater}{again}: {'; '.join(parts)}"


_COLUMNS = ("unit", "rater", "question", "answer", "item", "step", "round", "sure", "note", "given")


def tell_list(told: LabelList) -> None:
    """Labels as a table, clashes by name, and whose they are."""
    if told.labels:
        rows = [_cells(one) for one in told.labels]
        if all(one.current for one in told.labels):
            rows = [row[:-1] for row in rows]
        told_of = [at for at, name in enumerate(_COLUMNS[: len(rows[0])]) if _tells(name, [row[at] for row in rows])]
        columns = [_COLUMNS[at] for at in told_of]
        print_table(columns, [[row[at] for at in told_of] for row in rows], wide="note" if "note" in columns else "")
    for clash in told.clashes:
        values = " and ".join(str(value) for value in clash.values)
        place = " ".join(filter(None, (clash.target, clash.field)))
        say(f"clash  {clash.unit[:SHORT_ID]} {place}: {clash.rater} says {values}, and settles it by answering again")
    whose = f", only those of {told.only}" if told.only else ""
    standing = sum(one.current for one in told.labels)
    older = len(told.labels) - standing
    history = f", {older:,} of them superseded or taken back" if older else ""
    clashing = f", {_counted(len(told.clashes), 'clash')}" if told.clashes else ""
    say(f"{_counted(len(told.labels), 'answer')}{history}{clashing} in {told.study} v{told.version}{whose}")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 'es' if what.endswith('sh') else 's'}"


def _tells(column: str, cells: list[str]) -> bool:
    """Whether a column says anything; who, what and where always do."""
    return column in _COLUMNS[:4] or any(cell not in ("", "-", "1" if column == "round" else "") for cell in cells)


def _cells(one: LabelLine) -> list[str]:
    answer = said_words(one.value, one.missing)
    if one.act == "undo":
        answer = f"undo: {answer}"
    if not one.current:
        answer += " (clash)" if one.clash else " (no longer)"
    sure = "-" if one.confidence is None else f"{one.confidence:g}"
    rater = one.rater if one.kind == "human" else f"{one.rater} ({one.kind})"
    step = "-" if one.step is None else str(one.step)
    return [
        one.unit[:SHORT_ID], rater, one.field, answer, one.target or "-", step, str(one.run), sure, one.note,
        one.at[:19].replace("T", " "),
    ]  # fmt: skip


def tell_pilot(told: PilotTold) -> None:
    """Each rater beside gold, what was taken for what, and each two raters beside each other."""
    if not told.raters:
        say("nobody was dealt a pilot unit")
        return
    rows = [
        [
            one.rater, f"{one.handed_in} of {one.dealt}", f"{one.right} of {one.places}",
            "-" if one.share is None else f"{one.share:.0%}", "held" if one.held else "",
        ]
        for one in told.raters
    ]  # fmt: skip
    print_table(["rater", "handed in", "as gold", "share", ""], rows)
    bar = "" if told.bar is None else f", the bar is {told.bar:.0%}"
    say(f"{told.study} v{told.version}, guideline {told.guide_sha[:12]}{bar}")
    wrong = [[one.field, one.gold, one.said, str(one.n)] for one in told.confusion if one.gold != one.said]
    if wrong:
        say("")
        print_table(["question", "gold", "was rated", "times"], wrong)
    if told.pairs:
        say("")
        pairs = [
            [
                one.field, one.one, one.other,
                "undefined (nothing in common)" if one.percent is None else f"{one.percent:.1f} %", str(one.places),
            ]
            for one in told.pairs
        ]  # fmt: skip
        print_table(["question", "rater", "and", "the same", "n"], pairs)
    if told.only:
        say(f"only {told.only}'s own")
