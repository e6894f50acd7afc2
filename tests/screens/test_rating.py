"""A rater to whom a study is open: their app holds studies and the room they are rated in, and no other run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.label import Act
from lab.core.values.ids_and_clock import now, uuid7
from screens.app import LabApp
from screens.home.studies import StudyTable
from screens.navigation import Opening
from screens.rooms import ROOMS
from store.store import Store
from tests.screens.runs import WHOLE, painted
from tests.studies import R1, frozen, unit

Until = Callable[..., Awaitable[None]]
RATER = Settings(person="R1", seat="rater")


def rooms(app: LabApp) -> set[str]:
    return {name for name in ROOMS if app.has_room(name)}


async def test_home_lists_studies_alone_and_no_key_leads_to_a_run(full: Store, until: Until) -> None:
    frozen(full, [unit("u1")], title="Failures")
    app = LabApp(full, RATER)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.screen.query_one(StudyTable).count == 1)
        assert rooms(app) == {"home", "annotate"}
        for key in ("f3", "f4", "f9", "f10", "f11", "f12"):
            await pilot.press(key)
            assert app.current_mode == "home"
        with pytest.raises(LabError, match="is not there for the seat rater"):
            app.open_replay(WHOLE)
        assert "Failures" in painted(app)
        assert WHOLE[:8] not in painted(app)
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "annotate")


def test_an_app_opened_on_a_study_is_that_alone_also_where_nothing_is_dealt(full: Store) -> None:
    plan = frozen(full, [unit("u1")], raters=("R2",))
    assert rooms(LabApp(full, RATER, Opening("annotate", study=plan))) == {"home", "annotate"}
    assert {"replay", "review"} <= rooms(LabApp(full, RATER))


def test_who_proofreads_by_name_has_that_room_besides(full: Store) -> None:
    frozen(full, [unit("u1")])
    assert rooms(LabApp(full, RATER, Opening("review"))) == {"home", "annotate", "review"}
    with pytest.raises(LabError, match="is not there for the seat rater"):
        LabApp(full, RATER, Opening("replay", WHOLE))


def test_other_seats_and_locked_studies_close_nothing(full: Store) -> None:
    plan = frozen(full, [unit("u1")])
    assert "runs" in rooms(LabApp(full, Settings(person="R1")))
    assert full.studies.is_active_rater("R1")
    full.labels.record_act(Act(uuid7(), plan.id, 1, R1, "locked", now()))
    assert not full.studies.is_active_rater("R1")
    assert "replay" in rooms(LabApp(full, RATER))


@pytest.mark.parametrize("command", ["replay", "show", "traces", "runs"])
def test_the_command_line_of_a_rater_tells_no_run(
    full: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    frozen(full, [unit("u1")])
    monkeypatch.setenv("HITLAB_SEAT", "rater")
    monkeypatch.setenv("HITLAB_PERSON", "R1")
    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    code = main([command, *([WHOLE] if command in ("replay", "show") else []), "--db", str(full.path)])
    said = capsys.readouterr()
    assert code == 1
    assert "rates in a study here" in said.err or "is not there for the seat rater" in said.err
    assert "some-model" not in said.out + said.err
