"""Commands answer a name that there is not with the one that may have been meant; and whom they tell it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli.main import main
from lab.core.run.run_records import Imported, number_events
from lab.core.run.trace import Started
from lab.core.task.task import Actor, Task
from store.store import Store
from tests.studied_runs import RUNS

Said = Callable[..., tuple[int, str]]
TRIAL = ["study", "new", "success", "--name", "trial", "--runs", "all", "--raters", "Ann,Bea", "--even-so"]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs one command over a file with runs and the study `trial`; its exit code and what it said of errors."""
    monkeypatch.chdir(tmp_path)
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add_all(RUNS)
    assert main(TRIAL) == 0
    assert main(["study", "deal", "trial"]) == 0

    def called(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        try:
            code = main(args)
        except SystemExit as left:
            code = int(left.code or 0)
        return code, capsys.readouterr().err

    return called


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("tarces", "there is no 'tarces'; did you mean runs list? `hitlab --help` lists what is."),
        ("deal trial", "there is no 'deal'; did you mean study deal? `hitlab --help`"),
        ("scrcpy", "there is no 'scrcpy'; did you mean settings scrcpy?"),
        ("study statsu", "there is no 'statsu'; did you mean status? `hitlab study --help` lists what is."),
        (
            "study zzzz",
            "there is no 'zzzz'. The name of a study follows a verb: `hitlab study status zzzz`. "
            "`hitlab study --help` lists what is.",
        ),
        ("--jsno traces", "unrecognized arguments: --jsno"),
        ("traces --jsno", "hitlab traces: error: unrecognized arguments: --jsno; did you mean --json?"),
        ("traces --limt=4", "unrecognized arguments: --limt=4; did you mean --limit?"),
        (
            "study status trial --jsno",
            "hitlab study status: error: unrecognized arguments: --jsno; did you mean --json?",
        ),
        ("label trial --keep-goign", "unrecognized arguments: --keep-goign; did you mean --keep-going?"),
        ("runs --goup agent", "unrecognized arguments: --goup; did you mean --group?"),
        ("device scrcpy --baze x", "unrecognized arguments: --baze x"),
        ("show a b", "hitlab runs show: error: unrecognized arguments: b"),
        ("live usual_lunch --log clena", "(choose from clean, noise, none); did you mean clean?"),
        ("import x --format fingertp", "did you mean fingertip?"),
        ("completion fihs", "did you mean fish?"),
        ("metrics --paper knwou", "is none of pspa, dac, knowu"),
        ("metrics --step-budget much", "argument --step-budget: 'much' is no number"),
        ("run usual_lunch --jobs 1.5", "argument --jobs: '1.5' is no whole number"),
        ("runs --limit few", "argument --limit: 'few' is no whole number"),
        ("metrics --lambda 2", "argument --lambda: '2' is no number from 0 to 1"),
    ],
)
def test_what_the_command_line_does_not_take(said: Said, line: str, sentence: str) -> None:
    code, words = said(*line.split())
    assert code == 2
    assert sentence in words


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("live usual_lnch --headless", "usual_lunch"),
        ("run way_hoem", "way_home"),
        ("tasks usual_lnch", "usual_lunch"),
        ("personas inse", "ines"),
        ("live usual_lunch --headless --persona ross", "rosa"),
        ("live usual_lunch --headless --agent playbok", "playbook"),
        ("live usual_lunch --headless --agent modle:x", "model:x"),
        ("live usual_lunch --headless --agent model", "model:NAME"),
        ("live usual_lunch --headless --agent recorded:", "recorded:ID"),
        ("live usual_lunch --headless --user model:", "model:NAME"),
        ("live usual_lunch --headless --agent playbook:wrong-dihs", "wrong-dish"),
        ("live usual_lunch --headless --user scirpt", "script"),
        ("live usual_lunch --headless --user script:usual_lnch", "usual_lunch"),
        ("live usual_lunch --headless --break action:clik", "click"),
        ("live usual_lunch --headless --break app:Caledar", "calendar"),
        ("protocols tgd", "tdg"),
        ("schema tsak", "task"),
        ("study new sucess --runs all --raters A", "success"),
        ("study new success --runs all --raters A --reveal outcom", "outcome"),
        ("study status trail", "trial"),
        ("study open Trial --as Ann", "trial"),
        ("study open trial --as Bee", "Bea"),
        ("study replace trial Amn --by Cy", "Ann"),
        ("study release trial Amn", "Ann"),
        ("study links trial --again Amn", "Ann"),
        ("study kit trial --rater Amn --out x.db", "Ann"),
        ("labels trail", "trial"),
        ("agreement trail", "trial"),
        ("serve --study trail", "trial"),
        ("runs statsu:failed", "status"),
        ("runs status:faild", "failed"),
        ("runs --sort scor", "score"),
        ("runs --group agnet", "agent"),
        ("metrics --by agnet", "agent"),
        ("author usual_lnch --show --as D1", "usual_lunch"),
        ("adjudicate trial --list --field outcom", "outcome"),
    ],
)
def test_a_name_is_looked_up_in_vain(said: Said, line: str, meant: str) -> None:
    code, words = said(*line.split())
    assert code in (1, 2)
    assert f"; did you mean {meant}?" in words
    assert words.count("\n") == 1


def test_a_runs_id_is_suggested_by_its_beginning_and_by_its_task(said: Said, tmp_path: Path) -> None:
    started = Started(trace="0198ab34-77", task=Task("feed_cat", "general"), agent=Actor("script", "a"))
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add(Imported(number_events([started]), {}, []))
    assert "run 0198ba34: is not in" in said("show", "0198ba34")[1]
    assert "; did you mean 0198ab34? `hitlab runs list` lists what is." in said("show", "0198ba34")[1]
    assert "; did you mean feed_cat?" in said("compare", "fed_cat", "0198")[1]
    assert "; did you mean feed_cat?" in said("fork", "feed_cta@1", "--reject", "--headless")[1]


def test_settings_are_suggested_as_they_are_written(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITLAB_PERSN", "R1")
    assert "field HITLAB_PERSN: unknown" in said("where")[1]
    assert "did you mean HITLAB_PERSON?" in said("where")[1]


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_who_may_not_list_names_is_suggested_none(said: Said, monkeypatch: pytest.MonkeyPatch, seat: str) -> None:
    """Neither studies that are not theirs, nor other raters, nor runs; built-in names are no secret."""
    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    run = RUNS[0].id
    lines = [
        ["study", "open", "trail"],
        ["study", "open", "trial", "--as", "Bee"],
        ["replay", run[:-1] + "~"],
        ["label", "trail"],
        ["labels", "trail"],
        ["labels", "trial", "--unit", run[:-1] + "~"],
        ["review", run[:-1] + "~", "--show"],
        ["privacy", run[:-1] + "~", "--show"],
    ]
    assert all("did you mean" in said(*line)[1] for line in lines[:3])
    monkeypatch.setenv("HITLAB_SEAT", seat)
    monkeypatch.setenv("HITLAB_PERSON", "Ann")
    for line in lines:
        code, words = said(*line)
        assert (line, code, "did you mean" in words) == (line, 1, False)
    assert "did you mean runs list?" in said("tarces")[1]
