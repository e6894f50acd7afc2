"""A study's whole report: what was asked, the paper's own tables, agreement, drift, the guide, calibration."""

from __future__ import annotations

from annotators.report import agreeing, asked, calibrating, citing, drift
from annotators.report.papers import sections_of
from annotators.report.planned import with_planned
from annotators.report.provenance import provenance
from annotators.studied import Studied
from lab.report import Report, Section


def reported(studied: Studied, code: str, platform: str) -> Report:
    """The report; `code` and `platform` say which program on what made it, and stand in it as they are."""
    sections: list[Section] = [*asked.sections(studied)]
    for make in sections_of(studied.study.protocol.id):
        sections += make(studied)
    sections += agreeing.sections(studied)
    sections += drift.sections(studied)
    sections += citing.sections(studied)
    sections = with_planned(studied, sections)
    sections += calibrating.sections(studied)
    return Report(f"{studied.study.title} ({studied.study.name})", provenance(studied, code, platform), tuple(sections))
