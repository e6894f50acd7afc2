"""Strangers' names in every written format: no file outside the folder, no two runs in one place, all read back."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from lab.core.run.run_records import Blob, Imported, number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.task.task import Actor, Persona, Task
from store.formats import writers
from store.runs.run_export import export_runs
from store.runs.run_import import import_paths
from store.store import Store

NAMES = (
    "../../x", "..", "a/b", "a_b", "A/B", "CON", "x" * 300, "X" * 300, "é" * 200, "e\u0301", "é", ".", " ", ". . ",
    "a\nb", "-rf", "~", "user_profile.csv", "USER_PROFILE.CSV", "episodes.json", "traj.json", "run.jsonl", "images",
    "T_backup_1", "\\x", "a:b", "\u202e", "T@x", "T", "t", "ß", "SS", "\u212a", "k", "T.2", "a ", "a.", "a", "\x7f",
)  # fmt: skip
TIMES = ("9999-12-31T23:59:59", "9999-12-31T23:59:59", "0001-01-01T00:00:00", "0900-01-01T00:00:00+14:00", "soon")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\4\x38\0\0\x09\x60"
BACK = ("jsonl", "knowu", "dac", "fingertip")


def run(number: int, task: str, who: str = "A", at: str = "") -> Imported:
    """A demonstration with a picture and an id of its own."""
    shot = Blob(PNG + str(number).encode(), "image/png")
    seen = Observation(shot.sha256, (1080, 2400))
    events: list[AnyEvent] = [
        Started(
            trace=hashlib.sha256(str(number).encode()).hexdigest()[:32], at=at, agent=Actor("human", who),
            task=Task(task, "general", instruction=f"do {number}"), persona=Persona(who, "N", {"sex": "f", "age": 30}),
        ),
        Step(index=0, before=seen, proposed=Proposed(Action("click", (1, 2)))),
        Step(index=1, before=seen, proposed=Proposed(Action("status", status="complete"))),
        Ended(status="completed", score=1.0),
    ]  # fmt: skip
    return Imported(number_events(events), {shot.sha256: shot}, [])


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Each name twice as a task's and as a person's, and times that no folder can be named by."""
    asked = [(name, "A", "") for name in NAMES for _ in range(2)] + [("T", name, "") for name in NAMES]
    asked += [("T", "late", at) for at in TIMES]
    store = Store.open(tmp_path_factory.mktemp("named") / "lab.db")
    store.runs.add_all([run(i, *one) for i, one in enumerate(asked)])
    return store


@pytest.mark.parametrize("format", writers())
def test_strangers_names_stay_inside_the_folder_and_apart(named: Store, tmp_path: Path, format: str) -> None:
    ids = [run.id for run in named.runs.summaries()][::-1]
    out = tmp_path / "here" / "out"
    out.parent.mkdir()
    export_runs(named, ids, out, format)
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    paths = [path.relative_to(out) for path in out.rglob("*") if path.is_file()]
    alike = Counter(unicodedata.normalize("NFC", str(path).casefold()) for path in paths)
    assert [path for path, count in alike.items() if count > 1] == []
    for part in {part for path in paths for part in path.parts}:
        assert part.isprintable()
        assert part == part.strip()
        assert len(part.encode()) < 200
    if format in BACK:
        with Store.open(tmp_path / "back.db") as back:
            report = import_paths(back, [out])
            assert (report.imported, report.skipped, report.failed) == (len(ids), 0, [])


def test_runs_whose_ids_differ_in_case_only_have_folders_of_their_own(store: Store, tmp_path: Path) -> None:
    ids = ["Run", "run", "rUN"]
    for number, id in enumerate(ids):
        one = run(number, "T")
        first = one.events[0]
        assert isinstance(first, Started)
        store.runs.add(one._replace(events=number_events([Started(trace=id, task=first.task, agent=first.agent)])))
    export_runs(store, ids, tmp_path / "out")
    assert len({path.name.lower() for path in (tmp_path / "out").iterdir()}) == 3
    with Store.open(tmp_path / "back.db") as back:
        assert import_paths(back, [tmp_path / "out"]).imported == 3
        assert sorted(run.id for run in back.runs.summaries()) == sorted(ids)


def test_agents_whose_names_look_alike_have_log_roots_of_their_own(store: Store, tmp_path: Path) -> None:
    agents = ("a/b", "a_b", "A_B", "a_b.2")
    store.runs.add_all([run(i, "T", who) for i, who in enumerate([*agents, "a/b"])])
    export_runs(store, [run.id for run in store.runs.summaries()][::-1], tmp_path / "out", "knowu")
    roots = [path.parent.parent.name for path in (tmp_path / "out").rglob("traj.json")]
    assert sorted(roots) == ["A_B.3", "a_b", "a_b.2", "a_b.2.2", "a_b.4"]
