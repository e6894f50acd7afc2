"""The command label: import answers from JSON lines, each stored before it is printed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

from lab.cli.arguments import STUDY, Arguments, Parser, argument, flag, option, up_to
from lab.cli.database import open_store, settings_for
from lab.cli.output import SHORT_ID, print_json, print_line, warn
from lab.core.codec import encode, open_lines, read_file
from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.settings import Settings
from lab.core.study.label import Missing
from lab.core.study.protocol import NO_OPTION
from lab.core.study.rating_sheet import MISSING
from lab.core.text.json_lines import check_no_table, is_list, json_lines
from lab.core.text.plain_text import plain
from lab.studies.planning.study_places import study_named
from lab.studies.seats import may_rate
from lab.studies.settling.label_import import LabelDone, Rater, RowImport, check_rater, config_sha_of
from lab.studies.settling.label_rows import MOST, rows_of


class LabelArguments(Arguments):
    study: str = argument("STUDY", STUDY, completes="study", setting="study")
    files: list[str] = argument("FILE", "JSON lines, or a list; - is standard input (default)", nargs="*")
    rater: str = option(
        "R1", "sign the answers as this rater (default: each row names one)", "--person", "--as", default="",
        completes="rater",
    )  # fmt: skip
    kind: Literal["human", "model", "script"] | None = option(
        "", "say what the rater is (default: human); models are dealt nothing", choices=("human", "model", "script")
    )
    config: str | None = option("FILE|TEXT", "store the hash of a model's prompt and parameters with each answer")
    run_number: int = option(
        "N", "add them as the N-th of a rater's repeated ratings (default: 1)", "--run", type=up_to(10_000), default=1
    )
    keep_going: bool = flag("skip refused rows (exit code 3)")
    json: bool = flag("print a JSON line for each row")


def add_labels_add(parser: Parser) -> None:
    parser.runs(
        label, LabelArguments, loose="files",
        prints={"label-row": "lab.studies.settling.label_rows:LabelRow",
                "label": "lab.studies.settling.label_import:LabelDone"},
    )  # fmt: skip
    parser.description = """\
Add answers of another tool, a model or a script, by the rules of the screen.
Each row is committed before its line is printed, so a program may write a row,
wait for its line, and write the next. A row:
  {"unit": "019a", "target": "open", "field": "state", "value": "completed",
   "step": 4}
or "values": {"open": "completed"}, "missing": "cannot_judge", "evidence":
"RUN@4", "region", "confidence", "note", "run", "commit": true, "undo": true,
"cost", "id". Rows that exist already are skipped.
`hitlab settings schema label-row` prints all of it."""
    parser.examples(
        """\
  hitlab labels add tdg answers.jsonl --person R1
  judge | hitlab labels add tdg --person J --kind model --config prompt.txt
  hitlab labels add tdg answers.jsonl --keep-going --json
""",
    )


def label(args: LabelArguments) -> int:
    """Import labels row by row, printing each once stored. Exit code 3 if some rows were refused."""
    settings = settings_for(args.db, may_rate, "labels add")
    rater, config = _typed_rater(args, settings)
    with open_store(settings, create=False) as store:
        name, file = args.study, _only_file(args.files)
        if not args.files and name not in store.studies.names() and (name == "-" or Path(name).is_file()):
            # A file alone is for the study of the settings.
            name, file = settings.study, name
        study = study_named(store, name)
        name = "standard input" if file == "-" else Path(file).name
        taking = RowImport(store, study, rater, name)
        if rater.id:
            person = check_rater(study, rater.id, rater.kind or "human", rater.alone, "labels add")
            if config:
                taking.keep_config(person, config)
        with _input_lines(file) as lines:
            return _import_all(taking, lines, name, keep_going=args.keep_going, as_json=args.json)


def _only_file(files: Sequence[str]) -> str:
    """Return the named file, "-" for standard input if none is named."""
    if len(files) > 1:
        raise LabError(
            "labels add", f"one file at a time, not {len(files)}", "Join them: cat a.jsonl b.jsonl | ...", code=2
        )
    return files[0] if files else "-"


def _import_all(taking: RowImport, lines: Iterator[bytes], name: str, *, keep_going: bool, as_json: bool) -> int:
    counts = {"kept": 0, "there already": 0, "refused": 0}
    stop_place = ""
    for result in _import_rows(taking, lines, name):
        counts[result.state] += 1
        if as_json:
            print_json(result)
        else:
            print_line(done_words(result))
            # A program that writes the rows may wait for this line before the next one.
            sys.stdout.flush()
        if result.state == "refused" and not keep_going:
            stop_place = result.where
            break
    well = counts["kept"] + counts["there already"]
    summary = ", ".join(f"{count:,} {state}" for state, count in counts.items())
    if stop_place:
        warn(f"{stop_place} was refused, and nothing after it was read: {summary}. --keep-going passes over such rows.")
    elif not well and not counts["refused"]:
        warn(f"{name} holds no row")
        return 1
    else:
        warn(f"{name}: {summary}")
    return 0 if not counts["refused"] else 3 if well else 1


def _import_rows(taking: RowImport, lines: Iterator[bytes], name: str) -> Iterator[LabelDone]:
    for number, where, data in _numbered_rows(lines, name):
        for row in rows_of(data, where, number):
            yield refused_row(row) if isinstance(row, LabError) else taking.take(row)


def _numbered_rows(lines: Iterator[bytes], name: str) -> Iterator[tuple[int, str, bytes]]:
    """Yield each row's number, place and bytes: of each line as it arrives, or of each item of a JSON list."""
    is_first = True
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if is_first and is_list(line):
            for i, (where, value) in enumerate(json_lines(b"".join([line, *lines]), name), 1):
                for place, fault in value.notes:
                    raise LabError(where, f"field {place}: holds a {fault}")
                yield i, where, encode(value.value)
            return
        if is_first:
            check_no_table(line, name)
        is_first = False
        yield number, f"{name}, line {number}", line


