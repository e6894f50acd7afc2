"""Client of MobileWorld's and KnowU-Bench's environment server: tasks, phone and scores over its HTTP API.

The server runs beside an emulator in a container (`/init`, `/task/*`, `/screenshot`, `/xml`, `/state`, `/step`).
Clients can neither take nor restore snapshots: only `/task/init` loads the one of its task. Source: the projects' own
`core/server.py` and `runtime/client.py`.
"""

from __future__ import annotations

import base64
import binascii
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from lab.core.errors import LabError
from lab.core.redaction.password_redaction import without_password_texts
from lab.core.run.input_limits import MB, PICTURE_BYTES
from lab.core.run.step import Action, Point, Question, Reply
from lab.core.run.trace import DeviceInfo, Step
from lab.core.run.ui_tree import UiTree
from lab.core.seams import EnvironmentScore, Frame, Screen, Trouble
from lab.core.task.task import Kind, Persona, Task, read_persona
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import suggestion
from simulators.environments.actions import for_mobileworld
from simulators.environments.address import Address
from simulators.environments.frames import PolledPicture, picture_size, polled_frames
from simulators.environments.http_line import HttpLine, ServerRefusal
from simulators.environments.reply_endpoint import JUDGE, SETTING, ReplyEndpoint, reply_endpoint
from simulators.users.endpoint.chat_reply import answer_of

DEVICE = "emulator-5554"
"""Emulator's serial inside the container."""
BUDGET = 50
"""Steps of an agent, the projects' own default."""
_SETTLES = 1.0
"""Seconds between an action and the next observation, the projects' own default."""
_HINT = "Is this the address of a MobileWorld or KnowU-Bench server?"
_AWAY = "Is its container running?"
_INIT, _SCORE, _STEP, _LOOK, _END = 300.0, 300.0, 120.0, 60.0, 120.0
"""Time limits in seconds: begin, score, action, look, end."""
# Base64 needs four bytes for three, plus the JSON around it.
_PICTURE = PICTURE_BYTES * 4 // 3 + MB
_TREE = 16 * MB
_POLL = 0.5
"""Seconds between two live frames."""
_PROFILES = "src/knowu_bench/user_profile/{}.yaml"
"""Path of a user's profile in KnowU-Bench's server, relative to its working folder."""
_PROFILE = re.compile(r"@([A-Za-z0-9_-]{1,64})$")
_POLICY: dict[Kind, str] = {
    "general": "",
    "personalized": "Answer as who you are, by what you usually do and which apps you prefer. Make up nothing else.",
    "proactive": "Accept what your routine has you do now, in about nine cases of ten, and reject as often what it has"
    " not. Whether it sounds reasonable or helpful does not count.",
}
"""Decision policy of KnowU-Bench's own user, in short, by kind of task."""
_NAME = 200
"""Most characters of a task name."""
_LOOKS = "hitlab"
"""File name prefix for the server's screenshots and trees. A fixed one, or they would fill its disk."""


class _TaskEntry(msgspec.Struct):
    name: str
    tags: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()


class _Viewport(msgspec.Struct):
    viewport_size: tuple[int, int]


class _Screenshot(msgspec.Struct):
    b64_png: str


class _Xml(msgspec.Struct):
    content: str


class _State(msgspec.Struct):
    current_activity: Any = ""


class _StepAnswer(msgspec.Struct):
    result: Any = None


class _TaskScore(msgspec.Struct):
    score: float | bool
    reason: str | None = None


