"""Agents by name, version and model in every table: of programs, of imports, and as a person corrects them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.core.settings import folder
from simulators.phone.phone import Phone
from tests.lab.cli.test_run_acts import Shell
from tests.lab.programs import program

TASK_FILE = "kind: general\ninstruction: Open the settings\nbudget: 3\nchecks: []\n"
NAMED = """
while True:
    line = read()
    if line["line"] == "hello":
        say(line="hello", v=1, screenshot="none", NAME)
    if line["line"] == "observation":
        say(kind="status", status="complete")
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Shell:
    """A file without runs."""
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "own.db"))
    monkeypatch.chdir(tmp_path)
    return Shell(capsysbinary)


def tau2(folder: Path, name: str, info: dict[str, Any], reward: float) -> None:
    """A results file of tau2-bench with two trials at one task."""
    simulations = [
        {
            "id": f"{name}-{k}", "task_id": "0", "trial": k, "start_time": f"2026-01-01T10:0{k}:00",
            "end_time": f"2026-01-01T10:0{k}:30", "termination_reason": "user_stop",
            "reward_info": {"reward": reward},
            "messages": [
                {"role": "assistant", "content": "What can I do?", "turn_idx": 0},
                {"role": "user", "content": f"Change seat {name} {k}. ###STOP###", "turn_idx": 1},
            ],
        }
        for k in range(2)
    ]  # fmt: skip
    task = {"id": "0", "user_scenario": {"persona": None, "instructions": "Another seat."}}
    whole = {
        "timestamp": "2026-01-01T10:00:00",
        "info": {"agent_info": info, "user_info": {}, "environment_info": {"domain_name": "airline"}},
        "tasks": [task],
        "simulations": simulations,
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(whole), encoding="utf-8")


FOUR = {
    "a": {"implementation": "llm_agent", "llm": "m/one", "llm_args": {"temperature": 0.0, "seed": 1}},
    "b": {"implementation": "retry_agent", "llm": "m/one", "llm_args": {"temperature": 0.0}},
    "c": {"implementation": "llm_agent", "llm": "m/two", "llm_args": {"temperature": 0.0}},
    "d": {"implementation": "llm_agent", "llm": "m/one", "llm_args": {"temperature": 1.0, "api_key": "sk-hidden123"}},
}
NAMES = {"llm_agent (m/one, temperature=0.0)", "retry_agent", "llm_agent (m/two)", "llm_agent (temperature=1.0)"}


@pytest.fixture
def four(lab: Shell, tmp_path: Path) -> Shell:
    """Four agents of two models, as tau2-bench writes them."""
    for n, (name, info) in enumerate(FOUR.items()):
        tau2(tmp_path / "in", name, info, float(n % 2))
    assert "8 imported" in lab.text("import", "in")
    return lab


def test_agents_of_one_model_are_as_many_as_their_implementations_and_arguments(four: Shell) -> None:
    groups = four.json("runs", "--group", "agent")["groups"]
    assert {(group["name"], group["runs"]) for group in groups} == {(name, 2) for name in NAMES}
    assert {group["mean_score"] for group in groups} == {0.0, 1.0}
    text = four.text("runs", "--group", "agent")
    assert all(name in text for name in NAMES)
    assert "in 4 groups" in text
    four.text("metrics", "--by", "agent")
    measured = four.json("metrics", "--by", "agent")
    assert [group["runs"] for group in measured["groups"]] == [2, 2, 2, 2]
    agent = four.json("show", four.ids("runs", "agent:1.0")[0])["started"]["agent"]
    assert agent["arguments"] == [["temperature", "1.0"]]
    lines = four.json("runs", "agent:retry")["runs"]
    assert {(line["agent"], line["agent_name"], line["agent_model"]) for line in lines} == {
        ("retry_agent (m/one, temperature=0.0)", "retry_agent", "m/one")
    }


def test_pass_rates_and_changes_are_of_one_agent_alone(four: Shell) -> None:
    numbers = {
        group["by"]["agent"]: {(n["metric"], n.get("part", "")): n for n in group["numbers"]}
        for group in four.json("metrics", "--by", "agent")["groups"]
    }
    rates = [found["SR", ""]["value"] for found in numbers.values()]
    assert sorted(rates) == [0.0, 0.0, 1.0, 1.0]
    assert [found["ΔCT", "later minus first"]["n"] for found in numbers.values()] == [1, 1, 1, 1]


