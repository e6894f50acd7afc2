"""Steps in the form of KnowU-Bench's and MobileWorld's logger, for runs read by `run` and for all others.

A reply is in the step after its question, so the reply to a run's last question is only in the log.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lab.core.run.step import Action, Reply, Usage
from lab.core.run.trace import Ended, Step
from store.formats.geometry import main_direction, opposite
from store.formats.knowu.run import EXTRA_KEYS, KEYS

_PLAIN_KINDS = ("navigate_home", "navigate_back", "keyboard_enter", "wait")
_POINTED = ("click", "double_tap", "long_press")


def steps_of(steps: Sequence[Step], goal: str, *, own: bool) -> list[dict[str, Any]]:
    """Return the `traj` of a run. `own` means that it came from this format, so steps are written as they were read."""
    rows = []
    for i, step in enumerate(steps):
        reply = steps[i - 1].reply if i else None
        rows.append(_own_step(step, goal, reply) if own else _new_step(step, goal, reply))
    return rows


def _own_step(step: Step, goal: str, reply: Reply | None) -> dict[str, Any]:
    extra = step.extra
    usual = {
        "task_goal": goal,
        "step": step.index + 1,
        "prediction": step.proposed.raw,
        "action": step.proposed.action.raw,
        "ask_user_response": reply.text if reply else None,
        "tool_call": None,
    }
    keys = extra.get("field_order") or [*KEYS, *(key for key in extra if key not in KEYS and key not in EXTRA_KEYS)]
    return {key: extra[key] if key in extra else usual.get(key) for key in keys}


def _new_step(step: Step, goal: str, reply: Reply | None) -> dict[str, Any]:
    action = written_action(step.action) if step.action else {"action_type": "unknown", "text": "rejected, not done"}
    return {
        "task_goal": goal,
        "step": step.index + 1,
        "prediction": _prediction(step, action),
        "action": action,
        "ask_user_response": tagged_text(reply) if reply else None,
        "tool_call": None,
    }


def tagged_text(reply: Reply) -> str:
    """Return a reply's text with the tag by which the benchmark's scripts recognize a decision."""
    if reply.decision is None or "<decision>" in reply.text:
        return reply.text
    return f"{reply.text}\n<decision>{reply.decision}</decision>".lstrip("\n")


def _prediction(step: Step, action: dict[str, Any]) -> str | None:
    if step.proposed.raw is not None or not step.proposed.thought:
        return step.proposed.raw
    return f"Thought: {step.proposed.thought}\nAction: {json.dumps(action, ensure_ascii=False)}"


def written_action(action: Action) -> dict[str, Any]:
    """Return an action in the benchmark's words and in pixels, `unknown` with a description if it has no word."""
    kind = action.kind
    if kind in _PLAIN_KINDS:
        return {"action_type": kind}
    if kind in _POINTED and action.at:
        return {"action_type": kind, **_coordinates(action)}
    if kind in ("drag", "swipe") and action.at and action.to:
        (x, y), (to_x, to_y) = action.at, action.to
        return {"action_type": "drag", "start_x": x, "start_y": y, "end_x": to_x, "end_y": to_y}
    way = action.direction or (main_direction(action.vector) if action.vector else None)
    if kind in ("scroll", "swipe") and way:
        if kind == "scroll" and action.direction is None:
            way = opposite(way)
        return {"action_type": kind, **_coordinates(action), "direction": way}
    match kind:
        case "input_text":
            return {"action_type": kind, **_coordinates(action), "text": action.text or ""}
        case "answer" | "ask_user":
            return {"action_type": kind, "text": action.text or ""}
        case "open_app" if action.app or action.text:
            return {"action_type": kind, "app_name": action.app or action.text}
        case "status":
            if action.status == "complete":
                return {"action_type": "finished"}
            return {"action_type": kind, "goal_status": action.status or "unknown"}
    return {"action_type": "unknown", "text": kind if action.text is None else f"{kind}: {action.text}"}


def _coordinates(action: Action) -> dict[str, int]:
    return {"x": action.at[0], "y": action.at[1]} if action.at else {}


def tokens_of(steps: Sequence[Step], ended: Ended | None, *, own: bool) -> dict[str, int] | None:
    """Return the `token_usage` of a run with its four counts, or None if there are none."""
    if own:
        source_tokens: dict[str, int] | None = steps[-1].extra.get("token_usage") if steps else None
        return source_tokens
    total = ended.usage if ended else None
    for step in steps if total is None else ():
        usage = step.proposed.usage
        total = usage if total is None else total.plus(usage or Usage(tries=0))
    if total is None:
        return None
    prompt, completion = total.prompt_tokens or 0, total.completion_tokens or 0
    return {
        "completion_tokens": completion,
        "prompt_tokens": prompt,
        "cached_tokens": total.cached_tokens or 0,
        "total_tokens": prompt + completion,
    }
