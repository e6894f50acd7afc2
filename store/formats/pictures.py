"""Pictures of a run being read: hash and size are known at once, bytes are loaded on access."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lab.core.codec import escape_surrogates
from lab.core.errors import LabError
from lab.core.run.input_limits import PICTURE_BYTES
from lab.core.run.run_records import Blob
from lab.core.run.step import Observation
from lab.core.run.ui_tree import UiTree
from lab.core.values.safe_images import repair_picture, size_problem
from store.file.images import has_end_marker, picture_kind, picture_size
from store.formats import RunSource
from store.formats.files import read_within, unreadable_reason

_HELD = 64 * 1024**2
"""Bytes of one run's picture files kept in memory. Others are read again on access."""


class _File(NamedTuple):
    path: Path
    mime: str


class Pictures(Mapping[str, Blob]):
    """A run's pictures by sha256, from picture files and from bytes inside other files."""

    def __init__(self, source: RunSource) -> None:
        self._root = source.root
        self._fallbacks = source.fallbacks
        self._blobs: dict[str, Blob] = {}
        self._files: dict[str, _File] = {}
        self._held_bytes = 0
        self.size = 0
        """Total bytes of the pictures, including those not in memory."""
        self.from_files = False
        """True if any picture is a file of its own."""
        self.truncated: dict[str, str] = {}
        """Pictures whose files are truncated, by sha256, with the reason."""

    def add_file(self, path: Path, tree: UiTree | None = None) -> Observation:
        """Return an observation with a picture file. Raise `LabError` if it is not a picture, too big, or outside."""
        read_bytes = read_within(self._root, path, most=PICTURE_BYTES)
        data, mime = self._check_picture(read_bytes, str(path))
        sha256 = hashlib.sha256(data).hexdigest()
        self.from_files = True
        if not has_end_marker(data):
            self.truncated[sha256] = escape_surrogates(f"{path.name} is cut short")
        if sha256 not in self:
            self.size += len(data)
            if self._held_bytes + len(data) <= _HELD:
                self._held_bytes += len(data)
                # A repaired picture has no path, because no file holds its bytes and could be linked.
                self._blobs[sha256] = Blob(data, mime, str(path.resolve()) if data is read_bytes else "")
            else:
                self._files[sha256] = _File(path, mime)
        return Observation(image=sha256, size=picture_size(data), tree=tree)

    def add_optional(self, path: Path | None, extra: dict[str, Any], tree: UiTree | None = None) -> Observation:
        """Return an observation like `add_file`, but without a picture if the file is missing or unreadable.

        The reason is stored in `extra["screenshot"]`.
        """
        if path is None:
            return Observation(tree=tree)
        try:
            return self.add_file(path, tree)
        except LabError as error:
            extra["screenshot"] = unreadable_reason(path, error)
            return Observation(tree=tree)

    def add_final(self, path: Path, tree: UiTree | None = None) -> Observation:
        """Return the observation after the last step.

        There is no step to record a lost picture, so it is counted at once.
        """
        extra: dict[str, Any] = {}
        observation = self.add_optional(path, extra, tree)
        if why := extra.get("screenshot"):
            self._fallbacks.add("picture", path, why)
        return observation

    def complete_hashes(self, paths: Iterable[Path | None]) -> tuple[str | None, ...]:
        """Return the sha256 of each picture, or None for missing or truncated ones."""
        images = [self.add_optional(path, {}).image for path in paths]
        return tuple(None if image in self.truncated else image for image in images)

    def add(self, data: bytes, tree: UiTree | None = None) -> Observation:
        """Return an observation with a picture given as bytes. Raise `LabError` if they are not a picture."""
        data, mime = self._check_picture(data, "picture")
        blob = Blob(data, mime)
        sha256 = blob.sha256
        if sha256 not in self:
            self.size += len(data)
            self._blobs[sha256] = blob
        return Observation(image=sha256, size=picture_size(data), tree=tree)

    def __getitem__(self, sha256: str) -> Blob:
        if sha256 in self._blobs:
            return self._blobs[sha256]
        path, mime = self._files[sha256]
        data = read_within(self._root, path, most=PICTURE_BYTES)
        blob = Blob(data, mime, str(path.resolve()))
        # The hash is of the repaired bytes. A file that changed since has another one.
        if blob.sha256 != sha256 and (mended := repair_picture(data)):
            blob = Blob(mended.data, mime)
        if blob.sha256 != sha256:
            raise LabError(str(path), "has changed while it was read")
        return blob

    def _check_picture(self, data: bytes, place: str) -> tuple[bytes, str]:
        """Return a picture's bytes, repaired if necessary, and its kind. Count repairs as fallbacks."""
        mime = picture_kind(data)
        if mime is None and (mended := repair_picture(data)):
            self._fallbacks.add("mended picture", place, mended.why)
            data, mime = mended.data, picture_kind(mended.data)
        if mime is None:
            raise LabError(place, "is not a picture")
        if reason := size_problem(picture_size(data)):
            raise LabError(place, reason)
        return data, mime

    def __iter__(self) -> Iterator[str]:
        yield from self._blobs
        yield from self._files

    def __len__(self) -> int:
        return len(self._blobs) + len(self._files)

    def __contains__(self, sha256: object) -> bool:
        return sha256 in self._blobs or sha256 in self._files
