"""The command that freezes studies: study new."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from annotators.plan import Plan, differences, frozen, plan_of, sampled
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.commands.studying_sample import Sample, samples
from lab.commands.studying_told import StudiesFrozen, StudyFrozen, items_of, tell_frozen
from lab.errors import LabError
from lab.output import print_json
from lab.settings import load
from lab.stamp import now
from lab.study import Study, Unit
from lab.task import Actor
from screens.seats import sees_outcomes
from store.store import Store

_HIDDEN = ("people", "models", "method", "outcome", "raters")
_FLAGS = (
    "runs", "tasks", "items", "name", "title", "protocol", "overlap", "shared", "repeats", "seed", "pilot", "gold",
    "bar", "reference", "profiles", "log", "conditions", "agent", "steps", "earlier", "consent", "locale",
)  # fmt: skip


def new(args: argparse.Namespace) -> int:
    """Freezes a study over runs, tasks or items; the same name with anything different is a new version."""
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "study new")
    plan = _plan(args)
    by = Actor("human", settings.person)
    with open_store(settings) as store:
        for code in plan.raters:
            if store.withdrew(code):
                raise LabError(f"study {plan.name}", f"field raters: {code} has withdrawn.")
        found, skipped = samples(store, plan)
        named = args.name is not None or args.plan.endswith((".yaml", ".yml"))
        made = [_made(store, plan, one, by, named=named, exact=args.pilot is not None) for one in found]
        for study, units, line in made:
            if line.new:
                store.freeze_study(study, units)
        told = StudiesFrozen(str(store.path), tuple(line for _, _, line in made), tuple(skipped))
    if args.json:
        print_json(told)
    else:
        tell_frozen(told, getattr(args, "db", None))
    return 0


def _plan(args: argparse.Namespace) -> Plan:
    """The plan that the command line comes to."""
    given: dict[str, Any] = {name: getattr(args, name) for name in _FLAGS if getattr(args, name) is not None}
    if args.raters is not None:
        given["raters"] = [code.strip() for code in args.raters.split(",") if code.strip()]
    plan = plan_of(args.plan, given)
    unknown = [what for what in args.reveal or () if what not in _HIDDEN]
    if unknown:
        raise LabError("study new", f"--reveal {unknown[0]!r} is none of {', '.join(_HIDDEN)}", code=2)
    blind = tuple(what for what in plan.blind if what not in (args.reveal or ()))
    return plan_of(args.plan, {**given, "blind": blind, "shows": [*plan.shows, *(args.show or ())]})


def _made(
    store: Store, plan: Plan, sample: Sample, by: Actor, *, named: bool, exact: bool
) -> tuple[Study, list[Unit], StudyFrozen]:
    """A study as it would be frozen, and what is told of it; `new` is false where it is there as exactly this."""
    units, told = sampled(plan, sample.units, exact=exact)
    if not {plan.locale, plan.locale.partition("-")[0]} & set(sample.protocol.guide):
        told = [*told, f"locale: {sample.protocol.id} has no guide in {plan.locale}, so people read another"]
    study = frozen(plan, sample.name, sample.protocol, units, by, now())
    versions = store.versions(sample.name)
    differs: Sequence[str] = ()
    fresh = True
    if versions:
        old = store.study(sample.name)
        fresh = replace(study, version=old.version).sha != old.sha
        if fresh and not named:
            raise LabError(
                f"study {sample.name}",
                f"is in {store.path} already, as v{old.version}.",
                f"--name makes another, --name {plan.name} a new version of it.",
            )
        study = replace(study, version=old.version + fresh)
        differs = differences(old, study) if fresh else ()
    return study, units, _line(study, units, [*sample.told, *told], differs, fresh=fresh)


def _line(
    study: Study, units: Sequence[Unit], told: Sequence[str], differs: Sequence[str], *, fresh: bool
) -> StudyFrozen:
    return StudyFrozen(
        study=study.id,
        version=study.version,
        new=fresh,
        title=study.title,
        protocol=study.protocol.id,
        unit=study.protocol.unit,
        units=len(units),
        pilot=sum(bool(unit.pilot or unit.gold) and not unit.mechanical for unit in units),
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
        told=tuple(told),
    )
