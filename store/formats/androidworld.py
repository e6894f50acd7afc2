"""AndroidWorld: not read yet."""

from __future__ import annotations

from store.formats import Format

ANDROIDWORLD = Format(
    "androidworld", "AndroidWorld", lambda folder, names: False, lambda seen: False, lambda found, known: iter(())
)
