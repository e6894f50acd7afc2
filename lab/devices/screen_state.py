"""State of a phone's screen from its services (asleep, locked, folded, turned), and what it means for a run.

Sources: AOSP, PowerManagerService.dump, KeyguardServiceDelegate.dump, DisplayViewport.toString, SurfaceFlinger's
`--display-id`, WindowState.dump. The lines are those of Android 8 to 16.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lab.core.seams import Trouble
from lab.devices.adb.shell import Shell, line_of

_MARK = "hitlab:next"
_ASK = (
    f"dumpsys power | grep mWakefulness=; echo {_MARK}; dumpsys window policy | grep -E "
    f"'showing=|occluded=|secure=|howingLockscreen=|isStatusBarKeyguard='; echo {_MARK}; dumpsys display | grep "
    f"DisplayViewport; echo {_MARK}; dumpsys SurfaceFlinger --display-id"
)
_WINDOWS = "dumpsys window windows | grep -E 'Window #| fl=|mCurrentFocus='"
_VIEWPORT = re.compile(r"DisplayViewport\{([^}]*)\}")
_PHYSICAL = re.compile(r"^Display (\d+) \(HWC display", re.MULTILINE)
_WAKEFULNESS = re.compile(r"mWakefulness=(\w+)")
_HEX_FLAGS = re.compile(r" fl=#([0-9a-fA-F]+)")
_SECURE = 0x2000
"""WindowManager.LayoutParams.FLAG_SECURE."""
_WAKE = 224
"""KEYCODE_WAKEUP: turns the screen on, and never off."""


_TURNED = (
    "stands upright again",
    "is turned on its side (90°)",
    "stands upside down (180°)",
    "is turned on its side (270°)",
)


class Viewport(NamedTuple):
    """One display with content: its number, `lit`, its rotation in quarter turns, its panel's physical id.

    `made` marks a virtual display of a program (such as a recorder), which nobody sees.
    """

    display: int
    lit: bool
    rotation: int
    panel: str
    made: bool = False


class ScreenState(NamedTuple):
    """Screen state as a phone reports it. Each default means that all is well.

    `locked`: the lock screen is in front. `secret`: it asks for a PIN or the like. `panel`: physical display id for
    screencap, empty if there is only one. `others`: number of other lit displays.
    """

    awake: bool = True
    locked: bool = False
    secret: bool = False
    folded: bool = False
    rotation: int = 0
    panel: str = ""
    others: int = 0

    @property
    def words(self) -> str:
        """State in a few words: `on`, `asleep`, `locked`, `folded`, with `turned` if rotated."""
        state = "asleep" if not self.awake else "folded" if self.folded else "locked" if self.locked else "on"
        if not self.awake and self.locked and self.secret:
            state = "asleep, locked"
        return f"{state}, turned" if self.rotation else state

    @property
    def wakes(self) -> bool:
        """True if a run can fix it alone: the screen is off, or has a lock that asks for nothing."""
        return not self.folded and not (self.locked and self.secret)

    def trouble(self, who: str) -> Trouble | None:
        """Return why a person or agent cannot see or use the phone now and what to do, or None."""
        if not self.awake:
            hint = "Unlock it by hand." if self.secret and self.locked else "Touch its power key if not."
            return Trouble(who, "is asleep: its screen is off. It is woken.", hint, state="asleep")
        if self.folded:
            message = "is folded: its main screen is off, and another one is lit."
            return Trouble(who, message, "Unfold it.", state="folded")
        if self.locked:
            message = "is locked: the lock screen is in front."
            hint = "Unlock it by hand." if self.secret else "It is put away; swipe it if not."
            return Trouble(who, message, hint, state="locked")
        return None


def postures(who: str, before: ScreenState, now: ScreenState) -> Iterator[tuple[str, str]]:
    """Yield each change of orientation and display as a word of `POSTURES` and a sentence."""
    if now.rotation != before.rotation:
        yield "turned" if now.rotation else "upright", f"{who}: {_TURNED[now.rotation]}."
    if now.folded or before.folded:  # a folded phone's other display is a trouble, not a posture
        return
    if bool(now.others) != bool(before.others):
        if now.others:
            yield "two displays", f"{who}: is shown on another display, too; its own screen is seen and worked."
        else:
            yield "one display", f"{who}: is shown on its own screen alone again."


def screen_state(shell: Shell) -> ScreenState:
    """Query a phone's screen state. Raise `Trouble` if it does not answer."""
    return parsed(shell.run(_ASK).out)


