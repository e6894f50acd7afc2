"""Conversion of a reader's errors into `FailedRun`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps

from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from store.formats import FailedRun, KnownRun, RunSource

Reads = Callable[[RunSource, Callable[[str], bool]], Iterator[Imported | KnownRun | FailedRun]]


def with_failures(read: Reads) -> Reads:
    """Decorate a `Format.read`: a `LabError` or `OSError` ends it with a `FailedRun` of its source."""

    @wraps(read)
    def read_with_failures(
        source: RunSource, is_known: Callable[[str], bool]
    ) -> Iterator[Imported | KnownRun | FailedRun]:
        try:
            yield from read(source, is_known)
        except LabError as error:
            yield FailedRun(str(source.path), error.sentence)
        except OSError as error:
            yield FailedRun(str(source.path), f"{error.filename}: cannot be read ({error.strerror}).")

    return read_with_failures
