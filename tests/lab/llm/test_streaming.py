"""Answers in pieces over a real socket: used when they are whole, tried again when cut, and paid for once."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

import pytest

from lab.core.run.run_records import Blob
from lab.llm.client import Message, NoModelAnswer
from tests.endpoint import Body, Pieces, Refused, Reply, Said, Silent, completion, events, in_turn, serving
from tests.lab.llm.test_client import HELLO, KEY, ask, asking

WORDS = "It was done, and paid for."
WHOLE = events(WORDS)
SCHEMA = {"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["done"]}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def with_usage(parts: Sequence[bytes]) -> list[bytes]:
    """The same events, each with what was taken so far."""
    told = [json.loads(one.removeprefix(b"data: ")) for one in parts]
    usage = {"prompt_tokens": 1000, "total_tokens": 1000}
    return [
        b"data: " + json.dumps({**one, "usage": {**usage, "completion_tokens": n}}).encode() + b"\n\n"
        for n, one in enumerate(told)
    ]


@pytest.mark.parametrize("model", ["openai/tiny", "openai/gpt-4.1-mini"], ids=["told in words", "given a schema"])
def test_a_streamed_answer_is_the_same_with_its_cost_and_the_request_is_the_one_that_is_told(model: str) -> None:
    question = [HELLO[0], Message("user", ("Look:", Blob(b"\x89PNG not really", "image/png"), "What is it?"))]
    with serving(in_turn(Said("Hi. " * 500, (1200, 30), cached=1000))) as server:
        patience = {"timeout": 60.0, "seconds": 180.0}  # a first call loads much, and is not to be tried again
        whole = asking(server, model, price_in=2.0, price_out=10.0, **patience)
        pieces = asking(server, model, price_in=2.0, price_out=10.0, stream=True, **patience)
        one, other = (llm.ask(question, threading.Event(), SCHEMA) for llm in (whole, pieces))
        bodies = [llm.body(question, SCHEMA) for llm in (whole, pieces)]
    assert one._replace(usage=other.usage) == other
    assert other.usage.seconds is not None
    assert (other.usage.prompt_tokens, other.usage.completion_tokens, other.usage.cached_tokens) == (1200, 30, 1000)
    assert other.usage.cost == one.usage.cost == (1200 * 2 + 30 * 10) / 1e6
    for request, body in zip(server.requests, bodies, strict=True):
        assert json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode() == request.data
    assert [one.json.get("stream") for one in server.requests] == [None, True]
    assert ["response_format" in one.json for one in server.requests] == [model != "openai/tiny"] * 2


def test_a_price_that_is_known_counts_for_a_streamed_answer_too() -> None:
    with serving(in_turn(Said("Hi.", (1_000_000, 1_000_000)))) as server:
        costs = [ask(asking(server, "openai/gpt-4.1-mini", stream=stream)).usage.cost for stream in (False, True)]
        unknown = ask(asking(server, "openai/of-nobody", stream=True)).usage
    assert costs[0] is not None
    assert costs[1] == pytest.approx(costs[0])
    assert (unknown.prompt_tokens, unknown.cost) == (1_000_000, None)


@pytest.mark.parametrize(
    "cut",
    [
        Pieces((), cut=True),
        Pieces(WHOLE[:3], cut=True),
        Pieces([*WHOLE[:3], WHOLE[3][:20]], cut=True),
        Pieces(WHOLE[:3]),
        Pieces(()),
        Pieces([b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n']),
        Refused(503),
        Silent(drip=0.05),
    ],
    ids=["at once", "in the middle", "in a piece", "orderly", "nothing", "error", "refused", "dripping"],
)
def test_a_stream_that_is_cut_is_tried_again(cut: Reply) -> None:
    with serving(in_turn(cut, Said(WORDS, (100, 10)))) as server:
        seconds = 1.0 if isinstance(cut, Silent) else 20.0
        answer = ask(asking(server, stream=True, price_in=1.0, price_out=1.0, timeout=seconds))
    assert answer.text == WORDS
    assert answer.usage.tries == len(server.requests) == 2
    assert answer.usage.cost == pytest.approx(110 / 1e6)


def test_what_a_cut_stream_told_that_it_took_is_counted() -> None:
    with serving(in_turn(Pieces(with_usage(WHOLE[:4]), cut=True), Said(WORDS, (100, 10)))) as server:
        answer = ask(asking(server, stream=True, price_in=1.0, price_out=1.0))
    assert answer.text == WORDS
    assert answer.usage.cost == pytest.approx((1000 + 3 + 110) / 1e6)


@pytest.mark.parametrize("last", [1, 2], ids=["the end is missing", "the usage, too"])
@pytest.mark.parametrize("cut", [False, True], ids=["orderly", "cut"])
def test_a_whole_answer_whose_end_is_missing_is_not_paid_for_again(last: int, *, cut: bool) -> None:
    with serving(in_turn(Pieces(WHOLE[:-last], cut=cut))) as server:
        answer = ask(asking(server, stream=True, price_in=1.0, price_out=1.0))
    assert (answer.text, len(server.requests)) == (WORDS, 1)
    assert answer.usage.prompt_tokens == (1000 if last == 1 else None)


def test_a_server_that_streams_nothing_is_paid_once() -> None:
    with serving(in_turn(Body(completion(WORDS)))) as server:
        answer = ask(asking(server, stream=True, price_in=1.0, price_out=1.0))
    assert (answer.text, answer.usage.cost, len(server.requests)) == (WORDS, 1020 / 1e6, 1)


def test_a_stream_that_is_given_up_is_one_sentence_without_the_key() -> None:
    told = b'data: {"error": {"message": "no more for %s", "type": "server_error"}}\n\n' % KEY.encode()
    with serving(in_turn(Pieces([told]))) as server, pytest.raises(NoModelAnswer) as refused:
        ask(asking(server, stream=True, tries=2))
    assert "gave no answer in 2 tries (HTTP 200 with an error: no more for [OPENAI_API_KEY])." in refused.value.sentence


def test_words_that_keep_a_connection_alive_are_passed_over() -> None:
    alive = [b": still here\n\n"] * 30_000
    with serving(in_turn(Pieces([*WHOLE[:2], b"".join(alive), *WHOLE[2:]]))) as server:
        assert ask(asking(server, stream=True, timeout=60.0)).text == WORDS


def test_thinking_aloud_in_pieces_is_no_part_of_the_answer() -> None:
    thoughts = [json.loads(one.removeprefix(b"data: ")) for one in WHOLE[1:4]]
    for one in thoughts:
        one["choices"][0]["delta"] = {"reasoning_content": "hm, hm"}
    thought = [b"data: " + json.dumps(one).encode() + b"\n\n" for one in thoughts]
    with serving(in_turn(Pieces([WHOLE[0], *thought, *WHOLE[1:]]))) as server:
        assert ask(asking(server, stream=True)).text == WORDS


PAGE = b"<!DOCTYPE html><html><head><title>Log in</title></head><body>to the proxy</body></html>"
NO_ANSWERS: dict[str, tuple[Reply, str]] = {
    "nothing": (Body(b"", status=204), "HTTP 204 with an empty reply). Is model_base the address"),
    "an empty body": (Body(b""), "HTTP 200 with an empty reply). Is model_base the address"),
    "an empty stream": (Pieces(()), "HTTP 200 with an empty reply). Is model_base the address"),
    "an end alone": (Pieces([b"data: [DONE]\n\n"]), "HTTP 200 with an empty reply). Is model_base the address"),
    "a page": (Body(PAGE, "text/html"), "HTTP 200 with an error: Log in; to the proxy)."),
    "a page as a stream": (Body(PAGE, "text/event-stream"), "HTTP 200 with an error: Log in; to the proxy)."),
    "another event": (Pieces([b'data: {"job": 7}\n\n']), 'HTTP 200 with an error: {"job": 7}).'),
    "a job": (Body(b'{"message": "queued"}', status=202), "HTTP 202 with an error: queued)."),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", NO_ANSWERS)
def test_a_reply_that_is_no_completion_is_told_in_the_servers_words(name: str, *, stream: bool) -> None:
    reply, told = NO_ANSWERS[name]
    with serving(in_turn(reply)) as server, pytest.raises(NoModelAnswer) as refused:
        ask(asking(server, stream=stream, tries=2))
    assert f"gave no answer in 2 tries ({told}" in refused.value.sentence


LINES = b'data: {"choices": [{"delta": {}, "index": 1}, {}]}\n' + b"id: 7\n" * 8 + b"\n"
"""An event of ten lines that adds no words: of each event a client makes a thousand values."""


@pytest.mark.parametrize(
    ("piece", "told"),
    [
        (b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % (b"x" * 2**20), "larger than the 16 MB"),
        (LINES * 200, "more than the 20,000 lines"),
        (b'data: {"choices": [' + b"[]," * 3_000_000 + b"[]]}\n\n", "more than the 2,000,000 values"),
    ],
    ids=["words", "lines", "values"],
)
def test_a_stream_without_end_is_one_sentence(piece: bytes, told: str) -> None:
    with serving(in_turn(Pieces([piece] * 20))) as server, pytest.raises(NoModelAnswer, match=told):
        ask(asking(server, stream=True, timeout=60.0))
