"""What adb is asked."""

from __future__ import annotations

from typing import Any


def generate_swipe_command(
    start_x: int, start_y: int, end_x: int, end_y: int, duration_ms: int | None = None
) -> list[str]:
    return ["shell", "input", "swipe", str(start_x), str(start_y), str(end_x), str(end_y), str(duration_ms or "")]


def issue_generic_request(args: list[str], env: Any) -> None:
    env.swipe(*(int(word) for word in args[3:7]))
