"""Every room with markup in every text that a stranger writes: it is seen as it was written, and does nothing."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

import msgspec
import pytest
from msgspec.structs import fields, replace
from textual.app import SystemCommand
from textual.pilot import Pilot
from textual.screen import Screen

from lab.core.errors import LabError
from lab.core.run.demonstration import demonstration_task
from lab.core.run.step import Action
from lab.core.run.ui_tree import Bounds
from lab.core.settings import Settings
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol, Reason, Show
from lab.core.study.study import Target, Unit, UnitText
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.runs.endpoint.conversation_intake import Intake
from lab.runs.session import Session
from lab.runs.spec import PERSON as RECORDER
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from simulators.users.endpoint.chat_request import Tool
from simulators.users.endpoint.place import EndpointPlace
from simulators.users.endpoint.request_kinds import judge_rules
from store.store import Store
from tests import plays, studies
from tests.answering import request
from tests.demonstrations import demonstration
from tests.rated import rated
from tests.screens.live.conftest import PERSONA, Cast, LeapingClock, Slate, task
from tests.screens.live.conftest import Stage as Living
from tests.screens.play.test_play import Stage as Playing
from tests.screens.play.test_play import answer_items
from tests.screens.record.conftest import Board
from tests.screens.record.conftest import Stage as Recording
from tests.screens.runs import BARE, WAITING, WHOLE, asking_run, bare_run, painted, waiting_run, whole_run

Until = Callable[..., Awaitable[None]]
_KEPT = {
    "id", "trace", "at", "time", "started", "ended", "shown_at", "first_key_at", "sent_at", "image", "state", "sha256",
    "kind", "mime", "study", "question_id", "show_if", "key", "persona", "mirror_of", "after", "per", "locale", "unit",
    "user", "agent", "preset", "prelabel", "practice", "sample_sha", "target", "field", "cls", "space", "vendor",
}  # fmt: skip
"""Texts that the program gives, refers by or checks: no stranger's words."""


OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]")


def marked(name: str) -> str:
    """All markup, signs that a terminal obeys and the name of a key, around a name that tells which text is seen."""
    return f"[/][red]{name}[/red]\u202e{{app.quit}} [@click=app.quit]x[/] \\[ [link=file:///]y\x9b\x1b[2J\u2066\ufeff\u2028"


_SEEN = re.compile(r"\[/\]\s*\[red\]([\w.]+)\[/red\]")


def hostile(value: Any, name: str = "") -> Any:
    """Return the same thing with markup in each text of it that is free, by the name of its struct and field."""
    match value:
        case Bounds():
            return value
        case msgspec.Struct():
            found = {one.name: getattr(value, one.name) for one in fields(value)}
            here = type(value).__name__
            texts = {one.name for one in fields(value) if one.type in (str, str | None)} - _KEPT
            return type(value)(**{
                key: marked(f"{here}.{key}") if key in texts and part is not None
                else part if key in _KEPT and not isinstance(part, msgspec.Struct) else hostile(part, f"{here}.{key}")
                for key, part in found.items()
            })  # fmt: skip
        case tuple() | list():
            return type(value)(hostile(one, name) for one in value)
        case dict():
            return {key: hostile(part, name) for key, part in value.items()}
        case str() if name and name.rpartition(".")[2] in ("facts", "guide", "consent", "options", "cases", "items"):
            return marked(name)
    return value


@pytest.fixture(autouse=True)
def _nothing_parses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever hands a stranger's text to a parser of markup fails, also where this text would come out whole."""
    import rich.console
    import rich.markup
    import textual.markup

    for module, name in ((textual.markup, "to_content"), (rich.markup, "render"), (rich.console, "render_markup")):
        parse = getattr(module, name)

        def checked(text: str, *args: Any, parse: Callable[..., Any] = parse, **more: Any) -> Any:
            assert "[red]" not in text, f"read as markup: {text}"
            return parse(text, *args, **more)

        monkeypatch.setattr(module, name, checked)


class Looked:
    """What is seen of marked texts in an app, by their names; a link or an action in sight fails."""

    def __init__(self, app: LabApp, pilot: Pilot[Any], until: Until) -> None:
        self.app, self.pilot, self._until = app, pilot, until

    async def at(self, *wanted: str, when: Callable[[], bool] = lambda: True) -> None:
        """Wait until these are painted at once."""
        await self._until(self.pilot, lambda: when() and set(wanted) <= self._names())

    async def press(self, key: str, *wanted: str) -> None:
        await self.pilot.press(key)
        await self.at(*wanted)

    def _names(self) -> set[str]:
        assert self.app._exception is None
        for strip in self.app.screen._compositor.render_strips():
            for style in (segment.style for segment in strip if segment.style is not None):
                assert not style.link
                assert "app.quit" not in style.meta.values()
            assert not OBEYED.search(strip.text), strip.text
        seen = re.sub(r"[│┃▌▐]|\s+", " ", painted(self.app))
        assert "[/red]q" not in seen
        # What is typed stands in a field as it is. Anything else is shown with its signs, not only kept from obeying.
        assert set(re.findall(r"\[red\]([\w.]+)\[/red\]\u200b", seen)) <= {"typed"}
        return set(_SEEN.findall(seen))


