"""The command privacy: redact demonstrations and clear them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lab.cli.app import show_room
from lab.cli.arguments import Parser, PersonArguments, TableArguments, argument, flag, option
from lab.cli.database import erased_or_unwiped, not_wiped, open_store, sweep_leftovers
from lab.cli.output import print_line, print_result, print_table, run_id_cell, warn
from lab.cli.runs.review import (
    refuse_seat,
)
from lab.core.errors import LabError
from lab.core.redaction.private_text import places_words, suspects
from lab.core.run.ui_tree import Bounds
from lab.core.settings import Settings, load
from lab.core.task.task import Actor
from lab.core.values.rounding import count
from lab.core.values.whole_number import whole_number
from lab.studies.proofreading.proofreading_queue import UnclearedDemonstration, privacy_queue

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader
    from store.erasing.run_redaction import Redacted
    from store.store import Store


class SuspectShown(msgspec.Struct, frozen=True):
    """A suspected private detail. `steps` count from 1, one more is the last screen. `box` is for a textless field."""

    looks: str
    text: str
    steps: tuple[int, ...]
    box: tuple[int, int, int, int] | None


class PrivacyDone(msgspec.Struct, frozen=True):
    """Result of a redaction: `runs redact ID --box | --text | --clear`.

    `replaced` maps each old run to its replacement. `bytes` is the size of the destroyed rows and blobs. `items`,
    `answers` and `acts` count redacted rows of studies. The words remain in the runs `left`, which are of other
    families, and in the `plans` of frozen studies. `unwiped` is the reason why redacted bytes may remain in the file,
    empty if they do not.
    """

    trace: str
    cleared: bool
    replaced: dict[str, str]
    boxes: int
    nodes: int
    texts: int
    pictures: int
    states: int
    designs: int
    reviews: int
    rows: int
    blobs: int
    bytes: int
    unseen: int
    read: int = 0
    items: int = 0
    answers: int = 0
    acts: int = 0
    left: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    unwiped: str = ""


class PrivacyShown(msgspec.Struct, frozen=True):
    """A run in the privacy queue: `runs redact ID --show`. `bare_pictures` have no UI tree: people must check them.

    `preview` is what `--box` and `--text` would do, null without them. Its `replaced` names no replacements.
    """

    trace: str
    cleared_by: tuple[str, ...]
    suspects: tuple[SuspectShown, ...]
    pictures: int
    bare_pictures: int
    preview: PrivacyDone | None = None


class PrivacyArguments(PersonArguments, TableArguments):
    run_id: str | None = argument("ID", "id of a run, or its beginning", nargs="?", completes="run")
    boxes: list[list[str]] | None = option(
        ("STEP", "L,T,R,B"), "cover this box of a step's screen, in pixels (e.g. 3 0,90,1080,210); repeatable", "--box",
        nargs=2, action="append",
    )  # fmt: skip
    texts: list[str] | None = option(
        "WORDS", "cover these words in the whole run; repeatable", "--text", action="append"
    )
    everywhere: bool = flag("also cover them in other runs with the same pictures")
    clear: bool = flag("sign that the resulting run holds nothing private; this removes nothing")
    listed: bool = flag("list the demonstrations that nobody has cleared", "--list", one_of="act")
    show: bool = flag(
        "print what looks private in the run, or with --box or --text what they would do; change nothing", one_of="act"
    )
    yes: bool = flag("on a terminal: cover without asking")
    wipe: bool = flag(
        "only wipe the file of what was erased, if another program had it open at that time", one_of="act"
    )

    def table_lines(self) -> str:
        return "" if self.listed else "`hitlab runs redact --list`"


def add_runs_redact(parser: Parser) -> None:
    parser.runs(
        privacy, PrivacyArguments,
        prints={"privacy": PrivacyDone, "privacy-show": PrivacyShown, "privacy-list": list[UnclearedDemonstration]},
    )  # fmt: skip
    parser.examples(
        """\
  hitlab runs redact --list            demonstrations that nobody has cleared
  hitlab runs redact 019a --text "Noor Haddad" --show     a preview
  hitlab runs redact 019a --text "Noor Haddad" --box 3 0,90,1080,210
  hitlab runs redact 019a --clear --person D1
