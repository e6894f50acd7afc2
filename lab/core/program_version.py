"""Version of the program and of the platform, for a report's provenance. It has no time, path or user name."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PARTS = ("annotators", "lab", "store")
"""Folders whose code affects numbers. Screens do not."""


@cache
def program() -> str:
    """Return the program's version and a hash of all code and protocols that affect numbers."""
    from importlib.metadata import PackageNotFoundError, version

    whole = hashlib.sha256()
    root = Path(__file__).parents[2]
    for part in _PARTS:
        paths = [path for end in ("*.py", "*.yaml") for path in (root / part).rglob(end)]
        # Sorted by path, so that the hash is the same on every file system.
        for path in sorted(paths, key=lambda path: path.relative_to(root).as_posix()):
            whole.update(path.relative_to(root).as_posix().encode() + b"\n" + path.read_bytes() + b"\n")
    try:
        release = version("hitlab")
    except PackageNotFoundError:
        release = "unknown"
    return f"hitlab {release}, code {whole.hexdigest()[:16]}"


@cache
def platform() -> str:
    """Return interpreter, numpy, system and machine type, on which the last bits of a number may depend."""
    import platform as here
    from importlib.metadata import version

    python = f"{here.python_implementation()} {here.python_version()}"
    return f"{python}, numpy {version('numpy')}, {here.system()} {here.machine()}"
