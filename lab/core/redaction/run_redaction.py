"""Redaction of runs: words anywhere, text under boxes, and parts of pictures.

Pure functions from events to events. `store.erasing.run_redaction` paints the pictures and destroys the originals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.redaction.text_redaction import MASK, TextRedaction
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.step import Action, Observation, Prompt, Proposed
from lab.core.run.trace import AnyEvent, Asked, Ended, Resumed, Started, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.study.proofreading import Review, action_of, plain_value
from lab.core.task.task import Actor
from lab.core.text.read_text import has_no_text

ReadTree = Callable[[str], UiTree | None]
"""Callback that returns a picture's OCR lines as a tree, by its sha256, or None if it cannot be read."""
EVERYTHING = Bounds(0, 0, 1 << 30, 1 << 30)
"""A box that covers a picture of any size."""
_MIN_OVERLAP = 0.1
"""Minimum overlap of a node and a box, as a share of the smaller one, for the node to count as under the box."""


# -- what lies where -------------------------------------------------------------------------------------------


class RunRedactions(NamedTuple):
    """The redactions of a set of runs: painted parts and boxes by a picture's sha256, and words to cover.

    Boxes also cover the nodes of the tree under them.
    """

    paints: dict[str, tuple[Bounds, ...]]
    boxes: dict[str, tuple[Bounds, ...]]
    words: tuple[str, ...]
    unseen: int
    """Number of pictures without a tree, in which only boxes cover words."""
    lines: tuple[UiTree, ...] = ()
    """Lines of each picture whose words OCR read. Misread words are not covered."""


def boxes_of(events: Sequence[AnyEvent], boxes: Mapping[int, Sequence[Bounds]]) -> dict[str, tuple[Bounds, ...]]:
    """Convert boxes by step (from 0, where the number of steps means the last screen) to boxes by picture."""
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
            problem = f"step {step + 1} has no picture to cover a part of."
            if step not in pictures:
                problem = f"there is no step {step + 1}: the last screen is {len(pictures)}."
            raise LabError("redact", problem, code=2)
        by_tree[sha256] = (*by_tree.get(sha256, ()), *step_boxes)
    return by_tree


