"""What `export`, `review` and `privacy` print with --json, and how the same is told to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from lab.commands.telling import in_words
from lab.output import say
from lab.review import (
    STEP_FIELDS,
    WHOLE_FIELDS,
    Difference,
    Place,
    Proof,
    Review,
    Sheet,
    Standing,
    State,
    action_of,
    place_words,
    unseen_words,
)
from lab.reviewed import EditRate


class Exported(msgspec.Struct, frozen=True):
    """Runs that were written: `export`. `uncleared` are demonstrations of which nobody said that nothing is private."""

    out: str
    format: str
    reviewed: bool
    runs: tuple[str, ...]
    bytes: int
    uncleared: int


class ReviewLine(msgspec.Struct, frozen=True):
    """One demonstration in a list; `mine` is how far you are: none, begun, handed in."""

    id: str
    task: str
    annotator: str
    steps: int
    state: State
    mine: str
    proofreaders: int
    differences: int
    cleared: bool


class ReviewList(msgspec.Struct, frozen=True):
    """Every demonstration, and each annotator's edit rate: `review --list`."""

    demonstrations: tuple[ReviewLine, ...]
    annotators: tuple[EditRate, ...]


class PlaceShown(msgspec.Struct, frozen=True):
    """A step (from 1), or the demonstration (null): your verdict (empty: not looked at), and its fields.

    `recorded` are the values as they were recorded, `mine` those that you changed, `reviewed` those that stand where
    two agreed or a third settled.
    """

    step: int | None
    verdict: str
    note: str
    recorded: dict[str, Any]
    mine: dict[str, Any]
    reviewed: dict[str, Any]


class WordShown(msgspec.Struct, frozen=True):
    """What one proofreader wants at a place where two differ."""

    by: str
    value: Any
    note: str


class DifferenceShown(msgspec.Struct, frozen=True):
    """A place about which two proofreaders differ."""

    step: int | None
    field: str
    recorded: Any
    words: tuple[WordShown, ...]


class ReviewShown(msgspec.Struct, frozen=True):
    """One demonstration as you may see it: `review ID --show`, and what each act leaves.

    Another's rows and the differences are there only once two have handed theirs in. `rejected` counts from 1.
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


class SuspectShown(msgspec.Struct, frozen=True):
    """Something that looks private; `steps` count from 1, and one more is the last screen. `box` for a bare field."""

    looks: str
    text: str
    steps: tuple[int, ...]
    box: tuple[int, int, int, int] | None


class PrivacyShown(msgspec.Struct, frozen=True):
    """A run as it waits in the privacy queue: `privacy ID --show`. `pictures` without a tree need your own eyes."""

    trace: str
    cleared_by: tuple[str, ...]
    suspects: tuple[SuspectShown, ...]
    pictures: int
    bare_pictures: int


class PrivacyDone(msgspec.Struct, frozen=True):
    """What was covered and destroyed, and the run that stands there now: `privacy ID --box | --text | --clear`.

    `replaced` names every old run and the new one in its place; `bytes` were in the rows and blobs destroyed.
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


class PrivacyLine(msgspec.Struct, frozen=True):
    """One demonstration that nobody has cleared: `privacy --list`."""

    id: str
    task: str
    annotator: str
    steps: int
    suspects: int


def review_shown(demo: Proof, standing: Standing, rows: Sequence[Review], person: str) -> ReviewShown:
    """A demonstration as one person may see it; `rows` are those that they may."""
    sheet = Sheet(demo, rows, person)
    two = len(standing.proofreaders) >= 2
    return ReviewShown(
        trace=demo.trace,
        annotator=demo.annotator.id,
        person=person,
        state=standing.state,
        handed_in=sheet.committed,
        proofreaders=len(standing.proofreaders),
        settled_by=standing.settled_by,
        rejected=tuple(step + 1 for step in standing.rejected),
        differences=tuple(_difference(one) for one in standing.differences) if two else (),
        places=tuple(_place(demo, standing, sheet, step) for step in (None, *range(demo.steps))),
        rows=tuple(rows),
    )


def _difference(one: Difference) -> DifferenceShown:
    step = None if one.place.step is None else one.place.step + 1
    return DifferenceShown(step, one.place.field, one.old, tuple(WordShown(*word) for word in one.words))


def _place(demo: Proof, standing: Standing, sheet: Sheet, step: int | None) -> PlaceShown:
    places = [Place(step, field) for field in (WHOLE_FIELDS if step is None else STEP_FIELDS)]
    recorded: dict[str, Any] = {place.field: demo.values[place] for place in places}
    mine: dict[str, Any] = {
        place.field: sheet.value(place) for place in places if sheet.value(place) != demo.values[place]
    }
    reviewed: dict[str, Any] = {place.field: standing.values[place] for place in places if place in standing.values}
    note = sheet.note(Place(step, "whole" if step is None else "step"))
    return PlaceShown(None if step is None else step + 1, sheet.verdict(step), note, recorded, mine, reviewed)


def tell_review(shown: ReviewShown) -> None:
    """One demonstration, in lines of plain text."""
    say(f"run     {shown.trace}, recorded by {shown.annotator}")
    say(f"state   {shown.state}" + (f"; settled by {', '.join(shown.settled_by)}" if shown.settled_by else ""))
    for place in shown.places:
        head = "whole   " if place.step is None else f"{place.step:4}    "
        say(f"{head}{_fields(place.recorded)}")
        for field, value in place.mine.items():
            say(f"        your {field}: {_value(field, value)}")
        for field, value in place.reviewed.items():
            if value != place.recorded.get(field, value):
                say(f"        stands now: {field}: {_value(field, value)}")
        if place.verdict:
            say(f"        {place.verdict}ed by you" + (f": {place.note}" if place.note else ""))
    for one in shown.differences:
        where = place_words(Place(None if one.step is None else one.step - 1, one.field))  # type: ignore[arg-type]
        said = "; ".join(f"{word.by} says {_value(one.field, word.value)}" for word in one.words)
        say(f"differ  {where}: {said}")
    unseen = [None if place.step is None else place.step - 1 for place in shown.places if not place.verdict]
    if shown.handed_in:
        say(f"        you have handed it in ({shown.proofreaders} of 2)")
    elif shown.proofreaders < 2 and unseen:
        say(f"        {unseen_words([*unseen[1:], *unseen[:1]] if unseen[0] is None else unseen)} not looked at yet")


def _fields(recorded: dict[str, Any]) -> str:
    return "   ".join(f"{field}: {_value(field, value)}" for field, value in recorded.items() if value)


def _value(field: str, value: Any) -> str:
    return in_words(action_of(value)) if field == "action" else f'"{value}"'


def tell_done(done: PrivacyDone) -> None:
    """What a redaction did, and what it cannot reach."""
    for old, new in done.replaced.items():
        say(f"run {old} is destroyed; run {new} stands in its place")
    if done.replaced:
        say(
            f"covered: boxes {done.boxes}, nodes {done.nodes}, places with the words {done.texts}; "
            f"pictures painted {done.pictures}, phone states left out {done.states}"
        )
        say(
            f"destroyed: rows {done.rows:,}, pictures or states {done.blobs:,}, bytes {done.bytes:,}; the file is wiped"
        )
        for count, what in ((done.designs, "acts on designs"), (done.reviews, "words of reviewers")):
            if count:
                say(f"covered too: {what} {count}")
        if done.unseen:
            say(f"pictures without a tree {done.unseen}: words in them are covered only where you drew a box")
        say("copies made before (packs, exports, backups) cannot be reached; destroy them yourself")
    if done.cleared:
        say(f"run {done.trace} is cleared: it holds nothing private")
