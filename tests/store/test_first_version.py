"""A file of version 0.1.0 opens, and everything in it works: it is read as it was, and gone on with."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab.cli.main import main
from tests.store import first_version
from tests.store.first_version import (
    ACCEPTED,
    BIKE,
    BROKEN,
    DEMONSTRATION,
    GATED,
    LUNCH,
    UNCLEARED,
    printed,
    unpacked,
)


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Hitlab = Callable[..., Done]


@pytest.fixture
def hitlab(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Hitlab:
    """Runs one command on a copy of the file."""
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_DB", str(unpacked(tmp_path / "first.db")))
    monkeypatch.chdir(tmp_path)

    def run(*words: str, lines: list[dict[str, Any]] | None = None) -> Done:
        typed = "".join(json.dumps(line) + "\n" for line in lines or ())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        code = main(list(words))
        told = capsysbinary.readouterr()
        return Done(code, told.out.decode(), told.err.decode())

    return run


# -- read as it was ------------------------------------------------------------------------------------------------


def changed(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where a document says other than an older one did; fields that came since are none."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            yield from changed(old[key], new.get(key, "is gone"), f"{place}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from changed(one, other, f"{place}/{at}")
    elif old != new and not (isinstance(old, float) and new == pytest.approx(old, rel=1e-9)):
        yield place, old, new


def unprinted_since(old: Any, place: str) -> bool:
    """Whether a place belongs to an interval that reached over nearly all values: it is "too few to say" since."""
    *path, name = place.split("/")[1:]
    for key in path:
        old = old[int(key)] if isinstance(old, list) else old[key]
    is_of_interval = name in ("low", "high", "interval", "no_interval") and isinstance(old, dict)
    return is_of_interval and old.get("low") is not None and old["high"] - old["low"] > 1.5


@pytest.mark.parametrize("command", printed())
def test_what_0_1_0_printed_of_it_is_printed_now(hitlab: Hitlab, command: str) -> None:
    done = hitlab(*command.split(), "--json")
    assert done.code == 0, done.err
    differs = [one for one in changed(printed()[command], done.json) if not unprinted_since(printed()[command], one[0])]
    if command == "runs":  # what a run cost is told without being asked for since
        assert all(old is None for _, old, _ in differs)
        assert {place.rpartition("/")[2] for place, _, _ in differs} <= {"seconds", "tokens", "cost", "calls"}
    elif command == "agreement e3":  # what is missing of a part counts the places of that part
        missing = [one for one in differs if one[0].endswith("/missing")]
        assert all(new > old for _, old, new in missing)
        by_f = [one for one in differs if one not in missing]  # ICC with one item a run has an interval by F since
        assert {(place.rpartition("/")[2], new) for place, _, new in by_f} == {("no_interval", "is gone")}
    elif command == f"review {DEMONSTRATION} --show":  # who gave no code is `unnamed` since
        assert differs == [("/person", "P01", "unnamed")]
    elif command == "study status played":  # what is done in a played run counts as work since
        assert {place for place, _, _ in differs} == {"/raters/0/minutes", "/raters/0/seconds"}
        assert all(new > old for _, old, new in differs)
    elif command.startswith("study status "):  # how long answers took that came by a file nobody knows since
        assert all(place.endswith("/seconds") and old < 1 and new is None for place, old, new in differs)
    elif command == "study status":  # what a replaced rater left undone counts once since
        assert differs == [("/3/dealt", 19, 15)]
    elif command == "agreement played":  # a question left empty on sheets that are handed in is told as that since
        assert [(old, new) for _, old, new in differs] == [
            ("nobody's answers are handed in yet", "nobody has answered it")
        ]
    else:
        assert differs == []


def test_kappas_and_intervals_are_what_0_1_0_printed(hitlab: Hitlab) -> None:
    out = hitlab("agreement", "e3").out
    assert "e3 v1: Which items were reached   locked" in out
    before = out[out.index("state · before · people") :].splitlines()
    assert [line.split()[:6] for line in before[3:6]] == [
        ["percent", "*", "86.0", "%", "70.8", "%"],
        ["cohen", "kappa", "0.723", "0.421", "to", "0.839"],
        ["ac1", "*", "0.721", "0.421", "to", "0.837"],
    ]
    told = hitlab("report", "e3", "--with", "causes", "--md").out
    assert "| Overall, as answered | 0.72 [0.41, 0.84] | moderate to almost perfect |" in told
    settled = hitlab("adjudicate", "e3", "--list").out
    assert "6 to settle, 0 of them with a majority; 2 settled" in settled


def test_a_run_reads_as_it_went(hitlab: Hitlab) -> None:
    lines = hitlab("show", GATED).out.splitlines()
    assert [line.strip() for line in lines[7:13]] == [
        '1  ask user "How do you want to go to home: bus or bike? You have gone by bus and bike before."',
        'agent asks: "How do you want to go to home: bus or bike? You have gone by bus and bike before."',
        'D9 answers: "By bike today"',
        "2  navigate home (rejected by D9)",
        "3  open app Maps",
        "4  navigate home",
    ]
    assert "✓ she goes as she said" in hitlab("show", BIKE).out
    assert hitlab("compare", ACCEPTED, first_version.PERSON).code == 0
    assert "open    a question waits" in hitlab("show", first_version.OPEN).out


def test_the_file_is_sound_before_and_after_it_is_packed(hitlab: Hitlab, tmp_path: Path) -> None:
    assert "first.db is sound" in hitlab("doctor").out
    before = hitlab("report", "e3", "--md").out
    assert hitlab("pack", "copy.db").code == 0
    assert "copy.db is sound" in hitlab("doctor", "--db", "copy.db").out
    assert hitlab("report", "e3", "--md", "--db", "copy.db").out == before
    assert hitlab("traces", "--json", "--db", "copy.db").out == hitlab("traces", "--json").out


@pytest.mark.parametrize(
    ("format", "made"),
    [
        ("jsonl", "*"),
        ("knowu", "*/traj.json"),
        ("dac", "episodes.json"),
        ("fingertip", "**/*.json"),
        ("labelstudio", "*.json"),
        ("csv", "steps.csv"),
        ("parquet", "steps.parquet"),
    ],
)
def test_its_runs_are_exported(hitlab: Hitlab, tmp_path: Path, format: str, made: str) -> None:
    done = hitlab("export", "--all", "--format", format, "--out", "out")
    assert done.code == 0, done.err
    assert list((tmp_path / "out").rglob(made.removeprefix("**/")))


def test_what_is_exported_comes_back_event_by_event(hitlab: Hitlab) -> None:
    assert hitlab("export", "--all", "--out", "out").code == 0
    assert hitlab("import", "out", "--db", "back.db").code == 0
    for run in (ACCEPTED, GATED, first_version.OPEN, DEMONSTRATION):
        there, back = (hitlab("show", run, "--json", *more).json for more in ((), ("--db", "back.db")))
        assert there["steps"] == back["steps"]
        assert there["ended"] == back["ended"]
    assert len(hitlab("traces", "--json", "--db", "back.db").json) == len(hitlab("traces", "--json").json)


def test_it_merges_into_another_file(hitlab: Hitlab) -> None:
    assert hitlab("run", "friday_reorder", "--db", "other.db").code == 0
    assert hitlab("merge", "first.db", "other.db", "--db", "all.db").code == 0
    assert len(hitlab("traces", "--json", "--db", "all.db").json) == len(hitlab("traces", "--json").json) + 1
    there, merged = (hitlab("agreement", "e3", "--json", *more).json for more in ((), ("--db", "all.db")))
    assert there["agreements"] == merged["agreements"]


# -- gone on with --------------------------------------------------------------------------------------------------


def test_runs_of_the_rule_agent_are_forked(hitlab: Hitlab) -> None:
    refused = hitlab("fork", f"{ACCEPTED}@1", "--reject", "--headless", "--as", "D9", "--json").json
    assert (refused["status"], refused["score"], refused["steps"]) == ("completed", 1.0, 2)
    by_bus = hitlab("fork", f"{BIKE}@1", "--say", "By bus, it rains", "--headless", "--as", "D9", "--json").json
    assert by_bus["score"] == pytest.approx(7 / 9)  # as with 0.1.0's own fork of it
    amended = hitlab(
        "fork", f"{GATED}@5", "--action", '{"kind": "navigate_back"}', "--user", "script", "--headless",
        "--as", "D9", "--json",
    )  # fmt: skip
    assert amended.json["status"] == "completed", amended.err
    family = hitlab("family", BIKE, "--json").json
    assert [(line["step"], line["changes"]) for line in family[1:]] == [
        (1, [["reply", "By bus, it rains"]]),
        (1, [["reply", "By bus, it rains"]]),
        (4, [["action", "navigate_back"]]),
    ]


def test_a_run_that_stood_at_a_breakpoint_goes_on_to_its_end(hitlab: Hitlab) -> None:
    done = hitlab("live", "--resume", BROKEN, "--headless", "--json")
    assert (done.json["status"], done.json["score"], done.json["trace"]) == ("completed", 1.0, BROKEN), done.err
    again = hitlab("live", "usual_lunch", "--headless", "--agent", f"recorded:{LUNCH}", "--json")
    assert again.json["score"] == 1.0, again.err


def rows_of(hitlab: Hitlab, study: str, **said: Any) -> list[dict[str, Any]]:
    """A row for each unit of a study."""
    return [{"unit": unit["id"], **said} for unit in hitlab("study", "show", study, "--json").json["units"]]


def test_a_kit_of_0_1_0_is_rated_and_taken_back(hitlab: Hitlab, tmp_path: Path) -> None:
    unpacked(tmp_path / "R2.db", "kit-0.1.0.db")
    rows = rows_of(hitlab, "far", field="completion", value=40, commit=True)
    rated = hitlab("label", "far", "--as", "R2", "--db", "R2.db", "--keep-going", lines=rows)
    assert rated.out.count("completion = 40; handed in") == 2  # three were handed in before
    assert "2 answers and 2 acts came in" in hitlab("study", "take", "R2.db").out
    assert "10 were here already" in hitlab("study", "take", "R2.db").out
    people = {one["rater"]: one for one in hitlab("study", "status", "far", "--json").json["raters"]}
    assert (people["R2"]["done"], people["R2"]["dealt"]) == (5, 5)
    assert people["R3"]["left"]


def test_who_came_in_another_place_rates_and_the_numbers_count_it(hitlab: Hitlab) -> None:
    rows = rows_of(hitlab, "far", field="completion", value=40, commit=True)
    assert hitlab("label", "far", "--as", "R4", "--keep-going", lines=rows).code == 3  # one is not dealt to R4
    assert "n: 5 items, 5 runs, 4 raters" in hitlab("agreement", "far").out
    undone = hitlab("label", "far", "--as", "R4", lines=[{"unit": rows[-1]["unit"], "reopen": True, "undo": True}])
    assert undone.code == 0, undone.err


def test_what_is_left_is_settled_and_stands_in_the_report(hitlab: Hitlab) -> None:
    open_item = hitlab("adjudicate", "e3", "--list", "--json").json["open"][0]
    words = ("--unit", open_item["unit"], "--target", open_item["target"], "--field", "state")
    done = hitlab("adjudicate", "e3", *words, "--value", "completed", "--reason", "It stands there", "--as", "E2")
    assert done.code == 0, done.err
    assert "5 to settle, 0 of them with a majority; 3 settled" in hitlab("adjudicate", "e3", "--list").out
    assert hitlab("report", "e3", "--with", "causes", "--html", "--out", "e3.html").code == 0


def test_a_locked_study_and_a_withdrawn_person_stay_so(hitlab: Hitlab, tmp_path: Path) -> None:
    rows = rows_of(hitlab, "e3", reopen=True)
    assert "locked" in hitlab("label", "e3", "--as", "R1", lines=rows[:1]).out
    rows = rows_of(hitlab, "sets", field="overall", value="A")
    assert "withdrawn" in hitlab("label", "sets", "--as", "W9", lines=rows[:1]).out
    assert b"W9 lives near the canal" not in (tmp_path / "first.db").read_bytes()
    assert b"I am W9 and I moved" not in (tmp_path / "first.db").read_bytes()
    assert "K1" in hitlab("withdraw", "K1", "--yes").out
    assert {row["rater"] for row in hitlab("labels", "sets", "--json").json["labels"]} == {"K2"}


def test_designs_are_verified_and_demonstrations_settled(hitlab: Hitlab) -> None:
    assert hitlab("author", "way_home", "--submit", "--as", "D1").code == 0
    assert "version 2 of the design of way_home is verified by D2" in hitlab(
        "author", "way_home", "--verify", "--as", "D2").out  # fmt: skip
    assert hitlab("author", "usual_lunch", "--object", "The sauce is missing", "--as", "D2").code == 0
    states = {line["task"]: (line["version"], line["state"]) for line in hitlab("author", "--list", "--json").json}
    assert states == {"way_home": (2, "verified"), "usual_lunch": (1, "objected")}
    settled = hitlab("review", DEMONSTRATION, "--settle", "2", "step", "accept", "--note", "Both saw", "--as", "B3")
    assert "settled by B3" in settled.out
    assert hitlab("privacy", UNCLEARED, "--clear", "--as", "C1").code == 0
    assert hitlab("export", DEMONSTRATION, "--reviewed", "--format", "dac", "--out", "dac").code == 0


def test_a_played_study_goes_on_where_a_script_and_a_person_stood(hitlab: Hitlab) -> None:
    assert "played before" in hitlab("study", "play", "played").out
    runs = hitlab("study", "runs", "played", "--json").json["runs"]
    assert [(run["by"], run["task"], run["status"]) for run in runs] == [
        ("P1", "friday_reorder", "completed"),
        ("P1", "way_home", "open"),
        ("script", "friday_reorder", "completed"),
        ("script", "way_home", "completed"),
    ]
    assert (runs[0]["quiz_tries"], runs[0]["consent"]) != (0, None)


def test_a_study_is_planned_anew_over_its_runs(hitlab: Hitlab) -> None:
    whose = ("--raters", "Q1,Q4", "--overlap", "2")
    words = ("study", "new", "success", "--name", "done", "--even-so", "--runs", "all", *whose)
    assert hitlab(*words).code == 0
    assert hitlab("study", "deal", "done").code == 0
    versions = hitlab("study", "status", "done", "--json").json
    assert versions["version"] == 3
    assert hitlab("agreement", "done@1", "--json").json["version"] == 1
