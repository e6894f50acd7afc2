"""hitlab report: a small study worked out by hand, its forms and files, the same bytes again, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import msgspec
import pytest

from lab.cli.main import main
from lab.cli.settings.schemas import schemas
from lab.core.program_version import platform, program
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.report import Grid, Lines, Number, Report
from lab.core.study.study import Target, Unit
from lab.core.task.task import Actor
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.rated import Answer, hand_in, rated
from tests.studies import frozen, label

GUIDE = "Look closely.\n\nHow to decide\n- What is seen is done.\n- What is not seen is not done."
DONE = Field("done", "Was it done?", "nominal", (Option("yes"), Option("no")))
SURE = Field("sure", "How sure?", "interval", per="unit", least=0, most=10, required=False)
ASKS = Protocol("done-or-not", "Done or not", "run", (DONE, SURE), targets="items", guide={"en": GUIDE})
UNITS = [Unit(f"u{at}", runs=(f"run{at}",), targets=(Target("a", "A"), Target("b", "B"))) for at in range(5)]

ONE = ("yes yes", "yes no", "no no", "yes yes", "yes no")
TWO = ("yes yes", "no no", "no yes", "yes yes", "yes no")


class Told(NamedTuple):
    """A command's exit code, and all that it printed."""

    code: int
    out: bytes
    err: str


Hitlab = Callable[..., Told]


@pytest.fixture
def hitlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Hitlab:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Told:
        try:
            code = main(args)
        except SystemExit as left:
            code = int(left.code or 0)
        said = capsysbinary.readouterr()
        return Told(code, said.out, said.err.decode())

    return run