class MobileWorld:
    """One server, as `lab.core.seams.Environment`."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._line = HttpLine(address.place, _HINT, _AWAY)
        self._listed: list[Task] = []

    def tasks(self) -> list[Task]:
        """Return all tasks of the server by name, without instructions. The first call fetches the list."""
        self._listed = self._listed or self._fetch_tasks()
        return self._listed

    def _fetch_tasks(self) -> list[Task]:
        entries: list[_TaskEntry] = self._line.ask("GET", "/task/list", list[_TaskEntry])
        for place, entry in enumerate(entries):
            if not entry.name.strip() or len(entry.name) > _NAME:
                what = f"{self._line.base}/task/list"
                raise ServerRefusal(what, f"field [{place}].name: is empty, or longer than {_NAME} characters.")
        return [_task(entry) for entry in sorted(entries, key=lambda entry: entry.name)]

    def task(self, name: str, seed: int) -> Task:
        """Return one task with its instruction. The server has no parameters by seed."""
        tasks = {task.id: task for task in self.tasks()}
        if name not in tasks:
            problem = f"there is no task {plain(name[:_NAME], lines=False)!r}{suggestion(name, tasks) or '.'}"
            raise LabError(self._line.base, problem, "`hitlab tasks list --env URL` lists its tasks.", code=2)
        goal: str = self._line.ask("GET", "/task/goal", str, query={"task_name": name})
        if not goal.strip():
            raise ServerRefusal(f"{self._line.base}/task/goal", f"says nothing of {plain(name, lines=False)!r}.")
        return msgspec.structs.replace(tasks[name], instruction=goal)

    def persona(self, task: Task) -> Persona | None:
        """Return the profile that a KnowU-Bench task names after an @, or None if the server does not provide it."""
        if not task.persona:
            return None
        try:
            data = self._line.fetch("GET", "/download", query={"path": _PROFILES.format(task.persona)}, most=MB)
        except ServerRefusal:
            return None
        return read_persona(data, task.persona, f"{self._line.base}/download")

    def check(self, task: Task) -> None:
        """Raise `LabError` if the task's score depends on replies that the server would not receive."""
        # KnowU-Bench's scorers of all other kinds read the user's replies.
        if reply_endpoint() is None and task.kind != "general":
            problem = f"scores {plain(task.id, lines=False)!r} by what its user replies, and is not told of it."
            hint = f"Set {SETTING}=HOST:PORT here, and USER_AGENT_BASE_URL=http://HOST:PORT/v1 for the server."
            raise LabError(self._line.base, problem, hint)

    def phone(self, task: Task, seed: int) -> MobileWorldPhone:
        """Return its phone at the task's start, after tearing down an earlier one."""
        self.check(task)
        device = self._address.options.get("device", DEVICE)
        settles = float(self._address.options.get("settle", _SETTLES))
        viewport: _Viewport = self._line.ask("POST", "/init", _Viewport, body={"device": device}, seconds=_LOOK)
        if not all(0 < side < 1 << 15 for side in viewport.viewport_size):
            raise ServerRefusal(
                f"{self._line.base}/init", f"field viewport_size: {list(viewport.viewport_size)} is no screen."
            )
        phone = MobileWorldPhone(self._line, device, task, viewport.viewport_size, settles, reply_endpoint())
        phone.begin()
        return phone

    def close(self) -> None:
        """Do nothing: it holds no connection."""


