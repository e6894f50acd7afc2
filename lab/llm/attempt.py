"""Result of one try to ask a model: an answer, or the reason of the failure and whether to try again."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from lab.core.run.step import Usage
from lab.core.text.plain_text import plain
from lab.llm.exchange import Exchange
from lab.llm.model_reply import ModelReply
from lab.llm.refused_parameters import setting_hint

KEYS = "hitlab reads keys from there only."
_TRY_AGAIN = {408, 409, 425, 429}
_NEVER = {501, 505}
_SPENT = re.compile(r"insufficient_quota|exceeded your current quota|insufficient (?:balance|credits|funds)")
"""Phrases of servers for an exhausted quota or balance. Waiting does not help."""
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
# A shorter value could be part of an ordinary word.
_SHORTEST_SECRET = 8


class CallResult(NamedTuple):
    """Result of one call: an answer, or why there is none and whether to try again (`pause` as the server asks).

    An answer is `text`, or `vectors` in the order of their texts. `reply` is the model's reply, usable or not.
    """

    text: str = ""
    usage: Usage = Usage()
    why: str = ""
    hint: str = ""
    final: bool = False
    pause: float | None = None
    vectors: list[list[float]] = []
    reply: ModelReply | None = None


class TooLate(Exception):
    """No reply arrived in time."""


class TooLarge(Exception):
    """A reply exceeds a limit. The message is the end of a sentence."""


class NoKey(Exception):
    """A required key is not in the environment. The message names it."""


def classify_failure(error: Exception, seconds: float, exchange: Exchange, key_env: str = "") -> CallResult:
    """Classify an exception and the server's reply: why the call failed, and whether to try again.

    The value of the variable `key_env` is removed from the text, too.
    """
    if isinstance(error, NoKey):
        return CallResult(usage=Usage(tries=0), why=str(error), hint=KEYS, final=True)
    if isinstance(error, TooLate) or type(error).__name__ == "Timeout":
        return CallResult(why=f"nothing came within {max(seconds, 0):.3g} s", hint="model_timeout is one try's limit.")
    if large := too_large(error):
        return CallResult(why=str(large), hint="Is model_base the address of a model's server?", final=True)
    if exchange.has_error:
        return _refusal(exchange, key_env)
    words = _error_message(error, key_env)
    if words.startswith("Connection error"):
        return CallResult(why="the connection failed", hint="Is model_base right, and is its server up?")
    # By name, because importing litellm's or openai's exception classes would load the libraries.
    if hasattr(error, "status_code") or type(error).__name__ in ("APIError", "APIConnectionError"):
        return CallResult(why=f"server error: {words}")
    return CallResult(why=f"{type(error).__name__}: {words}", final=True)


def _refusal(exchange: Exchange, key_env: str) -> CallResult:
    """Return a server's refusal with its status. It is final unless it may pass by itself."""
    said = without_secrets(exchange.words, key_env).rstrip(". ")
    status = exchange.error_status or 0
    if location := exchange.headers.get("location", "") if 300 <= status < 400 else "":
        said = f"it is at {plain(without_secrets(location, key_env), lines=False)[:200]} now{said and '; '}{said}"
    if status in (401, 403):
        hint = "Is the right key in the environment?"
    elif 300 <= status < 400:
        hint = "Set model_base to the address where it is."
    elif status == 404:
        hint = setting_hint(said) or "Is model_base right (most end with /v1), and does its server have that model?"
    else:
        hint = setting_hint(said) if status < 500 else ""
    is_success = 200 <= status < 300
    may_pass = status >= 500 or status in _TRY_AGAIN or is_success
    final = not may_pass or status in _NEVER or _SPENT.search(said.casefold()) is not None
    if is_success and not said:
        why, hint = f"HTTP {status} with an empty reply", hint or "Is model_base the address of a model's server?"
    else:
        why = f"HTTP {status}{' with an error' if is_success else ''}: {said or 'no reason given'}"
    return CallResult(
        why=why,
        hint=hint,
        final=final,
        pause=_retry_after(exchange.headers),
    )


def too_large(error: BaseException | None) -> TooLarge | None:
    """Return the `TooLarge` that caused a client's error, or None if another error did."""
    # A bound, because a chain of contexts may be a circle.
    for _ in range(20):
        if error is None or isinstance(error, TooLarge):
            return error
        error = error.__cause__ or error.__context__
    return None


def _error_message(error: Exception, key_env: str) -> str:
    """Return an error's message as one short line, without litellm's preamble, traceback and any key."""
    text = without_secrets(str(error), key_env).split("Traceback (most recent", 1)[0].split(", Received response", 1)[0]
    text = re.sub(r"^(?:litellm\.)?(?:\w+(?:Error|Exception)(?:: | - |$))+", "", text.strip())
    return plain(text.strip(), lines=False)[:200].rstrip(". ") or "no reason given"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of the Retry-After header (a number or a date), or None if it is absent."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", milliseconds):
        return float(milliseconds) / 1000
    retry_after = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", retry_after):
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def without_secrets(text: str, key_env: str = "") -> str:
    """Replace the values of variables that hold keys, in case a server echoed one."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and (name == key_env or _SECRET.search(name)) and value in text:
            text = text.replace(value, f"[{name}]")
    return text
