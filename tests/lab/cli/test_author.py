"""`hitlab tasks design` without a screen: drafting, another person's word, freezing, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.core.settings import Settings
from lab.core.task.design import first_draft, subject_of
from lab.core.task.task import Actor, load_task
from lab.studies.designing.design_drafts import task_design
from simulators import library
from store.store import Store
from tests.lab.cli.test_commands import Hitlab, hitlab, needs_runs
from tests.lab.fitting import fits

__all__ = ["hitlab"]

RUNS = Path(__file__).parents[3].parent / "shared" / "traces" / "mobileworld" / "runs"


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever names nobody else is P01."""
    monkeypatch.setenv("HITLAB_PERSON", "P01")


def test_what_is_drafted_is_signed_by_somebody(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HITLAB_PERSON")
    refused = hitlab("author", "poster_kit", "--begin", "task")
    assert (refused.code, refused.out) == (2, "")
    assert (
        "tasks design: is signed with a study code, and none was given. --person CODE says who you are." in refused.err
    )
    assert shown(hitlab("author", "--list", "--json"), "author-list") == []


def shown(done: Any, name: str = "author") -> Any:
    assert done.code == 0, done.err
    fits(done.json, name)
    return done.json


def test_a_task_s_own_design_is_drafted_verified_frozen_and_written(hitlab: Hitlab, tmp_path: Path) -> None:
    refused = hitlab("author", "poster_kit", "--show")
    assert (refused.code, refused.out) == (1, "")
    assert "--begin task" in refused.err
    drafted = shown(hitlab("author", "poster_kit", "--begin", "task", "--as", "P01", "--json"))
    assert (drafted["version"], drafted["state"], drafted["authors"], drafted["problems"]) == (1, "draft", ["P01"], [])
    out = tmp_path / "design.yaml"
    early = hitlab("author", "poster_kit", "--out", out)
    assert "is draft, not verified" in early.err
    assert not out.exists()
    assert shown(hitlab("author", "poster_kit", "--submit", "--json"))["state"] == "submitted"
    own = hitlab("author", "poster_kit", "--verify", "--as", "P01")
    assert (own.code, own.out) == (1, "")
    assert "was drafted by P01; another person verifies it" in own.err
    done = shown(hitlab("author", "poster_kit", "--verify", "--as", "P02", "--json"))
    assert (done["state"], done["frozen"], done["by"]) == ("verified", 1, "P02")
    assert "never changes" in hitlab("author", "poster_kit", "--begin", "golden").err
    assert hitlab("author", "poster_kit", "--out", out).code == 0
    assert "is there already" in hitlab("author", "poster_kit", "--out", out).err
    task = library.task("poster_kit")
    out.write_text("kind: general\ninstruction: Do it.\n" + out.read_text(encoding="utf-8"), encoding="utf-8")
    assert task_design(load_task(out)) == task_design(task)


def test_it_is_sent_back_with_words_and_mended_from_a_file(hitlab: Hitlab, tmp_path: Path) -> None:
    units = tmp_path / "units.yaml"
    units.write_text("units: [{id: price, name: The price, source: Noshwell}]\n", encoding="utf-8")
    hitlab("author", "usual_lunch", "--begin", "golden")
    drafted = shown(hitlab("author", "usual_lunch", "--draft", units, "--json"))
    assert [problem["key"] for problem in drafted["problems"]] == ["units/price", "units/price"]
    assert len(drafted["design"]["tdg"]["nodes"]) > 5
    unsound = hitlab("author", "usual_lunch", "--submit")
    assert "cannot be submitted yet: Unit 'price' is explicit but has no value. (1 more)" in unsound.err
    units.write_text("units: [{id: price, name: The price, value: '8', source: Noshwell, used: answer}]\n")
    told = hitlab("author", "usual_lunch", "--draft", units)
    assert "is a draft; --submit hands it on" in told.out
    hitlab("author", "usual_lunch", "--submit")
    assert (
        "sent back by P02 (which price?)"
        in hitlab("author", "usual_lunch", "--object", "which price?", "--as", "P02").out
    )
    text = hitlab("author", "usual_lunch", "--show").out
    for words in (
        "design of usual_lunch, version 1: objected", "[ask_how_hot_it_should_be_today]", "price: The price = 8",
        "laid in units.yaml", "object  P02: which price?", "╭",
    ):  # fmt: skip
        assert words in text
    assert hitlab("author", "usual_lunch", "--submit").code == 0
    assert hitlab("author", "usual_lunch", "--reopen").code == 0
    assert shown(hitlab("author", "usual_lunch", "--show", "--json"))["state"] == "draft"
    lines = shown(hitlab("author", "--list", "--json"), "author-list")
    assert [(line["task"], line["state"], line["frozen"]) for line in lines] == [("usual_lunch", "draft", None)]
    assert "usual_lunch" in hitlab("author", "--list").out


def test_two_drafts_made_at_once_are_said_and_settled(hitlab: Hitlab, tmp_path: Path) -> None:
    db = tmp_path / "lab.db"
    task = library.task("night_mode")
    hitlab("author", "night_mode", "--begin", "task", "--db", db)
    with Store.open(db) as store:
        theirs = first_draft(subject_of(task), Actor("human", "P02"), task_design(task))
        assert len(store.designs.append(theirs)) == 2
    refused = hitlab("author", "night_mode", "--submit", "--db", db)
    assert "nothing of them is lost. They are by P01, P02" in refused.err
    assert "2 beside each other" in hitlab("author", "--list", "--db", db).out
    assert hitlab("author", "night_mode", "--settle", "nonsense", "--db", db).code == 1
    settled = shown(hitlab("author", "night_mode", "--settle", theirs.id, "--json", "--db", db))
    assert settled["state"] == "draft"
    assert len(settled["history"]) == 3


@needs_runs
def test_an_imported_run_whose_benchmark_ships_none_gets_its_design(hitlab: Hitlab) -> None:
    first = sorted((RUNS / "claude-opus-4.6").iterdir())[0]
    same = [folder / first.name for folder in RUNS.iterdir() if (folder / first.name).is_dir()][:2]
    assert hitlab("import", *same).code == 0
    run = hitlab("traces", "--json").json[-1]
    assert hitlab("author", run["task"], "--begin", "task").code == 1
    drafted = shown(hitlab("author", run["id"][:9], "--begin", "run", "--json"))
    assert drafted["task"] == run["task"]
    assert drafted["problems"] == []
    assert all(link.startswith(run["id"]) for links in drafted["design"]["evidence"].values() for link in links)
    # Another model's run of the same task has the same design.
    other = hitlab("traces", "--json").json[0]["id"]
    assert shown(hitlab("author", other, "--show", "--json"))["id"] == drafted["id"]
    assert shown(hitlab("author", run["task"], "--run", other, "--show", "--json"))["id"] == drafted["id"]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["author"], 2, "needs a TASK"),
        (["author", "nonsense", "--show"], 1, "neither a task's name or file nor a run"),
        (["author", "poster_kit", "--even-draft"], 2, "goes with --out"),
        (["author", "poster_kit", "--begin", "run"], 1, "has no run in this file"),
        (["author", "poster_kit", "--draft", "none.yaml"], 1, "none.yaml: is not there"),
        (["author", "poster_kit"], 2, "there is no terminal here"),
        (["author", "poster_kit", "--json"], 2, "--json goes with"),
        (["author", "poster_kit", "--submit", "--verify"], 2, ""),
        (["author", "poster_kit", "--submit", "--as", "Jane Doe"], 2, "no study code"),
        (["author", "poster_kit", "--submit"], 1, "is not there yet"),
    ],
)
def test_bad_input_gets_one_sentence(hitlab: Hitlab, args: list[str], code: int, words: str) -> None:
    with_file = hitlab("author", "night_mode", "--begin", "task")
    assert with_file.code == 0
    done = hitlab(*args)
    assert done.code == code
    assert words in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("seat", ["participant", "rater"])
def test_other_seats_have_no_such_command(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, seat: str) -> None:
    monkeypatch.setenv("HITLAB_SEAT", seat)
    for line in ("author poster_kit", "author --list", "author poster_kit --show"):
        done = hitlab(*line.split())
        assert (done.code, done.out) == (1, "")
        assert f"seat {seat}" in done.err


def test_the_screen_opens_on_the_newest_run_of_the_task(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    def open_app(store: object, settings: Settings, opening: object) -> int:
        opened.append((settings.person, opening))
        return 0

    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    monkeypatch.setattr("lab.cli.app.run_app", open_app)
    assert hitlab("author", "night_mode", "--as", "D7").code == 0
    hitlab("live", "night_mode", "--headless")
    run = hitlab("live", "night_mode", "--headless", "--json").json["trace"]
    assert hitlab("author", "night_mode").code == 0
    assert [(who, o.screen, o.task.id, o.trace_id) for who, o in opened] == [
        ("D7", "author", "night_mode", None), ("P01", "author", "night_mode", run),
    ]  # fmt: skip
    wrong = hitlab("author", "poster_kit", "--run", run)
    assert "is not one of the task poster_kit" in wrong.err
