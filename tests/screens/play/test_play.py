"""A participant's whole part by keys: consent, quiz, two runs with a question and a proposal, and what follows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from msgspec.structs import replace
from textual._compositor import ChopsUpdate
from textual.screen import Screen as TextualScreen
from textual.widgets import Static

from annotators.quiz import QuizItem, quiz
from lab.core.run.step import Question
from lab.core.run.trace import Answered
from lab.core.settings import Settings
from lab.core.study.rating_sheet import current_labels
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.studies.playing.play_session import Participation
from lab.studies.playing.played_runs import study_plays
from lab.studies.playing.quiz_wording import quiz_question
from screens.annotate.guide import GuideScreen
from screens.annotate.sheet import SheetPane
from screens.app import LabApp
from screens.live.live import LiveScreen
from screens.live.reply import DecisionRow, OpenQuestion
from screens.navigation import Opening
from screens.play.lobby import LobbyScreen
from screens.play.play import PageChoices, PlayScreen
from store.store import Store
from tests import plays
from tests.crossed import IN_SOAK, crossed, soak
from tests.plays import COFFEE, LUNCH, answer_all, frozen, play_to_end, unit
from tests.screens.runs import painted

Until = Callable[..., Awaitable[None]]


class Stage(LabApp):
    """The real app in a participant's seat; `painted` is every line of every frame, where it `records` them."""

    def __init__(self, store: Store, study: Study, person: str = "P1", *, records: bool = False) -> None:
        settings = Settings(seat="participant", person=person, pace=0.0, bell=False)
        super().__init__(store, settings, Opening("play", study=study))
        self.study = study
        self.painted: set[str] = set()
        self.records = records

    def _display(self, screen: TextualScreen[Any], renderable: Any) -> None:
        if self.records and renderable is not None and screen.is_attached:
            height = screen._compositor.size.height
            rows = {y for y, _, _ in renderable.spans} if isinstance(renderable, ChopsUpdate) else set(range(height))
            chops = screen._compositor._render_chops(screen._compositor.size.region, rows.__contains__)
            self.painted.update("".join(strip.text for strip in chops[y].values() if strip) for y in rows)
        super()._display(screen, renderable)

    @property
    def room(self) -> PlayScreen:
        room = self.get_screen_stack("play")[0]
        assert isinstance(room, PlayScreen)
        return room

    @property
    def part(self) -> Participation:
        assert self.room.part is not None
        return self.room.part

    @property
    def stage(self) -> str:
        return self.room.position.stage if self.room.position is not None else ""

    @property
    def heading(self) -> str:
        return str(self.room.query_one("#play-page").border_title)

    @property
    def body(self) -> str:
        return str(self.room.query_one("#play-body", Static).render())

    def asks(self, item: QuizItem) -> bool:
        """Whether this question is the one that is read."""
        here = self.room.position
        assert here is not None
        persona = here.play.persona
        assert persona is not None
        return self.heading == "What do you remember?" and quiz_question(item, persona.name, "en") in self.body

    @property
    def answers(self) -> PageChoices:
        return self.room.query_one(PageChoices)

    @property
    def readable(self) -> bool:
        """Whether a page stands there and was seen."""
        return self.screen is self.room and self.answers.ready

    @property
    def asked(self) -> bool:
        """Whether a question of the agent's stands open and was seen."""
        return self.open_question is not None and self.screen.query_one(DecisionRow).ready

    @property
    def open_question(self) -> Question | None:
        if not isinstance(self.screen, LiveScreen) or not self.screen.is_mounted:
            return None
        return self.screen.query_one(OpenQuestion).question

    @property
    def over(self) -> bool:
        return isinstance(self.screen, LiveScreen) and self.screen._ended is not None

    @property
    def sheet(self) -> SheetPane:
        return self.room.query_one(SheetPane)


def _answered(app: Stage, question: Question) -> bool:
    return app.over or app.open_question is not question


async def consent(app: Stage, pilot: Any, until: Until) -> None:
    await until(pilot, lambda: app.readable and app.stage == "consent")
    await pilot.press("1")


async def answer_quiz(app: Stage, pilot: Any, until: Until, *, wrong_first: bool = False) -> None:
    """Reads the card and answers every question."""
    await until(pilot, lambda: app.readable and app.stage == "card")
    await pilot.press("enter")
    await answer_items(app, pilot, until, app.study.quiz, wrong_first=wrong_first)


