"""The environment, launched: the embedded phone in an emulator's place."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from lab.core.run.step import Action
from simulators.phone.installed import APPS
from simulators.phone.phone import Phone
from simulators.phone.stage import activity


@dataclasses.dataclass
class BoundingBox:
    x_min: float
    x_max: float
    y_min: float
    y_max: float


@dataclasses.dataclass
class UIElement:
    text: str | None = None
    content_description: str | None = None
    class_name: str | None = None
    bbox_pixels: BoundingBox | None = None
    hint_text: str | None = None
    is_checked: bool | None = None
    is_checkable: bool | None = None
    is_clickable: bool | None = None
    is_enabled: bool | None = None
    is_focused: bool | None = None
    is_focusable: bool | None = None
    is_long_clickable: bool | None = None
    is_scrollable: bool | None = None
    is_selected: bool | None = None
    is_visible: bool | None = None
    package_name: str | None = None
    resource_name: str | None = None
    resource_id: str | None = None


@dataclasses.dataclass
class State:
    pixels: Any
    ui_elements: list[UIElement]


class Env:
    logical_screen_size = (1080, 2400)

    def __init__(self) -> None:
        self.interaction_cache = ""
        self.phone = Phone()
        self.controller = self

    def begin(self, task: Any) -> None:
        self.task = task
        self.phone = Phone(clock=task.time)
        self.phone.lay(task.phone)
        self.first = self.phone.snapshot()

    @property
    def foreground_activity_name(self) -> str:
        return activity(self.phone.current_screen().state, APPS)

    def reset(self, go_home: bool = False) -> None:
        self.interaction_cache = ""
        if go_home:
            self.phone.perform(Action("navigate_home"))

    def get_state(self, wait_to_stabilize: bool = False) -> State:
        seen = self.phone.current_screen()
        if os.environ.get("STAND_IN_FAULT") == "look":
            os._exit(7)
        width, height = self.logical_screen_size
        return State(np.frombuffer(seen.rgb, np.uint8).reshape(height, width, 3), _elements(seen.tree))

    def execute_action(self, action: Any) -> None:
        if os.environ.get("STAND_IN_FAULT") == "crash":
            raise SystemExit("the emulator is gone")
        if action.action_type == "answer":
            self.interaction_cache = action.text
            return
        at = (action.x, action.y) if action.x is not None else None
        self.phone.perform(
            Action(action.action_type, at, text=action.text, direction=action.direction, app=action.app_name)
        )

    def swipe(self, x: int, y: int, to_x: int, to_y: int) -> None:
        self.phone.perform(Action("drag", (x, y), (to_x, to_y)))

    def close(self) -> None:
        print("closed")


def load_and_setup_env(
    console_port: int = 5554,
    emulator_setup: bool = False,
    freeze_datetime: bool = True,
    adb_path: str = "adb",
    grpc_port: int = 8554,
) -> Env:
    print("Setting up", console_port, grpc_port)
    return Env()


def _elements(tree: Any) -> list[UIElement]:
    return [
        UIElement(
            text=node.text or None,
            content_description=node.desc or None,
            class_name=node.cls,
            bbox_pixels=BoundingBox(node.bounds.left, node.bounds.right, node.bounds.top, node.bounds.bottom),
            is_checked=node.checked,
            is_checkable=node.checkable,
            is_clickable=node.clickable,
            is_enabled=node.enabled,
            is_focused=node.focused,
            is_focusable=node.focusable,
            is_scrollable=node.scrollable,
            is_selected=node.selected,
            is_visible=True,
            package_name=node.package or None,
            resource_name=node.id or None,
        )
        for node in tree.nodes()
    ]
