"""Lock between processes, so that two do not pay for the same model answers.

The owner holds an flock() on a file in the temporary folder. It ends with the process, even if killed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.values.made_files import open_descriptor
from store.file.leftovers import is_same_file, lock


@contextmanager
def process_lock(database: Path, *work: str | int, title: str, does: str) -> Iterator[None]:
    """Hold the lock for a piece of paid work within the block. Raise `LabError` if another process `does` it.

    If the lock file cannot be created, run without a lock.
    """
    key = hashlib.sha256(encode([str(database.resolve()), *work])).hexdigest()[:32]
    path = Path(tempfile.gettempdir()) / f"hitlab-{key}.lock"
    with ExitStack() as stack:
        while True:  # until nobody removed it between creation and lock
            try:
                handle = open_descriptor(path, os.O_RDWR | os.O_NOFOLLOW)
            except OSError:
                yield
                return
            stack.callback(os.close, handle)
            if not lock(handle):
                hint = "Both would pay for the same answers. Once it has ended, the same line goes on."
                raise LabError(title, f"another process {does} now.", hint)
            if is_same_file(path, handle):
                break
        # Callbacks run in reverse order: the file is removed while its lock is still held.
        stack.callback(path.unlink, missing_ok=True)
        yield
