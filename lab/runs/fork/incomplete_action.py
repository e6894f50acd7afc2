"""Check that an action which a person wrote is complete."""

from __future__ import annotations

from lab.core.run.step import Action

_AT_A_PLACE = {"click", "double_tap", "long_press"}
_OF_WORDS = {"input_text", "ask_user", "answer"}


def action_problem(action: Action, size: tuple[int, int] | None) -> str:
    """Return what is wrong with an action on a screen of `size` pixels, to follow its kind in a sentence, else nothing.

    Places are not checked if `size` is None or has no area.
    """
    if action.kind in _AT_A_PLACE and action.at is None:
        return "needs a place, as in [540, 1200]"
    if action.kind in _OF_WORDS and not (action.text or "").strip():
        return "needs a text"
    if action.kind == "open_app" and not action.app:
        return "needs an app"
    if size is not None and all(size):
        for at in (action.at, action.to):
            if at is not None and not (0 <= at[0] < size[0] and 0 <= at[1] < size[1]):
                return f"goes to {at[0]}, {at[1]}: that is off the screen, which is {size[0]} by {size[1]} pixels"
    return ""
