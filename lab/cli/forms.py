"""The options --format and --output of commands that print tables."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile

from lab.cli.arguments import Arguments
from lab.cli.database import write_new
from lab.cli.output import table_form
from lab.core.errors import LabError


def run_in_form(args: Arguments, form: str | None, output: str | None) -> int:
    """Run a command in a form and into a new file, and return its exit code.

    A command with an option of its own for the form (--csv) prints that. A file that cannot be made is refused before
    the command runs. The file is written only if the command raises no error.
    """
    if form in vars(args):
        setattr(args, form, True)
        form = None
    table_form.name, table_form.head = form or "table", None
    try:
        return _run(args) if output is None else _run_into_file(args, Path(output))
    finally:
        table_form.name = "table"


def _run(args: Arguments) -> int:
    assert args.run is not None
    return args.run(args)


def _run_into_file(args: Arguments, out: Path) -> int:
    title, nothing = f"--output {out}", "nothing was written"
    if os.path.lexists(out):
        raise LabError(title, f"is there already; {nothing}.", "Name a new file.")
    _check_folder(out, title)
    stdout, data = sys.stdout, io.BytesIO()
    # A wrapper that nobody holds closes its bytes.
    text = io.TextIOWrapper(data, encoding="utf-8", newline="", write_through=True)
    sys.stdout = text
    try:
        code = _run(args)
    finally:
        sys.stdout = stdout
    text.flush()
    try:
        write_new(out, data.getvalue(), title, nothing)
    except LabError:
        # The command is done, and what it says (a link, a new run's id) may be said once only.
        sys.stdout.buffer.write(data.getvalue())
        sys.stdout.flush()
        raise
    return code


def _check_folder(out: Path, title: str) -> None:
    """Raise `LabError` if no file can be made beside `out`."""
    try:
        with NamedTemporaryFile(dir=out.parent, prefix=".hitlab.part-"):
            pass
    except OSError as error:
        raise LabError(title, f"cannot be written ({error.strerror}); nothing was done.") from error
