"""AITZ: not read yet."""

from __future__ import annotations

from store.formats import Format

AITZ = Format("aitz", "AITZ", lambda folder, names: False, lambda seen: False, lambda found, known: iter(()))
