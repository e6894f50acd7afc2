"""Reading words from pictures: by the real engine, in a process of its own, kept in the cache folder alone."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from lab.core.errors import LabError
from lab.core.run.ui_tree import Node, UiTree
from lab.core.text.read_text import READ, ReadText, has_no_text, is_from_ocr
from lab.ocr import engine
from lab.ocr.reader import IDLE, TextReader, cache_folder, forget
from simulators.phone.kit.fonts import font_of
from simulators.phone.shots import phone_at
from tests.crossed import soak


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the lab is begun; what is called as hitlab's own worker there leaves a mark if it is run."""
    folder = tmp_path_factory.mktemp("begun")
    (folder / "lab" / "ocr").mkdir(parents=True)
    (folder / "lab" / "ocr" / "worker.py").write_text("open('run', 'w')")
    return folder


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, begun: Path) -> Iterator[Path]:
    """A home in which nothing was read yet."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(begun):
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        patch.setattr("lab.ocr.reader._PATIENCE", 180.0)
        yield home


@pytest.fixture(scope="module")
def reader(home: Path) -> Iterator[TextReader]:
    """One process for all tests that do not end it: loading its models takes seconds."""
    reader = TextReader()
    yield reader
    reader.close()


@pytest.fixture(autouse=True)
def _nothing_known(reader: TextReader) -> None:
    forget()
    reader._known.clear()


@pytest.fixture(scope="module")
def screen() -> tuple[bytes, UiTree]:
    """A screen of settings, and what it says."""
    seen = phone_at("settings", "home", {}).observe()
    return seen.png, seen.tree


@pytest.fixture(scope="module")
def part(screen: tuple[bytes, UiTree]) -> bytes:
    """A row of that screen, for where it is no matter what is read: of a square of this side it takes least time."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(screen[0])) as whole:
        square = Image.new("RGB", (736, 736), "white")
        square.paste(whole.crop((150, 440, 886, 650)), (0, 263))
    square.save(out, "PNG")
    return out.getvalue()


TOP = 96
"""Where the upper half of a screen begins, below the signs of the status bar."""


