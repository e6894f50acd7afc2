"""What servers and models say of themselves: thinking in any marks, no answer for a reason, refused requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.endpoint import Body, ModelServer, Pieces, Reply, Request, Said, Whole, in_turn, serving
from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.lab.fitting import fits

__all__ = ["hitlab"]

DRAFT = '{"thought": "Perhaps.", "action": "open_app", "app": "Mail"}'
ACTION = '{"thought": "So.", "action": "navigate_back"}'
DONE = '{"thought": "Nothing to do.", "action": "status", "status": "complete"}'
QUOTES = '{"thought": "It says </think>, [/THINK] and <|channel|>.", "action": "navigate_back"}'
LIMIT = "the limit of tokens (model_tokens is 4,096)"


@pytest.fixture(autouse=True)
def _setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    monkeypatch.setenv("HITLAB_MODEL_TRIES", "2")


def lived(hitlab: Hitlab, server: ModelServer, monkeypatch: pytest.MonkeyPatch, *words: str, name: str = "tiny") -> Any:
    """A headless run of a model agent, as `show` tells it."""
    monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
    agent = ("--agent", f"model:openai/{name}", *words)
    return shown(hitlab, hitlab("live", "usual_lunch", "--headless", "--json", "--db", "x.db", *agent).json)


def shown(hitlab: Hitlab, result: Any) -> Any:
    run = hitlab("show", result["trace"], "--json", "--db", "x.db").json
    assert fits(result, "live")
    assert fits(run, "show")
    return run


# -- thinking ------------------------------------------------------------------------------------------------------

MARKED = [
    f"Perhaps {DRAFT}? No.\n</think>\n\n{ACTION}",
    f"<think>Perhaps {DRAFT}? No.</think>{ACTION}",
    f"<think>a</think>{DRAFT}<think>No.</think>{ACTION}",
    f"<think>a <think>{DRAFT}</think> b</think>\n{ACTION}",
    f"Hm. {DRAFT}</thinking>\n```json\n{ACTION}\n```",
    f"< THINK >{DRAFT}</ Think >{ACTION}",
    f'<thought effort="high">{DRAFT}</thought>{ACTION}',
    f"<reasoning>{DRAFT}</reasoning><answer>{ACTION}</answer>",
    f"<|begin_of_thought|>{DRAFT}<|end_of_thought|>\n<|begin_of_solution|>{ACTION}<|end_of_solution|>",
    f"[THINK]{DRAFT}[/THINK]{ACTION}",
    f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{ACTION}<|return|>",
    f"analysisWe could {DRAFT}.assistantfinal{ACTION}",
    f"<|channel>thought\n{DRAFT}<channel|>{ACTION}",
    f"◁think▷{DRAFT}◁/think▷{ACTION}",
    f"<seed:think>{DRAFT}</seed:think>{ACTION}",
    f"<reflection>{DRAFT}</reflection>{ACTION}",
    f"<scratchpad>{DRAFT}</scratchpad>{ACTION}",
    f"<inner_monologue>{DRAFT}</inner_monologue>{ACTION}",
    f"<analysis>{DRAFT}</analysis>{ACTION}",
    f"<|START_THINKING|>{DRAFT}<|END_THINKING|><|START_RESPONSE|>{ACTION}<|END_RESPONSE|>",
    f"<start_thought>{DRAFT}<end_thought>{ACTION}",
    f"```thinking\nPerhaps\n```json\n{DRAFT}\n```\nNo.\n```\n```json\n{ACTION}\n```",
    f'<details type="reasoning">{DRAFT}</details>{ACTION}',
    f"&lt;think&gt;{DRAFT}&lt;/think&gt;{ACTION}",
    f"＜think＞{DRAFT}＜／think＞{ACTION}",
    f"［THINK］{DRAFT}［/THINK］{ACTION}",
    f"《think》{DRAFT}《/think》{ACTION}",
    f"<思考>{DRAFT}</思考>{ACTION}",
    f"<details><summary>Thinking</summary>{DRAFT}</details>{ACTION}",
    f"Here is my thought process:\n{DRAFT}\n\nHere is my response:\n{ACTION}",
    f"<think>{DRAFT}</think>{ACTION}<|im_end|>",
    f"<wobble>{DRAFT} No.</wobble>{ACTION}",
    f"{DRAFT} No.</wobble>{ACTION}",
    f"%%hm%% {DRAFT} No. %%/hm%% {ACTION}",
    f"First I had {DRAFT}, and that is wrong. So: {ACTION}",
    f"<think>{DRAFT}</think>{QUOTES}",
    QUOTES,
    f"<think>{QUOTES}</think>{ACTION}",
    f"{ACTION}\n{DRAFT}",
    f"<tool_call>{ACTION}</tool_call>\n<tool_call>{DRAFT}</tool_call>",
    f"I go back. {ACTION} That should do.",
    ACTION.replace("So.", "one line\n\tand another"),
]


@pytest.mark.parametrize("texts", [MARKED[:21], MARKED[21:]], ids=["first", "second"])
@pytest.mark.parametrize("stream", ["false", "true"])
def test_only_what_stands_after_the_thinking_is_done(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, stream: str, texts: list[str]
) -> None:
    monkeypatch.setenv("HITLAB_MODEL_STREAM", stream)
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": DRAFT}]}, {"type": "text", "text": ACTION}]
    replies: list[Reply] = [Said(text) for text in texts]
    replies += [Whole({"content": parts}), Whole({"reasoning_content": DRAFT, "content": ACTION}), Said(DONE)]
    with serving(in_turn(*replies)) as server:
        result = lived(hitlab, server, monkeypatch)
    kinds = [step["proposed"]["action"]["kind"] for step in result["steps"]]
    assert kinds == ["navigate_back"] * (len(texts) + 2) + ["status"]
    assert len(server.requests) == len(replies)
    assert "Perhaps" not in server.requests[-1].text  # no thinking is sent again


NOTHING: list[tuple[Whole, str]] = [
    (
        Whole({"content": f"<think>Perhaps {DRAFT} would be right, but"}, "length"),
        f"cut inside its thinking by {LIMIT}",
    ),
    (Whole({"content": f"Perhaps {DRAFT} would be right, but"}, "length"), f"before its JSON was whole by {LIMIT}"),
    (Whole({"content": f"{DRAFT} would be right, but"}, "length"), f"before its JSON was whole by {LIMIT}"),
    (Whole({"content": '{"thought": "I look at the'}, "length"), "(model_tokens is 4,096)). Raise model_tokens."),
    (Whole({"content": None, "reasoning_content": "Hm."}, "length"), f"cut before its answer by {LIMIT}"),
    (Whole({"content": f"<|channel|>analysis<|message|>{DRAFT}, but"}, "length"), f"inside its thinking by {LIMIT}"),
    (Whole({"content": f"<think>{DRAFT}. So be it."}), "its thinking (<think>) has no end"),
    (Whole({"content": f"［THINK］{DRAFT}"}), "its thinking (［THINK］) has no end"),
    (Whole({"content": f"<思考>{DRAFT}"}), "its thinking (<思考>) has no end"),
    (Whole({"content": f"<details><summary>Thinking</summary>{DRAFT}"}), "its thinking (<details>) has no end"),
    (Whole({"content": f"Here is my thought process:\n{DRAFT}"}, "length"), f"cut inside its thinking by {LIMIT}"),
    (Whole({"content": f"<wobble>Perhaps {DRAFT} would be right."}), "its thinking (<wobble>) has no end"),
    (Whole({"content": f"{DRAFT}<reflection>No!</reflection>"}), "nothing stands after its thinking (</reflection>)"),
    (Whole({"content": "", "reasoning_content": f"I decide. {DONE}"}), "all that it wrote stands in reasoning_content"),
    (Whole({"content": "", "reasoning": DONE}), "all that it wrote stands in reasoning"),
    (Whole({"content": [{"type": "thinking", "thinking": DONE}]}), "all that it wrote stands in thinking"),
    (Whole({"content": None, "refusal": "I can't help with that."}), "it refused: I can't help with that"),
    (Whole({"content": [{"type": "refusal", "refusal": "No way."}]}), "it refused: No way"),
    (Whole({"content": None}, "content_filter"), "a content filter withheld the answer"),
    (Whole({"content": DONE}, "content_filter"), "a content filter withheld the answer"),
    (
        Whole({"content": None, "tool_calls": [{"index": 0, "function": {"name": "tap", "arguments": "{}"}}]}),
        "it called a function (tap) in place of an answer",
    ),
    (Whole({"content": None, "function_call": {"name": "tap", "arguments": "{}"}}), "it called a function (tap)"),
]


@pytest.mark.parametrize("stream", ["false", "true"])
@pytest.mark.parametrize(("reply", "why"), NOTHING, ids=[why[:40] for _, why in NOTHING])
def test_an_answer_that_is_none_says_why_and_is_paid_for_once(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, reply: Whole, why: str, stream: str
) -> None:
    monkeypatch.setenv("HITLAB_MODEL_STREAM", stream)
    with serving(in_turn(reply)) as server:
        result = lived(hitlab, server, monkeypatch)
    assert result["status"] == "failed"
    assert why in result["ended"]["reason"]
    assert [step["proposed"]["action"]["kind"] for step in result["steps"]] == ["other"]
    assert len(server.requests) == 1


# -- what a server refuses -----------------------------------------------------------------------------------------


def refuses(is_wrong: Callable[[dict[str, Any]], bool], body: Any, status: int = 400) -> Callable[[Request], Reply]:
    """A server that does two actions, and refuses what it does not know in these words."""
    acts = [Said(ACTION), Said(DONE)]

    def brain(request: Request) -> Reply:
        if is_wrong(request.json):
            return Body(json.dumps(body).encode(), status=status)
        return acts.pop(0) if len(acts) > 1 else acts[0]

    return brain


def has(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: name in body


def pictured(body: dict[str, Any]) -> bool:
    return any(isinstance(message["content"], list) for message in body["messages"])


def systemic(body: dict[str, Any]) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


OLD, NEW = "max_tokens", "max_completion_tokens"
TEMPERATURE, IMAGES = "without temperature (model_temperature)", "without images (model_picture)"
REFUSED: list[tuple[str, Callable[[dict[str, Any]], bool], Any, int, str]] = [
    ("limit", has(OLD), error(f"Unsupported parameter: '{OLD}' is not supported. Use '{NEW}' instead."), 400, ""),
    ("limit-param", has(OLD), {"error": {"message": "Unsupported parameter", "param": OLD}}, 400, ""),
    ("temperature", has("temperature"), error("'temperature' does not support 0 with this model."), 400, TEMPERATURE),
    ("fastapi", has("temperature"),
     {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}, 422, TEMPERATURE),
    ("bare", has("temperature"), "unknown field: temperature", 400, TEMPERATURE),
    ("positive", has("temperature"), {"error": "`temperature` must be strictly positive"}, 422, TEMPERATURE),
    ("images", pictured, error("This model does not support image input"), 400, IMAGES),
    ("strings", pictured, {"detail": [{"loc": ["body", "messages", 1, "content"],
                                       "msg": "Input should be a valid string"}]}, 422, IMAGES),
    ("llama", pictured, error("image input is not supported - hint: provide the mmproj"), 500, IMAGES),
    ("router", pictured, error("No endpoints found that support image input"), 404, IMAGES),
    ("system", systemic, error("System role not supported"), 400, "without system role"),
    ("developer", systemic, error("Role 'system' is not supported, use 'developer' instead."), 400, ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "is_wrong", "body", "status", "without"), REFUSED, ids=[one[0] for one in REFUSED])
def test_what_a_server_refuses_is_left_out_once_for_all_and_told(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, name: str, is_wrong: Callable[[dict[str, Any]], bool], body: Any,
    status: int, without: str,
) -> None:  # fmt: skip
    with serving(refuses(is_wrong, body, status)) as server:
        result = lived(hitlab, server, monkeypatch, name=f"refuses-{name}")
    assert (result["status"], len(result["steps"])) == ("completed", 2)
    assert [is_wrong(request.json) for request in server.requests] == [True, False, False]
    told = hitlab("show", result["id"], "--db", "x.db").out
    assert ("which its server refuses" in told) == bool(without)
    assert without in told
    assert [request.pictures != [] for request in server.requests[1:]] == [without != IMAGES] * 2
    assert "You work an Android phone" in server.requests[1].text
    assert NEW in server.requests[1].json or not name.startswith("limit")


@pytest.mark.parametrize("named", ["stream_options", "stream"])
def test_a_server_that_does_not_know_how_to_stream_is_asked_without(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("HITLAB_MODEL_STREAM", "true")
    with serving(refuses(has(named), error(f"{named} is not supported"))) as server:
        result = lived(hitlab, server, monkeypatch, name=f"no-{named}")
    assert (result["status"], len(server.requests)) == ("completed", 3)
    assert ["stream" in request.json for request in server.requests] == [True] + [named != "stream"] * 2


@pytest.mark.parametrize(
    ("name", "message", "setting"),
    [
        ("large", "max_tokens is too large: 4096. This model supports at most 2048 completion tokens.", "model_tokens"),
        ("context", "This model's maximum context length is 4096 tokens, you requested 9000 tokens.", "model_picture"),
        ("picture", "messages.1.content.1.image: image exceeds 5 MB maximum", "model_picture"),
        ("always", "temperature is not supported", "model_temperature"),
    ],
)
def test_a_refusal_that_nothing_mends_names_the_setting(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, name: str, message: str, setting: str
) -> None:
    with serving(refuses(lambda body: True, error(message))) as server:
        result = lived(hitlab, server, monkeypatch, name=f"never-{name}")
    assert f"HTTP 400: {message.rstrip('.')}" in result["ended"]["reason"]
    assert setting in result["ended"]["reason"].partition(message.rstrip("."))[2]
    assert len(server.requests) == (2 if name == "always" else 1)


# -- words of any shape --------------------------------------------------------------------------------------------

PAGE = b"<!doctype html><html><head><title>Sign in</title><style>p{}</style></head><body><h1>Gate &amp; key</h1></body>"


def broken_off(beside: dict[str, Any], inside: dict[str, Any] | None = None) -> bytes:
    """A whole action in a completion that tells of an error."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": DONE}, **(inside or {})}
    return json.dumps({"choices": [choice], **beside}).encode()


