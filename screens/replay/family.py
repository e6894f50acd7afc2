"""The tree of runs that were forked from one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from lab.core.errors import LabError
from lab.core.run.agent_names import shortest_names
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line, score_words, status_words
from lab.runs.fork.family import TreeLine, change_words, tree
from screens.background import Background
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.stylesheet import ROOM_STYLES
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList, fit_cell
from screens.widgets.room_screen import RoomScreen
from screens.widgets.table import RowList
from screens.widgets.text_page import ScrollableNotice

if TYPE_CHECKING:
    from store.store import Store

_SHORT = 13
"""Characters of an id that distinguish runs: all milliseconds of a uuid7."""
_WIDE = 84
"""Columns of the list from which it shows the agent."""


class FamilyTree(RowList[TreeLine]):
    """Each run below the one that it was forked from."""

    HELP = """\
# Family

Runs that share a beginning: each below the run it was forked from, with the step where it left it and what is other
there; below the list it stands whole. **{list.open}** opens a run at that step, **{family.back}** closes the tree.
"""
    heading_rows = 1
    empty = "Reading the family ..."
    agents: Mapping[str, str] = {}
    """Shortest distinct names of the agents, by identity."""

    def heading(self, width: int) -> Content:
        return Content.assemble(
            self._format_cells(width, "run", "step", "what is other", "agent", "steps", "status", "score")
        )

    def paint(self, index: int, width: int) -> Content:
        limb = self.rows[index]
        kin = limb.run
        step = f"@{kin.forked.index + 1}" if kin.forked else ""
        agent = one_line(self.agents.get(kin.agent, kin.agent))
        words = one_line(change_words(kin.forked)) or "(the first)"
        run = f"{limb.stem}{one_line(kin.id[:_SHORT])}"
        cells = self._format_cells(
            width, run, step, words, agent, str(kin.steps), status_words(kin.status), score_words(kin.score)
        )
        return Content.assemble((cells, "" if kin.status != "open" else "bold"))

    def _format_cells(
        self, width: int, run: str, at: str, words: str, agent: str, steps: str, status: str, score: str
    ) -> str:
        """Format a row. The change gets the room that the other columns leave."""
        deepest = max((len(limb.stem) for limb in self.rows), default=0)
        more = [(agent, 14), (steps, 5)] if width >= _WIDE else []
        parts = [(run, _SHORT + deepest), (at, 4), (words, 0), *more, (status, 11), (score, 5)]
        room = max(8, width - sum(size + 2 for _, size in parts if size))
        return "  ".join(fit_cell(text, size or room) for text, size in parts)


class FamilyScreen(RoomScreen[tuple[str, int]]):
    """The family of a run. Returns the run and the step (from 1) to open."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Family"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,t", "leave", "Back", id="family.back", tooltip="Close the tree"),
        Binding("y", "copy", "Copy id", id="family.copy", tooltip="Copy this run's id"),
    ]

    def __init__(self, store: Store, trace_id: str) -> None:
        super().__init__()
        self.store = store
        self.run = trace_id
        self._family = Background(self, self._show_family, self._show_error)

    def compose(self) -> ComposeResult:
        yield Static("Family", id="family-title", markup=False)
        yield FamilyTree(id="family")
        yield ScrollableNotice(id="family-words")
        keys = "{list.open}: open this run where it left its parent   {family.back}: back"
        yield Static(with_keys(self, keys), id="next", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(FamilyTree).border_title = "Runs"
        self.query_one(FamilyTree).focus()
        self._family.start(lambda: tree(self.store.runs.family(self.run)))

    def _show_family(self, lines: list[TreeLine]) -> None:
        limbs = self.query_one(FamilyTree)
        limbs.rows = lines
        limbs.agents = shortest_names(limb.run.actor for limb in limbs.rows if limb.run.actor is not None)
        task = lines[0].run.task if lines else ""
        runs = "1 run" if len(lines) == 1 else f"{len(lines)} runs"
        self.query_one("#family-title", Static).update(f"Family   {one_line(task)}   {runs}")
        limbs.changed()
        limbs.go(next((i for i, limb in enumerate(limbs.rows) if limb.run.id == self.run), 0))

    @on(LineList.Highlighted)
    def _show_change(self, message: LineList.Highlighted) -> None:
        fork = self.query_one(FamilyTree).rows[message.index].run.forked
        self.query_one("#family-words", ScrollableNotice).show(Content(plain(change_words(fork))))

    def _show_error(self, error: LabError) -> None:
        self.query_one(FamilyTree).empty = plain(error.sentence)
        self.query_one(FamilyTree).refresh()

    @on(LineList.Chosen)
    def _open_chosen(self, message: LineList.Chosen) -> None:
        kin = self.query_one(FamilyTree).rows[message.index].run
        self.dismiss((kin.id, kin.forked.index + 1 if kin.forked else 1))

    def action_leave(self) -> None:
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            self.dismiss()

    def action_copy(self) -> None:
        limbs = self.query_one(FamilyTree)
        if limbs.count:
            self.app.copy_to_clipboard(limbs.rows[limbs.cursor].run.id)
            self.notify("The run's id is copied.", markup=False)


def show_family(screen: Screen[None], trace_id: str) -> None:
    """Show a run's family. Open the chosen run at the step where it left its parent."""

    def open_chosen(place: tuple[str, int] | None) -> None:
        if place is not None:
            lab_of(screen).open_replay(*place)

    screen.app.push_screen(FamilyScreen(lab_of(screen).store, trace_id), open_chosen)
