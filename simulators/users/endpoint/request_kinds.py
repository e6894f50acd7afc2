"""Kind of answer that a request asks for (user's words, consent, judge's score), and its stop tokens.

The rules are a small table, based on these facts. KnowU-Bench's judge shares the users' endpoint, and its system prompt
begins "You are a strict". Its routine tasks parse `<decision>accept</decision>` from the reply. They read any other
words as a refusal, or as a consent if they contain "accept". tau2-bench ends at `###STOP###` and two more tokens.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.text.safe_patterns import Pattern, UnsafePattern, compile_pattern
from simulators.users.endpoint.access import RequestRefused
from simulators.users.endpoint.chat_request import ChatRequest

RequestKind = Literal["user", "consent", "tool", "judge"]
"""Question, request for accept or reject, result of a called function, or a judge's request."""

_JUDGES = (r"^\s*you are a strict\b",)
"""Patterns at the start of a judge's system prompt, ignoring case."""
_CONSENT = re.compile(
    r"<decision>\W*(?:accept|reject)\W+(?:decision\W+)?(?:or\W+)?(?:decision\W+)?(?:accept|reject)\W*</decision>", re.I
)
"""Demand for the tag in a prompt: `<decision>accept/reject</decision>`, `accept|reject`, `accept or reject`.

Each word may also have a tag of its own: `<decision>accept</decision> or <decision>reject</decision>`.
"""
_TOKEN = re.compile(r"###[A-Z][A-Z _-]{1,30}[A-Z]###")
_TAG = re.compile(r"</?\s*(?:decision|score|think)\b", re.I)


class JudgeRules(NamedTuple):
    """Patterns that identify a judge's request by its system prompt."""

    patterns: tuple[Pattern, ...]

    def match(self, system: str) -> bool:
        return any(rule.matches(system) for rule in self.patterns)


def judge_rules(more: list[str] | None = None) -> JudgeRules:
    """Return the built-in rules plus further expressions. Raise `LabError` with an unusable one."""
    patterns = []
    for expression in (*_JUDGES, *(more or ())):
        try:
            patterns.append(compile_pattern(expression, any_case=True))
        except UnsafePattern as refused:
            raise LabError("--judge-rule", f"{expression[:80]!r} {refused}.", code=2) from refused
    return JudgeRules(tuple(patterns))


def kind_of(request: ChatRequest, rules: JudgeRules) -> RequestKind:
    """Return the kind of a request. Raise `RequestRefused` if a judge's request asks for JSON.

    A client that accepts JSON gets no tag: its user decides in the fields of its form.
    """
    if rules.match(request.system):
        if request.form is not None:
            raise RequestRefused("response_format", "a judge's answer is <think> and <score>; ask for text")
        return "judge"
    new_messages = request.messages[request.asked_from :]
    if new_messages and all(message.role in ("tool", "function") for message in new_messages):
        return "tool"
    if request.form is not None:
        return "user"
    demanding = [message.text for message in request.messages if message.role != "assistant"]
    return "consent" if any(_CONSENT.search(text) for text in demanding) else "user"


def stop_tokens(system: str) -> tuple[str, ...]:
    """Return the tokens that a system prompt names for ending a conversation, in its order."""
    return tuple(dict.fromkeys(_TOKEN.findall(system)))[:9]


def score_text(score: float, reason: str) -> str:
    """Format a judgement for KnowU-Bench's parsers: the reason in `<think>`, the number in `<score>`."""
    return f"<think>\n{reason.strip()}\n</think>\n<score>\n{score:g}\n</score>"


def holds_tag(text: str) -> bool:
    """Return True if a text contains a tag that parsers search for, of which an answer may contain only one."""
    return _TAG.search(text) is not None
