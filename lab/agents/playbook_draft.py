"""Draft a playbook from a run, for editing by hand. Targets are the words of what was touched."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, takewhile

import msgspec
from msgspec.structs import replace

from lab.agents.targets import Targets, field_at, is_field
from lab.core.errors import LabError
from lab.core.run.step import Action, Direction, Point
from lab.core.run.trace import Step, Trace
from lab.core.run.ui_tree import Node, UiTree
from lab.core.task.playbook import Do, MoveTarget, PlaybookMove, Typed

_LAUNCHER = "launcher"
_OPPOSITE: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}
_UP = ("Navigate up", "Back")
_BACK = ("navigate_back", "navigate_home")
_WIDTH = 120


def drafted(trace: Trace) -> tuple[Do, ...]:
    """Return the moves of a run without slips, the way back from them, and failed steps.

    Raise `LabError` with the step's number if no move can express it.
    """
    passed_over = {*trace.slips, *_ways_back(trace)}
    steps = [s for s in trace.steps if s.action is not None and s.error is None and s.index not in passed_over]
    after = {step.index: following.before.tree for step, following in pairwise(steps)}
    moves: list[Do] = []
    for step in steps:
        for move in _moves(trace, step, after.get(step.index)):
            _append_move(moves, move)
    if not moves:
        raise LabError(f"run {trace.id}", "holds no step that a playbook could say.")
    return tuple(moves)


def _ways_back(trace: Trace) -> Iterator[int]:
    """Yield steps after a slip that only returned (back or home) to the screen on which it was made."""
    for slip in trace.slips:
        before, later = trace.steps[slip].before.tree, trace.steps[slip + 1 :]
        back = list(takewhile(lambda s: s.index in trace.slips or (s.action and s.action.kind in _BACK), later))
        screens = [step.before.tree for step in later[: len(back) + 1]]
        if before is not None and before in screens:
            yield from (step.index for step in back[: screens.index(before)])


def as_yaml(moves: tuple[Do, ...]) -> str:
    """Return the moves in the YAML of a playbook file, one line per short move."""
    import yaml

    values = {"playbook": msgspec.to_builtins(moves)}
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=None)


def _append_move(moves: list[Do], move: Do) -> None:
    """Append a move. Merge it with the previous one if opening an app or typing already covers it."""
    before = moves[-1] if moves else None
    if isinstance(move, PlaybookMove) and move.open is not None:
        while moves and moves[-1] == "home":
            moves.pop()
    elif isinstance(before, PlaybookMove) and isinstance(move, PlaybookMove):
        if before.open is not None and move.tap in _UP:
            return
        if isinstance(before.type, Typed) and isinstance(move.type, Typed) and before.type.into == move.type.into:
            moves[-1] = replace(before, type=move.type)
            return
    moves.append(move)


def _moves(trace: Trace, step: Step, after: UiTree | None) -> Iterator[Do]:
    """Yield a step as moves. Yield nothing for what a playbook does by itself."""
    action, tree = step.action, step.before.tree
    assert action is not None
    why = _sentence(step.proposed.instruction)
    launcher = _LAUNCHER in step.before.activity
    match action.kind:
        case "navigate_home":
            yield "home"
        case "navigate_back":
            yield "back"
        case "keyboard_enter":
            yield "enter"
        case "wait":
            yield "wait"
        case "open_app":
            yield PlaybookMove(open=action.app or "")
        case "scroll" | "swipe" if launcher:
            return
        case "scroll" | "swipe":
            direction = action.direction or "down"
            yield PlaybookMove(scroll=direction if action.kind == "scroll" else _OPPOSITE[direction], why=why)
        case "click" | "long_press" if tree is not None and action.at is not None:
            yield from _touch_moves(action, tree, after, launcher, why)
        case "input_text":
            yield from _type_moves(action, tree, after, why)
        case "ask_user":
            text = action.text or ""
            yield PlaybookMove(offer=text) if trace.task.kind == "proactive" else PlaybookMove(ask=text)
        case "answer":
            yield PlaybookMove(answer=action.text or "")
        case "status":
            text = _sentence(step.proposed.thought)
            yield (
                PlaybookMove(infeasible=text)
                if action.status == "infeasible"
                else PlaybookMove(done=text or "That is done.")
            )
        case kind:
            hint = "Write the playbook by hand, or record it anew: a step that is marked as a slip there is left out."
            raise LabError(f"run {trace.id}, step {step.index + 1}", f"is a {kind}, which no move can say.", hint)


def _touch_moves(action: Action, tree: UiTree, after: UiTree | None, launcher: bool, why: str) -> Iterator[Do]:
    screen, at = Targets(tree), action.at
    assert at is not None
    if screen.covered(at) == "keyboard":
        field = screen.field("")
        now = Targets(after).find_again(field) if field is not None and after is not None else None
        if field is not None and now is not None:
            yield PlaybookMove(type=Typed(now.text, _field_name(field)), why=why)
        return
    field = field_at(screen, at)
    if field is not None and action.kind == "click":
        return  # the text that follows says into which field it goes
    node = _touched_node(screen, at)
    if launcher and node is not None:
        yield PlaybookMove(open=node.label)
    elif node is not None and node.checkable and "Radio" not in node.cls:
        yield PlaybookMove(turn_off=node.label, why=why) if node.checked else PlaybookMove(turn_on=node.label, why=why)
    else:
        target = _target(screen, node, at)
        yield PlaybookMove(tap=target, why=why) if action.kind == "click" else PlaybookMove(long_press=target, why=why)


def _type_moves(action: Action, tree: UiTree | None, after: UiTree | None, why: str) -> Iterator[Do]:
    """Yield a move with the field's whole text afterwards, because a `type` move replaces the text."""
    field = Targets(tree).field("") if tree is not None else None
    now = Targets(after).find_again(field) if field is not None and after is not None else None
    text = now.text if now is not None and (action.text or "") in now.text else action.text or ""
    yield PlaybookMove(type=Typed(text, _field_name(field) if field is not None else ""), why=why)


