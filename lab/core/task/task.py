"""A task: who asks for what, with which history, and what counts as done."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import Path, PurePath
from typing import Any, Literal

import msgspec

from lab.core.codec import convert, read_file, read_json, read_yaml
from lab.core.errors import LabError
from lab.core.task.playbook import Do, Playbook, check_playbooks

Kind = Literal["general", "personalized", "proactive"]


class Actor(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A person, a model or a script that did something. People are study codes, never login names.

    `name` is for display and not an identity. An agent may also have what it or its source reports: its own name
    `implementation`, its `version`, the `model` that it uses and its `arguments`. Then `id` is how it was started, or
    its earlier name.
    """

    kind: Literal["human", "model", "script"]
    id: str
    name: str = ""
    implementation: str = ""
    version: str = ""
    model: str = ""
    arguments: tuple[tuple[str, str], ...] = ()

    @property
    def display_name(self) -> str:
        """Display name for use on its own."""
        if self.implementation:
            return compose_name(self.implementation, self.version, self.model, ())
        return self.name or next(iter(command_words(self.id)), self.id)

    @property
    def identity(self) -> str:
        """Identity of an agent as text. Two runs have the same agent if this is equal.

        `lab.core.run.agent_names.shortest_names` shortens it for a set of agents.
        """
        name = self.implementation or self.id
        return compose_name(name, self.version, self.model if self.model != name else "", self.arguments)


