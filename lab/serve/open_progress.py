"""How far studies are, for those who watch them in a browser: read on a thread of its own, remembered for a moment."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from lab.core.study import Study
from lab.core.study_progress import StudyProgress
from lab.studies.study_progress import ProgressReader
from store.store import Store

_FRESH = 2.0
"""Seconds for which what was read is shown again: many who watch cost no more than one."""


class OpenProgress:
    """Reads how far a study is. The file is read on one thread of its own, never on the server's loop."""

    def __init__(self, store: Store) -> None:
        self._reader = ProgressReader(store)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="progress")
        self._read: dict[str, tuple[float, StudyProgress]] = {}
        """When each study was read last, by its hash, and what was read."""

    async def read(self, study: Study) -> StudyProgress:
        """How far a study is now; `LabError` where the file cannot be read."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._fresh, study)

    def _fresh(self, study: Study) -> StudyProgress:
        read_at, progress = self._read.get(study.sha, (float("-inf"), None))
        if progress is None or time.monotonic() - read_at > _FRESH:
            progress = self._reader.read(study)
            self._read[study.sha] = time.monotonic(), progress
        return progress

    def close(self) -> None:
        self._thread.shutdown(wait=True)
