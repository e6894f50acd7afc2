"""Comparison of two stored runs: their steps in words, aligned, with the first difference.

Corresponding steps are paired by a global alignment (Needleman and Wunsch, 1970) over the actions. A pair of steps
costs its dissimilarity, 0 to `WHOLE`, and a step without a partner costs `GAP`. Two such steps cost more than any pair,
so steps at the same position are paired however different they are, and steps stay alone only if one run has more of
them. The same two runs always give the same alignment, and swapping them gives its mirror image.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lab.core.run.agent_names import shortest_names
from lab.core.run.step import Action, Point, Reply
from lab.core.run.trace import AnyEvent, Asked, Ended, Started, Step
from lab.core.run.ui_tree import UiTree
from lab.core.text.plain_text import fold_text, plain
from lab.runs.descriptions import (
    action_words,
    box_middle,
    format_dollars,
    one_line,
    score_words,
    status_words,
    target_name,
)
from lab.runs.listing.run_rows import Cost, cost_of
from lab.runs.replay.recorded_run import RecordedRun, RunHead

if TYPE_CHECKING:
    from store.store import Store

NOTHING = "no step"


class ComparedPlace(NamedTuple):
    """A step of a run in words, the question it waits at, or its end."""

    words: str
    act: ComparableStep


class Side(NamedTuple):
    """One of the two runs. `places` match the lines of `recording` one by one, and the last is its end if it has one.

    `name` is the agent's shortest name that differs from the other side's.
    """

    recording: RecordedRun
    head: RunHead
    places: list[ComparedPlace]
    ended: Ended | None
    cost: Cost
    name: str

    @property
    def start_event(self) -> Started:
        return self.head.started

    @property
    def steps(self) -> int:
        return len(self.places) - (self.ended is not None)

    @property
    def steps_taken(self) -> int:
        """Number of steps, without a question that the run waits at."""
        return sum(line.kind == "step" for line in self.recording.lines)

    @property
    def acts(self) -> list[ComparableStep]:
        """The actions, step by step."""
        return [place.act for place in self.places[: self.steps]]

    @property
    def task(self) -> str:
        """The task's title, or its id."""
        return one_line(self.start_event.task.title or self.start_event.task.id, 120)

    @property
    def facts(self) -> str:
        """Score, status, steps and cost in one line."""
        score = self.ended.score if self.ended is not None else None
        status = status_words(self.ended.status if self.ended is not None else "open")
        tokens = "" if self.cost.tokens is None else f"{self.cost.tokens:,} tokens"
        price = "" if self.cost.dollars is None else format_dollars(self.cost.dollars)
        score_text = "no score" if score is None else f"score {score_words(score)}"
        steps = f"{self.steps_taken:,} step{'' if self.steps_taken == 1 else 's'}"
        return "   ".join(part for part in (score_text, status, steps, tokens, price) if part)


class RunComparison(NamedTuple):
    """Two runs and their pairs. `starts` are the indices at which they begin to differ, empty if they are equal."""

    left: Side
    right: Side
    pairs: list[Pair]
    starts: list[int]

    @property
    def first_difference(self) -> int | None:
        """The first pair (from 0) in which they differ, None if they are equal."""
        return self.starts[0] if self.starts else None

    @property
    def size_words(self) -> str:
        """Number of differing stretches, or of differing places for two tasks, which share few steps."""
        if not self.same_task:
            return f"two tasks: {sum(not pair.same for pair in self.pairs)} of {len(self.pairs)} places differ"
        return f"{len(self.starts)} difference{'' if len(self.starts) == 1 else 's'}"

    @property
    def same_task(self) -> bool:
        return self.left.start_event.task.id == self.right.start_event.task.id

    def words(self, index: int) -> tuple[str, str]:
        """Return the words of both sides of a pair."""
        pair = self.pairs[index]
        return _place_words(self.left, pair.left), _place_words(self.right, pair.right)

    def is_end(self, index: int) -> bool:
        """Return True if a pair is that of the runs' ends."""
        pair = self.pairs[index]
        return pair.left == self.left.steps or pair.right == self.right.steps

    def swapped(self) -> RunComparison:
        """Return the comparison with its sides exchanged."""
        pairs = [Pair(pair.right, pair.left, pair.same) for pair in self.pairs]
        return RunComparison(self.right, self.left, pairs, self.starts)


