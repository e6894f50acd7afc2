"""First drafts of a design: the task's own, its golden steps, or a run's steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.run.step import ENDING, Action, Observation
from lab.core.run.trace import Step, Trace
from lab.core.run.ui_tree import UiTree
from lab.core.task.design import Design
from lab.core.task.design_outline import fresh_id
from lab.core.task.task import GoldenStep, InformationUnit, Task, Tdg, TdgNode
from lab.core.text.typed_text import clean

Beginning = Literal["task", "golden", "run"]
_PASSING = frozenset({"navigate_home", "navigate_back", "press_recent", "wait", "scroll", "swipe", "keyboard_enter"})
"""Actions that only lead to others and get no node of their own."""
_LAUNCHERS = ("launcher", "home", "systemui")
# Characters of a name, and of a description.
_LONGEST = 60
_LONGEST_ABOUT = 160
_BARE = re.compile(r" at -?\d+,-?\d+$")
"""End of the words for an action whose target is not recorded."""


BEGINNINGS: dict[Beginning, str] = {"task": "the task's own", "golden": "golden steps", "run": "the run's steps"}
"""Sources of a first draft, in words."""


def first_draft_of(source: Beginning, task: Task, trace: Trace | None) -> Design:
    """Return a first draft. Raise `LabError` if its source is missing or empty."""
    if source == "run" and trace is None:
        raise LabError(f"task {task.id}", "has no run in this file.", "A built-in task is run by `hitlab live TASK`.")
    if source == "run" and trace is not None:
        design = run_design(trace.id, trace.steps)
    else:
        design = task_design(task) if source == "task" else golden_design(task.golden)
    if design == Design():
        kinds = {"task": "no design of its own", "golden": "no golden steps", "run": "no step that does anything"}
        raise LabError(f"task {task.id}", f"has {kinds[source]}.")
    return design


def task_design(task: Task) -> Design:
    """Return the design that the task brings."""
    return Design(task.tdg, task.branches, task.units, task.rubric)


def golden_design(steps: Sequence[GoldenStep]) -> Design:
    """Return a chain with a node for each golden step that acts. A step that asks the user is flexible."""
    nodes: list[TdgNode] = []
    for step, following in zip(steps, [*steps, None][1:], strict=True):
        # The tap that focuses a field belongs to the text typed next.
        leads_on = step.kind == "click" and following is not None and following.kind == "input_text"
        if step.kind in _PASSING or step.kind == "status" or leads_on:
            continue
        nodes.append(
            TdgNode(_unused_id(step.do, nodes), step.do, kind="flexible" if step.kind == "ask_user" else "fixed")
        )
    return Design(chained(nodes))


def run_design(run: str, steps: Sequence[Step]) -> Design:
    """Return a chain with a node for each visit to an app. Typing, asking and answering get nodes of their own."""
    nodes: list[TdgNode] = []
    evidence: dict[str, tuple[str, ...]] = {}
    for visit in visits(steps):
        for group in _split_groups(visit.steps):
            step_words = [words for step in group if (words := describe_step(step))]
            if not step_words:
                continue
            name = f"{visit.app}: {step_words[-1]}" if visit.app else step_words[-1]
            asks_user = any(step.question is not None for step in group)
            id = _unused_id(name, nodes)
            nodes.append(
                TdgNode(id, _shorten(name), _describe_group(group, step_words), "flexible" if asks_user else "fixed")
            )
            evidence[f"tdg/{id}"] = tuple(link(run, step) for step in group)
    return Design(chained(nodes), evidence=evidence)


def _describe_group(group: Sequence[Step], step_words: Sequence[str]) -> str:
    """Describe what precedes a group's last action. Use the last thought if only tap coordinates are known."""
    telling_words = [words for words in step_words if not _BARE.search(words)]
    if telling_words:
        return "; ".join(words for words in step_words[:-1] if words in telling_words)
    thought = " ".join(clean(group[-1].proposed.thought, lines=False).split())
    return thought if len(thought) <= _LONGEST_ABOUT else thought[: _LONGEST_ABOUT - 1] + "…"


def chained(nodes: Iterable[TdgNode]) -> Tdg:
    """Return a graph of nodes one after the other."""
    chain = tuple(nodes)
    return Tdg(chain, tuple((a.id, b.id) for a, b in pairwise(chain)))


def link(run: str, step: Step) -> str:
    """Return a step's name in evidence and in `hitlab replay`. Steps count from 1."""
    return f"{run}@{step.index + 1}"


class Visit(NamedTuple):
    """Consecutive steps in one app. `app` is empty if unknown."""

    app: str
    steps: list[Step]


