"""The papers' human studies as plans that need no file: one YAML file each, completed by the command line."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def presets() -> list[str]:
    """Return the names of all presets."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))
