"""The command review: two people proofread a demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lab.cli.app import show_room
from lab.cli.arguments import Parser, PersonArguments, TableArguments, argument, flag, option, typed_words
from lab.cli.database import open_store
from lab.cli.output import print_line, print_result, print_table, run_id_cell, table_form
from lab.cli.runs.run_text import describe_action
from lab.core.codec import convert, read_json
from lab.core.errors import LabError
from lab.core.run.step import Action
from lab.core.settings import Settings, load, require_person
from lab.core.study.proofread_text import EditRate, edit_rates
from lab.core.study.proofreading import (
    STEP_FIELDS,
    VERDICTS,
    WHOLE_FIELDS,
    Difference,
    Field,
    Proof,
    ProofreadingSheet,
    ProofreadingState,
    ProofreadPlace,
    ProofreadWord,
    Review,
    State,
    action_of,
    place_words,
    plain_value,
    unseen_words,
)
from lab.core.task.task import Actor
from lab.core.text.suggestion import suggestion
from lab.core.values.whole_number import whole_number
from lab.studies.proofreading.proofreading import ProofreadingSession, verdict_place
from lab.studies.proofreading.proofreading_queue import WaitingDemonstration, reviewed_demonstrations
from lab.studies.seats import check_seat, may_review

if TYPE_CHECKING:
    from store.store import Store


class ReviewList(msgspec.Struct, frozen=True):
    """Every demonstration, and each annotator's edit rate: `runs review --list`."""

    demonstrations: tuple[WaitingDemonstration, ...]
    annotators: tuple[EditRate, ...]


class PlaceShown(msgspec.Struct, frozen=True):
    """A step (from 1), or the demonstration (null): your verdict (empty: none yet) and its fields.

    `recorded` holds the recorded values, `mine` those you changed, `reviewed` those that two proofreaders agreed on or
    a third settled.
    """

    step: int | None
    verdict: str
    note: str
    recorded: dict[str, Any]
    mine: dict[str, Any]
    reviewed: dict[str, Any]


class DifferenceShown(msgspec.Struct, frozen=True):
    """A place about which two proofreaders differ."""

    step: int | None
    field: str
    recorded: Any
    words: tuple[ProofreadWord, ...]


class ReviewShown(msgspec.Struct, frozen=True):
    """One demonstration as you may see it: `runs review ID --show`, and the result of each act.

    Others' rows and the differences appear only after two have handed in theirs. `rejected` counts from 1.
    """

    trace: str
    annotator: str
    person: str
    state: State
    handed_in: bool
    proofreaders: int
    settled_by: tuple[str, ...]
    rejected: tuple[int, ...]
    differences: tuple[DifferenceShown, ...]
    places: tuple[PlaceShown, ...]
    rows: tuple[Review, ...]


def refuse_seat(settings: Settings, what: str) -> None:
    """Raise `LabError` if this seat may not review recordings."""
    check_seat(settings, may_review, what, "HITLAB_SEAT=rater sits elsewhere.")


class ReviewArguments(PersonArguments, TableArguments):
    run_id: str | None = argument("ID", "id of a demonstration, or its beginning", nargs="?", completes="run")
    listed: bool = flag("list every demonstration's state, and edit rates per annotator", "--list", one_of="act")
    show: bool = flag("print it as you may see it", one_of="act")
    accept: str | None = option(
        "STEP", "accept a step, `whole`, or `all` steps that you have not reviewed", one_of="act"
    )
    edit: list[str] | None = option(
        ("STEP", "FIELD", "VALUE"), "edit instruction or action (JSON) of a step, or intent, place or impossible of "
        "`whole`",
        type=typed_words, nargs=3, one_of="act",
    )  # fmt: skip
    reject: list[str] | None = option(
        ("STEP", "REASON"), "reject a step, or `whole`, with a reason", type=typed_words, nargs=2, one_of="act"
    )
    settle: list[str] | None = option(
        ("STEP", "FIELD", "VALUE"), "settle as a third person what two proofreaders differ on",
        type=typed_words, nargs=3, one_of="act",
    )  # fmt: skip
    undo: bool = flag("take back your last review, unless it is handed in", one_of="act")
    note: str | None = option("TEXT", "with --settle: give the reason", type=typed_words)
    commit: bool = flag("hand it in; nothing in it changes afterwards")

    def table_lines(self) -> str:
        return "" if self.listed else "`hitlab runs review --list`"


def add_runs_review(parser: Parser) -> None:
    parser.runs(review, ReviewArguments, prints={"review": ReviewShown, "review-list": ReviewList})
    # An empty value clears a field.
    parser.may_be_empty = frozenset({"edit", "settle"})
    parser.examples(
        """\
  hitlab runs review --list
  hitlab runs review 019a --person R1  step by step, on the screen
  hitlab runs review 019a --edit 3 instruction "Tap Save" --person R1
  hitlab runs review 019a --accept all --commit --person R1
"""
    )


