"""Pictures outside a hitlab file: links to files in the folder of an import.

Such a file may be moved, changed or replaced at any time. Only the very bytes that were imported count as the picture.
"""

from __future__ import annotations

import errno
import hashlib
import stat
from pathlib import Path
from typing import NamedTuple

from lab.core.codec import unescape_surrogates
from lab.core.run.input_limits import PICTURE_BYTES
from lab.core.run.run_records import Blob
from store.file.database import Database

_OUTSIDE = "SELECT count(DISTINCT sha256) FROM link WHERE sha256 NOT IN (SELECT sha256 FROM blob)"
_LINKS = "SELECT sha256, mime, size, path FROM link"
_MAX_NAMED = 20


class ImageLink(NamedTuple):
    """Path of a linked picture with its hash, MIME type and `size` in bytes."""

    sha256: str
    mime: str
    size: int
    path: str

    def blob(self) -> Blob | None:
        """Return the picture's bytes, or None if the file is gone, not a regular file, or has other content."""
        path = Path(unescape_surrogates(self.path))
        try:
            about = path.stat()
            if not stat.S_ISREG(about.st_mode) or about.st_size != self.size or self.size > PICTURE_BYTES:
                return None
            with path.open("rb") as file:
                # One byte more shows that the file has grown since stat().
                data = file.read(self.size + 1)
        except (OSError, ValueError):  # a path with a null in it is a ValueError
            return None
        return Blob(data, self.mime) if hashlib.sha256(data).hexdigest() == self.sha256 else None

    def problem(self) -> str:
        """Return a sentence that says why the link no longer gives the picture."""
        return f"the linked picture {self.path} {self._problem()}"

    def _problem(self) -> str:
        path = Path(unescape_surrogates(self.path))
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                return "is gone"
            with path.open("rb"):
                return "has changed"
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return "is gone"
        except OSError as error:
            # A loop of symbolic links leads to no file.
            return "is gone" if error.errno == errno.ELOOP else f"cannot be read ({error.strerror})"


class Links:
    """Links of a file's runs to pictures outside it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def for_picture(self, sha256: str) -> list[ImageLink]:
        """Return the links to a picture, empty if none. A blob in the file takes precedence."""
        return [
            ImageLink(*row)
            for row in self._database.rows_in("link", f"{_LINKS} WHERE sha256 = ? ORDER BY rowid", sha256)
        ]

    def count_outside(self) -> int:
        """Return the number of pictures that exist only outside the file."""
        rows = self._database.rows_in("link", _OUTSIDE)
        return int(rows[0][0]) if rows else 0

    def has_picture(self, sha256: str) -> bool:
        """Return True if a picture's bytes are in the file or it is linked."""
        return bool(self._database.read("SELECT 1 FROM blob WHERE sha256 = ?", sha256)) or bool(
            self.for_picture(sha256)
        )

    def count_missing(self) -> tuple[int, int, str]:
        """Count pictures that are neither stored nor linked, and their runs. Also return one such run's id."""
        linked = {sha256 for (sha256,) in self._database.rows_in("link", "SELECT DISTINCT sha256 FROM link")}
        rows = self._database.read(
            "SELECT trace, sha256 FROM use WHERE NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = use.sha256)"
        )
        lost = [(trace, sha256) for trace, sha256 in rows if sha256 not in linked]
        return len({sha256 for _, sha256 in lost}), len({trace for trace, _ in lost}), lost[0][0] if lost else ""

    def complete(self, trace_id: str, *, link: bool) -> bool:
        """Return True if a run is in the file with all its pictures. With `link`, existing linked files count, too.

        A linked file's size is compared, its content is not read.
        """
        if not self._database.read("SELECT 1 FROM trace WHERE id = ?", trace_id):
            return False
        missing = self._database.read(
            "SELECT sha256 FROM use WHERE trace = ? AND NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = use.sha256)",
            trace_id,
        )
        if not link:
            return not missing
        return all(any(_has_same_size(one) for one in self.for_picture(sha256)) for (sha256,) in missing)

    def blob(self, sha256: str) -> Blob | None:
        """Return a linked picture's bytes, or None if no file has them any more."""
        blobs = (link.blob() for link in self.for_picture(sha256))
        return next((blob for blob in blobs if blob is not None), None)

    def lost(self) -> list[ImageLink]:
        """Return one link for each picture that is only linked and whose files are all gone or changed."""
        pictures: dict[str, list[ImageLink]] = {}
        for row in self._database.rows_in(
            "link", f"{_LINKS} WHERE sha256 NOT IN (SELECT sha256 FROM blob) ORDER BY rowid"
        ):
            pictures.setdefault(row[0], []).append(ImageLink(*row))
        return [links[0] for links in pictures.values() if all(link.blob() is None for link in links)]

    def problems(self) -> list[str]:
        """Return a sentence for each lost picture, after the first twenty only their number."""
        lost_links = self.lost()
        sentences = [link.problem() for link in lost_links[:_MAX_NAMED]]
        more = len(lost_links) - len(sentences)
        return [*sentences, f"{more} more linked pictures are gone or have changed"] if more else sentences


def _has_same_size(link: ImageLink) -> bool:
    try:
        return Path(unescape_surrogates(link.path)).stat().st_size == link.size
    except (OSError, ValueError):
        return False
