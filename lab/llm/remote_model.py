"""A model that an executor asks in this process's place, one question at a time for each thread that asks."""

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
"""Seconds between two looks at `stop`."""


class ModelAsker(Protocol):
    """What answers a question to one model: the model's own client, or an executor through `RemoteModel`."""

    def ask(
        self,
        messages: Sequence[Message],
        stop: threading.Event,
        schema: Mapping[str, Any] | None = None,
        *,
        words: bool = False,
    ) -> ModelAnswer:
        """The model's answer, in plain `words` or with a JSON object in it.

        `NoModelAnswer` where there is none, `WaitCancelled` soon after `stop` is set.
        """
        ...


class RemoteModel:
    """One model, asked by an executor; safe on any thread. `lost` is why the executor cannot ask any more."""

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
        """As `Llm.ask`; what is asked elsewhere when `stop` is set is not waited for."""
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
