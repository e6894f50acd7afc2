"""The modes of the rooms whose footers are looked at, and a file in which all of them are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab.core.settings import Settings
from lab.core.study.protocol import Field
from lab.core.study.study import Unit
from lab.core.task.design import Design, first_draft, next_revision, subject_of
from lab.core.task.task import Actor, TdgNode
from lab.runs.session import Session
from lab.runs.spec import Spec
from lab.studies.designing.design_drafts import chained
from lab.studies.playing.play_session import Participation
from screens.app import LabApp
from screens.launcher import new_recording as recorded
from screens.launcher import task_spec
from screens.navigation import Opening
from simulators import library
from store.store import Store
from tests import plays
from tests.demonstrations import DEMO
from tests.screens.adjudicate.test_adjudicate import studied as disputed
from tests.screens.annotate.sample_studies import one_field, studied
from tests.screens.runs import WHOLE
from tests.screens.walk import filled
from tests.studies import STATE

ASKING = "way_home"
"""A task in which the agent asks before it does anything: another one's steps would be taken in each sitting."""
NUMBER = Field("number", "How much was done?", "interval", least=0, most=100, step=1)
WORDS = Field("words", "What went wrong?", "text")
FLAG = Field("flag", "Was anything odd?", "flag", required=False)
ASKED = {field.id: field for field in (STATE, NUMBER, WORDS, FLAG)}


class Mode(NamedTuple):
    """A mode of a room: who sits in it, what it opens with, the keys that lead there, and what then stands there."""

    name: str
    begin: Callable[[Store], LabApp]
    says: str
    keys: tuple[str, ...] = ()
    then: str = ""


def room(mode: Mode) -> str:
    return mode.name.split(",")[0]


@cache
def at(screen: Any, *, person: str = "D1", seat: Any = "developer", **of: Any) -> Callable[[Store], LabApp]:
    """An app of this person that opens so, the same for the same; a study is given by its id."""

    def begin(store: Store) -> LabApp:
        opening = dict(of)
        if "study" in of:
            opening["study"] = store.studies.study(of["study"], 1)
        if screen == "author":
            opening["task"] = store.runs.task(of["trace_id"])
        return LabApp(store, Settings(person=person, seat=seat, pace=0.0, bell=False), Opening(screen, **opening))

    return begin


@cache
def live(seat: Any, task: str = ASKING, **spec: Any) -> Callable[[Store], LabApp]:
    def begin(store: Store) -> LabApp:
        settings = Settings(person="P7", seat=seat, pace=0.0, bell=False)
        return LabApp(store, settings, Opening("live", spec=task_spec(task, settings)._replace(**spec)))

    return begin


def recording(store: Store) -> LabApp:
    settings = Settings(person="D1", pace=0.0, bell=False)
    return LabApp(store, settings, Opening("live", ask=recorded(ASKING, settings)))


def own_run(store: Store) -> LabApp:
    """The replay of a run that was made here, which can be forked."""
    settings = Settings(person="D1", bell=False)
    return LabApp(store, settings, Opening("replay", store.runs.of_task(plays.COFFEE)[0], 1))


def verifying(store: Store) -> LabApp:
    """A design that its author handed over, before another person."""
    task = store.runs.task(WHOLE)
    design = Design(chained([TdgNode("menu", "Look at the menu"), TdgNode("order", "Order tea")]))
    draft = first_draft(subject_of(task), Actor("human", "D1"), design)
    store.designs.append(draft)
    store.designs.append(next_revision(draft, "submit", Actor("human", "D1")))
    return at("author", trace_id=WHOLE, person="D2")(store)


def nothing_yet(store: Store) -> LabApp:
    """Home on a file in which nothing is."""
    path = store.path.with_suffix(".empty")
    return LabApp(Store.open(path), Settings(bell=False), Opening("home"))