def broken_piece(beside: dict[str, Any] | None = None, finish: str | None = None) -> bytes:
    """A piece with a whole action, or the last one with an error."""
    delta = {"content": DONE if beside is None else ""}
    piece = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **(beside or {})}
    return b"data: " + json.dumps(piece).encode() + b"\n\n"


def nested(message: str, times: int) -> bytes:
    """An error that each of several gateways passes on as text."""
    for _ in range(times):
        message = json.dumps({"error": {"message": message}})
    return message.encode()


ERRORS: list[tuple[Body | Pieces | Whole, str, int]] = [
    (Body(b'{"error": "no such model"}', status=404), "HTTP 404: no such model", 1),
    (Body(b'{"message": "not here", "code": 5}', status=404), "HTTP 404: not here", 1),
    (Body(b'{"detail": "Not Found"}', status=404), "HTTP 404: Not Found", 1),
    (Body(b'{"errors": [{"message": "first"}, {"message": "second"}]}', status=400), "HTTP 400: first; second", 1),
    (Body(b'["a list", "of words"]', status=400), "HTTP 400: a list; of words", 1),
    (Body(b'"a bare string"', status=400), "HTTP 400: a bare string", 1),
    (Body(b"plain words", "text/plain", status=400), "HTTP 400: plain words", 1),
    (Body(b'{"odd": {"thing": 7}}', status=400), 'HTTP 400: {"odd": {"thing": 7}}', 1),
    (Body(PAGE, "text/html", status=502), "HTTP 502: Sign in; Gate & key", 2),
    (Body(b"", status=400), "HTTP 400: no reason given", 1),
    (Body(b"\xff\xfebroken \xe9", "text/plain", status=400), "broken", 1),
    (Body(b'{"error": {"message": "not built"}}', status=501), "HTTP 501: not built", 1),
    (Body(b'{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}}', status=429),
     "HTTP 429: You exceeded your current quota", 1),
    (Body(b'{"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "upstream words"}}}'),
     "HTTP 400: Provider returned error; upstream words", 1),
    (Body(b'{"error": {"message": "overloaded", "code": 502}}'), "HTTP 502: overloaded", 2),
    (Body(b'{"error": {"message": "{\\"error\\": {\\"message\\": \\"deep\\"}}"}}', status=400), "400: deep)", 1),
    (Body(broken_off({"error": {"message": "died", "code": 502}})), "HTTP 502: died", 2),
    (Body(broken_off({}, {"error": {"message": "died inside", "code": 502}})), "HTTP 502: died inside", 2),
    (Pieces([broken_piece(), broken_piece({"error": {"message": "died", "code": 502}}, "error")]), "502: died", 2),
    (Whole({"content": DONE}, "error"), "its server broke the answer off", 2),
    (Pieces([b'event: error\ndata: {"message": "an event"}\n\n']), "an event", 2),
    (Body(b'{"choices": null, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}'),
     "HTTP 200 with an error: insufficient balance", 1),
    (Body(nested("deepest", 3), status=400), "HTTP 400: deepest)", 1),
    (Body(b'{"detail": "odd"}'), "HTTP 200 with an error: odd", 2),
    (Body(PAGE, "text/html"), "HTTP 200 with an error: Sign in; Gate & key", 2),
    (Body(b"moved", "text/plain", status=301, headers=(("location", "http://elsewhere.example/v1"),)),
     "HTTP 301: it is at http://elsewhere.example/v1 now; moved). Set model_base", 1),
]  # fmt: skip