def sign_of(comparison: RunComparison, index: int) -> str:
    """Return a pair's sign: `=` equal, `≠` different, `←` or `→` a step of the left or right run alone."""
    pair = comparison.pairs[index]
    return "=" if pair.same else "←" if pair.right is None else "→" if pair.left is None else "≠"


def compare(store: Store, left: str, right: str) -> RunComparison:
    """Read two runs and compare them. Raise `LabError` if one is unreadable."""
    one, other = _read_side(store, left), _read_side(store, right)
    names = shortest_names([one.start_event.agent, other.start_event.agent])
    one, other = (side._replace(name=one_line(names[side.start_event.agent.identity], 60)) for side in (one, other))
    pairs = align(
        [place.act for place in one.places[: one.steps]], [place.act for place in other.places[: other.steps]]
    )
    ends = one.ended, other.ended
    if any(ends):
        pairs.append(
            Pair(
                one.steps if one.ended else None,
                other.steps if other.ended else None,
                all(ends) and one.places[-1].act == other.places[-1].act,
            )
        )
    return RunComparison(one, other, pairs, differences(pairs))


def _read_side(store: Store, run: str) -> Side:
    """Read one run, each of its steps once."""
    reel = RecordedRun(store.runs, run)
    head = reel.head()
    for lines in reel.read():
        reel.lines.extend(lines)
    places: list[ComparedPlace] = []
    ended: Ended | None = None
    for event in _shown_events(store.runs.events(run)):
        if isinstance(event, Ended):
            ended = event
            places.append(ComparedPlace(_end_words(event), ComparableStep("end", text=f"{event.status} {event.score}")))
        else:
            places.append(_compared_place(event))
    cost = cost_of(next(iter(store.runs.measured([run]))))
    # A live run may have grown since its lines were read.
    return Side(reel, head, places[: len(reel.lines)], ended, cost, head.started.agent.identity)


def _shown_events(events: Iterator[AnyEvent]) -> Iterator[Step | Asked | Ended]:
    """Yield the events with lines in a reel: steps, the question that a run waits at, the end."""
    asked_event: Asked | None = None
    for event in events:
        if isinstance(event, Asked):
            asked_event = event
        elif isinstance(event, Step | Ended):
            asked_event = None
            yield event
    if asked_event is not None:
        yield asked_event


def _compared_place(event: Step | Asked) -> ComparedPlace:
    """Describe the performed action, or the proposed one if nothing was let through."""
    action = event.proposed.action
    action_done = action if event.decision is None else event.decision.action
    tree: UiTree | None = event.before.tree
    reply = event.reply if isinstance(event, Step) else None
    shown_action = action_done or action
    words = action_words(shown_action, tree) + (" (refused)" if action_done is None else "") + _reply_words(reply)
    at = shown_action.at
    act = comparable_step(
        shown_action, event.before.size, target_name(tree, at), _reply_words(reply), held=action_done is None
    )
    return ComparedPlace(words, act)


def _reply_words(reply: Reply | None) -> str:
    if reply is None:
        return ""
    decision = {"accept": "accepted", "reject": "refused", None: ""}[reply.decision]
    reply_text = f'"{one_line(reply.text)}"' if reply.text else ""
    return f" → {' '.join(part for part in (decision, reply_text) if part) or 'nothing'}"


def _end_words(ended: Ended) -> str:
    score = "" if ended.score is None else f"score {score_words(ended.score)}, "
    return f"end: {score}{status_words(ended.status)}"


def _place_words(side: Side, place: int | None) -> str:
    return NOTHING if place is None else plain(side.places[place].words, lines=False)


GAP = 600
"""Cost of a step without a partner. A pair costs from 0 to `WHOLE`."""
WHOLE = 1000
NEAR = 0.04
"""Maximum distance of two equal touches, as a share of the screen's width and height."""
FAR = 0.25
"""Distance from which two touches have nothing in common."""
_CELLS = 2_000_000
"""Maximum number of pairs of steps to compare. In longer runs only steps at about the same relative position are."""

_POINTED = frozenset({"click", "double_tap", "long_press"})
_MOVED = frozenset({"scroll", "swipe", "drag"})
_ENDING = frozenset({"answer", "status"})
_PHONE: Point = (1080, 2400)
"""Assumed screen size if nobody recorded it."""
_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


class ComparableStep(NamedTuple):
    """The action of one step, as far as it is comparable with another run's.

    `target` is the name of the touched element. `place` and `to` are shares of the screen's width and height.
    `direction` is the direction in which the content moves. `text` is the typed, asked or said text, the opened app, or
    the reported status. `reply` is the user's reply. `blocked` is True if nothing of the action was let through to the
    phone.
    """

    kind: str
    target: str = ""
    place: tuple[float, float] | None = None
    to: tuple[float, float] | None = None
    direction: str = ""
    text: str = ""
    reply: str = ""
    blocked: bool = False


