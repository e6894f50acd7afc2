"""A study's whole report: answers, what was asked, the paper's own tables, agreement, drift, guideline, calibration."""

from __future__ import annotations

from annotators.papers.report_tables import sections_of
from annotators.report import (
    agreement_section,
    answers_section,
    calibration_section,
    drift_section,
    guideline_section,
    judge_section,
    participation_section,
    prelabel_section,
    sample_section,
)
from annotators.report.planned_section import with_missing_statistics
from annotators.report.provenance import provenance
from annotators.study_data import StudyData
from lab.core.study.report import Report, Section


def make_report(study_data: StudyData, code: str, platform: str) -> Report:
    """Return the report. It contains `code` and `platform`, the program and system that made it, unchanged."""
    sections: list[Section] = [*sample_section.sections(study_data), *participation_section.sections(study_data)]
    for make in sections_of(study_data.study.protocol):
        sections += make(study_data)
    sections += agreement_section.sections(study_data)
    sections += judge_section.sections(study_data)
    sections += prelabel_section.sections(study_data)
    sections += drift_section.sections(study_data)
    sections += guideline_section.sections(study_data)
    # Last of all, because it needs the numbers of the other sections to know which planned ones are missing.
    sections = [*answers_section.sections(study_data), *with_missing_statistics(study_data, sections)]
    sections += calibration_section.sections(study_data)
    return Report(
        f"{study_data.study.title} ({study_data.study.name})", provenance(study_data, code, platform), tuple(sections)
    )
