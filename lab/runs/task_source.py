"""Sources of tasks: the built-in ones and files, or an environment's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from lab.core.errors import LabError
from lab.core.task.task import Kind, Persona, Task
from simulators import library


class TaskSource(Protocol):
    """Tasks by name."""

    def names(self) -> list[str]:
        """Return the names of all tasks."""

    def kind(self, name: str) -> Kind:
        """Return a task's kind."""

    def task(self, name: str) -> Task:
        """Return a task. Raise `LabError` if the name is unknown."""

    def persona(self, task: Task) -> Persona | None:
        """Return a task's person with the log for agents, or None if it has none."""

    def check(self, task: Task) -> None:
        """Raise `LabError` if a run of the task could not be scored, as far as that is known beforehand."""


class Library:
    """The built-in tasks, and task files."""

    def names(self) -> list[str]:
        return list(library.tasks())

    def kind(self, name: str) -> Kind:
        return library.task(name).kind

    def task(self, name: str) -> Task:
        return library.task(name)

    def persona(self, task: Task) -> Persona | None:
        return library.persona(task.persona, task.log) if task.persona else None

    def check(self, task: Task) -> None:
        """Check nothing. A phone without a checkable state is reported at the end of its run."""


class EnvironmentTasks:
    """An environment's tasks, with parameters drawn by a seed."""

    def __init__(self, address: str, seed: int) -> None:
        from simulators.environments.factory import open_environment

        self._environment, self._seed = open_environment(address), seed

    def names(self) -> list[str]:
        return [task.id for task in self._environment.tasks()]

    def kind(self, name: str) -> Kind:
        kind = next((task.kind for task in self._environment.tasks() if task.id == name), None)
        return kind or self.task(name).kind

    def tasks(self) -> Sequence[Task]:
        """Return the environment's list of tasks. It may lack their instructions."""
        return self._environment.tasks()

    def task(self, name: str) -> Task:
        return self._environment.task(name, self._seed)

    def persona(self, task: Task) -> Persona | None:
        return self._environment.persona(task)

    def check(self, task: Task) -> None:
        self._environment.check(task)

    def close(self) -> None:
        self._environment.close()


@contextmanager
def task_source(environment: str, seed: int) -> Iterator[TaskSource]:
    """Yield the tasks of the environment at an address, or hitlab's own if it is empty."""
    if not environment:
        yield Library()
        return
    tasks = EnvironmentTasks(environment, seed)
    try:
        yield tasks
    finally:
        tasks.close()


def one_environment(addresses: Sequence[str] | None, device: str | None, harness: str | None) -> str:
    """Return the environment that `--env` names, or an empty text. Raise `LabError` for several, or a phone as well."""
    if not addresses:
        return ""
    if len(addresses) > 1:
        raise LabError("--env", f"is given {len(addresses)} times; a run is made in one environment.", code=2)
    for option, address in (("--device", device), ("--harness", harness)):
        if address:
            raise LabError(option, "does not go with --env: an environment has its own phone.", code=2)
    return addresses[0]
