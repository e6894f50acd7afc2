"""A program as the agent: what it is told, what it says, what is kept of both, how it lives from run to run."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.agents import process, process_lines
from lab.agents.process import ProcessAgent
from lab.core.errors import LabError
from lab.core.run.step import Action, Decision, Proposed, Question, Reply, Usage
from lab.core.run.trace import Step
from lab.core.seams import Closable, Interruptible, SupportsMemory, TaskBrief
from lab.core.task.task import Actor, LogEntry, Persona, Task
from lab.runs.session import Session
from lab.runs.spec import Spec, resume_spec
from simulators import library
from simulators.phone.phone import Phone
from store.store import Store
from tests.crossed import soak
from tests.lab.fitting import validator
from tests.lab.programs import OPENS, TASK, gone, played, program

EXAMPLES = Path(process.__file__).parent / "examples"
NODE = shutil.which("node")
BRIEF = TaskBrief("general", "Open the settings")
ASKS = """
seen = observed()
say(kind="ask_user", text="Light or dark?")
seen = observed()
say(kind="answer", text=seen["done"][-1]["reply"]["text"])
observed()
"""
TELLS = """
said = open(sys.argv[0] + ".said", "a")
while True:
    text = sys.stdin.readline()
    if not text:
        sys.exit()
    said.write(text)
    said.flush()
    line = json.loads(text)
    if line["line"] == "hello":
        say(line="hello", v=1, screenshot="base64")
    if line["line"] == "observation":
        say(kind="wait", ms=5) if line["step"] < 3 else say(kind="status", status="complete")
"""
"""A program that writes down all that it is told."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def told(agent: str) -> list[dict[str, Any]]:
    """All that a program that TELLS was told."""
    path = Path(shlex.split(agent.removeprefix("process:"))[1] + ".said")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def agent_of(name: str) -> ProcessAgent:
    return ProcessAgent(name.removeprefix("process:"), seconds=20)


# -- whole runs -----------------------------------------------------------------------------------------------


def example(store: Store, task: str, command: list[str]) -> None:
    """An example plays a built-in task whole, with the task's own person, and every rule holds."""
    spec = Spec(
        library.task(task), library.persona(library.task(task).persona),
        agent=f"process:{shlex.join(command)}", user="script",
    )  # fmt: skip
    session = Session(store, spec)
    session.start()
    assert session.join(180)
    trace = store.runs.trace(session.trace_id)
    assert trace.ended is not None
    assert (trace.status, trace.ended.score) == ("completed", 1.0), trace.ended.reason


def test_the_python_example_does_its_task(store: Store) -> None:
    example(store, "flight_alarm", [sys.executable, str(EXAMPLES / "landing.py")])


@soak
@pytest.mark.skipif(NODE is None, reason="there is no node on this machine to run the JavaScript example")
def test_the_javascript_example_does_its_task(store: Store) -> None:
    example(store, "night_mode", [NODE or "", str(EXAMPLES / "bedtime.mjs")])


def test_a_run_is_checked_as_any_other(store: Store, tmp_path: Path) -> None:
    agent = program(tmp_path, OPENS)
    trace = played(store, agent)
    assert (trace.status, trace.ended.score if trace.ended else None) == ("completed", 1.0)
    assert trace.agent == Actor("script", agent)
    assert [step.action.kind for step in trace.steps if step.action] == ["open_app", "status"]


def test_a_reply_reaches_the_program(store: Store, tmp_path: Path) -> None:
    session = Session(store, Spec(TASK, agent=program(tmp_path, ASKS)))

    def answer(question: Question | None) -> None:
        if question is not None:
            session.questions.answer(question, Reply(question.id, "dark", session.person))

    session.questions.on_change = answer
    session.start()
    assert session.join(180)
    steps = store.runs.trace(session.trace_id).steps
    assert [step.proposed.action.text for step in steps] == ["Light or dark?", "dark"]


# -- what it is told ------------------------------------------------------------------------------------------


def test_every_line_fits_its_schema_and_holds_nothing_hidden(store: Store, tmp_path: Path) -> None:
    agent = program(tmp_path, TELLS)
    log = (LogEntry("2026-03-02T08:00:00+08:00", "Home", "She did it", "canary", "canary"),)
    persona = Persona("p", "canary", facts={"canary": "canary"}, log=log, log_source="clean")
    task = Task("t", "personalized", title="canary", instruction="Wait a little", budget=9, policy="canary")
    session = Session(store, Spec(task, persona, agent=agent))
    session.start()
    assert session.join(180)
    lines = told(agent)
    assert [line["line"] for line in lines] == ["hello", "brief", *["observation"] * 3, "end"]
    reads = validator("agent-reads")
    for line in lines:
        reads.validate(line)
    assert "canary" not in json.dumps(lines)
    assert lines[1]["log"] == ["[2026-03-02T08:00:00+08:00] (Home) She did it"]
    assert (lines[2]["step"], lines[2]["left"], lines[2]["done"]) == (1, 9, [])
    assert [done["step"] for done in lines[4]["done"]] == [2]
    assert lines[-1] == {"line": "end", "status": "completed"}


