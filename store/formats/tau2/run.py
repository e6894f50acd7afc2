"""One conversation of tau2-bench or tau-bench as a run without screens.

The user's scenario becomes the persona's hidden facts, the user's wish the task's instruction, and the rules of
behaviour the policy of the person's seat. The reward is the score. `reward_info`, reviews and the cost of the user's
side become verdicts. Times have no zone in the source and are treated as UTC. The source counts trials from 0, hitlab
counts attempts from 1.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.agent_names import argument_pairs
from lab.core.run_records import Imported
from lab.core.step import Action, Question, Reply, Usage
from lab.core.task import Actor, Persona, Task
from store.formats import KnownRun
from store.formats.draft import Draft, run_id
from store.formats.tau2.turns import DialogueTurn, message_list, turns
from store.formats.times import utc
from store.formats.values import Notes, as_amount, as_mapping, as_text, notes_below

NAME = "tau2"
_STATUS: dict[str, Literal["completed", "stopped", "failed", "budget"]] = {
    "user_stop": "completed", "agent_stop": "completed", "max_steps": "budget", "timeout": "stopped",
}  # fmt: skip
_JUDGED = ("review", "user_only_review", "hallucination_check", "auth_classification")
_PLACED = frozenset({"messages", "traj", "reward_info", "reward", "ticks", "user_cost", *_JUDGED})
# Token by which one side ends the conversation.
_STOP = "###STOP###"


class FileContext(NamedTuple):
    """Fields of a file about all its conversations: its `info`, and its tasks by id."""

    path: str
    info: dict[str, Any]
    tasks: dict[str, dict[str, Any]]

    def part(self, name: str) -> dict[str, Any]:
        return as_mapping(self.info.get(name))


def imported(
    run: dict[str, Any], notes: Notes, context: FileContext, is_known: Callable[[str], bool]
) -> Imported | KnownRun:
    """Return a conversation as an imported run, or `KnownRun` if `is_known` returns True for its id.

    Raise `LabError` that names the invalid field.
    """
    what = f"{context.path}#{run.get('id', run.get('task_id'))}"
    field = "traj" if "traj" in run else "messages"
    messages = message_list(run.get(field), what, field)
    data = msgspec.json.encode(run, order="deterministic")
    id = run_id(NAME, "" if "id" in run else Path(context.path).name, data)
    if is_known(id):
        return KnownRun(id, what)
    old = run["info"] if field == "traj" and isinstance(run.get("info"), dict) else {}
    draft = _new_draft(id, run, context, old, data)
    user = _actor(context.part("user_info"), "user-simulator")
    status, reason = _status(run, messages, old)
    after: list[dict[str, Any]] = []
    for turn in turns(messages):
        if isinstance(turn, list):
            after = turn
        else:
            _step(draft, turn, user, reason)
    _add_verdicts(draft, run, notes, context, old, after)
    draft.end(status, _score(run), reason, usage=_usage(run, draft.count), at=utc(run.get("end_time")))
    return draft.imported()


def _new_draft(id: str, run: dict[str, Any], context: FileContext, old: dict[str, Any], data: bytes) -> Draft:
    """Return the run before its first step: task, persona, agent and attempt."""
    task, persona = _task(run, context, old)
    trial = run.get("trial")
    return Draft(
        id,
        task,
        _agent(context.part("agent_info")),
        format=NAME,
        path=context.path,
        data=data,
        model=as_text(context.part("agent_info").get("llm")),
        persona=persona,
        attempt=trial + 1 if isinstance(trial, int) and 0 <= trial < 10**6 else 1,
        at=utc(run.get("start_time")),
    )


def _step(draft: Draft, turn: DialogueTurn, user: Actor, reason: str) -> None:
    if turn.call is not None:
        name = turn.call.get("name")
        action = Action("other", text=name if isinstance(name, str) else None, raw=turn.call)
        question, reply = None, None
    elif turn.reply is None and (reason == "agent_stop" or _STOP in turn.text):
        action, question, reply = Action("answer", text=turn.text, raw=turn.text), None, None
    else:
        action = Action("ask_user", text=turn.text, raw=turn.text)
        question = Question(f"q{draft.count}", "ask", turn.text)
        reply = None
        if turn.reply is not None:
            shown_at, sent_at = (turn.at or None), (turn.replied or None)
            reply = Reply(question.id, turn.reply, user, shown_at=shown_at, sent_at=sent_at)
    draft.step(
        action,
        thought=turn.thought,
        usage=turn.usage,
        question=question,
        reply=reply,
        error=turn.error,
        extra=turn.extra,
        at=turn.at,
        ended=turn.replied,
    )


def _task(run: dict[str, Any], context: FileContext, old: dict[str, Any]) -> tuple[Task, Persona | None]:
    id = str(run.get("task_id", run.get("id", "")))
    task_fields = context.tasks.get(id, {})
    domain = as_text(context.part("environment_info").get("domain_name"))
    scenario = task_fields.get("user_scenario")
    instructions = as_mapping(scenario).get("instructions")
    wants = as_mapping(instructions)
    instruction = (
        as_text(task_fields.get("ticket"))
        or as_text(wants.get("reason_for_call"))
        or as_text(instructions)
        or as_text(as_mapping(old.get("task")).get("instruction"))
    )
    golden = as_mapping(task_fields.get("evaluation_criteria")).get("actions")
    budget = context.info.get("max_steps")
    name = f"{domain}/{id}" if domain else id
    task = Task(
        id=name,
        kind="general",
        title=name,
        instruction=instruction,
        persona=name if isinstance(scenario, dict) else "",
        log="none",
        budget=budget if isinstance(budget, int) and 0 < budget < 10**6 else 200,
        policy=as_text(wants.get("task_instructions")),
        traits={"domain": domain} if domain else {},
        golden_steps=len(golden) if isinstance(golden, list) and golden else None,
    )
    return task, Persona(name, name, facts=scenario) if isinstance(scenario, dict) else None


def _agent(fields: dict[str, Any]) -> Actor:
    """Return the agent, identified by its implementation, its model and the model's arguments."""
    agent, how = _actor(fields, "agent"), as_text(fields.get("implementation"))
    if agent.kind == "human":
        return agent
    return msgspec.structs.replace(
        agent,
        implementation=how,
        model=as_text(fields.get("llm")) if how else "",
        arguments=argument_pairs(as_mapping(fields.get("llm_args"))),
    )


