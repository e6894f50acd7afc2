"""What stops a reader, told as a `Failed` instead of raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps

from lab.errors import LabError
from lab.records import Imported
from store.formats import Failed, Found, Known

Reads = Callable[[Found, Callable[[str], bool]], Iterator[Imported | Known | Failed]]


def failures_told(read: Reads) -> Reads:
    """A `Format.read` that ends with a `Failed` of what it was to read where a `LabError` or an `OSError` stops it."""

    @wraps(read)
    def told(found: Found, known: Callable[[str], bool]) -> Iterator[Imported | Known | Failed]:
        try:
            yield from read(found, known)
        except LabError as error:
            yield Failed(str(found.path), error.sentence)
        except OSError as error:
            yield Failed(str(found.path), f"{error.filename}: cannot be read ({error.strerror}).")

    return told
