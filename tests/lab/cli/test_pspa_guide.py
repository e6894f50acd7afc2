"""PSPA-Bench's E.3 whole, as docs/guides/agreement.md has it: runs from the embedded phone, scripted raters and a
scripted judge, one command after the other to the report; made once for all these tests.

The page has 120 runs played. Here each of its commands plays one attempt of half as many; the others are copies. All
commands but the last are forked, not started: see `tests.warm`."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from lab.core.run.run_records import Imported
from lab.core.run.trace import Started
from lab.core.study.report import Number, Report
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.crossed import soak
from tests.loaded_late import LoadedLate
from tests.warm import run, shim

inter_rater = LoadedLate("statsmodels.stats.inter_rater")
metrics = LoadedLate("sklearn.metrics")

pytestmark = soak

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "agreement.md"
FROM, TO = "## Tutorial", "`e3.md` has"
"""Between what the tutorial stands there; it is what is run here."""
_ROWS: dict[tuple[Path, str, int], dict[tuple[str, str], str]] = {}
"""What the script said, by folder, rater and run: it says the same each time."""
REPORT = ("report", "pspa-e3", "--with", "causes")


class Lab(NamedTuple):
    """The folder in which the tutorial ran, and with which surroundings."""

    folder: Path
    env: dict[str, str]

    def hitlab(self, *args: str, **more: str) -> bytes:
        """What a command prints; it must succeed."""
        done = run(args, cwd=self.folder, env={**self.env, **more})
        assert done.returncode == 0, done.stderr.decode()
        told: bytes = done.stdout
        return told

    def rows(self, rater: str, run: int = 1) -> dict[tuple[str, str], str]:
        """What the tutorial's script says for a rater, by run and item; calibration left out."""
        known = _ROWS.get((self.folder, rater, run))
        if known is not None:
            return known
        slips = {"R1": ".04", "R2": ".05", "R3": ".08", "judge": ".07"}[rater]
        plan = (self.folder / "e3.json").read_bytes()
        counts = {unit["id"] for unit in json.loads(plan)["units"] if unit["stage"] == "main"}
        pretend = [sys.executable, "pretend.py", rater, slips, str(run)]
        done = subprocess.run(pretend, cwd=self.folder, input=plan, capture_output=True, check=True)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        found = {
            (row["unit"], item): answer["value"]
            for row in told
            if row["field"] == "state" and row["unit"] in counts
            for item, answer in row["values"].items()
        }
        return _ROWS.setdefault((self.folder, rater, run), found)


