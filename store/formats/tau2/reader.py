"""tau2-bench's results (`{info, tasks, simulations}`, or a folder `simulations` beside them), and tau-bench's lists.

One conversation becomes one run without screens. The user's scenario becomes the persona's hidden facts, the user's
wish the task's instruction, and the rules of behaviour the policy of the person's seat. The reward is the score.
`reward_info`, reviews and the cost of the user's side become verdicts. Times have no zone in the source and are treated
as UTC. The source counts trials from 0, hitlab counts attempts from 1.

A tool call of the agent is a step of its own. A message to the user is a question, and the user's next message the
reply. Tools that the user calls in between, and unprompted messages of the user, are stored unchanged in `extra`.

Source: `src/tau2/data_model/simulation.py` and `message.py` of sierra-research/tau2-bench.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.codec import StorableValue, escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.agent_names import argument_pairs
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Question, Reply, Usage
from lab.core.task.task import Actor, Persona, Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.draft import RunDraft, run_id
from store.formats.failures import with_failures
from store.formats.json_parts import is_list, list_items, split_object
from store.formats.times import utc
from store.formats.values import Notes, as_amount, as_count, as_mapping, as_mappings, as_text, notes_below

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


def _new_draft(id: str, run: dict[str, Any], context: FileContext, old: dict[str, Any], data: bytes) -> RunDraft:
    """Return the run before its first step: task, persona, agent and attempt."""
    task, persona = _task(run, context, old)
    trial = run.get("trial")
    return RunDraft(
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


def _step(draft: RunDraft, turn: DialogueTurn, user: Actor, reason: str) -> None:
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
    draft: RunDraft,
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


_FOLDER = "simulations"
_INDEX = "results.json"
_MARKS = (b'"simulations"', b'"agent_info"', b'"task_id"')


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield every conversation of a file, and of the folder `simulations` beside a `results.json`."""
    path = source.path
    data = source.text(path)
    source_path = escape_surrogates(str(path))
    if is_list(data):
        yield from _read_runs(list_items(data, source_path), FileContext(source_path, {}, {}), is_known)
        return
    results = split_object(data, "simulations", source_path)
    if "task_id" in results.rest:
        yield from _read_runs(iter([read_json(data, source_path)]), FileContext(source_path, {}, {}), is_known)
        return
    context = FileContext(source_path, as_mapping(results.rest.get("info")), _tasks_by_id(results.rest.get("tasks")))
    yield from _read_runs(results.items, context, is_known)
    if path.name == _INDEX:
        yield from _read_folder(source, path.parent / _FOLDER, context, is_known)


def _read_folder(
    source: RunSource, folder: Path, context: FileContext, is_known: Callable[[str], bool]
) -> Iterator[Imported | KnownRun | FailedRun]:
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("[!.]*.json")):
        try:
            value = read_json(source.text(path), str(path))
        except LabError as error:
            yield FailedRun(str(path), error.sentence)
            continue
        yield from _read_runs(iter([value]), context._replace(path=escape_surrogates(str(path))), is_known)


def _read_runs(
    runs: Iterator[StorableValue | LabError], context: FileContext, is_known: Callable[[str], bool]
) -> Iterator[Imported | KnownRun | FailedRun]:
    for i, run in enumerate(runs):
        name = f"{context.path}#{i}"
        if isinstance(run, LabError):
            yield FailedRun(name, run.sentence)
            continue
        try:
            if not isinstance(run.value, dict):
                raise LabError(name, "is no conversation")
            if run.value.get("messages") is None and run.value.get("traj") is None:
                sound = "holds ticks of sound and no messages; only conversations in text are read"
                raise LabError(
                    name, sound if run.value.get("ticks") else "field messages: is not there; this is no run"
                )
            yield imported(run.value, run.notes, context, is_known)
        except LabError as error:
            yield FailedRun(name, error.sentence)


