"""MobileWorld's and KnowU-Bench's environment server: its tasks, its phone and its scores, over its HTTP API.

The server runs beside an emulator in a container (`/init`, `/task/*`, `/screenshot`, `/xml`, `/state`, `/step`). It
has no way to take or put back a snapshot from outside: `/task/init` alone loads the one of its task. Source: the
projects' own `core/server.py` and `runtime/client.py`.
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
from lab.core.limits import MB, PICTURE_BYTES
from lab.core.password_redaction import without_password_texts
from lab.core.plain_text import plain
from lab.core.seams import EnvironmentScore, Frame, Screen, Trouble
from lab.core.step import Action, Point, Question, Reply
from lab.core.suggestion import suggestion
from lab.core.task import Kind, Persona, Task, read_persona
from lab.core.trace import DeviceInfo, Step
from lab.core.ui_tree import UiTree
from simulators.environments.actions import for_mobileworld
from simulators.environments.address import Address
from simulators.environments.frames import Look, picture_size, polled_frames
from simulators.environments.http_line import HttpLine, ServerRefusal
from simulators.environments.reply_endpoint import JUDGE, SETTING, ReplyEndpoint, reply_endpoint
from simulators.users.endpoint.chat_reply import answer_of

DEVICE = "emulator-5554"
"""The emulator's serial inside the container."""
BUDGET = 50
"""Steps that an agent has: the projects' own default."""
_SETTLES = 1.0
"""Seconds after an action before the screen is looked at: the projects' own default."""
_HINT = "Is this the address of a MobileWorld or KnowU-Bench server?"
_AWAY = "Is its container running?"
_INIT, _SCORE, _STEP, _LOOK, _END = 300.0, 300.0, 120.0, 60.0, 120.0
"""Seconds for a task's beginning and its score, for an action, a look, and a task's end."""
_PICTURE = PICTURE_BYTES * 4 // 3 + MB
_TREE = 16 * MB
_POLL = 0.5
"""Seconds between two pictures for the eye."""
_PROFILES = "src/knowu_bench/user_profile/{}.yaml"
"""Where KnowU-Bench's server has its users' profiles, seen from the folder that it runs in."""
_PROFILE = re.compile(r"@([A-Za-z0-9_-]{1,64})$")
_POLICY: dict[Kind, str] = {
    "general": "",
    "personalized": "Answer as who you are, by what you usually do and which apps you prefer. Make up nothing else.",
    "proactive": "Accept what your routine has you do now, in about nine cases of ten, and reject as often what it has"
    " not. Whether it sounds reasonable or helpful does not count.",
}
"""How KnowU-Bench has its own user decide, in short."""
_NAME = 200
"""Characters of the longest task name."""
_LOOKS = "hitlab"
"""The name of the file in which the server puts its screenshots and trees: one, or they would fill its disk."""


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
        """All that the server has, by name, without what is asked in them; it is asked once."""
        self._listed = self._listed or self._list()
        return self._listed

    def _list(self) -> list[Task]:
        entries: list[_TaskEntry] = self._line.ask("GET", "/task/list", list[_TaskEntry])
        for place, entry in enumerate(entries):
            if not entry.name.strip() or len(entry.name) > _NAME:
                what = f"{self._line.base}/task/list"
                raise ServerRefusal(what, f"field [{place}].name: is empty, or longer than {_NAME} characters.")
        return [_task(entry) for entry in sorted(entries, key=lambda entry: entry.name)]

    def task(self, name: str, seed: int) -> Task:
        """One task with what is asked in it; the server has no parameters by seed."""
        tasks = {task.id: task for task in self.tasks()}
        if name not in tasks:
            problem = f"there is no task {plain(name[:_NAME], lines=False)!r}{suggestion(name, tasks) or '.'}"
            raise LabError(self._line.base, problem, "`hitlab tasks --env URL` lists its tasks.", code=2)
        goal: str = self._line.ask("GET", "/task/goal", str, query={"task_name": name})
        if not goal.strip():
            raise ServerRefusal(f"{self._line.base}/task/goal", f"says nothing of {plain(name, lines=False)!r}.")
        return msgspec.structs.replace(tasks[name], instruction=goal)

    def persona(self, task: Task) -> Persona | None:
        """The profile that a KnowU-Bench task names behind an @, as its server has it; None where it gives none."""
        if not task.persona:
            return None
        try:
            data = self._line.fetch("GET", "/download", query={"path": _PROFILES.format(task.persona)}, most=MB)
        except ServerRefusal:
            return None
        return read_persona(data, task.persona, f"{self._line.base}/download")

    def check(self, task: Task) -> None:
        """Whether the server hears the replies that its score of the task rests on."""
        if reply_endpoint() is None and _rests_on_replies(task):
            problem = f"scores {plain(task.id, lines=False)!r} by what its user replies, and is not told of it."
            hint = f"Set {SETTING}=HOST:PORT here, and USER_AGENT_BASE_URL=http://HOST:PORT/v1 for the server."
            raise LabError(self._line.base, problem, hint)

    def phone(self, task: Task, seed: int) -> MobileWorldPhone:
        """Its phone where the task begins, after what was left of it before is torn down."""
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
        """Nothing is held."""


