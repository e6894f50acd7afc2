"""Comparison of two stored runs: their steps in words, aligned, with the first difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from lab.core.agent_names import shortest_names
from lab.core.plain_text import plain
from lab.core.step import Reply
from lab.core.trace import AnyEvent, Asked, Ended, Started, Step
from lab.core.ui_tree import UiTree
from lab.runs.alignment import ComparableStep, Pair, align, comparable_step, differences
from lab.runs.descriptions import action_words, format_dollars, one_line, score_words, status_words, target_name
from lab.runs.recorded_run import RecordedRun, RunHead
from lab.runs.run_rows import Cost, cost_of

if TYPE_CHECKING:
    from store.store import Store

NOTHING = "no step"


class ComparedPlace(NamedTuple):
    """A step of a run in words, the question it waits at, or its end."""

    words: str
    act: ComparableStep


class Side(NamedTuple):
    """One of the two runs. `places` match the lines of `reel` one by one, and the last is its end if it has one.

    `name` is the agent's shortest name that differs from the other side's.
    """

    recording: RecordedRun
    head: RunHead
    places: list[ComparedPlace]
    ended: Ended | None
    cost: Cost
    name: str

    @property
    def started(self) -> Started:
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
        return one_line(self.started.task.title or self.started.task.id, 120)

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
    def first(self) -> int | None:
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
        return self.left.started.task.id == self.right.started.task.id

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
    names = shortest_names([one.started.agent, other.started.agent])
    one, other = (side._replace(name=one_line(names[side.started.agent.identity], 60)) for side in (one, other))
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
