"""A study to be played, small enough to be played whole in a test."""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import replace

from annotators.protocols import protocol
from lab.core.run.step import Reply
from lab.core.study.study import Assignment, Play, Study, Unit, sample_sha
from lab.core.task.task import Actor, Persona, Task
from lab.core.values.ids_and_clock import now
from lab.runs.session import Session
from lab.runs.spec import brief_of
from lab.studies.playing.play_session import Participation
from lab.studies.rating.rating_session import RatingSession
from simulators import library
from store.store import Store

LUNCH, COFFEE = "usual_lunch", "morning_coffee"


def tasked(name: str) -> tuple[Task, Persona]:
    """A built-in task and its persona."""
    task = library.task(name)
    return task, library.persona(task.persona, task.log)


def unit(name: str, *, id: str = "", **of_play: Any) -> Unit:
    """A play of a built-in task."""
    task, persona = tasked(name)
    assert brief_of(task, persona).log
    return Unit(id or f"{name}-unit", play=Play(task, persona, **of_play), cluster=name)


def frozen(store: Store, units: list[Unit], raters: tuple[str, ...] = ("P1", "P2"), **changes: Any) -> Study:
    """The study in a file, each of its people dealt each person's unit, every other one the other way round."""
    study = replace(
        Study("teas", 1, "Who drinks what", protocol("play"), raters, len(units), sample_sha(units), quiz=3, seed=4),
        **changes,
    )
    store.studies.freeze(study, units)
    people = [one for one in units if one.play is not None and one.play.user == "person"]
    for turn, rater in enumerate(raters):
        order = people[::-1] if turn % 2 else people
        store.studies.deal(study, [Assignment(study.id, 1, rater, at, one.id) for at, one in enumerate(order)])
    return study


def play_to_end(part: Participation) -> None:
    """Plays the one that comes next to its end."""
    session = part.session(part.where())
    session.start()
    answer_all(session, part.person)


def answer_all(session: Session, person: Actor) -> None:
    """Goes with a run to its end; what is asked in it is accepted, each reply with two edits."""
    while not session.join(0.005):
        question = session.questions.waiting
        if question is not None:
            decision: Literal["accept"] | None = "accept" if question.kind == "propose" else None
            reply = Reply(question.id, "mild", person, decision, now(), now(), now(), edits=2)
            session.questions.answer(question, reply)


def hand_in(part: Participation) -> None:
    """Answers what is asked after a run, each question alike, and hands it in."""
    here = part.where()
    assert here.stage == "questions"
    assert here.assignment is not None
    rating = RatingSession(part.store, part.study, part.person)
    rating.open(here.assignment)
    assert rating.sheet is not None
    for place in list(rating.sheet.unanswered):
        rating.answer(place, "3")
    rating.commit()
