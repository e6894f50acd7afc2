"""Spec of a run, and builders of the agent, the world and the phone that it names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.run.trace import Trace
from lab.core.seams import Agent, Device, TaskBrief
from lab.core.settings import EMBEDDED, UNNAMED
from lab.core.task.task import Actor, Persona, Task, step_limit
from lab.core.text.suggestion import did_you_mean, near_names
from lab.runs.descriptions import is_conversation
from store.store import Store

if TYPE_CHECKING:
    from lab.llm.executor import ModelAsker
    from simulators.phone.phone import Phone


WITHOUT_PLAYBOOK = (
    "--agent model:NAME, process:COMMAND or recorded:ID can do it, --playbook FILE gives it one, "
    "and `hitlab record` lets a person do it."
)
PERSON = "person"
"""Name of the agent that is the person at the run, for demonstrations."""


class Spec(NamedTuple):
    """All options of a run.

    `agent` is `playbook`, `playbook:NAME` (formerly `rule`), `recorded:ID`, `process:COMMAND`, `model:NAME`,
    `model+memory:NAME`, or `person` in a demonstration. `quick` lets a person's touch act before they read its
    instruction. `user` is `human`, `script`, `script:FILE` or `model:NAME`. `user_screens` gives a model as the user
    the words on the screen. `shadows` are models (`model:NAME`) that are silently asked the same as the user.

    `device` is `embedded` or adb's name of a phone: its serial or `host:port`. `harness` is the address that takes
    snapshots of a served phone. `environment` is the address of an environment that provides phone and score, in place
    of a device and the task's checks: an `http://` base URL or `androidworld:PYTHON`, empty without one.

    `reads` gives a model as the agent the words that OCR read from a picture without text in its tree. `step_limit`
    ends the run after that many steps without the agent's knowledge (0: only the task's budget). `agent_name` and
    `agent_version` replace the agent's own.
    """

    task: Task
    persona: Persona | None = None
    agent: str = "playbook"
    user: str = "human"
    person: str = UNNAMED
    seat: Literal["participant", "rater", "designer", "developer"] = "developer"
    mirror: bool = True
    gate: Literal["pass", "ask"] = "pass"
    seed: int = 0
    vary: int = 0
    pace: float = 0.0
    attempt: int = 1
    breaks: tuple[str, ...] = ()
    device: str = EMBEDDED
    harness: str = ""
    environment: str = ""
    quick: bool = False
    reads: bool = True
    step_limit: int = 0
    user_screens: bool = False
    shadows: tuple[str, ...] = ()
    agent_name: str = ""
    agent_version: str = ""

    def name_agent(self, agent: Actor) -> Actor:
        """Return the agent under the given name and version."""
        changes = {
            "implementation": self.agent_name or (agent.implementation or agent.id if self.agent_version else ""),
            "version": self.agent_version,
        }
        return msgspec.structs.replace(agent, **{field: word for field, word in changes.items() if word})


def brief_of(task: Task, persona: Persona | None) -> TaskBrief:
    """Return what an agent may know of a task: the exposed log for personalized and proactive tasks, never facts."""
    log: tuple[str, ...] = ()
    if persona is not None and task.kind != "general":
        log = tuple(entry.exposed for entry in persona.log)
    return TaskBrief(task.kind, task.instruction, log, task.time, task.place, task.budget)


def resume_spec(trace: Trace, **changes: Any) -> Spec:
    """Return the spec of an open run, with a person's new options applied."""
    if trace.ended is not None:
        raise LabError(f"run {trace.id}", f"has ended ({trace.ended.status}); only an open run can be resumed")
    return stored_spec(trace, "resumed", **changes)


