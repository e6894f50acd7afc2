"""Author: a design drafted by keys beside a run, sent back, verified by another person, frozen; nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual import events
from textual.binding import Binding

from lab.core.run.step import Action
from lab.core.run.trace import Step
from lab.core.settings import Settings
from lab.core.task.design import Design, first_draft, next_revision, subject_of
from lab.core.task.task import Actor, InformationUnit, Task, TdgNode, load_task
from lab.runs.session import Session
from lab.runs.spec import Spec
from lab.studies.designing.design_drafts import chained, task_design
from lab.studies.designing.design_files import as_yaml
from screens.app import LabApp
from screens.author.author import AuthorScreen
from screens.author.design_view import Steps
from screens.author.form import FormLine
from screens.author.keys import KEYS
from screens.dialogs import AskScreen
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from simulators import library
from store.runs.run_import import import_paths
from store.store import Store
from tests.crossed import crossed, soak, spread
from tests.screens.resting import burst, press, rests
from tests.screens.runs import BARE, HOSTILE, WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps
from tests.typed import KEPT_AS_LINE, PASTED

Until = Callable[..., Awaitable[None]]
RUNS = Path(__file__).parents[3].parent / "shared" / "traces" / "mobileworld" / "runs"
BO = Actor("human", "P02")


def author(
    apps: SharedApps, store: Store, run: str | None, task: Task | None = None, person: str = "P01", **more: Any
) -> LabApp:
    """The app in which a task's design is drafted beside that run."""
    asked = task or store.runs.task(run or "")
    return apps.open(store, Settings(person=person, bell=False), Opening("author", run, task=asked), **more)


def room(app: LabApp) -> AuthorScreen:
    assert isinstance(app.screen, AuthorScreen)
    return app.screen


def ready(app: LabApp) -> bool:
    """Whether the run is read and the design shown."""
    if not isinstance(app.screen, AuthorScreen) or app.screen.session is None:
        return False
    footage = app.screen.footage
    return footage.run is None or (footage.view is not None and bool(app.screen.apps._apps))


def design(app: LabApp) -> Design:
    session = room(app).session
    assert session is not None
    return session.design


async def typed(pilot: Any, text: str) -> None:
    """As keys would, all at once; that letters in a field are no commands is a test of its own."""
    field = pilot.app.focused
    assert isinstance(field, FormLine)
    field.insert_text_at_cursor(text)


def kept(store: Store, task: Task) -> Design:
    return store.designs.heads(subject_of(task))[-1].design


def test_the_help_on_the_steps_names_keys_of_this_room() -> None:
    """Those of Replay may stand elsewhere, and are known only where Replay was opened."""
    ours = {binding.id for binding in KEYS if isinstance(binding, Binding)}
    named = set(re.findall(r"\{(\w+\.\w+)", Steps.HELP))
    assert {one for one in named if not one.startswith("list.")} <= ours
    assert "author.question" in named


