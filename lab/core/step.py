"""One turn of a run: what the agent saw and proposed, what was let through, what was asked and answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from lab.core import action_line
from lab.core.task import Actor
from lab.core.ui_tree import UiTree

Pixel: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""A number of pixels, as any arithmetic can take it: what is read is refused where it is beyond this."""
Point = tuple[Pixel, Pixel]
Direction: TypeAlias = action_line.Direction
ActionKind: TypeAlias = action_line.ActionKind
ENDING: frozenset[str] = frozenset({"answer", "status"})
"""The kinds of action after which an agent does nothing more."""


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an agent does. `at` and `to` are pixels of the observed screenshot, and 0 is a coordinate.

    `direction` keeps its source's meaning: the content's for `scroll` (down shows what is below), the finger's
    for `swipe`; `vector` is always the finger's movement in pixels. `raw` and `space` keep the source's own
    words and coordinates (`px`, `0-1`, `0-1000`, `box`, `index`); `boxes` are targets of which any is right.
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
    """What was seen: `image` is a sha256 whose bytes the store keeps, `size` its pixels, `at` the phone's clock.

    `tree_missing` says why a phone gave no tree.
    """

    image: str | None = None
    size: Point | None = None
    tree: UiTree | None = None
    activity: str = ""
    at: str = ""
    tree_missing: str = ""


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a model's answer cost: tokens, US dollars where known, seconds, and how many calls it took.

    `without` names what its server refused and the answer was given without: `temperature`, `images`.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    tries: int = 1
    without: tuple[str, ...] = ()

    def plus(self, other: Usage) -> Usage:
        """Both together; what is known of one only counts as far as it goes."""
        return total_usage((self, other))


def total_usage(usages: Sequence[Usage]) -> Usage:
    """Several together, at least one; what is known of some only counts as far as it goes."""
    if len(usages) == 1:
        return usages[0]
    sums: dict[str, Any] = {}
    for name in COUNTED:
        known = [value for usage in usages if (value := getattr(usage, name)) is not None]
        sums[name] = reduce(add, known) if known else None
    return Usage(**sums, without=tuple(sorted({word for usage in usages for word in usage.without})))


COUNTED = Usage.__struct_fields__[:-1]
"""The fields of `Usage` that are numbers."""


class Spent(msgspec.Struct, frozen=True):
    """What asking a model cost in a whole run: in how many turns, with how many calls, `cost` in US dollars.

    `cost` is None where no price is known; `unpriced` counts the turns whose price is not in it. `uncounted` are the
    answered turns of which nobody knows the tokens. `without` is what the server refused, as in `Usage`.
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
    """What an agent asks of the person. Every question of a proactive run is shown as a proposal."""

    id: str
    kind: Literal["ask", "propose"]
    text: str
    options: tuple[str, ...] = ()


class ToolCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A function that a person had the other program call, in OpenAI's terms: `arguments` is JSON in a string."""

    name: str
    arguments: str = "{}"
    id: str = ""


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the person said. `decision` is None for an answer to a plain question, or *only a question*.

    Times are UTC; `first_key_at` is None where nothing was typed. `edits` counts deletions while typing,
    `draft` is the longest text that was typed and then taken back. `usage` is what a model's answer cost. `calls` are
    functions that were called in place of words, where the one who asks offers any; `text` then tells them.
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
    """What an agent wants to do and why. `by` is set where a person did: in a take-over, in a demonstration.

    `instruction` is the low-level instruction of the step where it has one: what to do here, in words (DAC-Bench 2.4).
    `thinking` is what a model wrote before its answer, `thinking_source` where that stood (`reasoning_content`, a mark
    in its text); no model is ever sent it again.
    `stderr` is what a program wrote on its standard error before it proposed this, the middle of much left out.
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


def spent(proposals: Iterable[Proposed]) -> Spent | None:
    """What these proposals cost; None where no model was asked for any of them."""
    asked = [(proposed.usage, proposed.raw) for proposed in proposals if proposed.usage is not None]
    if not asked:
        return None
    total = total_usage([usage for usage, _ in asked])
    turns = [usage for usage, raw in asked if _is_counted(usage) or raw is not None]
    return Spent(
        turns=len(turns),
        calls=total.tries,
        prompt_tokens=total.prompt_tokens or 0,
        completion_tokens=total.completion_tokens or 0,
        cached_tokens=total.cached_tokens or 0,
        cost=total.cost,
        unpriced=sum(usage.cost is None for usage in turns),
        seconds=None if total.seconds is None else round(total.seconds, 3),
        uncounted=sum(not _is_counted(usage) for usage in turns),
        without=total.without,
    )


def _is_counted(usage: Usage) -> bool:
    return usage.prompt_tokens is not None or usage.completion_tokens is not None


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the gate let through: `action` is what is done, None where it was rejected. `seconds` it took."""

    verdict: Literal["approve", "amend", "reject"]
    by: Actor
    action: Action | None = None
    note: str = ""
    seconds: float = 0.0
