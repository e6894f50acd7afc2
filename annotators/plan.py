"""A study before it is frozen: a preset, a plan file or both, with overrides from the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from annotators.assignment import check_raters, round_share, shuffled
from annotators.presets import HERE, presets
from annotators.protocols import HERE as PROTOCOLS
from annotators.units.tasks import CONDITIONS
from lab.core.codec import convert, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.settings import check_code, check_people
from lab.core.study.protocol import Protocol, Show
from lab.core.study.study import Blind, IntroductionKind, Predecessor, Study, Unit, sample_sha
from lab.core.task.task import Actor, Kind
from lab.core.text.suggestion import suggestion, unknown_name

STATISTICS = (
    "percent", "cohen kappa", "fleiss kappa", "weighted kappa", "ac1", "alpha nominal", "alpha ordinal",
    "alpha interval", "alpha ratio", "alpha masi", "alpha jaccard", "icc(A,1)", "icc(A,k)", "pearson", "spearman",
    "mae", "mse", "share in band",
    "accuracy", "precision", "recall", "f1", "majority", "side bias", "consistency", "wilson", "intra-rater",
    "edit rate", "similarity", "causes", "paired bootstrap",
)  # fmt: skip
"""Names of the statistics that a report can hold. A study's own are fixed when it is frozen."""
_FILES = ("items", "gold", "protocol", "profiles")


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The input of `hitlab study new`.

    A file holds some of it. A missing field has its preset's value, or the default.

    `protocol` is the name of a built-in protocol or a file. `protocols` names one for each kind of task instead. `runs`
    are ids, `all`, or filters as in `hitlab runs list`. `tasks` are played, or rated themselves. `items` is a
    JSON-lines file.

    `overlap` is the number of people per run (`all`: every rater), `shared` the share of runs to which it applies,
    `repeats` the share that one person rates twice. `pilot` runs come first and go to everyone. `main` is the
    paper's number of other runs: a smaller sample has a pilot in the same proportion. `gold` is a JSON-lines file
    of right answers with reasons, `bar` the share of right answers that passes the pilot. `only` selects failed or
    succeeded runs, or demonstrations. `reference` is the run beside which others are rated, or one for each
    (default: the demonstration of its task). `conditions` are those of plays.

    `profiles` is a folder of KnowU-Bench profiles, for runs that name a person without their profile. `log` selects the
    person's history that is shown. `consent` is a text by locale, or a file. `width` is the target width of a judge's
    corrected interval, whose watchers are notified when it is reached. `prelabel` is a judge whose answers half of the
    sheets show first. `shadows` are models (`model:NAME`) that silently answer a participant's questions. With
    `shadow_replies`, protocols about replies also ask about theirs, without their source. File names are relative to
    the plan's folder.

    `introduction` comes before a rater's first item: guide, keys and practice (`full`), the same with a key to skip it
    (`skippable`), or nothing (`none`). `practice` names one of the runs with gold (or its unit) on which raters try the
    sheet instead of the protocol's own practice. Its answers count nowhere.
    """

    preset: str = ""
    name: str = ""
    title: str = ""
    protocol: str = ""
    protocols: dict[Kind, str] = {}
    raters: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    items: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    reference: str | dict[str, str] = ""
    profiles: str = ""
    log: Literal["clean", "noise", "none"] = "noise"
    earlier: str = ""
    only: Literal["", "failed", "succeeded", "demonstrations"] = ""
    steps: int | None = None
    beyond: float | None = None
    overlap: int | Literal["all"] | None = None
    shared: float = 1.0
    repeats: float = 0.0
    pilot: int = 0
    main: int = 0
    gold: str = ""
    bar: float | None = None
    blind: tuple[Blind, ...] = ("people", "models", "method", "outcome", "raters")
    shows: tuple[Show, ...] = ()
    conditions: tuple[str, ...] = ("person, no mirror",)
    agent: str = "playbook"
    phone_seed: int = 0
    vary: int = 0
    quiz: int = 0
    consent: str | dict[str, str] = {}
    seed: int = 0
    locale: str = "en"
    rest_minutes: int = 45
    introduction: IntroductionKind = "full"
    practice: str = ""
    width: float | None = None
    prelabel: str = ""
    shadows: tuple[str, ...] = ()
    shadow_replies: bool = False
    statistics: tuple[str, ...] | None = None
    note: str = ""


class SampledUnits(NamedTuple):
    """Units with the pilot marked, and messages about it for people."""

    units: list[Unit]
    messages: list[str]


def plan_of(name: str, overrides: Mapping[str, Any]) -> Plan:
    """Return the plan of a preset, a built-in protocol or a plan file, with `overrides` in place of its own values."""
    if name.endswith((".yaml", ".yml")):
        return _plan_file(Path(name), overrides)
    document, preset = {"name": name, "protocol": name}, {}
    if name not in {path.stem for path in PROTOCOLS.glob("*.yaml")}:
        document, preset = preset_document(name), {"preset": preset_named(name)}
    try:
        return _plan(document, {**preset, **overrides}, f"study {name}")
    except LabError as error:
        # What is wrong comes from the overrides: the command line.
        error.code = 2
        raise


def preset_named(name: str) -> str:
    """Return a preset's full name from the name or its unique ending. Raise `LabError` if there is none."""
    preset_names = presets()
    names = [one for one in preset_names if one == name] or [one for one in preset_names if one.endswith(f"-{name}")]
    if len(names) == 1:
        return names[0]
    if names:
        raise LabError("study new", f"{name!r} may be {' or '.join(names)}", code=2)
    problem = f"{name!r} is none of {', '.join(preset_names)}, no built-in protocol, nor a plan's file (.yaml)"
    problem += suggestion(name, [*preset_names, *(path.stem for path in PROTOCOLS.glob("*.yaml"))])
    raise LabError("study new", problem, "`hitlab study protocols` lists the protocols.")


