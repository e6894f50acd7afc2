"""Raise the limit of open files, which bounds the number of connections."""

from __future__ import annotations

import resource
from contextlib import suppress

_FILES = 65_536


def allow_many_files() -> None:
    """Raise the soft limit of open files as far as the system allows, up to `_FILES`."""
    with suppress(ValueError, OSError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
        if soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
