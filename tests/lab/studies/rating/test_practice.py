"""Practice: each built-in item can be made; its answers are acts and never labels; who has seen it sees it no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from annotators.introductions import introduction_lines
from annotators.protocol import check_protocol
from annotators.protocols import names, protocol, protocols
from lab.core.errors import LabError
from lab.core.study.label import INTRODUCTION_ACTS, AnswerDetails
from lab.core.study.protocol import Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Gold, Unit
from lab.core.task.practice import Practice, PracticeAnswer, PracticeRun
from lab.core.task.task import Actor
from lab.studies.rating.introduction import Introduction
from lab.studies.rating.practice import build_item, check_practice, practice_item
from lab.studies.rating.practice_sheet import PracticeSheet
from lab.studies.rating.rating_session import RatingSession
from simulators import library
from store.store import Store
from tests.screens.annotate.sample_studies import studied
from tests.screens.runs import WHOLE, whole_run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


TEXTS = protocol("same-intent")
"""A protocol whose practice is of texts: no run has to be made."""
WITHOUT = {"demonstration", "disagreement-cause", "golden-steps", "intent-guess", "personal-rating", "play"}
"""Protocols that ask of a person's own runs, of a task done by hand, of others' words, or for words of one's own."""


def session(store: Store, asked: Protocol = TEXTS) -> RatingSession:
    given = [Unit("u1", given=TEXTS_OF), Unit("u2", given=TEXTS_OF)]
    return RatingSession(store, studied(store, asked, given, introduction="full"), Actor("human", "R1"))


TEXTS_OF = build_item(TEXTS, "en").unit.given


def opened(rating: RatingSession) -> PracticeSheet:
    item = practice_item(rating.store, rating.study, rating.locale)
    assert item is not None
    sheet = PracticeSheet(rating.store, rating.study, rating.person, item)
    rating.practise(sheet)
    return sheet


def kinds(store: Store, rating: RatingSession) -> list[str]:
    return [act.act for act in store.labels.introductions(rating.study.id, "R1")]


@pytest.mark.parametrize("name", [name for name in names() if name not in WITHOUT])
def test_each_practice_can_be_made_and_tells_what_is_right_and_why(name: str) -> None:
    asked = protocol(name)
    item = build_item(asked, "zh")
    try:
        assert item.unit.practice
        assert item.unit.gold
        assert all(gold.reason for gold in item.unit.gold)
        assert all(any("\u4e00" <= letter <= "\u9fff" for letter in gold.reason) for gold in item.unit.gold)
        for run in item.unit.runs:
            assert item.store.runs.summary(run).status == "completed"
            if asked.only_failed:
                assert (item.store.runs.summary(run).score or 0) < 1
    finally:
        item.close()
    assert not item.store.path.parent.exists()


def test_all_other_protocols_have_none() -> None:
    assert {name for name, one in protocols().items() if one.practice is None} == WITHOUT


def test_a_practice_task_is_none_that_is_rated_or_played() -> None:
    practised = library.practice_tasks()
    assert not set(practised) & set(library.tasks())
    with pytest.raises(LabError, match="did you mean evening"):
        library.practice_task("evning")


def test_the_run_is_the_same_each_time(tmp_path: Path) -> None:
    items = [build_item(protocol("success"), "en") for _ in range(2)]
    said = [[repr(step.proposed) for step in one.store.runs.trace(one.unit.runs[0]).steps] for one in items]
    assert said[0] == said[1]
    shots = [[step.before.image for step in one.store.runs.trace(one.unit.runs[0]).steps] for one in items]
    assert shots[0] == shots[1]
    assert items[0].unit == items[1].unit
    for one in items:
        one.close()


def test_answers_are_acts_with_their_times_and_no_labels(store: Store) -> None:
    rating = session(store)
    opened(rating)
    rating.answer(FieldReference("", "same"), "not_same")
    assert list(store.labels.read(rating.study)) == []
    rating.undo()
    assert rating.sheet is not None
    assert rating.sheet.head(FieldReference("", "same")) is None
    rating.answer(FieldReference("", "same"), "same", details=AnswerDetails(note="why not"))
    handed = rating.commit()
    assert [(one.said, one.right) for one in handed.compared] == [("same", True)]
    assert (handed.share, handed.held) == (None, False)
    assert list(store.labels.read(rating.study)) == []
    assert store.studies.progress(rating.study, "R1").done == 0
    acts = store.labels.introductions(rating.study.id)
    assert [act.act for act in acts] == ["practice_shown", *["practice_answered"] * 3, "practice_done"]
    assert acts[-1].detail == {"practice": TEXTS.practice.sha, "right": 1, "of": 1} if TEXTS.practice else None
    assert acts[-2].detail["answer"]["note"] == "why not"
    assert all(act.at and act.unit == "" for act in acts)