def preset_document(name: str) -> dict[str, Any]:
    """Return the contents of a preset's file."""
    path = HERE / f"{preset_named(name)}.yaml"
    document = read_yaml(read_file(path), f"preset {path.stem}").value
    return {"name": path.stem, **document}


def _plan_file(path: Path, overrides: Mapping[str, Any]) -> Plan:
    what = f"plan file {path}"
    value = read_yaml(read_file(path, what), what).value
    if not isinstance(value, dict):
        raise LabError(what, "holds no mapping of fields")
    if "fields" in value:
        raise LabError(what, "field fields: this is a protocol, no plan", "--protocol FILE takes it, beside a preset.")
    # Checked before it is changed, so that a fault is reported in the file's own terms.
    convert(value, Plan, what)
    for field in _FILES:
        if isinstance(value.get(field), str) and (field != "protocol" or value[field].endswith((".yaml", ".yml"))):
            value[field] = str(path.parent / value[field])
    if isinstance(value.get("consent"), str):
        value["consent"] = read_consent(path.parent / value["consent"])
    value["tasks"] = [
        str(path.parent / task) if task.endswith((".yaml", ".yml")) else task for task in value.get("tasks", [])
    ]
    base = preset_document(value["preset"]) if value.get("preset") else {"name": path.stem}
    return _plan({**base, **value}, overrides, what)


def _plan(base: Mapping[str, Any], overrides: Mapping[str, Any], what: str) -> Plan:
    # Options of the command line win. A single protocol replaces the preset's protocols by kind of task.
    whole = {**base, **overrides}
    if overrides.get("protocol"):
        whole.pop("protocols", None)
    plan: Plan = convert(whole, Plan, what)
    if isinstance(plan.consent, str):
        plan = replace(plan, consent=read_consent(Path(plan.consent)))
    check_plan(plan, what)
    return plan


