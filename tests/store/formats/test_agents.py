"""Who worked an imported run: two agents of one model are two, in every format that tells them apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.agent_names import shortest_names
from lab.core.run.run_records import Imported
from lab.core.run.trace import Started
from store.formats import read
from tests.store.formats import test_droidrun as droidrun
from tests.store.formats import test_inspect as inspect
from tests.store.formats import test_tau2 as tau2
from tests.store.test_knowu import act, folder, step

Pair = list[Path]


def _inspect(root: Path, **more: Any) -> Path:
    own: Any = inspect.HEADER["eval"]
    header = {**own, **more.pop("eval", {})}
    return inspect.log(root / f"{len(list(root.iterdir()))}.json", inspect.sample(), eval=header, **more)


def _solvers(root: Path) -> Pair:
    steps: list[Any] = [{"solver": name, "params": {}} for name in ("basic_agent", "react")]
    return [_inspect(root, plan={"steps": [one]}) for one in steps]


def _solver_arguments(root: Path) -> Pair:
    return [_inspect(root, eval={"solver": "react", "solver_args": {"attempts": n, "seed": n}}) for n in (1, 2)]


def _generation(root: Path) -> Pair:
    return [_inspect(root, eval={"model_generate_config": {"temperature": n, "seed": 1}}) for n in (0.0, 1.0)]


def _tau2(root: Path) -> Pair:
    paths = []
    for name in ("llm_agent", "llm_agent_solo"):
        info = {**tau2.INFO, "agent_info": {"implementation": name, "llm": "claude-x", "llm_args": {}}}
        simulation = {"id": name, "task_id": "0", "messages": tau2.MESSAGES, "termination_reason": "user_stop"}
        paths.append(root / f"{name}.json")
        paths[-1].write_text(json.dumps({"info": info, "tasks": [tau2.TASK], "simulations": [simulation]}))
    return paths


def _droidrun(root: Path) -> Pair:
    fast = [
        {"type": "FastAgentInputEvent"},
        {"type": "FastAgentResponseEvent", "thought": "So.", "code": ""},
        {"type": "FastAgentEndEvent", "success": True, "reason": "done"},
    ]
    slow = [{"type": "CodeActInputEvent"}, *droidrun.code("complete(True)")]
    return [droidrun.put(root / "a", slow), droidrun.put(root / "b", fast)]


def _knowu(root: Path) -> Pair:
    paths = []
    for kind in ("general_e2e", "planner"):
        folder(root / kind, [step(1, act("wait"))], name="logs/Task1")
        report = {"metadata": {"agent_type": kind, "model_name": "qwen"}}
        (root / kind / "logs" / "eval_report_20260101.json").write_text(json.dumps(report))
        paths.append(root / kind)
    return paths


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (_solvers, ["basic_agent", "react"]),
        (_solver_arguments, ["react (attempts=1)", "react (attempts=2)"]),
        (_generation, ["basic_agent (temperature=0.0)", "basic_agent (temperature=1.0)"]),
        (_tau2, ["llm_agent", "llm_agent_solo"]),
        (_droidrun, ["droidrun (agent=CodeAct)", "droidrun (agent=FastAgent)"]),
        (_knowu, ["logs (agent_type=general_e2e)", "logs (agent_type=planner)"]),
    ],
)
def test_two_agents_of_one_model_are_two(tmp_path: Path, made: Callable[[Path], Pair], names: list[str]) -> None:
    agents = []
    for path in made(tmp_path):
        (found,) = [one for one in read(path) if isinstance(one, Imported)]
        assert isinstance(found.events[0], Started)
        agents.append(found.events[0].agent)
    short = shortest_names(agents)
    assert [short[agent.identity] for agent in agents] == names


def test_the_same_agent_with_another_seed_is_one(tmp_path: Path) -> None:
    paths = [_inspect(tmp_path, eval={"solver_args": {"seed": n}, "model_args": {"api_base": str(n)}}) for n in (1, 2)]
    identities = {one.events[0].agent.identity for path in paths for one in read(path) if isinstance(one, Imported)}  # type: ignore[union-attr]
    assert identities == {"basic_agent (openai/gpt-4o)"}