SIZE = (160, 60)
SHOWS: tuple[Show, ...] = (
    "instruction", "context", "persona", "log", "policy", "screens", "actions", "thoughts", "dialogue", "outcome",
    "reason", "method",
)  # fmt: skip
STATES = (Option("completed", "says", "1", "means", ("case",)), Option("not_completed", "says", "2"))
STATE = Field("state", "ask", "nominal", STATES, hint="hint", says="says", evidence=True)
WHY = Field("why", "ask", "text", required=False, says="says", hint="hint", key="y")
PROTOCOL = Protocol(
    "one", "title", "run", (STATE, WHY), "tdg nodes", SHOWS, {"en": "guide"}, reasons=(Reason("r", "says"),)
)
TARGETS = (Target("n1", "says", "detail"), Target("n2", "says", "detail"))
UNIT = Unit("u1", runs=(WHOLE,), targets=TARGETS, given=(UnitText("title", "text", ("item",)),))
TITLE = marked("Study.title")


def filled(store: Store) -> None:
    """Put runs of each kind into a file."""
    for run in (whole_run(), bare_run(), asking_run(), demonstration()):
        store.runs.add(run._replace(events=[hostile(event) for event in run.events]))
    for event in waiting_run():
        store.runs.append_event(WAITING, hostile(event))


async def test_runs_are_listed_replayed_compared_designed_and_proofread(store: Store, until: Until) -> None:
    filled(store)
    studies.frozen(store, [studies.unit()], title=TITLE)
    app = LabApp(store, Settings(person="P1", bell=False, overlay=True), Opening("home"))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        looked = Looked(app, pilot, until)
        await looked.at("Task.title", "Study.title")
        app.report(LabError(marked("what"), marked("problem"), marked("advice")))
        await looked.at("what", "problem", "advice")
        app.clear_notifications()
        await looked.press("f11", "Task.title")
        for _ in range(5):
            await looked.press("g")
        app.open_replay(WHOLE, 2)
        await looked.at("Task.title", "Task.instruction", "Action.text", "Actor.implementation")
        await looked.at("Node.text", "Proposed.thought")
        await looked.at("Question.text", "Question.options", "Reply.text", "Observation.activity")
        await looked.press("u", "Node.text")
        await looked.press("p", "Actor.implementation")
        await looked.press("left_square_bracket", "Prompt.text")
        app.open_compare(WHOLE, BARE)
        await looked.at("Task.title", "Actor.implementation", "Proposed.thought", "Action.text")
        app.open_author(store.runs.task(WHOLE), WHOLE)
        await looked.at("Task.title", "Task.instruction", when=lambda: app.current_mode == "author")
        await looked.press("f10", "Task.instruction")
        await looked.press("enter", "Proposed.instruction", "Node.text")
        await looked.press("f12", "Task.title")
        await looked.press("enter", "Node.text")


class Named(LabApp):
    """The app with a command that a stranger named."""

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        yield SystemCommand(marked("title"), marked("help"), self.action_bell)


async def test_a_command_is_found_in_the_palette(store: Store, until: Until) -> None:
    app = Named(store, Settings(bell=False))
    async with app.run_test(size=SIZE) as pilot:
        looked = Looked(app, pilot, until)
        await looked.at(when=lambda: app.current_mode == "home")
        await looked.press("ctrl+p", "title", "help")
        await looked.press("t")
        await looked.press("i", "title", "help")


async def test_a_study_is_rated(store: Store, until: Until) -> None:
    filled(store)
    study = studies.frozen(store, [hostile(UNIT)], hostile(PROTOCOL), raters=("R1",), title=TITLE, introduction="full")
    app = LabApp(store, Settings(person="R1", seat="rater", bell=False), Opening("annotate", study=study))
    async with app.run_test(size=SIZE) as pilot:
        looked = Looked(app, pilot, until)
        await looked.at("Protocol.guide")
        await looked.press("enter")
        await looked.press("enter", "Target.says", "Target.detail", "Option.says")
        await looked.press("t", "Protocol.title", "Protocol.guide", "Field.ask", "Option.means", "Option.cases")
        await looked.press("escape", "Target.says")
        await looked.press("m", "Target.says")


async def test_a_study_is_counted_and_settled(store: Store, until: Until) -> None:
    filled(store)
    words = {"completed": ("[/]R1", "[red]R3[/red]"), "not_completed": ("[/]R2",)}
    said = {
        rater: {"u1": {("n1", "state"): word, ("n2", "state"): "completed"}}
        for word, raters in words.items()
        for rater in raters
    }
    study = rated(store, [hostile(UNIT)], hostile(PROTOCOL), said, title=TITLE)
    store.labels.record_act(Act("act-1", "trial", 1, Actor("human", "D1"), "locked", now()))
    app = LabApp(store, Settings(person="D1", seat="designer", bell=False), Opening("agreement", study=study))
    async with app.run_test(size=SIZE) as pilot:
        looked = Looked(app, pilot, until)
        await looked.at("Study.title")
        await until(pilot, lambda: "Enter: the items" in painted(app) and "[/]R1 and [/]R2" in painted(app))
        await looked.press("enter", "Target.says")
        await looked.press("f7", "Target.says", "Option.says")
        await looked.press("enter", "Field.ask", "Target.detail", "Option.says", "Proposed.thought", "Task.instruction")
        await looked.press("f8")
        await until(pilot, lambda: all(f" {rater} " in painted(app) for rater in ("[/]R1", "[red]R3[/red]")))
        await looked.press("enter", "Field.says")
        app.open_numbers(study, "progress")
        await looked.at("Study.title", "Field.says")
        await until(pilot, lambda: all(f" {rater} " in painted(app) for rater in ("[/]R1", "[red]R3[/red]")))