def review(args: ReviewArguments) -> int:
    """Proofread a demonstration on a screen, or by one act without a screen."""
    settings = load(db=args.db, person=args.person)
    refuse_seat(settings, "review")
    if args.commit and (args.listed or args.show):
        raise LabError(
            "review", f"{'--list' if args.listed else '--show'} does not go with --commit; nothing was done.", code=2
        )
    if args.listed:
        return _list(args, settings)
    acts = [args.accept, args.edit, args.reject, args.settle]
    headless = args.show or args.commit or args.undo or any(act is not None for act in acts)
    if not headless:
        return _open_screen(args, settings)
    if args.run_id is None:
        raise LabError("review", "needs the ID of a demonstration", "`hitlab runs review --list` lists them.", code=2)
    if not args.show:
        require_person(settings, "review")
    with open_store(settings, create=False) as store:
        desk = ProofreadingSession(store, store.runs.find(args.run_id), Actor("human", settings.person))
        _do_act(desk, args)
        result = review_shown(desk.demo, desk.standing, desk.visible, settings.person)
    print_result(result, tell_review, json=args.json)
    return 0


def _open_screen(args: ReviewArguments, settings: Settings) -> int:
    if args.json:
        raise LabError("review", "--json goes with --show, --list or an act", code=2)
    with open_store(settings, create=False) as store:
        from screens.navigation import Opening

        run = store.runs.find(args.run_id) if args.run_id else None
        if run is not None:
            store.reviews.proof_of(run)
        return show_room(store, settings, Opening("review", run), "review", "--list and --show print instead.")


# -- acts from the command line --------------------------------------------------------------------------------
def _do_act(desk: ProofreadingSession, args: ReviewArguments) -> None:
    if args.accept is not None:
        steps = desk.sheet.unseen if args.accept == "all" else [_parse_step(desk, args.accept)]
        desk.accept(steps)
    elif args.edit is not None:
        place = _parse_place(desk, *args.edit[:2])
        desk.edit(place, _parse_value(place, args.edit[2]))
    elif args.reject is not None:
        desk.reject(_parse_step(desk, args.reject[0]), args.reject[1])
    elif args.settle is not None:
        place = _parse_place(desk, *args.settle[:2], verdicts=True)
        desk.settle(place, _parse_value(place, args.settle[2]), args.note or "")
    elif args.undo:
        desk.undo()
    if args.commit:
        desk.commit()


def _parse_step(desk: ProofreadingSession, text: str) -> int | None:
    """Parse a step as a number from 0, None for the whole."""
    if text == "whole":
        return None
    step = whole_number(text) or 0
    if not 1 <= step <= desk.demo.steps:
        raise LabError("review", f"{text!r} is neither whole nor a step from 1 to {desk.demo.steps}", code=2)
    return step - 1


def _parse_place(desk: ProofreadingSession, step: str, field: str, *, verdicts: bool = False) -> ProofreadPlace:
    number = _parse_step(desk, step)
    fields: tuple[Field, ...] = WHOLE_FIELDS if number is None else STEP_FIELDS
    fields = (*fields, verdict_place(number).field) if verdicts else fields
    for field_name in fields:
        if field == field_name:
            return ProofreadPlace(number, field_name)
    problem = f"{step} has no field {field!r}; it has {', '.join(fields)}{suggestion(field, fields)}"
    raise LabError("review", problem, code=2)


def _parse_value(place: ProofreadPlace, text: str) -> Any:
    if place.field != "action":
        return text if place.field in VERDICTS else text.strip()
    try:
        return plain_value(convert(read_json(text.encode(), "action").value, Action, "action"))
    except LabError as error:
        raise LabError(
            "action", error.message, "`hitlab settings schema action` says what it may hold.", code=2
        ) from error


# -- the list --------------------------------------------------------------------------------------------------
def _list(args: ReviewArguments, settings: Settings) -> int:
    with open_store(settings, create=False, readonly=True) as store:
        reviews = review_list(store, settings.person)
    print_result(reviews, lambda _: _print_list(reviews, str(store.path)), json=args.json)
    return 0


def _print_list(reviews: ReviewList, db: str) -> None:
    if not reviews.demonstrations:
        print_line(f"no demonstrations in {db}; `hitlab record` makes one")
        if not table_form.is_data:
            return
    columns = ["id", "task", "by", "steps", "state", "mine", "differ", "cleared"]
    rows = [_list_cells(line) for line in reviews.demonstrations]
    print_table(columns, rows, wide="task", records=(WaitingDemonstration, reviews.demonstrations))
    for rate in reviews.annotators:
        share = "nothing handed in by two yet" if rate.rate is None else f"{rate.rate:.1%} of {rate.looks} looks"
        print_line(
            f"{rate.annotator}: {share}" + (f", {rate.edited} edited, {rate.rejected} rejected" if rate.looks else "")
        )


