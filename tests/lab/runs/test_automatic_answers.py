"""A model as the judge at the endpoint, and what becomes of a question that nobody can answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.task.task import Actor
from lab.llm.client import Llm, ModelTerms
from lab.runs.endpoint.automatic_answers import AutomaticAnswers
from lab.runs.endpoint.conversation_intake import Intake, NotAnswered
from simulators.users.endpoint.request_kinds import judge_rules
from simulators.users.model import ModelUser
from store.store import Store
from tests.answering import CONSENT, JUDGE, request, until
from tests.endpoint import Refused, Said, in_turn, serving

PNG = b"\x89PNG\r\n\x1a\n not decoded here"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.mark.parametrize(
    "said",
    [
        "<think>fine</think>\n<score>0.5</score><|im_end|>",
        "<|channel|>analysis<|message|>fine<|end|><|start|>assistant"
        "<|channel|>final <|constrain|>json<|message|><score>0.5</score><|return|>",
    ],
    ids=["end token", "constrained channel"],
)
def test_a_judge_model_is_sent_what_the_client_sent_and_users_are_left_to_people(
    store: Store, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(in_turn(Said(said))) as server:
        intake = Intake(store, [Actor("human", "P01")], judge_rules())
        answers = AutomaticAnswers(store, None, Llm("openai/tiny", ModelTerms(base=server.base, pause=0.01)))
        intake.on_asked = answers.submit
        bare = request("Rate this.", system=JUDGE)
        pictured = bare.messages[-1]._replace(pictures=(Blob(PNG, "image/png"),))
        judged = intake.receive(bare._replace(messages=(bare.messages[0], pictured)))
        asked = intake.receive(request("What?"))
        intake.watch()
        until(judged.answer.done)
        answers.close()
        assert judged.answer.result().content.strip() == "<score>0.5</score>"  # litellm keeps reasoning apart
        assert server.requests[0].texts == [JUDGE, "Rate this."]
        assert server.requests[0].pictures == [PNG]
        assert not asked.answer.done()
    trace = store.runs.trace(judged.turn.run)
    reply = trace.steps[0].reply
    assert reply is not None
    assert (reply.by.id, trace.status) == ("model:openai/tiny", "completed")
    assert reply.usage is not None


def test_a_model_answers_as_the_user_and_where_it_cannot_the_conversation_fails(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    told: list[LabError] = []
    good = Said('{"text": "As always.", "decision": "accept"}')
    with serving(in_turn(good, Refused(400))) as server:
        llm = Llm("openai/tiny", ModelTerms(base=server.base, pause=0.01))
        intake = Intake(store, [Actor("model", "model:openai/tiny")], judge_rules())
        answers = AutomaticAnswers(
            store, lambda about: ModelUser("openai/tiny", llm, about.task, about.persona), None, told.append
        )
        intake.on_asked = answers.submit
        first = intake.receive(request("Shall I?", system=CONSENT))
        intake.watch()
        until(first.answer.done)
        assert first.answer.result().content == "As always.\n<decision>accept</decision>"
        second = intake.receive(request("What?"))
        until(second.answer.done)
        answers.close()
    assert isinstance(second.answer.exception(), NotAnswered)
    assert store.runs.trace(second.turn.run).status == "failed"
    assert len(told) == 1
