"""Executor that asks models on the workers of a Dask cluster. Workers need the model's key and the network, no file.

A question travels to a worker as bytes, with its pictures. Only its answer travels back. The cluster holds a question
until its answer has arrived, and nothing afterwards. A worker reads the key from its own environment, so that no key is
in a task, in the scheduler, in its logs or on its dashboard.

If a worker dies, another one gets its questions. At most the questions that its threads were asking, and answers that
had not yet reached this process, are then paid twice.
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
from lab.core.run.step import Usage
from lab.core.seams import WaitCancelled
from lab.core.text.plain_text import plain
from lab.core.values.whole_number import whole_number
from lab.llm.client import Llm, ModelAnswer, ModelTerms, NoModelAnswer
from lab.llm.executor import ModelQuestion

SCHEMES = {"dask": "tcp", "dask+tls": "tls"}
"""Schemes of addresses, and Dask's names for them."""
_CONNECTING = 10.0
"""Seconds that a scheduler has to respond."""
_COUNTED = 5.0
"""Seconds for which a count of the cluster's threads is valid."""
_GATHER_SECONDS = 0.005
"""Seconds that a question waits for others to share its message."""
_STARTS = "`dask worker HOST:PORT` starts one."
_BYTES = 4 * 1024 * 1024
"""Bytes of questions from which a message is full."""
_LOGS = ("distributed", "distributed.client", "distributed.gc")
"""Dask's loggers with levels of their own. hitlab reports errors in its own sentence, so Dask's would repeat it."""
_PER_THREAD = 2
"""Questions per thread of the cluster: one in progress, and one waiting."""


class PackedQuestion:
    """Question in the form that workers get. Its repr, which Dask writes into logs, shows only its size."""

    def __init__(self, question: ModelQuestion) -> None:
        llm, messages, schema, words = question
        self._data = pickle.dumps((llm.model, llm.terms, tuple(messages), schema, words))

    def __repr__(self) -> str:
        return f"question of {self.size:,} bytes"

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self._data)

    def ask(self) -> ModelAnswer:
        """Return the model's answer. Raise like `Llm.ask`."""
        model, terms, messages, schema, words = pickle.loads(self._data)  # noqa: S301 - who submits a task runs code
        return Llm(model, terms).ask(messages, threading.Event(), schema, words=words)


Asked = tuple[PackedQuestion, Future[ModelAnswer]]
"""A submitted question and the future of its answer."""


class WorkerAnswer(NamedTuple):
    """Reply of a worker: an answer, or the three parts of an error's sentence with the usage and thinking so far.

    `said` as in `NoModelAnswer`.
    """

    answer: ModelAnswer
    error: tuple[str, str, str] | None = None
    said: str = ""


def worker_answer(question: PackedQuestion) -> WorkerAnswer:
    """Ask on a worker. Never raise: Dask would write a traceback and the arguments into the worker's log."""
    try:
        return WorkerAnswer(question.ask())
    except NoModelAnswer as error:
        nothing = ModelAnswer("", error.usage, error.thinking, error.source)
        return WorkerAnswer(nothing, (error.title, error.message, error.hint), error.said)
    except Exception as error:  # noqa: BLE001 - told where it is waited for
        nothing = ModelAnswer("", Usage(tries=0))
        return WorkerAnswer(nothing, ("a worker", f"could not ask ({type(error).__name__}).", ""))


def worker_trouble(model: str, terms: ModelTerms) -> str:
    """Return why a worker cannot ask a model, empty if it can. The key is checked but never returned."""
    try:
        Llm(model, terms).check()
    except LabError as error:
        return error.body
    return ""


