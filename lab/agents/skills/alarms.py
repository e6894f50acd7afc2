"""Setting an alarm in the clock."""

from __future__ import annotations

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals import Alarm
from lab.agents.habits import Open, alarm_times
from lab.agents.reading import mentions, shown_time
from lab.agents.routines import ask_alarm
from lab.agents.skills.looking import look_up
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Clock", "Alarm", "Alarms", "时钟", "闹钟")
_TAB = ("Alarm", "Alarms", "闹钟")
_NEW = ("Add alarm", "New alarm", "Add", "添加闹钟", "新建闹钟")
_SAVE = ("Save", "OK", "Done", "Set", "保存", "确定", "完成")
_LABEL = ("Label", "Name", "Alarm name", "Title", "标签", "名称")


def do_alarm(work: Work, goal: Alarm) -> Doing[None]:
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


def set_alarm(work: Work, minute: int, label: str) -> Doing[None]:
    """An alarm at a minute of the day, with a label where one is wanted; one that is there is switched on."""
    time = shown_time(minute)
    if not (yield from work.open_app(*_APP, hints=("clock", "alarm"))):
        raise GiveUp("I found no clock on this phone")
    tab = next((n for n in work.nodes() if n.clickable and n.label in _TAB and not n.selected), None)
    if tab is not None:
        yield from work.tap(tab, "I go to the alarms.")
    for _ in range(2):
        card = yield from _seek(work, time, label)
        if card is not None:
            yield from _switch_on(work, card, time, label)
            return
        yield from _add(work, minute, label)
    if (yield from _seek(work, time, label)) is None:
        raise GiveUp(f"the alarm for {time} was not saved")


def _seek(work: Work, time: str, label: str) -> Doing[Node | None]:
    """The card of an alarm with this time and label, looked for in the whole list."""
    for direction in ("down", "up"):
        for _ in range(8):
            card = _card(work, time, label)
            if card is not None:
                return card
            moved = yield from work.scroll("down" if direction == "down" else "up", f"I look for an alarm at {time}.")
            if not moved:
                break
    return _card(work, time, label)


def _card(work: Work, time: str, label: str) -> Node | None:
    for node in work.nodes():
        if _same(node.text, time):
            card = work.row(node)
            if not label or mentions(work.words_of(card), label):
                return card
    return None


def _same(text: str, time: str) -> bool:
    hour, minute = int(time[:2]), time[3:]
    half = f"{hour % 12 or 12}:{minute} {'AM' if hour < 12 else 'PM'}"
    return text.strip().upper() in (time, f"{hour}:{minute}", half)


def _switch_on(work: Work, card: Node, time: str, label: str) -> Doing[None]:
    switch = next((n for n in card.walk() if n.checkable), None)
    if switch is not None and not switch.checked:
        yield from work.tap(switch, f"The alarm for {time} is there but off; I switch it on.")
        again = _card(work, time, label)
        if again is None or not any(n.checked for n in again.walk()):
            raise GiveUp(f"the alarm for {time} does not switch on")


def _add(work: Work, minute: int, label: str) -> Doing[None]:
    """A new alarm, saved."""
    time = shown_time(minute)
    if not _form(work):
        button = yield from work.seek(*_NEW, role="tap", most=3)
        if button is None:
            raise GiveUp("I found no way to add an alarm")
        yield from work.tap(button, f"There is no alarm for {time} yet; I add one.")
    for name, value in (("Hour", time[:2]), ("Minute", time[3:])):
        field = work.find(name, role="field")
        if field is None:
            raise GiveUp(f"I found no place for the {name.lower()} of an alarm")
        yield from work.fill(
            field, value, f"The alarm is for {time}: I type {value} as its {name.lower()}.", fresh=True
        )
    if label:
        field = work.find(*_LABEL, role="field") or (yield from work.seek(*_LABEL, role="field", most=3))
        if field is None:
            raise GiveUp("I found no place for the label of an alarm")
        yield from work.fill(field, label, f"I label the alarm {label!r}.")
    save = work.find(*_SAVE, exact=True, role="tap")
    if save is None:
        raise GiveUp("I found no way to save the alarm")
    yield from work.tap(save, f"I save the alarm for {time}.")


def _form(work: Work) -> bool:
    return work.find("Hour", role="field") is not None and work.find(*_SAVE, exact=True, role="tap") is not None
