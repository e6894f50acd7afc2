"""Actions."""

from __future__ import annotations

import dataclasses

_TYPES = (
    "answer", "click", "double_tap", "input_text", "keyboard_enter", "long_press", "navigate_back", "navigate_home",
    "open_app", "scroll", "status", "swipe", "unknown", "wait",
)  # fmt: skip


@dataclasses.dataclass
class JSONAction:
    action_type: str | None = None
    index: str | int | None = None
    x: int | None = None
    y: int | None = None
    text: str | None = None
    direction: str | None = None
    goal_status: str | None = None
    app_name: str | None = None
    keycode: str | None = None
    clear_text: bool | None = None

    def __post_init__(self) -> None:
        if self.action_type not in _TYPES:
            raise ValueError(f"Invalid action type: {self.action_type}")
