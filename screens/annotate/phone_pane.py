"""The phone of one run beside the sheet, and the frame that selects a region as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from msgspec import structs
from textual.binding import Binding, BindingType
from textual.message import Message

from lab.core.run.step import Observation, Point
from lab.core.run.ui_tree import Bounds
from lab.runs.replay.recorded_run import PlaceView
from screens.lab import window_of
from screens.mirror.fit import Zoom, phone_room
from screens.mirror.marks import PhoneMark
from screens.replay.phone_pane import StillPhone

Region = tuple[int, int, int, int]

_WORDS = 36
"""Columns that texts get before the phone may be wider than its aspect ratio."""
_FRAME = Binding.Group("Region", compact=True)
_WAYS = {"left": (-1, 0, "h"), "right": (1, 0, "l"), "up": (0, -1, "k"), "down": (0, 1, "j")}


class Evidence(NamedTuple):
    """Place on which an answer rests (`ID@7`), with a region of its screen if one was drawn."""

    place: str
    region: Region | None = None
    label: str = ""


def _direction_bindings(verb: str, before: str, name: str, says: str) -> list[BindingType]:
    """Return bindings of a verb in four directions: arrows with a modifier, with none or Shift also letters."""
    bindings: list[BindingType] = []
    for way, (across, down, letter) in _WAYS.items():
        letters = {"": f",{letter}", "shift+": f",{letter.upper()}"}.get(before, "")
        bindings.append(
            Binding(
                f"{before}{way}{letters}", f"move('{verb}',{across},{down})", f"{name} {way}", show=False,
                id=f"region.{verb}_{way}", group=_FRAME, tooltip=f"{says} {way}",
            )
        )  # fmt: skip
    return bindings


class PhonePane(StillPhone):
    """The phone of one side, as wide as the texts beside it allow, or with all the room if it is alone."""

    HELP = """\
# A region

What on the screen an answer rests on. Arrows take the frame from thing to thing, **{region.next}** goes through all of
them, **Shift** with an arrow sizes it by its lower right corner, **Ctrl** with an arrow moves it as it is;
**{region.take}** takes it. A drag on the phone, or a click on a thing, does the same. **{annotate.back}** leaves it.
"""
    BINDING_GROUP_TITLE = "Region"
    BINDINGS: ClassVar[list[BindingType]] = [
        *_direction_bindings("go", "", "Thing", "The nearest thing"),
        *_direction_bindings("grow", "shift+", "Size", "The frame's lower right corner"),
        *_direction_bindings("nudge", "ctrl+", "Move", "The frame as it is"),
        Binding("tab", "turn(1)", "Next thing", show=False, id="region.next", group=_FRAME, tooltip="The next thing"),
        Binding("shift+tab", "turn(-1)", "Thing before", show=False, id="region.previous", group=_FRAME,
                tooltip="The thing before"),
        Binding("enter,space", "take", "Take it", id="region.take", tooltip="The answer rests on what is framed"),
    ]  # fmt: skip

    @dataclass
    class RegionTaken(Message):
        """Message: the person took the framed region."""

        phone: PhonePane
        region: Region

    alone = False
    area = (80, 24)
    """Columns and rows of the whole side."""
    frame: RegionFrame | None = None
    """Frame that the keys move while a region is drawn, or None otherwise."""
    _restores_picture = False
    """True if the terminal's own graphics are to return once the region is drawn."""

    # -- regions ---------------------------------------------------------------------------------------------

    def draw_region(self, on: bool) -> None:
        """Begin or end the selection of a region by a drag or by keys."""
        if on is not (self.frame is not None):
            self.can_focus = on
            self._draw_in_characters(on)
            self._ask_page(on)
            self.set_class(on, "-drawing")
            self._set_frame(self._first_frame() if on else None)
            self.update_title()

    def _draw_in_characters(self, on: bool) -> None:
        """Replace the terminal's own graphics by characters while a region is drawn: nothing is drawn over graphics."""
        if on:
            self._restores_picture = self._wants_picture
            self.show_picture(False)
        elif self._restores_picture:
            self.show_picture(True)

    def _ask_page(self, on: bool) -> None:
        """Let the person drag the region on the browser page, too, if one is open."""
        window = window_of(self)
        if window is not None and self.feeds_page:
            window.ask_region(self._post_dragged if on else None)

    def _post_dragged(self, region: Region) -> None:
        """Post a region that was dragged on the page. Runs on the page's thread."""
        self.post_message(self.RegionTaken(self, region))

    def show(self, view: PlaceView, *, after: bool) -> None:
        """Show a place. On another screen, frame its first thing."""
        before = self._last
        super().show(view, after=after)
        if self.frame is not None and self._last != before:
            self._set_frame(self._first_frame())

    def _first_frame(self) -> RegionFrame:
        if self._last is None:
            return first_frame(None, self._shape)
        view, after = self._last
        observation = view.after if after else view.before
        if observation is not None and self.words is not None:
            observation = structs.replace(observation, tree=self.words.tree)
        return first_frame(observation, self._shape)

    def _set_frame(self, frame: RegionFrame | None) -> None:
        self.frame = frame
        if frame is not None and self.mirror.enlarged:
            self.mirror.center(frame.box.center)  # an enlarged view shows only a part
        self.mirror.show_finger([PhoneMark("box", frame.box[:2], frame.box[2:])] if frame is not None else [])

    def action_move(self, verb: Literal["go", "grow", "nudge"], across: int, down: int) -> None:
        """Move the frame to the nearest thing in a direction, or shift its lower right corner, or all of it."""
        if self.frame is not None:
            moves = {"go": self.frame.move_to_nearest, "grow": self.frame.grow, "nudge": self.frame.nudge}
            self._set_frame(moves[verb](across, down))

    def action_turn(self, by: int) -> None:
        """Frame the next thing, or the one before."""
        if self.frame is not None:
            self._set_frame(self.frame.move_to_next(by))

    def action_take(self) -> None:
        """Take the framed region."""
        if self.frame is not None:
            left, top, right, bottom = self.frame.box
            self.post_message(self.RegionTaken(self, (left, top, right, bottom)))

    def update_title(self) -> None:
        self.title(self.moment if self.frame is None else "Which part?")

    # -- layout ----------------------------------------------------------------------------------------------

    def fit_width(self) -> None:
        width, height = self.area
        if self.alone:
            self._apply_zoom("wide" if self._shape[1] > self._shape[0] and height < 40 else "fit", "1fr")
            return
        columns, zoom = phone_room(self._shape, max(1, height - 2), round(width * 0.5), width - _WORDS)
        self._apply_zoom(zoom, columns + 2)

    def _apply_zoom(self, view: Zoom, width: int | str) -> None:
        self.mirror.choose_whole_view(view)
        width_text = str(width)
        if self.styles.width is None or str(self.styles.width) != width_text:
            self.styles.width = width


