"""`hitlab agreement`: a table for people, all numbers as JSON, and what is kept between two openings."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.cli.agreement import StudyAgreement, print_agreement
from lab.cli.main import main
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.study import Target, Unit
from lab.core.task.task import Actor
from lab.studies.progress.agreement_cache import cached_agreements, code_sha, delete_cache
from lab.studies.progress.study_data import load_study_data, study_agreements
from store.store import Store
from tests.answered import R1, R2, R3, Answered, M, protocol
from tests.lab.fitting import fits

NODES = (Target("a", "a", kind="fixed"), Target("b", "b", kind="flexible"))
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    return tmp_path / "lab.db"


@pytest.fixture
def run(db: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(args)
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def made(store: Store, raters: tuple[Actor, ...] = (R1, R2, R3, M), units: int = 8, **changes: Any) -> Answered:
    """Nodes of several runs; of u0 R1's answers are not handed in."""
    dice = random.Random(2)
    of = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(units)]
    people = [rater for rater in raters if rater.kind == "human"]
    study = Answered(store, of, protocol("tdg"), raters=[one.id for one in people], **changes)
    for unit in of:
        for target in NODES:
            truth = dice.random() < 0.6
            for rater in raters:
                said = truth if dice.random() < 0.8 else not truth
                note = "a secret remark" if rater is R2 else ""
                study.says(rater, unit.id, target.id, "state", "completed" if said else "not_completed", note=note)
        for rater in people:
            if (unit.id, rater) != ("u0", R1):
                study.hands_in(rater, unit.id)
    return study


def shown(text: str) -> Any:
    value = json.loads(text)
    fits(value, "agreement")
    return value