def sheets(answers: Sequence[str], **cites: str) -> dict[str, dict[tuple[str, str], Any]]:
    """A rater's sheets; `cites` names for a place (`u1a`) the line of the guide."""
    return {
        f"u{at}": {
            (target, "done"): Answer(value, cites=cites.get(f"u{at}{target}", ""))
            for target, value in zip("ab", words.split(), strict=True)
        }
        for at, words in enumerate(answers)
    }


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two raters of five runs, of two items each; a judge says yes everywhere but once."""
    store = Store.open(tmp_path / "lab.db")
    said = {
        "R1": sheets(ONE, u1a="§4", u2b="§4", u0a="§3"),
        "R2": sheets(TWO, u1a="log 3", u0a="§3", u3b="§4"),
        "model:judge": sheets(["yes yes", "yes yes", "no yes", "yes yes", "yes yes"]),
    }
    rated(store, UNITS, ASKS, said, id="small", title="A small study")
    return store


def report(told: Told) -> Report:
    assert told.code == 0, told.err
    return msgspec.json.decode(told.out, type=Report)


def cells(found: Report, id: str) -> dict[str, dict[str, Any]]:
    """A table as rows by their first cell; numbers as their agreements."""
    (table,) = [table for section in found.sections for table in section.tables if table.id == id]
    return {
        str(row[0]): {
            column: cell.agreement if isinstance(cell, Number) else cell
            for column, cell in zip(table.columns[1:], row[1:], strict=True)
        }
        for row in table.rows
    }


# -- numbers by hand -------------------------------------------------------------------------------------------


def test_the_numbers_of_a_small_study_are_those_worked_out_by_hand(hitlab: Hitlab, store: Store) -> None:
    """Ten items, eight alike: R1 says yes 6 times, R2 too; both yes 5 times, both no 3 times."""
    found = report(hitlab("report", "small", "--json"))
    people = cells(found, "people-1")["all"]
    assert people["percent"].value == pytest.approx(0.8)
    chance = 0.6 * 0.6 + 0.4 * 0.4
    assert people["Cohen's kappa"].value == pytest.approx((0.8 - chance) / (1 - chance))
    gwet = 2 * 0.6 * 0.4
    assert people["AC1"].value == pytest.approx((0.8 - gwet) / (1 - gwet))
    one = people["Cohen's kappa"]
    assert (one.places, one.units, one.traces, one.raters, one.missing) == (10, 5, 5, 2, 0.0)
    assert (one.low, one.no_interval) == (None, "too few to say"), "five clusters would have from -1 to nearly 1"
    assert (people["Items"], people["Clusters"], people["Raters"], people["Missing"]) == ("10", "5", "2", "0.0 %")


def test_what_was_asked_and_what_came_back_is_counted(hitlab: Hitlab, store: Store) -> None:
    found = report(hitlab("report", "small", "--json"))
    plan = {name: row["As frozen"] for name, row in cells(found, "plan").items()}
    assert plan["Units"] == "5 in 5 clusters"
    assert (plan["People"], plan["Judges"]) == ("R1, R2", "judge (model)")
    assert cells(found, "asked")["done"]["Answers"] == "yes, no"
    assert cells(found, "asked")["sure"]["Answers"] == "0 to 10"
    raters = cells(found, "raters")
    assert raters["R1"] == {"Sheets dealt": "5", "Handed in": "5", "Answers": "10", "Without": "0", "Why": ""}
    assert raters["judge (model)"]["Sheets dealt"] == "—"
    assert cells(found, "answers")["done"]["Answers"] == "20"


def test_missing_answers_and_open_sheets_are_told_with_their_reasons(hitlab: Hitlab, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        some = sheets(ONE)
        some["u0"] = {("a", "done"): Answer(missing="cannot_judge"), ("b", "done"): Answer(missing="skipped")}
        rated(store, UNITS, ASKS, {"R1": some, "R2": sheets(TWO)}, id="small", open=[("R2", "u4")])
    found = report(hitlab("report", "small", "--json"))
    raters = cells(found, "raters")
    assert (raters["R1"]["Without"], raters["R1"]["Why"]) == ("2", "cannot judge 1, skipped 1")
    assert (raters["R2"]["Handed in"], raters["R2"]["Answers"]) == ("4", "8")
    assert cells(found, "answers")["done"]["Missing"] == "11.1 %"
    said = [says for section in found.sections for says in section.says]
    assert "Answers on sheets that are not handed in, left out: 2." in said


def test_the_lines_of_the_guide_that_are_cited_where_raters_differ(hitlab: Hitlab, store: Store) -> None:
    """They differ at u1 a and u2 b: §4 is cited at both, and at u3 b; §3 where both say the same."""
    found = cells(report(hitlab("report", "small", "--json")), "cites-done")
    assert list(found) == ["§4", "log 3", "§3"]
    assert found["§4"]["What it says"] == "What is not seen is not done."
    assert [found[cited]["In disagreement"] for cited in found] == ["2", "1", "0"]
    assert [found[cited]["Items"] for cited in found] == ["3", "1", "1"]
    assert found["§4"]["Share"].value == pytest.approx(2 / 3)
    assert found["§3"]["What it says"] == "What is seen is done."
    assert found["log 3"]["What it says"] == "(no line of the guideline)"


def test_answers_over_time_are_in_blocks_of_each_person(hitlab: Hitlab, store: Store) -> None:
    found = report(hitlab("report", "small", "--json"))
    (picture,) = [one for section in found.sections for one in section.pictures if isinstance(one, Lines)]
    points = [(point.series, point.x, point.y) for point in picture.points]
    assert points == [("R1", 5, 3 / 5), ("R1", 10, 3 / 5), ("R2", 5, 2 / 5), ("R2", 10, 4 / 5)]


def test_a_judge_stands_beside_people_and_never_among_them(hitlab: Hitlab, store: Store) -> None:
    found = report(hitlab("report", "small", "--json"))
    judged = cells(found, "others-1")["all"]
    assert judged["accuracy"].between == "judge against most people"
    assert judged["accuracy"].value == pytest.approx(6 / 8)
    assert judged["recall"].value == 1.0
    grids = [one for section in found.sections for one in section.pictures if isinstance(one, Grid)]
    assert [one.counts for one in grids] == [((5, 1), (1, 3)), ((5, 0), (2, 1))]
    assert [(one.down_is, one.across_is) for one in grids][1] == ("most people", "judge")


# -- forms and files -------------------------------------------------------------------------------------------


def test_json_is_a_report_as_its_schema_says(hitlab: Hitlab, store: Store) -> None:
    found = json.loads(hitlab("report", "small", "--json").out)
    jsonschema.Draft202012Validator(msgspec.json.schema(schemas()["report"])).validate(found)
    assert found["provenance"]["study"] == "small"


@pytest.mark.parametrize(
    ("name", "begins"),
    [("r.md", b"# A small study"), ("r.HTML", b"<!doctype html>"), ("r.json", b'{"title"'), ("r", b"A small study")],
)
def test_a_file_s_ending_says_its_form_and_nothing_is_overwritten(
    hitlab: Hitlab, store: Store, tmp_path: Path, name: str, begins: bytes
) -> None:
    told = hitlab("report", "small", "--out", name)
    data = (tmp_path / name).read_bytes()
    assert (told.code, told.out.decode()) == (0, f"{len(data):,} bytes in {name}\n")
    assert data.startswith(begins)
    again = hitlab("report", "small", "--out", name)
    assert (again.code, again.err) == (1, f"hitlab: {name}: is there already; nothing was written. Name a new file.\n")
    assert (tmp_path / name).read_bytes() == data
    assert [path.name for path in tmp_path.iterdir() if ".part-" in path.name] == []


def test_an_option_s_form_goes_before_the_ending_s(hitlab: Hitlab, store: Store, tmp_path: Path) -> None:
    told = hitlab("report", "small", "--json", "--out", "r.md")
    assert json.loads(told.out) == {"path": "r.md", "form": "json", "bytes": (tmp_path / "r.md").stat().st_size}
    assert report(Told(0, (tmp_path / "r.md").read_bytes(), "")).title == "A small study (small v1)"
    assert hitlab("report", "small", "--out", "nowhere/r.md").code == 1


def test_printed_text_fits_the_terminal(hitlab: Hitlab, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    for columns in (40, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = hitlab("report", "small").out.decode()
        assert max(map(cell_len, text.splitlines())) <= columns


def test_a_bootstrap_s_seed_and_draws_stand_in_the_report(hitlab: Hitlab, store: Store) -> None:
    found = report(hitlab("report", "small", "--json", "--bootstrap", "300", "--seed", "7"))
    where = found.provenance
    assert (where.interval, where.resamples, where.seed) == ("bootstrap", 300, 7)
    one = cells(found, "people-1")["all"]["percent"]
    assert (one.interval, one.resamples, one.seed) == ("bootstrap", 300, 7)
    assert report(hitlab("report", "small", "--json")).provenance.seed is None


def test_a_further_study_is_read_beside_and_named(hitlab: Hitlab, store: Store) -> None:
    rated(store, UNITS, ASKS, {"R3": sheets(ONE)}, id="other")
    (beside,) = report(hitlab("report", "small", "--with", "other", "--json")).provenance.beside
    assert beside.startswith("other v1 (answers ")
    for names in (["small"], ["other", "other"]):
        told = hitlab("report", "small", *(word for name in names for word in ("--with", name)))
        assert (told.code, told.err) == (2, "hitlab: report: --extra-study names further studies, each once.\n")


def test_what_is_not_there_is_a_sentence(hitlab: Hitlab, store: Store) -> None:
    for words in (["nothing"], ["small@9"], ["small", "--with", "nothing"]):
        told = hitlab("report", *words)
        assert (told.code, told.out) == (1, b"")
        assert told.err.startswith("hitlab: study ")


# -- little or nothing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [[], ["--md"], ["--html"], ["--json"]])
@pytest.mark.parametrize(
    "said",
    [
        {"R1": {}, "R2": {}},
        {"R1": sheets(ONE)},
        {"R1": sheets(ONE), "R2": {}},
        {"R1": sheets(["yes yes"] * 5), "R2": sheets(["yes yes"] * 5)},
        {"R1": sheets(ONE[:2]), "R2": {f"u{at + 2}": one for at, one in enumerate(sheets(TWO[:3]).values())}},
        {"R1": {}, "model:judge": sheets(ONE)},
    ],
    ids=["empty", "one rater", "one of two", "constant", "no overlap", "a judge alone"],
)
def test_where_there_is_little_it_says_so_and_prints_no_number(
    hitlab: Hitlab, tmp_path: Path, said: dict[str, Any], form: list[str]
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        rated(store, UNITS, ASKS, said, id="small")
    told = hitlab("report", "small", *form)
    assert told.code == 0, told.err
    text = told.out.decode()
    assert "Traceback" not in text + told.err
    assert "nan" not in text.lower().split()
    if form == ["--json"]:
        found = report(told)
        numbers = [
            cell.agreement
            for section in found.sections
            for table in section.tables
            for row in table.rows
            for cell in row
            if isinstance(cell, Number)
        ]
        assert all((one.value is None) == bool(one.undefined) for one in numbers)
        kappas = [one for one in numbers if "kappa" in one.statistic and one.between == "people"]
        assert all(one.value is None for one in kappas)


def test_nodes_of_which_nothing_follows_are_only_what_was_answered(hitlab: Hitlab, tmp_path: Path) -> None:
    """A protocol of one's own may ask something else of a checklist than whether its items were completed."""
    asks = msgspec.structs.replace(ASKS, targets="tdg nodes")
    with Store.open(tmp_path / "lab.db") as store:
        rated(store, UNITS, asks, {"R1": sheets(ONE), "R2": sheets(TWO)}, id="small")
    assert cells(report(hitlab("report", "small", "--json")), "people-1")["all"]["percent"].value == pytest.approx(0.8)


