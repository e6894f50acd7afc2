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
from tests.warm import shim

ROOT = Path(__file__).parents[3]
BASH, ZSH = shutil.which("bash"), shutil.which("zsh")
if BASH is None:
    pytest.skip("there is no bash here", allow_module_level=True)

Completed = Callable[..., list[list[str]]]
ASK = """
eval "$(hitlab settings completion bash)"
for COMP_LINE in "$@"; do
  COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMPREPLY=()
  _python_argcomplete hitlab
  printf '%s\\t' "${COMPREPLY[@]}"
  printf '\\n'
done
"""
"""A line of words for each line that was typed so far."""


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with runs and the studies `trial` and `tripod`."""
    db = tmp_path_factory.mktemp("studied") / "lab.db"
    with Store.open(db) as store:
        store.runs.add_all(RUNS)
    for name, people in (("trial", "Ann,Bea"), ("tripod", "Cy,Dee")):
        line = ["study", "new", "success", "--name", name, "--runs", "all", "--raters", people, "--even-so"]
        assert main([*line, "--db", str(db)]) == 0
        assert main(["study", "deal", name, "--db", str(db)]) == 0
    return db


@pytest.fixture
def env(studied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A shell's environment, with `hitlab` on its path and a file with runs and the study `trial`."""
    (tmp_path / "bin").mkdir()
    program = shim(tmp_path / "bin" / "hitlab")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    shutil.copy(studied, tmp_path / "lab.db")
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


@pytest.fixture
def completed(env: dict[str, str]) -> Completed:
    """How one bash goes on with each of the lines that were typed so far."""

    return lambda *lines: answered(env, *lines)


def answered(env: dict[str, str], *lines: str) -> list[list[str]]:
    asked = [str(BASH), "--norc", "--noprofile", "-c", ASK, "bash", *lines]
    done = subprocess.run(asked, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    told = [[word.strip() for word in line.split("\t") if word] for line in done.stdout.splitlines()]
    assert len(told) == len(lines)
    return told


LINES = [
    ("hitlab stu", ["study"]),
    ("hitlab re", ["record", "replay", "report"]),
    ("hitlab study re", ["restore", "replace", "release"]),
    ("hitlab runs re", ["restore", "review", "redact", "rename-agent"]),
    ("hitlab settings s", ["show", "scrcpy", "schema"]),
    ("hitlab study kit ", ["export", "import"]),
    ("hitlab settings completion ", ["bash", "zsh", "fish"]),
    ("hitlab live usual_lunch --re", ["--resume"]),
    ("hitlab live usual_lunch --log ", ["clean", "noise", "none"]),
    ("hitlab import --format andr", ["androidworld", "androidlab", "androidcontrol"]),
    ("hitlab live usual_l", ["usual_lunch"]),
    ("hitlab live usual_lunch --persona in", ["ines"]),
    ("hitlab live usual_lunch --agent pl", ["playbook", "playbook:"]),
    ("hitlab live usual_lunch --agent playbook:wr", ["wrong-dish"]),  # bash has the word from its colon on
    ("hitlab live usual_lunch --shadow mo", ["model:"]),
    ("hitlab study new cowork-play --shadow mo", ["model:"]),
    ("hitlab run usual_lunch way_h", ["way_home"]),
    ("hitlab study protocols td", ["tdg"]),
    ("hitlab study new memgui-a", ["memgui-a7"]),
    ("hitlab runs list --group sta", ["status"]),
    ("hitlab settings schema study-l", ["study-links", "study-list", "study-lock"]),
    ("hitlab study rate tri", ["tripod", "trial"]),
    ("hitlab --window study status tria", ["trial"]),
    ("hitlab report trial --with trip", ["tripod"]),
    ("hitlab study replace trial ", ["Ann", "Bea"]),
    ("hitlab labels list tripod --rater ", ["Cy", "Dee"]),
    ("hitlab file withdraw ", ["Ann", "Bea", "Cy", "Dee"]),
    ("hitlab study rate trial --person ", ["Ann", "Bea"]),
    ("hitlab runs redact --person A", ["Ann"]),
    ("hitlab labels add tripod --person ", ["Cy", "Dee"]),
    ("hitlab study kit export trial --rater B", ["Bea"]),
    ("hitlab settings schema runs-redact", ["runs-redact", "runs-redact-list", "runs-redact-show"]),
    ("hitlab study lock trial --e", []),
    ("hitlab runs show zz", []),
]
"""What was typed, and the words that it may go on with."""


def test_bash_is_answered(completed: Completed) -> None:
    told = completed(*(line for line, _ in LINES))
    for (line, words), found in zip(LINES, told, strict=True):
        assert sorted(found) == sorted(words), line


def test_runs_are_named_by_their_ids(completed: Completed) -> None:
    ids = sorted(one.id for one in RUNS)
    begins = ids[0][:1]
    shown, compared, forked, recorded = completed(
        "hitlab runs show ", f"hitlab runs compare {ids[0]} {ids[1]}", f"hitlab runs fork {begins}",
        f"hitlab live usual_lunch --agent recorded:{begins}",
    )  # fmt: skip
    assert sorted(shown) == ids
    assert compared == [ids[1]]
    assert sorted(forked) == sorted(recorded) == [id for id in ids if id.startswith(begins)]


def test_files_stand_beside_names(completed: Completed) -> None:
    Path("usual_mine.yaml").touch()
    tasks, imported = completed("hitlab tasks list usual_", "hitlab import us")
    assert sorted(tasks) == ["usual_groceries", "usual_lunch", "usual_mine.yaml", "usual_review"]
    assert imported == ["usual_mine.yaml"]


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_who_may_not_list_runs_and_studies_is_completed_their_own(env: dict[str, str], seat: str) -> None:
    lines = {
        "hitlab study rate tri": ["trial"],
        "hitlab labels list tri": ["trial"],
        f"hitlab replay {RUNS[0].id[:1]}": [],
        "hitlab study replace trial A": [],
        "hitlab live x --agent recorded:": [],
        "hitlab live usual_lunch --agent playbook:wr": [],
        "hitlab study rate tri --as Cy": [],
    }
    told = answered(env | {"HITLAB_SEAT": seat, "HITLAB_PERSON": "Ann"}, *lines)
    assert dict(zip(lines, told, strict=True)) == lines


def test_asking_makes_nothing_and_sweeps_nothing(completed: Completed, tmp_path: Path) -> None:
    left = tmp_path / ".hitlab.part-999999"
    left.touch()
    before = sorted(tmp_path.iterdir())
    none, some = completed("hitlab runs show --db nosuch.db ", "hitlab runs show ")
    assert none == []
    assert some
    assert list(Path().iterdir()) == []
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_that_is_none_of_ours_completes_nothing(completed: Completed) -> None:
    Path("notes.db").write_text("no database")
    assert completed("hitlab --db notes.db runs show ", "hitlab --db notes.db study rate tri") == [[], []]


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
        os.write(ours, b'eval "$(hitlab settings completion bash)"\n')
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
    line = 'autoload -U compinit; compinit -u; eval "$(hitlab settings completion zsh)"; print $_comps[hitlab]'
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