def visits(steps: Sequence[Step]) -> list[Visit]:
    """Split a run at each change of app or return home. Steps on the way home belong to no app."""
    app_visits: list[Visit] = []
    home = True
    for step, app in zip(steps, apps(steps), strict=True):
        if home or app_visits[-1].app != app:
            app_visits.append(Visit(app, []))
        app_visits[-1].steps.append(step)
        home = step.action is not None and step.action.kind == "navigate_home"
    return app_visits


def apps(steps: Iterable[Step]) -> list[str]:
    """Return each step's app under the name that was tapped on the launcher or opened.

    Fall back to the last part of the package name. Empty if unknown and on the launcher.
    """
    names: dict[str, str] = {}
    app_names: list[str] = []
    word = open_app = ""
    for step in steps:
        here, action = _package(step.before), step.action
        at_home = any(name in here.casefold() for name in _LAUNCHERS)
        if here and here not in names:
            names[here] = word or here.rpartition(".")[2].replace("_", " ").capitalize()
        app_names.append("" if at_home else names.get(here, open_app))
        opens = action is not None and (action.kind == "open_app" or (at_home and action.kind == "click"))
        # The word tapped on the launcher names the app that comes to the foreground next.
        word = (
            _shorten(clean(action.app or "", lines=False)) or _target_label(step.before.tree, action)
            if action and opens
            else ""
        )
        if action is not None and action.kind in ("open_app", "navigate_home"):
            open_app = word
    return app_names


def describe_step(step: Step) -> str:
    """Describe a step's action for a node, empty if it only leads on."""
    action = step.action
    if action is None or action.kind in _PASSING:
        return ""
    return _describe_action(action, step.before.tree)


def node_of(step: Step, app: str, used_ids: Iterable[str]) -> TdgNode:
    """Return a node for one step, named by its action and app."""
    words = describe_step(step) or (step.action.kind.replace("_", " ") if step.action else "")
    name = _shorten(f"{app}: {words}" if app and words else words or app)
    kind = "flexible" if step.question is not None else "fixed"
    return TdgNode(fresh_id(name, set(used_ids), "node"), name, kind=kind)  # type: ignore[arg-type]


def unit_of(value: str, name: str, app: str, used_ids: Iterable[str]) -> InformationUnit:
    """Return an information unit seen in an app, with the text on the screen as its value."""
    unit_name = _shorten(name or value)
    return InformationUnit(fresh_id(unit_name, set(used_ids), "unit"), unit_name, value, source=app)


def texts(screen: Observation) -> list[str]:
    """Return the distinct texts of a screen from top to bottom, the foreground app's before the system's."""
    if screen.tree is None:
        return []
    front = _package(screen)
    text_nodes = [node for node in screen.tree.nodes() if node.label.strip()]
    text_nodes.sort(key=lambda node: (node.package != front, node.bounds.top, node.bounds.left))
    return list(dict.fromkeys(clean(node.label.strip()) for node in text_nodes))


def _split_groups(steps: Sequence[Step]) -> list[list[Step]]:
    """Split a visit into groups of actions: typing, asking and answering end a group."""
    groups: list[list[Step]] = [[]]
    for step in steps:
        kind = step.action.kind if step.action else ""
        alone = kind == "ask_user" or kind in ENDING
        if alone and groups[-1]:
            groups.append([])
        groups[-1].append(step)
        if alone or (kind == "input_text" and step.action and step.action.text):
            groups.append([])
    return [group for group in groups if group]


def _describe_action(action: Action, tree: UiTree | None) -> str:
    text = _shorten(clean(action.text or "", lines=False))
    match action.kind:
        case "input_text":
            return f'type "{text}"' if text else "clear the field"
        case "ask_user":
            return f"ask: {text}"
        case "answer":
            return f"answer: {text}"
        case "status":
            return ""
        case "open_app":
            return f"open {_shorten(clean(action.app or action.text or 'an app', lines=False))}"
    name = _target_label(tree, action)
    place = f"at {action.at[0]},{action.at[1]}" if action.at else ""
    words = {"click": "tap", "other": ""}.get(action.kind, action.kind.replace("_", " "))
    return f"{words} {name or place}".strip()


def _target_label(tree: UiTree | None, action: Action) -> str:
    under = tree.nodes_at(*action.at) if tree is not None and action.at is not None else []
    labels = [node.label for node in under if node.label.strip()]
    inside = [below.label for node in under if node.clickable for below in node.walk() if below.label.strip()]
    return _shorten(clean((labels or inside or [""])[0].strip(), lines=False))


def _package(screen: Observation) -> str:
    """Return the foreground package, empty if neither activity nor tree names one."""
    if "/" in screen.activity:
        return screen.activity.partition("/")[0]
    return next((node.package for node in screen.tree.nodes() if node.package), "") if screen.tree is not None else ""


def _unused_id(name: str, nodes: Sequence[TdgNode]) -> str:
    return fresh_id(name, {node.id for node in nodes}, "node")


def _shorten(text: str) -> str:
    words = text.strip()
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