def stored_spec(trace: Trace, what: str, **changes: Any) -> Spec:
    """Return the spec of a stored run. Raise `LabError` if it cannot be `what` (resumed, forked) here."""
    if is_conversation(trace.agent.id) and trace.source is None:
        problem = f"is a conversation at the endpoint; it cannot be {what}"
        raise LabError(f"run {trace.id}", problem, "`hitlab serve user --list` says what waits in which conversation.")
    real = trace.device.kind == "adb" and trace.source is None
    if trace.device.kind == "environment" and trace.source is None:
        problem = f"was made in an environment ({trace.device.id}), which cannot be put back; it cannot be {what}"
        raise LabError(f"run {trace.id}", problem, "A new run begins where the task does.")
    if real and trace.state is None and what != "resumed":
        problem = f"was made on a real phone, which cannot be put back; it cannot be {what}"
        raise LabError(f"run {trace.id}", problem)
    if trace.source is not None or (trace.state is None and not real):
        raise LabError(f"run {trace.id}", f"was not made on the embedded phone; it cannot be {what} here")
    if real and trace.state is not None and what == "resumed" and not changes.get("harness"):
        problem = f"was made on a served phone; without its harness it cannot be {what}"
        raise LabError(f"run {trace.id}", problem, "Name the harness with --harness URL.")
    if changes.get("agent") is None and trace.agent.id.startswith("process:"):
        raise LabError(
            f"run {trace.id}",
            f"was made by a program ({trace.agent.id}); a stored run never starts one by itself",
            "Name the program with --agent process:COMMAND.",
        )
    user = trace.user
    spec = Spec(
        task=restore_playbook(trace.task, trace.conditions.vary),
        persona=trace.persona,
        agent=PERSON if trace.agent.kind == "human" else trace.agent.id,
        user="human" if user is None or user.kind == "human" else user_name(user),
        person=user.id if user is not None and user.kind == "human" else Spec._field_defaults["person"],
        seat=trace.conditions.seat,
        mirror=trace.conditions.mirror,
        gate=trace.conditions.gate,
        seed=trace.conditions.seed,
        vary=trace.conditions.vary,
        attempt=trace.attempt,
        device=trace.device.id if real and what == "resumed" else EMBEDDED,
        quick=trace.conditions.quick,
        # Only runs of models record it. Others get the default.
        reads=bool(trace.conditions.reads) or trace.agent.kind != "model",
        step_limit=trace.conditions.step_limit,
        user_screens=trace.conditions.user_screens,
        shadows=trace.conditions.shadows if what == "resumed" else (),
        agent_name=trace.agent.implementation if changes.get("agent") is None else "",
        agent_version=trace.agent.version if changes.get("agent") is None else "",
    )
    spec = spec._replace(**{k: v for k, v in changes.items() if v is not None})
    _check_ocr(trace, spec, what)
    return spec


def _check_ocr(trace: Trace, spec: Spec, what: str) -> None:
    """Raise `LabError` if its agent used OCR and none is installed here."""
    from lab.runs.screen_words import engine_here

    engine = trace.conditions.reads
    if engine and spec.reads and spec.agent.startswith("model") and not engine_here():
        problem = f"was made with words read from pictures by {engine}, which is not here; it cannot be {what} alike"
        hint = "pip install 'hitlab[ocr]' installs it; --no-read goes on without."
        raise LabError(f"run {trace.id}", problem, hint)


def user_name(user: Actor) -> str:
    """Return a spec's name for a user who is not a person."""
    return user.id if user.kind == "model" else f"script:{user.id}"


def limit_steps(spec: Spec, times: float) -> Spec:
    """Return the spec with a limit of floor(times x golden steps + 1) steps (MemGUI-Bench A.9.6).

    Raise `LabError` if the task's golden steps are unknown.
    """
    if spec.task.shortest is None:
        problem = f"has no golden steps, so {times:g} times as many is no limit."
        raise LabError(
            f"task {spec.task.id}", problem, "Leave it out, or tell them in its file (golden_steps).", code=2
        )
    return spec._replace(step_limit=step_limit(spec.task.shortest, times))


