"""Programs that hang, die, babble or fork: the run ends with one sentence, and nothing of them stays."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.agents import process
from lab.agents.process import ProcessAgent
from lab.core.errors import LabError
from lab.core.run.step import Question, Reply
from lab.core.seams import TaskBrief, WaitCancelled
from lab.core.values.process_pipes import MOST_KEPT
from lab.runs.session import Session
from lab.runs.spec import Spec
from simulators.phone.phone import Phone
from store.store import Store
from tests.lab.programs import OPENS, TASK, comes, gone, left_behind, played, program

BRIEF = TaskBrief("general", "Open the settings")

WRONG = {
    "hangs": ("observed(); time.sleep(600)", "did not answer within 1 seconds. Does it flush each line?"),
    "hangs and will not be ended": (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "observed(); time.sleep(600)",
        "did not answer",
    ),
    "never reads": ("time.sleep(600)", "did not answer"),
    "forgets to flush": (
        "observed(); kept = open(1, 'w', closefd=False); kept.write('{}' + chr(10)); time.sleep(600)",
        "did not answer within 1 seconds. Does it flush",
    ),
    "dies at once": ("raise SystemExit(7)", "ended with exit code 7 before it "),  # was asked, or answered
    "dies later": ("observed(); say(kind='wait'); sys.exit(3)", "ended with exit code 3"),
    "dies with words": (
        "observed(); 1 / 0",
        'ended with exit code 1 before it answered. Its standard error: "observed(); 1 / 0 / ZeroDivisionError',
    ),
    "dies in mid line": ("observed(); sys.stdout.write('{\"kind\":'); sys.exit()", "ended with exit code 0"),
    "is killed": ("observed(); os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
    "babbles": ("observed(); print('Loading the model...', flush=True); observed()", 'began: "Loading the model..."'),
    "babbles at hello": ("print('ready', flush=True); time.sleep(600)", 'began: "ready"'),
    "speaks to the terminal": (
        "observed(); print('\\x1b[2J\\x1b]0;x\\x07', flush=True); read()",
        "\\x1b[2J\\x1b]0;x\\x07",
    ),
    "writes bytes": ("observed(); os.write(1, b'\\xfd\\xfc\\x00\\n'); read()", "is not UTF-8 text (byte 0)"),
    "nests without end": ("observed(); print('[' * 100000, flush=True); read()", "nested too deeply"),
    "writes a long line": ("observed(); sys.stdout.write('x' * 2000000); observed()", "longer than 1,048,576 bytes"),
    "writes without end": ("observed()\nwhile True: sys.stdout.write(' ' * 65536)", "longer than 1,048,576 bytes"),
    "knows another kind": ("observed(); say(kind='teleport'); read()", "field kind: 'teleport' is none of"),
    "taps nowhere": ("observed(); say(kind='click', node=4096); read()", "field node: there is no element 4096"),
    "says nothing as a number": ("observed(); say(kind='click', at=[float('nan'), 3]); read()", "field at[0]"),
    "speaks twice": (
        'observed(); os.write(1, b\'{"kind": "wait"}\\n{"kind": "wait"}\\n\'); read()',
        'wrote more than one line where one was due. It began: "{"kind": "wait"}". It went on: "{"kind": "wait"}"',
    ),
    "speaks another version": ("read(); say(line='hello', v=2); read()", "speaks version 2 of the lines"),
    "asks for a film": ("observed('film')", "field screenshot"),
    "closes its output": ("observed(); os.close(1); time.sleep(600)", "closed its output before it answered"),
    "closes its input": ("observed(); os.close(0); say(kind='wait'); time.sleep(600)", "did not answer within"),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture(scope="module", autouse=True)
def _old_objects_stay() -> None:
    """What is there before these tests is not looked through for rubbish by each of them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITLAB_AGENT_TIMEOUT", "60")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.mark.parametrize("name", WRONG)
