"""How an import gets on: one line on a terminal's standard error that changes in place, nothing elsewhere."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Told = Callable[[str, Literal["imported", "skipped", "failed"]], None]


@contextmanager
def incoming(size: Callable[[], int]) -> Iterator[Told | None]:
    """What is to be told of each run, for as long as they come; None where nobody watches.

    `size` gives the bytes of the file they go to, which tell how fast it grows.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TransferSpeedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TransferSpeedColumn())
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    before = size()
    counts: Counter[str] = Counter()
    with bar:
        row = bar.add_task("looking for runs", total=None)

        def on_run(name: str, outcome: Literal["imported", "skipped", "failed"]) -> None:
            counts[outcome] += 1
            words = f"{counts['imported']} in, {counts['skipped']} already there, {counts['failed']} failed"
            bar.update(row, description=words, completed=size() - before)

        yield on_run
