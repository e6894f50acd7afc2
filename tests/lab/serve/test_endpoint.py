"""The endpoint over real sockets, asked by the clients that benchmarks use: openai and litellm."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.task.task import Actor, Persona, Task
from lab.runs.endpoint.conversation_run import calls_of, close_conversation
from lab.serve.endpoint import Endpoint, EndpointServer
from simulators.users.endpoint.access import Access
from simulators.users.endpoint.known_tasks import KnownTask
from store.store import Store
from tests.answering import CONSENT, JUDGE, P1, Call, Served, call, client, messages, serving, until
from tests.loaded_late import LoadedLate

openai = LoadedLate("openai")

SHORT = 0.5
"""Seconds of a client's read timeout: a compressed 600."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def served(store: Store) -> Iterator[Served]:
    with serving(store) as there:
        yield there


def asks(base: str, said: list[dict[str, Any]], timeout: float = 60, retries: int = 2, **more: Any) -> Call:
    """openai's client asks as KnowU-Bench and MobileWorld do."""

    def work() -> Any:
        asking = client(base, timeout=timeout, max_retries=retries)
        return asking.chat.completions.create(model="human", messages=said, temperature=0.0, seed=42, **more)

    return Call(work)


def content(answer: Call) -> str:
    return str(answer.result.choices[0].message.content)


def post(base: str, body: bytes, path: str = "/v1/chat/completions", **headers: str) -> tuple[int, dict[str, str], Any]:
    """One POST without any client: status, headers, JSON."""
    host = base.removeprefix("http://").partition("/")[0]
    connection = http.client.HTTPConnection(host, timeout=180)
    connection.request("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    came = connection.getresponse()
    return came.status, {name.lower(): value for name, value in came.getheaders()}, json.loads(came.read())


# -- answers -------------------------------------------------------------------------------------------------------


def test_a_persons_words_reach_the_client_after_they_are_committed(served: Served, store: Store) -> None:
    asked = asks(served.base, messages("What would you like?"))
    turn = served.question()
    assert store.runs.trace(turn.run).questions == 1
    served.answer("Noodles, please.")
    assert content(asked) == "Noodles, please."
    trace = store.runs.trace(turn.run)
    assert (trace.agent.id, trace.user, trace.replies, trace.status) == ("endpoint:human", P1, 1, "open")
    assert trace.task.instruction == "order lunch."


def test_a_dialogue_that_grows_is_one_run_and_another_system_prompt_another(served: Served) -> None:
    first = asks(served.base, messages("What?"))
    served.answer("Noodles.")
    content(first)
    second = asks(served.base, messages("What?", "Noodles.", "Which size?"))
    served.answer("Large.", 1)
    assert content(second) == "Large."
    other = asks(served.base, messages("What?", "Noodles.", "Which size?", system="You are Ben."))
    served.answer("Small.", 2)
    assert content(other) == "Small."
    runs = [turn.run for turn in served.turns]
    assert runs[0] == runs[1] != runs[2]
    assert served.turns[2].facts.before == (("user", "What?"), ("assistant", "Noodles."))


def test_a_stream_and_the_responses_api_bring_the_same_words(served: Served) -> None:
    asking = client(served.base, timeout=180)
    said = messages("What?")

    def streamed() -> str:
        chunks = asking.chat.completions.create(model="human", messages=said, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

    def responses() -> Any:
        return asking.responses.create(model="human", instructions="You are Ann.", input="Which size?")

    def streamed_response() -> list[Any]:
        return list(asking.responses.create(model="human", input="How many?", stream=True))

    first = Call(streamed)
    served.answer("Noodles.")
    assert first.result == "Noodles."
    second = Call(responses)
    served.answer("Large.", 1)
    assert second.result.output_text == "Large."
    third = Call(streamed_response)
    served.answer("Two.", 2)
    assert third.result[-1].response.output_text == "Two."
    assert "".join(event.delta for event in third.result if event.type == "response.output_text.delta") == "Two."


def test_a_decision_is_sent_as_the_tag_that_benchmarks_parse(served: Served) -> None:
    asked = asks(served.base, messages("Shall I turn it on?", system=CONSENT))
    with pytest.raises(LabError, match="accepted or rejected"):
        served.answer("yes please")
    with pytest.raises(LabError, match="holds a tag"):
        served.answer("<decision>reject</decision>", decision="accept")
    served.answer("As every night.", decision="accept")
    assert content(asked) == "As every night.\n<decision>accept</decision>"


def test_a_function_is_called_with_arguments_in_a_string_and_its_result_comes_back(served: Served) -> None:
    schema = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
    tools = [{"type": "function", "function": {"name": "set_data", "description": "Data", "parameters": schema}}]
    asked = asks(served.base, messages("Turn on data."), tools=tools)
    with pytest.raises(LabError, match="field on: is required"):
        served.answer("", calls=(call("set_data"),))
    with pytest.raises(LabError, match="no function 'dance'"):
        served.answer("", calls=(call("dance"),))
    served.answer("", calls=(call("set_data", '{"on": true}'),))
    choice = asked.result.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    assert json.loads(choice.message.tool_calls[0].function.arguments) == {"on": True}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "data is on"}
    after = asks(served.base, [*messages("Turn on data."), choice.message.model_dump(), result], tools=tools)
    reply = served.store.runs.trace(served.turns[0].run).steps[0].reply
    assert reply is not None
    assert reply.text == 'set_data({"on": true})'
    assert (served.question(1).facts.kind, served.question(1).run) == ("tool", served.turns[0].run)
    served.answer("It is on now.", 1)
    assert content(after) == "It is on now."


TWO_TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "parameters": {}}} for name in ("look", "tap")
]


