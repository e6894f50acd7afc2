"""The command judge: a language model rates a study as one more rater."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from annotators.validation.study_split import SPLITS, Split
from lab.cli.arguments import JsonArguments, Parser, StudyArguments, amount, flag, option, share, up_to
from lab.cli.budget import check_budget, check_priced
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result, warn
from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.report import Section
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.llm.cluster_executor import ClusterExecutor, cluster_address
from lab.runs.descriptions import format_dollars, one_line, without_words
from lab.studies.judging.batch_judging import BatchJudging
from lab.studies.judging.judge_job import job_of, keeps_outcome_hidden
from lab.studies.judging.judge_questions import JudgeEstimate, ShownQuestion, estimated, shown_question
from lab.studies.judging.judge_terms import FailedSheet, JobProgress, JudgeTerms, JudgingDone
from lab.studies.judging.judging import JudgingJob
from lab.studies.planning.study_places import StudyPlaces, check_goes_on, study_named
from lab.studies.planning.study_split import check_split, keep_split
from lab.studies.seats import sees_outcomes
from store.file.process_lock import process_lock

if TYPE_CHECKING:
    from lab.core.study.study import Study
    from lab.llm.client import Llm
    from lab.llm.executor import ModelExecutor
    from store.store import Store

_AT_A_TIME = 4
"""Default number of concurrent questions from this process."""


class JudgeArguments(StudyArguments, JsonArguments):
    model: str = option(
        "NAME", "ask this model by litellm's name, e.g. openai/gpt-4.1-mini (default: the setting model)", default=""
    )
    rater: str = option("CODE", "call the judge CODE (default: the model's name)", "--person", "--as", default="")
    method: str = option("NAME", "judge by this method (default: the protocol's own)", default="")
    stage_model: list[str] = option(
        "STAGE=NAME", "ask another model at one stage of the method (e.g. description=NAME); repeatable",
        action="append", default=[],
    )  # fmt: skip
    runs: int = option("N", "judge each unit N times (default: 1)", type=up_to(1_000), default=1)
    budget: float | None = option("USD", "ask nothing more after spending so many US dollars (e.g. 10)", type=amount)
    concurrency: int | None = option(
        "N", "ask N questions at a time (default: 4; of a cluster, two for each thread)", type=up_to(1_000)
    )
    on: str = option(
        "dask://HOST:PORT", "let a Dask cluster's workers ask (needs hitlab[cluster])", "--cluster", "--on", default=""
    )
    batch: bool = flag("send questions in the provider's batches: half the price, within a day")
    stream: bool = flag("stream answers, for a gateway that cuts silent connections")
    pictures: int = option(
        "N", "send at most N pictures in a question; 0: words alone (default: 12)", type=up_to(1_000), default=12
    )
    dry_run: bool = flag("count questions, tokens and cost, and ask nothing")
    resume: bool = flag("continue a job that was begun, and refuse to begin another")
    split: Split | None = option(
        "", "judge only this part of the study: dev to work out a prompt, test to validate it", choices=SPLITS
    )
    dev_share: float | None = option(
        "0-1", "put this share of units into dev when the study is first split (default: 0.5)", type=share
    )
    examples: int = option("N", "few-shot: put N settled dev units into the prompt", type=up_to(1_000), default=0)
    hide: str = option("", "hide how a run ended, even if the study shows it", default="", choices=("outcome",))
    validate: bool = flag("ask nothing: print how far the judges (or the named one) can be trusted")
    gate: str | None = option("FILE", "ask nothing: exit with 1 if it agrees less with people than FILE says")
    show_prompt: str | None = option("UNIT", "print the first prompt about a unit, and ask nothing")


class JudgeReport(msgspec.Struct, frozen=True):
    """Result of `judge`. `cost` is what this job paid in US dollars. `ended` is the reason if it ended early.

    `without` lists request parameters that the model's server refused and that were left out.
    """

    study: str
    judge: str
    method: str
    config_sha: str
    done: int
    total: int
    asked: int
    found_again: int
    unusable: int
    cost: float
    ended: str
    failed: tuple[FailedSheet, ...]
    without: tuple[str, ...] = ()


class JudgeValidation(msgspec.Struct, frozen=True):
    """Validation of each judge of a study, as the report has it: `judge --validate`."""

    study: str
    judges: tuple[Section, ...]


def add_judge(parser: Parser) -> None:
    parser.runs(
        judge, JudgeArguments,
        prints={"judge": JudgeReport, "judge-dry-run": "lab.studies.judging.judge_questions:JudgeEstimate",
                "judge-gate": "lab.cli.judge_gate:GateReport",
                "judge-prompt": "lab.studies.judging.judge_questions:ShownQuestion",
                "judge-validation": JudgeValidation},
    )  # fmt: skip
    parser.description = """\
