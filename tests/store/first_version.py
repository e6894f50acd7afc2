"""A file that version 0.1.0 made with its own commands, and what it printed of it.

It holds runs of the rule agent, of a model, a program, a recording and people; questions answered, proposals accepted
and rejected; actions that the gate approved, amended and rejected; breakpoints, a rewound run, forks, drafts; open
runs; demonstrations, proofread, redacted and cleared; designs with revisions, one frozen; runs imported from five
formats; studies that were calibrated, rated, played, adjudicated, locked, taken back from a kit, dealt anew; a
withdrawn person.
Its pictures are coarse, so that it stays small.
"""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

_FILES = Path(__file__).parent / "files"

ACCEPTED = "01a2075b-6de5-7d94-8b3d-cf37ad7a13c9"
BIKE = "01a2075b-752f-7a38-a226-bb962a7c41f2"
LUNCH = "01a2075b-8cd5-7900-8c29-410f29694635"
PERSON = "01a2075b-d702-7968-b6ce-b5d7b160543d"
OPEN = "01a2075b-f59c-789c-a6cf-2e0ad5bb5c7f"
"""A person left it with an answer half written."""
GATED = "01a2075b-fb09-71f0-a8b0-2c107e14dbd2"
BROKEN = "01a2075c-1999-781c-a7ed-ce0496c524f6"
"""It stands at a breakpoint."""
DEMONSTRATION = "01a2075c-2d06-7850-b026-7fe0dc4ce111"
UNFINISHED = "01a2075c-2161-7a48-ae7d-70231e9616ef"
"""A demonstration that can be gone on with."""
UNCLEARED = "01a2075c-2360-7158-b70c-840a067ecd04"
PLAYED = "01a2075f-a22c-7160-a892-1fba1478dced"
"""P1 plays it in the study `played`; it waits at its first question."""


@cache
def _bytes(name: str) -> bytes:
    return lzma.decompress((_FILES / f"{name}.xz").read_bytes())


def unpacked(to: Path, name: str = "hitlab-0.1.0.db") -> Path:
    """A copy of the file (or of a rater's kit of one of its studies, `kit-0.1.0.db`) at a path of the test's own."""
    to.write_bytes(_bytes(name))
    return to


def printed() -> dict[str, Any]:
    """What version 0.1.0 printed of it with --json, by command."""
    return dict(json.loads(_bytes("printed-0.1.0.json")))
