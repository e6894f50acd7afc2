"""The pane beside a run: persona, instruction and decision policy, and more for a developer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec
from rich.console import Group
from rich.padding import Padding
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from lab.core.codec import encode
from lab.core.run.step import Proposed
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.runs.descriptions import usage_words
from lab.runs.spec import Spec, brief_of
from lab.studies.playing.persona_prose import ProseSection, persona_prose
from screens.key_names import with_keys
from screens.persona_facts import moment_words
from screens.widgets.border_words import write_subtitle
from screens.widgets.fold import Fold

_PROACTIVE = (
    "Nothing was asked for. The agent looks at the time, the place and what was done before, and may offer help."
)
"""Text in place of a missing instruction. The task's title is not shown, since it may give away the right offer."""


class SeatPane(VerticalScroll, can_focus=False, inherit_bindings=False):
    """The persona's facts, the context and the decision policy, each folded or open.

    `knows` adds what only a developer may see: names of task and agent, the persona's log, and what the agent was sent
    last. A person who plays the user gets the same information as a model in that role.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "part(1)", "Below", show=False, id="seat.below", tooltip="The part below, or its next line"),
        Binding("up,k", "part(-1)", "Above", show=False, id="seat.above", tooltip="The part above, or its line before"),
        Binding("pagedown", "page_down", "Read on", show=False, id="seat.page_down", tooltip="Further down"),
        Binding("pageup", "page_up", "Read back", show=False, id="seat.page_up", tooltip="Further up"),
    ]
    DEFAULT_CSS = """
    SeatPane { height: auto; scrollbar-size-vertical: 1; }
    SeatPane > .facts { display: none; padding-left: 2; }
    SeatPane.-persona > .facts { display: block; }
    """
    ALLOW_MAXIMIZE = True

    def __init__(self, spec: Spec, agent: Actor, *, knows: bool) -> None:
        super().__init__(id="seat", classes="pane")
        self._spec = spec
        self._agent = agent
        self._knows = knows
        self.locale = "en"
        """Locale of the persona's description."""
        self.border_title = "Your part" if not knows else "Seat"

    def compose(self) -> ComposeResult:
        write_subtitle(self, "" if self._knows else with_keys(self, "tab, then {fold.toggle}: open a part"))
        task, persona = self._spec.task, self._spec.persona
        instruction = plain(task.instruction) or _PROACTIVE
        yield Fold("Task", instruction, self._instruction_text(instruction), id="seat-task")
        if task.policy:
            yield Fold("How you decide", plain(task.policy), Text(plain(task.policy)), id="seat-policy")
        if persona is not None:
            yield Fold("Who you are", plain(persona.name), id="seat-persona")
            for section in persona_prose(persona.facts, persona.name, self.locale):
                yield Fold(section.title, section.text, prose([section], titled=False), classes="facts")
        where = ", ".join(plain(part) for part in (moment_words(task.time), task.place) if part)
        yield Fold("When and where", where, self._surroundings(where), id="seat-context")
        if self._knows:
            yield Fold("Sent to the agent", "nothing yet", Text("Nothing was sent yet."), id="seat-sent")

    def _instruction_text(self, instruction: str) -> Text:
        text = Text(instruction)
        if self._knows:
            task, agent = self._spec.task, self._agent
            task_words = f"\n{task.id}: {task.title}" if task.title else f"\n{task.id}"
            text.append(plain(f"{task_words}\n{task.kind}, worked by {agent.display_name} ({agent.kind})"), style="dim")
        return text

    def action_part(self, by: int) -> None:
        """Move to the next part. Scroll first, line by line, if the present part continues out of view."""
        parts = [fold for fold in self.query(Fold) if fold.display]
        here = next((at for at, fold in enumerate(parts) if fold.has_focus), None)
        if here is None:
            return
        part, view = parts[here].region, self.scrollable_content_region
        if (part.bottom > view.bottom) if by > 0 else (part.y < view.y):
            self.scroll_relative(y=by, animate=False)
        elif 0 <= here + by < len(parts):
            parts[here + by].focus()

    def unfold(self, *names: str) -> None:
        """Open these parts. `facts` are all of the persona's."""
        for name in names:
            for fold in self.query(".facts" if name == "facts" else f"#seat-{name}").results(Fold):
                fold.folded = False

    @on(Fold.Toggled)
    def _show_facts(self, message: Fold.Toggled) -> None:
        """Show the facts only while the heading above them is open."""
        if message.fold.id == "seat-persona":
            self.set_class(not message.fold.folded, "-persona")

    def sent(self, index: int, proposed: Proposed) -> None:
        """Show exactly what the agent was sent before it proposed this action."""
        for fold in self.query("#seat-sent").results(Fold):
            head = f"for step {index + 1}"
            usage = f"  {usage_words(proposed.usage)}" if proposed.usage else ""
            fold.set_body(head + usage, self._prompt_text(head + usage, proposed))

    def _prompt_text(self, head: str, proposed: Proposed) -> Text:
        text = Text(head + "\n", style="dim")
        if proposed.prompt is not None:
            text.append(plain(proposed.prompt.text), style="not dim")
            for sha in proposed.prompt.images:
                text.append(f"\n[picture {sha[:12]}]")
        else:
            text.append(self.brief_words(), style="not dim")
        if proposed.thinking:
            source = f" ({plain(proposed.thinking_source, lines=False)})" if proposed.thinking_source else ""
            text.append(f"\nIt thought{source}:\n")
            text.append(plain(proposed.thinking), style="not dim")
        if proposed.raw is not None:
            text.append("\nIt answered:\n")
            text.append(plain(proposed.raw), style="not dim")
        return text

    def brief_words(self) -> str:
        """Return the input of an agent without a model."""
        brief = msgspec.json.format(encode(brief_of(self._spec.task, self._spec.persona)), indent=2).decode()
        return f"No model: the agent read the screen's tree, what was done so far, and this brief:\n{plain(brief)}"

    def _surroundings(self, where: str) -> Text:
        text = Text(where or "Not said.")
        persona = self._spec.persona
        if self._knows and persona is not None and persona.log:
            text.append("\nWhat was done before, as the phone kept it:", style="dim")
            for entry in persona.log:
                text.append("\n" + plain(entry.exposed, lines=False))
        return text


def prose(sections: Sequence[ProseSection], *, titled: bool = True) -> Group:
    """Return a persona's facts as paragraphs, section by section."""
    lines: list[Text | Padding] = []
    for section in sections:
        if titled:
            lines.append(Text(("\n" if lines else "") + section.title, style="bold"))
        for paragraph in section.paragraphs:
            text = Text(f"{paragraph.lead}. " if paragraph.lead else "", style="bold")
            text.append(paragraph.text, style="not bold")
            lines.append(Padding(text, (0, 0, 0, 2)) if titled else text)
    return Group(*lines)
