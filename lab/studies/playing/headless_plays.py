"""Headless plays of a study: a script or a model is the user, and each play's run is tied to the study.

A model is one more rater, under a code of its own. Its answers cost money, and a budget ends the plays. If the model
does not answer, the run stays open and the same command resumes it. If none of its answers is usable, the run fails
with that reason, as a simulator's run would.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from annotators.assignment import shuffled
from lab.core.errors import LabError
from lab.core.redaction.secret_keys import without_keys
from lab.core.run.step import Observation, Question, Reply, Usage
from lab.core.run.trace import Step, Trace
from lab.core.seams import SeesScreen, User, WaitCancelled
from lab.core.settings import Settings
from lab.core.study.protocol import Show
from lab.core.study.study import Play, Study, Unit
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.llm.client import Llm, NoModelAnswer, terms
from lab.runs.spec import user_name
from lab.studies.playing.played_runs import SCRIPT, claim, claimed_run, record_end, session_of, spec_of
from lab.studies.settling.label_import import check_rater
from simulators.users.model import SEEING_SHOWS, USER_SHOWS, ModelUser, UnusedReplies, UserPart, user_messages
from store.store import Store

_SILENT = 3
"""Consecutive plays without an answer after which the model is given up."""


class HeadlessPlay(NamedTuple):
    """One play without a screen: its unit, its rater, and the user as a spec names it."""

    unit: Unit
    by: Actor
    user: str

    @property
    def play(self) -> Play:
        assert self.unit.play is not None
        return self.unit.play


class PlayDone(NamedTuple):
    """Outcome of a play.

    `new` is False if it had ended before. `why` is the reason why it stayed open, empty if it ended. `lost` is the cost
    in US dollars of answers that gave no reply.
    """

    what: HeadlessPlay
    trace: Trace
    new: bool
    why: str = ""
    lost: float = 0.0


def headless_plays(store: Store, study: Study, model: str = "", code: str = "") -> list[HeadlessPlay]:
    """Return the plays of the script and, if named, of a model, in an order drawn for its code from the seed.

    `code` is the model's rater code (default: `model:NAME`). Raise `LabError` if a person has that code.
    """
    units = [unit for unit in store.studies.units(study) if unit.play is not None]
    plays = [HeadlessPlay(unit, SCRIPT, "script") for unit in units if _play_of_unit(unit).user == "script"]
    if not model:
        return plays
    by = Actor("model", check_rater(study, code or f"model:{model}", "model", "", "study play").id, model)
    theirs = {unit.id: unit for unit in units if _play_of_unit(unit).user == "model"}
    order = shuffled((study.id, study.seed), list(theirs), "order", by.id)
    return [*plays, *(HeadlessPlay(theirs[id], by, f"model:{model}") for id in order)]


def _play_of_unit(unit: Unit) -> Play:
    assert unit.play is not None
    return unit.play


def check_plays(store: Store, study: Study, plays: Sequence[HeadlessPlay], settings: Settings) -> None:
    """Raise `LabError` if one of the plays could not be played, before the first one starts."""
    from simulators import library

    seen = set()
    for headless_play in plays:
        if headless_play.by == SCRIPT:
            library.script(headless_play.play.task.id)
        elif headless_play.by.id not in seen:
            seen.add(headless_play.by.id)
            llm = Llm(headless_play.by.display_name, terms(settings))
            llm.check()
            _check_config(store, study, headless_play, llm)


def _check_config(store: Store, study: Study, one: HeadlessPlay, llm: Llm) -> None:
    """Raise `LabError` if this code has played here with another prompt or other terms."""
    now = ModelUser(one.by.display_name, llm, one.play.task, one.play.persona, shows_of(study)).config_sha
    acts = [act for act in store.labels.acts(study, one.by.id) if act.rater.kind == "model" and act.act == "played"]
    for config in sorted({str(act.detail["config"]) for act in acts if "config" in act.detail} - {now}):
        raise LabError(
            "study play", f"{plain(one.by.id)} has played here by other prompts or terms ({config[:12]}, "
            f"now {now[:12]}).", "Another prompt is another user: give it another name with --person.",
        )  # fmt: skip


def shows_of(study: Study) -> tuple[Show, ...]:
    """Return what a model sees in a play: the words of the screen too if the study shows screens."""
    return SEEING_SHOWS if "screens" in study.visible_parts else USER_SHOWS


# -- playing ---------------------------------------------------------------------------------------------------


class PlayBudget:
    """Budget of a series of plays in US dollars. The next play must be expected to fit."""

    def __init__(self, most: float | None = None) -> None:
        self.most, self.spent, self.plays = most, 0.0, 0
        self._unpriced = 0

    def took(self, usage: Usage) -> None:
        """Add an answer's cost."""
        self.spent += usage.cost or 0.0
        self._unpriced += usage.cost is None

    @property
    def stop_reason(self) -> str:
        """Reason to start no further play: the mean cost of earlier plays, or an unknown cost. Empty to continue."""
        if self.most is None:
            return ""
        if self._unpriced:
            return f"nobody knows what {count(self._unpriced, 'answer')} cost, and there is a budget"
        reaches = self.spent + self.spent / max(self.plays, 1) < self.most
        return "" if reaches else f"the budget of {self.most:g} US dollars does not reach for the next play"


