"""Asking a model over a real socket: what goes out, what comes back, and what is done when the server misbehaves."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.run.step import Usage
from lab.core.seams import WaitCancelled
from lab.core.settings import Settings, load
from lab.llm.client import Llm, Message, ModelAnswer, ModelTerms, NoModelAnswer, terms
from tests.bounded import HANGING, ROOT, linux_only
from tests.crossed import soak
from tests.endpoint import (
    Body,
    Cut,
    Flood,
    ModelServer,
    Refused,
    Reply,
    Request,
    Said,
    Silent,
    completion,
    in_turn,
    serving,
)

KEY = "sk-canary-0123456789abcdef"
HELLO = (Message("system", ("Be brief.",)), Message("user", ("Hello",)))
SOON = format_datetime(datetime.now(UTC) + timedelta(days=2), usegmt=True)
TROUBLES: list[Reply] = [
    Refused(429, "slow down", (("Retry-After", "0"),)),
    Refused(500),
    Refused(503),
    Refused(408),
    Cut(),
    Cut(b'{"id": "chatcmpl-1", "choi'),
    Body(completion("never whole")[:60]),
    Body(b"<html>busy</html>", "text/html"),
    Body(b'{"choices": []}'),
    Said(""),
    Said(None),
    Silent(),
    Silent(drip=0.05),
]


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """The first question of a process waits for litellm's own parts; no test's timeout counts that."""
    with serving(in_turn(Said("Hi."))) as server:
        Llm("openai/tiny", ModelTerms(base=server.base)).ask(HELLO, threading.Event())


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def asking(server: ModelServer, model: str = "openai/tiny", **changes: Any) -> Llm:
    """A model on terms under which no test waits."""
    on = ModelTerms(base=server.base, timeout=3.0, seconds=30.0, pause=0.01)
    return Llm(model, on._replace(**changes))


def ask(llm: Llm) -> ModelAnswer:
    return llm.ask(HELLO, threading.Event())


def test_words_and_pictures_go_out_and_an_answer_comes_back_with_its_cost() -> None:
    picture = Blob(b"\x89PNG not really", "image/png")
    with serving(in_turn(Said("Hi.", (1200, 30), cached=1000))) as server:
        llm = asking(server, tokens=77, price_in=2.0, price_out=10.0)
        answer = llm.ask([HELLO[0], Message("user", ("Look:", picture, "What is it?"))], threading.Event())
    assert answer.text == "Hi."
    assert answer.usage.seconds is not None
    assert answer.usage == Usage(1200, 30, 1000, (1200 * 2 + 30 * 10) / 1e6, answer.usage.seconds, 1)
    [request] = server.requests
    assert request.texts == ["Be brief.", "Look:", "What is it?"]
    assert request.pictures == [picture.data]
    assert (request.json["model"], request.json["max_tokens"], request.json["temperature"]) == ("tiny", 77, 0.0)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.path == "/v1/chat/completions"


@pytest.mark.parametrize("trouble", TROUBLES, ids=repr)
def test_what_may_pass_is_tried_again_and_every_try_counts(trouble: Reply) -> None:
    with serving(in_turn(trouble, Said("Hi.", (100, 10)))) as server:
        answer = ask(asking(server, price_in=1.0, price_out=1.0, timeout=3.0 if isinstance(trouble, Silent) else 20.0))
    paid = 1000 + 20 if isinstance(trouble, Said) else 0
    assert answer.text == "Hi."
    assert answer.usage.tries == len(server.requests) == 2
    assert answer.usage.cost == pytest.approx((paid + 110) / 1e6)
    assert (answer.usage.prompt_tokens or 0) + (answer.usage.completion_tokens or 0) == paid + 110


@pytest.mark.parametrize(
    ("status", "words"), [(400, "too long"), (401, "key in the environment"), (404, "HTTP 404"), (413, "HTTP 413")]
)
def test_what_cannot_pass_is_said_at_once_and_without_the_key(status: int, words: str) -> None:
    with serving(in_turn(Refused(status, f"too long, {KEY}"))) as server, pytest.raises(NoModelAnswer) as refused:
        ask(asking(server))
    assert words in refused.value.sentence
    assert KEY not in refused.value.sentence
    assert refused.value.usage.tries == len(server.requests) == 1


def test_it_gives_up_after_so_many_tries_with_one_sentence() -> None:
    with serving(in_turn(Refused(500, "out\nof\x1b order"))) as server, pytest.raises(NoModelAnswer) as refused:
        ask(asking(server, tries=3))
    assert refused.value.sentence == r"model openai/tiny: gave no answer in 3 tries (HTTP 500: out⏎of\x1b order)."
    assert refused.value.usage.tries == len(server.requests) == 3


@pytest.mark.parametrize("after", ["3600", SOON], ids=["seconds", "date"])
def test_a_server_that_asks_for_longer_than_there_is_time_is_left(after: str) -> None:
    busy = in_turn(Refused(429, "busy", (("Retry-After", after),)))
    with serving(busy) as server, pytest.raises(NoModelAnswer, match=r"one try \(HTTP 429: busy\)") as refused:
        ask(asking(server))
    assert "30 s of model_seconds" in refused.value.hint
    assert len(server.requests) == 1


def test_a_server_that_asks_for_time_is_given_it() -> None:
    with serving(in_turn(Refused(429, "busy", (("Retry-After", "20"),)), Said("Hi."))) as server:
        stop, failed = threading.Event(), []

        def wait() -> None:
            try:
                asking(server).ask(HELLO, stop)
            except WaitCancelled as error:
                failed.append(error)

        asker = threading.Thread(target=wait)
        asker.start()
        server.wait(1)
        asker.join(0.5)  # the next try would have come after 0.01 s
        assert len(server.requests) == 1
        stop.set()
        asker.join(180)
    assert failed


def test_there_is_an_end_to_one_answer_however_many_tries_are_left() -> None:
    with serving(in_turn(Silent())) as server, pytest.raises(NoModelAnswer, match="nothing came within"):
        ask(asking(server, timeout=0.5, seconds=1.2, tries=1000))
    assert 1 <= len(server.requests) <= 4


@pytest.mark.parametrize("reply", [Silent(), Silent(drip=0.05)], ids=["silent", "drips"])
def test_a_person_who_stops_does_not_wait_for_the_model(reply: Reply) -> None:
    stop = threading.Event()
    with serving(in_turn(reply)) as server:

        def come_and_stop() -> None:
            server.wait(1)
            stop.set()

        threading.Thread(target=come_and_stop, daemon=True).start()
        with pytest.raises(WaitCancelled):
            asking(server, timeout=600.0, seconds=600.0).ask(HELLO, stop)


def test_prices_are_the_settings_or_the_list_or_unknown() -> None:
    with serving(in_turn(Said("Hi.", (1_000_000, 0)))) as server:
        known = ask(asking(server, "openai/gpt-4.1-mini")).usage.cost
        unknown = ask(asking(server)).usage.cost
        told = ask(asking(server, price_in=0.5)).usage.cost
    assert known is not None
    assert known > 0
    assert (unknown, told) == (None, 0.5)


def test_a_server_of_ones_own_needs_no_known_name_and_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with serving(in_turn(Said("Hi."))) as server:
        assert ask(asking(server, "some-lab/some-model")).text == "Hi."
    assert server.requests[0].json["model"] == "some-lab/some-model"
    assert KEY not in str(server.requests[0].headers)


def test_a_key_that_is_missing_is_named_and_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with serving(in_turn(Said("Hi."))) as server:
        with pytest.raises(NoModelAnswer, match="MY_LAB_KEY"):
            ask(asking(server, key_env="MY_LAB_KEY"))
        with pytest.raises(NoModelAnswer, match="no OPENAI_API_KEY"):
            ask(Llm("openai/tiny", ModelTerms()))
        monkeypatch.setenv("MY_LAB_KEY", "another-canary")
        ask(asking(server, key_env="MY_LAB_KEY"))
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer another-canary"]


def test_a_key_that_a_server_sends_back_stands_in_no_answer() -> None:
    with serving(in_turn(Said(f"You sent {KEY}!"))) as server:
        assert ask(asking(server)).text == "You sent [OPENAI_API_KEY]!"


def test_its_terms_are_settings(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path), "HITLAB_MODEL_BASE": "http://127.0.0.1:9/v1", "HITLAB_MODEL_TRIES": "2"}
    env["HITLAB_MODEL_TEMPERATURE"] = "-1"
    assert terms(load(env)) == ModelTerms(base="http://127.0.0.1:9/v1", tries=2, temperature=None)
    assert terms(Settings()) == ModelTerms()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("base", "localhost:80"),
        ("base", "http://u:secret@h/v1"),
        ("tries", "0"),
        ("price_in", "-1"),
        ("timeout", "inf"),
    ],
)
def test_terms_on_which_nobody_answers_are_refused(key: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=f"field HITLAB_MODEL_{key.upper()}") as refused:
        load({"XDG_CONFIG_HOME": str(tmp_path), f"HITLAB_MODEL_{key.upper()}": value})
    assert "secret" not in refused.value.sentence


LARGE, MANY = "is larger than the 16 MB that are read", "holds more than the 2,000,000 values that are read"


def floods() -> list[tuple[str, Reply]]:
    """Replies that are too much, each with what is said of it: 230 MB, which are made where they are asked for."""
    return [
        (LARGE, Flood(b" " * 1024**2, 200)),
        (LARGE, Flood(b"x" * 1024**2, 200, b'{"choices": "', announced=False)),
        (MANY, Flood(b"[]," * 5_000_000, 1, b'{"choices": [')),
        (LARGE, Body(gzip.compress(b" " * 200 * 1024**2, 1), encoding="gzip")),
        ("is packed in a way that was not asked for", Body(b"\x28\xb5\x2f\xfd" * 9, encoding="zstd")),
        (LARGE, Body(b"[" * 17 * 1024**2, "text/html")),
    ]


_APART = "-- floods --"
_PROGRAM = f"""
import resource, sys, threading
seen = []
def audit(event, args):
    if event == "socket.connect": seen.append(str(args[1]))
    if event == "socket.getaddrinfo": seen.append(str(args[0]))
