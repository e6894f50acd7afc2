"""Our own format: export then import into an empty file is the identity; strangers' files are read strictly."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.run.run_records import Imported, Tombstone, Verdict
from lab.core.study.proofreading import Review
from lab.core.task.task import Actor
from store.copies.merge import merge_into
from store.erasing.run_redaction import redact
from store.runs.run_export import export_runs
from store.runs.run_import import import_paths
from store.store import Store
from tests.demonstrations import DEMO, demonstration, row
from tests.lab.fitting import validator
from tests.replied import bytes_of
from tests.screens.runs import WHOLE, bare_run, long_run, waiting_run, whole_run

TABLES = {
    "event": "SELECT trace, seq, body FROM event ORDER BY trace, seq",
    "trace": "SELECT n, id, task, parent, source, started_at FROM trace ORDER BY n",
    "verdict": "SELECT * FROM verdict ORDER BY trace, position",
    "review": "SELECT id, trace, step, field, act, by, at, supersedes, body FROM review ORDER BY n",
    "clearance": "SELECT id, trace, by, at, body FROM clearance ORDER BY n",
    "tombstone": "SELECT * FROM tombstone ORDER BY trace",
    "blob": "SELECT * FROM blob ORDER BY sha256",
    "use": "SELECT * FROM use ORDER BY trace, sha256",
}


def held(store: Store) -> dict[str, list[object]]:
    """Everything that a file holds of its runs, byte for byte."""
    return {table: store.database.read(sql) for table, sql in TABLES.items()}


def fill(store: Store) -> list[str]:
    store.runs.add(whole_run(hostile=True))
    store.runs.add(bare_run())
    store.runs.add(Imported(waiting_run(), {}, [Verdict("result", float(1), "half", {"n": [1, None]})]))
    one = demonstration()
    stone = Tombstone("old-1", "redacted", Actor("human", "P1"), "2026-03-05T10:00:00+00:00", DEMO, {"boxes": 1})
    said: list[Review] = [
        row("P1", "reject", 1, "step", "accept", "reject", note="no\nway"),
        row("P1", "commit", None, "whole"),
    ]
    store.runs.add(one._replace(reviews=said, tombstones=[stone]))
    store.reviews.record_clearance(DEMO, Actor("human", "P1"))
    return [run.id for run in store.runs.summaries()][::-1]


def test_export_then_import_is_the_identity(store: Store, tmp_path: Path) -> None:
    ids = fill(store)
    size = export_runs(store, ids, tmp_path / "out")
    assert size == sum(path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(ids)
    with Store.open(tmp_path / "again.db") as again:
        for id in ids:  # one by one, so that the order in the file is the same
            assert import_paths(again, [tmp_path / "out" / id]).failed == []
        assert held(again) == held(store)
        assert again.check() == []
        with pytest.raises(LabError, match="was redacted as run"):
            again.runs.add(demonstration("old-1"))
        assert import_paths(again, [tmp_path / "out"]).skipped == len(ids)


def test_exporting_again_writes_the_same_bytes(store: Store, tmp_path: Path) -> None:
    export_runs(store, fill(store), tmp_path / "a")
    export_runs(store, [run.id for run in store.runs.summaries()], tmp_path / "b")
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_a_copy_packed_without_pictures_is_exported_and_read_back(store: Store, tmp_path: Path) -> None:
    fill(store)
    store.pack(tmp_path / "small.db", images=False)
    with Store.open(tmp_path / "small.db") as small, Store.open(tmp_path / "again.db") as again:
        export_runs(small, [WHOLE], tmp_path / "out")
        assert not (tmp_path / "out" / WHOLE / "blobs").exists()
        assert import_paths(again, [tmp_path / "out"]).imported == 1
        assert list(again.runs.events(WHOLE)) == list(store.runs.events(WHOLE))


def test_what_is_there_is_never_written_over_and_what_fails_leaves_nothing(store: Store, tmp_path: Path) -> None:
    fill(store)
    (tmp_path / "out").mkdir()
    with pytest.raises(LabError, match="is there already"):
        export_runs(store, [WHOLE], tmp_path / "out")
    with pytest.raises(LabError, match="is not in"):
        export_runs(store, [WHOLE, "nothing"], tmp_path / "new")
    with pytest.raises(LabError, match="not reviewed to an end: one of two"):
        export_runs(store, [DEMO], tmp_path / "new", reviewed=True)
    assert sorted(path.name for path in tmp_path.iterdir() if "lab.db" not in path.name) == ["out"]


def exported(store: Store, tmp_path: Path) -> Path:
    store.runs.add(demonstration())
    export_runs(store, [DEMO], tmp_path / "out")
    return tmp_path / "out" / DEMO


def rewritten(change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    def work(folder: Path) -> None:
        file = folder / "run.jsonl"
        file.write_text("".join(change(file.read_text().splitlines(keepends=True))))

    return work


def without_end(lines: list[str]) -> list[str]:
    return lines[:-1]


def renamed(what: str, into: str) -> Callable[[Path], None]:
    return rewritten(lambda lines: [line.replace(what, into) for line in lines])


def other_bytes(folder: Path) -> None:
    next((folder / "blobs").iterdir()).write_bytes(b"\x89PNG\r\n\x1a\n other")


def linked_out(folder: Path) -> None:
    shot = next((folder / "blobs").iterdir())
    shot.rename(folder.parent.parent / "outside")
    shot.symlink_to(folder.parent.parent / "outside")


def added(line: str) -> Callable[[Path], None]:
    return rewritten(lambda lines: [*lines[:-1], line + "\n", json.dumps({"end": {"lines": len(lines)}}) + "\n"])


BY = '"by":{"kind":"human","id":"P1"},"at":"x"'


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (rewritten(without_end), "line 13: is not there: the file is cut short. A whole one ends with"),
        (rewritten(lambda lines: [*lines[:3], lines[3][:80]]), "line 4: is cut short"),
        (rewritten(lambda lines: [lines[0], *lines[2:]]), "line 2: event 1 stands where event 0 should"),
        (rewritten(lambda lines: [*lines[:7], lines[-1]]), "line 8: field end.lines: is 12, and 7 lines come"),
        (rewritten(lambda lines: [*lines, lines[1]]), "line 14: stands after the line `end`"),
        (renamed('"seq":0,', ""), "line 2: field event.seq: is not there; events count from 0, and this is 0"),
        (rewritten(lambda lines: lines[1:]), "line 1: is not the header of a run"),
        (rewritten(lambda lines: ["{}\n", *lines]), "line 1: holds nothing"),
        (renamed(f'"v":1,"trace":"{DEMO}', '"v":1,"trace":"../../x'), "is no run's id"),
        (renamed('"hitlab run","v":1', '"hitlab run","v":9'), "newer hitlab"),
        (renamed('"started","trace":"0197', '"started","trace":"0198'), "is of run 0198|field event"),
        (renamed('"event":"step","index":0', '"event":"step","index":7'), "step 7 stands where step 0"),
        (renamed('"at":[', f'"at":[{"9" * 400},'), "action.at"),
        (renamed('"kind":"click"', f'"kind":"click","raw":{"[" * 5000 + "]" * 5000}'), "nested too deeply"),
        (renamed('"kind":"click"', '"kind":"fly"'), "field action|proposed.action.kind"),
        (added('{"review":{"id":"r","trace":"another","step":0,"field":"step","act":"accept",' + BY + "}}"),
         "is about run another"),
        (added('{"tombstone":{"trace":"a","why":"redacted",' + BY + "}}"), "does not replace"),
        (added('{"blob":{"sha256":"../../../etc/passwd","mime":"image/png","size":1}}'), "names no picture"),
        (added(f'{{"blob":{{"sha256":"{"a" * 64}","mime":"image/png","size":1}}}}'), "is not there"),
        (added('{"event":{"event":"paused","seq":6,' + BY + '},"verdict":{"name":"x"}}'),
         "holds event, verdict"),
        (other_bytes, "is damaged"),
        (linked_out, "leads out of the folder"),
    ],
)  # fmt: skip
def test_a_harmed_file_is_refused_with_a_sentence_and_nothing_of_it_comes_in(
    store: Store, tmp_path: Path, harm: Callable[[Path], None], said: str
) -> None:
    folder = exported(store, tmp_path)
    harm(folder)
    with Store.open(tmp_path / "again.db") as again:
        report = import_paths(again, [folder])
        assert (report.imported, len(report.failed)) == (0, 1)
        assert re.search(said, report.failed[0].error), report.failed[0].error
        assert held(again) == {table: [] for table in TABLES}


def beneath(calls: int, act: Callable[[], object]) -> None:
    """Acts beneath so many calls: an app's handlers are some hundred deep themselves."""
    if calls:
        beneath(calls - 1, act)
    else:
        act()


