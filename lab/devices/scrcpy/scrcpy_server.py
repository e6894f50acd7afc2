"""Location and version of a scrcpy server on this machine, and the command that starts it on a phone."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.settings import folder
from lab.core.text.plain_text import plain
from lab.devices.scrcpy.scrcpy_codec import Speech, speech

FETCH = "`hitlab settings scrcpy` fetches one."
PLACE = "/data/local/tmp/hitlab-scrcpy-{scid:08x}.jar"
"""Path of the jar on the phone during a session, unique so that it disturbs no other scrcpy."""

PINNED = {
    "3.3.3": "7e70323ba7f259649dd4acce97ac4fefbae8102b2c6d91e2e7be613fd5354be0",
    "3.3.4": "8588238c9a5a00aa542906b6ec7e6d5541d9ffb9b5d0f6e1bc0e365e2303079e",
    "4.0": "84924bd564a1eb6089c872c7521f968058977f91f5ff02514a8c74aff3210f3a",
    "4.1": "deacb991ed2509715160ffdc7907e47b4160eb30d1566217e9047fd5b8850cae",
}
"""SHA-256 of each server that can be fetched, as in scrcpy's own build notes and several projects that pin it."""

_LARGEST = 1 << 23
_LARGEST_DEX = 1 << 25
_VERSION_SENTENCE = re.compile(rb"The server version \((\d+(?:\.\d+){1,3})\) does not match")
"""Sentence of Server.java into which the compiler has folded the version (2.x to 4.x: Options.java)."""
_FETCHED = "fetched"
_VERSIONED_NAME = re.compile(r"-v(\d+(?:\.\d+){1,3})(?:\.jar|\.apk)?$")
_SHARES = (
    "/usr/local/share",
    "/usr/share",
    "/opt/homebrew/share",
    "/opt/local/share",
    "/snap/scrcpy/current/usr/share",
)


class Jar(NamedTuple):
    """A server on this machine: its path, its protocol variant, and the source that it was found in."""

    path: Path
    speech: Speech
    source: str

    def read(self) -> bytes:
        """Return the whole file. Raise `LabError` if it is unreadable, or a fetched one no longer matches its hash."""
        data = _read(self.path)
        if self.source == _FETCHED:
            _check_pinned(self.path, data)
        return data


def find(file: str = "", env: Mapping[str, str] = os.environ) -> Jar:
    """Return the server to use: `file`, else SCRCPY_SERVER_PATH, else the first supported one installed.

    Raise `LabError` if there is none. A named one that is unusable also raises: nothing else replaces it.
    """
    name = file or env.get("SCRCPY_SERVER_PATH", "")
    if name:
        path = Path(name).expanduser()
        try:
            return Jar(path, speech(version_of(path)), "named" if file else "SCRCPY_SERVER_PATH")
        except LabError as error:
            if file:
                raise
            raise LabError(
                error.title, f"SCRCPY_SERVER_PATH: {error.message}", f"Correct or unset it. {FETCH}"
            ) from error
    refusal: LabError | None = None
    for path, source in places(env):
        try:
            if source == _FETCHED:
                _check_pinned(path, _read(path))
            return Jar(path, speech(version_of(path)), source)
        except LabError as error:
            refusal = refusal or LabError("scrcpy", f"{path}: {error.message}", FETCH)
    raise refusal or LabError("scrcpy", "there is no scrcpy server on this machine.", FETCH)


def wished(env: Mapping[str, str] = os.environ) -> bool:
    """Return True if somebody named or fetched a server."""
    return bool(env.get("SCRCPY_SERVER_PATH")) or any(source == _FETCHED for _, source in places(env))


def places(env: Mapping[str, str] = os.environ) -> Iterator[tuple[Path, str]]:
    """Yield each server file and its source, best first: those of an installed scrcpy, then fetched ones."""
    seen = set()
    for path in _installed_paths(env):
        if path.is_file() and path.resolve() not in seen:
            seen.add(path.resolve())
            yield path, "installed scrcpy"
    for path in sorted(cache(env).glob("scrcpy-server-v*"), key=_newest_first):
        if path.is_file() and _VERSIONED_NAME.search(path.name):
            yield path, _FETCHED


