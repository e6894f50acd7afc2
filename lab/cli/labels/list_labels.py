"""The command labels: a study's answers with their history, and its pilot."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from annotators.calibration import ConfusionCell, Pairwise, PilotLine, confusion, pairwise, pilot_line
from annotators.derived import step_of
from annotators.introductions import IntroductionLine, introduction_lines
from lab.cli.arguments import Parser, StudyArguments, TableArguments, flag, option, typed_words
from lab.cli.database import open_store, settings_for
from lab.cli.labels.add import (
    answer_words,
)
from lab.cli.labels.past_sheets import past, tell_past
from lab.cli.output import (
    SHORT_ID,
    print_line,
    print_result,
    print_table,
    record_of,
    run_id_cell,
    table_form,
    write_table,
)
from lab.core.errors import LabError
from lab.core.run.screen_clock import format_duration
from lab.core.settings import Settings
from lab.core.study.label import INTRODUCTION_ACTS, Act, ActKind, Label, Missing
from lab.core.study.rating_sheet import FINAL_WORDS, by_time, clashes_of, current_labels, place_key, submitted_sheets
from lab.core.study.study import Study
from lab.core.text.suggestion import suggestion
from lab.studies.planning.study_places import study_named
from lab.studies.seats import may_rate
from store.copies.kit_export import RATER_OWN_ACTS
from store.formats.tables.csv_writer import escape_formula, line
from store.store import Store


class LabelLine(msgspec.Struct, frozen=True):
    """One label, in a form that `hitlab labels add` accepts.

    `evidence` is a place in a run, `step` (from 1) its number.

    `current` marks the last label at its place without a clash, `clash` one of two last labels. `handed_in` means that
    its rater has handed the unit in. `act` is `undo` for a label that undoes another.
    """

    id: str
    study: str
    version: int
    unit: str
    target: str
    field: str
    rater: str
    kind: Literal["human", "model", "script"]
    run: int
    value: Any
    missing: Missing | None
    step: int | None
    evidence: str | None
    region: tuple[int, int, int, int] | None
    confidence: float | None
    note: str
    cites: str
    act: Literal["answer", "undo"]
    undoes: str | None
    supersedes: str | None
    also: tuple[str, ...]
    current: bool
    clash: bool
    handed_in: bool
    shown_at: str | None
    first_key_at: str | None
    at: str
    idle_ms: float
    guide_sha: str
    protocol_sha: str
    config_sha: str
    source: str
    cost: float | None


class ActLine(msgspec.Struct, frozen=True):
    """An act: something done in a study other than answering."""

    id: str
    study: str
    version: int
    unit: str
    rater: str
    kind: Literal["human", "model", "script"]
    run: int
    act: ActKind
    at: str
    detail: dict[str, Any]


class LabelClash(msgspec.Struct, frozen=True):
    """A place with different last labels in two merged copies. It counts nowhere until its rater settles it."""

    unit: str
    target: str
    field: str
    rater: str
    run: int
    values: tuple[Any, ...]


class LabelList(msgspec.Struct, frozen=True):
    """The labels of a study: `labels`. `only` is the one person whose labels may be shown, empty for everybody's.

    Without --history `labels` are the current ones, with it all in order of time. `acts` are null without --acts.
    """

    study: str
    version: int
    title: str
    protocol: str
    locked: bool
    only: str
    labels: tuple[LabelLine, ...]
    clashes: tuple[LabelClash, ...]
    acts: tuple[ActLine, ...] | None = None


class PilotTold(msgspec.Struct, frozen=True):
    """A study's pilot: `labels list --pilot`. `pairs` are empty until two raters have handed in a common unit.

    `introductions` list who has seen guide and keys before their first item and passed practice, which counts nowhere.
    """

    study: str
    version: int
    bar: float | None
    guide_sha: str
    only: str
    raters: tuple[PilotLine, ...]
    confusion: tuple[ConfusionCell, ...]
    pairs: tuple[Pairwise, ...]
    introductions: tuple[IntroductionLine, ...] = ()


class LabelsArguments(StudyArguments, TableArguments):
    rater: str | None = option("R1", "list only this person's, or this model's", completes="rater")
    unit: str | None = option("ID", "list only those about this unit: its id, a run's, or the beginning of one")
    history: bool = flag("also list what was changed or taken back")
    acts: bool = flag("with --json: also list what people did besides answering")
    pilot: bool = flag("compare raters with gold in the pilot")
    past: bool = flag("print your own sheets so far (or --rater's), in words")
    find: str | None = option("WORDS", "print only those of these sheets that hold all of the words", type=typed_words)
    csv: bool = flag("print a CSV table, a line for each answer", one_of="form")


def add_labels_list(parser: Parser) -> None:
    parser.runs(
        labels, LabelsArguments,
        prints={"labels": LabelList, "labels-pilot": PilotTold, "labels-past": "lab.cli.labels.past_sheets:PastSheets"},
    )  # fmt: skip
    parser.examples(
        """\
  hitlab labels list tdg --history --json   also what was changed
  hitlab labels list tdg --csv > tdg.csv    a line for each, for R or pandas
  hitlab labels list tdg --pilot            raters beside gold
  hitlab labels list tdg --find "wrong app"  your own sheets with both words
