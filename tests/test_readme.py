"""What the README shows is true: its commands are commands, its files load, its pictures are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from lab.cli import build_parser
from lab.task import load_task
from simulators.scripted import load_script

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = sorted({re.split("[#|>]", line)[0].strip() for _, body in BLOCKS for line in body.splitlines()})
YAML = [body for language, body in BLOCKS if language == "yaml"]


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("hitlab ")])
def test_every_command_shown_is_a_command(command: str) -> None:
    args = build_parser().parse_args(shlex.split(command)[1:])
    assert args.run


def test_every_make_target_shown_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`make (\w+)`", README)) | {line.split()[1] for line in COMMANDS if "make " in line[:5]}
    assert {"demo", "test"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_command_there_is_is_shown() -> None:
    """In the README, or at least in its lists of what there is."""
    actions = [action for action in build_parser()._actions if action.choices]
    assert actions
    for name in actions[0].choices or ():
        assert re.search(rf"hitlab {name}\b", README), name


def test_the_files_shown_load(tmp_path: Path) -> None:
    task, script = tmp_path / "task.yaml", tmp_path / "script.yaml"
    task.write_text(next(body for body in YAML if "kind:" in body), encoding="utf-8")
    script.write_text(next(body for body in YAML if "replies:" in body), encoding="utf-8")
    assert load_task(task).checks
    assert len(load_script(script).replies) == 2


def test_every_picture_shown_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).is_file(), picture
