"""Questions answered by the workers of a Dask cluster: they need the model's key and the network, and no file.

A question travels to a worker as bytes, its pictures with it; only its answer travels back. The cluster holds a
question until the answer has come, and nothing after that. A worker reads the key from its own environment, so that
no key is in a task, in the scheduler, in its logs or on its dashboard.

Where a worker dies, its questions are asked on another. Paid twice is then at most what its threads were asking at
that moment, and an answer that had come to it and not yet to this process. Both are on the worker alone.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from types import ModuleType
from typing import Any, NamedTuple
from uuid import uuid4

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.seams import WaitCancelled
from lab.core.step import Usage
from lab.core.whole_number import whole_number
from lab.llm.client import Llm, ModelAnswer, ModelTerms, NoModelAnswer
from lab.llm.executor import ModelQuestion

SCHEMES = {"dask": "tcp", "dask+tls": "tls"}
"""How an address begins, and what Dask calls that."""
_CONNECTING = 10.0
"""Seconds in which a scheduler is to answer."""
_COUNTED = 5.0
"""Seconds for which a count of the cluster's threads holds."""
_TOGETHER = 0.005
"""Seconds for which a question waits for others that go with it."""
_STARTS = "`dask worker HOST:PORT` starts one."
_BYTES = 4 * 1024 * 1024
"""Bytes of questions after which a message is full."""
_LOGS = ("distributed", "distributed.client", "distributed.gc")
"""Dask's loggers that have a level of their own: what goes wrong is told in a sentence, not beside one in its words."""
_AHEAD = 2
"""Questions for each thread of the cluster: one that is asked, and one that waits beside it."""


class PackedQuestion:
    """A question as a worker gets it. Its bytes are in no log: what is printed of it is their number."""

    def __init__(self, question: ModelQuestion) -> None:
        llm, messages, schema, words = question
        self._data = pickle.dumps((llm.model, llm.terms, tuple(messages), schema, words))

    def __repr__(self) -> str:
        return f"question of {self.size:,} bytes"

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self._data)

    def ask(self) -> ModelAnswer:
        """The model's answer; raises as `Llm.ask`."""
        model, terms, messages, schema, words = pickle.loads(self._data)  # noqa: S301 - who submits a task runs code
        return Llm(model, terms).ask(messages, threading.Event(), schema, words=words)


Asked = tuple[PackedQuestion, Future[ModelAnswer]]
"""A question on its way, and where its answer is waited for."""


class WorkerAnswer(NamedTuple):
    """What a worker sends back: an answer, or the sentence of an error in its three parts and what came without one.

    `said` as in `NoModelAnswer`.
    """

    answer: ModelAnswer
    error: tuple[str, str, str] | None = None
    said: str = ""


def worker_answer(question: PackedQuestion) -> WorkerAnswer:
    """Asks on a worker. It never raises: Dask would write a traceback and the arguments into the worker's log."""
    try:
        return WorkerAnswer(question.ask())
    except NoModelAnswer as error:
        nothing = ModelAnswer("", error.usage, error.thinking, error.source)
        return WorkerAnswer(nothing, (error.title, error.message, error.hint), error.said)
    except Exception as error:  # noqa: BLE001 - told where it is waited for
        nothing = ModelAnswer("", Usage(tries=0))
        return WorkerAnswer(nothing, ("a worker", f"could not ask ({type(error).__name__}).", ""))


def worker_trouble(model: str, terms: ModelTerms) -> str:
    """Why a worker cannot ask a model, empty where it can; a key is looked for, and never told."""
    try:
        Llm(model, terms).check()
    except LabError as error:
        return error.body
    return ""


