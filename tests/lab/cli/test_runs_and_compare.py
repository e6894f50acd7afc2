"""The commands `runs` and `compare`: what they print, what they refuse, and for whom they are not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.cli.runs.run_text import print_run
from lab.core.run.run_records import Verdict
from lab.core.run.trace import Started, fold
from lab.core.task.task import Actor, Task
from store.store import Store
from tests.screens.compare.sample_pair import ONE, OTHER, THIRD, bare, one, other
from tests.screens.table.sample_runs import RUNS, made

SAMPLES = Path(__file__).parents[3].parent / "shared" / "traces" / "mobileworld" / "runs"


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        store.runs.add_all([*(made(run) for run in RUNS), one(), other(), bare()])
    return str(path)


def printed(capsysbinary: pytest.CaptureFixture[bytes], *args: str, code: int = 0) -> Any:
    assert main([*args, "--json"]) == code
    return json.loads(capsysbinary.readouterr().out)


def test_runs_filters_sorts_and_tells_what_fits(db: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    table = printed(capsysbinary, "runs", "agent:qwen", "score<1", "--sort", "steps-", "--db", db)
    assert (table["total"], table["fit"], table["groups"]) == (9, 2, [])
    assert [(run["id"], run["steps"], run["score"], run["tokens"]) for run in table["runs"]] == [
        ("a1", 4, 0.5, 16040), ("a3", 9, 0.0, None),
    ]  # fmt: skip
    table = printed(capsysbinary, "runs", "task:lunch tokens>0", "--sort", "tokens", "--limit", "2", "--db", db)
    assert [(run["id"], run["tokens"], run["cost"]) for run in table["runs"]] == [
        ("a1", 16040, pytest.approx(0.016)), (OTHER, 7140, pytest.approx(0.07)),
    ]  # fmt: skip
    assert table["fit"] == 4


def test_a_word_with_a_minus_is_no_option_wherever_it_stands(
    db: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    def ids(*words: str) -> set[str]:
        return {run["id"] for run in printed(capsysbinary, "runs", *words, "--db", db)["runs"]}

    every = ids()
    assert ids("-qwen") == every - ids("qwen") != every
    assert ids("-hello", "-status:open") == every - ids("status:open") != every
    assert ids("task:lunch", "--sort", "steps", "-qwen", "tokens>0") == ids("task:lunch tokens>0 -qwen")
    with pytest.raises(SystemExit):
        main(["runs", "-qwen", "--nope", "--db", db])
    with pytest.raises(SystemExit):
        main(["runs", "list", "-h"])
    assert b"-status:failed" in capsysbinary.readouterr().out


def test_runs_groups_and_says_what_is_undefined(db: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    groups = printed(capsysbinary, "runs", "-", "--group", "agent", "--db", db)["groups"]
    mean = {group["name"]: (group["mean_score"], group["n"], group["missing"]) for group in groups}
    assert mean["qwen-72b"] == (0.25, 2, 0)
    assert mean["gpt-5"] == (1.0, 1, 1)
    assert mean["kimi"] == (None, 0, 1)
    assert main(["runs", "agent:kimi", "--group", "agent", "--db", db]) == 0
    assert b"undefined (no score)" in capsysbinary.readouterr().out


def test_runs_prints_a_table_of_plain_characters(db: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["runs", "--costs", "--db", db]) == 0
    out = capsysbinary.readouterr().out.decode()
    assert "9 of 9 runs" in out
    assert "$0.0160" in out
    assert "\x1b" not in out
    assert main(["runs", "zebra", "--db", db]) == 0
    assert capsysbinary.readouterr().out.decode() == "0 of 9 runs\n"


@pytest.mark.parametrize(
    ("more", "last"),
    [
        (["--limit", "2"], "9 of 9 runs, the first 2 shown"),
        (["--limit", "9"], "9 of 9 runs"),
        (["--group", "agent", "--limit", "1"], "9 of 9 runs in 7 groups, the first 1 shown"),
    ],
)
def test_a_table_that_is_cut_says_so(
    db: str, capsysbinary: pytest.CaptureFixture[bytes], more: list[str], last: str
) -> None:
    assert main(["runs", *more, "--db", db]) == 0
    assert capsysbinary.readouterr().out.decode().splitlines()[-1] == last


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["agnt:x"], "there is no field 'agnt'"),
        (["--sort", "foo"], "--sort 'foo' is none of newest, task"),
        (["--group", "score"], "--group 'score' is none of task, agent"),
        (["--limit", "0"], "--limit 0 is less than one"),
    ],
)
def test_what_runs_cannot_do_is_a_sentence(
    db: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", *words, "--db", db]) == 2
    assert said in capsys.readouterr().err


def test_compare_marks_the_first_difference(db: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", ONE, OTHER, "--db", db]) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if "►" in line]
    assert line.split() == ["►≠", "2", "tap", '"Search"', "2", "type", '"milk"']
    assert 'the first: tap "Search"  /  type "milk"' in out
    assert "task   The usual lunch" in out
    assert main(["compare", ONE, ONE, "--db", db]) == 0
    assert "both did the same" in capsys.readouterr().out
    assert main(["compare", ONE, THIRD, "--db", db]) == 0
    out = capsys.readouterr().out
    assert "two tasks: " in out
    assert main(["compare", ONE, THIRD, "--db", db, "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    apart = sum(not pair["same"] for pair in pairs)
    assert apart > 2
    assert f"two tasks: {apart} of {len(pairs)} places differ; the first: " in out
    assert "\x1b" not in out


def test_compare_tells_two_playbooks_apart(db: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open(Path(db)) as store:
        for id, name in (("p1", "playbook"), ("p2", "playbook:no-room")):
            agent = Actor("script", name, "playbook agent")
            store.runs.append_event(id, Started(trace=id, task=Task("lunch", "general"), agent=agent, seq=0))
    assert main(["compare", "p1", "p2", "--db", db]) == 0
    out = capsys.readouterr().out
    assert "left   playbook   " in out
    assert "right  playbook:no-room   " in out


def test_compare_prints_one_document(db: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    compared = printed(capsysbinary, "compare", ONE, OTHER, "--db", db)
    assert (compared["same_task"], compared["first"], compared["differences"]) == (True, 1, [1, 7])
    assert compared["left"]["tokens"] == 6120
    assert compared["pairs"][2] == {
        "left": None, "right": 3, "same": False, "left_words": "no step", "right_words": "back", "end": False,
    }  # fmt: skip
    assert [pair["end"] for pair in compared["pairs"]].index(True) == 7
    assert compared["pairs"][7]["left"] is None
    refused = printed(capsysbinary, "compare", ONE, "nowhere", "--db", db, code=1)
    assert refused["error"] == "run nowhere"


@pytest.mark.parametrize("seat", ["participant", "rater"])
def test_who_may_not_see_outcomes_has_neither(
    db: str, seat: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HITLAB_SEAT", seat)
    for words in (["runs", "list"], ["compare", ONE, OTHER], ["traces"], ["show", ONE]):
        assert main([*words, "--db", db]) == 1
        assert f"is not there for the seat {seat}" in capsys.readouterr().err


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample traces are not on this machine")
def test_two_models_at_one_task_of_the_samples(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    db = str(tmp_path / "lab.db")
    assert main(["import", str(SAMPLES), "--db", db]) == 0
    capsysbinary.readouterr()
    groups = printed(capsysbinary, "runs", "task:SetAlarmTaskAskUser1", "--group", "agent", "--db", db)["groups"]
    assert len(groups) == 4
    runs = printed(capsysbinary, "runs", "task=SetAlarmTaskAskUser1", "--db", db)["runs"]
    compared = printed(capsysbinary, "compare", runs[0]["id"], runs[1]["id"], "--db", db)
    steps = [pair for pair in compared["pairs"] if not pair["end"]]
    assert [pair["left"] for pair in steps if pair["left"]] == list(range(1, runs[0]["steps"] + 1))
    assert [pair["right"] for pair in steps if pair["right"]] == list(range(1, runs[1]["steps"] + 1))


def test_what_a_source_says_without_a_value_is_no_verdict_of_none(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    trace = fold(event for event in one().events)
    print_run(
        trace, "x.db", [Verdict("source", extra={"left_out": 1}), Verdict("judge", 0.0), Verdict("irr", None, "no")]
    )
    told = capsysbinary.readouterr().out.decode()
    assert [line for line in told.splitlines() if line.startswith("source")] == [
        "source  judge: 0.0",
        "source  irr: (no)",
    ]