"""
    )


def privacy(args: PrivacyArguments) -> int:
    """Open the queue of uncleared demonstrations, or do one act without a screen."""
    settings = load(db=args.db, person=args.person)
    refuse_seat(settings, "runs redact")
    _check_options(args)
    if args.listed:
        return _list(args, settings)
    if args.wipe:
        return _wipe(args, settings)
    if args.run_id is not None and settings.seat == "rater":
        _refuse_rated(settings, args.run_id)
    if not (args.show or args.boxes or args.texts or args.clear):
        return _open_screen(args, settings)
    if args.run_id is None:
        raise LabError("runs redact", "needs the ID of a run", "`hitlab runs redact --list` lists what waits.", code=2)
    by = Actor("human", settings.person)
    with open_store(settings, create=False, readonly=args.show) as store:
        sweep_leftovers(Path(), temporary=True)
        run = store.runs.find(args.run_id)
        if args.show:
            return _show(store, run, _preview(store, run, args, by), as_json=args.json)
        _confirm(store, run, args, by)
        result, unwiped = _redact_and_clear(store, run, args, by)
    print_result(result, print_redaction, json=args.json)
    return not_wiped(unwiped)


def _check_options(args: PrivacyArguments) -> None:
    """Raise `LabError` for options that do not go together: what only reads must not change, nor drop a change."""
    acts = {"--text": args.texts, "--box": args.boxes, "--everywhere": args.everywhere, "--clear": args.clear}
    typed_acts = [name for name, value in acts.items() if value]
    reads = "--list" if args.listed else "--wipe" if args.wipe else ""
    if reads and typed_acts:
        raise LabError("runs redact", f"{reads} does not go with {typed_acts[0]}; nothing was done.", code=2)
    if args.show and args.clear:
        raise LabError("runs redact", "--show does not go with --clear; nothing was done.", code=2)
    if args.everywhere and not (args.texts or args.boxes):
        raise LabError("runs redact", "--everywhere goes with --box or --text; nothing was done.", code=2)


def _refuse_rated(settings: Settings, run_id: str) -> None:
    """Raise `LabError` if a person with studies to rate names a run that is not a demonstration."""
    with open_store(settings, create=False, readonly=True) as store:
        if (
            store.studies.is_active_rater(settings.person)
            and store.runs.find(run_id) not in store.reviews.demonstrations()
        ):
            what = f"{settings.person} rates in a study here, which shows what may be seen of runs."
            raise LabError("runs redact", what, "`hitlab runs redact --list` lists the demonstrations that wait.")


def _open_screen(args: PrivacyArguments, settings: Settings) -> int:
    if args.json:
        raise LabError("runs redact", "--json goes with --show, --list or an act", code=2)
    with open_store(settings, create=False) as store:
        from screens.navigation import Opening

        run = store.runs.find(args.run_id) if args.run_id else None
        return show_room(store, settings, Opening("privacy", run), "runs redact", "--list and --show print instead.")


def _redact_and_clear(store: Store, run: str, args: PrivacyArguments, by: Actor) -> tuple[PrivacyDone, LabError | None]:
    redaction: Redacted | None = None
    unwiped: LabError | None = None
    if args.boxes or args.texts:
        from store.erasing.run_redaction import redact

        outcome, unwiped = erased_or_unwiped(store.path, lambda: _call_redaction(redact, store, run, args, by))
        redaction, run = outcome, outcome.replaced[run]
        for path in outcome.linked_files:
            warn(f"{path} still shows what was covered: it was linked, not taken in, and is yours to delete")
    if args.clear:
        store.reviews.record_clearance(run, by)
    return redaction_result(run, redaction, cleared=args.clear, unwiped=unwiped), unwiped


def _confirm(store: Store, run: str, args: PrivacyArguments, by: Actor) -> None:
    """On a terminal print the preview and raise `LabError` unless somebody types `yes`.

    A script has no terminal, and what it passes says all: which run, which words.
    """
    if args.yes or args.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    preview = _preview(store, run, args, by)
    if preview is None:
        return
    _print_preview(preview)
    print_line("This cannot be taken back. Copies made before (packs, kits, exports) keep all of it.")
    sys.stdout.write("Type yes to go on: ")
    sys.stdout.flush()
    if sys.stdin.readline().strip() != "yes":
        raise LabError("runs redact", "nothing was done: another word was typed.")


def _print_preview(preview: PrivacyDone) -> None:
    for run in preview.replaced:
        print_line(f"would be destroyed and replaced: run {run}")
    _print_counts(preview, "would be ")


def _preview(store: Store, run: str, args: PrivacyArguments, by: Actor) -> PrivacyDone | None:
    """Return what the redaction would do, or None if nothing is named to be covered."""
    if not (args.boxes or args.texts):
        return None
    from store.erasing.run_redaction import preview_redaction

    redaction = _call_redaction(preview_redaction, store, run, args, by)
    return redaction_result(run, redaction._replace(replaced=dict.fromkeys(redaction.replaced, "")), cleared=False)


def _call_redaction(
    redact: Callable[..., Redacted], store: Store, run: str, args: PrivacyArguments, by: Actor
) -> Redacted:
    """Call a function of `store.erasing.run_redaction` with the boxes and words that were typed."""
    from lab.runs.replay.picture_text import tree_reader

    boxes: dict[int, list[Bounds]] = {}
    for step, box in args.boxes or ():
        boxes.setdefault(_parse_step(step), []).append(_parse_box(box))
    reader = _text_reader() if args.texts else None
    try:
        read = tree_reader(store, reader) if reader is not None else None
        return redact(store, run, by, boxes=boxes, words=args.texts or (), everywhere=args.everywhere, read=read)
    finally:
        if reader is not None:
            reader.close()


def _text_reader() -> TextReader | None:
    """Return the reader of words in pictures without a UI tree, None if disabled or not installed."""
    from lab.ocr.engine import engine_name
    from lab.ocr.reader import TextReader

    return TextReader() if load().ocr and engine_name() else None


def redaction_result(
    run: str, redaction: Redacted | None, *, cleared: bool, unwiped: LabError | None = None
) -> PrivacyDone:
    """Return the result of a redaction for output."""
    counts: dict[str, Any] = dict.fromkeys(
        ("boxes", "nodes", "texts", "pictures", "states", "designs", "reviews", "unseen", "read"), 0
    )
    counts |= dict.fromkeys(("rows", "blobs", "bytes"), 0)
    if redaction is None:
        return PrivacyDone(trace=run, cleared=cleared, replaced={}, **counts)
    counts |= {name: getattr(redaction, name) for name in counts if hasattr(redaction, name)}
    counts |= {**redaction.studies._asdict(), **redaction.destroyed._asdict()}
    counts |= {"unseen": redaction.pictures_without_tree, "read": redaction.pictures_by_ocr}
    rest = redaction.remaining
    counts |= {"left": rest.runs, "plans": rest.plans, "unwiped": unwiped.sentence if unwiped else ""}
    return PrivacyDone(trace=run, cleared=cleared, replaced=dict(redaction.replaced), **counts)


def _parse_step(text: str) -> int:
    step = whole_number(text)
    if not step:
        raise LabError("--box", f"step {text!r} is no number from 1 on", code=2)
    return step - 1


def _parse_box(text: str) -> Bounds:
    pixels = [whole_number(part.strip()) for part in text.split(",")]
    sides = [pixel for pixel in pixels if pixel is not None]
    if not len(pixels) == len(sides) == 4:
        raise LabError("--box", f"{text!r} is no box; write left,top,right,bottom in pixels", code=2)
    box = Bounds(*sides)
    if not box.area:
        raise LabError("--box", f"{text!r} is empty: right is right of left, bottom below top", code=2)
    return box


def _show(store: Store, run: str, preview: PrivacyDone | None, *, as_json: bool) -> int:
    trace = store.runs.trace(run)
    screen_list = [step.before for step in trace.steps]
    screen_list += [trace.ended.final] if trace.ended is not None and trace.ended.final is not None else []
    shots = {screen.image for screen in screen_list if screen.image}
    bare = {screen.image for screen in screen_list if screen.image and screen.tree is None}
    suspects_shown = tuple(
        SuspectShown(suspect.looks, suspect.text, tuple(step + 1 for step in suspect.steps), suspect.box)
        for suspect in suspects(trace)
    )
    cleared_by = tuple(clearance.by.id for clearance in store.reviews.clearances(run))
    result = PrivacyShown(run, cleared_by, suspects_shown, len(shots), len(bare), preview)
    print_result(result, lambda _: _print_shown(result, len(trace.steps)), json=as_json)
    return 0


def _print_shown(result: PrivacyShown, steps: int) -> None:
    clearance = f"cleared by {', '.join(result.cleared_by)}" if result.cleared_by else "not cleared"
    print_line(f"run     {result.trace}, {clearance}")
    for suspect in result.suspects:
        where = places_words([step - 1 for step in suspect.steps], steps)
        box = f" at {','.join(map(str, suspect.box))}" if suspect.box else ""
        print_line(f"{suspect.looks:8}{suspect.text or 'a field'}{box}, {where}")
    pictures = f"{count(result.pictures, 'picture')}, {result.bare_pictures} of them without a tree"
    print_line(f"        {pictures}: look at those yourself")
    if result.preview is not None:
        _print_preview(result.preview)
        print_line("nothing was changed; the same line without --show does it")


def _list(args: PrivacyArguments, settings: Settings) -> int:
    with open_store(settings, create=False, readonly=True) as store:
        lines = privacy_queue(store)
    print_result(lines, _print_list, json=args.json, nothing=f"no demonstration waits to be cleared in {store.path}")
    return 0


def _print_list(lines: list[UnclearedDemonstration]) -> None:
    rows = [[run_id_cell(line.id), line.task, line.annotator, str(line.steps), str(line.suspects)] for line in lines]
    columns = ["id", "task", "by", "steps", "suspects"]
    print_table(columns, rows, wide="task", records=(UnclearedDemonstration, lines))


def _wipe(args: PrivacyArguments, settings: Settings) -> int:
    with open_store(settings, create=False) as store:
        sweep_leftovers(Path(), temporary=True)
        unwiped = erased_or_unwiped(store.path, store.erasure.wipe)[1]
        if unwiped is not None:
            raise unwiped
        print_result(
            redaction_result("", None, cleared=False),
            lambda _: print_line(f"{store.path} is wiped: what was erased from it is nowhere in it"),
            json=args.json,
        )
    return 0


def redacted_rows(result: PrivacyDone) -> list[str]:
    """Return the kinds of other redacted rows (not runs) with the number of each."""
    counts = [
        (result.designs, "act on a design", "acts on designs"),
        (result.reviews, "review of a demonstration", "reviews of demonstrations"),
        (result.items, "item of a study", "items of studies"),
        (result.answers, "answer in a study", "answers in studies"),
        (result.acts, "act in a study", "acts in studies"),
    ]
    return [count(number, one, more) for number, one, more in counts if number]


def print_redaction(result: PrivacyDone) -> None:
    """Print a redaction's effect and its limits."""
    for old, new in result.replaced.items():
        print_line(f"run {old} is destroyed; run {new} stands in its place")
    if result.replaced:
        _print_counts(result)
        print_line("copies made before (packs, exports, backups) cannot be reached; destroy them yourself")
    if result.cleared:
        print_line(f"run {result.trace} is cleared: it holds nothing private")


def _print_counts(result: PrivacyDone, would: str = "") -> None:
    """Print what a redaction covers, destroys and leaves. `would` begins the lines of a preview."""
    from store.erasing.run_redaction import RemainingPlaces

    print_line(
        f"{would}covered: boxes {result.boxes}, nodes {result.nodes}, places with the words {result.texts}; "
        f"pictures painted {result.pictures}, phone states left out {result.states}"
    )
    wiped = "" if result.unwiped or would else "; the file is wiped"
    print_line(
        f"{would}destroyed: rows {result.rows:,}, pictures or states {result.blobs:,}, bytes {result.bytes:,}{wiped}"
    )
    if rows := redacted_rows(result):
        print_line(f"{would}covered outside the run: {', '.join(rows)}")
    if result.unseen:
        print_line(f"pictures without a tree {result.unseen}: words in them are covered only where you drew a box")
    if result.read:
        print_line(f"pictures whose words were read {result.read}: look at them, for what was misread is not covered")
    for sentence in RemainingPlaces(result.left, result.plans).sentences:
        print_line(sentence)
