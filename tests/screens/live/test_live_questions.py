"""The open question: what is sent is what was meant, and is shown as sent only when it is kept."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.widgets import Static

from lab.core.run.step import Action
from lab.core.run.trace import Answered, Ended, Paused
from lab.core.settings import Settings
from screens.live.choices import Choices
from screens.live.field import ReplyText
from screens.live.reply import DecisionRow, OpenQuestion
from tests.crossed import IN_SOAK, crossed
from tests.screens.resting import burst

ASK = Action("ask_user", text="06:30 or 07:45?")
OFFER = Action("ask_user", text="Shall I turn the dark theme on?")


def hint(app: Any) -> str:
    return str(app.live.query_one("#sends", Static).render())


async def opened(app: Any, pilot: Any, until: Any, number: int = 0) -> None:
    """Waits until the question after so many answers stands open and was seen."""
    panel = app.live.query_one(OpenQuestion)

    def open_now() -> bool:
        waiting = app.session.questions.waiting
        return len(app.events(Answered)) == number and waiting is not None and panel.question is waiting and app.asked

    await until(pilot, open_now)


async def answered(app: Any, pilot: Any, until: Any, number: int = 0) -> Any:
    """The reply that was kept after so many others."""
    await until(pilot, lambda: len(app.events(Answered)) > number)
    return app.events(Answered)[number].reply


async def test_questions_are_answered_in_words_one_after_the_other(live: Any, until: Any) -> None:
    """How an answer was typed is kept; nothing empty is sent; ctrl+j begins a line; Esc loses nothing of a draft."""
    app = live((ASK, "Two times."), (ASK, ""), (ASK, ""))
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot, until)
        await until(pilot, lambda: app.shows("06:30 or 07:45?") and app.shows(" Send "))
        await pilot.pause()
        assert app.bells == 1
        assert isinstance(app.focused, ReplyText)
        await burst(pilot, *"7x", "backspace", "h", "enter")
        reply = await answered(app, pilot, until)
        await until(pilot, lambda: app.shows("you answered"))
        assert (reply.text, reply.decision, reply.edits, reply.draft) == ("7h", None, 1, "7x")
        assert reply.by == app.session.person
        assert reply.shown_at < reply.first_key_at < reply.sent_at
        await opened(app, pilot, until, 1)
        await pilot.press("enter")
        assert "Nothing is typed yet" in hint(app)
        assert len(app.events(Answered)) == 1
        await pilot.press("1", "ctrl+j", "2", "enter")
        assert (await answered(app, pilot, until, 1)).text == "1\n2"
        await opened(app, pilot, until, 2)
        await _esc_leaves_the_field_and_leads_back_to_it(app, pilot, until)
        app.session.stop()


async def _esc_leaves_the_field_and_leads_back_to_it(app: Any, pilot: Any, until: Any) -> None:
    await pilot.press("7", "escape")
    assert not isinstance(app.focused, ReplyText)
    await until(pilot, lambda: app.session.draft(app.session.questions.waiting) == "7")
    await until(pilot, lambda: app.shows("the agent waits for your answer: Esc goes there"))
    await pilot.press("escape")
    assert isinstance(app.focused, ReplyText)
    await pilot.press("f2")
    await until(pilot, lambda: app.current_mode == "home")
    assert app.session.questions.waiting is not None
    assert not app.events(Paused)
    assert not app.events(Ended)
    await pilot.press("f3")
    await until(pilot, lambda: app.current_mode == "live")
    assert app.live.query_one(ReplyText).text == "7"
    assert isinstance(app.focused, ReplyText)


async def test_proposals_are_decided_one_after_the_other(live: Any, until: Any) -> None:
    """One key sends a decision, and a click; a remark decides nothing and goes with the key that does."""
    keys = (("1", "accept"), ("a", "accept"), ("2", "reject"), ("\N{FULLWIDTH DIGIT TWO}", "reject"))
    app = live(*[(OFFER, "")] * 9, kind="proactive")
    async with app.run_test(size=(100, 30)) as pilot:
        for number, (key, decision) in enumerate(keys):
            await opened(app, pilot, until, number)
            assert isinstance(app.focused, DecisionRow)
            assert hint(app) == "One key sends · tab: a remark first"
            await pilot.press("enter")
            assert "Nothing is decided yet: 1 accept it" in hint(app)
            assert len(app.events(Answered)) == number
            await pilot.press(key)
            reply = await answered(app, pilot, until, number)
            assert (reply.decision, reply.text) == (decision, ""), key
            assert reply.first_key_at is not None, key
        await opened(app, pilot, until, 4)
        await _a_remark_never_decides(app, pilot, until, 4)
        await opened(app, pilot, until, 5)
        await pilot.press("o")  # it offers nothing and only asks: words answer it, and no decision
        await until(pilot, lambda: isinstance(app.focused, ReplyText))
        assert "write your answer here, Enter sends it" in hint(app)
        await pilot.press("enter")
        assert "Nothing is typed yet" in hint(app)
        await burst(pilot, *"no", "enter")
        reply = await answered(app, pilot, until, 5)
        assert (reply.decision, reply.text) == (None, "no")
        await opened(app, pilot, until, 6)
        await burst(pilot, "tab", *"no", "shift+tab", "3")  # words that stand there already are sent as the answer
        reply = await answered(app, pilot, until, 6)
        assert (reply.decision, reply.text) == (None, "no")
        await opened(app, pilot, until, 7)
        await pilot.resize_terminal(120, 40)
        row = app.live.query_one(DecisionRow)
        await until(pilot, lambda: row.size.height == 1 and app.shows("no offer: answer"))
        await pilot.click(row, offset=(18, 0))
        assert (await answered(app, pilot, until, 7)).decision == "reject"
        await opened(app, pilot, until, 8)
        await _the_row_stacks_where_it_is_narrow(app, pilot, until)
        await _esc_never_leaves_what_is_asked(app, pilot, until, "developer")
        assert len(app.events(Answered)) == 8
        app.session.stop()


async def _a_remark_never_decides(app: Any, pilot: Any, until: Any, number: int) -> None:
    await burst(pilot, "tab", *"1aro")
    assert "Enter goes back to the choices; nothing is sent yet" in hint(app)
    await until(pilot, lambda: app.shows(" Choices ") and not app.shows(" Send "))
    await pilot.press("enter")
    assert isinstance(app.focused, DecisionRow)
    assert app.focused.marked_id is None
    assert "your remark goes too" in hint(app)
    await pilot.press("tab")
    assert isinstance(app.focused, ReplyText)
    await pilot.press("escape", "2")
    reply = await answered(app, pilot, until, number)
    assert (reply.decision, reply.text) == ("reject", "1aro")


async def _the_row_stacks_where_it_is_narrow(app: Any, pilot: Any, until: Any) -> None:
    await pilot.resize_terminal(80, 24)
    row = app.live.query_one(DecisionRow)
    await until(pilot, lambda: row.size.height == 3)
    await pilot.press("down", "down")
    assert row.marked_id == "reject"
    assert isinstance(row, Choices)
    assert app.live.query_one(OpenQuestion).question.kind == "propose"


async def _esc_never_leaves_what_is_asked(app: Any, pilot: Any, until: Any, seat: str) -> None:
    before = len(app.events(Answered))
    await pilot.press("escape", "escape")
    assert app.current_mode == "live"
    assert isinstance(app.focused, DecisionRow)
    assert "The agent waits for your answer." in hint(app)
    assert ("F2 leaves it waiting" in hint(app)) is (seat == "developer")
    app.live.query("Fold").first().focus()
    await until(pilot, lambda: app.shows("the agent waits for your answer: Esc goes there"))
    await pilot.press("escape")
    assert isinstance(app.focused, DecisionRow)
    assert len(app.events(Answered)) == before


async def test_a_key_meant_for_what_stood_there_before_decides_nothing(live: Any, until: Any, cast: Any) -> None:
    clock = cast.HandClock()
    app = live((OFFER, ""), kind="proactive", clock=clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.live.query_one(DecisionRow).seen_at == 0 and app.shows("One key sends"))
        clock.at = 0.29
        await pilot.press("2")
        await until(pilot, lambda: "did nothing: press it again" in hint(app))
        assert app.live.query_one(DecisionRow).marked_id is None
        clock.at = 0.3
        await pilot.press("1")
        reply = await answered(app, pilot, until)
    assert reply.decision == "accept"


async def test_other_keys_are_the_ones_that_are_shown(live: Any, until: Any) -> None:
    keymap = {"reply.accept": "f5", "run.pause": "f6", "run.end": "f6", "run.resume": "f7"}
    app = live((OFFER, ""), kind="proactive", settings=Settings(keymap=keymap))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.asked and app.shows("○ F5 accept"))
        assert app.shows("F5 accept")
        await pilot.press("f6")
        await until(pilot, lambda: app.shows("paused: F6 again ends the run, F7 goes on"))
        await pilot.press("1", "a", "f5")
        reply = await answered(app, pilot, until)
    assert reply.decision == "accept"


async def test_a_draft_comes_back_with_the_run(live: Any, until: Any, cast: Any) -> None:
    first = live((ASK, "Two times."))
    async with first.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: first.asked)
        await pilot.press("h")
    trace = first.store.runs.trace(first.session.trace_id)
    assert trace.paused
    second = live(resume=trace, agent=cast.Cast((ASK, "Two times.")))
    async with second.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: second.asked and second.live.query_one(ReplyText).text == "h")
        await until(pilot, lambda: second.shows("thinks: Two times."))
        await pilot.press("i", "enter")
        reply = await answered(second, pilot, until)
    assert (reply.text, reply.edits) == ("hi", 0)


async def test_a_strangers_text_is_plain_characters(live: Any, until: Any) -> None:
    hostile = "[bold red]a[/] \x1b[31mb\x1b]0;t\x07 [link=x]"
    seen, kept = "[bold red]a[/] \\x1b[31mb\\x1b]0;t\\x07 [link=x]", "[bold red]a[/] b [link=x]"
    app = live((Action("ask_user", text=hostile), hostile), records=True)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: app.asked)
        app.post_message(events.Paste(hostile))
        await until(pilot, lambda: app.live.query_one(ReplyText).text)
        await pilot.press("enter")
        await until(pilot, lambda: app.shows("you answered"))

        def lines() -> list[str]:
            return [
                strip.text
                for strip in app.screen._compositor.render_strips()
                if seen in strip.text or kept in strip.text
            ]

        await until(pilot, lambda: len(lines()) == 3)  # asked, thought, answered
    assert not any("\x1b" in line or "\x07" in line for line in app.painted)


async def test_a_question_in_another_room_rings_and_says_where(live: Any, until: Any, cast: Any) -> None:
    agent = cast.Cast((OFFER, ""), held=True)
    app = live(agent=agent, kind="proactive")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        app.open_home()
        await until(pilot, lambda: app.current_mode == "home" and not app.live.is_current)
        agent.go.set()
        await until(pilot, lambda: app.bells == 1)
        await until(pilot, lambda: app.shows("A question waits in the live run"))
        row = app.live.query_one(DecisionRow)
        assert not row.ready
        await pilot.press("f3")
        await until(pilot, lambda: row.ready and app.focused is row)


async def test_a_participant_stays_with_what_is_asked_and_has_no_home_to_go_to(
    live: Any, until: Any, cast: Any
) -> None:
    agent = cast.Cast((OFFER, ""), held=True)
    app = live(agent=agent, kind="proactive", seat="participant")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.shows("working ..."))
        await pilot.press("escape", "escape")
        assert app.current_mode == "live"
        await pilot.press("f2")
        await until(pilot, lambda: app.shows("Your run is open."))
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "live")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.shows("Quit?"))
        assert not app.shows("Home")
        await pilot.press("escape")
        agent.go.set()
        await opened(app, pilot, until)
        await _esc_never_leaves_what_is_asked(app, pilot, until, "participant")
        await _arrows_go_from_part_to_part_of_what_is_pinned(app, pilot, until)
        app.session.stop()


async def _arrows_go_from_part_to_part_of_what_is_pinned(app: Any, pilot: Any, until: Any) -> None:
    parts = list(app.live.query("Fold").results())
    parts[0].focus()
    await pilot.press("down")
    assert app.focused is parts[1]
    await pilot.press("enter")
    await until(pilot, lambda: app.shows("anything that costs money"))
    await pilot.press("k", "k")
    assert app.focused is parts[0]


async def test_in_chinese_the_question_and_its_choices_are_put_in_chinese(live: Any, until: Any) -> None:
    app = live((OFFER, ""), kind="proactive", seat="participant", settings=Settings(seat="participant", locale="zh"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.asked and app.shows("助手对您（Ines Varga）说"))
        assert app.shows("○ 1 接受提议")
        assert app.shows("○ 3 没有提议：我来回答")
        assert app.live.query_one(DecisionRow).marked_id is None
        await pilot.press("3", "1", "enter")
        reply = await answered(app, pilot, until)
    assert (reply.decision, reply.text) == (None, "1")


@crossed
async def test_toasts_and_help_leave_the_question_readable_at_every_size(live: Any, until: Any) -> None:
    """Help is read to its end where it is smallest, in a soak in a usual terminal, too."""
    app = live((ASK, ""))
    async with app.run_test(size=(64, 18), notifications=True) as pilot:
        await opened(app, pilot, until)
        await _help_is_read_to_its_end_by_keys(app, pilot, until)
        for size in ((64, 18), (80, 24), (120, 40)):
            await pilot.resize_terminal(*size)
            await _of_many_toasts_the_newest_is_seen(app, pilot, until)
            app.clear_notifications()
            await until(pilot, lambda: not app.shows("TOAST"))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.size.width == 80 and app.shows("Enter sends your answer"))
        if IN_SOAK:
            await _help_is_read_to_its_end_by_keys(app, pilot, until)
        app.notify("TOASTWORD " * 12, markup=False)
        await until(pilot, lambda: app.shows("TOASTWORD"))
        assert app.shows("the agent waits for your answer")
        await until(pilot, lambda: app.shows("06:30 or 07:45?"))
        assert app.shows("Enter sends your answer")


async def _of_many_toasts_the_newest_is_seen(app: Any, pilot: Any, until: Any) -> None:
    for number in range(5):
        app.notify(f"TOAST{number} " + "word " * 20, timeout=60, markup=False)
        await until(pilot, lambda number=number: app.shows(f"TOAST{number}"))
    assert app.shows("Enter sends your answer")


async def _help_is_read_to_its_end_by_keys(app: Any, pilot: Any, until: Any) -> None:
    await pilot.press("f1")
    await until(pilot, lambda: app.shows("Your answer."))
    seen, before, keys = set[str](), -1, 0
    while len(seen) > before:  # until a page brings nothing that was not there
        before = len(seen)
        seen |= {strip.text[-32:] for strip in app.screen._compositor.render_strips()}
        await pilot.press("pagedown")
        keys += 1
    assert keys < 30
    told = " ".join(seen)
    for word in ("Send", "Quit", "Pause"):
        assert word in told
    assert "Delete" not in told
    assert "Move cursor" not in told
    await pilot.press(*["pageup"] * keys)
    await until(pilot, lambda: app.shows("Your answer."))
    await pilot.press("escape")
    await until(pilot, lambda: not app.screen.query("HelpPanel"))
    assert isinstance(app.focused, ReplyText)


@pytest.mark.parametrize(
    ("text", "words_first"),
    [
        ("I need one of these: Six, Twelve. Which shall it be?", True),
        ("Brown eggs: six or twelve? Before, it was now this, now that.", True),
        ("Brown eggs: how many?", True),
        ("要大杯还是小杯？", True),
        ("Shall I turn on do not disturb when the meeting begins?", False),
        ("Shall I ring it or not?", False),
        ("Six or twelve are usual. Shall I take six?", False),
        ("我来打开勿扰模式，好吗？", False),
    ],
)
@pytest.mark.parametrize("size", [(80, 24), (64, 18)], ids=str)
async def test_an_open_choice_of_a_proactive_run_is_answered_in_words_first(
    live: Any, until: Any, size: tuple[int, int], text: str, words_first: bool
) -> None:
    """The field has the keys and stands above accept and reject, which a step back still reaches."""
    app = live(*[(Action("ask_user", text=text), "")] * 2, kind="proactive")
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, until)
        assert isinstance(app.focused, ReplyText) is words_first
        if not words_first:
            assert app.shows("The agent says to you, Ines")
            await pilot.press("1")
            assert (await answered(app, pilot, until)).decision == "accept"
            return
        await until(pilot, lambda: app.shows("The agent asks you, Ines Varga") and app.shows("Enter sends your answer"))
        await burst(pilot, *"12", "enter")
        reply = await answered(app, pilot, until)
        assert (reply.text, reply.decision) == ("12", None)
        await opened(app, pilot, until, 1)
        row, field = app.live.query_one(DecisionRow), app.live.query_one(ReplyText)
        await until(pilot, lambda: row.region.y > field.region.y)
        await burst(pilot, *"12", "escape", "2")
        reply = await answered(app, pilot, until, 1)
        assert (reply.text, reply.decision) == ("12", "reject")


@pytest.mark.parametrize("size", [(80, 24), (64, 18), (120, 40)], ids=str)
async def test_who_did_not_read_their_part_is_told_who_they_are(live: Any, until: Any, size: tuple[int, int]) -> None:
    """As the first line of the dialogue, and above the question; not where a script or a model answers."""
    app = live((ASK, ""))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.shows("You are Ines Varga"))
        await opened(app, pilot, until)
        await until(pilot, lambda: app.shows("The agent asks you, Ines Varga"))
        app.session.stop()
    app = live((ASK, ""), user="script")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: bool(app.events(Ended)))
        assert not app.shows("You are Ines Varga")
