"""A language model in the agent's chair: the screen goes out as words and a picture, one action comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from lab.agents.elements import ScreenElement, elements, read_elements
from lab.agents.model_answer import ParsedAction, UnusableAnswer, meant
from lab.agents.model_prompt import RULES, correction, reading_words, situation, unread_words
from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.png import png_of
from lab.core.read_text import ReadText
from lab.core.run_records import Blob
from lab.core.safe_images import open_picture
from lab.core.seams import Brief, Screen
from lab.core.step import Action, Prompt, Proposed, Usage
from lab.core.task import Actor
from lab.core.trace import Step
from lab.llm.client import Message, NoModelAnswer
from lab.llm.remote_model import ModelAsker

_PACKED = 3
"""How hard zlib packs the picture that a model is sent."""
MOST_UNUSABLE = 3
"""Answers in a row without a usable action, each asked for twice, after which the run has failed."""


class ModelAgent:
    """Asks anew before each act, with all it needs to know, so that a run resumes and forks anywhere.

    An answer that cannot be used is asked for once more with the reason. If that fails too, or no answer comes, the
    step says so (kind `other`), keeps what was sent and what it cost, and the run goes on or fails with a sentence.
    """

    def __init__(self, name: str, llm: ModelAsker, *, picture: int = 1024) -> None:
        """`name` is the model's; `picture` the longer side in pixels of what it is sent of the screen, 0 for none."""
        self.actor = Actor("model", f"model:{name}", name)
        self.stop = threading.Event()
        self.keep: Callable[[Blob], str] = lambda blob: blob.sha256
        self.read: Callable[[Screen], ReadText | None] = lambda screen: None
        self._llm = llm
        self._picture = picture
        self._silent: NoModelAnswer | None = None

    def propose(self, brief: Brief, screen: Screen, history: Sequence[Step]) -> Proposed:
        """The model's next act; blocks until it answers, raises `Withdrawn` soon after `stop` is set."""
        self._check(history)
        screen_elements, reading = self._shown(screen)
        conversation = Conversation(self.keep)
        lessons = self._lessons(conversation, brief, history)
        conversation.add("system", RULES)
        picture = () if not self._picture else (_smaller(screen, self._picture),)
        conversation.add("user", situation(brief, screen, screen_elements, history, lessons, reading), *picture)
        return self._asked(conversation, screen_elements, screen)

    def _shown(self, screen: Screen) -> tuple[list[ScreenElement], str]:
        """What the screen lists; where the phone told no words, those that were read, and what is said of them."""
        screen_elements = elements(screen.tree, screen.size)
        try:
            text = self.read(screen)
        except LabError as error:
            return screen_elements, unread_words(error)
        if text is None:
            return screen_elements, ""
        return screen_elements + read_elements(text, screen.size, len(screen_elements) + 1), reading_words(text)

    def _lessons(self, conversation: Conversation, brief: Brief, history: Sequence[Step]) -> str:
        """What it learned in earlier attempts; nothing, for one that does not remember."""
        return ""

    def _check(self, history: Sequence[Step]) -> None:
        """Raises `LabError` where it makes no sense to ask again."""
        silent, self._silent = self._silent, None
        if silent is not None and history:
            raise silent
        last = history[-MOST_UNUSABLE:]
        if len(last) == MOST_UNUSABLE and all(step.proposed.action.kind == "other" for step in last):
            reason = last[-1].proposed.action.text or "no action"
            raise LabError(
                f"model {self.actor.name}", f"gave no usable action {MOST_UNUSABLE} times in a row: {reason}"
            )

    def _asked(self, conversation: Conversation, screen_elements: Sequence[ScreenElement], screen: Screen) -> Proposed:
        why = ""
        for last in (False, True):
            try:
                answer = self._llm.ask(conversation.messages, self.stop)
            except NoModelAnswer as error:
                self._silent = error
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


class Conversation:
    """What is sent for one act, what it cost so far, and all of it as it is kept with the step."""

    def __init__(self, keep: Callable[[Blob], str]) -> None:
        self.messages: list[Message] = []
        self.raw: str | None = None
        self._keep = keep
        self._before = ""
        self._thinking = self._source = ""
        self._images: list[str] = []
        self._usage = Usage(tries=0)

    def add(self, role: str, text: str, *pictures: Blob) -> None:
        """One more turn."""
        self._images += [self._keep(picture) for picture in pictures]
        self.messages.append(Message(role, (text, *pictures)))  # type: ignore[arg-type]

    def think(self, thinking: str, source: str) -> None:
        """Keeps what the model wrote before its last answer, and where that stood; it is never sent."""
        self._thinking, self._source = thinking, source

    def spend(self, usage: Usage) -> None:
        """What an answer cost that is not the last."""
        self._usage = self._usage.plus(usage)

    def aside(self, answer: str) -> None:
        """Ends what was asked so far with its answer; what follows is another conversation, kept after it."""
        self.add("assistant", answer)
        self._before += self._written() + "\n\n"
        self.messages = []

    def proposed(self, action: Action, usage: Usage, parsed_action: ParsedAction | None = None) -> Proposed:
        """What came of it, with all that was sent and spent."""
        prompt = Prompt(self._before + self._written(), tuple(self._images))
        thought = parsed_action.thought if parsed_action else ""
        return Proposed(
            action, thought, prompt, raw=self.raw, usage=self._usage.plus(usage),
            thinking=self._thinking, thinking_source=self._source,
        )  # fmt: skip

    def _written(self) -> str:
        return "\n\n".join(f"[{message.role}]\n{_written(message)}" for message in self.messages)


def _written(message: Message) -> str:
    return "\n".join(part if isinstance(part, str) else "[a picture]" for part in message.parts)


def _smaller(screen: Screen, longest: int) -> Blob:
    """The screenshot, its longer side at most `longest` pixels, as PNG.

    It is halved by means and then resampled by a filter that is made for pictures that get smaller: of a step's
    processor time most goes here, and the usual filter takes twice as much.
    """
    width, height = screen.size
    if max(width, height) <= longest:
        return Blob(screen.png, "image/png")
    from PIL import Image

    part = longest / max(width, height)
    size = max(1, round(width * part)), max(1, round(height * part))
    with open_picture(screen.png) as picture:
        rgb = picture if picture.mode == "RGB" else picture.convert("RGB")
        thumbnail = rgb.resize(size, Image.Resampling.HAMMING, reducing_gap=1.0)
    return Blob(png_of(thumbnail.tobytes(), size, _PACKED), "image/png")
