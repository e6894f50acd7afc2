"""GUI-Odyssey: not read yet."""

from __future__ import annotations

from store.formats import Format

ODYSSEY = Format(
    "odyssey", "GUI-Odyssey", lambda folder, names: False, lambda seen: False, lambda found, known: iter(())
)