class MobileWorldPhone:
    """The server's phone during one task, from `begin` to `close`. The server scores it."""

    def __init__(
        self, line: HttpLine, device: str, task: Task, size: Point, settles: float, replies: ReplyEndpoint | None
    ) -> None:
        self._line, self._device, self._task, self._size = line, device, task, size
        self._settles, self._replies = settles, replies
        self._looking = threading.Lock()
        self._closed = threading.Event()
        self._begun = False
        self._still_at = 0.0
        self._last_look = PolledPicture(b"")

    def begin(self) -> None:
        """Initialize the task on the phone."""
        with suppress(ServerRefusal):  # there may be nothing to tear down, and `init` resets all
            self._ask_task("POST", "/task/tear_down", Any, seconds=_END)
        self._ask_task("POST", "/task/init", Any, seconds=_INIT)
        self._begun = True

    # -- the phone -------------------------------------------------------------------------------------------

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo("environment", self._line.base, product=self._device, size=self._size)

    def observe(self) -> Screen:
        """Return the settled screen. The tree is taken a moment after the screenshot."""
        self._closed.wait(max(0.0, self._still_at - time.monotonic()))
        png = self._picture()
        tree, missing = self._tree()
        self._last_look = PolledPicture(png, without_password_texts(tree))
        return Screen(png, picture_size(png, f"{self._line.base}/screenshot"), tree, self._activity(), "", missing)

    def perform(self, action: Action) -> None:
        """Perform one action by the server's own. Ignore kinds that only concern the run's loop."""
        if action.kind not in ("ask_user", "answer", "status", "other"):
            for step in for_mobileworld(action, self._size):
                self._step(step)

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Yield its screenshots repeatedly."""
        return polled_frames(self._poll_picture, stop, self._closed, _POLL, f"{self._line.base}/screenshot")

    def snapshot(self) -> dict[str, Any] | None:
        """Return None: the server has no snapshots."""
        return None

    def restore(self, state: dict[str, Any]) -> None:
        """Raise `LabError`: the server restores no snapshots."""
        raise LabError(self._line.base, "this server takes no snapshot; a new run begins where the task does.")

    def close(self) -> None:
        """Tear the task down."""
        self._closed.set()
        if self._begun:
            self._begun = False
            with suppress(LabError):  # the next task's start tears down what is left
                self._ask_task("POST", "/task/tear_down", Any, seconds=_END)

    # -- the score -------------------------------------------------------------------------------------------

    @property
    def scorer(self) -> str:
        return self._line.base

    def receive_reply(self, question: Question, reply: Reply) -> None:
        """Have the server ask its user this question, and answer that request with the run's reply.

        Raise `LabError` if the server's own user answered instead, because the score may depend on it.
        """
        if self._replies is None:
            return
        answer = answer_of(reply)
        with self._replies.offering(question.text, answer) as offer:
            result = self._step({"action_type": "ask_user", "text": question.text}).result
        # Other words than ours mean that another model answered the server.
        if not offer.asked or result != answer.content:
            problem = "its own user answered in place of this run's, and its score may rest on that."
            hint = f"Set USER_AGENT_BASE_URL={self._replies.base} for the server, by a name under which it is reached."
            raise LabError(f"{self._line.base}/step", problem, hint)

    def score(self, steps: Sequence[Step]) -> EnvironmentScore:
        """Submit the final answer and return the result of `/task/eval` for all actions."""
        performed_actions = [action for step in steps if (action := step.action) is not None and action.kind != "other"]
        if performed_actions and performed_actions[-1].kind == "answer":
            self._step({"action_type": "answer", "text": performed_actions[-1].text or ""})
        unjudged = self._replies.unjudged if self._replies is not None else 0
        actions = [action_json for action in performed_actions for action_json in _eval_actions(action, self._size)]
        task_score: _TaskScore = self._ask_task("GET", "/task/eval", _TaskScore, seconds=_SCORE, actions=actions)
        if self._replies is not None and self._replies.unjudged > unjudged:
            problem = "its judge asked for a model's opinion and got none, so its score is no score."
            raise LabError(f"{self._line.base}/task/eval", problem, f"Name a model with {JUDGE}.")
        score = float(task_score.score)
        if not 0 <= score <= 1:
            raise ServerRefusal(f"{self._line.base}/task/eval", f"field score: {score:g} is not from 0 to 1.")
        return EnvironmentScore(score, task_score.reason or "")

    # -- questions to the server -----------------------------------------------------------------------------

    def _ask_task(self, method: str, path: str, kind: Any, *, seconds: float, **more: Any) -> Any:
        body = {"task_name": self._task.id, "req_device": self._device, **more}
        return self._line.ask(method, path, kind, body=body, seconds=seconds)

    def _step(self, action: dict[str, Any]) -> _StepAnswer:
        body = {"device": self._device, "action": action}
        try:
            stepped: _StepAnswer = self._line.ask("POST", "/step", _StepAnswer, body=body, seconds=_STEP)
        finally:
            self._still_at = time.monotonic() + self._settles
        return stepped

    def _poll_picture(self) -> PolledPicture:
        """Return the screen for the live view, with the observed tree if the picture is still the same."""
        png, last = self._picture(), self._last_look
        return last if png == last.png else PolledPicture(png)

    def _picture(self) -> bytes:
        """Return a screenshot as PNG bytes. Raise `Trouble` if the server gives none."""
        what = f"{self._line.base}/screenshot"
        query = {"device": self._device, "return_b64": "true", "prefix": _LOOKS}
        with self._looking:
            shot: _Screenshot = self._query("/screenshot", _Screenshot, query, _PICTURE)
        try:
            png = base64.b64decode(shot.b64_png.rpartition(",")[2], validate=True)
        except (binascii.Error, ValueError) as error:
            raise Trouble(what, "field b64_png: is no base64.") from error
        picture_size(png, what)
        return png

    def _tree(self) -> tuple[UiTree, str]:
        """Return the screen's tree, and the reason if it is missing."""
        query = {"device": self._device, "mode": "uia", "return_content": "true", "prefix": _LOOKS}
        try:
            xml: _Xml = self._query("/xml", _Xml, query, _TREE)
            return UiTree.from_xml(xml.content, f"{self._line.base}/xml"), ""
        except LabError as error:
            return UiTree(), plain(error.message, lines=False)

    def _activity(self) -> str:
        try:
            state: _State = self._query("/state", _State, {"device": self._device}, MB)
        except LabError:
            return ""
        return state.current_activity.strip()[:_NAME] if isinstance(state.current_activity, str) else ""

    def _query(self, path: str, kind: Any, query: dict[str, str], most: int) -> Any:
        """Send a read-only request. Every error becomes a `Trouble`, because a retry may succeed."""
        try:
            return self._line.ask("GET", path, kind, query=query, seconds=_LOOK, most=most)
        except ServerRefusal as refused:
            raise Trouble(refused.title, refused.message, refused.hint) from refused


def _eval_actions(action: Action, size: Point) -> list[dict[str, Any]]:
    """Convert an action for `/task/eval`. Return nothing for one that the server's phone does not support."""
    try:
        return for_mobileworld(action, size)
    except LabError:
        return []


def _task(entry: _TaskEntry) -> Task:
    """Return a task with the kind and difficulty of its tags. KnowU-Bench's splits are routine, preference, general."""
    tags = set(entry.tags)
    kind: Kind = "proactive" if "routine" in tags else "personalized" if "preference" in tags else "general"
    traits = {"tags": ", ".join(sorted(tags))} if tags else {}
    level = next((tag for tag in ("easy", "medium", "hard") if tag in tags), "")
    return Task(
        id=entry.name,
        title=entry.name,
        kind=kind,
        persona=profile[1] if (profile := _PROFILE.search(entry.name)) else "",
        log="none",
        budget=BUDGET,
        policy=_POLICY[kind],
        apps=tuple(sorted(entry.apps)),
        traits={**traits, **({"difficulty": level} if level else {})},
    )
