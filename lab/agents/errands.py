"""From what was asked to what is to be done, one errand after another."""

from __future__ import annotations

from lab.agents.alarms import set_alarm
from lab.agents.doing import Doing, GiveUp, again
from lab.agents.goals import Alarm, Fact, Goal, Order, Phase, Send, Switch, Tell, Write, asked_in, goals_in, phase_in
from lab.agents.habits import Open, Routine, alarm_times, routine_of
from lab.agents.messages import read_fact, send
from lab.agents.notes import read_note, write_note
from lab.agents.orders import place_order
from lab.agents.reading import shown_time, told_time
from lab.agents.switches import set_switch
from lab.agents.talk import Work, listed, listed_times


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
    rest = f"I will also {listed([said(goal) for goal in others], 'and')}. " if others else ""
    used = f" You have used {listed_times(times.minutes)}." if times.minutes else ""
    question = f"{rest}For what time shall I set the alarm?{used}"
    thought = f"The log shows alarms at {listed_times(times.minutes) or 'no time'} and none prevails, so I ask."
    return (yield from work.choose_time(question, times.minutes, thought))


def said(goal: Goal) -> str:
    """A goal in words, as one would propose it."""
    match goal:
        case Switch():
            return f"turn {'on' if goal.on else 'off'} {goal.name}"
        case Alarm():
            return f"set the alarm for {listed_times([goal.minute])}" if goal.minute is not None else "set the alarm"
        case Order():
            traits = f" ({', '.join(goal.traits)})" if goal.traits else ""
            remark = f" with the remark {goal.remark!r}" if goal.remark else ""
            return f"order {goal.what}{traits}{f' from {goal.source}' if goal.source else ''}{remark}"
        case Send():
            return f"send {goal.to} the message {goal.text!r}"
        case Write():
            return f"write the note {goal.title!r}"
        case Phase():
            return f"do what you do at {goal.name}"
        case Tell():
            return f"look up {goal.fact.what} in {goal.fact.name}"


def do(work: Work, goal: Goal) -> Doing[None]:
    """One errand, begun anew from the screen as it is whenever someone else has acted."""
    yield from again(lambda: _do(work, goal))


def _do(work: Work, goal: Goal) -> Doing[None]:
    """One errand, from wherever the phone stands; what it needs to know is read first."""
    match goal:
        case Switch():
            yield from set_switch(work, goal)
        case Send():
            text = str((yield from look_up(work, goal.fact))) if goal.fact is not None else goal.text
            if not text:
                raise GiveUp(f"I do not know what to write to {goal.to}")
            yield from send(work, goal.to, text)
        case Write():
            text = str((yield from look_up(work, goal.fact))) if goal.fact is not None else goal.text
            yield from write_note(work, goal.title, text)
        case Alarm():
            yield from _alarm(work, goal)
        case Order():
            yield from place_order(work, goal)
        case Phase() | Tell():
            raise GiveUp(f"I do not know how to {said(goal)}")


def _alarm(work: Work, goal: Alarm) -> Doing[None]:
    """An alarm whose time and label may have to be read, or asked for, first."""
    minute: int | str | None = goal.minute
    if minute is None and goal.when is not None:
        minute = yield from look_up(work, goal.when)
    label = str((yield from look_up(work, goal.named))) if goal.named is not None else goal.label
    if not isinstance(minute, int):
        times = alarm_times(work.deeds)
        minute = times[0] if len(times) == 1 else (yield from ask_alarm(work, Open(times), []))
    if minute is not None:
        yield from set_alarm(work, (minute + goal.shift) % (24 * 60), label)


def answer(work: Work, question: Tell) -> Doing[str]:
    """What was asked, looked up, in words."""
    found = yield from again(lambda: look_up(work, question.fact))
    return shown_time(found) if isinstance(found, int) else found


def look_up(work: Work, fact: Fact) -> Doing[str | int]:
    """Something that stands in a message or a note, read once; a time of day as minutes."""
    reading = read_note if fact.kind == "note" else read_fact
    return (yield from work.once(fact, reading(work, fact.name, fact.what)))