gated = live("developer", plays.LUNCH, gate="ask")
HOME, REPLAY = at("home"), at("replay", trace_id=WHOLE, step=2)
PLAY = at("play", person="P1", seat="participant", study="teas")
R1: dict[str, Any] = {"person": "R1", "seat": "rater"}
MODES = [
    Mode("home, runs", HOME, "Enter: resume"),
    Mode("home, tasks", HOME, "Enter: resume", ("tab",), "Enter: run this task"),
    Mode("home, devices", HOME, "Enter: resume", ("tab", "tab"), "on this phone"),
    Mode("home, studies", HOME, "Enter: resume", ("shift+tab",), "agreement"),
    Mode("home, filter", HOME, "Enter: resume", ("slash",), "Enter: keep this filter"),
    Mode("family", HOME, "Enter: resume", ("t",), "Enter: open this run where"),
    Mode("replay", REPLAY, "Step "),
    Mode("replay, search", REPLAY, "Step ", ("slash",), "Search:"),
    Mode("replay, after", REPLAY, "Step ", ("b",), "─ After"),
    Mode("replay, sent", REPLAY, "Step ", ("p",), "Back"),
    Mode("replay, fork", own_run, "Step 1", ("f",), "Esc closes"),
    Mode("runs, filter", at("runs"), "Enter: replay", ("slash",), "Enter: keep this filter"),
    Mode("runs", at("runs"), "Enter: replay"),
    Mode("compare", at("runs"), "Enter: replay", ("c", "down", "c"), "Enter: replay left"),
    Mode("review, shelf", at("review", person="R9"), "Enter opens a demonstration"),
    Mode("review", at("review", person="R9", trace_id=DEMO), "not looked at"),
    Mode("review, form", at("review", person="R9", trace_id=DEMO), "not looked at", ("e",), "Enter goes on"),
    Mode("privacy, shelf", at("privacy", person="R9"), "Enter opens a demonstration"),
    Mode("privacy", at("privacy", person="R9", trace_id=DEMO), "To be covered"),
    Mode("privacy, words", at("privacy", person="R9", trace_id=DEMO), "To be covered", ("w",), "covers them all over"),
    Mode("privacy, sure", at("privacy", person="R9", trace_id=DEMO), "To be covered", ("space", "R"), "not yet."),
    Mode("author, form", at("author", trace_id=WHOLE), "Enter: begin", ("4", "A"), "Esc: done"),
    Mode("author", at("author", trace_id=WHOLE), "Enter: begin"),
    Mode("author, submitted", at("author", trace_id=WHOLE, person="D2"), "Enter: begin", ("enter", "S"), ""),
    Mode("author, verification", verifying, "waits for you"),
    Mode("author, objection", verifying, "waits for you", ("x",), "what is wrong with it"),
    Mode("author, sent back", verifying, "waits for you", ("B",), "a word about the whole"),
    Mode("annotate, menu", at("annotate", study="state", **R1), STATE.ask, ("m",), "Back"),
    *[Mode(f"annotate, {name}", at("annotate", study=name, **R1), ASKED[name].ask) for name in ASKED],
    Mode("annotate, handed in", at("annotate", study="state", **R1), STATE.ask, ("1", "enter", "enter"), ""),
    Mode("rater's home", at("home", **R1), "Studies"),
    Mode("agreement", at("agreement", study="s"), "Enter"),
    Mode("agreement, items", at("agreement", study="s"), "Enter", ("enter",), "Esc: back to the numbers"),
    Mode("adjudicate, queue", at("adjudicate", study="s"), "Enter: look at it"),
    Mode("adjudicate, item", at("adjudicate", study="s"), "Enter: look at it", ("enter",), "A digit chooses"),
    Mode("raters", at("raters", study="s"), "Enter: this rater"),
    Mode("raters, one", at("raters", study="s"), "Enter: this rater", ("enter",), "Esc: all raters"),
    Mode("progress", at("progress", study="s"), "Enter: this rater"),
    Mode("progress, questions", at("progress", study="s"), "Enter: this rater", ("tab",), "people differ in"),
    Mode("home, nothing yet", nothing_yet, "No runs yet"),
    Mode("play, first page", PLAY, ""),
    Mode("play, who one is", PLAY, "", ("1",), "Who you are"),
    Mode("play, what one remembers", PLAY, "", ("1", "1"), "What do you remember?"),
    Mode("play, not quite", PLAY, "", ("1", "1", "2"), "Not quite"),
    Mode("play, task", at("play", person="P5", seat="participant", study="played"), "Begin"),
    Mode("play, answers", at("play", person="P4", seat="participant", study="played"), ""),
    Mode("play, end", at("play", person="P3", seat="participant", study="played"), "Thank you"),
    Mode("live, proposal", live("developer", task="friday_reorder"), "accept it"),
    Mode("live, participant reads", live("participant"), "Enter begins"),
    Mode("live, participant asked", live("participant"), "Enter begins", ("enter",), "waits for your answer"),
    Mode("live, developer asked", live("developer"), "waits for your answer"),
    Mode("live, beside the question", live("developer"), "waits for your answer", ("tab",), "v View"),
    Mode("live, gate's note", gated, "waits for your decision", ("tab",), "goes back to the"),
    Mode("live, breakpoints", gated, "waits for your decision", ("b",), "Enter adds it"),
    Mode("live, gate", gated, "waits for your decision"),
    Mode(
        "live, take-over",
        gated,
        "waits for your decision",
        ("t", "x"),
        "waiting for your hands",
    ),
    Mode("live, at a breakpoint", live("developer", plays.LUNCH, breaks=("step:2",)), "Breakpoint step:2"),
    Mode("live, paused", gated, "waits for your decision", ("ctrl+x",), "paused:"),
    Mode("live, ended", gated, "for your decision", ("ctrl+x", "ctrl+x"), "run is over"),
    Mode("record", recording, "Touch the phone, or:"),
    Mode("record, finish", recording, "Touch the phone, or:", ("f",), "impossible"),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with runs, demonstrations and studies of every kind, made once."""
    path = tmp_path_factory.mktemp("footers") / "lab.db"
    with Store.open(path) as store:
        spec = Spec(library.task(plays.COFFEE), library.persona("ines", "noise"), user="script")
        session = Session(store, spec)
        session.start()
        assert session.join(180)
        _played(store)
        filled(store)
        for name, field in ASKED.items():
            studied(store, one_field(field), [Unit("u1", (WHOLE,))], id=name)
        disputed(store, id="s")
    return path


def _played(store: Store) -> None:
    """A study in which P3 is at the end, P4 at the questions after a run, and P5 before a task."""
    study = plays.frozen(store, [plays.unit(ASKING)], ("P3", "P4", "P5"), id="played", quiz=0)
    for person in study.raters:
        part = Participation(store, study, Actor("human", person))
        part.agree()
        if person != "P5":
            plays.play_to_end(part)
        if person == "P3":
            plays.hand_in(part)
