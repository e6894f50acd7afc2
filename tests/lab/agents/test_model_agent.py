"""A model in the agent's chair, over a real socket: whole runs on the embedded phone, and every way they go wrong."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from lab.agents.elements import elements, in_thousandths
from lab.agents.model import MOST_UNUSABLE, LearningAgent, ModelAgent
from lab.agents.model_prompt import situation
from lab.cli import main
from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.run.step import Action, Proposed, Question, Reply, Usage, spent_by
from lab.core.run.trace import Ended, Step, Trace
from lab.core.seams import Screen, TaskBrief
from lab.core.task.task import Persona, Task
from lab.llm.client import Llm, ModelTerms
from lab.runs.session import Session
from lab.runs.spec import Spec, agent_of, brief_of, resume_spec
from simulators import library
from simulators.phone.phone import Phone
from simulators.users.scripted import Scripted
from store.store import Store
from tests import endpoint
from tests.endpoint import Body, Cut, ModelServer, Refused, Request, Said, Silent, completion, in_turn, serving
from tests.simulators.playing import playing

KEY = "sk-canary-0123456789abcdef"
TASK = Task("dark", "general", instruction="Turn on the dark theme", budget=9)
COMPLETE = '{"thought": "Done.", "action": "status", "status": "complete"}'
TROUBLES: tuple[endpoint.Reply, ...] = (
    Refused(429, "slow down", (("Retry-After", "0"),)),
    Said("I would open the app first."),
    Refused(500),
    Said('{"action": "levitate"}'),
    Cut(),
    Said('{"action": "click", "element": 4711}'),
    Body(completion("cut")[:50]),
    Said('{"action": "click", "at": [500, 4000]}'),
    Cut(b'{"id":'),
    Said(""),
    Silent(),
    Said('{"action": "cli'),
)


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """The first question of a process waits for litellm's own parts; no test's timeout counts that."""
    with serving(in_turn(Said(COMPLETE))) as server:
        ModelAgent("x", Llm("openai/x", ModelTerms(base=server.base))).propose(
            TaskBrief("general"), Phone().observe(), ()
        )


@pytest.fixture(autouse=True)
def _away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A key that must turn up nowhere, and no settings of a person's own."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def model(server: ModelServer, kind: type[ModelAgent] = ModelAgent, **changes: Any) -> ModelAgent:
    on = ModelTerms(base=server.base, timeout=30.0, seconds=60.0, pause=0.01, price_in=1.0, price_out=10.0)
    return kind("openai/tiny", Llm("openai/tiny", on._replace(**changes)))


def finished(session: Session, seconds: float = 180) -> Trace:
    session.start()
    assert session.join(seconds)
    return session.store.runs.trace(session.trace_id)


class Brain:
    """Knows the right act from the task's playbook, says it as a model would; before each comes one of the troubles."""

    def __init__(self, brief: TaskBrief, troubles: Sequence[endpoint.Reply] = ()) -> None:
        self.brief = brief
        self.troubles = list(troubles)
        self.session: Session | None = None
        self.troubled = False

    def __call__(self, request: Request) -> endpoint.Reply:
        if self.troubles and not self.troubled:
            self.troubled = True
            return self.troubles.pop(0)
        self.troubled = False
        assert self.session is not None
        steps = self.session.store.runs.trace(self.session.trace_id).steps
        screen = self.session.device.observe()
        agent = playing(self.session.spec.task)
        return Said(self.say(agent.propose(self.brief, screen, [plainly(step) for step in steps]), screen))

    def say(self, proposed: Proposed, screen: Screen) -> str:
        """The act as JSON: its place by an element's number where one stands there, else in thousandths."""
        action = proposed.action
        said: dict[str, Any] = {"thought": proposed.thought, "action": action.kind}
        said |= {"text": action.text, "app": action.app, "status": action.status, "direction": action.direction}
        if action.at is not None:
            shown = [element for element in elements(screen.tree, screen.size) if element.at == action.at]
            said |= {"element": shown[0].number} if shown else {"at": in_thousandths(action.at, screen.size)}
        if action.ms is not None:
            said["seconds"] = action.ms / 1000
        return f"```json\n{json.dumps({k: v for k, v in said.items() if v is not None}, ensure_ascii=False)}\n```"


def plainly(step: Step) -> Step:
    """A step as the playbook agent would have made it: without the model's own words for the act."""
    act = msgspec.structs.replace(step.proposed.action, raw=None, space=None)
    decision = step.decision and msgspec.structs.replace(step.decision, action=act)
    return msgspec.structs.replace(step, proposed=Proposed(act), decision=decision)


def marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: marked(v) for k, v in value.items()}
    return [marked(v) for v in value] if isinstance(value, list) else f"canary-{value}"


def hidden(persona: Persona) -> Persona:
    """The persona with every fact, label and category marked, so that a leak is seen."""
    log = tuple(msgspec.structs.replace(e, label="canary-label", category="canary-kind") for e in persona.log)
    return msgspec.structs.replace(persona, name="canary-name", facts=marked(persona.facts), log=log)


def test_a_whole_task_is_done_through_a_server_that_fails_in_every_way(store: Store) -> None:
    task = library.task("usual_lunch")
    task = msgspec.structs.replace(task, policy="canary-policy", title="canary-title")
    persona = hidden(library.persona(task.persona, task.log))
    brain = Brain(brief_of(task, persona), TROUBLES)
    with serving(brain) as server:
        agent = model(server, timeout=5.0)
        brain.session = Session(store, Spec(task, persona, user="script"), agent=agent)
        trace = finished(brain.session)
        requests = list(server.requests)
    assert trace.ended is not None
    assert (trace.status, trace.ended.score) == ("completed", 1.0)
    assert not brain.troubles
    assert not any(step.error for step in trace.steps)
    assert trace.questions == 1
    usages = [step.proposed.usage or Usage() for step in trace.steps]
    assert sum(usage.tries for usage in usages) == len(requests)
    answers = len(trace.steps) + sum(isinstance(trouble, Said) for trouble in TROUBLES)
    total = spent_by(step.proposed for step in trace.steps)
    assert total is not None
    assert total == trace.spent
    assert (total.calls, total.prompt_tokens, total.completion_tokens) == (len(requests), 1000 * answers, 20 * answers)
    assert total.cost == pytest.approx(answers * (1000 * 1 + 20 * 10) / 1e6)
    assert total.unpriced == 0
    kept(store, trace, requests)
    secret(store, trace, requests)


def kept(store: Store, trace: Trace, requests: list[Request]) -> None:
    """What is kept with each step is what was sent last for it, word for word and pixel for pixel."""
    place = -1
    for step in trace.steps:
        proposed = step.proposed
        place += proposed.usage.tries if proposed.usage else 0
        sent = requests[place]
        assert proposed.prompt is not None
        assert all(text in proposed.prompt.text for text in sent.texts)
        blobs = [store.runs.blob(sha) for sha in proposed.prompt.images]
        assert [blob.data for blob in blobs if blob] == sent.pictures
        assert proposed.raw is not None
        assert json.loads(proposed.raw.strip("`json\n")) == proposed.action.raw
    assert max(Image.open(io.BytesIO(requests[0].pictures[0])).size) == 1024


def secret(store: Store, trace: Trace, requests: list[Request]) -> None:
    """Neither is a hidden fact in what was sent, nor the key in what is kept."""
    assert not any(b"canary" in request.data for request in requests)
    assert {request.headers["authorization"] for request in requests} == {f"Bearer {KEY}"}
    for step in trace.steps:
        assert step.proposed.prompt is not None
        assert "canary" not in step.proposed.prompt.text
    files = list(store.path.parent.glob(f"{store.path.name}*"))
    assert len(files) >= 1
    assert not any(KEY.encode() in file.read_bytes() for file in files)


def test_its_name_makes_it_and_a_run_goes_on_with_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(in_turn(Said('{"action": "ask_user", "text": "Which theme?"}'), Said(COMPLETE))) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        session = Session(store, Spec(TASK, agent="model:openai/tiny"))
        came = threading.Event()
        session.questions.on_change = lambda question: came.set() if question else None
        session.start()
        assert came.wait(180)
        session.leave()
        assert session.join(180)
        trace = store.runs.trace(session.trace_id)
        assert (trace.agent.id, trace.agent.kind) == ("model:openai/tiny", "model")
        again = Session(store, resume_spec(trace), trace)
        assert again.agent.actor == trace.agent
        again.questions.on_change = lambda question: answer(again, question)
        trace = finished(again)
    assert [step.action.kind for step in trace.steps if step.action] == ["ask_user", "status"]
    assert 'ask_user "Which theme?" -> the person answers: Dark.' in server.requests[-1].text


def answer(session: Session, question: Question | None) -> None:
    if question is not None:
        session.questions.answer(question, Reply(question.id, "Dark.", session.person))


@pytest.mark.parametrize("name", ["model", "model:", "models:x"])
def test_a_name_that_is_no_agent_gets_a_sentence(store: Store, name: str) -> None:
    with pytest.raises(LabError, match="model:NAME"):
        agent_of(name, store)