async def answer_items(app: Stage, pilot: Any, until: Until, left: int, *, wrong_first: bool = False) -> None:
    """Answers what is left of the questions."""
    persona = app.room.position.play.persona  # type: ignore[union-attr]
    assert persona is not None
    while left:
        item = app.part.quiz_state(persona).waiting[0]
        await until(pilot, lambda item=item: app.readable and app.asks(item))
        if wrong_first:
            await pilot.press(str((item.right + 1) % len(item.options) + 1))
            await until(pilot, lambda: app.readable and app.heading == "Not quite")
            assert item.answer.split()[0] in app.body
            await pilot.press("enter")
            wrong_first = False
            continue
        await pilot.press(str(item.right + 1))
        left -= 1
        await until(pilot, lambda left=left: len(app.part.quiz_state(persona).waiting) == left)
    await until(pilot, lambda: app.stage == "brief")


async def run(app: Stage, pilot: Any, until: Until, *, text: str = "mild please", decision: str = "1") -> None:
    """Begins the task, answers whatever is asked, and goes on after the end."""
    await until(pilot, lambda: app.readable and app.stage == "brief")
    await pilot.press("enter")
    while True:
        await until(pilot, lambda: app.asked or app.over)
        if app.over:
            break
        question = app.open_question
        assert question is not None
        if question.kind == "propose":
            await pilot.press(decision)
        else:
            await pilot.press(*("space" if key == " " else key for key in text), "enter")
        await until(pilot, partial(_answered, app, question))
    await pilot.press("enter")
    await until(pilot, lambda: app.stage == "questions" and app.screen is app.room and app.sheet.display)


async def answer_sheet(app: Stage, pilot: Any, until: Until, keys: str = "452") -> None:
    """Three ratings, no remark, handed in."""
    for number, key in enumerate(keys, 1):
        await pilot.press(key)
        await until(pilot, lambda count=number: len(current_labels(app.store.labels.read(app.study))) % 3 == count % 3)
    await hand_in(app, pilot, until)


async def hand_in(app: Stage, pilot: Any, until: Until) -> None:
    """Says no more, and hands in what was rated."""
    sheet = app.sheet
    while sheet.item is not None:
        before = sheet.item
        await pilot.press("down")
        await until(pilot, lambda item=before: sheet.item is not item)
    await pilot.press("enter")
    await until(pilot, lambda: app.stage != "questions" or app.room.position.number > 1)  # type: ignore[union-attr]


@crossed
async def test_two_participants_play_their_part_by_keys_alone_and_see_nothing_that_is_not_theirs(
    store: Store, until: Until
) -> None:
    """The second plays what comes first to them, and in a soak both tasks, as the first does."""
    study = frozen(store, [unit(LUNCH), unit(COFFEE, mirror=False)], bar=0.6)
    first, second = Stage(store, study, "P1", records=True), Stage(store, study, "P2")
    async with first.run_test(size=(120, 40)) as pilot:
        await consent(first, pilot, until)
        await answer_quiz(first, pilot, until)
        await run(first, pilot, until, decision="1")
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(first.screen, LobbyScreen))
        await until(pilot, lambda: any("Who drinks what: task 1 of 2" in line for line in first.painted))
        await pilot.press("enter")
        await until(pilot, lambda: first.screen is first.room)
        await _who_did_not_see_the_phone_may_say_so(first, pilot, until, seen=True)
        await run(first, pilot, until, decision="1")
        await _who_did_not_see_the_phone_may_say_so(first, pilot, until, seen=False)
        await until(pilot, lambda: first.stage == "done" and "Your code is P1" in painted(first))
    _nothing_hidden_was_painted(store, study, first.painted)
    async with second.run_test(size=(120, 40)) as pilot:
        await consent(second, pilot, until)
        await answer_quiz(second, pilot, until, wrong_first=True)
        for _ in range(2 if IN_SOAK else 1):
            await run(second, pilot, until, decision="2")
            await answer_sheet(second, pilot, until)
        if IN_SOAK:
            await until(pilot, lambda: second.stage == "done" and "Your code is P2" in painted(second))
    found = study_plays(store, study)
    assert [(one.task, one.condition, one.by.id, one.status) for one in found] == [
        (COFFEE, "person, no mirror", "P1", "completed"), (COFFEE, "person, no mirror", "P2", "completed"),
        (LUNCH, "person", "P1", "completed"), *([(LUNCH, "person", "P2", "completed")] if IN_SOAK else []),
    ]  # fmt: skip
    for one in found:
        trace = store.runs.trace(one.trace)
        assert trace.user == Actor("human", one.by.id)
        assert trace.conditions.seat == "participant"
        assert trace.conditions.mirror == (one.task == LUNCH)
    decisions = {one.by.id: _decisions(store, one.trace) for one in found if one.task == COFFEE}
    assert decisions == {"P1": ["accept"], "P2": ["reject"]}
    labels = list(current_labels(store.labels.read(study)))
    assert len(labels) == len(found) * 3
    runs = {one.trace for one in found}
    assert {str(label.evidence).partition("@")[0] for label in labels} == runs
    acts = store.labels.acts(study)
    assert len({act.detail["sha"] for act in acts if act.act == "consent"}) == 1
    tries = {(act.rater.id, act.detail["try"]) for act in acts if act.act == "quiz"}
    assert tries == {("P1", 1), ("P2", 1), ("P2", 2)}
    wishes = {
        (label.unit.partition("-")[0], label.value, label.reason_missing)
        for label in store.labels.read(study)
        if label.field == "wish" and label.rater.id == "P1"
    }
    assert wishes == {(COFFEE, None, "cannot_judge"), (LUNCH, "5", None)}


