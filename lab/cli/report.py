"""The command report: a study's tables in its paper's form, for a terminal or to publish."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lab.cli.agreement import interval_method
from lab.cli.arguments import IntervalArguments, JsonArguments, Parser, StudyArguments, flag, option
from lab.cli.database import open_store, settings_for, write_new
from lab.cli.output import json_bytes, print_line, print_result, write_table
from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.studies.planning.study_places import study_named
from lab.studies.seats import sees_outcomes

if TYPE_CHECKING:
    from lab.core.study.agreement import IntervalTerms
    from lab.core.study.report import Report
    from store.store import Store


Form = Literal["text", "md", "html", "json"]

Embedding = dict[str, Any]

_ENDINGS: dict[str, Form] = {".md": "md", ".html": "html", ".htm": "html", ".json": "json", ".txt": "text"}

_WIDTH, _LEAST, _MOST = 100, 40, 160
"""Columns without a terminal, and the bounds for a terminal's."""
_UNLIMITED = 1_000_000


class ReportWritten(msgspec.Struct, frozen=True):
    """Result of `report --output FILE --json`. Its form is JSON then."""

    path: str
    form: Form
    bytes: int


class ReportArguments(StudyArguments, IntervalArguments, JsonArguments):
    beside: list[str] = option(
        "STUDY", "also read this study, whose answers settle APR, causes of disagreement, ...; repeatable",
        "--extra-study", "--with", action="append", default=[], completes="study",
    )  # fmt: skip
    embed: str | None = option(
        "MODEL", "compute FingerTip's Sim1 by a litellm embedding model, or local:NAME (an extra)"
    )
    out: str | None = option("FILE", "write to a new FILE (e.g. tdg.html) instead of printing", "--output", "--out")
    report_form: Literal["table", "json", "md", "html"] | None = option(
        "", "write tables (default), JSON, Markdown or HTML", "--format", choices=("table", "json", "md", "html"),
        one_of="form",
    )  # fmt: skip
    md: bool = flag("write Markdown", one_of="form")
    html: bool = flag("write one HTML page with pictures, which loads nothing", one_of="form")


def add_report(parser: Parser) -> None:
    parser.runs(report, ReportArguments, prints={"report": "lab.core.study.report:Report", "report-out": ReportWritten})
    parser.examples(
        """\
  hitlab report tdg
  hitlab report tdg --html --output tdg.html
  hitlab report alignment --extra-study tdg --md
"""
    )


def report(args: ReportArguments) -> int:
    """Print a study's report or write it to a new file, in the form of an option or of the file's suffix."""
    settings = settings_for(args.db, sees_outcomes, "report")
    form = _output_form(args)
    with open_store(settings, create=False, readonly=True) as store:
        study_report = _study_report(
            store, args.study, args.beside, interval_method(args.bootstrap, args.seed), _embedding(args.embed, settings)
        )
    if args.out:
        data = _render(study_report, form, _WIDTH, _WIDTH)
        write_new(Path(args.out), data, args.out, "nothing was written")
        print_result(
            ReportWritten(args.out, form, len(data)),
            lambda _: print_line(f"{len(data):,} bytes in {args.out}"),
            json=args.json,
        )
    else:
        write_table(_render(study_report, form, _terminal_columns(), _table_columns()).decode())
        sys.stdout.flush()
    return 0


def _output_form(args: ReportArguments) -> Form:
    forms: dict[Form, bool] = {"md": args.md, "html": args.html, "json": args.json}
    if args.report_form is not None:
        return "text" if args.report_form == "table" else args.report_form
    chosen = next((form for form, is_chosen in forms.items() if is_chosen), None)
    if chosen is not None:
        return chosen
    return _ENDINGS.get(Path(args.out).suffix.lower(), "text") if args.out else "text"


def _embedding(model: str | None, settings: Settings) -> Embedding:
    """Return the named embedding model and its function, empty if none is named."""
    if not model:
        return {}
    from lab.llm.client import terms
    from lab.llm.embeddings import embedder

    return {"embed": embedder(model, terms(settings)), "embedder": model}


def _study_report(store: Store, name: str, beside: list[str], how: IntervalTerms, embedding: Embedding) -> Report:
    from annotators.report.report import make_report
    from lab.core.program_version import platform, program
    from lab.studies.progress.study_data import load_study_data

    study = study_named(store, name)
    others = [study_named(store, other) for other in beside]
    names = [each_study.name for each_study in (study, *others)]
    if len(set(names)) < len(names):
        raise LabError("report", "--extra-study names further studies, each once.", code=2)
    study_data = load_study_data(store, study, how, beside)
    study_data.further = study_data.further._replace(**embedding)
    return make_report(study_data, program(), platform())


def _render(study_report: Report, form: Form, width: int, table_width: int) -> bytes:
    if form == "md":
        from annotators.report.markdown import as_markdown

        return as_markdown(study_report).encode()
    if form == "html":
        from annotators.report.html import as_html

        return as_html(study_report).encode()
    if form == "json":
        return json_bytes(study_report)
    from annotators.report.text import as_text

    return as_text(study_report, width, table_width).encode()


def _table_columns() -> int:
    """Return the columns for tables. In a pipe none is too wide, unless COLUMNS names a width."""
    return _terminal_columns() if sys.stdout.isatty() or "COLUMNS" in os.environ else _UNLIMITED


def _terminal_columns() -> int:
    return max(_LEAST, min(_MOST, shutil.get_terminal_size((_WIDTH, 24)).columns))
