"""Layout plan of a unit: its runs and their titles, its texts, and the sections above."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content

from lab.core.run.trace import Ended, Started
from lab.core.study.study import Study, Unit, UnitText
from lab.core.text.plain_text import plain
from lab.studies.rating.blinded_runs import shows_runs
from screens.annotate.unit_context import (
    ContextSection,
    full_content,
    given_section,
    is_short,
    outcome_sections,
    persona_sections,
    task_sections,
)


def side_titles(study: Study) -> tuple[str, str]:
    """Return the titles of the left and the right side."""
    left, right = (study.protocol.sheet_word(study.locale, key) for key in ("_left", "_right"))
    return plain(left.capitalize(), lines=False), plain(right.capitalize(), lines=False)


def titled_runs(study: Study, unit: Unit, *, swap: bool) -> list[tuple[str, str]]:
    """Return the unit's runs in display order with their titles. A title never names the method."""
    if not shows_runs(study, unit):
        return []
    runs = list(unit.runs[:2])
    if study.protocol.unit == "pair of runs":
        return list(zip(reversed(runs) if swap else runs, side_titles(study), strict=False))
    if len(runs) == 2:
        return list(zip(runs, ("The run", "Reference"), strict=True))
    return [(run, "Steps") for run in runs]


def columns_of(study: Study, unit: Unit, *, swap: bool) -> list[tuple[str, Content]]:
    """Return the text columns of a unit without runs: its two sides, or one column with everything."""
    if titled_runs(study, unit, swap=swap):
        return []
    sides = _sided_texts(unit, swap=swap)
    if not sides:
        sections = header_sections(study, unit, {}, {}, swap=swap)
        above = above_texts(study, unit, swap=swap)
        return [("To be judged", full_content([section for section in sections if section not in above]))]
    return [(title, Content.assemble(*given_section(material).body)) for title, material in _with_titles(study, sides)]


def above_texts(study: Study, unit: Unit, *, swap: bool) -> list[ContextSection]:
    """Return the sections above the texts of a unit without runs: for one column its short sections.

    Empty if all sections are short.
    """
    sections = header_sections(study, unit, {}, {}, swap=swap)
    if _sided_texts(unit, swap=swap):
        return sections
    short = [section for section in sections if is_short(section)]
    return short if len(short) < len(sections) else []


def header_sections(
    study: Study, unit: Unit, started: Mapping[str, Started], ends: Mapping[str, Ended], *, swap: bool
) -> list[ContextSection]:
    """Return all sections above the runs or texts, the instruction first."""
    shows, names = study.visible_parts, titled_runs(study, unit, swap=swap)
    section_list: list[ContextSection] = []
    for run, name in names:
        start_event = started.get(run)
        task_parts = task_sections(start_event.task, shows) if start_event is not None else []
        who = persona_sections(start_event.persona, study.locale) if start_event is not None else []
        # A reply is checked against the person's facts, so these come first.
        sections = who + task_parts if study.protocol.unit == "question" else task_parts + who
        _add_new_sections(section_list, sections, name if len(names) == 2 else "")
    if unit.task is not None:
        _add_new_sections(section_list, task_sections(unit.task, shows), "the task")
    section_list += [given_section(material) for material in unit.given if not material.side]
    if names:
        section_list += [
            given_section(material, title) for title, material in _with_titles(study, _sided_texts(unit, swap=swap))
        ]
    for run, name in names:
        if run in started:
            section_list += outcome_sections(ends.get(run), shows, name if len(names) == 2 else "")
    return section_list


def _add_new_sections(sections: list[ContextSection], more: list[ContextSection], whose: str) -> None:
    """Add sections that are not listed yet. One that differs for the second run gets its name."""
    for section in more:
        if any((section.title, section.body) == (other.title, other.body) for other in sections):
            continue
        exists = any(section.title == other.title for other in sections)
        sections.append(section._replace(title=f"{section.title}, {whose.lower()}") if exists else section)


def _sided_texts(unit: Unit, *, swap: bool) -> list[UnitText]:
    """Return the sided texts in display order."""
    return sorted(
        (material for material in unit.given if material.side), key=lambda material: material.side, reverse=swap
    )


def _with_titles(study: Study, sides: list[UnitText]) -> list[tuple[str, UnitText]]:
    """Return texts with titles. Compared sides are left and right, since their own titles may reveal more."""
    compared = any(field.sided for field in study.protocol.fields)
    if not compared or len(sides) != 2:
        return [(_title_of(study, material), material) for material in sides]
    # A title that both sides share reveals nothing.
    same = _own_title(sides[0]) if sides[0].title == sides[1].title else ""
    return [
        (f"{name}: {same}" if same else name, material)
        for name, material in zip(side_titles(study), sides, strict=True)
    ]


def _title_of(study: Study, material: UnitText) -> str:
    """Return a text's title, in the study's language if its protocol translates it."""
    return plain(study.protocol.word(study.locale, f"sides.{material.side}", material.title), lines=False)


def _own_title(material: UnitText) -> str:
    return given_section(material).title