@pytest.mark.parametrize("stream", ["false", "true"])
@pytest.mark.parametrize(("body", "sentence", "tries"), ERRORS, ids=[sentence[:30] for _, sentence, _ in ERRORS])
def test_a_servers_own_words_are_told_with_its_status(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, body: Reply, sentence: str, tries: int, stream: str
) -> None:
    monkeypatch.setenv("HITLAB_MODEL_STREAM", stream)
    with serving(in_turn(body)) as server:
        result = lived(hitlab, server, monkeypatch)
    assert sentence in result["ended"]["reason"]
    assert len(server.requests) == tries


@pytest.mark.parametrize(
    "event",
    [b'{"error": {"message": "upstream died", "code": 400}}', b'{"object": "error", "message": "upstream died"}'],
)
def test_an_error_in_a_stream_is_told(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, event: bytes) -> None:
    monkeypatch.setenv("HITLAB_MODEL_STREAM", "true")
    pieces = Pieces([*Whole({"content": DONE}).pieces().events[:3], b"data: " + event + b"\n\n"])
    with serving(in_turn(pieces)) as server:
        result = lived(hitlab, server, monkeypatch)
    assert "upstream died" in result["ended"]["reason"]
    assert len(server.requests) == (1 if b"400" in event else 2)


# -- what is kept and told -----------------------------------------------------------------------------------------


