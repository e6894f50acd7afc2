"""The sheet: answers by digits and Enter alone, refused inline, taken back without end, and where they were left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual import events

from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Target, Unit
from screens.annotate.unit_pane import UnitPane
from store.store import Store
from tests.screens.annotate.sample_studies import (
    NODES,
    STARS,
    nodes,
    one_field,
    rating,
    ready,
    room,
    sheet,
    studied,
)
from tests.screens.annotate.terminal import ENTER, opened
from tests.screens.live.conftest import HandClock
from tests.screens.resting import burst, press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps
from tests.typed import KEPT, PASTED

Until = Callable[..., Awaitable[None]]
PERCENT = Field("completion", "How much was done?", "interval", least=0, most=100, step=1)
TEN = Field("ten", "Of ten?", "interval", least=0, most=10, step=1)
SCORE = Field("score", "How well?", "interval", least=0, most=1, step=0.05)
WORDS = Field("guess", "What do they want?", "text")


@pytest.fixture
def run(store: Store) -> Store:
    store.runs.add(whole_run())
    return store


def unit(count: int = 3, id: str = "u1", **more: Any) -> Unit:
    return Unit(id, (WHOLE,), targets=nodes(count), **more)


def rests_on(app: Any, target: str) -> str | None:
    """What the answer of a node rests on."""
    head = sheet(app).sheet.head(FieldReference(target, "completed"))
    return head.evidence if head is not None else None


def said(app: Any) -> list[Any]:
    """What stands on the sheet, line by line."""
    return [sheet(app).sheet.value(item.spot) for item in sheet(app).items.items]


@pytest.mark.parametrize("field", [NODES.fields[0], SCORE, STARS], ids=["options", "scale", "stars"])
async def test_enter_on_an_open_item_says_what_answers_it_however_often_it_is_pressed(
    run: Store, shared_apps: SharedApps, until: Until, field: Field
) -> None:
    study = studied(run, one_field(field), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "enter", "enter", "enter")
        await until(pilot, lambda: "A digit answers. m: other answers." in painted(app))
        assert not sheet(app).menu.display
        assert list(run.labels.read(study)) == []
        await press(pilot, "m")
        await until(pilot, lambda: sheet(app).menu.display)
        await press(pilot, "escape")


async def test_keys_that_come_right_behind_the_one_that_hands_in_are_not_taken_for_what_comes_next(
    run: Store, shared_apps: SharedApps, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = studied(run, NODES, [unit(1), unit(1, "u2")])
    app = shared_apps.rating(run, study)
    monkeypatch.setattr("screens.slip.GUARD_SECONDS", 0.3)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        slip = room(app).sheet_pane.slip
        monkeypatch.setattr(slip, "clock", clock := HandClock())
        monkeypatch.setattr(slip, "_began", float("-inf"))  # an app that is shared began by another clock
        await press(pilot, "1", "enter", "enter", "1")
        await until(pilot, lambda: room(app).view == "told")
        await press(pilot, "enter", "z", "1")
        assert room(app).view == "told"
        assert run.studies.progress(study, "R1").done == 1
        clock.at = 0.3
        await press(pilot, "enter")
        await until(pilot, lambda: "2 of 2" in painted(app) and ready(app))
        await press(pilot, "2")
        await until(pilot, lambda: [one.value for one in run.labels.read(study, "u2")] == ["not_completed"])


async def test_nodes_take_a_key_each_and_enter_hands_in(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, NODES, [unit(6), unit(2, "u2")])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        keys = [*"121121", "enter"]
        await press(pilot, *keys)
        await until(pilot, lambda: run.studies.progress(study, "R1").done == 1)
        assert len(keys) == 6 + 1
        if room(app).view == "told":
            await press(pilot, "enter")
        await until(pilot, lambda: "2 of 2" in painted(app) and ready(app))
        given = list(run.labels.read(study, "u1"))
        assert [label.value for label in given] == ["completed", "not_completed", "completed"] * 2
        assert all(label.evidence == f"{WHOLE}@1" for label in given)
        assert all(label.shown_at and label.first_key_at and label.shown_at <= label.first_key_at for label in given)


async def test_arrows_move_the_run_and_never_the_items(run: Store, shared_apps: SharedApps, until: Until) -> None:
    app = shared_apps.rating(run, studied(run, NODES, [unit()]))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "right", "l", "right_square_bracket")
        await until(pilot, lambda: sheet(app).place.endswith("@4"))
        assert sheet(app).items.cursor == 0
        await press(pilot, "j", "down", "k")
        assert sheet(app).items.cursor == 1
        assert sheet(app).place.endswith("@4")
        await press(pilot, "left", "h", "left_square_bracket", "2")
        await until(pilot, lambda: said(app)[1] == "not_completed")
        assert rests_on(app, "n2") == f"{WHOLE}@1"


NUMBERS: list[tuple[Field, list[tuple[Any, Any]]]] = [
    (PERCENT, [
        (["m", "1"], 100), ("85", 85), (["7", "enter"], 7), ("00", 0), ("100", 100), (["1", "0", "enter"], 10),
        ("07", 7), (["f"], 100), (["0", "enter"], 0), (["4", "backspace", "9", "1"], 91),
    ]),
    (TEN, [("7", 7), ("10", 10), (["1", "enter"], 1)]),
    (SCORE, [
        ("85", 0.85), (["5", "enter"], 0.05), ("00", 0.0), ("100", 1.0), (["1", "0", "enter"], 0.1), (["f"], 1.0),
    ]),
    (STARS, [("4", "4")]),
]  # fmt: skip


@pytest.mark.parametrize(("field", "typed"), NUMBERS, ids=[field.id for field, _ in NUMBERS])
async def test_a_number_is_what_was_typed(
    run: Store, shared_apps: SharedApps, until: Until, field: Field, typed: list[tuple[Any, Any]]
) -> None:
    """Each is asked of a target of its own: the next line is reached by what was typed, and by nothing else."""
    app = shared_apps.rating(
        run, studied(run, one_field(replace(field, per="target"), targets="tdg nodes"), [unit(len(typed))])
    )
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        for at, (keys, value) in enumerate(typed):
            assert sheet(app).items.cursor == at
            await press(pilot, *keys)
            await until(pilot, lambda at=at, value=value: said(app)[: at + 1] == [*(v for _, v in typed[:at]), value])
            assert sheet(app).item is None or sheet(app).items.cursor == at + 1
        assert sheet(app).item is None


async def test_every_number_typed_and_ended_is_that_number(run: Store, shared_apps: SharedApps, until: Until) -> None:
    """One unit after the other by its digits and Enter, as a person does who does not know which need it."""
    targets = tuple(Target(f"n{n}", f"Node {n}") for n in range(101))
    protocol = Protocol("p", "P", "run", (replace(PERCENT, per="target"),), "tdg nodes")
    app = shared_apps.rating(run, studied(run, protocol, [Unit("u1", (WHOLE,), targets=targets)]))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        for number in (*range(12), 20, 99, 100):
            item = sheet(app).item
            assert item is not None
            await press(pilot, *str(number), "enter")
            assert sheet(app).sheet.value(item.spot) == number
        assert not sheet(app).menu.display


async def test_digits_and_words_that_wait_are_shown_and_survive_leaving_and_a_new_start(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    """Of a scale it is said what Enter keeps, of words that they are not yet given."""
    study = studied(run, Protocol("two", "Two", "run", (SCORE, WORDS)), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app) and "0-100 in steps of 5" in " ".join(painted(app).split()))
        await press(pilot, "1", "0")
        await until(pilot, lambda: "10_" in painted(app) and "Enter: 0.1 it is; or one more digit." in painted(app))
        await press(pilot, "escape")  # what was typed goes, and no more
        await until(pilot, lambda: "10_" not in painted(app) and "m: other answers" in painted(app))
        await press(pilot, "8")
        await until(pilot, lambda: "8_" in painted(app) and "One more digit." in painted(app))
        await press(pilot, "7")
        await until(pilot, lambda: "87 is not on this scale" in painted(app))
        assert "it is" not in painted(app)
        await press(pilot, "1", "end")  # on another line they wait
        await until(pilot, lambda: "Hand in" in painted(app) and sheet(app).item is None)
        await press(pilot, "home")
        await until(pilot, lambda: "1_" in painted(app))
        app.open_study(study)  # left as they wait, and opened again
        await until(pilot, lambda: ready(app) and "1_" in painted(app))
        await press(pilot, "down", "enter")
        await burst(pilot, *"taxi")
        await press(pilot, "escape")
        await until(pilot, lambda: "not yet given" in painted(app))
        await press(pilot, "enter")
        await burst(pilot, *" ho")
    again = rating(run, study)
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(again) and "taxi ho" in painted(again))
        assert list(run.labels.read(study)) == []
        await press(pilot, "home")
        await until(pilot, lambda: "1_" in painted(again))
        await press(pilot, "0", "0")
        await until(pilot, lambda: said(again) == [1.0, None])
        await press(pilot, "enter", *"me", "enter")
        await until(pilot, lambda: said(again) == [1.0, "taxi home"])


HINTS = {
    "en": "two digits: 85 is 85, 07 is 7; 0 and Enter is 0; 00 is 100",
    "zh": "两位数字：85 即 85，07 即 7；0 加回车即 0；00 即 100",
}


@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_a_study_of_an_earlier_version_does_not_say_how_numbers_were_typed_then(
    run: Store, shared_apps: SharedApps, until: Until, locale: str
) -> None:
    protocol = one_field(replace(PERCENT, hint=HINTS["en"]), words={"zh": {"completion.hint": HINTS["zh"]}})
    app = shared_apps.rating(run, studied(run, protocol, [unit(0)], locale=locale))
    async with shared_apps.at(size=(120, 40)) as pilot:
        words = "type the number" if locale == "en" else "键入数字"
        await until(pilot, lambda: ready(app) and words in painted(app))
        assert not any(hint.split()[0] in painted(app) for hint in HINTS.values())


@pytest.mark.parametrize(("field", "keys", "words"), [
    (SCORE, "83", "83 is not on this scale"), (STARS, "9", "no answer 9"), (SCORE, ["3", "enter"], "not on this scale"),
])  # fmt: skip
async def test_what_does_not_fit_is_refused_inline(
    run: Store, shared_apps: SharedApps, until: Until, field: Field, keys: Any, words: str
) -> None:
    study = studied(run, one_field(field), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, *keys)
        await until(pilot, lambda: words in painted(app))
        assert sheet(app).items.cursor == 0
        assert list(run.labels.read(study)) == []


MISSING = [
    (["m", "1"], "skipped"), (["m", "2"], "not_reached"), (["m", "3"], "not_applicable"),
    (["m", "4"], "cannot_judge"), (["s"], "skipped"), (["c"], "cannot_judge"), (["0", "2"], "not_reached"),
    (["m", "down", "enter"], "not_reached"),
]  # fmt: skip


async def test_other_answers_are_a_numbered_menu(run: Store, shared_apps: SharedApps, until: Until) -> None:
    """One node after the other, each by other keys."""
    study = studied(run, NODES, [unit(len(MISSING) + 1)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        for at, (keys, missing) in enumerate(MISSING, 1):
            await press(pilot, *keys)
            await until(pilot, lambda at=at: len(list(run.labels.read(study))) == at)
            label = list(run.labels.read(study))[-1]
            assert (label.target, label.value, label.reason_missing) == (f"n{at}", None, missing), keys
            assert sheet(app).items.cursor == at
            await until(pilot, lambda: sheet(app).items.has_focus)


async def test_wide_digits_answer_and_tell_no_key(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, NODES, [unit()])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "１", "2")
        await until(pilot, lambda: said(app)[:2] == ["completed", "not_completed"])
        first, second = run.labels.read(study)
        assert first.first_key_at is None
        assert second.first_key_at is not None


async def test_flags_notes_and_confidence_go_with_an_answer_given_before_or_after(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(run, NODES, [unit()])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "n")
        await burst(pilot, *"odd")
        await press(pilot, "enter", "C", "4")
        await until(pilot, lambda: "odd" in painted(app) and "sure" in painted(app))
        assert list(run.labels.read(study)) == []
        await press(pilot, "1", "k", "m", "5")
        await until(pilot, lambda: "+partial" in painted(app))
        head = sheet(app).sheet.head(FieldReference("n1", "completed"))
        assert head is not None
        assert (head.note, head.confidence) == ("odd", 0.75)
        await press(pilot, "n")
        await burst(pilot, *" one")
        await press(pilot, "enter")
        await until(pilot, lambda: "odd one" in painted(app))
        await press(pilot, "right", "e")
        await until(pilot, lambda: rests_on(app, "n1") == f"{WHOLE}@2")
        await press(pilot, "right", "right", "g")
        await until(pilot, lambda: sheet(app).place == f"{WHOLE}@2")


async def test_an_answer_cites_a_line_of_the_guide_given_before_or_after_and_taken_back(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(
        run, replace(NODES, guide={"en": "Look at every node.\n\n- What is not seen is not done."}), [unit()]
    )
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "T", "3", "enter")
        await until(pilot, lambda: "The guide has lines 1 to 2." in painted(app))
        await press(pilot, "backspace", "2", "enter")
        await until(pilot, lambda: "§2" in painted(app))
        assert list(run.labels.read(study)) == []
        await press(pilot, "1", "2")
        await until(pilot, lambda: said(app)[:2] == ["completed", "not_completed"])
        assert [label.cites for label in run.labels.read(study)] == ["§2", ""]
        await press(pilot, "k", "T", "1", "enter")
        await until(pilot, lambda: [label.cites for label in run.labels.read(study)] == ["§2", "", "§1"])
        await press(pilot, "1")
        await until(pilot, lambda: [label.cites for label in run.labels.read(study)] == ["§2", "", "§1", "§1"])
        await press(pilot, "k", "k", "T", "backspace", "enter")
        await until(pilot, lambda: [label.cites for label in run.labels.read(study)][-1] == "")
        assert [label.value for label in run.labels.read(study)][-1] == "completed"


async def test_a_step_chosen_before_the_answer_is_what_the_answer_rests_on(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(run, NODES, [unit()])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "right", "e")
        await until(pilot, lambda: "seen @2" in painted(app))
        await press(pilot, "left", "1")
        await until(pilot, lambda: rests_on(app, "n1") == f"{WHOLE}@2")


SIDED = Field("overall", "Which is better?", "nominal",
              (Option("A", key="1"), Option("B", key="2"), Option("tie", key="3")), sided=True)  # fmt: skip


@pytest.mark.parametrize(("swap", "values"), [((), ("A", "B", "tie")), (("u1",), ("B", "A", "tie"))])
async def test_sides_are_answered_as_they_are_shown(
    run: Store, shared_apps: SharedApps, until: Until, swap: tuple[str, ...], values: tuple[str, ...]
) -> None:
    pair = Protocol("pair", "Pair", "pair of runs", (SIDED,))
    app = shared_apps.rating(run, studied(run, pair, [Unit("u1", (WHOLE, WHOLE))], swap=swap))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "1 left" in painted(app) and "2 right" in painted(app))
        for key, value, words in zip("123", values, ("left", "right", "tie"), strict=True):
            await press(pilot, key)
            await until(pilot, lambda value=value: said(app) == [value])
            await press(pilot, "k")
            await until(pilot, lambda key=key, words=words: f"● {key} {words}" in painted(app))


async def test_words_are_typed_and_letters_are_letters(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, one_field(WORDS), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "enter")
        await burst(pilot, *"scenzt")
        await press(pilot, "space", "1", "2", "enter")
        await until(pilot, lambda: said(app) == ["scenzt 12"])
        (label,) = run.labels.read(study)
        assert label.first_key_at is not None
        assert sheet(app).item is None


async def test_words_that_were_given_are_not_said_to_be_open(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, one_field(WORDS), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "enter")
        await burst(pilot, *"taxi")
        await until(pilot, lambda: "taxi" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: said(app) == ["taxi"])
        await press(pilot, "up")
        await until(pilot, lambda: "“taxi”" in painted(app))
        assert "not yet given" not in painted(app)


async def test_first_key_stays_known_while_another_line_is_answered(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    protocol = Protocol("two", "Two", "run", (WORDS, STARS))
    study = studied(run, protocol, [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "enter")
        await burst(pilot, *"tax")
        await press(pilot, "escape", "down", "4")
        await until(pilot, lambda: said(app)[1] == "4")
        await press(pilot, "home", "enter", "i", "enter")
        await until(pilot, lambda: said(app) == ["taxi", "4"])
    other, words = sorted(run.labels.read(study), key=lambda label: label.field, reverse=True)
    assert words.first_key_at is not None
    assert other.first_key_at is not None
    assert words.first_key_at < other.first_key_at < words.at
    assert words.idle_ms > 0


async def test_pasted_words_tell_no_first_key(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, one_field(WORDS), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "enter")
        app.post_message(events.Paste(PASTED))
        await press(pilot, "!", "enter")
        await until(pilot, lambda: bool(said(app)[0]))
        (label,) = run.labels.read(study)
        assert label.first_key_at is None
        assert label.value == f"{KEPT}!"
        await press(pilot, "up", "n")
        app.post_message(events.Paste(PASTED))
        await press(pilot, "enter")
        await until(pilot, lambda: [one.note for one in run.labels.read(study)][-1:] == [KEPT])


def test_an_answer_that_was_begun_before_a_kill_says_since_when_and_how_long_nobody_was_there(
    run: Store, tmp_path: Path
) -> None:
    study = studied(run, one_field(WORDS), [unit(0)])

    def drafts() -> list[Any]:
        return [act for act in run.labels.acts(study, "R1") if act.act == "looked" and "taxi" in str(act.detail)]

    with opened(run.path, tmp_path, study.id, "R1") as terminal:
        terminal.see("Hand in")
        terminal.press(ENTER)
        terminal.see("our words")  # the line is open: the first letter is no command
        terminal.press(b"taxi")
        terminal.until(lambda: bool(drafts()), "what is typed is kept")
        terminal.kill()
    killed = datetime.now(UTC)
    with opened(run.path, tmp_path, study.id, "R1") as terminal:
        terminal.see("not yet given")
        terminal.press(ENTER)
        terminal.see("leaves it")
        terminal.press(b"\x1b[200~" + PASTED.encode() + b"\x1b[201~", b"!", ENTER)
        terminal.until(lambda: bool(list(run.labels.read(study))), "the answer")
    (label,) = run.labels.read(study)
    assert label.value == f"taxi{KEPT}!"
    assert label.shown_at is not None
    assert label.first_key_at is not None
    assert label.shown_at < label.first_key_at < drafts()[0].at < killed.isoformat() < label.at
    waited = datetime.fromisoformat(label.at) - datetime.fromisoformat(label.shown_at)
    again = [act for act in run.labels.acts(study, "R1") if act.act == "opened"][-1]
    gone = datetime.fromisoformat(again.at) - killed
    assert gone.total_seconds() * 1000 <= label.idle_ms < waited.total_seconds() * 1000


async def test_typing_is_kept_without_leaving(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, one_field(WORDS), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "enter")
        await burst(pilot, *"taxi")

        def kept() -> bool:
            return any("taxi" in str(act.detail) for act in run.labels.acts(study, "R1") if act.act == "looked")

        await until(pilot, kept)


async def test_a_new_start_reopens_at_the_exact_place_and_undo_goes_all_the_way_back_and_is_recorded(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(run, NODES, [unit(5)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, *"12", "k", "k", "2")
        await until(pilot, lambda: said(app)[0] == "not_completed")
        await press(pilot, "z")
        await until(pilot, lambda: said(app)[0] == "completed" and sheet(app).items.cursor == 0)
        await press(pilot, "right", "right", "end", "up")
        await until(pilot, lambda: sheet(app).place.endswith("@3") and sheet(app).items.cursor == 4)
    again = rating(run, study)
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(again) and sheet(again).place.endswith("@3"))
        assert sheet(again).items.cursor == 4
        await press(pilot, "z")
        await until(pilot, lambda: said(again)[1] is None and sheet(again).items.cursor == 1)
        await press(pilot, "z")
        await until(pilot, lambda: said(again)[0] is None and sheet(again).items.cursor == 0)
        await press(pilot, "z")
        await until(pilot, lambda: "nothing to take back" in painted(again))
        assert [label.act for label in run.labels.read(study)] == ["answer"] * 3 + ["undo"] * 3


async def test_conditional_fields_appear_as_soon_as_they_are_asked(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    outcome = Field("outcome", "How?", "nominal", (Option("yes", key="1"), Option("no", key="2")))
    why = Field("why", "Why not?", "nominal", (Option("a", key="1"), Option("b", key="2")), show_if="outcome=no")
    study = studied(run, Protocol("p", "P", "run", (outcome, why)), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        assert "Why not?" not in painted(app)
        await press(pilot, "2")
        await until(pilot, lambda: "Why not?" in painted(app) and sheet(app).items.cursor == 1)
        await press(pilot, "2", "home", "1")
        await until(pilot, lambda: "Why not?" not in painted(app) and sheet(app).item is None)


async def test_steps_and_boxes(run: Store, shared_apps: SharedApps, until: Until) -> None:
    step = Field("where", "Where?", "step")
    box = Field("what", "What?", "box")
    study = studied(run, Protocol("p", "P", "run", (step, box)), [unit(0)])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "right", "right")
        await until(pilot, lambda: sheet(app).place.endswith("@3"))
        await press(pilot, "enter")
        await until(pilot, lambda: said(app)[0] == 3)
        await press(pilot, "enter", "1")
        await until(pilot, lambda: sheet(app).drawing == "answer")
        room(app).query_one(UnitPane).post_message(UnitPane.RegionDrawn(f"{WHOLE}@3", (1, 2, 30, 40)))
        await until(pilot, lambda: said(app)[1] == [1, 2, 30, 40])
        await press(pilot, "home", "5", "enter")
        await until(pilot, lambda: said(app)[0] == 5)
        await press(pilot, "end", "k", "i")
        await burst(pilot, *["backspace"] * 20, *"1,2,3")
        await press(pilot, "enter")
        await until(pilot, lambda: "is no box" in painted(app))
        assert said(app)[1] == [1, 2, 30, 40]


async def test_a_region_goes_with_the_answer_by_the_mouse_and_by_keys_alone(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    """It is drawn as soon as it is framed; Esc leaves the drawing and takes nothing; after it the keys answer again."""
    study = studied(run, NODES, [unit()])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and sheet(app).place != "")
        beside = room(app).query_one(UnitPane)
        phone = beside.sides[0].phone

        def drawn(target: str) -> Any:
            head = sheet(app).sheet.head(FieldReference(target, "completed"))
            return head is not None and head.region

        await until(pilot, lambda: phone.display and "Before" in painted(app))
        assert "═" not in painted(app)
        await press(pilot, "r")
        await until(pilot, lambda: app.focused is phone)
        await press(pilot, "tab", "enter")
        await until(pilot, lambda: app.focused is sheet(app).items and "═" in painted(app))
        assert list(run.labels.read(study)) == []
        await press(pilot, "1", "k", "r")
        await until(pilot, lambda: sheet(app).drawing == "region")
        beside.post_message(UnitPane.RegionDrawn(f"{WHOLE}@1", (1, 2, 30, 40)))
        await until(pilot, lambda: drawn("n1") == (1, 2, 30, 40) and app.focused is sheet(app).items)
        await press(pilot, "down", "1", "k", "r")
        await until(pilot, lambda: app.focused is phone and "Enter: take it" in painted(app))
        await press(pilot, "down", "escape")
        await until(pilot, lambda: app.focused is sheet(app).items and not beside.drawing)
        assert not drawn("n2")
        await press(pilot, "r")
        await until(pilot, lambda: app.focused is phone)
        await press(pilot, "tab", "tab")
        assert phone.frame is not None
        box = tuple(phone.frame.box)
        await press(pilot, "enter")
        await until(pilot, lambda: drawn("n2") == box)
        await until(pilot, lambda: app.focused is sheet(app).items)
        assert sheet(app).items.cursor == 1
        await press(pilot, "down", "1")
        await until(pilot, lambda: sheet(app).sheet.value(FieldReference("n3", "completed")) == "completed")
        await press(pilot, "home", "r")
        await until(pilot, lambda: app.focused is phone and "Which part?" in painted(app))
        app.open_study(studied(run, NODES, [unit(2)], id="another"))  # where nobody draws
        await until(pilot, lambda: ready(app) and "0 of 2" in painted(app))
        assert phone.frame is None
        assert "Which part?" not in painted(app)


async def test_escape_goes_back_one_step_and_never_out_of_a_study_by_surprise(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = shared_apps.rating(run, studied(run, NODES, [unit()]))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "Step 1" in painted(app))
        await press(pilot, "o")
        await until(pilot, lambda: "Step 1" not in painted(app))
        await press(pilot, "escape")
        await until(pilot, lambda: "Step 1" in painted(app))
        await press(pilot, "w")
        await until(pilot, lambda: "What was asked" in painted(app))
        await press(pilot, "m", "escape")
        await until(pilot, lambda: sheet(app).items.has_focus and "What was asked" in painted(app))
        await press(pilot, "escape")
        await until(pilot, lambda: "What was asked" not in painted(app))
        assert room(app).view == "open"
        await press(pilot, "escape")
        await until(pilot, lambda: room(app).view == "shelf")


async def test_the_list_stands_still_and_turns_before_the_next_item_is_out_of_sight(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = shared_apps.rating(run, studied(run, NODES, [unit(40)]))
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        items = sheet(app).items
        height = items.scrollable_content_region.height
        assert 3 < height < 20
        tops = [0]
        for at in range(1, 40):
            await press(pilot, "1")
            await until(pilot, lambda at=at: items.cursor == at and items.scroll_offset.y + height > min(at + 1, 40))
            assert items.scroll_offset.y <= at
            tops.append(round(items.scroll_offset.y))
        assert 1 < len(set(tops)) <= 2 + 40 // (height // 2)


REMARK = Field("remark", "Anything else you saw?", "text", required=False)


async def test_a_question_that_may_stay_open_is_come_by_and_named_where_it_is_handed_in(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(run, Protocol("p", "P", "run", (STARS, REMARK)), [unit(0), unit(0, "u2")])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "4")
        await until(pilot, lambda: "Enter: type it; it may stay open" in " ".join(painted(app).split()))
        await press(pilot, "enter")
        await burst(pilot, *"odd")
        await press(pilot, "enter")
        await until(pilot, lambda: "Everything is answered." in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and "2 of 2" in painted(app))
        await press(pilot, "3", "enter", "enter")  # the line is opened, and left empty
        words = "All that must be answered is. Left open: Anything else you saw?"
        await until(pilot, lambda: all(word in painted(app) for word in words.split()) and sheet(app).item is None)
        assert "1 left open" in painted(app)
        await press(pilot, "enter")
        await until(pilot, lambda: run.studies.progress(study, "R1").done == 2)
    assert [(label.field, label.value) for label in run.labels.read(study)] == [
        ("personal", "4"), ("remark", "odd"), ("personal", "3")
    ]  # fmt: skip


async def test_handing_in_leads_to_what_must_be_answered_and_not_to_what_may_stay_open(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = shared_apps.rating(run, studied(run, Protocol("p", "P", "run", (REMARK, STARS)), [unit(0)]))
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "end", "enter")
        await until(pilot, lambda: "1 open: answer or skip it first" in painted(app) and sheet(app).items.cursor == 1)


async def test_more_options_than_digits_take_two(run: Store, shared_apps: SharedApps, until: Until) -> None:
    many = Field("which", "Which?", "nominal", tuple(Option(f"o{n}") for n in range(1, 13)))
    app = shared_apps.rating(run, studied(run, one_field(many), [unit(0)]))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, *"12")
        await until(pilot, lambda: said(app) == ["o12"])


async def test_a_branch_has_its_own_ways(run: Store, shared_apps: SharedApps, until: Until) -> None:
    taken = Field("taken", "Which way?", "nominal")
    targets = (Target("b1", "Size", options=("small", "large")), Target("b2", "Sauce", options=("none", "soy", "hot")))
    protocol = Protocol("b", "B", "run", (taken,), "branches")
    app = shared_apps.rating(run, studied(run, protocol, [Unit("u", (WHOLE,), targets=targets)]))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "2 large" in painted(app))
        await press(pilot, "2")
        await until(pilot, lambda: "3 hot" in painted(app))
        await press(pilot, "3")
        await until(pilot, lambda: said(app) == ["large", "hot"])


async def test_the_mouse_does_what_keys_do(run: Store, shared_apps: SharedApps, until: Until) -> None:
    app = shared_apps.rating(run, studied(run, NODES, [unit()]))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await pilot.click("#items", offset=(5, 2))
        await until(pilot, lambda: sheet(app).items.cursor == 1)
        await pilot.click("#options", offset=(2, 0))
        await until(pilot, lambda: said(app)[1] == "completed")


async def test_a_lock_meanwhile_is_said_inline_and_changes_nothing(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    from lab.core.study.label import Act
    from lab.core.task.task import Actor
    from lab.core.values.ids_and_clock import now, uuid7

    study = studied(run, NODES, [unit()])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        run.labels.record_act(Act(uuid7(), study.id, 1, Actor("human", "D1"), "locked", now()))
        await press(pilot, "1")
        await until(pilot, lambda: "locked" in painted(app))
        assert list(run.labels.read(study)) == []
        assert sheet(app).items.cursor == 0
