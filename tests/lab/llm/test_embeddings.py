"""Texts become vectors over a real socket, in their order and with patience, or by a model of this machine."""

from __future__ import annotations

import json
import sys
import threading
import types
from collections.abc import Iterator, Sequence

import pytest

from lab.core.errors import LabError
from lab.core.seams import WaitCancelled
from lab.llm.client import Llm, ModelTerms, NoModelAnswer
from lab.llm.embeddings import BATCH, embedder
from tests.endpoint import Body, ModelServer, Refused, Reply, Request, Said, Silent, in_turn, serving

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """The first question of a process waits for litellm's own parts; no test's timeout counts that."""
    with pytest.MonkeyPatch.context() as patch, serving(lengths) as server:
        patch.setenv("OPENAI_API_KEY", KEY)
        embedder("openai/tiny", ModelTerms(base=server.base))(["warm"])


def body(vectors: Sequence[Sequence[object]], backwards: bool = False) -> Body:
    """An embedding response in OpenAI's shape."""
    data = [{"object": "embedding", "index": i, "embedding": list(row)} for i, row in enumerate(vectors)]
    whole = {
        "object": "list",
        "model": "tiny",
        "data": data[::-1] if backwards else data,
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    }
    return Body(json.dumps(whole).encode())


def lengths(request: Request) -> Reply:
    """A model for which a text is its length and its number of e's; it answers in another order than it was asked."""
    return body([[float(len(text)), float(text.count("e"))] for text in request.json["input"]], backwards=True)


def on(server: ModelServer, **changes: float) -> ModelTerms:
    return ModelTerms(base=server.base, timeout=20.0, seconds=60.0, pause=0.01)._replace(**changes)  # type: ignore[arg-type]


def test_each_text_gets_its_vector_whatever_order_they_come_back_in() -> None:
    with serving(lengths) as server:
        rows = embedder("openai/tiny", on(server))(["bee", "", "tree top"])
    assert [list(row) for row in rows] == [[3.0, 2.0], [0.0, 0.0], [8.0, 2.0]]
    [request] = server.requests
    assert request.path == "/v1/embeddings"
    assert request.json["model"] == "tiny"
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_text_is_asked_for_once_and_many_go_in_batches() -> None:
    texts = [f"text {number}" for number in range(BATCH + 3)]
    with serving(lengths) as server:
        embed = embedder("openai/tiny", on(server))
        assert len(embed(texts + texts)) == 2 * len(texts)
        assert list(embed(["text 1"])[0]) == [6.0, 1.0]
        assert embed([]) == []
    assert [len(request.json["input"]) for request in server.requests] == [BATCH, 3]


def test_a_name_that_litellm_does_not_know_is_a_model_of_ones_own_server() -> None:
    with serving(lengths) as server:
        assert list(embedder("my-minilm", on(server))(["eel"])[0]) == [3.0, 2.0]
    assert server.requests[0].json["model"] == "my-minilm"


@pytest.mark.parametrize(
    "trouble",
    [
        Refused(429, "slow down", (("Retry-After", "0"),)),
        Refused(503),
        body([]),
        body([[1.0, 2.0]]),
        body([[1.0], [1.0, 2.0]]),
        body([[], []]),
        body([["a"], ["b"]]),
        Body(b'{"data": 3}'),
        Said("Hello"),
    ],
    ids=str,
)
def test_what_is_no_answer_is_asked_again(trouble: Reply) -> None:
    with serving(in_turn(trouble, body([[1.0], [2.0]]))) as server:
        assert [list(row) for row in embedder("openai/tiny", on(server))(["a", "b"])] == [[1.0], [2.0]]
    assert len(server.requests) == 2


def test_what_is_refused_for_good_is_a_sentence_without_the_key() -> None:
    with serving(in_turn(Refused(400, f"this is no embedding model, {KEY}"))) as server:
        with pytest.raises(NoModelAnswer, match="HTTP 400") as caught:
            embedder("openai/tiny", on(server))(["a"])
        assert len(server.requests) == 1
    assert KEY not in str(caught.value)


def test_a_server_that_never_answers_is_left() -> None:
    with serving(in_turn(Silent())) as server, pytest.raises(NoModelAnswer, match="nothing came within"):
        embedder("openai/tiny", on(server, timeout=0.2, tries=1))(["a"])


def test_asking_ends_when_it_is_told_to() -> None:
    stop = threading.Event()

    def halting(request: Request) -> Reply:
        stop.set()
        return Silent()

    with serving(halting) as server, pytest.raises(WaitCancelled):
        Llm("openai/tiny", on(server)).embed(["a"], stop)


def test_without_a_key_or_a_name_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(LabError, match="OPENAI_API_KEY"):
        embedder("openai/text-embedding-3-small", ModelTerms())
    with pytest.raises(LabError, match="names no model"):
        embedder("local:", ModelTerms())


def test_without_its_extra_a_local_model_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(LabError, match="extra `embeddings`") as caught:
        embedder("local:paraphrase-multilingual-MiniLM-L12-v2", ModelTerms())
    assert "hitlab[embeddings]" in caught.value.hint


def test_a_local_model_is_named_as_its_library_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class TextEmbedding:
        def __init__(self, model_name: str) -> None:
            if "none" in model_name:
                raise ValueError(f"Model {model_name} is not supported")
            asked.append(model_name)

        def embed(self, documents: list[str]) -> Iterator[tuple[float, ...]]:
            return ((float(len(text)), 1.0) for text in documents)

    library = types.ModuleType("fastembed")
    library.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", library)
    assert [list(row) for row in embedder("local:minilm", ModelTerms())(["ab"])] == [[2.0, 1.0]]
    embedder("local:BAAI/bge-small-zh-v1.5", ModelTerms())
    assert asked == ["sentence-transformers/minilm", "BAAI/bge-small-zh-v1.5"]
    with pytest.raises(LabError, match="not supported"):
        embedder("local:none", ModelTerms())
