"""Participation: people planned, left, withdrawn and held at the bar, and their assignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from annotators.gold_comparison import share_as_gold
from annotators.papers.cells import percent
from annotators.report.sample_section import share_words
from annotators.study_data import StudyData
from lab.core.study.report import Cell, Section, Table
from lab.core.values.rounding import count

TITLE = "Who took part, and who fell out"
_NOTE = "Open: dealt and not handed in. Passed on: dealt to somebody who left, and another's now."


class _Sheets(NamedTuple):
    """Numbers of sheets that one person was dealt and handed in, without calibration."""

    dealt: int
    handed: int


class _Hold(NamedTuple):
    """A person who was below the bar: True if still held, and their share of right answers then."""

    held: bool
    share: float | None


class _Changes(NamedTuple):
    """Changes among people: who left and who replaced them, who joined and for whom, and who was held."""

    left: dict[str, str]
    joined: dict[str, str]
    holds: dict[str, _Hold]


def sections(study_data: StudyData) -> list[Section]:
    """Return one section. Withdrawn people are a count and have no row."""
    changes = _changes(study_data)
    sheets = _sheets(study_data, {*study_data.study.raters, *changes.joined})
    says = [_people(study_data, sheets, changes), _calibration(study_data, changes), _assignments(sheets, changes)]
    rows: list[tuple[Cell, ...]] = [_row(study_data, code, sheets, changes) for code in sorted(sheets)]
    columns = ["Person", "State", "Right in calibration", "Dealt", "Handed in", "Open", "Passed on"]
    if all(row[2] == "—" for row in rows):
        del columns[2]
        rows = [(*row[:2], *row[3:]) for row in rows]
    tables = (Table("participation", "Each person", tuple(columns), tuple(rows), notes=(_NOTE,)),) if rows else ()
    return [Section(TITLE, tuple(filter(None, says)), tables)]


def _changes(study_data: StudyData) -> _Changes:
    changes = _Changes({}, {}, {})
    for act in study_data.acts:
        code, other = act.rater.id, str(act.detail.get("for", ""))
        if act.act == "left" and other:
            changes.left[code] = other
        elif act.act == "replaced":
            changes.joined[code] = other
        elif act.act == "held":
            share = act.detail.get("share")
            changes.holds[code] = _Hold(True, float(share) if isinstance(share, int | float) else None)
        elif act.act == "released" and code in changes.holds:
            changes.holds[code] = changes.holds[code]._replace(held=False)
    return changes


def _sheets(study_data: StudyData, codes: set[str]) -> dict[str, _Sheets]:
    """Return the sheets of everyone with labels or assignments here, without those who withdrew."""
    columns = study_data.columns
    pilots = {unit.id for unit in study_data.units if unit.pilot}
    handed: Counter[tuple[str, bool]] = Counter(
        (columns.raters[rater].id, columns.units[unit] in pilots)
        for (unit, rater, _), is_handed in zip(columns.dealt.tolist(), columns.handed.tolist(), strict=True)
        if is_handed
    )
    assignments = study_data.further.assignments()
    dealt = Counter(one.rater for one in assignments if one.unit not in pilots)
    codes_with_sheets = {columns.raters[at].id for at in study_data.people} | (
        {one.rater for one in assignments} & codes
    )
    # Sheets may be handed in without an assignment in this file.
    return {code: _Sheets(max(dealt[code], handed[code, False]), handed[code, False]) for code in codes_with_sheets}


# -- in sentences ----------------------------------------------------------------------------------------------


def _people(study_data: StudyData, sheets: Mapping[str, _Sheets], changes: _Changes) -> str:
    """Return a sentence from the planned people to those with answers."""
    answered = sum(one.handed > 0 for one in sheets.values())
    withdrawals = study_data.further.withdrawals()
    parts = [
        f"Planned: {count(len(study_data.study.raters), 'person', 'people')}",
        *([f"took another's place: {len(changes.joined):,}"] if changes.joined else []),
        f"withdrew: {withdrawals:,}" + " (nothing of theirs is in any number here)" * bool(withdrawals),
        f"left, another goes on: {len(changes.left):,}",
        f"handed anything in: {answered:,}",
    ]
    return f"{'; '.join(parts)}."


def _calibration(study_data: StudyData, changes: _Changes) -> str:
    bar, holds = study_data.study.bar, changes.holds
    if bar is None and not holds:
        return ""
    held = sum(one.held for one in holds.values())
    asked = f" of {share_words(bar)}" if bar is not None else ""
    return f"Below the bar{asked} in calibration: {len(holds):,}; held: {held:,}; released: {len(holds) - held:,}."


def _assignments(sheets: Mapping[str, _Sheets], changes: _Changes) -> str:
    dealt, handed = sum(one.dealt for one in sheets.values()), sum(one.handed for one in sheets.values())
    # Whatever a leaver did not hand in was dealt to their successor.
    passed = sum(one.dealt - one.handed for code, one in sheets.items() if code in changes.left)
    words = f"Assignments: {dealt:,} dealt; {handed:,} handed in; {dealt - handed - passed:,} open"
    return f"{words}; {passed:,} passed on." if passed else f"{words}."


# -- each person -----------------------------------------------------------------------------------------------


def _row(study_data: StudyData, code: str, sheets: Mapping[str, _Sheets], changes: _Changes) -> tuple[Cell, ...]:
    own = sheets[code]
    not_handed_in = own.dealt - own.handed
    passed = not_handed_in if code in changes.left else 0
    numbers = (f"{own.dealt:,}", f"{own.handed:,}", f"{not_handed_in - passed:,}", f"{passed:,}")
    return code, _state(code, sheets, changes), _share_right(study_data, code, changes), *numbers


def _state(code: str, there: Mapping[str, _Sheets], changes: _Changes) -> str:
    words = []
    if (before := changes.joined.get(code)) is not None:
        words.append(f"in the place of {before}" if before in there else "in another's place")
    if (hold := changes.holds.get(code)) is not None:
        words.append("held, below the bar" if hold.held else "below the bar, released")
    if (after := changes.left.get(code)) is not None:
        words.append(f"left; {after} goes on" if after in there else "left")
    return ", ".join(words) or "takes part"


def _share_right(study_data: StudyData, code: str, changes: _Changes) -> Cell:
    """Return the share of right calibration answers handed in, or the share at which the person was held."""
    pilot = study_data.calibration
    if pilot is not None and any(unit.gold for unit in pilot.units):
        at = next((at for at in pilot.people if pilot.columns.raters[at].id == code), None)
        if at is not None and (found := share_as_gold(pilot, at)).value is not None:
            return percent(found)
    share = changes.holds[code].share if code in changes.holds else None
    return "—" if share is None else share_words(share)