""",
    )


def labels(args: LabelsArguments) -> int:
    """Print the labels of a study, or its pilot. A rater sees only their own."""
    settings = settings_for(args.db, may_rate, "labels")
    if args.pilot and (args.csv or args.history or args.acts or args.unit):
        raise LabError("labels", "--pilot goes with --json and --rater alone.", code=2)
    past_wanted = args.past or args.find is not None
    if past_wanted and (args.csv or args.history or args.acts or args.unit or args.pilot):
        raise LabError("labels", "--past and --find go with --json and --rater alone.", code=2)
    with open_store(settings, create=False, readonly=True) as store:
        study = study_named(store, args.study)
        only = own_only(store, study, settings)
        if only and args.rater not in (None, only):
            raise LabError("labels", f"{only} sees only their own, until the study is locked.")
        if past_wanted:
            sheets = past(store, study, only or args.rater or settings.person, args.find or "", settings)
            print_result(sheets, tell_past, json=args.json)
            return 0
        if args.pilot:
            result = pilot(store, study, only or args.rater or "", only)
            print_result(result, print_pilot, json=args.json)
            return 0
        if args.rater and args.rater not in study.raters and not _has_answered(store, study, args.rater):
            problem = f"nobody of the code {args.rater} answers in it{suggestion(args.rater, study.raters) or '.'}"
            raise LabError(f"study {study.name}", problem, f"Its people are {', '.join(study.raters)}.")
        query = LabelQuery(args.rater, args.unit, args.history, args.acts)
        if args.csv:
            print_labels_csv(store, study, query, only)
            return 0
        all_told = query_labels(store, study, query, only)
        final_clashes = _final_clashes(store, study, all_told.clashes)
        print_result(all_told, lambda _: print_labels(all_told, final_clashes), json=args.json)
    return 0


def _has_answered(store: Store, study: Study, rater: str) -> bool:
    return next(store.labels.read(study, rater=rater), None) is not None or bool(store.labels.acts(study, rater))


def own_only(store: Store, study: Study, settings: Settings) -> str:
    """Return the only person whose labels may be read here, empty if all may.

    A rater's seat reads its own, a kit its rater's. So does one of the study's raters at any seat but the designer's,
    until the study is locked.
    """
    if settings.seat == "rater":
        return settings.person
    kit = store.kit()
    if kit is not None:
        return kit.rater
    rates = settings.person in study.raters and settings.seat != "designer"
    return settings.person if rates and not store.studies.locked(study) else ""


CSV_COLUMNS = (
    "study", "version", "unit", "target", "field", "rater", "kind", "run", "value", "missing", "step", "evidence",
    "region", "confidence", "note", "cites", "act", "current", "clash", "handed_in", "shown_at", "first_key_at", "at",
    "idle_ms", "guide_sha", "protocol_sha", "config_sha", "source", "cost", "id", "supersedes",
)  # fmt: skip
"""Columns of `labels list --csv`, named as the fields of `LabelLine`.