def review_list(store: Store, person: str) -> ReviewList:
    """Return every demonstration as this person may see it. Edit rates count only those that two have handed in."""
    rows = [*reviewed_demonstrations(store, person)]
    rates = edit_rates((proof, reviews) for _, proof, reviews in rows)
    return ReviewList(tuple(waiting for waiting, _, _ in rows), tuple(rates))


def _list_cells(line: WaitingDemonstration) -> list[str]:
    mine = line.mine if line.mine != "none" else "-"
    clearance = "yes" if line.cleared else "no"
    return [
        run_id_cell(line.id), line.task, line.annotator, str(line.steps), line.state, mine, str(line.differences),
        clearance,
    ]  # fmt: skip


def review_shown(demo: Proof, state: ProofreadingState, rows: Sequence[Review], person: str) -> ReviewShown:
    """Return a demonstration as one person may see it. `rows` are those they may see."""
    sheet = ProofreadingSheet(demo, rows, person)
    two = len(state.proofreaders) >= 2
    return ReviewShown(
        trace=demo.trace,
        annotator=demo.annotator.id,
        person=person,
        state=state.state,
        handed_in=sheet.committed,
        proofreaders=len(state.proofreaders),
        settled_by=state.settled_by,
        rejected=tuple(step + 1 for step in state.rejected),
        differences=tuple(_difference_shown(difference) for difference in state.differences) if two else (),
        places=tuple(_place_shown(demo, state, sheet, step) for step in (None, *range(demo.steps))),
        rows=tuple(rows),
    )


def _difference_shown(difference: Difference) -> DifferenceShown:
    step = None if difference.place.step is None else difference.place.step + 1
    return DifferenceShown(step, difference.place.field, difference.old, difference.words)


def _place_shown(demo: Proof, state: ProofreadingState, sheet: ProofreadingSheet, step: int | None) -> PlaceShown:
    places = [ProofreadPlace(step, field) for field in (WHOLE_FIELDS if step is None else STEP_FIELDS)]
    recorded: dict[str, Any] = {place.field: demo.values[place] for place in places}
    mine: dict[str, Any] = {
        place.field: sheet.value(place) for place in places if sheet.value(place) != demo.values[place]
    }
    reviewed: dict[str, Any] = {place.field: state.values[place] for place in places if place in state.values}
    note = sheet.note(ProofreadPlace(step, "whole" if step is None else "step"))
    return PlaceShown(None if step is None else step + 1, sheet.verdict(step), note, recorded, mine, reviewed)


def tell_review(result: ReviewShown) -> None:
    """Print one demonstration."""
    print_line(f"run     {result.trace}, recorded by {result.annotator}")
    print_line(
        f"state   {result.state}" + (f"; settled by {', '.join(result.settled_by)}" if result.settled_by else "")
    )
    for place in result.places:
        head = "whole   " if place.step is None else f"{place.step:4}    "
        print_line(f"{head}{_format_fields(place.recorded)}")
        for field, value in place.mine.items():
            print_line(f"        your {field}: {_format_value(field, value)}")
        for field, value in place.reviewed.items():
            if value != place.recorded.get(field, value):
                print_line(f"        stands now: {field}: {_format_value(field, value)}")
        if place.verdict:
            print_line(f"        {place.verdict}ed by you" + (f": {place.note}" if place.note else ""))
    for difference in result.differences:
        step, field = None if difference.step is None else difference.step - 1, difference.field
        where = place_words(ProofreadPlace(step, field))  # type: ignore[arg-type]
        words_by_person = "; ".join(f"{word.by} says {_format_value(field, word.value)}" for word in difference.words)
        print_line(f"differ  {where}: {words_by_person}")
    unseen = [None if place.step is None else place.step - 1 for place in result.places if not place.verdict]
    if result.handed_in:
        print_line(f"        you have handed it in ({result.proofreaders} of 2)")
    elif result.proofreaders < 2 and unseen:
        print_line(
            f"        {unseen_words([*unseen[1:], *unseen[:1]] if unseen[0] is None else unseen)} not looked at yet"
        )


def _format_fields(recorded: dict[str, Any]) -> str:
    return "   ".join(f"{field}: {_format_value(field, value)}" for field, value in recorded.items() if value)


def _format_value(field: str, value: Any) -> str:
    return describe_action(action_of(value)) if field == "action" else f'"{value}"'