async def test_a_study_is_played(store: Store, until: Until) -> None:
    one = plays.unit(plays.LUNCH)
    assert one.play is not None
    task = replace(one.play.task, **{name: marked(name) for name in ("title", "instruction", "policy", "place")})
    one = replace(one, play=replace(one.play, task=task, persona=hostile(one.play.persona)))
    study = plays.frozen(store, [one], ("P1",), quiz=1, consent={"en": marked("consent")}, title=TITLE)
    app = Playing(store, study)
    async with app.run_test(size=SIZE) as pilot:
        looked = Looked(app, pilot, until)
        await looked.at("Study.title", "consent", when=lambda: app.readable)
        await looked.press("1", "Persona.facts", "Persona.name")
        await looked.at(when=lambda: app.readable and app.stage == "card")
        await looked.press("enter", "Persona.name")
        await answer_items(app, pilot, until, 1)
        await looked.at("Study.title", "instruction", "Persona.name", when=lambda: app.readable)
        await looked.press("1", "instruction", "policy", "Persona.facts")


@pytest.mark.parametrize("seat", ["developer", "participant"])
async def test_a_run_is_live(store: Store, until: Until, seat: Literal["developer", "participant"]) -> None:
    typed, asked = Action("input_text", (10, 10), text=marked("typed")), Action("ask_user", text=marked("asked"))
    agent = Cast((typed, marked("thought")), (asked, marked("thought")))
    agent.actor = Actor("model", marked("id"), marked("agent"))
    slate = Slate()
    slate._tree, slate.info = hostile(slate._tree), hostile(slate.info)
    spec = Spec(hostile(task()), hostile(PERSONA))._replace(seat=seat, gate="ask" if seat == "developer" else "pass")
    app = Living(Session(store, spec, None, agent=agent, device=slate), LeapingClock())
    async with app.run_test(size=SIZE) as pilot:
        looked = Looked(app, pilot, until)
        if seat == "developer":
            await looked.at("Task.title", "Task.policy", "agent", "thought", "typed", when=lambda: app.gated)
            await looked.press("enter", "asked")
            await until(pilot, lambda: app.gated)
            await pilot.press("enter")
        await looked.at("Task.instruction", "Task.policy", "Persona.name", "asked", when=lambda: app.asked)
    app.run_under_test.stop()


async def test_a_demonstration_is_recorded(store: Store, until: Until) -> None:
    board = Board()
    board._tree, board.info = hostile(board._tree), hostile(board.info)
    spec = Spec(demonstration_task(None, marked("intent"), "residence"), hostile(PERSONA), agent=RECORDER)
    app = Recording(Session(store, spec, device=board), LeapingClock())
    async with app.run_test(size=SIZE) as pilot:
        looked = Looked(app, pilot, until)
        await looked.at("intent", "Persona.name", when=lambda: app.is_running and app.desk.ready)
        mirror = app.record.query_one(Mirror)
        mirror.post_message(Mirror.Typed(mirror, marked("typed")))
        await looked.at("typed")
        await looked.press("enter", "typed")
    app.run_under_test.stop()


PROPERTIES = {
    marked("mode"): {"enum": [marked("first"), marked("second")], "description": marked("about")},
    marked("note"): {"type": "string", "description": marked("about")},
}
TOOL = Tool(marked("tool"), marked("description"), {"properties": PROPERTIES, "required": [marked("note")]})


async def test_a_client_asks_at_the_endpoint(store: Store, until: Until) -> None:
    intake = Intake(store, [Actor("human", "P07")], judge_rules())
    ask = request(marked("asked"), system=marked("system"), session=marked("session"), tools=(TOOL, Tool("[/]")))
    intake.receive(ask)
    opening = Opening("answer", endpoint=EndpointPlace("http://127.0.0.1:8790/v1"))
    app = LabApp(store, Settings(person="P07", seat="participant"), opening)
    async with app.run_test(size=SIZE) as pilot:
        looked = Looked(app, pilot, until)
        await looked.at("asked", "session", "system")
        await looked.press("ctrl+t", "tool", "description")
        await looked.press("enter", "tool", "description", "mode", "about", "note")
        await looked.press("tab")
        await looked.press("enter", "first", "second")
        await looked.press("down")
        await looked.press("enter", "first")
        await looked.press("ctrl+l", "tool", "first")
