"""What strangers wrote reaches a terminal in plain characters, in every form of output; a pipe has it whole."""

from __future__ import annotations

import csv
import io
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from lab.core.run.run_records import Imported, number_events
from lab.core.run.trace import Ended, Started
from lab.core.task.task import Actor, Task
from store.store import Store
from tests.studies import NODES, R1, R2, frozen, label, unit
from tests.warm import Warm, run

HARM = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\vmore\\|<script>x</script>[a](b)`c`"
LOUD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e]|\x1b(?!\\[[0-9;]*m)")
"""What a terminal obeys, but for the colours that we set ourselves."""
COMMANDS = [
    ("labels", "trial", "--csv"), ("labels", "trial"), ("labels", "trial", "--json"), ("labels", "trial", "--pilot"),
    ("metrics", "--csv", "--by", "agent"), ("metrics", "--by", "agent"), ("metrics", "--json", "--by", "agent"),
    ("report", "trial"), ("report", "trial", "--md"), ("report", "trial", "--html"), ("report", "trial", "--json"),
    ("agreement", "trial"), ("raters", "trial"), ("study", "show", "trial"), ("study", "status", "trial"),
    ("adjudicate", "trial", "--list"), ("runs",), ("runs", "--group", "agent"), ("traces",), ("show", "run-u1"),
    ("family", "run-u1"), ("compare", "run-u1", "run-u2"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in which every text that a stranger gives would take over the terminal."""
    path = tmp_path_factory.mktemp("harm")
    with Store.open(path / "lab.db") as store:
        for id in ("run-u1", "run-u2", f"run-{HARM}"):
            task = Task(f"t {HARM}", "general", f"title {HARM}", instruction=f"do {HARM}")
            started = Started(trace=id, task=task, agent=Actor("model", f"agent {HARM}"))
            store.runs.add(Imported(number_events([started, Ended(status="failed", reason=HARM)]), {}, []))
        units = [unit("u1"), unit("u2")]
        plan = frozen(store, units, NODES, title=f"study {HARM}")
        for rater, value in ((R1, "completed"), (R2, "not_completed")):
            for target in ("open", "pay"):
                said = label(plan, units[0], target, "state", value, note=f"note {HARM}", rater=rater)
                store.labels.record(plan, units[0], said)
    return path


def printed(folder: Path, *args: str) -> str:
    """What a command writes to a terminal."""
    terminal, side = pty.openpty()
    program = Warm(
        [*args, "--db", "lab.db"], cwd=folder, stdin=subprocess.DEVNULL, stdout=side, stderr=side,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    os.close(side)
    seen = b""
    try:
        while piece := os.read(terminal, 65536):
            seen += piece
    except OSError:
        pass  # how Linux says that the other side has closed
    finally:
        os.close(terminal)
    program.wait(180)
    return seen.decode("utf-8")


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_no_command_hands_escapes_on_to_a_terminal(folder: Path, args: tuple[str, ...]) -> None:
    seen = printed(folder, *args)
    assert seen.strip()
    assert "Traceback" not in seen
    assert not LOUD.search(seen.replace("\r\n", "\n")), ascii(LOUD.search(seen.replace("\r\n", "\n")))


def test_a_pipe_has_the_true_text(folder: Path) -> None:
    done = run(["labels", "trial", "--csv", "--db", "lab.db"], cwd=folder)
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))
    assert {row["note"] for row in rows} == {f"note {HARM}"}


def test_a_markdown_table_keeps_its_columns(folder: Path) -> None:
    done = run(["runs", "list", "--format", "md", "--db", "lab.db"], cwd=folder)
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(done.stdout.decode())
    head, *rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    assert len(rows) == 3
    assert {row.count("<td") for row in rows} == {head.count("<th")}
    assert not re.search(r"<(?!/?(table|thead|tbody|tr|th|td)\b)", page), page


def test_a_shell_is_answered_in_plain_characters(folder: Path, tmp_path: Path) -> None:
    """What is printed at a Tab: names that can be typed, each in a line of its own, with what they are about."""
    line, answer = "hitlab runs show ", tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "fish", "_ARGCOMPLETE_IFS": "\v", "_ARGCOMPLETE_DFS": "\t",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer), "COMP_LINE": line, "COMP_POINT": str(len(line)),
    }  # fmt: skip
    run([], cwd=folder, env={**os.environ, **asked, "HITLAB_DB": "lab.db", "HITLAB_PERSON": "D1"})
    words = dict(word.split("\t") for word in answer.read_text().split("\v"))
    assert words.keys() == {"run-u1", "run-u2"}
    assert not LOUD.search("".join(words.values()))
    assert all("\\x1b]0;owned" in about for about in words.values())
