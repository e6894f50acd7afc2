"""Tables as CSV and as Parquet: the same columns and values, harmless in a spreadsheet, typed where types are."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Clearance, Imported, Tombstone, Verdict, number_events
from lab.core.run.step import Action, Decision, Observation, Proposed, Usage
from lab.core.run.trace import AnyEvent, Ended, Flagged, Source, Started, Step
from lab.core.study.proofreading import Review
from lab.core.task.task import Actor, Task
from store.formats.tables import csv_writer, parquet_writer
from store.formats.tables.columns import TABLES
from store.formats.tables.csv_writer import escape_formula, line
from store.formats.tables.rows import rows_of
from store.runs.run_export import export_runs
from store.store import Store
from tests.screens.runs import WAITING, WHOLE, bare_run, waiting_run, whole_run

FORMULA = '=HYPERLINK("http://x","y")'


class One:
    """A run that is in no file."""

    reviewed: str | None = None
    reviews: Sequence[Review] = ()
    clearances: Sequence[Clearance] = ()
    tombstones: Sequence[Tombstone] = ()

    def __init__(self, id: str, events: list[AnyEvent], verdicts: Sequence[Verdict] = ()) -> None:
        self.id = id
        self._events = events
        self.verdicts = verdicts

    def events(self) -> Iterator[AnyEvent]:
        return iter(self._events)

    def original(self, seq: int) -> dict[str, Any]:
        return {}

    def blobs(self) -> Iterator[tuple[str, Blob]]:
        return iter(())


def run(id: str = "r1", steps: int = 2, text: str = FORMULA) -> One:
    tap = Action("click", (0, 7), raw={"x": 0}, space="px", boxes=((0, 0, 9, 9),))
    events: list[AnyEvent] = [
        Started(
            trace=id,
            at="2025-03-04T10:00:00+00:00",
            task=Task(
                id="t", kind="general", instruction=text, apps=("a", "b"), traits={"level": "HL"}, golden_steps=3
            ),
            agent=Actor("model", "m"),
            source=Source("knowu", "/somewhere/secret", "0f", "m-1"),
        )
    ]
    for i in range(steps):
        events.append(
            Step(
                index=i,
                ms=i * 10.5,
                proposed=Proposed(tap, text, usage=Usage(10, 2, None, 0.5, 1.25)),
                before=Observation("ab", (540, 1200)),
                decision=Decision("reject", Actor("human", "P1")) if i else None,
                accepted=(Action("navigate_back"),),
                extra={"large": "x" * 100},
            )
        )
    events += [Flagged(index=0, by=Actor("human", "P1")), Flagged(index=99, by=Actor("human", "P1"))]
    events.append(Ended(status="completed", score=0.25, reason="so", usage=Usage(cost=2.0, seconds=9.0)))
    verdicts = [Verdict("result", 0.25, "half"), Verdict("notes", {"a": [1, None]}, "", {"k": "v"}), Verdict("none")]
    return One(id, number_events(events), verdicts)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def fill(store: Store) -> list[str]:
    store.runs.add(whole_run(hostile=True))
    store.runs.add(bare_run())
    store.runs.add(Imported(waiting_run(), {}, [Verdict("result", 0.5, "half")]))
    return [one.id for one in store.runs.summaries()]


def test_rows_tell_what_was_done() -> None:
    rows = rows_of(run())
    assert {name: len(held) for name, held in rows.items()} == {"runs": 1, "steps": 2, "questions": 0, "verdicts": 3}
    whole = rows["runs"][0]
    assert (whole["task"], whole["golden_steps"], whole["apps"], whole["traits"]) == (
        "t",
        3,
        '["a","b"]',
        '{"level":"HL"}',
    )
    assert (whole["status"], whole["score"], whole["steps"], whole["source"]) == ("completed", 0.25, 2, "knowu")
    assert (whole["prompt_tokens"], whole["cost"], whole["seconds"]) == (20, 2.0, 9.0)
    assert "/somewhere/secret" not in str(rows)
    first, second = rows["steps"]
    assert (first["kind"], first["proposed"], first["x"], first["y"], first["slip"]) == ("click", "click", 0, 7, True)
    assert (first["raw"], first["boxes"], first["accepted"]) == ('{"x":0}', "[[0,0,9,9]]", '[{"kind":"navigate_back"}]')
    assert (second["kind"], second["verdict"], second["proposed"], second["slip"]) == (None, "reject", "click", False)
    assert [row["value"] for row in rows["verdicts"]] == ["0.25", '{"a":[1,null]}', None]
    assert [row["number"] for row in rows["verdicts"]] == [0.25, None, None]
    assert all(row.keys() <= {column.name for column in TABLES[name]} for name, held in rows.items() for row in held)


def test_csv_is_read_back_as_it_was(store: Store, tmp_path: Path) -> None:
    ids = fill(store)
    export_runs(store, ids, tmp_path / "out", "csv")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "columns.csv", "questions.csv", "runs.csv", "steps.csv", "verdicts.csv",
    ]  # fmt: skip
    for name, columns in TABLES.items():
        path = tmp_path / "out" / f"{name}.csv"
        assert next(csv.reader(io.StringIO(path.read_text("utf-8")))) == [column.name for column in columns]
        data = path.read_bytes()
        assert not data.startswith(b"\xef\xbb\xbf")
        assert data.endswith(b"\r\n")
    runs = {row["run"]: row for row in read_csv(tmp_path / "out" / "runs.csv")}
    assert set(runs) == set(ids)
    steps = read_csv(tmp_path / "out" / "steps.csv")
    for id in ids:
        trace_steps = [row for row in steps if row["run"] == id]
        assert len(trace_steps) == int(runs[id]["steps"]) == store.runs.summary(id).steps
    questions = [row for row in read_csv(tmp_path / "out" / "questions.csv") if row["run"] == WHOLE]
    assert [(row["answered"], row["decision"], row["waited_s"]) for row in questions] == [
        ("true", "", "8.0"), ("true", "reject", "4.0"),
    ]  # fmt: skip
    waiting = next(row for row in read_csv(tmp_path / "out" / "questions.csv") if row["run"] == WAITING)
    assert (waiting["answered"], waiting["sent"]) == ("false", "")
    assert runs[WAITING]["status"] == "open"


def test_each_column_is_told(tmp_path: Path) -> None:
    csv_writer.write([run()], tmp_path, lambda id: None)
    told = [(row["table"], row["column"]) for row in read_csv(tmp_path / "columns.csv")]
    assert told == [(name, column.name) for name, columns in TABLES.items() for column in columns]
    assert all(len({column.name for column in columns}) == len(columns) for columns in TABLES.values())


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    csv_writer.write([run()], tmp_path, lambda id: None)
    for name in TABLES:
        for row in read_csv(tmp_path / f"{name}.csv"):
            assert not any(re.match(r"[=@\t\r]|[+-](?![\d.])", cell) for cell in row.values()), row
    assert read_csv(tmp_path / "steps.csv")[0]["thought"] == "'" + FORMULA
    assert escape_formula("-5") == "-5"
    assert escape_formula("+1.5e3") == "+1.5e3"
    assert escape_formula("-5+cmd|' /C calc'!A0") == "'-5+cmd|' /C calc'!A0"
    assert escape_formula("a=b") == "a=b"
    assert escape_formula("'tis") == "'tis"


@given(st.text(alphabet=st.one_of(st.sampled_from("'=+-@\t\r\n,\"1a"), st.characters(exclude_categories=["Cs"]))))
def test_every_text_can_be_had_back(text: str) -> None:
    [[cell, last]] = csv.reader(io.StringIO(line([escape_formula(text), "z"]), newline=""), strict=True)
    bare = cell[1:] if re.match(r"'+[=+\-@\t\r\n]", cell) else cell
    assert (bare, last) == (text, "z")


def test_cells() -> None:
    assert line([None, "", 'a"b', True, 0, -1.5, "x\r\ny"]) == ',"","a""b",true,0,-1.5,"x\r\ny"\r\n'


def test_parquet_has_the_same_rows_with_types(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet  # type: ignore[import-untyped,unused-ignore]

    ids = fill(store)
    export_runs(store, ids, tmp_path / "csv", "csv")
    export_runs(store, ids, tmp_path / "out", "parquet")
    for name, columns in TABLES.items():
        table = parquet.read_table(tmp_path / "out" / f"{name}.parquet")
        assert table.column_names == [column.name for column in columns]
        assert table.schema.field(columns[0].name).metadata[b"meaning"] == columns[0].meaning.encode()
        assert table.num_rows == len(read_csv(tmp_path / "csv" / f"{name}.csv"))
    runs = {row["run"]: row for row in parquet.read_table(tmp_path / "out" / "runs.parquet").to_pylist()}
    assert runs[WHOLE]["started"] == datetime(2025, 3, 4, 10, tzinfo=UTC)
    assert isinstance(runs[WHOLE]["steps"], int)
    assert runs[WHOLE]["mirror"] is True


def test_parquet_holds_one_row_group_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setattr(parquet_writer, "_MOST_ROWS", 5)
    told: list[str] = []
    parquet_writer.write((run(f"r{i}", steps=3) for i in range(4)), tmp_path, told.append)
    assert told == ["r0", "r1", "r2", "r3"]
    held = parquet.ParquetFile(tmp_path / "steps.parquet")
    assert [held.metadata.row_group(i).num_rows for i in range(held.num_row_groups)] == [5, 5, 2]
    assert held.read().column("thought").to_pylist() == [FORMULA] * 12
    monkeypatch.setattr(parquet_writer, "_MOST_TEXT", 1)
    (tmp_path / "again").mkdir()
    parquet_writer.write([run(steps=2)], tmp_path / "again", lambda id: None)
    assert parquet.ParquetFile(tmp_path / "again" / "steps.parquet").num_row_groups == 2


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(LabError, match="needs pyarrow") as refused:
        parquet_writer.write([run()], tmp_path, lambda id: None)
    assert refused.value.hint == 'pip install "hitlab[parquet]" brings it.'
    assert list(tmp_path.iterdir()) == []


def test_an_export_of_nothing_and_of_odd_times(tmp_path: Path) -> None:
    csv_writer.write([], tmp_path, lambda id: None)
    assert read_csv(tmp_path / "runs.csv") == []
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    odd = run()
    odd._events[0] = msgspec.structs.replace(odd._events[0], at="yesterday")
    for name in ("empty", "odd"):
        (tmp_path / name).mkdir()
        parquet_writer.write([odd] if name == "odd" else [], tmp_path / name, lambda id: None)
    assert parquet.read_table(tmp_path / "empty" / "runs.parquet").num_rows == 0
    assert parquet.read_table(tmp_path / "odd" / "runs.parquet").column("started").to_pylist() == [None]
