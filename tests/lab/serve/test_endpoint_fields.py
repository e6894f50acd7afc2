"""Every field of a request to the endpoint, over real HTTP: honoured, passed over, or refused by its name."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.runs.endpoint.conversation_run import calls_of
from simulators.users.endpoint.request_fields import FIELDS, Api
from store.store import Store
from tests.answering import JUDGE, Call, Served, client, messages, serving

PATHS: dict[Api, str] = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
ASKED: dict[Api, dict[str, Any]] = {"chat": {"messages": messages("What?")}, "responses": {"input": "What?"}}
SCHEMA = {
    "type": "object",
    "properties": {
        "decision": {"enum": ["yes", "no"]},
        "why": {"$ref": "#/$defs/why"},
        "parts": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["decision", "why"],
    "additionalProperties": False,
    "$defs": {"why": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["long"]}]}},
}
LOOP = {"type": "object", "properties": {"x": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}, {"type": "string"}]}}}  # fmt: skip
FUNCTION = {"name": "look", "parameters": {}}
REFUSED = {
    "n": 2, "logprobs": True, "top_logprobs": 3, "logit_bias": {"50256": -100}, "modalities": ["text", "audio"],
    "audio": {"voice": "alloy", "format": "mp3"}, "web_search_options": {}, "moderation": {"model": "m"},
    "include": ["message.output_text.logprobs"], "background": True, "background_options": {"completion_window": "2h"},
    "previous_response_id": "resp_1", "conversation": "conv_1", "prompt": {"id": "pmpt_1"},
    "context_management": [{"type": "compaction"}], "access_programs": {"cyber": "standard"},
}  # fmt: skip
"""A value of each refused field that asks for something."""
ASKS_NOTHING = {"n": 1, "logprobs": False, "top_logprobs": 0, "modalities": ["text"], "background": False}
PASSED_OVER = {
    "temperature": 0.0, "top_p": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0, "seed": 42, "user": "u",
    "metadata": {"a": "b"}, "store": True, "service_tier": "auto", "safety_identifier": "s", "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "implicit"}, "prompt_cache_retention": "24h", "max_tokens": 5,
    "max_completion_tokens": 5, "max_output_tokens": 5, "max_tool_calls": 1, "reasoning_effort": "low",
    "verbosity": "low", "prediction": {"type": "content", "content": "x"}, "reasoning": {"effort": "low"},
    "truncation": "auto",
}  # fmt: skip
HONOURED = {
    "messages", "input", "instructions", "model", "tools", "tool_choice", "parallel_tool_calls", "stream",
    "stream_options", "response_format", "text", "stop", "functions", "function_call",
}  # fmt: skip
"""Each has a test of its own here or in `test_endpoint`."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Store.open(tmp_path_factory.mktemp("fields") / "lab.db") as store, serving(store) as there:
        yield there


def ask(
    served: Served, api: Api, more: dict[str, Any], headers: dict[str, str] | None = None
) -> tuple[int, Any, bytes]:
    """One POST without any client: its status, its JSON where it is one document, all of it."""
    host = served.base.removeprefix("http://").partition("/")[0]
    connection = http.client.HTTPConnection(host, timeout=180)
    connection.request("POST", PATHS[api], json.dumps(ASKED[api] | more).encode(), headers or {})
    came = connection.getresponse()
    data = came.read()
    connection.close()
    return came.status, json.loads(data) if data.lstrip().startswith(b"{") else None, data


def answered(served: Served, api: Api, more: dict[str, Any], words: str = "Noodles.") -> tuple[int, Any, bytes]:
    """The same, answered."""
    number = len(served.turns)
    asking = Call(lambda: ask(served, api, more))
    served.answer(words, number)
    came: tuple[int, Any, bytes] = asking.result
    return came


def test_each_field_of_the_table_is_tried_and_told_in_the_guide() -> None:
    fields = {field: rule.how for rules in FIELDS.values() for field, rule in rules.items()}
    tried = dict.fromkeys(REFUSED, "refused") | dict.fromkeys(PASSED_OVER, "passed over")
    assert tried | dict.fromkeys(HONOURED, "honoured") == fields
    guide = (Path(__file__).parents[3] / "docs/guides/endpoint.md").read_text(encoding="utf-8")
    assert [field for field in fields if f"`{field}`" not in guide] == []