class Pair(NamedTuple):
    """Steps (from 0) side by side, or None if a run has none there. `same` is true if both did the same."""

    left: int | None
    right: int | None
    same: bool


def comparable_step(
    action: Action, size: Point | None, target: str = "", reply: str = "", *, held: bool = False
) -> ComparableStep:
    """Return an action in comparable form. `size` is its screen in pixels, `target` the name of the touched element."""
    at, kind = action.at or box_middle(action), action.kind
    text = action.text or ""
    if kind == "drag" and action.at == action.to:
        kind = "long_press"  # as sources write it that have no other word
    if action.kind == "open_app":
        text = action.app or text
    elif action.kind == "status":
        text = action.status or ""
    elif action.kind == "other" or (action.kind in _POINTED and at is None):
        text = text if action.raw is None else repr(action.raw)
    return ComparableStep(
        kind,
        fold_text(target),
        _share_of_screen(at, size),
        _share_of_screen(action.to, size),
        _content_direction(action),
        fold_text(text),
        fold_text(reply),
        held,
    )


def align(left: Sequence[ComparableStep], right: Sequence[ComparableStep]) -> list[Pair]:
    """Return every step of both runs in order, beside its counterpart.

    Equal beginnings and ends are paired directly, because one of the cheapest alignments always does so.
    """
    # One canonical order, so that swapping the runs gives the mirror image also between equal costs.
    if [*map(repr, right)] < [*map(repr, left)]:
        return [Pair(pair.right, pair.left, pair.same) for pair in align(right, left)]
    head = 0
    while head < min(len(left), len(right)) and not dissimilarity(left[head], right[head]):
        head += 1
    tail = 0
    while tail < min(len(left), len(right)) - head and not dissimilarity(left[-1 - tail], right[-1 - tail]):
        tail += 1
    m, n = len(left) - tail, len(right) - tail
    inner = _align_inner(left[head:m], right[head:n])
    return [
        *(Pair(i, i, True) for i in range(head)),
        *(_shift_pair(pair, head) for pair in inner),
        *(Pair(m + i, n + i, True) for i in range(tail)),
    ]


def differences(pairs: Sequence[Pair]) -> list[int]:
    """Return the index (from 0) at which each stretch of differing pairs begins."""
    return [i for i, pair in enumerate(pairs) if not pair.same and (i == 0 or pairs[i - 1].same)]