def test_several_functions_are_called_in_one_answer_and_their_results_are_one_question(served: Served) -> None:
    asked = asks(served.base, messages("Do it."), tools=TWO_TOOLS)
    served.answer("", calls=calls_of(served.question().question, [("look", "{}"), ("tap", '{"x": 1}'), ("look", "{}")]))
    message = asked.result.choices[0].message
    assert [(one.function.name, one.function.arguments) for one in message.tool_calls] == [
        ("look", "{}"), ("tap", '{"x": 1}'), ("look", "{}"),
    ]  # fmt: skip
    assert len({one.id for one in message.tool_calls}) == 3
    results = [
        {"role": "tool", "tool_call_id": one.id, "content": f"done {number}"}
        for number, one in enumerate(message.tool_calls)
    ]
    after = asks(served.base, [*messages("Do it."), message.model_dump(), *results], tools=TWO_TOOLS)
    turn = served.question(1)
    assert (turn.run, turn.facts.kind) == (served.turns[0].run, "tool")
    assert turn.question.text == "[result of look] done 0\n\n[result of tap] done 1\n\n[result of look] done 2"
    served.answer("All done.", 1)
    assert content(after) == "All done."


def test_a_client_that_takes_one_call_is_sent_one(served: Served) -> None:
    asked = asks(served.base, messages("Do it."), tools=TWO_TOOLS, parallel_tool_calls=False)
    question = served.question().question
    with pytest.raises(LabError, match="calls 2 functions, and takes one function call"):
        served.answer("", calls=calls_of(question, [("look", "{}"), ("tap", "{}")]))
    served.answer("", calls=calls_of(question, [("tap", "{}")]))
    assert [one.function.name for one in asked.result.choices[0].message.tool_calls] == ["tap"]


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "tap"}}], ids=["any", "tap"])
def test_a_client_that_demands_a_call_is_sent_no_words_by_a_person(served: Served, choice: Any) -> None:
    asked = asks(served.base, messages("Do it."), tools=TWO_TOOLS, tool_choice=choice)
    question = served.question().question
    with pytest.raises(LabError, match="takes a function's call alone"):
        served.answer("I would rather not.")
    if choice != "required":
        with pytest.raises(LabError, match="no function 'look'"):
            served.answer("", calls=calls_of(question, [("look", "{}")]))
    served.answer("", calls=calls_of(question, [("tap", "{}")]))
    assert [one.function.name for one in asked.result.choices[0].message.tool_calls] == ["tap"]