`value` and `region` are JSON, except for texts, numbers, true and false.
"""


class LabelQuery(NamedTuple):
    """Query for labels by rater and unit. `history` includes superseded ones."""

    rater: str | None
    unit: str | None
    history: bool
    acts: bool


def query_labels(store: Store, study: Study, query: LabelQuery, only: str) -> LabelList:
    """Return the labels of a query, with acts if requested."""
    rater = only or query.rater
    unit = _unit_id(store, study, query.unit)
    rows = by_time(list(store.labels.read(study, unit, rater)))
    rows = [row for row in rows if not only or row.rater.kind == "human"]
    acts = [
        act for act in store.labels.acts(study, rater, unit, judged=query.acts) if not only or act.act in RATER_OWN_ACTS
    ]
    lines = tuple(label_lines(study, rows, acts, history=query.history))
    act_lines = (
        [record_of(ActLine, act, rater=act.rater.id, kind=act.rater.kind) for act in acts] if query.acts else None
    )
    return LabelList(
        study.id, study.version, study.title, study.protocol.id, store.studies.locked(study), only, lines,
        tuple(clashes(rows)), None if act_lines is None else tuple(act_lines),
    )  # fmt: skip


def label_lines(study: Study, rows: list[Label], acts: Iterable[Act], *, history: bool) -> Iterator[LabelLine]:
    """Yield the current labels as lines, or with `history` all in order."""
    current_ids = {label.id for label in current_labels(rows)}
    two = clashes_of(rows)
    hand_ins = submitted_sheets(acts)
    for label in rows:
        if history or label.id in current_ids:
            yield record_of(
                LabelLine, label, rater=label.rater.id, kind=label.rater.kind, missing=label.reason_missing,
                step=_step_number(label), current=label.id in current_ids, clash=place_key(label) in two,
                handed_in=(label.rater.id, label.unit, label.run) in hand_ins,
            )  # fmt: skip


def clashes(rows: list[Label]) -> list[LabelClash]:
    """Return each place with two last labels, and their values."""
    return [
        LabelClash(
            some[0].unit, some[0].target, some[0].field, some[0].rater.id, some[0].run,
            tuple(label.reason_missing or label.value for label in some),
        )
        for some in clashes_of(rows).values()
    ]  # fmt: skip


def _final_clashes(store: Store, study: Study, lines: Iterable[LabelClash]) -> list[LabelClash]:
    """Return the clashes that nobody can settle, because the rater has seen the gold."""
    units = {line.unit: store.studies.unit(study, line.unit) for line in lines}
    return [line for line in lines if store.labels.sheet(study, units[line.unit], line.rater, line.run).is_final]


def print_labels_csv(store: Store, study: Study, query: LabelQuery, only: str) -> None:
    """Print one CSV line for each label. No text can run as a formula."""
    write_table(line(CSV_COLUMNS))
    for label in query_labels(store, study, query, only).labels:
        write_table(line([_csv_cell(getattr(label, name)) for name in CSV_COLUMNS]))


def pilot(store: Store, study: Study, rater: str, only: str) -> PilotTold:
    """Return the pilot against gold and the agreement of pairs, of one rater alone if named."""
    from lab.studies.progress.study_progress import pilot_sheets

    sheets = pilot_sheets(store, study, rater)
    rows = [pilot_line(name, theirs, held=store.studies.is_held(study, name)) for name, theirs in sheets.items()]
    cells = confusion(sheet for theirs in sheets.values() for sheet in theirs)
    guide = study.protocol.guide_sha(study.locale)
    introductions = introduction_lines(store.labels.acts_of(study, INTRODUCTION_ACTS), rater)
    return PilotTold(
        study.id,
        study.version,
        study.bar,
        guide,
        only,
        tuple(rows),
        tuple(cells),
        tuple(pairwise(sheets)),
        tuple(introductions),
    )


def _unit_id(store: Store, study: Study, name: str | None) -> str | None:
    if name is None:
        return None
    from lab.studies.planning.study_places import StudyPlaces

    try:
        return StudyPlaces(store, study, suggests=True).unit(name, "labels").id
    except LabError as error:
        raise LabError("labels", error.message.replace("field unit: ", "--unit: "), error.hint) from error


def _step_number(label: Label) -> int | None:
    step = step_of(label)
    return None if step is None else step + 1


def _csv_cell(value: Any) -> Any:
    """Format a value as a CSV cell: texts safe from formulas, lists as JSON."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    return escape_formula(value if isinstance(value, str) else json.dumps(msgspec.to_builtins(value)))


_COLUMNS = ("unit", "rater", "question", "answer", "item", "step", "round", "sure", "note", "given")


