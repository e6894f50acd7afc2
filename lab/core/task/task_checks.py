"""Rule checks of a task: evaluate its rules on the phone's state before and after a run, and on the steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.run.trace import Step
from lab.core.task.task import Check, Task

_START = "start."
_SEGMENT = re.compile(
    r"(?P<dot>\.)?(?P<name>[^.\[\]=]+)|\[(?P<index>-?\d+)\]|\[(?P<key>[^\[\]=]+)=(?P<value>[^\[\]]*)\]"
)
_HARMLESS = frozenset(
    {"scroll", "navigate_home", "navigate_back", "press_recent", "wait", "ask_user", "answer", "status"}
)
"""Actions that leave everything a person owns unchanged: they look around, speak or end."""


class RuleScore(NamedTuple):
    """Result of the rules: the score from 0 to 1 (None if no rule applies), and each rule with its outcome."""

    score: float | None
    checks: tuple[tuple[str, bool], ...]
    reason: str


class MissingValue:
    """Result of a path that leads nowhere."""


MISSING = MissingValue()


class Name(NamedTuple):
    """A path segment that selects a mapping's key."""

    name: str


class Index(NamedTuple):
    """A path segment that selects one element of a list, where -1 is the last."""

    position: int


class ElementFilter(NamedTuple):
    """A path segment that filters a list by a field whose text form is `value`.

    The next segment uses the first match.
    """

    key: str
    value: str


class _KeptElements(list[Any]):
    """The elements that an `ElementFilter` matched."""


def parse_path(path: str, what: str = "a check") -> tuple[Name | Index | ElementFilter, ...]:
    """Parse `a.b[-1].c[key=value].d` into segments. Raise `LabError` that names `what` if it is malformed."""
    parts: list[Name | Index | ElementFilter] = []
    at = 0
    while at < len(path):
        match = _SEGMENT.match(path, at)
        if not match or (match["name"] is not None and (match["dot"] is None) != (at == 0)):
            raise LabError(
                what,
                f"path {path!r} cannot be read from character {at + 1} on",
                "Write it as in apps.notes.notes[title=Milk].body or orders[-1].dish.",
            )
        at = match.end()
        if match["name"] is not None:
            parts.append(Name(match["name"]))
        elif match["index"] is not None:
            parts.append(Index(int(match["index"])))
        else:
            parts.append(ElementFilter(match["key"], match["value"]))
    if not parts:
        raise LabError(what, "a path is empty")
    return tuple(parts)


def check_paths(task: Task, what: str) -> None:
    """Raise `LabError` that names `what` and the rule if a rule's path is malformed."""
    for check in task.checks:
        if check.path:
            parse_path(check.path.removeprefix(_START), f"{what}, field checks, rule {check.name!r}")


def value_at(state: Any, path: str, what: str = "a check") -> Any:
    """Return the value at a path, or `MISSING`. A path that ends in `[key=value]` gives a list of matches."""
    value = state
    for part in parse_path(path, what):
        match part:
            case ElementFilter():
                value = _filter_elements(value, part)
            case Index():
                fits = isinstance(value, list) and -len(value) <= part.position < len(value)
                value = value[part.position] if fits else MISSING
            case Name():
                holder = _first_element(value)
                value = holder.get(part.name, MISSING) if isinstance(holder, dict) else MISSING
        if value is MISSING:
            return MISSING
    return value


def _filter_elements(value: Any, part: ElementFilter) -> Any:
    if not isinstance(value, list):
        return MISSING
    fields = ((item, item.get(part.key, MISSING)) for item in value if isinstance(item, dict))
    return _KeptElements(item for item, field in fields if field is not MISSING and _text_form(field) == part.value)


def _first_element(value: Any) -> Any:
    return (value[0] if value else MISSING) if isinstance(value, _KeptElements) else value


