"""How a batch of runs gets on: a bar on a terminal's standard error, a plain line per run elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab.plain import plain
from lab.trace import AnyEvent, Step

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from lab.commands.attempts import Attempt


class Progress:
    """Counts runs of `total`; `bar` draws them where there is one."""

    def __init__(self, tasks: int, most: int, bar: Bar | None) -> None:
        self.total = tasks * most
        self._most = most
        self._over = 0
        self._bar = bar
        self._row = bar.add_task("", total=self.total) if bar is not None else None

    def watch(self, task: str, number: int) -> Callable[[AnyEvent | None], None]:
        """What shows a run's steps as they come."""

        def on_event(event: AnyEvent | None) -> None:
            if self._bar is not None and self._row is not None and isinstance(event, Step):
                self._bar.update(self._row, description=self._named(task, number) + f" · step {event.index + 1}")

        return on_event

    def done(self, task: str, attempt: Attempt) -> None:
        """One run is over."""
        self._over += 1
        score = "no score" if attempt.score is None else f"score {attempt.score:g}"
        line = f"{self._over}/{self.total} {self._named(task, attempt.attempt)}: {attempt.status}, {score}"
        line += f", {attempt.steps} step{'' if attempt.steps == 1 else 's'}, {attempt.seconds:.1f} s"
        line += f": {plain(attempt.reason, lines=False)}" if attempt.status == "failed" else ""
        if self._bar is None or self._row is None:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        else:
            from rich.text import Text

            self._bar.console.print(Text(line))
            self._bar.advance(self._row)

    def skip(self, count: int) -> None:
        """Runs that are not needed any more."""
        self.total -= count
        if self._bar is not None and self._row is not None:
            self._bar.update(self._row, total=self.total)

    def _named(self, task: str, number: int) -> str:
        return plain(task, lines=False) + (f" attempt {number}" if self._most > 1 else "")


@contextmanager
def progress(tasks: int, most: int) -> Iterator[Progress]:
    """Progress on standard error for as long as the runs go on."""
    if not sys.stderr.isatty():
        yield Progress(tasks, most, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    with bar:
        yield Progress(tasks, most, bar)
