"""Agent that asks a language model: it sends the screen as words and a picture, and parses one action."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from lab.agents.elements import SPACE, ScreenElement, elements, in_pixels, read_elements
from lab.agents.model_prompt import RULES, attempt, correction, reading_words, situation, unread_words
from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.run.step import Action, ActionKind, Direction, Point, Prompt, Proposed, Usage
from lab.core.run.trace import Step
from lab.core.seams import Screen, TaskBrief
from lab.core.settings import Settings
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.core.text.read_text import ReadText
from lab.core.text.typed_text import clean
from lab.core.values.png import png_of
from lab.core.values.safe_images import open_picture
from lab.core.values.whole_number import whole_number
from lab.llm.client import Llm, Message, NoModelAnswer, terms
from lab.llm.executor import ModelAsker
from lab.llm.json_in_text import SeveralAnswers, answer_in, objects_in, why_no_object

_PACKED = 3
"""zlib level for the picture sent to the model."""
MOST_UNUSABLE = 3
"""Consecutive answers without a usable action, each asked for twice, after which the run fails."""


class ModelAgent:
    """Ask the model before each action with the full context, so that a run can resume and fork at any step.

    An unusable answer is asked for once more, with the reason. If that fails too, or no answer arrives, the step is of
    kind `other` and stores what was sent and its cost. The run then continues, or fails with a sentence.
    """

    def __init__(self, name: str, llm: ModelAsker, *, picture: int = 1024) -> None:
        """Create an agent of the model `name`.

        `picture` is the longer side of the screenshot that the model gets, in pixels. 0 sends none.
        """
        self.actor = Actor("model", f"model:{name}", name)
        self.stop = threading.Event()
        self.keep: Callable[[Blob], str] = lambda blob: blob.sha256
        self.read: Callable[[Screen], ReadText | None] = lambda screen: None
        self._llm = llm
        self._picture = picture
        self._last_no_answer: NoModelAnswer | None = None

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        """Return the model's next action.

        Block until it answers. Raise `WaitCancelled` soon after `stop` is set.
        """
        self._check(history)
        screen_elements, reading = self._list_elements(screen)
        conversation = ActionMessages(self.keep)
        lessons = self._lessons(conversation, brief, history)
        conversation.add("system", RULES)
        picture = () if not self._picture else (_downscale(screen, self._picture),)
        conversation.add("user", situation(brief, screen, screen_elements, history, lessons, reading), *picture)
        return self._ask_model(conversation, screen_elements, screen)

    def _list_elements(self, screen: Screen) -> tuple[list[ScreenElement], str]:
        """Return the screen's elements, with OCR lines if the phone reported no words, and a note about the OCR."""
        screen_elements = elements(screen.tree, screen.size)
        try:
            text = self.read(screen)
        except LabError as error:
            return screen_elements, unread_words(error)
        if text is None:
            return screen_elements, ""
        return screen_elements + read_elements(text, screen.size, len(screen_elements) + 1), reading_words(text)

    def _lessons(self, conversation: ActionMessages, brief: TaskBrief, history: Sequence[Step]) -> str:
        """Return the lessons of earlier attempts. Empty for an agent without memory."""
        return ""

    def _check(self, history: Sequence[Step]) -> None:
        """Raise `LabError` if asking again is pointless."""
        silent, self._last_no_answer = self._last_no_answer, None
        # The step of the unanswered question has stored its cost by now, so the run may fail.
        if silent is not None and history:
            raise silent
        last = history[-MOST_UNUSABLE:]
        if len(last) == MOST_UNUSABLE and all(step.proposed.action.kind == "other" for step in last):
            reason = last[-1].proposed.action.text or "no action"
            raise LabError(
                f"model {self.actor.name}", f"gave no usable action {MOST_UNUSABLE} times in a row: {reason}"
            )

    def _ask_model(
        self, conversation: ActionMessages, screen_elements: Sequence[ScreenElement], screen: Screen
    ) -> Proposed:
        why = ""
        # Two tries: the second one quotes the reason why the first answer is unusable.
        for last in (False, True):
            try:
                answer = self._llm.ask(conversation.messages, self.stop)
            except NoModelAnswer as error:
                self._last_no_answer = error
                conversation.think(error.thinking, error.source)
                return conversation.proposed(Action("other", text=why or error.sentence), error.usage)
            conversation.raw = answer.text
            conversation.think(answer.thinking, answer.source)
            try:
                parsed_action = meant(answer.text, screen_elements, screen.size)
            except UnusableAnswer as unusable:
                why = f"the model's answer cannot be used: {plain(str(unusable), lines=False)}"
                if last:
                    return conversation.proposed(Action("other", text=why, raw=answer.text), answer.usage)
                conversation.spend(answer.usage)
                conversation.add("assistant", answer.text)
                conversation.add("user", correction(str(unusable)))
            else:
                return conversation.proposed(parsed_action.action, answer.usage, parsed_action)
        raise AssertionError("unreachable")


