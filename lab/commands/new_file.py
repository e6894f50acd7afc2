"""A file that a command writes: a new one, which appears whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from lab.errors import LabError

_NO_LINKS = (1, 45, 95, 102)
"""What a folder says that knows no second names for a file: EPERM, and ENOTSUP or EOPNOTSUPP by platform."""


def write_new(out: Path, data: bytes, named: str, nothing: str) -> None:
    """Writes `data` to the file `out`, called `named`; `LabError` where one is there, or none can be."""
    there = LabError(named, f"is there already; {nothing}.", "Name a new file.")
    part = out.parent / f".hitlab.part-{os.getpid()}"
    try:
        if os.path.lexists(out):
            raise there
        part.write_bytes(data)
        try:
            os.link(part, out)  # unlike a renaming it never takes the place of what came meanwhile
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            part.rename(out)
    except FileExistsError:
        raise there from None
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise LabError(named, f"cannot be written ({said}).") from error
    finally:
        _removed(part)


def _removed(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except (OSError, ValueError):
        return  # where nothing could be written, nothing is left