def test_what_is_kept_is_what_was_sent_but_for_the_picture(store: Store, tmp_path: Path) -> None:
    agent = program(tmp_path, TELLS)
    trace = played(store, agent)
    lines = told(agent)
    for number, step in enumerate(trace.steps):
        prompt = step.proposed.prompt
        assert prompt is not None
        assert prompt.images == (step.before.image,)
        assert store.runs.blob(prompt.images[0]) is not None
        sent = lines[1:3] if number == 0 else lines[number + 2 : number + 3]
        png = base64.b64decode(sent[-1]["screenshot"])
        assert hashlib.sha256(png).hexdigest() == prompt.images[0]
        sent[-1]["screenshot"] = f"sha256:{prompt.images[0]}"
        assert [json.loads(line) for line in prompt.text.splitlines()] == sent
        assert json.loads(step.proposed.raw or "")["kind"] == step.proposed.action.kind


def test_nodes_are_numbered_in_drawing_order_and_name_their_parent() -> None:
    tree = Phone().observe().tree
    lines = process_lines.node_lines(tree)
    nodes = list(tree.nodes())
    assert [line.number for line in lines] == list(range(len(nodes)))
    assert [(line.text, line.bounds) for line in lines] == [(node.text, node.bounds) for node in nodes]
    for line in lines:
        if line.parent is not None:
            assert nodes[line.number] in nodes[line.parent].children


def test_a_screenshot_is_a_private_file_for_as_long_as_the_run(tmp_path: Path) -> None:
    agent = agent_of(program(tmp_path, 'say(kind="wait", thought=observed("path")["screenshot"]); observed()'))
    screen = Phone().observe()
    path = Path(agent.propose(BRIEF, screen, []).thought)
    assert path.read_bytes() == screen.png
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    agent.remember(BRIEF, [], "completed")
    assert not path.exists()
    agent.close()
    assert not path.parent.exists()


def test_what_came_of_each_turn_is_told_once() -> None:
    person = Actor("human", "P01")
    tap = Action("click", at=(0, 0))
    screen = Phone().observe()
    before = msgspec.structs.replace(Step(0, Proposed(tap)).before, tree=screen.tree)
    rejected = Step(0, Proposed(tap), before, Decision("reject", person, None, "not there"))
    own = Step(1, Proposed(Action("navigate_home"), by=person), before, error="no home")
    first = process_lines.done_line(rejected, seen=True)
    assert (first.step, first.by, first.verdict, first.action, first.note) == (1, "agent", "reject", None, "not there")
    assert first.nodes is None
    second = process_lines.done_line(own, seen=False)
    assert (second.by, second.error, second.action) == ("person", "no home", Action("navigate_home"))
    assert second.nodes is not None


# -- what it says ---------------------------------------------------------------------------------------------


def answered(**line: Any) -> Proposed:
    return process_lines.proposed_of(line, Phone().observe(), "the program")


def test_a_target_is_a_place_or_an_element() -> None:
    nodes = list(Phone().observe().tree.nodes())
    number = next(i for i, node in enumerate(nodes) if node.clickable)
    by_number = answered(kind="click", node=number).action
    assert (by_number.at, by_number.raw, by_number.space) == (nodes[number].bounds.center, {"node": number}, "index")
    assert answered(kind="drag", at=[0, 0], to=[10.4, 20.6]).action == Action("drag", at=(0, 0), to=(10, 21))
    assert answered(kind="wait", usage={"cost": 0.5, "prompt_tokens": 3}).usage == Usage(prompt_tokens=3, cost=0.5)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"kind": "fly"}, "field kind"),
        ({}, "field kind: is not there"),
        ({"kind": "click"}, "needs at or node"),
        ({"kind": "click", "node": 9999}, "there is no element 9999"),
        ({"kind": "click", "node": -1}, "there is no element -1"),
        ({"kind": "click", "node": 1, "at": [1, 1]}, "names a target that at names too"),
        ({"kind": "click", "at": [1080, 5]}, "outside the screen"),
        ({"kind": "click", "at": [None, 5]}, "field at[0]"),
        ({"kind": "click", "at": 5}, "field at"),
        ({"kind": "drag", "at": [1, 1]}, "needs to or to_node"),
        ({"kind": "input_text"}, "field text: input_text needs text"),
        ({"kind": "ask_user"}, "field text: ask_user needs text"),
        ({"kind": "ask_user", "text": " \n"}, "field text: it is empty, and ask_user needs a question"),
        ({"kind": "open_app"}, "needs app or text"),
        ({"kind": "status"}, "needs status"),
        ({"kind": "swipe"}, "needs to or to_node or direction"),
        ({"kind": "wait", "thougth": "x"}, "field thougth: there is none of that name"),
        ({"kind": "wait", "usage": {"euros": 1}}, "field usage.euros"),
        ({"kind": "wait", "usage": {"cost": -1}}, "field usage: holds a number below 0"),
        ({"kind": "wait", "ms": -1}, "field ms"),
        ({"kind": "wait", "ms": 10**9}, "field ms"),
        ([], "must be a mapping, not a list"),
    ],
)
def test_an_action_that_is_none_is_named(line: Any, words: str) -> None:
    with pytest.raises(LabError) as caught:
        process_lines.proposed_of(line, Phone().observe(), "the program")
    assert words in caught.value.message