def upper_half(png: bytes) -> bytes:
    """Half of a screen: reading takes as long as there are pixels and lines."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(png)) as whole:
        whole.crop((0, TOP, whole.width, whole.height // 2)).save(out, "PNG")
    return out.getvalue()


@pytest.fixture(scope="module")
def part_text(reader: TextReader, part: bytes) -> ReadText:
    """What that part says, for tests that ask it for nothing else."""
    return reader.read(sha(part), part, keep=False)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def until(condition: Callable[[], bool], seconds: float = 180.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@soak
def test_a_process_that_was_killed_or_ended_when_nobody_asked_is_begun_again(
    reader: TextReader, part: bytes, request: pytest.FixtureRequest
) -> None:
    """The one that is killed has loaded no engine yet; the one that ends has, and its threads do not hold it."""
    os.kill(reader._running_worker(fresh=False).pid, signal.SIGKILL)
    reader._idle = 0.2
    assert reader.read(sha(part), part).lines
    reader._idle = IDLE
    assert until(lambda: reader.pid is None)
    reader._known.clear()
    forget()
    assert request.getfixturevalue("part_text").lines
    assert reader.pid is not None


def test_it_reads_what_the_screen_says_at_its_place(reader: TextReader, screen: tuple[bytes, UiTree]) -> None:
    whole, tree = screen
    png = upper_half(whole)
    text = reader.read(sha(png), png)
    assert text.engine == engine.engine_name() != ""
    read = {line.text: line.box for line in text.lines}
    both = read.keys() & {node.text for node in tree.nodes()}
    assert len(both) >= 6, sorted(read)
    for words in both:
        x, y = read[words].center
        assert any(node.bounds.contains(x, y + TOP) for node in tree.find(text=words)), words
    assert all(0.5 <= line.sure <= 1 for line in text.lines)


@soak
@pytest.mark.skipif(font_of("\u4e2d") is None, reason="no font of this machine has Chinese, so no picture has any")
def test_chinese_is_read_too(reader: TextReader) -> None:
    png = _chinese()
    text = "".join(line.text for line in reader.read(sha(png), png).lines)
    assert sum("\u4e00" <= char <= "\u9fff" for char in text) > 20


def _chinese() -> bytes:
    from simulators.phone.shots import SCREENS

    _, app, place, args = next(one for one in SCREENS if one[0] == "browser-chinese")
    return phone_at(app, place, args).observe().png


def test_what_was_read_is_known_to_the_next_without_a_process(reader: TextReader, part: bytes, home: Path) -> None:
    text = reader.read(sha(part), part)
    other = TextReader()
    assert other.stored_text(sha(part)) == text
    assert other.read(sha(part), b"it is not looked at again") == text
    assert other.pid is None
    assert other.stored_text(sha(b"another")) is None
    # what was kept is for its owner alone, and damage is no text
    assert cache_folder().stat().st_mode & 0o077 == 0
    (kept,) = cache_folder().rglob("*.json")
    kept.write_bytes(kept.read_bytes()[:-9])
    assert TextReader().stored_text(sha(part)) is None
    assert TextReader().stored_text("../../" + sha(part)) is None
    forget()
    assert TextReader().stored_text(sha(part)) is None
    assert not list(cache_folder().rglob("*"))
    assert [path.name for path in (home / "cache").iterdir()] == ["hitlab"], "nobody else keeps anything there"


def test_no_word_of_it_leaves_the_machine(reader: TextReader, part_text: ReadText, home: Path) -> None:
    assert part_text.lines
    descriptors = Path(f"/proc/{reader.pid}/fd")
    if not descriptors.exists():
        pytest.skip("which sockets a process has is read from /proc")
    assert not [link for link in descriptors.iterdir() if os.readlink(link).startswith("socket:")]
    assert [path.name for path in home.iterdir()] == ["cache"]


@soak
def test_what_is_no_picture_is_a_sentence_and_the_next_is_read_and_where_it_is_not_to_be_kept_on_no_disk(
    reader: TextReader, part: bytes
) -> None:
    with pytest.raises(LabError, match="could not be read"):
        reader.read(sha(b"no picture"), b"no picture")
    with pytest.raises(LabError, match="could not be read"):
        reader.read(sha(part[:2000]), part[:2000])
    assert reader.stored_text(sha(b"no picture")) is None
    assert reader.read(sha(part), part, keep=False).lines
    assert not list(cache_folder().rglob("*.json"))
    assert reader.stored_text(sha(part)) is not None, "it is held in memory"
    assert TextReader().stored_text(sha(part)) is None


def test_nobody_waits_longer_than_they_said_for_the_pictures_of_others(reader: TextReader, part: bytes) -> None:
    with reader._lock, pytest.raises(LabError, match=r"others before it took more than 0\.05 seconds"):
        reader.read(sha(part), part, patience=0.05)
    with pytest.raises(LabError, match="could not be read"):
        reader.read(sha(b"x"), b"x")  # it is asked again


def test_its_threads_sleep_while_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    from omegaconf import OmegaConf
    from rapidocr.inference_engine.onnxruntime.main import OrtInferSession

    monkeypatch.setattr(OrtInferSession, "_init_sess_opts", OrtInferSession._init_sess_opts)
    engine._let_threads_sleep()
    configuration: Any = OmegaConf.create({"enable_cpu_mem_arena": False})
    options = OrtInferSession._init_sess_opts(configuration)
    for pool in ("intra_op", "inter_op"):
        assert options.get_session_config_entry(f"session.{pool}.allow_spinning") == "0"


def test_closed_it_reads_no_more(part: bytes) -> None:
    reader = TextReader()
    reader.close()
    assert reader.pid is None
    with pytest.raises(LabError, match="closed"):
        reader.read(sha(part), part)


def test_without_an_engine_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    engine.engine_name.cache_clear()
    try:
        with pytest.raises(LabError, match=r"hitlab\[ocr\]") as refused:
            TextReader()
    finally:
        engine.engine_name.cache_clear()
    assert refused.value.code == 2
    assert "pip install 'hitlab[ocr]'" in refused.value.sentence


def test_a_folder_named_lab_where_the_lab_is_begun_is_not_run(part_text: ReadText, begun: Path) -> None:
    assert part_text.lines
    assert not (begun / "run").exists()


def test_the_app_loads_no_engine() -> None:
    code = "import sys, lab.ocr.reader; print(*{'rapidocr', 'onnxruntime', 'cv2', 'numpy'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_a_tree_of_read_text_is_told_from_the_phones_own(part_text: ReadText, screen: tuple[bytes, UiTree]) -> None:
    read = part_text.tree
    assert is_from_ocr(read)
    assert not is_from_ocr(screen[1])
    assert not is_from_ocr(None)
    assert {node.cls for node in read.nodes()} == {READ}
    assert not has_no_text(read)
    assert has_no_text(None)
    assert has_no_text(UiTree())
    assert has_no_text(UiTree((Node(read.roots[0].bounds, " "),)))