async def test_a_whole_design_is_drafted_from_the_steps_and_kept_at_once(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app, task = author(shared_apps, full, WHOLE), full.runs.task(WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        assert "Enter: begin from the run's steps" in painted(app)
        await press(pilot, "a", "right", "right", "right")
        await until(pilot, lambda: "Step 4/6" in painted(app))
        await press(pilot, "a", "n")
        await until(pilot, lambda: "Step 5/6" in painted(app))
        await press(pilot, "a")
        names = [node.name for node in design(app).tdg.nodes]
        assert names == ["Food: tap Wonton noodles", 'Food: type "no coriander"', "Food: ask: Shall I pay 38.00 now?"]
        assert [node.kind for node in design(app).tdg.nodes] == ["fixed", "fixed", "flexible"]
        assert len(design(app).tdg.edges) == 2
        assert "5◆" in painted(app)
        assert list(design(app).evidence.values()) == [(f"{WHOLE}@1",), (f"{WHOLE}@4",), (f"{WHOLE}@5",)]
        await press(pilot, "2", "a", "tab")  # the question of the step is the branch's
        await typed(pilot, "pay ; wait")
        await press(pilot, "escape", "3", "home", "left", "left", "left", "left")
        await until(pilot, lambda: "Step 1/6" in painted(app))
        await press(pilot, "a", "end", "up")
        await until(pilot, lambda: room(app).texts.has_focus)
        await press(pilot, "enter", "right", "right", "right")
        await until(pilot, lambda: "Step 4/6" in painted(app))
        await press(pilot, "u", "4", "a")
        await typed(pilot, "Is nothing paid?")
        await press(pilot, "enter", "2", "escape")
        await until(pilot, lambda: design(app).rubric.criteria != () and design(app).rubric.criteria[0].weight == 2)
        assert design(app).branches[0].options == ("pay", "wait")
        assert design(app).units[0].source == design(app).units[0].used == "Food"
        assert "✓ sound" in painted(app)
        assert kept(full, task) == design(app)
        await press(pilot, "S")
        await until(pilot, lambda: "is submitted; another person verifies it" in painted(app))
        before = design(app)
        await press(pilot, "1", "a", "d", "f", "enter")
        assert design(app) == before


async def test_editing_moving_nesting_deleting_and_taking_back(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = author(shared_apps, full, WHOLE, notifications=True)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        for name in ("Find it", "Search", "Browse", "Pay"):
            await press(pilot, "A")
            await typed(pilot, name)
            await press(pilot, "escape")
            await until(pilot, lambda name=name: design(app).tdg.nodes[-1].name == name)
        assert [node.id for node in design(app).tdg.nodes] == ["find_it", "search", "browse", "pay"]
        await press(pilot, "home", "down", "greater_than_sign", "down", "greater_than_sign")
        holder = design(app).tdg.nodes[0]
        assert [[node.id for node in path] for path in holder.alternatives] == [["search"], ["browse"]]
        assert "1B1 Browse" in painted(app)
        await press(pilot, "v")
        await until(pilot, lambda: "│ 1A1 Search" in painted(app) and "╔" in painted(app))
        await press(pilot, "v", "end", "K")
        assert [node.id for node in design(app).tdg.nodes] == ["pay", "find_it"]
        await press(pilot, "f", "d")
        assert [node.id for node in design(app).tdg.nodes] == ["find_it"]
        await press(pilot, "z", "z", "z")
        assert [node.id for node in design(app).tdg.nodes] == ["find_it", "pay"]
        assert design(app).tdg.nodes[1].kind == "fixed"
        while design(app) != Design():
            await press(pilot, "z")
        await press(pilot, "z", "z")
        assert design(app) == Design()
        await until(pilot, lambda: "There is nothing to take back." in painted(app))
    assert len(full.designs.history(subject_of(full.runs.task(WHOLE)))) > 12


async def test_fields_say_what_does_not_fit_and_edges_are_typed_as_numbers(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = author(shared_apps, full, WHOLE, notifications=True)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        for name in ("One", "Two", "Three"):
            await press(pilot, "A")
            await typed(pilot, name)
            await press(pilot, "escape")
        await press(pilot, "enter", "down", "down", "down", "ctrl+u")
        await typed(pilot, "1, 2")
        await press(pilot, "enter")
        await until(pilot, lambda: set(design(app).tdg.edges) == {("one", "two"), ("one", "three"), ("two", "three")})
        assert "after 1,2" in painted(app)
        await typed(pilot, "9")
        await press(pilot, "enter")
        await until(pilot, lambda: "there is no node '9'" in painted(app))
        await press(pilot, "ctrl+u")
        await typed(pilot, "one")
        await press(pilot, "escape")
        await until(pilot, lambda: "The id" in painted(app) or "'one' is taken" in painted(app))
        assert [node.id for node in design(app).tdg.nodes] == ["one", "two", "three"]
        await press(pilot, "4", "a", "enter", "x", "escape")
        await until(pilot, lambda: "is no number" in painted(app))
        assert "asks nothing" in painted(app)
        assert design(app).rubric.criteria[0].weight == 1


async def test_numbers_that_no_file_can_hold_are_refused_as_they_are_typed(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = author(shared_apps, full, WHOLE, notifications=True)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        for section, downs, words, wrong in (
            ("4", 1, "nan", "'nan' is no number"),
            ("4", 1, "1e999", "'1e999' is no number"),
            ("2", 2, "9" * 5000, "is no whole number up to 999"),
        ):
            await press(pilot, section, "A", *["down"] * downs, "ctrl+u")
            await typed(pilot, words)
            await press(pilot, "escape")
            await until(pilot, lambda wrong=wrong: any(wrong in note.message for note in app._notifications))
            assert "Not in the file" not in painted(app)
        assert [criterion.weight for criterion in design(app).rubric.criteria] == [1, 1]
        assert design(app).branches[0].depth == 1


async def test_another_person_looks_at_each_item_objects_and_at_last_freezes(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    task = full.runs.task(WHOLE)
    made = Design(task_design(library.task("poster_kit")).tdg, units=(InformationUnit("u", "U", "7", "Lab", "answer"),))
    full.designs.append(row := first_draft(subject_of(task), Actor("human", "P01"), made))
    full.designs.append(next_revision(row, "submit", Actor("human", "P01")))
    app = author(shared_apps, full, WHOLE, person="P02", notifications=True)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        count = len(made.tdg.walk())
        assert f"0 accepted, 0 objected to, {count + 1} left" in painted(app)
        await press(pilot, "F")
        await until(pilot, lambda: "are not looked at yet" in painted(app))
        await press(pilot, "x")
        await until(pilot, lambda: "Enter and Esc keep the objection" in painted(app))
        await typed(pilot, "which app?")
        await press(pilot, "enter")
        await until(pilot, lambda: f"0 accepted, 1 objected to, {count} left" in painted(app))
        for _ in range(count):
            await press(pilot, "a")
        await until(pilot, lambda: "1 objected to, 0 left" in painted(app))
        assert room(app).outline.section == "units"
        await press(pilot, "F")
        await until(pilot, lambda: "has objections" in painted(app))
        await press(pilot, "B")
        await until(pilot, lambda: "Enter: send it back   Esc: not yet." in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "sent back by P02" in painted(app))
    mend = author(shared_apps, full, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(mend))
        assert "✗ which app?" in painted(mend)
        await press(pilot, "enter")
        await typed(pilot, " in Notes")
        await press(pilot, "escape")
        await until(pilot, lambda: design(mend).tdg.nodes[0].name.endswith(" in Notes"))
        assert "✗ which app?" not in painted(mend)
        await press(pilot, "S")
        await until(pilot, lambda: "is submitted" in painted(mend))
    last = author(shared_apps, full, WHOLE, person="P02")
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(last))
        # Only what was changed is to be looked at again; its id is new, and so are the edge and the paths behind it.
        session = room(last).session
        assert session is not None
        assert 0 < len(session.unseen) < count
        for _ in session.unseen:
            await press(pilot, "a")
        room(last).show_item(session.unseen[0]) if session.unseen else None
        while session.unseen:
            await press(pilot, "a")
        await press(pilot, "F")
        await until(pilot, lambda: isinstance(last.screen, AskScreen) and "Freeze it?" in painted(last))
        await press(pilot, "escape")
        assert full.designs.newest_verified(subject_of(task)) is None
        await press(pilot, "F", "enter")
        await until(pilot, lambda: "Version 1 is frozen: verified by P02" in painted(last))
        await press(pilot, "a", "d", "z", "x", "S")
        assert design(last) == kept(full, task)
        frozen = full.designs.newest_verified(subject_of(task))
        assert frozen is not None
        await press(pilot, "R")
        await until(pilot, lambda: "Version 2, draft" in painted(last))
        await press(pilot, "d")
        assert full.designs.newest_verified(subject_of(task)) == frozen
        assert full.designs.heads(subject_of(task))[-1].version == 2


@soak
async def test_a_built_in_task_s_run_a_design_of_its_own_and_back_into_a_task_file(
    store: Store, shared_apps: SharedApps, until: Until, tmp_path: Path
) -> None:
    task = library.task("poster_kit")
    session = Session(store, Spec(task, library.persona(task.persona, task.log), user="script"))
    session.start()
    session.join()
    app = author(shared_apps, store, session.trace_id)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "enter")  # begin from the task's own
        assert design(app) == task_design(task)
        await press(pilot, "3", "a")
        await until(pilot, lambda: room(app).texts.has_focus)
        at = next(i for i, text in enumerate(room(app).texts.rows) if text == "Notes")
        room(app).texts.go(at)
        await press(pilot, "enter", "enter", "down", "down", "down")
        await typed(pilot, "Messages")
        await press(pilot, "escape")
        await until(pilot, lambda: design(app).units[-1].used == "Messages")
        assert "which is not there" not in painted(app)
        await press(pilot, "d", "S")
        await until(pilot, lambda: "is submitted" in painted(app))
    head = store.designs.heads(subject_of(task))[0]
    store.designs.append(next_revision(head, "verify", BO))
    frozen = store.designs.newest_verified(subject_of(task))
    assert frozen is not None
    path = tmp_path / "own.yaml"
    path.write_text("kind: general\ninstruction: Do it.\n" + as_yaml(frozen.design), encoding="utf-8")
    assert task_design(load_task(path)) == task_design(task)


@pytest.mark.skipif(not RUNS.is_dir(), reason="the shared traces are not here")
@crossed
@pytest.mark.parametrize("size", spread([(80, 24), (120, 40)], 1))
async def test_a_published_run_gets_its_design_by_keys(
    store: Store, shared_apps: SharedApps, until: Until, size: tuple[int, int]
) -> None:
    import_paths(store, [sorted((RUNS / "claude-opus-4.6").iterdir())[0]])
    run = store.runs.summaries(1)[0].id
    app, task = author(shared_apps, store, run), store.runs.task(run)
    async with shared_apps.at(size=size) as pilot:
        # No picture was published: the words stand in its place.
        await until(pilot, lambda: isinstance(app.screen, AuthorScreen) and "Thought" in painted(app))
        await press(pilot, "enter")
        assert len(design(app).tdg.nodes) >= 2
        await press(pilot, "n")
        await press(pilot, "2", "a", "tab")
        await typed(pilot, "this one ; another")
        await press(pilot, "escape", "3", "A")
        await typed(pilot, "What was found")
        for text in ("42", "Mail", "answer"):
            await press(pilot, "enter")
            await typed(pilot, text)
        await press(pilot, "escape", "4", "a")
        await typed(pilot, "Is it right?")
        await press(pilot, "escape")
        await until(pilot, lambda: len(design(app).rubric.criteria) == 1 and design(app).units[0].used == "answer")
        assert "✓ sound" in painted(app)
        await press(pilot, "S")
        await until(pilot, lambda: "submitted" in painted(app))
    store.designs.append(next_revision(store.designs.heads(subject_of(task))[0], "verify", BO))
    frozen = store.designs.newest_verified(subject_of(task))
    assert frozen is not None
    assert frozen.design.units == (InformationUnit("what_was_found", "What was found", "42", "Mail", "answer"),)


async def test_two_people_at_once_are_told_and_one_settles(full: Store, shared_apps: SharedApps, until: Until) -> None:
    task = full.runs.task(WHOLE)
    app = author(shared_apps, full, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "a")
        theirs = first_draft(subject_of(task), BO, Design())
        full.designs.append(theirs)
        await press(pilot, "a")
        await until(pilot, lambda: "nothing of them is lost" in painted(app))
        mine = design(app)
        assert len(mine.tdg.nodes) == 2
        await press(pilot, "S")
        assert full.designs.heads(subject_of(task))[-1].state == "draft"
        await press(pilot, "M", "enter")
        await until(pilot, lambda: "✓ sound" in painted(app))
        assert kept(full, task) == mine


async def test_what_others_drafted_meanwhile_is_looked_at_before_it_is_settled(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    task = full.runs.task(WHOLE)
    app = author(shared_apps, full, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "a")
        theirs = first_draft(subject_of(task), BO, Design())
        full.designs.append(theirs)
        await press(pilot, "a")
        await until(pilot, lambda: "nothing of them is lost" in painted(app))
        full.designs.append(next_revision(theirs, "draft", BO, design=Design(chained([TdgNode("later", "Later")]))))
        await press(pilot, "M", "enter")
        assert len(full.designs.heads(subject_of(task))) == 2
        await press(pilot, "M", "enter")
        await until(pilot, lambda: "✓ sound" in painted(app))
        assert kept(full, task) == design(app)


async def test_what_was_frozen_meanwhile_refuses_and_what_was_typed_goes_into_the_next_version(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    task = full.runs.task(WHOLE)
    app = author(shared_apps, full, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "a")
        head = full.designs.heads(subject_of(task))[0]
        full.designs.append(sent := next_revision(head, "submit", Actor("human", "P01")))
        full.designs.append(next_revision(sent, "verify", BO))
        await press(pilot, "f")
        await until(pilot, lambda: "Not in the file" in painted(app))
        assert design(app).tdg.nodes[0].kind == "flexible"
        await press(pilot, "R")
        await until(pilot, lambda: "Version 2, draft" in painted(app))
        frozen = full.designs.newest_verified(subject_of(task))
        assert frozen is not None
        assert frozen.design.tdg.nodes[0].kind == "fixed"
        assert kept(full, task).tdg.nodes[0].kind == "flexible"


async def test_what_is_typed_when_the_app_is_left_is_kept(full: Store, shared_apps: SharedApps, until: Until) -> None:
    app = author(shared_apps, full, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "A")
        await typed(pilot, "Half a na")
        await press(pilot, "ctrl+q")
    assert kept(full, full.runs.task(WHOLE)).tdg.nodes == (TdgNode("half_a_na", "Half a na"),)


async def test_letters_typed_in_a_field_are_no_commands_and_pastes_are_plain(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = author(shared_apps, full, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "A")
        await burst(pilot, *"adzvSR?/1", "space", *"打开")
        field = app.focused
        assert isinstance(field, FormLine)
        assert field.value == "adzvSR?/1 打开"
        field.post_message(events.Paste(PASTED))
        await until(pilot, lambda: field.value == f"adzvSR?/1 打开{KEPT_AS_LINE}")
        await press(pilot, "escape")
        await until(pilot, lambda: design(app).tdg.nodes[0].name == f"adzvSR?/1 打开{KEPT_AS_LINE}")


async def test_a_click_on_the_phone_takes_a_text_into_a_unit(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = author(shared_apps, full, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "3")
        mirror = room(app).footage.stage.mirror
        await until(pilot, lambda: mirror.settled and mirror.fit is not None)
        mirror.post_message(Mirror.Tapped(mirror, (270, 220), long=False))
        await until(pilot, lambda: bool(design(app).units))
        assert design(app).units[0].value == "Wonton noodles"
        assert design(app).evidence == {"units/wonton_noodles": (f"{WHOLE}@1",)}
        await press(pilot, "enter", "down")
        mirror.post_message(Mirror.Tapped(mirror, (270, 560), long=False))
        await until(pilot, lambda: design(app).units[0].value == "Green tea")
        await press(pilot, "escape")
        assert (len(design(app).units), design(app).units[0].name) == (1, "Wonton noodles")


async def test_the_palette_reaches_what_may_be_done_and_no_more(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app, task = author(shared_apps, full, WHOLE), full.runs.task(WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "a")
        titles = {command.title for command in app.get_system_commands(app.screen)}
        assert {"Add", "Add empty", "Delete", "Undo", "Submit", "Into alternatives", "Evidence", "Units"} <= titles
        assert not {"Accept", "Freeze", "Reopen", "Keep mine"} & titles
        head = full.designs.heads(subject_of(task))[0]
        full.designs.append(next_revision(head, "submit", Actor("human", "P01")))
        await press(pilot, "S")
        await until(pilot, lambda: "is submitted" in painted(app))
        titles = {command.title for command in app.get_system_commands(app.screen)}
        assert "Reopen" in titles
        assert not {"Add", "Delete", "Undo", "Submit", "Accept", "Freeze"} & titles


async def test_strangers_words_are_painted_as_characters(store: Store, shared_apps: SharedApps, until: Until) -> None:
    store.runs.add(whole_run(hostile=True))
    app = author(shared_apps, store, WHOLE)
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\x07", "\\x07")
    async with shared_apps.at(size=(200, 50)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "enter", "3", "a")
        await until(pilot, lambda: shown in painted(app))
        await press(pilot, "enter", "enter", "escape", "w", "1", "v")
        assert "\x1b" not in painted(app)
        assert "\x07" not in painted(app)
        await press(pilot, "right", "right")
        assert "\x1b" not in painted(app)


async def test_a_text_of_a_step_becomes_a_units_value_as_it_was_written(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    """Shown with its signs visible, stored with the signs themselves."""
    written = "soft\u00adhyphen \u2067\u202enoc"
    run = whole_run()
    typing = next(event for event in run.events if isinstance(event, Step) and event.decision and event.decision.action)
    assert typing.decision is not None
    amended = replace(typing.decision, action=Action("input_text", text=written))
    changed = replace(typing, decision=amended)
    store.runs.add(run._replace(events=[changed if event is typing else event for event in run.events]))
    app = author(shared_apps, store, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "right", "right", "right")
        await until(pilot, lambda: "Step 4/6" in painted(app))
        await press(pilot, "3", "a")
        await until(pilot, lambda: room(app).texts.has_focus and written in room(app).texts.rows)
        assert "softhyphen \\u2067\\u202enoc" in painted(app)
        room(app).texts.go(list(room(app).texts.rows).index(written))
        await press(pilot, "enter")
        await until(pilot, lambda: bool(design(app).units))
        assert design(app).units[-1].value == written


async def test_without_a_run_a_design_is_drafted_on_the_task_alone(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = author(shared_apps, store, None, library.task("poster_kit"))
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        assert "No run of this task" in painted(app)
        await press(pilot, "down", "enter", "n", "b", "w", "space", "e", "E", "right")
        assert len(design(app).tdg.nodes) > 3
        await press(pilot, "question_mark")
        await until(pilot, lambda: bool(app.screen.query("HelpPanel")))
        await press(pilot, "escape", "escape")
        await until(pilot, lambda: app.current_mode == "home")
        await press(pilot, "f9")
        await until(pilot, lambda: app.current_mode == "author")


async def test_nothing_of_the_run_before_is_seen_or_reached_beside_a_task_without_one(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = author(shared_apps, full, WHOLE)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "right", "w")
        await until(pilot, lambda: "Step 2/6" in painted(app) and "Thought" in painted(app))
        await press(pilot, "slash")
        await until(pilot, lambda: "Search:" in painted(app))
        app.open_author(library.task("poster_kit"), None)
        await until(pilot, lambda: "No run of this task" in painted(app) and "Search:" not in painted(app))
        await press(pilot, "right", "w", "left", "w")
        await until(pilot, lambda: "no run" in painted(app))
        assert "Thought" not in painted(app)
        assert (room(app).footage.view, room(app).footage.timeline.count) == (None, 0)
        app.open_author(full.runs.task(WHOLE), WHOLE)
        await until(pilot, lambda: ready(app) and "Step 1/6" in painted(app) and "Thought" in painted(app))


async def test_home_opens_the_design_of_a_run_and_of_a_task(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(seat="designer"), Opening("home"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Runs  3" in painted(app) and "Tasks  " in painted(app))
        await press(pilot, "end", "a")
        await until(pilot, lambda: "Who are you?" in painted(app))
        await press(pilot, "escape")
        await until(pilot, lambda: "Runs  3" in painted(app))
        await press(pilot, "a", "D", "space", "1", "enter")
        await until(pilot, lambda: "is no study code" in painted(app))
        await press(pilot, "backspace", "backspace", "1", "enter")
        await until(pilot, lambda: app.current_mode == "author" and ready(app))
        session = room(app).session
        assert session is not None
        assert session.person == Actor("human", "D1")
        assert room(app).footage.run in (WHOLE, BARE)
        await press(pilot, "f2", "tab")
        await until(pilot, lambda: app.current_mode == "home")
        await press(pilot, "a")
        await until(pilot, lambda: app.current_mode == "author" and "No run of this task" in painted(app))


@pytest.mark.parametrize("seat", ["rater", "participant"])
async def test_other_seats_have_no_such_room(full: Store, seat: Any) -> None:
    app = LabApp(full, Settings(seat=seat), Opening("home"))
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "a", "f9")
        await pilot.pause()
        assert app.current_mode == "home"
        assert "author" not in app._screen_stacks or not app._screen_stacks["author"]


@pytest.mark.parametrize(("size", "keys"), [((80, 24), ["enter", "v"]), ((120, 40), ["enter", "down", "e"])])
def test_author_looks_as_it_did(full: Store, snap_compare: Any, size: tuple[int, int], keys: list[str]) -> None:
    settings = Settings(person="P01", overlay=False, bell=False)
    app = LabApp(full, settings, Opening("author", WHOLE, task=full.runs.task(WHOLE)))

    async def drive(pilot: Any) -> None:
        await rests(pilot, lambda: ready(app))
        room(app).footage.stage.mirror.overlay = False
        await press(pilot, *keys)
        await rests(pilot, lambda: ready(app))

    assert snap_compare(app, terminal_size=size, run_before=drive)


async def test_no_toast_covers_a_form_or_the_line_that_says_what_is_next(
    full: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = author(shared_apps, full, WHOLE, notifications=True)
    async with shared_apps.at(size=(64, 18)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "a", "enter")
        await until(pilot, lambda: room(app).form.is_open)
        for size in ((64, 18), (80, 24), (120, 40)):
            if app.size != size:
                await pilot.resize_terminal(*size)
            app.notify(f"Something was done at {size}.", markup=False)
            await until(pilot, lambda: any(toast.region.height > 0 for toast in app.screen.query("Toast")))
            for kept in ("#form", "#author-state", "#author-title", "Footer"):
                place = app.screen.query_one(kept).region
                assert place.area, (kept, size)
                for toast in app.screen.query("Toast"):
                    assert not toast.region.overlaps(place), (kept, size)
            app.clear_notifications()
            await until(pilot, lambda: not app.screen.query("Toast"))
