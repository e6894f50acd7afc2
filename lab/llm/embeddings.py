"""Texts as vectors: by any embedding model that litellm reaches, or by one on this machine (`local:NAME`, an extra)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from lab.core.errors import LabError
from lab.core.secret_keys import without_keys
from lab.llm.client import Llm, ModelTerms

LOCAL = "local:"
"""Stands before the name of a model that runs here."""
BATCH = 64
"""Most texts in one request; every provider takes as many."""
_OWNER = "sentence-transformers/"
"""Whose a local model is where its name does not say."""

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]


def embedder(model: str, terms: ModelTerms) -> Embed:
    """A function from texts to their vectors, in their order; the same text is asked for once.

    `local:paraphrase-multilingual-MiniLM-L12-v2` is FingerTip-20K's. Raises `LabError` where `model` names none or
    its extra is not installed; the function raises `Unanswered` where the model gives no answer.
    """
    if not model.startswith(LOCAL):
        llm = Llm(model, terms)
        llm.check()
        llm.check_known()
        stop = threading.Event()
        return _once(lambda texts: llm.embed(texts, stop), model)
    return _once(_local(model), model)


def _once(ask: Embed, model: str) -> Embed:
    """`ask`, batch by batch, and only for texts it has not been asked for; a `LabError` where lengths differ."""
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


def _local(model: str) -> Embed:
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