Let a language model rate a study's units like one more rater. It sees what the
protocol shows and no more, and answers by the rules of the screen. Agreement
and report count its answers beside people's. Paid answers are stored as they
arrive: the same line again continues the job, and asks nothing twice."""
    parser.examples(
        """\
  hitlab judge tdg --model openai/gpt-4.1-mini --dry-run
  hitlab judge tdg --model openai/gpt-4.1-mini --runs 5 --budget 10
  hitlab judge tdg --model openai/gpt-4.1-mini --batch
  hitlab judge tdg --validate
"""
    )


def judge(args: JudgeArguments) -> int:
    """Judge all open sheets. Exit code 3 if some are left, 1 if nothing was done."""
    settings = settings_for(args.db, sees_outcomes, "judge")
    if args.validate and args.gate is not None:
        raise LabError("judge", "--validate and --gate: a gate is held by a command of its own.", code=2)
    if args.validate:
        return _validate(args, settings)
    if args.gate is not None:
        return _hold_gate(args, settings, Path(args.gate))
    args.model = args.model or settings.model
    if not args.model:
        raise LabError("judge", "--model names the model that is asked.", code=2)
    terms = _terms(args)
    asks = args.show_prompt is None and not args.dry_run
    with open_store(settings, create=False, readonly=not asks) as store:
        study = study_named(store, args.study)
        _check_judged(store, study, asks=asks)
        llm, stages = _llm(args.model, args, settings), _stage_models(args, settings)
        if args.resume and keeps_outcome_hidden(store, study, args.rater or args.model):
            terms = terms._replace(hides_outcome=True)
        job = job_of(
            store, study, args.rater or args.model, llm, args.method, terms,
            most=args.pictures, longest=settings.model_picture or 1024, reads=settings.ocr, stages=stages,
        )  # fmt: skip
        if args.show_prompt is not None:
            unit = StudyPlaces(store, study).unit(args.show_prompt, "--show-prompt")
            print_result(shown_question(job, unit, llm if args.json else None), _print_prompt, json=args.json)
            return 0
        if args.resume and not (job.has_begun or BatchJudging(job, llm).has_begun):
            raise LabError("judge", f"--resume: {plain(job.judge.id)} has judged nothing in {study.name} yet.", code=2)
        if args.dry_run:
            print_result(estimated(job, llm, batch=args.batch), _print_estimate, json=args.json)
            return 0
        for model in (llm, *stages.values()):
            model.check()
            model.check_known()
            if terms.budget is not None:
                check_priced("judge", model)
        with _lock_work(job, args.split):
            outcome = _run_job(job, llm, args, settings.person)
        report = _report(job, outcome)
        print_result(report, lambda told: _print_report(told, outcome.unpriced, args.split), json=args.json)
        return 0 if report.done == report.total else 3 if report.done else 1


def _check_judged(store: Store, study: Study, *, asks: bool) -> None:
    """Raise `LabError` if no model can judge the study, or, if `asks`, answers could not be stored."""
    if study.protocol.unit == "task to play":
        hint = "`hitlab study play --model` has a model play it; a study of its runs is judged."
        raise LabError(f"study {study.name}", "is played, not judged.", hint)
    if not asks:
        return
    check_goes_on(store, study)
    if (kit := store.kit()) is not None:
        problem = f"this file is a kit of {kit.rater}; no model judges in it."
        raise LabError(f"study {study.name}", problem, "Models judge where the study came from.")


def _validate(args: JudgeArguments, settings: Settings) -> int:
    """Print each judge's validation. Exit code 1 if there is nothing to compare."""
    from annotators.report.judge_section import sections
    from lab.studies.progress.study_data import load_study_data

    with open_store(settings, create=False, readonly=True) as store:
        study = study_named(store, args.study)
        study_data = load_study_data(store, study)
        if args.split is not None:
            check_split(study_data)
        judge_sections = tuple(sections(study_data, args.rater or args.model, args.split, grids=True))
    columns = study_data.columns
    judges = {
        columns.raters[at].id: bool(((columns.rater == at) & (columns.value >= 0)).any()) for at in study_data.judges
    }
    print_result(
        JudgeValidation(study.name, judge_sections), lambda validation: _print_validation(validation, args, judges),
        json=args.json,
    )  # fmt: skip
    return 0 if any(section.tables for section in judge_sections) else 1


def _hold_gate(args: JudgeArguments, settings: Settings, file: Path) -> int:
    from lab.cli.judge_gate import hold_gate

    judge = args.rater or args.model
    if not judge:
        raise LabError("judge", "--gate needs --person or --model: whose answers are compared.", code=2)
    with open_store(settings, create=False, readonly=True) as store:
        return hold_gate(store, study_named(store, args.study), judge, file, args.split, json=args.json)


