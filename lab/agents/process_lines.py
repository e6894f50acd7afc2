"""Lines between hitlab and a program, one JSON object each: `hitlab settings schema agent-reads` and `agent-writes`.

hitlab writes `hello` once, then for each run a `brief`, an `observation` per turn and an `end`. The program answers
each `hello` and each `observation` with exactly one line, and writes nothing else. It exits when its input is closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from lab.core.codec import convert
from lab.core.errors import LabError
from lab.core.run.action_line import WrittenAction
from lab.core.run.action_target import action_on
from lab.core.run.step import COUNTED, Action, Point, Proposed, Usage
from lab.core.run.trace import Step
from lab.core.run.ui_tree import FLAGS, Bounds, Flag, Node, UiTree
from lab.core.seams import Screen, TaskBrief
from lab.core.task.task import Kind, agent_word

PROTOCOL = 1
"""Version of these lines. hitlab refuses a program with another version."""

Pictures = Literal["path", "base64", "none"]
Verdict = Literal["approve", "amend", "reject"]


class Hello(msgspec.Struct, frozen=True, tag_field="line", tag="hello"):
    """First line, once per program."""

    v: int = PROTOCOL


class BriefLine(msgspec.Struct, frozen=True, tag_field="line", tag="brief"):
    """A run begins or resumes. `instruction` is empty in a proactive run."""

    kind: Kind
    instruction: str
    log: tuple[str, ...]
    time: str
    place: str
    budget: int


class NodeLine(msgspec.Struct, frozen=True):
    """One element: `number` is its place in drawing order, `parent` the element around it.

    `bounds` is left, top, right, bottom in pixels. `flags` are the true flags of uiautomator.
    """

    number: int
    parent: int | None
    bounds: Bounds
    text: str
    desc: str
    id: str
    cls: str
    package: str
    flags: tuple[Flag, ...]


class ReplyLine(msgspec.Struct, frozen=True):
    """Reply of the person. `decision` is null for an answer to a plain question."""

    text: str
    decision: Literal["accept", "reject"] | None


class TurnResult(msgspec.Struct, frozen=True):
    """Result of a turn: `action` is what was done, null if it was rejected. `error` is the reason of a failure.

    `by` proposed it. `nodes` is the screen before it, null if an observation already had it.
    """

    step: int
    by: Literal["agent", "person"]
    proposed: Action
    verdict: Verdict
    action: Action | None
    note: str
    thought: str
    reply: ReplyLine | None
    error: str | None
    nodes: tuple[NodeLine, ...] | None


class ObservationLine(msgspec.Struct, frozen=True, tag_field="line", tag="observation"):
    """Screen that the program answers with an action. Steps count from 1, and `left` is the rest of the budget.

    `done` is what happened since the last observation, oldest first, or everything before if the run resumes.
    `screenshot` is a PNG as a path, base64, or null, as the program's hello asked. The file exists during the run.
    """

    step: int
    left: int
    size: Point
    activity: str
    time: str
    done: tuple[TurnResult, ...]
    nodes: tuple[NodeLine, ...]
    screenshot: str | None


class End(msgspec.Struct, frozen=True, tag_field="line", tag="end"):
    """The run is over: completed, stopped, failed or budget, or left if a person left it open.

    Another brief may follow. Otherwise the input is closed.
    """

    status: str


class ProgramHello(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="line", tag="hello"):
    """Program's answer to hello: the form of the screenshot, and the program's identity.

    Runs with one `name`, `version` and `model` belong to one agent. Without a name the start command is the name.
    """

    v: int
    screenshot: Pictures = "path"
    name: str = ""
    version: str | int | float = ""
    model: str = ""


class ActionLine(WrittenAction, frozen=True, forbid_unknown_fields=True, tag_field="line", tag="action"):
    """Program's answer to an observation.

    `at` and `to` are pixels of the screenshot. `node` and `to_node` name an element by its number instead.
    """

    thought: str = ""
    usage: Usage | None = None


ToProgram = Hello | BriefLine | ObservationLine | End
FromProgram = ProgramHello | ActionLine


def brief_line(brief: TaskBrief) -> BriefLine:
    """Return all that an agent may know of a run, as a line."""
    return BriefLine(brief.kind, brief.instruction, brief.log, brief.time, brief.place, brief.budget)


def node_lines(tree: UiTree) -> tuple[NodeLine, ...]:
    """Return a tree as a flat list in drawing order, numbered from 0."""
    lines: list[NodeLine] = []
    # A stack and not recursion: a tree may be deeper than Python's recursion limit.
    stack: list[tuple[Node, int | None]] = [(root, None) for root in reversed(tree.roots)]
    while stack:
        node, parent = stack.pop()
        number = len(lines)
        flags = tuple(flag for flag in FLAGS if getattr(node, flag.replace("-", "_")))
        lines.append(
            NodeLine(number, parent, node.bounds, node.text, node.desc, node.id, node.cls, node.package, flags)
        )
        stack.extend((child, number) for child in reversed(node.children))
    return tuple(lines)


def done_line(step: Step, *, seen: bool) -> TurnResult:
    """Return one step for the program. `seen` is True if an observation already had its screen."""
    reply = ReplyLine(step.reply.text, step.reply.decision) if step.reply is not None else None
    by = step.proposed.by
    return TurnResult(
        step=step.index + 1,
        by="person" if by is not None and by.kind == "human" else "agent",
        proposed=step.proposed.action,
        verdict=step.decision.verdict if step.decision is not None else "approve",
        action=step.action,
        note=step.decision.note if step.decision is not None else "",
        thought=step.proposed.thought,
        reply=reply,
        error=step.error,
        nodes=None if seen or step.before.tree is None else node_lines(step.before.tree),
    )


def observation_line(
    brief: TaskBrief, screen: Screen, done_lines: Sequence[TurnResult], turn: int, picture: str | None
) -> ObservationLine:
    """Return the screen of turn `turn` (from 0), with the steps since the last observation."""
    return ObservationLine(
        step=turn + 1,
        left=brief.budget - turn,
        size=screen.size,
        activity=screen.activity,
        time=screen.at,
        done=tuple(done_lines),
        nodes=node_lines(screen.tree),
        screenshot=picture,
    )


def hello_of(value: Any, what: str) -> ProgramHello:
    """Return the program's hello. Raise `LabError` if it is not one or has another version."""
    hello: ProgramHello = convert(value, ProgramHello, what)
    if hello.v != PROTOCOL:
        raise LabError(what, f"speaks version {hello.v} of the lines; this hitlab speaks {PROTOCOL}")
    words = {field: agent_word(str(getattr(hello, field))) for field in ("name", "version", "model")}
    return msgspec.structs.replace(hello, **words)


def proposed_of(value: Any, screen: Screen, what: str) -> Proposed:
    """Return the program's action with targets in pixels. Raise `LabError` if one is missing or off screen."""
    line: ActionLine = convert(value, ActionLine, what)
    if line.usage is not None and any(n is not None and n < 0 for n in (getattr(line.usage, name) for name in COUNTED)):
        raise LabError(what, "field usage: holds a number below 0")
    action = action_on(line, screen.tree, screen.size, what)
    field, needs = line.missing_field()
    if field:
        raise LabError(what, f"field {field}: {needs}")
    return Proposed(action, line.thought, usage=line.usage)
