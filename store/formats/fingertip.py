"""FingerTip-20K: not read yet."""

from __future__ import annotations

from store.formats import Format

FINGERTIP = Format(
    "fingertip", "FingerTip-20K", lambda folder, names: False, lambda seen: False, lambda found, known: iter(())
)
