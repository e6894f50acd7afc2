"""A rater's first minutes: guide, keys as they are bound, a practice item with what is right, the first item."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from annotators.introductions import introduction_lines
from annotators.protocols import protocol
from lab.core.study.study import Study, Unit
from lab.studies.rating.practice import build_item
from screens.app import LabApp
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.store import Store
from tests.crossed import crossed, spread
from tests.screens.annotate.sample_studies import rating, ready, room, studied
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]

TEXTS = protocol("same-intent")
NOWHERE = "counts nowhere"


def of_texts(store: Store, **more: object) -> Study:
    """A study of texts, whose practice needs no run."""
    given = build_item(TEXTS, "en").unit.given
    plan = {"introduction": "full", **more}
    return studied(store, TEXTS, [Unit("u1", given=given), Unit("u2", given=given)], ("R1", "R2"), **plan)


def kinds(store: Store, study: Study, rater: str = "R1") -> list[str]:
    return [act.act for act in store.labels.introductions(study.id, rater)]


async def read(pilot: Pilot[None], app: LabApp, part: str, until: Until) -> None:
    """Reads all pages of a part by Enter."""
    await until(pilot, lambda: app.screen.is_attached and room(app).view == "read")
    assert room(app).introduction.part == part
    while room(app).introduction.part == part:
        await press(pilot, "enter")


async def to_practice(pilot: Pilot[None], app: LabApp, until: Until) -> None:
    await read(pilot, app, "guide", until)
    await read(pilot, app, "keys", until)
    await until(pilot, lambda: ready(app))


async def test_from_the_guide_over_a_real_run_to_the_first_item(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    store.runs.add(whole_run())
    study = studied(store, protocol("success"), [Unit("u1", (WHOLE,))], introduction="full")
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(100, 40)) as pilot:
        await until(pilot, lambda: "Judge by the state" in painted(app) and "read on" in painted(app))
        assert kinds(store, study) == ["guide_shown"]
        await read(pilot, app, "guide", until)
        await until(pilot, lambda: "takes your last answer back" in painted(app))
        assert kinds(store, study) == ["guide_shown", "guide_read", "keys_shown"]
        await read(pilot, app, "keys", until)
        await until(pilot, lambda: ready(app) and "Turn on dark theme and do not disturb." in painted(app))
        assert painted(app).count(NOWHERE) == 2  # above, and below
        assert "playbook" not in painted(app)
        await press(pilot, "right", "right", "right", "right", "1")
        assert kinds(store, study)[-1] == "practice_answered"
        await press(pilot, "enter")
        await until(pilot, lambda: "0 of 1 right" in painted(app))
        told = " ".join(painted(app).split())
        assert "you: success" in told
        assert "right: failure" in told
        assert "do not disturb was never opened" in room(app).read_page.content.plain
        assert "The study begins now" in told
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and NOWHERE not in painted(app) and "1 of 1" in painted(app))
        assert list(store.labels.read(study)) == []
        await press(pilot, "1", "enter")
        await until(pilot, lambda: store.studies.progress(study, "R1").done == 1)
    assert [label.unit for label in store.labels.read(study)] == ["u1"]
    acts = store.labels.introductions(study.id)
    answer = next(act for act in acts if act.act == "practice_answered").detail["answer"]
    assert (answer["value"], answer["evidence"]) == ("success", "practice-1@5")
    (line,) = introduction_lines(acts)
    assert (line.right, line.places, line.passed) == (0, 1, False)
    assert line.seconds is not None


async def test_a_rater_who_comes_back_sees_none_of_it_again(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = of_texts(store)
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await to_practice(pilot, app, until)
        await press(pilot, "1", "enter")
        await until(pilot, lambda: "all of it is right" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and "1 of 2" in painted(app))
        await press(pilot, "t")  # the guide opens again by its key
        await until(pilot, lambda: "t or Esc closes" in painted(app))
    again = rating(store, study)
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(again) and "1 of 2" in painted(again))
    assert kinds(store, study)[-1] == "practice_done"


async def test_who_leaves_in_the_middle_goes_on_there(store: Store, shared_apps: SharedApps, until: Until) -> None:
    study = of_texts(store)
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await to_practice(pilot, app, until)
        await press(pilot, "2")
        await until(pilot, lambda: kinds(store, study)[-1] == "practice_answered")
        await press(pilot, "escape")  # to the studies, and from there in again
        await until(pilot, lambda: room(app).view == "shelf" and "rate 2 more" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and NOWHERE in painted(app))
        assert "not the same" in painted(app)
        await press(pilot, "z")
        await until(pilot, lambda: "1 open" in painted(app))
        await press(pilot, "z")
        await until(pilot, lambda: "nothing to take back" in painted(app))
    assert kinds(store, study).count("guide_shown") == 1


async def test_it_is_passed_over_only_where_the_study_says_so(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = of_texts(store)
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: "read on" in painted(app))
        assert "skip" not in painted(app).casefold()
        while room(app).read_page.lines_below:  # read by the page's own keys: Enter is told by what is seen
            assert "Enter: read on" in painted(app)
            await press(pilot, "pagedown")
        assert "Enter: on to what the keys do" in painted(app)
        await press(pilot, "pageup")
        assert "Enter: read on" in painted(app)
        await press(pilot, "p")
        assert room(app).view == "read"
    free = of_texts(store, id="free", introduction="skippable")
    app = rating(store, free)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "p: skip all this" in painted(app))
        await press(pilot, "p")
        await until(pilot, lambda: ready(app) and "1 of 2" in painted(app))
    assert kinds(store, free) == ["guide_shown", "introduction_skipped"]


async def test_keys_are_told_as_they_are_bound(store: Store, shared_apps: SharedApps, until: Until) -> None:
    study = of_texts(store)
    app = shared_apps.rating(store, study, keymap={"answer.undo": "f7", "annotate.guide": "g,t"})
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: "by g." in painted(app))
        await read(pilot, app, "guide", until)
        lines = painted(app).splitlines()
        assert next(line for line in lines if "takes your last answer back" in line).split()[1] == "F7"
        assert not any("next step of the run" in line for line in lines)  # there is no run here


@crossed
@pytest.mark.parametrize("size", spread([(64, 18), (80, 24), (120, 40)], 2))
async def test_it_is_read_in_chinese_at_each_size(
    store: Store, shared_apps: SharedApps, until: Until, size: tuple[int, int]
) -> None:
    study = of_texts(store)
    app = shared_apps.rating(store, study, locale="zh")
    async with shared_apps.at(size=size) as pilot:
        await until(pilot, lambda: "评分指南" in painted(app) and "目标相同" in painted(app))
        await read(pilot, app, "guide", until)
        await until(pilot, lambda: "撤回最后一个答案" in painted(app))
        await read(pilot, app, "keys", until)
        await until(pilot, lambda: ready(app) and "明天六点" in painted(app) and "不计入" in painted(app))
        await press(pilot, "2", "enter")
        await until(pilot, lambda: room(app).view == "told")
        told = room(app).read_page.content.plain
        assert "练习：1 处中 0 处正确" in told
        assert "目标和时间相同" in told
        assert "正确答案" in painted(app)
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and "1 of 2" in painted(app))


async def test_in_a_kit_it_comes_as_at_home_and_comes_back(store: Store, until: Until, tmp_path: Path) -> None:
    study = of_texts(store)
    make_kit(store, study, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        app = rating(kit, kit.studies.study(study.id))
        async with app.run_test(size=(80, 24)) as pilot:
            await to_practice(pilot, app, until)
            await press(pilot, "1", "enter")
            await until(pilot, lambda: "all of it is right" in painted(app))
    taken = import_kit(store, tmp_path / "R1.db")
    assert taken.labels == 0
    (line,) = introduction_lines(store.labels.introductions(study.id))
    assert (line.rater, line.passed) == ("R1", True)


async def test_a_practice_that_cannot_be_made_keeps_nobody_from_the_study(
    store: Store, shared_apps: SharedApps, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.runs.add(whole_run())
    study = studied(store, protocol("success"), [Unit("u1", (WHOLE,))], introduction="full")
    monkeypatch.setattr("simulators.library.practice_tasks", dict)
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await read(pilot, app, "guide", until)
        await read(pilot, app, "keys", until)
        await until(pilot, lambda: "no practice item here" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and "1 of 1" in painted(app))
    acts = store.labels.introductions(study.id)
    assert "practice task 'evening'" in acts[-1].detail["why"]
