"""A design's items as a list (nodes with their paths, branches, units, criteria), or sources for a first draft."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content

from lab.core.task.design import Design, Section
from lab.core.task.design_outline import rows
from lab.core.task.task import Branch, Criterion, InformationUnit, Task, TdgNode
from lab.core.text.plain_text import plain
from lab.studies.designing import design_editing
from lab.studies.designing.design_drafts import BEGINNINGS, Beginning
from lab.studies.designing.design_session import DesignSession
from screens.key_names import with_keys
from screens.theme import ACCENT, HEADING, LOUD_ERROR, LOUD_WARNING, MUTED, SUCCESS
from screens.widgets.lines import LineList

_ASIDE = 0.45
"""Maximum share of a line for the text at its right."""
TITLES: dict[Section, str] = {"tdg": "Graph", "branches": "Branches", "units": "Units", "rubric": "Rubric"}


class OutlineLine(NamedTuple):
    """One item as a line. `aside` is dim text at the right."""

    key: str
    number: str
    words: str
    aside: str = ""
    depth: int = 0
    flexible: bool = False
    mark: str = ""
    """`✓` accepted, `✗` objected to, `!` has a problem, else empty."""


class Outline(LineList):
    """One section of the design, one line per item."""

    HELP = """\
# The design

**{author.graph}** graph, **{author.branches}** branches, **{author.units}** information units, **{author.rubric}**
rubric. **{author.add}** adds one from the step that the phone shows (**{author.add_empty}** an empty one),
**{author.edit}** edits it, **{author.delete}** deletes it, **{author.undo}** takes the last change back, again and
again.

In the graph **{author.move_down}** and **{author.move_up}** move a node, **{author.indent}** puts it into the node
above as a path of its own (once more: on to the path before), **{author.outdent}** takes it out, **{author.flexible}**
makes it flexible or fixed, **{author.draw}** draws the graph. What comes right before a node is the field *after* of
the form; without it, the order of the list.

For a unit, **{author.add}** offers the texts on the phone's screen; a click on the phone takes the one there.
**{author.used}** says that the unit is used in the app of this step, **{author.flexible}** that it is written out or
only steers. **{author.evidence}** keeps the step shown as evidence of an item, **{author.to_evidence}** goes to it.

Everything is kept as you do it. **{author.submit}** submits the design. Another person verifies it:
**{author.accept}** accepts an item, **{author.object}** objects with words, **{author.verify}** freezes it,
**{author.send_back}** sends it back. **{author.reopen}** reopens it, a frozen one as a new version.

