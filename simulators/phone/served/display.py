"""The served phone's screen: its rotation, its power, and the phone's pixel under a touch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from lab.core.run.step import Action, Point
from lab.core.run.ui_tree import Bounds, Node, UiTree
from simulators.phone import nav, touch
from simulators.phone.app import State
from simulators.phone.installed import APPS
from simulators.phone.kit import draw
from simulators.phone.kit.boxes import Window
from simulators.phone.kit.theme import HEIGHT, STATUS_BAR, WIDTH
from simulators.phone.kit.views import Field
from simulators.phone.phone import DrawnScreen, Phone
from simulators.phone.served.motion import Motion
from simulators.phone.stage import activity, focused
from simulators.phone.tree import tree

if TYPE_CHECKING:
    from PIL.Image import Image

_WIDE = WIDTH * WIDTH // HEIGHT
_LEFT = (HEIGHT - _WIDE) // 2
"""Width and left edge of the phone's picture in landscape: centred, and as high as the display."""


_LOCK_WORDS = {"swipe": "Swipe to unlock", "pin": "Enter PIN"}
PREVIEW = Bounds(32, 2000, 632, 2200)
"""Bounds of the clipboard's preview."""
_PREVIEW = 6.0
"""Seconds for which it is shown (ClipboardOverlayController)."""
LOCKS = ("", *_LOCK_WORDS)


class _Reason(NamedTuple):
    """Everything that a picture shown in the app's place depends on. It is drawn again if any part changes."""

    lit: bool
    lock: str
    secured: bool
    rotation: int
    size: Point
    preview: str
    below: DrawnScreen | None


