"""Taking in runs from files and folders: one transaction each, with totals for the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from lab.trace import Imported
from store.formats import Failed, Known, formats, read
from store.store import Store

Outcome = Literal["imported", "skipped", "failed"]


class Report(msgspec.Struct):
    """What an import did, as `hitlab import --json` prints it; each failure is a path and one sentence."""

    imported: int = 0
    skipped: int = 0
    failed: list[dict[str, str]] = []


def import_paths(
    store: Store,
    paths: Iterable[Path],
    format: str | None = None,
    on_run: Callable[[str, Outcome], None] | None = None,
) -> Report:
    """Imports every run below `paths`; what cannot be read is counted with its reason, and the others still come in.

    `on_run` hears of each run: its id (or the path that failed) and what became of it. A file that cannot be
    written ends the import with the store's own `LabError`; the runs before stay, whole.
    """
    report = Report()

    def tell(name: str, outcome: Outcome, error: str = "") -> None:
        if outcome == "failed":
            report.failed.append({"path": name, "error": error})
        else:
            setattr(report, outcome, getattr(report, outcome) + 1)
        if on_run is not None:
            on_run(name, outcome)

    for path in paths:
        nothing = True
        for one in read(path, format, known=store.holds):
            nothing = False
            match one:
                case Imported():
                    tell(one.id, "imported" if store.import_run(one) else "skipped")
                case Known():
                    tell(one.id, "skipped")
                case Failed():
                    tell(one.path, "failed", one.error)
        if nothing:
            tell(str(path), "failed", _nothing(path, format))
    return report


def _nothing(path: Path, format: str | None) -> str:
    if not path.exists():
        return f"{path}: is not there."
    return f"{path}: holds no runs of a known format ({format or ', '.join(formats())})."
