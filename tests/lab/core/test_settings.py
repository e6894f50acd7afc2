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


@pytest.mark.parametrize("text", ["pace = -1", "pace = inf", "pace = nan", "fps = 0"])
def test_no_time_and_no_frame_are_refused(env: dict[str, str], text: str) -> None:
    settings_file(env).write_text(text)
    with pytest.raises(LabError, match="field pace"):
        load(env)


def test_a_wrong_value_is_named_as_it_was_given(env: dict[str, str]) -> None:
    with pytest.raises(LabError, match="field HITLAB_PACE: Expected"):
        load(env | {"HITLAB_PACE": "soon"})


def test_a_folder_in_the_files_place_is_named(env: dict[str, str]) -> None:
    settings_file(env).mkdir()
    with pytest.raises(LabError, match="is a folder"):
        load(env)


@pytest.mark.parametrize("person", ["", "Jo Miller", "jo@lab.example", "x" * 33])
def test_a_person_is_a_study_code(env: dict[str, str], person: str) -> None:
    with pytest.raises(LabError, match="study code"):
        load(env, person=person)
