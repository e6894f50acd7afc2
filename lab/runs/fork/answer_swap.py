"""Answer swap: fork a run at each question with other people's replies, and compare the outcomes.

Everything before the question is the same, so any difference afterwards comes from the reply. If nothing differs for
any reply, the agent did not listen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from lab.core.codec import convert, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.run.step import Action, Question, Reply
from lab.core.run.trace import Step, Trace
from lab.core.text.plain_text import fold_text
from lab.runs.batch.pass_rates import attempt_of
from lab.runs.fork.fork import ForkChange, fork_run
from lab.runs.session import Session
from store.store import Store

Match = Literal["asked alike", "by order", "given", "its own"]
"""Reason why a reply is used at a question: its giver was asked the same, or their n-th question, or a file says so."""
_OWN = "(this run)"


class DonorReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A reply that someone gave or might give: `who`, the words, and the decision if it answers a proposal.

    `step` (from 1) restricts it to one question. `question` is what it answered, and `order` (from 1) is that
    question's number. Without either it is used at every question it fits.
    """

    say: str = ""
    who: str = ""
    decision: Literal["accept", "reject"] | None = None
    step: int | None = None
    question: str = ""
    order: int | None = None


class SwappedReply(msgspec.Struct, frozen=True):
    """One reply at one question, and the run that followed. `donors` gave it.

    `run` is the forked run, or the run itself for its own reply. `passed` is null if the task has no rules. `way`
    numbers the agent's actions after it: equal numbers mean equal actions. `error` is why there is no run.
    """

    donors: tuple[str, ...]
    match: Match
    say: str
    decision: Literal["accept", "reject"] | None
    run: str
    status: str
    score: float | None
    passed: bool | None
    steps: int
    way: int
    error: str = ""


class SwappedQuestion(msgspec.Struct, frozen=True):
    """One question of a run with every reply used at it, the run's own first. `step` counts from 1.

    `ways` counts the different courses of action that followed, `outcomes` the different ends (passed, else status and
    score).
    """

    step: int
    kind: Literal["ask", "propose"]
    question: str
    replies: tuple[SwappedReply, ...]
    ways: int
    outcomes: int

    @property
    def finding(self) -> str:
        """A sentence on the effect of listening at this question."""
        run_count = sum(not reply.error for reply in self.replies)
        if run_count < 2:
            return "too few replies to say"
        if self.outcomes > 1:
            return "listening mattered: other replies, other outcomes"
        if self.ways > 1:
            return "the agent listened, with the same outcome"
        return "the agent did the same whatever was replied"


class SwapPlan(NamedTuple):
    """One reply to use at one step (from 0) of a run."""

    at: int
    donors: tuple[str, ...]
    match: Match
    say: str
    decision: Literal["accept", "reject"] | None


# -- what is given where -------------------------------------------------------------------------------------------


def load_replies(path: Path) -> list[DonorReply]:
    """Load a list of replies from YAML or JSON. Raise `LabError` that names the file and the wrong field."""
    what = f"replies file {path}"
    replies: list[DonorReply] = convert(read_yaml(read_file(path, what), what).value, list[DonorReply], what)
    for number, reply in enumerate(replies):
        if not reply.say.strip() and reply.decision is None:
            raise LabError(what, f"field [{number}]: needs `say`, `decision` or both")
        if (reply.step is not None and reply.step < 1) or (reply.order is not None and reply.order < 1):
            raise LabError(what, f"field [{number}]: steps and order are counted from 1")
    if not replies:
        raise LabError(what, "holds no reply.")
    return replies


def replies_of(trace: Trace, who: str) -> list[DonorReply]:
    """Return the replies of a run as donor replies from `who`."""
    turns = asked_steps(trace)
    return [
        DonorReply(reply.text, who, reply.decision, question=question.text, order=number)
        for number, (_, question, reply) in enumerate(turns, 1)
    ]


def asked_steps(trace: Trace) -> list[tuple[Step, Question, Reply]]:
    """Return the steps of a run with an answered question."""
    return [
        (step, step.question, step.reply)
        for step in trace.steps
        if step.question is not None and step.reply is not None
    ]


def plan_swaps(trace: Trace, replies: Sequence[DonorReply]) -> list[SwapPlan]:
    """Plan which replies to use at which question, each different one once, without the run's own.

    Of a person's replies it takes the one to the same question, else the one to the question of the same number.
    """
    plans_by_reply: dict[tuple[int, str, str | None], SwapPlan] = {}
    for number, (step, question, own) in enumerate(asked_steps(trace), 1):
        for who, reply, match in _matching_replies(step.index + 1, number, question, replies):
            if (reply.say.strip(), reply.decision) == (own.text.strip(), own.decision):
                continue
            key = step.index, reply.say.strip(), reply.decision
            plan = plans_by_reply.get(key) or SwapPlan(step.index, (), match, reply.say, reply.decision)
            plans_by_reply[key] = plan._replace(donors=tuple(dict.fromkeys((*plan.donors, who))))
    return sorted(plans_by_reply.values(), key=lambda plan: plan.at)


