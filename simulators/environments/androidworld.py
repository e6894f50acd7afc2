"""AndroidWorld in its own Python environment: a separate process that exchanges JSON lines with us.

`androidworld_worker.py` runs there, beside AndroidWorld's dependencies and its emulator, so none of them is needed
here. The run's seed draws a task's parameters as in AndroidWorld's own suite. Source: the project's `suite_utils.py`,
`task_eval.py`, `interface.py`.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lab.core.codec import convert, encode, read_json
from lab.core.errors import LabError
from lab.core.redaction.secret_keys import without_keys
from lab.core.run.input_limits import PICTURE_BYTES
from lab.core.run.step import ENDING, Action, Point, Question, Reply
from lab.core.run.trace import DeviceInfo, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import EnvironmentScore, Frame, Screen
from lab.core.task.task import Task
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import suggestion
from lab.core.values.process_pipes import Program
from simulators.environments.actions import for_androidworld
from simulators.environments.address import Address
from simulators.environments.frames import PolledPicture, picture_size, polled_frames

T = TypeVar("T")

WORKER = Path(__file__).with_name("androidworld_worker.py")
_LIST, _BEGIN, _LOOK, _ACT, _SCORE, _END = 120.0, 600.0, 60.0, 60.0, 300.0, 120.0
"""Time limits in seconds: list of tasks, begin, look, action, score, end."""
_GRACE = 5.0
_POLL = 0.5
"""Seconds between two live frames."""
_SHOWN = 300
_NO_COMPLEXITY = 2.0
_DEEPEST = 60
"""Most levels of nested elements."""
_FLAGS = frozenset(
    {"checkable", "checked", "clickable", "focusable", "focused", "scrollable", "long_clickable", "selected"}
)
_STEPS = 10
"""Agent steps per point of a task's complexity, as in AndroidWorld's own runner."""


class _TaskLine(msgspec.Struct):
    name: str
    goal: str = ""
    apps: tuple[str, ...] = ()
    complexity: float | None = None


class _TaskLines(msgspec.Struct):
    tasks: tuple[_TaskLine, ...]


class _Beginning(msgspec.Struct):
    size: tuple[int, int]


class _Element(msgspec.Struct):
    box: tuple[int, int, int, int]
    text: str = ""
    desc: str = ""
    id: str = ""
    cls: str = ""
    package: str = ""
    flags: tuple[str, ...] = ()


class _ScreenFacts(msgspec.Struct):
    activity: str = ""
    elements: tuple[_Element, ...] = ()


class _WorkerScore(msgspec.Struct):
    score: float


class _Answer(msgspec.Struct):
    ok: Any = None
    error: str | None = None


class WorkerClient:
    """Client of the worker process.

    After a timeout or an invalid answer it ends the process, and each later request raises the same error.
    """

    def __init__(self, address: Address) -> None:
        self.what = address.display_name
        if shutil.which(address.place) is None:
            raise LabError("--env", f"there is no program {address.place!r} to start.", code=2)
        options = [part for name, value in address.options.items() for part in (f"--{name}", value)]
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._failure: LabError | None = None
        self._program = Program([address.place, "-u", str(WORKER), *options], self.what)

    def ask(self, do: str, kind: type[T] | Any, seconds: float, **values: Any) -> T:
        """Return its answer as `kind`.

        Raise `LabError` for an error of AndroidWorld's, after which the worker continues.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            try:
                line = self._program.ask(encode({"do": do, **values}) + b"\n", seconds, self._stop)
                answer: _Answer = convert(read_json(line, self.what).value, _Answer, self.what)
                if answer.error is None:
                    value: T = convert(answer.ok, kind, self.what)
                    return value
            except LabError as error:
                self._failure = error
                self._program.end()
                raise
        raise LabError(self.what, f"{do}: {plain(without_keys(answer.error)[:_SHOWN], lines=False)}")

    def close(self, grace: float = _GRACE) -> None:
        """End the process. A request in progress breaks off."""
        # Before the lock, which a request in progress holds.
        self._stop.set()
        with self._lock:
            self._failure = self._failure or LabError(self.what, "is closed.")
            self._program.end(grace)


