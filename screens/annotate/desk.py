"""Where one rater works on a study: each answer is on the disk before it is shown. No Textual here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from annotators.calibration import Compared, compared, share_right
from lab.errors import LabError
from lab.labels import Sheet, Spot, answer_to, check_open, undo_of
from lab.stamp import now, uuid7
from lab.study import Act, ActKind, Assignment, Label, Missing, Study, Unit
from lab.task import Actor

if TYPE_CHECKING:
    from store.store import Store


class HandedIn(NamedTuple):
    """What a rater learns on handing a unit in: beside gold where it is a calibration unit, and whether they pass.

    `share` is the share of gold answers that were right over the pilot so far, `held` whether the bar was missed.
    """

    compared: list[Compared]
    share: float | None = None
    held: bool = False


class Desk:
    """One rater's place in a study, at one unit. Every verb raises `LabError` where it is refused."""

    def __init__(self, store: Store, study: Study, person: Actor, *, source: str = "keys") -> None:
        self.store = store
        self.study = study
        self.person = person
        self.source = source
        self.assignment: Assignment | None = None
        self.unit: Unit | None = None
        self.sheet: Sheet | None = None

    # -- which unit ------------------------------------------------------------------------------------------

    def next_assignment(self, after: int = -1) -> Assignment | None:
        """The first unit that is not handed in, in this rater's own order; None where all are."""
        return self.store.next_assignment(self.study, self.person.id, after)

    def open(self, assignment: Assignment) -> Sheet:
        """Lays a unit out; recorded, with what of it is shown."""
        self.assignment = assignment
        self.unit = self.store.unit(self.study, assignment.unit)
        self.sheet = self._as_it_stands(self.unit)
        return self.sheet

    # -- answering -------------------------------------------------------------------------------------------

    def answer(
        self,
        spot: Spot,
        value: Any = None,
        *,
        missing: Missing | None = None,
        evidence: str | None = None,
        region: tuple[int, int, int, int] | None = None,
        note: str = "",
        confidence: float | None = None,
        shown_at: str | None = None,
        first_key_at: str | None = None,
        idle_ms: float = 0.0,
    ) -> Label:
        """Keeps an answer at a place, durable on return."""
        unit, sheet = self._open()
        label = answer_to(
            sheet,
            self._signed(
                spot,
                value=value,
                reason_missing=missing,
                evidence=evidence,
                region=region,
                note=note,
                confidence=confidence,
                shown_at=shown_at,
                first_key_at=first_key_at,
                idle_ms=idle_ms,
            ),
        )
        self.sheet = self.store.record_label(self.study, unit, label)
        return label

    def undo(self) -> Label | None:
        """Takes the newest answer back, which is kept, too; None where there is nothing to take back."""
        unit, sheet = self._open()
        label = undo_of(sheet, self._signed(Spot("", "")))
        if label is not None:
            self.sheet = self.store.record_label(self.study, unit, label)
        return label

    def commit(self) -> HandedIn:
        """Hands the unit in; a calibration unit then shows its gold, and a rater below the bar is held."""
        unit, _ = self._open()
        self.store.hand_in(self.study, unit, self._acting("commit", unit.id))
        self.sheet = self._as_it_stands(unit)
        found = compared(self.sheet)
        if not found:
            return HandedIn([])
        self.act("gold", unit.id)
        return self._calibrated(found)

    def _calibrated(self, found: list[Compared]) -> HandedIn:
        """How the pilot stands for this rater; its end is where a bar is missed or met."""
        pilot = [one for one in self.store.assignments(self.study, self.person.id) if one.stage == "pilot"]
        sheets = []
        for one in pilot:
            unit = self.store.unit(self.study, one.unit)
            sheets.append(self.store.sheet(self.study, unit, self.person.id, one.run))
        done = [sheet for sheet in sheets if sheet.committed]
        share = share_right(done)
        over = len(done) == len(sheets)
        held = over and self.study.bar is not None and share is not None and share < self.study.bar
        if held:
            self.act("held", detail={"share": share, "bar": self.study.bar})
        return HandedIn(found, share, held)

    def reopen(self) -> None:
        """Takes a handed-in unit back, where its protocol lets one go back and no gold was shown."""
        unit, sheet = self._open()
        if not sheet.committed:
            return
        if self.study.protocol.forward:
            raise LabError(f"unit {unit.id}", "is handed in, and this study has no going back.")
        if unit.gold:
            raise LabError(f"unit {unit.id}", "has shown what is right; it is not rated again.")
        self.check()
        self.act("reopen", unit.id)
        self.sheet = self._as_it_stands(unit)

    def act(self, kind: ActKind, unit: str = "", detail: dict[str, Any] | None = None) -> None:
        """Keeps something that was done beside answering."""
        self.store.record_act(self._acting(kind, unit, detail))

    def check(self) -> None:
        """Raises `LabError` where this rater may say nothing of the unit that is open."""
        unit, _ = self._open()
        standing = self.store.standing(self.study, unit, self.person, self._run)
        check_open(standing, self.person.id, self.person.kind, f"unit {unit.id}")

    # -- beneath ---------------------------------------------------------------------------------------------

    @property
    def _run(self) -> int:
        return self.assignment.run if self.assignment is not None else 1

    def _open(self) -> tuple[Unit, Sheet]:
        if self.unit is None or self.sheet is None:
            raise LabError("study", "no unit of it is open.")
        return self.unit, self.sheet

    def _as_it_stands(self, unit: Unit) -> Sheet:
        """This rater's sheet of a unit, read anew."""
        return self.store.sheet(self.study, unit, self.person.id, self._run, self.person.kind)

    def _acting(self, kind: ActKind, unit: str = "", detail: dict[str, Any] | None = None) -> Act:
        run = self._run if unit else 1
        return Act(uuid7(), self.study.id, self.study.version, self.person, kind, now(), unit, run, detail or {})

    def _signed(self, spot: Spot, **said: Any) -> Label:
        """A label by this rater, now, of the unit that is open."""
        study, unit = self.study, self._open()[0]
        return Label(
            uuid7(),
            study.id,
            study.version,
            unit.id,
            spot.target,
            spot.field,
            self.person,
            run=self._run,
            at=now(),
            guide_sha=study.protocol.guide_sha(study.locale),
            protocol_sha=study.protocol.sha,
            source=self.source,
            **said,
        )
