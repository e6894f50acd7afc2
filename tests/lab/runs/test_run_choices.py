"""What may be chosen when a task is started, what it comes to, and how it is kept for the next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.last_choices import LastChoices, RunChoices, choices_file, last_choices, save_choices
from lab.core.settings import Settings
from lab.core.task.task import Task
from lab.runs.run_choices import choices_of, fields_of, find_choice, model_needs, spec_of, value_of
from simulators import library

SETTINGS = Settings()
LUNCH = library.task("usual_lunch")


def values(name: str, settings: Settings = SETTINGS) -> dict[str, list[str]]:
    return {one.name: [choice.value for choice in one.choices] for one in fields_of(library.task(name), settings)}


def test_fields_are_those_of_hitlab_live_with_what_the_task_has() -> None:
    there = values("usual_lunch")
    assert list(there) == ["agent", "user", "persona", "log", "gate", "seat", "mirror", "vary"]
    assert there["agent"][0] == "playbook"
    assert [f"playbook:{one.name}" for one in LUNCH.playbooks] == there["agent"][1:-4]
    assert there["agent"][-4:] == ["model:", "model+memory:", "process:", "recorded:"]
    assert set(there["persona"]) == {"", *library.personas()} - {LUNCH.persona}
    assert "seat" not in values("usual_lunch", Settings(seat="designer"))


def test_what_is_not_there_is_told_and_not_left_out(tmp_path: Path) -> None:
    own = tmp_path / "mine.yaml"
    own.write_text('title: Mine\nkind: general\ninstruction: Do it.\ntime: "2026-03-24T21:30:00+08:00"\n')
    task = library.task(str(own))
    fields = {one.name: one for one in fields_of(task, SETTINGS)}
    assert "persona" not in fields
    assert "playbook" in fields["agent"].choices[0].needs
    assert "script" in fields["user"].choices[1].needs
    with pytest.raises(LabError, match="has no playbook"):
        spec_of(task, RunChoices(), SETTINGS)
    with pytest.raises(LabError, match="no script"):
        spec_of(task, RunChoices(agent="model:x", user="script"), SETTINGS)


def test_a_model_says_which_key_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in model_needs("model:openai/gpt-5", SETTINGS)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert model_needs("model:openai/gpt-5", SETTINGS) == ""
    assert model_needs("model:", SETTINGS) == model_needs("playbook", SETTINGS) == ""


def test_choices_come_to_a_spec() -> None:
    plain = spec_of(LUNCH, RunChoices(), SETTINGS)
    assert (plain.agent, plain.user, plain.gate, plain.seat, plain.mirror) == (
        "playbook",
        "human",
        "pass",
        "developer",
        True,
    )
    assert plain.persona is not None
    assert plain.persona.id == LUNCH.persona
    chosen = RunChoices(
        agent="process:me", user="script", gate="ask", persona="tobin", log="none", mirror=False, vary=7
    )  # fmt: skip
    spec = spec_of(LUNCH, chosen, SETTINGS)
    assert (spec.agent, spec.user, spec.gate, spec.mirror, spec.vary) == ("process:me", "script", "ask", False, 7)
    assert spec.persona is not None
    assert spec.persona.log == ()
    with pytest.raises(LabError, match="a participant lets no actions through"):
        spec_of(LUNCH, RunChoices(gate="ask", seat="participant"), SETTINGS)


def fitting(choices: RunChoices, task: Task) -> RunChoices:
    """Choices as the form of a task begins with them."""
    chosen = {
        one.name: (one, *find_choice(one, value_of(choices, one.name, SETTINGS))) for one in fields_of(task, SETTINGS)
    }
    return choices_of({name: one.choices[at].value + typed for name, (one, at, typed) in chosen.items()})


def test_another_task_s_playbook_is_its_own_there() -> None:
    last = RunChoices(agent=f"playbook:{LUNCH.playbooks[0].name}", user="script", gate="ask", vary=3)
    assert fitting(last, LUNCH) == last
    other = fitting(last, library.task("way_home"))
    assert other == RunChoices(user="script", gate="ask", vary=3)
    assert fitting(RunChoices(agent="model:a:b/c"), LUNCH).agent == "model:a:b/c"


def test_choices_are_kept_and_a_broken_file_is_as_if_there_were_none(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert last_choices(env) == LastChoices()
    save_choices(env, run=RunChoices(gate="ask"))
    save_choices(env, sort="score")
    assert last_choices(env) == LastChoices(run=RunChoices(gate="ask"), sort="score")
    for broken in (b"", b"{", b'{"run": 3}', b'{"run": {"gate": "never"}}'):
        choices_file(env).write_bytes(broken)
        assert last_choices(env) == LastChoices()
    choices_file(env).write_bytes(b'{"sort": "steps", "of a later version": 1}')
    assert last_choices(env).sort == "steps"


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file where the folder would be")
    env: dict[str, Any] = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    save_choices(env, sort="score")
    assert last_choices(env) == LastChoices()
