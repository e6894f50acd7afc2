"""Download of a pinned scrcpy server into the cache, verified by its hash."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import re
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import msgspec

from lab.core.errors import LabError
from lab.core.text.plain_text import plain
from lab.core.values.made_files import make_folder
from lab.devices.adb.socket_io import Deadline
from lab.devices.scrcpy.scrcpy_server import PINNED, cache

RELEASES = "https://github.com/Genymobile/scrcpy/releases/download"
"""Project's own release page, which holds vX.Y/scrcpy-server-vX.Y."""

DEFAULT = "3.3.4"

_MOST = 1 << 23
_REDIRECTS = 5
_SILENCE = 15.0
_CHUNK = 1 << 16


class Fetched(msgspec.Struct, frozen=True):
    """A scrcpy server in the cache. `fresh` is false if it was there before."""

    path: str
    version: str
    bytes: int
    sha256: str
    fresh: bool


def fetch(
    version: str = DEFAULT, *, base: str = "", env: Mapping[str, str] = os.environ, seconds: float = 120.0
) -> Fetched:
    """Download one version into the cache, from `base` (a mirror of the release page) or the page itself.

    Raise `LabError` if it is not pinned, not available within `seconds`, or not the pinned file. Then nothing is left.
    """
    if version not in PINNED:
        versions = ", ".join(PINNED)
        raise LabError(
            "scrcpy", f"version {plain(version, lines=False)!r} is not pinned.", f"Pinned are {versions}.", code=2
        )
    pinned_sha = PINNED[version]
    path = cache(env) / f"scrcpy-server-v{version}"
    there = _digest(path)
    if there == pinned_sha:
        return Fetched(str(path), version, path.stat().st_size, pinned_sha, False)
    address = f"{(base or RELEASES).rstrip('/')}/v{version}/{path.name}"
    data = _download(address, Deadline(seconds))
    sha = hashlib.sha256(data).hexdigest()
    if sha != pinned_sha:
        hint = "Nothing was kept. A proxy or mirror may have changed it: try again from another network."
        raise LabError("scrcpy", f"{address} is not the pinned file: SHA-256 {sha}, not {pinned_sha}.", hint)
    _write(path, data)
    return Fetched(str(path), version, len(data), pinned_sha, True)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _download(address: str, deadline: Deadline) -> bytes:
    """Return an address's contents. Raise `LabError` if it is missing, too large, or breaks off."""
    if not re.match(r"https?://[^\s/]", address):
        raise LabError("scrcpy", f"{plain(address, lines=False)!r} is no http:// or https:// address.", code=2)
    hint = "Nothing was kept. With another way to fetch it, set SCRCPY_SERVER_PATH to the file."
    try:
        with _opener().open(address, timeout=min(_SILENCE, deadline.seconds)) as answer:
            return _read(answer, address, deadline)
    except urllib.error.HTTPError as error:
        error.close()
        raise LabError("scrcpy", f"{address} answered {error.code} {_reason(error)}.", hint) from error
    except TimeoutError as error:
        raise LabError("scrcpy", f"{address} went silent.", hint) from error
    except urllib.error.URLError as error:
        raise LabError("scrcpy", f"{address} cannot be reached ({_reason(error)}).", hint) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise LabError("scrcpy", f"{address} broke off ({_reason(error)}).", hint) from error


def _read(answer: http.client.HTTPResponse, address: str, deadline: Deadline) -> bytes:
    length = answer.headers.get("Content-Length", "")
    whole = int(length) if length.isdigit() else None
    data = bytearray()
    while chunk := answer.read1(_CHUNK):
        data += chunk
        if len(data) > _MOST:
            raise LabError("scrcpy", f"{address} is more than {_MOST:,} bytes: no scrcpy server.", "Nothing was kept.")
        if deadline.seconds_left <= 0:
            raise LabError("scrcpy", f"{address} was not had within {deadline.seconds:g} s.", "Nothing was kept.")
    if whole is not None and len(data) < whole:
        raise LabError("scrcpy", f"{address} broke off after {len(data):,} of {whole:,} bytes.", "Nothing was kept.")
    return bytes(data)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Handler that follows a few redirects, never from https to http."""

    max_redirections = _REDIRECTS

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not newurl.startswith(("https:", req.full_url.partition("/")[0])):
            raise urllib.error.URLError("it leads away from https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener for http and https only: a redirect cannot lead to a file or to ftp."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    opener.addheaders = [("User-Agent", "hitlab")]
    return opener


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return plain(" ".join(str(words).split()))


def _write(path: Path, data: bytes) -> None:
    """Write a file atomically and durably."""
    descriptor = -1
    try:
        make_folder(path.parent)
        descriptor, name = tempfile.mkstemp(prefix=".fetching-", dir=path.parent)
    except OSError as error:
        raise LabError("scrcpy", f"{path.parent} cannot be written ({plain(error.strerror or '')}).") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise LabError("scrcpy", f"{path} cannot be written ({plain(error.strerror or '')}).") from error