def plan_redactions(
    runs: Iterable[Sequence[AnyEvent]],
    boxes: Mapping[str, tuple[Bounds, ...]],
    words: Sequence[str],
    read_tree: ReadTree | None = None,
) -> RunRedactions:
    """Plan which parts of which pictures to paint: the boxes, and each node that contains the words.

    `read_tree` returns the OCR lines of a picture whose tree has no text.

    From the first painted step on, a picture made for a model is painted whole, because it may show any part of any
    screen.
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
            if words and has_no_text(tree) and screen.image not in lines and read_tree is not None:
                lines |= {screen.image: text_tree} if (text_tree := read_tree(screen.image)) is not None else {}
            if tree is None and words and screen.image not in lines:
                unseen.add(screen.image)
            also = cloak.with_words(texts_under(tree, boxes.get(screen.image, ())))
            more = tuple(dict.fromkeys(node.bounds for node in nodes_with_words(tree, also)))
            more += tuple(_enlarge(node.bounds) for node in nodes_with_words(lines.get(screen.image), cloak))
            if more:
                paints[screen.image] = (*paints.get(screen.image, ()), *more)
    for events in runs:
        paints |= dict.fromkeys(_model_pictures(events, paints), (EVERYTHING,))
    return RunRedactions(paints, dict(boxes), cloak.words, len(unseen - set(paints)), tuple(lines.values()))


def _enlarge(line: Bounds) -> Bounds:
    """Enlarge the box of an OCR line a little, because it may cut its letters."""
    more = max(4, line.height // 5)
    return Bounds(max(0, line.left - more), max(0, line.top - more), line.right + more, line.bottom + more)


def extend_to_adjacent(
    events: Sequence[AnyEvent], planned: RunRedactions, alike: Callable[[str, str, Bounds], bool]
) -> RunRedactions:
    """Extend the plan to each adjacent picture in which a part painted for its words still looks the same.

    A tree omits the dimmed content behind a dialog, where the words are still readable. `alike` compares a part of two
    pictures. A tree with other texts at that place overrides it.
    """
    paints = dict(planned.paints)
    screens = [one for event in events if not isinstance(event, Asked) for one in observations(event) if one.image]
    # The part may be visible on screens before or after the one with the words.
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
            # A screenshot that the prompt sends unchanged is painted as a screen.
            hashes |= set(event.proposed.prompt.images) - screens
    return hashes


def observations(event: AnyEvent) -> list[Observation]:
    """Return the screens of an event."""
    match event:
        case Asked() | Step():
            return [event.before]
        case Ended():
            return [event.final] if event.final is not None else []
    return []


def nodes_with_words(tree: UiTree | None, cloak: TextRedaction) -> list[Node]:
    """Return the innermost nodes on the screen that contain the words."""
    if tree is None:
        return []
    nodes = [node for node in tree.nodes() if cloak.matches(node.text) or cloak.matches(node.desc)]
    inner = {id(node) for node in nodes}
    outer = {id(node) for node in nodes if any(id(below) in inner for below in list(node.walk())[1:])}
    return [node for node in nodes if id(node) not in outer and node.bounds.area]


def is_under_boxes(node: Node, boxes: Iterable[Bounds]) -> bool:
    """Return True if a node is under one of the boxes."""
    areas = ((node.bounds.intersection(box).area, min(node.bounds.area, box.area)) for box in boxes)
    return any(least and overlap >= _MIN_OVERLAP * least for overlap, least in areas)


def texts_under(tree: UiTree | None, boxes: Sequence[Bounds]) -> list[str]:
    """Return the texts of the nodes under boxes."""
    if tree is None or not boxes:
        return []
    return [
        text for node in tree.nodes() if is_under_boxes(node, boxes) for text in (node.text, node.desc) if text.strip()
    ]


# -- doing it --------------------------------------------------------------------------------------------------


class Redactor:
    """Apply the planned redactions to a set of runs. `pictures` and `ids` map original sha256s and run ids to new ones.

    It counts the covered `nodes` and `texts` and the removed phone `states`.
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
        """Number of covered occurrences of words."""
        return self.cloak.count

    def events(self, events: Sequence[AnyEvent]) -> list[AnyEvent]:
        """Return a run's events, covered and without the phone's states, which hold more than was ever visible."""
        local, steps = self.local_words(events), _step_count(events)
        return [
            self._cover_event(event, self.cloak.with_words(local.get(_step_of(event, steps), ()))) for event in events
        ]

    def review(self, row: Review, events: Sequence[AnyEvent], ids: Callable[[str], str]) -> Review:
        """Return a review, covered and about the new run. `ids` maps old row ids to new ones."""
        cloak = self.cloak.with_words(self.local_words(events).get(row.step if row.step is not None else -1, ()))
        return msgspec.structs.replace(
            row,
            id=ids(row.id),
            trace=self.ids[row.trace],
            supersedes=ids(row.supersedes) if row.supersedes else None,
            old=_cover_value(row, row.old, cloak),
            new=_cover_value(row, row.new, cloak),
            note=cloak.mask(row.note),
        )

    def shadow(self, row: ShadowAnswer, events: Sequence[AnyEvent], ids: Callable[[str], str]) -> ShadowAnswer:
        """Return a shadow answer, covered and about the new run. `ids` maps old row ids to new ones."""
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
        """Return the texts under each step's boxes and the text typed there. The number of steps is the last screen."""
        by_step: dict[int, list[str]] = {}
        steps = _step_count(events)
        for event in events:
            for screen in observations(event):
                boxes = self.plan.boxes.get(screen.image or "", ())
                words = texts_under(screen.tree, boxes)
                if boxes and isinstance(event, Asked | Step):
                    words += _texts_typed_under(event, boxes)
                by_step.setdefault(_step_of(event, steps), []).extend(words)
        return by_step

    def _cover_event(self, event: AnyEvent, cloak: TextRedaction) -> AnyEvent:
        match event:
            case Started():
                self.states += event.state is not None
                parent = self.ids.get(event.parent or "", event.parent)
                agent = self._rename_replay(event.agent)
                event = msgspec.structs.replace(
                    event, trace=self.ids[event.trace], parent=parent, agent=agent, state=None
                )
            case Resumed():
                event = msgspec.structs.replace(event, by=self._rename_replay(event.by))
            case Asked():
                event = msgspec.structs.replace(event, before=self._cover_screen(event.before))
            case Step():
                self.states += event.state is not None
                event = msgspec.structs.replace(event, before=self._cover_screen(event.before), state=None)
            case Ended() if event.final is not None:
                event = msgspec.structs.replace(event, final=self._cover_screen(event.final))
        covered: AnyEvent = cloak.cover(event)
        if isinstance(covered, Asked | Step):
            covered = msgspec.structs.replace(covered, proposed=self._replace_images(covered.proposed))
        return covered

    def _rename_replay(self, actor: Actor) -> Actor:
        """Return an agent that replays one of the runs (`recorded:ID`) with that run's new id."""
        kind, _, run = actor.id.partition(":")
        is_replay = actor.kind == "script" and kind == "recorded" and run in self.ids
        return msgspec.structs.replace(actor, id=f"{kind}:{self.ids[run]}") if is_replay else actor

    def _cover_screen(self, screen: Observation) -> Observation:
        boxes = self.plan.boxes.get(screen.image or "", ())
        tree = screen.tree
        if tree is not None:
            tree = msgspec.structs.replace(tree, roots=tuple(self._cover_node(root, boxes) for root in tree.roots))
        return msgspec.structs.replace(screen, image=self.pictures.get(screen.image or "", screen.image), tree=tree)

    def _cover_node(self, node: Node, boxes: Sequence[Bounds]) -> Node:
        """Cover a node: all of its text if it is under a box, else the words in it."""
        children = tuple(self._cover_node(child, boxes) for child in node.children)
        if is_under_boxes(node, boxes):
            text, desc = MASK if node.text.strip() else node.text, MASK if node.desc.strip() else node.desc
        else:
            text, desc = self.cloak.mask(node.text), self.cloak.mask(node.desc)
        self.nodes += (text, desc) != (node.text, node.desc)
        return msgspec.structs.replace(node, text=text, desc=desc, id=self.cloak.mask(node.id), children=children)

    def _replace_images(self, proposed: Proposed) -> Proposed:
        prompt = proposed.prompt
        if prompt is None:
            return proposed
        images = tuple(self.pictures.get(image, image) for image in prompt.images)
        return msgspec.structs.replace(proposed, prompt=Prompt(prompt.text, images))


def _step_count(events: Sequence[AnyEvent]) -> int:
    return sum(isinstance(event, Step) for event in events)


def _step_of(event: AnyEvent, steps: int) -> int:
    """Return the step of an event: the number of steps for the end, -1 for events without one."""
    return steps if isinstance(event, Ended) else getattr(event, "index", -1)


def _texts_typed_under(event: Asked | Step, boxes: Sequence[Bounds]) -> list[str]:
    actions: list[Action | None] = [event.proposed.action, event.decision.action if event.decision else None]
    tree = event.before.tree
    texts = []
    for action in actions:
        if action is None or action.kind != "input_text" or not action.text:
            continue
        focus_nodes = [node for node in tree.nodes() if node.focused] if tree is not None else []
        hits_box = any(box.contains(*action.at) for box in boxes) if action.at is not None else False
        if hits_box or any(is_under_boxes(node, boxes) for node in focus_nodes):
            texts.append(action.text)
    return texts


def _cover_value(row: Review, value: Any, cloak: TextRedaction) -> Any:
    """Cover a value of a review. An action stays an action."""
    if row.field == "action" and value is not None:
        return plain_value(cloak.cover(action_of(value)))
    return cloak.cover(value)