def _tasks_by_id(value: Any) -> dict[str, dict[str, Any]]:
    return {str(task.get("id")): task for task in value if isinstance(task, dict)} if isinstance(value, list) else {}


def _is_results(candidate: CandidateFile) -> bool:
    if not candidate.is_json or not any(mark in candidate.opening for mark in _MARKS):
        return False
    value = candidate.value
    if isinstance(value, list):
        return any("reward" in item and _is_conversation(item) for item in candidate.items)
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("simulations"), list):
        has_fields = any(isinstance(value.get(field), list | dict) for field in ("tasks", "info"))
        return has_fields or any(isinstance(run, dict) and _is_conversation(run) for run in value["simulations"])
    info = as_mapping(value.get("info"))
    if "agent_info" in info and "user_info" in info:
        return True
    # One conversation of a folder `simulations`, unless its `results.json` already reads it.
    alone = "termination_reason" in value and (_is_conversation(value) or (candidate.is_cut and "start_time" in value))
    return alone and "task_id" in value and not _is_indexed(candidate.path)


def _is_conversation(run: dict[str, Any]) -> bool:
    """Return True if a value is a conversation about a task: messages with roles, or ticks of sound."""
    if "task_id" not in run:
        return False
    messages = next((run[field] for field in ("messages", "traj") if isinstance(run.get(field), list)), None)
    if messages is None:
        return isinstance(run.get("ticks"), list)
    return not messages or (isinstance(messages[0], dict) and "role" in messages[0])


def _is_indexed(path: Path) -> bool:
    """Return True if a `results.json` above this file's folder includes it."""
    return path.parent.name == _FOLDER and (path.parent.parent / _INDEX).is_file()


TAU2 = Format(
    name=NAME, title="tau2-bench", is_run_folder=lambda folder, names, root: False, is_file=_is_results, read=read
)


_PLACED_KEYS = frozenset({"role", "content", "tool_calls", "cost", "usage", "generation_time_seconds", "timestamp"})


class DialogueTurn(NamedTuple):
    """One tool call or message of the agent. `extra` has the source's fields without a place.

    `at` and `replied` are UTC, both empty if the source has no times.
    """

    call: dict[str, Any] | None = None
    text: str = ""
    thought: str = ""
    error: str | None = None
    reply: str | None = None
    usage: Usage | None = None
    at: str = ""
    replied: str = ""
    extra: dict[str, Any] = {}


def turns(messages: list[dict[str, Any]]) -> Iterator[DialogueTurn | list[dict[str, Any]]]:
    """Yield the agent's turns in order, and last a list of the messages after them."""
    aside: list[dict[str, Any]] = []
    used_places: set[int] = set()
    for i, message in enumerate(messages):
        if i in used_places:
            continue
        if message.get("role") != "assistant":
            aside.append(message)
            continue
        agent_turns = list(_call_turns(messages, i, used_places)) or [_spoken_turn(messages, i, used_places)]
        if aside:
            agent_turns[0] = agent_turns[0]._replace(extra={"before": aside, **agent_turns[0].extra})
            aside = []
        yield from agent_turns
    yield aside


def _call_turns(messages: list[dict[str, Any]], i: int, used_places: set[int]) -> Iterator[DialogueTurn]:
    message = messages[i]
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return
    results = _tool_results(messages, i, used_places) if calls else {}
    for n, raw in enumerate(calls):
        call = call_of(raw)
        result = results.pop(str(call.get("id")), None)
        extra = {"call": raw} if call != raw else {}
        if result is not None:
            extra["tool_result"] = result
        failed = result is not None and result.get("error") is True
        yield DialogueTurn(
            call=call,
            thought=_thought(message) if n == 0 else "",
            error=_as_text(result.get("content")) if failed and result else None,
            usage=usage_of(message) if n == 0 else None,
            at=utc(message.get("timestamp")),
            extra={**_unplaced_fields(message), **extra} if n == 0 else {"turn_idx": message.get("turn_idx"), **extra},
        )


