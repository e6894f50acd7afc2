"""What stands before a unit's runs: only these runs, nothing hidden in them, only their own pictures."""

from __future__ import annotations

import pytest

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.trace import Ended, Step
from lab.core.study.study import Unit
from lab.studies.rating.blinded_runs import Blinded, RaterReel
from store.store import Store
from tests.screens.annotate.host import AGENT, ALL, FACT, MINIMAL, OTHER, lunch, study
from tests.screens.runs import WHOLE, bare_run

HIDDEN = [
    AGENT, FACT, "ordered noodles", "secret-label", "secret-category", "Refuse what is dear", "office", "0.75",
    "one check failed", "basket shown", "The usual lunch is on top", "You work a phone", "The basket holds", "P01",
]  # fmt: skip
SHOWN = ["Order my usual lunch", "Small or large?", "Large, and no coriander please.", "Wonton noodles"]


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.add(lunch(WHOLE))
    store.runs.add(lunch(OTHER))
    store.runs.add(bare_run())
    return store


def said(runs: Blinded) -> str:
    """All that can be had of the run, as text: events, trace, verdicts, and each line with what a search looks in."""
    reel = RaterReel(runs, WHOLE)
    reel.head()
    lines = [line for lines in reel.read() for line in lines]
    held = [*runs.events(WHOLE), runs.trace(WHOLE), runs.verdicts(WHOLE), lines, runs.ends]
    return "\n".join(encode(one).decode() for one in held)


def test_nothing_that_is_hidden_can_be_had(filled: Store) -> None:
    text = said(Blinded(filled, study(), Unit("u", runs=(WHOLE,))))
    assert [word for word in HIDDEN if word.casefold() in text.casefold()] == []
    assert [word for word in SHOWN if word not in text] == []


def test_what_is_shown_can_be_had(filled: Store) -> None:
    text = said(Blinded(filled, study(shows=ALL), Unit("u", runs=(WHOLE,))))
    expected = {AGENT, FACT, "ordered noodles", "Refuse what is dear", "office", "0.75", "The usual lunch is on top"}
    assert [word for word in expected if word not in text] == []
    # Even with all of it shown, these are nobody's to see: the designers' labels, a prompt, a source's verdicts.
    never = ("secret-label", "secret-category", "You work a phone", "The basket holds", "P01", "basket shown")
    assert [word for word in never if word in text] == []


def test_a_run_of_another_unit_is_not_there(filled: Store) -> None:
    runs = Blinded(filled, study(), Unit("u", runs=(WHOLE,)))
    for read in (lambda: next(runs.events(OTHER)), lambda: runs.trace(OTHER)):
        with pytest.raises(LabError, match="is not in this unit"):
            read()


def test_a_picture_is_given_out_only_where_a_shown_event_names_it(filled: Store) -> None:
    pictures = {e.before.image for e in filled.runs.events(WHOLE) if isinstance(e, Step) and e.before.image}
    assert pictures
    unit = Unit("u", runs=(WHOLE,))
    runs = Blinded(filled, study(), unit)
    assert [runs.blob(sha) for sha in pictures] == [None] * len(pictures)
    list(runs.events(WHOLE))
    assert all(runs.blob(sha) is not None for sha in pictures)
    screenless = Blinded(filled, study(shows=("instruction", "actions")), unit)
    list(screenless.events(WHOLE))
    assert [screenless.blob(sha) for sha in pictures] == [None] * len(pictures)


def lines_of(filled: Store, *shows: str) -> list[str]:
    reel = RaterReel(Blinded(filled, study(shows=shows), Unit("u", runs=(WHOLE,))), WHOLE)  # type: ignore[arg-type]
    return [line.words for lines in reel.read() for line in lines]


def test_the_last_line_tells_how_a_run_ended_only_where_that_is_shown(filled: Store) -> None:
    assert lines_of(filled, *MINIMAL)[-1] == ""
    assert lines_of(filled, *MINIMAL, "outcome")[-1] == "completed"


def test_a_step_tells_what_was_done_only_where_that_is_shown(filled: Store) -> None:
    assert set(lines_of(filled, "instruction", "screens")) == {""}
    assert lines_of(filled, *MINIMAL)[0] == 'tap "Wonton noodles"'


def test_how_a_run_ended_is_known_once_it_was_read(filled: Store) -> None:
    runs = Blinded(filled, study(shows=(*MINIMAL, "outcome")), Unit("u", runs=(WHOLE,)))
    assert runs.ends == {}
    list(runs.events(WHOLE))
    assert isinstance(runs.ends[WHOLE], Ended)
    assert runs.asked == {"q1": 1, "q2": 4}