def _field_name(field: Node) -> str:
    return field.desc or field.text


def _touched_node(screen: Targets, at: Point) -> Node | None:
    """Return the touched node with a label: its own, its surroundings', or the first words in it.

    A single letter is used only if there is nothing else. It usually is the initial in place of a person's picture.
    """
    under = [node for node in reversed(screen.nodes) if node.bounds.contains(*at)]
    target = next((node for node in under if node.clickable or node.checkable), None)
    inner = [n for n in screen.nodes if target is not None and n.bounds.intersection(target.bounds) == n.bounds]
    nodes = [node for node in ([target] if target is not None else under) + inner if node.label and not is_field(node)]
    if target is None or not nodes:
        return nodes[0] if nodes else None
    first = next((node for node in nodes if len(node.label.strip()) > 1), nodes[0])
    return replace(target, text=first.label) if not target.label else target


def _target(screen: Targets, node: Node | None, at: Point) -> str | MoveTarget:
    """Return words that lead to a place, with nearby words if they alone lead elsewhere, else the place itself."""
    if node is None:
        return MoveTarget(at=at)
    label = " ".join(node.label.split())
    for words in (label.partition("$")[0].strip(), label):  # a sum is another one tomorrow
        if words and _leads_to(screen, MoveTarget(words), at):
            return words
    box = screen.tappable(node).bounds
    inside = [
        n.label for n in screen.nodes if n.label and n.bounds.intersection(box) == n.bounds and n.label != node.label
    ]
    near = (MoveTarget(label, near=words) for words in inside)
    return next((target for target in near if _leads_to(screen, target, at)), MoveTarget(at=at))


def _leads_to(screen: Targets, target: MoveTarget, at: Point) -> bool:
    node = screen.find(target)
    return node is not None and screen.tappable(node).bounds.contains(*at)


def _sentence(text: str) -> str:
    """Return the text with a full stop if it lacks one."""
    words = " ".join(text.split())
    return words if not words or words.endswith((".", "?", "!", "。")) else f"{words}."
