"""Keeping the phone in order: a sender blocked, a lost device made to ring."""

from __future__ import annotations

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.keeping import Block, Ring
from lab.agents.search import by_search
from lab.agents.talk import Work

_SETTINGS = ("Settings", "System settings", "设置")
_MESSAGES = ("Messages", "Messaging", "SMS", "信息", "短信")
_MORE = ("More options", "More", "更多")
_BLOCK = ("Block and report", "Report spam", "Block", "Block sender", "拉黑")
_RING = ("Ring", "Play sound", "Play a sound", "响铃")
_RINGING = ("Stop ringing", "Stop sound", "停止响铃")


def do_block(work: Work, goal: Block) -> Doing[None]:
    """Blocks a sender of messages, with a report where that is wanted; nothing where it was done."""
    if not (yield from work.open_app(*_MESSAGES, hints=("message", "sms"))):
        raise GiveUp("I found no messages on this phone")
    chat = (yield from work.seek(goal.sender, most=4)) or (yield from by_search(work, goal.sender))
    if chat is None:
        yield from _seek_blocked(work, goal.sender)
        return
    yield from work.tap(work.row(chat), f"I open the chat with {goal.sender}.")
    button = work.find(*_BLOCK, exact=True, role="tap")
    if button is None:
        yield from _press(work, _MORE, "I look what can be done with this chat.")
        button = work.find(*_BLOCK)
    if button is None:
        raise GiveUp(f"I found no way to block {goal.sender}")
    yield from work.tap(work.row(button), f"I want to block {goal.sender}.")
    box = work.find("Report as spam", "Report", role="check")
    if box is not None and box.checked != goal.report:
        yield from work.tap(box, "I report it as well." if goal.report else "I do not report it.")
    yield from _press(work, ("Block", "OK", "拉黑"), f"I block {goal.sender}.")


def _seek_blocked(work: Work, sender: str) -> Doing[None]:
    """Whether a sender who has no chat any more is among the blocked."""
    yield from _press(work, _MORE, f"I see no chat with {sender}; I look among the blocked.")
    door = work.find("Spam and blocked", "Blocked", "Spam")
    if door is not None:
        yield from work.tap(work.row(door), "I look who is blocked.")
    if work.find(sender) is None:
        raise GiveUp(f"there is no message from {sender}")


def do_ring(work: Work, goal: Ring) -> Doing[None]:
    """Makes a device ring, wherever the settings keep it; nothing where it rings."""
    yield from _open_settings(work)
    door = yield from work.seek("Bluetooth", "蓝牙", exact=True, most=4)
    if door is None:
        raise GiveUp("I found no Bluetooth in the settings")
    yield from work.tap(work.row(door), "I look at the devices.")
    switch = work.switch("Use Bluetooth", "Bluetooth", "蓝牙")
    if switch is not None and not switch.checked:
        yield from work.tap(switch, "Bluetooth is off; I turn it on.")
    device = yield from work.seek(goal.device, most=4)
    if device is None:
        raise GiveUp(f"this phone knows no {goal.device}")
    yield from work.tap(work.row(device), f"I open {goal.device}.")
    if (yield from work.seek(*_RINGING, exact=True, role="tap", most=3)) is None:
        yield from _press(work, _RING, f"I make {goal.device} ring.")


def _open_settings(work: Work) -> Doing[None]:
    if not (yield from work.open_app(*_SETTINGS, hints=("settings",))):
        raise GiveUp("I found no settings on this phone")


def _press(work: Work, names: tuple[str, ...], thought: str) -> Doing[None]:
    button = yield from work.seek(*names, exact=True, role="tap", most=4)
    if button is None:
        raise GiveUp(f"I found no {names[0]!r}")
    yield from work.tap(button, thought)