def _print_validation(validation: JudgeValidation, args: JudgeArguments, judges: Mapping[str, bool]) -> None:
    """Print the sections, else why there are none: nobody judged, not the named one, or no comparable answers.

    `judges` maps each judge to True if it has any answer.
    """
    from annotators.report.text import section_lines

    judge = args.rater or args.model
    if not validation.judges and not judges:
        print_line(
            f"No model has judged {validation.study}: `hitlab judge {validation.study.partition(' ')[0]} --model NAME`"
        )
    elif not validation.judges and judge and judge not in judges:
        print_line(f"{plain(judge)} has judged nothing in {validation.study}; {', '.join(map(plain, judges))} did.")
    elif not validation.judges:
        part = f", units of {args.split}" if args.split is not None else ""
        nobody = f"{plain(judge)} gave no answer" if judge else "No model gave an answer"
        if judges[judge] if judge else any(judges.values()):
            compares = f"`hitlab agreement {plain(args.study)}` compares numbers."
            print_line(f"{nobody} that is a category in {validation.study}{part}: {compares}")
        else:
            print_line(f"{nobody} in {validation.study}{part}: nothing can be compared.")
    for section in validation.judges:
        for line in section_lines(section, max(60, min(160, shutil.get_terminal_size((100, 24)).columns))):
            print_line(line)


def _terms(args: JudgeArguments) -> JudgeTerms:
    for name, value, least in (
        ("runs", args.runs, 1),
        ("concurrency", args.concurrency if args.concurrency is not None else _AT_A_TIME, 1),
        ("pictures", args.pictures, 0),
        ("examples", args.examples, 0),
    ):
        if value < least:
            raise LabError("judge", f"--{name} {value} is less than {least}.", code=2)
    check_budget("judge", args.budget)
    if args.dev_share is not None and args.split is None and not args.examples:
        raise LabError("judge", "--dev-share is for --split or --examples.", code=2)
    if args.on:
        cluster_address(args.on)
    if args.on and args.batch:
        raise LabError("judge", "--cluster and --batch: a batch is asked by its provider, not by a cluster.", code=2)
    if args.stream and args.batch:
        raise LabError("judge", "--stream does not go with --batch: a batch comes as a file.", code=2)
    return JudgeTerms(
        args.runs, args.concurrency or _AT_A_TIME, args.budget,
        split=args.split, dev_share=args.dev_share, examples=args.examples, hides_outcome=args.hide == "outcome",
    )  # fmt: skip


def _llm(model: str, args: JudgeArguments, settings: Settings) -> Llm:
    from lab.llm.client import Llm, terms

    on = terms(settings)
    return Llm(model, on._replace(stream=on.stream or args.stream))


def _stage_models(args: JudgeArguments, settings: Settings) -> dict[str, Llm]:
    """Return the models of single stages. Raise `LabError` for a bad or repeated stage."""
    models: dict[str, Llm] = {}
    for stage_option in args.stage_model:
        stage, _, name = stage_option.partition("=")
        if not stage or not name:
            raise LabError("judge", f"--stage-model {plain(stage_option)!r} is not of the form STAGE=NAME.", code=2)
        if stage in models:
            raise LabError("judge", f"--stage-model names stage {plain(stage)} twice.", code=2)
        models[stage] = _llm(name, args, settings)
    return models


# -- doing it ------------------------------------------------------------------------------------------------------


def _sign(job: JudgingJob, person: str) -> None:
    """Store the study's split, if it matters, and the judge's configuration."""
    if job.split is not None:
        keep_split(job.store, job.study, job.split, person)
    job.sign()


@contextmanager
def _lock_work(job: JudgingJob, part: Split | None) -> Iterator[None]:
    """Lock this judge's work, so that no other process pays for the same answers. Raise `LabError` if it is locked."""
    study, judge = job.study, job.judge.id
    with ExitStack() as stack:
        for one in SPLITS if part is None else (part,):
            work = (study.id, study.version, judge, one)
            does = f"has {plain(judge)} judge {study.name}"
            stack.enter_context(process_lock(job.store.path, *work, title="judge", does=does))
        yield


def _run_job(job: JudgingJob, llm: Llm, args: JudgeArguments, person: str) -> JudgingDone:
    """Run the job with a progress bar. One Ctrl+C lets questions in progress finish, a second stops at once."""
    if args.batch:
        batches = BatchJudging(job, llm)
        batches.check()
        _sign(job, person)
        with _progress_bar(job) as tell, _end_on_interrupt(job, "What is in a batch goes on at its provider."):
            return batches.go(tell)
    BatchJudging(job, llm).check_none_open()
    executor = _executor(job, llm, args)
    _sign(job, person)
    with _progress_bar(job) as tell, _end_on_interrupt(job, "What is under way is waited for."):
        return job.run(llm, tell, executor)