def play_all(
    store: Store, study: Study, plays: Sequence[HeadlessPlay], device: str, budget: PlayBudget
) -> Iterator[PlayDone | str]:
    """Play one after the other, each stored before it is yielded. Yield a string with the reason if it ends early.

    A play that had ended before costs nothing and is yielded again.
    """
    silent = 0
    for what in plays:
        before = _ended_before(store, study, what)
        if before is not None:
            yield PlayDone(what, before, new=False)
            continue
        if what.by != SCRIPT and budget.stop_reason:
            yield budget.stop_reason
            return
        budget.plays += what.by != SCRIPT
        play = _play_unit(store, study, what, device, budget)
        yield play
        silent = silent + 1 if play.why else 0
        if silent == _SILENT:
            yield f"the model gave no answer in {silent} plays"
            return


def cost_of(trace: Trace) -> float:
    """Return the known cost in US dollars of the answers of a run's user."""
    usages = [step.reply.usage for step in trace.steps if step.reply is not None and step.reply.usage is not None]
    return sum(usage.cost or 0.0 for usage in usages)


def _ended_before(store: Store, study: Study, what: HeadlessPlay) -> Trace | None:
    run = claimed_run(store, study, what.by, what.unit.id)
    if not run or not store.runs.has_run(run) or (trace := store.runs.trace(run)).ended is None:
        return None
    record_end(store, study, what.by, what.unit.id, 1, trace)
    return trace


def _play_unit(store: Store, study: Study, what: HeadlessPlay, device: str, budget: PlayBudget) -> PlayDone:
    """Play one unit or resume its run, and tie the run to it."""
    run = claim(store, study, what.by, what.unit.id, condition=what.play.condition)
    session = session_of(store, what.play, run, "", what.user, device=device, study=study)
    if user_name(session.user.actor) != what.user and what.by != SCRIPT:
        raise LabError(f"run {run}", f"was begun by {user_name(session.user.actor)}, not by {what.user}.")
    user = LeavingUser(session.user, session.leave, budget)
    session.user = user
    session.start()
    try:
        session.join()
    except KeyboardInterrupt:
        # Left open, so that the same command resumes it.
        session.leave()
        raise
    if session.failure is not None:
        raise session.failure
    trace = store.runs.trace(run)
    record_end(store, study, what.by, what.unit.id, 1, trace)
    return PlayDone(what, trace, new=True, why=user.why, lost=user.lost)


class LeavingUser:
    """A user whose run stays open if no model answers. `why` is then the reason.

    It adds the answers' cost to `budget`. `lost` is the cost in US dollars of answers that gave no reply.
    """

    def __init__(self, user: User, leave: Callable[[], None], budget: PlayBudget) -> None:
        self.user, self._leave, self._budget = user, leave, budget
        self.why, self.lost = "", 0.0

    @property
    def actor(self) -> Actor:
        return self.user.actor

    @property
    def config_sha(self) -> str:
        """The model's configuration hash, empty for a script."""
        return self.user.config_sha if isinstance(self.user, ModelUser) else ""

    def see_screen(self, screen: Observation) -> None:
        """Pass the screen on to a user that can see."""
        if isinstance(self.user, SeesScreen):
            self.user.see_screen(screen)

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """Return the user's reply. Raise `WaitCancelled` after leaving the run."""
        try:
            reply = self.user.reply(question, history, stop)
        except UnusedReplies as error:
            self._lose_answer(error.usage)
            raise
        except NoModelAnswer as error:
            if error.usage.cost is not None:
                self._lose_answer(error.usage)
            self.why = plain(without_keys(error.sentence), lines=False)
            self._leave()
            raise WaitCancelled from error
        if reply.usage is not None:
            self._budget.took(reply.usage)
        return reply

    def _lose_answer(self, usage: Usage) -> None:
        self._budget.took(usage)
        self.lost += usage.cost or 0.0


# -- what would be sent ----------------------------------------------------------------------------------------

_PLACEHOLDER = "(what the assistant says)"


def shown_prompt(study: Study, unit: Unit) -> list[tuple[str, str]]:
    """Return the messages of a model's first question in a play (role, text), a placeholder in the question's place.

    For a person's play, return those of a shadow model.
    """
    if unit.play is None:
        raise LabError(f"unit {unit.id}", "is not played.")
    shows = SEEING_SHOWS if unit.play.user == "person" and unit.play.mirror else shows_of(study)
    spec = spec_of(unit.play, "", "model:any", study=study)
    kind = "propose" if spec.task.kind == "proactive" else "ask"
    question = Question("q0", kind, _PLACEHOLDER)  # type: ignore[arg-type]
    messages = user_messages(UserPart(spec.task, spec.persona, shows), question, (), Observation())
    return [(message.role, "\n".join(str(part) for part in message.parts)) for message in messages]