def in_world(spec: Spec, vary: int) -> Spec:
    """Return the spec with task and persona of a seed's world, and the phone's menus shuffled by that seed."""
    from simulators.task_variation import world

    seed_world = world(vary)
    persona = seed_world.persona(spec.persona) if spec.persona is not None else None
    return spec._replace(task=seed_world.task(spec.task), persona=persona, vary=vary, seed=spec.seed or vary)


def agent_of(name: str, store: Store | None, task: Task | None = None, asker: ModelAsker | None = None) -> Agent:
    """Build the agent of that name. Raise `LabError` if it is invalid. A playbook is the `task`'s.

    `asker` asks its model if that is not asked from this process. `store` has the runs that `recorded:ID` names, None
    if the file does not exist yet.
    """
    kind, _, source = name.partition(":")
    if is_playbook(name):
        return playbook_agent(name, task)
    if kind == "recorded" and source:
        from lab.agents.recorded import RecordedAgent

        if store is None:
            raise LabError(f"run {source}", "is not in a file that is not there yet.")
        run = store.runs.find(source)
        return RecordedAgent(store.runs.trace(run).steps, f"recorded:{run}")
    if kind == "process":
        from lab.agents.process import ProcessAgent

        return ProcessAgent(source)
    if kind in ("model", "model+memory") and source:
        from lab.agents.model import model_agent
        from lab.core.settings import load

        return model_agent(name, load(), asker)
    raise LabError("agent", unknown_form(name, AGENT_FORMS), code=2)


AGENT_FORMS = ("playbook", "playbook:NAME", "recorded:ID", "process:COMMAND", "model:NAME", "model+memory:NAME")
"""Forms of agent names."""
USER_FORMS = ("human", "script", "script:FILE", "model:NAME")
"""Forms of user names."""


def unknown_form(name: str, forms: Sequence[str]) -> str:
    """Return the error text for a name in none of the forms, with a suggestion.

    If its first word is right, the rest is wrong, and the suggestion is that form itself.
    """
    kind, colon, source = name.partition(":")
    near = [form for form in forms if form.partition(":")[0] == kind]
    if not near:
        words = near_names(kind, (form.partition(":")[0] for form in forms))
        near = [f"{word}{colon}{source}" for word in words]
    return f"{name!r} is none of {', '.join(forms)}{did_you_mean(near)}"


def is_playbook(agent: str) -> bool:
    """Return True if an agent plays its task's playbook: `playbook`, `playbook:NAME`, or `rule`, its former name."""
    return agent == "rule" or agent.partition(":")[0] == "playbook"


def playbook_agent(agent: str, task: Task | None) -> Agent:
    """Build the agent that plays a task's playbook. Raise `LabError` with the alternatives if it has none."""
    from lab.agents.playbook import PlaybookAgent
    from lab.core.task.playbook import moves_of

    name = agent.partition(":")[2]
    if task is None or not (task.playbook or any(one.moves for one in task.playbooks)):
        what = f"task {task.id}" if task is not None else "agent"
        raise LabError(what, "has no playbook.", WITHOUT_PLAYBOOK, code=2)
    return PlaybookAgent(moves_of(task.playbook, task.playbooks, name, f"task {task.id}"), name)


def may_ask(task: Task, agent: str) -> bool:
    """Return True if an agent may ask the user something: any may except a playbook without a question."""
    from lab.core.task.playbook import PlaybookMove, moves_of, walk

    if not is_playbook(agent):
        return True
    moves = walk(moves_of(task.playbook, task.playbooks, agent.partition(":")[2], f"task {task.id}"))
    return any(
        isinstance(move, PlaybookMove) and (move.verb in ("ask", "offer") or move.kind == "ask_user")
        for _, move, _ in moves
    )


