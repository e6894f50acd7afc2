"""Tab in a shell: what a real bash is answered, with names of the file; and that nothing is told or made by asking."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli.main import main
from store.store import Store
from tests.studied_runs import RUNS

ROOT = Path(__file__).parents[3]
BASH, ZSH = shutil.which("bash"), shutil.which("zsh")
if BASH is None:
    pytest.skip("there is no bash here", allow_module_level=True)

Completed = Callable[[str], list[str]]
ASK = """
eval "$(hitlab completion bash)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
_python_argcomplete hitlab
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A shell's environment, with `hitlab` on its path and a file with runs and the study `trial`."""
    program = tmp_path / "bin" / "hitlab"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lab.cli "$@"\n')
    program.chmod(0o755)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add_all(RUNS)
    for name, people in (("trial", "Ann,Bea"), ("tripod", "Cy,Dee")):
        line = ["study", "new", "success", "--name", name, "--runs", "all", "--raters", people, "--even-so"]
        assert main(line) == 0
        assert main(["study", "deal", name]) == 0
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


@pytest.fixture
def completed(env: dict[str, str]) -> Completed:
    """How bash goes on with a line that was typed so far."""

    return lambda line: answered(line, env)


def answered(line: str, env: dict[str, str]) -> list[str]:
    asked = [str(BASH), "--norc", "--noprofile", "-c", ASK, "bash", line]
    done = subprocess.run(asked, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [word.strip() for word in done.stdout.splitlines() if word]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hitlab stu", ["study"]),
        ("hitlab co", ["compare", "completion"]),
        ("hitlab study re", ["restore", "replace", "release"]),
        ("hitlab device ", ["scrcpy"]),
        ("hitlab completion ", ["bash", "zsh", "fish"]),
        ("hitlab live usual_lunch --re", ["--resume"]),
        ("hitlab live usual_lunch --log ", ["clean", "noise", "none"]),
        ("hitlab import --format andr", ["androidworld", "androidlab", "androidcontrol"]),
        ("hitlab live usual_l", ["usual_lunch"]),
        ("hitlab live usual_lunch --persona in", ["ines"]),
        ("hitlab live usual_lunch --agent pl", ["playbook", "playbook:"]),
        ("hitlab live usual_lunch --agent playbook:wr", ["wrong-dish"]),  # bash has the word from its colon on
        ("hitlab run usual_lunch way_h", ["way_home"]),
        ("hitlab protocols td", ["tdg"]),
        ("hitlab study new memgui-a", ["memgui-a7"]),
        ("hitlab runs --group sta", ["status"]),
        ("hitlab schema study-l", ["study-links", "study-list", "study-lock"]),
        ("hitlab study open tri", ["tripod", "trial"]),
        ("hitlab --window study status tria", ["trial"]),
        ("hitlab report trial --with trip", ["tripod"]),
        ("hitlab study replace trial ", ["Ann", "Bea"]),
        ("hitlab labels tripod --rater ", ["Cy", "Dee"]),
        ("hitlab show zz", []),
    ],
)
def test_bash_is_answered(completed: Completed, line: str, words: list[str]) -> None:
    assert sorted(completed(line)) == sorted(words)


def test_runs_are_named_by_their_ids(completed: Completed) -> None:
    ids = sorted(one.id for one in RUNS)
    assert sorted(completed("hitlab show ")) == ids
    assert completed(f"hitlab compare {ids[0]} {ids[1]}") == [ids[1]]
    begun = [id for id in ids if id.startswith(ids[0][:1])]
    assert sorted(completed(f"hitlab fork {ids[0][:1]}")) == begun
    assert sorted(completed(f"hitlab live usual_lunch --agent recorded:{ids[0][:1]}")) == begun


def test_files_stand_beside_names(completed: Completed) -> None:
    Path("usual_mine.yaml").touch()
    assert sorted(completed("hitlab tasks usual_")) == [
        "usual_groceries", "usual_lunch", "usual_mine.yaml", "usual_review",
    ]  # fmt: skip
    assert completed("hitlab import us") == ["usual_mine.yaml"]


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_who_may_not_list_runs_and_studies_is_completed_their_own(env: dict[str, str], seat: str) -> None:
    def words(line: str) -> list[str]:
        return answered(line, env | {"HITLAB_SEAT": seat, "HITLAB_PERSON": "Ann"})

    assert words("hitlab study open tri") == ["trial"]
    assert words("hitlab labels tri") == ["trial"]
    assert words(f"hitlab replay {RUNS[0].id[:1]}") == []
    assert words("hitlab study replace trial A") == []
    assert words("hitlab live x --agent recorded:") == []
    assert words("hitlab live usual_lunch --agent playbook:wr") == []
    assert words("hitlab study open tri --as Cy") == []


def test_asking_makes_nothing_and_sweeps_nothing(completed: Completed, tmp_path: Path) -> None:
    left = tmp_path / ".hitlab.part-999999"
    left.touch()
    before = sorted(tmp_path.iterdir())
    assert completed("hitlab show --db nosuch.db ") == []
    assert completed("hitlab show ")
    assert list(Path().iterdir()) == []
    companions = {Path(f"{tmp_path / 'lab.db'}{end}") for end in ("-wal", "-shm")}  # as of every file that is read
    assert sorted(set(tmp_path.iterdir()) - companions) == before


def test_a_file_that_is_none_of_ours_completes_nothing(completed: Completed) -> None:
    Path("notes.db").write_text("no database")
    assert completed("hitlab --db notes.db show ") == []
    assert completed("hitlab --db notes.db study open tri") == []


def test_tab_at_a_prompt(env: dict[str, str]) -> None:
    """An interactive bash paints what Tab completed."""
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        [str(BASH), "--norc", "--noprofile", "-i"],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**env, "PS1": "ready> ", "TERM": "dumb", "INPUTRC": os.devnull},
    )  # fmt: skip
    os.close(theirs)
    painted = b""

    def until(text: bytes) -> None:
        nonlocal painted
        while text not in painted:
            readable, _, _ = select.select([ours], [], [], 60)
            assert readable, painted
            painted += os.read(ours, 4096)
        painted = painted.partition(text)[2]

    try:
        until(b"ready> ")
        os.write(ours, b'eval "$(hitlab completion bash)"\n')
        until(b"ready> ")
        os.write(ours, b"hitlab stu\t")
        until(b"hitlab study ")
        os.write(ours, b"stat\t")
        until(b"status ")
        os.write(ours, b"tria\t")
        until(b"trial ")
        os.write(ours, b"\n")
        until(b"trial v1: ")
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


@pytest.mark.skipif(ZSH is None, reason="there is no zsh here")
def test_zsh_takes_the_script(env: dict[str, str]) -> None:
    line = 'autoload -U compinit; compinit -u; eval "$(hitlab completion zsh)"; print $_comps[hitlab]'
    done = subprocess.run([str(ZSH), "-f", "-c", line], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "_python_argcomplete"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_as_text_and_as_json(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "_ARGCOMPLETE" in text
    assert "hitlab" in text
    assert main(["completion", shell, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["shell"], found["script"].rstrip("\n") + "\n") == (shell, text)


def test_without_the_extra_a_sentence_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("argcomplete", "argcomplete.shell_integration", "argcomplete.finders"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["completion", "bash"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "hitlab: completion: needs argcomplete, which is not installed. "
        'pip install "hitlab[completion]" brings it.\n'
    )  # fmt: skip
