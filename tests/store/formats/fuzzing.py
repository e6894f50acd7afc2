"""Spoilt sources, and what must hold however they are spoilt; `test_fuzz` tries some, `bench_fuzz` many.

A source is spoilt by its seed alone, so that a case can be tried again. What must hold: no exception, whole runs or
none of them, the same again when it is tried again, no code run, nothing read from or written to elsewhere.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import shutil
import signal
import sqlite3
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from lab.core.run.trace import fold
from store.runs.run_import import ImportReport, import_paths
from store.store import Store
from tests.store.formats.samples import Files, episodes, png, tfrecord

SECRET = b"the secret that lies outside"
SECONDS = 30
"""Processor time that one case may take at the very most."""


class Outside:
    """What lies beside a source and is none of its business: a secret to be read, a place to be written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.secret = folder / "secret.png"
        self.secret.write_bytes(png(7) + SECRET)
        self.secret.with_suffix(".json").write_bytes(b'{"0": {"traj": [{"task_goal": "' + SECRET + b'"}]}}')
        self.canary = folder / "canary"

    def entries(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}


def laid(folder: Path, files: Files) -> None:
    """Writes files into a new folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def survives(source: Path, work: Path, outside: Outside, template: Path) -> ImportReport:
    """Takes a spoilt source in, twice, and checks all that must hold; gives what came of it."""
    db = work / "lab.db"
    shutil.copyfile(template, db)
    before, beside = _seen(source), outside.entries()
    here, sources = sorted(os.listdir(".")), sorted(os.listdir(source.parent))
    with _in_time(), Store.open(db) as store:
        report = import_paths(store, [source])
        check_whole(store)
        assert len(store.runs.summaries()) == report.imported
        again = import_paths(store, [source])
        assert again.imported == 0, "imported twice"
        assert (len(again.failed), again.skipped) == (len(report.failed), report.imported + report.skipped)
        held = b"".join(bytes(value) for (value,) in store.database.read("SELECT bytes FROM blob"))
        held += "".join(body for (body,) in store.database.read("SELECT body FROM event")).encode()
    assert SECRET not in held, "read from outside"
    assert all("\n" not in failed.error and failed.error for failed in report.failed)
    assert not outside.canary.exists(), "code was run"
    assert outside.entries() == beside, "written outside"
    assert _seen(source) == before, "the source was changed"
    assert (sorted(os.listdir(".")), sorted(os.listdir(source.parent))) == (here, sources), "written elsewhere"
    for path in work.glob("lab.db*"):
        path.unlink()
    return report


def check_whole(store: Store) -> None:
    """Every run of a file is one: its events in order from first to last, and nothing without a run."""
    assert store.check() == []
    for run in store.runs.summaries():
        events = list(store.runs.events(run.id))
        assert [event.seq for event in events] == list(range(len(events)))
        trace = fold(events)
        assert [step.index for step in trace.steps] == list(range(len(trace.steps)))
        store.runs.verdicts(run.id)
        assert all(store.runs.blob(sha256) is not None for sha256 in store.runs.blob_ids(run.id))


def _seen(folder: Path) -> list[tuple[str, int, int]]:
    found = []
    for here, below, names in os.walk(folder):
        for name in (*below, *names):
            about = os.lstat(os.path.join(here, name))
            found.append((os.path.join(here, name), about.st_size, about.st_mtime_ns))
    return sorted(found)


class TooLong(BaseException):
    """A reader that does not come to an end; no `Exception`, so that nobody takes it for a reader's own."""


@contextmanager
def _in_time() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise TooLong

    old = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)


# -- spoiling ---------------------------------------------------------------------------------------------------


def nested(depth: int, inner: str = "1", opens: str = "[", closes: str = "]") -> str:
    return opens * depth + inner + closes * depth


NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, -(2**63), 2**63, 2**64, 10**40, 1e308, -1e308, float("nan"), float("inf"), "",
    "0", "-7", "nan", "1e999", "١٢", "../../../../outside/secret.png", "/etc/passwd", "~/x", "a\0b", "\ud83d",
    "␛", "\x1b[31m", "[bold]", "x" * 70_000, "[" * 3000, "(" * 400, "{'a': " * 90, "9" * 5000, [], {}, [None], [[]],
    {"": None}, [1, 2, 3, 4, 5], ["x"] * 3, {"a": {"b": {"c": [1]}}}, [[1e308, -1e308]], [float("nan")] * 4,
    json.loads(nested(150)), {"action_type": None}, {"type": "computer"}, [{}], [{"x": "y"}], "2025-99-99T99:99:99",
    "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00-23:59", "[0, 0", "[[[[", "tap(", "tap(99999999999999999999)",
    "click(coordinates=(", "swipe(1, 'up')", "__import__('os').system('x')",
)  # fmt: skip


def spoilt(folder: Path, files: Files, random: Random, outside: Outside) -> str:
    """Writes files into a new folder and spoils one to three things; gives what was done, in words."""
    names = sorted(files)
    held = dict(files)
    done = []
    for _ in range(random.randint(1, 3)):
        name = random.choice(names)
        if name in held:
            how = random.choice(_OF_BYTES)
            held[name] = how(held[name], random)
            done.append(f"{how.__name__} {name}")
    laid(folder, held)
    if random.random() < 0.3:
        how_laid = random.choice(_OF_FILES)
        path = folder / random.choice(names)
        done.append(f"{how_laid.__name__} {path.name}")
        how_laid(path, random, outside)
    return ", ".join(done)


def flip(data: bytes, random: Random) -> bytes:
    spoil = bytearray(data)
    for _ in range(random.randint(1, 8) if spoil else 0):
        spoil[random.randrange(len(spoil))] ^= 1 << random.randrange(8)
    return bytes(spoil)


def flip_inside(data: bytes, random: Random) -> bytes:
    """Flips what is packed, and packs it again, a TFRecord with the sum that belongs to it."""
    if data[:2] != b"\x1f\x8b":
        return flip(data, random)
    inner = _unpacked(data)
    if _is_record(inner):
        return gzip.compress(tfrecord(flip(inner[12:-4], random)), mtime=0)
    return gzip.compress(flip(inner, random), mtime=0)


def _is_record(data: bytes) -> bool:
    return len(data) > 16 and int.from_bytes(data[:8], "little") == len(data) - 16


def cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def cut_inside(data: bytes, random: Random) -> bytes:
    return gzip.compress(cut(_unpacked(data), random), mtime=0) if data[:2] == b"\x1f\x8b" else cut(data, random)


def doubled(data: bytes, random: Random) -> bytes:
    at, to = sorted((random.randrange(len(data) + 1), random.randrange(len(data) + 1)))
    return data[:to] + data[at:to] + data[to:]


def nothing(data: bytes, random: Random) -> bytes:
    return random.choice(
        (b"", b"\0" * 64, b"{}", b"[]", b"null", b"\xff\xfe", b"\x1f\x8b", b"PK\x03\x04", b"\x89PNG\r\n")
    )


def deep(data: bytes, random: Random) -> bytes:
    depth = random.choice((100, 250, 3000, 100_000))
    return random.choice((nested(depth), nested(depth, '{"a": 1}'), nested(depth, "1", '{"0":', "}"))).encode()


def value(data: bytes, random: Random) -> bytes:
    """Puts a nasty value in the place of one to four of a JSON document's own, at any depth."""

    def swap(document: Any) -> Any:
        for _ in range(random.randint(1, 4)):
            document = replaced(document, random, lambda _: random.choice(NASTY))
        return document

    return changed(data, swap, random)


def key(data: bytes, random: Random) -> bytes:
    """Takes fields away from, or moves items around in, a JSON document."""

    def swap(document: Any) -> Any:
        def one(held: Any) -> Any:
            if isinstance(held, dict) and held:
                gone = random.choice(list(held))
                return {name: value for name, value in held.items() if name != gone}
            if isinstance(held, list) and held:
                return random.choice((held[::-1], held[1:], held * 2, [*held, None], [*held, held]))
            return random.choice(NASTY)

        return replaced(document, random, one)

    return changed(data, swap, random)


