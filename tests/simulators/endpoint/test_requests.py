"""Requests as they are read, what kind they are of, and the arguments of functions."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.errors import LabError
from simulators.users.endpoint.access import access_for, host_name, is_loopback
from simulators.users.endpoint.chat_request import ChatMessage, ChatRequest, Tool, read_chat, read_responses
from simulators.users.endpoint.request_kinds import judge_rules, kind_of, stop_tokens
from simulators.users.endpoint.tool_arguments import arguments_of, check_arguments, fields_of

RULES = judge_rules(["grade it"])


def said(*pairs: tuple[str, str]) -> ChatRequest:
    return ChatRequest(tuple(ChatMessage(role, text) for role, text in pairs))


KEYS = st.sampled_from(["messages", "role", "content", "tools", "function", "input", "type", "image_url", "n"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ANY = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner))


@given(ANY)
def test_any_json_is_a_request_or_a_sentence(value: object) -> None:
    data = json.dumps(value).encode()
    for read in (read_chat, read_responses):
        with suppress(LabError):
            assert read(data).messages


@given(st.binary(max_size=200))
def test_any_bytes_are_a_sentence(data: bytes) -> None:
    with pytest.raises(LabError):
        read_chat(data)


def test_parts_tools_and_calls_are_read() -> None:
    picture = base64.b64encode(b"\xff\xd8\xff jpeg").decode()
    body = {
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{picture}"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "input_audio", "input_audio": {}},
            ]},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "temperature": 0.0, "seed": 42, "unknown": None,
    }  # fmt: skip
    read = read_chat(json.dumps(body).encode())
    assert [blob.mime for blob in read.messages[0].pictures] == ["image/jpeg"]
    assert "not fetched" in read.messages[0].text
    assert "input_audio" in read.messages[0].text
    assert read.messages[1].calls[0].name == "f"
    assert read.tools == (Tool("f", "", {"type": "object"}),)


def test_functions_that_a_client_forbids_are_not_offered() -> None:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "Go."}], "tool_choice": "none"}
    assert read_chat(json.dumps({**body, "tools": [{"function": {"name": "f"}}]}).encode()).tools == ()
    body = {"input": "Go.", "tool_choice": {"type": "function", "name": "f"}, "tools": [{"name": "f"}]}
    assert [tool.name for tool in read_responses(json.dumps(body).encode()).tools] == ["f"]
    assert read_responses(json.dumps({**body, "tool_choice": "none"}).encode()).tools == ()


def test_a_function_that_a_client_names_is_the_one_that_is_offered() -> None:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "Go."}]}
    body["tools"] = [{"function": {"name": name}} for name in "fg"]
    for choice, offered, must in (
        ("auto", "fg", False), (None, "fg", False), ("required", "fg", True),
        ({"type": "function", "function": {"name": "g"}}, "g", True),
    ):  # fmt: skip
        read = read_chat(json.dumps({**body, "tool_choice": choice}).encode())
        assert ("".join(tool.name for tool in read.tools), read.must_call) == (offered, must)
    body = {
        "input": "Go.",
        "tools": [{"name": name} for name in "fg"],
        "tool_choice": {"type": "function", "name": "g"},
    }
    asked = read_responses(json.dumps(body).encode())
    assert ([tool.name for tool in asked.tools], asked.must_call) == (["g"], True)


def test_responses_are_read_as_the_same_request() -> None:
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
    ]
    read = read_responses(json.dumps({"instructions": "You are Ann.", "input": items}).encode())
    assert [one.role for one in read.messages] == ["system", "user", "assistant", "tool"]
    with pytest.raises(LabError, match="previous_response_id"):
        read_responses(b'{"input": "x", "previous_response_id": "r1"}')


@pytest.mark.parametrize("demand", ["accept/reject", "accept|reject", " reject or accept "])
def test_a_demanded_tag_makes_a_consent(demand: str) -> None:
    assert kind_of(said(("system", f"Answer <decision>{demand}</decision>."), ("user", "Shall I?")), RULES) == "consent"


def test_kinds_are_told_by_the_last_messages_and_the_prompt() -> None:
    assert kind_of(said(("system", "You are Ann."), ("user", "What?")), RULES) == "user"
    assert kind_of(said(("system", "You are a strict evaluator."), ("user", "x")), RULES) == "judge"
    assert kind_of(said(("system", "Please GRADE IT."), ("user", "x")), RULES) == "judge"
    assert kind_of(said(("user", "x"), ("assistant", ""), ("tool", "done")), RULES) == "tool"
    answered = said(("system", "x"), ("user", "Shall I?"), ("assistant", "<decision>accept/reject</decision>"))
    assert kind_of(answered, RULES) == "user"
    assert stop_tokens("Say ###STOP### or ###OUT-OF-SCOPE###, then ###STOP###. # not ###this###") == (
        "###STOP###", "###OUT-OF-SCOPE###",
    )  # fmt: skip


TOOL = Tool("book", "", {
    "type": "object",
    "properties": {
        "seat": {"$ref": "#/$defs/Seat"},
        "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "name": {"type": "string"},
        "extra": {"type": "object"},
        "price": {"type": "number"},
    },
    "required": ["name", "seat"],
    "$defs": {"Seat": {"enum": ["aisle", "window", 3]}, "Loop": {"$ref": "#/$defs/Loop"}},
})  # fmt: skip


def test_a_schema_is_a_form_and_what_is_typed_is_json() -> None:
    fields = {field.name: (field.kind, field.required) for field in fields_of(TOOL)}
    assert list(fields)[:2] == ["seat", "name"]
    assert fields["count"] == ("integer", False)
    assert fields["extra"] == ("json", False)
    typed = {"name": "Ann", "seat": "3", "count": "2", "extra": '{"a": [1]}', "price": "1.5"}
    values = {"seat": 3, "name": "Ann", "count": 2, "extra": {"a": [1]}, "price": 1.5}
    assert json.loads(arguments_of(TOOL, typed)) == values
    check_arguments(TOOL, json.dumps(values))


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({}, "field seat: is required"),
        ({"seat": "wing", "name": "A"}, "field seat: 'wing' is none of aisle, window, 3"),
        ({"seat": "aisle", "name": "A", "count": "2.5"}, "field count: '2.5' is not a whole number"),
        ({"seat": "aisle", "name": "A", "count": "true"}, "field count"),
        ({"seat": "aisle", "name": "A", "extra": "{"}, "field extra: '{' is not JSON"),
        ({"seat": "aisle", "name": "A", "extra": "[NaN]"}, "field extra: '.NaN.' is not JSON"),
        ({"seat": "aisle", "name": "A", "price": "1e999"}, "field price: '1e999' is not a number"),
    ],
)
def test_what_does_not_fit_the_schema_is_a_sentence(typed: dict[str, str], problem: str) -> None:
    with pytest.raises(LabError, match=problem):
        arguments_of(TOOL, typed)


@pytest.mark.parametrize(
    "arguments",
    ["", "[]", "{", '{"seat": "wing", "name": "A"}', '{"seat": "aisle", "name": 7}',
     '{"seat": "aisle", "name": "A", "price": NaN}', '{"seat": "aisle", "name": "A", "price": -1e999}'],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(arguments: str) -> None:
    with pytest.raises(LabError, match="function book"):
        check_arguments(TOOL, arguments)


def test_a_schema_that_leads_in_a_circle_is_a_field_of_json() -> None:
    loop = Tool("f", "", {"properties": {"x": {"$ref": "#/$defs/Loop"}}, "$defs": {"Loop": {"$ref": "#/$defs/Loop"}}})
    assert [field.kind for field in fields_of(loop)] == ["json"]
    assert fields_of(Tool("f", "", {"properties": 7})) == []
    odd_definitions: list[Any] = [7, "x", [1], True, None]
    for odd in odd_definitions:
        odd_tool = Tool("f", "", {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": odd}})
        assert arguments_of(odd_tool, {"x": "1"}) == '{"x": 1}'


def test_hosts_and_tokens() -> None:
    assert host_name("[::1]:80") == "::1"
    assert host_name("LOCALHOST:1") == "localhost"
    assert is_loopback("127.0.0.2")
    assert not is_loopback("0.0.0.0")
    assert access_for("127.0.0.1", "").token == ""
    assert access_for("0.0.0.0", "").token.startswith("sk-")
    with pytest.raises(LabError, match="fewer than"):
        access_for("0.0.0.0", "short")
