"""The papers' human studies as plans that need no file: a YAML each, filled in from the command line."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def presets() -> list[str]:
    """Every preset's name."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))