async def _who_did_not_see_the_phone_may_say_so(app: Stage, pilot: Any, until: Until, *, seen: bool) -> None:
    before = len(current_labels(app.store.labels.read(app.study)))
    await pilot.press("4", "5")
    await until(pilot, lambda: "How well did it do" in str(app.sheet.item_pane.question_line.current_text))
    offered = [one.says for one in app.sheet.item_pane.options.choices]
    assert ("I could not see it" in offered) is not seen
    assert len(offered) == (5 if seen else 6)
    await pilot.press("5" if seen else "6")
    await until(pilot, lambda: len(current_labels(app.store.labels.read(app.study))) == before + 3)
    await hand_in(app, pilot, until)


def _nothing_hidden_was_painted(store: Store, study: Study, lines: set[str]) -> None:
    painted = "\n".join(lines)
    thoughts = {
        step.proposed.thought
        for one in study_plays(store, study)
        for step in store.runs.trace(one.trace).steps
        if len(step.proposed.thought) > 12
    }
    hidden = {LUNCH, COFFEE, "Ten to nine at the institute", "P2", "score", "pass", *thoughts}
    for one in (LUNCH, COFFEE):
        play = unit(one).play
        assert play is not None
        hidden |= {check.name for check in play.task.checks} | {node.name for node in play.task.tdg.nodes}
        hidden |= {step.do for step in play.task.golden}
    assert thoughts
    found = {word for word in hidden if word and word in painted}
    assert not found
    for word in ("Ines Varga", "glad of your coffee", "P1", "Thank you"):
        assert word in painted, word  # the search finds what was painted


def _decisions(store: Store, run: str) -> list[str | None]:
    replies = [event.reply for event in store.runs.events(run) if isinstance(event, Answered)]
    assert all(reply.shown_at and reply.sent_at for reply in replies)
    return [reply.decision for reply in replies if reply.decision]


async def test_who_does_not_agree_is_let_go_kindly_and_may_come_back(store: Store, until: Until) -> None:
    study = frozen(store, [unit(LUNCH)])
    app = Stage(store, study)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.readable and app.stage == "consent")
        await pilot.press("enter")  # nothing is marked: an Enter agrees to nothing
        await until(pilot, lambda: "Nothing is marked" in str(app.room.query_one("#play-said", Static).render()))
        await pilot.press("2")
        await until(pilot, lambda: app.readable and app.stage == "refused")
        assert [act.act for act in store.labels.acts(study)] == ["sat", "left"]
        assert "thank you" in app.body
        await pilot.press("enter")
        await until(pilot, lambda: app.readable and app.heading == "Before you begin")
        await pilot.press("1")
        await until(pilot, lambda: app.stage == "card")
    again = Stage(store, study)
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: again.readable and again.stage == "card")


async def test_a_key_that_came_before_the_page_was_read_agrees_to_nothing(store: Store, until: Until) -> None:
    study = frozen(store, [unit(LUNCH)])
    app = Stage(store, study)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.stage == "consent" and app.screen is app.room)
        app.answers._seen_at = app.answers._clock.seconds() + 100
        await pilot.press("1")
        await until(pilot, lambda: "before this was read" in str(app.room.query_one("#play-said", Static).render()))
        assert not [act for act in store.labels.acts(study) if act.act == "consent"]


