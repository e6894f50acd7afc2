"""The judge for any protocol: one question with the guideline, the run and the sheet, in the protocol's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from annotators.judging.prompt_files import fill_prompt, prompts_version
from annotators.judging.question import (
    JudgedPlace,
    JudgedRun,
    JudgedStep,
    JudgeExample,
    JudgeQuestion,
    JudgeView,
    Judging,
)
from annotators.judging.sheet_answer import answer_schema, asked_places, read_sheet
from lab.core.codec import encode
from lab.core.run.run_records import Blob
from lab.core.study.option_sets import may_be_empty
from lab.core.study.protocol import Field
from lab.core.study.study import Target, UnitText
from lab.core.text.plain_text import plain
from lab.llm.client import Message

T = TypeVar("T")

_PACKAGE = "annotators.judging"
_MOST_CHARACTERS = 1_500
"""Maximum characters of a screen's words that replace a picture which is not sent."""


class SheetJudge:
    """Judge that asks one question for the whole sheet."""

    name = "sheet"
    stages = ("sheet",)
    tells_outcome = True

    @property
    def version(self) -> str:
        return sheet_version()

    def judge(self, view: JudgeView) -> Judging:
        """Yield one question and return its answer, the whole sheet."""
        places: list[JudgedPlace] = yield sheet_question(view)
        return places


def sheet_version() -> str:
    """Return a hash of the prompts for a question about a whole sheet."""
    return prompts_version(_PACKAGE, "sheet-system.md", "repair.md")


def sheet_system(view: JudgeView) -> Message:
    """Return the system message: the guideline, and how to answer a sheet."""
    protocol = view.protocol
    title = protocol.word(view.locale, "title", protocol.title)
    return Message(
        "system",
        (fill_prompt(_PACKAGE, "sheet-system.md", title=title, guide=protocol.guideline(view.locale).strip()),),
    )


def sheet_question(view: JudgeView) -> JudgeQuestion:
    """Return a question with everything that a rater sees of the unit and is asked about it."""
    parts = _unit_parts(view)
    if any(field.sided for field in view.protocol.fields):
        parts.append("Where the guideline says left, it is side A; right is side B.")
    return question_for_sheet(view, parts, "sheet")


def question_for_sheet(view: JudgeView, parts: Sequence[str | Blob], stage: str) -> JudgeQuestion:
    """Return a question about a whole sheet. `parts` describe the unit and follow the examples."""
    questions_text = "What is asked\n" + "\n".join(_sheet_lines(view))
    messages = (sheet_system(view), Message("user", join_texts([*example_texts(view), *parts, questions_text])))
    return JudgeQuestion(stage, messages, lambda text: read_sheet(view, text), answer_schema(view))


def example_texts(view: JudgeView, right: Callable[[JudgeExample], Any] | None = None) -> list[str]:
    """Return the judge's examples in words. `right` converts one into the form of a method's own answer."""
    return [
        example_text(one, number, None if right is None else right(one)) for number, one in enumerate(view.examples, 1)
    ]


def example_text(example: JudgeExample, number: int, right: Any = None) -> str:
    """Return an example in words: its unit, its items and its right answers, by default in the form of a sheet."""
    view = example.view
    # Examples are in words alone, without pictures.
    unit_texts = [part for part in _unit_parts(view) if isinstance(part, str)]
    items = [target_line(one) for one in _items(view)]
    unit_texts += ["\n".join(["Items", *items])] if items else []
    rows = [{"item": item, "field": field, "value": value} for item, field, value in example.answers]
    answers = encode({"answers": rows} if right is None else right).decode()
    return fill_prompt(_PACKAGE, "example.md", number=str(number), unit="\n\n".join(unit_texts), answers=answers)


def _unit_parts(view: JudgeView) -> list[str | Blob]:
    """Return a unit in words and pictures, without the questions about it."""
    parts: list[str | Blob] = [f"{title}\n{text}" for title, text in view.sections]
    parts += _given_texts(view)
    pictured_steps = steps_with_pictures(view.runs, view.pictures)
    for run in view.runs:
        parts += run_parts(run, pictured_steps)
    return parts


def _given_texts(view: JudgeView) -> Iterator[str]:
    """Yield the texts that the unit gives to its rater, with sides in the order shown."""
    # Swapped units show side B first, under the name A.
    order = sorted(view.unit.given, key=lambda one: _side(view, one) or "")
    for one in order:
        side = _side(view, one)
        lines = [part for part in (plain(one.text), *(f"- {plain(item)}" for item in one.items)) if part]
        yield f"{f'{side}: ' if side else ''}{plain(one.title)}\n" + "\n".join(lines)


def _side(view: JudgeView, material: UnitText) -> str:
    return {"A": "B", "B": "A"}.get(material.side, "") if view.swapped else material.side


def steps_with_pictures(runs: Sequence[JudgedRun], most: int) -> frozenset[tuple[str, int]]:
    """Return the steps (run, number) whose pictures are sent: all, or an even selection with the last.

    A run's last screen counts as a picture and is always sent.
    """
    return frozenset(sample_evenly([(run.id, step.number) for run in runs for step in run.steps], most - len(runs)))


def sample_evenly(steps: Sequence[T], most: int) -> list[T]:
    """Return all of some steps, or an even selection of `most` that includes the last."""
    most = max(0, most)
    if len(steps) <= most:
        return list(steps)
    return [steps[round(n * (len(steps) - 1) / max(1, most - 1))] for n in range(most)]