def refused_row(error: LabError) -> LabelDone:
    """Return the result of a row that cannot be parsed."""
    return LabelDone(error.title, "refused", error=error.body)


@contextmanager
def _input_lines(file: str) -> Iterator[Iterator[bytes]]:
    """Yield each line of a file or of standard input as soon as it is complete."""
    if file == "-":
        yield _read_lines(sys.stdin.buffer)
        return
    with open_lines(Path(file), f"label file {file}") as stream:
        yield _read_lines(stream, f"label file {file}")


def _read_lines(stream: BinaryIO, what: str = "standard input") -> Iterator[bytes]:
    """Yield lines, the start alone of one that is too long. Raise `LabError` for one that does not end."""

    def read_line() -> bytes:
        try:
            return stream.readline(MOST + 2)
        except OSError as error:
            raise LabError(what, f"cannot be read ({error.strerror})") from error

    while line := read_line():
        yield line
        rest, size = line, 0
        while len(rest) > MOST and not rest.endswith(b"\n") and (rest := read_line()):
            size += len(rest)
            if size > input_limits.JSON_BYTES:
                raise LabError(
                    "labels add", f"a line has more than {input_limits.JSON_BYTES:,} bytes; nothing after it was read."
                )


def _typed_rater(args: LabelArguments, settings: Settings) -> tuple[Rater, str]:
    """Return the rater of the labels and the text of a model's configuration, empty if none is given."""
    alone = settings.person if settings.seat == "rater" else ""
    if args.kind not in (None, "model") and args.config is not None:
        raise LabError("labels add", f"--config is a model's, and a {args.kind} has none.", code=2)
    kind = args.kind or ("model" if args.config is not None else "")
    if args.config is not None and not args.rater:
        raise LabError("labels add", "--config says how a model was asked; --person says which.", code=2)
    if kind == "model" and args.config is None:
        raise LabError(
            "labels add", "--kind model needs --config: its prompt and parameters, or a file of them.", code=2
        )
    if args.run_number < 1:
        raise LabError("labels add", f"--run {args.run_number} is less than 1.", code=2)
    text = _config_text(args.config) if args.config is not None else ""
    config = config_sha_of(args.rater, text) if text else ""
    return Rater(args.rater or alone, kind, args.run_number, config, alone), text


def _config_text(config: str) -> str:
    try:
        is_file = Path(config).is_file()
    except (OSError, ValueError):
        # A text that is too long for a file name, or holds a NUL, is not a file.
        is_file = False
    if is_file:
        text = read_file(Path(config), f"--config {config}", most=4 * 1024 * 1024).decode("utf-8-sig", "replace")
    else:
        text = config
    if not text.strip():
        raise LabError("labels add", "--config is empty.", code=2)
    return text


def answer_words(value: Any, missing: Missing | None) -> str:
    """Format an answer."""
    if missing is not None:
        return f"({MISSING[missing]})"
    if value is None:
        return "(taken back)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return (",".join(map(str, value)) or NO_OPTION) if isinstance(value, list | tuple) else str(value)


def done_words(result: LabelDone) -> str:
    """Describe the result of one row in one line."""
    if result.state == "refused":
        return f"refused  {result.where}: {result.error}"
    parts = [
        " ".join(filter(None, (answer.target, answer.field, "=", answer_words(answer.value, answer.missing))))
        + (" (there already)" if answer.state == "there already" and result.state == "kept" else "")
        for answer in result.labels
    ]
    if result.handed_in:
        parts.append("handed in")
    if result.share is not None:
        right = sum(answer.right for answer in result.gold)
        parts.append(f"{right} of {len(result.gold)} right, {result.share:.0%} of the pilot so far")
    parts += ["held below the study's bar"] if result.held else []
    parts += [f"{name} {value}" for name, value in result.derived]
    for answer in result.judges:
        words = (f"{answer.judge}:", answer.target, answer.field, "=", answer_words(answer.value, answer.missing))
        parts.append(plain(" ".join(filter(None, words)), lines=False))
    again = f" run {result.run}" if result.run > 1 else ""
    return f"{result.state}  {result.unit[:SHORT_ID]} {result.rater}{again}: {'; '.join(parts)}"