def _tool_results(messages: list[dict[str, Any]], i: int, used_places: set[int]) -> dict[str, dict[str, Any]]:
    """Return the results of the agent's tools by call, from the messages that follow directly, single or combined."""
    results: dict[str, dict[str, Any]] = {}
    for j in range(i + 1, len(messages)):
        message = messages[j]
        if message.get("role") != "tool":
            break
        tool_messages = message.get("tool_messages")
        for tool_message in tool_messages if isinstance(tool_messages, list) else [message]:
            if isinstance(tool_message, dict):
                results[str(tool_message.get("tool_call_id", tool_message.get("id")))] = tool_message
        used_places.add(j)
    return results


def _spoken_turn(messages: list[dict[str, Any]], i: int, used_places: set[int]) -> DialogueTurn:
    message = messages[i]
    extra = _unplaced_fields(message)
    between: list[dict[str, Any]] = []
    answer: dict[str, Any] | None = None
    for j in range(i + 1, len(messages)):
        after = messages[j]
        if after.get("role") == "assistant":
            break
        used_places.add(j)
        if after.get("role") == "user" and not after.get("tool_calls"):
            answer = after
            break
        between.append(after)
    if between:
        extra["user_tools"] = between
    if answer is not None:
        extra["reply"] = {key: value for key, value in answer.items() if key not in ("role", "content")}
    return DialogueTurn(
        text=_as_text(message.get("content")),
        thought=_reasoning(message),
        reply=None if answer is None else _as_text(answer.get("content")),
        usage=usage_of(message),
        at=utc(message.get("timestamp")),
        replied="" if answer is None else utc(answer.get("timestamp")),
        extra=extra,
    )


def call_of(raw: Any) -> dict[str, Any]:
    """Return a tool call in tau2-bench's form, converted from tau-bench's (OpenAI's) nested form if necessary."""
    if not isinstance(raw, dict):
        return {"name": "", "arguments": raw}
    nested = raw.get("function")
    if not isinstance(nested, dict):
        return raw
    arguments = nested.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = read_json(arguments.encode(), "arguments").value
        except LabError:
            arguments = nested.get("arguments")
    return {"id": raw.get("id"), "name": nested.get("name"), "arguments": arguments, "requestor": "assistant"}


def usage_of(message: dict[str, Any]) -> Usage | None:
    """Return the usage of a message, or None if the source does not record any."""
    tokens = as_mapping(message.get("usage"))
    cached_tokens = tokens.get(
        "cache_read_tokens", as_mapping(tokens.get("prompt_tokens_details")).get("cached_tokens")
    )
    cost, seconds = as_amount(message.get("cost")), as_amount(message.get("generation_time_seconds"))
    prompt, completion = as_count(tokens.get("prompt_tokens")), as_count(tokens.get("completion_tokens"))
    usage = Usage(prompt, completion, as_count(cached_tokens), cost, seconds)
    return None if usage == Usage() or (not tokens and not cost and seconds is None) else usage


def message_list(messages: Any, what: str, field: str) -> list[dict[str, Any]]:
    """Return the messages of a run. Raise `LabError` if they are not a list of messages."""
    return as_mappings([] if messages is None else messages, what, "message", field)


def _thought(message: dict[str, Any]) -> str:
    return "\n\n".join(text for text in (_reasoning(message), _as_text(message.get("content"))) if text)


def _reasoning(message: dict[str, Any]) -> str:
    raw = message.get("raw_data")
    raw_message = raw.get("message") if isinstance(raw, dict) else None
    return as_text((raw_message if isinstance(raw_message, dict) else message).get("reasoning_content")).strip()


def _unplaced_fields(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message's fields that have no place in a step, or do not fit it."""
    rest_fields = {key: value for key, value in message.items() if key not in _PLACED_KEYS and value is not None}
    for key in ("usage", "timestamp"):
        if message.get(key) is not None:
            rest_fields[key] = message[key]
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        rest_fields["content"] = content
    return rest_fields


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
