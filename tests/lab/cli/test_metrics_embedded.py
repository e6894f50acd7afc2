"""hitlab metrics --embed from the command line: meaning compared by a model behind a socket, or a sentence why not."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.task.task import Actor, Persona, Task
from lab.llm.embeddings import BATCH
from store.store import Store
from tests.endpoint import Body, Refused, Reply, Request, in_turn, serving

KEY = "sk-canary-0123456789abcdef"
COFFEE, TOFFEE, ESPRESSO = "order a coffee", "order a toffee", "an espresso please"
YOUNG, OLD = Persona("u1", "U", {"age": 25}), Persona("u2", "V", {"age": 60})


def run(number: int, task: Task, who: Actor, *actions: Action, persona: Persona | None = None) -> Imported:
    events: list[AnyEvent] = [Started(trace=f"{number:032x}", task=task, agent=who, persona=persona, ms=0.0)]
    events += [Step(index=i, proposed=Proposed(action), ms=1000.0 * i) for i, action in enumerate(actions)]
    return Imported(number_events([*events, Ended(status="completed", score=1.0, ms=9000.0)]), {}, [])


def shown(number: int, task: str, intent: str, who: Persona, x: int) -> Imported:
    design = Task(task, "personalized", instruction=intent, persona=who.id)
    return run(number, design, Actor("human", who.id), Action("click", at=(x, 0)), persona=who)


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three episodes of two users; a model guesses the first one's intent, and does it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HITLAB_MODEL_TRIES", "1")
    model = Actor("model", "m")
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add(shown(1, "first", COFFEE, YOUNG, 1))
        store.runs.add(shown(2, "spelled", TOFFEE, OLD, 7))
        store.runs.add(shown(3, "meant", ESPRESSO, OLD, 1))
        store.runs.add(run(4, Task("first", "proactive"), model, Action("answer", text=TOFFEE)))
        execution = Task("first", "personalized", instruction=COFFEE)
        store.runs.add(run(5, execution, model, Action("click", at=(1, 0)), persona=YOUNG))
    return tmp_path / "lab.db"


def body(vectors: list[Any]) -> Body:
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(vectors)]
    return Body(json.dumps({"object": "list", "model": "tiny", "data": data}).encode())


def meaning(request: Request) -> Reply:
    """Coffee and espresso point one way, toffee another; numbers so large that no machine holds their squares."""
    return body([[3.0, 4.0] if text == TOFFEE else [1e200, 0.0] for text in request.json["input"]])


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def metrics(db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def measured(*words: str, base: str = "") -> tuple[int, str, str]:
        monkeypatch.setenv("HITLAB_MODEL_BASE", base)
        code = main(["metrics", "--db", str(db), "--paper", "fingertip", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return measured


def test_meaning_decides_where_a_model_is_named(metrics: Run) -> None:
    with serving(meaning) as server:
        code, out, err = metrics("--embed", "openai/tiny", "--json", base=server.base)
    assert (code, err) == (0, "")
    told = {(one["metric"], one.get("part", "")): one for one in json.loads(out)["groups"][0]["numbers"]}
    # the guess is the toffee: cosine 3/5; 1 of 14 letters differs
    assert told["Cosine", ""]["value"] == pytest.approx(3 / 5)
    assert told["Sim1", ""]["value"] == pytest.approx((3 / 5 + 13 / 14) / 2)
    assert told["Sim1", ""]["note"] == "embeddings: openai/tiny"
    # compared with the espresso of the other type, whose user did the same
    assert told["Sim2", ""]["value"] == 1.0
    asked = [text for request in server.requests for text in request.json["input"]]
    assert sorted(asked) == sorted({COFFEE, TOFFEE, ESPRESSO})
    assert json.loads(out)["terms"]["embedder"] == "openai/tiny"


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (body([[1.0], [1.0, 2.0], [1.0]]), "no vector for each text"),
        (body([[], [], []]), "no vector for each text"),
        (body([[float("nan")], [1.0], [1.0]]), "gave no answer"),
        (body([[10**400], [1.0], [1.0]]), "gave no answer"),
        (body([None, [1.0], [1.0]]), "gave no answer"),
        (Body(b'{"data":[{"index":[],"embedding":[1.0]}]}'), "gave no answer"),
        (Body(b'{"data": 3}'), "gave no answer"),
        (Body(b"<html>"), "gave no answer"),
        (Refused(429, "slow down"), "HTTP 429"),
        (Refused(500), "HTTP 500: no"),
        (Refused(401, f"wrong key {KEY}"), "HTTP 401"),
    ],
    ids=["lengths", "empty", "nan", "beyond", "null", "index", "number", "html", "429", "500", "401"],
)
def test_a_model_that_sends_no_vectors_is_a_sentence(metrics: Run, trouble: Reply, said: str) -> None:
    with serving(in_turn(trouble)) as server:
        code, out, err = metrics("--embed", "openai/tiny", base=server.base)
    assert code in (1, 2)
    assert not out
    assert "model openai/tiny" in err
    assert said in err
    assert "Traceback" not in err
    assert KEY not in err


def test_vectors_of_other_lengths_in_another_answer_are_a_sentence(metrics: Run, db: Path) -> None:
    with Store.open(db) as store:
        for number in range(BATCH + 1):
            store.runs.add(shown(100 + number, f"more{number}", f"intent {number}", OLD, 3))

    def other(request: Request) -> Reply:
        texts = request.json["input"]
        return body([[1.0] * (2 if COFFEE in texts else 3) for _ in texts])

    with serving(other) as server:
        code, out, err = metrics("--embed", "openai/tiny", base=server.base)
    assert (code, out) == (1, "")
    assert "sent vectors of 2 and 3 numbers" in err


@pytest.mark.parametrize("paper", ["fingertip", "knowu"])
def test_a_name_that_is_no_models_is_refused_where_nothing_is_to_be_compared_too(metrics: Run, paper: str) -> None:
    code, told, said = metrics("--embed", "nosuch", "--paper", paper)
    assert (code, told) == (2, "")
    assert "model nosuch: is no name of a model that litellm knows. Write PROVIDER/NAME" in said


def test_what_is_missing_is_said_before_anything_is_asked(metrics: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    code, out, err = metrics("--embed", "openai/text-embedding-3-small")
    assert (code != 0, out) == (True, "")
    assert "OPENAI_API_KEY" in err
    monkeypatch.setitem(sys.modules, "fastembed", None)
    code, out, err = metrics("--embed", "local:paraphrase-multilingual-MiniLM-L12-v2")
    assert (code, out) == (2, "")
    assert "hitlab[embeddings]" in err
    for nothing in ("local:", "http://127.0.0.1:1/v1"):
        code, out, err = metrics("--embed", nothing)
        assert (code, out) == (2, ""), nothing
        assert "Traceback" not in err
