"""The judge of any protocol: one question that holds the guideline, the run and the sheet, by the protocol's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotators.judging.prompt_files import filled, version_of
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
from lab.core.plain_text import plain
from lab.core.protocol import Field
from lab.core.run_records import Blob
from lab.core.study import Given, Target
from lab.llm.client import Message

_PACKAGE = "annotators.judging"
_WORDS = 1_500
"""Characters of a screen's words that stand for a picture that is not sent."""


class SheetJudge:
    """Asks one question for the whole sheet."""

    name = "sheet"

    @property
    def version(self) -> str:
        return version_of(_PACKAGE, "sheet-system.md", "repair.md")

    def judge(self, view: JudgeView) -> Judging:
        """One question; the answer to it is the sheet."""
        places: list[JudgedPlace] = yield sheet_question(view)
        return places


def sheet_question(view: JudgeView) -> JudgeQuestion:
    """All that a rater is told of the unit, and all that they are asked."""
    protocol = view.protocol
    system = filled(
        _PACKAGE,
        "sheet-system.md",
        title=protocol.said(view.locale, "title", protocol.title),
        guide=protocol.guided(view.locale).strip(),
    )
    parts: list[str | Blob] = [example_text(one, number) for number, one in enumerate(view.examples, 1)]
    parts += _unit_parts(view)
    if any(field.sided for field in protocol.fields):
        parts.append("Where the guideline says left, it is side A; right is side B.")
    parts.append("What is asked\n" + "\n".join(_asked(view)))
    messages = (Message("system", (system,)), Message("user", tuple(_joined(parts))))
    return JudgeQuestion("sheet", messages, lambda text: read_sheet(view, text), answer_schema(view))


def example_text(example: JudgeExample, number: int) -> str:
    """An example in words: the unit as it would be told, its items, and the right answers as a judge gives them."""
    view = example.view
    told = [part for part in _unit_parts(view) if isinstance(part, str)]
    items = [_target_line(one) for one in _items(view)]
    told += ["\n".join(["Items", *items])] if items else []
    rows = [{"item": item, "field": field, "value": value} for item, field, value in example.answers]
    answers = encode({"answers": rows}).decode()
    return filled(_PACKAGE, "example.md", number=str(number), unit="\n\n".join(told), answers=answers)


def _unit_parts(view: JudgeView) -> list[str | Blob]:
    """A unit in words and pictures, without what is asked about it."""
    parts: list[str | Blob] = [f"{title}\n{text}" for title, text in view.sections]
    parts += _given(view)
    shown = pictured(view.runs, view.pictures)
    for run in view.runs:
        parts += run_parts(run, shown)
    return parts


def _given(view: JudgeView) -> Iterator[str]:
    """Texts that the unit lays before its rater, sides in the order in which they are shown."""
    order = sorted(view.unit.given, key=lambda one: _side(view, one) or "")
    for one in order:
        side = _side(view, one)
        lines = [part for part in (plain(one.text), *(f"- {plain(item)}" for item in one.items)) if part]
        yield f"{f'{side}: ' if side else ''}{plain(one.title)}\n" + "\n".join(lines)


def _side(view: JudgeView, given: Given) -> str:
    return {"A": "B", "B": "A"}.get(given.side, "") if view.swapped else given.side


def pictured(runs: Sequence[JudgedRun], most: int) -> frozenset[tuple[str, int]]:
    """The steps (by run and number) whose pictures are sent: all of them, or as many as may be, evenly, the last too.

    A run's last screen counts as a picture, and is sent always.
    """
    most = max(0, most - len(runs))
    steps = [(run.id, step.number) for run in runs for step in run.steps]
    if len(steps) <= most:
        return frozenset(steps)
    return frozenset(steps[round(n * (len(steps) - 1) / max(1, most - 1))] for n in range(most))


