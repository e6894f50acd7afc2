"""In forms, lists and choices a long text is read to its end by keys, and what answers it is in view."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from lab.core.run.run_records import Imported, number_events
from lab.core.run.trace import Ended, Forked, Started
from lab.core.settings import Settings
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Target, Unit, UnitText
from lab.core.task.design import Design, first_draft, next_revision, subject_of
from lab.core.task.task import Actor, InformationUnit, Task, Tdg, TdgNode
from lab.core.values.ids_and_clock import now, uuid7
from screens.adjudicate.adjudicate import AdjudicateScreen
from screens.app import LabApp
from screens.author.author import AuthorScreen
from screens.navigation import Opening
from screens.record.intent import IntentScreen
from screens.replay.family import FamilyScreen
from store.store import Store
from tests.crossed import crossed, soak
from tests.plays import LUNCH, unit
from tests.plays import frozen as played
from tests.screens.annotate.sample_studies import rating, ready, studied
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
from tests.screens.runs import AGENT, BARE, WHOLE
from tests.screens.test_long_texts_rooms import four, run_of, short
from tests.studies import frozen, label

pytestmark = crossed
Until = Callable[..., Awaitable[None]]
Sizes = list[tuple[int, int]]
P1, P2 = Actor("human", "P1"), Actor("human", "P2")


@passes("en", SMALL_TO_TALL)
async def test_a_design_that_was_sent_back(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    asked, told, objected, value = four(language, sizes)
    store.runs.add(run_of([asked, told, objected, value]))
    task = store.runs.task(WHOLE)
    made = Design(Tdg((TdgNode("n", "N"),)), units=(InformationUnit("u", "U", value.text, "Lab", "answer"),))
    store.designs.append(draft := first_draft(subject_of(task), P1, made))
    store.designs.append(draft := next_revision(draft, "submit", P1))
    marks = {"units/u": objected.text, "tdg/n": ""}
    store.designs.append(draft := next_revision(draft, "review", P2, marks=marks))
    store.designs.append(next_revision(draft, "object", P2, note=told.text))
    app: Any = LabApp(store, Settings(bell=False, overlay=False, person="P1"), Opening("author", WHOLE, task=task))
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AuthorScreen) and app.screen.footage.view is not None)
        room = app.screen
        about, state = room.query_one("#about"), room.query_one("#author-state")
        async for _ in at_sizes(pilot, sizes):
            room.outline.focus()
            await pilot.press("3")
            await until(
                pilot, lambda: in_view(app, room.outline) and all("↓" in area(app, one) for one in (about, state))
            )
            seen = await whole(app, pilot, state)
            assert lost(told, seen) + lost(objected, seen) == []
            assert lost(value, await whole(app, pilot, about)) == []
            await offered(app, pilot, until, told, objected)


async def offered(app: Any, pilot: Any, until: Until, first: Words, second: Words) -> None:
    """The texts that a unit may be made of are each read to their end."""
    room = app.screen
    about = room.query_one("#about")
    room.outline.focus()
    await pilot.press("A" if "a" not in room.active_bindings else "a")
    await until(pilot, lambda: room.texts.has_focus and in_view(app, room.texts))
    for _ in range(room.texts.count - 1):
        await pilot.press("down")
    held = "".join(room.texts.rows)
    text = next(text for text in (first, second) if text.text == room.texts.current)
    assert text.text in held
    await until(pilot, lambda: "↓" in area(app, about) and text.pieces[0] in area(app, about))
    assert lost(text, await whole(app, pilot, about)) == []
    assert in_view(app, room.texts)
    await pilot.press("escape")


@passes("zh", NARROW_TO_WIDE)
async def test_what_a_fork_does_otherwise(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    told = words(language, 5000 if language == "zh" else 9000, 0)  # longer than the widest terminal is large
    task = Task("long", "general", "Do it", "Do it")
    store.runs.add(
        Imported(number_events([Started(trace=WHOLE, task=task, agent=AGENT), Ended(status="completed")]), {}, [])
    )
    forked = Forked(0, 0, (("reply", told.text),), P1)
    child = Started(trace=BARE, task=task, agent=AGENT, parent=WHOLE, forked=forked)
    store.runs.add(Imported(number_events([child, Ended(status="completed")]), {}, []))
    app: Any = LabApp(store, Settings(bell=False), Opening("runs"))
    async with app.run_test(size=sizes[0]) as pilot:
        await app.push_screen(FamilyScreen(store, BARE))
        tree, said = app.screen.query_one("#family"), app.screen.query_one("#family-words")
        async for _ in at_sizes(pilot, sizes):
            await until(pilot, lambda: tree.count == 2 and "↓" in area(app, said))
            assert lost(told, await whole(app, pilot, said)) == []
            assert in_view(app, tree)


CHOICES = (Option("yes", key="1"), Option("no", key="2"))


@passes("zh", SMALL_TO_TALL)
async def test_long_answers_one_of_which_is_right(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    texts = four(language, sizes)
    options = (Option("yes", texts[0].text, key="1"), Option("no", texts[1].text, key="2"))
    one = Unit("u1", given=(UnitText("A text", "short"),), targets=(Target("n1", "An item"),))
    asked = Protocol("one", "One thing", "run", (Field("state", "Which?", "nominal", options),), targets="tdg nodes")
    plan = frozen(store, [one], asked, raters=("R1", "R2"), id="s")
    for code, said in (("R1", "yes"), ("R2", "no")):
        store.labels.record(plan, one, label(plan, one, "n1", "state", said, rater=Actor("human", code)))
        store.labels.record_act(Act(uuid7(), "s", 1, Actor("human", code), "commit", now(), "u1"))
    store.labels.record_act(Act(uuid7(), "s", 1, Actor("human", "D1"), "locked", now()))
    given = Settings(person="D1", seat="designer", bell=False)
    app: Any = LabApp(store, given, Opening("adjudicate", study=plan))
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AdjudicateScreen) and app.screen.disputes.count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.shown == "case")
        pane = app.screen.pane
        async for _ in at_sizes(pilot, sizes):
            pane.choices.scroll_to(y=0, animate=False)
            await until(pilot, lambda: in_view(app, pane.answers) and "tab,thenPgDn" in area(app, app.screen))
            while not pane.choices.has_focus:
                await pilot.press("tab")
            seen = await turned(app, pilot, pane.choices, "pagedown")
            assert lost(texts[0], seen) + lost(texts[1], seen) == []
            pane.answers.focus()


@soak
@passes("en", NARROW_TO_WIDE)
async def test_long_answers_of_a_sheet_and_what_is_noted(
    store: Store, until: Until, language: str, sizes: Sizes
) -> None:
    texts = four(language, sizes)
    options = (Option("yes", texts[0].text, key="1"), Option("no", texts[1].text, key="2"))
    asked = Field("which", texts[2].text, "nominal", options)
    app: Any = rating(
        store,
        studied(
            store, Protocol("one", "One thing", "run", (asked,)), [Unit("u1", given=(UnitText("A text", "short"),))]
        ),
    )
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: ready(app))
        pane = app.screen.pane
        item = pane.query_one("#item")
        async for _ in at_sizes(pilot, sizes):
            pane.asked.scroll_to(y=0, animate=False)
            pane.choices.scroll_to(y=0, animate=False)
            await until(pilot, lambda: "readon" in area(app, item) and texts[2].pieces[0] in area(app, item))
            await until(pilot, lambda: in_view(app, pane.items))
            seen = await read(app, pilot, item, "pagedown", "readon", quick=False)
            assert [lost(text, seen) for text in texts[:3]] == [[], [], []]
            assert in_view(app, pane.items)


@passes("en", SMALL_TO_TALL)
async def test_an_intent_that_stands(store: Store, until: Until, language: str, sizes: Sizes) -> None:
    intent = short(words(language, 500, 0))
    app: Any = LabApp(store, Settings(bell=False), Opening("runs"))
    async with app.run_test(size=sizes[0]) as pilot:
        await app.push_screen(IntentScreen(intent.text, "", fixed=True))
        stands, places = app.screen.query_one("#intent-fixed"), app.screen.query_one("#places")
        async for _ in at_sizes(pilot, sizes):
            places.focus()
            await until(pilot, lambda: intent.pieces[0] in area(app, stands))
            assert in_view(app, places)
            seen = await whole(app, pilot, stands) if stands.lines_below else area(app, stands)
            assert lost(intent, seen) == []
            assert in_view(app, places)


@passes("zh", NARROW_TO_WIDE)
async def test_the_answers_of_a_quiz_and_the_person_read_once_more(
    store: Store, until: Until, language: str, sizes: Sizes
) -> None:
    story, facts = words(language, longest(language, sizes), 0), [words(language, 160, place) for place in (1, 2, 3)]
    one = unit(LUNCH)
    assert one.play is not None
    assert one.play.persona is not None
    held = {"story": story.text, "habits": {f"habit {at}": fact.text for at, fact in enumerate(facts)}}
    who = replace(one.play.persona, facts=held)
    app = Playing(store, played(store, [replace(one, play=replace(one.play, persona=who))], ("P1",), quiz=1))
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: app.readable and app.stage == "consent")
        await pilot.press("1")
        await until(pilot, lambda: app.readable and app.stage == "card")
        await pilot.press("enter")
        item, page = app.part.quiz_state(who).waiting[0], app.room.query_one("#play-page")
        await until(pilot, lambda: app.readable and app.asks(item))
        async for size in at_sizes(pilot, sizes):
            app.answers.scroll_to(y=0, animate=False)
            await until(pilot, lambda size=size: app.size == size and in_view(app, app.answers))
            seen = await read(app, pilot, page, "space", "spacereadson", quick=False)
            offered = [fact for fact in facts if fact.text in item.options]
            assert offered
            assert [lost(fact, seen) for fact in offered] == [[]] * len(offered)
        await pilot.press(str(item.right + 1))
        await until(pilot, lambda: app.readable and app.stage == "brief")
        await pilot.press("2")
        async for size in at_sizes(pilot, sizes):
            await until(pilot, lambda size=size: app.size == size and "spacereadson" in area(app, page))
            assert lost(story, await read(app, pilot, page, "space", "spacereadson", quick=False)) == []
            assert in_view(app, app.answers)