@pytest.mark.parametrize(
    ("api", "field"), [(api, name) for api in FIELDS for name in (*REFUSED, "top_k", "guided_json")]
)
def test_what_a_person_cannot_give_is_refused_by_name_and_nobody_is_asked(served: Served, api: Api, field: str) -> None:
    before = len(served.turns)
    status, told, _ = ask(served, api, {field: REFUSED.get(field, 1)})
    assert (status, told["error"]["param"], told["error"]["type"]) == (400, field, "invalid_request_error")
    assert f"field {field}: " in told["error"]["message"]
    assert len(served.turns) == before


ODD_KINDS: list[tuple[Api, str, str]] = [
    ("chat", '{"max_completion_tokens": "many"}', "max_completion_tokens"),
    ("chat", '{"max_tokens": 5.5}', "max_tokens"),
    ("chat", '{"n": true}', "n"),
    ("chat", '{"logprobs": 0}', "logprobs"),
    ("chat", '{"logit_bias": []}', "logit_bias"),
    ("chat", '{"temperature": NaN}', "temperature"),
    ("chat", '{"temperature": 1e999}', "temperature"),
    ("chat", '{"seed": 9999999999999999999999}', "seed"),
    ("chat", '{"tools": [{"function": {"name": "f", "parameters": {"maximum": -Infinity}}}]}',
     "tools[0].function.parameters.maximum"),
    ("chat", '{"tools": [{"type": "function"}]}', "tools[0].function.name"),
    ("chat", '{"functions": [{"name": ""}]}', "functions[0].name"),
    ("chat", '{"function_call": 7}', "function_call"),
    ("chat", '{"function_call": {"name": "look"}}', "function_call"),
    ("chat", '{"stream": true, "stream_options": {"include_obfuscation": "x"}}', "stream_options.include_obfuscation"),
    ("responses", '{"max_output_tokens": "many"}', "max_output_tokens"),
    ("responses", '{"store": "yes"}', "store"),
    ("responses", '{"reasoning": "low"}', "reasoning"),
    ("responses", '{"text": {"verbosity": 1}}', "text.verbosity"),
    ("responses", '{"tools": [{"type": "function"}]}', "tools[0].name"),
    ("responses", '{"stream": true, "stream_options": {"include_obfuscation": 1}}',
     "stream_options.include_obfuscation"),
]  # fmt: skip


@pytest.mark.parametrize(("api", "more", "field"), ODD_KINDS)
def test_a_value_of_another_kind_is_refused_by_its_place_and_nobody_is_asked(
    served: Served, api: Api, more: str, field: str
) -> None:
    before = len(served.turns)
    status, told, _ = ask(served, api, json.loads(more))
    assert (status, told["error"]["param"], told["error"]["type"]) == (400, field, "invalid_request_error")
    assert f"field {field}: " in told["error"]["message"]
    assert len(served.turns) == before


def test_each_field_has_its_kind(served: Served) -> None:
    """A value that fits no kind of field is refused at every one of them."""
    for api, rules in FIELDS.items():
        for field in rules:
            status, told, _ = ask(served, api, {field: [[0.5]]})
            assert (status, told["error"]["param"].partition("[")[0]) == (400, field)


def test_a_refusal_names_a_field_in_a_bounded_length_and_no_function_of_ours(served: Served) -> None:
    _, told, _ = ask(served, "chat", {"k" * 100_000: 1})
    assert len(json.dumps(told)) < 3000
    host = served.base.removeprefix("http://").partition("/")[0]
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("POST", PATHS["chat"], b'{"seed": ' + b"9" * 5000 + b"}")
    message = json.loads(connection.getresponse().read())["error"]["message"]
    assert "5000 digits" in message
    assert "sys." not in message


@pytest.mark.parametrize("api", FIELDS)
def test_what_changes_no_answer_is_passed_over(served: Served, api: Api) -> None:
    known = {name: value for name, value in {**PASSED_OVER, **ASKS_NOTHING}.items() if name in FIELDS[api]}
    nothing = dict.fromkeys([name for name in REFUSED if name in FIELDS[api]])
    status, told, _ = answered(served, api, {**nothing, **known, "unknown": None, "model": "any/name"})
    assert (status, told["model"]) == (200, "any/name")
    assert "Noodles." in json.dumps(told)