class ActionMessages:
    """Messages sent for one action, their cost so far, and the full text stored with the step."""

    def __init__(self, keep: Callable[[Blob], str]) -> None:
        self.messages: list[Message] = []
        self.raw: str | None = None
        self._keep = keep
        self._before = ""
        self._thinking = self._source = ""
        self._images: list[str] = []
        self._usage = Usage(tries=0)

    def add(self, role: str, text: str, *pictures: Blob) -> None:
        """Add a message to the conversation."""
        self._images += [self._keep(picture) for picture in pictures]
        self.messages.append(Message(role, (text, *pictures)))  # type: ignore[arg-type]

    def think(self, thinking: str, source: str) -> None:
        """Store the thinking of the last answer and where it was found. It is never sent."""
        self._thinking, self._source = thinking, source

    def spend(self, usage: Usage) -> None:
        """Add the cost of an answer that is not the last one."""
        self._usage = self._usage.plus(usage)

    def aside(self, answer: str) -> None:
        """Close the current conversation with its answer and start a new one. The stored prompt holds both."""
        self.add("assistant", answer)
        self._before += self._transcript() + "\n\n"
        self.messages = []

    def proposed(self, action: Action, usage: Usage, parsed_action: ParsedAction | None = None) -> Proposed:
        """Return the proposal, with everything that was sent and spent."""
        prompt = Prompt(self._before + self._transcript(), tuple(self._images))
        thought = parsed_action.thought if parsed_action else ""
        return Proposed(
            action, thought, prompt, raw=self.raw, usage=self._usage.plus(usage),
            thinking=self._thinking, thinking_source=self._source,
        )  # fmt: skip

    def _transcript(self) -> str:
        return "\n\n".join(f"[{message.role}]\n{_message_text(message)}" for message in self.messages)


def _message_text(message: Message) -> str:
    return "\n".join(part if isinstance(part, str) else "[a picture]" for part in message.parts)


def _downscale(screen: Screen, longest: int) -> Blob:
    """Return the screenshot as PNG, its longer side at most `longest` pixels."""
    width, height = screen.size
    if max(width, height) <= longest:
        return Blob(screen.png, "image/png")
    from PIL import Image

    part = longest / max(width, height)
    size = max(1, round(width * part)), max(1, round(height * part))
    with open_picture(screen.png) as picture:
        # Most of a step's CPU time goes here. Halving by means (reducing_gap) and then HAMMING takes half the time of
        # the default filter.
        rgb = picture if picture.mode == "RGB" else picture.convert("RGB")
        thumbnail = rgb.resize(size, Image.Resampling.HAMMING, reducing_gap=1.0)
    return Blob(png_of(thumbnail.tobytes(), size, _PACKED), "image/png")


KINDS = frozenset(get_args(ActionKind)) - {"other"}

