"""A model that judges, behind a real socket: it reads the sheet out of the question and answers as it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.endpoint import Request, Said

Answers = Callable[[str, str], dict[str, Any] | None]
"""What is said of an item and a field; None leaves the entry out."""


def asked_of(request: Request) -> list[tuple[str, str]]:
    """The items and fields that a sheet's question names, as a model would read them."""
    _, _, sheet = request.text.rpartition("What is asked\n")
    fields = re.findall(r'^Field "([^"]+)"', sheet, re.MULTILINE)
    items = re.findall(r'^- "([^"]+)":', sheet, re.MULTILINE)
    once = re.search(r'^Asked once, with "item": "": (.*)$', sheet, re.MULTILINE)
    alone = once[1].split(", ") if once is not None else [] if items else fields
    return [(item, field) for item in items for field in fields if field not in alone] + [("", one) for one in alone]


def sheet_brain(says: Answers) -> Callable[[Request], Said]:
    """A model that fills in every sheet."""

    def brain(request: Request) -> Said:
        entries = []
        for item, field in asked_of(request):
            said = says(item, field)
            if said is not None:
                entries.append({"item": item, "field": field, "reason": f"because of {field}", **said})
        return Said(f"I looked at it.\n```json\n{json.dumps({'answers': entries})}\n```")

    return brain