class AndroidWorld:
    """One emulator with AndroidWorld's apps, as `lab.core.seams.Environment`."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._worker: WorkerClient | None = None
        self._listed: list[Task] = []

    def tasks(self) -> list[Task]:
        """Return all tasks of the family `android_world` by name, without instructions, which depend on the seed."""
        if not self._listed:
            listing: _TaskLines = self._list_worker().ask("tasks", _TaskLines, _LIST)
            self._listed = [_task(line) for line in sorted(listing.tasks, key=lambda line: line.name)]
        return self._listed

    def task(self, name: str, seed: int) -> Task:
        """Return one task with its parameters drawn by the seed."""
        names = {task.id for task in self.tasks()}
        if name not in names:
            problem = f"there is no task {plain(name[:_SHOWN], lines=False)!r}{suggestion(name, names) or '.'}"
            raise LabError(
                self._address.display_name, problem, "`hitlab tasks list --env ...` lists its tasks.", code=2
            )
        return _task(self._list_worker().ask("task", _TaskLine, _LIST, name=name, seed=seed))

    def persona(self, task: Task) -> None:
        """Return None: AndroidWorld has no personas."""

    def check(self, task: Task) -> None:
        """Accept every task: AndroidWorld scores by the phone's state and the answer alone."""

    def phone(self, task: Task, seed: int) -> AndroidWorldPhone:
        """Return its phone at the task's start, in a process of its own."""
        worker = WorkerClient(self._address)
        try:
            beginning: _Beginning = worker.ask("begin", _Beginning, _BEGIN, name=task.id, seed=seed)
        except BaseException:
            worker.close()
            raise
        return AndroidWorldPhone(worker, beginning.size)

    def close(self) -> None:
        """End the process that listed tasks."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _list_worker(self) -> WorkerClient:
        if self._worker is None:
            self._worker = WorkerClient(self._address)
        return self._worker


class AndroidWorldPhone:
    """Emulator during one task, until `close`. AndroidWorld scores it."""

    def __init__(self, worker: WorkerClient, size: Point) -> None:
        self._worker, self._size = worker, size
        self._folder = tempfile.TemporaryDirectory(prefix="hitlab-androidworld-")
        self._looking = threading.Lock()
        self._closed = threading.Event()
        self._last_look = PolledPicture(b"")

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo("environment", self._worker.what, size=self._size)

    def observe(self) -> Screen:
        """Return the settled screen with its UI elements, after the same wait as AndroidWorld's own agents."""
        png, facts = self._capture(settled=True)
        size = picture_size(png, self._worker.what)
        tree = _tree(facts.elements)
        self._last_look = PolledPicture(png, tree)
        return Screen(png, size, tree, facts.activity)

    def perform(self, action: Action) -> None:
        """Perform one action by AndroidWorld's own. It presses Enter after typed text."""
        if action.kind not in ("ask_user", "answer", "status", "other"):
            self._worker.ask("act", Any, _ACT, action=for_androidworld(action, self._size))

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Yield its screen repeatedly, until its process ends."""

        def poll_picture() -> PolledPicture:
            png, last = self._capture(settled=False)[0], self._last_look
            return last if png == last.png else PolledPicture(png)

        with suppress(LabError):  # the run reports the error at its next observation
            yield from polled_frames(poll_picture, stop, self._closed, _POLL, self._worker.what)

    def snapshot(self) -> dict[str, Any] | None:
        """Return None: AndroidWorld has no snapshots."""
        return None

    def restore(self, state: dict[str, Any]) -> None:
        """Raise `LabError`: AndroidWorld restores only its apps, at a task's start."""
        raise LabError(self._worker.what, "takes no snapshot; a new run begins where the task does.")

    def close(self) -> None:
        """Tear the task down and end the process."""
        if self._closed.is_set():
            return
        self._closed.set()
        with suppress(LabError):  # the next task's start resets all in any case
            self._worker.ask("end", Any, _END)
        self._worker.close()
        self._folder.cleanup()

    @property
    def scorer(self) -> str:
        return self._worker.what

    def receive_reply(self, question: Question, reply: Reply) -> None:
        """Ignore the reply: AndroidWorld has no user, and its scores depend on none."""

    def score(self, steps: Sequence[Step]) -> EnvironmentScore:
        """Submit the final answer and return `is_successful`, or 0 if the agent never ended its run."""
        last = steps[-1].action if steps else None
        if last is None or last.kind not in ENDING:
            return EnvironmentScore(0.0, "the agent was not done, which AndroidWorld counts as a failure")
        if last.kind == "answer":
            self._worker.ask("act", Any, _ACT, action=for_androidworld(last, self._size))
        task_score: _WorkerScore = self._worker.ask("score", _WorkerScore, _SCORE)
        if not 0 <= task_score.score <= 1:
            raise LabError(self._worker.what, f"field score: {task_score.score:g} is not from 0 to 1.")
        return EnvironmentScore(task_score.score, f"is_successful {task_score.score:g}")

    def _capture(self, *, settled: bool) -> tuple[bytes, _ScreenFacts]:
        with self._looking:
            path = Path(self._folder.name) / "screen.png"
            facts: _ScreenFacts = self._worker.ask("look", _ScreenFacts, _LOOK, png=str(path), settled=settled)
            try:
                if path.stat().st_size > PICTURE_BYTES:
                    raise LabError(self._worker.what, f"its screenshot has more than {PICTURE_BYTES:,} bytes.")
                return path.read_bytes(), facts
            except OSError as error:
                raise LabError(self._worker.what, f"its screenshot cannot be read ({error.strerror}).") from error


