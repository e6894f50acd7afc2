"""Whatever a file holds, a study's commands say one sentence about it, in plain characters, and change nothing."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotators.protocols import protocols
from lab.cli.main import main
from lab.core.codec import encode
from store.store import Store
from tests.bounded import ROOT, bounded, linux_only
from tests.fuzzing_examples import examples
from tests.studies import NODES, frozen, unit

HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J[red]x[/] \u202egnp\u200b\ud83d\ude00".encode("utf-8", "surrogatepass").decode(
        "utf-8", "replace"
    )
    + "é" * 40
)
LOUD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal would obey, or not show."""
FUZZ = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20) | st.just(HOSTILE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ROW_FIELDS = (
    "unit", "target", "field", "value", "values", "missing", "step", "evidence", "region", "confidence", "note", "run",
    "commit", "undo", "reopen", "id", "rater", "kind", "study", "version", "cites", "cost",
)  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a file of one study, which is what commands find there."""
    folder = tmp_path_factory.mktemp("broken")
    with Store.open(folder / "lab.db") as store:
        frozen(store, [unit("u1"), unit("u2")], NODES)
    before = {name: os.environ.get(name) for name in ("HITLAB_DB", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    os.environ |= {"HITLAB_DB": str(folder / "lab.db"), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    yield folder
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def said(*args: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """What a command answers; whatever else it raises is this test's failure."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    was = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(args)
    except SystemExit as left:
        code = int(left.code or 0)
    finally:
        sys.stdin = was
    told = [one.buffer.getvalue().decode() for one in (out, err)]
    return code, told[0], told[1]


def check(code: int, out: str, err: str) -> None:
    assert code in (0, 1, 2, 3)
    assert "Traceback" not in err
    assert not LOUD.search(out + err), ascii(out + err)
    if code in (1, 2) and not out:
        assert err.count("\n") == 1 + ("--help` says what it takes." in err), err
        assert len(err) < 2000, err


def refused(*args: str) -> str:
    code, out, err = said(*args)
    assert code != 0, (args, out)
    check(code, out, err)
    return "refused"


def _refused_in(ended: list[str], *args: str) -> None:
    """In a thread, whose own failure nobody would hear of."""
    ended.append(refused(*args))


WRONG: dict[str, bytes] = {
    "empty": b"", "nul": b"\x00" * 100, "binary": bytes(range(256)) * 40, "latin": b"name: caf\xe9\n",
    "deep.json": b"[" * 100_000, "deep.yaml": b"- " * 20_000, "list": b"- a\n- b\n", "text": b"only words",
    "bomb.yaml": b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)),
    "tag.yaml": b"!!python/object/apply:os.system ['true']\n", "twice": b"id: a\nid: b\n", "null": b"null\n",
    "escapes": HOSTILE.encode(), "key": ('"' + "k" * 100_000 + '": 1\n').encode(), "number": b"9" * 10_000,
    "not so": b"!!bool maybe", "no time": b"!!timestamp soon",
    "huge": b"a: ", "sqlite": b"SQLite format 3\x00" + b"\x00" * 4096, "bom": b"\xff\xfe\x00",
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_one_sentence(home: Path, name: str) -> None:
    for end in ("yaml", "jsonl", "db"):
        (home / f"wrong.{end}").write_bytes(WRONG[name] + (b"x" * 40_000_000 if name == "huge" else b""))
    plan, lines, kit = (str(home / f"wrong.{end}") for end in ("yaml", "jsonl", "db"))
    refused("study", "new", plan)
    refused("protocols", plan)
    refused("study", "new", "tdg", "--runs", "all", "--raters", "a", "--protocol", plan)
    refused("study", "new", "pairwise-sets", "--raters", "a,b", "--items", lines)
    refused("study", "new", "knowu-5c", "--tasks", "usual_lunch", "--raters", "a", "--consent", kit, "--gold", lines)
    refused("study", "take", kit)
    check(*said("label", "s", lines))
    check(*said("label", "trial", lines))


def test_what_is_no_file_is_one_sentence(home: Path) -> None:
    (home / "folder.yaml").mkdir()
    (home / "loop.yaml").symlink_to(home / "loop.yaml")
    (home / "gone.yaml").symlink_to(home / "nowhere")
    os.mkfifo(home / "pipe.yaml")
    for name in ("folder.yaml", "loop.yaml", "gone.yaml", "missing.yaml", "pipe.yaml", "/dev/zero", "/dev/null"):
        path = str(home / name)
        tries = [("study", "new", path), ("protocols", path), ("study", "take", path),
                 ("study", "new", "pairwise-sets", "--raters", "a,b", "--items", path)]  # fmt: skip
        for args in tries:
            ended: list[str] = []
            done = threading.Thread(target=_refused_in, args=(ended, *args), daemon=True)
            done.start()
            done.join(180)
            assert not done.is_alive(), args
            assert ended == ["refused"], args
    for name in ("folder.yaml", "loop.yaml", "gone.yaml", "missing.yaml"):
        refused("label", "trial", str(home / name))


def test_a_key_that_stands_twice_is_told_with_its_line(home: Path) -> None:
    file = home / "twice.yaml"
    file.write_text("name: mine\nfields:\n- {name: a, ask: A?, kind: nominal}\nfields: []\n", encoding="utf-8")
    for args in (("protocols", str(file)), ("tasks", str(file)), ("study", "new", str(file))):
        code, _, error = said(*args)
        assert (code, "line 4: 'fields' stands twice in one mapping" in error) == (1, True), error


