"""One step of a run: screen, proposal, decision, question and reply or action."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from lab.core.run import action_line
from lab.core.run.ui_tree import UiTree
from lab.core.task.task import Actor

Pixel: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""A number of pixels within 32 bits. Decoding refuses larger ones, so that arithmetic cannot overflow."""
Point = tuple[Pixel, Pixel]
Direction: TypeAlias = action_line.Direction
ActionKind: TypeAlias = action_line.ActionKind
ENDING: frozenset[str] = frozenset({"answer", "status"})
"""Kinds of action after which an agent does nothing more."""


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An agent's action. `at` and `to` are pixels of the observed screenshot, and 0 is a coordinate.

    `direction` has its source's meaning: the content's for `scroll` (down shows what is below), the finger's for
    `swipe`. `vector` is always the finger's movement in pixels. `raw` and `space` are the source's own words and
    coordinate space (`px`, `0-1`, `0-1000`, `box`, `index`). `boxes` are targets of which any is right.
    """

    kind: ActionKind
    at: Point | None = None
    to: Point | None = None
    text: str | None = None
    direction: Direction | None = None
    vector: Point | None = None
    app: str | None = None
    status: Literal["complete", "infeasible"] | None = None
    ms: int | None = None
    raw: Any = None
    space: str | None = None
    boxes: tuple[tuple[Pixel, Pixel, Pixel, Pixel], ...] = ()


class Observation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An observed screen: `image` is the sha256 of stored bytes, `size` in pixels, `at` on the phone's clock.

    `tree_missing` is the reason for a missing tree.
    """

    image: str | None = None
    size: Point | None = None
    tree: UiTree | None = None
    activity: str = ""
    at: str = ""
    tree_missing: str = ""


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Cost of a model's answer: tokens, US dollars if known, seconds, and the number of calls.

    `without` names what the server refused, so that the answer was given without it: `temperature`, `images`.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    tries: int = 1
    without: tuple[str, ...] = ()

    def plus(self, other: Usage) -> Usage:
        """Return the sum of both. A value that is known of only one counts alone."""
        return total_usage((self, other))


def total_usage(usages: Sequence[Usage]) -> Usage:
    """Return the sum of at least one usage. A value that is known of only some is the sum of those."""
    if len(usages) == 1:
        return usages[0]
    sums: dict[str, Any] = {}
    for name in COUNTED:
        known = [value for usage in usages if (value := getattr(usage, name)) is not None]
        sums[name] = reduce(add, known) if known else None
    return Usage(**sums, without=tuple(sorted({word for usage in usages for word in usage.without})))


COUNTED = Usage.__struct_fields__[:-1]
"""Fields of `Usage` that are numbers."""


class Spent(msgspec.Struct, frozen=True):
    """Model usage of a whole run: turns, calls, tokens, and `cost` in US dollars.

    `cost` is None without a known price. `unpriced` counts the turns that it does not include. `uncounted` counts the
    answered turns with unknown tokens. `without` is what the server refused, as in `Usage`.
    """

    turns: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float | None
    unpriced: int
    seconds: float | None
    uncounted: int = 0
    without: tuple[str, ...] = ()


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An agent's question to the person. Every question of a proactive run is shown as a proposal."""

    id: str
    kind: Literal["ask", "propose"]
    text: str
    options: tuple[str, ...] = ()


class ToolCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A function call as a person's answer, in OpenAI's terms. `arguments` is JSON in a string."""

    name: str
    arguments: str = "{}"
    id: str = ""


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A person's reply. `decision` is None for an answer to a plain question, and for *only a question*.

    Times are UTC. `first_key_at` is None if nothing was typed. `edits` counts deletions while typing. `draft` is the
    longest text that was typed and then deleted. `usage` is that of a model's answer. `calls` are function calls in
    place of words, if the client offers functions. `text` then describes them.
    """

    question_id: str
    text: str
    by: Actor
    decision: Literal["accept", "reject"] | None = None
    shown_at: str | None = None
    first_key_at: str | None = None
    sent_at: str | None = None
    edits: int | None = None
    draft: str | None = None
    usage: Usage | None = None
    calls: tuple[ToolCall, ...] = ()


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Exactly what an agent was sent: its text, and the sha256 of each picture in order."""

    text: str
    images: tuple[str, ...] = ()


class Proposed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An agent's proposed action and its reason. `by` is set if a person proposed it: take-over or demonstration.

    `instruction` is the step's low-level instruction, if any: what to do here, in words (DAC-Bench 2.4). `thinking` is
    what a model wrote before its answer, and `thinking_source` is its place (`reasoning_content`, or a mark in the
    text). No model ever gets it back. `stderr` is the program's standard error before the proposal, with the middle of
    a long one omitted.
    """

    action: Action
    thought: str = ""
    prompt: Prompt | None = None
    raw: str | None = None
    usage: Usage | None = None
    by: Actor | None = None
    instruction: str = ""
    thinking: str = ""
    thinking_source: str = ""
    stderr: str = ""


def spent_by(proposals: Iterable[Proposed]) -> Spent | None:
    """Return the model usage of these proposals, or None if no model was asked."""
    asked = [(proposed.usage, proposed.raw) for proposed in proposals if proposed.usage is not None]
    if not asked:
        return None
    total = total_usage([usage for usage, _ in asked])
    turns = [usage for usage, raw in asked if has_tokens(usage) or raw is not None]
    return Spent(
        turns=len(turns),
        calls=total.tries,
        prompt_tokens=total.prompt_tokens or 0,
        completion_tokens=total.completion_tokens or 0,
        cached_tokens=total.cached_tokens or 0,
        cost=total.cost,
        unpriced=sum(usage.cost is None for usage in turns),
        seconds=None if total.seconds is None else round(total.seconds, 3),
        uncounted=sum(not has_tokens(usage) for usage in turns),
        without=total.without,
    )


def has_tokens(usage: Usage) -> bool:
    """Return True if a usage has a count of tokens."""
    return usage.prompt_tokens is not None or usage.completion_tokens is not None


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A gate's decision: `action` is what to do, None if rejected. `seconds` is the time it took."""

    verdict: Literal["approve", "amend", "reject"]
    by: Actor
    action: Action | None = None
    note: str = ""
    seconds: float = 0.0
