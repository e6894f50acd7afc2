"""Flags before variables before the file; an unknown key is an error that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.settings import database, folder, load, settings_file


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "hitlab").mkdir()
    return {"XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}


def test_flags_win_over_variables_over_the_file(env: dict[str, str]) -> None:
    settings_file(env).write_text('fps = 5\nperson = "P02"\n[keymap]\n"run.pause" = "f12"\n')
    assert load(env).fps == 5
    env["HITLAB_FPS"] = "10"
    assert load(env).fps == 10
    settings = load(env, fps=15, person=None)
    assert (settings.fps, settings.person, settings.keymap) == (15, "P02", {"run.pause": "f12"})


@pytest.mark.parametrize(
    ("text", "words"),
    [("fpss = 5", "fpss"), ("fps = ", "TOML"), ('fps = "many"', "fps"), ('seat = "king"', "seat")],
)
def test_a_wrong_file_gets_a_sentence(env: dict[str, str], text: str, words: str) -> None:
    settings_file(env).write_text(text)
    with pytest.raises(LabError, match=words):
        load(env)


def test_an_unknown_variable_is_named(env: dict[str, str]) -> None:
    with pytest.raises(LabError, match="HITLAB_PACEE"):
        load(env | {"HITLAB_PACEE": "1"})


def test_the_database_is_named_or_in_the_data_folder(env: dict[str, str], tmp_path: Path) -> None:
    assert database(load(env), env) == tmp_path / "data" / "hitlab" / "hitlab.db"
    assert database(load(env, db="x.db"), env) == Path("x.db")
    assert folder("cache", {"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "hitlab"


WRONG_VALUES = (
    "pace = -1", "pace = inf", "pace = nan", "fps = 0", "video = 5", "agent_timeout = 0", "person = 'a b'",
    "model_base = 'nowhere'", "model_tries = 0", "model_price_in = -1", "pace = 'soon'", "seat = 'king'", "db = 3",
    "keymap = 3", "file_mode = '9'", "file_mode = '440'", "file_mode = 'all'",
)  # fmt: skip


@pytest.mark.parametrize("text", WRONG_VALUES)
def test_a_wrong_value_in_the_file_is_named_with_the_file_and_its_field(env: dict[str, str], text: str) -> None:
    settings_file(env).write_text(text)
    with pytest.raises(LabError) as refusal:
        load(env)
    assert refusal.value.title == f"settings file {settings_file(env)}"
    assert refusal.value.message.startswith(f"field {text.partition(' ')[0]}")


def test_a_wrong_value_of_a_variable_or_a_flag_is_not_the_files(env: dict[str, str]) -> None:
    settings_file(env).write_text("fps = 0\nperson = 'a b'\n")
    with pytest.raises(LabError, match=r"^the environment: field HITLAB_FPS is 0"):
        load(env | {"HITLAB_FPS": "0"})
    with pytest.raises(LabError, match=r"^the command line: field --person: 'c d' is no study code"):
        load(env | {"HITLAB_FPS": "1"}, person="c d")


def test_a_wrong_key_of_a_table_is_named_in_the_file(env: dict[str, str]) -> None:
    settings_file(env).write_text('[keymap]\n"run.pause" = 4\n')
    with pytest.raises(LabError, match=r"settings\.toml: field keymap\[\.\.\.\]: must be text"):
        load(env)


def test_a_wrong_value_is_named_as_it_was_given(env: dict[str, str]) -> None:
    with pytest.raises(LabError, match="field HITLAB_PACE: must be a number"):
        load(env | {"HITLAB_PACE": "soon"})


def test_a_folder_in_the_files_place_is_named(env: dict[str, str]) -> None:
    settings_file(env).mkdir()
    with pytest.raises(LabError, match="is a folder"):
        load(env)


@pytest.mark.parametrize("person", ["", "Jo Miller", "jo@lab.example", "x" * 33])
def test_a_person_is_a_study_code(env: dict[str, str], person: str) -> None:
    with pytest.raises(LabError, match="study code"):
        load(env, person=person)
