"""The page of a model's request at one step: prompt and pictures, its reply, and the cost."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from lab.core.errors import LabError
from lab.core.run.step import Point
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.text.plain_text import plain
from lab.core.values.safe_images import open_picture
from screens.background import Background
from screens.mirror.fit import phone_room
from screens.mirror.mirror import Mirror
from screens.sent.source import Album, SentProposal
from screens.sent.words import NOTHING, sent_words
from screens.stylesheet import ROOM_STYLES
from screens.theme import LOUD_ERROR
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.room_screen import RoomScreen
from screens.widgets.text_page import TextPage

_BORDER = 2
_WORDS = 48
"""Columns that the words need beside the picture before it may be wider than its shape requires."""
_ALIKE = 0.02
"""Tolerance between the aspect ratios of a screen and of its picture, because of rounding."""


class SentPicture(NamedTuple):
    """One picture of the request.

    `data` is None if the file lacks it, and `tree` is None unless it shows the step's screen.
    """

    data: bytes | None
    size: Point
    tree: UiTree | None


class SentStep(NamedTuple):
    """A step's proposal, the number of its pictures, and one of them."""

    sent: SentProposal | None
    pictures: int
    picture: SentPicture | None


class SentScreen(RoomScreen[int]):
    """Shows one step after another. Returns the index, from 0, of the last one."""

    CSS_PATH = ROOM_STYLES
    HELP = """
    Exactly what the model was sent before this step, what it answered, and what that cost. **{sent.previous}** and
    **{sent.next}** go to the step before and the next one. **tab** goes to the picture: **{mirror.overlay}** draws the
    screen's words over it, **{mirror.zoom}** enlarges it. **{sent.back}** closes the page.
    """
    BINDING_GROUP_TITLE = "Sent"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,p,m", "leave", "Back", id="sent.back", tooltip="Close this page"),
        Binding("left_square_bracket,left,h", "step(-1)", "Step before", id="sent.previous", tooltip="One step back"),
        Binding("right_square_bracket,right,l", "step(1)", "Next step", id="sent.next", tooltip="One step on"),
        Binding("i", "picture", "Next picture", id="sent.picture", tooltip="The next picture that was sent"),
        Binding("home,g", "edge(0)", "Top", show=False, id="sent.top", tooltip="The beginning of the words"),
        Binding("end,G", "edge(-1)", "Bottom", show=False, id="sent.bottom", tooltip="The end of the words"),
        Binding("y", "copy", "Copy", show=False, id="sent.copy", tooltip="Copy the words that were sent"),
    ]
    DEFAULT_CSS = """
    SentScreen #sent-title, SentScreen #sent-state { height: 1; padding: 0 1; }
    SentScreen #sent-title, SentScreen #sent-state { text-wrap: nowrap; text-overflow: ellipsis; }
    SentScreen #sent-panes { height: 1fr; }
    SentScreen #sent-picture { height: 1fr; padding: 0; }
    SentScreen #sent-words { width: 1fr; height: 1fr; }
    """

    def __init__(self, album: Album, place: int, *, agent: str = "", overlay: bool = True, otherwise: str = "") -> None:
        """Create the page. `agent` names the model, and `otherwise` is the text of a step without a request."""
        super().__init__()
        self._album = album
        self._place = place
        self._picture_index = 0
        self._pictures = 0
        self._agent = agent
        self._no_request_words = otherwise or NOTHING
        self._proposal: SentProposal | None = None
        self._reading = Background(self, self._show_read, self._show_error)
        self._shape: Point | None = None
        self._mirror = Mirror(id="sent-picture", classes="pane", notice="this picture is not in the file")
        self._mirror.interactive = False
        self._mirror.overlay = overlay

    def compose(self) -> ComposeResult:
        yield Static("", id="sent-title", markup=False)
        with Horizontal(id="sent-panes"):
            yield self._mirror
            yield TextPage(id="sent-words", classes="pane")
        yield Footer()

    def on_mount(self) -> None:
        self._mirror.display = False
        self.query_one(TextPage).focus()
        self._request()

    def on_resize(self) -> None:
        self.call_after_refresh(self._take_room)

    # -- reading ---------------------------------------------------------------------------------------------

    def _request(self) -> None:
        self._reading.start(partial(self._read_step, self._place, self._picture_index))

    def _read_step(self, place: int, which: int) -> SentStep:
        proposal = self._album.read(place)
        shas = proposal.proposed.prompt.images if proposal is not None and proposal.proposed.prompt is not None else ()
        picture = self._read_picture(proposal, shas[which]) if proposal is not None and which < len(shas) else None
        return SentStep(proposal, len(shas), picture)

    def _read_picture(self, proposal: SentProposal, sha256: str) -> SentPicture:
        """Return a picture, with the screen's tree if the aspect ratios match."""
        data, observation = self._album.picture(sha256), proposal.seen
        size = _picture_size(data)
        if observation is None or observation.size is None:
            return SentPicture(data, size, None)
        alike = abs(observation.size[0] / observation.size[1] - size[0] / size[1]) < _ALIKE
        return SentPicture(
            data,
            size,
            _scale_tree(observation.tree, size[0] / observation.size[0]) if alike and observation.tree else None,
        )

    def _show_read(self, step: SentStep) -> None:
        self._proposal, self._pictures = step.sent, step.pictures
        picture = step.picture
        self._mirror.display = picture is not None
        if picture is not None:
            self._shape = picture.size
            self._mirror.show_still(picture.data, picture.size, picture.tree)
            several = f" {self._picture_index + 1} of {step.pictures}" if step.pictures > 1 else ""
            write_title(self._mirror, f"Picture{several}")
            self._mirror.remark = f"{picture.size[0]}x{picture.size[1]}" if picture.data else "not in this file"
            self._take_room()
        words = sent_words(step.sent.proposed, self._no_request_words) if step.sent else Content("The run ends here.")
        self._show_words(words)
        self._update_title()
        self.refresh_bindings()

    def _show_error(self, error: LabError) -> None:
        self._mirror.display = False
        self._show_words(Content.assemble((plain(error.sentence), LOUD_ERROR)))

    def _show_words(self, words: Content) -> None:
        page = self.query_one(TextPage)
        if words.plain != page.content.plain:
            page.show(words)

    def _update_title(self) -> None:
        place = f"step {self._proposal.number + 1}" if self._proposal is not None else "the end"
        agent = f"   {plain(self._agent, lines=False)}" if self._agent else ""
        self.query_one("#sent-title", Static).update(Content(f"Sent at {place}{agent}"))
        self.query_one(TextPage).border_title = "What the model was sent, and said"

    def _take_room(self) -> None:
        if self._shape is None or not self._mirror.display:
            return
        width, rows = self.size.width, max(1, self.size.height - 2 - _BORDER)
        columns, zoom = phone_room(self._shape, rows, round(width * 0.4), width - _WORDS)
        self._mirror.choose_whole_view(zoom)
        self._mirror.styles.width = columns + _BORDER

    # -- verbs -----------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable the next picture only if the request has several."""
        return self._pictures > 1 if action == "picture" else True

    def action_leave(self) -> None:
        """Close the help, then the page."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            self.dismiss(self._place)

    def action_step(self, by: int) -> None:
        """Go to another step of the same run."""
        place = min(max(0, self._place + by), self._album.count() - 1)
        if place != self._place:
            self._place, self._picture_index = place, 0
            self._request()

    def action_picture(self) -> None:
        """Show the next picture of this step, and the first after the last."""
        self._picture_index = (self._picture_index + 1) % max(1, self._pictures)
        self._request()

    def action_edge(self, which: int) -> None:
        """Scroll to the first or the last line of the words."""
        page = self.query_one(TextPage)
        page.scroll_to(y=0 if which == 0 else page.virtual_size.height, animate=False)

    def action_copy(self) -> None:
        """Copy the prompt's text."""
        prompt = self._proposal.proposed.prompt if self._proposal is not None else None
        if prompt is None:
            self.notify("Nothing was sent in this step.", markup=False)
        else:
            self.app.copy_to_clipboard(prompt.text)
            self.notify("Copied the words that were sent.", markup=False)


def _picture_size(data: bytes | None) -> Point:
    """Return a picture's size in pixels, or a phone's usual size if the picture is missing or invalid."""
    if data is None:
        return 1080, 2400
    try:
        with open_picture(data) as picture:
            return picture.size
    except (OSError, ValueError):
        return 1080, 2400


def _scale_tree(tree: UiTree, by: float) -> UiTree:
    """Scale a screen's tree to a smaller picture of it."""
    return UiTree(tuple(_scale_node(root, by) for root in tree.roots), tree.rotation)


def _scale_node(node: Node, by: float) -> Node:
    bounds = Bounds(*(round(edge * by) for edge in node.bounds))
    return replace(node, bounds=bounds, children=tuple(_scale_node(child, by) for child in node.children))
