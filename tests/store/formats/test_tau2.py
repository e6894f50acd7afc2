"""tau2-bench: conversations as runs, whole files and folders of them, and tau-bench's lists before it."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.run_records import Imported, Verdict
from lab.core.run.step import Usage
from lab.core.run.trace import Answered, Asked, Trace, fold
from store.formats import FailedRun, KnownRun, read
from store.runs.run_import import import_paths
from store.store import Store

INFO = {
    "git_commit": "2dc8eaf",
    "num_trials": 5,
    "max_steps": 100,
    "max_errors": 10,
    "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1", "llm_args": {}},
    "agent_info": {"implementation": "llm_agent", "llm": "claude-x", "llm_args": {"temperature": 0.0}},
    "environment_info": {"domain_name": "retail", "policy": "# Policy"},
    "seed": 300,
}
TASK = {
    "id": "0",
    "description": {"purpose": None},
    "user_scenario": {
        "persona": None,
        "instructions": {
            "domain": "retail",
            "reason_for_call": "You wish to exchange the keyboard.",
            "known_info": "You are Yusuf.",
            "unknown_info": "Your email.",
            "task_instructions": "You are detail-oriented.",
        },
    },
    "ticket": None,
    "evaluation_criteria": {"actions": [{"action_id": "0_0"}, {"action_id": "0_1"}]},
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "assistant", "content": "Hi!", "turn_idx": 0, "timestamp": "2026-02-20T22:59:39.175055", "cost": 0.0,
     "usage": None},
    {"role": "user", "content": "A keyboard.", "turn_idx": 1, "timestamp": "2026-02-20T22:59:41.175055", "cost": 0.001,
     "usage": {"completion_tokens": 9, "prompt_tokens": 87}},
    {"role": "assistant", "content": None, "turn_idx": 2, "timestamp": "2026-02-20T22:59:44", "cost": 0.02,
     "usage": {"completion_tokens": 12, "prompt_tokens": 300, "prompt_tokens_details": {"cached_tokens": 200}},
     "generation_time_seconds": 1.5, "raw_data": {"message": {"reasoning_content": "First find them."}},
     "tool_calls": [
         {"id": "c1", "name": "find_user", "arguments": {"zip": "19122"}, "requestor": "assistant"},
         {"id": "c2", "name": "get_order", "arguments": {}, "requestor": "assistant"},
     ]},
    {"role": "tool", "id": "mt", "tool_messages": [
        {"role": "tool", "id": "c2", "content": "Error: no order", "error": True, "requestor": "assistant"},
        {"role": "tool", "id": "c1", "content": "yusuf_1", "error": False, "requestor": "assistant"},
    ]},
    {"role": "assistant", "content": "Restart the phone, please.", "turn_idx": 4, "timestamp": "2026-02-20T23:00:00"},
    {"role": "user", "content": None, "turn_idx": 5,
     "tool_calls": [{"id": "u1", "name": "reboot", "arguments": {}, "requestor": "user"}]},
    {"role": "tool", "id": "u1", "content": "rebooted", "requestor": "user", "error": False},
    {"role": "user", "content": "Done. ###STOP###", "turn_idx": 7, "timestamp": "2026-02-20T23:00:30"},
]  # fmt: skip
RUN = {
    "id": "sim-1",
    "task_id": "0",
    "timestamp": "2026-02-20T23:00:31",
    "start_time": "2026-02-20T22:59:39",
    "end_time": "2026-02-20T23:00:31",
    "duration": 52.0,
    "termination_reason": "user_stop",
    "agent_cost": 0.03,
    "user_cost": 0.002,
    "reward_info": {"reward": 1.0, "db_check": {"db_match": True}, "info": {"name": "x"}},
    "messages": MESSAGES,
    "trial": 2,
    "seed": 7,
    "review": {"summary": "fine", "errors": []},
}


def results(*runs: Any, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-02-20T22:59:39", "info": INFO, "tasks": [TASK], "simulations": list(runs), **more}


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    return path


def only(path: Path) -> tuple[Trace, dict[str, Verdict]]:
    found = list(read(path))
    assert len(found) == 1, found
    assert isinstance(found[0], Imported), found
    return fold(found[0].events), {verdict.name: verdict for verdict in found[0].verdicts}


def test_a_conversation_is_a_run(tmp_path: Path) -> None:
    path = put(tmp_path / "retail.json", results(RUN))
    trace, verdicts = only(path)
    greeting, find, order, ask = trace.steps
    assert [step.proposed.action.kind for step in trace.steps] == ["ask_user", "other", "other", "ask_user"]
    assert greeting.question is not None
    assert greeting.reply is not None
    assert (greeting.question.text, greeting.reply.text) == ("Hi!", "A keyboard.")
    assert greeting.reply.shown_at == "2026-02-20T22:59:39.175055+00:00"
    assert greeting.reply.sent_at == "2026-02-20T22:59:41.175055+00:00"
    assert greeting.extra["reply"]["usage"] == {"completion_tokens": 9, "prompt_tokens": 87}
    assert find.proposed.action.raw == MESSAGES[2]["tool_calls"][0]
    assert find.proposed.action.text == "find_user"
    assert find.proposed.usage == Usage(300, 12, 200, 0.02, 1.5)
    assert find.proposed.thought == "First find them."
    assert find.extra["tool_result"]["content"] == "yusuf_1"
    assert (order.error, order.proposed.usage, order.proposed.thought) == ("Error: no order", None, "")
    assert ask.reply is not None
    assert ask.reply.text == "Done. ###STOP###"
    assert ask.reply.by.id == "gpt-4.1"
    assert [message["role"] for message in ask.extra["user_tools"]] == ["user", "tool"]
    assert (trace.status, trace.attempt, trace.agent.id) == ("completed", 3, "claude-x")
    assert trace.ended is not None
    assert (trace.ended.score, trace.ended.reason) == (1.0, "user_stop")
    assert trace.ended.usage == Usage(cost=0.03, seconds=52.0, tries=4)
    assert verdicts["reward_info"].value == 1.0
    assert verdicts["reward_info"].extra == RUN["reward_info"]
    assert verdicts["user_cost"].value == 0.002
    assert verdicts["review"].extra == RUN["review"]
    assert verdicts["source"].extra["seed"] == 7
    assert verdicts["source"].extra["run_info"] == INFO


def test_the_scenario_is_hidden_from_the_agent(tmp_path: Path) -> None:
    trace, _ = only(put(tmp_path / "retail.json", results(RUN)))
    assert (trace.task.id, trace.task.instruction) == ("retail/0", "You wish to exchange the keyboard.")
    assert trace.task.policy == "You are detail-oriented."
    assert (trace.task.golden_steps, trace.task.budget) == (2, 100)
    assert trace.task.traits == {"domain": "retail"}
    assert trace.persona is not None
    assert trace.persona.facts == TASK["user_scenario"]


def test_questions_are_events_of_their_own(tmp_path: Path) -> None:
    found = next(iter(read(put(tmp_path / "retail.json", results(RUN)))))
    assert isinstance(found, Imported)
    assert sum(isinstance(event, Asked) for event in found.events) == 2
    assert sum(isinstance(event, Answered) for event in found.events) == 2
    assert found.images == {}


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("user_stop", "completed"),
        ("agent_stop", "completed"),
        ("max_steps", "budget"),
        ("timeout", "stopped"),
        ("too_many_errors", "failed"),
        ("infrastructure_error", "failed"),
        ("USER_STOP", "completed"),
    ],
)
def test_how_it_ended(tmp_path: Path, reason: str, status: str) -> None:
    trace, _ = only(put(tmp_path / "r.json", results({**RUN, "termination_reason": reason})))
    assert trace.ended is not None
    assert (trace.status, trace.ended.reason) == (status, reason)


def test_who_speaks_first_and_last(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "policy"},
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "assistant", "content": "Anyone?"},
        {"role": "user", "content": "Me."},
        {"role": "user", "content": "And me."},
    ]
    trace, verdicts = only(put(tmp_path / "r.json", results({**RUN, "messages": messages})))
    first, second = trace.steps
    assert first.extra["before"] == messages[:2]
    assert first.reply is None
    assert second.reply is not None
    assert second.reply.text == "Me."
    assert verdicts["source"].extra["after"] == messages[5:]
    alone = [{"role": "assistant", "content": "All done ###STOP###"}]
    trace, _ = only(put(tmp_path / "s.json", results({**RUN, "messages": alone, "termination_reason": "agent_stop"})))
    assert [step.proposed.action.kind for step in trace.steps] == ["answer"]


def test_a_person_who_played_the_user_is_one(tmp_path: Path) -> None:
    info = {**INFO, "user_info": {"implementation": "human_user", "llm": None}}
    trace, _ = only(put(tmp_path / "r.json", results(RUN, info=info)))
    assert trace.user is not None
    assert trace.user.kind == "human"


def test_a_folder_of_simulations_is_read_with_its_index(store: Store, tmp_path: Path) -> None:
    index = {key: value for key, value in results().items() if key != "simulations"}
    put(tmp_path / "run" / "results.json", {**index, "simulation_index": [{"id": "sim-1", "task_id": "0", "trial": 2}]})
    put(tmp_path / "run" / "simulations" / "sim-1.json", RUN)
    put(tmp_path / "run" / "simulations" / "sim-2.json", {**RUN, "id": "sim-2"})
    (tmp_path / "run" / "simulations" / "sim-3.json").write_text("{")
    found = list(read(tmp_path))
    assert [type(one) for one in found] == [Imported, Imported, FailedRun]
    assert isinstance(found[0], Imported)
    assert fold(found[0].events).task.id == "retail/0"
    put(tmp_path / "whole.json", results(RUN))
    report = import_paths(store, [tmp_path])
    assert (report.imported, report.skipped) == (2, 1)


def test_one_simulation_alone(tmp_path: Path) -> None:
    trace, _ = only(put(tmp_path / "sim-1.json", RUN))
    assert (trace.task.id, len(trace.steps)) == ("0", 4)
    packed = tmp_path / "packed" / "all.json.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(json.dumps(results(RUN)).encode()))
    assert len(list(read(packed))) == 1


OLD = {
    "task_id": 3,
    "reward": 0.0,
    "info": {"task": {"user_id": "mia", "instruction": "You are Mia.", "actions": []}, "user_cost": 0.003,
             "reward_info": {"reward": 0.0, "info": {"r_actions": 0.0}}},
    "traj": [
        {"role": "system", "content": "# Policy"},
        {"role": "user", "content": "Hi! A flight."},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "a", "type": "function", "function": {
                "name": "get_user", "arguments": '{"user_id": "mia", "n": NaN}'}}]},
        {"role": "tool", "tool_call_id": "a", "name": "get_user", "content": "{}"},
        {"role": "assistant", "content": "Booked."},
        {"role": "user", "content": "###STOP###"},
    ],
    "trial": 0,
}  # fmt: skip


def test_tau_bench_before_it(tmp_path: Path) -> None:
    broken = {"task_id": 4, "reward": 0.0, "info": {"error": "EOF", "traceback": "..."}, "traj": [], "trial": 1}
    put(tmp_path / "gpt-4o-airline.json", [OLD, broken, 7])
    found = list(read(tmp_path))
    assert [type(one) for one in found] == [Imported, Imported, FailedRun]
    assert isinstance(found[0], Imported)
    assert isinstance(found[1], Imported)
    trace = fold(found[0].events)
    assert trace.steps[0].proposed.action.raw == {
        "id": "a", "name": "get_user", "arguments": {"user_id": "mia", "n": None}, "requestor": "assistant",
    }  # fmt: skip
    assert trace.steps[0].extra["tool_result"]["content"] == "{}"
    assert trace.steps[1].reply is not None
    assert trace.task.instruction == "You are Mia."
    assert trace.ended is not None
    assert (trace.status, trace.ended.score, trace.attempt) == ("completed", 0.0, 1)
    failed = fold(found[1].events)
    assert failed.ended is not None
    assert (failed.status, failed.ended.reason, failed.attempt) == ("failed", "EOF", 2)


def test_one_bad_run_leaves_the_others(tmp_path: Path) -> None:
    sound = {**RUN, "messages": None, "ticks": [{"tick_id": 0}]}
    wrong = [{**RUN, "messages": "no"}, {**RUN, "messages": ["no"]}, 5, sound]
    found = list(read(put(tmp_path / "r.json", results(*wrong, RUN))))
    assert [type(one) for one in found] == [FailedRun, FailedRun, FailedRun, FailedRun, Imported]
    errors = [one.error for one in found if isinstance(one, FailedRun)]
    assert "field messages: is no list of messages" in errors[0]
    assert "field messages[0]: is no message" in errors[1]
    assert "only conversations in text are read" in errors[3]


def test_what_json_does_not_know_is_missing_and_told(tmp_path: Path) -> None:
    text = json.dumps(results({**RUN, "duration": float("nan"), "agent_cost": 10**40}))
    path = tmp_path / "r.json"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    trace, verdicts = only(path)
    assert trace.ended is not None
    assert trace.ended.usage is None
    assert ["duration", "nan"] in verdicts["source"].extra["missing"]


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(results(RUN))[:-50])
    assert [type(one) for one in read(path)] == [FailedRun]
    path.write_text(json.dumps({**results(), "simulations": {"a": 1}}))
    assert [type(one) for one in read(path)] == [FailedRun]
    path.write_text("[" * 5000 + '"task_id" "reward" "traj"')
    assert list(read(path)) == []
    (tmp_path / "tasks.json").write_text(json.dumps([TASK]))
    assert list(read(tmp_path / "tasks.json")) == []


def test_twice_is_once(store: Store, tmp_path: Path) -> None:
    path = put(tmp_path / "r.json", results(RUN, {**RUN, "id": "sim-2"}))
    assert import_paths(store, [path]).imported == 2
    path.write_text(json.dumps(results(RUN, {**RUN, "id": "sim-2"})))  # the same values, written otherwise
    again = import_paths(store, [path])
    assert (again.imported, again.skipped, again.failed) == (0, 2, [])
    assert all(isinstance(one, KnownRun) for one in read(path, known=lambda id: True))


ODD: list[Any] = [None, True, -1, 10**30, 1e308, "", "x", "2026-99-99", [], [None], {}, {"id": [1]}, "attachment://x"]


def bent(value: Any, chance: random.Random, share: float) -> Any:
    """A value with some of its parts, at any depth, replaced by parts of other types."""
    if chance.random() < share:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {key: bent(held, chance, share) for key, held in value.items() if chance.random() > share / 2}
    return [bent(held, chance, share) for held in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(60))
def test_wrong_types_anywhere_never_crash(store: Store, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    runs = [bent(RUN, chance, 0.05) for _ in range(4)]
    put(tmp_path / "new.json", {**results(*runs), "info": bent(INFO, chance, 0.1), "tasks": bent([TASK], chance, 0.1)})
    put(tmp_path / "old.json", [bent(OLD, chance, 0.05) for _ in range(4)])
    report = import_paths(store, [tmp_path])
    assert report.imported + report.skipped + len(report.failed) == 8
    assert store.check() == []