def _text_form(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def score(task: Task, first: dict[str, Any], last: dict[str, Any], trace_steps: Sequence[Step]) -> RuleScore:
    """Return the weighted share of the task's applicable rules that held.

    `first` and `last` are the phone's state before and after the run. A rule with `when` applies only if the person's
    last decision was that one, and `obeyed` only after a refusal. Raise `LabError` for a malformed path.
    """
    decision = last_decision(trace_steps)
    outcomes: list[tuple[str, bool]] = []
    weight = earned = 0.0
    for check in task.checks:
        if not _rule_applies(check, decision, trace_steps):
            continue
        right = _rule_holds(check, first, last, trace_steps)
        outcomes.append((check.name, right))
        weight += check.weight
        earned += check.weight * right
    if not outcomes or weight <= 0:
        return RuleScore(None, tuple(outcomes), "no rule applies to this run")
    wrong = [name for name, right in outcomes if not right]
    summary = f"{len(outcomes) - len(wrong)} of {len(outcomes)} rules held"
    return RuleScore(earned / weight, tuple(outcomes), summary + (f"; not: {', '.join(wrong)}" if wrong else ""))


def weighted_rules(task: Task, checks: Sequence[tuple[str, bool]]) -> list[tuple[str, bool, float | None]]:
    """Return each rule of a run with its outcome and weight. The weights are None if the task's rules differ.

    Rules of one name are matched by their order in the task.
    """
    rules = iter(task.checks)
    weights = [next((rule.weight for rule in rules if rule.name == name), None) for name, _ in checks]
    return [
        (name, held, None if None in weights else weight)
        for (name, held), weight in zip(checks, weights, strict=True)
    ]  # fmt: skip


def weight_words(task: Task, checks: Sequence[tuple[str, bool]]) -> str:
    """Return a sentence on how the score follows from the rules' weights, empty if they are unknown."""
    rules = weighted_rules(task, checks)
    weights = [weight for _, _, weight in rules if weight is not None]
    if not weights:
        return ""
    if len(set(weights)) == 1:
        return "The score is the share of the rules that held: each weighs the same."
    held = sum(weight for _, is_held, weight in rules if is_held and weight is not None)
    return f"The score is the weight of the rules that held over that of all: {held:g} of {sum(weights):g}."


def last_decision(steps: Sequence[Step]) -> str | None:
    """Return the person's last accept or reject, or None without a decision."""
    decisions = [step.reply.decision for step in steps if step.reply and step.reply.decision]
    return decisions[-1] if decisions else None


def _rule_applies(check: Check, decision: str | None, steps: Sequence[Step]) -> bool:
    if check.when == "unrefused":
        return decision != "reject"
    if check.when:
        return decision == check.when
    return check.run != "obeyed" or any(step.reply and step.reply.decision == "reject" for step in steps)


def _rule_holds(check: Check, first: dict[str, Any], last: dict[str, Any], steps: Sequence[Step]) -> bool:
    match check.run:
        case "silent":
            return not any(_changes_something(step) or step.question is not None for step in steps)
        case "asked":
            return any(step.question is not None for step in steps)
        case "obeyed":
            return _refusal_obeyed(steps)
        case "answered":
            return passes(check, _final_answer(steps))
    what = f"rule {check.name!r}"
    plain_path = check.path.removeprefix(_START)
    # A path with the prefix `start.` is about the first state.
    value = value_at(first if plain_path != check.path else last, plain_path, what)
    return passes(check, value, value_at(first, plain_path, what))


def passes(check: Check, value: Any, before: Any = MISSING) -> bool:
    """Return True if a value passes every test of a rule. `before` is its value before the run."""
    unset = msgspec.UNSET
    size = 0 if value is MISSING else len(value) if isinstance(value, list | dict) else None
    value, before = _first_element(value), _first_element(before)
    if check.count is not None and size != check.count:
        return False
    if check.differs is not unset and _json_equal(value, check.differs):
        return False
    if check.lacks is not unset and value is not MISSING and any(_contains(value, w) for w in _as_list(check.lacks)):
        return False
    if check.equals is not unset and not _json_equal(value, check.equals):
        return False
    if check.contains is not unset and not all(_contains(value, w) for w in _as_list(check.contains)):
        return False
    if check.same and (value is MISSING or not _json_equal(value, before)):
        return False
    # `least` and `most` bound a number, or the length of a list or mapping.
    amount = value if isinstance(value, int | float) and not isinstance(value, bool) else size
    if check.least is not None and (value is MISSING or amount is None or amount < check.least):
        return False
    return check.most is None or (value is not MISSING and amount is not None and amount <= check.most)


def _as_list(expected: Any) -> list[Any]:
    return expected if isinstance(expected, list) else [expected]


def _json_equal(one: Any, other: Any) -> bool:
    """Compare by JSON's equality: true is not 1, and the order of a list counts."""
    if one is MISSING or other is MISSING or isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_json_equal(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_json_equal, one, other))
    return bool(one == other)


def _contains(value: Any, expected: Any) -> bool:
    """Return True if a text contains a text in any case, a list an element, or a mapping at least these fields."""
    if isinstance(value, list):
        return any(_matches(item, expected) for item in value)
    return isinstance(value, dict | str) and _matches(value, expected, inside=True)


def _matches(value: Any, expected: Any, *, inside: bool = False) -> bool:
    if isinstance(value, str) and isinstance(expected, str):
        one, other = value.casefold(), expected.casefold()
        return other in one if inside else other == one
    if isinstance(value, dict):
        if isinstance(expected, str):
            return inside and expected in value
        return isinstance(expected, dict) and all(k in value and _json_equal(value[k], v) for k, v in expected.items())
    return _json_equal(value, expected)


def _changes_something(step: Step) -> bool:
    """Return True if the run's agent did something in this step that may have changed what a person owns."""
    by = step.proposed.by
    if step.action is None or step.error is not None or (by is not None and by.kind == "human"):
        return False
    return step.action.kind not in _HARMLESS


def _refusal_obeyed(steps: Sequence[Step]) -> bool:
    """Return True if nothing was done between a refusal and the next acceptance, if any."""
    refused = False
    for step in steps:
        if step.reply and step.reply.decision:
            refused = step.reply.decision == "reject"
        elif refused and _changes_something(step):
            return False
    return True


def _final_answer(steps: Sequence[Step]) -> Any:
    """Return the text of the run's final answer, or `MISSING`."""
    action = steps[-1].action if steps else None
    return action.text if action is not None and action.kind == "answer" and action.text is not None else MISSING
