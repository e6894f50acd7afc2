"""The commands that take a run apart, as a user gives them: fork, family, --break."""

from __future__ import annotations

import json

import pytest

from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.lab.fitting import fits

__all__ = ["hitlab"]


def run_of(hitlab: Hitlab, task: str) -> str:
    done = hitlab("live", task, "--headless", "--json")
    assert fits(done.json, "live"), done.err
    return str(done.json["trace"])


def asking_step(hitlab: Hitlab, run: str) -> int:
    steps = hitlab("show", run, "--json").json["steps"]
    return next(int(step["index"]) + 1 for step in steps if step.get("question"))


def test_a_question_is_answered_otherwise_and_the_family_says_where_and_how(hitlab: Hitlab) -> None:
    run = run_of(hitlab, "morning_coffee")
    step = asking_step(hitlab, run)
    done = hitlab("fork", f"{run[:20]}@{step}", "--reject", "--say", "No, leave it.", "--json")
    assert fits(done.json, "fork"), done.err
    child = done.json["trace"]
    assert child != run

    lines = hitlab("family", child, "--json").json
    assert fits(lines, "family")
    assert [(line["id"], line["parent"], line["step"]) for line in lines] == [(run, None, None), (child, run, step)]
    assert lines[1]["changes"] == [["reply", "reject: No, leave it."]]
    told = hitlab("family", run[:20]).out.splitlines()
    assert told[1].startswith(run)
    assert told[2].startswith(f"└─ {child}")
    assert f"@{step}" in told[2]
    assert "reply reject: No, leave it." in told[2]


def test_another_action_and_another_agent_are_taken_at_any_step(hitlab: Hitlab) -> None:
    run = run_of(hitlab, "flight_alarm")
    action = {"kind": "open_app", "app": "Notes"}
    done = hitlab("fork", f"{run}@1", "--action", json.dumps(action), "--agent", f"recorded:{run}", "--headless")
    assert done.code == 0, done.err
    child = hitlab("traces", "--json").json[0]
    assert child["agent"] == f"recorded:{run}"
    first = hitlab("show", child["id"], "--json").json["steps"][0]
    assert first["decision"]["verdict"] == "amend"
    assert first["decision"]["action"] == action


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (("@1", "--action", '{"kind":"tap"}'), 1, "field kind"),
        (("@1", "--action", "{"), 1, "schema action"),
        (("@1", "--action", "back"), 2, "'back' is no action; did you mean navigate_back? Write JSON, such as"),
        (("@1", "--action", "scroll"), 2, "'scroll' needs more than its name. Write JSON, such as"),
        (("@1", "--action", '{"kind":"click"}'), 2, "needs a place"),
        (("@1", "--action", '{"kind":"click","at":[99999,5]}'), 2, "is off the screen, which is 1080 by 2400"),
        (("@1", "--break", "app:Clok"), 2, "did you mean clock?"),
        (("@1", "--say", "no"), 1, "asks nothing that could be answered"),
        (("@99",), 1, "has no step 99"),
        (("@x",), 2, "no number from 1 on"),
        (("",), 2, "says no step"),
        (("@1", "--accept", "--reject"), 2, "not allowed with"),
        (("@1", "--user", "human"), 2, "needs --user script"),
        (("@1", "--gate", "ask"), 2, "nobody lets the actions through"),
        (("@1", "--break", "nowhere"), 2, "is no breakpoint"),
        (("@1", "--agent", "magic"), 2, "is none of"),
    ],
)
def test_what_cannot_be_forked_gets_a_sentence(hitlab: Hitlab, more: tuple[str, ...], code: int, words: str) -> None:
    run = _waiting(hitlab)
    at, *rest = more
    done = hitlab("fork", f"{run}{at}", "--user", "script", *rest, "--headless")
    assert (done.code, done.out) == (code, "")
    assert words in done.err


def _waiting(hitlab: Hitlab) -> str:
    """A run left open before its first step: as quick as a run can be."""
    return str(hitlab("live", "night_mode", "--headless", "--json", "--break", "1").json["trace"])


def test_an_imported_run_and_a_seat_without_runs_are_refused(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _waiting(hitlab)
    monkeypatch.setenv("HITLAB_SEAT", "participant")
    for args in (("fork", f"{run}@1"), ("family", run)):
        done = hitlab(*args)
        assert done.code == 1
        assert "is not there for the seat participant" in done.err
    assert "is not there for the seat" in hitlab("live", "night_mode", "--headless", "--break", "1").err


@pytest.mark.parametrize("flag", [("--persona", "tobin"), ("--log", "none"), ("--vary", "3"), ("--no-mirror",)])
def test_an_open_run_goes_on_as_it_began(hitlab: Hitlab, flag: tuple[str, ...]) -> None:
    done = hitlab("live", "--resume", _waiting(hitlab), "--headless", *flag)
    assert (done.code, done.out) == (2, "")
    assert f"{flag[0]}: was settled when the run began" in done.err


def test_a_run_stops_at_a_breakpoint_and_goes_on(hitlab: Hitlab) -> None:
    done = hitlab("live", "night_mode", "--headless", "--json", "--break", "step:2")
    assert done.code == 0
    assert fits(done.json, "live")
    result = done.json
    assert (result["status"], result["steps"], result["stopped"]["step"]) == ("open", 1, 2)
    told = hitlab("live", "--resume", result["trace"], "--headless", "--break", "3").out
    assert "stopped at breakpoint step:3, before step 3; not yet done:" in told
    fork = hitlab("fork", f"{result['trace']}@2", "--headless", "--break", "step:29")
    assert "passed by without a stop: step:29" in fork.out
    done = hitlab("live", "--resume", result["trace"], "--headless", "--json")
    assert (done.json["status"], done.json["stopped"]) == ("completed", None)
