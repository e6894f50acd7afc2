"""What kind of answer a request asks for: a user's words, a consent, a judge's score; and with which tokens it ends.

The rules are a small table. Facts behind it: KnowU-Bench's judge shares the users' endpoint, and its system prompt
begins "You are a strict"; its routine tasks read `<decision>accept</decision>` out of the reply, and take any other
words for a refusal, or for a consent where "accept" stands in them; tau2-bench ends at `###STOP###` and two more.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.safe_patterns import Pattern, UnsafePattern, compile_pattern
from simulators.users.endpoint.access import RequestRefused
from simulators.users.endpoint.chat_request import ChatRequest

RequestKind = Literal["user", "consent", "tool", "judge"]
"""A question; one that is answered by accept or reject; what a called function gave back; a judge's request."""

_JUDGES = (r"^\s*you are a strict\b",)
"""How system prompts begin that ask for a judgement, whatever their case."""
_CONSENT = re.compile(r"<decision>\W*(?:accept|reject)\W+(?:or\W+)?(?:accept|reject)\W*</decision>", re.I)
"""How a prompt demands the tag: `<decision>accept/reject</decision>`, `accept|reject`, `accept or reject`."""
_TOKEN = re.compile(r"###[A-Z][A-Z _-]{1,30}[A-Z]###")
_TAG = re.compile(r"</?\s*(?:decision|score|think)\b", re.I)


class JudgeRules(NamedTuple):
    """By which expressions, searched in the system prompt, a judge's request is told."""

    patterns: tuple[Pattern, ...]

    def holds(self, system: str) -> bool:
        return any(rule.matches(system) for rule in self.patterns)


def judge_rules(more: list[str] | None = None) -> JudgeRules:
    """The table with further expressions; a `LabError` names the one that cannot be used."""
    patterns = []
    for expression in (*_JUDGES, *(more or ())):
        try:
            patterns.append(compile_pattern(expression, any_case=True))
        except UnsafePattern as refused:
            raise LabError("--judge-rule", f"{expression[:80]!r} {refused}.", code=2) from refused
    return JudgeRules(tuple(patterns))


def kind_of(request: ChatRequest, rules: JudgeRules) -> RequestKind:
    """What a request asks for; `RequestRefused` where a judge is to answer in JSON.

    A client that takes JSON is sent no tag: its user decides in the fields of its form.
    """
    if rules.holds(request.system):
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
    """The tokens that a system prompt names for ending a conversation, in its order."""
    return tuple(dict.fromkeys(_TOKEN.findall(system)))[:9]


def score_text(score: float, reason: str) -> str:
    """A judgement in the shape that KnowU-Bench's parsers read: the reason in `<think>`, the number in `<score>`."""
    return f"<think>\n{reason.strip()}\n</think>\n<score>\n{score:g}\n</score>"


def holds_tag(text: str) -> bool:
    """Whether words hold a tag that parsers look for: beside a decision or a score there must be one alone."""
    return _TAG.search(text) is not None
