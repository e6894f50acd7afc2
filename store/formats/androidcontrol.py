"""AndroidControl: not read yet."""

from __future__ import annotations

from store.formats import Format

ANDROIDCONTROL = Format(
    "androidcontrol", "AndroidControl", lambda folder, names: False, lambda seen: False, lambda found, known: iter(())
)