def _task(line: _TaskLine) -> Task:
    complexity = line.complexity if line.complexity is not None and line.complexity > 0 else _NO_COMPLEXITY
    return Task(
        id=line.name,
        title=line.name,
        kind="general",
        instruction=line.goal,
        log="none",
        budget=max(1, int(complexity * _STEPS)),
        apps=tuple(sorted(line.apps)),
    )


def _tree(elements: Sequence[_Element]) -> UiTree:
    """Build a tree of UI elements, which AndroidWorld lists in drawing order without their parents.

    Elements of one package form one window. The parent of an element is the newest earlier one that contains it fully.
    The elements of the system's bars become roots, because they are not a window on top of the others.
    """
    roots: list[Node] = []
    for package in dict.fromkeys(element.package for element in elements):
        window = _window(package, [element for element in elements if element.package == package])
        roots += window.children if "systemui" in package else [window]
    return UiTree(tuple(roots))


def _window(package: str, elements: Sequence[_Element]) -> Node:
    """Return one package's elements under a root that encloses them all."""
    boxes = [Bounds(*element.box) for element in elements]
    whole = Bounds(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )
    open_nodes: list[tuple[Node, list[Node]]] = [(Node(whole, cls="android.widget.FrameLayout", package=package), [])]

    def shut() -> None:
        node, children = open_nodes.pop()
        open_nodes[-1][1].append(msgspec.structs.replace(node, children=tuple(children)))

    for element, box in zip(elements, boxes, strict=True):
        while len(open_nodes) > 1 and (len(open_nodes) > _DEEPEST or box.intersection(open_nodes[-1][0].bounds) != box):
            shut()
        open_nodes.append((_node(element, box), []))
    while len(open_nodes) > 1:
        shut()
    root, children = open_nodes[0]
    return msgspec.structs.replace(root, children=tuple(children))


def _node(element: _Element, box: Bounds) -> Node:
    return Node(
        box,
        element.text,
        element.desc,
        element.id,
        element.cls or "android.view.View",
        element.package,
        enabled="enabled" in element.flags,
        **dict.fromkeys(_FLAGS & set(element.flags), True),  # type: ignore[arg-type]  # mypy cannot tell which fields
    )
