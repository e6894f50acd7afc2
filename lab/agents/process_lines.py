"""What hitlab and a program say to each other, one JSON line each: `hitlab schema agent-reads` and `agent-writes`.

hitlab writes `hello` once, then for each run a `brief`, an `observation` per turn and an `end`. The program answers
each `hello` and each `observation` with exactly one line, and nothing else; it leaves when its input is closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from lab.core.action_line import WrittenAction
from lab.core.action_target import action_on
from lab.core.codec import convert
from lab.core.errors import LabError
from lab.core.seams import Screen, TaskBrief
from lab.core.step import COUNTED, Action, Point, Proposed, Usage
from lab.core.task import Kind, agent_word
from lab.core.trace import Step
from lab.core.ui_tree import FLAGS, Bounds, Flag, Node, UiTree

PROTOCOL = 1
"""The version of these lines; a program that speaks another is refused with a sentence."""

Pictures = Literal["path", "base64", "none"]
Verdict = Literal["approve", "amend", "reject"]


class Hello(msgspec.Struct, frozen=True, tag_field="line", tag="hello"):
    """The first line, once per program."""

    v: int = PROTOCOL


class BriefLine(msgspec.Struct, frozen=True, tag_field="line", tag="brief"):
    """A run begins, or is gone on with: what it is about. `instruction` is empty in a proactive run."""

    kind: Kind
    instruction: str
    log: tuple[str, ...]
    time: str
    place: str
    budget: int


class NodeLine(msgspec.Struct, frozen=True):
    """One element: `number` is its place in drawing order, `parent` the one it lies in; `bounds` in pixels.

    `bounds` is left, top, right, bottom; `flags` are those of uiautomator's that are true.
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
    """What the person said; `decision` is null for an answer to a plain question."""

    text: str
    decision: Literal["accept", "reject"] | None


class Done(msgspec.Struct, frozen=True):
    """What came of a turn: `action` is what was done, null where it was rejected; `error` says why it failed.

    `by` is who proposed it; `nodes` is the screen before it, null where it was in an observation already.
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
    """What the phone shows: the program answers with an action. Steps count from 1; `left` are those of the budget.

    `done` is what happened since the last observation, oldest first; on resuming, all that went before.
    `screenshot` is a PNG: a file's path, base64, or null, as the program's hello asked; the file stays for the run.
    """

    step: int
    left: int
    size: Point
    activity: str
    time: str
    done: tuple[Done, ...]
    nodes: tuple[NodeLine, ...]
    screenshot: str | None


class End(msgspec.Struct, frozen=True, tag_field="line", tag="end"):
    """The run is over: completed, stopped, failed or budget; or a person left it open: left.

    Another brief may follow; else the input is closed.
    """

    status: str


class ProgramHello(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="line", tag="hello"):
    """The program's answer to hello: how it wants the screenshot, and who it is.

    Runs of one `name`, `version` and `model` are of one agent. Without a name the command that started it is its name.
    """

    v: int
    screenshot: Pictures = "path"
    name: str = ""
    version: str | int | float = ""
    model: str = ""


class ActionLine(WrittenAction, frozen=True, forbid_unknown_fields=True, tag_field="line", tag="action"):
    """The program's answer to an observation.

    `at` and `to` are pixels of the screenshot; `node` and `to_node` name an element by its number in their place.
    """

    thought: str = ""
    usage: Usage | None = None


ToProgram = Hello | BriefLine | ObservationLine | End
FromProgram = ProgramHello | ActionLine


def brief_line(brief: TaskBrief) -> BriefLine:
    """All that an agent is told, as a line."""
    return BriefLine(brief.kind, brief.instruction, brief.log, brief.time, brief.place, brief.budget)


def node_lines(tree: UiTree) -> tuple[NodeLine, ...]:
    """A tree as a flat list in drawing order, numbered from 0."""
    lines: list[NodeLine] = []
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


def done_line(step: Step, *, seen: bool) -> Done:
    """One step as a program is told of it; `seen` where its screen was in an observation before."""
    reply = ReplyLine(step.reply.text, step.reply.decision) if step.reply is not None else None
    by = step.proposed.by
    return Done(
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
    brief: TaskBrief, screen: Screen, done_lines: Sequence[Done], turn: int, picture: str | None
) -> ObservationLine:
    """The screen of turn number `turn` (from 0), and what was done since the last one."""
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
    """The program's hello; a `LabError` where it is none, or speaks another version."""
    hello: ProgramHello = convert(value, ProgramHello, what)
    if hello.v != PROTOCOL:
        raise LabError(what, f"speaks version {hello.v} of the lines; this hitlab speaks {PROTOCOL}")
    words = {field: agent_word(str(getattr(hello, field))) for field in ("name", "version", "model")}
    return msgspec.structs.replace(hello, **words)


def proposed_of(value: Any, screen: Screen, what: str) -> Proposed:
    """The program's action with its targets in pixels; a `LabError` names what is missing, or not on this screen."""
    line: ActionLine = convert(value, ActionLine, what)
    if line.usage is not None and any(n is not None and n < 0 for n in (getattr(line.usage, name) for name in COUNTED)):
        raise LabError(what, "field usage: holds a number below 0")
    action = action_on(line, screen.tree, screen.size, what)
    field, needs = line.missing_field()
    if field:
        raise LabError(what, f"field {field}: {needs}")
    return Proposed(action, line.thought, usage=line.usage)
