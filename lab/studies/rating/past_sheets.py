"""One rater's own past sheets of a study in words as they read them then, and a search over them."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from lab.core.run.trace import Started
from lab.core.study.blinding import NOBODY, blind_event
from lab.core.study.label import Act, Label
from lab.core.study.rating_sheet import FieldReference, Sheet
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Task
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.studies.rating.blinded_runs import Blinded, shows_runs
from lab.studies.rating.sheet_items import SheetItem, items_of
from lab.studies.rating.sheet_wording import SURES, Wording, clash_at, place_words, value_words

if TYPE_CHECKING:
    from store.store import Store

_TITLE = 160
"""Maximum characters of a unit's title."""


class PastAnswer(msgspec.Struct, frozen=True):
    """An answer in words: the `item` that it is about (empty: the unit itself), the question `asked`, and the answer.

    `answer` is the reason if it is missing. `place` is the step of its evidence, as `@7`. `sure` is their confidence in
    words.
    """

    target: str
    field: str
    item: str
    asked: str
    answer: str
    place: str = ""
    sure: str = ""
    note: str = ""
    flags: tuple[str, ...] = ()


class PastSheet(msgspec.Struct, frozen=True):
    """A sheet that its rater began or handed in. `position` counts from 1 in their own order.

    `title` names the unit as far as this rater may know it. `handed_in` is UTC, empty if they only began it. `run`
    counts repeated ratings of a unit.
    """

    unit: str
    run: int
    position: int
    title: str
    handed_in: str
    answers: tuple[PastAnswer, ...]

    @property
    def texts(self) -> list[str]:
        """All texts on it."""
        texts = [self.title]
        for answer in self.answers:
            texts += [answer.item, answer.asked, answer.answer, answer.place, answer.sure, answer.note, *answer.flags]
        return texts


def past_sheets(store: Store, study: Study, rater: str, locale: str = "") -> list[PastSheet]:
    """Return a person's own sheets with answers: by time of hand-in, then those only begun.

    They hold what Annotate shows: the current answers, the unit blinded as in the study, sides as the rater saw them.
    Nobody else's answers are read. `locale` is empty for the study's language.
    """
    labels: dict[tuple[str, int], list[Label]] = defaultdict(list)
    for label in store.labels.read(study, rater=rater):
        if label.rater.kind == "human":
            labels[label.unit, label.run].append(label)
    acts: dict[tuple[str, int], list[Act]] = defaultdict(list)
    for kind in ("commit", "reopen"):
        for act in store.labels.each_act(study, rater, kind):
            if act.rater.kind == "human":
                acts[act.unit, act.run].append(act)
    sheets = []
    for assignment in store.studies.assignments(study, rater):
        key = (assignment.unit, assignment.run)
        if labels[key] or acts[key]:
            unit = store.studies.unit(study, assignment.unit)
            sheet = Sheet(study.protocol, unit, labels[key], acts[key])
            if sheet.committed or any(sheet.head(spot) for spot in sheet.spots) or sheet.clashes:
                sheets.append(_past_sheet(store, study, assignment, sheet, locale or study.locale))
    return sorted(sheets, key=lambda one: (not one.handed_in, one.handed_in, one.position))


def sheets_with(sheets: Iterable[PastSheet], words: str) -> list[PastSheet]:
    """Return the sheets that contain every one of the words, ignoring case and full or half width."""
    search_words = _fold_case(words).split()
    return [one for one in sheets if _contains_all(one.texts, search_words)]


def _contains_all(texts: Iterable[str], search_words: Sequence[str]) -> bool:
    text = _fold_case("\n".join(texts))
    return all(word in text for word in search_words)


def _fold_case(text: str) -> str:
    # Twice, since folding the case may leave text that is not normalized.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _past_sheet(store: Store, study: Study, assignment: Assignment, sheet: Sheet, locale: str) -> PastSheet:
    way = Wording(study.protocol, locale, assignment.swap)
    answers = [answer for item in items_of(sheet) if (answer := _past_answer(way, sheet, item)) is not None]
    title = _title(store, study, sheet.unit, swap=assignment.swap) or way.sheet("_item", assignment.position + 1)
    if sheet.unit.step is not None and shows_runs(study, sheet.unit):
        title += f", {way.sheet('_step', sheet.unit.step + 1)}"
    return PastSheet(
        sheet.unit.id, assignment.run, assignment.position + 1, title, sheet.committed_at or "", tuple(answers)
    )


def _past_answer(way: Wording, sheet: Sheet, item: SheetItem) -> PastAnswer | None:
    """Return a line's answer in words, None if it has none."""
    head, target = sheet.head(item.spot), item.target
    flags = tuple(way.flag(one) for one in item.flags if sheet.value(FieldReference(item.spot.target, one.id)))
    clash = clash_at(sheet, item)
    if head is None and not flags and not clash:
        return None
    about = plain("\n".join(filter(None, (target.says or target.id, target.detail)))) if target is not None else ""
    answer = PastAnswer(item.spot.target, item.field.id, about, way.ask(item), "", flags=flags)
    if clash or head is None:
        return msgspec.structs.replace(answer, answer=way.sheet("_clash") if clash else "")
    return msgspec.structs.replace(
        answer,
        answer=_answer_words(way, item, head),
        place=place_words(way, sheet.unit, head.evidence) if head.evidence and sheet.unit.runs else "",
        sure="" if head.confidence is None else way.sures()[min(SURES - 1, round(head.confidence * (SURES - 1)))],
        note=head.note,
    )


def _answer_words(way: Wording, item: SheetItem, head: Label) -> str:
    if head.reason_missing is not None:
        return way.reason(head.reason_missing)
    whole = item.field.kind == "text" and isinstance(head.value, str)
    return head.value if whole else value_words(way, item, head.value)


def _title(store: Store, study: Study, unit: Unit, *, swap: bool) -> str:
    """Return the instruction if raters see it, else the beginning of the unit's texts, empty if there is neither."""
    tasks = [_asked_of(study, unit.task)] if unit.task is not None else []
    if shows_runs(study, unit) and store.runs.has_run(unit.runs[0]):
        first = next(Blinded(store, study, unit).events(unit.runs[0]), None)
        tasks.insert(0, first.task if isinstance(first, Started) else None)
    instructions = (task.instruction for task in tasks if task is not None and "instruction" in study.visible_parts)
    unit_texts = sorted(unit.given, key=lambda one: one.side, reverse=swap)
    passages = (text for one in unit_texts for text in (one.text, *one.items[:1]))
    return next(
        (one_line(" ".join(plain(text).split()), _TITLE) for text in (*instructions, *passages) if text.strip()), ""
    )


def _asked_of(study: Study, task: Task) -> Task | None:
    """Return a task without a run, blinded for raters, None if nothing of it is shown."""
    event = blind_event(Started(trace="", task=task, agent=NOBODY), study.visible_parts)
    return event.task if isinstance(event, Started) else None
