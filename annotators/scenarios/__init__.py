"""PSPA-Bench's four scenarios with a published checklist, as tasks to begin a design or a study from."""

from __future__ import annotations

from pathlib import Path

from lab.core.task import Task, load_task

HERE = Path(__file__).parent


def scenarios() -> dict[str, Task]:
    """Each scenario's task by its id: its graph is the checklist of PSPA-Bench E.4; no phone of ours holds its apps.

    Names, kinds, alternatives and dependencies are the paper's; how an instruction fills its slots is not here.
    """
    return {path.stem: load_task(path) for path in sorted(HERE.glob("*.yaml"))}
