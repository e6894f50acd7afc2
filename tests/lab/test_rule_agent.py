"""The rule agent's parts: what it reads out of words, what it counts in a log, what it does on a screen."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.agents.facts import code_in, from_texts, time_in
from lab.agents.goals import Alarm, Fact, Goal, Order, Send, Switch, Tell, Write, asked_in, goals_in, phase_in
from lab.agents.habits import deeds, habits_now, routine_of, settled, usual_order
from lab.agents.reading import (
    agrees,
    chosen,
    chosen_time,
    clock_times,
    leaves_open,
    read_log,
    refuses,
    shown_time,
    told_time,
)
from lab.agents.rule import RuleAgent
from lab.seams import Brief, Screen
from lab.task import Actor
from lab.trace import Step
from lab.turn import Action, Observation, Proposed, Question, Reply
from lab.uitree import Bounds, Node, UiTree

# -- reading --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("at 6:30 and 18.45", ["06:30", "18:45"]),
        ("half past six", ["06:30"]),
        ("a quarter to seven", ["06:45"]),
        ("7 pm", ["19:00"]),
        ("12 am", ["00:00"]),
        ("six thirty-five", ["06:35"]),
        ("8:15 in the evening", ["20:15"]),
        ("seven o'clock", ["07:00"]),
        ("六点半，七点一刻，十二点05分", ["06:30", "07:15", "12:05"]),
        ("train G7391, 3 films, 120 C, 25:70", []),
    ],
)
def test_times_of_day_are_read_in_words_digits_and_chinese(text: str, times: list[str]) -> None:
    assert [shown_time(minute) for _, minute in clock_times(text)] == times


@given(st.integers(0, 24 * 60 - 1))
def test_a_time_that_is_shown_is_read_back(minute: int) -> None:
    assert [m for _, m in clock_times(f"It was {shown_time(minute)} then.")] == [minute]


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    clock_times(text)
    goals_in(text)
    chosen(text, ["one", "two"])
    assert not (agrees(text) and refuses(text))


@pytest.mark.parametrize(
    ("text", "no"),
    [
        ("No.", True),
        ("No, leave it", True),
        ("not today", True),
        ("Don't order anything", True),
        ("please don't", True),
        ("never mind", True),
        ("No thanks", True),
        ("不用了", True),
        ("算了", True),
        ("no onions, please", False),
        ("不要洋葱", False),
        ("I don't mind", False),
        ("don't care", False),
        ("yes please", False),
        ("large, and nothing else", False),
    ],
)
def test_a_refusal_is_told_from_a_wish(text: str, no: bool) -> None:
    assert refuses(text) == no


def test_a_reply_picks_an_option_by_name_by_what_it_rules_out_or_by_nearness() -> None:
    heat = ["Mild", "Hot", "Extra hot"]
    assert chosen("mild please", heat) == "Mild"
    assert chosen("Extra hot!", heat) == "Extra hot"
    assert chosen("anything but mild or extra hot", ["Mild", "Hot"]) == "Hot"
    assert chosen("not mild", ["Mild", "Hot"]) == "Hot"
    assert chosen("the mildest", heat) == "Mild"
    assert chosen("微辣吧", ["不辣", "微辣", "特辣"]) == "微辣"
    assert chosen("hm", heat) is None
    assert leaves_open("up to you")


def test_a_reply_picks_a_time() -> None:
    assert chosen_time("the early one", [435, 390]) == 390
    assert chosen_time("I sleep in, so the later", [435, 390]) == 435
    assert chosen_time("at 7", [435, 390]) == 420
    assert chosen_time("not 6:30, 7:15", [435, 390]) is not None
    assert chosen_time("whenever", [435, 390]) is None
    assert told_time("Sure, at seven") == 420
    assert told_time("Sure, the 2 of us") is None


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("Set an alarm for 6:30 labelled 'Kiln'.", [Alarm(390, "Kiln")]),
        (
            "Ada wrote me when her train arrives. Set an alarm for that time and use the train number as its label.",
            [Alarm(None, "", Fact("message", "Ada", "time arrives"), Fact("message", "Ada", "train number"))],
        ),
        ("Turn on Bluetooth and turn wifi off.", [Switch("Bluetooth", True), Switch("wifi", False)]),
        ("Tell 王芳 that I am late.", [Send("王芳", "I am late")]),
        ("Send Bo Lind the list in my note 'Paint'.", [Send("Bo Lind", "", (Fact("note", "Paint", "all"),))]),
        ("Make a note 'Keys' saying 'under the mat'", [Write("Keys", "under the mat")]),
        (
            "At 12:06, he opened the Munchbox app, ordered a bean pie (hot, large) from Old Mill to the office, "
            "added the remark 'no onions', and paid with the blue card.",
            [Order("bean pie", "Old Mill", "no onions", ("hot", "large"), "Munchbox", "office", "blue card")],
        ),
        ("A coupon for pies appeared in Munchbox. He closed it.", []),
        ("Get everything ready.", []),
    ],
)
def test_goals_are_read_from_wishes_and_from_log_lines(text: str, goals: list[Goal]) -> None:
    assert list(goals_in(text)) == goals


def test_a_question_is_a_thing_to_be_told_and_a_time_of_day_a_phase() -> None:
    assert asked_in("When does the bus leave? Bo wrote me.") == Tell(Fact("message", "Bo", "time leave"))
    assert asked_in("Do the dishes.") is None
    phase = phase_in("ready for the night")
    assert phase is not None
    assert (phase.start, phase.end) == (21 * 60, 26 * 60)


def test_a_fact_is_the_one_beside_its_name_and_the_latest_that_was_said() -> None:
    text = "I come on train R88, coach 7. It leaves at 12:10 and gets in at 16:42, platform 3."
    assert time_in(text, "arrives") == 16 * 60 + 42
    assert time_in(text, "leaves") == 12 * 60 + 10
    assert code_in(text, "train number") == "R88"
    assert code_in(text, "coach number") == "7"
    assert code_in("see you at 16:42", "train number") is None
    assert from_texts(["train A1, arrives 15:00", "no: train B2, arrives 16:00", "bye!"], "train number") == "B2"


# -- the log --------------------------------------------------------------------------------------------------

OFFICE = "Kiln Lane 3, first floor"


def line(day: int, time: str, text: str, place: str = OFFICE) -> str:
    """A log line of May 2026; the 4th is a Monday."""
    return f"[2026-05-{day:02d}T{time}:00+02:00] ({place}) At {time}, he {text}"


def tea(day: int, time: str = "15:30", place: str = OFFICE) -> str:
    return line(day, time, "opened Munchbox, ordered a green tea (small) from Old Mill, and paid.", place)


WORKDAYS = [4, 5, 6, 7, 8, 11, 12, 13]


@pytest.mark.parametrize(
    ("log", "now", "place", "fits"),
    [
        ([tea(day) for day in WORKDAYS], "2026-05-14T15:35:00+02:00", OFFICE, True),
        ([tea(day) for day in WORKDAYS], "2026-05-14T15:35:00+02:00", "Station", False),
        ([tea(day) for day in WORKDAYS], "2026-05-14T11:00:00+02:00", OFFICE, False),
        ([tea(day) for day in WORKDAYS], "2026-05-16T15:35:00+02:00", OFFICE, False),
        ([tea(day) for day in WORKDAYS], "2026-07-14T15:35:00+02:00", OFFICE, False),
        ([tea(day) for day in (*WORKDAYS, 14)], "2026-05-14T15:35:00+02:00", OFFICE, False),
        ([tea(4), tea(5)], "2026-05-06T15:35:00+02:00", OFFICE, False),
        (
            [tea(4), tea(7), tea(12), *(line(day, "09:00", "read the mail.") for day in WORKDAYS)],
            "2026-05-14T15:35:00+02:00", OFFICE, False,
        ),
    ],
)  # fmt: skip
def test_a_habit_is_offered_only_where_it_fits(log: list[str], now: str, place: str, fits: bool) -> None:
    entries = read_log(log)
    at = datetime.fromisoformat(now).replace(tzinfo=None)
    assert bool(habits_now(deeds(entries), entries, at, place)) == fits
    proposed = RuleAgent().propose(Brief("proactive", "", tuple(log), now, place), Screen(b"", (1, 1), UiTree()), [])
    assert proposed.action.kind == ("ask_user" if fits else "status")
    if fits:
        assert "green tea" in (proposed.action.text or "")
        assert "Old Mill" in (proposed.action.text or "")


def test_the_usual_order_is_what_most_say_and_one_off_things_are_not() -> None:
    log = [line(d, "12:10", f"ordered a bean pie (large, {h}) from Old Mill, adding the remark 'no onions', and paid.")
           for d, h in zip(WORKDAYS, ("mild", "hot") * 4, strict=True)]  # fmt: skip
    log.append(line(14, "12:20", "ordered a leek soup from Corner Pot, and paid."))
    usual = usual_order(deeds(read_log(log)), "", phase_in("lunch"), None)
    assert usual is not None
    assert (usual.order.what, usual.order.source, usual.order.remark) == ("bean pie", "Old Mill", "no onions")
    assert usual.order.traits == ("large",)
    assert settled(usual.texts, ["Regular", "Large"]) == ("Large", ["Large"])
    assert settled(usual.texts, ["Mild", "Medium", "Hot"])[0] is None
    assert settled(usual.texts, ["Paper", "Steel"]) == (None, [])


def test_a_routine_keeps_what_is_done_on_most_nights_and_leaves_open_what_changes() -> None:
    times = ("06:10", "07:00") * 4
    log = [line(d, "22:50", f"turned on Night light and Quiet mode in Settings, and set an alarm for {t}.")
           for d, t in zip(WORKDAYS, times, strict=True)]  # fmt: skip
    log.append(line(6, "23:10", "turned on Bluetooth by mistake and turned it off again."))
    night = phase_in("night")
    assert night is not None
    routine = routine_of(deeds(read_log(log)), night)
    assert routine is not None
    assert routine.goals == (Switch("Night light", True), Switch("Quiet mode", True))
    assert routine.alarm is not None
    assert sorted(routine.alarm.minutes) == [370, 420]


@given(st.lists(st.sampled_from(["09:00", "12:00", "22:30"]), max_size=12), st.integers(0, 23))
def test_whatever_the_log_the_first_word_is_a_question_or_silence(times: list[str], hour: int) -> None:
    start = datetime(2026, 5, 4)
    log = tuple(
        f"[{(start + timedelta(days=i)).date()}T{time}:00+02:00] ({OFFICE}) At {time}, he turned on Quiet mode."
        for i, time in enumerate(times)
    )
    brief = Brief("proactive", "", log, f"2026-05-20T{hour:02d}:05:00+02:00", OFFICE)
    proposed = RuleAgent().propose(brief, Screen(b"", (1, 1), UiTree()), [])
    assert proposed.action.kind in ("ask_user", "status")
    assert proposed.thought


# -- on a screen ----------------------------------------------------------------------------------------------


def node(text: str, top: int, *, cls: str = "TextView", left: int = 0, right: int = 1080, **more: object) -> Node:
    return Node(Bounds(left, top, right, top + 120), text=text, cls=f"android.widget.{cls}", **more)  # type: ignore[arg-type]


def screen(*nodes: Node, package: str = "org.other") -> Screen:
    root = Node(Bounds(0, 0, 1080, 2400), cls="android.widget.FrameLayout", package=package, children=nodes)
    return Screen(b"", (1080, 2400), UiTree((root,)))


LAUNCHER = screen(node("Settings", 400, clickable=True), node("Clock", 600, clickable=True), package="org.launcher")


def step(index: int, seen: Screen, proposed: Proposed, reply: Reply | None = None) -> Step:
    question = Question("q", "ask", proposed.action.text or "") if reply else None
    return Step(index=index, proposed=proposed, before=Observation(tree=seen.tree), question=question, reply=reply)


def drive(brief: Brief, *screens: Screen) -> list[Proposed]:
    """What the agent proposes as one screen follows the other."""
    out: list[Proposed] = []
    steps: list[Step] = []
    for seen in screens:
        out.append(RuleAgent().propose(brief, seen, steps))
        steps.append(step(len(steps), seen, out[-1]))
    return out


def test_it_finds_targets_by_their_words_on_a_phone_it_has_never_seen() -> None:
    def page(on: bool) -> Screen:
        row = Node(Bounds(0, 300, 1080, 480), clickable=True, children=(
            node("Dark theme", 320, right=800), node("", 320, cls="Switch", left=900, checkable=True, checked=on),
        ))  # fmt: skip
        return screen(node("Display", 100), row)

    brief = Brief("general", "Turn on dark theme.")
    said = drive(brief, LAUNCHER, LAUNCHER, page(False), page(True))
    assert [p.action.kind for p in said] == ["navigate_home", "click", "click", "status"]
    assert said[1].action.at == (540, 460)
    assert said[2].action.at == (990, 380)
    assert said[3].action.status == "complete"


def test_it_gives_up_with_a_reason_where_nothing_moves() -> None:
    said = drive(Brief("general", "Turn on dark theme."), *[LAUNCHER] * 12)
    assert said[-1].action.status == "infeasible"
    assert "did not change" in said[-1].thought or "no settings" in said[-1].thought


def test_what_it_does_not_understand_it_does_not_do() -> None:
    said = drive(Brief("general", "Make me happy."), LAUNCHER)
    assert said[0].action == Action("status", status="infeasible")
    assert drive(Brief("proactive", "", (), "", ""), LAUNCHER)[0].action.status == "complete"


def test_a_refusal_in_words_ends_it_as_a_decision_does() -> None:
    brief = Brief("personalized", "Set my usual alarm.", time="2026-05-04T22:00:00+02:00")
    asked = RuleAgent().propose(brief, LAUNCHER, [])
    assert asked.action.kind == "ask_user"
    for reply in (
        Reply("q", "No, leave it", Actor("human", "p")),
        Reply("q", "", Actor("human", "p"), "reject"),
    ):
        end = RuleAgent().propose(brief, LAUNCHER, [step(0, LAUNCHER, asked, reply)])
        assert end.action == Action("status", status="complete")
