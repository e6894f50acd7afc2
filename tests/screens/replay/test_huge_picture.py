"""A picture of more pixels than any screen: a sentence at import, in Replay and in the commands, never its pixels."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PIL import Image

from lab.core.run.run_records import Blob, Imported, number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import Ended, Started, Step
from lab.core.settings import Settings
from lab.core.task.task import Actor, Task
from screens.app import LabApp
from screens.navigation import Opening
from screens.replay.replay import ReplayScreen
from store.store import Store
from tests.bounded import MB, bounded, linux_only
from tests.screens.runs import painted

SIDE = 13_000


def huge() -> bytes:
    """A black PNG of 169 million pixels in 20 KB."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(bytes((SIDE + 7) // 8 + 1)) for _ in range(SIDE)) + packer.flush()
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def run_of(picture: Blob) -> Imported:
    before = Observation(picture.sha256, (1080, 2400))
    started = Started(trace="huge", task=Task("t", "general", instruction="x"), agent=Actor("model", "m"))
    step = Step(index=0, proposed=Proposed(Action("click", (5, 5)), "I tap."), before=before)
    return Imported(number_events([started, step, Ended(status="completed")]), {picture.sha256: picture}, [])


async def test_replay_says_why_it_is_not_drawn(
    store: Store, until: Callable[..., Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.runs.add(run_of(Blob(huge(), "image/png")))
    decode = Image.Image.load
    sizes: list[tuple[int, int]] = []

    def load(image: Image.Image) -> object:
        sizes.append(image.size)
        return decode(image)

    monkeypatch.setattr(Image.Image, "load", load)
    app = LabApp(store, Settings(), Opening("replay", "huge", 1))
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and "13,000 x 13,000 pixels" in painted(app))
    assert (SIDE, SIDE) not in sizes


@linux_only
def test_what_looks_private_in_it_is_told_within_bounds(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add(run_of(Blob(huge(), "image/png")))
    args = ("privacy", "huge", "--text", "tap", "--as", "A1", "--db", "lab.db")
    for done in (bounded("privacy", "huge", "--show", "--db", "lab.db", cwd=tmp_path, memory=700 * MB),
                 bounded(*args, cwd=tmp_path, memory=700 * MB)):  # fmt: skip
        assert "Warning" not in done.err
        assert "Traceback" not in done.err


@linux_only
def test_an_import_keeps_a_sentence_in_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "Task"
    (folder / "screenshots").mkdir(parents=True)
    step = {"task_goal": "g", "step": 1, "prediction": "Action: x", "action": {"action_type": "wait"}}
    (folder / "traj.json").write_text(json.dumps({"0": {"traj": [step]}}))
    (folder / "screenshots" / "Task-0-1.png").write_bytes(huge())
    done = bounded("import", "in", "--db", "lab.db", "--json", cwd=tmp_path, memory=700 * MB)
    assert json.loads(done.out)["imported"] == 1
    with Store.open(tmp_path / "lab.db", readonly=True) as store:
        (run,) = store.runs.summaries()
        (step_,) = store.runs.trace(run.id).steps
    assert step_.before.image is None
    assert "is a picture of 13,000 x 13,000 pixels, more than the" in step_.extra["screenshot"]
