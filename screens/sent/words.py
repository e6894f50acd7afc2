"""A model's request and reply at one step, as text."""

from __future__ import annotations

import re

from textual.content import Content

from lab.core.run.step import Prompt, Proposed
from lab.core.text.plain_text import plain
from lab.runs.descriptions import usage_words
from screens.theme import HEADING, LOUD_ERROR, MUTED

_TURN = re.compile(r"^\[(?:system|user|assistant)\]$", re.MULTILINE)

NOTHING = "No model was asked in this step, or its source did not keep what it was sent."
_NOT_KEPT = "Its source did not keep what it was sent."


def sent_words(proposed: Proposed, otherwise: str = NOTHING) -> Content:
    """Format the cost, the raw reply, and then the exact prompt turn by turn. Without a request show `otherwise`."""
    parts: list[tuple[str, str]] = []
    if proposed.usage is not None:
        tries = ", one try" if proposed.usage.tries == 1 else ""
        parts += [("Cost\n", HEADING), (f"{usage_words(proposed.usage)}{tries}\n\n", "")]
    if proposed.thinking:
        source = f" ({plain(proposed.thinking_source, lines=False)})" if proposed.thinking_source else ""
        parts += [(f"It thought{source}\n", HEADING), (f"{plain(proposed.thinking)}\n\n", MUTED)]
    if proposed.raw is not None:
        parts += [("It answered\n", HEADING), (f"{plain(proposed.raw)}\n\n", "")]
    if proposed.action.kind == "other" and proposed.action.text:
        parts += [("What came of it\n", HEADING), (f"{plain(proposed.action.text)}\n\n", LOUD_ERROR)]
    if proposed.prompt is None:
        asked = proposed.usage is not None or proposed.raw is not None
        return Content.assemble(*parts, (_NOT_KEPT if asked and otherwise == NOTHING else otherwise, MUTED))
    return Content.assemble(
        *parts, ("It was sent\n", HEADING), *_turn_parts(proposed.prompt), *_picture_parts(proposed.prompt)
    )


def _turn_parts(prompt: Prompt) -> list[tuple[str, str]]:
    """Return the prompt's text with the marks of its turns in bold."""
    text, parts, end = plain(prompt.text), [], 0
    for mark in _TURN.finditer(text):
        parts += [(text[end : mark.start()], ""), (mark[0], "bold")]
        end = mark.end()
    return [*parts, (f"{text[end:]}\n", "")]


def _picture_parts(prompt: Prompt) -> list[tuple[str, str]]:
    shas = [(f"{sha}\n", MUTED) for sha in prompt.images]
    return [("\nPictures sent, by their sha256\n", HEADING), *shas] if shas else []