def _matching_replies(
    step: int, number: int, question: Question, replies: Sequence[DonorReply]
) -> Iterator[tuple[str, DonorReply, Match]]:
    for at, reply in enumerate(replies, 1):
        if _is_meant_for(reply, step, question):
            yield reply.who or f"reply {at}", reply, "given"
    fits = [reply for reply in replies if _may_answer(reply, question)]
    people = dict.fromkeys(
        reply.who for reply in fits if reply.step is None and (reply.question or reply.order is not None)
    )
    for who in people:
        their_replies = [reply for reply in fits if reply.who == who and reply.step is None]
        same_question = [reply for reply in their_replies if fold_text(reply.question) == fold_text(question.text)]
        by_order = [reply for reply in their_replies if reply.order == number]
        if same_question:
            yield who, next((one for one in same_question if one.order == number), same_question[0]), "asked alike"
        elif by_order:
            yield who, by_order[0], "by order"


def unmatched_givers(trace: Trace, replies: Sequence[DonorReply]) -> list[str]:
    """Return the givers (or numbers) of replies from a file that fit none of the run's questions."""
    asked = [(step.index + 1, question) for step, question, _ in asked_steps(trace)]
    return [
        reply.who or f"reply {at}"
        for at, reply in enumerate(replies, 1)
        if (reply.step is not None or _is_unbound(reply)) and not any(_is_meant_for(reply, *one) for one in asked)
    ]


def _is_meant_for(reply: DonorReply, step: int, question: Question) -> bool:
    return _may_answer(reply, question) and (reply.step == step or (reply.step is None and _is_unbound(reply)))


def _is_unbound(reply: DonorReply) -> bool:
    return not reply.question and reply.order is None


def _may_answer(reply: DonorReply, question: Question) -> bool:
    """Return True if a reply may answer a question: a decision only answers a proposal."""
    return question.kind == "propose" or reply.decision is None


# -- doing it ------------------------------------------------------------------------------------------------------


def swap_replies(
    store: Store, run: str, plan_list: Sequence[SwapPlan], *, person: str, user: str | None
) -> Iterator[SwappedReply]:
    """Fork a run for each plan, in order, and drive the fork to its end. `way` is still 0.

    If a fork fails, its reply has the reason. `user` answers later questions.
    """
    for plan in plan_list:
        change = ForkChange(say=plan.say or None, decision=plan.decision, user=user)
        try:
            session = fork_run(store, run, plan.at, change, person=person, gate="pass")
            yield _drive_fork(store, session, plan)
        except LabError as error:
            yield SwappedReply(
                plan.donors, plan.match, plan.say, plan.decision, "", "failed", None, None, 0, 0, error.sentence
            )


def _drive_fork(store: Store, session: Session, plan: SwapPlan) -> SwappedReply:
    # Nobody is there to continue it at a breakpoint.
    session.attended = False
    session.start()
    try:
        session.join()
    except BaseException:
        # Ctrl-C, too: the fork must not continue on its thread.
        session.stop("interrupted")
        session.join(5)
        raise
    if session.failure is not None:
        raise session.failure
    return _summarize_fork(store.runs.trace(session.trace_id), plan)


def _summarize_fork(trace: Trace, plan: SwapPlan) -> SwappedReply:
    attempt = attempt_of(trace)
    return SwappedReply(
        plan.donors, plan.match, plan.say, plan.decision, trace.id, trace.status, attempt.score, attempt.passed,
        len(trace.steps), 0,
    )  # fmt: skip


def compare_replies(
    store: Store, trace: Trace, plan_list: Sequence[SwapPlan], swapped_replies: Sequence[SwappedReply]
) -> list[SwappedQuestion]:
    """Return the questions of a run with its own and the swapped replies, and number their courses of action."""
    questions = []
    for step, question, own in asked_steps(trace):
        itself = _summarize_fork(trace, SwapPlan(step.index, (_OWN,), "its own", own.text, own.decision))
        rows = [itself] + [one for plan, one in zip(plan_list, swapped_replies, strict=True) if plan.at == step.index]
        courses: dict[tuple[object, ...], int] = {}
        course_rows = []
        for row in rows:
            course = (
                _actions_after(trace if row.run == trace.id else store.runs.trace(row.run), step.index)
                if row.run
                else None
            )
            way = courses.setdefault(course, len(courses) + 1) if course is not None else 0
            course_rows.append(msgspec.structs.replace(row, way=way))
        ends = {_outcome(row) for row in course_rows if row.run}
        questions.append(
            SwappedQuestion(step.index + 1, question.kind, question.text, tuple(course_rows), len(courses), len(ends))
        )
    return questions


def _outcome(row: SwappedReply) -> tuple[object, ...]:
    return (row.passed,) if row.passed is not None else (row.status, row.score)


def _actions_after(trace: Trace, index: int) -> tuple[object, ...]:
    """Return the actions after a step (from 0), in a form that compares two runs."""
    actions = [step.action for step in trace.steps[index + 1 :]]
    return tuple(_action_signature(action) for action in actions if action is not None)


def _action_signature(action: Action) -> tuple[object, ...]:
    return action.kind, action.at, action.to, action.text, action.direction, action.app, action.status