def test_a_stream_tells_its_usage_where_that_is_asked_for(served: Served) -> None:
    status, told, _ = ask(served, "chat", {"stream_options": {"include_usage": True}})
    assert (status, told["error"]["param"]) == (400, "stream_options")
    _, _, data = answered(served, "chat", {"stream": True, "stream_options": {"include_usage": True}})
    lines = [line[6:] for line in data.splitlines() if line.startswith(b"data: ")]
    *chunks, last = [json.loads(line) for line in lines[:-1]]
    assert lines[-1] == b"[DONE]"
    assert (last["choices"], last["usage"]["total_tokens"]) == ([], 0)
    assert "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks) == "Noodles."
    _, _, data = answered(served, "chat", {"stream": True})
    assert b"usage" not in data


JSONS: dict[str, tuple[Any, dict[str, str]]] = {
    "object": ({"type": "json_object"}, {"yes": "no JSON", '["yes"]': "no JSON object"}),
    "schema": (
        {"type": "json_schema", "json_schema": {"name": "vote", "schema": SCHEMA, "strict": True}},
        {
            "{}": "field decision: is required",
            '{"decision": "may", "why": "x"}': "field decision: ",
            '{"decision": "yes", "why": 3}': "field why: is of none",
            '{"decision": "yes", "why": {}}': "field why: is of none",
            '{"decision": "yes", "why": "x", "parts": [1, "2"]}': r"field parts\[1\]: .* is no integer",
            '{"decision": "yes", "why": "x", "more": 1}': "field more: is none of",
        },
    ),
    "circle": ({"type": "json_schema", "json_schema": {"name": "x", "schema": LOOP}}, {}),
    "odd": ({"type": "json_schema", "json_schema": {"name": "x", "schema": {**LOOP, "$defs": {"x": 7}}}}, {}),
}


@pytest.mark.parametrize("name", JSONS)
@pytest.mark.parametrize("api", FIELDS)
def test_a_client_that_takes_json_is_sent_json_of_its_schema(served: Served, api: Api, name: str) -> None:
    form, wrong = JSONS[name]
    flat = {"type": form["type"], **form.get("json_schema", {})}
    number = len(served.turns)
    given: dict[str, Any] = {"text": {"format": flat}} if api == "responses" else {"response_format": form}
    asking = Call(lambda: ask(served, api, given))
    for words, problem in wrong.items():
        with pytest.raises(LabError, match=problem):
            served.answer(words, number)
    right = '{"decision": "yes", "why": "It is.", "parts": [1]}' if name not in ("circle", "odd") else '{"x": 3}'
    served.answer(right, number)
    assert json.dumps(right) in json.dumps(asking.result[1])


def test_forms_that_are_none_are_refused_by_their_place(served: Served) -> None:
    for form, place in (
        ({"type": "grammar"}, "response_format.type"),
        ({"type": "json_schema"}, "response_format.json_schema.schema"),
        ({"type": "json_schema", "json_schema": {"schema": {"type": "array"}}}, "response_format.json_schema.schema"),
    ):
        assert ask(served, "chat", {"response_format": form})[1]["error"]["param"] == place
    judged = messages("Rate this.", system=JUDGE)
    status, told, _ = ask(served, "chat", {"messages": judged, "response_format": {"type": "json_object"}})
    assert (status, told["error"]["param"]) == (400, "response_format")


def test_an_answer_ends_before_what_a_client_stops_at(served: Served) -> None:
    """A person is told; of a token that the prompt demands nothing is sent that the client does not take."""
    number = len(served.turns)
    asking = Call(lambda: ask(served, "chat", {"stop": ["END", "\n\n"]}))
    with pytest.raises(LabError, match="holds 'END'"):
        served.answer("To the END of it.", number)
    served.answer("To the end.", number)
    assert asking.result[1]["choices"][0]["message"]["content"] == "To the end."
    said = messages("More?", system="Say ###STOP### when done.")
    _, told, _ = answered(served, "chat", {"messages": said, "stop": "###STOP###"}, "No. ###STOP###")
    assert told["choices"][0]["message"]["content"] == "No. "
    for stop in ("", ["a"] * 5, ["x" * 300]):
        assert ask(served, "chat", {"stop": stop})[1]["error"]["param"] == "stop"