def read_consent(path: Path) -> dict[str, str]:
    """Return the consent text by locale from a YAML mapping, or from any other text file as English."""
    what = f"consent file {path}"
    data = read_file(path, what, most=input_limits.CONSENT_BYTES)
    if path.suffix in (".yaml", ".yml"):
        texts: dict[str, str] = convert(read_yaml(data, what).value, dict[str, str], what)
    else:
        try:
            texts = {"en": data.decode("utf-8-sig").strip()}
        except UnicodeDecodeError as error:
            raise LabError(what, "is not UTF-8 text") from error
    if not texts or not all(text.strip() for text in texts.values()):
        raise LabError(what, "holds no text")
    return texts


def check_plan(plan: Plan, what: str) -> None:
    """Raise `LabError`, with `what` and the field, if a plan is invalid."""
    check_code(plan.name, what, "name")
    if not plan.raters:
        raise LabError(what, "field raters: there is none", "--raters P1,P2,P3 names them by study codes.")
    check_people(plan.raters, what, "raters")
    if bool(plan.protocol) == bool(plan.protocols):
        raise LabError(
            what, "field protocol: there is none" if not plan.protocol else "field protocols: beside protocol"
        )
    for name in ("shared", "repeats", "bar"):
        value = getattr(plan, name)
        if value is not None and not 0 <= value <= 1:
            raise LabError(what, f"field {name}: {value:g} is no share from 0 to 1")
    if plan.prelabel in plan.raters:
        raise LabError(what, f"field prelabel: {plan.prelabel} is one of its people; it is a judge that is shown first")
    for shadow in plan.shadows:
        if not shadow.startswith("model:") or shadow == "model:":
            raise LabError(what, f"field shadows: {shadow!r} is not of the form model:NAME", "model:openai/gpt-5, say.")
    if plan.width is not None and not 0 < plan.width < 1:
        raise LabError(what, f"field width: {plan.width:g} is not between 0 and 1")
    for name in ("pilot", "main", "quiz", "rest_minutes", "vary"):
        if getattr(plan, name) < 0:
            raise LabError(what, f"field {name}: {getattr(plan, name)} is less than none")
    if plan.steps is not None and plan.steps < 1:
        raise LabError(what, f"field steps: {plan.steps} is less than one")
    for statistic in plan.statistics or ():
        if statistic not in STATISTICS:
            raise LabError(what, f"field statistics: {unknown_name(statistic, STATISTICS)}")
    for condition in plan.conditions:
        if condition not in CONDITIONS:
            near = suggestion(condition, CONDITIONS)
            raise LabError(what, f"field conditions: {condition!r} is none of {'; '.join(CONDITIONS)}{near}")
    overlap_of(plan, what)


def overlap_of(plan: Plan, what: str) -> int:
    """Return the number of raters per run: as planned, else two, or one if there is only one person."""
    people = len(plan.raters)
    if plan.overlap is None:
        return min(2, people)
    overlap = people if plan.overlap == "all" else plan.overlap
    if not 1 <= overlap <= people:
        hint = f"Name more, or --overlap {people}." if overlap > people else ""
        raise LabError(what, f"field overlap: {overlap} is not from 1 to {people}, the number of raters", hint)
    return overlap


def plan_like(study: Study, overrides: Mapping[str, Any]) -> Plan:
    """Return a plan with the terms of an existing study, to make more units for it.

    Terms come from the study and its preset. Values that a study does not store (`steps`, `reference`, `profiles`, ...)
    are the preset's, or must be in `overrides` again.
    """
    base = preset_document(study.preset) if study.preset in presets() else {"protocol": study.protocol.id}
    terms: dict[str, Any] = {
        "name": study.id, "raters": study.raters, "overlap": study.overlap, "shared": study.shared,
        "repeats": study.repeats, "blind": study.blind, "shows": study.shows, "seed": study.seed,
        "locale": study.locale, "pilot": 0, "main": 0,
    }  # fmt: skip
    return _plan({**base, **terms}, overrides, f"study {study.name}")


