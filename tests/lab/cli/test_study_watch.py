"""`study watch`: printed once, painted anew in a terminal until it is ended, and never what anybody answered."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from lab.cli.main import main
from lab.cli.study.watch import StudiesWatched
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from store.copies.kit_export import make_kit
from store.store import Store
from tests.warm import Warm, run
from tests.watched import answered, begun, did, handed_in

Told = Callable[..., tuple[int, str]]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    """Three people of whom one has done most; a judge; one question on which they differ."""
    plan = begun(store, 5, id="s", title="What is right")
    for at, word in enumerate("ynyn"):
        handed_in(store, plan, "R1", f"u{at}", 20 * at + 10, word)
    handed_in(store, plan, "R2", "u0", 10, "n")
    answered(store, plan, "judge-1", "u0", 10, "y", kind="model", cost=0.02, note="zebra")
    return plan


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    def call(*words: str) -> tuple[int, str]:
        code = main(["study", "watch", *words])
        said = capsys.readouterr()
        return code, said.out + said.err

    return call


def test_one_study_has_a_line_for_each_person_and_one_for_all(study: Study, told: Told) -> None:
    code, said = told("s")
    lines = [line.split() for line in said.splitlines()]
    assert code == 0
    assert lines[0][0] == "s"
    assert lines[1][:5] == ["person", "done", "left", "s", "each"]
    assert lines[2][:4] == ["R1", "4/5", "1", "10.0"]
    assert lines[4][:4] == ["R3", "0/5", "5", "-"]
    assert lines[4][-2:] == ["not", "begun"]
    assert lines[5][:2] == ["judge-1", "1/5"]
    assert "$0.02" in lines[5]
    assert lines[6][:3] == ["all", "5/15", "10"]
    assert ["ok", "100", "%", "of", "1"] in lines
    assert "quiet: away for a day or more, and for over three times the usual gap" in said


def test_without_a_name_each_study_that_goes_on_has_a_line(store: Store, study: Study, told: Told) -> None:
    begun(store, 2, id="second", title="Another")
    locked = begun(store, 2, id="over")
    did(store, locked, "boss", "locked", 5)
    archived = begun(store, 2, id="mistake")
    did(store, archived, "boss", "archived", 5)
    lines = told()[1].splitlines()
    assert [line.split()[0] for line in lines] == ["study", "second", "s"]
    assert "What is right" in lines[2]


def test_several_studies_are_shown_each(store: Store, study: Study, told: Told) -> None:
    begun(store, 2, id="second")
    said = told("second", "s", "second")[1]
    heads = [line for line in said.splitlines() if line.startswith(("s   ", "second   "))]
    assert len(heads) == 2
    assert sum(line.startswith("all") for line in said.splitlines()) == 2


def test_json_is_of_its_schema_and_holds_no_answer(study: Study, told: Told) -> None:
    for words in ((), ("s",)):
        code, said = told(*words, "--json")
        watched = msgspec.json.decode(said, type=StudiesWatched, strict=True)
        assert code == 0
        (one,) = watched.studies
        assert [rater.rater for rater in one.raters] == ["R1", "R2", "R3"]
        assert (one.total.done, one.total.cost) == (5, 0.02)
        assert one.at == watched.at
        for word in ("zebra", '"y"', '"n":"'):
            assert word not in said


def test_the_schema_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "study-watch"]) == 0
    assert "StudiesWatched" in json.loads(capsys.readouterr().out)["$ref"]


def test_where_no_study_goes_on_the_next_step_is_named(store: Store, told: Told) -> None:
    assert "hitlab study new PRESET" in told()[1]
    assert json.loads(told("--json")[1])["studies"] == []


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("nope",), 1, "study nope: is not in"),
        (("s@x",), 2, "version 'x' is no number"),
        (("s", "--every", "0.1"), 2, "--interval: 0.1 seconds are too few"),
        (("--open",), 2, "--open shows the room of one study"),
        (("s", "--open", "--json"), 2, "--open shows the room of one study"),
        (("s", "--open"), 2, "there is no terminal here"),
    ],
)
def test_what_cannot_be_watched_is_a_sentence(
    study: Study, told: Told, words: tuple[str, ...], code: int, sentence: str
) -> None:
    got, said = told(*words)
    assert (got, sentence in said) == (code, True), said


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_a_blind_seat_watches_nothing(study: Study, told: Told, monkeypatch: pytest.MonkeyPatch, seat: str) -> None:
    monkeypatch.setenv("HITLAB_SEAT", seat)
    for words in (("s",), (), ("s", "--json"), ("s", "--open")):
        code, said = told(*words)
        assert code == 1
        assert f"study watch: is not there for the seat {seat}" in said
        assert "R2" not in said


def test_a_kit_is_watched_by_nobody(store: Store, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = begun(store, 1, of=[Unit("u0")], id="s")
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "R1.db"))
    for words in (("s",), (), ("--json",), ("s", "--open")):
        code, said = told(*words)
        assert code == 1
        assert "this file is a kit of R1" in said


def test_a_strangers_words_are_plain(store: Store, told: Told) -> None:
    plan = begun(store, 2, id="s", title="[red]x[/]\x1b[31m\u202e")
    answered(store, plan, "[b]\x1b[2J", "u0", 5, kind="model")
    said = told("s")[1]
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "[red]x[/]" in said


# -- in a terminal -----------------------------------------------------------------------------------------------


class Terminal:
    """`study watch` in a terminal of its own; `page` is what it shows now."""

    def __init__(self, *words: str, columns: int = 100, rows: int = 24, **environment: str) -> None:
        self._seen = b""
        self._main, side = pty.openpty()
        self.resize(columns, rows)
        self._before = termios.tcgetattr(side)
        self.program = Warm(
            ["study", "watch", *words],
            env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment},
            stdin=side, stdout=side, stderr=side, start_new_session=True,
        )  # fmt: skip
        self._side = side

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def _read(self) -> None:
        if select.select([self._main], [], [], 0.1)[0]:
            self._seen += os.read(self._main, 65536)

    @property
    def page(self) -> str:
        """What was painted last, whole."""
        pages = self._seen.decode("utf-8", "replace").split("\x1b[H")
        whole = [page for page in pages if "\x1b[J" in page]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", whole[-1]) if whole else ""

    def until(self, holds: Callable[[str], bool]) -> str:
        end = time.monotonic() + 180
        while not holds(self.page):
            assert time.monotonic() < end, self._seen[-2000:]
            assert self.program.poll() is None, self._seen
            self._read()
        return self.page

    def ended(self) -> int:
        """Its exit code; what stood in the terminal before stands there again, and keys are echoed."""
        end = time.monotonic() + 180
        while self.program.poll() is None:
            assert time.monotonic() < end
            self._read()
        while select.select([self._main], [], [], 0)[0]:
            self._seen += os.read(self._main, 65536)
        assert self._seen.rstrip().endswith(b"\x1b[?1049l"), self._seen[-200:]
        assert self._seen.count(b"\x1b[?25h") == self._seen.count(b"\x1b[?25l") == 1
        assert termios.tcgetattr(self._side)[3] == self._before[3]
        os.close(self._main)
        os.close(self._side)
        return self.program.returncode


def test_it_is_painted_anew_as_answers_come_and_q_ends_it(store: Store, study: Study) -> None:
    terminal = Terminal("s", "--every", "0.5")
    terminal.until(lambda page: "4/5" in page and "q ends it" in page)
    terminal.type("xy")  # other keys do nothing
    handed_in(store, study, "R1", "u4", 300)
    page = terminal.until(lambda page: "5/5" in page)
    assert "xy" not in page
    assert "6/15" in page
    terminal.type("q")
    assert terminal.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_gives_the_terminal_back(study: Study, number: signal.Signals) -> None:
    terminal = Terminal("--every", "600")
    terminal.until(lambda page: "q ends it" in page)
    terminal.program.send_signal(number)
    assert terminal.ended() == 0


def test_another_size_is_painted_at_once_and_nothing_scrolls_away(store: Store, study: Study) -> None:
    begun(store, 2, tuple(f"P{at:02}" for at in range(40)), id="many")
    terminal = Terminal("many", "--every", "600", columns=100, rows=12)
    page = terminal.until(lambda page: "q ends it" in page)
    lines = page.splitlines()
    assert len(lines) == 12
    assert lines[0].startswith("many")
    assert "and 33 more (--once prints all)" in page
    assert lines[-2].startswith("all")
    terminal.resize(60, 60)
    terminal.program.send_signal(signal.SIGWINCH)
    page = terminal.until(lambda page: "P39" in page)
    assert all(len(line) <= 60 for line in page.splitlines())
    terminal.type("q")
    assert terminal.ended() == 0


def test_a_list_of_studies_that_is_too_long_says_so(store: Store) -> None:
    for at in range(20):
        begun(store, 1, id=f"s{at}")
    terminal = Terminal("--every", "600", columns=100, rows=12)
    page = terminal.until(lambda page: "q ends it" in page)
    assert "and 11 more lines (--once prints all)" in page
    terminal.type("q")
    assert terminal.ended() == 0


def test_who_straggles_is_in_sight_where_not_all_are(store: Store, study: Study) -> None:
    plan = begun(store, 2, tuple(f"P{at:02}" for at in range(40)), id="many")
    did(store, plan, "P37", "held", 10)
    terminal = Terminal("many", "--every", "600", columns=100, rows=12)
    assert "P37" in terminal.until(lambda page: "q ends it" in page)
    terminal.type("q")
    assert terminal.ended() == 0


def test_what_goes_wrong_on_the_way_is_told_after_the_terminal_is_back(store: Store, study: Study) -> None:
    from store.erasing.withdrawal import withdraw

    terminal = Terminal("s", "--every", "0.5")
    terminal.until(lambda page: "q ends it" in page)
    withdraw(store, "R2", Actor("human", "boss"))  # the file is rewritten beneath it
    terminal.until(lambda page: "withdrew" in page)
    terminal.type("q")
    assert terminal.ended() == 0


def test_a_dumb_terminal_gets_it_once(study: Study) -> None:
    main_side, side = pty.openpty()
    done = run(["study", "watch", "s"], env={**os.environ, "TERM": "dumb"}, stdout=side)
    os.close(side)
    seen = os.read(main_side, 65536).decode()
    os.close(main_side)
    assert done.returncode == 0
    assert "4/5" in seen
    assert "\x1b" not in seen
