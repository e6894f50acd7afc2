"""AppAgent: not read yet."""

from __future__ import annotations

from store.formats import Format

APPAGENT = Format(
    "appagent", "AppAgent", lambda folder, names: False, lambda seen: False, lambda found, known: iter(())
)