sys.addaudithook(audit)
from lab.llm.client import Llm, Message, ModelTerms, NoModelAnswer
hello = [Message("user", ("Hello",))]
llm = Llm("openai/gpt-4.1-mini", ModelTerms(base=sys.argv[1], tries=1, timeout=30))
assert llm.ask(hello, threading.Event()).text == "Hi."
try:
    llm.ask(hello, threading.Event())
except NoModelAnswer:
    seen.append("refused")
assert {{place for place in seen if "127.0.0.1" not in place}} == {{"refused"}}, seen
print({_APART!r})
if sys.platform.startswith("linux"):
    resource.setrlimit(resource.RLIMIT_AS, (1024 ** 3,) * 2)
def ways(base):
    for model in ("openai/tiny", "anthropic/claude-3-haiku-20240307", "some-lab/some-model"):
        llm = Llm(model, ModelTerms(base=base, key_env="MODEL_KEY", pause=0.01))
        yield lambda llm=llm: llm.ask(hello, threading.Event())
        if not model.startswith("anthropic"):
            yield lambda llm=llm: llm.embed(["Hello"], threading.Event())
for number, base in enumerate(sys.argv[2:]):
    first, *others = ways(base)
    for ask in (first, others[number % len(others)]):
        try:
            print(ask())
        except NoModelAnswer as refused:
            print(refused.usage.tries, refused.sentence)