def parsed(text: str) -> ScreenState:
    """Parse the output of the state query."""
    power, policy, display, panels = (text.split(_MARK) + [""] * 4)[:4]
    wakefulness = _WAKEFULNESS.search(power)
    viewports = [
        viewport_read for line in _VIEWPORT.findall(display) if (viewport_read := _parse_viewport(line)) is not None
    ]
    main = next((viewport for viewport in viewports if viewport.display == 0), None)
    several = len(set(_PHYSICAL.findall(panels)) | {viewport.panel for viewport in viewports if viewport.panel}) > 1
    awake = wakefulness is None or wakefulness[1] == "Awake"
    away = main is not None and not main.lit and any(viewport.lit for viewport in viewports)
    return ScreenState(
        awake=awake,
        locked=_is_locked(policy),
        secret="secure=true" in policy,
        folded=awake and away,
        rotation=main.rotation if main is not None else 0,
        panel=main.panel if main is not None and several else "",
        others=sum(viewport.lit and not viewport.made and viewport.display != 0 for viewport in viewports),
    )


def wake(shell: Shell, state: ScreenState) -> None:
    """Turn the screen on if it is off, and dismiss a lock screen that asks for nothing."""
    if not state.awake:
        shell.run(line_of("input", "keyevent", _WAKE))
    if state.locked and not state.secret:
        shell.run("wm dismiss-keyguard")


def secured(shell: Shell) -> bool:
    """Return True if the focused window forbids pictures of it (FLAG_SECURE)."""
    text = shell.run(_WINDOWS).out
    focus = re.search(r"mCurrentFocus=Window\{(\w+) ", text)
    blocks = re.split(r"^.*Window #\d+ ", text, flags=re.MULTILINE)[1:]
    return any(
        focus is not None and block.startswith(f"Window{{{focus[1]} ") and _is_secured(block) for block in blocks
    )


def secured_trouble(who: str) -> Trouble:
    """Return the trouble of a secured window, whose pictures are black."""
    message = "shows a secured screen: its app forbids pictures (FLAG_SECURE), and they are black."
    return Trouble(who, message, "Leave that screen by hand.", state="secured")


def _is_secured(block: str) -> bool:
    number = _HEX_FLAGS.search(block)
    if number:
        return bool(int(number[1], 16) & _SECURE)
    return any(" fl=" in line and "SECURE" in line.partition(" fl=")[2].split() for line in block.splitlines())


def _is_locked(policy: str) -> bool:
    if re.search(r"\bshowing=true", policy):
        return "occluded=true" not in policy
    return any(f"{word}=true" in policy for word in ("mShowingLockscreen", "isStatusBarKeyguard"))


def _parse_viewport(fields: str) -> Viewport | None:
    fields_read = dict(re.findall(r"(?<!\w)(\w++)=('[^']*'|[^,\s]*)", fields))
    if fields_read.get("valid") == "false" or not fields_read.get("displayId", "").isdigit():
        return None
    orientation, panel = fields_read.get("orientation", "0"), fields_read.get("uniqueId", "").strip("'")
    return Viewport(
        int(fields_read["displayId"]),
        fields_read.get("isActive", "true") == "true",
        int(orientation) % 4 if orientation.isdigit() else 0,
        panel.removeprefix("local:") if panel.startswith("local:") and panel[6:].isdigit() else "",
        fields_read.get("type") == "VIRTUAL",
    )
