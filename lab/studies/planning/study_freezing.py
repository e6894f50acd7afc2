"""Turn a plan into a study: check, sample and freeze it, for `study new` and the form in Runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from annotators.plan import Plan, differences, freeze, mark_pilot, preset_document
from annotators.presets import presets
from annotators.protocols import names
from annotators.protocols import protocol as protocol_named
from lab.core.errors import LabError
from lab.core.study.protocol import Protocol
from lab.core.study.study import IntroductionKind, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.core.values.rounding import count
from lab.studies.planning.study_runs import Skipped
from lab.studies.planning.study_sample import StudySample, samples
from lab.studies.rating.practice import check_practice
from store.store import Store


class StudyFrozen(msgspec.Struct, frozen=True):
    """A study's version. `new` is False if exactly this was frozen before, so that nothing was done.

    `units` counts all, `pilot` those that come first, `practice` the one for practice, `mechanical` those that a rule
    answers, `items` the items asked about. `introduction` is its kind of introduction. `differs` lists the differences
    from the version before.
    """

    study: str
    version: int
    new: bool
    title: str
    protocol: str
    unit: str
    units: int
    pilot: int
    practice: int
    mechanical: int
    items: int
    introduction: IntroductionKind
    raters: tuple[str, ...]
    overlap: int
    shared: float
    repeats: float
    sha: str
    sample_sha: str
    protocol_sha: str
    guide_sha: str
    differs: tuple[str, ...]
    told: tuple[str, ...]


class StudiesFrozen(msgspec.Struct, frozen=True):
    """Result of `study new`: one study, or one for each kind of task."""

    db: str
    studies: tuple[StudyFrozen, ...]
    skipped: tuple[Skipped, ...]


class RunPlan(NamedTuple):
    """A preset or built-in protocol for rating runs, with a short title."""

    name: str
    title: str


def run_plans() -> list[RunPlan]:
    """Return the presets, then the protocols, for studies of runs, without those that are played or about texts."""
    plans = []
    for name in presets():
        plan = preset_document(name)
        protocols = [protocol_named(one) for one in (plan.get("protocol"), *plan.get("protocols", {}).values()) if one]
        if all(one.unit not in _NOT_OF_RUNS for one in protocols):
            plans.append(RunPlan(name, plan.get("title") or protocols[0].title))
    of_runs = [protocol_named(name) for name in names()]
    return [*plans, *(RunPlan(one.id, one.title) for one in of_runs if one.unit not in _NOT_OF_RUNS)]


_NOT_OF_RUNS = ("task to play", "pair of instruction sets", "pair of texts")


def freeze_studies(
    store: Store, plan: Plan, by: Actor, *, named: bool, exact: bool = False, unseen: bool = False
) -> StudiesFrozen:
    """Freeze a plan's study, or one for each kind of task. An existing name with any difference becomes a new version.

    Raise `LabError` and freeze nothing if somebody has withdrawn, nothing fits the plan, an unnamed study (`named` is
    False) exists with a difference, or runs show no screen and `unseen` does not allow that.
    """
    for code in plan.raters:
        if store.labels.has_withdrawn(code):
            raise LabError(f"study {plan.name}", f"field raters: {code} has withdrawn.")
    sample_list, skipped = samples(store, plan)
    # Built-in protocols' practice is tested; a protocol of one's own may have a broken one.
    if plan.introduction != "none" and any(name not in names() for name in _protocols_of(plan)):
        for study_sample in sample_list:
            check_practice(study_sample.protocol)
    planned_studies = [_plan_of_study(store, plan, sample, by, named=named, exact=exact) for sample in sample_list]
    if not unseen:
        blanks = [sample.blank for sample, (_, _, line) in zip(sample_list, planned_studies, strict=True) if line.new]
        check_seen(blanks, "study new")
    for study, units, line in planned_studies:
        if line.new:
            store.studies.freeze(study, units)
    return StudiesFrozen(str(store.path), tuple(line for _, _, line in planned_studies), tuple(skipped))


def _protocols_of(plan: Plan) -> list[str]:
    """Return the protocols that a plan names: built-in ones, or files."""
    return [name for name in (plan.protocol, *plan.protocols.values()) if name]


def check_seen(blanks: Iterable[int], title: str) -> None:
    """Raise `LabError` if raters would rate runs without any screen."""
    blank = sum(blanks)
    if blank:
        raise LabError(
            title,
            f"{count(blank, 'run')} {'has' if blank == 1 else 'have'} neither pictures nor words of any screen: raters "
            "would see actions alone. Nothing was frozen.",
            "Name other --runs, or freeze it with --force.",
        )


def _plan_of_study(
    store: Store, plan: Plan, sample: StudySample, by: Actor, *, named: bool, exact: bool
) -> tuple[Study, list[Unit], StudyFrozen]:
    """Return a study as it would be frozen, its units and result. `new` is False if exactly this exists."""
    units, reasons = mark_pilot(plan, sample.units, exact=exact)
    if not {plan.locale, plan.locale.partition("-")[0]} & set(sample.protocol.guide):
        reasons = [*reasons, f"locale: {sample.protocol.id} has no guide in {plan.locale}, so people read another"]
    if plan.shadows:
        consent_note = "they are sent what people say in a run, which the consent should tell"
        reasons = [*reasons, f"asked silently beside people: {', '.join(plan.shadows)}; {consent_note}"]
    study = freeze(plan, sample.name, sample.protocol, units, by, now())
    versions = store.studies.versions(sample.name)
    differs: Sequence[str] = ()
    fresh = True
    if versions:
        old = store.studies.study(sample.name)
        fresh = replace(study, version=old.version).sha != old.sha
        if fresh and not named:
            raise LabError(
                f"study {sample.name}",
                f"is in {store.path} already, as v{old.version}.",
                f"--name makes another, --name {plan.name} a new version of it.",
            )
        study = replace(study, version=old.version + fresh)
        differs = differences(old, study) if fresh else ()
    return study, units, _study_line(study, units, [*sample.told, *reasons], differs, fresh=fresh)


def _study_line(
    study: Study, units: Sequence[Unit], reasons: Sequence[str], differs: Sequence[str], *, fresh: bool
) -> StudyFrozen:
    return StudyFrozen(
        study=study.id,
        version=study.version,
        new=fresh,
        title=study.title,
        protocol=study.protocol.id,
        unit=study.protocol.unit,
        units=len(units),
        pilot=sum(bool(unit.pilot or unit.gold) and not (unit.mechanical or unit.practice) for unit in units),
        practice=sum(unit.practice for unit in units),
        introduction=study.introduction,
        mechanical=sum(bool(unit.mechanical) for unit in units),
        items=sum(items_of(study.protocol, len(unit.targets)) for unit in units),
        raters=study.raters,
        overlap=study.overlap,
        shared=study.shared,
        repeats=study.repeats,
        sha=study.sha,
        sample_sha=study.sample_sha,
        protocol_sha=study.protocol.sha,
        guide_sha=study.protocol.guide_sha(study.locale),
        differs=tuple(differs),
        told=tuple(reasons),
    )


def items_of(protocol: Protocol, targets: int) -> int:
    """Return the number of items that a unit with so many targets asks about."""
    return targets if protocol.targets != "unit" else 1