"""
"""Asks twice without any limit, then each server of floods within a gigabyte."""


class Alone(NamedTuple):
    """What came of a process that asks: loading litellm takes longer than all that it does."""

    code: int
    quiet: str
    expected: list[str]
    floods: list[str]
    err: str
    requests: Sequence[Request]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """A process that begins beside a `.env` and without OpenAI's key."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / ".env").write_text("OPENAI_API_KEY=sk-from-a-file\n")
    env = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    env |= {"PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1", "OPENBLAS_NUM_THREADS": "1", "MODEL_KEY": KEY}
    with ExitStack() as servers:
        replies = floods()
        first = servers.enter_context(serving(in_turn(Said("Hi."), Refused(500))))
        bases = [servers.enter_context(serving(in_turn(flood))).base for _, flood in replies]
        words = [sys.executable, "-c", _PROGRAM, first.base, *bases]
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=env, timeout=HANGING)
    quiet, _, flooded = done.stdout.partition(f"{_APART}\n")
    expected = [words for words, _ in replies for _ in range(2)]
    return Alone(done.returncode, quiet, expected, flooded.splitlines(), done.stderr, tuple(first.requests))


@soak
def test_it_uses_no_network_but_the_models_own_and_prints_nothing(alone: Alone) -> None:
    assert (alone.code, alone.quiet, alone.err) == (0, "", "")
    assert len(alone.requests) == 2
    assert "sk-from-a-file" not in str(alone.requests[0].headers)


@linux_only
@soak
def test_a_reply_without_end_is_one_sentence_within_a_gigabyte(alone: Alone) -> None:
    """Each reply comes to a chat by OpenAI's rules, and to one other way to ask: another each time."""
    assert len(alone.floods) == len(alone.expected), alone.floods
    for line, words in zip(alone.floods, alone.expected, strict=True):
        assert line.startswith("1 model "), line
        assert f"gave no answer in one try (its reply {words}" in line


def test_a_packed_answer_is_read() -> None:
    with serving(in_turn(Body(gzip.compress(completion("Hi.")), encoding="gzip"))) as server:
        assert ask(asking(server)).text == "Hi."
    assert server.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("stream", [False, True])
def test_a_plug_in_that_asks_litellm_itself_gets_the_answer(stream: bool) -> None:
    import litellm

    with serving(in_turn(Said("Hi."))) as server:
        reply = litellm.completion(
            model="openai/tiny", api_base=server.base, messages=[{"role": "user", "content": "Hello"}], stream=stream
        )
        text = (
            "".join(part.choices[0].delta.content or "" for part in reply)
            if stream
            else reply.choices[0].message.content
        )
    assert text == "Hi."


def test_a_refusal_of_five_megabytes_is_told_in_the_servers_words() -> None:
    words = "that is too much " * 300_000
    with serving(in_turn(Refused(400, words))) as server, pytest.raises(NoModelAnswer, match="that is too much"):
        ask(asking(server, timeout=6.0, seconds=12.0))