def _executor(job: JudgingJob, llm: Llm, args: JudgeArguments) -> ModelExecutor | None:
    """Return the named cluster's executor, None for threads of this process."""
    if not args.on:
        return None
    cluster = ClusterExecutor(args.on, job.stop, args.concurrency, warn)
    for model in (llm, *job.stages.values()):
        cluster.check(model)
    return cluster


@contextmanager
def _end_on_interrupt(job: JudgingJob, meanwhile: str) -> Iterator[None]:
    # A signal handler, since the job's thread waits in `wait` and must still store what arrives.
    def end(number: int, frame: object) -> None:
        if job.closing:
            job.stop.set()
            raise KeyboardInterrupt
        job.closing = True
        warn(f"No more is asked. {meanwhile} Ctrl+C again leaves at once.")

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _progress_bar(job: JudgingJob) -> Iterator[Callable[[JobProgress], None]]:
    """Show progress on standard error: sheets, cost, remaining time."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[cost]}", markup=False),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("judging", total=None, cost="")
        yield lambda progress: bar.update(
            task, completed=progress.done, total=progress.total, cost=format_dollars(progress.spent)
        )


# -- telling it ----------------------------------------------------------------------------------------------------


def _report(job: JudgingJob, outcome: JudgingDone) -> JudgeReport:
    progress = outcome.progress
    return JudgeReport(
        job.study.name, job.judge.id, job.method.name, job.config_sha, progress.done, progress.total, progress.asked,
        progress.found, outcome.unusable, progress.spent, outcome.ended, outcome.failed, outcome.without,
    )  # fmt: skip


def _print_report(report: JudgeReport, unpriced: int, part: Split | None) -> None:
    what = report.study if part is None else f"{report.study}, units of {part}"
    if not report.total:
        print_line(f"{plain(report.judge)} has judged all of {what}.")
        return
    cost = (
        f"{format_dollars(report.cost)} and {count(unpriced, 'answer')} of unknown price"
        if unpriced
        else format_dollars(report.cost)
    )
    print_line(
        f"{plain(report.judge)} judged {report.done:,} of {count(report.total, 'sheet')} of {what} "
        f"(method {report.method}): {count(report.asked, 'question')} asked, {report.found_again:,} found again, "
        f"{cost}."
    )
    if report.unusable:
        print_line(
            f"{count(report.unusable, 'sheet')} without a usable answer, kept as `cannot judge` with the reason."
        )
    for words in without_words(report.without):
        print_line(f"It was asked {words}.")
    for failure in report.failed:
        print_line(plain(f"  {failure.unit} run {failure.run}: {one_line(failure.why)}", lines=False))
    if report.ended:
        print_line(f"It ended early: {report.ended}.")
    if report.done < report.total:
        print_line("The same line again goes on from here.")


def _print_estimate(estimate: JudgeEstimate) -> None:
    least = "at least " if estimate.staged else ""
    print_line(
        f"{count(estimate.sheets, 'sheet')} to judge: {least}{count(estimate.questions, 'question')}, "
        f"{estimate.found_again:,} paid for before."
    )
    print_line(f"About {estimate.prompt_tokens:,} tokens sent ({count(estimate.pictures, 'picture')}), "
        f"{estimate.completion_tokens:,} back.")  # fmt: skip
    cost_words = f"About {format_dollars(estimate.cost)}." if estimate.cost is not None else (
        "Nobody knows what this model costs: set model_price_in and model_price_out."
    )  # fmt: skip
    print_line(cost_words)
    if estimate.sheets:
        print_line(_outcome_words(estimate))


def _outcome_words(asked: JudgeEstimate | ShownQuestion) -> str:
    """Describe what the judge learns of a run's end."""
    if asked.outcome:
        return f"Of how a run ended the judge is told: {', '.join(asked.outcome)}. --hide outcome leaves that out."
    return f"The judge is told nothing of how a run ended{' (--hide outcome)' if asked.hides_outcome else ''}."


def _print_prompt(question: ShownQuestion) -> None:
    print_line(f"judge {plain(question.judge)}, method {question.method}, stage {question.stage}, unit {question.unit}")
    print_line(_outcome_words(question))
    for message in question.messages:
        print_line(f"\n[{message.role}]")
        for part in message.parts:
            print_line(plain(part.text) if part.text else f"[{part.mime}, {part.size:,} bytes, sha256 {part.sha256}]")
