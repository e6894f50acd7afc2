"""The command report: a study's tables in the paper's own form, for a terminal or to publish."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lab.commands.new_file import write_new
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.commands.studying import study_named
from lab.errors import LabError
from lab.output import json_bytes, print_json, say
from lab.settings import Settings, load
from screens.seats import sees_outcomes

if TYPE_CHECKING:
    from lab.agreement import How
    from lab.report import Report
    from store.store import Store

Form = Literal["text", "md", "html", "json"]
Embedding = dict[str, Any]
_ENDINGS: dict[str, Form] = {".md": "md", ".html": "html", ".htm": "html", ".json": "json", ".txt": "text"}
_WIDTH, _LEAST, _MOST = 100, 40, 160
"""A terminal's columns where there is none, and between what a report keeps."""


class ReportWritten(msgspec.Struct, frozen=True):
    """A report that was written to a file: `report --out FILE --json`; its form is JSON then."""

    path: str
    form: Form
    bytes: int


def report(args: argparse.Namespace) -> int:
    """A study's report, printed or written to a new file, whose ending says in which form where no option does."""
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "report")
    form = _form(args)
    with open_store(settings, create=False, readonly=True) as store:
        made = _made(store, args.study, args.beside, how_of(args), _embedding(args.embed, settings))
    if args.out:
        data = _rendered(made, form, _WIDTH)
        write_new(Path(args.out), data, args.out, "nothing was written")
        if args.json:
            print_json(ReportWritten(args.out, form, len(data)))
        else:
            say(f"{len(data):,} bytes in {args.out}")
    else:
        sys.stdout.buffer.write(_rendered(made, form, _columns()))
        sys.stdout.flush()
    return 0


def how_of(args: argparse.Namespace) -> How:
    """How intervals are made, as the command line says."""
    from lab.agreement import How

    if args.bootstrap is None:
        return How()
    return How("bootstrap", resamples=args.bootstrap, seed=args.seed)


def _form(args: argparse.Namespace) -> Form:
    forms: tuple[Form, ...] = ("md", "html", "json")
    for form in forms:
        if getattr(args, form):
            return form
    return _ENDINGS.get(Path(args.out).suffix.lower(), "text") if args.out else "text"


def _embedding(model: str | None, settings: Settings) -> Embedding:
    """The named model, and what turns texts into vectors by it; nothing where none is named."""
    if not model:
        return {}
    from lab.embedding import embedder
    from lab.llm import terms

    return {"embed": embedder(model, terms(settings)), "embedder": model}


def _made(store: Store, name: str, beside: list[str], how: How, embedding: Embedding) -> Report:
    from annotators.report.reported import reported
    from lab.gathering import gathered
    from lab.program import platform, program

    study = study_named(store, name)
    others = [study_named(store, other) for other in beside]
    names = [one.name for one in (study, *others)]
    if len(set(names)) < len(names):
        raise LabError("report", "--with names further studies, each once.", code=2)
    studied = gathered(store, study, how, beside)
    studied.further = studied.further._replace(**embedding)
    return reported(studied, program(), platform())


def _rendered(made: Report, form: Form, width: int) -> bytes:
    if form == "md":
        from lab.reporting.markdown import as_markdown

        return as_markdown(made).encode()
    if form == "html":
        from lab.reporting.html import as_html

        return as_html(made).encode()
    if form == "json":
        return json_bytes(made)
    from lab.reporting.text import as_text

    return as_text(made, width).encode()


def _columns() -> int:
    return max(_LEAST, min(_MOST, shutil.get_terminal_size((_WIDTH, 24)).columns))
