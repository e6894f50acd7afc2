"""Playing a built-in task whole: playbook agent, embedded phone, scripted person, the real loop and the real checks.

python -m tests.simulators.playing TASK [--vary SEED] [--script NAME] [--log clean|noise] [--playbook NAME] [--show]
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from lab.agents.playbook import PlaybookAgent
from lab.core.run import episode
from lab.core.run.run_control import RunControl
from lab.core.run.step import Observation, Proposed
from lab.core.run.trace import Ended, Step
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Agent, Gate, Screen, TaskBrief
from lab.core.task import task_checks
from lab.core.task.playbook import moves_of
from lab.core.task.task import Persona, Task
from lab.runs.spec import brief_of
from simulators import library, task_variation
from simulators.phone.installed import APPS
from simulators.phone.phone import Phone
from simulators.phone.stage import activity
from simulators.users.human import PassGate
from simulators.users.scripted import Script, Scripted


class Blind(Phone):
    """The phone without its pictures, which no rule looks at: what is tested here is quicker so."""

    def snapshot(self) -> dict[str, Any]:
        """The state itself: no act changes it, each makes another of it."""
        with self._changed:
            return self._state

    def observe(self) -> Screen:
        with self._changed:
            state = self._state
            return Screen(b"", (1080, 2400), self._draw().tree, activity(state, APPS), state["clock"])


class Keep:
    """Keeps nothing but the tree."""

    def screen(self, screen: Screen) -> Observation:
        return Observation(size=screen.size, tree=screen.tree, activity=screen.activity, at=screen.at)

    def state(self, state: dict[str, Any] | None) -> str | None:
        return None


class Spy:
    """An agent that remembers all that the agent in it was given."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.actor = agent.actor
        self.given: list[tuple[TaskBrief, UiTree]] = []

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        self.given.append((brief, screen.tree))
        return self.agent.propose(brief, screen, history)


def playing(task: Task, name: str = "") -> PlaybookAgent:
    """The agent that plays a task's playbook of that name."""
    return PlaybookAgent(moves_of(task.playbook, task.playbooks, name), name)


class Played(NamedTuple):
    """A run's steps, its end, and the phone's state before and after."""

    steps: list[Step]
    ended: Ended
    first: dict[str, Any]
    last: dict[str, Any]

    @property
    def orders(self) -> list[dict[str, Any]]:
        return list(self.last["apps"]["food"]["orders"][len(self.first["apps"]["food"]["orders"]) :])

    def replied(self, decision: str) -> bool:
        """Whether the person decided so."""
        return any(step.reply is not None and step.reply.decision == decision for step in self.steps)

    def told(self) -> str:
        """The run in lines, for a test that fails."""
        lines = [
            f"{s.index} {s.proposed.action.kind} {s.proposed.action.text or ''} | {s.proposed.thought}"
            for s in self.steps
        ]
        return "\n".join([*lines, self.ended.reason])


def play(
    task: Task, persona: Persona | None, script: Script, *, state: dict[str, Any], agent: Agent | None = None,
    gate: Gate | None = None,
) -> Played:  # fmt: skip
    """One run by the real loop, from a state of the phone."""
    phone = Blind(state=state)
    first = phone.snapshot()

    def scorer(state: dict[str, Any] | None, steps: Sequence[Step]) -> episode.EpisodeScore:
        return episode.EpisodeScore(*task_checks.score(task, first, state or {}, steps))

    parties = episode.Parties(agent or playing(task), Scripted(script), gate or PassGate(), phone)
    events = list(episode.run(brief_of(task, persona), parties, RunControl(), Keep(), scorer))
    ended = events[-1]
    assert isinstance(ended, Ended)
    return Played([e for e in events if isinstance(e, Step)], ended, first, phone.snapshot())


def first_state(task: Task, seed: int) -> dict[str, Any]:
    state = _first_states(task.id, seed)
    return dict(json.loads(json.dumps(state)))


@functools.cache
def _first_states(name: str, seed: int) -> dict[str, Any]:
    task = task_named(name)
    phone = Blind(seed=seed, clock=task.time)
    phone.lay(task.phone)
    return phone.snapshot()


task_named = functools.cache(library.task)


@functools.cache
def persona(name: str, source: Any = "noise") -> Persona:
    return library.persona(name, source)


@functools.cache
def fitting(
    name: str, script: str = "", *, seed: int = 0, source: Any = "noise", vary: int = 0, playbook: str = ""
) -> Played:
    """A built-in task with its own script (or another), in the world of `vary`, by its good playbook or another."""
    task = task_named(name)
    world = task_variation.world(vary)
    return play(
        world.task(task),
        world.persona(persona(task.persona, source)) if task.persona else None,
        world.script(library.script(script or name)),
        state=world.state(first_state(task, seed)),
        agent=playing(world.task(task), playbook),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Play one built-in task by its playbook.")
    parser.add_argument("task")
    parser.add_argument("--vary", type=int, default=0)
    parser.add_argument("--script", default="")
    parser.add_argument("--log", default="noise")
    parser.add_argument("--playbook", default="", help="one that goes wrong, by its name")
    parser.add_argument("--show", action="store_true", help="also the words on each screen")
    args = parser.parse_args()
    played = fitting(args.task, args.script, seed=args.vary, source=args.log, vary=args.vary, playbook=args.playbook)
    for step in played.steps:
        action = step.proposed.action
        if args.show and step.before.tree is not None:
            print("     |", " | ".join(n.label.replace("\n", "/") for n in step.before.tree.nodes() if n.label)[:1500])
        print(step.index, action.kind, action.direction or action.text or "", "|", step.proposed.thought)
        if step.question and step.reply:
            print(f"  asked: {step.question.text}\n  reply: {step.reply.decision or ''} {step.reply.text}")
    print(played.ended.status, played.ended.score, played.ended.reason)
    for name, held in played.ended.checks:
        print("   ", "ok  " if held else "FAIL", name)


if __name__ == "__main__":
    main()
