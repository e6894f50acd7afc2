"""In the rooms over stored runs and in studies a text longer than any pane is read to its end by keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from lab.core.run.demonstration import demonstration_task
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Observation, Prompt, Proposed, Question, Reply
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.settings import Settings
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Target, Unit, UnitText
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from lab.runs.session import Session
from lab.runs.spec import PERSON as RECORDER
from lab.runs.spec import Spec
from lab.studies.proofreading.proofreading import ProofreadingSession
from screens.adjudicate.adjudicate import AdjudicateScreen
from screens.annotate.guide import GuideScreen
from screens.annotate.unit_pane import UnitPane
from screens.app import LabApp
from screens.author.author import AuthorScreen
from screens.compare.compare import CompareScreen
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from screens.play.play import PageChoices
from screens.replay.replay import ReplayScreen
from screens.review.review import ReviewScreen
from screens.sent.sent import SentScreen
from screens.widgets.text_page import TextPage
from store.store import Store
from tests.crossed import crossed, soak
from tests.demonstrations import DEMO, demonstration
from tests.plays import LUNCH, unit
from tests.plays import frozen as played
from tests.screens.annotate.sample_studies import rating, ready, studied
from tests.screens.live.conftest import LeapingClock
from tests.screens.long_texts import (
    NARROW_TO_WIDE,
    SMALL_TO_TALL,
    Words,
    area,
    at_sizes,
    in_view,
    longest,
    lost,
    passes,
    read,
    turned,
    whole,
    words,
)
from tests.screens.play.test_play import Stage as Playing
from tests.screens.play.test_play import answer_quiz
from tests.screens.record.conftest import Board
from tests.screens.record.conftest import Stage as Recording
from tests.screens.runs import AGENT, BARE, PERSON, WHOLE
from tests.studies import frozen, label

pytestmark = crossed
Until = Callable[..., Awaitable[None]]
Sizes = list[tuple[int, int]]
GOAL, THOUGHT, ASKED, SAID = range(4)


def four(language: str, sizes: Sizes) -> list[Words]:
    """Four of the longest texts."""
    return [words(language, longest(language, sizes), place) for place in range(4)]


def run_of(texts: list[Words], trace: str = WHOLE) -> Imported:
    """A run that was asked for, thought, asked and was told such texts; its screen and its prompt hold one too."""
    task = Task("long", "general", texts[GOAL].text, texts[GOAL].text)
    label = Node(Bounds(0, 0, 300, 100), texts[THOUGHT].text, cls="TextView")
    seen = Observation(size=(540, 1200), tree=UiTree((Node(Bounds(0, 0, 540, 1200), children=(label,)),)))
    asks = Action("ask_user", text=texts[ASKED].text)
    proposed = Proposed(asks, texts[THOUGHT].text, Prompt(texts[GOAL].text), texts[SAID].text)
    question = Question("q", "ask", texts[ASKED].text, ("yes", "no"))
    events: list[AnyEvent] = [
        Started(trace=trace, task=task, agent=AGENT),
        Step(index=0, before=seen, proposed=proposed, question=question, reply=Reply("q", texts[SAID].text, PERSON)),
        Step(index=1, before=seen, proposed=Proposed(Action("input_text", text=texts[ASKED].text), texts[SAID].text)),
        Ended(status="completed"),
    ]
    return Imported(number_events(events), {}, [])


def short(text: Words) -> Words:
    """Its first 500 characters: an intent has no more."""
    return Words(text.text[:499], tuple(piece for piece in text.pieces if piece in text.text[:499]))


@soak
@passes("en", SMALL_TO_TALL)
async def test_a_stored_run(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    store.runs.add(run_of(texts))
    app: Any = LabApp(store, Settings(bell=False, overlay=False), Opening("replay", WHOLE, 1))
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and app.screen.footage.view is not None)
        goal, sheet = app.screen.query_one("#goal"), app.screen.query_one("#sheet")
        async for _ in at_sizes(pilot, sizes):
            await until(pilot, lambda: all("↓" in area(app, page) for page in (goal, sheet)))
            assert all(page.has_focus or "tab" in area(app, page) for page in (goal, sheet))
            assert lost(texts[GOAL], await whole(app, pilot, goal)) == []
            seen = await whole(app, pilot, sheet)
            assert [lost(texts[place], seen) for place in (THOUGHT, ASKED, SAID)] == [[], [], []]
            await pilot.press("u")
            await until(pilot, lambda: "UItree" in area(app, sheet) and "↓" in area(app, sheet))
            assert lost(texts[THOUGHT], await whole(app, pilot, sheet)) == []
            await pilot.press("p")
            await until(pilot, lambda: isinstance(app.screen, SentScreen) and "Itanswered" in area(app, app.screen))
            seen = await read(app, pilot, app.screen.query_one(TextPage))
            assert lost(texts[GOAL], seen) + lost(texts[SAID], seen) == []
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
            await pilot.press("u")


@soak
@passes("zh", NARROW_TO_WIDE)
async def test_a_demonstration_that_is_proofread(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    made = demonstration(intent=texts[GOAL].text)
    typed = made.events[2]
    assert isinstance(typed, Step)
    proposed = replace(typed.proposed, action=replace(typed.proposed.action, text=texts[ASKED].text),
                       instruction=texts[THOUGHT].text)  # fmt: skip
    made.events[2] = replace(typed, proposed=proposed, decision=None)
    store.runs.add(made)
    ProofreadingSession(store, DEMO, Actor("human", "P1")).reject(1, texts[SAID].text)
    app: Any = LabApp(store, Settings(person="P1", bell=False, overlay=False), Opening("review", DEMO))
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.footage.view is not None)
        items, page = app.screen.items, app.screen.page
        async for _ in at_sizes(pilot, sizes):
            items.focus()
            await pilot.press("home")
            await until(pilot, lambda: items.cursor == 0 and "↓" in area(app, page) and in_view(app, items))
            assert lost(texts[GOAL], await whole(app, pilot, page)) == []
            items.focus()
            await pilot.press("down", "down")
            await until(pilot, lambda: items.step == 1)
            seen = await whole(app, pilot, page)
            assert [lost(texts[place], seen) for place in (THOUGHT, ASKED, SAID)] == [[], [], []]


@passes("zh", SMALL_TO_TALL)
async def test_an_act_that_is_held(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    intent = short(texts[GOAL])
    spec = Spec(demonstration_task(None, intent.text, "residence"), agent=RECORDER)
    app = Recording(Session(store, spec, device=Board()), LeapingClock())
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: app.is_running and app.desk.ready)
        mirror = app.record.query_one(Mirror)
        line, hint = app.desk.query_one("#desk-line"), app.desk.query_one("#desk-hint")
        async for _ in at_sizes(pilot, sizes):
            mirror.post_message(Mirror.Typed(mirror, texts[ASKED].text))
            await until(pilot, lambda: line.display and in_view(app, line, hint) and "↓" in area(app, app.desk))
            await pilot.pause()
            line.focus()
            assert lost(texts[ASKED], await read(app, pilot, app.desk)) == []
            assert in_view(app, line, hint, app.listed)
            await pilot.press("escape")
            fold = app.record.query_one("#seat-task")
            fold.focus()
            await pilot.press("plus")
            seat = app.record.query_one("#seat")
            assert lost(intent, await turned(app, pilot, seat, "pagedown")) == []
            await pilot.press("plus")
        app.run_under_test.stop()


STATE = Field("state", "Which?", "nominal", (Option("completed", key="1"), Option("not_completed", key="2")))


@passes("en", NARROW_TO_WIDE)
async def test_an_item_that_is_settled(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    target = Target("n1", texts[GOAL].text, texts[THOUGHT].text)
    one = Unit("u1", given=(UnitText("A text", "short"),), targets=(target,))
    asked = Protocol("one", "One thing", "run", (STATE,), targets="tdg nodes")
    plan = frozen(store, [one], asked, raters=("R1", "R2"), id="s")
    for code, said, note in (("R1", "completed", texts[ASKED]), ("R2", "not_completed", texts[SAID])):
        rater = Actor("human", code)
        store.labels.record(plan, one, label(plan, one, "n1", "state", said, rater=rater, note=note.text))
        store.labels.record_act(Act(uuid7(), "s", 1, rater, "commit", now(), "u1"))
    store.labels.record_act(Act(uuid7(), "s", 1, Actor("human", "D1"), "locked", now()))
    given = Settings(person="D1", seat="designer", bell=False)
    app: Any = LabApp(store, given, Opening("adjudicate", study=plan))
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AdjudicateScreen) and app.screen.disputes.count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.shown == "case")
        pane = app.screen.pane
        async for _ in at_sizes(pilot, sizes):
            await until(pilot, lambda: in_view(app, pane.answers) and "↓" in area(app, pane.ask))
            seen = await whole(app, pilot, pane.ask)
            assert lost(texts[GOAL], seen) + lost(texts[THOUGHT], seen) == []
            for at, key in ((0, "home"), (1, "end")):
                pane.answers.focus()
                await pilot.press(key)
                await until(pilot, lambda at=at: pane.answers.cursor == at and in_view(app, pane.words))
                note = texts[ASKED] if pane.answers.current.said.value == "completed" else texts[SAID]
                assert lost(note, await whole(app, pilot, pane.words)) == []


@soak
@passes("en", SMALL_TO_TALL)
async def test_texts_that_are_compared_and_the_guide(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    given = (UnitText("One", texts[0].text, side="A"), UnitText("Two", texts[1].text, side="B"))
    asked = Field("which", "Which?", "nominal", (Option("yes", key="1", means=texts[3].text), Option("no", key="2")))
    protocol = Protocol("one", "One thing", "run", (asked,), guide={"en": texts[2].text})
    app: Any = rating(store, studied(store, protocol, [Unit("u1", given=given)]))
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: ready(app) and "PgDn" in area(app, app.screen))
        beside = app.screen.query_one(UnitPane)
        async for _ in at_sizes(pilot, sizes):
            seen = await turned(app, pilot, beside, "pagedown", quick=True)
            assert lost(texts[0], seen) + lost(texts[1], seen) == []
            assert in_view(app, app.screen.pane.options)
            await pilot.press("t")
            await until(pilot, lambda: isinstance(app.screen, GuideScreen) and "↓" in area(app, app.screen))
            seen = await read(app, pilot, app.screen.page)
            assert lost(texts[2], seen) + lost(texts[3], seen) == []
            await pilot.press("escape")
            await until(pilot, lambda: ready(app))


@soak
@passes("zh", NARROW_TO_WIDE)
async def test_the_pages_of_a_study_that_is_played(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    one = unit(LUNCH)
    play = one.play
    assert play is not None
    assert play.persona is not None
    who = replace(play.persona, facts={**play.persona.facts, "story": texts[1].text})
    one = replace(one, play=replace(play, task=replace(play.task, instruction=texts[2].text), persona=who))
    study = played(store, [one], ("P1",), quiz=1, consent={"en": texts[0].text})
    app = Playing(store, study)
    async with app.run_test(size=sizes[0]) as pilot:
        answers = app.room.query_one(PageChoices)
        for stage, text in zip(("consent", "card", "brief"), texts, strict=False):
            await until(pilot, lambda stage=stage: app.readable and app.stage == stage)
            page = app.room.query_one("#play-page")
            async for _ in at_sizes(pilot, sizes):
                await until(pilot, lambda page=page: "spacereadson" in area(app, page))
                assert in_view(app, answers)
                assert lost(text, await read(app, pilot, page, "space", "spacereadson", quick=False)) == []
                assert in_view(app, answers)
            if stage == "card":
                await answer_quiz(app, pilot, until)
            elif stage == "consent":
                await pilot.press("1")


@soak
@passes("zh", SMALL_TO_TALL)
async def test_two_runs_side_by_side(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    store.runs.add(run_of(texts))
    store.runs.add(run_of(texts[::-1], BARE))
    app: Any = LabApp(store, Settings(bell=False, overlay=False), Opening("runs"))
    async with app.run_test(size=sizes[0]) as pilot:
        app.open_compare(WHOLE, BARE)
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.compared is not None)
        await pilot.press("home")
        pages = app.screen.pages
        async for _ in at_sizes(pilot, sizes):
            await until(pilot, lambda: all("↓" in area(app, page) for page in pages))
            for page, held in zip(pages, (texts, texts[::-1]), strict=True):
                seen = await whole(app, pilot, page)
                assert [lost(held[place], seen) for place in (THOUGHT, ASKED, SAID)] == [[], [], []]


@soak
@passes("en", NARROW_TO_WIDE)
async def test_a_task_that_is_designed(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    store.runs.add(run_of(texts))
    task = store.runs.task(WHOLE)
    app: Any = LabApp(store, Settings(bell=False, overlay=False, person="P01"), Opening("author", WHOLE, task=task))
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AuthorScreen) and app.screen.footage.view is not None)
        asked = app.screen.query_one("#asked-for")
        async for _ in at_sizes(pilot, sizes):
            await until(pilot, lambda: "↓" in area(app, asked))
            assert in_view(app, app.screen.outline)
            assert lost(texts[GOAL], await whole(app, pilot, asked)) == []
            assert in_view(app, app.screen.outline)
