"""What the agent offers unasked: a habit that fits this hour and place, or silence."""

from __future__ import annotations

from lab.agents.doing import Doing, again
from lab.agents.errands import do, said, settle
from lab.agents.habits import Habit, Routine, habits_now
from lab.agents.reading import shown_time
from lab.agents.talk import Work, listed


def offer(work: Work) -> Doing[str]:
    """Proposes the steadiest habit that fits now and does it once accepted; says why where it stays silent."""
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
    routine = Routine(habit.goals, habit.alarm, habit.days, habit.minute)
    goals = yield from again(lambda: settle(work, routine, agreed))
    for goal in goals:
        yield from do(work, goal)
    return f"The person agreed and it is done: {listed([said(goal) for goal in goals], 'and')}."


def _proposal(work: Work, habit: Habit) -> str:
    now = work.now
    deeds = [said(goal) for goal in habit.goals] + (["set the alarm"] if habit.alarm else [])
    what = listed(deeds, "and")
    when = f"It is {now:%H:%M} on {now:%A}. " if now else ""
    return f"{when}Shall I {what}, as on {habit.days} days before?"


def _reason(habit: Habit) -> str:
    return (
        f"The log shows this on {habit.days} of {habit.of} such days, at about {shown_time(habit.minute)} here, "
        "so I offer it."
    )
