"""One step as text: thought, action, dialogue with its timings, the gate's decision, and the run's end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from textual.content import Content

from lab.core.run.demonstration import Demonstration
from lab.core.run.run_records import Verdict
from lab.core.run.step import Action, Decision, Observation, Question, Reply
from lab.core.run.trace import Asked, Ended, Started, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.study.blinding import NOBODY
from lab.core.task.task import Actor, Task
from lab.core.task.task_checks import weight_words, weighted_rules
from lab.core.text.plain_text import plain
from lab.core.text.read_text import ReadText
from lab.core.values.ids_and_clock import seconds_between
from lab.runs.descriptions import (
    demonstration_words,
    local_time,
    outcome_words,
    point_words,
    raw_words,
    score_words,
    seconds_words,
    status_words,
    target_name,
    usage_words,
    whole_action,
)
from lab.runs.fork.family import change_words
from screens.theme import HEADING, LOUD_ERROR, LOUD_WARNING, MUTED
from simulators.users.human import PassGate

_SURE = 0.9
"""Confidence of a read line from which it is not mentioned."""

Part = tuple[str, str]


def goal_of(started: Started) -> str:
    """Return the run's instruction, in one paragraph."""
    task = started.task
    goal = task.instruction.strip()
    if goal:
        return plain(goal)
    return f"{plain(task.title or task.id)} (proactive: no instruction; the agent decides by itself)"


def step_sheet(
    step: Step | Asked,
    *,
    slip: bool = False,
    thought_last: bool = False,
    phone: Sequence[str] = (),
    errors: bool = False,
) -> Content:
    """Format all of one step, or a step up to its open question.

    With `thought_last` the action and dialogue come before the thought, which may be long. `phone` are the phone's
    notices in the meantime. With `errors` the standard error of the agent's program follows at the end.
    """
    parts: list[Part] = []
    action = step.proposed.action
    if step.proposed.instruction:
        parts += _section("Instruction", [(plain(step.proposed.instruction), "bold")])
    if slip:
        parts += _section("Flagged", [("a slip of the hand", LOUD_WARNING)])
    parts += phone_parts(phone)
    thought = plain(step.proposed.thought.strip())
    thoughts = _section("Thought", [(thought, "")]) if thought else []
    if not thought_last:
        parts += thoughts
    who = _actor_words(step.proposed.by, "  by ")
    if action.kind != "ask_user" or step.question is None:
        parts += _section(f"Action{who}", _action_parts(action, step.before.tree))
    # A blinded reader gets no section for an approval, which changed nothing.
    if step.decision is not None and not (step.decision.verdict == "approve" and step.decision.by == NOBODY):
        parts += _section("Gate", _decision_parts(step.decision, step.before.tree))
    if step.question is not None:
        parts += _section(f"Question{who}", _question_parts(step.question))
    if isinstance(step, Asked):
        parts += _section("Reply", [("none yet: the run stands here", MUTED)])
        return Content.assemble(*parts, *(thoughts if thought_last else []))
    if step.reply is not None:
        parts += _section(f"Reply{_actor_words(step.reply.by, ' of ')}", _reply_parts(step.reply))
    elif step.question is not None:
        parts += _section("Reply", [("none was recorded", MUTED)])
    if step.error:
        parts += _section("Failed", [(plain(step.error), LOUD_ERROR)])
    if thought_last:
        parts += thoughts
    parts += _fact_parts(step)
    if errors:
        parts += _error_parts(step.proposed.stderr)
    return Content.assemble(*parts)


def _error_parts(text: str) -> list[Part]:
    return _section("Standard error", [(f"{plain(text)}\n", MUTED)]) if text else []


def end_sheet(
    ended: Ended,
    started: Started,
    verdicts: Iterable[Verdict],
    recording: Demonstration | None = None,
    *,
    outcomes: bool,
    phone: Sequence[str] = (),
) -> Content:
    """Format the run's end. Score, checks and imported verdicts need `outcomes`."""
    parts = _section("Ended", [(status_words(ended.status), "bold")])
    parts += phone_parts(phone)
    if recording is not None:
        pieces = [(f"{outcome_words(recording)}\n", "bold"), (f"{demonstration_words(recording)}\n", "")]
        parts += _section("Demonstration", pieces)
    if outcomes:
        if ended.reason:
            parts += _section("Why", [(plain(ended.reason), "")])
        by = [(f"\nby {plain(ended.scored_by)}", "")] if ended.scored_by else []
        parts += _section("Score", [("not checked" if ended.score is None else score_words(ended.score), "bold"), *by])
        if ended.checks:
            parts += _section(
                f"Checks  {sum(ok for _, ok in ended.checks)} of {len(ended.checks)}", check_parts(ended, started.task)
            )
        parts += verdict_parts(verdicts) + _error_parts(ended.stderr)
    parts += _section("Run", _run_parts(started, outcomes=outcomes))
    return Content.assemble(*parts)