def print_labels(result: LabelList, final_clashes: Collection[LabelClash] = ()) -> None:
    """Print labels as a table, then clashes and a summary."""
    if result.labels or table_form.is_data:
        rows = [_label_cells(label) for label in result.labels]
        if rows and all(label.current for label in result.labels):
            rows = [row[:-1] for row in rows]
        told_of = [
            at
            for at, name in enumerate(_COLUMNS[: len(rows[0]) if rows else None])
            if table_form.is_data or _has_content(name, [row[at] for row in rows])
        ]
        columns = [_COLUMNS[at] for at in told_of]
        print_table(columns, [[row[at] for at in told_of] for row in rows], wide="note" if "note" in columns else "")
    for clash in result.clashes:
        values = " and ".join(str(value) for value in clash.values)
        place = " ".join(filter(None, (clash.target, clash.field)))
        what = f"; it stays open: {FINAL_WORDS}" if clash in final_clashes else ", and settles it by answering again"
        print_line(f"clash  {clash.unit[:SHORT_ID]} {place}: {clash.rater} says {values}{what}")
    whose = f", only those of {result.only}" if result.only else ""
    current_count = sum(label.current for label in result.labels)
    older = len(result.labels) - current_count - sum(len(clash.values) for clash in result.clashes)
    history = f", {older:,} of them superseded or taken back" if older > 0 else ""
    clashing = f", {_format_count(len(result.clashes), 'clash')}" if result.clashes else ""
    print_line(
        f"{_format_count(len(result.labels), 'answer')}{history}{clashing} in {result.study} v{result.version}{whose}"
    )


def _format_count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 'es' if what.endswith('sh') else 's'}"


def _has_content(column: str, cells: list[str]) -> bool:
    """Return True if a column has content. Who, what and where are always shown."""
    return column in _COLUMNS[:4] or any(cell not in ("", "-", "1" if column == "round" else "") for cell in cells)


def _label_cells(label: LabelLine) -> list[str]:
    answer = answer_words(label.value, label.missing)
    if label.act == "undo":
        answer = f"undo: {answer}"
    if not label.current:
        answer += " (clash)" if label.clash else " (no longer)"
    sure = "-" if label.confidence is None else f"{label.confidence:g}"
    rater = label.rater if label.kind == "human" else f"{label.rater} ({label.kind})"
    step = "-" if label.step is None else str(label.step)
    return [
        run_id_cell(label.unit), rater, label.field, answer, label.target or "-", step, str(label.run), sure,
        label.note, label.at[:19].replace("T", " "),
    ]  # fmt: skip


def _print_introductions(lines: Sequence[IntroductionLine]) -> None:
    """Print when each rater saw the guide, and their practice."""
    rows = [
        [
            rater.rater, rater.guide[:16].replace("T", " ") or "-",
            f"{rater.right} of {rater.places}" if rater.practice else "skipped" if rater.skipped else "-",
            "passed" if rater.passed else "", "-" if rater.seconds is None else format_duration(rater.seconds),
        ]
        for rater in lines
    ]  # fmt: skip
    print_table(["rater", "guide shown", "practice", "result", "took"], rows)


def print_pilot(result: PilotTold) -> None:
    """Print practice, each rater against gold, the confusions, and each pair of raters."""
    if result.introductions:
        _print_introductions(result.introductions)
        print_line("")
    if not result.raters:
        print_line("nobody was dealt a pilot unit")
        return
    rows = [
        [
            rater.rater, f"{rater.handed_in} of {rater.dealt}", f"{rater.right} of {rater.places}",
            "-" if rater.share is None else f"{rater.share:.0%}", "held" if rater.held else "",
        ]
        for rater in result.raters
    ]  # fmt: skip
    print_table(["rater", "handed in", "as gold", "share", "state"], rows)
    bar = "" if result.bar is None else f", the bar is {result.bar:.0%}"
    print_line(f"{result.study} v{result.version}, guideline {result.guide_sha[:12]}{bar}")
    wrong = [[cell.field, cell.gold, cell.said, str(cell.n)] for cell in result.confusion if cell.gold != cell.said]
    if wrong:
        print_line("")
        print_table(["question", "gold", "was rated", "times"], wrong)
    if result.pairs:
        print_line("")
        pairs = [
            [
                pair.field, pair.one, pair.other,
                "undefined (nothing in common)" if pair.percent is None else f"{pair.percent:.1f} %", str(pair.places),
            ]
            for pair in result.pairs
        ]  # fmt: skip
        print_table(["question", "rater", "and", "the same", "n"], pairs)
    if result.only:
        print_line(f"only {result.only}'s own")
