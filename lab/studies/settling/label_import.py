"""Import of answers as rows from a file or a program, under the same rules as the screen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from annotators.calibration import CalibrationAnswer
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.settings import check_code, check_distinct
from lab.core.study.guideline import clause_of, clauses
from lab.core.study.label import Label, Missing
from lab.core.study.label_rules import as_option
from lab.core.study.rating_sheet import FieldReference, Sheet, answer_to, target_of, undo_of
from lab.core.study.signing import sign_act, sign_label
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.text.typed_text import clean, clean_value
from lab.studies.judging.judges_beside import judges_beside
from lab.studies.planning.study_places import StudyPlaces
from lab.studies.rating.rating_session import RatingSession
from lab.studies.settling.label_rows import LabelRow, NumberedRow, PlacedAnswer, answers
from store.store import Store


class LabelKept(msgspec.Struct, frozen=True):
    """One answer of a row. `state` is "there already" if the file held it."""

    target: str
    field: str
    value: Any
    missing: Missing | None
    state: Literal["kept", "there already"]
    id: str


class JudgeTold(msgspec.Struct, frozen=True):
    """A judge's answer at a place of a unit after hand-in, if the study reveals models."""

    target: str
    field: str
    judge: str
    value: Any
    missing: Missing | None
    note: str


class LabelDone(msgspec.Struct, frozen=True):
    """Result of one row: a line of `label --json`, printed after the commit.

    `handed_in`: this row handed the unit in. Then `derived` holds what follows from its answers. For a person's
    calibration unit, `gold` holds the right answers, `share` the share right in the pilot so far, `held` that the bar
    was missed. If the study reveals models, `judges` holds their answers to the unit, which then cannot be reopened.
    """

    where: str
    state: Literal["kept", "there already", "refused"]
    unit: str = ""
    rater: str = ""
    run: int = 1
    labels: tuple[LabelKept, ...] = ()
    handed_in: bool = False
    derived: tuple[tuple[str, str], ...] = ()
    gold: tuple[CalibrationAnswer, ...] = ()
    share: float | None = None
    held: bool = False
    judges: tuple[JudgeTold, ...] = ()
    error: str = ""


Kind = Literal["human", "model", "script"]


class Rater(NamedTuple):
    """Rater of imported labels. `id` and `kind` are empty if each row names its own."""

    id: str
    kind: str
    run: int
    config: str
    """Hash of a model's name, prompt and parameters, empty if each row names it, and for other raters."""
    alone: str = ""
    """The only person whose labels are accepted here, empty for anybody."""


