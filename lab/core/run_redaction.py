"""What of runs is covered: words wherever they stand, what lies under boxes, and which parts of which pictures.

Pure: events go in and come out; the pictures are painted, and the originals destroyed, by `store.run_redaction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.proofreading import Review, action_of, plain_value
from lab.core.read_text import says_nothing
from lab.core.shadow_answer import ShadowAnswer
from lab.core.step import Action, Observation, Prompt, Proposed
from lab.core.task import Actor
from lab.core.text_redaction import MASK, TextRedaction
from lab.core.trace import AnyEvent, Asked, Ended, Resumed, Started, Step
from lab.core.ui_tree import Bounds, Node, UiTree

ReadTree = Callable[[str], UiTree | None]
"""Gives of a picture (by sha256) the lines that were read from it, as a tree; None where it cannot be read."""
EVERYTHING = Bounds(0, 0, 1 << 30, 1 << 30)
"""A box over the whole of a picture of any size."""
_SHARE = 0.1
"""A node lies under a box where they share this much of the smaller one."""


# -- what lies where -------------------------------------------------------------------------------------------


class RunRedactions(NamedTuple):
    """What is to be done to a set of runs: parts of pictures by sha256, boxes over trees likewise, words by step."""

    paints: dict[str, tuple[Bounds, ...]]
    boxes: dict[str, tuple[Bounds, ...]]
    words: tuple[str, ...]
    unseen: int
    """Pictures without a tree, in which words can only be covered by a box."""
    read: int = 0
    """Pictures whose words were read from them: what was misread is not covered."""


def boxes_of(events: Sequence[AnyEvent], boxes: Mapping[int, Sequence[Bounds]]) -> dict[str, tuple[Bounds, ...]]:
    """Boxes given by step (from 0; the number of steps is the last screen) as boxes by picture."""
    pictures: dict[int, str | None] = {}
    for event in events:
        if isinstance(event, Step):
            pictures[event.index] = event.before.image
        elif isinstance(event, Ended):
            pictures[len(pictures)] = event.final.image if event.final else None
    by_tree: dict[str, tuple[Bounds, ...]] = {}
    for step, step_boxes in boxes.items():
        if any(box.area == 0 for box in step_boxes):
            raise LabError("redact", f"a box of step {step + 1} is empty.", "Write left,top,right,bottom.", code=2)
        sha256 = pictures.get(step)
        if sha256 is None:
            raise LabError("redact", f"step {step + 1} has no picture to cover a part of.", code=2)
        by_tree[sha256] = (*by_tree.get(sha256, ()), *step_boxes)
    return by_tree


def plan(
    runs: Iterable[Sequence[AnyEvent]],
    boxes: Mapping[str, tuple[Bounds, ...]],
    words: Sequence[str],
    read_tree: ReadTree | None = None,
) -> RunRedactions:
    """Which parts of which pictures are painted: the boxes, and each node in which the words stand.

    Of a picture whose screen says no word, `read_tree` gives the lines that stand in it, where they can be read.

    A picture made for a model is painted whole from the first painted step on: it may show any part of any screen.
    """
    cloak = TextRedaction(words)
    paints: dict[str, tuple[Bounds, ...]] = dict(boxes)
    unseen, lines = set[str](), dict[str, UiTree]()
    runs = list(runs)
    for event in (event for events in runs for event in events):
        for screen in observations(event):
            if screen.image is None:
                continue
            tree = screen.tree
            if words and says_nothing(tree) and screen.image not in lines and read_tree is not None:
                lines |= {screen.image: text_tree} if (text_tree := read_tree(screen.image)) is not None else {}
            if tree is None and words and screen.image not in lines:
                unseen.add(screen.image)
            also = cloak.with_words(texts_under(tree, boxes.get(screen.image, ())))
            more = tuple(dict.fromkeys(node.bounds for node in holding(tree, also)))
            more += tuple(_around(node.bounds) for node in holding(lines.get(screen.image), cloak))
            if more:
                paints[screen.image] = (*paints.get(screen.image, ()), *more)
    for events in runs:
        paints |= dict.fromkeys(_model_pictures(events, paints), (EVERYTHING,))
    return RunRedactions(paints, dict(boxes), cloak.words, len(unseen - set(paints)), len(lines))


def _around(line: Bounds) -> Bounds:
    """A line that was read, and a little around it: its box may cut its letters."""
    more = max(4, line.height // 5)
    return Bounds(max(0, line.left - more), max(0, line.top - more), line.right + more, line.bottom + more)


def spread(
    events: Sequence[AnyEvent], planned: RunRedactions, alike: Callable[[str, str, Bounds], bool]
) -> RunRedactions:
    """The plan, and in each next or previous picture what was painted for its words and still looks the same there.

    A tree holds nothing of what lies dimmed behind a dialog, where the words can still be read. `alike` compares a part
    of two pictures; where the tree tells of other texts at that place, it is believed.
    """
    paints = dict(planned.paints)
    screens = [one for event in events if not isinstance(event, Asked) for one in observations(event) if one.image]
    for way in (screens, screens[::-1]):
        along: set[Bounds] = set()
        for before, now in pairwise(way):
            first, second = before.image or "", now.image or ""
            own = set(planned.paints.get(first, ())) - set(planned.boxes.get(first, ())) - {EVERYTHING}
            candidates = {part for part in own | along if first != second and not texts_under(now.tree, [part])}
            along = {part for part in candidates if alike(first, second, part)}
            new = tuple(sorted(along - set(paints.get(second, ()))))
            if new:
                paints[second] = (*paints.get(second, ()), *new)
    return planned._replace(paints=paints)


def _model_pictures(events: Sequence[AnyEvent], paints: Mapping[str, object]) -> set[str]:
    screens = {screen.image for event in events for screen in observations(event) if screen.image}
    hashes: set[str] = set()
    painted_before = False
    for event in events:
        painted_before = painted_before or any(screen.image in paints for screen in observations(event))
        if painted_before and isinstance(event, Step | Asked) and event.proposed.prompt is not None:
            hashes |= set(event.proposed.prompt.images) - screens
    return hashes


def observations(event: AnyEvent) -> list[Observation]:
    """The screens that an event keeps."""
    match event:
        case Asked() | Step():
            return [event.before]
        case Ended():
            return [event.final] if event.final is not None else []
    return []


def holding(tree: UiTree | None, cloak: TextRedaction) -> list[Node]:
    """The innermost nodes in which the words stand, and which have a place on the screen."""
    if tree is None:
        return []
    nodes = [node for node in tree.nodes() if cloak.holds(node.text) or cloak.holds(node.desc)]
    inner = {id(node) for node in nodes}
    outer = {id(node) for node in nodes if any(id(below) in inner for below in list(node.walk())[1:])}
    return [node for node in nodes if id(node) not in outer and node.bounds.area]


def under(node: Node, boxes: Iterable[Bounds]) -> bool:
    """Whether a node lies under one of the boxes."""
    areas = ((node.bounds.cut(box).area, min(node.bounds.area, box.area)) for box in boxes)
    return any(least and overlap >= _SHARE * least for overlap, least in areas)


def texts_under(tree: UiTree | None, boxes: Sequence[Bounds]) -> list[str]:
    """What can be read under boxes."""
    if tree is None or not boxes:
        return []
    return [text for node in tree.nodes() if under(node, boxes) for text in (node.text, node.desc) if text.strip()]


# -- doing it --------------------------------------------------------------------------------------------------


class Redactor:
    """One set of runs, covered as planned: `pictures` are the painted ones' sha256 by the originals', `ids` the runs'.

    It counts the `nodes`, `texts` and phone `states` that were covered or left out on the way.
    """

    def __init__(self, plan: RunRedactions, pictures: Mapping[str, str], ids: Mapping[str, str]) -> None:
        self.plan = plan
        self.pictures = pictures
        self.ids = ids
        self.cloak = TextRedaction(plan.words, ids)
        self.nodes = 0
        self.states = 0

    @property
    def texts(self) -> int:
        """How often words were covered."""
        return self.cloak.count

    def events(self, events: Sequence[AnyEvent]) -> list[AnyEvent]:
        """A run's events, covered; the phone's states, which hold more than was ever seen, are left out."""
        local, steps = self.local_words(events), _step_count(events)
        return [self._event(event, self.cloak.with_words(local.get(_index_of(event, steps), ()))) for event in events]

    def review(self, row: Review, events: Sequence[AnyEvent], ids: Callable[[str], str]) -> Review:
        """What was said in a review, covered, about the new run; `ids` gives each row's new id."""
        cloak = self.cloak.with_words(self.local_words(events).get(row.step if row.step is not None else -1, ()))
        return msgspec.structs.replace(
            row,
            id=ids(row.id),
            trace=self.ids[row.trace],
            supersedes=ids(row.supersedes) if row.supersedes else None,
            old=_covered_value(row, row.old, cloak),
            new=_covered_value(row, row.new, cloak),
            note=cloak.mask(row.note),
        )

    def shadow(self, row: ShadowAnswer, events: Sequence[AnyEvent], ids: Callable[[str], str]) -> ShadowAnswer:
        """What a model answered beside the run, covered, about the new run; `ids` gives each row's new id."""
        cloak = self.cloak.with_words(self.local_words(events).get(row.index, ()))
        return msgspec.structs.replace(
            row,
            id=ids(row.id),
            trace=self.ids[row.trace],
            supersedes=ids(row.supersedes) if row.supersedes else None,
            text=cloak.mask(row.text),
            why=cloak.mask(row.why),
        )

    def local_words(self, events: Sequence[AnyEvent]) -> dict[int, list[str]]:
        """By step (the number of steps is the last screen): the texts under its boxes, and what was typed under one."""
        by_step: dict[int, list[str]] = {}
        steps = _step_count(events)
        for event in events:
            for screen in observations(event):
                boxes = self.plan.boxes.get(screen.image or "", ())
                words = texts_under(screen.tree, boxes)
                if boxes and isinstance(event, Asked | Step):
                    words += _typed_under(event, boxes)
                by_step.setdefault(_index_of(event, steps), []).extend(words)
        return by_step

    def _event(self, event: AnyEvent, cloak: TextRedaction) -> AnyEvent:
        match event:
            case Started():
                self.states += event.state is not None
                parent = self.ids.get(event.parent or "", event.parent)
                agent = self._named_anew(event.agent)
                event = msgspec.structs.replace(
                    event, trace=self.ids[event.trace], parent=parent, agent=agent, state=None
                )
            case Resumed():
                event = msgspec.structs.replace(event, by=self._named_anew(event.by))
            case Asked():
                event = msgspec.structs.replace(event, before=self._seen(event.before))
            case Step():
                self.states += event.state is not None
                event = msgspec.structs.replace(event, before=self._seen(event.before), state=None)
            case Ended() if event.final is not None:
                event = msgspec.structs.replace(event, final=self._seen(event.final))
        covered: AnyEvent = cloak.cover(event)
        if isinstance(covered, Asked | Step):
            covered = msgspec.structs.replace(covered, proposed=self._sent(covered.proposed))
        return covered

    def _named_anew(self, actor: Actor) -> Actor:
        """An agent that plays one of the runs again (`recorded:ID`), by that run's new id."""
        kind, _, run = actor.id.partition(":")
        is_replay = actor.kind == "script" and kind == "recorded" and run in self.ids
        return msgspec.structs.replace(actor, id=f"{kind}:{self.ids[run]}") if is_replay else actor

    def _seen(self, screen: Observation) -> Observation:
        boxes = self.plan.boxes.get(screen.image or "", ())
        tree = screen.tree
        if tree is not None:
            tree = msgspec.structs.replace(tree, roots=tuple(self._node(root, boxes) for root in tree.roots))
        return msgspec.structs.replace(screen, image=self.pictures.get(screen.image or "", screen.image), tree=tree)

    def _node(self, node: Node, boxes: Sequence[Bounds]) -> Node:
        """A node covered: all of its text where it lies under a box, else the words in it."""
        children = tuple(self._node(child, boxes) for child in node.children)
        if under(node, boxes):
            text, desc = MASK if node.text.strip() else node.text, MASK if node.desc.strip() else node.desc
        else:
            text, desc = self.cloak.mask(node.text), self.cloak.mask(node.desc)
        self.nodes += (text, desc) != (node.text, node.desc)
        return msgspec.structs.replace(node, text=text, desc=desc, id=self.cloak.mask(node.id), children=children)

    def _sent(self, proposed: Proposed) -> Proposed:
        prompt = proposed.prompt
        if prompt is None:
            return proposed
        images = tuple(self.pictures.get(image, image) for image in prompt.images)
        return msgspec.structs.replace(proposed, prompt=Prompt(prompt.text, images))


def _step_count(events: Sequence[AnyEvent]) -> int:
    return sum(isinstance(event, Step) for event in events)


def _index_of(event: AnyEvent, steps: int) -> int:
    """The step that an event belongs to; the end to the screen after all steps, and -1 where it is of none."""
    return steps if isinstance(event, Ended) else getattr(event, "index", -1)


def _typed_under(event: Asked | Step, boxes: Sequence[Bounds]) -> list[str]:
    actions: list[Action | None] = [event.proposed.action, event.decision.action if event.decision else None]
    tree = event.before.tree
    texts = []
    for action in actions:
        if action is None or action.kind != "input_text" or not action.text:
            continue
        focus_nodes = [node for node in tree.nodes() if node.focused] if tree is not None else []
        there = any(box.holds(*action.at) for box in boxes) if action.at is not None else False
        if there or any(under(node, boxes) for node in focus_nodes):
            texts.append(action.text)
    return texts


def _covered_value(row: Review, value: Any, cloak: TextRedaction) -> Any:
    """A value that was reviewed, covered; an action stays one."""
    if row.field == "action" and value is not None:
        return plain_value(cloak.cover(action_of(value)))
    return cloak.cover(value)
