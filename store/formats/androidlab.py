"""AndroidLab: not read yet."""

from __future__ import annotations

from store.formats import Format

ANDROIDLAB = Format(
    "androidlab", "AndroidLab", lambda folder, names: False, lambda seen: False, lambda found, known: iter(())
)
