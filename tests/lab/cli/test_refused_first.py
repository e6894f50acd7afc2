"""What is refused is refused before a file is made for it; what is taken makes one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from lab.cli.main import main
from lab.core.errors import LabError
from lab.studies.links import make_link
from store.store import Store
from tests.lab.openings import openings

REFUSED = {
    "live usual_lunch --headless --agent nosuch": "'nosuch' is none of playbook",
    "live usual_lunch --headless --agent recorded:abc": "run abc: is not in a file that is not there yet.",
    "live usual_lunch --headless --user nosuch": "'nosuch' is none of human",
    "live usual_lunch --headless --user human": "needs --user script",
    "live usual_lunch --headless --user script:nosuch.json": "script 'nosuch.json': there is none of that name",
    "live usual_lunch --headless --gate ask": "nobody lets the actions through",
    "live usual_lunch --headless --persona nosuch": "persona 'nosuch'",
    "live nosuch --headless": "task 'nosuch'",
    "live nosuch": "task 'nosuch'",
    "live usual_lunch": "there is no terminal here",
    "live --headless --resume abc": "is not there",
    "live usual_lunch --headless --device nosuch": "adb server",
    "answer --headless --port 1 --host 203.0.113.7": "cannot be had",
    "run usual_lunch --agent nosuch": "'nosuch' is none of playbook",
    "run usual_lunch --agent recorded:abc": "run abc: is not in a file that is not there yet.",
    "run usual_lunch --user nosuch": "'nosuch' is none of human",
    "import nosuch": "nosuch: is not there.",
    "import notes.txt half.zip": "half.zip: is packed (zip)",
    "import half.jsonl": "half.jsonl",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    Path("notes.txt").write_text("no runs")
    Path("half.zip").write_bytes(b"PK\x03\x04half")


def _exported() -> Path:
    """A run in a file of its own."""
    assert main(["--db", "whole.db", "live", "usual_lunch", "--headless"]) == 0
    assert main(["--db", "whole.db", "export", "--all", "--out", "out"]) == 0
    return next(Path("out").rglob("*.jsonl"))


@pytest.mark.parametrize("command", REFUSED)
def test_a_command_that_is_refused_leaves_no_file(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "half.jsonl" in command:
        Path("half.jsonl").write_bytes(_exported().read_bytes()[:400])
    capsys.readouterr()
    assert main([*command.split(), "--db", "new.db"]) in (1, 2)
    assert REFUSED[command] in capsys.readouterr().err
    assert list(Path().glob("new.db*")) == []


def test_what_can_be_read_beside_what_cannot_makes_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    run = _exported()
    capsys.readouterr()
    assert main(["--db", "new.db", "import", "nosuch", str(run)]) == 3
    assert "1 imported" in capsys.readouterr().out
    assert Path("new.db").is_file()


def test_lists_open_a_file_only_to_read_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    assert main(["traces"]) == 1, "only the default file is made by a list"
    Store.open(tmp_path / "lab.db").close()
    opened = openings(monkeypatch)
    for line in ("traces", "runs", "privacy --list", "review --list", "author --list"):
        assert main(line.split()) == 0
    assert opened
    assert all(opened)


def test_a_new_file_stays_where_something_was_written_or_another_has_it_open(tmp_path: Path) -> None:
    def refuse(name: str, meanwhile: Callable[[Store], object] = lambda store: None) -> bool:
        """Whether a file is there after what it was made for was refused."""
        with suppress(LabError), Store.open(tmp_path / name) as store:
            meanwhile(store)
            raise LabError("what was asked", "cannot be done.")
        return (tmp_path / name).exists()

    assert not refuse("new.db")
    assert not refuse("read.db", lambda store: store.runs.summaries())
    others: list[Store] = []
    assert refuse("open.db", lambda store: others.append(Store.open(store.path)))
    assert others[0].runs.summaries() == []
    others[0].close()
    assert refuse("open.db"), "it was there before"
    assert refuse("act.db", lambda store: make_link(store, None, "P01", by="boss"))
    with pytest.raises(ValueError, match="a fault"), Store.open(tmp_path / "fault.db"):
        raise ValueError("a fault")
    assert (tmp_path / "fault.db").exists()


@pytest.mark.parametrize("readonly", [True, False])
@pytest.mark.parametrize("size", [100, 4096, 60_000])
def test_a_truncated_file_has_nothing_beside_it_after_it_was_tried(tmp_path: Path, size: int, readonly: bool) -> None:
    with Store.open(tmp_path / "whole.db"):
        pass
    cut = tmp_path / "cut.db"
    data = (tmp_path / "whole.db").read_bytes()[:size]
    cut.write_bytes(data)
    with pytest.raises(LabError, match="is damaged"):
        Store.open(cut, readonly=readonly)
    assert [path.name for path in tmp_path.glob("cut.db*")] == ["cut.db"]
    assert cut.read_bytes() == data