def test_answers_without_their_usage_were_answers(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(in_turn(Said(ACTION, None), Said(DONE, None))) as server:
        result = lived(hitlab, server, monkeypatch)
    assert "model   2 turns in 2 calls, usage unknown" in hitlab("show", result["id"], "--db", "x.db").out
    assert (result["spent"]["turns"], result["spent"]["uncounted"]) == (2, 2)


def test_thinking_is_kept_with_where_it_stood_and_thought_and_action_are_told_apart(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies: list[Reply] = [
        Whole({"content": ACTION, "reasoning_content": "Secretly so."}),
        Said(f"Hm, so.</think>{DONE}"),
    ]
    with serving(in_turn(*replies)) as server:
        result = lived(hitlab, server, monkeypatch)
    first, second = (step["proposed"] for step in result["steps"])
    assert (first["thinking"], first["thinking_source"], first["raw"]) == ("Secretly so.", "reasoning_content", ACTION)
    assert (second["thinking"], second["thinking_source"], second["raw"]) == ("Hm, so.", "</think>", DONE)
    assert '1. you thought: "So." and did: navigate_back' in server.requests[1].text
    assert "Secretly" not in server.requests[1].text


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("openai/tiny", "tiny"),
        ("hosted_vllm/tiny", "tiny"),
        ("openai/openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        ("anthropic/claude-3-haiku-20240307", "anthropic/claude-3-haiku-20240307"),
        ("deepseek/deepseek-chat", "deepseek/deepseek-chat"),
        ("ollama/llama3", "ollama/llama3"),
        ("some-lab/some-model", "some-lab/some-model"),
        ("claude-3-haiku-20240307", "claude-3-haiku-20240307"),
        ("tiny", "tiny"),
    ],
)
def test_a_server_of_ones_own_is_spoken_to_in_one_way_whatever_the_name(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, name: str, sent: str
) -> None:
    with serving(in_turn(Said(DONE))) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        words = ("live", "usual_lunch", "--headless", "--json", "--db", "x.db", "--agent", f"model:{name}")
        assert hitlab(*words).json["status"] == "completed"
    assert [(request.path, request.json["model"]) for request in server.requests] == [("/v1/chat/completions", sent)]


USERS = [
    ('Maybe {"decision": "reject", "text": "No."}? </think>\n{"decision": "accept", "text": "Yes."}', "accept"),
    ('<wobble>{"decision": "reject", "text": "No."}</wobble>{"decision": "accept", "text": "Yes."}', "accept"),
    ('{"decision": "reject", "text": "No."} Wait, yes: {"decision": "accept", "text": "Yes."}', None),
]


@pytest.mark.parametrize(("text", "decision"), USERS, ids=["marked", "unknown mark", "two answers"])
def test_a_user_that_is_a_model_says_what_stands_after_its_thinking(
    hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, text: str, decision: str | None
) -> None:
    with serving(in_turn(Said(text))) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        user = ("--user", "model:openai/tiny", "--json", "--db", "x.db")
        result = shown(hitlab, hitlab("live", "friday_reorder", "--headless", *user).json)
    assert {step["reply"]["decision"] for step in result["steps"] if step.get("reply")} == {decision} - {None}
    assert decision or "it holds several different answers" in result["ended"]["reason"]
