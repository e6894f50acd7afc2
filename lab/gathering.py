"""A study read from a file for reports and agreement; what was computed of it before is kept in the cache folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from annotators.studied import Further, Studied
from lab.agreement import Agreement, How
from lab.case import Case
from lab.design.revision import Revision, Subject
from lab.errors import LabError
from lab.review import Proof, Review
from lab.study import Study
from store.store import Store

_CASES = 256
"""Runs that are in memory at a time."""


def gathered(
    store: Store,
    study: Study,
    how: How = How(),  # noqa: B008  # frozen
    beside: Sequence[str] = (),
) -> Studied:
    """All that agreement and reports read of a study; `beside` names further ones that a report reads.

    A run is read when it is asked for. Raises `LabError` where a study named is not there.
    """
    from lab.plays import played

    @lru_cache(maxsize=_CASES)
    def case(run: str) -> Case | None:
        return next(iter(store.cases([run])), None) if store.holds(run) else None

    def other(name: str) -> Studied:
        return gathered(store, study_called(store, name), how)

    units = list(store.units(study))
    return Studied(
        study,
        units,
        store.columns(study),
        sorted(store.acts(study), key=lambda act: (act.at, act.id)),
        case=case,
        other=lru_cache(maxsize=None)(other),
        played=played(store, study) if any(unit.play is not None for unit in units) else (),
        how=how,
        further=Further(
            beside=tuple(other(name) for name in beside),
            runs=_once(lambda: _ended(store)),
            reviewed=lambda run: _reviewed(store, run),
            designed=lambda subject: _designed(store, subject),
            costs=lru_cache(maxsize=1)(lambda: store.costs(study)),
        ),
    )


def agreed(
    store: Store,
    study: Study,
    how: How = How(),  # noqa: B008  # frozen
    gather: Callable[[], Studied] | None = None,
) -> list[Agreement]:
    """The study's agreements; as they were computed before where nothing came in since.

    Else of what `gather` gives, by one who has it for other uses, too; it is to be what the file holds now.
    """
    from lab.agreed import kept_or

    def computed() -> list[Agreement]:
        from annotators.agreement.agreements import agreements

        return agreements(gather() if gather is not None else gathered(store, study, how))

    return kept_or(store, study, how, computed)


def study_called(store: Store, name: str) -> Study:
    """A study in its newest version, or in the one that `NAME@2` names; `LabError` where it is not there."""
    id, at, version = name.partition("@")
    number = version.removeprefix("v")
    if at and not (number.isascii() and number.isdigit()):
        raise LabError(f"study {id}", f"version {version!r} is no number", code=2)
    return store.study(id, int(number) if at else None)


def _once(make: Callable[[], Sequence[Case]]) -> Callable[[], Sequence[Case]]:
    return lru_cache(maxsize=1)(make)


def _ended(store: Store) -> list[Case]:
    """Every run of the file that has ended, by its id."""
    return sorted((case for case in store.cases() if case.status != "open"), key=lambda case: case.id)


def _reviewed(store: Store, run: str) -> tuple[Proof, Sequence[Review]] | None:
    """A demonstration with every word that was said of it; None where nothing was, or it is no demonstration."""
    if not store.holds(run) or not (said := store.reviews(run)):
        return None
    return store.proof(run), said


def _designed(store: Store, subject: Subject) -> list[Revision]:
    """Every act on a task's design, the oldest first."""
    lines = sorted(store.design_history(subject), key=lambda line: (line.at, line.id))
    return [store.revision(line.id) for line in lines]
