"""The tool calls that a droidrun agent writes: as Python (CodeAct), as XML (FastAgent) or as JSON (Executor).

Nothing of it is run: Python is only parsed, and arguments are read where they are plain values. Source:
`agent/codeact`, `agent/fast_agent/xml_parser.py` and `agent/executor` of droidrun (now mobilerun).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from store.formats.values import as_text

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

_OUTCOME = ("outcome", "success", "error", "summary")
_WORDS = frozenset({"text", "reason", "message", "information", "package", "activity", "button", "secret_id"})
_ERROR = re.compile(r"^Error: (\w[^\n]{0,300})", re.M)
_ERROR_LINE = re.compile(r'File "<string>", line (\d{1,6}), in <module>')
_INVOKED = re.compile(r"<invoke\s++name=\"([^\"]{1,100})\"\s*+>")
_GIVEN = re.compile(r"<parameter\s++name=\"([^\"]{1,100})\"\s*+>")


class ToolCall(NamedTuple):
    """One tool call; `done` is False where it failed or was not run, None where nothing tells.

    `line` is where it stands in the model's Python, from 1; 0 where it was written otherwise.
    """

    name: str
    args: dict[str, Any]
    done: bool | None = None
    summary: str = ""
    line: int = 0

    @property
    def raw(self) -> dict[str, Any]:
        return {"name": self.name, "args": self.args}


def calls_of(code: str) -> list[ToolCall]:
    """The calls in a model's code, in their order; empty where there are none, or it is no code."""
    if len(code) > _LONGEST:
        return []
    if "<invoke" in code:
        return [
            ToolCall(
                name,
                {parameter: _given(parameter, value) for parameter, value in _tagged(inside, _GIVEN, "</parameter>")},
            )
            for name, inside in _tagged(code, _INVOKED, "</invoke>")
        ]
    if code.lstrip().startswith("{"):
        call = call_of(_value(code.strip()))
        return [call] if call else []
    return _python(code)


def _tagged(text: str, opening: re.Pattern[str], closing: str) -> Iterator[tuple[str, str]]:
    """The name and the inside of each tag, up to the next that closes one."""
    at = 0
    while (match := opening.search(text, at)) and (end := text.find(closing, match.end())) >= 0:
        yield match[1], text[match.end() : end]
        at = end + len(closing)


def call_of(action: Any) -> ToolCall | None:
    """A call from an Executor's action: `{"action": name, ...}`, or a record with its arguments beside its outcome."""
    if not isinstance(action, dict) or not isinstance(name := action.get("action", action.get("name")), str):
        return None
    outcome = action.get("outcome", action.get("success"))
    success = outcome if isinstance(outcome, bool) and name != "complete" else None
    arguments = action.get("args")
    if isinstance(arguments, dict):
        return ToolCall(name, arguments, success, call_error(action) or as_text(action.get("summary")))
    if success is None:
        return ToolCall(name, {key: value for key, value in action.items() if key not in ("action", "name")})
    given = {key: value for key, value in action.items() if key not in ("action", "name", *_OUTCOME)}
    return ToolCall(name, given, success, call_error(action) or as_text(action.get("summary")))


def with_outcomes(code_calls: list[ToolCall], run_calls: list[ToolCall]) -> list[ToolCall]:
    """What was written and what was run, as one: the agent leaves out calls that repeat the last one in vain."""
    if not run_calls:
        return code_calls
    queue = list(run_calls)
    calls: list[ToolCall] = []
    for call in code_calls:
        if queue and queue[0].name == call.name:
            calls.append(queue.pop(0))
        else:
            calls.append(call._replace(done=False, summary="not run"))
    return calls if not queue else run_calls


def call_error(outcome: dict[str, Any]) -> str:
    """The error that a call's outcome tells; empty where it tells none."""
    error = as_text(outcome.get("error")).strip()
    return "" if error == "None" else error


def _python(code: str) -> list[ToolCall]:
    try:
        tree = ast.parse(code)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls: list[ToolCall] = []
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name not in _NAMES:
            continue
        names = _NAMES[name]
        if name in ("swipe", "drag") and len(node.args) >= 4:
            names = ("start_x", "start_y", "end_x", "end_y", "duration_ms")
        args = {names[i] if i < len(names) else str(i): _literal(arg) for i, arg in enumerate(node.args)}
        args |= {word.arg: _literal(word.value) for word in node.keywords if word.arg}
        calls.append(ToolCall(name, args, line=node.lineno))
    return calls


class CodeError(NamedTuple):
    """What ended the model's Python: the error in its own words, and the line it rose from, 0 where none is told."""

    error: str
    line: int

    def sentence(self, was_run: bool) -> str:
        """Why a call is none, or failed."""
        at = f" at line {self.line}" if self.line else ""
        return f"{'failed' if was_run else 'not run'}: the code ended{at} ({self.error})"


def code_error(output: Any) -> CodeError | None:
    """What ended the code whose output this is; None where it ran to its end."""
    text = output if isinstance(output, str) else ""
    match = _ERROR.search(text[-_LONGEST:])
    if match is None:
        return None
    line = _ERROR_LINE.search(text[-_LONGEST:], match.end())
    return CodeError(escape_surrogates(match[1]), int(line[1]) if line else 0)


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