def _actor(fields: dict[str, Any], otherwise: str) -> Actor:
    """Return the actor of one side: a person if its implementation says so, else its model."""
    how = as_text(fields.get("implementation"))
    return Actor("human" if "human" in how.lower() else "model", as_text(fields.get("llm")) or how or otherwise)


def _status(
    run: dict[str, Any], messages: list[dict[str, Any]], old: dict[str, Any]
) -> tuple[Literal["completed", "stopped", "failed", "budget"], str]:
    reason = as_text(run.get("termination_reason"))
    if reason:
        return _STATUS.get(reason.lower(), "failed"), reason
    if old.get("error"):
        return "failed", as_text(old["error"]) or "error"
    last = messages[-1] if messages else {}
    ended = _STOP in str(last.get("content")) or last.get("name") == "transfer_to_human_agents"
    if ended:
        return "completed", ""
    return ("stopped" if messages else "failed"), "the source tells no end" if messages else "the source holds no steps"


def _score(run: dict[str, Any]) -> float | None:
    reward = run.get("reward_info")
    amount = as_amount(reward.get("reward") if isinstance(reward, dict) else run.get("reward"))
    return amount if amount is not None and amount <= 1 else None


def _usage(run: dict[str, Any], calls: int) -> Usage | None:
    cost, seconds = as_amount(run.get("agent_cost")), as_amount(run.get("duration"))
    return None if cost is None and seconds is None else Usage(cost=cost, seconds=seconds, tries=max(1, calls))


def _add_verdicts(
    draft: Draft,
    run: dict[str, Any],
    notes: Notes,
    context: FileContext,
    old: dict[str, Any],
    after: list[dict[str, Any]],
) -> None:
    reward_info = as_mapping(run.get("reward_info", old.get("reward_info")))
    if reward_info or "reward" in run:
        draft.verdict("reward_info", reward_info.get("reward", run.get("reward")), **reward_info)
    for name in _JUDGED:
        if run.get(name) is not None:
            judgement = run[name]
            draft.verdict(name, None if isinstance(judgement, dict) else judgement, **as_mapping(judgement))
    cost = run.get("user_cost", old.get("user_cost"))
    if cost is not None:
        draft.verdict("user_cost", cost)
    rest: dict[str, Any] = {key: value for key, value in run.items() if key not in _PLACED and value is not None}
    if context.info:
        rest["run_info"] = context.info
    if after:
        rest["after"] = after
    if notes:
        rest["missing"] = notes_below(notes)
    draft.verdict("source", **rest)
