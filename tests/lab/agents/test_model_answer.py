"""A model's answer as an action: what is read through, what is refused with a reason, and screens in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.agents.elements import ScreenElement, element_lines, elements, in_pixels, in_thousandths
from lab.agents.model import KINDS, UnusableAnswer, meant
from lab.core.run.step import Action
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.llm.json_in_text import objects_in
from lab.llm.model_reply import read_completion
from simulators.phone.phone import Phone
from tests.store.formats.test_long_runs import guarded

SIZE = (1080, 2400)
SHOWN = [ScreenElement(1, "item", "Clock", (), (540, 1200)), ScreenElement(2, "field", "Search", (), (0, 0))]
TAP = '{"thought": "It is there.", "action": "click", "element": 1}'


def action(text: str) -> Action:
    return meant(text, SHOWN, SIZE).action


@pytest.mark.parametrize(
    "text",
    [
        TAP,
        f"```json\n{TAP}\n```",
        f"I see a clock.\n\n{TAP}\n\nThat should do {{it}}.",
        f"Maybe {TAP.replace('1', '2')}? No: {TAP}",
        TAP.replace("It is", "It\n\tis"),
        '{"action": "click", "element": 1, "thought": "It is there.",}',
        TAP + "\n" + TAP.replace("1", "2"),
        '{"thought": "It is there."}\n' + TAP,
        '{"plan": {"steps": ["{", "}"]}} ' + TAP,
        '{"thought": "It is there.", "action": {"kind": "click", "element": "1"}}',
        '{"broken": ' + TAP,
        "\ufeff" + TAP,
    ],
    ids=[
        "plain", "fenced", "prose", "thinks", "line break", "trailing comma", "two", "thought first",
        "braces in quotes", "nested", "inside a broken one", "byte order mark",
    ],
)  # fmt: skip
def test_what_stands_around_an_action_is_read_through(text: str) -> None:
    found = action(text)
    assert (found.kind, found.at, found.space) == ("click", (540, 1200), "index")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"action": "click", "at": [0, 999]}', Action("click", at=(0, 2398))),
        ('{"action": "long_press", "at": {"x": 500, "y": 500.0}}', Action("long_press", at=(540, 1201))),
        ('{"action": "double_tap", "at": [1000, 1000]}', Action("double_tap", at=(1079, 2399))),
        ('{"action": "drag", "element": 1, "to": [0, 0]}', Action("drag", at=(540, 1200), to=(0, 1))),
        ('{"action": "input_text", "element": 2, "text": "milk, \\"two\\""}',
         Action("input_text", at=(0, 0), text='milk, "two"')),
        ('{"action": "scroll", "direction": "down"}', Action("scroll", direction="down")),
        ('{"action": "swipe", "at": [10, 10], "to": [10, 500]}', Action("swipe", at=(11, 25), to=(11, 1201))),
        ('{"action": "open_app", "app": "Clock"}', Action("open_app", app="Clock")),
        ('{"action": "wait", "seconds": 1.5}', Action("wait", ms=1500)),
        ('{"action": "ask_user", "text": "Which?"}', Action("ask_user", text="Which?")),
        ('{"action": "status", "status": "infeasible"}', Action("status", status="infeasible")),
        ('{"action": "navigate_back"}', Action("navigate_back")),
    ],
)  # fmt: skip
def test_every_kind_is_read_with_its_place_in_pixels(text: str, wanted: Action) -> None:
    found = action(text)
    assert found.raw is not None
    for field in ("kind", "at", "to", "text", "direction", "app", "status", "ms"):
        assert getattr(found, field) == getattr(wanted, field), field
    places = {"index"} if "element" in text else {"0-999"} if wanted.at else {None}
    assert found.space in places


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I would tap the clock.", "no JSON object"),
        ("", "no JSON object"),
        ("{'action': 'navigate_back'}", "no JSON object .*its strings are not in"),
        ("{\u201caction\u201d: \u201cnavigate_back\u201d}", "no JSON object .*its strings are not in"),
        (f"{TAP} No, wait: {TAP.replace('1', '2')}", "it holds several different answers"),
        ('{"action": "click", "elem', "no JSON object"),
        ('{"thought": "hm"}', "it names no action; the actions are answer, ask_user"),
        ('{"action": "levitate"}', "'levitate' is no action"),
        ('{"action": "other"}', "'other' is no action"),
        ('{"action": ["click"]}', "is no action"),
        ('{"action": "click"}', "needs an element's number"),
        ('{"action": "click", "element": 3}', "no element 3; they go from 1 to 2"),
        ('{"action": "click", "element": 0}', "no element 0"),
        ('{"action": "click", "element": true}', "no element True"),
        ('{"action": "click", "element": "\u00b2"}', "no element '\u00b2'"),
        ('{"action": "click", "element": "' + "9" * 5_000 + '"}', "no element '999"),
        ('{"action": "click", "at": [500, 4000]}', "outside the screen"),
        ('{"action": "click", "at": [-1, 5]}', "outside the screen"),
        ('{"action": "click", "at": [NaN, 5]}', "is \\[x, y\\]"),
        ('{"action": "click", "at": "500,500"}', "is \\[x, y\\]"),
        ('{"action": "scroll"}', "needs a direction"),
        ('{"action": "scroll", "direction": "sideways"}', "needs a direction"),
        ('{"action": "input_text"}', "needs a text"),
        ('{"action": "ask_user", "text": " "}', "needs a text"),
        ('{"action": "open_app"}', "needs the app's name"),
        ('{"action": "status"}', "complete or infeasible"),
        ('{"action": "wait", "seconds": 1e9}', "seconds above 0"),
        ('{"action": "drag", "element": 1}', "drag needs to_element"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(UnusableAnswer, match=reason):
        action(text)


@given(st.text(alphabet='{}[]",:action click element 1\\\n\ud800\x00', max_size=200))
def test_no_answer_does_more_than_be_refused(text: str) -> None:
    try:
        found = action(text)
    except UnusableAnswer:
        return
    assert found.kind in KINDS


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a":' * 50_000, '"' * 100_000, "{}" * 50_000])
def test_a_babble_of_brackets_is_refused_soon(text: str) -> None:
    with pytest.raises(UnusableAnswer):
        action(text)


@given(st.integers(0, 999), st.integers(0, 999))
def test_thousandths_and_pixels_are_one_place(x: int, y: int) -> None:
    assert in_thousandths(in_pixels(x, y, (1080, 2400)), (1080, 2400)) == (x, y)


def test_a_screen_is_told_by_what_can_be_touched_or_read() -> None:
    phone = Phone()
    phone.perform(Action("open_app", app="Clock"))
    screen = phone.observe()
    lines = element_lines(elements(screen.tree, screen.size), screen.size)
    kinds = {line.split()[1] for line in lines}
    assert {"switch", "item", "button", "text"} <= kinds
    assert any(line.split()[1] == "switch" and ("(on)" in line or "(off)" in line) for line in lines)
    assert any('"Back"' in line for line in lines)
    assert [int(line.split()[0]) for line in lines] == list(range(1, len(lines) + 1))


def test_what_is_touched_as_a_whole_is_one_element_with_its_words() -> None:
    card = Node(Bounds(0, 100, 1000, 400), clickable=True, children=(
        Node(Bounds(0, 100, 500, 200), "Green tea"), Node(Bounds(0, 200, 500, 300), "4.50"),
        Node(Bounds(800, 100, 1000, 400), "Add", clickable=True, cls="android.widget.Button"),
    ))  # fmt: skip
    [row, add] = elements(UiTree((card,)), (1000, 1000))
    assert (row.role, row.words, row.at) == ("item", "Green tea · 4.50", (500, 250))
    assert (add.role, add.words) == ("button", "Add")


def test_a_touch_goes_where_nothing_lies_over_the_element() -> None:
    row = Node(Bounds(0, 0, 1000, 200), "Row", clickable=True)
    bar = Node(Bounds(300, 0, 1000, 200), "Bar", clickable=True)
    window = Node(Bounds(0, 0, 1000, 1000), children=(row, bar))
    dialog = Node(Bounds(0, 500, 1000, 1000), "Really?", package="dialog")
    below = Node(Bounds(0, 600, 1000, 700), "Hidden", clickable=True)
    found = elements(UiTree((window.__class__(window.bounds, children=(row, bar, below)), dialog)), (1000, 1000))
    assert [element.words for element in found] == ["Row", "Bar", "Really?"]
    assert found[0].at[0] < 300


def test_a_keyboard_is_told_by_its_named_keys_alone() -> None:
    phone = Phone()
    phone.perform(Action("open_app", app="Settings"))
    field = phone.observe().tree.find(cls="EditText")[0]
    phone.perform(Action("click", at=field.bounds.center))
    words = [element.words for element in elements(phone.observe().tree, SIZE)]
    assert "Backspace" in words
    assert "q" not in words


def test_hostile_words_are_plain_and_long_lists_say_what_they_leave_out() -> None:
    nodes = tuple(Node(Bounds(0, i, 10, i + 1), f"a\x1b[31m\n{i}" + "x" * 999) for i in range(300))
    lines = element_lines(elements(UiTree(nodes), (1000, 1000)), (1000, 1000), most=200)
    assert lines[-1] == "(100 more are not listed)"
    assert len(lines) == 201
    assert all("\n" not in line and "\x1b" not in line and len(line) < 400 for line in lines)


UNITS = [
    "<think>", "<thinking>", "{", "[", '{"a":', '{"a":[', ",", '"', "\\", "<think></think", "9", "<details>",
    "</details>", '{"a":"</think>"}', '<b>{"a":1}</b>', "<a ", "```thinking\n", "<|channel|>",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_no_answer_of_a_model_hangs(unit: str) -> None:
    text = unit * (400_000 // len(unit)) + '{"done": 1}'
    with guarded():
        read_completion({"choices": [{"message": {"content": text}, "finish_reason": "length"}]}, 9)
        assert list(objects_in(unit * (400_000 // len(unit)) + '{"done": 1}'))[-1:] in ([{"done": 1}], [])