def run_parts(run: JudgedRun, pictured_steps: frozenset[tuple[str, int]]) -> list[str | Blob]:
    """Return a run in words and pictures, in order."""
    parts: list[str | Blob] = [f"Run {run.name}".rstrip()]
    parts += [f"{title}\n{text}" for title, text in run.sections]
    for step in run.steps:
        picture = step.picture() if (run.id, step.number) in pictured_steps else None
        parts.append(step_words(step, pictured=picture is not None))
        parts += [picture] if picture is not None else []
    last = run.last_picture()
    parts.append(
        "The last screen" + ("" if last is not None or not run.last_words else f"\n{run.last_words[:_MOST_CHARACTERS]}")
    )
    parts += [last] if last is not None else []
    parts += [f"How it ended\n{run.outcome}"] if run.outcome else []
    return parts


def step_words(step: JudgedStep, *, pictured: bool) -> str:
    """Return the lines of a step. The screen's words replace a picture that is not sent."""
    lines = [f"Step {step.number}{f': {step.action}' if step.action else ''}"]
    lines += [f"  thought: {step.thought}"] if step.thought else []
    lines += [f"  asks the person: {step.question}"] if step.question else []
    lines += [f"  the person replies: {step.reply}"] if step.reply else []
    lines += [f"  {step.error}"] if step.error else []
    if step.words and not pictured:
        how = "words read from the picture before it" if step.was_read else "words on the screen before it"
        lines.append(f"  {how}: {step.words[:_MOST_CHARACTERS]}")
    elif pictured:
        lines.append("  the screen before it:")
    return "\n".join(lines)


def _sheet_lines(view: JudgeView) -> Iterator[str]:
    """Yield the sheet: each field with its values once, then the items."""
    places = list(asked_places(view))
    fields = list(dict.fromkeys(place.field for place in places))
    for field in fields:
        yield from _field_lines(view, field)
    targets = _items(view)
    if targets:
        yield "Items"
        yield from map(target_line, targets)
    whole = [field.id for field in fields if any(one.field is field and one.target is None for one in places)]
    if targets and whole:
        yield f'Asked once, with "item": "": {", ".join(whole)}'


def _items(view: JudgeView) -> list[Target]:
    """Return the items that are asked about individually, in order."""
    return list(dict.fromkeys(place.target for place in asked_places(view) if place.target is not None))


def _field_lines(view: JudgeView, field: Field) -> Iterator[str]:
    protocol, locale = view.protocol, view.locale
    need = "" if field.required else " (may be left out)"
    yield f'Field "{field.id}"{need}: {protocol.word(locale, field.id, field.ask)}'
    if field.hint and field.kind not in ("flag", "nominal", "ordinal", "many"):
        yield f"  {protocol.hint(locale, field)}"
    if field.show_if:
        yield f"  asked only where {field.show_if}"
    match field.kind:
        case "flag":
            yield "  value: true or false"
        case "interval":
            bounds = (field.least, field.most)
            yield "  value: a number" + ("" if None in bounds else " from {:g} to {:g}".format(*bounds))
        case "many":
            yield f"  value: {_many_words(field)}"
        case "text":
            yield "  value: a text"
        case "step":
            yield "  value: the number of a step"
    before = "one of the list " if field.kind == "many" else "value "
    yield from (f"  {line}" for line in option_lines(view, field, before))
    if field.evidence:
        yield '  with "step", the step that shows it'


def option_lines(view: JudgeView, field: Field, before: str = "") -> Iterator[str]:
    """Yield a field's options by id, with their meanings and cases, without those that only a rule sets."""
    protocol, locale = view.protocol, view.locale
    for option in field.options:
        if not option.by_rule:
            means = protocol.word(locale, f"{field.id}.{option.id}.means", option.means)
            words = protocol.word(locale, f"{field.id}.{option.id}", option.display_name)
            yield f'{before}"{option.id}": {words}{f". {means}" if means else ""}'
            yield from (f"  for instance: {case}" for case in protocol.cases(locale, field, option))


def _many_words(field: Field) -> str:
    """Return the description of a list of options."""
    least = f", at least {field.least:g}" if field.least else ""
    most = f", at most {field.most:g}" if field.most is not None else ""
    none = "; [] where none holds" if may_be_empty(field) else ""
    first = next(option.id for option in field.options if not option.by_rule)
    return f'a list of all that hold{least}{most}, such as ["{first}"]{none}'


def target_line(target: Target) -> str:
    """Return an item's line: id, text, kind and dependencies."""
    more = [plain(target.detail)] if target.detail else []
    more += [f"kind: {target.kind}"] if target.kind else []
    more += [f"values: {', '.join(target.options)}"] if target.options else []
    more += [f"depends on: {', '.join(target.requires)}"] if target.requires else []
    return f'- "{target.id}": {plain(target.says)}' + "".join(f" ({one})" for one in more)


def join_texts(parts: Sequence[str | Blob]) -> tuple[str | Blob, ...]:
    """Return parts with successive texts joined by an empty line."""
    return tuple(_join_texts(parts))


def _join_texts(parts: Sequence[str | Blob]) -> Iterator[str | Blob]:
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        if texts:
            yield "\n\n".join(texts)
            texts = []
        yield part
    if texts:
        yield "\n\n".join(texts)