def _check_pinned(path: Path, data: bytes) -> None:
    """Raise `LabError` if a cached file does not match the hash pinned for its version."""
    name_match = _VERSIONED_NAME.search(path.name)
    pinned_sha = PINNED.get(name_match[1]) if name_match else None
    sha = hashlib.sha256(data).hexdigest()
    if sha != pinned_sha:
        reason = f"has the SHA-256 {sha}, not {pinned_sha}" if pinned_sha else "is of no version that is pinned"
        raise LabError("scrcpy", f"{path} {reason}.", f"Delete it. {FETCH}")


def cache(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of fetched servers, without creating it."""
    return folder("cache", env) / "scrcpy"


def version_of(path: Path) -> str:
    """Return a server file's version from its contents, else from its file name.

    Raise `LabError` if neither names it.
    """
    data = _read(path)
    try:
        match = _VERSION_SENTENCE.search(_read_classes(data, path))
    except zipfile.BadZipFile as error:
        raise LabError("scrcpy", f"{path} is no scrcpy server.", FETCH) from error
    if match:
        return match[1].decode()
    if name_match := _VERSIONED_NAME.search(path.name):
        return name_match[1]
    raise LabError("scrcpy", f"{path} does not say which version it is.", FETCH)


def command(place: str, speech: Speech, scid: int, **options: str | int | bool) -> str:
    """Return the shell line that runs the server at `place` and removes it when it ends."""
    meta = "send_stream_meta" if speech.sessions else "send_codec_meta"
    server_options: dict[str, str | int | bool] = {"scid": f"{scid:08x}", "log_level": "info", "tunnel_forward": True}
    server_options |= {"audio": False, meta: True, **options}
    words = [f"{key}={_option_value(value)}" for key, value in server_options.items()]
    run = f"CLASSPATH={place} app_process / com.genymobile.scrcpy.Server {speech.version}"
    return " ".join([run, *words]) + f"; rm -f {place}"


def _option_value(value: str | int | bool) -> str:
    word = str(value).lower() if isinstance(value, bool) else str(value)
    assert re.fullmatch(r"[\w.-]*", word), "it stands bare in a shell's line"
    return word


def _installed_paths(env: Mapping[str, str]) -> Iterator[Path]:
    """Yield paths where an installed scrcpy would store its server, existing or not."""
    program = shutil.which("scrcpy", path=env.get("PATH"))
    if program:
        real = Path(program).resolve()
        yield real.parent / "scrcpy-server"
        yield real.parent.parent / "share" / "scrcpy" / "scrcpy-server"
        yield Path(program).parent.parent / "share" / "scrcpy" / "scrcpy-server"
    if brew := env.get("HOMEBREW_PREFIX"):
        yield Path(brew) / "share" / "scrcpy" / "scrcpy-server"
    for share in _SHARES:
        yield Path(share) / "scrcpy" / "scrcpy-server"


def _newest_first(path: Path) -> tuple[int, ...]:
    name_match = _VERSIONED_NAME.search(path.name)
    numbers = tuple(map(int, name_match[1].split("."))) if name_match else (0,)
    return tuple(-number for number in (*numbers, 0, 0, 0, 0)[:4])


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise LabError("scrcpy", f"{path} cannot be read ({plain(error.strerror or '')}).", FETCH) from error
    if len(data) > _LARGEST:
        raise LabError("scrcpy", f"{path} is too large to be a scrcpy server.", FETCH)
    return data


def _read_classes(data: bytes, path: Path) -> bytes:
    """Return the jar's compiled classes joined, never more than a bound, against zip bombs."""
    with zipfile.ZipFile(io.BytesIO(data)) as jar:
        members = [info for info in jar.infolist() if re.fullmatch(r"classes\d*\.dex", info.filename)]
        if not members:
            raise zipfile.BadZipFile
        if sum(info.file_size for info in members) > _LARGEST_DEX:
            raise LabError("scrcpy", f"{path} is too large to be a scrcpy server.", FETCH)
        try:
            return b"".join(jar.open(info).read(_LARGEST_DEX) for info in members)
        except (RuntimeError, NotImplementedError, EOFError, OSError, ValueError, zlib.error) as error:
            raise zipfile.BadZipFile from error