def test_people_are_told_value_interval_words_and_n(db: Path, run: Run) -> None:
    with Store.open(db) as store:
        made(store, statistics=("fleiss kappa",))
    code, said, _ = run("agreement", "trial")
    assert code == 0
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert any(one.startswith("95 % intervals by leaving out one run after another (jackknife-t,") for one in lines)
    assert "A star marks what was planned." in lines
    at = lines.index("state · before · people")
    assert lines[at + 1] == "n: 16 items, 8 runs, 3 raters; 4.2 % missing (2 not handed in)"
    assert lines[at + 2] == "statistic value interval in words"
    assert [line.split(" 0.")[0].split(" -0.")[0] for line in lines[at + 5 : at + 8]] == [
        "fleiss kappa *", "ac1", "alpha nominal",
    ]  # fmt: skip
    assert "state · before · judge against most people" in lines


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_the_table_keeps_to_its_width(
    db: Path, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(db) as store:
        made(store, (R1, R2, R3))
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main(["agreement", "trial"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines if line.startswith("  ") and "n:" not in line) <= columns
    assert any(line.startswith("  fleiss kappa") for line in lines)


def test_every_number_is_told_as_json(db: Path, run: Run) -> None:
    with Store.open(db) as store:
        made(store)
    code, said, _ = run("agreement", "trial", "--json")
    found = shown(said)
    assert code == 0
    assert (found["study"], found["version"], found["protocol"], found["how"]) == ("trial", 1, "tdg", {})
    with Store.open(db) as store:
        expected = [
            json.loads(msgspec.json.encode(one)) for one in study_agreements(store, store.studies.study("trial"))
        ]
    assert found["agreements"] == expected
    one = next(one for one in expected if one["statistic"] == "fleiss kappa")
    assert (one["places"], one["traces"], one["raters"], one["interval"]) == (16, 8, 3, "jackknife-t")


def test_a_bootstrap_is_the_same_with_the_same_seed(db: Path, run: Run) -> None:
    with Store.open(db) as store:
        made(store)
    first = run("agreement", "trial", "--bootstrap", "300", "--seed", "4", "--json")[1]
    delete_cache(db)
    assert run("agreement", "trial", "--bootstrap", "300", "--seed", "4", "--json")[1] == first
    assert run("agreement", "trial", "--bootstrap", "300", "--seed", "5", "--json")[1] != first
    assert shown(first)["how"] == {"interval": "bootstrap", "resamples": 300, "seed": 4}
    assert "300 resamples of runs, seed 4" in run("agreement", "trial", "--bootstrap", "300", "--seed", "4")[1]


@pytest.mark.parametrize("how", [IntervalTerms(), IntervalTerms("bootstrap", resamples=300)])
def test_clusters_that_are_no_runs_are_called_what_they_are(
    how: IntervalTerms, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Agreement(
        "overall", "percent", 0.75, low=0.5, high=0.9, interval=how.interval, places=40, units=40, traces=12, raters=3,
        clusters="user",
    )  # fmt: skip
    print_agreement(StudyAgreement("d2", 1, "Sets", "pairwise-sets", False, "", how, (one,)), {})
    said = capsys.readouterr().out
    assert "n: 40 items, 12 users, 3 raters" in said
    assert ("300 resamples of users" if how.interval == "bootstrap" else "leaving out one user after another") in said
    assert " run" not in said


@pytest.mark.parametrize(
    ("raters", "sentence"), [((), "nobody's answers are handed in yet"), ((R2,), "only R2 has answered")]
)
def test_where_there_is_no_number_a_sentence_says_why(
    db: Path, run: Run, raters: tuple[Actor, ...], sentence: str
) -> None:
    with Store.open(db) as store:
        study = Answered(store, [Unit("u1", ("run1",), targets=NODES)], protocol("tdg"))
        for rater in raters:
            study.says(rater, "u1", "a", "state", "completed")
            study.hands_in(rater, "u1")
    code, said, wrong = run("agreement", "trial")
    assert (code, wrong) == (0, "")
    lines = [line for line in said.splitlines()[1:] if line]
    assert lines[0].startswith(f"No number: {sentence}")
    assert lines[0].endswith(").") == (len(lines) > 1), "each of several reasons names its questions"
    assert len(lines) == len(set(lines)) <= 3, "each reason once, not for each question"
    for absent in (" nan", "n: 0 items", "intervals", "star"):
        assert absent not in said


def test_what_is_undefined_is_no_number(db: Path, run: Run) -> None:
    units = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(4)]
    with Store.open(db) as store:
        study = Answered(store, units, protocol("tdg"))
        study.table("state", (R1, R2, R3), {(one.id, "a"): "ccc" for one in units}, {"c": "completed"})
    _, said, _ = run("agreement", "trial")
    line = next(line for line in said.splitlines() if "fleiss kappa" in line)
    assert line.split() == ["fleiss", "kappa", "undefined", "-", "one", "category"]


def test_what_cannot_be_is_refused(db: Path, run: Run) -> None:
    with Store.open(db) as store:
        made(store)
    assert run("agreement")[0] == 2
    assert run("agreement", "trial", "--cases", "x.json")[0] == 2
    code, _, wrong = run("agreement", "nothing")
    assert code == 1
    assert "study nothing" in wrong
    assert run("agreement", "trial@9")[0] == 1


# -- what is kept ----------------------------------------------------------------------------------------------


def kept_files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "CACHE").rglob("*") if path.is_file()]


def kept_value(path: Path) -> Any:
    """The JSON of an entry, which stands below its digest."""
    return json.loads(path.read_bytes().partition(b"\n")[2])


def keep_value(path: Path, value: Any) -> None:
    body = json.dumps(value).encode()
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def marked(tmp_path: Path) -> None:
    """Makes what is kept tell itself from what is computed."""
    for path in kept_files(tmp_path):
        value = kept_value(path)
        value["found"][0]["value"] = 0.123456
        keep_value(path, value)


def test_what_was_computed_is_taken_until_something_comes_in(db: Path, tmp_path: Path) -> None:
    with Store.open(db) as store:
        study = made(store)
        first = study_agreements(store, study.study)
        assert study_agreements(store, study.study) == first
        marked(tmp_path)
        assert study_agreements(store, study.study)[0].value == 0.123456
        Answered(store, [Unit("x", ("runx",), targets=NODES)], protocol("tdg"), id="other")
        assert study_agreements(store, study.study)[0].value == 0.123456  # of another study
        study.hands_in(R1, "u0")
        again = study_agreements(store, study.study)
        assert again[0].value not in (0.123456, first[0].value)
        assert again[0].missing == 0


