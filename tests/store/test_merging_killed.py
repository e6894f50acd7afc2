"""A merge that is killed: everything of the files is in, or the file is as it was; a new one is whole or not there."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lab.core.task.task import Actor
from store.erasing.withdrawal import withdraw
from store.store import Store
from tests.crossed import IN_SOAK, crossed
from tests.killing import lines_until_killed, ticking
from tests.merging import content, say
from tests.store.test_merging import STATE, UNITS, ran
from tests.studies import frozen
from tests.warm import Warm
from tests.warm_code import python
from tests.withdrawals import CODE, fill

KILLS = 12
_MERGE = """
from store.copies.merge import merge
merge(store, [Path({0!r})])
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, int]:
    """A file with a person in it, a copy from which they withdrew and that holds more, and how long a merge is."""
    folder = tmp_path_factory.mktemp("whole")
    with Store.open(folder / "here.db") as store:
        fill(store, folder)
        store.pack(folder / "other.db")
    with Store.open(folder / "other.db") as store:
        withdraw(store, CODE, Actor("human", "D01"))
        say(store, frozen(store, UNITS, id="second"), UNITS[0], "R1", STATE, "completed")
        for at in range(6):
            store.runs.add(ran(f"run-{at}", 3, ended=True))
    shutil.copy(folder / "here.db", folder / "trial.db")
    return (
        folder / "here.db",
        folder / "other.db",
        ticking(_MERGE.format(str(folder / "other.db")), folder / "trial.db", 0),
    )


@crossed
@pytest.mark.parametrize("kill", range(1, KILLS + 1) if IN_SOAK else (1, 4, 8, 11, 12))
def test_it_is_done_or_not_done(tmp_path: Path, files: tuple[Path, Path, int], kill: int) -> None:
    here, other, ticks = files
    shutil.copy(here, tmp_path / "here.db")
    ticking(_MERGE.format(str(other)), tmp_path / "here.db", max(1, ticks * kill // KILLS - 1))
    with Store.open(tmp_path / "here.db") as store:
        assert store.check() == []
    assert content(tmp_path / "here.db") in (content(here), content(other))


def test_what_was_told_is_on_the_disk(tmp_path: Path, files: tuple[Path, Path, int]) -> None:
    _, other, _ = files
    out = tmp_path / "new.db"
    merge = Warm(["merge", str(other), "--db", str(out)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert lines_until_killed(merge, 1, 0.0)
    assert content(out) == content(other)


def test_a_new_file_is_whole_or_not_there(tmp_path: Path, files: tuple[Path, Path, int]) -> None:
    _, other, _ = files
    out = tmp_path / "new.db"
    code = (
        "import os, signal\nfrom pathlib import Path\nimport store.copies.merge as merging\n"
        "merging.sync_to_disk = lambda path: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"merging.merge_into(Path({str(out)!r}), [Path({str(other)!r})])"
    )
    assert python(code).returncode == -signal.SIGKILL
    assert not out.exists()
