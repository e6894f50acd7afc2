"""DAC-Bench: not read yet."""

from __future__ import annotations

from store.formats import Format

DAC = Format("dac", "DAC-Bench", lambda folder, names: False, lambda seen: False, lambda found, known: iter(()))
