"""Parser for a droidrun agent's tool calls, in Python (CodeAct), XML (FastAgent) or JSON (Executor).

No code is run: Python is only parsed, and only literal arguments are evaluated. Source: `agent/codeact`,
`agent/fast_agent/xml_parser.py` and `agent/executor` of droidrun (now mobilerun).
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
_ARGUMENT_NAMES: dict[str, tuple[str, ...]] = {
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
"""Tools of all versions by name, with the names of their arguments in order."""

_OUTCOME = ("outcome", "success", "error", "summary")
_WORDS = frozenset({"text", "reason", "message", "information", "package", "activity", "button", "secret_id"})
_ERROR = re.compile(r"^Error: (\w[^\n]{0,300})", re.M)
_ERROR_LINE = re.compile(r'File "<string>", line (\d{1,6}), in <module>')
_INVOKED = re.compile(r"<invoke\s++name=\"([^\"]{1,100})\"\s*+>")
_GIVEN = re.compile(r"<parameter\s++name=\"([^\"]{1,100})\"\s*+>")


class DroidrunCall(NamedTuple):
    """One tool call. `succeeded` is False if it failed or was not run, None if unknown.

    `line` is its line in the model's Python, from 1, or 0 for other languages.
    """

    name: str
    args: dict[str, Any]
    succeeded: bool | None = None
    summary: str = ""
    line: int = 0

    @property
    def raw(self) -> dict[str, Any]:
        return {"name": self.name, "args": self.args}


def calls_of(code: str) -> list[DroidrunCall]:
    """Return the calls in a model's code in order, empty if there are none or it is not code."""
    if len(code) > _LONGEST:
        return []
    if "<invoke" in code:
        return [
            DroidrunCall(
                name,
                {
                    parameter: _xml_argument(parameter, value)
                    for parameter, value in _xml_elements(inside, _GIVEN, "</parameter>")
                },
            )
            for name, inside in _xml_elements(code, _INVOKED, "</invoke>")
        ]
    if code.lstrip().startswith("{"):
        call = call_of(_json_or_text(code.strip()))
        return [call] if call else []
    return _python_calls(code)


def _xml_elements(text: str, opening: re.Pattern[str], closing: str) -> Iterator[tuple[str, str]]:
    """Yield name and content of each tag, up to the next closing tag."""
    at = 0
    while (match := opening.search(text, at)) and (end := text.find(closing, match.end())) >= 0:
        yield match[1], text[match.end() : end]
        at = end + len(closing)


def call_of(action: Any) -> DroidrunCall | None:
    """Return a call from an Executor's action (`{"action": name, ...}`, or a record with arguments and outcome).

    Return None if it is neither.
    """
    if not isinstance(action, dict) or not isinstance(name := action.get("action", action.get("name")), str):
        return None
    outcome = action.get("outcome", action.get("success"))
    success = outcome if isinstance(outcome, bool) and name != "complete" else None
    arguments = action.get("args")
    if isinstance(arguments, dict):
        return DroidrunCall(name, arguments, success, call_error(action) or as_text(action.get("summary")))
    if success is None:
        return DroidrunCall(name, {key: value for key, value in action.items() if key not in ("action", "name")})
    given = {key: value for key, value in action.items() if key not in ("action", "name", *_OUTCOME)}
    return DroidrunCall(name, given, success, call_error(action) or as_text(action.get("summary")))


def with_outcomes(code_calls: list[DroidrunCall], run_calls: list[DroidrunCall]) -> list[DroidrunCall]:
    """Merge the calls as written and as run. The agent skips calls that repeat the last one in vain."""
    if not run_calls:
        return code_calls
    queue = list(run_calls)
    calls: list[DroidrunCall] = []
    for call in code_calls:
        if queue and queue[0].name == call.name:
            calls.append(queue.pop(0))
        else:
            calls.append(call._replace(succeeded=False, summary="not run"))
    return calls if not queue else run_calls


def call_error(outcome: dict[str, Any]) -> str:
    """Return the error in a call's outcome, empty if there is none."""
    error = as_text(outcome.get("error")).strip()
    return "" if error == "None" else error


def _python_calls(code: str) -> list[DroidrunCall]:
    try:
        tree = ast.parse(code)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls: list[DroidrunCall] = []
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name not in _ARGUMENT_NAMES:
            continue
        names = _ARGUMENT_NAMES[name]
        # Some versions pass four numbers instead of two points.
        if name in ("swipe", "drag") and len(node.args) >= 4:
            names = ("start_x", "start_y", "end_x", "end_y", "duration_ms")
        args = {names[i] if i < len(names) else str(i): _literal_value(arg) for i, arg in enumerate(node.args)}
        args |= {word.arg: _literal_value(word.value) for word in node.keywords if word.arg}
        calls.append(DroidrunCall(name, args, line=node.lineno))
    return calls


class CodeError(NamedTuple):
    """The error that ended the model's Python, and its line, 0 if unknown."""

    error: str
    line: int

    def sentence(self, was_run: bool) -> str:
        """Return why a call failed or was not run, as a sentence."""
        at = f" at line {self.line}" if self.line else ""
        return f"{'failed' if was_run else 'not run'}: the code ended{at} ({self.error})"


def code_error(output: Any) -> CodeError | None:
    """Return the error in the output of code, or None if the code ran to its end."""
    text = output if isinstance(output, str) else ""
    # The error is at the end of the output, which may be long.
    match = _ERROR.search(text[-_LONGEST:])
    if match is None:
        return None
    line = _ERROR_LINE.search(text[-_LONGEST:], match.end())
    return CodeError(escape_surrogates(match[1]), int(line[1]) if line else 0)


def _literal_value(node: ast.expr) -> Any:
    """Return a literal's value, or the source text of an expression that would have to be computed."""
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


def _xml_argument(name: str, text: str) -> Any:
    """Return an argument in XML. Arguments that are words stay text, even if they look like a number."""
    return text if name in _WORDS else _json_or_text(text.strip())


def _json_or_text(text: str) -> Any:
    """Return the JSON value of a text, or the text itself if it is not JSON."""
    if not text or text[0] not in '{["-0123456789tfn':
        return text
    try:
        return read_json(text.encode("utf-8", "surrogatepass"), "argument").value
    except LabError:
        return text
