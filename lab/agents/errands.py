"""From what was asked to what is to be done, one errand after another."""

from __future__ import annotations

from lab.agents.doing import Doing, GiveUp, again
from lab.agents.goals import Either, Goal, Tell, asked_in, goals_in, phase_in
from lab.agents.habits import routine_of
from lab.agents.reading import shown_time
from lab.agents.routines import settle
from lab.agents.skills import JUDGES, SKILLS
from lab.agents.skills.looking import look_up
from lab.agents.talk import Work


def errands(work: Work) -> Doing[list[Goal]]:
    """What the instruction asks for; where it only names a time of day, what the log shows is done then."""
    goals = list(goals_in(work.brief.instruction))
    if goals:
        return goals
    question = asked_in(work.brief.instruction)
    if question is not None:
        return [question]
    phase = phase_in(work.brief.instruction)
    routine = routine_of(work.deeds, phase) if phase is not None else None
    if phase is None or routine is None:
        raise GiveUp("I do not understand what is to be done, and the log shows nothing that is done then")
    return (yield from settle(work, routine))


def do(work: Work, goal: Goal) -> Doing[None]:
    """One errand, begun anew from the screen as it is whenever someone else has acted."""
    if isinstance(goal, Either):
        for each in (yield from _branch(work, goal)):
            yield from do(work, each)
    elif type(goal) in SKILLS:
        yield from again(lambda: SKILLS[type(goal)](work, goal))
    else:
        raise GiveUp(f"I do not know how to {goal.said()}")


def _branch(work: Work, goal: Either) -> Doing[tuple[Goal, ...]]:
    """The goals of the side that holds, found out once."""
    judge = JUDGES.get(type(goal.condition))
    if judge is None:
        raise GiveUp(f"I do not know how to see whether {goal.condition.said()}")
    holds = yield from again(lambda: work.once(goal.condition, judge(work, goal.condition)))
    return goal.then if holds else goal.otherwise


def answer(work: Work, question: Tell) -> Doing[str]:
    """What was asked, looked up, in words."""
    found = yield from again(lambda: look_up(work, question.fact))
    return shown_time(found) if isinstance(found, int) else found