def test_the_responses_api_goes_on_after_several_calls(served: Served) -> None:
    asking = client(served.base, timeout=60)
    tools: list[Any] = [
        {"type": "function", "name": name, "parameters": {}, "strict": False} for name in ("look", "tap")
    ]
    said: list[Any] = [{"role": "user", "content": "Do it."}]

    def create(input: list[Any]) -> Call:
        return Call(lambda: asking.responses.create(model="human", input=input, tools=tools))

    first = create(said)
    served.answer("", calls=calls_of(served.question().question, [("look", "{}"), ("tap", "{}")]))
    output = first.result.output
    assert [one.name for one in output] == ["look", "tap"]
    calls = [{"type": one.type, "call_id": one.call_id, "name": one.name, "arguments": one.arguments} for one in output]
    results = [{"type": "function_call_output", "call_id": one.call_id, "output": one.name} for one in output]
    second = create([*said, *calls, *results])
    turn = served.question(1)
    assert (turn.run, turn.facts.before) == (served.turns[0].run, ())
    assert turn.question.text == "[result of look] look\n\n[result of tap] tap"
    served.answer("All done.", 1)
    assert second.result.output_text == "All done."


def test_a_token_of_the_prompt_ends_the_conversation(served: Served, store: Store) -> None:
    asked = asks(served.base, messages("Anything else?", system="Say ###STOP### when done."))
    served.answer("No, thanks. ###STOP###")
    assert content(asked) == "No, thanks. ###STOP###"
    until(lambda: store.runs.trace(served.turns[0].run).status == "completed")


def test_a_judges_request_is_a_run_of_its_own_kind(served: Served, store: Store) -> None:
    asked = asks(served.base, messages("Rate this.", system=JUDGE))
    assert served.question().facts.kind == "judge"
    served.answer("<think>\nfine\n</think>\n<score>\n0.75\n</score>")
    assert "<score>\n0.75\n</score>" in content(asked)
    trace = store.runs.trace(served.turns[0].run)
    assert (trace.agent.id, trace.task.id[:6]) == ("endpoint-judge:human", "judge-")


def test_a_picture_of_a_request_is_kept_with_its_question(served: Served, store: Store) -> None:
    import base64
    import io

    from PIL import Image

    data = io.BytesIO()
    Image.new("RGB", (30, 60), "red").save(data, "PNG")
    url = "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    asked = asks(served.base, [{"role": "user", "content": parts}])
    before = served.question().asked.before
    assert before.size == (30, 60)
    assert before.image is not None
    assert store.runs.blob(before.image).data == data.getvalue()  # type: ignore[union-attr]
    served.answer("A red field.")
    assert content(asked) == "A red field."


def test_a_question_that_is_closed_gets_an_error_and_no_answer(served: Served, store: Store) -> None:
    asking = client(served.base, timeout=180, max_retries=0)

    def streamed() -> list[Any]:
        return list(asking.chat.completions.create(model="human", messages=messages("What?"), stream=True))

    asked = Call(streamed)
    close_conversation(store, served.question().run, P1)
    with pytest.raises(Exception, match="nobody answers it"):
        _ = asked.result
    assert store.runs.trace(served.turns[0].run).status == "stopped"


# -- patience ------------------------------------------------------------------------------------------------------


