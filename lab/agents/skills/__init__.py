"""What the rule agent can do: skills by sort of goal, looks by kind of fact, judges by sort of condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lab.agents.doing import Doing
from lab.agents.goals import Alarm, Order, Send, Switch, Write
from lab.agents.goals.buying import Buy, Cheaper
from lab.agents.goals.mail import Mail
from lab.agents.skills import alarms, buying, mail, messages, notes, orders, switches
from lab.agents.skills.looking import Look
from lab.agents.talk import Work

Skill = Callable[[Work, Any], Doing[None]]
"""Does one goal, from wherever the phone stands; nothing where it is done already."""
Judge = Callable[[Work, Any], Doing[bool]]
"""Sees on the phone whether a condition holds."""

SKILLS: Mapping[type, Skill] = {
    Alarm: alarms.do_alarm,
    Buy: buying.do_buy,
    Mail: mail.do_mail,
    Order: orders.place_order,
    Send: messages.do_send,
    Switch: switches.set_switch,
    Write: notes.do_write,
}

LOOKS: Mapping[str, Look] = {
    "mail": mail.look,
    "message": messages.look,
    "note": notes.look,
}

JUDGES: Mapping[type, Judge] = {
    Cheaper: buying.judge_cheaper,
}