class ClusterExecutor:
    """Asks models on the workers of the cluster whose scheduler is at `address` (`dask://HOST:PORT`).

    `width` is how many questions are at the cluster at a time, by default two for each of its threads. `tell` is told,
    on a thread of Dask's, that no worker is left for what is asked. Raises `LabError` where there is no such cluster,
    it has no worker, or `hitlab[cluster]` is not installed.
    """

    def __init__(
        self,
        address: str,
        stop: threading.Event,
        width: int | None = None,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._address, self._stop, self._tell = address, stop, tell
        self._client = _connected(_distributed(), address)
        self._wanted, self._counted, self._threads = width, -_COUNTED, 0
        self._tasks: dict[str, tuple[Any, Future[ModelAnswer]]] = {}
        self._new: list[Asked] = []
        """Questions that go to the scheduler with the next message."""
        self._guard = threading.Lock()
        if not self._count():
            self.close()
            raise LabError(f"cluster {address}", "has no worker.", _STARTS)
        self._client.loop.add_callback(self._watch)

    def check(self, llm: Llm) -> None:
        """Raises `LabError` where a worker cannot ask this model: its key is not in the worker's own environment."""
        try:
            troubles = self._client.run(worker_trouble, llm.model, llm.terms, on_error="raise")
        except Exception as error:
            self.close()
            hint = "hitlab[cluster] of this version is to be installed where scheduler and workers run."
            raise LabError(
                f"cluster {self._address}", f"has workers that do not know hitlab ({type(error).__name__}).", hint
            ) from error
        for worker, trouble in sorted(troubles.items()):
            if trouble:
                self.close()
                raise LabError(f"worker {plain(worker)}", trouble, "A worker takes the key from its own environment.")

    @property
    def width(self) -> int:
        """The questions that were asked for, or two for each thread that the cluster has now."""
        return self._wanted or max(1, _AHEAD * self._count())

    def _count(self) -> int:
        if time.monotonic() - self._counted >= _COUNTED:
            try:
                self._threads = sum(self._client.nthreads().values())
            except Exception as error:
                raise self._lost(error) from error
            self._counted = time.monotonic()
        return self._threads

    async def _watch(self) -> None:
        """Tells each time that no worker is left for what is asked, until the cluster is left."""
        left = True
        while True:
            await asyncio.sleep(_COUNTED)
            with suppress(OSError):  # a scheduler that is lost is told where an answer is waited for
                before, left = left, not self._tasks or bool(await self._client.scheduler.ncores())
                if before and not left:
                    waits = "has no worker left; what is asked waits for one, and goes on by itself."
                    self._tell(f"cluster {self._address}: {waits} {_STARTS}")

    def submit(self, question: ModelQuestion) -> Future[ModelAnswer]:
        """Has a question answered by the next free worker."""
        answer: Future[ModelAnswer] = Future()
        answer.set_running_or_notify_cancel()
        packed_question = PackedQuestion(question)
        with self._guard:
            self._new.append((packed_question, answer))
            first = len(self._new) == 1
        if first:
            try:
                self._client.loop.add_callback(self._send)
            except Exception as error:
                raise self._lost(error) from error
        return answer

    async def _send(self) -> None:
        """Sends what came in the last moments in few messages: the scheduler takes milliseconds for each."""
        await asyncio.sleep(_TOGETHER)
        with self._guard:
            new, self._new = self._new, []
        for group in _groups(new):
            keys = [f"question-{uuid4().hex}" for _ in group]
            try:
                tasks = self._client.map(worker_answer, [question for question, _ in group], key=keys, pure=False)
            except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
                for _, answer in group:
                    if not answer.done():
                        answer.set_exception(self._trouble(error))
                continue
            for task, (_, answer) in zip(tasks, group, strict=True):
                with self._guard:
                    self._tasks[task.key] = task, answer
                self._client.loop.add_callback(self._follow, task, answer)

    async def _follow(self, task: Any, answer: Future[ModelAnswer]) -> None:
        """Brings an answer here as soon as it is there, and lets the cluster forget it."""
        try:
            reply: WorkerAnswer = await task
        except BaseException as error:  # noqa: BLE001 - raised where the answer is waited for
            self._end(task, answer, error=self._trouble(error))
            return
        if reply.error is None:
            self._end(task, answer, reply.answer)
            return
        missing = NoModelAnswer(*reply.error)
        _, missing.usage, missing.thinking, missing.source = reply.answer
        missing.said = reply.said
        self._end(task, answer, error=missing)

    def _end(
        self, task: Any, answer: Future[ModelAnswer], value: ModelAnswer | None = None, error: Exception | None = None
    ) -> None:
        with self._guard:
            self._tasks.pop(task.key, None)
        task.release()
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        elif value is not None:
            answer.set_result(value)

    def _trouble(self, error: BaseException) -> Exception:
        """What the end of a task without an answer means."""
        if self._stop.is_set():
            return WaitCancelled()
        if type(error).__name__ == "KilledWorker":
            return NoModelAnswer(f"cluster {self._address}", "lost each worker that was given this question.")
        return self._lost(error)

    def _lost(self, error: BaseException) -> LabError:
        hint = "What was answered before is in the file; the same line goes on once the scheduler is back."
        return LabError(f"cluster {self._address}", f"was lost ({type(error).__name__}).", hint)

    def close(self, *, at_once: bool = True) -> None:
        """Leaves the cluster, which forgets what it was asked; what is still waited for raises `WaitCancelled`."""
        with self._guard:
            pending = [answer for _, answer in (*self._tasks.values(), *self._new)]
            self._tasks.clear()
            self._new.clear()
        for answer in pending:
            if not answer.done():
                answer.set_exception(WaitCancelled())
        self._client.close(timeout=_CONNECTING)


def _groups(questions: Sequence[Asked]) -> Iterator[list[Asked]]:
    """Questions in groups of some bytes, each with at least one."""
    group: list[Asked] = []
    for entry in questions:
        if group and sum(question.size for question, _ in group) + entry[0].size > _BYTES:
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def cluster_address(text: str) -> str:
    """Dask's name of what a person typed as `dask://HOST:PORT`; raises `LabError` where it is none."""
    scheme, mark, place = text.partition("://")
    host, colon, port = place.rpartition(":")
    if scheme not in SCHEMES or not mark or not host or not colon or not 0 < (whole_number(port) or 0) < 65536:
        raise LabError("--on", f"{plain(text)!r} is no cluster.", "Write dask://HOST:PORT, or leave it out.", code=2)
    return f"{SCHEMES[scheme]}://{place}"


def _distributed() -> ModuleType:
    try:
        import distributed
    except ImportError as error:
        hint = "Install it: pip install 'hitlab[cluster]'"
        raise LabError("cluster", "needs the extra hitlab[cluster], which is not installed.", hint) from error
    for name in _LOGS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    module: ModuleType = distributed
    return module


def _connected(distributed: ModuleType, address: str) -> Any:
    place = cluster_address(address)
    try:
        return distributed.Client(place, timeout=_CONNECTING, set_as_default=False, name="hitlab")
    except Exception as error:
        hint = "Is its scheduler up? `dask scheduler` starts one and prints its address."
        raise LabError(f"cluster {address}", f"does not answer ({type(error).__name__}).", hint) from error