def test_it_is_kept_apart_by_study_and_way(db: Path, tmp_path: Path) -> None:
    with Store.open(db) as store:
        study = made(store)
        other = Answered(store, [Unit("x", ("runx",), targets=NODES)], protocol("tdg"), id="other")
        for how in (
            IntervalTerms(),
            IntervalTerms("bootstrap", resamples=200, seed=1),
            IntervalTerms("bootstrap", resamples=200, seed=2),
        ):
            study_agreements(store, study.study, how)
        study_agreements(store, other.study)
        assert len(kept_files(tmp_path)) == 4
        assert study_agreements(store, other.study)[0].undefined


def test_another_file_of_that_name_is_another(db: Path, tmp_path: Path) -> None:
    with Store.open(db) as store:
        study = made(store)
        study_agreements(store, study.study)
    marked(tmp_path)
    for path in tmp_path.glob("lab.db*"):
        path.unlink()
    with Store.open(db) as store:
        study = made(store)
        assert study_agreements(store, study.study)[0].value != 0.123456


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"study": 1}', b"\xff\xfe"])
def test_what_is_broken_is_ignored(db: Path, tmp_path: Path, broken: bytes) -> None:
    with Store.open(db) as store:
        study = made(store)
        first = study_agreements(store, study.study)
        [path] = kept_files(tmp_path)
        path.write_bytes(broken)
        assert study_agreements(store, study.study) == first
        assert kept_value(path)["code"] == code_sha()


def test_another_program_s_numbers_are_not_taken(db: Path, tmp_path: Path) -> None:
    with Store.open(db) as store:
        study = made(store)
        first = study_agreements(store, study.study)
        marked(tmp_path)
        [path] = kept_files(tmp_path)
        keep_value(path, kept_value(path) | {"code": "0" * 64})
        assert study_agreements(store, study.study) == first


def test_a_folder_that_cannot_be_written_is_no_hindrance(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with Store.open(db) as store:
        study = made(store)
        assert study_agreements(store, study.study) == study_agreements(store, study.study)


def test_only_numbers_are_kept_for_this_user_alone(db: Path, tmp_path: Path) -> None:
    with Store.open(db) as store:
        study = made(store)
        study_agreements(store, study.study)
    [path] = kept_files(tmp_path)
    assert path.stat().st_mode & 0o077 == 0
    assert b"secret" not in path.read_bytes()
    assert b"R2" not in path.read_bytes()
    found = [msgspec.convert(one, Agreement) for one in kept_value(path)["found"]]
    assert len(found) > 10


def test_who_withdraws_goes_from_what_is_kept(db: Path, tmp_path: Path, run: Run) -> None:
    with Store.open(db) as store:
        made(store)
    assert run("agreement", "trial")[0] == 0
    assert len(kept_files(tmp_path)) == 1
    assert run("withdraw", "R2", "--yes")[0] == 0
    assert kept_files(tmp_path) == []
    said = shown(run("agreement", "trial", "--json")[1])
    assert {one["raters"] for one in said["agreements"] if "between" not in one and one.get("places")} == {2}


def test_who_withdrew_elsewhere_goes_from_what_is_kept_with_the_merge(db: Path, tmp_path: Path, run: Run) -> None:
    with Store.open(db) as store:
        made(store)
    copy = tmp_path / "copy.db"
    assert run("pack", str(copy))[0] == 0
    assert run("withdraw", "R2", "--yes", "--db", str(copy))[0] == 0
    assert run("agreement", "trial")[0] == 0
    assert len(kept_files(tmp_path)) == 1
    assert run("merge", str(copy))[0] == 0
    assert kept_files(tmp_path) == []


def test_a_study_that_is_not_locked_is_told_as_it_stands(db: Path) -> None:
    with Store.open(db) as store:
        study = made(store)
        columns = load_study_data(store, study.study).columns
        assert columns.open == 2
        computed: list[str] = []

        def compute() -> list[Agreement]:
            computed.append("once")
            return []

        for _ in range(2):
            assert cached_agreements(store, study.study, IntervalTerms(level=0.9), compute) == []
        assert computed == ["once"]


def test_what_is_kept_is_told_without_anything_heavy(db: Path) -> None:
    with Store.open(db) as store:
        study = made(store)
        study_agreements(store, study.study)
    code = (
        "import sys; from lab.cli.main import main; main(['agreement', 'trial', '--json']); "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'textual', 'litellm', 'av')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert shown(ran.stdout)["study"] == "trial"
