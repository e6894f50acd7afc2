"""The guide: the present field and its answers, then the guideline, then the other fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from lab.core.study.guideline import clauses
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.text.plain_text import plain
from screens.annotate.sheet_text import many_words
from screens.replay.step_pane import Part
from screens.theme import HEADING, MUTED
from screens.widgets.border_words import write_title
from screens.widgets.text_page import TextPage

_SIDES = {"A": "_left", "B": "_right"}


def guide_of(protocol: Protocol, locale: str, field_id: str = "") -> Content:
    """Return the guide as text, with the field `field_id` first. Nothing in it is read as markup."""
    first = [field for field in protocol.fields if field.id == field_id]
    others = [field for field in protocol.fields if field.id != field_id]
    parts: list[Part] = []
    for field in first:
        parts += _field_parts(protocol, locale, field)
    guide = plain(protocol.guideline(locale).strip())
    if guide:
        parts += [
            (f"{plain(protocol.word(locale, 'title', protocol.title), lines=False)}\n", HEADING),
            *_numbered_guideline(guide),
            ("\n", ""),
        ]
    for field in others:
        parts += _field_parts(protocol, locale, field)
    if protocol.source:
        parts.append((f"After {plain(protocol.source, lines=False)}", MUTED))
    return Content.assemble(*parts) if parts else Content("This study has no guideline.")


def _numbered_guideline(guide: str) -> Iterator[Part]:
    """Yield the guideline with a number before each line that is not blank, since an answer may cite it."""
    clause_lines = iter(clauses(guide))
    for line in guide.splitlines():
        if line.strip():
            yield f"{next(clause_lines).number:>3}  ", MUTED
        yield f"{line}\n", ""


def _field_parts(protocol: Protocol, locale: str, field: Field) -> Iterator[Part]:
    """Yield a field's question, and each of its answers with its definition and worked cases."""
    yield f"{plain(protocol.word(locale, field.id, field.ask))}\n", HEADING
    hint = plain(protocol.hint(locale, field))
    if hint:
        yield f"{hint}\n", MUTED
    says = partial(protocol.sheet_word, locale)
    if field.kind == "many":
        yield f"{many_words(field, says)}\n", MUTED
    elif field.least is not None or field.most is not None:
        least = says("_from", f"{field.least:g}") if field.least is not None else ""
        most = says("_to", f"{field.most:g}") if field.most is not None else ""
        steps = says("_in_steps", f"{field.step:g}") if field.step else ""
        yield f"{least}{most}{steps}\n".lstrip(), MUTED
    for option in field.options:
        yield from _option_parts(protocol, locale, field, option)
    yield "\n", ""


def _option_parts(protocol: Protocol, locale: str, field: Field, option: Option) -> Iterator[Part]:
    key = f"{field.id}.{option.id}"
    means = plain(protocol.word(locale, f"{key}.means", option.means))
    says = protocol.word(locale, key, option.display_name)
    if field.sided and option.id in _SIDES:  # the sheet names them by their side
        says = protocol.sheet_word(locale, _SIDES[option.id])
    yield f"• {plain(says, lines=False)}", "bold"
    yield f"{'  ' if means else ''}{means}\n", ""
    cases = _translated_cases(protocol, locale, key, option.cases)
    for case in cases:
        yield f"    e.g. {plain(case)}\n", MUTED
    if cases:
        yield "\n", ""


def _translated_cases(protocol: Protocol, locale: str, key: str, cases: Sequence[str]) -> list[str]:
    """Return the worked cases in the locale. A translation has one in each line."""
    translated = protocol.word(locale, f"{key}.cases", "")
    return [line.strip() for line in translated.splitlines() if line.strip()] if translated else list(cases)


class GuideScreen(ModalScreen[None]):
    """Dialog with the guide. The key that opened it closes it, like Esc and Enter."""

    DEFAULT_CSS = """
    GuideScreen { align: center middle; }
    GuideScreen > TextPage { width: 90%; max-width: 100; height: 90%; }
    """
    BINDING_GROUP_TITLE = "Guide"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "close", "Close", id="annotate.guide", tooltip="Back to the sheet"),
        Binding("escape,enter", "close", "Close", show=False, id="guide.close", tooltip="Back to the sheet"),
        Binding("full_stop", "turn(1)", "Read on", show=False, id="annotate.scroll_down", tooltip="A page on"),
        Binding("comma", "turn(-1)", "Read back", show=False, id="annotate.scroll_up", tooltip="A page back"),
    ]

    def __init__(self, protocol: Protocol, locale: str, field_id: str = "") -> None:
        super().__init__()
        self.page = TextPage(id="guide", classes="pane", hint="{annotate.guide} or {guide.close} closes")
        self._content = guide_of(protocol, locale, field_id)
        write_title(self.page, protocol.word(locale, "title", protocol.title))

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.page.show(self._content)
        self.page.focus()

    def action_close(self) -> None:
        """Close the guide."""
        self.dismiss()

    def action_turn(self, by: int) -> None:
        """Turn a page on or back."""
        self.page.scroll_pages(by)
