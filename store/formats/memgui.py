"""MemGUI-Bench and SPA-Bench: not read yet."""

from __future__ import annotations

from store.formats import Format

MEMGUI = Format(
    "memgui",
    "MemGUI-Bench and SPA-Bench",
    lambda folder, names: False,
    lambda seen: False,
    lambda found, known: iter(()),
)