# -- freezing --------------------------------------------------------------------------------------------------


def freeze(plan: Plan, name: str, protocol: Protocol, units: Sequence[Unit], by: Actor, at: str) -> Study:
    """Return the first version of a study from a plan and its units."""
    assert isinstance(plan.consent, dict)
    study = Study(
        name,
        1,
        plan.title or protocol.word(plan.locale, "title", protocol.title),
        protocol,
        plan.raters,
        len(units),
        sample_sha(tuple(units)),
        overlap=overlap_of(plan, f"study {name}"),
        shared=plan.shared,
        repeats=plan.repeats,
        blind=plan.blind,
        shows=plan.shows,
        seed=plan.seed,
        locale=plan.locale,
        bar=plan.bar,
        consent=plan.consent,
        quiz=plan.quiz,
        rest_minutes=plan.rest_minutes,
        introduction=plan.introduction if protocol.unit != "task to play" else "none",
        practice=next((unit.id for unit in units if unit.practice), ""),
        preset=plan.preset,
        note=plan.note,
        statistics=_usual_statistics(protocol) if plan.statistics is None else plan.statistics,
        width=plan.width,
        prelabel=plan.prelabel,
        shadows=plan.shadows,
        by=by,
        at=at,
    )
    if study.shadows and protocol.unit != "task to play":
        raise LabError(f"study {name}", f"field shadows: {protocol.id} is rated; shadows stand beside people who play")
    check_raters(study, units)
    return study


def _usual_statistics(protocol: Protocol) -> tuple[str, ...]:
    """Return the statistics of a plan that names none: those that the kinds of its questions have."""
    kinds = {field.kind for field in protocol.fields}
    names = ["percent", "ac1", "alpha nominal"] if kinds & {"nominal", "ordinal"} else []
    names += ["percent", "alpha masi"] if "many" in kinds else []
    names += ["percent", "ac1"] if "flag" in kinds else []
    names += ["alpha interval", "mae"] if "interval" in kinds else []
    return tuple(dict.fromkeys(names))


def extend(study: Study, units: Sequence[Unit], more: Sequence[Unit], by: Actor, at: str) -> Study:
    """Return a study's next version with `more` units, otherwise unchanged.

    Raise `LabError` if such a study cannot grow: played ones, because order and conditions are balanced over all tasks;
    those about another study's answers; and those without going back, if a new unit belongs to a cluster that was
    already asked.
    """
    what = f"study {study.name}"
    if study.protocol.unit == "task to play":
        raise LabError(what, "is played: order and conditions are balanced over all of its tasks, and none is added.")
    if study.protocol.targets == "items":
        raise LabError(what, "asks about what another study's raters said; freeze it anew over that study.")
    clusters = {unit.clustered for unit in units}
    late = next((unit for unit in more if study.protocol.forward and unit.clustered in clusters), None)
    if late is not None:
        raise LabError(what, f"has no going back, and {late.id} belongs among what was asked of {late.clustered}.")
    every = (*units, *more)
    return replace(
        study,
        version=study.version + 1,
        units=len(every),
        sample_sha=sample_sha(every),
        extends=Predecessor(study.version, study.sha),
        by=by,
        at=at,
    )