class Display:
    """The screen of a `Phone` in pixels of the rotated display: 1080 x 2400, or 2400 x 1080 in landscape.

    Every app of this phone insists on portrait, so landscape shows its picture scaled and letterboxed (Android's size
    compatibility mode). `rotation` is 0 to 3. `awake` is False while the screen is off: black, and deaf to touches.
    `finger` is the finger on it. `lock` is "" or what the lock screen asks for: "swipe", "pin". `secured`: the app in
    front forbids pictures (FLAG_SECURE). `folded`: this screen is off, the cover's is lit. `second`: a monitor is
    plugged in and first in every list. `override` is a size set by `wm size`, upright, to which all is scaled.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._rotation = 0
        self._awake = True
        self._lock, self._secured, self._folded = "", False, False
        self.second = False
        self._override: Point | None = None
        self._preview = ("", 0.0)
        self._wide: tuple[DrawnScreen, Image] | None = None
        self._instead: tuple[_Reason, bytes] | None = None
        self.finger = Motion(self)

    @property
    def rotation(self) -> int:
        return self._rotation

    @rotation.setter
    def rotation(self, turned: int) -> None:
        self._rotation = turned % 4
        self.phone.stir()

    @property
    def awake(self) -> bool:
        return self._awake

    @awake.setter
    def awake(self, lit: bool) -> None:
        self._awake = lit
        self.phone.stir()

    @property
    def lock(self) -> str:
        return self._lock

    @lock.setter
    def lock(self, asks: str) -> None:
        self._lock = asks
        self.phone.stir()

    @property
    def secured(self) -> bool:
        return self._secured

    @secured.setter
    def secured(self, forbids: bool) -> None:
        self._secured = forbids
        self.phone.stir()

    @property
    def folded(self) -> bool:
        return self._folded

    @folded.setter
    def folded(self, closed: bool) -> None:
        self._folded = closed
        self.phone.stir()

    def show_clipboard(self, text: str) -> None:
        """Show Android 13's preview of copied text in a corner for some seconds."""
        self._preview = (text, time.monotonic() + _PREVIEW)
        self.phone.stir()

    @property
    def preview(self) -> str:
        """Text in the clipboard's preview, empty if it is not shown."""
        text, until = self._preview
        return text if time.monotonic() < until else ""

    @property
    def lit(self) -> bool:
        """True if this screen shows anything."""
        return self._awake and not self._folded

    @property
    def open(self) -> bool:
        """True if a touch reaches an app."""
        return self.lit and not self._lock

    @property
    def landscape(self) -> bool:
        return self._rotation % 2 == 1

    @property
    def override(self) -> Point | None:
        return self._override

    @override.setter
    def override(self, size: Point | None) -> None:
        self._override = size
        self.phone.stir()

    @property
    def _panel(self) -> Point:
        return (HEIGHT, WIDTH) if self.landscape else (WIDTH, HEIGHT)

    @property
    def size(self) -> Point:
        if self._override is None:
            return self._panel
        return self._override[::-1] if self.landscape else self._override

    @property
    def version(self) -> int:
        return self.phone.version

    @property
    def activity(self) -> str:
        """Screen in front, as `package/.Screen`."""
        return activity(self.phone.current_screen().state, APPS)

    def wait(self, version: int, timeout: float) -> int:
        """Block until the screen's version differs or `timeout` seconds passed. Return the current version."""
        return self.phone.wait(version, timeout)

    def rgb(self) -> bytes:
        """Return the current picture: width x height x 3 bytes."""
        if (special := self._substitute_picture()) is not None:
            return special[1]
        if self._override is not None:
            return self._resized_picture().tobytes()
        screen = self.phone.current_screen()
        return self._landscape(screen).tobytes() if self.landscape else screen.rgb

    def png(self) -> bytes:
        """Return the current picture as a PNG file."""
        if (special := self._substitute_picture()) is not None:
            from PIL import Image

            return draw.png(Image.frombytes("RGB", special[0].size, special[1]))
        if self._override is not None:
            return draw.png(self._resized_picture())
        screen = self.phone.current_screen()
        return draw.png(self._landscape(screen)) if self.landscape else screen.png

    def _substitute_picture(self) -> tuple[_Reason, bytes] | None:
        """Return the picture shown in an app's place, with its reason, or None if the app is shown. Cached per reason.

        It is black (screen off, or the app forbids pictures), the lock screen, or the app below a preview.
        """
        lit, lock, preview = self.lit, self._lock, self.preview  # read once: another thread may light it meanwhile
        if lit and not lock and not self._secured and not preview:
            return None
        below = self.phone.current_screen() if lit and not lock else None
        reason = _Reason(lit, lock, self._secured, self._rotation, self.size, preview, below)
        known = self._instead
        if known is None or known[0] != reason:
            known = self._instead = (reason, self._draw_substitute(reason).tobytes())
        return known

    def _draw_substitute(self, reason: _Reason) -> Image:
        from PIL import Image, ImageDraw

        if reason.below is not None and not reason.secured:
            return self._with_preview(reason.below, reason.preview)
        picture = Image.new("RGB", reason.size)
        wide, high = reason.size
        if reason.lit and reason.lock:
            pen = ImageDraw.Draw(picture)
            pen.rectangle((0, 0, wide, high), fill=(24, 40, 72))
            pen.text((wide // 2, high // 3), _LOCK_WORDS[reason.lock], fill="white", anchor="mm", font_size=64)
        elif reason.below is not None and reason.rotation % 2 == 0:
            picture.paste(reason.below.picture.crop((0, 0, wide, STATUS_BAR.bottom)), (0, 0))
        return picture

    def _resized_picture(self) -> Image:
        from PIL import Image

        screen = self.phone.current_screen()
        picture = self._landscape(screen) if self.landscape else screen.picture
        return picture.resize(self.size, Image.Resampling.BILINEAR)

    def _with_preview(self, screen: DrawnScreen, preview: str) -> Image:
        from PIL import ImageDraw

        picture = self._landscape(screen).copy() if self.landscape else screen.picture.copy()
        pen = ImageDraw.Draw(picture)
        pen.rectangle(PREVIEW, fill="white")
        pen.text((PREVIEW.left + 24, PREVIEW.top + 48), preview[:40], fill="black", font_size=48)
        return picture

    def _landscape(self, screen: DrawnScreen) -> Image:
        """Return the picture of a display in landscape, cached per picture of the phone."""
        from PIL import Image

        cache = self._wide
        if cache is None or cache[0] is not screen:
            whole = Image.new("RGB", (HEIGHT, WIDTH))
            whole.paste(screen.picture.resize((_WIDE, WIDTH), Image.Resampling.BILINEAR), (_LEFT, 0))
            cache = self._wide = (screen, whole)
        return cache[1]

    def tree(self) -> UiTree:
        """Return uiautomator's dump: the window with the input, without bars and keyboard.

        Empty while the screen is dark.
        """
        if self.lit and (lock := self._lock):
            node = Node(cls="android.widget.TextView", text=_LOCK_WORDS[lock], bounds=Bounds(0, 0, *self.size))
            return UiTree((node,), self._rotation)
        return self._to_display(tree(_active(self.phone.current_screen().windows))) if self.lit else UiTree()

    def windows(self) -> list[tuple[Window, UiTree]]:
        """Return every window that accessibility sees, lowest first, each with its own tree."""
        screen_windows = self.phone.current_screen().windows if self.open else []
        return [(window, self._to_display(tree([window]))) for window in screen_windows if window.listed]

    def _to_display(self, ui_tree: UiTree) -> UiTree:
        roots = tuple(map(_scale_node, ui_tree.roots)) if self.landscape else ui_tree.roots
        if self._override is not None:
            (wide, high), panel = self.size, self._panel
            roots = tuple(_stretch_node(root, wide / panel[0], high / panel[1]) for root in roots)
        return msgspec.structs.replace(ui_tree, roots=roots, rotation=self._rotation)

    def _panel_point(self, x: float, y: float) -> tuple[float, float]:
        """Return a display's point in the panel's own pixels."""
        (wide, high), panel = self.size, self._panel
        return x * panel[0] / wide, y * panel[1] / high

    def to_phone(self, x: float, y: float) -> Point | None:
        """Return the phone's pixel under a display's pixel, or None beside its picture."""
        x, y = self._panel_point(x, y)
        if not self.landscape:
            inside = 0 <= x < WIDTH and 0 <= y < HEIGHT
            return (int(x), int(y)) if inside else None
        if not _LEFT <= x < _LEFT + _WIDE or not 0 <= y < WIDTH:
            return None
        return int((int(x) - _LEFT + 0.5) * WIDTH / _WIDE), int((int(y) + 0.5) * HEIGHT / WIDTH)

    def perform(self, action: Action) -> None:
        """Perform an action in pixels of the display. Ignore one beside the phone's picture."""
        if self.open:
            panel_action = self._to_phone_action(action)
            if panel_action is not None:
                self.phone.perform(panel_action)

    def _to_phone_action(self, action: Action) -> Action | None:
        """Return the action in the phone's pixels, or None if it starts beside the picture, where it may end."""
        if action.at is None:
            return action
        at = self.to_phone(*action.at)
        if at is None:
            return None
        to = action.to and self.nearest_pixel(*action.to)
        vector = action.vector
        if vector is not None and self._override is not None:
            x, y = self._panel_point(*vector)
            vector = round(x), round(y)
        if vector is not None and self.landscape:
            vector = (vector[0] * WIDTH // _WIDE, vector[1] * HEIGHT // WIDTH)
        return msgspec.structs.replace(action, at=at, to=to, vector=vector)

    def nearest_pixel(self, x: float, y: float) -> Point:
        """Return the phone's pixel nearest to a display's pixel."""
        low, high = (_LEFT, _LEFT + _WIDE - 1) if self.landscape else (0, WIDTH - 1)
        (wide, tall), panel = self.size, self._panel
        x, y = self._panel_point(x, y)
        x, y = min(max(x, low), high), min(max(y, 0), panel[1] - 1)
        point = self.to_phone(x * wide / panel[0], y * tall / panel[1])
        assert point is not None
        return point

    @property
    def typing(self) -> bool:
        """True if a field has the cursor, and so the keyboard is shown."""
        return self.phone.current_screen().state["focus"] is not None

    @property
    def field(self) -> Field | None:
        """Field with the cursor, or None if there is none."""
        screen = self.phone.current_screen()
        box = focused(screen.state, screen.windows) if screen.state["focus"] is not None else None
        return box.field if box else None

    def type(self, text: str) -> None:
        """Type into the field with the cursor. Without one nothing happens, as with a real phone's keys."""
        if self.open and text and self.typing:
            self.phone.perform(Action("input_text", text=text))

    def erase(self) -> None:
        """Delete the character before the cursor."""
        self._act("keyboard", ("key", "backspace"))

    def pull(self, *, down: bool) -> None:
        """Pull the notification shade down, or push it up."""
        if not down:
            self._act("system", ("close_shade",))
        elif self.open:
            self.phone.perform(Action("swipe", at=(WIDTH // 2, STATUS_BAR.bottom // 2), vector=(0, HEIGHT // 2)))

    def _act(self, owner: str, act: tuple[str, ...]) -> None:
        def does(state: State, screen_windows: list[Window]) -> bool:
            touch.act(state, owner, act, screen_windows)
            return True

        if self.open:
            self.phone.change(does)

    def stop(self, app: str) -> None:
        """Stop an app: close its screens and keep its data."""

        def ends(state: State, screen_windows: list[Window]) -> bool:
            front = state["nav"]["app"] == app
            while nav.pop(state, app):
                pass
            if front and app != nav.LAUNCHER:
                nav.show(state, nav.LAUNCHER)
            return True

        self.phone.change(ends)

    def choose(self) -> None:
        """Select all text of the field with the cursor, so that typing replaces it."""

        def marks(state: State, screen_windows: list[Window]) -> bool:
            state["keyboard"]["fresh"] = state["focus"] is not None
            return True

        self.phone.change(marks)

    def selected_text(self) -> str:
        """Return the selected text, "" if nothing is selected."""
        screen = self.phone.current_screen()
        if not screen.state["keyboard"]["fresh"]:
            return ""
        return next((node.text for node in screen.tree.nodes() if node.focused and not node.password), "")


def _active(screen_windows: list[Window]) -> list[Window]:
    """Return the window with the input: the shade, else the app's topmost window, or the recent apps."""
    own = [
        w for i, w in enumerate(screen_windows) if w.listed and w.owner != "keyboard" and (w.owner != "system" or not i)
    ]
    over = [w for i, w in enumerate(screen_windows) if i and w.owner == "system" and w.modal]
    return (over or own)[-1:]


def _stretch_node(node: Node, x: float, y: float) -> Node:
    left, top, right, bottom = node.bounds
    bounds = Bounds(round(left * x), round(top * y), round(right * x), round(bottom * y))
    children = tuple(_stretch_node(child, x, y) for child in node.children)
    return msgspec.structs.replace(node, bounds=bounds, children=children)


def _scale_node(node: Node) -> Node:
    left, top, right, bottom = node.bounds
    x, y = _WIDE / WIDTH, WIDTH / HEIGHT
    bounds = Bounds(_LEFT + round(left * x), round(top * y), _LEFT + round(right * x), round(bottom * y))
    return msgspec.structs.replace(node, bounds=bounds, children=tuple(map(_scale_node, node.children)))