def restore_playbook(task: Task, vary: int) -> Task:
    """Return a stored run's task. A built-in one from before playbooks gets today's, in the run's own world."""
    from simulators import library
    from simulators.task_variation import world

    if task.playbook or task.playbooks or task.id not in library.tasks():
        return task
    # With the run's own names and prices, which the playbook types and taps.
    today = world(vary).task(library.task(task.id))
    return msgspec.structs.replace(task, playbook=today.playbook, playbooks=today.playbooks)


def replace_playbook(task: Task, file: str | None, agent: str | None) -> Task:
    """Return a task with the playbook of a file. Raise `LabError` if another agent is to do it."""
    from lab.core.task.playbook import load_playbook

    if file is None:
        return task
    if agent is not None and not is_playbook(agent):
        raise LabError("--playbook", f"is played by the agent playbook, and not by {agent}.", code=2)
    playbook_file = load_playbook(Path(file))
    return msgspec.structs.replace(task, playbook=playbook_file.playbook, playbooks=playbook_file.playbooks)


def phone_of(spec: Spec) -> Device:
    """Return the phone of a run at the task's start: embedded, an environment's, or one with a harness.

    A phone that is only attached stays as it is.
    """
    check_phone(spec)
    if spec.environment:
        return environment_phone(spec)
    return embedded(spec) if spec.device == EMBEDDED else attached(spec)


def check_phone(spec: Spec) -> None:
    """Raise `LabError` if the options for the phone conflict, or if an environment's address is invalid."""
    if spec.environment:
        from simulators.environments.address import read_address

        read_address(spec.environment)
        others = {"--device": spec.device != EMBEDDED, "--harness": spec.harness, "--vary": spec.vary}
        for option, setting in others.items():
            if setting:
                raise LabError(option, "does not go with --env: an environment has its own phone and world.", code=2)
    elif spec.device == EMBEDDED and spec.harness:
        raise LabError("--harness", "belongs to a served phone.", "Name that phone with --device.", code=2)


def embedded(spec: Spec) -> Phone:
    """Build the embedded phone for the task: its seed, world, time and initial state."""
    from simulators.phone.phone import Phone

    phone = Phone(spec.seed, clock=spec.task.time) if spec.task.time else Phone(spec.seed)
    if spec.vary:
        from simulators.task_variation import world

        phone.restore(world(spec.vary).state(phone.snapshot()))
    phone.lay(spec.task.phone)
    return phone


def environment_phone(spec: Spec) -> Device:
    """Return an environment's phone, reset for the task. An earlier task's remains are torn down."""
    from simulators.environments.factory import open_environment

    environment = open_environment(spec.environment)
    try:
        return environment.phone(spec.task, spec.seed)
    finally:
        environment.close()


def attached(spec: Spec) -> Device:
    """Connect to the phone that adb names. A served one with its harness is first set up for the task."""
    from lab.core.settings import load
    from lab.devices.adb.adb import AdbPhone
    from lab.devices.harness import Harness

    settings = load()
    harness = Harness(spec.harness, harness_token()) if spec.harness else None
    harness_serial = harness.health().get("serialno") if harness is not None else None
    phone = AdbPhone(spec.device, via=settings.via, fps=settings.fps, video=settings.video, harness=harness)
    if harness is None:
        return phone
    try:
        # The harness of another phone would set that one up and leave this one as it is.
        if harness_serial and phone.serialno() != harness_serial:
            hint = "Name the harness that was printed with this phone's address."
            raise LabError("--harness", f"{harness.url} is another phone's, not that of {phone.serial}.", hint)
        harness.restore(embedded(spec).snapshot())
    except BaseException:
        phone.close()
        raise
    return phone


def harness_token() -> str:
    """Return the token of a served phone's harness. It is only ever passed through the environment."""
    token = os.environ.get("HITLAB_HARNESS_TOKEN", "")
    if not token:
        raise LabError(
            "--harness", "needs the token that `hitlab serve phone` printed.", "Set HITLAB_HARNESS_TOKEN to it."
        )
    return token
