"""Describe actions, steps and runs in words. All results are plain text, safe to paint."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from lab.core.run.demonstration import Demonstration, reason_words
from lab.core.run.run_records import Summary
from lab.core.run.step import Action, Point, Spent, Usage
from lab.core.run.trace import PHONE, POSTURES, AnyEvent, Paused, Resumed, Step
from lab.core.run.ui_tree import UiTree
from lab.core.text.plain_text import plain

DEMONSTRATED = "demo-"
"""Prefix of the names of tasks that come from a demonstration alone."""
CLIENT = "endpoint:"
"""Prefix of the agent id of conversations. The session or the model that the client requested follows."""
JUDGE = "endpoint-judge:"
"""The same for a judge's requests, which are separate from a user's questions."""

_POINTED = {"click": "tap", "double_tap": "double tap", "long_press": "long press"}
_SIMPLE = {
    "navigate_home": "home",
    "navigate_back": "back",
    "keyboard_enter": "enter",
    "press_recent": "recent apps",
}
_STATUS = {
    "completed": "completed",
    "stopped": "stopped",
    "failed": "failed",
    "budget": "out of steps",
    "open": "open",
}


_REST_OF_ID = re.compile(r"\b([0-9a-f]{8}-[0-9a-f]{4})(?:-[0-9a-f]{4}){2}-[0-9a-f]{12}\b")
"""In a uuid7 the first 13 characters are its millisecond."""


def one_line(text: str, most: int = 200) -> str:
    """Return a stranger's text as one line of plain characters, cut at `most`."""
    line = plain(text.strip(), lines=False)
    return line if len(line) <= most else line[: most - 1] + "…"


def short_id(id: str) -> str:
    """Shorten the run ids in a unit's id so that runs remain distinct: `019a3b7c-0485@7`."""
    return _REST_OF_ID.sub(r"\1", id)


def target_name(tree: UiTree | None, at: Point | None) -> str:
    """Return the name of what is under a pixel: a label there, else one inside a clickable node, else an id."""
    if tree is None or at is None:
        return ""
    if label := tree.label_at(*at):
        return one_line(label, 60)
    under = tree.nodes_at(*at)
    for node in under:
        inside = next((below.label for below in node.walk() if below.label.strip()), "") if node.clickable else ""
        if inside:
            return one_line(inside, 60)
    return next((one_line(node.id.rpartition("/")[2], 60) for node in under if node.id), "")


def point_words(at: Point | None) -> str:
    """Format pixels as `(540, 1200)`, or `(nowhere)` without a position."""
    return f"({at[0]}, {at[1]})" if at is not None else "(nowhere)"


def action_words(action: Action, tree: UiTree | None = None) -> str:
    """Describe an action in a line: `tap "Milk"`, `type "two, please"`, `swipe left`, `ask "Which one?"`."""
    match action.kind:
        case "click" | "double_tap" | "long_press":
            at = action.at or box_middle(action)
            name = target_name(tree, at)
            return f'{_POINTED[action.kind]} "{name}"' if name else f"{_POINTED[action.kind]} {point_words(at)}"
        case "drag":
            return f"drag {point_words(action.at)} to {point_words(action.to)}"
        case "scroll" | "swipe":
            return f"{action.kind} {action.direction or _vector_words(action)}"
        case "input_text":
            return f"type {_quote(action.text)}"
        case "answer":
            return f"answer {_quote(action.text)}"
        case "ask_user":
            return f"ask {_quote(action.text)}"
        case "open_app":
            return f"open {one_line(action.app or action.text or 'an app')}"
        case "wait":
            return "wait" if action.ms is None else f"wait {action.ms / 1000:g} s"
        case "status":
            why = f" ({one_line(action.text)})" if action.text else ""
            return f"report: {action.status}{why}" if action.status else "report"
        case "other":
            return f"other: {one_line(raw_words(action) or action.text or 'nothing', 80)}"
    return _SIMPLE[action.kind]


def whole_action(action: Action, tree: UiTree | None = None) -> str:
    """Describe an action with all of its text, in the same line if it is short, else below."""
    words, text = action_words(action, tree), plain(action.text or "")
    return words if one_line(text) in ("", text) else f"{words}\n{text}"


def raw_words(action: Action) -> str:
    """Return the source's own words for an action."""
    if action.raw is None:
        return ""
    return action.raw if isinstance(action.raw, str) else json.dumps(action.raw, ensure_ascii=False)


def marks_of_step(step: Step) -> str:
    """Return the marks of a step: `?` asked, `x` refused, `~` amended, `!` failed."""
    letters = "?" if step.question is not None else ""
    is_refused = step.reply is not None and step.reply.decision == "reject"
    if is_refused or (step.decision is not None and step.decision.verdict == "reject"):
        letters += "x"
    if step.decision is not None and step.decision.verdict == "amend":
        letters += "~"
    return letters + ("!" if step.error else "")


def status_words(status: str, waits: bool = False) -> str:
    """Return a run's status in words. `waits` is true for an open run with an unanswered question."""
    if status == "open" and waits:
        return "open: asks"
    return _STATUS.get(status, one_line(status))


def is_conversation(agent: str) -> bool:
    """Return True if a run of this agent is a conversation at the endpoint: its client alone can go on with it."""
    return agent.startswith((CLIENT, JUDGE))


def waits_for_answer(run: Summary) -> bool:
    """Return True if an open run waits at an unanswered question."""
    return run.status == "open" and run.questions > run.replies


def score_words(score: float | None) -> str:
    """Format a score with two digits, or a dash if nothing was checked."""
    return "-" if score is None else f"{score:.2f}"