def test_what_is_typed_as_it_is_shown_finds_the_runs(four: Shell) -> None:
    for name in NAMES:
        assert len(four.ids("runs", f'agent:"{name}"')) == 2
        assert len(four.ids("runs", f'agent="{name}"')) == 2
    assert len(four.ids("runs", "model:m/one")) == 6


def test_an_import_is_corrected_and_the_correction_taken_back(four: Shell, tmp_path: Path) -> None:
    runs = four.ids("runs", "agent:retry_agent")
    done = four.json("rename-agent", *runs, "--to", "mine", "--version", "2", "--model", "m/one")
    assert done["new"] == done["runs"] == runs
    assert four.json("rename-agent", *runs, "--to", "mine", "--version", "2", "--model", "m/one")["new"] == []
    for command in (
        ["runs", "list"],
        ["traces"],
        ["runs", "--group", "agent"],
        ["show", runs[0]],
        ["metrics", "--by", "agent"],
    ):
        text = four.text(*command)
        assert "mine" in text, command
        assert "retry_agent" not in text, command
    assert len(four.ids("runs", "agent:mine")) == 2
    # what came in stays: an import of the same file adds nothing, and the name stays
    assert "8 already there" in four.text("import", "in")
    assert len(four.ids("runs", "agent:mine")) == 2
    # a copy, a merge and an export keep it
    four.text("export", *runs, "--out", "out")
    four.text("import", "out", "--db", "again.db")
    four.text("pack", "copy.db")
    four.text("import", "in", "--db", "there.db")
    four.text("merge", "copy.db", "--db", "there.db")
    for db, shown in (("again.db", "mine 2 (m/one)"), ("copy.db", "mine"), ("there.db", "mine")):
        text = four.text("runs", "--group", "agent", "--db", db)
        assert f"\n{shown} " in text, db
        assert "retry_agent" not in text, db
    assert four.json("rename-agent", *runs, "--undo")["new"] == runs
    assert "retry_agent" in four.text("runs", "list")
    assert "mine" not in four.text("runs", "list")


def agent_program(folder: Path, **hello: object) -> str:
    """An agent's name for a program that says this of itself, and ends its run at once."""
    words = "".join(f", {name}={value!r}" for name, value in hello.items())
    return program(folder, NAMED.replace(", NAME", words))


def names_of(shell: Shell) -> set[str]:
    """The agents as `hitlab runs list --group agent` lists them."""
    return {line.split("  ")[0] for line in shell.text("runs", "--group", "agent").splitlines()[1:-1]}


@pytest.fixture
def task(lab: Shell, tmp_path: Path) -> str:
    (tmp_path / "settings.yaml").write_text(TASK_FILE, encoding="utf-8")
    return str(tmp_path / "settings.yaml")


def live(shell: Shell, task: str, *words: str) -> str:
    done: dict[str, Any] = shell.json("live", task, "--user", "script:usual_lunch", *words, schema="live")
    return str(done["trace"])


def test_versions_of_one_program_are_agents_of_their_own(lab: Shell, task: str, tmp_path: Path) -> None:
    first = live(lab, task, "--agent", agent_program(tmp_path, name="mine", version="1", model="qwen"))
    assert names_of(lab) == {"mine 1 (qwen)"}
    live(lab, task, "--agent", agent_program(tmp_path, name="mine", version=2, model="qwen"))
    lab.json("run", task, "--user", "script:usual_lunch", "--agent", agent_program(tmp_path, name="mine", version=2))
    assert names_of(lab) == {"mine 1", "mine 2 (qwen)", "mine 2"}
    text = lab.text("show", first)
    assert "agent   mine 1 (qwen), started as process:" in text
    assert {group["by"]["agent"] for group in lab.json("metrics", "--by", "agent")["groups"]} == {
        "mine 1 (qwen)", "mine 2 (qwen)", "mine 2",
    }  # fmt: skip