_MOST_MS = 60_000
_NEED_TARGET = ("click", "double_tap", "long_press", "drag")
_NEED_TEXT = ("input_text", "ask_user", "answer")


class UnusableAnswer(Exception):
    """The answer contains no action that can be done. The message is read by the model and by people."""


class ParsedAction(NamedTuple):
    """Action that the model wants, and its reason in its own words."""

    action: Action
    thought: str


def meant(text: str, screen_elements: Sequence[ScreenElement], size: Point) -> ParsedAction:
    """Return the action in an answer. Raise `UnusableAnswer` if it has none or names a missing target.

    If several actions follow one another directly, the first one counts, because the model planned the next one for a
    screen it has not seen. `answer_in` decides which of several other objects counts.
    """
    try:
        json_object = answer_in(text, lambda found: "action" in found, plan=True)
    except SeveralAnswers as error:
        raise UnusableAnswer(str(error)) from error
    json_object = json_object or next(objects_in(text), None)
    if json_object is None:
        raise UnusableAnswer(f"there is no JSON object with an action in it{why_no_object(text)}")
    inner = json_object.get("action")
    fields = {**json_object, **inner} if isinstance(inner, dict) else json_object
    kind = fields.get("kind") if isinstance(inner, dict) and "kind" in inner else fields.get("action")
    if isinstance(kind, dict):
        kind = None
    if not isinstance(kind, str) or kind not in KINDS:
        wrong = "it names no action" if kind is None else f"{kind!r} is no action"
        raise UnusableAnswer(f"{wrong}; the actions are {', '.join(sorted(KINDS))}")
    thought = fields.get("thought")
    return ParsedAction(
        _build_action(kind, fields, json_object, screen_elements, size),
        thought.strip() if isinstance(thought, str) else "",
    )


def _build_action(
    kind: str, fields: Mapping[str, Any], raw: Any, screen_elements: Sequence[ScreenElement], size: Point
) -> Action:
    at, by_number = _read_target(fields, "element", "at", screen_elements, size)
    to, to_number = _read_target(fields, "to_element", "to", screen_elements, size)
    text, direction, ms = fields.get("text"), fields.get("direction"), None
    if kind in _NEED_TARGET and at is None:
        raise UnusableAnswer(f"{kind} needs an element's number, or a place as at")
    if kind == "drag" and to is None:
        raise UnusableAnswer("drag needs to_element, or a place as to")
    if kind in ("scroll", "swipe") and direction not in get_args(Direction) and to is None:
        raise UnusableAnswer(f"{kind} needs a direction: up, down, left or right")
    if kind in _NEED_TEXT and not (isinstance(text, str) and text.strip()):
        raise UnusableAnswer(f"{kind} needs a text")
    app = fields.get("app")
    if kind == "open_app" and not (isinstance(app, str) and app.strip()):
        raise UnusableAnswer("open_app needs the app's name as app")
    status = fields.get("status")
    if kind == "status" and status not in ("complete", "infeasible"):
        raise UnusableAnswer("status needs a status: complete or infeasible")
    if kind == "wait":
        ms = _wait_ms(fields.get("seconds", 1))
    by_element = by_number or to_number
    return Action(
        kind,  # type: ignore[arg-type]
        at=at,
        to=to,
        text=text if isinstance(text, str) else None,
        direction=direction if direction in get_args(Direction) else None,
        app=app if kind == "open_app" else None,
        status=status if kind == "status" else None,
        ms=ms,
        raw=raw,
        space="index" if by_element else f"0-{SPACE - 1}" if at or to else None,
    )


