"""What the rule agent can do: skills by sort of goal, looks by kind of fact, judges by sort of condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lab.agents.doing import Doing
from lab.agents.goals import Alarm, Order, Send, Switch, Write
from lab.agents.goals.buying import Buy, Cheaper
from lab.agents.goals.going import Opened, Takes, Way
from lab.agents.goals.journey import Ticket, Weather
from lab.agents.goals.keeping import Block, Ring
from lab.agents.goals.levels import Level
from lab.agents.goals.mail import Mail
from lab.agents.goals.people import Call, SaveContact
from lab.agents.goals.pictures import Discard
from lab.agents.goals.planning import Event
from lab.agents.goals.social import Share
from lab.agents.goals.team import Post, Presence, Update
from lab.agents.skills import (
    alarms,
    buying,
    calendar,
    contacts,
    forecast,
    keeping,
    levels,
    mail,
    messages,
    notes,
    orders,
    pictures,
    social,
    switches,
    team,
    tickets,
    ways,
)
from lab.agents.skills.looking import Look
from lab.agents.talk import Work

Skill = Callable[[Work, Any], Doing[None]]
"""Does one goal, from wherever the phone stands; nothing where it is done already."""
Judge = Callable[[Work, Any], Doing[bool]]
"""Sees on the phone whether a condition holds."""

SKILLS: Mapping[type, Skill] = {
    Call: contacts.do_call,
    Discard: pictures.do_discard,
    Event: calendar.do_event,
    Level: levels.set_level,
    SaveContact: contacts.do_save,
    Alarm: alarms.do_alarm,
    Block: keeping.do_block,
    Buy: buying.do_buy,
    Mail: mail.do_mail,
    Post: team.do_post,
    Presence: team.do_presence,
    Update: team.do_update,
    Share: social.do_share,
    Order: orders.place_order,
    Send: messages.do_send,
    Ring: keeping.do_ring,
    Switch: switches.set_switch,
    Ticket: tickets.do_ticket,
    Way: ways.do_way,
    Write: notes.do_write,
}

LOOKS: Mapping[str, Look] = {
    "event": calendar.look,
    "channel": team.look,
    "mail": mail.look,
    "message": messages.look,
    "note": notes.look,
    "place": ways.look_place,
    "way": ways.look_way,
    "weather": forecast.look,
}

JUDGES: Mapping[type, Judge] = {
    Cheaper: buying.judge_cheaper,
    Opened: ways.judge_open,
    Takes: ways.judge_takes,
    Weather: forecast.judge,
}