def dissimilarity(one: ComparableStep, other: ComparableStep) -> int:
    """Return the dissimilarity of two actions: 0 if equal, `WHOLE` if they have nothing in common. Symmetric."""
    if one == other:
        return 0
    cost = _action_cost(one, other)
    reply_differs = (one.reply, one.blocked) != (other.reply, other.blocked)
    return max(cost, WHOLE // 10) if reply_differs else cost


def _action_cost(one: ComparableStep, other: ComparableStep) -> int:
    kinds = {one.kind, other.kind}
    if kinds <= _POINTED:
        return _touch_cost(one, other, slight=len(kinds) > 1)
    if kinds <= _MOVED:
        return _move_cost(one, other)
    if len(kinds) > 1:
        return WHOLE * 7 // 10 if kinds <= _ENDING else WHOLE
    return (
        0
        if one.text == other.text
        else WHOLE * 4 // 10 + round((1 - _text_similarity(one.text, other.text)) * WHOLE * 4 / 10)
    )


def _touch_cost(one: ComparableStep, other: ComparableStep, *, slight: bool) -> int:
    """Compare touches by the target's name, else by place. `slight` is true if the gestures differ."""
    if one.target and other.target:
        difference = 0.0 if one.target == other.target else 1.0
        near = _distance(one.place, other.place)
        difference = difference and (0.6 if near is not None and near <= NEAR else 1.0)
    else:
        distance = _distance(one.place, other.place)
        if distance is None:
            difference = 0.0 if one.place == other.place and one.text == other.text else 1.0
        else:
            difference = 0.0 if distance <= NEAR else min(1.0, 0.3 + 0.7 * (distance - NEAR) / (FAR - NEAR))
    return max(round(difference * WHOLE * 8 / 10), WHOLE * 3 // 10 if slight else 0)


def _move_cost(one: ComparableStep, other: ComparableStep) -> int:
    """Compare scrolls and swipes by the content's direction. A drag is equal if both its ends are near."""
    if "drag" in (one.kind, other.kind):
        ends = (_distance(one.place, other.place), _distance(one.to, other.to))
        near = one.kind == other.kind and all(end is not None and end <= NEAR for end in ends)
        return 0 if near else WHOLE * 6 // 10
    return 0 if one.direction == other.direction else WHOLE * 6 // 10


def _distance(one: tuple[float, float] | None, other: tuple[float, float] | None) -> float | None:
    """Return the distance of two places, or None if one is unknown."""
    if one is None or other is None:
        return None
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


def _text_similarity(one: str, other: str) -> float:
    """Return the share of neighbouring character pairs that two texts share (Dice, 1945), 0 to 1."""
    a, b = Counter(pairwise(one)), Counter(pairwise(other))
    whole = a.total() + b.total()
    return 2 * (a & b).total() / whole if whole else 0.0


# -- beneath -------------------------------------------------------------------------------------------------


def _align_inner(left: Sequence[ComparableStep], right: Sequence[ComparableStep]) -> list[Pair]:
    """Align the parts between equal ends by dynamic programming."""
    m, n = len(left), len(right)
    # In long runs only a band around the diagonal is computed.
    reach = n if m * n <= _CELLS else max(abs(m - n), _CELLS // max(m, n) // 2)
    # More than any alignment costs, for the cells outside of the band.
    never = WHOLE * (m + n + 1)
    # Equal steps recur within a run, so each pair of them is compared once.
    costs: dict[ComparableStep, dict[ComparableStep, int]] = {act: {} for act in left}
    above = [j * GAP for j in range(n + 1)]
    directions: list[bytearray] = []
    for i in range(1, m + 1):
        current, directions_row = [never] * (n + 1), bytearray(n + 1)
        current[0] = i * GAP
        act, middle = left[i - 1], i * n // m
        row = costs[act]
        for j in range(max(1, middle - reach), min(n, middle + reach) + 1):
            other = right[j - 1]
            cost = row.get(other)
            if cost is None:
                cost = row[other] = dissimilarity(act, other)
            paired, left_alone, right_alone = above[j - 1] + cost, above[j] + GAP, current[j - 1] + GAP
            best = min(paired, left_alone, right_alone)
            # Of ways that cost the same, the one that pairs steps as early as it can: it is read from the beginning.
            current[j], directions_row[j] = best, 1 if best == left_alone else 2 if best == right_alone else 0
        directions.append(directions_row)
        above = current
    return _trace_back(directions, left, right, costs)


def _trace_back(
    directions: list[bytearray],
    left: Sequence[ComparableStep],
    right: Sequence[ComparableStep],
    costs: dict[ComparableStep, dict[ComparableStep, int]],
) -> list[Pair]:
    """Trace the cheapest way back from its end, and return it in forward order."""
    pairs: list[Pair] = []
    i, j = len(left), len(right)
    while i or j:
        direction = 2 if not i else 1 if not j else directions[i - 1][j]
        i, j = i - (direction != 2), j - (direction != 1)
        if direction == 0:
            pairs.append(Pair(i, j, not costs[left[i]][right[j]]))
        else:
            pairs.append(Pair(i, None, False) if direction == 1 else Pair(None, j, False))
    return pairs[::-1]


def _shift_pair(pair: Pair, by: int) -> Pair:
    left, right = pair.left, pair.right
    return Pair(None if left is None else left + by, None if right is None else right + by, pair.same)


def _share_of_screen(at: Point | None, size: Point | None) -> tuple[float, float] | None:
    if at is None:
        return None
    width, height = size if size is not None and min(size) > 0 else _PHONE
    return at[0] / width, at[1] / height


def _content_direction(action: Action) -> str:
    """Return the content's direction: a scroll's own, a swipe's reversed, else from the vector."""
    if action.kind not in ("scroll", "swipe"):
        return ""
    if action.direction is not None:
        return action.direction if action.kind == "scroll" else _OPPOSITE[action.direction]
    x, y = action.vector or (0, 0)
    if action.vector is None and action.at is not None and action.to is not None:
        x, y = action.to[0] - action.at[0], action.to[1] - action.at[1]
    if not math.hypot(x, y):
        return ""
    finger = ("right" if x > 0 else "left") if abs(x) > abs(y) else ("down" if y > 0 else "up")
    return _OPPOSITE[finger]
