"""A study as reports and agreement read it: its plan and units, the labels that stand, what is known of its runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from lab.core.adjudication import SignedSettlement, adjudicated
from lab.core.agreement import How
from lab.core.design import Revision, Subject
from lab.core.judge_call import JudgeCall
from lab.core.label import Act
from lab.core.measured_run import MeasuredRun
from lab.core.proofreading import Proof, Review
from lab.core.rating_sheet import FieldReference
from lab.core.shadow_answer import ShadowAnswer
from lab.core.study import Assignment, Study, Unit

if TYPE_CHECKING:
    from lab.core.label_columns import Columns


class FurtherData(NamedTuple):
    """What else a file knows that some tables ask for; each is read when it is called.

    `beside` are the further studies that a report was told to read (`--with`). `runs` are all runs of the file that
    have ended, by their ids, `reviewed` a demonstration's proofreading, `designed` every act on a task's design, the
    oldest first. `pauses` are the seconds of each time for which a person let a run stand still. `costs` are what
    judges' answers cost in US dollars, by unit, rater (kind, id) and run; `calls` are all answers that they paid for,
    in the order in which these came. `steps` is how many steps a run of the file has, None where it is not there.
    `shadows` are the answers that stand of models which were silently asked a run's questions. `assignments` is who was
    dealt what, in each person's order, `withdrawals` how many of the study's people withdrew.
    `embed` turns texts into vectors where a model for that was named (`embedder`).
    """

    beside: tuple[StudyData, ...] = ()
    runs: Callable[[], Sequence[MeasuredRun]] = tuple
    reviewed: Callable[[str], tuple[Proof, Sequence[Review]] | None] = lambda run: None
    designed: Callable[[Subject], Sequence[Revision]] = lambda subject: ()
    pauses: Callable[[str], Sequence[float]] = lambda run: ()
    costs: Callable[[], dict[tuple[str, str, str, int], float]] = dict
    calls: Callable[[], Sequence[JudgeCall]] = tuple
    steps: Callable[[str], int | None] = lambda run: None
    shadows: Callable[[str], Sequence[ShadowAnswer]] = lambda run: ()
    assignments: Callable[[], Sequence[Assignment]] = tuple
    withdrawals: Callable[[], int] = int
    embed: Callable[[Sequence[str]], Sequence[Sequence[float]]] | None = None
    embedder: str = ""


class StudyData:
    """One study, read once. `case` gives a run as metrics read it (None where it is not here), `other` a further study
    by its name, `played` the runs of a study that is played (`lab.studies.played_runs.Played`);
    all in an order that ids settle.

    A rater is one of the study's people where its plan names them, whatever they are made of; any other model or script
    is a judge, to be compared with people and never counted among them. The rule (`script`, `rule`) is neither.
    """

    def __init__(
        self,
        study: Study,
        units: Sequence[Unit],
        columns: Columns,
        acts: Sequence[Act],
        *,
        case: Callable[[str], MeasuredRun | None],
        other: Callable[[str], StudyData],
        played: Sequence[Any] = (),
        how: How = How(),  # noqa: B008  # frozen
        further: FurtherData = FurtherData(),  # noqa: B008  # frozen
        prelabelled: Collection[tuple[str, str, int]] = (),
        all_columns: Columns | None = None,
    ) -> None:
        self.study = study
        self.units = units
        self.columns = columns
        self.acts = acts
        self.case = case
        self.other = other
        self.played = played
        self.how = how
        self.further = further
        self.prelabelled = prelabelled
        """The sheets (unit, rater, run) on which people had a judge's answers in sight; `columns` are without them."""
        self._all_columns = all_columns
        self._kept: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made the first time that it is asked for: a study that was read does not change."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def under(self, how: How) -> StudyData:
        """The same study, with intervals made otherwise; what was made of its answers is shared."""
        other = copy(self)
        other.how = how
        return other

    @property
    def calibration(self) -> StudyData | None:
        """The same study's calibration units as if they were all of it; None where it has none."""
        units = [replace(unit, pilot=False) for unit in self.units if unit.pilot and not unit.practice]
        if not units:
            return None
        return self._over(units)

    def within(self, units: Collection[str]) -> StudyData:
        """The same study as if these units were all of it."""
        unit_ids = frozenset(units)
        return self._over([unit for unit in self.units if unit.id in unit_ids])

    @property
    def with_prelabelled(self) -> StudyData:
        """The same study with the answers that people gave with a judge's in sight."""
        if self._all_columns is None:
            return self
        other = self._over(self.units)
        other.columns = self._all_columns
        for name in ("people", "judges"):
            other.__dict__.pop(name, None)
        return other

    def _over(self, units: Sequence[Unit]) -> StudyData:
        other = copy(self)
        other.units = units
        other._kept = {}
        return other

    @cached_property
    def people(self) -> tuple[int, ...]:
        """The study's own raters, as indices of the columns' raters, by their codes."""
        own_codes = {*self.study.raters, *(act.rater.id for act in self.acts if act.act == "replaced")}
        people_places = [i for i, one in enumerate(self.columns.raters) if one.kind == "human" or one.id in own_codes]
        return tuple(sorted(people_places, key=lambda i: self.columns.raters[i].id))

    @cached_property
    def judges(self) -> tuple[int, ...]:
        """Models and scripts that rated beside the people."""
        them = self.columns.raters
        rest = (
            i for i in range(len(them)) if i not in self.people and (them[i].kind, them[i].id) != ("script", "rule")
        )
        return tuple(sorted(rest, key=lambda i: (them[i].kind, them[i].id)))

    @cached_property
    def settled(self) -> dict[tuple[str, FieldReference], SignedSettlement]:
        """What was adjudicated, by unit and place."""
        return adjudicated(self.acts)