class AgentName(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A person's correction of an imported agent's name, version and model."""

    name: str
    version: str = ""
    model: str = ""

    def apply_to(self, agent: Actor) -> Actor:
        """Return the agent under this name. Its `id` stays."""
        return msgspec.structs.replace(
            agent, implementation=self.name, version=self.version, model=self.model, arguments=()
        )


def agent_word(text: str) -> str:
    """Return an agent's name, version or model in one line. Raise `LabError` if it is too long."""
    word = " ".join(text.split())
    if len(word) > LONGEST_NAME:
        problem = (
            f"an agent's name, version and model are of at most {LONGEST_NAME} characters; {word[:40]!r}... is longer"
        )
        raise LabError("agent", problem, code=2)
    return word


LONGEST_NAME = 100
"""Maximum length of an agent's name, version or model."""


def compose_name(name: str, version: str, model: str, arguments: tuple[tuple[str, str], ...]) -> str:
    """Return `name version (model, key=value)` without the empty parts."""
    inside = ", ".join([*([model] if model else []), *(f"{key}={value}" for key, value in arguments)])
    return f"{name}{' ' if version else ''}{version}{f' ({inside})' if inside else ''}"


_COMMAND = "process:"
# Programs that run a script, by whose file the agent is known.
_INTERPRETER = re.compile(r"(python|node|ruby|perl|bash|sh|deno|bun|java|uv|npx|env|nice|timeout)[\d.]*\Z")


def command_words(id: str) -> list[str]:
    """Return ever longer forms of a program agent's command, without folders, empty for other agents.

    The forms are the script's file name, the same with its arguments, and the whole command.
    """
    if not id.startswith(_COMMAND):
        return []
    try:
        words = shlex.split(id.removeprefix(_COMMAND))
    except ValueError:
        return []
    bare_words = [PurePath(word).name or word for word in words]
    if not words:
        return []
    # Options and assignments (`-u`, `A=1`) are not the script.
    after = [i for i, word in enumerate(words) if i and not word.startswith("-") and "=" not in word]
    if not _INTERPRETER.match(bare_words[0]):
        after = []
    script = next((i for i in after if "." in bare_words[i]), after[0] if after else 0)
    return [bare_words[script], " ".join(bare_words[script:]), " ".join(bare_words)]


class LogEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a person's history on the phone. `label` and `category` are the designers' and never exposed."""

    time: str
    location: str
    action: str
    label: str = "signal"
    category: str = ""

    @property
    def exposed(self) -> str:
        """The entry as an agent sees it: `[time] (location) action`, as in KnowU-Bench."""
        return f"[{self.time}] ({self.location}) {self.action}"


class Persona(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The person an agent works for. `facts` is the hidden profile P, `log` the exposed history H.

    `facts` is KnowU-Bench's `user_profile` mapping unchanged (identity, locations, digital_context, habits,
    preferences, social_graph, decision_criteria). `log` is the clean or the noisy log, as `log_source` states.
    """

    id: str
    name: str
    facts: dict[str, Any] = {}
    log: tuple[LogEntry, ...] = ()
    log_source: Literal["clean", "noise", "none"] = "none"


class TdgNode(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One unit instruction: `flexible` if it depends on the person's preference, else `fixed`.

    An *alternatives* node holds paths (each a chain of nodes), of which any one suffices. Source: PSPA-Bench 2.1.
    """

    id: str
    name: str
    description: str = ""
    kind: Literal["fixed", "flexible"] = "fixed"
    requires: tuple[str, ...] = ()
    alternatives: tuple[tuple[TdgNode, ...], ...] = ()


class Tdg(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A task decomposition graph: a directed acyclic graph. Any source-to-sink path completes the task.

    `forks` defines several edges out of a node. With `any`, as in the paper, one of the ways suffices. With `all`,
    every node is needed, parallel ones in any order, and only paths within a node are alternatives.
    """

    nodes: tuple[TdgNode, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    forks: Literal["any", "all"] = "any"

    def walk(self) -> list[TdgNode]:
        """Return every node in declared order, those inside alternatives too."""
        out: list[TdgNode] = []
        stack = list(reversed(self.nodes))
        while stack:
            node = stack.pop()
            out.append(node)
            stack.extend(n for path in reversed(node.alternatives) for n in reversed(path))
        return out

    def check(self, what: str) -> None:
        """Raise `LabError` if ids repeat, an edge or a `requires` names an unknown node, or the edges have a cycle."""
        ids = [node.id for node in self.walk()]
        twice = {i for i in ids if ids.count(i) > 1}
        if twice:
            raise LabError(what, f"field tdg: node id {sorted(twice)[0]!r} is used twice")
        node_ids = set(ids)
        for a, b in self.edges:
            for end in (a, b):
                if end not in node_ids:
                    raise LabError(what, f"field tdg.edges: there is no node {end!r}")
        for node in self.walk():
            for other in node.requires:
                if other not in node_ids:
                    raise LabError(what, f"field tdg: node {node.id!r} requires {other!r}, which is not there")
        if _has_cycle([*self.edges, *((r, n.id) for n in self.walk() for r in n.requires)]):
            raise LabError(what, "field tdg.edges: the edges make a circle; a TDG is acyclic")


class InformationUnit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fact that must be carried from where it is seen to where it is used. Source: MemGUI-Bench, IRR."""

    id: str
    name: str
    value: str = ""
    source: str = ""
    used: str = ""
    explicit: bool = True
    """True if the fact itself is written out, False if it only steers a decision."""


class Branch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A point at which the next steps depend on what is found there. Source: DAC-Bench, decision points."""

    id: str
    ask: str
    options: tuple[str, ...] = ()
    depth: int = 1
    right: str = ""
    """The option that is right in the task's world. Empty if unknown, or if demonstrations show it."""


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of a rubric, rated 0 to 1. Weights are relative."""

    id: str
    ask: str
    weight: float = 1.0


class Rubric(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The criteria that a judge, human or model, rates."""

    criteria: tuple[Criterion, ...] = ()


class GoldenStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step of the shortest known way, in words, with its kind of action."""

    do: str
    kind: str = "click"


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One rule over the phone's end state or over the run. Every test in it must hold for the value at `path`.

    `path` walks the state's JSON: `apps.food.orders[-1].dish`, `apps.notes.notes[title=Milk].body`. The prefix `start.`
    walks the state before the run. `run` tests the run itself instead of the phone: `silent` (no action that changes
    anything and no question), `asked`, `obeyed` (nothing done after a refusal), `answered` (the final answer holds
    `contains`). `when` limits the rule to runs with that last decision (`unrefused`: any but reject, or none). A rule
    that does not apply is not counted.
    """

    name: str
    path: str = ""
    equals: Any = msgspec.UNSET
    differs: Any = msgspec.UNSET
    contains: Any = msgspec.UNSET
    lacks: Any = msgspec.UNSET
    count: int | None = None
    least: float | None = None
    most: float | None = None
    same: bool = False
    """True if the value must equal that before the run."""
    run: Literal["", "silent", "asked", "obeyed", "answered"] = ""
    when: Literal["", "accept", "reject", "unrefused"] = ""
    weight: float = 1.0


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A request to an agent. `instruction` is empty in proactive tasks. `time` is ISO 8601 local with offset.

    `phone` is merged into the phone's first state before the run, mappings key by key. `policy` is the decision policy
    for the person's seat, never shown to an agent. `budget` is the maximum number of an agent's steps.
    """

    id: str
    kind: Kind
    title: str = ""
    instruction: str = ""
    persona: str = ""
    log: Literal["clean", "noise", "none"] = "noise"
    time: str = ""
    place: str = ""
    budget: int = 30
    policy: str = ""
    phone: dict[str, Any] = {}
    golden: tuple[GoldenStep, ...] = ()
    tdg: Tdg = Tdg()
    units: tuple[InformationUnit, ...] = ()
    branches: tuple[Branch, ...] = ()
    rubric: Rubric = Rubric()
    checks: tuple[Check, ...] = ()
    apps: tuple[str, ...] = ()
    golden_steps: int | None = None
    """Number of steps of the shortest known way, if the source gives only that and not the way itself."""
    playbook: tuple[Do, ...] = ()
    """Moves that play the task without a model. Only the agent that plays them sees them."""
    playbooks: tuple[Playbook, ...] = ()
    """Playbooks that go wrong, by name. No rater, participant or other agent sees them."""
    rule_weight: float | None = None
    """Weight of the checks' score beside a judge's rating of the rubric, 0 to 1 (KnowU-Bench 3.4, lambda).

    It is 1 minus the share of the request that depends on the person's preferences. None if unknown.
    """
    mirror_of: str = ""
    """The task that this one mirrors: the same apps and effort, other particulars. Empty if none.

    It runs after that one in the same place, so that an agent may use what it learned (MemGUI-Bench A.4.5, A.5.1).
    """
    traits: dict[str, str] = {}
    """Categories for tables, in the papers' own words: difficulty, structure, level, platform, language."""

    @property
    def display_name(self) -> str:
        return self.title or self.instruction or self.id

    @property
    def shortest(self) -> int | None:
        """Number of golden steps, or None if unknown."""
        return len(self.golden) or self.golden_steps


def step_limit(golden: int, times: float) -> int:
    """Return floor(times x golden + 1), the maximum number of steps of a task (MemGUI-Bench A.9.6)."""
    # Rounded first: 1.4 x 5 is slightly below 7 in floating point.
    return math.floor(round(golden * times + 1, 9))


def load_task(path: Path) -> Task:
    """Load a task from a YAML file. Raise `LabError` that names the file and the wrong field."""
    what = f"task file {path}"
    value = read_yaml(read_file(path, what), what).value
    if not isinstance(value, dict):
        raise LabError(what, "holds no mapping of fields")
    value.setdefault("id", path.stem)
    task: Task = convert(value, Task, what)
    check_task(task, what)
    return task


def check_task(task: Task, what: str) -> None:
    """Check the rules that a schema cannot express. Raise `LabError` that names `what` and the field."""
    if task.kind == "proactive" and task.instruction:
        raise LabError(what, "field instruction: a proactive task has none; the agent decides from its context")
    if task.kind != "proactive" and not task.instruction.strip():
        raise LabError(what, f"field instruction: a {task.kind} task needs one")
    if task.budget < 1:
        raise LabError(what, f"field budget: {task.budget} is less than one step")
    if task.mirror_of and task.mirror_of == task.id:
        raise LabError(what, "field mirror_of: a task does not mirror itself")
    if task.rule_weight is not None and not 0 <= task.rule_weight <= 1:
        raise LabError(what, f"field rule_weight: {task.rule_weight:g} is not from 0 to 1")
    task.tdg.check(what)
    check_playbooks(task.playbook, task.playbooks, what)
    for branch in task.branches:
        if branch.right and branch.right not in branch.options:
            raise LabError(
                what, f"field branches: {branch.id!r} has no option {branch.right!r}, which it says is right"
            )
    for check in task.checks:
        if not 0 < check.weight < float("inf"):
            raise LabError(what, f"field checks: {check.name!r} weighs {check.weight:g}; a weight is above 0")
        tests = [t for t in (check.equals, check.differs, check.contains, check.lacks) if t is not msgspec.UNSET]
        tests += [t for t in (check.count, check.least, check.most) if t is not None]
        if check.run not in ("", "answered") and not check.path:
            continue
        if not tests and not check.same:
            raise LabError(what, f"field checks: {check.name!r} tests nothing")
        if not check.path and check.run != "answered":
            raise LabError(what, f"field checks: {check.name!r} has no path")


def load_persona(path: Path, log: Path | None = None, *, source: Literal["clean", "noise", "none"] = "none") -> Persona:
    """Load a persona from a KnowU-Bench profile (YAML), with its history (JSON list) from `log`.

    Without `log`, the history is searched where KnowU-Bench has it: `../user_logs/<id>.json` for `clean`, the same with
    `_noise_25pct` for `noise`, or `log.json` / `log_noise.json` in the profile's own folder.
    """
    what = f"persona file {path}"
    name = path.parent.name if path.stem == "profile" else path.stem
    persona = read_persona(read_file(path, what), name, what)
    if source == "none":
        return persona
    return msgspec.structs.replace(persona, log=load_log(log or find_log(path, source)), log_source=source)


def read_persona(profile: bytes, name: str, what: str) -> Persona:
    """Parse a persona without history from a KnowU-Bench profile. Raise `LabError` that names `what` and the field."""
    value = read_yaml(profile, what).value
    facts = value.get("user_profile") if isinstance(value, dict) else None
    if not isinstance(facts, dict):
        raise LabError(what, "field user_profile: not there; a persona is a KnowU-Bench profile in YAML")
    identity = facts.get("identity")
    if not isinstance(identity, dict):
        raise LabError(what, "field user_profile.identity: not there")
    return Persona(id=name, name=str(identity.get("full_name") or name), facts=facts)


def find_log(profile: Path, source: Literal["clean", "noise", "none"]) -> Path:
    """Return the path of the history of a profile. Raise `LabError` with the places that were searched."""
    noisy = source == "noise"
    own_log = profile.parent / ("log_noise.json" if noisy else "log.json")
    knowu = profile.parent.parent / "user_logs" / f"{profile.stem}{'_noise_25pct' if noisy else ''}.json"
    for candidate in (own_log, knowu):
        if candidate.is_file():
            return candidate
    problem = f"has no {source} log: neither {own_log} nor {knowu} is there."
    raise LabError(f"persona file {profile}", problem, "Another is chosen with --log: clean, noise, none.")


def load_log(path: Path) -> tuple[LogEntry, ...]:
    """Load a history in KnowU-Bench's form: a JSON list of time, location, action, label, category."""
    what = f"log file {path}"
    entries: tuple[LogEntry, ...] = convert(
        read_json(read_file(path, what), what, by_hand=True).value, tuple[LogEntry, ...], what
    )
    return entries


def _has_cycle(edges: list[tuple[str, str]]) -> bool:
    """Return True if the edges have a cycle, by Kahn's algorithm."""
    waiting = {b: 0 for edge in edges for b in edge}
    for _, b in edges:
        waiting[b] += 1
    free = [n for n, count in waiting.items() if not count]
    node_count = 0
    while free:
        node = free.pop()
        node_count += 1
        for a, b in edges:
            if a == node:
                waiting[b] -= 1
                if not waiting[b]:
                    free.append(b)
    return node_count < len(waiting)