def test_a_program_without_a_name_is_called_by_its_file(lab: Shell, task: str, tmp_path: Path) -> None:
    live(lab, task, "--agent", agent_program(tmp_path))
    assert names_of(lab) == {"agent0.py"}
    live(lab, task, "--agent", agent_program(tmp_path))
    assert names_of(lab) == {"agent0.py", "agent1.py"}
    for command in ("runs", "traces"):
        assert str(tmp_path) not in lab.text(command)


def test_a_name_given_on_the_command_line_goes_before_the_programs_own(lab: Shell, task: str, tmp_path: Path) -> None:
    agent = agent_program(tmp_path, name="mine", version="1")
    run = live(lab, task, "--agent", agent, "--agent-name", "ours", "--agent-version", "9")
    lab.json("run", task, "--user", "script:usual_lunch", "--agent", agent, "--agent-version", "3")
    lab.json("fork", f"{run}@1", "--agent", agent, "--agent-name", "theirs", "--user", "script:usual_lunch")
    assert names_of(lab) == {"ours", "mine", "theirs"}
    lines = lab.json("runs")["runs"]
    assert {(line["agent"], line["agent_version"]) for line in lines} == {
        ("ours 9", "9"), ("mine 3", "3"), ("theirs 1", "1"),
    }  # fmt: skip
    assert ["agent name", "theirs"] in lab.json("family", run)[-1]["changes"]


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"name": ["a"]}, "field name"),
        ({"version": None}, "field version"),
        ({"nmae": "a"}, "did you mean name?"),
    ],
)
def test_a_name_that_is_none_fails_the_run_with_a_sentence(
    lab: Shell, task: str, tmp_path: Path, hello: dict[str, Any], reason: str
) -> None:
    run = live(lab, task, "--agent", agent_program(tmp_path, **hello))
    shown = lab.json("show", run)
    assert shown["status"] == "failed"
    assert reason in shown["ended"]["reason"]


LOGS = """
print("loading sk-abcdefghijklmnop", file=sys.stderr, flush=True)
for turn in range(2):
    observed()
    print(f"turn {turn} of mine", "x" * (20_000 * turn), "the end", file=sys.stderr, flush=True)
    say(kind="wait", ms=1)
observed()
raise ValueError("the last words")
"""


def test_what_a_program_writes_on_standard_error_stays_with_the_run(lab: Shell, task: str, tmp_path: Path) -> None:
    run = live(lab, task, "--agent", program(tmp_path, LOGS))
    shown = lab.json("show", run)
    first, second = (step["proposed"]["stderr"] for step in shown["steps"])
    assert "loading (key hidden)" in first
    assert "turn 0 of mine" in first
    assert "turn 1 of mine" in second
    assert second.endswith("the end")
    assert "bytes left out" in second
    assert len(second) < 9_000
    assert 'raise ValueError("the last words")' in shown["ended"]["stderr"]
    assert "turn 0 of mine" not in (text := lab.text("show", run))
    assert f"`hitlab runs show {run} --errors`" in text
    text = lab.text("show", run, "--errors")
    assert text.index("turn 0 of mine") < text.index("the last words")


@pytest.mark.parametrize("command", ["live", "run", "fork"])
def test_a_fault_without_a_sentence_is_told_with_its_log_and_its_traceback(
    lab: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    run = lab.json("live", "usual_lunch")["trace"]
    words = {"live": ["live", "usual_lunch", "--headless"], "run": ["run", "usual_lunch"],
             "fork": ["fork", f"{run}@1", "--user", "script", "--headless"]}[command]  # fmt: skip

    def broken(phone: Phone, action: object) -> None:
        said_by_a_person = "a persons words"
        raise RuntimeError(f"broken {len(said_by_a_person)}")

    monkeypatch.setattr(Phone, "perform", broken)
    log = folder("cache") / "crash.log"
    text = lab.text(*words)
    assert f"a run failed (RuntimeError). What happened is in {log}; --traceback prints it" in text
    assert "Traceback" not in text
    assert "RuntimeError: broken 15" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o777 == 0o600
    text = lab.text(*words, "--traceback")
    assert "Traceback (most recent call last)" in text
    assert 'raise RuntimeError(f"broken {len(said_by_a_person)}")' in text
    assert "= 'a persons words'" not in text
    assert str(log) not in json.dumps(lab.json("show", lab.ids("traces")[0]))
