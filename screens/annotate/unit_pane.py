"""What a unit lays before the rater, beside the sheet: a run or two, step by step, or texts; blinded throughout."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on

from screens.annotate.phone_pane import Evidence, PhonePane, Region
from screens.annotate.run_pane import RunPane
from screens.annotate.unit_layout import UnitLayout
from screens.mirror.mirror import Mirror
from screens.mirror.touchscreen import Touchscreen

__all__ = ["Evidence", "UnitPane"]


class UnitPane(UnitLayout):
    """The evidence pane. Its verbs are called by the sheet's keys; focus is its own only while a region is drawn."""

    # -- verbs -----------------------------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """Steps on or back."""
        if self._side is not None:
            self._side.move(by)

    def edge(self, which: int) -> None:
        """The first step (0) or the end (-1)."""
        if self._side is not None:
            self._side.timeline.action_edge(which)

    def question(self, by: int) -> bool:
        """The next or the previous step with a question; False where there is none."""
        return self._side is not None and self._side.question(by)

    def search(self, words: str, by: int = 1) -> int:
        """Goes to the next step that holds these words; how many do."""
        side, needle = self._side, words.strip().casefold()
        if side is None or not needle:
            return 0
        step = side.timeline.next_holding(needle, by)
        if step is not None:
            side.timeline.go(step)
        return side.timeline.holding(needle)

    def turn_side(self) -> None:
        """Of two runs the other one takes the steps' keys."""
        if self._count == 2:
            self._turn_to(1 - self._active)

    def turn_view(self) -> None:
        """Words instead of the phone, or back."""
        for side in self._laid:
            side.turn_view()

    def turn_after(self) -> None:
        """The screen after the step, or before it."""
        if self._side is not None:
            self._side.turn()

    def turn_overlay(self) -> None:
        """The screen's words as characters over the phone, or its pixels alone."""
        for side in self._laid:
            side.phone.mirror.overlay = not side.phone.mirror.overlay

    def turn_header(self) -> None:
        """Unfolds what is pinned above: instruction, context, persona, policy, rubric; or folds it to a line."""
        self.header.turn()
        self.call_after_refresh(self.tell_keys)

    def back(self) -> bool:
        """One step back: out of the picture in full, or out of what was unfolded; False where neither is."""
        if self._closely:
            return self.look_closely()
        if self.header.is_open and self.header.wanted:
            self.turn_header()
            return True
        return False

    def scroll(self, pages: int) -> None:
        """What is read (the words of a step, or what is unfolded above them) goes down so many pages, or up."""
        for page in self.reading(pages):
            page.turn(pages)

    def look_closely(self) -> bool:
        """Opens the picture in full, or closes it; False where there is none."""
        side = self._side
        if self._closely:
            self._close()
            self._take_room()
        elif side is not None and side.has_phone:
            self._closely = True
            side.look_closely(True)
            self._take_room()
            self.post_message(self.Closely(self.place))
        else:
            return False
        return True

    # -- evidence --------------------------------------------------------------------------------------------

    def cover(self, evidence: Sequence[Evidence]) -> None:
        """Marks what answers rest on: these steps in the list, their regions on the phone."""
        if list(evidence) != self._evidence:
            self._evidence = list(evidence)
            for side in self._laid:
                side.mark_evidence(self._evidence)

    def draw_region(self, on: bool = True) -> bool:
        """The next drag on the phone is a region, or a click the thing that is clicked, or what keys frame; or no more.

        False where there is no picture to draw on.
        """
        side = self._side
        if on and (side is None or not side.has_phone):
            return False
        self.drawing = on
        if on and side is not None:
            if self._closely and side.phone.close_up is not None:
                self.look_closely()  # on the terminal's own graphics nothing can be drawn
            side.show_phone()
        for one in self._laid:
            one.phone.draw_region(on)
        if on and side is not None:
            side.phone.focus()
        return True

    @on(Mirror.Dragged)
    def _dragged(self, message: Mirror.Dragged) -> None:
        message.stop()
        (x0, x1), (y0, y1) = sorted((message.at[0], message.to[0])), sorted((message.at[1], message.to[1]))
        self._boxed(self._of(message.mirror), (x0, y0, x1, y1))

    @on(Mirror.Tapped)
    def _tapped(self, message: Mirror.Tapped) -> None:
        message.stop()
        side = self._of(message.mirror)
        tree = side.screen_seen.tree if side is not None and side.screen_seen is not None else None
        under = tree.at(*message.at) if tree is not None else []
        if under:
            left, top, right, bottom = min(under, key=lambda node: node.bounds.area).bounds
            self._boxed(side, (left, top, right, bottom))

    @on(PhonePane.Framed)
    def _framed(self, message: PhonePane.Framed) -> None:
        message.stop()
        self._boxed(self._of(message.phone.mirror), message.region)

    def _of(self, mirror: Touchscreen) -> RunPane | None:
        """The run whose phone it is, whichever has the steps' keys."""
        return next((side for side in self._laid if side.phone.mirror is mirror), None)

    def _boxed(self, side: RunPane | None, region: Region) -> None:
        if self.drawing and side is not None and side.view is not None:
            self.draw_region(on=False)
            self.post_message(self.Boxed(side.screen_place, region))

    @on(Mirror.Wheeled)
    def _wheeled(self, message: Mirror.Wheeled) -> None:
        message.stop()