class ClusterExecutor:
    """Ask models on the workers of the cluster whose scheduler is at `address` (`dask://HOST:PORT`).

    `width` is the number of questions at the cluster at a time, by default two per thread. A thread of Dask calls
    `tell` if no worker is left for the questions. Raise `LabError` if there is no such cluster, if it has no worker, or
    if `hitlab[cluster]` is not installed.
    """

    def __init__(
        self,
        address: str,
        stop: threading.Event,
        width: int | None = None,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._address, self._stop, self._report = address, stop, tell
        self._client = _connect(_import_distributed(), address)
        self._requested_width, self._counted_at, self._threads = width, -_COUNTED, 0
        self._tasks: dict[str, tuple[Any, Future[ModelAnswer]]] = {}
        self._unsent: list[Asked] = []
        """Questions for the next message to the scheduler."""
        self._guard = threading.Lock()
        if not self._count():
            self.close()
            raise LabError(f"cluster {address}", "has no worker.", _STARTS)
        self._client.loop.add_callback(self._watch)

    def check(self, llm: Llm) -> None:
        """Raise `LabError` if a worker cannot ask this model because its own environment lacks the key."""
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
        """Requested number of questions, or two per current thread of the cluster."""
        return self._requested_width or max(1, _PER_THREAD * self._count())

    def _count(self) -> int:
        if time.monotonic() - self._counted_at >= _COUNTED:
            try:
                self._threads = sum(self._client.nthreads().values())
            except Exception as error:
                raise self._connection_lost(error) from error
            self._counted_at = time.monotonic()
        return self._threads

    async def _watch(self) -> None:
        """Report each time that no worker is left for the pending questions, until the client closes."""
        left = True
        while True:
            await asyncio.sleep(_COUNTED)
            with suppress(OSError):  # a scheduler that is lost is told where an answer is waited for
                before, left = left, not self._tasks or bool(await self._client.scheduler.ncores())
                if before and not left:
                    waits = "has no worker left; what is asked waits for one, and goes on by itself."
                    self._report(f"cluster {self._address}: {waits} {_STARTS}")

    def submit(self, question: ModelQuestion) -> Future[ModelAnswer]:
        """Let the next free worker answer a question."""
        answer: Future[ModelAnswer] = Future()
        # Running futures cannot be cancelled. A question that was sent is paid for.
        answer.set_running_or_notify_cancel()
        packed_question = PackedQuestion(question)
        with self._guard:
            self._unsent.append((packed_question, answer))
            first = len(self._unsent) == 1
        if first:
            try:
                self._client.loop.add_callback(self._send)
            except Exception as error:
                raise self._connection_lost(error) from error
        return answer

    async def _send(self) -> None:
        """Send the questions of the last moments in few messages: the scheduler takes milliseconds for each message."""
        await asyncio.sleep(_GATHER_SECONDS)
        with self._guard:
            new, self._unsent = self._unsent, []
        for group in _groups(new):
            keys = [f"question-{uuid4().hex}" for _ in group]
            try:
                tasks = self._client.map(worker_answer, [question for question, _ in group], key=keys, pure=False)
            except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
                for _, answer in group:
                    if not answer.done():
                        answer.set_exception(self._task_error(error))
                continue
            for task, (_, answer) in zip(tasks, group, strict=True):
                with self._guard:
                    self._tasks[task.key] = task, answer
                self._client.loop.add_callback(self._follow, task, answer)

    async def _follow(self, task: Any, answer: Future[ModelAnswer]) -> None:
        """Return an answer to its future as soon as it arrives, and let the cluster forget it."""
        try:
            reply: WorkerAnswer = await task
        except BaseException as error:  # noqa: BLE001 - raised where the answer is waited for
            self._finish(task, answer, error=self._task_error(error))
            return
        if reply.error is None:
            self._finish(task, answer, reply.answer)
            return
        missing = NoModelAnswer(*reply.error)
        _, missing.usage, missing.thinking, missing.source = reply.answer
        missing.said = reply.said
        self._finish(task, answer, error=missing)

    def _finish(
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

    def _task_error(self, error: BaseException) -> Exception:
        """Return the error for a task that ended without an answer."""
        if self._stop.is_set():
            return WaitCancelled()
        if type(error).__name__ == "KilledWorker":
            return NoModelAnswer(f"cluster {self._address}", "lost each worker that was given this question.")
        return self._connection_lost(error)

    def _connection_lost(self, error: BaseException) -> LabError:
        hint = "What was answered before is in the file; the same line goes on once the scheduler is back."
        return LabError(f"cluster {self._address}", f"was lost ({type(error).__name__}).", hint)

    def close(self, *, at_once: bool = True) -> None:
        """Leave the cluster, which forgets its tasks. Pending futures raise `WaitCancelled`."""
        with self._guard:
            pending = [answer for _, answer in (*self._tasks.values(), *self._unsent)]
            self._tasks.clear()
            self._unsent.clear()
        # Outside the lock, because a future runs its callbacks at once.
        for answer in pending:
            if not answer.done():
                answer.set_exception(WaitCancelled())
        self._client.close(timeout=_CONNECTING)


def _groups(questions: Sequence[Asked]) -> Iterator[list[Asked]]:
    """Group questions up to `_BYTES` per group, at least one in each."""
    group: list[Asked] = []
    for entry in questions:
        if group and sum(question.size for question, _ in group) + entry[0].size > _BYTES:
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def cluster_address(text: str) -> str:
    """Return Dask's address for `dask://HOST:PORT`. Raise `LabError` if it is not one."""
    scheme, mark, place = text.partition("://")
    host, colon, port = place.rpartition(":")
    if scheme not in SCHEMES or not mark or not host or not colon or not 0 < (whole_number(port) or 0) < 65536:
        raise LabError(
            "--cluster", f"{plain(text)!r} is no cluster.", "Write dask://HOST:PORT, or leave it out.", code=2
        )
    return f"{SCHEMES[scheme]}://{place}"


def _import_distributed() -> ModuleType:
    try:
        import distributed
    except ImportError as error:
        hint = "Install it: pip install 'hitlab[cluster]'"
        raise LabError("cluster", "needs the extra hitlab[cluster], which is not installed.", hint) from error
    for name in _LOGS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    module: ModuleType = distributed
    return module


def _connect(distributed: ModuleType, address: str) -> Any:
    place = cluster_address(address)
    try:
        return distributed.Client(place, timeout=_CONNECTING, set_as_default=False, name="hitlab")
    except Exception as error:
        hint = "Is its scheduler up? `dask scheduler` starts one and prints its address."
        raise LabError(f"cluster {address}", f"does not answer ({type(error).__name__}).", hint) from error
