"""A run in lines of plain text, for people without a screen."""

from __future__ import annotations

from lab.cli.output import print_line
from lab.core.run.demonstration import demonstration
from lab.core.run.run_records import Verdict
from lab.core.run.step import Action
from lab.core.run.trace import Ended, Step, Trace
from lab.core.task.task import Actor
from lab.core.task.task_checks import weight_words, weighted_rules
from lab.core.values.rounding import count
from lab.runs.descriptions import demonstration_words, is_conversation, outcome_words, spent_words, without_words
from lab.runs.fork.family import change_words


def print_run(trace: Trace, db: str, verdicts: list[Verdict] | None = None, *, errors: bool = False) -> None:
    """Print a whole run: the task, each step with its dialogue, its end.

    With `errors` include what its program wrote on standard error, else only mention it.
    """
    print_line(f"run     {trace.id}")
    print_line(f"task    {trace.task.display_name} ({trace.task.kind})")
    if trace.persona:
        print_line(f"persona {trace.persona.name}")
    print_line(f"agent   {_agent_words(trace.agent)}" + (f", user {trace.user.display_name}" if trace.user else ""))
    if trace.conditions.reads:
        print_line(f"words   read from pictures by {trace.conditions.reads} for the agent, where the phone told none")
    if trace.forked is not None:
        print_line(f"forked  from {trace.parent}@{trace.forked.index + 1}: {change_words(trace.forked)}")
    if trace.task.instruction:
        print_line(f"goal    {trace.task.instruction}")
    if trace.task.place:
        print_line(f"place   {trace.task.place}")
    print_line("")
    for step in trace.steps:
        for line in step_lines(step, slip=step.index in trace.slips):
            print_line(line)
        if errors:
            _print_errors(step.proposed.stderr)
    print_line("")
    if trace.asked is not None and trace.answered is None:
        print_line(f'open    a question waits: "{trace.asked.question.text}"')
    demo = demonstration(trace)
    print_line(_format_end(trace.ended) if trace.ended else f"open    {_next_command(trace)} goes on")
    last_errors = trace.ended.stderr if trace.ended else ""
    if errors:
        _print_errors(last_errors)
    elif last_errors or any(step.proposed.stderr for step in trace.steps):
        print_line(f"errors  its program wrote on standard error; `hitlab runs show {trace.id} --errors` prints it")
    checks = trace.ended.checks if trace.ended else ()
    for name, holds, weight in weighted_rules(trace.task, checks):
        print_line(f"        {'✓' if holds else '✗'} {name}" + ("" if weight is None else f" (weight {weight:g})"))
    if words := weight_words(trace.task, checks):
        print_line(f"        {words}")
    for verdict in verdicts or []:
        if verdict.value is not None or verdict.reason:
            value = "" if verdict.value is None else f" {verdict.value}"
            print_line(f"source  {verdict.name}:{value}" + (f" ({verdict.reason})" if verdict.reason else ""))
    if demo is not None:
        print_line(f"shown   {outcome_words(demo)}")
        for line in demonstration_words(demo).splitlines():
            print_line(f"        {line}")
    if trace.spent is not None:
        print_line(f"model   {spent_words(trace.spent)}")
    for words in without_words(sorted({name for step in trace.steps for name in _left_out_parameters(step)})):
        print_line(f"user    answered {words}")
    questions, replies = count(trace.questions, "question"), count(trace.replies, "reply", "replies")
    print_line(f"        {count(len(trace.steps), 'step')}, {questions}, {replies}, in {db}")


def _next_command(trace: Trace) -> str:
    """Return the command that goes on with an open run."""
    if is_conversation(trace.agent.id):
        return f"hitlab serve user --room --person {trace.user.id}" if trace.user else "hitlab serve user --room"
    return f"hitlab {'live' if demonstration(trace) is None else 'record'} --resume {trace.id}"


def _left_out_parameters(step: Step) -> tuple[str, ...]:
    return step.reply.usage.without if step.reply is not None and step.reply.usage is not None else ()


def _print_errors(text: str) -> None:
    for line in text.splitlines():
        print_line(f"      ! {line}")


def _agent_words(agent: Actor) -> str:
    """Return an agent's full identity, with the command or name that started it if that differs."""
    whole = agent.identity if agent.implementation or agent.model or agent.arguments else agent.display_name
    other = agent.id.startswith("process:") or (agent.implementation and agent.id not in (agent.model, whole))
    return f"{whole}, started as {agent.id}" if other else whole


def step_lines(step: Step, *, slip: bool = False) -> list[str]:
    """Describe one step: the action, its instruction, question and reply, errors."""
    action = step.action
    refusal = (
        f" (rejected by {step.decision.by.display_name})" if step.decision and step.decision.verdict == "reject" else ""
    )
    lines = [f"{step.index + 1:4}  {describe_action(action or step.proposed.action, step)}{refusal}"]
    if step.proposed.instruction:
        lines.append(f"      instruction: {step.proposed.instruction}")
    if slip:
        lines.append("      flagged: a slip")
    if step.question is not None:
        lines.append(f'      agent asks: "{step.question.text}"')
    if step.reply is not None:
        decision = f"[{step.reply.decision}] " if step.reply.decision else ""
        lines.append(f'      {step.reply.by.display_name} answers: {decision}"{step.reply.text}"')
    if step.typed_by:
        lines.append(f"      typed by {step.typed_by}")
    if step.before.tree_missing:
        lines.append(f"      no UI tree: {step.before.tree_missing}")
    if step.error:
        lines.append(f"      failed: {step.error}")
    return lines


def describe_action(action: Action, step: Step | None = None) -> str:
    """Describe one action, with its target's name if the UI tree has one."""
    parts = [action.kind.replace("_", " ")]
    if action.text is not None and (step is None or step.error != action.text):
        parts.append(f'"{action.text}"')
    if action.direction:
        parts.append(action.direction)
    if action.app:
        parts.append(action.app)
    if action.status:
        parts.append(action.status)
    if action.at is not None:
        parts.append(_target_label(action, step) + f"at {action.at[0]},{action.at[1]}")
    if action.to is not None:
        parts.append(f"to {action.to[0]},{action.to[1]}")
    return " ".join(parts)


def _target_label(action: Action, step: Step | None) -> str:
    tree = step.before.tree if step else None
    if tree is None or action.at is None:
        return ""
    label = tree.label_at(*action.at)
    return f'"{label}" ' if label else ""


def _format_end(ended: Ended) -> str:
    score = "no score" if ended.score is None else f"score {ended.score:g}"
    by = f" ({ended.scored_by})" if ended.scored_by else ""
    reason = f": {ended.reason}" if ended.reason else ""
    return f"{ended.status}, {score}{by}{reason}"
