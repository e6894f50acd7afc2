"""Forty thousand of one character, in any text of any source: it is read, or refused, but nothing hangs."""

from __future__ import annotations

import gzip
import json
import pickle
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.run_records import Imported
from store.formats import FailedRun, read
from tests.crossed import IN_SOAK, crossed, soak
from tests.store.formats.fuzzing import laid
from tests.store.formats.samples import Files, episodes, samples

COUNT = 40_000
CHARACTERS = "\n \t-_.'\"({a0"
RUNS = "\n".join(f"x{char * COUNT}" for char in CHARACTERS)
"""Time that grows with the square of a run takes a dozen seconds for one of these."""
RUNS_IN_JSON = json.dumps(RUNS)[1:-1].encode()
HANGING = 10
"""Seconds of the processor, which do not go by while other programs have it."""
SOON = 5
"""Such seconds within which a source is read."""
_VALUE = re.compile(rb'"((?:[^"\\]|\\.)*)"(?!\s*:)')
_PLAIN = (".txt", ".log", ".md", ".csv")


@contextmanager
def guarded(seconds: float = HANGING) -> Iterator[None]:
    """Ends what hangs; what does not takes a tenth of a second."""

    def ring(*_: object) -> None:
        raise AssertionError("it hangs")

    old = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)


def lengthened(data: bytes, found: re.Match[bytes], *, after: bool) -> bytes:
    """JSON with the runs before or after one of its texts."""
    runs = found[1] + RUNS_IN_JSON if after else RUNS_IN_JSON + found[1]
    return data[: found.start(1)] + runs + data[found.end(1) :]


def variants(name: str, data: bytes) -> Iterator[bytes]:
    """A file with the runs in each of its texts in turn, behind or before it (in a soak both); packed as it was."""
    if data[:2] == b"\x1f\x8b":
        yield from (gzip.compress(one, 1) for one in variants(name.removesuffix(".gz"), gzip.decompress(data)))
    elif name.endswith(_PLAIN):
        yield RUNS.encode() + data
        for line in sorted(set(data.splitlines(keepends=True))):
            yield data.replace(line, line.rstrip(b"\n") + RUNS.encode() + b"\n", 1)
    elif name.endswith((".json", ".jsonl")):
        texts = {
            re.sub(rb"\d", b"0", data[max(0, found.start() - 16) : found.end()]): found
            for found in _VALUE.finditer(data)
        }
        for number, found in enumerate(texts.values()):
            for after in (True, False) if IN_SOAK else (number % 2 == 0,):
                yield lengthened(data, found, after=after)


SAMPLES = samples()
CASES = [
    (sample, name)
    for sample, files in SAMPLES.items()
    for name in files
    if sample != "jsonl" and not name.endswith((".png", ".jpg"))
]


@soak
@crossed
@pytest.mark.parametrize(("sample", "name"), CASES, ids=[f"{sample}:{name}"[:60] for sample, name in CASES])
def test_no_text_of_a_source_can_hang_its_reader(tmp_path: Path, sample: str, name: str) -> None:
    files: Files = SAMPLES[sample]
    laid(tmp_path / "in", files)
    for data in variants(name, files[name]):
        (tmp_path / "in" / name).write_bytes(data)
        with guarded(SOON):
            found = list(read(tmp_path / "in"))
        assert all(isinstance(one, Imported | FailedRun) for one in found)


OUTPUTS = [f"Reason:{RUNS}", f"{RUNS}Reason: y\nAction: {{", f"Reason: y{RUNS}\nAction: {RUNS}{{", RUNS]


@pytest.mark.parametrize("column", ["action_output", "summary_prompt", "action_prompt"])
@pytest.mark.parametrize("output", OUTPUTS, ids=["after", "before", "both", "alone"])
def test_no_text_of_a_pickle_can_hang_its_reader(tmp_path: Path, column: str, output: str) -> None:
    episode: dict[str, Any] = next(iter(episodes()))
    columns = {**episode["episode_data"], column: [output] * 2}
    (tmp_path / "T_0.pkl.gz").write_bytes(gzip.compress(pickle.dumps([{**episode, "episode_data": columns}]), 1))
    with guarded(SOON):
        (run,) = read(tmp_path / "T_0.pkl.gz")
    assert isinstance(run, Imported)