def _read_target(
    fields: Mapping[str, Any], number: str, place: str, screen_elements: Sequence[ScreenElement], size: Point
) -> tuple[Point | None, bool]:
    """Return the target in pixels, and True if the model named it by an element's number."""
    index = fields.get(number)
    if index is not None:
        named = whole_number(index.strip()) if isinstance(index, str) else index
        if isinstance(named, bool) or not isinstance(named, int) or not 1 <= named <= len(screen_elements):
            last = f"they go from 1 to {len(screen_elements)}" if screen_elements else "this screen has none"
            raise UnusableAnswer(f"there is no element {_shorten(index)}; {last}")
        return screen_elements[named - 1].at, True
    point = fields.get(place)
    if point is None:
        return None, False
    if isinstance(point, dict):
        point = [point.get("x"), point.get("y")]
    if not (isinstance(point, list) and len(point) == 2 and all(_is_number(value) for value in point)):
        raise UnusableAnswer(f"{place} is [x, y], not {_shorten(point)}")
    x, y = point
    if not (0 <= x <= SPACE and 0 <= y <= SPACE):
        raise UnusableAnswer(f"{place} {_shorten(point)} lies outside the screen; x and y go from 0 to {SPACE - 1}")
    return in_pixels(x, y, size), False


def _wait_ms(seconds: Any) -> int:
    if not _is_number(seconds) or not 0 < seconds * 1000 <= _MOST_MS:
        raise UnusableAnswer(f"wait takes seconds above 0 and up to {_MOST_MS // 1000}, not {_shorten(seconds)}")
    milliseconds: int = round(seconds * 1000)
    return milliseconds


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


_LESSONS = 2_000
"""Maximum characters of lessons in the prompt."""


class _PastAttempt(NamedTuple):
    """Finished attempt and its status."""

    brief: TaskBrief
    steps: tuple[Step, ...]
    status: str


class LearningAgent(ModelAgent):
    """Model agent that stores lessons per task.

    The call that makes the lessons belongs to the next attempt. The first step of that attempt stores it.
    """

    def __init__(self, name: str, llm: ModelAsker, *, picture: int = 1024) -> None:
        super().__init__(name, llm, picture=picture)
        self.actor = Actor("model", f"model+memory:{name}", f"{name} with memory")
        self._past_attempts: dict[TaskBrief, _PastAttempt] = {}
        self._lessons_by_brief: dict[TaskBrief, str] = {}

    def remember(self, brief: TaskBrief, steps: Sequence[Step], status: str) -> None:
        """Store an attempt as material for lessons in the next one. The agent never learns its score."""
        self._past_attempts[brief] = _PastAttempt(brief, tuple(steps), status)

    def _lessons(self, conversation: ActionMessages, brief: TaskBrief, history: Sequence[Step]) -> str:
        last_attempt = None if history else self._past_attempts.pop(brief, None)
        if last_attempt is not None:
            conversation.add(
                "user",
                attempt(
                    last_attempt.brief, last_attempt.steps, last_attempt.status, self._lessons_by_brief.get(brief, "")
                ),
            )
            try:
                answer = self._llm.ask(conversation.messages, self.stop, words=True)
            except NoModelAnswer as error:
                conversation.spend(error.usage)
                conversation.aside(f"({error.sentence})")
            else:
                conversation.spend(answer.usage)
                conversation.aside(answer.text)
                self._lessons_by_brief[brief] = clean(answer.text.strip())[:_LESSONS]
        return self._lessons_by_brief.get(brief, "")


def model_of(spec: str, settings: Settings) -> Llm:
    """Return the model that a spec names, with the user's settings."""
    return Llm(spec.partition(":")[2], terms(settings))


def model_agent(spec: str, settings: Settings, asker: ModelAsker | None = None) -> ModelAgent:
    """Return the agent that a spec names. `asker` asks the model, by default this process.

    Raise `LabError` if this process cannot ask that model.
    """
    kind, _, name = spec.partition(":")
    if asker is None:
        asker = llm = model_of(spec, settings)
        llm.check()
    agent_class = LearningAgent if kind == "model+memory" else ModelAgent
    return agent_class(name, asker, picture=settings.model_picture)