def tutorial() -> list[str]:
    """The commands of the page, block by block."""
    told = PAGE.read_text(encoding="utf-8").partition(FROM)[2].partition(TO)[0]
    return re.findall(r"^```\n(.*?)^```$", told, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """The tutorial, run once however many processes test at a time."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder = root / "e3"
    others = ("HITLAB_", "XDG_", "PYTHONHASHSEED")
    keep = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    (root / "e3-bin").mkdir(exist_ok=True)
    shim(root / "e3-bin" / "hitlab")
    (root / "e3-bin" / "python3").unlink(missing_ok=True)
    (root / "e3-bin" / "python3").symlink_to(sys.executable)
    path = f"{root / 'e3-bin'}{os.pathsep}{keep.get('PATH', '')}"
    made = Lab(folder, {**keep, "HOME": str(root / "e3-home"), "PATH": path, "HITLAB_DB": "study.db"})
    with (root / "e3.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _run(made)
    assert (folder / "e3.html").exists(), "the tutorial broke off in another process"
    return made


def _run(lab: Lab) -> None:
    lab.folder.mkdir()
    blocks = tutorial()
    assert len(blocks) == 3
    played = re.findall(r"^hitlab run .*$", blocks[0], re.MULTILINE)
    attempts = [int(re.findall(r"--attempts (\d+)", line)[0]) for line in played]
    assert attempts == [2, 28]
    for line, many in zip(played, (attempts[0] // 2, attempts[1] // 2), strict=True):
        once = re.sub(r"--attempts \d+", "--attempts 1", line)
        _script(lab, f"export HITLAB_DB=study.db\n{once}")
        _copied(lab.folder / "study.db", runs=len(re.findall(r"\b\w+_\w+\b", line.partition(" --")[0])), times=many - 1)
    rest = re.sub(r"^hitlab run .*$", "", blocks[0], flags=re.MULTILINE)
    *lines, last = "\n".join([rest, *blocks[1:]]).rstrip().split("\n")
    _script(lab, "\n".join(lines))
    started = {**lab.env, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{lab.env['PATH']}"}
    _script(lab._replace(env=started), last)


def _script(lab: Lab, text: str) -> None:
    whole = "set -euo pipefail\n" + text
    done = subprocess.run(["bash", "-c", whole], cwd=lab.folder, env=lab.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def _copied(db: Path, runs: int, times: int) -> None:
    """The newest runs of a file, so many times more, each under an id of its own."""
    with Store.open(db) as store:
        newest = [one.id for one in store.runs.summaries(runs)]
        batch = []
        for id in newest:
            first, *others = store.runs.events(id)
            assert isinstance(first, Started)
            batch += [
                Imported([replace(first, trace=uuid7(), at=now()), *others], {}, []) for _ in range(times)
            ]  # fmt: skip
        assert all(store.runs.add_all(batch))


@pytest.fixture(scope="module")
def report(lab: Lab) -> Report:
    return msgspec.json.decode(lab.hitlab(*REPORT, "--json"), type=Report)


def cells(report: Report, id: str, first: str) -> dict[str, Any]:
    """A row of a table by its columns; of numbers their value."""
    (table,) = [one for section in report.sections for one in section.tables if one.id == id]
    (row,) = [one for one in table.rows if one[0] == first]
    told = [cell.agreement.value if isinstance(cell, Number) else cell for cell in row]
    return dict(zip(table.columns, told, strict=True))


def test_five_sixths_of_the_runs_count_and_the_others_are_calibration(lab: Lab) -> None:
    plan = json.loads((lab.folder / "e3.json").read_bytes())
    assert Counter(unit["stage"] for unit in plan["units"]) == {"main": 50, "pilot": 10}
    runs = json.loads(lab.hitlab("traces", "--json"))
    assert len(runs) == 60
    assert {run["status"] for run in runs} == {"completed"}
    status = json.loads(lab.hitlab("study", "status", "pspa-e3", "--json"))
    assert status["locked"]
    assert [(one["rater"], one["done"], one["dealt"]) for one in status["raters"]] == [
        (rater, 60, 60) for rater in ("R1", "R2", "R3")
    ]


def test_fleiss_kappa_is_that_of_statsmodels_on_the_rows_that_were_given(lab: Lab, report: Report) -> None:
    said = [lab.rows(rater) for rater in ("R1", "R2", "R3")]
    places = sorted(said[0])
    counts, _ = inter_rater.aggregate_raters(
        np.array([[int(one[place] == "completed") for one in said] for place in places]), 2
    )
    found = cells(report, "pspa-e3-agreement", "Overall, as answered")
    assert found["Fleiss' κ"] == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)
    assert found["Items"] == len(places) > 200
    assert found["All agree"] == pytest.approx(np.mean(counts.max(axis=1) == 3))


def test_table_7_is_that_of_scikit_learn_on_the_majority(lab: Lab, report: Report) -> None:
    said = [lab.rows(rater) for rater in ("R1", "R2", "R3")]
    runs = [lab.rows("judge", run) for run in range(1, 6)]
    plan = json.loads((lab.folder / "e3.json").read_bytes())
    kinds = {(unit["id"], item["id"]): item["kind"] for unit in plan["units"] for item in unit["targets"]}
    for kind, name in (("fixed", "Fixed"), ("flexible", "Flexible"), ("", "Overall")):
        places = [place for place in sorted(said[0]) if kind in ("", kinds[place])]
        truth = [sum(one[place] == "completed" for one in said) >= 2 for place in places]
        first = [runs[0][place] == "completed" for place in places]
        most = [sum(run[place] == "completed" for run in runs) >= 3 for place in places]
        for which, judge in (("run 1", first), ("most of 5 runs", most)):
            found = cells(report, "pspa-e3-table-7-1-before", f"{name}, {which}")
            assert [found[column] for column in ("Acc.", "Prec.", "Rec.", "F1", "κ", "Items")] == pytest.approx(
                [
                    metrics.accuracy_score(truth, judge), metrics.precision_score(truth, judge),
                    metrics.recall_score(truth, judge), metrics.f1_score(truth, judge),
                    metrics.cohen_kappa_score(truth, judge), len(places),
                ],
                abs=1e-12,
            )  # fmt: skip


def test_consistency_is_read_three_ways(lab: Lab, report: Report) -> None:
    runs = [lab.rows("judge", run) for run in range(1, 6)]
    yes = np.array([[run[place] == "completed" for run in runs] for place in sorted(runs[0])]).sum(axis=1)
    told = {name: cells(report, "pspa-e3-steady-1", name)["Here"] for name in (
        "items at which all runs say the same", "two runs say the same", "a run says what most runs say"
    )}  # fmt: skip
    assert list(told.values()) == pytest.approx(
        [
            np.mean((yes == 0) | (yes == 5)),
            np.mean((yes * (yes - 1) + (5 - yes) * (4 - yes)) / 20),
            np.mean(np.maximum(yes, 5 - yes) / 5),
        ]
    )
    assert 0.9 < told["items at which all runs say the same"] < 1


def test_causes_of_disagreement_come_from_the_study_beside_it(report: Report) -> None:
    shares = [cells(report, "pspa-e3-causes", name)["all coded items"] for name in (
        "a slip", "partial completion", "a way that is not listed", "a change between screens", "the item is unclear",
        "other",
    )]  # fmt: skip
    assert sum(shares) == pytest.approx(1)
    coders = cells(report, "pspa-e3-coders", "cause")
    assert coders["Coders"] == 2
    assert 0.5 < coders["Cohen's κ"] < 0.95
    differ = cells(report, "pspa-e3-flags", "items")
    assert coders["Items"] >= differ["people differ"] > 20


def test_every_number_has_its_n_and_an_interval_or_the_reason_why_not(report: Report) -> None:
    numbers = [
        cell.agreement
        for section in report.sections
        for table in section.tables
        for row in table.rows
        for cell in row
        if isinstance(cell, Number)
    ]
    assert len(numbers) > 200
    for one in numbers:
        assert (one.value is None) == bool(one.undefined), one
        assert one.value is None or (one.low is not None and one.interval) or one.no_interval, one
        assert one.value is None or one.places or one.value == 0, one
        assert one.low is None or one.high is None or one.value is None or one.low <= one.value <= one.high, one


def test_a_report_is_the_same_bytes_twice_and_of_a_copy(lab: Lab) -> None:
    """The text is made twice by the tutorial, in processes of different hashes: its last `cmp` compares them."""
    text = (lab.folder / "e3.md").read_bytes()
    last = tutorial()[-1].splitlines()[-1]
    assert last == "hitlab report pspa-e3 --with causes --md --db copy.db | cmp - e3.md"
    page = (lab.folder / "e3.html").read_bytes()
    assert lab.hitlab(*REPORT, "--html", "--db", "copy.db") == page
    assert str(lab.folder).encode() not in text + page
    assert b"Fleiss" in text
    assert b"<svg" in page
