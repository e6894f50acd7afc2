"""AndroidWorld's pickles: `<Task>_<instance>.pkl.gz`, a list of episodes.

Source: `android_world/checkpointer.py`. This module finds the episodes. `unpickling` reads a pickle without running any
of it, and `run` interprets an episode.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.core.codec import escape_surrogates
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.androidworld.run import NAME, AndroidWorldEpisode, imported, is_episode
from store.formats.androidworld.unpickling import unpickle
from store.formats.draft import run_id
from store.formats.files import open_within
from store.formats.image_spool import Spool
from store.formats.stream import FileStream

_MARKS = (b"task_template", b"episode_data")
"""First two fields of an episode besides its goal.

Other fields, such as `exception_info`, occur in many programs' pickles.
"""
_FILE_NAME = re.compile(r"[A-Za-z]\w*_\d+\.pkl\.gz")


def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield every episode of a pickle.

    Pictures are skipped on a first reading if the first episode is known, and read again if another is not.
    """
    path = source.path
    try:
        # The id is of the packed file, so that a known file is unpickled without its pictures.
        digest = _file_digest(path, source.root)
        spool = None if is_known(_episode_id(digest, 0)) else Spool()
        episodes = _episodes(path, source.root, spool)
        if spool is None and not all(is_known(_episode_id(digest, i)) for i in range(len(episodes))):
            spool = Spool()
            episodes = _episodes(path, source.root, spool)
    except LabError as error:
        yield FailedRun(str(path), error.sentence)
        return
    for i, fields in enumerate(episodes):
        yield _read_episode(path, digest, i, fields, spool, is_known)


def _read_episode(
    path: Path, digest: bytes, i: int, fields: Any, spool: Spool | None, is_known: Callable[[str], bool]
) -> Imported | KnownRun | FailedRun:
    id, source_path, place = _episode_id(digest, i), escape_surrogates(str(path)), f"{path}#{i}"
    if is_known(id) or spool is None:
        return KnownRun(id, source_path)
    try:
        if not is_episode(fields):
            raise LabError(place, "is no episode: field episode_data is not there")
        return imported(AndroidWorldEpisode(id, source_path, place, digest.hex(), fields), spool)
    except LabError as error:
        return FailedRun(place, error.sentence)
    except (MemoryError, RecursionError):
        return FailedRun(place, f"{place}: holds more than this machine has room for.")


def _episodes(path: Path, root: Path, spool: Spool | None) -> list[Any]:
    """Return the episodes of a pickle: from a list, a single episode, or a list beside the names of finished tasks."""
    with FileStream(path, root) as stream:
        value = unpickle(stream, spool)
    if isinstance(value, tuple) and value and isinstance(value[0], list):
        value = value[0]
    episodes = value if isinstance(value, list) else [value]
    if not any(is_episode(one) for one in episodes):
        raise LabError(str(path), "is a pickle that holds no episodes of AndroidWorld")
    return episodes


def _episode_id(digest: bytes, i: int) -> str:
    return run_id(NAME, str(i), digest)


def _file_digest(path: Path, root: Path) -> bytes:
    try:
        with open_within(root, path) as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise LabError(str(path), f"cannot be read ({error.strerror})") from error


def _is_pickle(candidate: CandidateFile) -> bool:
    """Return True for a pickle that contains an episode's fields, or is named as the benchmark does even if damaged."""
    if not candidate.name.endswith((".pkl.gz", ".pickle.gz", ".pkl", ".pickle")):
        return False
    if all(mark in candidate.opening for mark in _MARKS):
        return True
    return _FILE_NAME.fullmatch(candidate.name) is not None and not candidate.opening.startswith(b"\x80")


ANDROIDWORLD = Format(
    name=NAME,
    title="AndroidWorld",
    is_run_folder=lambda folder, names, root: False,
    is_file=_is_pickle,
    read=read,
)