def test_minutes_of_typing_arrive_with_one_request_sent(store: Store) -> None:
    """A client whose read timeout is far shorter than the wait: signs of life hold it, streamed or not."""
    with serving(store, keep_alive=SHORT / 5) as served:
        plain = asks(served.base, messages("What?"), timeout=SHORT)
        served.question()
        until(lambda: served.app.pieces > 20)
        served.answer("Noodles, after a while.")
        assert content(plain) == "Noodles, after a while."
        asking = client(served.base, timeout=SHORT)
        streamed = Call(
            lambda: [
                chunk.choices[0].delta.content
                for chunk in asking.chat.completions.create(model="h", messages=messages("Size?"), stream=True)
            ]
        )
        served.question(1)
        before = served.app.pieces
        until(lambda: served.app.pieces > before + 20)
        served.answer("Large.", 1)
        assert "Large." in streamed.result
        assert len(served.taken) == 2


def test_litellm_waits_as_long_and_reads_what_tau2_reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for fetched in ("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS", "BLOG_POSTS"):
        monkeypatch.setenv(f"LITELLM_LOCAL_{fetched}", "True")
    monkeypatch.setenv("LITELLM_MODE", "PRODUCTION")
    import litellm

    with serving(store, keep_alive=SHORT / 5) as served:
        asked = Call(
            lambda: litellm.completion(
                model="openai/human", api_base=served.base, api_key="none", messages=messages("What?"),
                timeout=SHORT, num_retries=3,
            )
        )  # fmt: skip
        served.question()
        until(lambda: served.app.pieces > 20)
        served.answer("Noodles.")
        message = asked.result.choices[0].message
        assert (message.role, message.content, len(served.taken)) == ("assistant", "Noodles.", 1)


def test_a_silent_line_is_tried_again_and_meets_the_same_question(store: Store) -> None:
    """Without signs of life the client's tries all wait for the one question; its answer waits for who comes later."""
    with serving(store, keep_alive=60) as served:
        asked = asks(served.base, messages("What?"), timeout=4 * SHORT, retries=2)
        with pytest.raises(openai.APITimeoutError):
            _ = asked.result
        until(lambda: [one.retry for one in served.taken] == [0, 1, 2])
        until(lambda: served.app.connected == 0)
        served.answer("Noodles.")
        assert content(asks(served.base, messages("What?"))) == "Noodles."
        assert len(served.turns) == 1


def test_a_client_that_was_killed_meets_its_question_and_its_answer(served: Served) -> None:
    body = json.dumps({"messages": messages("What?")}).encode()
    host, _, port = served.base.removeprefix("http://").partition("/")[0].partition(":")
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection((host, int(port)), 60) as killed:
        killed.sendall(head + body)
        assert killed.recv(12).startswith(b"HTTP/1.1 200")
    until(lambda: served.app.connected == 0)
    again = asks(served.base, messages("What?"))
    until(lambda: served.app.connected == 1)
    assert len(served.turns) == 1
    served.answer("Noodles.")
    assert content(again) == "Noodles."
    with socket.create_connection((host, int(port)), 60) as killed:
        killed.sendall(head.replace(b"\r\n\r\n", b"\r\nx-stainless-retry-count: 1\r\n\r\n") + body)
        came = b""
        while b"Noodles." not in came:
            came += killed.recv(4096)
    assert len(served.turns) == 1
    anew = asks(served.base, messages("What?"))  # arrived, and no retry: the task is played again
    served.answer("Rice.", 1)
    assert content(anew) == "Rice."
    assert served.turns[0].run != served.turns[1].run


def test_twenty_at_once_each_get_their_own_answer(served: Served) -> None:
    calls = [asks(served.session(f"s{at}"), messages(f"Question {at}?")) for at in range(20)]
    until(lambda: len(served.turns) == 20)
    for at, turn in enumerate(served.turns):
        served.answer(f"to {turn.question.text}", at)
    for at, asked in enumerate(calls):
        assert content(asked) == f"to Question {at}?"
    assert len({turn.run for turn in served.turns}) == 20


