"""The agent without a model: rules over the UI tree, the log and what the person says."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from lab.agents.doing import Doing, GiveUp, Seen, again
from lab.agents.errands import answer, do, errands
from lab.agents.goals import Tell
from lab.agents.proactive import offer
from lab.agents.skills import LOOKS
from lab.agents.talk import Refused, Work, listed
from lab.seams import Brief, Screen
from lab.task import Actor
from lab.trace import Step
from lab.turn import Action, Proposed
from lab.uitree import UiTree

_NOTHING = UiTree()
_NEAR = 40
"""Pixels between two touches that are taken for one."""


class RuleAgent:
    """Plans by running its plan again over the whole history, so that any run resumes and forks where it stands.

    It finds its targets by their words, asks where the log leaves a preference open, does what the reply says,
    and ends with a status: complete (also after a refusal, or with nothing to do), or infeasible with the reason.
    """

    actor = Actor("script", "rule", "rule agent")

    def propose(self, brief: Brief, screen: Screen, history: Sequence[Step]) -> Proposed:
        """The plan's next act on this screen."""
        trees = [step.before.tree or _NOTHING for step in history] + [screen.tree]
        plan = _plan(brief, Seen(trees[0]))
        proposed = next(plan)
        for step, tree in zip(history, trees[1:], strict=True):
            done = step.action is not None and _alike(step.action, proposed.action)
            proposed = plan.send(Seen(tree, step.reply, done, step.action is None))
        return proposed


def _alike(done: Action, proposed: Action) -> bool:
    """Whether what was done is what was proposed, or a touch so near that it meant the same."""
    if done.at is None or proposed.at is None:
        return done == proposed
    near = max(abs(done.at[0] - proposed.at[0]), abs(done.at[1] - proposed.at[1])) <= _NEAR
    return (done.kind, done.text, done.direction) == (proposed.kind, proposed.text, proposed.direction) and near


def _plan(brief: Brief, seen: Seen) -> Generator[Proposed, Seen, None]:
    """The whole run: the errands, and then its end for as long as that is not let through."""
    end = yield from _outcome(Work(brief, seen, LOOKS))
    while True:
        yield end


def _outcome(work: Work) -> Doing[Proposed]:
    try:
        if work.brief.kind == "proactive":
            return _end((yield from offer(work)))
        wanted = yield from again(lambda: errands(work))
        for errand in wanted:
            if isinstance(errand, Tell):
                found = yield from answer(work, errand)
                return Proposed(Action("answer", text=found), f"I found it: {found!r}.")
            yield from do(work, errand)
        return _end(f"Done: {listed([errand.said() for errand in wanted], 'and')}.")
    except Refused:
        return _end("The person said no, so I leave everything as it is.")
    except GiveUp as reason:
        return Proposed(Action("status", status="infeasible"), f"I stop here: {reason}.")


def _end(why: str) -> Proposed:
    return Proposed(Action("status", status="complete"), why)