def mark_pilot(plan: Plan, units: Sequence[Unit], *, exact: bool) -> SampledUnits:
    """Return the units with the planned pilot marked, drawn from the seed by whole clusters.

    Units with gold are part of it. If there are fewer units than in the paper, the pilot shrinks in proportion. An
    `exact` number is used as it is. Raise `LabError` if it leaves nothing to rate. The practice unit is not part of the
    pilot.
    """
    units = with_practice(plan, units) if plan.practice else units
    units_to_rate = [unit for unit in units if not unit.mechanical and not unit.practice]
    golden = [unit for unit in units_to_rate if unit.pilot or unit.gold]
    pilot_size, pilot = plan.pilot, list[str]()
    # An exact number comes from the person, who must hear of it. A preset's number shrinks below instead.
    if exact and pilot_size >= len(units_to_rate) > 0:
        raise LabError(
            f"study {plan.name}", f"field pilot: {pilot_size} of {len(units_to_rate)} leaves nothing to rate after it"
        )
    if not exact and golden:
        pilot_size = len(golden)
    elif not exact and pilot_size and len(units_to_rate) < pilot_size + plan.main:
        pilot_size = (
            round_share(pilot_size / (pilot_size + plan.main), len(units_to_rate))
            if plan.main
            else min(pilot_size, len(units_to_rate) // 2)
        )
        of = f"of {plan.pilot + plan.main}" if plan.main else "in the preset"
        pilot.append(f"pilot: {pilot_size} of {len(units_to_rate)}, in proportion to {plan.pilot} {of}")
    if plan.bar is not None and not any(unit.gold for unit in units_to_rate):
        pilot.append("bar: nothing in the pilot has gold, so nobody is held by it (--gold FILE.jsonl)")
    if pilot_size <= len(golden):
        return SampledUnits(list(units), pilot)
    pilot_ids = {unit.id for unit in golden}
    clusters: dict[str, list[str]] = {}
    for unit in units_to_rate:
        clusters.setdefault(unit.clustered, []).append(unit.id)
    # Whole clusters, so that the pilot reveals nothing about the rest of a cluster.
    for cluster in shuffled((plan.name, plan.seed), list(clusters), "pilot"):
        if len(pilot_ids) >= pilot_size:
            break
        pilot_ids.update(clusters[cluster])
    return SampledUnits([replace(unit, pilot=True) if unit.id in pilot_ids else unit for unit in units], pilot)


def with_practice(plan: Plan, units: Sequence[Unit]) -> list[Unit]:
    """Return the units with the practice unit marked. Raise `LabError` if it is not found or has no gold."""
    what, name = f"study {plan.name}", plan.practice
    fitting = [unit for unit in units if name in (unit.id, *unit.runs)]
    fitting = fitting or [unit for unit in units if any(id.startswith(name) for id in (unit.id, *unit.runs))]
    if len(fitting) != 1:
        problem = "is none of what is asked about" if not fitting else f"fits {len(fitting)} of what is asked about"
        raise LabError(what, f"field practice: {name} {problem}", "--practice names a run, or a unit, of --gold.")
    if not fitting[0].gold:
        problem = f"field practice: nothing tells what is right in {name}"
        raise LabError(what, problem, "A line of --gold FILE.jsonl says it, and why.")
    if len(units) == 1:
        raise LabError(what, f"field practice: {name} is all there is, and nothing is left to rate")
    return [replace(unit, practice=True, pilot=True) if unit is fitting[0] else unit for unit in units]


def differences(old: Study, new: Study) -> list[str]:
    """Return the differences between two versions, one phrase each."""
    words: list[str] = []
    for name in Study.__struct_fields__:
        before, after = getattr(old, name), getattr(new, name)
        # These differ in every version.
        if before == after or name in ("id", "version", "at", "by", "extends", "v"):
            continue
        if name == "protocol":
            words.append(_protocol_differs(before, after))
        elif name == "sample_sha":
            words.append("other units" if old.units == new.units else "")
        elif isinstance(before, dict):
            words.append(name)
        else:
            words.append(f"{name} {_value_words(before)} -> {_value_words(after)}")
    return [one for one in words if one]


def _protocol_differs(old: Protocol, new: Protocol) -> str:
    if old.sha == new.sha:
        return ", ".join(name for name in ("guide", "practice") if getattr(old, name) != getattr(new, name)) or "words"
    return f"protocol {old.id} -> {new.id}" if old.id != new.id else f"protocol {old.id} {old.sha[:8]} -> {new.sha[:8]}"


def _value_words(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value) if value not in ("", None) else "none"
