"""Rehearsals of a played study: scripts answer for people, from consent to the questions after each run.

A rehearsal tries a study before people come, in a file of its own. Its runs carry the person's code, so that every
table is filled. The user's name in each run says that a script answered, and the report says so too.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from annotators.assignment import draw_number
from lab.core.errors import LabError
from lab.core.run.measured_run import REHEARSED
from lab.core.run.trace import Trace
from lab.core.settings import EMBEDDED, load
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.studies.playing.play_session import Participation, PlayPosition
from lab.studies.playing.played_runs import people_runs
from lab.studies.rating.rating_session import RatingSession
from simulators.users.scripted import Scripted
from store.store import Store


def rehearse(store: Store, study: Study, code: str, device: str = EMBEDDED) -> Iterator[tuple[Unit, Trace]]:
    """Play all that is dealt to a person by the tasks' own scripts. Yield each run with its unit once stored.

    Raise `LabError` if the study does not have this person, they have played themselves, or they did not consent.
    """
    what = f"study {study.name}"
    if code not in study.raters:
        raise LabError(what, f"{code} is none of its people.", f"They are {', '.join(study.raters)}.")
    for run in people_runs(store, study):
        user = store.runs.trace(run).user
        if user is not None and user.id == code and user.name != REHEARSED:
            raise LabError(what, f"{code} has played themselves; a script is not put in their place.")
    part = Participation(store, study, Actor("human", code))
    while (here := part.where()).stage not in ("done", "nothing"):
        if here.stage == "refused":
            raise LabError(what, f"{code} did not agree to take part; a script is not put in their place.")
        if here.stage == "consent":
            part.agree()
        elif here.stage in ("card", "quiz"):
            _answer_quiz(part, here)
        elif here.stage == "questions":
            _answer_questions(part, here)
        else:
            assert here.unit is not None
            yield here.unit, _play_unit(part, here, device)
    if here.stage == "nothing":
        raise LabError(what, f"nothing is dealt to {code} yet.", f"`hitlab study deal {study.id}` deals it.")


def _answer_quiz(part: Participation, here: PlayPosition) -> None:
    persona = here.play.persona
    assert persona is not None
    part.answer_quiz(persona, part.quiz_state(persona).waiting[0].right)


def _play_unit(part: Participation, here: PlayPosition, device: str) -> Trace:
    from simulators import library
    from simulators.task_variation import world

    play = here.play
    session = part.session(here, device=device)
    session.user = user = Scripted(world(play.vary).script(library.script(play.task.id)))
    # By the person's code, with a name that every table recognizes as a rehearsal.
    user.actor = replace(part.person, name=REHEARSED)
    session.start()
    session.join()
    if session.failure is not None:
        raise session.failure
    session.shadows.wait(load().model_seconds)
    return part.store.runs.trace(session.trace_id)


def _answer_questions(part: Participation, here: PlayPosition) -> None:
    """Answer by draws from the study's seed. The answers mean nothing."""
    assert here.assignment is not None
    rating = RatingSession(part.store, part.study, part.person)
    rating.open(here.assignment)
    assert rating.sheet is not None
    for spot in list(rating.sheet.unanswered):
        field = part.study.protocol.field(spot.field)
        options = [option.id for option in field.options] if field is not None else []
        if not options:
            rating.answer(spot, missing="cannot_judge")
            continue
        number = draw_number(part.study, "rehearsal", part.person.id, here.assignment.unit, spot.field)
        rating.answer(spot, options[number % len(options)])
    rating.commit()
