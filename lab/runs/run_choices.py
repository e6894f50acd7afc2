"""Options for starting a task: agent, user, gate, seat and persona.

The fields are those of `hitlab live`. No option is hidden for lack of a key or a playbook. It states what it needs
instead.
"""

from __future__ import annotations

from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.last_choices import RunChoices
from lab.core.settings import Settings
from lab.core.task.task import Task
from lab.runs.spec import WITHOUT_PLAYBOOK, Spec, in_world


class Choice(NamedTuple):
    """One option of a field: its label, what it `needs` and lacks, and the hint if a name is to be typed.

    The `value` of a typed one ends where the name begins (`model:`).
    """

    value: str
    label: str
    needs: str = ""
    typed: str = ""


class ChoiceField(NamedTuple):
    """A field and its options in order."""

    name: str
    label: str
    choices: tuple[Choice, ...]


def fields_of(task: Task, settings: Settings) -> list[ChoiceField]:
    """Return the fields with options for a task, at this person's seat."""
    from simulators import library

    fields = [
        ChoiceField("agent", "agent", tuple(_agent_choices(task))),
        ChoiceField("user", "user", tuple(_user_choices(task))),
    ]
    if task.persona:
        own = library.persona(task.persona, "none")
        others = [library.persona(name, "none") for name in library.personas() if name != task.persona]
        theirs = (Choice(one.id, one.name) for one in others)
        fields.append(ChoiceField("persona", "persona", (Choice("", f"{own.name}, the task's own"), *theirs)))
        logs = (Choice("clean", "what they do alone"), Choice("noise", "with much besides"), Choice("none", "nothing"))
        fields.append(ChoiceField("log", "history", (Choice("", f"the task's own ({task.log})"), *logs)))
    ask = Choice("ask", "ask before each action", "" if settings.seat == "developer" else "a developer's seat")
    fields.append(ChoiceField("gate", "gate", (Choice("pass", "off"), ask)))
    if settings.seat == "developer":
        seats = (Choice("developer", "developer: all of it"), Choice("participant", "participant: their part alone"))
        fields.append(ChoiceField("seat", "seat", seats))
    fields.append(ChoiceField("mirror", "phone", (Choice("yes", "shown"), Choice("", "hidden from the person"))))
    another_world = Choice("vary:", "another", typed="a number, which draws names and prices")
    fields.append(ChoiceField("vary", "world", (Choice("", "the task's own"), another_world)))
    return fields


def _agent_choices(task: Task) -> list[Choice]:
    needs = "" if task.playbook else "a playbook, which this task has not"
    choices = [Choice("playbook", "playbook", needs)]
    choices += [Choice(f"playbook:{one.name}", f"playbook {one.name}: {one.fault}") for one in task.playbooks]
    model = "its name, such as openai/gpt-5"
    return [
        *choices,
        Choice("model:", "model", typed=model),
        Choice("model+memory:", "model with a memory", typed=model),
        Choice("process:", "program", typed="its command"),
        Choice("recorded:", "recorded run", typed="its id, or how it begins"),
    ]


def _user_choices(task: Task) -> list[Choice]:
    from simulators import library

    needs = "" if task.id in library.scripts() else "a script, which this task has not"
    return [
        Choice("human", "you"),
        Choice("script", "the task's script", needs),
        Choice("script:", "script of yours", typed="its file"),
        Choice("model:", "model", typed="its name, such as openai/gpt-5"),
    ]


def value_of(choices: RunChoices, name: str, settings: Settings) -> str:
    """Return the chosen value of a field in the form of its options, with any typed text appended."""
    match name:
        case "mirror":
            return "yes" if choices.mirror else ""
        case "vary":
            return f"vary:{choices.vary}" if choices.vary else ""
        case "seat":
            return choices.seat or settings.seat
        case "agent":
            return choices.agent or "playbook"
    return str(getattr(choices, name))


def find_choice(field: ChoiceField, value: str) -> tuple[int, str]:
    """Return the index of a value's option and the typed text, or the first option if it is not available here.

    Another task's playbook is not available.
    """
    for at, choice in enumerate(field.choices):
        if choice.value == value and not choice.typed:
            return at, ""
    for at, choice in enumerate(field.choices):
        if choice.typed and value.startswith(choice.value) and value != choice.value:
            return at, value.removeprefix(choice.value)
    return 0, ""


def choices_of(values: dict[str, str]) -> RunChoices:
    """Build the choices from the fields' values by name. Raise `LabError` if typed text is invalid."""
    vary = values.get("vary", "").removeprefix("vary:").strip()
    if vary and not (vary.isascii() and vary.isdigit() and len(vary) < 10):
        raise LabError("world", f"{vary!r} is no number.")
    for name in ("agent", "user"):
        if values.get(name, "").endswith(":"):
            raise LabError(name, "has no name yet.", "Type it, or choose another.")
    seat, gate, log = values.get("seat", ""), values.get("gate", "pass"), values.get("log", "")
    return RunChoices(
        agent="" if values.get("agent") == "playbook" else values.get("agent", ""),
        user=values.get("user", "human"),
        gate="ask" if gate == "ask" else "pass",
        seat="participant" if seat == "participant" else "",
        persona=values.get("persona", ""),
        log=log if log in ("clean", "noise", "none") else "",  # type: ignore[arg-type]
        mirror=bool(values.get("mirror", "yes")),
        vary=int(vary or 0),
    )


def spec_of(task: Task, choices: RunChoices, settings: Settings) -> Spec:
    """Build the spec of a run from choices. Raise `LabError` if it cannot be run as requested."""
    from simulators import library

    name = choices.persona or task.persona
    persona = library.persona(name, choices.log or task.log) if name else None
    seat = choices.seat or settings.seat
    if choices.gate == "ask" and seat != "developer":
        raise LabError("gate", f"a {seat} lets no actions through.", "Choose another seat, or no gate.")
    if choices.user == "script" and task.id not in library.scripts():
        raise LabError("user", f"there is no script for {task.id}.", "Choose another user.")
    agent = choices.agent or "playbook"
    if agent == "playbook" and not task.playbook:
        raise LabError(f"task {task.id}", "has no playbook.", WITHOUT_PLAYBOOK)
    spec = Spec(
        task, persona, agent=agent, user=choices.user, person=settings.person, seat=seat, mirror=choices.mirror,
        gate=choices.gate, pace=settings.pace, device=settings.device,
    )  # fmt: skip
    return in_world(spec, choices.vary) if choices.vary else spec


def model_needs(value: str, settings: Settings) -> str:
    """Return what a named model needs and lacks, empty if nothing, or if it is not a model."""
    kind, _, name = value.partition(":")
    if kind not in ("model", "model+memory") or not name:
        return ""
    from lab.llm.client import Llm, terms

    try:
        Llm(name, terms(settings)).check()
    except LabError as error:
        return error.message
    return ""