@linux_only
def test_a_disk_that_cannot_be_read_is_told_with_the_files_name(home: Path) -> None:
    code, _, error = said("label", "trial", "--as", "R1", "/proc/self/mem")
    assert (code, "label file /proc/self/mem: cannot be read" in error) == (1, True), error


def test_a_name_with_a_nul_inside_a_file_is_one_sentence(home: Path) -> None:
    refused("protocols", "a\0b.yaml")
    refused("label", "trial", "--as", "R1", "a\0b")
    refused("metrics", "--marks", "a\0b")


@linux_only
def test_a_pipe_in_memory_is_no_pipe_of_a_shells(home: Path) -> None:
    """`/dev/fd/63` is waited for; below `/dev/shm` lies what lies elsewhere in a folder."""
    pipe = Path(tempfile.mkdtemp(dir="/dev/shm")) / "pipe.yaml"
    os.mkfifo(pipe)
    try:
        assert "is a pipe, and nobody may ever write into it" in bounded("protocols", pipe, cwd=home).err
        shell = f"exec 63< <(cat /dev/null); {sys.executable} -m lab.cli protocols /dev/fd/63"
        done = subprocess.run(["bash", "-c", shell], cwd=ROOT, capture_output=True, text=True)
        assert "is a pipe" not in done.stderr
        assert done.returncode != 0, "it was read, and is empty"
    finally:
        pipe.unlink()
        pipe.parent.rmdir()


def test_hostile_names_are_told_plainly(home: Path) -> None:
    for args in (
        ("study", "new", HOSTILE), ("protocols", HOSTILE), ("study", "take", HOSTILE), ("study", "show", HOSTILE),
        ("study", "open", "trial", "--as", HOSTILE), ("study", "kit", "trial", "--rater", HOSTILE, "--out", "x.db"),
        ("study", "replace", "trial", HOSTILE, "--by", "R3"), ("study", "replace", "trial", "R1", "--by", HOSTILE),
        ("study", "release", "trial", HOSTILE), ("labels", HOSTILE), ("labels", "trial", "--unit", HOSTILE),
        ("withdraw", HOSTILE, "--yes"), ("label", "trial", HOSTILE),
        ("study", "new", "tdg", "--runs", HOSTILE, "--raters", "a"), ("study", "new", "tdg", "--raters", HOSTILE),
    ):  # fmt: skip
        refused(*args)
    check(*said("labels", "trial", "--rater", HOSTILE))


@FUZZ
@given(st.lists(st.binary(max_size=60) | JSONS.map(lambda told: _encoded(told)), max_size=4))
def test_rows_that_are_anything_are_refused_row_by_row(home: Path, lines: list[bytes]) -> None:
    check(*said("label", "trial", "--as", "R1", "--keep-going", stdin=b"\n".join(lines)))


@FUZZ
@given(st.dictionaries(st.sampled_from(ROW_FIELDS), JSONS | st.sampled_from(["u1", "open", "state"]), max_size=6))
def test_rows_with_any_value_in_any_field(home: Path, row: dict[str, Any]) -> None:
    row = {"unit": "u1", "target": "open", "field": "state", **row}
    check(*said("label", "trial", "--as", "R1", "--json", "--keep-going", stdin=_encoded(row)))


PROTOCOL = json.loads(encode(protocols()["tdg"]))
PLAN = {"id": "mine", "title": "Mine", "protocol": "success", "runs": "all", "raters": ["a", "b"]}


def _places(told: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, value in told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ():
        yield from _places(value, (*path, key))


def _with(told: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(told) if isinstance(told, dict) else list(told)
    copy[path[0]] = _with(copy[path[0]], path[1:], value)
    return copy


def _encoded(told: Any) -> bytes:
    return json.dumps(told).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("what", ["protocol", "plan"])
@FUZZ
@given(data=st.data())
def test_a_protocol_or_plan_with_anything_anywhere_in_it(home: Path, what: str, data: st.DataObject) -> None:
    whole = PROTOCOL if what == "protocol" else PLAN
    told = _with(whole, data.draw(st.sampled_from(list(_places(whole)))), data.draw(JSONS))
    (home / "fuzz.yaml").write_bytes(yaml.safe_dump(json.loads(_encoded(told)), allow_unicode=False).encode())
    check(*said(*(["protocols"] if what == "protocol" else ["study", "new"]), str(home / "fuzz.yaml")))


@FUZZ
@given(st.integers(0, 200_000), st.binary(min_size=1, max_size=40))
def test_a_kit_with_any_bytes_changed_is_taken_or_refused_and_never_breaks(home: Path, at: int, put: bytes) -> None:
    kit = home / "kit.db"
    if not kit.exists():
        assert said("study", "kit", "trial", "--rater", "R1", "--out", str(kit))[0] == 0
    whole = kit.read_bytes()
    at %= len(whole)
    (home / "bent.db").write_bytes(whole[:at] + put + whole[at + len(put) :])
    check(*said("study", "take", str(home / "bent.db")))


def test_a_kit_with_a_text_that_is_none_is_refused_in_a_sentence(home: Path) -> None:
    kit, bent = home / "whole.db", home / "bent.db"
    assert said("study", "kit", "trial", "--rater", "R1", "--out", str(kit))[0] == 0
    dealt = b'{"study":"trial","version":1,"rater":"R1"'
    assert dealt in kit.read_bytes()
    bent.write_bytes(kit.read_bytes().replace(dealt, b"\x80" + dealt[1:]))
    told = said("study", "take", str(bent))
    check(*told)
    assert "is damaged: a text in it is not valid UTF-8" in str(told)
