"""The tasks, by the names of their classes."""

from __future__ import annotations

import os
from typing import Any

from android_world import task_eval


class TaskRegistry:
    ANDROID_WORLD_FAMILY = "android_world"

    def get_registry(self, family: str) -> Any:
        if family != self.ANDROID_WORLD_FAMILY:
            raise ValueError(f"Unsupported family: {family}")
        print("registry read")  # AndroidWorld prints as it goes on
        if os.environ.get("STAND_IN_FAULT") == "import":
            raise ImportError("No module named 'fuzzywuzzy'")
        return {cls.__name__: cls for cls in (task_eval.ClockAlarmFromMessage, task_eval.SystemTypeNumber)}