def test_text_that_no_file_can_hold_is_kept_reversibly(tmp_path: Path) -> None:
    agent = agent_of(
        program(tmp_path, 'observed(); say(kind="input_text", text="\\udc80\\x1b[31m", ms=10**30); observed()')
    )
    with pytest.raises(LabError, match="field ms"):
        agent.propose(BRIEF, Phone().observe(), [])
    agent = agent_of(program(tmp_path, 'observed(); say(kind="input_text", text="\\udc80\\x1b[31m"); observed()'))
    assert agent.propose(BRIEF, Phone().observe(), []).action.text == "␛udc80\x1b[31m"
    agent.close()


def test_the_samples_on_the_page_are_lines() -> None:
    page = (Path(__file__).parents[3] / "docs" / "guides" / "process.md").read_text(encoding="utf-8")
    samples = re.findall(r"^```json (reads|writes)\n(.*?)\n```", page, re.MULTILINE | re.DOTALL)
    assert len(samples) == 11
    kinds = {"reads": process_lines.ToProgram, "writes": process_lines.FromProgram}
    for which, text in samples:
        value = json.loads(text)
        assert msgspec.convert({"line": "action", **value}, kinds[which])  # an action may leave its line's name out


# -- from run to run ------------------------------------------------------------------------------------------


def test_it_lives_from_run_to_run_and_is_told_of_each_end(tmp_path: Path) -> None:
    name = program(tmp_path, TELLS)
    agent = agent_of(name)
    assert isinstance(agent, SupportsMemory)
    assert isinstance(agent, Closable)
    assert isinstance(agent, Interruptible)
    screen = Phone().observe()
    agent.propose(BRIEF, screen, [])
    agent.remember(BRIEF, [], "budget")
    agent.propose(TaskBrief("general", "And again"), screen, [])
    agent.close("completed")
    lines = told(name)
    assert [line["line"] for line in lines] == ["hello", "brief", "observation", "end", "brief", "observation", "end"]
    assert [line["status"] for line in lines if line["line"] == "end"] == ["budget", "completed"]
    assert lines[4]["instruction"] == "And again"


def test_a_stored_run_starts_no_program_by_itself_and_a_new_one_is_told_the_history(
    store: Store, tmp_path: Path
) -> None:
    session = Session(store, Spec(TASK, agent=program(tmp_path, ASKS)))
    session.questions.on_change = lambda question: session.leave() if question is not None else None
    session.start()
    assert session.join(180)
    cut = store.runs.trace(session.trace_id)
    assert cut.status == "open"
    with pytest.raises(LabError, match="never starts one by itself") as caught:
        resume_spec(cut)
    assert "--agent" in caught.value.hint

    agent = program(tmp_path, TELLS)
    again = Session(store, resume_spec(cut, agent=agent), cut)

    def answer(question: Question | None) -> None:
        if question is not None:
            again.questions.answer(question, Reply(question.id, "dark", again.person))

    again.questions.on_change = answer
    again.start()
    assert again.join(180)
    [brief, observation] = told(agent)[1:3]
    assert brief["line"] == "brief"
    [done] = observation["done"]
    assert (done["action"]["text"], done["reply"]) == ("Light or dark?", {"text": "dark", "decision": None})
    assert done["nodes"]
    assert observation["step"] == 2


def test_a_run_closes_the_program_it_started_and_leaves_one_that_was_lent(store: Store, tmp_path: Path) -> None:
    agent = agent_of(program(tmp_path, "open(sys.argv[0] + '.pid', 'w').write(str(os.getpid()))" + OPENS))
    session = Session(store, Spec(TASK), agent=agent)
    session.start()
    assert session.join(180)
    pid = int(next(tmp_path.glob("*.pid")).read_text())
    assert not gone(pid)
    agent.close()
    assert gone(pid)
    agent.close()


def test_the_timeout_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITLAB_AGENT_TIMEOUT", "0")
    with pytest.raises(LabError, match="field HITLAB_AGENT_TIMEOUT: 0 is no number"):
        ProcessAgent("true")


@pytest.mark.parametrize(
    ("command", "words"),
    [("", "names no command"), ("a 'b", "no command line"), ("no-such-program-here x", "no program")],
)
def test_a_command_that_cannot_be_is_refused_at_once(command: str, words: str) -> None:
    with pytest.raises(LabError, match=words) as caught:
        ProcessAgent(command)
    assert caught.value.code == 2


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    agent = agent_of(program(tmp_path, OPENS) + f" ; touch {marker} $(touch {marker}) > {marker}")
    assert agent.propose(BRIEF, Phone().observe(), []).action.kind == "open_app"
    agent.close()
    assert not marker.exists()
    assert os.listdir(tmp_path) == ["agent0.py"]
