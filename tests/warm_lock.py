"""One at a time begins or ends a server of warm processes."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """No other process begins or ends a server meanwhile."""
    folder = os.open(Path(__file__).parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
