"""The `hitlab` command: parses the command line, runs one command, turns errors into sentences.

Exit codes: see `lab.cli.parsers.EXIT_CODES`.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

from lab.cli.arguments import Arguments, Parser
from lab.cli.commands import COMMANDS, SUCCESSORS, earlier_names
from lab.cli.parsers import build_parser
from lab.core.errors import LabError

# Not from `typing`, whose import --help would pay for. Type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, or answer a shell's completion request (Tab)."""
    if argv is None and "_ARGCOMPLETE" in os.environ:
        from lab.cli.settings.name_completion import complete

        complete(build_parser())
    _ready_streams()
    try:
        return _run(argv)
    except ImportError:
        # A module of another package or of the working folder may hide one of hitlab's own.
        from lab.cli.settings.doctor import shadowing

        shadows = shadowing()
        if not shadows:
            raise
        return _report_error(LabError(shadows[0].name, f"{shadows[0].found}.", shadows[0].do), as_json=False)


def _expand_file(argv: Sequence[str]) -> Sequence[str]:
    """Return the command line. A file in place of a command becomes --db FILE."""
    first = argv[0] if argv else "-"
    if first.startswith("-") or not os.path.isfile(first):
        return argv
    words = {word.name for word in COMMANDS} | {old.partition(" ")[0] for old in earlier_names()} | {*SUCCESSORS}
    return argv if first in words else ["--db", *argv]


def _run(argv: Sequence[str] | None) -> int:
    parser, args = build_parser(), Arguments()
    try:
        parser.parse_args(_expand_file(sys.argv[1:] if argv is None else argv), args)
        _apply_file_mode()
        code = _run_command(args) if args.run is not None else _open_home(parser, args)
        sys.stdout.flush()
        return code
    except LabError as error:
        return _report_error(error, as_json=args.json)
    except KeyboardInterrupt:
        # 128 + SIGINT, as shells report it.
        return 130
    except BrokenPipeError:
        # The reader of a pipe has had enough, such as `head`: not an error.
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        what = str(error.filename or "standard output")
        return _report_error(LabError(what, f"cannot be used ({error.strerror})."), as_json=False)


def _run_command(args: Arguments) -> int:
    assert args.run is not None
    form, output = vars(args).get("table_form"), vars(args).get("output")
    if form is None and output is None:
        return args.run(args)
    from lab.cli.forms import run_in_form

    return run_in_form(args, form, output)


def _apply_file_mode() -> None:
    """Apply the setting `file_mode`. Broken settings are left to the command that needs them to report."""
    from lab.core.settings import load
    from lab.core.values.made_files import set_file_mode

    with suppress(LabError):
        set_file_mode(load().file_mode)


def _ready_streams() -> None:
    """Replace closed output streams, and let them escape characters that their encoding lacks."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Redirect buffered output to nowhere, so that the exit does not fail on it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_error(error: LabError, *, as_json: bool) -> int:
    from lab.cli.output import CommandRefusal, print_json, warn

    warn(error.sentence)
    if as_json:
        print_json(CommandRefusal(error.title, error.message, error.hint))
    return error.code


def _open_home(parser: Parser, args: Arguments) -> int:
    """Open Home, or print the help without a terminal."""
    from lab.cli.app import has_terminal, is_dumb, no_terminal, show_home

    if has_terminal():
        return show_home(args.db, args.window)
    if is_dumb() and sys.stdin.isatty() and sys.stdout.isatty():
        hint = "Commands that print work here: `hitlab runs list`, `hitlab runs show ID`; `hitlab --help` lists them."
        raise LabError("screens", f"{no_terminal()}.", hint, code=2)
    if args.db is not None:
        from lab.cli.database import in_file, open_store
        from lab.core.settings import load

        # A file that is not a database is named first.
        with open_store(load(db=args.db), create=False, readonly=True) as store:
            hint = f"Commands that print work here: `hitlab runs list{in_file(args.db)}`."
            raise LabError(str(store.path), no_terminal(), hint, code=2)
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