def mean_words(mean: float | None) -> str:
    """Format a mean score, or `undefined`."""
    return "undefined" if mean is None else f"{mean:.2f}"


def format_dollars(dollars: float | None) -> str:
    """Format US dollars, with four digits below 10 dollars."""
    return "-" if dollars is None else f"${dollars:.2f}" if dollars >= 10 else f"${dollars:.4f}"


def local_time(stamp: str) -> str:
    """Format a stored time as local date and minute. Return an invalid one unchanged."""
    moment = _parse_time(stamp)
    return moment.astimezone().strftime("%Y-%m-%d %H:%M") if moment else one_line(stamp, 16)


def seconds_words(seconds: float | None) -> str:
    """Format a duration as `0.4 s`, `12 s`, `3 min 05 s`, empty if unknown."""
    if seconds is None:
        return ""
    if seconds >= 60:
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def usage_words(usage: Usage) -> str:
    """Describe the known cost of a model's answer. Say so if its price is unknown."""
    tries = [f"{usage.tries} tries"] if usage.tries > 1 else []
    return ", ".join(
        [*_token_parts(usage), *_cost_parts(usage.cost, usage.seconds), *tries, *without_words(usage.without)]
    )


_SETTINGS = {
    "temperature": "model_temperature",
    "images": "model_picture",
    "max_tokens": "model_tokens",
    "max_completion_tokens": "model_tokens",
}
"""The setting for each parameter that a server may refuse."""


def without_words(names: Sequence[str]) -> list[str]:
    """Describe what a server refused, so that an answer was given without it, and the relevant settings."""
    names_with_settings = [f"{name} ({_SETTINGS[name]})" if name in _SETTINGS else name for name in names]
    return [f"without {' and '.join(names_with_settings)}, which its server refuses"] if names_with_settings else []


def spent_words(spending: Spent) -> str:
    """Describe the total cost of a run's model answers."""
    usage = Usage(spending.prompt_tokens, spending.completion_tokens, spending.cached_tokens or None)
    cost = _cost_parts(spending.cost, spending.seconds)
    if spending.cost is not None and spending.unpriced:
        cost[0] += f" and {_count_words(spending.unpriced, 'turn', 'turns')} of unknown price"
    seconds = [f"{spending.seconds:.1f} s"] if spending.seconds is not None else []
    without = without_words(spending.without)
    if not spending.turns:
        return ", ".join([f"no answer in {_count_words(spending.calls, 'call', 'calls')}", *seconds, *without])
    calls = f"{_count_words(spending.turns, 'turn', 'turns')} in {_count_words(spending.calls, 'call', 'calls')}"
    if spending.uncounted == spending.turns:
        return ", ".join([calls, "usage unknown", *(cost if spending.cost is not None else seconds), *without])
    uncounted = [f"{_count_words(spending.uncounted, 'turn', 'turns')} of unknown usage"] if spending.uncounted else []
    return ", ".join([calls, *_token_parts(usage), *uncounted, *cost, *without])


def outcome_words(demo: Demonstration) -> str:
    """Describe the end of a demonstration in the words of its author."""
    outcome = {"complete": "complete", "answered": "answered", "impossible": "impossible", "": "unfinished"}[
        demo.outcome
    ]
    if demo.outcome != "impossible":
        return outcome
    note = f" ({one_line(demo.note)})" if demo.note else ""
    return f"{outcome}: {one_line(reason_words(demo.reason))}{note}"


def demonstration_words(demo: Demonstration) -> str:
    """Describe a demonstration: steps, difficulty, slips, time and apps."""
    parts = [
        _count_words(demo.steps, "step", "steps"),
        f"{demo.golden} golden ({demo.difficulty})",
        f"{demo.instructed} with an instruction{', suggested and not read' if demo.quick else ''}",
        *([_count_words(len(demo.slips), "slip", "slips")] if demo.slips else []),
        *([seconds_words(demo.seconds)] if demo.seconds is not None else []),
    ]
    return ", ".join(parts) + (f"\napps: {one_line(', '.join(demo.apps))}" if demo.apps else "")


def _parse_time(stamp: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _quote(text: str | None) -> str:
    return f'"{one_line(text or "")}"'


def box_middle(action: Action) -> Point | None:
    """Return the middle of an action's first box, or None if it has no box."""
    if not action.boxes:
        return None
    left, top, right, bottom = action.boxes[0]
    return (left + right) // 2, (top + bottom) // 2


def _vector_words(action: Action) -> str:
    if action.vector is None:
        return f"{point_words(action.at)} to {point_words(action.to)}" if action.to else ""
    x, y = action.vector
    if abs(x) > abs(y):
        return "right" if x > 0 else "left"
    return "down" if y > 0 else "up"


def _token_parts(usage: Usage) -> list[str]:
    if usage.prompt_tokens is None and usage.completion_tokens is None:
        return []
    cache_note = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return [f"{usage.prompt_tokens or 0:,}{cache_note} + {usage.completion_tokens or 0:,} tokens"]


def _cost_parts(cost: float | None, seconds: float | None) -> list[str]:
    price = "price unknown" if cost is None else f"${cost:.4f}"
    return [price, *([f"{seconds:.1f} s"] if seconds is not None else [])]


def _count_words(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def phone_words(event: AnyEvent | None) -> str:
    """Return what a run's phone does (waits, goes on, is turned), to follow the run's name. Empty for other events."""
    if not isinstance(event, Paused | Resumed) or event.by != PHONE:
        return ""
    reason = plain(event.reason, lines=False)
    if event.state in POSTURES:
        return f"on {reason}"
    return f"waits: {reason}" if isinstance(event, Paused) else "goes on"
