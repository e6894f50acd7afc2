"""Texts about a unit: instruction, place, persona, policy and outcome above it, and the words of one step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from textual.content import Content

from lab.core.run.step import Observation
from lab.core.run.trace import Asked, Ended, Started, Step
from lab.core.study.blinding import NOBODY, blind_event
from lab.core.study.protocol import Show
from lab.core.study.study import UnitText
from lab.core.task.task import Persona, Task
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.descriptions import one_line, score_words, status_words
from lab.runs.replay.recorded_run import PlaceView
from lab.studies.designing.design_drafts import texts
from lab.studies.playing.persona_prose import persona_prose
from screens.persona_facts import fact_lines, moment_words
from screens.replay import step_pane
from screens.replay.step_pane import Part
from screens.theme import HEADING, MUTED

PROACTIVE = "None: in this run nothing was asked for. The agent saw the time, the place and what was done before."
"""Text in place of a proactive run's instruction. Its title is not shown, since it may give away the right offer."""


_LINE = 160
"""Maximum characters of a text that stays in view above longer ones."""
_SHORT = 40
"""Maximum characters of a list's items without blank lines between them."""


class ContextSection(NamedTuple):
    """A heading, its text, and a short version for the folded line."""

    title: str
    body: tuple[Part, ...]
    summary: str = ""


def task_sections(task: Task, shows: Collection[Show]) -> list[ContextSection]:
    """Return the visible sections of a task: instruction, time and place, policy, rubric, golden steps."""
    task = _blind_task(task, shows)
    sections: list[ContextSection] = []
    if "instruction" in shows:
        text = plain(task.instruction.strip())
        proactive = task.kind == "proactive" and not text
        sections.append(_text_section("Instruction", PROACTIVE if proactive else text or "None was recorded."))
    where = ", ".join(plain(part, lines=False) for part in (moment_words(task.time), task.place) if part)
    if where:
        sections.append(_text_section("When and where", where))
    if task.policy:
        sections.append(_text_section("How this person decides", plain(task.policy)))
    if task.rubric.criteria:
        lines = [
            f"{plain(criterion.ask, lines=False)}  (weight {criterion.weight:g})" for criterion in task.rubric.criteria
        ]
        sections.append(_lines_section("Rubric", lines, f"{len(lines)} criteria"))
    if task.golden:
        lines = [f"{number}  {plain(step.do, lines=False)}" for number, step in enumerate(task.golden, 1)]
        sections.append(_lines_section("Shortest known way", lines, f"{len(lines)} steps"))
    elif task.golden_steps is not None:
        sections.append(_text_section("Shortest known way", count(task.golden_steps, "step")))
    return sections


def _blind_task(task: Task, shows: Collection[Show]) -> Task:
    """Return a task without a run, blinded like one in a run."""
    # Blinding works on events, so wrap the task in one.
    event = blind_event(Started(trace="", task=task, agent=NOBODY), shows)
    assert isinstance(event, Started)
    return event.task


def persona_sections(persona: Persona | None, locale: str = "en") -> list[ContextSection]:
    """Return the persona's facts in sentences, and the log if the blinded run has one."""
    if persona is None:
        return []
    sections: list[ContextSection] = []
    if persona.facts:
        parts: list[Part] = []
        for section in persona_prose(persona.facts, persona.name, locale):
            parts.append((f"{section.title}\n", "bold"))
            for paragraph in section.paragraphs:
                parts += [(f"{paragraph.lead}. " if paragraph.lead else "", MUTED), (f"{paragraph.text}\n", "")]
        facts = sum(bool(value) for _, _, value in fact_lines(persona.facts))
        name = f"{one_line(persona.name, 40)}, " if persona.name else ""
        sections.append(ContextSection("The person", tuple(parts), f"{name}{facts} facts"))
    if persona.log:
        lines = [plain(entry.exposed, lines=False) for entry in persona.log]
        sections.append(_lines_section("What was done before", lines, f"{len(lines)} lines"))
    return sections


def outcome_sections(ended: Ended | None, shows: Collection[Show], side: str = "") -> list[ContextSection]:
    """Return how a run ended, as far as the study shows it. A run without an end is open."""
    sections: list[ContextSection] = []
    title = f"Outcome, {side}" if side else "Outcome"
    if "outcome" in shows:
        score = ended.score if ended is not None else None
        status = status_words(ended.status if ended is not None else "open")
        sections.append(_text_section(title, status if score is None else f"{status}, score {score_words(score)}"))
    if "reason" in shows and ended is not None and ended.reason:
        sections.append(_text_section(f"Why, {side}" if side else "Why", plain(ended.reason)))
    return sections


