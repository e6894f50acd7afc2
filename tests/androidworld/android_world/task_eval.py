"""Two tasks: one about an alarm, one whose answer is a number."""

from __future__ import annotations

import random
from typing import Any

from lab.core.task import task_checks
from simulators import library


class TaskEval:
    template = ""
    complexity: float = 1
    start_on_home_screen = True

    def __init__(self, params: dict[str, Any]) -> None:
        self.initialized = False
        self.params = params

    @property
    def app_names(self) -> tuple[str, ...]:
        return ("clock", "messages")

    @property
    def goal(self) -> str:
        return self.template.format(**self.params)

    def initialize_task(self, env: Any) -> None:
        if self.initialized:
            raise RuntimeError(f"{type(self).__name__}.initialize_task() is already called.")
        env.interaction_cache = ""
        env.begin(library.task("flight_alarm"))
        self.initialized = True

    def is_successful(self, env: Any) -> float:
        if not self.initialized:
            raise RuntimeError("initialize_task() must be called before is_successful().")
        return 1.0

    def tear_down(self, env: Any) -> None:
        print("torn down")
        self.initialized = False


class ClockAlarmFromMessage(TaskEval):
    template = "Tomas wrote when his flight lands: set an alarm."
    complexity = 2

    @classmethod
    def generate_random_params(cls) -> dict[str, Any]:
        return {}

    def is_successful(self, env: Any) -> float:
        super().is_successful(env)
        return task_checks.score(env.task, env.first, env.phone.snapshot(), ()).score or 0.0


class SystemTypeNumber(TaskEval):
    template = "Answer with the number {number}."
    complexity = 1.2

    @classmethod
    def generate_random_params(cls) -> dict[str, Any]:
        return {"number": random.randint(1, 10**6)}

    def is_successful(self, env: Any) -> float:
        super().is_successful(env)
        return float(env.interaction_cache == str(self.params["number"]))
