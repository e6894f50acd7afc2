"""Answer swap, `runs fork --each-ask`: others' replies at each question of a run, and a table of their outcomes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lab.cli.database import open_store
from lab.cli.output import print_line, print_result, print_table, warn
from lab.core.errors import LabError
from lab.core.run.trace import Trace
from lab.core.settings import Settings
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.descriptions import one_line
from lab.runs.fork.answer_swap import (
    DonorReply,
    SwappedQuestion,
    SwappedReply,
    asked_steps,
    compare_replies,
    load_replies,
    plan_swaps,
    swap_replies,
    unmatched_givers,
)
from store.store import Store

_WIDEST = 60


class AnswerSwap(msgspec.Struct, frozen=True):
    """Others' replies at each question of a run: `runs fork --each-ask`. `forks` counts the runs made.

    `passed_over` names the people whose replies fit no question.
    """

    run: str
    task: str
    agent: str
    forks: int
    questions: tuple[SwappedQuestion, ...]
    passed_over: tuple[str, ...] = ()


def swap_answers(
    run: str, file: str | None, study: str | None, user: str | None, settings: Settings, *, json: bool
) -> int:
    """Fork a run at each question once for each other reply. Exit code 1 if none of these forks was made."""
    if (file is None) == (study is None):
        raise LabError("fork", "--each-ask needs --replies FILE or --study STUDY.", code=2)
    if "@" in run:
        raise LabError(f"fork {run}", "--each-ask forks at every question: name the run without a step.", code=2)
    with open_store(settings, create=False) as store:
        trace = store.runs.trace(store.runs.find(run))
        _check_run(trace, user)
        donor_replies = _load_replies(store, trace, file, study)
        plan_list = plan_swaps(trace, donor_replies)
        if not plan_list:
            raise LabError(
                f"run {trace.id}", "was given no reply other than its own.", "None of them fits its questions."
            )
        left_out = tuple(unmatched_givers(trace, donor_replies))
        if left_out:
            why = "a decision answers a proposal alone, and `step` names the step of a question"
            warn(f"passed over, for no question here fits: {plain(', '.join(left_out), lines=False)} ({why})")
        replies = []
        for number, reply in enumerate(swap_replies(store, trace.id, plan_list, person=settings.person, user=user), 1):
            replies.append(reply)
            step = plan_list[number - 1].at + 1
            warn(f"{number}/{len(plan_list)}: step {step}, {_format_donors(reply)}: {_format_end(reply)}")
        questions = tuple(compare_replies(store, trace, plan_list, replies))
    fork_count = sum(bool(reply.run) for reply in replies)
    print_result(
        AnswerSwap(trace.id, trace.task.id, trace.agent.identity, fork_count, questions, left_out),
        _print_swap,
        json=json,
    )
    return 0 if fork_count else 1


def _check_run(trace: Trace, user: str | None) -> None:
    """Raise `LabError` if a run has no answered question, or nobody would answer questions after a fork."""
    if not asked_steps(trace):
        raise LabError(f"run {trace.id}", "asked nothing that was answered.")
    kind = trace.user.kind if trace.user is not None else "human"
    if user == "human" or (user is None and kind == "human"):
        hint = "Name who does with --user script, script:FILE or model:NAME."
        raise LabError("fork", "nobody answers what a fork asks later on.", hint, code=2)


def _load_replies(store: Store, trace: Trace, file: str | None, study: str | None) -> list[DonorReply]:
    if file is not None:
        return load_replies(Path(file))
    from lab.studies.planning.study_places import study_named
    from lab.studies.playing.played_replies import played_replies

    return played_replies(store, study_named(store, study or ""), trace.task.id)


# -- telling it ----------------------------------------------------------------------------------------------------


def _print_swap(swap: AnswerSwap) -> None:
    print_line(f"{swap.run}: {plain(swap.task)}, agent {plain(swap.agent)}; {count(swap.forks, 'fork')}")
    for question in swap.questions:
        print_line("")
        print_line(f"Step {question.step} asks: {plain(one_line(question.question, 300), lines=False)}")
        if len(question.replies) == 1:
            print_line("  no other reply fits it")
            continue
        rows = [_reply_row(reply) for reply in question.replies]
        print_table(["run", "outcome", "score", "steps", "way", "reply", "of"], rows, wide="reply")
        counts = f"{count(question.outcomes, 'outcome')}, {count(question.ways, 'way')}"
        print_line(f"  {question.finding} ({len(rows)} replies, {counts})")
    print_line("")
    by_order = any(reply.match == "by order" for question in swap.questions for reply in question.replies)
    note = " Matched by order: its giver was asked another question." if by_order else ""
    print_line(f"way: equal numbers, equal actions after the reply.{note}")


def _reply_row(reply: SwappedReply) -> list[str]:
    score = "-" if reply.score is None else f"{reply.score:g}"
    words = f"{reply.decision}: {reply.say}" if reply.decision and reply.say else reply.decision or reply.say
    return [
        reply.run or "-",
        _format_end(reply),
        score,
        str(reply.steps),
        str(reply.way or "-"),
        words,
        _format_donors(reply),
    ]


def _format_donors(reply: SwappedReply) -> str:
    names = one_line(", ".join(reply.donors), _WIDEST)
    return plain(f"{names} (by order)" if reply.match == "by order" else names, lines=False)


def _format_end(reply: SwappedReply) -> str:
    if reply.error:
        return plain(one_line(reply.error, _WIDEST), lines=False)
    return {True: "passed", False: "not passed", None: reply.status}[reply.passed]