def test_a_key_that_is_missing_or_an_address_for_a_name_is_refused_before_anything_begins(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(LabError, match="cannot be asked: there is no OPENAI_API_KEY"):
        agent_of("model:openai/tiny", store)
    monkeypatch.setenv("HITLAB_MODEL_KEY_ENV", "MY_LAB_KEY")
    with pytest.raises(LabError, match="MY_LAB_KEY"):
        agent_of("model+memory:other/tiny", store)
    with pytest.raises(LabError, match="no name of a model"):
        agent_of("model:huggingface/https://stranger.example/x", store)


def test_a_run_is_told_with_what_its_model_cost(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(in_turn(Said("Hm."), Said("Hm."), Said(COMPLETE))) as server:
        trace = finished(Session(store, Spec(TASK, user="script:" + script(store)), agent=model(server)))
    main.main(["show", trace.id, "--db", str(store.path), "--json"])
    shown = msgspec.json.decode(capsys.readouterr().out)
    assert shown["spent"] == msgspec.json.decode(msgspec.json.encode(trace.spent))
    assert (shown["spent"]["calls"], shown["spent"]["unpriced"]) == (3, 0)
    main.main(["show", trace.id, "--db", str(store.path)])
    told = capsys.readouterr().out
    assert "model   2 turns in 3 calls, 3,000 + 60 tokens, $0.0036, " in told
    assert "   1  other\n      failed: the model's answer cannot be used" in told


def test_an_answer_without_an_action_is_a_step_and_the_run_goes_on(store: Store) -> None:
    replies = [Said("Hm."), Said("Well."), Said(COMPLETE)]
    with serving(in_turn(*replies)) as server:
        trace = finished(Session(store, Spec(TASK, user="script:" + script(store)), agent=model(server)))
    [lost, last] = trace.steps
    assert trace.status == "completed"
    assert lost.proposed.action.kind == "other"
    assert lost.error == "the model's answer cannot be used: there is no JSON object with an action in it"
    assert lost.proposed.raw == "Well."
    assert lost.proposed.usage is not None
    assert (lost.proposed.usage.tries, lost.proposed.usage.prompt_tokens) == (2, 2000)
    assert lost.proposed.prompt is not None
    assert "[assistant]\nHm.\n\n[user]\nThat cannot be done: there is no JSON object" in lost.proposed.prompt.text
    assert "1. no action that can be done -> it failed" in server.requests[-1].text
    assert last.proposed.thought == "Done."


def script(store: Store) -> str:
    """A script file that foresees nothing."""
    path = store.path.with_name("script.yaml")
    path.write_text("id: none\n")
    return str(path)


def test_too_many_useless_answers_in_a_row_end_the_run_with_a_sentence(store: Store) -> None:
    with serving(in_turn(Said("No JSON today."))) as server:
        trace = finished(Session(store, Spec(TASK, user="script:" + script(store)), agent=model(server)))
    assert isinstance(trace.ended, Ended)
    assert trace.status == "failed"
    assert "gave no usable action 3 times in a row" in trace.ended.reason
    assert len(trace.steps) == MOST_UNUSABLE
    assert len(server.requests) == 2 * MOST_UNUSABLE
    assert trace.spent is not None
    assert trace.spent.cost == pytest.approx(6 * 1200 / 1e6)


def test_a_server_that_stays_away_ends_the_run_and_what_was_sent_is_kept(store: Store) -> None:
    with serving(in_turn(Said('{"action": "open_app", "app": "Clock"}'), Refused(500, "gone"))) as server:
        trace = finished(Session(store, Spec(TASK, user="script:" + script(store)), agent=model(server, tries=2)))
    assert isinstance(trace.ended, Ended)
    assert (trace.status, len(trace.steps)) == ("failed", 2)
    assert trace.ended.reason == "model openai/tiny: gave no answer in 2 tries (HTTP 500: gone)."
    assert trace.steps[1].error == trace.ended.reason
    assert trace.steps[1].proposed.prompt is not None
    assert trace.spent is not None
    assert (trace.spent.calls, trace.spent.turns) == (3, 1)


def test_a_person_who_ends_the_run_does_not_wait_for_the_model(store: Store) -> None:
    with serving(in_turn(Silent())) as server:
        session = Session(store, Spec(TASK), agent=model(server, timeout=600.0, seconds=600.0))
        session.start()
        server.wait(1)
        session.stop()
        assert session.join(180)
    assert store.runs.trace(session.trace_id).status == "stopped"


def test_in_a_proactive_run_it_may_stay_silent(store: Store) -> None:
    task = library.task("morning_coffee")
    with serving(in_turn(Said(COMPLETE))) as server:
        persona = library.persona(task.persona, task.log)
        trace = finished(Session(store, Spec(task, persona, user="script"), agent=model(server)))
    assert len(trace.steps) == 1
    told = server.requests[0].text
    assert "Nothing was asked of you." in told
    assert brief_of(task, persona).log[-1] in told


def test_without_pictures_words_alone_are_sent() -> None:
    with serving(in_turn(Said(COMPLETE))) as server:
        agent = ModelAgent("x", Llm("openai/x", ModelTerms(base=server.base)), picture=0)
        proposed = agent.propose(TaskBrief("general", "Do it"), Phone().observe(), ())
    assert server.requests[0].pictures == []
    assert proposed.prompt is not None
    assert proposed.prompt.images == ()


def test_a_picture_that_is_small_enough_is_the_screenshot_itself() -> None:
    blobs: list[Blob] = []
    with serving(in_turn(Said(COMPLETE))) as server:
        agent = ModelAgent("x", Llm("openai/x", ModelTerms(base=server.base)), picture=2400)
        agent.keep = keeping(blobs)
        screen = Phone().observe()
        agent.propose(TaskBrief("general", "Do it"), screen, ())
    assert server.requests[0].pictures == [screen.png] == [blob.data for blob in blobs]


def keeping(blobs: list[Blob]) -> Callable[[Blob], str]:
    def keep(blob: Blob) -> str:
        blobs.append(blob)
        return blob.sha256

    return keep


def test_what_it_learned_is_told_before_the_next_attempt_and_never_a_score() -> None:
    replies = [Said(COMPLETE), Said("- The switch is under Display.", (500, 10)), Said(COMPLETE), Said(COMPLETE)]
    with serving(in_turn(*replies)) as server:
        agent = model(server, LearningAgent)
        assert isinstance(agent, LearningAgent)
        brief, screen = TaskBrief("general", "Turn on the dark theme"), Phone().observe()
        first = Step(index=0, proposed=agent.propose(brief, screen, ()))
        agent.remember(brief, [first], "budget")
        assert len(server.requests) == 1  # nothing is asked before there is another attempt
        second = agent.propose(brief, screen, ())
        third = agent.propose(TaskBrief("general", "Another task"), screen, ())
    lesson, act, other = server.requests[1:]
    assert '1. you thought: "Done." and did: status complete' in lesson.text
    assert "The steps were used up" in lesson.text
    assert "What you learned when you tried this before\n- The switch is under Display." in act.text
    assert "learned" not in other.text
    assert "score" not in lesson.text + act.text
    assert second.prompt is not None
    assert lesson.text in second.prompt.text
    assert second.usage is not None
    assert (second.usage.prompt_tokens, second.usage.tries) == (1500, 2)
    assert third.usage is not None
    assert third.usage.tries == 1
    assert agent.actor.id == "model+memory:openai/tiny"


def test_lessons_that_cannot_be_had_are_done_without() -> None:
    with serving(in_turn(Refused(400, "no"), Said(COMPLETE))) as server:
        agent = model(server, LearningAgent)
        assert isinstance(agent, LearningAgent)
        brief, screen = TaskBrief("general", "Turn on the dark theme"), Phone().observe()
        agent.remember(brief, [], "stopped")
        proposed = agent.propose(brief, screen, ())
    assert proposed.action.kind == "status"
    assert proposed.prompt is not None
    assert "gave no answer" in proposed.prompt.text


def test_a_long_history_is_shortened_and_says_so_but_keeps_what_was_said() -> None:
    screen = Phone().observe()
    steps = [
        Step(index=i, proposed=Proposed(Action("input_text", text=f"word {i} " * 20), f"THOUGHT{i} " * 9))
        for i in range(200)
    ]
    question = Question("q", "ask", "Which?")
    reply = Reply("q", "The red one.", Scripted(library.script("usual_lunch")).actor)
    steps[3] = msgspec.structs.replace(steps[3], proposed=Proposed(Action("ask_user", text="Which?")),
                                       question=question, reply=reply)  # fmt: skip
    text = situation(
        TaskBrief("general", "Do it", tuple(f"[day {i}] (home) {'x' * 200}" for i in range(300))), screen, (), steps
    )
    assert "(3 steps are left out here)\n4. ask_user" in text
    assert "The red one." in text
    assert '200. you thought: "THOUGHT199' in text
    assert "THOUGHT10 " not in text
    assert "(the oldest " in text
    assert "[day 299]" in text
    assert len(text) < 45_000
