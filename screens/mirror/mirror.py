"""The widget that shows a phone: half-block pixels, texts as real characters, taps and drags as messages."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive

from lab.core.run.ui_tree import UiTree
from lab.core.seams import Frame
from lab.core.text.read_text import is_from_ocr
from screens.mirror.canvas import Canvas
from screens.mirror.fit import TIMES, ZOOMS, Fit, Zoom, available_zooms, phone_room
from screens.mirror.fit import fit as fit_of
from screens.mirror.glyphs import Codes
from screens.mirror.marks import PhoneMark
from screens.mirror.shot import MirrorShot, MirrorView
from screens.mirror.touchscreen import Touchscreen
from screens.widgets.border_words import write_subtitle

if TYPE_CHECKING:
    from screens.mirror.painter import PaintedPhone

__all__ = ["Mirror", "PhoneMark"]

Point = tuple[int, int]

STALE = 5.0
"""Age in seconds from which a live picture counts as stale."""
_FRESH = 1.5
"""Age in seconds up to which it counts as live."""
READ_WORDS = "words read from the picture"
"""Remark on the border if the words on display were read by OCR."""
_READ_SHORT = ("words read", "read")
"""Shorter wordings of that remark, for narrow widgets."""
_CORNERS = 4
"""Columns of the border that hold no text."""
_UPRIGHT = 1080, 2400
"""Phone size for which the width is computed until the first picture."""
_BESIDE_TURNED = 48
"""Columns left for other panes beside a phone in landscape."""


class Mirror(Touchscreen):
    """A phone. Frames may come from any thread. Only the newest is painted, and none is queued."""

    DEFAULT_CSS = """
    Mirror {
        width: 1fr; height: 1fr; min-width: 12; min-height: 8;
        border: round $border-blurred;
        border-subtitle-align: right;
        &:focus { border: round $border; }
        &.-typing:focus { border: heavy $border; }
        &.-stale { border: dashed $border-blurred; border-subtitle-color: $text-warning; }
    }
    """
    HELP = """
    ## The phone
    A click taps, a held click is a long press, a drag swipes, the wheel scrolls. Words are drawn as real characters
    over the picture; **{mirror.overlay}** shows the bare picture, **{mirror.zoom}** changes the view.
    **{mirror.closer}** enlarges it up to three times, so that more of its words find room, **{mirror.further}** goes
    back; the wheel with ctrl does both where it is turned. Enlarged, the arrows move it, and **{mirror.whole}** shows
    all of it again. While the border says *keys type*, letters, Enter, Backspace and what is pasted go to the phone.
    """
    BINDING_GROUP_TITLE = "Phone"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "toggle_overlay", "Words", id="mirror.overlay", tooltip="Draw words as characters, or not"),
        Binding("v", "next_zoom", "View", id="mirror.zoom", tooltip="All of it, wider, or enlarged"),
        Binding("alt+o", "overlay", "Words", show=False, id="mirror.overlay-typing", tooltip="Draw words, or not"),
        Binding("alt+v", "zoom", "View", show=False, id="mirror.zoom-typing", tooltip="All of it, wider, or enlarged"),
        Binding("equals_sign", "closer", "Closer", show=False, id="mirror.closer",
                tooltip="Larger, a part of it at a time"),
        Binding("minus", "further", "Further", show=False, id="mirror.further", tooltip="Less large"),
        Binding("escape", "whole", "All of it", show=False, id="mirror.whole", tooltip="All of the phone again"),
        Binding("left,h", "pan(-1,0)", "Left", show=False, id="mirror.left", tooltip="Look further left"),
        Binding("right,l", "pan(1,0)", "Right", show=False, id="mirror.right", tooltip="Look further right"),
        Binding("up,k", "pan(0,-1)", "Up", show=False, id="mirror.up", tooltip="Look further up"),
        Binding("down,j", "pan(0,1)", "Down", show=False, id="mirror.down", tooltip="Look further down"),
    ]  # fmt: skip

    overlay: reactive[bool] = reactive(True, repaint=False)
    """True to draw the phone's texts as characters over the picture."""
    zoom: reactive[Zoom] = reactive[Zoom]("fit", repaint=False)
    """View of the phone: `fit`, `wide` or an enlarged one (see `screens.mirror.fit`)."""
    pan: reactive[Point] = reactive((0, 0), repaint=False)
    """The phone's pixel at the top left of an enlarged view."""
    remark: reactive[str] = reactive("", repaint=False)
    """Remark about a still picture on the lower border, empty for none."""
    fps: reactive[int] = reactive(30, repaint=False)
    """Maximum number of pictures painted in a second."""
    age: reactive[float | None] = reactive(None, repaint=False)
    """Seconds since the shown live picture was taken, or None for a still and before the first picture."""
    spoiled_by = ""
    """Reason why the phone shows no app, in place of the age: asleep, locked, folded, secured."""

    class _Ready(Message, bubble=False):
        """Message: the painting thread has painted something. A later one replaces those still queued."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, Mirror._Ready)

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
        disabled: bool = False,
        notice: str = "waiting for a picture",
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._canvas = Canvas(notice)
        self._newest = FramePainter(self._canvas.codes, lambda: self.post_message(self._Ready()))
        self._shown: PaintedPhone | None = None
        self._shown_number = 0
        self._taken: float | None = None
        self._posted: MirrorShot | None = None
        self._post_lock = threading.Lock()
        self._border_words = ""
        self._damaged = False
        """True if the newest frame has not the bytes that its size requires. The picture before it remains."""
        self._at_rest = False
        """True if the picture is the last one of a run that ended."""
        self._words_read = False
        """True if the words of the live picture were read by OCR."""
        self._whole_zoom: Zoom = "fit"
        self._shape: Point = _UPRIGHT
        """Size of a phone for which the width is computed."""
        self._screen: tuple[int, int] | None = None
        """Columns and rows of the screen for which `set_width_for` set the width, None if another widget sets it."""
        self._marks: tuple[PhoneMark, ...] = ()
        self._finger: tuple[PhoneMark, ...] = ()
        self._drawn_at: deque[float] = deque(maxlen=128)

    def compose(self) -> ComposeResult:
        yield self._canvas

    # What it shows

    def show(self, frame: Frame) -> None:
        """Show a live picture soon. A newer one that arrives before it is painted replaces it."""
        self.post_frame(frame)

    def post_frame(self, frame: Frame) -> None:
        """Show a live picture, from any thread. Never blocks."""
        # A frame of the wrong length would raise on the painting thread, and end it.
        if isinstance(frame.pixels, bytes) and len(frame.pixels) != frame.size[0] * frame.size[1] * 3:
            self._damaged = True
            return
        shot = MirrorShot(frame.pixels, frame.size, frame.tree, live=True, space=frame.space)
        # Callers are on several threads, and `show_instead` must not replace a live picture that arrives meanwhile.
        with self._post_lock:
            self._taken, self._damaged = frame.at, False
            if frame.tree is not None:
                self._words_read = is_from_ocr(frame.tree)
            if self._posted is None or not _same_shot(shot, self._posted):
                self._posted = shot
                self._newest.request(shot=shot)

    def show_still(self, image: bytes | None, size: Point | None, tree: UiTree | None) -> None:
        """Show a stored picture (PNG or JPEG bytes).

        Without one show the tree's texts and boxes, without both a notice.
        """
        self._taken = self._posted = None
        self._damaged = self._words_read = False
        self._newest.request(shot=MirrorShot(None, size, tree, stored=image))

    def show_instead(self, image: bytes | None, size: Point | None, tree: UiTree | None) -> None:
        """Show a stored picture, unless something was shown already. A live picture that arrives meanwhile wins."""
        with self._post_lock:
            if self.empty:
                self.show_still(image, size, tree)

    def stop(self) -> None:
        """Mark the picture as the last one. It has no age from now on."""
        self._at_rest = True
        self._update_age()

    def mark(self, marks: Sequence[PhoneMark]) -> None:
        """Draw these marks over the phone, instead of those before."""
        self._marks = tuple(marks)
        self._draw()

    def show_finger(self, marks: Sequence[PhoneMark]) -> None:
        """Draw a person's finger over everything else."""
        self._finger = tuple(marks)
        self._draw()

    @property
    def settled(self) -> bool:
        """True if everything asked for so far is on the screen."""
        return self._shown_number == self._newest.asked

    @property
    def rate(self) -> float:
        """Pictures drawn in a second, averaged over the last two."""
        since = time.monotonic() - 2.0
        return sum(at > since for at in self._drawn_at) / 2.0

    @property
    def age_text(self) -> str:
        """Age of the picture in words, empty for a still."""
        if self.age is None:
            return "the last picture" if self._at_rest and self._taken is not None else ""
        if self.age < _FRESH:
            return f"live · {self.rate:.0f} fps" if self.rate >= 1 else "live"
        words = f"{self.age:.0f} s old" if self.age < 120 else f"{self.age / 60:.0f} min old"
        return f"stale · {words}" if self.age >= STALE else words

    @property
    def empty(self) -> bool:
        """True until the first call of a `show` method or `post_frame`."""
        return self._newest.asked == 0

    @property
    def fit(self) -> Fit | None:
        """Position of the phone in the widget's cells, as last drawn."""
        return self._shown.fit if self._shown is not None else None

    @property
    def rows_drawn(self) -> int:
        """Number of rows redrawn since the widget was made."""
        return self._canvas.rows_drawn

    def _on_mirror__ready(self) -> None:
        # Raise the thread's fault here, on the UI thread, where it is reported.
        if self._newest.fault is not None:
            raise self._newest.fault
        if self._newest.painted is None:
            return
        self._shown_number, self._shown = self._newest.painted
        self._follow_shape()
        if self._draw():
            self._drawn_at.append(time.monotonic())
        if self.age is None or self.age >= _FRESH or self._taken is None:
            self._update_age()  # otherwise the timer updates it

    def _draw(self) -> int:
        return self._canvas.draw(self._shown, (*self._marks, *self._finger)) if self._shown is not None else 0

    @property
    def corner(self) -> Offset:
        """Offset of the canvas on the screen."""
        return self._canvas.region.offset

    def set_width_for(self, screen: tuple[int, int]) -> None:
        """Set the width for a screen of so many columns and rows, beside the panes of a run.

        The width follows the phone's aspect ratio. In a low terminal it is larger, so that texts fit, and for a phone
        in landscape.
        """
        self._screen = screen
        width, height = screen
        # In a low terminal style sheets give the phone no border at its sides.
        border = 0 if height < 32 else 2
        turned = self._shape[0] > self._shape[1]
        widened = max(width // 2, width - _BESIDE_TURNED) if turned else width // 2 + 2 - border
        columns, view = phone_room(self._shape, height - 3 - border // 2, width // 2, widened)
        self.choose_whole_view(view)
        self.styles.width = columns + border

    def _follow_shape(self) -> None:
        """Compute the width again if the phone was turned."""
        if self._screen is None or self.fit is None:
            return
        turned = self.fit.size[0] > self.fit.size[1]
        if turned != (self._shape[0] > self._shape[1]):
            self._shape = self.fit.size if turned else _UPRIGHT
            self.set_width_for(self._screen)

    # How it is looked at

    def _on_mount(self, event: events.Mount) -> None:
        self.set_interval(0.5, self._update_age)

    def _on_unmount(self) -> None:
        self._newest.close()

    def _on_canvas_sized(self, event: Canvas.Sized) -> None:
        event.stop()
        self._request_view()

    def watch_overlay(self) -> None:
        self._request_view()

    def watch_zoom(self) -> None:
        self.refresh_bindings()
        self._update_subtitle()
        self._request_view()

    def watch_pan(self) -> None:
        self._request_view()

    def watch_fps(self, fps: int) -> None:
        self._newest.fps = fps

    def watch_age(self) -> None:
        stale = self.age is not None and self.age >= STALE
        self.set_class(stale, "-stale")
        if self._canvas.faded != stale:
            self._canvas.faded = stale
            self._draw()
        self._update_subtitle()

    def watch_typing(self, typing: bool) -> None:
        self.set_class(typing, "-typing")
        self.refresh_bindings()
        self._update_subtitle()

    def watch_remark(self) -> None:
        self._update_subtitle()

    @property
    def enlarged(self) -> bool:
        """True if the view shows only a part of the phone, larger than all of it would fit."""
        return self.zoom in TIMES

    @property
    def mode_text(self) -> str:
        """Keyboard mode and zoom, if not the usual ones."""
        times = f"x{TIMES[self.zoom]:g}" if self.enlarged else ""
        return " · ".join(part for part in ("keys type" if self.typing else "", times) if part)

    def _update_subtitle(self) -> None:
        """Write mode and age on the lower border. `write_subtitle` repaints that row alone, Textual all of it."""
        wrong = "a damaged picture came" if self._damaged else ""
        age = f"not live: {self.spoiled_by}" if self.spoiled_by else self.age_text
        remark = READ_WORDS if self._words_read else self.remark
        remarks = (remark, *_READ_SHORT) if remark == READ_WORDS else (remark,)
        lines = [" · ".join(part for part in (wrong, self.mode_text, wording, age) if part) for wording in remarks]
        words = next((line for line in lines if len(line) <= self.size.width - _CORNERS), lines[-1])
        if words != self._border_words:
            self._border_words = words
            write_subtitle(self, words)

    def _request_view(self) -> None:
        """Ask for the newest picture in the present view."""
        size = self._canvas.size
        if not self.is_mounted or not size.area:
            return
        # A headless app's console says nothing about the colours of a terminal.
        few = not self.app.is_headless and self.app.console.color_system not in (None, "truecolor")
        colours = 256 if few else 1 << 24
        self._newest.request(view=MirrorView((size.width, size.height), self.overlay, self.zoom, self.pan, colours))

    def _update_age(self) -> None:
        """Update the age from the clock."""
        live = self._taken is not None and self._shown is not None and not self._at_rest
        self.age = max(0.0, time.monotonic() - (self._taken or 0.0)) if live else None
        self._update_subtitle()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "pan":
                return self.enlarged
            case "whole":
                return self.enlarged
            case "toggle_overlay" | "next_zoom":
                return not self.typing
            case "overlay" | "zoom":
                return self.typing
        return super().check_action(action, parameters)

    def action_toggle_overlay(self) -> None:
        self.overlay = not self.overlay

    def action_next_zoom(self) -> None:
        following = ZOOMS[(ZOOMS.index(self.zoom) + 1) % len(ZOOMS)] if self.zoom in ZOOMS else ZOOMS[0]
        if following in TIMES:
            self._whole_zoom = self.zoom
        self.zoom = following

    action_overlay, action_zoom = action_toggle_overlay, action_next_zoom

    def choose_whole_view(self, view: Zoom) -> None:
        """Choose the view of the whole phone (`fit`, `wide`). If it is enlarged, that is the view to return to."""
        if self.enlarged:
            self._whole_zoom = view
        else:
            self.zoom = view

    def closer(self, at: Point | None = None) -> None:
        self._zoom_by(1, at)

    def further(self, at: Point | None = None) -> None:
        self._zoom_by(-1, at)

    def show_whole(self) -> None:
        """Show the whole phone again."""
        if self.enlarged:
            self.zoom = self._whole_zoom

    action_whole = show_whole

    def action_closer(self) -> None:
        self.closer()

    def action_further(self) -> None:
        self.further()

    def center(self, at: Point) -> None:
        """Put a pixel in the middle of the enlarged part, as far as the phone's edges allow."""
        fit = self._asked_fit(self.zoom)
        if fit is not None:
            self._pan_to(fit, at[0] - (fit.x1 - fit.x0) / 2, at[1] - (fit.y1 - fit.y0) / 2)

    def _zoom_by(self, by: int, at: Point | None) -> None:
        """Zoom in or out by one level.

        The pixel `at` (the middle if None) keeps its place as far as the edges allow.
        """
        now = self._asked_fit(self.zoom)
        if now is None:
            return
        if not self.enlarged:
            self._whole_zoom = self.zoom
        cells = self._canvas.size.width, self._canvas.size.height
        zoom_levels = available_zooms(now.size, cells, self._whole_zoom)
        place = zoom_levels.index(self.zoom) + by if self.zoom in zoom_levels else len(zoom_levels) - 1 if by > 0 else 0
        level = zoom_levels[min(max(place, 0), len(zoom_levels) - 1)]
        larger = fit_of(now.size, cells, level)
        if level != self.zoom and larger is not None:
            x, y = at or (int((now.x0 + now.x1) / 2), int((now.y0 + now.y1) / 2))
            self.zoom = level
            across = (now.column(x) + now.left - larger.left) * larger.cell_width
            down = (now.row(y) + now.top - larger.top) * larger.cell_height
            self._pan_to(larger, x - across, y - down)

    def _asked_fit(self, zoom: Zoom) -> Fit | None:
        """Return the fit as last asked for, painted or not. Else the first of two quick keys would have no effect."""
        size = self._canvas.size
        return self.fit and fit_of(self.fit.size, (size.width, size.height), zoom, self.pan)

    def _pan_to(self, fit: Fit, x: float, y: float) -> None:
        """Put a pixel at the top left of the enlarged part, clamped to the phone."""
        most = fit.size[0] - (fit.x1 - fit.x0), fit.size[1] - (fit.y1 - fit.y0)
        self.pan = round(min(max(x, 0), most[0])), round(min(max(y, 0), most[1]))

    def action_pan(self, across: int, down: int) -> None:
        """Move the enlarged part by a third of what is visible."""
        fit = self._asked_fit(self.zoom)
        if fit is not None and self.enlarged:
            self._pan_to(fit, fit.x0 + across * (fit.x1 - fit.x0) / 3, fit.y0 + down * (fit.y1 - fit.y0) / 3)


def _same_shot(one: MirrorShot, other: MirrorShot) -> bool:
    """Return True if a frame repeats the last one only to report that it is still current."""
    return one.pixels is other.pixels and one.tree is other.tree and (one.size, one.space) == (other.size, other.space)


class FramePainter:
    """Painter of the newest shot in the newest view. It calls `ready` on its own thread after each.

    The thread starts with the first shot that has a view, so that an app without a phone never loads numpy. Of the
    shots put while it paints only the last is painted, at most `fps` times a second.
    """

    def __init__(self, codes: Codes, ready: Callable[[], object]) -> None:
        self.fps = 30
        self.asked = 0
        """Number of requests so far."""
        self.painted: tuple[int, PaintedPhone] | None = None
        """Number of the request painted last, and the result."""
        self.paintings = 0
        """Number of paintings so far."""
        self.fault: Exception | None = None
        """Exception that ended the thread. Nothing is painted after it."""
        self._codes, self._ready = codes, ready
        self._change = threading.Condition()
        self._shot: MirrorShot | None = None
        self._view: MirrorView | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def request(self, *, shot: MirrorShot | None = None, view: MirrorView | None = None) -> None:
        """Request another shot or view, from any thread. Never blocks on painting."""
        with self._change:
            if self._closed:
                return
            self._shot, self._view = shot or self._shot, view or self._view
            if self._shot is None:
                return
            self.asked += 1
            # Started late: the thread imports numpy.
            if self._thread is None and self._view is not None:
                self._thread = threading.Thread(target=self._run, name="mirror", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def close(self) -> None:
        """End the thread after the painting under way. May be called twice."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._paint_on()
        except Exception as error:  # noqa: BLE001 - raised where it is seen: else a picture just never came
            self.fault = error
            self._ready()

    def _paint_on(self) -> None:
        from screens.mirror.painter import Painter

        painter = Painter(self._codes)
        began = 0.0
        while (job := self._next_job(began)) is not None:
            number, shot, view = job
            began = time.monotonic()
            self.painted = number, painter.paint(shot, view)
            self.paintings += 1
            if not self._closed:
                self._ready()

    def _next_job(self, began: float) -> tuple[int, MirrorShot, MirrorView] | None:
        """Return the newest request once it is due, or None if closed."""
        with self._change:
            last_number = self.painted[0] if self.painted is not None else 0
            while not self._closed and self.asked == last_number:
                self._change.wait()
            while not self._closed and (pause := began + 1 / max(1, self.fps) - time.monotonic()) > 0:
                self._change.wait(pause)
            if self._closed or self._shot is None or self._view is None:
                return None
            return self.asked, self._shot, self._view