def run_parts(run: JudgedRun, shown: frozenset[tuple[str, int]]) -> list[str | Blob]:
    """A run in words and pictures, in order."""
    parts: list[str | Blob] = [f"Run {run.name}".rstrip()]
    parts += [f"{title}\n{text}" for title, text in run.sections]
    for step in run.steps:
        picture = step.picture() if (run.id, step.number) in shown else None
        parts.append(step_words(step, pictured=picture is not None))
        parts += [picture] if picture is not None else []
    last = run.last_picture()
    parts.append("The last screen" + ("" if last is not None or not run.last_words else f"\n{run.last_words[:_WORDS]}"))
    parts += [last] if last is not None else []
    parts += [f"How it ended\n{run.outcome}"] if run.outcome else []
    return parts


def step_words(step: JudgedStep, *, pictured: bool) -> str:
    """A step in lines: what was done, said and asked; the screen's words where its picture is not sent."""
    lines = [f"Step {step.number}{f': {step.action}' if step.action else ''}"]
    lines += [f"  thought: {step.thought}"] if step.thought else []
    lines += [f"  asks the person: {step.question}"] if step.question else []
    lines += [f"  the person replies: {step.reply}"] if step.reply else []
    lines += [f"  {step.error}"] if step.error else []
    if step.words and not pictured:
        how = "words read from the picture before it" if step.was_read else "words on the screen before it"
        lines.append(f"  {how}: {step.words[:_WORDS]}")
    elif pictured:
        lines.append("  the screen before it:")
    return "\n".join(lines)


def _asked(view: JudgeView) -> Iterator[str]:
    """The sheet: fields with their values once, then the items."""
    places = list(asked_places(view))
    fields = list(dict.fromkeys(place.field for place in places))
    for field in fields:
        yield from _field_lines(view, field)
    targets = _items(view)
    if targets:
        yield "Items"
        yield from (_target_line(one) for one in targets)
    whole = [field.id for field in fields if any(one.field is field and one.target is None for one in places)]
    if targets and whole:
        yield f'Asked once, with "item": "": {", ".join(whole)}'


def _items(view: JudgeView) -> list[Target]:
    """What is asked about by itself, in order."""
    return list(dict.fromkeys(place.target for place in asked_places(view) if place.target is not None))


def _field_lines(view: JudgeView, field: Field) -> Iterator[str]:
    protocol, locale = view.protocol, view.locale
    need = "" if field.required else " (may be left out)"
    yield f'Field "{field.id}"{need}: {protocol.said(locale, field.id, field.ask)}'
    if field.hint and field.kind not in ("flag", "nominal", "ordinal"):
        yield f"  {protocol.hinted(locale, field)}"
    if field.show_if:
        yield f"  asked only where {field.show_if}"
    match field.kind:
        case "flag":
            yield "  value: true or false"
        case "interval":
            bounds = (field.least, field.most)
            yield "  value: a number" + ("" if None in bounds else " from {:g} to {:g}".format(*bounds))
        case "text":
            yield "  value: a text"
        case "step":
            yield "  value: the number of a step"
    for option in field.options:
        if not option.by_rule:
            means = protocol.said(locale, f"{field.id}.{option.id}.means", option.means)
            words = protocol.said(locale, f"{field.id}.{option.id}", option.shown)
            yield f'  value "{option.id}": {words}{f". {means}" if means else ""}'
            yield from (f"    for instance: {case}" for case in protocol.cases(locale, field, option))
    if field.evidence:
        yield '  with "step", the step that shows it'


def _target_line(target: Target) -> str:
    more = [plain(target.detail)] if target.detail else []
    more += [f"kind: {target.kind}"] if target.kind else []
    more += [f"values: {', '.join(target.options)}"] if target.options else []
    more += [f"depends on: {', '.join(target.requires)}"] if target.requires else []
    return f'- "{target.id}": {plain(target.says)}' + "".join(f" ({one})" for one in more)


def _joined(parts: Sequence[str | Blob]) -> Iterator[str | Blob]:
    """Texts that follow one another as one, with an empty line between."""
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
