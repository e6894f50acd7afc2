"""A file that a command writes is a new one, whole or not at all; JSON for a terminal obeys nobody's escapes."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.cli.database import write_new
from lab.cli.output import json_bytes
from lab.core.errors import LabError

KILLED = """
import os, sys
from pathlib import Path
from lab.cli.database import write_new
def link(*_):
    os.kill(os.getpid(), 9)
os.link = link
write_new(Path(sys.argv[1]), b"x" * 1000, "f", "nothing")
"""


def test_it_takes_the_place_of_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out.md"
    write_new(out, b"one", "out.md", "nothing was written")
    gone = tmp_path / "dangling"
    gone.symlink_to(tmp_path / "nowhere")
    for there in (out, tmp_path, gone):
        with pytest.raises(LabError, match=r"f: is there already; nothing was written\."):
            write_new(there, b"two", "f", "nothing was written")
    assert out.read_bytes() == b"one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "out.md"]


@pytest.mark.parametrize("name", ["out.md/x.md", "nowhere/x.md", "a" * 300, "nul\0.md"])
def test_where_none_can_be_written_is_a_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "out.md").write_bytes(b"one")
    with pytest.raises(LabError, match="f: cannot be written"):
        write_new(tmp_path / name, b"two", "f", "nothing")
    assert [path.name for path in tmp_path.iterdir()] == ["out.md"]


def test_where_files_have_one_name_only_it_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    write_new(tmp_path / "out.md", b"one", "f", "nothing")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"one"]


def test_killed_before_the_end_there_is_no_file_of_that_name(tmp_path: Path) -> None:
    out = tmp_path / "out.md"
    assert subprocess.run([sys.executable, "-c", KILLED, str(out)], check=False).returncode == -9
    assert not out.exists()
    write_new(out, b"one", "f", "nothing")
    assert out.read_bytes() == b"one"


def test_json_says_the_same_and_holds_nothing_that_a_terminal_obeys() -> None:
    said = {"note": "\x9b2J\x7f\x85 \u202eevil\u2066\u2028 \\x9b é 无 😀\x1b"}
    data = json_bytes(said)
    assert json.loads(data) == said
    text = data.decode()
    assert "é 无 😀" in text
    assert not [ch for ch in text.rstrip("\n") if not ch.isprintable()]
