"""Labels without a screen: label writes them from JSON lines, labels reads them with their history."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lab.commands.label_listing import listed, pilot, print_labels_csv
from lab.commands.label_rows import MOST, rows_of
from lab.commands.label_taking import Rater, Taking, check_rater
from lab.commands.labels_told import LabelDone
from lab.commands.labels_words import done_words, tell_list, tell_pilot
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.commands.studying import study_named
from lab.errors import LabError
from lab.output import print_json, say, warn
from lab.settings import Settings, load
from lab.study import Study
from lab.wire import encode, read_file
from screens.seats import may_rate
from store.store import Store


def label(args: argparse.Namespace) -> int:
    """Takes labels in row by row, each told once it is on the disk; exit code 3 where some rows were refused."""
    settings = _settings(args, "label")
    rater, config = _rater(args, settings)
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        file = _one_file(args.files)
        name = "standard input" if file == "-" else Path(file).name
        taking = Taking(store, study, rater, name)
        if rater.id:
            person = check_rater(study, rater.id, rater.kind or "human", rater.alone, "label")
            if config:
                taking.keep_config(person, config)
        with _lines(file) as lines:
            return _take_all(taking, lines, name, keep_going=args.keep_going, as_json=args.json)


def _one_file(files: Sequence[str]) -> str:
    """The file that is named; standard input where none is."""
    if len(files) > 1:
        raise LabError("label", f"one file at a time, not {len(files)}", "Join them: cat a.jsonl b.jsonl | ...", code=2)
    return files[0] if files else "-"


def _take_all(taking: Taking, lines: Iterator[bytes], name: str, *, keep_going: bool, as_json: bool) -> int:
    counts = {"kept": 0, "there already": 0, "refused": 0}
    stopped = ""
    for done in _each(taking, lines, name):
        counts[done.state] += 1
        if as_json:
            print_json(done)
        else:
            say(done_words(done))
            sys.stdout.flush()
        if done.state == "refused" and not keep_going:
            stopped = done.where
            break
    well = counts["kept"] + counts["there already"]
    told = ", ".join(f"{count:,} {state}" for state, count in counts.items())
    if stopped:
        warn(f"{stopped} was refused, and nothing after it was read: {told}. --keep-going passes over such rows.")
    elif not well and not counts["refused"]:
        warn(f"{name} holds no row")
        return 1
    else:
        warn(f"{name}: {told}")
    return 0 if not counts["refused"] else 3 if well else 1


def _each(taking: Taking, lines: Iterator[bytes], name: str) -> Iterator[LabelDone]:
    for number, data in enumerate(lines, 1):
        if data.strip():
            for placed in rows_of(data, f"{name}, line {number}", number):
                yield refused(placed) if isinstance(placed, LabError) else taking.take(placed)


def refused(error: LabError) -> LabelDone:
    """A row that cannot be read."""
    return LabelDone(error.title, "refused", error=error.said)


@contextmanager
def _lines(file: str) -> Iterator[Iterator[bytes]]:
    """A file's lines, or what comes over a pipe, each as soon as it is whole."""
    if file == "-":
        yield _read(sys.stdin.buffer)
        return
    try:
        opened = open(file, "rb")  # noqa: SIM115
    except FileNotFoundError as error:
        raise LabError(f"label file {file}", "is not there") from error
    except IsADirectoryError as error:
        raise LabError(f"label file {file}", "is a folder, not a file") from error
    except OSError as error:
        raise LabError(f"label file {file}", f"cannot be read ({error.strerror})") from error
    with opened:
        yield _read(opened)


def _read(stream: BinaryIO) -> Iterator[bytes]:
    """Lines, the rest of one that is too long passed over."""
    while line := stream.readline(MOST + 2):
        whole = line
        while len(whole) > MOST and not whole.endswith(b"\n") and (whole := stream.readline(MOST + 2)):
            pass
        yield line


def _rater(args: argparse.Namespace, settings: Settings) -> tuple[Rater, str]:
    """Whose labels these are, and the text of a model's configuration; empty where it is not told."""
    alone = settings.person if settings.seat == "rater" else ""
    if args.kind not in (None, "model") and args.config is not None:
        raise LabError("label", f"--config is a model's, and a {args.kind} has none.", code=2)
    kind = args.kind or ("model" if args.config is not None else "")
    if args.config is not None and not args.rater:
        raise LabError("label", "--config says how a model was asked; --as says which.", code=2)
    if kind == "model" and args.config is None:
        raise LabError("label", "--kind model needs --config: its prompt and parameters, or a file of them.", code=2)
    if args.run_number < 1:
        raise LabError("label", f"--run {args.run_number} is less than 1.", code=2)
    text = _config(args.config) if args.config is not None else ""
    config = config_sha(args.rater, text) if text else ""
    return Rater(args.rater or alone, kind, args.run_number, config, alone), text


def _config(given: str) -> str:
    try:
        is_file = Path(given).is_file()
    except (OSError, ValueError):  # a text too long for a name, or with a NUL in it, names no file
        is_file = False
    if is_file:
        text = read_file(Path(given), f"--config {given}", most=4 * 1024 * 1024).decode("utf-8-sig", "replace")
    else:
        text = given
    if not text.strip():
        raise LabError("label", "--config is empty.", code=2)
    return text


def config_sha(model: str, text: str) -> str:
    """The hash that a model's labels carry: of its name with its prompt and parameters."""
    return hashlib.sha256(encode({"model": model, "config": text})).hexdigest()


def labels(args: argparse.Namespace) -> int:
    """The labels of a study, or how its pilot stands; a rater sees only their own."""
    settings = _settings(args, "labels")
    if args.pilot and (args.csv or args.history or args.acts or args.unit):
        raise LabError("labels", "--pilot goes with --json and --rater alone.", code=2)
    with open_store(settings, create=False, readonly=True) as store:
        study = study_named(store, args.study)
        only = own_only(store, study, settings)
        if only and args.rater not in (None, only):
            raise LabError("labels", f"{only} sees only their own, until the study is locked.")
        if args.pilot:
            told = pilot(store, study, only or args.rater or "", only)
            print_json(told) if args.json else tell_pilot(told)
        elif args.csv:
            print_labels_csv(store, study, args, only)
        elif args.json:
            print_json(listed(store, study, args, only))
        else:
            tell_list(listed(store, study, args, only))
    return 0


def own_only(store: Store, study: Study, settings: Settings) -> str:
    """The person whose own labels alone may be read here; empty where all may.

    A rater's seat reads its own, a kit its rater's. So does one of the study's raters at any seat but the designer's,
    while they may still be swayed.
    """
    if settings.seat == "rater":
        return settings.person
    kit = store.kit()
    if kit is not None:
        return kit.rater
    rates = settings.person in study.raters and settings.seat != "designer"
    return settings.person if rates and not store.locked(study) else ""


def _settings(args: argparse.Namespace, what: str) -> Settings:
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, may_rate, what)
    return settings