def test_calibration_counts_in_no_number(hitlab: Hitlab, tmp_path: Path) -> None:
    units = [msgspec.structs.replace(UNITS[0], pilot=True), *UNITS[1:]]
    with Store.open(tmp_path / "lab.db") as store:
        rated(store, units, ASKS, {"R1": sheets(ONE), "R2": sheets(TWO)}, id="small")
    found = report(hitlab("report", "small", "--json"))
    assert cells(found, "raters")["R1"]["Answers"] == "8"
    assert cells(found, "people-1")["all"]["percent"].places == 8
    assert "and 1 for calibration" in cells(found, "plan")["Units"]["As frozen"]


# -- the same again --------------------------------------------------------------------------------------------


ALL_FORMS = """
import sys
from lab.cli.main import main
for name in ("r.txt", "r.md", "r.html", "r.json"):
    assert main(["report", "small", "--bootstrap", "200", "--out", sys.argv[1] + "/" + name]) == 0
"""


def test_it_is_the_same_to_the_byte_again_and_of_a_copy(hitlab: Hitlab, store: Store, tmp_path: Path) -> None:
    """Two processes that hash differently, the last over a copy elsewhere; only the program's own hash may move,
    where its files are being worked on."""
    store.close()
    assert hitlab("pack", "copy.db").code == 0
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "copy.db").rename(tmp_path / "elsewhere" / "other.db")
    found: dict[str, set[bytes]] = {}
    for seed, db in (("1", "lab.db"), ("2", "elsewhere/other.db")):
        out = tmp_path / seed
        out.mkdir()
        env = {**os.environ, "PYTHONHASHSEED": seed, "HITLAB_DB": str(tmp_path / db)}
        words = [sys.executable, "-c", ALL_FORMS, str(out)]
        subprocess.run(words, env=env, capture_output=True, cwd=Path(__file__).parents[3], check=True)
        for path in out.iterdir():
            data = re.sub(rb"code [0-9a-f]{16}", b"code", path.read_bytes())
            found.setdefault(path.name, set()).add(data)
    assert {name: len(some) for name, some in found.items()} == {"r.txt": 1, "r.md": 1, "r.html": 1, "r.json": 1}
    for (data,) in found.values():
        assert str(tmp_path).encode() not in data
        assert str(Path(__file__).parents[3]).encode() not in data