def test_functions_of_the_older_api_are_called_by_it(served: Served) -> None:
    legacy = {"functions": [FUNCTION, {"name": "tap"}], "function_call": {"name": "look"}}
    number = len(served.turns)
    asking = Call(lambda: ask(served, "chat", legacy))
    question = served.question(number).question
    with pytest.raises(LabError, match="takes a function's call alone"):
        served.answer("No.", number)
    served.answer("", number, calls=calls_of(question, [("look", "{}")]))
    choice = asking.result[1]["choices"][0]
    assert choice["finish_reason"] == "function_call"
    assert choice["message"]["function_call"] == {"name": "look", "arguments": "{}"}
    result = [{"role": "assistant", "content": None, "function_call": choice["message"]["function_call"]},
              {"role": "function", "name": "look", "content": "a door"}]  # fmt: skip
    after = {"messages": [*messages("What?"), *result], "functions": [FUNCTION]}
    _, told, _ = answered(served, "chat", after, "A door.")
    assert told["choices"][0]["message"]["content"] == "A door."
    assert served.turns[-1].run == served.turns[number].run


TOOLS = [{"type": "function", "function": {"name": name}} for name in ("look", "tap", "go")]


def test_some_of_the_functions_may_be_allowed_and_others_than_offered_are_refused(served: Served) -> None:
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": one}} for one in ("tap", "go")]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    number = len(served.turns)
    asking = Call(lambda: ask(served, "chat", {"tools": TOOLS, "tool_choice": choice}))
    assert [tool.name for tool in served.question(number).facts.tools] == ["tap", "go"]
    served.answer("", number, calls=calls_of(served.question(number).question, [("tap", "{}")]))
    assert asking.result[0] == 200
    refused: list[tuple[Api, dict[str, Any], str]] = [
        ("chat", {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "fly"}}}, "tool_choice"),
        ("chat", {"tool_choice": "required"}, "tool_choice"),
        ("chat", {"tools": TOOLS, "tool_choice": "sometimes"}, "tool_choice"),
        ("chat", {"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0].type"),
        ("chat", {"messages": [{"role": "narrator", "content": "x"}]}, "messages[0].role"),
        ("responses", {"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ("responses", {"input": [{"type": "item_reference", "id": "x"}]}, "input[0].type"),
    ]
    for api, more, field in refused:
        status, told, _ = ask(served, api, more)
        assert (status, told["error"]["param"]) == (400, field)


def test_bodies_that_are_not_plain_json_in_utf8_are_refused(served: Served) -> None:
    for headers in (
        {"Content-Encoding": "gzip"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": 'application/json; charset="latin-1"'},
    ):
        status, told, _ = ask(served, "chat", {}, headers)
        assert (status, next(iter(headers)) in told["error"]["message"]) == (415, True)


def test_any_models_name_is_one_that_answers_and_other_methods_are_told(served: Served) -> None:
    host = served.base.removeprefix("http://").partition("/")[0]
    asking = client(served.base, timeout=60)
    for name in ("human", "gpt-4o-mini", "openai/human"):
        assert asking.models.retrieve(name).id == name
    for method, path, status, allow in (
        ("HEAD", "/v1/models/human", 200, None), ("HEAD", "/v1/models", 200, None),
        ("DELETE", "/v1/models/x", 405, "GET, HEAD"), ("OPTIONS", "/v1/chat/completions", 405, "POST"),
        ("GET", "/v1/responses", 405, "POST"), ("POST", "/v1/completions", 404, None),
        ("POST", "/v1/embeddings", 404, None), ("GET", "/v1/responses/x", 404, None),
    ):  # fmt: skip
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request(method, path)
        came = connection.getresponse()
        assert (came.status, came.getheader("allow")) == (status, allow), path
        came.read()


def picture(number: int) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo" + f"{number:09}="}}


TOO_MUCH: dict[str, dict[str, Any]] = {
    "text": {"messages": messages("x" * (input_limits.ENDPOINT_TEXT + 1))},
    "a dialogue": {"messages": messages(*["x" * 2000] * 600)},
    "messages": {"messages": messages(*["x"] * (input_limits.ENDPOINT_MESSAGES + 1))},
    "functions": {"tools": [{"type": "function", "function": {"name": f"f{at}"}} for at in range(201)]},
    "a function": {"tools": [{"type": "function", "function": {"name": "f", "description": "x" * 1_100_000}}]},
    "pictures": {"messages": [{"role": "user", "content": [picture(at) for at in range(21)]}]},
    "values": {"metadata": {"x": [[]] * 300_000}},
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_more_than_a_person_can_be_asked_is_refused_in_a_sentence(served: Served, name: str) -> None:
    before = len(served.turns)
    status, told, _ = ask(served, "chat", TOO_MUCH[name])
    assert status == 413
    assert "person can be asked" in told["error"]["message"]
    assert len(served.turns) == before