def test_the_run_ends_with_one_sentence_and_nothing_stays(
    store: Store, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, words = WRONG[name]
    if "did not answer" in words:
        monkeypatch.setenv("HITLAB_AGENT_TIMEOUT", "1")
    agent = program(tmp_path, f"open(sys.argv[0] + '.pid', 'w').write(str(os.getpid()))\n{code}\n")
    gc.collect()
    before = left_behind()
    session = Session(store, Spec(TASK, agent=agent, user="human"))
    session.start()
    assert session.join(180)
    trace = store.runs.trace(session.trace_id)
    assert trace.ended is not None
    assert trace.status == "failed"
    assert words in trace.ended.reason
    assert trace.ended.reason.isprintable()
    assert "Traceback" not in trace.ended.reason
    assert all(gone(int(path.read_text())) for path in tmp_path.glob("*.pid"))
    del session
    gc.collect()
    assert left_behind() == before


def test_a_line_that_nothing_was_asked_for_is_not_taken_for_the_next_answer(store: Store, tmp_path: Path) -> None:
    asked, said = tmp_path / "asked", tmp_path / "said"
    code = f"""
observed(); say(kind="ask_user", text="Light?")
while not os.path.exists({str(asked)!r}): time.sleep(0.01)
say(kind="wait"); open({str(said)!r}, "w").close()
time.sleep(600)
"""
    session = Session(store, Spec(TASK, agent=program(tmp_path, code)))

    def answer(question: Question | None) -> None:
        if question is not None:
            asked.touch()
            assert comes(said.exists)
            session.questions.answer(question, Reply(question.id, "light", session.person))

    session.questions.on_change = answer
    session.start()
    assert session.join(180)
    ended = store.runs.trace(session.trace_id).ended
    assert ended is not None
    assert 'wrote a line that nothing was asked for. It began: "{"kind": "wait"}"' in ended.reason


def test_its_children_end_with_it(store: Store, tmp_path: Path) -> None:
    code = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[0] + ".pid", "w").write(str(child.pid))
observed(); say(kind="teleport"); time.sleep(600)
"""
    trace = played(store, program(tmp_path, code))
    assert trace.status == "failed"
    child = int(next(tmp_path.glob("*.pid")).read_text())
    assert comes(lambda: gone(child))  # its new parent, not we, takes it away


def test_children_end_also_where_the_program_did_well(store: Store, tmp_path: Path) -> None:
    code = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[0] + ".pid", "w").write(str(child.pid))
"""
    assert played(store, program(tmp_path, code + OPENS)).status == "completed"
    child = int(next(tmp_path.glob("*.pid")).read_text())
    assert comes(lambda: gone(child))


