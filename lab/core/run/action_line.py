"""The written form of an action, shared by agent programs, playbooks and forks."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Direction = Literal["up", "down", "left", "right"]
ActionKind = Literal[
    "click", "double_tap", "long_press", "drag", "input_text", "scroll", "navigate_home", "navigate_back",
    "keyboard_enter", "wait", "answer", "status", "ask_user", "swipe", "press_recent", "open_app", "other",
]  # fmt: skip
Place = tuple[float, float]
Status = Literal["complete", "infeasible"]
MOST_MS = 3_600_000
"""Upper bound of an action's duration in milliseconds."""
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=MOST_MS)]


class WrittenAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action as a person or a program writes it.

    `at` and `to` are pixels of the screenshot. `node` and `to_node` name an element by its number instead.
    """

    kind: ActionKind
    at: Place | None = None
    node: int | None = None
    to: Place | None = None
    to_node: int | None = None
    text: str | None = None
    direction: Direction | None = None
    app: str | None = None
    status: Status | None = None
    ms: Milliseconds | None = None

    def missing_field(self) -> tuple[str, str]:
        """Return the first missing required field and a sentence about it, or two empty strings."""
        for group in _NEEDS.get(self.kind, ()):
            fields = [field for name in group for field in (name, NUMBERED.get(name, name))]
            if all(getattr(self, field) is None for field in fields):
                return group[0], f"{self.kind} needs {' or '.join(dict.fromkeys(fields))}"
        if self.kind == "ask_user" and not (self.text or "").strip():
            return "text", "it is empty, and ask_user needs a question"
        return "", ""


NUMBERED = {"at": "node", "to": "to_node"}
"""Each target field and the field that names the same target by element number."""
_NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "click": (("at",),),
    "double_tap": (("at",),),
    "long_press": (("at",),),
    "drag": (("at",), ("to",)),
    "swipe": (("to", "direction"),),
    "scroll": (("to", "direction"),),
    "input_text": (("text",),),
    "open_app": (("app", "text"),),
    "ask_user": (("text",),),
    "answer": (("text",),),
    "status": (("status",),),
}
"""Required fields by kind of action: groups, of each of which one field is enough."""
