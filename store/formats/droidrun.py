"""droidrun: not read yet."""

from __future__ import annotations

from store.formats import Format

DROIDRUN = Format(
    "droidrun", "droidrun", lambda folder, names: False, lambda seen: False, lambda found, known: iter(())
)
