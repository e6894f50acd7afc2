"""How many connections this process may hold."""

from __future__ import annotations

import resource
from contextlib import suppress

_FILES = 65_536


def allow_many_files() -> None:
    """Lets this process hold as many connections as the system allows it."""
    with suppress(ValueError, OSError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
        if soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
