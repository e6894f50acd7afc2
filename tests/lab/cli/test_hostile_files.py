"""Whatever reads a stranger's file says one sentence of one that is a bomb, within bounds, and changes nothing."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from store.formats import formats
from store.store import Store
from tests.bounded import MB, linux_only
from tests.lab.core.test_yaml_bounds import merges
from tests.screens.runs import WHOLE, whole_run
from tests.studies import NODES, frozen, unit
from tests.warm import run

BOMBS: dict[str, Callable[[], bytes]] = {
    "deep": lambda: b"[" * 200_000,
    "deep mapping": lambda: b'{"a":' * 100_000,
    "number": lambda: b"9" * 200_000,
    "exponent": lambda: b'{"a": 1e999999999, "b": 9' + b"9" * 200_000 + b"}",
    "line": lambda: b"x" * (8 * MB),
    "nul": lambda: b"\0" * MB,
    "latin": lambda: b'{"a": "caf\xe9\xff"}\n' * 1000,
    "values": lambda: b"[" + b"0," * (10 * MB) + b"0]",
    "merges": lambda: merges().encode(),
    "lines": lambda: b"{}\n" * 200_000,
}
"""Made when it is thrown: every worker loads this file."""
YAML = [
    ("tasks", "FILE"), ("personas", "FILE"), ("protocols", "FILE"), ("study", "new", "FILE"),
    ("live", "FILE", "--headless"), ("live", "usual_lunch", "--headless", "--persona", "FILE"),
    ("live", "usual_lunch", "--headless", "--user", "script:FILE"),
    ("run", "FILE"), ("run", "usual_lunch", "--persona", "FILE"), ("run", "usual_lunch", "--user", "script:FILE"),
    ("fork", f"{WHOLE}@1", "--persona", "FILE"), ("fork", f"{WHOLE}@1", "--user", "script:FILE"),
    ("record", "FILE", "--as", "P1"), ("author", "FILE", "--as", "D1"), ("phone", "--task", "FILE"),
    ("phone", "--persona", "FILE"), ("metrics", "--profiles", "FOLDER"),
    ("study", "new", "knowu-5c", "--tasks", "FILE", "--raters", "a"),
    ("study", "new", "knowu-5c", "--tasks", "usual_lunch", "--raters", "a", "--consent", "FILE"),
    ("author", "usual_lunch", "--draft", "FILE", "--as", "D1"),
    ("study", "new", "tdg", "--runs", "all", "--raters", "a,b", "--protocol", "FILE"),
]  # fmt: skip
JSON = [
    ("study", "new", "pairwise-sets", "--raters", "a,b", "--items", "FILE"),
    ("study", "new", "tdg", "--runs", "all", "--raters", "a,b", "--gold", "FILE"),
    ("label", "trial", "FILE", "--as", "R1"), ("agreement", "--cases", "FILE"), ("metrics", "--marks", "FILE"),
    ("adjudicate", "trial", "--from", "FILE", "--as", "D1"),
]  # fmt: skip
TEXT = [
    ("study", "new", "knowu-5c", "--tasks", "usual_lunch", "--raters", "a", "--consent", "FILE"),
]  # fmt: skip
OTHER = [("merge", "FILE"), ("study", "take", "FILE"), ("show", "x", "--db", "FILE")]
IMPORTS = [("import", "FILE", "--format", name) for name in formats()]
ENTRIES = [*((args, "bomb.yaml") for args in YAML), *((args, "bomb.jsonl") for args in JSON),
           *((args, "bomb.txt") for args in TEXT), *((args, "bomb.db") for args in OTHER),
           *((args, "bomb.json") for args in IMPORTS),
           (("import", "FILE"), "bomb.json"), (("import", "FILE"), "bomb.json.gz"), (("import", "FILE"), "T_0.pkl.gz"),
           (("import", "FILE"), "log.eval"), (("import", "FILE"), "android_control-00000-of-00020"),
           (("import", "FILE"), "traj.json"), (("import", "FILE"), "run.jsonl"), (("import", "FILE"), "action.jsonl"),
           (("fork", f"{WHOLE}@1", "--action", "TEXT"), "bomb.json")]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("bombs"))


def filled(folder: Path) -> Path:
    """A folder with a file that holds a run and a study."""
    with Store.open(folder / "lab.db") as store:
        store.runs.add(whole_run())
        frozen(store, [unit("u1")], NODES)
    return folder


def held(path: Path) -> str:
    """A digest of every row of a file."""
    db = sqlite3.connect(path)
    try:
        return hashlib.sha256("\n".join(db.iterdump()).encode("utf-8", "surrogateescape")).hexdigest()
    finally:
        db.close()


CASES = [(args, name, sorted(BOMBS)[at % len(BOMBS) :][:1]) for at, (args, name) in enumerate(ENTRIES)]
"""Each entry meets one bomb, each time another: `make soak` has all of them at each."""


@linux_only
@pytest.mark.parametrize(
    ("args", "name", "bombs"), CASES, ids=[f"{' '.join(args)[:50]} {name}" for args, name, _ in CASES]
)
def test_a_bomb_is_one_sentence_and_changes_nothing(
    home: Path, args: tuple[str, ...], name: str, bombs: list[str]
) -> None:
    thrown(home, args, name, bombs)


def thrown(home: Path, args: tuple[str, ...], name: str, bombs: Iterable[str]) -> None:
    """Hands these bombs to a command, each as a file of this name."""
    before = held(home / "lab.db")
    asked: dict[str, list[str]] = {}
    for bomb in bombs:
        data = BOMBS[bomb]()
        path = home / bomb.replace(" ", "_") / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
        text = data[:100_000].decode("utf-8", "surrogateescape")
        asked[bomb] = [
            word.replace("FILE", str(path)).replace("FOLDER", str(path.parent)).replace("TEXT", text) for word in args
        ]
        if "--db" not in args:
            asked[bomb] += ["--db", str(home / "lab.db")]
    given = json.dumps(asked).encode()
    done = run([], given, main="tests.bounded_child:commands", cwd=home)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    for bomb, (code, err) in json.loads(done.stdout).items():
        assert code in (1, 2, 3), (bomb, code, err)
        assert "Traceback" not in err, (bomb, err)
        assert err.count("\n") == 1, (bomb, err[:500])
        assert len(err) < 2000, (bomb, len(err))
    assert held(home / "lab.db") == before
