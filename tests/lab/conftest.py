"""`hitlab study` over a file of a few runs, for every test of its commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.drawn_once import drawn_once
from tests.lab.fitting import fits
from tests.studied_runs import RUNS, Call

__all__ = ["call", "drawn_once"]


@pytest.fixture
def call(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs one `hitlab study` command; what it prints is held against its schema."""
    from lab.cli.main import main
    from store.store import Store

    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add_all(RUNS)

    def called(*args: str, as_json: bool = True) -> tuple[int, Any]:
        try:
            code = main(["study", *args, *(["--json"] if as_json else [])])
        except SystemExit as left:
            code = int(left.code or 0)
        out = capsysbinary.readouterr()
        if not as_json:
            return code, (out.out + out.err).decode()
        found = json.loads(out.out)
        name = "study-list" if args in (("status",), ("status", "--all")) else f"study-{args[0]}"
        fits(found, name if code == 0 else "error")
        return code, found

    return called
