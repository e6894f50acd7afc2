"""What the agent offers unasked: a habit that fits this hour and place, or silence."""

from __future__ import annotations

from lab.agents.cues import Cued, cued
from lab.agents.doing import Doing, again
from lab.agents.errands import do
from lab.agents.habits import Habit, Routine, habits_now
from lab.agents.reading import shown_time
from lab.agents.routines import settle
from lab.agents.talk import Work, listed


def offer(work: Work) -> Doing[str]:
    """Proposes what fits now and does it once accepted; says why where it stays silent.

    What the screen calls for comes first (a cue), then the steadiest habit of this hour and place.
    """
    upon = cued(work)
    if upon is not None:
        agreed = yield from again(lambda: work.propose(_answer(upon), _why(upon)))
        return (yield from _carry_out(work, Routine(upon.goals, None, upon.times, 0), agreed))
    now = work.now
    if now is None:
        return "I was not told the time, so I cannot tell whether a routine fits, and stay silent."
    habits = habits_now(work.deeds, work.entries, now, work.brief.place)
    if not habits:
        return (
            f"Nothing in the log is done again and again at about {now:%H:%M} on a {now:%A} at this place, "
            "so I stay silent."
        )
    habit = habits[0]
    agreed = yield from again(lambda: work.propose(_proposal(work, habit), _reason(habit)))
    return (yield from _carry_out(work, Routine(habit.goals, habit.alarm, habit.days, habit.minute), agreed))


def _carry_out(work: Work, routine: Routine, agreed: str) -> Doing[str]:
    goals = yield from again(lambda: settle(work, routine, agreed))
    for goal in goals:
        yield from do(work, goal)
    return f"The person agreed and it is done: {listed([goal.said() for goal in goals], 'and')}."


def _answer(upon: Cued) -> str:
    what = listed([goal.said() for goal in upon.goals], "and")
    return f"I see {upon.cue.name}: {upon.about}. Shall I {what}, as you did {upon.times} times before?"


def _why(upon: Cued) -> str:
    return f"The log shows this in {upon.times} of {upon.of} cases of {upon.cue.name}, so I offer it."


def _proposal(work: Work, habit: Habit) -> str:
    now = work.now
    deeds = [goal.said() for goal in habit.goals] + (["set the alarm"] if habit.alarm else [])
    what = listed(deeds, "and")
    when = f"It is {now:%H:%M} on {now:%A}. " if now else ""
    return f"{when}Shall I {what}, as on {habit.days} days before?"


def _reason(habit: Habit) -> str:
    return (
        f"The log shows this on {habit.days} of {habit.of} such days, at about {shown_time(habit.minute)} here, "
        "so I offer it."
    )