def test_the_program_is_told_by_its_version_and_a_hash_of_its_files() -> None:
    assert re.fullmatch(r"hitlab \d+(\.\d+)+, code [0-9a-f]{16}", program())
    assert re.fullmatch(r"CPython 3\.\d+\.\d+, numpy \S+, \w+ \w+", platform())


def test_the_hash_of_the_program_is_of_its_files_and_of_nothing_beside_them(tmp_path: Path) -> None:
    """As it is installed elsewhere, with what Python and editors leave; then one protocol is changed."""
    for part in ("annotators", "lab", "store"):
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(__file__).parents[3] / part, tmp_path / part, ignore=leave)
    tell = [sys.executable, "-c", "from lab.core.program_version import program; print(program())"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def told() -> str:
        return subprocess.run(tell, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout.strip()

    first = told()
    assert list((tmp_path / "lab").rglob("*.pyc")) or os.environ.get("PYTHONDONTWRITEBYTECODE")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_more.py").write_text("")
    (tmp_path / "lab" / "notes.txt").write_text("notes")
    assert told() == first
    protocol = tmp_path / "annotators" / "protocols" / "tdg.yaml"
    protocol.write_bytes(protocol.read_bytes() + b"# more\n")
    assert told() != first


def test_the_hash_of_answers_follows_what_stands_and_not_in_which_order_it_came(tmp_path: Path) -> None:
    """Two files with the same labels, written in another order; then one more.

    All are of one millisecond: a file takes each to be later than the one before it, by some microseconds.
    """
    hashes, at_once = [], "2026-04-01T09:00:00.000100+00:00"
    rows = [(unit, target, rater) for unit in UNITS for target in "ab" for rater in ("R1", "R2")]
    made: dict[tuple[str, str, str], Any] = {}
    for at, order in enumerate((rows, rows[::-1])):
        with Store.open(tmp_path / f"{at}.db") as store:
            plan = frozen(store, UNITS, ASKS, id="small")
            for unit, target, rater in order:
                key = (unit.id, target, rater)
                said = "yes" if hash_of(key) % 3 else "no"
                person = Actor("human", rater)
                one = made.setdefault(key, label(plan, unit, target, "done", said, rater=person, at=at_once))
                store.labels.record(plan, unit, one)
            for unit in UNITS:
                for rater in ("R2", "R1"):
                    hand_in(store, plan, rater, unit.id)
            hashes.append(_sha(store, "small"))
            if at:
                store.labels.record(plan, UNITS[0], label(plan, UNITS[0], "a", "done", "no", rater=Actor("model", "m")))
                hashes.append(_sha(store, "small"))
    assert hashes[0] == hashes[1] != hashes[2]


def hash_of(key: tuple[str, ...]) -> int:
    return sum(map(ord, "".join(key)))


def _sha(store: Store, id: str) -> str:
    from annotators.report.provenance import labels_sha

    return labels_sha(load_study_data(store, store.studies.study(id)))
