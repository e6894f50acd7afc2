"""Which program this is, and on what it runs: what a number's provenance says of both; no clock, no path, no name."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PARTS = ("annotators", "lab", "store")
"""What numbers come out of; screens change none."""


@cache
def program() -> str:
    """The program's version, and a hash of all its code and protocols that numbers come out of."""
    from importlib.metadata import PackageNotFoundError, version

    whole = hashlib.sha256()
    root = Path(__file__).parents[2]
    for part in _PARTS:
        paths = [path for end in ("*.py", "*.yaml") for path in (root / part).rglob(end)]
        for path in sorted(paths, key=lambda path: path.relative_to(root).as_posix()):
            whole.update(path.relative_to(root).as_posix().encode() + b"\n" + path.read_bytes() + b"\n")
    try:
        release = version("hitlab")
    except PackageNotFoundError:
        release = "unknown"
    return f"hitlab {release}, code {whole.hexdigest()[:16]}"


@cache
def platform() -> str:
    """The interpreter, numpy, the system and the machine's kind: what the last bits of a number may depend on."""
    import platform as here
    from importlib.metadata import version

    python = f"{here.python_implementation()} {here.python_version()}"
    return f"{python}, numpy {version('numpy')}, {here.system()} {here.machine()}"