DAEMON = """
def daemon(argv=None, **terms):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with open(sys.argv[0] + ".part", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[0] + ".part", sys.argv[0] + ".pid")
        if argv:
            os.execve(argv[0], argv, {**os.environ, **terms})
        time.sleep(600)
        os._exit(0)
    os.wait()
    while not os.path.exists(sys.argv[0] + ".pid"):
        time.sleep(0.01)
"""
"""Forks twice, in a session of its own: what is left has another parent, and is in no group of the program's."""
LEAVE_THE_GROUP = {
    "a daemon, and the run goes well": DAEMON + "daemon()" + OPENS,
    "a daemon, and the program fails": DAEMON + "observed(); daemon(); say(kind='teleport'); time.sleep(600)",
    "a daemon that is another program": DAEMON
    + "daemon([sys.executable, '-c', 'import time; time.sleep(600)'], A='b')"
    + OPENS,
    "a child that knows nothing of it": (
        "sleeper = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "child = subprocess.Popen(sleeper, env={}, start_new_session=True)"
        "\nopen(sys.argv[0] + '.pid', 'w').write(str(child.pid))" + OPENS
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of what a process was started with")
@pytest.mark.parametrize("code", LEAVE_THE_GROUP.values(), ids=LEAVE_THE_GROUP)
def test_children_end_also_where_they_left_its_group(store: Store, tmp_path: Path, code: str) -> None:
    trace = played(store, program(tmp_path, code))
    assert trace.status == ("failed" if "teleport" in code else "completed")
    child = int(next(tmp_path.glob("*.pid")).read_text())
    assert comes(lambda: gone(child))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of what a process was started with")
def test_a_server_of_adb_goes_on(store: Store, tmp_path: Path) -> None:
    """Other programs use it, whoever started it."""
    adb = tmp_path / "adb"
    adb.symlink_to(sys.executable)
    argv = f"[{str(adb)!r}, '-c', 'import time; time.sleep(600)', 'fork-server', 'server']"
    agent = program(tmp_path, DAEMON + f"daemon({argv})" + OPENS)
    assert played(store, agent).status == "completed"
    server = int(next(tmp_path.glob("*.pid")).read_text())
    assert not gone(server)
    os.kill(server, signal.SIGKILL)


def test_what_is_said_on_standard_error_is_no_hindrance_and_only_its_end_is_kept(tmp_path: Path) -> None:
    code = (
        "print('x' * 3000000, file=sys.stderr, flush=True)\nobserved()\nprint('y' * 100000 + 'end', file=sys.stderr)\n"
    )
    agent = ProcessAgent(program(tmp_path, code).removeprefix("process:"))
    with pytest.raises(LabError, match="yyyend") as caught:
        agent.propose(BRIEF, Phone().observe(), [])
    assert len(caught.value.message) < MOST_KEPT


def test_after_the_end_nothing_it_says_counts(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.2)
    code = """
open(sys.argv[0] + ".pid", "w").write(str(os.getpid()))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
observed(); say(kind="status", status="complete"); assert read()["line"] == "end"
while True:
    os.write(1, b"and another thing\\n" * 100)
"""
    trace = played(store, program(tmp_path, code))
    assert trace.status == "completed"
    assert gone(int(next(tmp_path.glob("*.pid")).read_text()))


def test_a_person_who_stops_does_not_wait_for_it(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITLAB_AGENT_TIMEOUT", "600")
    monkeypatch.setattr(process, "_GRACE", 0.1)
    pid = tmp_path / "pid"
    code = f"observed(); open({str(pid)!r} + '.new', 'w').write(str(os.getpid()))\n"
    code += f"os.rename({str(pid)!r} + '.new', {str(pid)!r}); time.sleep(600)"
    session = Session(store, Spec(TASK, agent=program(tmp_path, code)))
    session.start()
    assert comes(pid.exists)
    session.stop()
    assert store.runs.trace(session.trace_id).status == "stopped"
    assert session.join(180)
    assert gone(int(pid.read_text()))


def test_after_a_failure_the_next_run_starts_it_anew(tmp_path: Path) -> None:
    code = f"""
first = not os.path.exists({str(tmp_path / "again")!r})
open({str(tmp_path / "again")!r}, "w").close()
observed()
sys.exit(1) if first else say(kind="wait")
read()
"""
    agent = ProcessAgent(program(tmp_path, code).removeprefix("process:"))
    screen = Phone().observe()
    with pytest.raises(LabError, match="exit code 1"):
        agent.propose(BRIEF, screen, [])
    agent.remember(BRIEF, [], "failed")
    assert agent.propose(BRIEF, screen, []).action.kind == "wait"
    agent.close()


def test_an_answer_owed_to_a_stopped_run_is_not_taken_for_the_next_ones(tmp_path: Path) -> None:
    code = f"""
mark = {str(tmp_path / "again")!r}
if not os.path.exists(mark):
    observed(); open(mark, "w").close()
    while os.path.exists(mark): time.sleep(0.01)
    say(kind="wait", thought="late")
observed(); say(kind="wait", thought="fresh"); read()
"""
    agent = ProcessAgent(program(tmp_path, code).removeprefix("process:"), seconds=20)
    screen = Phone().observe()
    stop, asked = agent.stop, tmp_path / "again"

    def stop_once_asked() -> None:
        assert comes(asked.exists)
        stop.set()

    threading.Thread(target=stop_once_asked, daemon=True).start()
    with pytest.raises(WaitCancelled):
        agent.propose(BRIEF, screen, [])
    agent.stop = threading.Event()
    assert agent.propose(BRIEF, screen, []).thought == "fresh"
    agent.close()


def test_it_ends_with_hitlab(tmp_path: Path) -> None:
    agent = program(tmp_path, "open(sys.argv[0] + '.pid', 'w').write(str(os.getpid()))\nobserved(); say(kind='wait')\n"
                              "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)")  # fmt: skip
    script = (
        "from lab.agents.process import ProcessAgent\nfrom lab.core.seams import TaskBrief\n"
        "from simulators.phone.phone import Phone\n"
        f"agent = ProcessAgent({agent.removeprefix('process:')!r})\n"
        "agent.propose(TaskBrief('general', 'x'), Phone().observe(), [])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3], timeout=180, check=False)
    assert done.returncode == 0
    pid = int(next(tmp_path.glob("*.pid")).read_text())
    assert comes(lambda: gone(pid))