async def test_below_the_mark_the_card_is_read_again(store: Store, until: Until) -> None:
    study = frozen(store, [unit(LUNCH)], bar=0.9)
    app = Stage(store, study, records=True)
    persona = unit(LUNCH).play.persona  # type: ignore[union-attr]
    assert persona is not None
    async with app.run_test(size=(120, 40)) as pilot:
        await consent(app, pilot, until)
        await until(pilot, lambda: app.readable and app.stage == "card")
        await pilot.press("enter")
        first = quiz(persona, app.part.other_personas(), 3, study.seed, 1)
        await until(pilot, lambda: app.readable and app.heading == "What do you remember?")
        await pilot.press(str((first[0].right + 1) % len(first[0].options) + 1))
        await until(pilot, lambda: app.readable and app.heading == "Not quite")
        await pilot.press("enter")
        for item in (*first[1:], first[0]):
            await until(pilot, lambda item=item: app.readable and app.asks(item))
            await pilot.press(str(item.right + 1))
        await until(pilot, lambda: app.readable and app.heading == "Who you are")
        assert any("2 of 3 were right at the first try; 3 are needed" in line for line in app.painted)
        await answer_quiz(app, pilot, until)
    rows = [act.detail for act in store.labels.acts(study) if act.act == "quiz"]
    assert [row["passed"] for row in rows if "passed" in row] == [False, True]
    assert {row["round"] for row in rows} == {1, 2}


async def test_a_key_answers_no_question_that_another_window_went_on_from(store: Store, until: Until) -> None:
    study = frozen(store, [unit(LUNCH)])
    app = Stage(store, study)
    persona = unit(LUNCH).play.persona  # type: ignore[union-attr]
    assert persona is not None
    async with app.run_test(size=(120, 40)) as pilot:
        await consent(app, pilot, until)
        await until(pilot, lambda: app.readable and app.stage == "card")
        await pilot.press("enter")
        first, second, third = app.part.quiz_state(persona).waiting
        await until(pilot, lambda: app.readable and app.asks(first))
        other = Participation(store, study, Actor("human", "P1"))
        assert other.answer_quiz(persona, first.right)
        await pilot.press(str((second.right + 1) % len(second.options) + 1))
        await until(pilot, lambda: app.readable and app.asks(second))
        assert other.answer_quiz(persona, second.right)
        assert other.answer_quiz(persona, third.right)
        await pilot.press("1")
        await until(pilot, lambda: app.readable and app.stage == "brief")
    rows = [act.detail for act in store.labels.acts(study) if act.act == "quiz"]
    assert [row["right"] for row in rows] == [True, True, True]


@soak
async def test_a_task_that_another_window_goes_on_with_is_told_without_words_of_home(
    store: Store, until: Until
) -> None:
    study = frozen(store, [unit(LUNCH)], quiz=0)
    app = Stage(store, study, records=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await consent(app, pilot, until)
        await until(pilot, lambda: app.readable and app.stage == "brief")
        await pilot.press("enter")
        await until(pilot, lambda: app.asked)
        other = Participation(store, study, Actor("human", "P1"))
        session = other.session(other.where())
        session.start()
        await until(pilot, lambda: session.questions.waiting is not None)
        await pilot.press("x", "enter")
        await until(pilot, lambda: any("nothing more can be kept" in line for line in app.painted))
        await pilot.press("enter")
        await until(pilot, lambda: app.readable and app.stage == "run")
        answer_all(session, other.person)
        await pilot.press("enter")
        await until(pilot, lambda: app.stage == "questions" and app.sheet.display)
    assert not {line for line in app.painted if "resumed" in line or "back to Home" in line}


async def test_enter_leads_on_from_questions_that_another_window_handed_in(store: Store, until: Until) -> None:
    study = frozen(store, [unit("friday_reorder"), unit("saturday_walk")], quiz=0)
    other = Participation(store, study, Actor("human", "P1"))
    other.agree()
    play_to_end(other)
    app = Stage(store, study)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.stage == "questions" and app.sheet.display)
        plays.hand_in(other)
        play_to_end(other)
        await pilot.press("1")
        await until(pilot, lambda: "Another window handed it in." in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: "task 2 of 2" in painted(app) and "Another window" not in painted(app))
        await pilot.press("1")
        await until(pilot, lambda: len(current_labels(store.labels.read(study))) > 3)
        plays.hand_in(other)
        await pilot.press("1")
        await until(pilot, lambda: "Another window handed it in." in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.stage == "done" and not app.sheet.display)