def test_what_nests_as_deep_as_is_read_can_be_covered_in_every_copy(store: Store, tmp_path: Path) -> None:
    levels = input_limits.ROW_DEPTH - 5  # a line, its event, what is proposed, the action, its raw form
    folder = exported(store, tmp_path)
    renamed('"kind":"click"', f'"kind":"click","raw":{{"z":{"[" * levels}"Zsecret"{"]" * levels}}}')(folder)
    here, there, whole = tmp_path / "here.db", tmp_path / "there.db", tmp_path / "whole.db"
    with Store.open(here) as again:
        assert import_paths(again, [folder]).imported == 1
    shutil.copy(here, there)
    with Store.open(here) as again:
        beneath(200, lambda: redact(again, DEMO, Actor("human", "P1"), boxes={}, words=["Zsecret"]))
    beneath(200, lambda: merge_into(whole, [there, here]))
    assert b"Zsecret" in bytes_of(there)
    assert b"Zsecret" not in bytes_of(whole)


def test_one_harmed_run_leaves_the_others(store: Store, tmp_path: Path) -> None:
    store.runs.add(long_run(30))
    folder = exported(store, tmp_path).parent
    shutil.copytree(folder / DEMO, folder / "zz")
    other_bytes(folder / "zz")
    export_runs(store, [run.id for run in store.runs.summaries()], tmp_path / "both")
    with Store.open(tmp_path / "again.db") as again:
        report = import_paths(again, [tmp_path / "both", folder])
        assert (report.imported, report.skipped, len(report.failed)) == (2, 1, 1)
        assert next(again.runs.events(DEMO)) == next(store.runs.events(DEMO))


