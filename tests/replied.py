"""A run in which a person replies and types, and a study over its replies, made by the commands."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Decision, Observation, Proposed, Question, Reply
from lab.core.run.trace import Answered, AnyEvent, Asked, Ended, Source, Started, Step
from lab.core.task.task import Actor, Persona, Task
from store.store import Store

P07 = Actor("human", "P07")
REPLY = "zoreply to my sister"
TYPED = "zotyped 4711"

Hitlab = Callable[..., tuple[int, str, str]]


def replied(
    id: str = "run-said", *, by: Actor = P07, agent: Actor | None = None, said: str = REPLY, typed: str = TYPED,
    source: Source | None = None, instruction: str = "Write to her", image: str | None = None,
) -> Imported:  # fmt: skip
    """Asked and replied, then typed in a take-over, then ended."""
    persona = Persona("mara", "Mara", {"identity": {"full_name": "Mara"}})
    asks = Proposed(Action("ask_user", text="To whom?"))
    reply = Reply("q0", said, by, draft=f"first {said}")
    question = Question("q0", "ask", "To whom?")
    text = Action("input_text", text=typed)
    events: list[AnyEvent] = [
        Started(
            trace=id, task=Task("t", "personalized", "", instruction, persona="mara"), source=source,
            agent=agent or Actor("script", "rule"), persona=persona, user=by,
        ),
        Asked(index=0, question=question, proposed=asks),
        Answered(index=0, reply=reply),
        Step(index=0, proposed=asks, question=question, reply=reply, before=Observation(image)),
        Step(index=1, proposed=Proposed(text, by=by), decision=Decision("approve", by, text)),
        Ended(status="completed"),
    ]  # fmt: skip
    return Imported(number_events(events), {}, [])


def hitlab(db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hitlab:
    """Calls the command line as a person would, over one database: exit code, stdout, stderr."""

    def call(*words: str, stdin: str = "") -> tuple[int, str, str]:
        if stdin:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main([*words, "--db", str(db)])
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def answers(study: Any, note: str, field: str = "", value: Any = None) -> str:
    """An answer to every item of a study as `study show --json` tells it, each with a note, as JSON lines."""
    asked = next(one for one in study["plan"]["protocol"]["fields"] if not field or one["id"] == field)
    said = value if value is not None else asked["options"][0]["id"]
    rows = [
        {"unit": unit["id"], "field": asked["id"], "value": said, "note": note, "commit": True}
        for unit in study["units"]
    ]
    return "\n".join(json.dumps(row) for row in rows)


def bytes_of(*paths: Path) -> bytes:
    """All bytes of files and of everything in folders; of a database also what lies beside it."""
    found = b""
    for path in paths:
        files: Sequence[Path] = [path, *path.parent.glob(f"{path.name}-*")]
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else files
        found += b"".join(file.read_bytes() for file in files if file.exists())
    return found


def keep(db: Path, *runs: Imported) -> None:
    """Puts runs into a file."""
    with Store.open(db) as store:
        for run in runs:
            assert store.runs.add(run)
