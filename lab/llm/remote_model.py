"""Model that an executor asks for this process, one question at a time per asking thread."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from typing import Any, Protocol

from lab.core.errors import LabError
from lab.core.seams import WaitCancelled
from lab.llm.client import Llm, Message, ModelAnswer, NoModelAnswer
from lab.llm.executor import ModelExecutor, ModelQuestion

_POLL = 0.05
"""Seconds between two polls of `stop`."""


class ModelAsker(Protocol):
    """Answers questions to one model: the model's own client, or an executor through `RemoteModel`."""

    def ask(
        self,
        messages: Sequence[Message],
        stop: threading.Event,
        schema: Mapping[str, Any] | None = None,
        *,
        words: bool = False,
    ) -> ModelAnswer:
        """Return the model's answer, in plain `words` or with a JSON object in it.

        Raise `NoModelAnswer` if there is none, `WaitCancelled` soon after `stop` is set.
        """
        ...


class RemoteModel:
    """One model, asked by an executor. Thread-safe. `lost` is the reason if the executor failed."""

    def __init__(self, llm: Llm, executor: ModelExecutor) -> None:
        self.lost: LabError | None = None
        self._llm, self._executor = llm, executor

    def ask(
        self,
        messages: Sequence[Message],
        stop: threading.Event,
        schema: Mapping[str, Any] | None = None,
        *,
        words: bool = False,
    ) -> ModelAnswer:
        """Ask like `Llm.ask`. Do not wait for a pending question once `stop` is set."""
        try:
            answer = self._executor.submit(ModelQuestion(self._llm, messages, schema, words))
            while not wait([answer], _POLL).done:
                if stop.is_set():
                    raise WaitCancelled
            return answer.result()
        except NoModelAnswer:
            raise
        except LabError as error:
            hint = "Runs that were over before are in the file; the same line begins each of them anew."
            self.lost = LabError(error.title, error.message, hint, code=error.code)
            raise self.lost from error