class RowImport:
    """Imports rows into one study. `source` names their origin."""

    def __init__(self, store: Store, study: Study, rater: Rater, source: str) -> None:
        self.store = store
        self.study = study
        self.rater = rater
        self.source = source
        self.places = StudyPlaces(store, study)
        self._configs: dict[str, dict[int, str]] = {}

    def take(self, numbered_row: NumberedRow | LabelDone) -> LabelDone:
        """Import a row and return its result. A refused row changes nothing."""
        if isinstance(numbered_row, LabelDone):
            return numbered_row
        try:
            return self._import_row(numbered_row)
        except LabError as error:
            problem = error.sentence if error.title != numbered_row.where else error.body
            return LabelDone(numbered_row.where, "refused", numbered_row.row.unit, error=problem)

    def _import_row(self, numbered_row: NumberedRow) -> LabelDone:
        row, where = numbered_row.row, numbered_row.where
        self._check_fits(row, where)
        rater = self._row_actor(row, where)
        unit = self.places.unit(row.unit, where)
        run = row.run or self.rater.run
        config = self._config_hash(row, rater, run, where)
        reopened = row.reopen and self._reopen_unit(self._open_desk(rater, unit, run), row)
        kept_labels: list[LabelKept] = []
        try:
            says = self._label_factories(row, where, unit, rater, run, config, kept_labels)
        except LabError:
            # If this rater may not see the unit, that refusal comes first: the reason why a row does not fit reveals
            # the unit.
            self._open_desk(rater, unit, run).check()
            raise
        if says:
            self.store.labels.record_each(self.study, unit, rater, run, says)
        outcome = LabelDone(
            where,
            "kept" if reopened or any(one.state == "kept" for one in kept_labels) else "there already",
            unit.id,
            rater.id,
            run,
            tuple(kept_labels),
        )
        return self._handed_in(outcome, row, unit, rater) if row.commit else outcome

    # -- whose, and whether it fits ------------------------------------------------------------------------------

    def _check_fits(self, row: LabelRow, where: str) -> None:
        """Raise `LabError` if a row names another study, version or protocol."""
        other = row.study not in ("", self.study.id) or row.version not in (None, self.study.version)
        if other or row.protocol_sha not in ("", self.study.protocol.sha):
            name = "protocol_sha" if not other else "study" if row.study not in ("", self.study.id) else "version"
            raise LabError(
                where, f"field {name}: it was said of another study than {self.study.name}.",
                "Leave study, version and protocol_sha out to say it of this one.",
            )  # fmt: skip

    def _row_actor(self, row: LabelRow, where: str) -> Actor:
        id, kind = self.rater.id or row.rater, self.rater.kind or row.kind or "human"
        if row.rater and self.rater.id and row.rater != self.rater.id:
            raise LabError(where, f"field rater: is {row.rater}, and labels are taken as {self.rater.id}")
        if row.kind and self.rater.kind and row.kind != self.rater.kind:
            raise LabError(where, f"field kind: is {row.kind}, and labels are taken as a {self.rater.kind}'s")
        return check_rater(self.study, id, kind, self.rater.alone, where)

    def _config_hash(self, row: LabelRow, rater: Actor, run: int, where: str) -> str:
        """Return the configuration hash of a model's labels. Raise `LabError` if earlier labels of the run differ."""
        if rater.kind != "model":
            return ""
        config = self.rater.config or row.config_sha
        if not config:
            raise LabError(where, "field config_sha: a model's labels tell their configuration.", "Give --config.")
        configs = self._configs.get(rater.id)
        if configs is None:
            configuration = self.store.labels.read(self.study, rater=rater.id)
            configs = self._configs[rater.id] = {
                one.run: one.config_sha for one in configuration if one.rater.kind == "model"
            }
        if configs.setdefault(run, config) != config:
            raise LabError(
                where, f"{rater.id} has rated here in run {run} by another configuration ({configs[run][:12]}).",
                "Another prompt is another rater: use another --person, or another --run.",
            )  # fmt: skip
        return config

    def _open_desk(self, rater: Actor, unit: Unit, run: int) -> RatingSession:
        desk = RatingSession(self.store, self.study, rater, source=self.source)
        state = self.store.labels.sheet_state(self.study, unit, rater, run)
        plain = Assignment(self.study.id, self.study.version, rater.id, 0, unit.id, run=run)
        desk.assignment, desk.unit, desk.sheet = state.assignment or plain, unit, state.sheet
        return desk

    # -- saying --------------------------------------------------------------------------------------------------

    def _label_factories(
        self, row: LabelRow, where: str, unit: Unit, rater: Actor, run: int, config: str, kept_labels: list[LabelKept]
    ) -> list[Callable[[Sheet], Label | None]]:
        """Build the label factories of a row. Each appends its label to `kept_labels`."""

        def signed(spot: FieldReference, **answer_fields: Any) -> Label:
            source = f"{self.source}#{row.id}" if row.id else self.source
            return sign_label(self.study, unit, rater, spot, source=source, run=run, config_sha=config, **answer_fields)

        def noted(label: Label, *, new: bool) -> Label | None:
            kept_labels.append(
                LabelKept(
                    label.target, label.field, label.value, label.reason_missing,
                    "kept" if new else "there already", label.id,
                )
            )  # fmt: skip
            return label if new else None

        def answer(placed_answer: PlacedAnswer) -> Callable[[Sheet], Label | None]:
            fields = self._label_values(placed_answer, unit, where)

            def make(sheet: Sheet) -> Label | None:
                spot = FieldReference(placed_answer.target, placed_answer.field)
                label = answer_to(sheet, signed(spot, **fields))
                # The same row id a second time is skipped, whatever was answered since.
                earlier = _by_row(sheet, row.id, spot)
                if earlier is not None:
                    return noted(earlier, new=False)
                head = sheet.head(spot)
                same = head is not None and not row.id and spot not in sheet.clashes and _is_same_answer(head, label)
                return noted(head if same and head is not None else label, new=not same)

            return make

        def undo(sheet: Sheet) -> Label | None:
            earlier = _by_row(sheet, row.id, None)
            if earlier is not None:
                return noted(earlier, new=False)
            label = undo_of(sheet, signed(FieldReference("", "")))
            if label is None:
                raise LabError(where, "field undo: there is nothing to take back")
            if (row.target or row.field) and (row.target, row.field) != (label.target, label.field):
                newest = " ".join(filter(None, (label.target, label.field)))
                raise LabError(where, f"field undo: the newest answer is that to {newest}")
            return noted(label, new=True)

        if row.undo:
            return [undo]
        return [answer(placed_answer) for placed_answer in answers(row, self.study.protocol, unit, where)]

    def _label_values(self, placed_answer: PlacedAnswer, unit: Unit, where: str) -> dict[str, Any]:
        """Return an answer as the fields of a label. Raise `LabError` if it does not fit."""
        field = self.study.protocol.field(placed_answer.field)
        assert field is not None
        answer = placed_answer.answer
        rule = next(
            (one for one in unit.mechanical if (one.target, one.field) == (placed_answer.target, placed_answer.field)),
            None,
        )
        if rule is not None:
            raise LabError(
                where, f"field field: {placed_answer.field} is asked of nobody: a rule settled it ({rule.reason})"
            )
        evidence = self.places.evidence(unit, answer, where)
        if answer.value is None and answer.missing is None:
            place = " of ".join(filter(None, (placed_answer.field, placed_answer.target)))
            raise LabError(where, f"field value: {place} has none; say why it is missing instead")
        self._check_cited(answer.cites, where)
        return {
            "value": as_option(field, target_of(unit, placed_answer.target), clean_value(answer.value)),
            "reason_missing": answer.missing,
            "evidence": evidence,
            "region": answer.region,
            "confidence": answer.confidence,
            "note": clean(answer.note),
            "cites": clean(answer.cites),
            "cost": answer.cost,
        }

    def _check_cited(self, cites: str, where: str) -> None:
        """Raise `LabError` if a cited line of the guide does not exist. Any other words are accepted."""
        guide = self.study.protocol.guideline(self.study.locale)
        if cites.strip().startswith("§") and clause_of(cites, guide) is None:
            line_count = len(clauses(guide))
            hint = f"Its lines are §1 to §{line_count}." if line_count else "It has none."
            raise LabError(where, f"field cites: {cites!r} is no line of the guide.", hint)

    # -- handing in ----------------------------------------------------------------------------------------------

    def _reopen_unit(self, desk: RatingSession, row: LabelRow) -> bool:
        """Reopen a unit. Return False if it is not handed in, or this row has acted before."""
        if desk.sheet is None or not desk.sheet.committed or self._has_acted(desk, row):
            return False
        desk.reopen({"row": row.id} if row.id else None)
        return True

    def _handed_in(self, outcome: LabelDone, row: LabelRow, unit: Unit, rater: Actor) -> LabelDone:
        desk = self._open_desk(rater, unit, outcome.run)
        if desk.sheet is None or desk.sheet.committed or self._has_acted(desk, row):
            return outcome
        result = desk.commit({"row": row.id} if row.id else None)
        outcome = replace(outcome, state="kept", handed_in=True, derived=tuple(desk.derived()))
        if rater.kind != "human":
            return outcome
        judges = tuple(
            JudgeTold(one.spot.target, one.spot.field, one.judge, one.said.value, one.said.reason_missing, one.note)
            for one in judges_beside(desk)
        )
        return replace(outcome, gold=tuple(result.compared), share=result.share, held=result.held, judges=judges)

    def _has_acted(self, desk: RatingSession, row: LabelRow) -> bool:
        """Return True if a row with this id has handed in or reopened this sheet before."""
        if not row.id or desk.unit is None or desk.assignment is None:
            return False
        acts = self.store.labels.acts(self.study, desk.person.id, desk.unit.id, desk.assignment.run)
        return any(act.detail.get("row") == row.id for act in acts)

    def keep_config(self, rater: Actor, text: str) -> None:
        """Record a model's configuration once, so that its hash can be looked up."""
        sha = self.rater.config
        acts = self.store.labels.each_act(self.study, rater.id, "sat")
        if not any(act.detail.get("config_sha") == sha for act in acts):
            detail = {"config_sha": sha, "config": text}
            self.store.labels.record_act(sign_act(self.study, rater, "sat", detail=detail))


