"""Every command as a user gives it: what it prints, what it refuses, the one document of --json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from lab.cli.arguments import Parser
from lab.cli.commands import all_commands
from lab.cli.main import main
from lab.core.codec import read_yaml
from lab.core.settings import Settings
from simulators import library
from tests.lab.fitting import fits
from tests.lab.openings import openings
from tests.warm import run

SHARED = Path(__file__).parents[3].parent / "shared" / "traces"
RUNS = SHARED / "mobileworld" / "runs"
needs_runs = pytest.mark.skipif(not RUNS.is_dir(), reason="the recorded MobileWorld runs are not here")


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Hitlab = Callable[..., Done]


@pytest.fixture
def hitlab(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hitlab:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.chdir(tmp_path)

    def run(*args: object) -> Done:
        capfd.readouterr()
        try:
            code = main([str(arg) for arg in args])
        except SystemExit as exit:
            code = int(exit.code or 0)
        return Done(code, *capfd.readouterr())

    return run


def test_the_demo_prints_one_document_and_its_run_can_be_listed_and_shown(hitlab: Hitlab) -> None:
    result = hitlab("demo", "--headless", "--json").json
    assert fits(result, "demo")
    assert (result["status"], result["score"]) == ("completed", 1.0)
    assert result["steps"] >= 5
    assert result["questions"] >= 1
    assert result["replies"] == result["questions"]

    [line] = hitlab("traces", "--json").json
    assert fits([line], "traces")
    assert {key: line[key] for key in ("id", "steps", "questions", "score")} == {
        "id": result["trace"],
        "steps": result["steps"],
        "questions": result["questions"],
        "score": 1.0,
    }
    shown = hitlab("show", result["trace"][:13], "--json").json
    assert fits(shown, "show")
    assert len(shown["steps"]) == result["steps"]
    told = hitlab("show", result["trace"]).out
    assert "agent asks" in told
    assert "answers" in told


def test_the_demo_without_a_terminal_tells_the_run(hitlab: Hitlab) -> None:
    done = hitlab("demo")
    assert done.code == 0
    assert "agent asks" in done.out
    assert "completed, score 1" in done.out


def test_events_are_printed_as_lines_that_the_file_holds(hitlab: Hitlab) -> None:
    done = hitlab("live", "usual_lunch", "--events", "--db", "e.db")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["event"] for event in (events[0], events[-1])] == ["started", "ended"]
    assert [event["seq"] for event in events] == list(range(len(events)))
    kinds = {event["event"]: event for event in events}
    assert set(kinds) == {"started", "acting", "asked", "answered", "step", "ended"}
    for event in kinds.values():
        assert fits(event, "event")


@pytest.mark.parametrize("name", ["tasks", "personas", "where", "keys", "doctor"])
def test_lists_fit_their_schema(hitlab: Hitlab, name: str) -> None:
    done = hitlab(name, "--json")
    assert done.code in (0, 3)
    assert fits(done.json, name)
    assert done.json
    assert hitlab(name).out.strip()


def test_every_schema_is_a_schema(hitlab: Hitlab) -> None:
    names = hitlab("schema", "--json").json
    assert "task" in names
    parts: set[str] = set()  # most schemas are made of the same ones; each is checked once
    for name in names:
        schema = hitlab("schema", name).json
        parts |= {json.dumps(part) for part in schema.pop("$defs", {}).values()}
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["title"] == name
    for part in parts:
        jsonschema.Draft202012Validator.check_schema(json.loads(part))
    refused = hitlab("schema", "nothing")
    assert refused.code == 1
    assert "nothing" in refused.err
    assert hitlab("schema", "redact").err.count("did you mean runs-redact?") == 1
    for words, name in (("runs list", "runs"), ("runs-redact-show", "privacy-show"), ("file withdraw", "withdraw")):
        assert hitlab("schema", words).json == hitlab("schema", name).json | {"title": words.replace(" ", "-")}


@needs_runs
def test_import_counts_what_came_in_and_a_second_time_nothing(hitlab: Hitlab) -> None:
    first = hitlab("import", RUNS, "--db", "x.db", "--json").json
    assert fits(first, "import")
    assert (first["imported"], first["skipped"], first["failed"]) == (26, 0, [])
    assert first["formats"] == {"knowu": {"imported": 26, "skipped": 0, "failed": 0}}
    again = hitlab("import", RUNS, "--db", "x.db", "--json").json
    assert (again["imported"], again["skipped"], again["failed"]) == (0, 26, [])
    runs = hitlab("traces", "--db", "x.db", "--json").json
    assert (len(runs), sum(r["questions"] for r in runs), sum(r["replies"] for r in runs)) == (26, 33, 33)
    assert {run["source"] for run in runs} == {"knowu"}


@needs_runs
def test_what_is_broken_is_named_and_the_rest_comes_in(hitlab: Hitlab, tmp_path: Path) -> None:
    whole = next(RUNS.rglob("traj.json"))
    good, bad = tmp_path / "in" / "Good" / "traj.json", tmp_path / "in" / "Bad" / "traj.json"
    for path in (good, bad):
        path.parent.mkdir(parents=True)
        path.write_bytes(whole.read_bytes())
    bad.write_bytes(whole.read_bytes()[:500])
    done = hitlab("import", tmp_path / "in", "--json", "--db", "x.db")
    assert done.code == 3
    assert (done.json["imported"], len(done.json["failed"])) == (1, 1)
    assert "Bad" in done.json["failed"][0]["path"]
    assert done.err.count("\n") == 1


def test_pack_makes_a_copy_and_refuses_to_overwrite(hitlab: Hitlab) -> None:
    hitlab("demo", "--headless", "--db", "a.db")
    assert hitlab("pack", "b.db", "--db", "a.db", "--json").json["images"] is True
    small = hitlab("pack", "c.db", "--no-images", "--db", "a.db", "--json").json
    assert small["bytes"] < Path("b.db").stat().st_size
    assert hitlab("traces", "--db", "c.db", "--json").json == hitlab("traces", "--db", "a.db", "--json").json
    assert hitlab("pack", "b.db", "--db", "a.db").code == 1


REFUSED: list[tuple[list[str], int, str]] = [
    (["import", "empty"], 1, "empty"),
    (["import", "nowhere"], 1, "nowhere"),
    (["live", "no_such_task", "--headless"], 1, "no_such_task"),
    (["live", "bad_task.yaml", "--headless"], 1, "instructoin"),
    (["live", "task.yaml", "--headless", "--persona", "bad_persona.yaml"], 1, "bad_persona.yaml"),
    (["live", "--headless"], 2, "TASK"),
    (["live", "usual_lunch", "--headless", "--user", "human"], 2, "--user script"),
    (["live", "usual_lunch", "--headless", "--agent", "oracle"], 2, "oracle"),
    (["live", "usual_lunch", "--headless", "--gate", "ask"], 2, "--gate pass"),
    (["live", "usual_lunch"], 2, "terminal"),
    (["live", "--resume", "0000", "--headless"], 1, "is not there"),
    (["show", "0000", "--db", "not_there.db"], 1, "not_there.db"),
    (["traces", "--db", "text.db"], 1, "text.db"),
    (["traces", "--limit", "0"], 2, "--limit"),
    (["replay", "x@zero"], 2, "zero"),
    (["live", "usual_lunch", "--headless", "--agent", "process:"], 2, "hitlab: agent process: names no command."),
    (["personas", "bad_persona.yaml"], 1, "bad_persona.yaml"),
    (["tasks", "bad_task.yaml"], 1, "instructoin"),
]


@pytest.mark.parametrize(
    ("args", "code", "words"), REFUSED, ids=lambda value: " ".join(value) if isinstance(value, list) else None
)
def test_bad_input_gets_one_sentence(hitlab: Hitlab, args: list[str], code: int, words: str) -> None:
    Path("empty").mkdir()
    Path("text.db").write_text("no database at all, but a text of some length\n" * 40)
    Path("task.yaml").write_text("kind: general\ninstruction: Open the notes\n")
    Path("bad_task.yaml").write_text("kind: general\ninstructoin: Open the notes\n")
    Path("bad_persona.yaml").write_text("user_profile: {identity: [\n")
    done = hitlab(*args)
    assert done.code == code
    assert words in done.err
    assert done.err.startswith("hitlab: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert not done.out


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the app was opened with; the terminal and the app are stood in for, for a command ends before them."""
    seen: list[object] = []

    def open_app(store: object, settings: Settings, opening: object) -> int:
        seen.append(opening)
        return 0

    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    monkeypatch.setattr("lab.cli.app.run_app", open_app)
    return seen


