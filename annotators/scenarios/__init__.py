"""PSPA-Bench's four scenarios with a published checklist, as tasks for a design or a study."""

from __future__ import annotations

from pathlib import Path

from lab.core.task.task import Task, load_task

HERE = Path(__file__).parent


def scenarios() -> dict[str, Task]:
    """Return each scenario's task by its id. Its graph is the checklist of PSPA-Bench E.4.

    Names, kinds, alternatives and dependencies are the paper's. The values of an instruction's slots are not included,
    and no embedded phone has the apps.
    """
    return {path.stem: load_task(path) for path in sorted(HERE.glob("*.yaml"))}
