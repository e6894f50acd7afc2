"""What a routine leaves open, asked of the person."""

from __future__ import annotations

from lab.agents.doing import Doing
from lab.agents.goals import Alarm, Goal
from lab.agents.habits import Open, Routine
from lab.agents.reading import told_time
from lab.agents.talk import Work, listed, listed_times


def settle(work: Work, routine: Routine, agreed: str | None = None) -> Doing[list[Goal]]:
    """A routine's goals, once the person has said what the log leaves open.

    `agreed` is what they said when they agreed to the routine; a time in it is the alarm's.
    """
    goals = list(routine.goals)
    told = told_time(agreed) if agreed else None
    if told is not None and any(isinstance(goal, Alarm) for goal in goals):
        return [goal._replace(minute=told) if isinstance(goal, Alarm) else goal for goal in goals]
    if routine.alarm is not None:
        others = goals if agreed is None else []
        minute = told if told is not None else (yield from ask_alarm(work, routine.alarm, others))
        if minute is not None:
            goals.append(Alarm(minute))
    return goals


def ask_alarm(work: Work, times: Open, others: list[Goal]) -> Doing[int | None]:
    """The time for an alarm that the log shows at several times."""
    rest = f"I will also {listed([goal.said() for goal in others], 'and')}. " if others else ""
    used = f" You have used {listed_times(times.minutes)}." if times.minutes else ""
    question = f"{rest}For what time shall I set the alarm?{used}"
    thought = f"The log shows alarms at {listed_times(times.minutes) or 'no time'} and none prevails, so I ask."
    return (yield from work.choose_time(question, times.minutes, thought))
