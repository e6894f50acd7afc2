"""The command study extend: add units to a running study."""

from __future__ import annotations

from typing import Any

import msgspec

from annotators.plan import plan_like
from lab.cli.arguments import JsonArguments, Parser, StudyArguments
from lab.cli.database import in_file, open_store, settings_for
from lab.cli.output import print_line, print_result
from lab.cli.study.new import UNIT_WORDS, UnitArguments, print_skipped
from lab.core.errors import LabError
from lab.core.task.task import Actor
from lab.core.values.rounding import count
from lab.runs.listing.run_selection import with_tag
from lab.studies.planning.study_extension import ExtendedStudy, StudyExtension, extend_study, planned_extension
from lab.studies.planning.study_freezing import check_seen
from lab.studies.planning.study_places import study_named
from lab.studies.planning.study_runs import Skipped
from lab.studies.seats import sees_outcomes

_TERMS = ("runs", "tasks", "items", "reference", "profiles", "log", "steps")


class StudyExtended(msgspec.Struct, frozen=True):
    """Result of `study extend`: a study's next version.

    `new` of its `units` were added. `already` of the named units were in it, and `changed` of those would differ if
    made today but stay as they were frozen. `labels` and `acts` of the previous version count in it. `carried` is the
    number of assignments carried over, `dealt` the number of new ones by code.
    """

    study: str
    version: int
    extends: int
    unit: str
    units: int
    new: int
    already: int
    changed: int
    carried: int
    labels: int
    acts: int
    dealt: dict[str, int]
    rule_labels: int
    sha: str
    sample_sha: str
    told: tuple[str, ...]
    skipped: tuple[Skipped, ...]


class StudyExtendArguments(StudyArguments, UnitArguments, JsonArguments):
    pass


def add_study_extend(parser: Parser) -> None:
    parser.runs(extend, StudyExtendArguments, prints={"study-extend": StudyExtended})
    parser.examples(
        """\
  hitlab study extend tdg --runs 019a 019b      two runs more, as version 2
  hitlab study extend tdg --runs all            all new runs
  hitlab study extend tdg --tag batch-2
"""
    )


def extend(args: StudyExtendArguments) -> int:
    """Add units to a study as its next version, carrying over assignments and answers."""
    settings = settings_for(args.db, sees_outcomes, "study extend")
    arguments = vars(args)
    terms: dict[str, Any] = {name: arguments[name] for name in _TERMS if arguments[name] is not None}
    if args.tag is not None:
        terms["runs"] = with_tag(terms.get("runs", ()), args.tag)
    if not terms.keys() & {"runs", "tasks", "items"}:
        raise LabError("study extend", "names nothing to add", "--runs all, --tag NAME, --items FILE.jsonl", code=2)
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        extension = planned_extension(store, study, plan_like(study, terms), Actor("human", settings.person))
        if not args.even_so:
            check_seen([extension.blank], "study extend")
        extended_study = extend_study(store, extension)
    result = _result(extension, extended_study)
    print_result(result, lambda _: _print_extension(result, args.db), json=args.json)
    return 0


def _result(extension: StudyExtension, extended_study: ExtendedStudy) -> StudyExtended:
    study = extension.study
    assert study.extends is not None
    dealt_counts: dict[str, int] = {}
    for assignment in extended_study.dealt:
        dealt_counts[assignment.rater] = dealt_counts.get(assignment.rater, 0) + 1
    return StudyExtended(
        study=study.id,
        version=study.version,
        extends=study.extends.version,
        unit=study.protocol.unit,
        units=len(extension.units),
        new=len(extension.new),
        already=extension.already,
        changed=extension.changed,
        carried=extended_study.carried.assignments,
        labels=extended_study.carried.labels,
        acts=extended_study.carried.acts,
        dealt=dealt_counts,
        rule_labels=extended_study.rule_labels,
        sha=study.sha,
        sample_sha=study.sample_sha,
        told=tuple(extension.told),
        skipped=tuple(extension.skipped),
    )


def _print_extension(result: StudyExtended, db: str | None) -> None:
    name, units = f"{result.study} v{result.version}", UNIT_WORDS[result.unit]
    new = f"{result.new:,} {result.unit if result.new == 1 else units}"
    already = f"; {result.already:,} named were in it already" if result.already else ""
    print_line(f"{name} extends v{result.extends}: {new} more, {result.units:,} in all{already}")
    if result.changed:
        print_line(
            f"note      {result.changed:,} of these would be asked otherwise today, and stay as they were frozen"
        )
    for line in result.told:
        print_line(f"note      {line}")
    counts = f"{count(result.labels, 'answer')} and {count(result.acts, 'act')}"
    print_line(
        f"carried   {counts} on {result.carried:,} dealt: they count in v{result.version}, and nobody is asked again"
    )
    if result.dealt:
        print_line(f"dealt     {', '.join(f'{code} {more:,}' for code, more in result.dealt.items())}")
    print_line(f"frozen    {result.sha}")
    print_skipped(result.skipped)
    print_line(f"v{result.extends} is not rated in any more; its links lead on, and its kits are taken back as before")
    if not result.dealt:
        print_line(f"next: hitlab study deal {result.study}{in_file(db)}")
    else:
        print_line(f"next: hitlab study rate {result.study} --person {next(iter(result.dealt))}{in_file(db)}")