def given_section(material: UnitText, title: str = "") -> ContextSection:
    """Return a text or list that the unit itself provides."""
    parts: list[Part] = [(f"{plain(material.text)}\n", "")] if material.text else []
    gap = "\n\n" if any(len(item) > _SHORT for item in material.items) else "\n"
    parts += [
        part for n, item in enumerate(material.items, 1) for part in ((f"{n:>2}  ", MUTED), (f"{plain(item)}{gap}", ""))
    ]
    brief = " ".join(plain(material.text).split()) or f"{len(material.items)} items"
    return ContextSection(plain(title or material.title, lines=False), tuple(parts), brief)


def full_content(sections: Sequence[ContextSection]) -> Content:
    """Return all sections in full, one below the other."""
    parts: list[Part] = []
    for section in sections:
        parts += [("\n" if parts else "", ""), (f"{section.title}\n", HEADING), *section.body]
    return Content.assemble(*parts).rstrip("\n")


def folded_lines(sections: Sequence[ContextSection], width: int, rows: int, key: str) -> list[Content]:
    """Return the first section in at most `rows` rows of `width` columns, and a row that names the rest.

    That row begins with the `key` that unfolds everything.
    """
    if not sections:
        return []
    first, *others = sections
    lines = summary_lines(first, width)
    more = len(lines) - rows
    lines_more = [f"{more} more {'line' if more == 1 else 'lines'}"] if more > 0 else []
    lines_more += [f"{section.title}: {section.summary}" for section in others]
    if lines_more:
        rest = Content.assemble((f"▸ {key}  ", "bold"), ("   ".join(lines_more), MUTED))
        return [*lines[:rows], rest.truncate(width, ellipsis=True)]
    return lines


def summary_lines(section: ContextSection, width: int) -> list[Content]:
    """Return a section's title and short version, wrapped."""
    words = Content.assemble((f"{section.title}  ", HEADING), (section.summary, ""))
    lines = words.wrap(max(1, width)) if width > 0 else [words]
    if len(lines) > 1 and lines[0].plain.strip() == section.title:
        return list(words.fold(width))  # a script without blanks may break anywhere
    return lines


def is_short(section: ContextSection) -> bool:
    """Return True if a section is short enough to stay above the texts."""
    return section.summary == "".join(text for text, _ in section.body).strip() and len(section.summary) <= _LINE


# -- one place of a run --------------------------------------------------------------------------------------


def place_words(view: PlaceView, shows: Collection[Show], *, after: bool) -> Content:
    """Return the visible words of a place: thought, action and dialogue, and the texts on the screen."""
    if isinstance(view.event, Ended):
        sections = outcome_sections(view.event, shows)
        over = Content.assemble(
            ("The run is over here.\n\n", "bold"), full_content(sections), "\n\n" if sections else ""
        )
        return Content.assemble(over, _screen_words(view.before, shows, "On the last screen"))
    after = after and view.after is not None
    observation = view.after if after and view.after is not None else view.before
    title = "On the screen after it" if after else "On the screen before it"
    return Content.assemble(_event_words(view.event, shows), _screen_words(observation, shows, title))


def _event_words(event: Step | Asked, shows: Collection[Show]) -> Content:
    if "actions" in shows:
        return step_pane.step_sheet(event, thought_last=True)
    parts = [
        part for title, text in _step_sections(event) if text for part in ((f"{title}\n", HEADING), (f"{text}\n\n", ""))
    ]
    return Content.assemble(*parts, ("" if parts else "What was done is not shown.\n\n", MUTED))


def _step_sections(event: Step | Asked) -> Iterator[tuple[str, str]]:
    """Yield what may be shown of a step whose action is hidden."""
    yield "Instruction", plain(event.proposed.instruction.strip())
    yield "Thought", plain(event.proposed.thought.strip())
    if event.question is not None:
        yield "Question", plain(event.question.text)
    reply = None if isinstance(event, Asked) else event.reply
    if reply is not None:
        decision = {"accept": "✓ accepted  ", "reject": "✗ rejected  ", None: ""}[reply.decision]
        yield "Reply", decision + plain(reply.text)


def _screen_words(observation: Observation, shows: Collection[Show], title: str) -> Content:
    """Return the texts on a screen in reading order, or a sentence if none were recorded."""
    if "screens" not in shows:
        return Content("")
    lines = [plain(text) for text in texts(observation)]
    if lines:
        return Content.assemble((f"{title}\n", HEADING), ("\n".join(lines), ""))
    if observation.tree is not None:
        text = "No words stand on it."
    else:
        text = (
            "Only its picture was recorded."
            if observation.image is not None
            else "Neither picture nor words were recorded."
        )
    return Content.assemble((f"{title}\n", HEADING), (text, MUTED))


def _text_section(title: str, text: str) -> ContextSection:
    return ContextSection(title, ((f"{text}\n", ""),), " ".join(text.split()))


def _lines_section(title: str, lines: Sequence[str], brief: str) -> ContextSection:
    return ContextSection(title, (("\n".join(lines) + "\n", ""),), brief)
