"""A study as reports and agreement read it: its plan, units and current labels, and data about its runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from lab.core.run.judge_call import JudgeCall
from lab.core.run.measured_run import MeasuredRun
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.study.adjudication import SignedSettlement, current_settlements
from lab.core.study.agreement import IntervalTerms
from lab.core.study.label import Act
from lab.core.study.proofreading import Proof, Review
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.design import Revision, Subject

if TYPE_CHECKING:
    from lab.core.study.label_columns import Columns


class FurtherData(NamedTuple):
    """Further data of the file that some tables need. Each is read on demand.

    `other_studies` are the studies given by `--extra-study`. `runs` returns all finished runs of the file by id,
    `reviewed` a demonstration's proofreading, `designed` every act on a task's design, the oldest first. `pauses`
    returns the seconds of each pause that a person made in a run. `costs` returns the cost of judges' answers in US
    dollars by unit, rater (kind, id) and run, `calls` all paid answers in order of arrival. `steps` returns a run's
    number of steps, None if it is not in the file. `shadows` returns the current answers of shadow models to a run's
    questions. `assignments` returns all assignments in each person's order, `withdrawals` the number of people who
    withdrew. `embed` turns texts into vectors if a model for that was named (`embedder`).
    """

    other_studies: tuple[StudyData, ...] = ()
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
    """One study, read once.

    `case` returns a run as metrics read it (None if it is not in the file), `other` a further study by its name.
    `played` are the runs of a played study (`lab.studies.playing.played_runs.Played`). All are in an order that ids
    determine.

    A rater is one of the study's people if its plan names them, whatever their kind. Any other model or script is a
    judge, which is compared with people and never counted among them. The rule (`script`, `rule`) is neither.
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
        how: IntervalTerms = IntervalTerms(),  # noqa: B008  # frozen
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
        """Sheets (unit, rater, run) on which people saw a judge's answers. `columns` are without them."""
        self._all_columns = all_columns
        self._kept: dict[Any, Any] = {}

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the result of `make`, computed once per key: the data of a study do not change after reading."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def with_interval_method(self, how: IntervalTerms) -> StudyData:
        """Return the same study with another kind of interval. Cached results about its answers are shared."""
        other = copy(self)
        other.how = how
        return other

    @property
    def calibration(self) -> StudyData | None:
        """The study with its calibration units as its only ones, or None if it has none."""
        units = [replace(unit, pilot=False) for unit in self.units if unit.pilot and not unit.practice]
        if not units:
            return None
        return self._with_units(units)

    def with_units(self, units: Collection[str]) -> StudyData:
        """Return the study with only these units."""
        unit_ids = frozenset(units)
        return self._with_units([unit for unit in self.units if unit.id in unit_ids])

    @property
    def with_prelabelled(self) -> StudyData:
        """The study with all answers, also those given with a judge's in sight."""
        if self._all_columns is None:
            return self
        other = self._with_units(self.units)
        other.columns = self._all_columns
        # `copy` carries over cached properties, which hold for the other columns.
        for name in ("people", "judges"):
            other.__dict__.pop(name, None)
        return other

    def _with_units(self, units: Sequence[Unit]) -> StudyData:
        other = copy(self)
        other.units = units
        other._kept = {}
        return other

    @cached_property
    def people(self) -> tuple[int, ...]:
        """The study's own raters, as indices into the columns' raters, sorted by code."""
        # A successor is not in the plan, but takes the place of someone who is.
        own_codes = {*self.study.raters, *(act.rater.id for act in self.acts if act.act == "replaced")}
        people_places = [i for i, one in enumerate(self.columns.raters) if one.kind == "human" or one.id in own_codes]
        return tuple(sorted(people_places, key=lambda i: self.columns.raters[i].id))

    @cached_property
    def judges(self) -> tuple[int, ...]:
        """Models and scripts that are not among the people, as indices into the columns' raters."""
        them = self.columns.raters
        rest = (
            # The rule's answers are known without rating, so it is not a judge.
            i
            for i in range(len(them))
            if i not in self.people and (them[i].kind, them[i].id) != ("script", "rule")
        )
        return tuple(sorted(rest, key=lambda i: (them[i].kind, them[i].id)))

    @cached_property
    def settled(self) -> dict[tuple[str, FieldReference], SignedSettlement]:
        """Adjudicated answers, by unit and place."""
        return current_settlements(self.acts)
