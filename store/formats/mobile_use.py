"""mobile_use dumps: not read yet."""

from __future__ import annotations

from store.formats import Format

MOBILE_USE = Format(
    "mobile_use", "mobile_use dumps", lambda folder, names: False, lambda seen: False, lambda found, known: iter(())
)
