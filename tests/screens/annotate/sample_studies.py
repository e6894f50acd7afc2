"""Studies made by the store's own verbs, and an app in which one is rated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.core.settings import Settings
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Assignment, Study, Target, Unit, sample_sha
from lab.studies.rating.rating_session import RatingSession
from screens.annotate.annotate import AnnotateScreen
from screens.annotate.sheet import SheetPane
from screens.annotate.unit_pane import UnitPane
from screens.app import LabApp
from screens.navigation import Opening
from store.store import Store

DONE = Field(
    "completed",
    "Was it completed?",
    "nominal",
    (Option("completed", key="1"), Option("not_completed", key="2")),
    evidence=True,
)
PARTIAL = Field("partial", "Partly done?", "flag", required=False)
UNLISTED = Field("path_not_listed", "A valid path that is not listed?", "flag", required=False)
NODES = Protocol("nodes", "Nodes", "run", (DONE, PARTIAL, UNLISTED), "tdg nodes", guide={"en": "Look at every node."})


STARS = Field("personal", "How personal?", "ordinal", tuple(Option(str(n), key=str(n)) for n in range(1, 6)))


def nodes(count: int) -> tuple[Target, ...]:
    return tuple(
        Target(f"n{i}", f"Node {i} of the plan: open what belongs to it", f"Its screen shows the words of step {i}")
        for i in range(1, count + 1)
    )


def studied(
    store: Store, protocol: Protocol, units: Sequence[Unit], raters: Sequence[str] = ("R1",), **more: Any
) -> Study:
    """A frozen study in which every unit is dealt to every rater, pilots first; `swap` names units that are turned."""
    swap = more.pop("swap", ())
    id = more.pop("id", "s")
    study = Study(id, 1, "A study", protocol, tuple(raters), len(units), sample_sha(list(units)), **more)
    store.studies.freeze(study, units)
    ordered = sorted(units, key=lambda unit: not unit.pilot)
    dealt = [
        Assignment(study.id, 1, rater, at, unit.id, "pilot" if unit.pilot else "main", swap=unit.id in swap)
        for rater in raters
        for at, unit in enumerate(ordered)
    ]
    store.studies.deal(study, dealt)
    return study


def one_field(field: Field, **more: Any) -> Protocol:
    """A protocol that asks one thing of a unit."""
    return Protocol("one", "One thing", "run", (field,), **more)


def rating(store: Store, study: Study, person: str = "R1", **settings: Any) -> LabApp:
    """The app in the room where that study is rated."""
    given = Settings(person=person, seat="rater", bell=False, **settings)
    return LabApp(store, given, Opening("annotate", study=study))


def room(app: LabApp) -> AnnotateScreen:
    assert isinstance(app.screen, AnnotateScreen)
    return app.screen


def sheet(app: LabApp) -> SheetPane:
    return room(app).sheet_pane


def session(app: LabApp) -> RatingSession:
    found = room(app).session
    assert found is not None
    return found


def ready(app: LabApp) -> bool:
    """Whether a unit's sheet takes keys, and what is beside it is read."""
    if not (isinstance(app.screen, AnnotateScreen) and app.screen.view == "open" and sheet(app).items.has_focus):
        return False
    sides = app.screen.query_one(UnitPane)._laid
    return all(side.view is not None and side.view.number == side.number for side in sides)