`!` to be mended, `✓` accepted, `✗` objected to, `~` flexible or steering, `@3` seen in step 3.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Edit", id="author.edit", tooltip="Edit this item, or begin from this"),
    ]

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.section: Section = "tdg"
        self.rows: list[OutlineLine] = []
        self.beginnings: list[Beginning] = []
        self._offered: list[str] = []
        self._writable = True

    # -- what it shows ---------------------------------------------------------------------------------------

    def show(self, session: DesignSession, has_run: bool) -> None:
        """Repaint the section. The cursor stays on its item."""
        key = self.key
        self.rows, self._writable = lines_of(session, self.section), session.writable
        empty = session.writable and session.design == Design()
        self.beginnings = draft_sources(session.task, has_run) if empty and not self.rows else []
        self._offered = [with_keys(self, _begin_words(source, session.task)) for source in self.beginnings]
        self.empty = "" if self._offered else _EMPTY[self.section]
        self.changed()
        self.go_to(key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable editing of a submitted or frozen design."""
        return action != "choose" or self._writable

    def go_to(self, key: str) -> None:
        """Move the cursor to an item if it is in this section."""
        row_at = next((i for i, row in enumerate(self.rows) if row.key == key), None)
        if row_at is not None:
            self.go(row_at)

    @property
    def key(self) -> str:
        """Key of the item under the cursor, empty if there is none."""
        return self.rows[self.cursor].key if 0 <= self.cursor < len(self.rows) else ""

    @property
    def draft_source(self) -> Beginning | None:
        """Source of a first draft under the cursor, or None if there is a draft."""
        return self.beginnings[self.cursor] if self.beginnings and not self.rows else None

    # -- painting --------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        return len(self.rows) or len(self._offered)

    def paint(self, index: int, width: int) -> Content:
        if not self.rows:
            return Content.assemble((self._offered[index], ACCENT))
        row = self.rows[index]
        prefix = f"{'  ' * row.depth}{row.number} "
        sign = "~ " if row.flexible else ""
        room = width - 2 - len(prefix) - len(sign)
        aside = row.aside if cell_len(row.aside) <= room * _ASIDE else ""
        words = Content(row.words).truncate(max(4, room - (cell_len(aside) + 2 if aside else 0)), ellipsis=True)
        gap = " " * max(0, room - words.cell_length - cell_len(aside))
        loud = {"✓": SUCCESS, "✗": LOUD_ERROR, "!": LOUD_WARNING}.get(row.mark, "")
        return Content.assemble(
            (f"{row.mark or ' '} ", loud), (prefix, MUTED), (sign, HEADING), (words.plain, ""), (gap, ""),
            (aside, MUTED),
        )  # fmt: skip


_EMPTY: dict[Section, str] = {
    "tdg": "No nodes yet: a adds one from the step shown.",
    "branches": "No decision points yet: a adds one.",
    "units": "No information units yet: a takes one from the texts on the phone.",
    "rubric": "No criteria yet: a adds one.",
}


def draft_sources(task: Task, has_run: bool) -> list[Beginning]:
    """Return the possible sources of a first draft."""
    there: dict[Beginning, bool] = {
        "task": bool(task.tdg.nodes or task.units or task.branches or task.rubric.criteria),
        "golden": bool(task.golden),
        "run": has_run,
    }
    return [source for source in BEGINNINGS if there[source]]


def _begin_words(source: Beginning, task: Task) -> str:
    count = {"task": f" ({len(task.tdg.walk())} nodes)", "golden": f" ({len(task.golden)})", "run": ""}[source]
    return f"{{author.edit}}: begin from {BEGINNINGS[source]}{count}"


def lines_of(session: DesignSession, section: Section) -> list[OutlineLine]:
    """Return the items of a section as lines."""
    design = session.design
    wrong = {problem.key for problem in session.problems} if session.writable else set()
    lines = _graph_lines(design) if section == "tdg" else _flat_lines(design, section)
    return [
        line._replace(mark=_review_mark(session, line.key, wrong), aside=_aside_words(design, line)) for line in lines
    ]


def _review_mark(session: DesignSession, key: str, wrong: set[str]) -> str:
    if key in wrong:
        return "!"
    words = session.marks.get(key)
    return "" if words is None else "✗" if words else "✓"


def _aside_words(design: Design, line: OutlineLine) -> str:
    """Return the text at the right: the steps of the evidence, and order that the list does not show."""
    steps = _range_words(
        [int(step) for link in design.evidence.get(line.key, ()) if (step := link.rpartition("@")[2]).isdigit()]
    )
    return "  ".join(part for part in (line.aside, f"@{steps}" if steps else "") if part)


def _range_words(steps: list[int]) -> str:
    """Format steps as `1-4,7`."""
    runs: list[list[int]] = []
    for step in sorted(set(steps)):
        if runs and step == runs[-1][1] + 1:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _graph_lines(design: Design) -> list[OutlineLine]:
    lines: list[OutlineLine] = []
    graph_rows = rows(design.tdg)
    numbers = {row.node.id: row.number for row in graph_rows}
    order = [node.id for node in design.tdg.nodes]
    for row in graph_rows:
        node = row.node
        before = [a for a, b in design.tdg.edges if b == node.id]
        expected = order[row.place.at - 1 : row.place.at] if not row.place.within and row.place.at else []
        aside = (
            f"after {_node_names(before, numbers) or 'nothing'}" if not row.place.within and before != expected else ""
        )
        needs = f"needs {_node_names(node.requires, numbers)}" if node.requires else ""
        words = plain(node.name, lines=False) or "(no name)"
        aside = "  ".join(filter(None, (aside, needs)))
        lines.append(OutlineLine(f"tdg/{node.id}", row.number, words, aside, row.depth, node.kind == "flexible"))
    return lines


def _node_names(ids: list[str] | tuple[str, ...], numbers: dict[str, str]) -> str:
    return ",".join(numbers.get(id, id) for id in ids)


def _flat_lines(design: Design, section: Section) -> list[OutlineLine]:
    return [
        _flat_line(f"{section}/{item.id}", str(i + 1), item)
        for i, item in enumerate(design_editing.entries(design, section))
    ]


def _flat_line(key: str, number: str, item: design_editing.Item) -> OutlineLine:
    match item:
        case Branch():
            options = " / ".join(item.options) or "no options"
            return OutlineLine(
                key, number, _plain_line(f"{item.ask or '(asks nothing)'}  {options}"), f"depth {item.depth}"
            )
        case InformationUnit():
            words = f"{item.name or '(no name)'} = {item.value or '-'}"
            apps = f"{item.source or '?'} → {item.used or '?'}"
            return OutlineLine(key, number, _plain_line(words), _plain_line(apps), flexible=not item.explicit)
        case Criterion():
            return OutlineLine(key, number, _plain_line(item.ask or "(asks nothing)"), f"x{item.weight:g}")
        case TdgNode():
            return OutlineLine(key, number, _plain_line(item.name))


def _plain_line(text: str) -> str:
    return plain(text, lines=False)