def test_whoever_was_cut_off_goes_on_at_the_same_answer(store: Store) -> None:
    rating = session(store, protocol("pairwise-sets"))
    opened(rating)
    rating.answer(FieldReference("", "plausibility"), "B")
    again = RatingSession(store, rating.study, rating.person)
    opened(again)
    assert again.last_position().spot == FieldReference("", "relevance")
    assert again.sheet is not None
    assert again.sheet.value(FieldReference("", "plausibility")) == "B"
    with pytest.raises(LabError, match="2 unanswered"):
        again.commit()
    with pytest.raises(LabError, match="is none of A, B, tie"):
        again.answer(FieldReference("", "relevance"), "wonder")


def test_nothing_is_said_in_practice_where_the_study_is_locked(store: Store) -> None:
    rating = session(store)
    opened(rating)
    rating.act("locked")
    with pytest.raises(LabError, match="locked"):
        rating.answer(FieldReference("", "same"), "same")
    assert "practice_answered" not in kinds(store, rating)


def test_a_study_that_was_frozen_before_has_no_introduction(store: Store) -> None:
    study = studied(store, TEXTS, [Unit("u1", given=TEXTS_OF)])
    assert Introduction(RatingSession(store, study, Actor("human", "R1"))).due() == ()


def test_each_part_comes_once_until_the_guide_says_something_else(store: Store) -> None:
    rating = session(store)
    introduction = Introduction(rating)
    assert introduction.due() == ("guide", "keys", "practice")
    introduction.record_shown("guide")
    assert introduction.due() == ("guide", "keys", "practice")  # shown, and not read to its end
    introduction.read("guide")
    introduction.read("keys")
    assert introduction.due() == ("practice",)
    opened(rating)
    rating.answer(FieldReference("", "same"), "same")
    rating.commit()
    assert introduction.due() == ()
    assert Introduction(RatingSession(store, rating.study, rating.person, locale="zh")).due() == ()
    assert Introduction(RatingSession(store, rating.study, Actor("human", "R2"))).due() != ()
    newer = replace(rating.study, version=2, protocol=replace(TEXTS, guide={**TEXTS.guide, "en": "Look twice."}))
    store.studies.freeze(newer, list(store.studies.units(rating.study)))
    assert Introduction(RatingSession(store, newer, rating.person)).due() == ("guide",)


def test_what_was_passed_over_does_not_come_again_and_is_told(store: Store) -> None:
    rating = session(store)
    Introduction(rating).record_shown("guide")
    Introduction(rating).skip()
    assert Introduction(rating).due() == ()
    (line,) = introduction_lines(store.labels.acts_of(rating.study, INTRODUCTION_ACTS))
    assert (line.rater, line.skipped, line.passed, line.practice) == ("R1", True, False, "")


def test_a_study_s_own_unit_stands_in_the_place_of_the_protocol_s(store: Store) -> None:
    store.runs.add(whole_run())
    gold = (Gold("", "outcome", "success", "All of it is done."),)
    units = [Unit("u1", (WHOLE,), gold=gold, practice=True, pilot=True), Unit("u2", (WHOLE,))]
    study = studied(store, protocol("success"), units, practice="u1", introduction="full")
    item = practice_item(store, study, "en")
    assert item is not None
    assert (item.unit.id, item.store, item.sha) == ("u1", store, "u1")
    item.close()
    assert store.runs.has_run(WHOLE)  # nothing of the study's is taken away


@pytest.mark.parametrize(
    ("practice", "why"),
    [
        (Practice((PracticeAnswer("success", reason="x"),)), "practice.runs: there are 0, and a run needs 1"),
        (Practice((), (PracticeRun("evening"),)), "practice.answers: there is none"),
        (Practice((PracticeAnswer("success"),), (PracticeRun("evening"),)), "number 1: has no reason"),
        (Practice((PracticeAnswer("x", "wonder", reason="x"),), (PracticeRun("evening"),)), "'wonder' is none of"),
        (Practice((PracticeAnswer("x", reason="x"),), (PracticeRun("evening"),), step=2), "practice.step"),
        (Practice((PracticeAnswer("x", reason="x"),), (PracticeRun("evening"),), item={"en": {}}), "practice.item"),
    ],
)
def test_a_practice_that_is_none_is_refused_by_its_field(practice: Practice, why: str) -> None:
    with pytest.raises(LabError, match=why):
        check_protocol(replace(protocol("success"), practice=practice, words={}), "protocol file x")


def test_answers_that_do_not_fit_are_refused_once_the_item_is_made() -> None:
    wrong = replace(TEXTS, practice=Practice((PracticeAnswer("never", reason="x"),), item={"en": {"A": "a", "B": "b"}}))
    with pytest.raises(LabError, match="'never' is none of same, not_same, cannot_tell"):
        check_practice(wrong)
    lacks = replace(TEXTS, practice=Practice((PracticeAnswer("same", reason="x"),), item={"en": {"A": "a"}}))
    with pytest.raises(LabError, match="practice, item"):
        check_practice(lacks)


def test_the_protocol_s_version_does_not_depend_on_its_practice() -> None:
    asked = protocol("success")
    words = {
        locale: {key: said for key, said in words.items() if not key.startswith("practice.")}
        for locale, words in asked.words.items()
    }
    assert replace(asked, practice=None, words=words).sha == asked.sha
