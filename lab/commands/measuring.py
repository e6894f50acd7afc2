"""The command that measures stored runs: metrics."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from annotators.metrics import PAPERS, Terms, definitions
from annotators.metrics.marks import Marks, marked, read_marks
from annotators.metrics.measured import measured
from lab.case import Case
from lab.commands.metrics_told import Measured, TermsTold, explain, print_csv, tell
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.commands.settling import study_marks
from lab.errors import LabError
from lab.output import print_json
from lab.settings import Settings, load
from lab.task import load_persona
from screens.seats import sees_outcomes
from store.store import Store


def metrics(args: argparse.Namespace) -> int:
    """The papers' numbers over the runs of a database, each with its n and what was left out."""
    if args.explain:
        explain(definitions(args.paper), as_json=args.json)
        return 0
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "metrics")
    if args.rater and not args.study:
        raise LabError("metrics", "--rater says whose answers of --study count; no study is named.", code=2)
    terms = _terms(args, settings)
    with open_store(settings, create=False, readonly=True) as store:
        ids = [store.find(id) for id in args.run_ids] or None
        left_out: dict[str, int] = {}
        cases = list(_measurable(store, ids, left_out, forks=args.forks))
        rated = ""
        if args.study:
            marks, rated = study_marks(store, args.study, args.rater or "")
            cases = marked(cases, marks)
        if args.marks:
            cases = marked(cases, _marks(store, Path(args.marks)))
        groups = measured(cases, args.by, args.paper, terms)
        told = Measured(
            db=str(store.path),
            runs=len(cases),
            left_out=left_out,
            papers=tuple(paper for paper in PAPERS if paper in args.paper),
            terms=TermsTold(
                terms.step_budget, terms.golden_tokens, terms.token_budget, terms.rule_weight, terms.embedder
            ),
            groups=tuple(groups),
            by=args.by,
            rated=rated,
        )
    if args.json:
        print_json(told)
    elif args.csv:
        print_csv(told)
    else:
        tell(told)
    return 0


def _measurable(store: Store, ids: list[str] | None, left_out: dict[str, int], *, forks: bool) -> Iterator[Case]:
    """The runs that have ended; a fork repeats the beginning of another run, and counts only where it is asked for."""
    for case in store.cases(ids):
        why = "not ended" if case.status == "open" else "forked from another run" if case.parent and not forks else ""
        if why and ids is None:
            left_out[why] = left_out.get(why, 0) + 1
        elif not why or case.status != "open":
            yield case
        else:
            raise LabError(f"run {case.id}", "has not ended; it cannot be measured yet.")


def _marks(store: Store, path: Path) -> dict[str, tuple[str, Marks]]:
    """What a file says of runs, by their whole ids; a run that two lines are about is refused."""
    found: dict[str, tuple[str, Marks]] = {}
    for where, marks in read_marks(path):
        id = store.find(marks.run)
        if id in found:
            raise LabError(where, f"field run: {marks.run} is what {found[id][0]} is about")
        found[id] = (where, marks)
    return found


def _terms(args: argparse.Namespace, settings: Settings) -> Terms:
    embed = None
    if args.embed:
        from lab.embedding import embedder
        from lab.llm import terms

        embed = embedder(args.embed, terms(settings))
    return Terms(
        step_budget=args.step_budget,
        golden_tokens=args.golden_tokens,
        token_budget=args.token_budget,
        rule_weight=args.rule_weight,
        embed=embed,
        embedder=args.embed or "",
        profiles=_profiles(Path(args.profiles)) if args.profiles else {},
    )


def _profiles(folder: Path) -> dict[str, dict[str, object]]:
    """KnowU-Bench's profiles by their role, which is each file's name."""
    if not folder.is_dir():
        raise LabError(str(folder), "is no folder of profiles.", "KnowU-Bench keeps them in user_profile/.")
    found = {path.stem: load_persona(path).facts for path in sorted(folder.glob("*.yaml")) if path.stem != "template"}
    if not found:
        raise LabError(str(folder), "holds no profile (*.yaml).")
    return found