def check_parts(ended: Ended, task: Task) -> list[Part]:
    """Return each check with its result and weight, and the formula of the score."""
    parts: list[Part] = []
    for name, held, weight in weighted_rules(task, ended.checks):
        weighs = "" if weight is None else f" (weight {weight:g})"
        parts.append((f"{'✓' if held else '✗'} {plain(name)}{weighs}\n", "" if held else LOUD_ERROR))
    words = weight_words(task, ended.checks)
    return [*parts, (words, MUTED)] if words else parts


def phone_parts(phone: Sequence[str]) -> list[Part]:
    """Return the phone's notices: asleep, locked, rotated, recovered."""
    return (
        _section("Phone", [(f"{plain(words, lines=False)}\n", "bold $text-warning") for words in phone])
        if phone
        else []
    )


def verdict_parts(verdicts: Iterable[Verdict]) -> list[Part]:
    """Return the verdicts that came with an imported run, in its source's words."""
    parts: list[Part] = []
    for verdict in verdicts:
        parts.append((f"{plain(verdict.name)}: {plain(_json_text(verdict.value))}\n", "bold"))
        if verdict.reason:
            parts.append((f"{plain(verdict.reason)}\n", ""))
        parts += [(f"{plain(key)}: {plain(_json_text(value))}\n", MUTED) for key, value in verdict.extra.items()]
    return _section("Verdicts that came with it", parts) if parts else []


def open_sheet(started: Started, verdicts: Iterable[Verdict], *, outcomes: bool) -> Content:
    """Format a run without a step."""
    parts = _section("Run", _run_parts(started, outcomes=outcomes))
    return Content.assemble(*parts, *(verdict_parts(verdicts) if outcomes else []))


def tree_sheet(observation: Observation, words: ReadText | None) -> Content:
    """Format the screen's nodes as an indented tree, which is what an agent reads instead of pixels.

    `words` were read from the picture. They have a section of their own, because no phone reported them.
    """
    read_lines = _read_lines(words) if words is not None else []
    if observation.tree is None or (observation.tree_missing and not observation.tree.roots):
        why = (
            f" The phone gave none: {plain(observation.tree_missing, lines=False)}" if observation.tree_missing else ""
        )
        return Content.assemble((f"This step has no UI tree.{why}\n\n", MUTED), *read_lines)
    parts: list[Part] = []
    stack = [(root, 0) for root in reversed(observation.tree.roots)]
    while stack:
        node, depth = stack.pop()
        parts += _node_parts(node, depth)
        stack += [(child, depth + 1) for child in reversed(node.children)]
    return Content.assemble(*parts, *([("\n", ""), *read_lines] if read_lines else []))


def _read_lines(words: ReadText) -> list[Part]:
    """Return the lines read from a picture, each with its box, and its confidence if that is low."""
    lines: list[Part] = []
    for line in words.lines:
        unsure = "" if line.sure >= _SURE else f"{line.sure:.0%} sure "
        lines += [(f"{plain(line.text, lines=False)} ", "bold"), (f"{unsure}{_box_words(line.box)}\n", MUTED)]
    return _section(f"Read from the picture by {plain(words.engine, lines=False)}", lines or [("nothing\n", MUTED)])


def _box_words(bounds: Bounds) -> str:
    return "[{},{}][{},{}]".format(*bounds)


def _node_parts(node: Node, depth: int) -> list[Part]:
    # Deep nodes keep room for their text.
    indent = "  " * min(depth, 12)
    label = plain(node.label, lines=False)
    name = plain(node.cls.rpartition(".")[2], lines=False)
    ident = plain(node.id.rpartition("/")[2], lines=False)
    flags = [
        flag
        for flag in ("clickable", "checked", "focused", "scrollable", "selected", "password")
        if getattr(node, flag)
    ]
    tail = " ".join([*([f"#{ident}"] if ident else []), *flags, _box_words(node.bounds)])
    return [(f"{indent}{name} ", MUTED), (f'"{label}" ' if label else "", "bold"), (f"{tail}\n", MUTED)]


def _section(title: str, body: list[Part]) -> list[Part]:
    """Return a heading, its body, and a blank line."""
    end = "\n" if body and body[-1][0].endswith("\n") else "\n\n"
    return [(f"{title}\n", HEADING), *body, (end, "")]


def _action_parts(action: Action, tree: UiTree | None) -> list[Part]:
    parts: list[Part] = []
    if action.kind in ("ask_user", "answer", "input_text"):
        parts.append((f"{action.kind.replace('_', ' ')}\n", "bold"))
        parts.append((f"{plain(action.text or '')}\n", ""))
    else:
        parts.append((f"{whole_action(action, tree)}\n", "bold"))
    text_above = "".join(text for text, _ in parts)
    places = [f"at {point_words(action.at)}"] if action.at is not None else []
    places += [f"to {point_words(action.to)}"] if action.to is not None else []
    # The words above may already contain the point.
    places = [place for place in places if point_words(action.at) not in text_above]
    places += [f"direction {action.direction}"] if action.direction and action.direction not in text_above else []
    places += [f"finger moves {point_words(action.vector)}"] if action.vector is not None else []
    name = target_name(tree, action.at)
    places += [f'on "{name}"'] if name and name not in text_above else []
    places += [f"{action.ms} ms"] if action.ms is not None and action.kind != "wait" else []
    if places:
        parts.append((f"{', '.join(places)}\n", MUTED))
    if action.raw is not None:
        parts.append(
            (f"source: {plain(raw_words(action))}{f'  ({plain(action.space)})' if action.space else ''}\n", MUTED)
        )
    return parts


