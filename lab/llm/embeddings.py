"""Text embeddings: from any model that litellm reaches, or from a local one (`local:NAME`, an extra)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from lab.core.errors import LabError
from lab.core.redaction.secret_keys import without_keys
from lab.llm.client import Llm, ModelTerms

LOCAL = "local:"
"""Prefix of a local model's name."""
BATCH = 64
"""Maximum number of texts in one request. Every provider accepts as many."""
_OWNER = "sentence-transformers/"
"""Owner of a local model whose name has none."""

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]


def embedder(model: str, terms: ModelTerms) -> Embed:
    """Return a function from texts to vectors, in order. It asks only once for the same text.

    `local:paraphrase-multilingual-MiniLM-L12-v2` is the model of FingerTip-20K. Raise `LabError` if `model` names none
    or its extra is not installed. The function raises `NoModelAnswer` if the model gives no answer.
    """
    if not model.startswith(LOCAL):
        llm = Llm(model, terms)
        llm.check()
        llm.check_known()
        stop = threading.Event()
        return _cached(lambda texts: llm.embed(texts, stop), model)
    return _cached(_local_embedder(model), model)


def _cached(ask: Embed, model: str) -> Embed:
    """Wrap `ask`: batches, a cache of texts, and a `LabError` if the lengths of vectors differ."""
    vectors: dict[str, Sequence[float]] = {}

    def embed(texts: Sequence[str]) -> list[Sequence[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            vectors.update(zip(batch, ask(batch), strict=True))
        lengths = sorted({len(vectors[text]) for text in (*list(vectors)[:1], *new)})
        if len(lengths) > 1:
            sizes = " and ".join(map(str, lengths[:2]))
            raise LabError(f"model {model}", f"sent vectors of {sizes} numbers; they cannot be compared.")
        return [vectors[text] for text in texts]

    return embed


def _local_embedder(model: str) -> Embed:
    name = model.removeprefix(LOCAL).strip()
    title = f"model {model}"
    if not name:
        raise LabError(title, "names no model.", f"As in {LOCAL}paraphrase-multilingual-MiniLM-L12-v2.", code=2)
    try:
        library: Any = import_module("fastembed")
    except ImportError as error:
        hint = "Install it with: pip install 'hitlab[embeddings]'"
        raise LabError(title, "needs the extra `embeddings`, which is not installed.", hint, code=2) from error
    try:
        runner = library.TextEmbedding(model_name=name if "/" in name else _OWNER + name)
    except (ValueError, OSError, RuntimeError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        why = f"cannot be loaded ({without_keys(lines[0])[:200]})."
        code = 2 if isinstance(error, ValueError) else 1  # a name that the library does not have
        raise LabError(title, why, "It is fetched once, when first used.", code=code) from error
    return lambda texts: [[float(value) for value in row] for row in runner.embed(list(texts))]
