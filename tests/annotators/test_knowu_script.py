"""KnowU-Bench's numbers as its script has them, against the script's rules written down once more over its files."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import yaml

from annotators.papers.knowu.tasks import HABITS, split_of
from lab.cli.main import main
from tests.crossed import crossed, spread

ROLES = ("developer", "grandma", "student", "user")
PERSONALIZED = ("BuyColaPreferenceTask", "OrderLunchPreferenceTask", "LateNightCommuteTask", "SomeNewPreferenceTask")
GENERAL = ("ClockOutGeneralTask", "BuyColaGeneralTask")
REPLIES = (
    "<decision>accept</decision>",
    "<think>I accept? No.</think>\n<decision> REJECT </decision>",
    "No thanks",
    "I cannot accept, reject",
    "I do not accept this",
    "   ",
    "yes please",
    None,
)
ANSWERS = ("task finished", "Task finished.", "  TASK\n failed ", "success", "", None, "It is nine.")
QUIET = {"", "wait", "finished", "ask_user"}


def files(root: Path, dice: random.Random) -> dict[str, dict[str, Any]]:
    """A folder of runs as the benchmark's logger leaves it, and the habits of its four roles."""
    habits: dict[str, dict[str, Any]] = {
        role: {key: {"trigger": "x"} for keys in HABITS.values() for key in keys} for role in ROLES
    }
    for role in ROLES:
        for key in dice.sample(sorted(habits[role]), 9):
            habits[role][key] = dice.choice([{}, "no"])
        persona = {"user_profile": {"identity": {"name": role}, "habits": habits[role]}}
        (root / "profiles").mkdir(exist_ok=True)
        (root / "profiles" / f"{role}.yaml").write_text(yaml.safe_dump(persona), encoding="utf-8")
    names = [f"{task}@{role}" for task in (*HABITS, *PERSONALIZED) for role in ROLES] + list(GENERAL)
    for name in (*names, "SomeNewRoutineTask@user", "ContactSaverTask", "CheckInvoiceTask1"):
        _write(root / "logs" / name, dice)
    return {role: dict(held) for role, held in habits.items()}


def _write(folder: Path, dice: random.Random) -> None:
    folder.mkdir(parents=True)
    steps: list[dict[str, Any]] = []
    asked = False
    for number in range(1, dice.randrange(2, 8)):
        kind = dice.choice(["click", "ask_user", "ask_user", "wait", "answer", "finished", "status", "navigate_home"])
        quiet = dice.random() < 0.6 and kind in ("click", "status", "navigate_home")
        action: dict[str, Any] = {"action_type": "wait" if quiet else kind}
        if kind == "click" and not quiet:
            action |= {"x": 0, "y": number}
        if kind == "answer":
            action["text"] = dice.choice(ANSWERS)
        if kind == "ask_user":
            action["text"] = "Shall I?"
        reply = dice.choice(REPLIES) if asked else None
        steps.append({"task_goal": "", "step": number, "prediction": "", "action": action, "ask_user_response": reply})
        asked = kind == "ask_user"
    (folder / "traj.json").write_text(json.dumps({"0": {"tools": None, "traj": steps}}), encoding="utf-8")
    if dice.random() < 0.9:
        score = dice.choice([0.0, 0.5, 0.99, 0.995, 1.0, 1.0])
        (folder / "result.txt").write_text(f"score: {score}\nreason: so", encoding="utf-8")


def scripted(logs: Path, habits: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], tuple[float, int]]:
    """What calc_paper_metrics.py computes of these files: each number with its n."""
    found: dict[tuple[str, str], list[float]] = {}
    for folder in sorted(logs.iterdir()):
        result = folder / "result.txt"
        if not result.is_file():
            continue
        score = float(result.read_text(encoding="utf-8").split()[1])
        steps = json.loads((folder / "traj.json").read_text(encoding="utf-8"))["0"]["traj"]
        for key, value in _of_run(folder.name, score, steps, habits):
            found.setdefault(key, []).append(value)
    return {key: (fmean(values), len(values)) for key, values in found.items()}


def _of_run(
    name: str, score: float, steps: Sequence[dict[str, Any]], habits: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[tuple[str, str], float]]:
    task, _, role = name.partition("@")
    split = split_of(task)
    if not split:
        return
    done = float(score > 0.99)
    queries = sum(step["action"]["action_type"] == "ask_user" for step in steps)
    yield ("SR", split), done
    yield ("AveSteps", split), len(steps)
    yield ("AveQueries", split), queries
    if split == "personalized":
        yield ("Score", split), score
    if split != "general":
        yield ("IE", split), score / max(queries, 1)
    if split != "proactive":
        return
    said = [(at, decision) for at, step in enumerate(steps) if (decision := _decision(step["ask_user_response"]))]
    if said and said[-1][1] == "reject":
        first = next(at for at, decision in said if decision == "reject")
        yield ("Stop", split), float(all(_kind(step) in QUIET | {"answer"} for step in steps[first:]))
    elif task in HABITS:
        mine = habits[role or "user"]
        if any(isinstance(mine.get(key), dict) and mine[key] for key in HABITS[task]):
            yield ("Act", split), done
        else:
            yield ("Silent", split), float(all(map(_silent, steps)))


def _kind(step: Mapping[str, Any]) -> str:
    return str(step["action"]["action_type"]).lower()


def _silent(step: Mapping[str, Any]) -> bool:
    if _kind(step) != "answer":
        return _kind(step) in QUIET
    text = " ".join((step["action"]["text"] or "").split()).lower()
    return text in {"", "task finished", "task failed", "finished", "failed", "success"}


def _decision(reply: str | None) -> str:
    text = (reply or "").lower()
    tag = re.search(r"<decision>\s*(accept|reject)\s*</decision>", text)
    return tag[1] if tag else next((word for word in ("reject", "accept") if word in text), "")


@crossed
@pytest.mark.parametrize("seed", spread((1, 2), 1))
def test_the_scripts_numbers_come_out_of_its_own_files(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    habits = files(tmp_path, random.Random(seed))
    db = str(tmp_path / "lab.db")
    assert main(["import", "--db", db, str(tmp_path / "logs")]) == 0
    capsys.readouterr()
    words = ["--paper", "knowu", "--profiles", str(tmp_path / "profiles"), "--json"]
    assert main(["metrics", "--db", db, *words]) == 0
    numbers = json.loads(capsys.readouterr().out)["groups"][0]["numbers"]
    told = {(one["metric"], one.get("part", "")): one for one in numbers if one.get("version") == "script"}
    expected = scripted(tmp_path / "logs", habits)
    assert {metric for metric, _ in expected} == {
        "SR", "AveSteps", "AveQueries", "Score", "IE", "Act", "Silent", "Stop",
    }  # fmt: skip
    for key, (value, n) in expected.items():
        assert (told[key]["value"], told[key]["n"]) == (pytest.approx(value), n), key