def replaced(document: Any, random: Random, how: Callable[[Any], Any]) -> Any:
    """A document with one of its values replaced, chosen by going down a random way."""
    if isinstance(document, dict) and document and random.random() < 0.85:
        at = random.choice(list(document))
        return {name: replaced(value, random, how) if name == at else value for name, value in document.items()}
    if isinstance(document, list) and document and random.random() < 0.85:
        i = random.randrange(len(document))
        return [replaced(value, random, how) if i == k else value for k, value in enumerate(document)]
    return how(document)


def changed(data: bytes, swap: Callable[[Any], Any], random: Random) -> bytes:
    """A file with its JSON changed, also where it is packed, a line of several, in a zip or in a pickle."""
    if data[:2] == b"\x1f\x8b":
        inner = _unpacked(data)
        if _is_record(inner):
            return flip_inside(data, random)
        return gzip.compress(changed(inner, swap, random), mtime=0)
    if data[:2] == b"PK":
        return _changed_zip(data, swap, random)
    if data[:1] == b"\x80":
        return pickle.dumps(swap(episodes())) if data == pickle.dumps(episodes()) else data
    try:
        return _dumped(swap(json.loads(data)))
    except (ValueError, RecursionError):
        pass
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    try:
        lines[at] = _dumped(swap(json.loads(lines[at])))
    except (ValueError, RecursionError):
        return flip(data, random)
    return b"\n".join(lines)


def _changed_zip(data: bytes, swap: Callable[[Any], Any], random: Random) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as log:
            entries = {name: log.read(name) for name in log.namelist()}
    except (zipfile.BadZipFile, ValueError, OSError, zlib.error, NotImplementedError, EOFError):
        return flip(data, random)
    if not entries:
        return data
    name = random.choice(sorted(entries))
    try:
        entries[name] = _dumped(swap(json.loads(entries[name])))
    except (ValueError, RecursionError):
        entries[name] = flip(entries[name], random)
    if random.random() < 0.3:
        entries[random.choice(("../../evil.json", "/tmp/evil", "samples/../../x.json", "samples/a\\b.json"))] = b"{}"
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as log:
        for name, entry in entries.items():
            log.writestr(name, entry)
    return kept.getvalue()


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def _unpacked(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return b""


def link_out(path: Path, random: Random, outside: Outside) -> None:
    if path.is_file():
        path.unlink()
        path.symlink_to(random.choice((outside.secret, outside.secret.with_suffix(".json"))))


def link_round(path: Path, random: Random, outside: Outside) -> None:
    if path.is_file():
        path.unlink()
        path.symlink_to(path.name)


def folder_instead(path: Path, random: Random, outside: Outside) -> None:
    if path.is_file():
        path.unlink()
        path.mkdir()


def pipe_instead(path: Path, random: Random, outside: Outside) -> None:
    if path.is_file():
        path.unlink()
        os.mkfifo(path)


def gone(path: Path, random: Random, outside: Outside) -> None:
    path.unlink(missing_ok=True)


def renamed(path: Path, random: Random, outside: Outside) -> None:
    """A name that says something else to a shell, a terminal or a reader of numbers."""
    end = random.choice(
        ("$(touch x).json", "\x1b[2J", "-rf", "9" * 80 + ".png", "٣.png", "a\nb.json", "..json", "-0-99.png")
    )
    if path.exists():
        path.rename(path.with_name(path.stem + end))


def folder_linked_out(path: Path, random: Random, outside: Outside) -> None:
    if path.parent.is_dir() and not (path.parent / "screenshots").exists():
        (path.parent / "screenshots").symlink_to(outside.folder)


_OF_BYTES = (
    flip,
    flip_inside,
    cut,
    cut_inside,
    doubled,
    nothing,
    deep,
    value,
    value,
    value,
    value,
    value,
    key,
    key,
    key,
)
_OF_FILES = (link_out, link_round, folder_instead, pipe_instead, gone, renamed, folder_linked_out)


def empty_store(path: Path) -> Path:
    """A laid file to be copied for each case, so that none pays for laying one."""
    Store.open(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path
