"""A unit as a judge sees it: texts and pictures for a model, read through the same blinding as a rater's."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from annotators.judging.question import JudgedRun, JudgedStep, JudgeExample, JudgeView
from annotators.units.cards import facts_of
from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.run.step import Observation
from lab.core.run.trace import Asked, Ended, Started, Step
from lab.core.study.blinding import NOBODY, blind_event
from lab.core.study.protocol import Show
from lab.core.study.study import Study, Unit
from lab.core.task.task import Task
from lab.core.text.plain_text import plain
from lab.core.text.read_text import has_no_text
from lab.core.values.safe_images import open_picture
from lab.runs.descriptions import action_words, score_words, status_words
from lab.studies.designing.design_drafts import texts
from lab.studies.rating.blinded_runs import Blinded

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader
    from store.store import Store

OF_STEPS: frozenset[Show] = frozenset({"screens", "actions", "thoughts", "dialogue"})
"""The parts that show single steps."""
_KEPT = 256
"""Scaled pictures in memory. A judge's repeated runs and stages ask about the same ones."""
_PROACTIVE = "None was given: the agent saw the time, the place and what was done before, and offered on its own."
_VIEWS = 4
"""Views in memory. A judge's repeated runs over one unit follow each other."""
Picture = Callable[[], Blob | None]


class JudgeViews:
    """Builds views of a study's units.

    `longest` is the longer side of a picture in pixels, 0 for no pictures. `hides` are parts that the study shows its
    raters but not this judge.
    """

    def __init__(
        self,
        store: Store,
        study: Study,
        *,
        longest: int,
        most: int,
        reader: TextReader | None,
        hides: frozenset[Show] = frozenset(),
    ) -> None:
        self._store, self._study, self._hides = store, study, hides
        self.shows = frozenset(study.visible_parts) - hides
        self._longest, self._most = longest, most
        self._reader = reader
        self.examples: tuple[JudgeExample, ...] = ()
        """Few-shot examples: settled units for the prompt of every unit that they do not reveal anything of."""
        self._scaled: OrderedDict[str, Blob | None] = OrderedDict()
        self._views: OrderedDict[tuple[str, bool], JudgeView] = OrderedDict()

    def view(self, unit: Unit, *, swapped: bool = False) -> JudgeView:
        """Return a unit as the study shows it. `swapped` puts its second side first."""
        view = self._views.get((unit.id, swapped))
        if view is None:
            view = self._views[unit.id, swapped] = self._build_view(unit, swapped)
            if len(self._views) > _VIEWS:
                self._views.popitem(last=False)
        return view

    def _build_view(self, unit: Unit, swapped: bool) -> JudgeView:
        study, shows = self._study, self.shows
        seen_runs = Blinded(self._store, study, unit, self._hides)
        run_ids = () if unit.given and not OF_STEPS & shows else unit.runs[:2]
        order = tuple(reversed(run_ids)) if swapped and study.protocol.unit == "pair of runs" else run_ids
        names = self._side_names(len(order))
        runs = tuple(self._judged_run(seen_runs, id, name, unit) for id, name in zip(order, names, strict=True))
        sections = tuple(_task_sections(_blinded_task(unit.task, shows), shows)) if unit.task is not None else ()
        examples = tuple(one for one in self.examples if one.is_independent_of(unit))
        return JudgeView(study.protocol, study.locale, shows, unit, runs, swapped, self._most, sections, examples)

    def _side_names(self, count: int) -> tuple[str, ...]:
        if count < 2:
            return ("",) * count
        return ("A", "B") if self._study.protocol.unit == "pair of runs" else ("to be judged", "for reference")

    def _judged_run(self, seen_runs: Blinded, id: str, name: str, unit: Unit) -> JudgedRun:
        shows = frozenset(seen_runs.shows)
        sections: list[tuple[str, str]] = []
        steps: list[JudgedStep] = []
        ended: Ended | None = None
        waiting: Asked | None = None
        for event in seen_runs.events(id):
            match event:
                case Started():
                    sections += _run_sections(event, shows)
                case Step():
                    steps.append(self._judged_step(seen_runs, event))
                    waiting = None
                case Asked():
                    waiting = event
                case Ended():
                    ended = event
        # The run ended, or is open, at a question without a reply: it is the last step.
        if waiting is not None:
            steps.append(self._judged_step(seen_runs, waiting))
        sections += _asked_about(unit, seen_runs, steps)
        final = (ended.final if ended is not None else None) or Observation()
        return JudgedRun(
            id, name, tuple(sections), tuple(steps), _outcome_words(ended, shows),
            self._screen_picture(seen_runs, final), self._screen_words(final)[0],
        )  # fmt: skip

    def _judged_step(self, seen_runs: Blinded, event: Step | Asked) -> JudgedStep:
        action = event.action if isinstance(event, Step) else event.proposed.action
        reply = event.reply if isinstance(event, Step) else None
        decision_words = {"accept": "(accepts) ", "reject": "(rejects) "}.get((reply and reply.decision) or "", "")
        words, was_read = self._screen_words(event.before)
        return JudgedStep(
            number=event.index + 1,
            action=action_words(action, event.before.tree)
            if action is not None and "actions" in seen_runs.shows
            else "",
            thought=plain(event.proposed.thought.strip()),
            question=plain(event.question.text) if event.question is not None else "",
            reply=decision_words + plain(reply.text) if reply is not None else "",
            error=(event.error or "") if isinstance(event, Step) else "",
            words=words,
            was_read=was_read,
            picture=self._screen_picture(seen_runs, event.before),
        )

    def _screen_words(self, screen: Observation) -> tuple[str, bool]:
        """Return a screen's words in one line and whether OCR read them from its picture."""
        # Words recognized earlier serve only screens without a UI tree; nothing is recognized here.
        if not has_no_text(screen.tree) or screen.image is None or self._reader is None:
            return " | ".join(texts(screen)), False
        stored_text = self._reader.stored_text(screen.image)
        if stored_text is None:
            return "", False
        return " | ".join(plain(line.text) for line in stored_text.lines), True

    def _screen_picture(self, seen_runs: Blinded, screen: Observation) -> Picture:
        sha256 = screen.image
        if sha256 is None or not self._longest:
            return lambda: None
        # Fetched on use: a prompt holds only some of a run's pictures.
        return lambda: self._fetch_blob(seen_runs, sha256)

    def _fetch_blob(self, seen_runs: Blinded, sha256: str) -> Blob | None:
        if sha256 in self._scaled:
            self._scaled.move_to_end(sha256)
            return self._scaled[sha256]
        blob = seen_runs.blob(sha256)
        picture = scaled_down(blob.data, self._longest) if blob is not None else None
        self._scaled[sha256] = picture
        if len(self._scaled) > _KEPT:
            self._scaled.popitem(last=False)
        return picture