_STRIDE = 20
"""Divisor of the screen's size: the distance that a frame moves if the screen has no things."""
_NUDGE = 40
"""Divisor of the screen's size: the distance by which keys nudge a frame or its corner."""
_NEARLY_ALL = 0.9
"""Part of the screen above which a thing counts as background."""
_BESIDE = 3
"""Weight of a distance across the direction of movement, relative to one along it."""


@dataclass(frozen=True)
class RegionFrame:
    """Frame `box` in pixels of a screen of `size`, with its `things` in reading order (by row, then by column)."""

    size: Point
    box: Bounds
    things: tuple[Bounds, ...] = ()

    def move_to_nearest(self, across: int, down: int) -> RegionFrame:
        """Move to the nearest thing in that direction, if there is one. Without any things move by a stride."""
        if not self.things:
            return self._move_by(across * max(1, self.size[0] // _STRIDE), down * max(1, self.size[1] // _STRIDE))
        ahead = [(far, thing) for thing in self.things if (far := _distance(self.box, thing, across, down)) is not None]
        return self._with_box(min(ahead)[1]) if ahead else self

    def move_to_next(self, by: int) -> RegionFrame:
        """Move to the next thing in reading order (1) or the one before (-1), cyclically."""
        if not self.things:
            return self
        # The frame may lie between things: sort it in, and step from there to the next thing.
        order = sorted({*self.things, self.box}, key=_reading_order)
        step = order.index(self.box)
        while (thing := order[(step := step + by) % len(order)]) not in self.things:
            pass
        return self._with_box(thing)

    def nudge(self, across: int, down: int) -> RegionFrame:
        """Move a little in that direction, within the screen."""
        return self._move_by(across * max(1, self.size[0] // _NUDGE), down * max(1, self.size[1] // _NUDGE))

    def grow(self, across: int, down: int) -> RegionFrame:
        """Move the lower right corner a little. The frame stays on the screen and keeps an area."""
        right = self.box.right + across * max(1, self.size[0] // _NUDGE)
        bottom = self.box.bottom + down * max(1, self.size[1] // _NUDGE)
        left, top = self.box[:2]
        return self._with_box(
            Bounds(left, top, min(self.size[0], max(left + 1, right)), min(self.size[1], max(top + 1, bottom)))
        )

    def _move_by(self, across: int, down: int) -> RegionFrame:
        left = max(0, min(self.box.left + across, self.size[0] - self.box.width))
        top = max(0, min(self.box.top + down, self.size[1] - self.box.height))
        return self._with_box(Bounds(left, top, left + self.box.width, top + self.box.height))

    def _with_box(self, box: Bounds) -> RegionFrame:
        return RegionFrame(self.size, box, self.things)


def first_frame(observation: Observation | None, size: Point) -> RegionFrame:
    """Return a frame around the first thing on a screen, or in its middle if only its size is known."""
    size = observation.size if observation is not None and observation.size is not None else size
    whole = Bounds(0, 0, *size)
    nodes = observation.tree.nodes() if observation is not None and observation.tree is not None else ()
    boxes = {node.bounds.intersection(whole) for node in nodes if node.clickable or node.label.strip()}
    things = tuple(sorted((box for box in boxes if 0 < box.area < _NEARLY_ALL * whole.area), key=_reading_order))
    return RegionFrame(size, things[0] if things else _middle(size), things)


def _middle(size: Point) -> Bounds:
    """Return the middle fifth of a screen's width and height."""
    left, top = (side * 2 // 5 for side in size)
    right, bottom = (max(side * 3 // 5, side * 2 // 5 + 1) for side in size)
    return Bounds(left, top, right, bottom)


def _reading_order(box: Bounds) -> tuple[int, int, int, int]:
    return box.top, box.left, box.bottom, box.right


def _distance(here: Bounds, there: Bounds, across: int, down: int) -> int | None:
    """Return the weighted distance of a box in that direction, or None if it is not in that direction."""
    (x, y), (to_x, to_y) = here.center, there.center
    along = (to_x - x) * across + (to_y - y) * down
    if along <= 0 or there == here:
        return None
    shared = here.intersection(there)
    # Boxes that share no rows (or columns, if moving down) are off the line by the distance of their centres.
    off = 0 if (shared.height if across else shared.width) else abs(to_y - y if across else to_x - x)
    return along + _BESIDE * off