class MobileWorldPhone:
    """The server's phone in one task, from `begin` to `close`; it scores itself."""

    def __init__(
        self, line: HttpLine, device: str, task: Task, size: Point, settles: float, replies: ReplyEndpoint | None
    ) -> None:
        self._line, self._device, self._task, self._size = line, device, task, size
        self._settles, self._replies = settles, replies
        self._looking = threading.Lock()
        self._closed = threading.Event()
        self._begun = False
        self._still_at = 0.0
        self._last_look = Look(b"")

    def begin(self) -> None:
        """Puts the phone where the task begins."""
        with suppress(ServerRefusal):  # what is not begun cannot always be torn down; the beginning resets all anyway
            self._of_task("POST", "/task/tear_down", Any, seconds=_END)
        self._of_task("POST", "/task/init", Any, seconds=_INIT)
        self._begun = True

    # -- the phone -------------------------------------------------------------------------------------------

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo("environment", self._line.base, product=self._device, size=self._size)

    def observe(self) -> Screen:
        """What it shows once it stands still; its tree is of a moment later."""
        self._closed.wait(max(0.0, self._still_at - time.monotonic()))
        png = self._picture()
        tree, missing = self._tree()
        self._last_look = Look(png, without_password_texts(tree))
        return Screen(png, picture_size(png, f"{self._line.base}/screenshot"), tree, self._activity(), "", missing)

    def perform(self, action: Action) -> None:
        """Does one action by the server's own; what only concerns the loop changes nothing."""
        if action.kind not in ("ask_user", "answer", "status", "other"):
            for step in for_mobileworld(action, self._size):
                self._step(step)

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Its screenshots, one after the other."""
        return polled_frames(self._look, stop, self._closed, _POLL, f"{self._line.base}/screenshot")

    def snapshot(self) -> dict[str, Any] | None:
        """The server gives none."""
        return None

    def restore(self, state: dict[str, Any]) -> None:
        """Refused: the server takes none."""
        raise LabError(self._line.base, "this server takes no snapshot; a new run begins where the task does.")

    def close(self) -> None:
        """Tears the task down."""
        self._closed.set()
        if self._begun:
            self._begun = False
            with suppress(LabError):  # the next beginning tears down what is left
                self._of_task("POST", "/task/tear_down", Any, seconds=_END)

    # -- the score -------------------------------------------------------------------------------------------

    @property
    def scorer(self) -> str:
        return self._line.base

    def hear(self, question: Question, reply: Reply) -> None:
        """Has the server ask its user this question, and its user, who asks us, say what was replied."""
        if self._replies is None:
            return
        answer = answer_of(reply)
        with self._replies.offering(question.text, answer) as offer:
            result = self._step({"action_type": "ask_user", "text": question.text}).result
        if not offer.asked or result != answer.content:
            problem = "its own user answered in place of this run's, and its score may rest on that."
            hint = f"Set USER_AGENT_BASE_URL={self._replies.base} for the server, by a name under which it is reached."
            raise LabError(f"{self._line.base}/step", problem, hint)

    def score(self, steps: Sequence[Step]) -> EnvironmentScore:
        """What `/task/eval` says, with the final answer and all actions told to it before."""
        performed_actions = [action for step in steps if (action := step.action) is not None and action.kind != "other"]
        if performed_actions and performed_actions[-1].kind == "answer":
            self._step({"action_type": "answer", "text": performed_actions[-1].text or ""})
        unjudged = self._replies.unjudged if self._replies is not None else 0
        actions = [action_json for action in performed_actions for action_json in _json_of(action, self._size)]
        task_score: _TaskScore = self._of_task("GET", "/task/eval", _TaskScore, seconds=_SCORE, actions=actions)
        if self._replies is not None and self._replies.unjudged > unjudged:
            problem = "its judge asked for a model's opinion and got none, so its score is no score."
            raise LabError(f"{self._line.base}/task/eval", problem, f"Name a model with {JUDGE}.")
        score = float(task_score.score)
        if not 0 <= score <= 1:
            raise ServerRefusal(f"{self._line.base}/task/eval", f"field score: {score:g} is not from 0 to 1.")
        return EnvironmentScore(score, task_score.reason or "")

    # -- questions to the server -----------------------------------------------------------------------------

    def _of_task(self, method: str, path: str, kind: Any, *, seconds: float, **more: Any) -> Any:
        body = {"task_name": self._task.id, "req_device": self._device, **more}
        return self._line.ask(method, path, kind, body=body, seconds=seconds)

    def _step(self, action: dict[str, Any]) -> _StepAnswer:
        body = {"device": self._device, "action": action}
        try:
            stepped: _StepAnswer = self._line.ask("POST", "/step", _StepAnswer, body=body, seconds=_STEP)
        finally:
            self._still_at = time.monotonic() + self._settles
        return stepped

    def _look(self) -> Look:
        """The screen for the eye, with its tree where it is still the one that was observed."""
        png, last = self._picture(), self._last_look
        return last if png == last.png else Look(png)

    def _picture(self) -> bytes:
        """A screenshot as PNG bytes; a `Trouble` where the server gives none."""
        what = f"{self._line.base}/screenshot"
        query = {"device": self._device, "return_b64": "true", "prefix": _LOOKS}
        with self._looking:
            shot: _Screenshot = self._looked_up("/screenshot", _Screenshot, query, _PICTURE)
        try:
            png = base64.b64decode(shot.b64_png.rpartition(",")[2], validate=True)
        except (binascii.Error, ValueError) as error:
            raise Trouble(what, "field b64_png: is no base64.") from error
        picture_size(png, what)
        return png

    def _tree(self) -> tuple[UiTree, str]:
        """The screen's tree, and why there is none."""
        query = {"device": self._device, "mode": "uia", "return_content": "true", "prefix": _LOOKS}
        try:
            xml: _Xml = self._looked_up("/xml", _Xml, query, _TREE)
            return UiTree.from_xml(xml.content, f"{self._line.base}/xml"), ""
        except LabError as error:
            return UiTree(), plain(error.message, lines=False)

    def _activity(self) -> str:
        try:
            state: _State = self._looked_up("/state", _State, {"device": self._device}, MB)
        except LabError:
            return ""
        return state.current_activity.strip()[:_NAME] if isinstance(state.current_activity, str) else ""

    def _looked_up(self, path: str, kind: Any, query: dict[str, str], most: int) -> Any:
        """What only looks: whatever is wrong with the answer may be well when it is asked again."""
        try:
            return self._line.ask("GET", path, kind, query=query, seconds=_LOOK, most=most)
        except ServerRefusal as refused:
            raise Trouble(refused.title, refused.message, refused.hint) from refused


def _json_of(action: Action, size: Point) -> list[dict[str, Any]]:
    """An action as `/task/eval` is told of it; nothing of one that the server's phone has not."""
    try:
        return for_mobileworld(action, size)
    except LabError:
        return []


def _task(entry: _TaskEntry) -> Task:
    """A task as its tags describe it. KnowU-Bench tags what it splits by: routine, preference, general."""
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


def _rests_on_replies(task: Task) -> bool:
    """Whether KnowU-Bench's scorer of this task reads what the user said."""
    return task.kind != "general"
