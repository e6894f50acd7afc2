"""The words of the commands for studies: protocols, study, label, labels, withdraw."""

from __future__ import annotations

from lab.options.common import Commands


def add(commands: Commands) -> None:
    """Adds them."""
