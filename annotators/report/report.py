"""A study's whole report: what was asked, the paper's own tables, agreement, drift, the guide, calibration."""

from __future__ import annotations

from annotators.papers.report_tables import sections_of
from annotators.report import (
    agreement_section,
    calibration_section,
    drift_section,
    guideline_section,
    judge_section,
    prelabel_section,
    sample_section,
)
from annotators.report.planned_section import with_planned
from annotators.report.provenance import provenance
from annotators.studied import StudyData
from lab.core.report import Report, Section


def reported(studied: StudyData, code: str, platform: str) -> Report:
    """The report; `code` and `platform` say which program on what made it, and stand in it as they are."""
    sections: list[Section] = [*sample_section.sections(studied)]
    for make in sections_of(studied.study.protocol.id):
        sections += make(studied)
    sections += agreement_section.sections(studied)
    sections += judge_section.sections(studied)
    sections += prelabel_section.sections(studied)
    sections += drift_section.sections(studied)
    sections += guideline_section.sections(studied)
    sections = with_planned(studied, sections)
    sections += calibration_section.sections(studied)
    return Report(f"{studied.study.title} ({studied.study.name})", provenance(studied, code, platform), tuple(sections))
