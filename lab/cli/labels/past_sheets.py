"""Output of `labels list --past`: a rater's own sheets in the terminal, and a search in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from lab.cli.output import SHORT_ID, print_line
from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.study import Study
from lab.core.text.plain_text import plain
from lab.studies.rating.past_sheets import PastAnswer, PastSheet, past_sheets, sheets_with
from lab.studies.seats import sees_outcomes

if TYPE_CHECKING:
    from store.store import Store


class PastSheets(msgspec.Struct, frozen=True):
    """One rater's sheets of a study by time of hand-in, those of `total` that contain `find`: `labels list --past`."""

    study: str
    version: int
    title: str
    rater: str
    find: str
    total: int
    sheets: tuple[PastSheet, ...]


def past(store: Store, study: Study, rater: str, find: str, settings: Settings) -> PastSheets:
    """Return the sheets of a rater. Raise `LabError` if that person is not a rater of the study."""
    if not rater or (rater not in study.raters and not store.studies.progress(study, rater).dealt):
        problem = f"{plain(rater, lines=False)} is no rater of {study.id}" if rater else "nobody is named"
        raise LabError("labels", f"--past is about one rater, and {problem}.", "--rater says whose sheets.", code=2)
    sheets = past_sheets(store, study, rater, settings.locale if settings.locale != "en" else "")
    # A rater's terminal shows nothing of a run. Annotate shows the instruction on its screen.
    if not sees_outcomes(settings.seat):
        sheets = [msgspec.structs.replace(sheet, title=f"Item {sheet.position}") for sheet in sheets]
    return PastSheets(
        study.id, study.version, study.title, rater, find, len(sheets), tuple(sheets_with(sheets, find))
    )  # fmt: skip


def tell_past(result: PastSheets) -> None:
    """Print each sheet with its answers, and the number of sheets."""
    for sheet in result.sheets:
        when = f"handed in {sheet.handed_in[:16].replace('T', ' ')} UTC" if sheet.handed_in else "begun"
        again = f"   run {sheet.run}" if sheet.run > 1 else ""
        print_line(f"{sheet.position}  {sheet.title}")
        print_line(f"   {sheet.unit[:SHORT_ID]}{again}   {when}")
        for answer in sheet.answers:
            print_line(f"   {_answer_line(answer)}")
            if answer.note:
                print_line(f"      note: {plain(answer.note, lines=False)}")
    count = f"{len(result.sheets):,} of " if result.find.strip() else ""
    hold = f" with the words {plain(result.find.strip(), lines=False)}" if result.find.strip() else ""
    plural = "" if result.total == 1 else "s"
    print_line(f"{count}{result.total:,} sheet{plural} of {result.rater} in {result.study} v{result.version}{hold}")


def _answer_line(answer: PastAnswer) -> str:
    about = " / ".join(plain(text, lines=False) for text in (answer.item, answer.asked) if text)
    details = [answer.place, answer.sure, *(f"+{flag}" for flag in answer.flags)]
    return f"{about}: {' '.join(filter(None, (plain(answer.answer, lines=False), *details)))}"
