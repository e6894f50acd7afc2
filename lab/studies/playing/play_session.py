"""One participant's progress in a played study: consent, quiz, task after task, the questions after each.

All of it follows from stored rows (acts, labels, the runs' own events), so that a participant resumes exactly there.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from annotators.assignment import deal_play_again
from annotators.consent import consent_text
from annotators.quiz import QuizItem, pass_mark, quiz
from lab.core.codec import sha_of
from lab.core.errors import LabError
from lab.core.run.trace import Ended, Trace
from lab.core.settings import EMBEDDED
from lab.core.study.label import Act, ActKind
from lab.core.study.study import Assignment, Play, Study, Unit
from lab.core.task.task import Actor, Persona
from lab.core.values.ids_and_clock import now
from lab.runs.session import Session
from lab.studies.playing.played_runs import claim, claimed_run, record, record_end, session_of
from store.store import Store

Stage = Literal["consent", "refused", "card", "quiz", "brief", "run", "questions", "done", "nothing"]


class PlayPosition(NamedTuple):
    """A participant's position: the stage and its play, `number` of `of`. `trace` is the play's run."""

    stage: Stage
    assignment: Assignment | None = None
    unit: Unit | None = None
    trace: str = ""
    number: int = 0
    of: int = 0

    @property
    def play(self) -> Play:
        if self.unit is None or self.unit.play is None:
            raise LabError("study", "holds no task to play here.")
        return self.unit.play


class QuizState(NamedTuple):
    """State of a quiz: the open questions of this round in order, the current one first.

    `missed` is the share right at first try in the round before, if it was below the mark.
    """

    round: int
    waiting: tuple[QuizItem, ...]
    asked: int
    begun: bool = False
    passed: bool = False
    missed: float | None = None


class Participation:
    """One participant at a played study. Every method is durable on return and raises `LabError` if it is refused."""

    def __init__(self, store: Store, study: Study, person: Actor, locale: str = "") -> None:
        if study.protocol.unit != "task to play":
            raise LabError(f"study {study.name}", f"is rated, not played: its unit is a {study.protocol.unit}.")
        self.store = store
        self.study = study
        self.person = person
        self.locale = locale or study.locale
        """The language in which this person reads."""
        self._others: list[Persona] | None = None
        self._asked: tuple[Persona, int, list[QuizItem]] | None = None
        """The persona, round and questions of the last draw."""
        self._session: Session | None = None
        """The run last made here. While it is active, it does not count as interrupted."""

    # -- where they stand --------------------------------------------------------------------------------------

    def where(self) -> PlayPosition:
        """Return the exact position to resume at. An interrupted run on a real phone is dealt again first."""
        self._check_study()
        acts = sorted(self.store.labels.acts(self.study, self.person.id), key=lambda act: (act.at, act.id))
        consent_acts = [act.act for act in acts if act.act == "consent" or (act.act == "left" and "why" in act.detail)]
        if not consent_acts or consent_acts[-1] == "left":
            return PlayPosition("refused" if consent_acts else "consent")
        assignments = self.store.studies.assignments(self.study, self.person.id)
        assignment = self.store.studies.next_assignment(self.study, self.person.id)
        if assignment is None:
            return PlayPosition("done" if assignments else "nothing", of=len(assignments))
        unit = self.store.studies.unit(self.study, assignment.unit)
        number = 1 + sum(earlier.position < assignment.position for earlier in assignments)
        here = PlayPosition("brief", assignment, unit, number=number, of=len(assignments))
        return self._at_run(here) or self._before_run(here, acts)

    def _check_study(self) -> None:
        if self.store.labels.has_withdrawn(self.person.id):
            raise LabError(f"study {self.study.name}", f"{self.person.id} has withdrawn.")
        if self.store.studies.locked(self.study):
            raise LabError(f"study {self.study.name}", "is locked; nobody plays in it any more.")
        if self.store.studies.has_left(self.study, self.person.id):
            problem = f"{self.person.id} has left it; another goes on in their place."
            raise LabError(f"study {self.study.name}", problem)

    def _at_run(self, here: PlayPosition) -> PlayPosition | None:
        """Return the stage of a run that has begun, None if none has."""
        assert here.assignment is not None
        run = claimed_run(self.store, self.study, self.person, here.assignment.unit, here.assignment.run)
        if not run or not self.store.runs.has_run(run):
            return None
        trace = self.store.runs.trace(run)
        if self._was_interrupted(here.assignment, trace):
            self._deal_again(here.assignment, trace)
            # The play was dealt again, so the position has changed.
            return self.where()
        if trace.ended is None:
            return here._replace(stage="run", trace=run)
        record_end(self.store, self.study, self.person, here.assignment.unit, here.assignment.run, trace)
        return here._replace(stage="questions", trace=run)

    def _before_run(self, here: PlayPosition, acts: list[Act]) -> PlayPosition:
        persona = here.play.persona
        if persona is None or not self.study.quiz:
            return here
        quizzed = self.quiz_state(persona, acts)
        if quizzed.passed:
            return here
        return here._replace(stage="quiz" if quizzed.begun else "card")

    # -- a phone that cannot be put back -------------------------------------------------------------------------

    def _was_interrupted(self, one: Assignment, trace: Trace) -> bool:
        if self._acts(one, "interrupted"):
            return True
        live = self._session is not None and self._session.trace_id == trace.id and not self._session.over
        return trace.ended is None and trace.device.kind == "adb" and not live

    def _deal_again(self, one: Assignment, trace: Trace) -> None:
        """End a run that was interrupted on a real phone and deal its play again. Repeating it changes nothing."""
        if not self._acts(one, "interrupted"):
            self._record_act("interrupted", one, {"run": trace.id})
        if trace.ended is None:
            why = "interrupted on a real phone, which cannot be put back"
            self.store.runs.append_event(trace.id, Ended(seq=trace.last + 1, at=now(), status="stopped", reason=why))
        # Each step checks whether a crash came before or after it.
        theirs = self.store.studies.assignments(self.study, self.person.id)
        if not any(other.unit == one.unit and other.run > one.run for other in theirs):
            again = deal_play_again(self.study, one, theirs)
            self._record_act("dealt", one, {"run": again.run, "position": again.position})
            self.store.studies.deal(self.study, [replace(again, at=now())])
        self._record_act("commit", one, {"interrupted": trace.id})

    def begin_sitting(self) -> None:
        """Record the act "sat" (a session begins)."""
        self._record_act("sat", None, {})

    def end_sitting(self, seconds: float, away: float) -> None:
        """Record the end of a session, with the seconds of work and the seconds away."""
        self._record_act("rose", None, {"seconds": round(seconds, 1), "away": round(away, 1)})

    def record_absence(self, seconds: float, *, pause: bool) -> None:
        """Record a time away. `pause` is True if it was long enough to be a break."""
        self._record_act("break" if pause else "idle", None, {"seconds": round(seconds, 1)})

    def read_guide(self, here: PlayPosition) -> None:
        """Record that the guide was read beside the questions."""
        self._record_act("guide", here.assignment, {})

    # -- consent -------------------------------------------------------------------------------------------------

    @property
    def consent(self) -> str:
        """The consent text."""
        return consent_text(self.study, self.locale)

    def agree(self) -> None:
        """Record the consent with the text agreed to."""
        text = self.consent
        self._record_act("consent", None, {"sha": sha_of(text), "locale": self.locale, "text": text})

    def refuse(self) -> None:
        """Record that this person did not consent. They may do so later."""
        self._record_act("left", None, {"why": "did not consent", "sha": sha_of(self.consent)})

    # -- quiz ----------------------------------------------------------------------------------------------------

    def quiz_state(self, persona: Persona, acts: list[Act] | None = None) -> QuizState:
        """Return the state of this person's quiz on a persona."""
        acts = self.store.labels.acts(self.study, self.person.id) if acts is None else acts
        rows = [act.detail for act in acts if act.act == "quiz" and act.detail.get("persona") == persona.id]
        if any(row.get("passed") for row in rows):
            return QuizState(0, (), 0, begun=True, passed=True)
        missed_share: float | None = None
        last = max((int(row["round"]) for row in rows), default=1)
        if rows and rows[-1].get("passed") is False:
            last, missed_share = last + 1, float(rows[-1]["share"])
        items = self._draw_questions(persona, last)
        mine = [row for row in rows if row["round"] == last]
        waiting = list(items)
        for row in mine:
            place = next((at for at, item in enumerate(waiting) if item.id == row["question"]), None)
            if place is not None:
                item = waiting.pop(place)
                # A question answered wrong comes again at the end of the round.
                waiting += [] if row["right"] else [item]
        return QuizState(last, tuple(waiting), len(items), begun=bool(mine), passed=not items, missed=missed_share)

    def _draw_questions(self, persona: Persona, round: int) -> list[QuizItem]:
        """Return the questions of a round, cached, since drawing them costs more than all else done for an answer."""
        if self._asked is None or self._asked[:2] != (persona, round):
            items = quiz(persona, self.other_personas(), self.study.quiz, self.study.seed, round)
            self._asked = persona, round, items
        return self._asked[2]

    def answer_quiz(self, persona: Persona, choice: int) -> bool:
        """Store the answer to the current question and return True if it is right.

        The last answer of a round stores the round's result.
        """
        stands = self.quiz_state(persona)
        if not stands.waiting or not 0 <= choice < len(stands.waiting[0].options):
            raise LabError("quiz", "nothing of that is asked now.")
        item = stands.waiting[0]
        right = choice == item.right
        rows = self._quiz_rows(persona, stands.round)
        tries = 1 + sum(row["question"] == item.id for row in rows)
        row: dict[str, Any] = {
            "persona": persona.id, "round": stands.round, "question": item.id, "said": item.options[choice],
            "answer": item.answer, "right": right, "try": tries,
        }  # fmt: skip
        if right and len(stands.waiting) == 1:
            # Only first tries count towards the share.
            first = sum(bool(one["right"]) for one in [*rows, row] if one["try"] == 1)
            share = first / stands.asked
            row |= {"share": share, "passed": share >= pass_mark(self.study.bar)}
        self._record_act("quiz", None, row)
        return right

    def _quiz_rows(self, persona: Persona, round: int) -> list[dict[str, Any]]:
        rows = [act.detail for act in self.store.labels.acts(self.study, self.person.id) if act.act == "quiz"]
        return [row for row in rows if row.get("persona") == persona.id and row.get("round") == round]

    def other_personas(self) -> list[Persona]:
        """Return the personas whose facts serve as wrong options: the built-in ones and the study's."""
        if self._others is None:
            from simulators import library

            personas = {name: library.persona(name, "none") for name in library.personas()}
            for unit in self.store.studies.units(self.study):
                if unit.play is not None and unit.play.persona is not None:
                    personas[unit.play.persona.id] = unit.play.persona
            self._others = [personas[name] for name in sorted(personas)]
        return self._others

    # -- the run -------------------------------------------------------------------------------------------------

    def session(self, here: PlayPosition, *, pace: float = 0.0, device: str = EMBEDDED) -> Session:
        """Return the run of a position, new or resumed, not started yet."""
        assert here.assignment is not None
        self._check_study()
        one, condition = here.assignment, here.play.condition
        run = claim(self.store, self.study, self.person, one.unit, one.run, condition=condition, position=one.position)
        self._session = session_of(
            self.store, here.play, run, self.person.id, "human", pace=pace, device=device, study=self.study
        )
        return self._session

    def evidence(self, here: PlayPosition) -> str:
        """Return the end of a play's run as evidence for answers about it."""
        return f"{here.trace}@{max(1, len(self.store.runs.trace(here.trace).steps))}"

    # -- beneath -------------------------------------------------------------------------------------------------

    def _acts(self, one: Assignment, kind: ActKind) -> list[Act]:
        acts = self.store.labels.acts(self.study, self.person.id, one.unit, one.run)
        return [act for act in acts if act.act == kind]

    def _record_act(self, kind: ActKind, one: Assignment | None, detail: dict[str, Any]) -> None:
        record(self.store, self.study, self.person, kind, one.unit if one else "", one.run if one else 1, detail)
