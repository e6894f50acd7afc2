"""Labels read for `hitlab labels`: those that stand or all, clashes by name, and how a pilot stands."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from annotators.calibration import confusion, pairwise, pilot_line
from annotators.derived import step_of
from lab.commands.labels_told import (
    ActLine,
    ClashLine,
    ConfusionCell,
    LabelLine,
    LabelList,
    PairLine,
    PilotRater,
    PilotTold,
)
from lab.errors import LabError
from lab.label import Act, Label
from lab.labels import Sheet, clashing, current, handed_in, key_of, ordered
from lab.study import Study
from store.formats.tables.csv_writer import harmless, line
from store.kits import OWN
from store.store import Store

CSV_COLUMNS = (
    "study", "version", "unit", "target", "field", "rater", "kind", "run", "value", "missing", "step", "evidence",
    "region", "confidence", "note", "cites", "act", "current", "clash", "handed_in", "shown_at", "first_key_at", "at",
    "idle_ms", "guide_sha", "protocol_sha", "config_sha", "source", "cost", "id", "supersedes",
)  # fmt: skip
"""The columns of `labels --csv`, as the fields of `LabelLine` are named; `value` and `region` are JSON but for texts,
numbers, true and false."""


def listed(store: Store, study: Study, args: argparse.Namespace, only: str) -> LabelList:
    """The labels that were asked for, and what was done beside answering where that was, too."""
    rater = only or args.rater
    unit = _unit_id(store, study, args.unit)
    rows = ordered(list(store.labels(study, unit, rater)))
    rows = [row for row in rows if not only or row.rater.kind == "human"]
    acts = [act for act in store.acts(study, rater, unit) if not only or act.act in OWN]
    lines = tuple(label_lines(study, rows, acts, history=args.history))
    told = [_act_line(act) for act in acts] if args.acts else None
    return LabelList(
        study.id, study.version, study.title, study.protocol.id, store.locked(study), only, lines,
        tuple(clashes(rows)), None if told is None else tuple(told),
    )  # fmt: skip


def label_lines(study: Study, rows: list[Label], acts: Iterable[Act], *, history: bool) -> Iterator[LabelLine]:
    """Labels as they are told: those that stand, or with `history` all, in their order."""
    standing = {label.id for label in current(rows)}
    two = clashing(rows)
    handed = handed_in(acts)
    for label in rows:
        if history or label.id in standing:
            yield LabelLine(
                label.id, label.study, label.version, label.unit, label.target, label.field, label.rater.id,
                label.rater.kind, label.run, label.value, label.reason_missing, _step(label), label.evidence,
                label.region, label.confidence, label.note, label.cites, label.act, label.undoes, label.supersedes,
                label.also, label.id in standing, key_of(label) in two,
                (label.rater.id, label.unit, label.run) in handed, label.shown_at, label.first_key_at, label.at,
                label.idle_ms, label.guide_sha, label.protocol_sha, label.config_sha, label.source, label.cost,
            )  # fmt: skip


def clashes(rows: list[Label]) -> list[ClashLine]:
    """Each place with two last words, and which these are."""
    return [
        ClashLine(
            some[0].unit, some[0].target, some[0].field, some[0].rater.id, some[0].run,
            tuple(label.reason_missing or label.value for label in some),
        )
        for some in clashing(rows).values()
    ]  # fmt: skip


def print_labels_csv(store: Store, study: Study, args: argparse.Namespace, only: str) -> None:
    """One line for each label; texts never run as a formula."""
    sys.stdout.write(line(CSV_COLUMNS))
    for one in listed(store, study, args, only).labels:
        sys.stdout.write(line([_cell(getattr(one, name)) for name in CSV_COLUMNS]))


def pilot(store: Store, study: Study, rater: str, only: str) -> PilotTold:
    """Each rater's pilot beside gold, and their answers beside each other's; of one rater alone where one is named."""
    sheets: dict[str, list[Sheet]] = {}
    for one in store.assignments(study, rater or None):
        if one.stage == "pilot":
            unit = store.unit(study, one.unit)
            sheets.setdefault(one.rater, []).append(store.sheet(study, unit, one.rater, one.run))
    lines = [pilot_line(name, theirs) for name, theirs in sheets.items()]
    told = [
        PilotRater(one.rater, one.done, one.dealt, one.places, one.right, one.share, store.held(study, one.rater))
        for one in lines
    ]
    wrong = confusion(sheet for theirs in sheets.values() for sheet in theirs)
    cells = [
        ConfusionCell(field, gold, said, n)
        for field, counts in wrong.items()
        for (gold, said), n in sorted(counts.items())
    ]
    pairs = [PairLine(one.field, one.one, one.other, one.places, one.same, one.percent) for one in pairwise(sheets)]
    guide = study.protocol.guide_sha(study.locale)
    return PilotTold(study.id, study.version, study.bar, guide, only, tuple(told), tuple(cells), tuple(pairs))


def _unit_id(store: Store, study: Study, name: str | None) -> str | None:
    if name is None:
        return None
    from lab.commands.label_places import Places

    try:
        return Places(store, study).unit(name, "labels").id
    except LabError as error:
        raise LabError("labels", error.message.replace("field unit: ", "--unit: "), error.hint) from error


def _step(label: Label) -> int | None:
    step = step_of(label)
    return None if step is None else step + 1


def _act_line(act: Act) -> ActLine:
    return ActLine(
        act.id, act.study, act.version, act.unit, act.rater.id, act.rater.kind, act.run, act.act, act.at, act.detail
    )


def _cell(value: Any) -> Any:
    """A value as a cell: text harmless, lists as JSON."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    return harmless(value if isinstance(value, str) else json.dumps(msgspec.to_builtins(value)))
