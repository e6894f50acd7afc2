"""The tool calls that a droidrun agent writes: as Python (CodeAct), as XML (FastAgent) or as JSON (Executor).

Nothing of it is run: Python is only parsed, and arguments are read where they are plain values. Source:
`agent/codeact`, `agent/fast_agent/xml_parser.py` and `agent/executor` of droidrun (now mobilerun).
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any, NamedTuple

from lab.errors import LabError
from lab.wire import escape_surrogates, read_json

_LONGEST = 50_000
_NAMES: dict[str, tuple[str, ...]] = {
    "click": ("index",), "tap": ("index",), "tap_by_index": ("index",), "tap_on_index": ("index",),
    "tap_by_coordinates": ("x", "y"), "click_at": ("x", "y"), "long_press_at": ("x", "y"),
    "click_area": ("x1", "y1", "x2", "y2"), "long_press": ("index",), "double_tap": ("index",),
    "type": ("text", "index", "clear"), "type_text": ("text", "index", "clear"),
    "input_text": ("text", "index", "clear"), "type_secret": ("secret_id", "index"),
    "type_text_direct": ("text", "clear"),
    "swipe": ("coordinate", "coordinate2", "duration"), "drag": ("coordinate", "coordinate2", "duration"),
    "system_button": ("button",), "press_button": ("button",), "press_key": ("keycode",), "key_press": ("keycode",),
    "back": (), "press_back": (), "home": (), "press_home": (),
    "open_app": ("text",), "start_app": ("package", "activity"), "launch_app": ("package",),
    "wait": ("duration",), "sleep": ("duration",), "complete": ("success", "reason"),
    "remember": ("information",), "take_screenshot": (), "get_state": (), "get_clickables": (),
    "list_packages": (), "get_memory": (),
}  # fmt: skip
"""Tools by their names in all versions, and the names of their arguments in order."""

_WORDS = frozenset({"text", "reason", "message", "information", "package", "activity", "button", "secret_id"})
_INVOKED = re.compile(r"<invoke\s+name=\"([^\"]{1,100})\"\s*>(.*?)</invoke>", re.S)
_GIVEN = re.compile(r"<parameter\s+name=\"([^\"]{1,100})\"\s*>(.*?)</parameter>", re.S)


class Call(NamedTuple):
    """One tool call; `done` is False where it failed or was not run, None where nothing tells."""

    name: str
    args: dict[str, Any]
    done: bool | None = None
    summary: str = ""

    @property
    def raw(self) -> dict[str, Any]:
        return {"name": self.name, "args": self.args}


def calls_of(code: str) -> list[Call]:
    """The calls in a model's code, in their order; empty where there are none, or it is no code."""
    if len(code) > _LONGEST:
        return []
    if "<invoke" in code:
        return [
            Call(found[1], {given[1]: _given(given[1], given[2]) for given in _GIVEN.finditer(found[2])})
            for found in _INVOKED.finditer(code)
        ]
    if code.lstrip().startswith("{"):
        call = call_of(_value(code.strip()))
        return [call] if call else []
    return _python(code)


def call_of(action: Any) -> Call | None:
    """A call from an Executor's action: `{"action": name, ...}`, or a record with its arguments beside its outcome."""
    if not isinstance(action, dict) or not isinstance(name := action.get("action", action.get("name")), str):
        return None
    given = action.get("args")
    if isinstance(given, dict):
        outcome = action.get("outcome", action.get("success"))
        done = outcome if isinstance(outcome, bool) else None
        return Call(name, given, done, _told(action))
    return Call(name, {key: value for key, value in action.items() if key not in ("action", "name")})


def with_outcomes(written: list[Call], run: list[Call]) -> list[Call]:
    """What was written and what was run, as one: the agent leaves out calls that repeat the last one in vain."""
    if not run:
        return written
    left = list(run)
    found: list[Call] = []
    for call in written:
        if left and left[0].name == call.name:
            found.append(left.pop(0))
        else:
            found.append(call._replace(done=False, summary="not run"))
    return found if not left else run


def _told(action: dict[str, Any]) -> str:
    error = action.get("error")
    if isinstance(error, str) and error not in ("", "None"):
        return error
    return action["summary"] if isinstance(action.get("summary"), str) else ""


def _python(code: str) -> list[Call]:
    try:
        tree = ast.parse(code)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[Call] = []
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name not in _NAMES:
            continue
        names = _NAMES[name]
        if name in ("swipe", "drag") and len(node.args) >= 4:
            names = ("start_x", "start_y", "end_x", "end_y", "duration_ms")
        args = {names[i] if i < len(names) else str(i): _literal(arg) for i, arg in enumerate(node.args)}
        args |= {word.arg: _literal(word.value) for word in node.keywords if word.arg}
        found.append(Call(name, args))
    return found


def _literal(node: ast.expr) -> Any:
    """A plain value, or the text of what would first have to be computed."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        try:
            return escape_surrogates(ast.unparse(node))
        except (RecursionError, ValueError):
            return "..."
    if isinstance(value, tuple | list | dict | float | int) or value is None:
        try:
            return read_json(json.dumps(value).encode(), "argument").value
        except (LabError, TypeError, ValueError, RecursionError):
            return str(value)
    return escape_surrogates(str(value))


def _given(name: str, text: str) -> Any:
    """An argument in XML; words stay words, also where they look like a number."""
    return text if name in _WORDS else _value(text.strip())


def _value(text: str) -> Any:
    """A JSON value where the text is one, else the text."""
    if not text or text[0] not in '{["-0123456789tfn':
        return text
    try:
        return read_json(text.encode("utf-8", "surrogatepass"), "argument").value
    except LabError:
        return text
