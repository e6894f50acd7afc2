"""Worker inside AndroidWorld's own Python: answers each JSON line on standard input with one on standard output.

It imports only AndroidWorld and the standard library, nothing of hitlab. Requests are `{"do": "tasks"}`, `task`,
`begin`, `look`, `act`, `score` and `end`. An answer is `{"ok": ...}` or `{"error": "..."}`. It exits when its input
closes. AndroidWorld's own output goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import sys
import zlib
from typing import Any

_FLAGS = (
    "checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "long_clickable", "selected",
)  # fmt: skip


class EmulatorWorker:
    """One emulator, connected at the first task, and the current task on it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.env: Any = None
        self.task: Any = None

    def tasks(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the names and facts of all tasks."""
        return {"tasks": [_facts(name, cls) for name, cls in self._registry().items()]}

    def one_task(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a task with its parameters drawn."""
        task = self._draw_task(request)
        return {**_facts(request["name"], task), "goal": str(task.goal)}

    def begin(self, request: dict[str, Any]) -> dict[str, Any]:
        """Connect if necessary, reset the phone and initialize the task."""
        if self.env is None:
            from android_world.env import env_launcher

            # AndroidWorld has its own defaults for options that were not given.
            given = {name: value for name, value in vars(self.options).items() if value is not None}
            self.env = env_launcher.load_and_setup_env(**given)
        self.end(request)
        self.env.reset(go_home=True)
        self.task = self._draw_task(request)
        self.task.initialize_task(self.env)
        self.env.reset(go_home=bool(getattr(self.task, "start_on_home_screen", True)))
        return {"size": [int(side) for side in self.env.logical_screen_size]}

    def write_screen(self, request: dict[str, Any]) -> dict[str, Any]:
        """Write the screen as PNG to the requested path.

        Return its elements, if the request waits for a settled screen.
        """
        state = self.env.get_state(wait_to_stabilize=bool(request["settled"]))
        with open(request["png"], "wb") as file:
            file.write(png(state.pixels))
        if not request["settled"]:
            return {}
        elements = [
            properties for element in state.ui_elements if (properties := _element_properties(element)) is not None
        ]
        return {"activity": str(self.env.foreground_activity_name or ""), "elements": elements}

    def act(self, request: dict[str, Any]) -> dict[str, Any]:
        """Perform one of AndroidWorld's own actions, or a swipe between two points for which it has none."""
        action = request["action"]
        if "start" in action:
            from android_world.env import adb_utils

            command = adb_utils.generate_swipe_command(*action["start"], *action["end"], action["ms"])
            adb_utils.issue_generic_request(command, self.env.controller)
        else:
            from android_world.env import json_action

            self.env.execute_action(json_action.JSONAction(**action))
        return {}

    def score(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the task's own score of the phone's current state."""
        return {"score": float(self.task.is_successful(self.env))}

    def end(self, request: dict[str, Any]) -> dict[str, Any]:
        """Tear down the current task, if any."""
        task, self.task = self.task, None
        if task is not None:
            task.tear_down(self.env)
        return {}

    def close(self) -> None:
        """Disconnect from the emulator."""
        if self.env is not None:
            self.env.close()

    def _registry(self) -> dict[str, Any]:
        from android_world import registry

        tasks = registry.TaskRegistry()
        return dict(tasks.get_registry(tasks.ANDROID_WORLD_FAMILY))

    def _draw_task(self, request: dict[str, Any]) -> Any:
        """Return the named task as AndroidWorld's own suite draws it by that seed: the first of its combinations."""
        from android_world import suite_utils

        name = request["name"]
        suite = suite_utils.create_suite({name: self._registry()[name]}, 1, seed=request["seed"], env=self.env)
        return suite[name][0]


def png(pixels: Any) -> bytes:
    """Encode an array of height x width x 3 bytes as PNG."""
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row[:, :3].tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )


def _element_properties(element: Any) -> dict[str, Any] | None:
    """Return one UI element's properties, or None if it has no box or is invisible."""
    box = element.bbox_pixels
    if box is None or element.is_visible is False:
        return None
    texts = {
        "text": element.text,
        "desc": element.content_description or element.hint_text,
        "id": element.resource_name or element.resource_id,
        "cls": element.class_name,
        "package": element.package_name,
    }
    return {
        "box": [int(box.x_min), int(box.y_min), int(box.x_max), int(box.y_max)],
        **{name: str(text) for name, text in texts.items() if text},
        "flags": [flag for flag in _FLAGS if getattr(element, f"is_{flag}", None)],
    }


def _facts(name: str, task: Any) -> dict[str, Any]:
    """Return the facts of a task, or of its class, that need no initialization."""
    complexity, apps = getattr(task, "complexity", None), getattr(task, "app_names", None)
    facts: dict[str, Any] = {"name": name}
    if isinstance(complexity, int | float):
        facts["complexity"] = float(complexity)
    if isinstance(apps, list | tuple | set | frozenset):
        facts["apps"] = [str(app) for app in apps]
    return facts


def main() -> None:
    """Answer requests until standard input closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--console_port", type=int)
    parser.add_argument("--grpc_port", type=int)
    parser.add_argument("--adb_path")
    worker = EmulatorWorker(parser.parse_args())
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # AndroidWorld prints to standard output, which hitlab would read as an answer
    verbs = {
        "tasks": worker.tasks,
        "task": worker.one_task,
        "begin": worker.begin,
        "look": worker.write_screen,
        "act": worker.act,
        "score": worker.score,
        "end": worker.end,
    }
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer: dict[str, Any] = {"ok": verbs[request["do"]](request)}
        except Exception as error:  # noqa: BLE001 - report whatever AndroidWorld raises, and read on
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()
    worker.end({})
    worker.close()


if __name__ == "__main__":
    main()
