"""UI trees: real dumps and ugly text survive XML, and nodes are found by what a person sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.run.ui_tree import Bounds, Node, UiTree
from tests.fuzzing_examples import examples

TRACES = Path(__file__).parents[3].parent / "shared" / "traces"
DUMPS = sorted([*TRACES.glob("uiautomator_xml/**/*.xml"), *TRACES.glob("appagent/**/*.xml")])

XML_CHARACTER = st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(
    lambda c: c in "\t\n\r" or ord(c) >= 32
)
TEXT = st.text(XML_CHARACTER | st.sampled_from("\r\n\t\x85\x99\u2009\u202e\u200b<>&\"'"), max_size=10)
NUMBER = st.integers(-(10**6), 10**6)
BOUNDS = st.builds(Bounds, NUMBER, NUMBER, NUMBER, NUMBER)


def nodes(children: st.SearchStrategy[tuple[Node, ...]]) -> st.SearchStrategy[Node]:
    flag = st.booleans()
    return st.builds(
        Node, bounds=BOUNDS, text=TEXT, desc=TEXT, id=TEXT, cls=TEXT, package=TEXT, checkable=flag, checked=flag,
        clickable=flag, enabled=flag, focusable=flag, focused=flag, scrollable=flag, long_clickable=flag,
        password=flag, selected=flag, children=children,
    )  # fmt: skip


NODES = st.recursive(
    nodes(st.just(())), lambda inner: nodes(st.lists(inner, max_size=3).map(tuple)), max_leaves=5
)  # fmt: skip
TREES = st.builds(UiTree, roots=st.lists(NODES, max_size=2).map(tuple), rotation=st.integers(0, 3))


@settings(max_examples=examples(60), deadline=None)
@given(TREES)
def test_a_tree_survives_xml(tree: UiTree) -> None:
    assert UiTree.from_xml(tree.to_xml()) == tree


@given(st.text(st.characters(), max_size=10))
def test_any_text_can_be_written_and_what_xml_cannot_hold_is_shown(text: str) -> None:
    tree = UiTree((Node(Bounds(0, 0, 1, 1), text=text),))
    once = UiTree.from_xml(tree.to_xml())
    assert UiTree.from_xml(once.to_xml()) == once


@pytest.mark.skipif(not DUMPS, reason="the recorded dumps in ../shared/traces are not here")
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_a_real_dump_survives_xml(path: Path) -> None:
    tree = UiTree.from_xml(path.read_bytes(), path.name)
    assert tree.roots
    assert any(node.label for node in tree.nodes())
    assert UiTree.from_xml(tree.to_xml()) == tree


def test_a_hostile_dump_gets_a_sentence() -> None:
    deep = "<hierarchy>" + "<node>" * 5_000 + "</node>" * 5_000 + "</hierarchy>"
    entities = '<!DOCTYPE x [<!ENTITY a "b">]><hierarchy/>'
    for xml in (deep, entities, "", "no xml", "<hierarchy>", '<?xml version="1.0" encoding="x"?><hierarchy/>'):
        with pytest.raises(LabError, match="screen 3") as caught:
            UiTree.from_xml(xml, "screen 3")
        assert "\n" not in caught.value.sentence


def test_what_uiautomator_prints_before_the_xml_is_skipped() -> None:
    tree = UiTree.from_xml(
        b"UI hierchary dumped to: /dev/tty\n<hierarchy rotation='1'><node bounds='[0,0][9,9]'/></hierarchy>"
    )
    assert tree.rotation == 1
    assert tree.roots[0].bounds == Bounds(0, 0, 9, 9)


def test_nodes_are_found_by_text_id_description_and_place() -> None:
    icon = Node(Bounds(10, 10, 20, 20), desc="Search", cls="android.widget.ImageView")
    button = Node(Bounds(0, 0, 100, 50), id="app:id/go", clickable=True, children=(icon,))
    total = Node(Bounds(0, 50, 100, 100), text="Total")
    tree = UiTree((Node(Bounds(0, 0, 100, 100), children=(button, total)),))
    assert tree.find(text="Total")[0].bounds.top == 50
    assert tree.find(id="go") == tree.find(id="app:id/go") == [button]
    assert tree.find(contains="search", cls="ImageView") == [icon]
    assert tree.find(clickable=True) == [button]
    assert tree.nodes_at(10, 10)[0] == icon
    assert tree.nodes_at(20, 20)[0] == button
    assert tree.target(icon) == button


def test_the_label_under_a_touch_is_not_that_of_a_page_laid_over_all_its_icons() -> None:
    """A launcher draws its labelled page after its icons; Nexus Launcher's dumps are like this."""
    icon = Node(Bounds(10, 10, 20, 20), text="Settings", clickable=True)
    page = Node(Bounds(0, 0, 100, 100), desc="Home")
    tree = UiTree((Node(Bounds(0, 0, 100, 100), children=(icon, page)),))
    assert tree.label_at(15, 15) == "Settings"
    assert tree.label_at(50, 50) == "Home"
    row = Node(Bounds(0, 0, 100, 20), desc="Row", clickable=True, children=(Node(Bounds(5, 5, 50, 15), text="Wi-Fi"),))
    assert UiTree((row,)).label_at(10, 10) == "Wi-Fi"
    assert UiTree((row,)).label_at(80, 10) == "Row"
    assert UiTree((Node(Bounds(0, 0, 9, 9)),)).label_at(1, 1) == ""