def test_home_makes_the_usual_file_and_no_other_that_is_named(
    hitlab: Hitlab, opened: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = hitlab("--db", "wrong file.db")
    assert (refused.code, opened, Path("wrong file.db").exists()) == (1, [], False)
    assert "database wrong file.db: is not there. `hitlab demo --db 'wrong file.db'` makes a new one" in refused.err
    monkeypatch.setenv("HITLAB_DB", "study.db")
    assert hitlab().code == 0
    assert Path("study.db").exists()
    assert hitlab("--db", "study.db").code == 0
    monkeypatch.delenv("HITLAB_DB")
    assert hitlab().code == 0
    assert len(opened) == 3


def test_a_step_that_a_run_does_not_have_is_refused_before_any_screen(hitlab: Hitlab, opened: list[object]) -> None:
    hitlab("demo", "--headless")
    [(run, steps)] = [(line["id"], line["steps"]) for line in hitlab("traces", "--json").json]
    refused = hitlab("replay", f"{run}@{steps + 2}")
    assert (refused.code, opened) == (1, [])
    assert f"run {run}: has no step {steps + 2}; it has steps 1 to {steps}" in refused.err
    for step in (1, steps, steps + 1):
        assert hitlab("replay", f"{run}@{step}").code == 0
    assert len(opened) == 3


def test_every_command_names_what_it_takes_in_a_class_of_its_own() -> None:
    """Its parser and the class that its function is given name the same things, but for what all have in common."""
    shared = {"db", "json", "window", "run"}
    for words, entry in all_commands():
        parser = Parser()
        adds = getattr(import_module(f"lab.cli.{entry.module}"), f"add_{words}".replace("-", "_").replace(" ", "_"))
        adds(parser)
        typed = {action.dest for action in parser._actions} - shared - {"help"}
        declared = {one for kind in parser.takes.__mro__ for one in vars(kind).get("__annotations__", {})}
        assert typed == declared - shared - {"rejection"}, words


def test_with_json_a_refusal_is_one_document_too(hitlab: Hitlab) -> None:
    done = hitlab("show", "0000", "--db", "not_there.db", "--json")
    assert done.code == 1
    assert fits(done.json, "error")


def test_a_wrong_flag_is_a_usage_error(hitlab: Hitlab) -> None:
    assert hitlab("traces", "--nonsense").code == 2
    assert hitlab("live", "usual_lunch", "--json", "--events").code == 2


@pytest.mark.parametrize("line", ["traces", "show x", "replay x"])
def test_a_participant_is_shown_no_outcomes(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    monkeypatch.setenv("HITLAB_SEAT", "participant")
    done = hitlab(*line.split())
    assert (done.code, done.out) == (1, "")
    assert "participant" in done.err


def test_a_resumed_run_keeps_its_seat(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A participant's run opens a participant's app, and a participant cannot go on with a developer's run."""
    opened: list[str] = []

    def open_app(store: object, settings: Settings, opening: object) -> int:
        opened.append(settings.seat)
        return 0

    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    monkeypatch.setattr("lab.cli.app.run_app", open_app)
    reader, writer = os.pipe()
    os.close(reader)
    for seat in ("participant", "developer"):
        command("live", "flight_alarm", "--events", "--seat", seat, "--db", f"{seat}.db", out=writer)
    os.close(writer)
    assert hitlab("live", "--resume", "flight_alarm", "--db", "participant.db").code == 0
    assert opened == ["participant"]
    refused = hitlab("live", "--resume", "flight_alarm", "--seat", "participant", "--db", "developer.db")
    assert (refused.code, opened) == (1, ["participant"])
    assert "developer" in refused.err


def test_a_participant_s_gate_is_refused_before_a_screen_opens(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    done = hitlab("live", "flight_alarm", "--seat", "participant", "--gate", "ask", "--db", "x.db")
    assert done.code == 2
    assert "lets no actions through. Leave out --gate." in done.err
    assert not Path("x.db").exists()


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("live usual_lunch --agent foo", 2, "agent: 'foo' is none of playbook, playbook:NAME, recorded:ID"),
        ("live usual_lunch --agent recorded:zzz", 1, "run zzz: is not in"),
        ("live usual_lunch --agent process:nothing-of-that-name", 2, "there is no program 'nothing-of-that-name'"),
        ("live usual_lunch --user bar", 2, "user: 'bar' is none of human, script"),
        ("live usual_lunch --user script:none.yaml", 1, "none.yaml"),
        ("live usual_lunch --persona nobody", 1, "persona 'nobody'"),
        ("live usual_lunch --device NOPE", 1, "adb server"),
        ("live usual_lunch --harness http://127.0.0.1:1", 2, "--harness: belongs to a served phone"),
        ("live usual_lunch --break zap", 2, "breakpoint 'zap'"),
        ("live --resume zzz", 1, "database x.db: is not there"),
        ("record --device NOPE", 1, "adb server"),
        ("record --harness http://127.0.0.1:1", 2, "--harness: belongs to a served phone"),
    ],
)
def test_what_a_run_cannot_be_made_of_is_one_sentence_before_any_screen_opens(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, line: str, code: int, said: str
) -> None:
    """No app is made: without a terminal beneath it, one would fail."""
    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    done = hitlab(*line.split(), "--db", "x.db")
    assert done.code == code
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not done.out
    assert not Path("x.db").exists() or hitlab("traces", "--db", "x.db", "--json").json == []


def test_a_fork_to_an_agent_that_is_none_is_refused_before_any_screen_opens(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = hitlab("live", "flight_alarm", "--json", "--db", "x.db").json["trace"]
    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    done = hitlab("fork", f"{run}@2", "--agent", "foo", "--db", "x.db")
    assert (done.code, done.out) == (2, "")
    assert "'foo' is none of playbook" in done.err
    assert len(hitlab("traces", "--db", "x.db", "--json").json) == 1


def test_an_error_and_its_hint_are_two_sentences(hitlab: Hitlab) -> None:
    assert "no terminal here. Add --headless" in hitlab("live", "usual_lunch").err


@pytest.mark.parametrize("pace", ["inf", "nan", "-1", "soon"])
def test_a_pace_that_is_no_time_is_a_usage_error(hitlab: Hitlab, pace: str) -> None:
    assert hitlab("live", "usual_lunch", "--headless", f"--pace={pace}").code == 2


def command(*args: str, out: int, **env: str) -> subprocess.CompletedProcess[bytes]:
    """`hitlab ARGS` as a process of its own, its standard output going to the file descriptor `out`."""
    return run(args, stdout=out, env=os.environ | env)


def test_events_that_nobody_reads_leave_the_run_open_without_a_word(hitlab: Hitlab) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = command("live", "flight_alarm", "--events", "--db", "e.db", out=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [run["status"] for run in hitlab("traces", "--db", "e.db", "--json").json] == ["open"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("line", ["traces", "where --json", "schema task", "live flight_alarm --events", "--version"])
@pytest.mark.usefixtures("hitlab")
def test_an_output_that_takes_nothing_gets_one_sentence(line: str) -> None:
    with open("/dev/full", "w") as full:
        done = command(*line.split(), out=full.fileno())
    assert done.returncode == 1
    assert done.stderr.startswith(b"hitlab: standard output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.usefixtures("hitlab")
def test_an_encoding_without_the_signs_shows_their_numbers() -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-m", "lab.cli.main", "doctor"], capture_output=True, env=environment)
    assert done.stderr == b""
    assert rb"\u2713 python" in done.stdout


def test_where_names_the_database_in_force(hitlab: Hitlab, tmp_path: Path) -> None:
    assert hitlab("where", "--json").json["db"] == str(tmp_path / "data" / "hitlab" / "hitlab.db")
    assert hitlab("where", "--json", "--db", "mine.db").json["db"] == "mine.db"


@pytest.mark.parametrize("kind", ["task", "script"])
def test_the_files_that_come_along_fit_the_schema_of_their_kind(hitlab: Hitlab, kind: str) -> None:
    schema = hitlab("schema", kind).json
    files = sorted((library.HERE / f"{kind}s").glob("*.yaml"))
    assert files
    for file in files:
        jsonschema.Draft202012Validator(schema).validate(read_yaml(file.read_bytes(), file.name).value)


def test_a_long_title_leaves_the_other_columns_their_place(hitlab: Hitlab) -> None:
    Path("long.yaml").write_text("kind: general\ninstruction: " + "Open the notes. " * 500 + "\n")
    assert "long  general  Open the notes." in hitlab("tasks", "long.yaml").out


def test_what_only_reads_opens_the_file_only_to_read(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a run in a folder that cannot be written is listed, shown and copied all the same."""
    hitlab("demo", "--headless", "--db", "a.db")
    assert not Path("a.db-wal").exists()
    opened = openings(monkeypatch)
    lines = ("traces", "show usual_lunch", "pack b.db", "privacy usual_lunch --show",
             "record --run usual_lunch --save-playbook lunch.yaml")  # fmt: skip
    for line in lines:
        assert hitlab(*line.split(), "--db", "a.db").code == 0
    assert opened
    assert all(opened)
    assert sorted(path.name for path in Path().glob("*.db*")) == ["a.db", "b.db"]


@pytest.mark.parametrize(
    "command", ["study protocols", "study", "study new", "labels add", "labels list", "file withdraw"]
)
def test_help_on_studies_fits_80_columns_and_ends_with_examples(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    assert told.partition("\nexamples:\n")[2].startswith(f"  hitlab {command}")


def test_python_m_runs_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "lab.cli", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("hitlab ")