async def test_reopening_lands_at_the_exact_place_and_after_a_run_it_is_plain_what_comes(
    store: Store, until: Until
) -> None:
    study = frozen(store, [unit(LUNCH)])
    persona = unit(LUNCH).play.persona  # type: ignore[union-attr]
    assert persona is not None
    app = Stage(store, study)
    async with app.run_test(size=(120, 40)) as pilot:
        await consent(app, pilot, until)
        await until(pilot, lambda: app.readable and app.stage == "card")
        await pilot.press("enter")
        await until(pilot, lambda: app.readable and app.heading == "What do you remember?")
        before = app.part.quiz_state(persona)
        await pilot.press(str(before.waiting[0].right + 1))
        await until(pilot, lambda: len(app.part.quiz_state(persona).waiting) == 2)
    again = Stage(store, study, records=True)
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: again.stage == "quiz")
        await until(pilot, lambda: again.heading == "What do you remember?")
        assert again.part.quiz_state(persona).waiting[0].id == before.waiting[1].id
        await answer_items(again, pilot, until, 2)
        await _after_a_run_it_is_plain_what_comes(again, pilot, until)
    assert not any("Seen here" in line or "@" in line for line in again.painted)
    last = Stage(store, study)
    async with last.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: last.stage == "questions")
        await until(pilot, lambda: last.sheet.item is not None and last.sheet.item.field.id == "effort")


async def _after_a_run_it_is_plain_what_comes(app: Stage, pilot: Any, until: Until) -> None:
    await until(pilot, lambda: app.readable and app.stage == "brief")
    await pilot.press("enter")
    await until(pilot, lambda: app.asked)
    await pilot.press("ctrl+q")
    await until(pilot, lambda: any("opens the study for you again" in line for line in app.painted))
    assert not any("Home can resume" in line for line in app.painted)
    await pilot.press("escape")
    await until(pilot, lambda: isinstance(app.screen, LiveScreen))
    while not app.over:
        question = app.open_question
        assert question is not None
        await pilot.press("o", "k", "enter")
        await until(pilot, partial(_answered, app, question))
        await until(pilot, lambda: app.asked or app.over)
    await until(pilot, lambda: any("a few questions on what" in line for line in app.painted))
    await pilot.press("enter")
    await until(pilot, lambda: app.stage == "questions" and app.screen is app.room and app.sheet.display)
    await pilot.press("4", "e", "r", "g")  # no answer rests on a step that nobody sees
    await until(pilot, lambda: len(current_labels(app.store.labels.read(app.study))) == 1)
    await pilot.press("t")
    await until(pilot, lambda: isinstance(app.screen, GuideScreen))
    assert [act.unit for act in app.store.labels.acts(app.study) if act.act == "guide"] == [f"{LUNCH}-unit"]


async def test_a_withdrawn_person_and_one_without_tasks_are_told(store: Store, until: Until) -> None:
    study = frozen(store, [unit(LUNCH)], ("P1",))
    app = Stage(store, study, "P9", records=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await consent(app, pilot, until)
        await until(pilot, lambda: app.stage == "nothing")
        await until(pilot, lambda: any("No task of this study is for P9" in line for line in app.painted))


async def test_who_they_are_and_what_they_agreed_to_is_read_again_before_a_task(store: Store, until: Until) -> None:
    study = frozen(store, [unit(LUNCH)], quiz=0)
    app = Stage(store, study)
    async with app.run_test(size=(120, 40)) as pilot:
        await consent(app, pilot, until)
        for key, heading in (("2", "Who you are"), ("3", "What you agreed to")):
            await until(pilot, lambda: app.readable and app.heading == "What you see and do")
            await pilot.press(key)
            await until(pilot, lambda heading=heading: app.readable and app.heading == heading)
            await pilot.press("1")
        await until(pilot, lambda: app.readable and app.heading == "What you see and do")
    assert not study_plays(store, study)  # reading begins nothing
    assert {act.act for act in store.labels.acts(study)} == {"sat", "consent", "rose"}


async def test_the_language_that_is_set_is_read_and_kept_with_consent(store: Store, until: Until) -> None:
    study = frozen(store, [unit(LUNCH)], quiz=0)
    app = Stage(store, study)
    app.settings = replace(app.settings, locale="zh")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.readable and app.heading == "开始之前")
        await pilot.press("1")
        await until(pilot, lambda: app.readable and app.heading == "您看到什么、做什么")
    kept = [act.detail for act in store.labels.acts(study) if act.act == "consent"]
    assert [(one["locale"], "研究" in one["text"]) for one in kept] == [("zh", True)]


async def test_who_did_not_agree_leaves_no_times(store: Store, until: Until) -> None:
    study = frozen(store, [unit(LUNCH)], quiz=0)
    app = Stage(store, study)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.readable and app.stage == "consent")
        await pilot.press("2")
        await until(pilot, lambda: app.readable and app.stage == "refused")
    assert [act.act for act in store.labels.acts(study)] == ["sat", "left"]