def scaled_down(data: bytes, longest: int) -> Blob | None:
    """Return a stored picture as JPEG with its longer side at most `longest` pixels, None if it is not a picture."""
    from PIL import Image

    try:
        with open_picture(data) as picture:
            part = min(1.0, longest / max(picture.size))
            size = max(1, round(picture.width * part)), max(1, round(picture.height * part))
            out = io.BytesIO()
            coloured = picture if picture.mode == "RGB" else picture.convert("RGB")
            coloured.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0).save(out, "JPEG", quality=85)
    except (OSError, ValueError, SyntaxError):
        # Pillow raises SyntaxError for a broken PNG.
        return None
    return Blob(out.getvalue(), "image/jpeg")


def _run_sections(started: Started, shows: frozenset[Show]) -> Iterator[tuple[str, str]]:
    """Yield titled sections about a run's task and person, as far as the study shows them."""
    yield from _task_sections(started.task, shows)
    persona = started.persona
    if persona is not None and persona.facts:
        yield "The person", "\n".join(plain(line) for line in facts_of(persona.facts))
    if persona is not None and persona.log:
        yield "What was done before", "\n".join(plain(entry.exposed, lines=False) for entry in persona.log)


def _task_sections(task: Task, shows: frozenset[Show]) -> Iterator[tuple[str, str]]:
    if "instruction" in shows:
        text = plain(task.instruction.strip())
        yield "Instruction", text or (_PROACTIVE if task.kind == "proactive" else "None was recorded.")
    if where := ", ".join(plain(part, lines=False) for part in (task.time, task.place) if part):
        yield "When and where", where
    if task.policy:
        yield "How this person decides", plain(task.policy)
    if task.rubric.criteria:
        yield "Rubric", "\n".join(f"- {plain(one.ask, lines=False)}" for one in task.rubric.criteria)
    if task.golden:
        steps = [f"{number}  {plain(one.do, lines=False)}" for number, one in enumerate(task.golden, 1)]
        yield "Shortest known way", "\n".join(steps)


def _blinded_task(task: Task, shows: frozenset[Show]) -> Task:
    """Return a task without a run, blinded like a run's."""
    event = blind_event(Started(trace="", task=task, agent=NOBODY), shows)
    assert isinstance(event, Started)
    return event.task


def _asked_about(unit: Unit, seen_runs: Blinded, steps: list[JudgedStep]) -> Iterator[tuple[str, str]]:
    """Yield the section that names the one step or question that the unit asks about."""
    if unit.step is not None:
        yield "What is asked about", f"Step {unit.step + 1} of this run, and no other."
    elif unit.question:
        index = seen_runs.asked.get(unit.question)
        if index is None:
            raise LabError(f"unit {unit.id}", "asks about a question that its run does not have.")
        yield "What is asked about", f"The question at step {index + 1} and the reply to it."


def _outcome_words(ended: Ended | None, shows: frozenset[Show]) -> str:
    lines: list[str] = []
    if "outcome" in shows:
        score = ended.score if ended is not None else None
        status = status_words(ended.status if ended is not None else "open")
        lines.append(status if score is None else f"{status}, score {score_words(score)}")
    if "reason" in shows and ended is not None and ended.reason:
        lines.append(plain(ended.reason))
    return "\n".join(lines)