def _decision_parts(decision: Decision, tree: UiTree | None) -> list[Part]:
    if decision.verdict == "approve" and decision.by == PassGate.actor:
        return [("passed: nobody was asked\n", "bold")]
    words = {"approve": "approved", "amend": "amended", "reject": "rejected"}[decision.verdict]
    took = f" after {seconds_words(decision.seconds)}" if decision.seconds else ""
    style = LOUD_ERROR if decision.verdict == "reject" else "bold"
    parts: list[Part] = [(f"{words}{_actor_words(decision.by, ' by ')}{took}\n", style)]
    if decision.verdict == "amend" and decision.action is not None:
        parts.append((f"done instead: {whole_action(decision.action, tree)}\n", ""))
    if decision.note:
        parts.append((f"{plain(decision.note)}\n", ""))
    return parts


def _question_parts(question: Question) -> list[Part]:
    parts: list[Part] = [(f"{plain(question.text)}\n", "")]
    if question.kind == "propose":
        parts.append(("of its own accord: accept, reject, or answer in words\n", MUTED))
    return parts + [(f"  {i}  {plain(option)}\n", "") for i, option in enumerate(question.options, 1)]


def _reply_parts(reply: Reply) -> list[Part]:
    parts: list[Part] = []
    if reply.decision is not None:
        words, style = {"accept": ("✓ accepted\n", "bold"), "reject": ("✗ rejected\n", LOUD_ERROR)}[reply.decision]
        parts.append((words, style))
    if reply.text:
        parts.append((f"{plain(reply.text)}\n", ""))
    facts = [
        _duration_words("first key after", reply.shown_at, reply.first_key_at),
        _duration_words("sent after", reply.shown_at, reply.sent_at),
        f"{reply.edits} deletions" if reply.edits else "",
    ]
    facts_line = ", ".join(fact for fact in facts if fact)
    if facts_line:
        parts.append((f"{facts_line}\n", MUTED))
    if reply.draft:
        parts.append((f"typed and taken back: {plain(reply.draft)}\n", MUTED))
    return parts


def _fact_parts(step: Step) -> list[Part]:
    """Return a step's other facts: time, duration, other correct actions, the source's own fields."""
    body: list[Part] = []
    took = seconds_words(seconds_between(step.started, step.ended))
    if step.started:
        body.append((f"{local_time(step.started)}{f', took {took}' if took else ''}\n", MUTED))
    if step.before.activity:
        body.append((f"{plain(step.before.activity)}\n", MUTED))
    if step.typed_by:
        body.append((f"typed by {plain(step.typed_by)}\n", MUTED))
    usage = step.proposed.usage
    if usage is not None:
        body.append((f"{usage_words(usage)}\n", MUTED))
    body += [(f"also right: {whole_action(other, step.before.tree)}\n", MUTED) for other in step.accepted]
    body += [(f"{plain(key)}: {plain(_json_text(value))}\n", MUTED) for key, value in step.extra.items()]
    return _section("Also", body) if body else []


def _run_parts(started: Started, *, outcomes: bool) -> list[Part]:
    task, source = started.task, started.source
    facts = {
        "task": f"{task.id} ({task.kind})",
        "agent": started.agent.display_name if outcomes else "",
        "persona": started.persona.name if started.persona else task.persona,
        "person": started.user.display_name if started.user else "",
        "place": task.place,
        "phone": f"{started.device.kind} {started.device.model}".strip(),
        "started": local_time(started.at),
        "source": f"{source.format} {source.path}".strip() if source else "",
        "words": f"read by {started.conditions.reads} where the phone told none"
        if outcomes and started.conditions.reads
        else "",
        "forked": _fork_words(started) if outcomes else "",
    }
    return [(f"{name:<8} {plain(value, lines=False)}\n", "") for name, value in facts.items() if value]


def _fork_words(started: Started) -> str:
    fork = started.forked
    return f"{started.parent}@{fork.index + 1}: {change_words(fork)}" if fork is not None else ""


def _duration_words(words: str, earlier: str | None, later: str | None) -> str:
    seconds = seconds_words(seconds_between(earlier, later))
    return f"{words} {seconds}" if seconds else ""


def _actor_words(actor: Actor | None, joint: str) -> str:
    """Return the actor's name after `joint`, empty if unknown or blinded."""
    return "" if actor is None or actor == NOBODY else joint + plain(actor.display_name, lines=False)


def _json_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