def test_reviewed_runs_are_runs_of_their_own_with_the_original_beside(store: Store, tmp_path: Path) -> None:
    store.runs.add(demonstration())
    demo = store.reviews.proof_of(DEMO)
    for by in ("P1", "P2"):
        edit = row(by, "edit", 2, "instruction", "Tap Send", "Tap the arrow")
        rest = [row(by, "accept", step, "step", "accept", "accept") for step in (0, 1, 3)]
        whole = row(by, "accept", None, "whole", "accept", "accept")
        store.reviews.append(demo, [edit, *rest, whole, row(by, "commit", None, "whole")])
    export_runs(store, [DEMO], tmp_path / "out", reviewed=True)
    (folder,) = (tmp_path / "out").iterdir()
    assert folder.name != DEMO
    lines = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    assert lines[0]["run"]["reviewed"] == DEMO
    assert lines[4]["original"] == {"instruction": "Tap Send"}
    assert import_paths(store, [tmp_path / "out"]).imported == 1
    again = store.runs.trace(folder.name)
    assert [step.proposed.instruction for step in again.steps][2] == "Tap the arrow"
    assert (again.source.format, again.source.path) == ("hitlab-reviewed", DEMO) if again.source else False
    export_runs(store, [DEMO], tmp_path / "again", reviewed=True)
    assert [path.name for path in (tmp_path / "again").iterdir()] == [folder.name]


def test_the_guides_own_file_comes_in_as_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sample of docs/guides/run-file.md, saved as the guide says; each line fits the schema that it names."""
    page = Path(__file__).parents[2] / "docs" / "guides" / "run-file.md"
    (sample,) = re.findall(r"^```jsonl\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    (name,) = re.findall(r"Save this as `my-runs/([\w-]+)/run\.jsonl`", page.read_text(encoding="utf-8"))
    folder = tmp_path / "my-runs" / name
    folder.mkdir(parents=True)
    (folder / "run.jsonl").write_text(sample, encoding="utf-8")
    assert main(["import", str(tmp_path / "my-runs"), "--json", "--db", str(tmp_path / "x.db")]) == 0
    assert json.loads(capsys.readouterr().out)["fallbacks"] == []
    assert main(["show", name, "--db", str(tmp_path / "x.db")]) == 0
    assert "Mild, please." in capsys.readouterr().out
    assert main(["schema", "run-file"]) == 0
    assert "RunFileLine" in capsys.readouterr().out
    for line in sample.splitlines():
        validator("run-file").validate(json.loads(line))