def config_sha_of(model: str, text: str) -> str:
    """Return the hash that a model's labels carry: of its name, prompt and parameters."""
    return hashlib.sha256(encode({"model": model, "config": text})).hexdigest()


def check_rater(study: Study, id: str, kind: str, alone: str, where: str) -> Actor:
    """Return the rater as an actor. Raise `LabError` if they may not give labels under this name."""
    if alone and (id, kind) != (alone, "human"):
        raise LabError(where, f"labels of {id or 'nobody'} cannot be given here, only those of {alone}.")
    match kind:
        case "human":
            if id not in study.raters:
                check_code(id, where, "rater")
                check_distinct(id, study.raters, where, "rater")
            return Actor("human", id)
        case "model" | "script":
            if id in study.raters:
                raise LabError(where, f"{id} is one of the study's people; a {kind} needs another name.")
            check_distinct(id, study.raters, where, "rater")
            if not id.strip() or len(id) > 200:
                raise LabError(where, f"field rater: {id[:40]!r} is no name of a {kind}")
            return Actor(kind, id)
    raise LabError(where, f"field kind: {kind!r} is none of human, model, script")


def _by_row(sheet: Sheet, id: str, spot: FieldReference | None) -> Label | None:
    """Return the label that an earlier row with this `id` made, at `spot` if the row has several answers."""
    if not id:
        return None
    row_labels = [label for label in sheet.rows if label.source.endswith(f"#{id}")]
    return next((one for one in row_labels if spot is None or FieldReference(one.target, one.field) == spot), None)


def _is_same_answer(one: Label, other: Label) -> bool:
    """Return True if two labels hold the same answer, regardless of author and time."""
    names = ("value", "reason_missing", "confidence", "evidence", "region", "note", "cites")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    # In Python True == 1, but a flag and a number are different answers.
    return all(a == b and (isinstance(a, bool) is isinstance(b, bool)) for a, b in pairs)