def test_new_conversations_are_dealt_evenly(store: Store) -> None:
    people = [Actor("human", code) for code in ("P01", "P02", "P03")]
    with serving(store, people=people) as served:
        calls = [asks(served.session(f"s{at}"), messages("What?")) for at in range(6)]
        until(lambda: len(served.turns) == 6)
        held = [store.runs.trace(turn.run).user for turn in served.turns]
        assert sorted(user.id for user in held if user) == ["P01", "P01", "P02", "P02", "P03", "P03"]
        for at in range(6):
            served.answer("x", at)
        assert {content(one) for one in calls} == {"x"}


# -- what is refused -----------------------------------------------------------------------------------------------

BAD = {
    "empty": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "no messages": b"{}",
    "no message": b'{"messages": []}',
    "text for messages": b'{"messages": "hi"}',
    "a message without role": b'{"messages": [{"content": "hi"}]}',
    "a number for content": b'{"messages": [{"role": "user", "content": 7}]}',
    "five answers": b'{"messages": [{"role": "user", "content": "x"}], "n": 5}',
    "text for stream": b'{"messages": [{"role": "user", "content": "x"}], "stream": "yes"}',
    "deep": b'{"messages": [{"role": "user", "content": "x"}], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "tools that are none": b'{"messages": [{"role": "user", "content": "x"}], "tools": [7]}',
    "a picture that is none": b'{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": '
    b'{"url": "data:image/png;base64,!"}}]}]}',
    "UTF-16": '{"messages": []}'.encode("utf-16"),
}


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One endpoint for all that it refuses."""
    with Store.open(tmp_path_factory.mktemp("refusing") / "lab.db") as store, serving(store) as there:
        yield there


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_is_told_so_and_changes_nothing(name: str, refusing: Served) -> None:
    status, headers, body = post(refusing.base, BAD[name])
    assert (status, headers["x-should-retry"]) == (400, "false")
    assert body["error"]["type"] == "invalid_request_error"
    assert "the request" in body["error"]["message"]
    assert refusing.turns == []


def test_openais_client_does_not_try_a_bad_request_again(refusing: Served) -> None:
    with pytest.raises(openai.APIStatusError, match="a person gives one"):
        _ = asks(refusing.base, messages("x"), n=5).result
    assert refusing.taken == []


def test_other_paths_methods_hosts_and_pages_are_refused(refusing: Served) -> None:
    body = json.dumps({"messages": messages("x")}).encode()
    assert post(refusing.base, body, "/v1/embeddings")[0] == 404
    assert post(refusing.base, body, "/s/../v1/chat/completions")[0] == 404
    assert post(refusing.base, body, "/v1/models")[0] == 405
    assert post(refusing.base, body, Origin="http://evil.example")[0] == 403
    assert post(refusing.base, body, Host="evil.example")[0] == 403
    assert refusing.taken == []


def test_more_bytes_than_are_read_are_refused_before_they_are(
    refusing: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_limits, "ENDPOINT_BYTES", 1000)
    assert post(refusing.base, b"x" * 1001)[0] == 413


def test_a_body_that_comes_too_slowly_is_refused(refusing: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_limits, "ENDPOINT_SECONDS", 0.2)
    host, _, port = refusing.base.removeprefix("http://").partition("/")[0].partition(":")
    with socket.create_connection((host, int(port)), 60) as slow:
        slow.sendall(f"POST /v1/responses HTTP/1.1\r\nHost: {host}\r\nContent-Length: 50\r\n\r\n{{".encode())
        assert slow.recv(20).startswith(b"HTTP/1.1 408")
    with socket.create_connection((host, int(port)), 60) as silent:
        assert silent.recv(20) == b""


def test_where_there_is_a_token_it_must_be_shown(store: Store) -> None:
    with serving(store, token="a-token-of-many-letters") as served:
        with pytest.raises(openai.APIStatusError, match="not this endpoint's token") as refused:
            _ = asks(served.base, messages("x")).result
        assert refused.value.status_code == 401
        asking = client(served.base, api_key="a-token-of-many-letters", timeout=180)
        assert [one.id for one in asking.models.list()] == ["human"]


def test_hostile_text_is_kept_as_text(served: Served, store: Store) -> None:
    words = "\x1b[2J\x1b]0;x\x07 [b]bold[/b] '; DROP TABLE event; -- \ud800 \u202e \x00"
    asked = Call(lambda: post(served.base, json.dumps({"messages": messages(words)}).encode()))
    assert "DROP TABLE" in served.question().question.text
    served.answer("Noodles.")
    assert asked.result[2]["choices"][0]["message"]["content"] == "Noodles."
    assert store.check() == []


def test_a_port_that_is_taken_is_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        app = Endpoint(lambda request: None, Access())  # type: ignore[arg-type, return-value]
        with pytest.raises(LabError, match="cannot be had"):
            EndpointServer(app, Access(), "127.0.0.1", taken.getsockname()[1]).start()


def test_what_the_persona_holds_reaches_no_log(
    store: Store, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    secret = "allergic to zucchini-7311"
    persona = Persona("ann", "Ann Example", {"health": secret})
    task = Task("lunch", "personalized", instruction="order lunch", persona="ann", policy="secret policy 7311")
    with serving(store, known=[KnownTask(task, persona)]) as served:
        asked = asks(served.base, messages("What?", system=f"You are Ann. Goal: Order  lunch. {secret}"))
        assert store.runs.trace(served.question().run).persona == persona
        served.answer("Noodles 7311.")
        content(asked)
        post(served.base, json.dumps({"messages": [{"role": secret, "content": 7}]}).encode())
    written = capfd.readouterr()
    logged = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith(("aiohttp", "asyncio", "hitlab", "lab"))
    ]
    assert "7311" not in written.out + written.err + "".join(logged)


def test_equal_prompts_at_once_are_conversations_of_their_own_to_their_ends(served: Served) -> None:
    """As tau2-bench asks with several trials, or tasks of one prompt, at a time: nobody gets another's answer."""
    first = [asks(served.base, messages("Hi! How can I help?"), retries=0) for _ in range(6)]
    until(lambda: len(served.turns) == 6)
    for at in range(6):
        served.answer(f"I am number {at}.", at)
    words = [content(one) for one in first]
    assert sorted(words) == [f"I am number {at}." for at in range(6)]
    second = [asks(served.base, messages("Hi! How can I help?", said, "Go on."), retries=0) for said in words]
    until(lambda: len(served.turns) == 12)
    replies = [served.store.runs.trace(turn.run).steps[0].reply for turn in served.turns[6:]]
    for at, reply in enumerate(replies, 6):
        assert reply is not None
        served.answer(f"Again: {reply.text}", at)
    assert [content(one) for one in second] == [f"Again: {said}" for said in words]
    assert len({turn.run for turn in served.turns}) == 6


def test_a_try_again_meets_its_question_on_whichever_line_and_whenever_it_comes(served: Served) -> None:
    """The first line is open still where a proxy holds it, or closed a moment before."""
    body = json.dumps({"messages": messages("What?")}).encode()
    host, _, port = served.base.removeprefix("http://").partition("/")[0].partition(":")

    def line(headers: str = "") -> socket.socket:
        opened = socket.create_connection((host, int(port)), 60)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
        opened.sendall(head.encode() + body)
        assert opened.recv(12).startswith(b"HTTP/1.1 200")
        return opened

    held = line()
    again = line("x-stainless-retry-count: 1\r\n")
    assert len(served.turns) == 1
    again.close()
    held.close()
    for _ in range(20):
        line().close()
    assert len(served.turns) == 1
    kept = line()
    served.answer("Noodles.")
    came = b""
    while b"Noodles." not in came:
        came += kept.recv(4096)
    kept.close()
