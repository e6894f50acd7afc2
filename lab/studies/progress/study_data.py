"""Load a study for reports and agreement. Computed numbers go to the cache folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from annotators.study_data import FurtherData, StudyData
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.proofreading import Proof, Review
from lab.core.study.study import Study
from lab.core.task.design import Revision, Subject
from lab.studies.planning.study_people import people_of
from lab.studies.planning.study_places import study_named
from store.store import Store

_CASES = 256
"""Runs in memory at a time."""


def load_study_data(
    store: Store,
    study: Study,
    how: IntervalTerms = IntervalTerms(),  # noqa: B008  # frozen
    beside: Sequence[str] = (),
) -> StudyData:
    """Return all that agreement and reports read of a study. `beside` names further studies for a report.

    Runs are loaded on access. Raise `LabError` if a named study does not exist.
    """
    from annotators.validation.anchoring import drop_sheets, shown_sheets
    from lab.studies.playing.played_runs import pauses, study_plays

    @lru_cache(maxsize=_CASES)
    def case(run: str) -> MeasuredRun | None:
        return next(iter(store.runs.measured([run])), None) if store.runs.has_run(run) else None

    def other(name: str) -> StudyData:
        return load_study_data(store, study_named(store, name), how)

    units = list(store.studies.units(study))
    columns = store.agreement.columns(study)
    acts = sorted(store.labels.acts(study), key=lambda act: (act.at, act.id))
    prelabel_sheets = shown_sheets(acts) if study.prelabel else ()
    return StudyData(
        study,
        units,
        drop_sheets(columns, prelabel_sheets),
        acts,
        case=case,
        other=lru_cache(maxsize=None)(other),
        played=study_plays(store, study) if any(unit.play is not None for unit in units) else (),
        how=how,
        further=FurtherData(
            other_studies=tuple(other(name) for name in beside),
            runs=_cached(lambda: _ended_runs(store)),
            reviewed=lambda run: _read_reviews(store, run),
            designed=lambda subject: _read_designs(store, subject),
            pauses=lambda run: pauses(store.runs.events(run)),
            shadows=store.shadows.current,
            steps=store.labels.steps_of,
            costs=lru_cache(maxsize=1)(lambda: store.agreement.costs(study)),
            calls=lru_cache(maxsize=1)(lambda: store.agreement.calls(study)),
            assignments=lru_cache(maxsize=1)(lambda: tuple(store.studies.assignments(study))),
            withdrawals=lambda: sum(store.labels.has_withdrawn(code) for code in people_of(store, study)),
        ),
        prelabelled=prelabel_sheets,
        all_columns=columns,
    )


def study_agreements(
    store: Store,
    study: Study,
    how: IntervalTerms = IntervalTerms(),  # noqa: B008  # frozen
    gather: Callable[[], StudyData] | None = None,
) -> list[Agreement]:
    """Return the study's agreements, from the cache if nothing newer arrived.

    Else compute them from `gather`, if the caller needs the data for other uses too. It must match the file's current
    state.
    """
    from lab.studies.progress.agreement_cache import cached_agreements

    def computed() -> list[Agreement]:
        from annotators.agreement.agreements import agreements

        return agreements(gather() if gather is not None else load_study_data(store, study, how))

    return cached_agreements(store, study, how, computed)


def evidence_agreements(store: Store, study: Study, how: IntervalTerms) -> tuple[Agreement, ...]:
    """Return how far people with the same answer cite the same steps. Raise `LabError` if no field has evidence."""
    from annotators.agreement.evidence import agreements_of_evidence

    if not any(field.evidence for field in study.protocol.fields):
        raise LabError(f"study {study.name}", "asks for no evidence: none of its answers rests on a step.")
    return tuple(agreements_of_evidence(load_study_data(store, study, how)))


def _cached(make: Callable[[], Sequence[MeasuredRun]]) -> Callable[[], Sequence[MeasuredRun]]:
    return lru_cache(maxsize=1)(make)


def _ended_runs(store: Store) -> list[MeasuredRun]:
    """Return every ended run of the file, by id."""
    return sorted((case for case in store.runs.measured() if case.status != "open"), key=lambda case: case.id)


def _read_reviews(store: Store, run: str) -> tuple[Proof, Sequence[Review]] | None:
    """Return a demonstration with all its reviews, None without reviews, or if it is not in the file."""
    if not store.runs.has_run(run) or not (reviews := store.reviews.of_run(run)):
        return None
    return store.reviews.proof_of(run), reviews


def _read_designs(store: Store, subject: Subject) -> list[Revision]:
    """Return every revision of a task's design, the oldest first."""
    lines = sorted(store.designs.history(subject), key=lambda line: (line.at, line.id))
    return [store.designs.revision(line.id) for line in lines]
