"""A report's forms: text that fits, Markdown and HTML in which a stranger's text is text, pictures that are whole."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from rich.cells import cell_len

from annotators.report.charts import picture_lines
from annotators.report.html import as_html
from annotators.report.markdown import as_markdown
from annotators.report.number_words import numbers_in
from annotators.report.svg import svg
from annotators.report.table_layout import table_lines
from annotators.report.text import as_text
from lab.core.codec import encode
from lab.core.study.report import Bars, Cell, Grid, Report, Scatter, Section, Table
from lab.core.text.plain_text import plain
from lab.core.text.text_table import wrap_cells
from tests.annotators.report.sample_report import HOSTILE, PICTURES, REPORT, agreement, number

SHOWN = plain(HOSTILE, lines=False)


# -- text ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160])
def test_no_line_of_text_is_wider_than_the_terminal_or_steers_it(width: int) -> None:
    text = as_text(REPORT, width)
    assert [line for line in text.splitlines() if cell_len(line) > width] == []
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\ud800-\udfff]", text)
    assert "\\x1b[31mred" in text.replace("\n", "")


def test_a_table_has_its_intervals_beside_values_or_below_them_or_goes_on_below() -> None:
    columns = ("Items", "Acc.", "Prec.", "Rec.")
    rows: list[tuple[Cell, ...]] = [("Fixed", number(0.875), number(None), number(0.5)), ("paper", "0.94", "0.93", "")]
    wide = table_lines(columns, rows, 80)
    assert wide[2].split() == [
        "Fixed", "0.88", "[0.75,", "0.94]", "undefined", "(one", "category)", "0.50", "[0.38,", "0.56]",
    ]  # fmt: skip
    assert wide[3].endswith("0.94                      0.93")
    narrow = table_lines(columns, rows, 50)
    assert narrow[2].split() == ["Fixed", "0.88", "undefined", "0.50"]
    assert narrow[3].split() == ["[0.75,", "0.94]", "(one", "[0.38,", "0.56]"]
    parted = table_lines(columns, rows, 36)
    assert [line.split()[0] for line in parted if line.startswith(("Items", "Fixed", "paper"))] == [
        "Items", "Fixed", "paper", "Items", "Fixed", "paper",
    ]  # fmt: skip
    assert all(cell_len(line) <= 36 for line in parted)


def test_a_report_without_numbers_says_so_in_every_form() -> None:
    bare = replace(REPORT, sections=(Section("Answers", ("Nobody has handed anything in yet.",)),))
    for form in (as_text(bare, 60), as_markdown(bare), as_html(bare)):
        assert "There is no number in this report yet." in form
        assert "Out of" not in form
    assert "no number in this report" not in as_text(REPORT, 200)


def test_a_table_too_narrow_for_two_columns_is_a_block_a_row() -> None:
    lines = table_lines(("Items", "Accuracy"), [("Fixed", number(0.875))], 16)
    assert lines == ["Fixed", "    Accuracy:", "    0.88 [0.75,", "    0.94]"]


def test_words_are_folded_between_words_and_long_ones_within() -> None:
    assert wrap_cells("one two three", 7) == ["one two", "three"]
    assert wrap_cells("abcdefghij k", 4) == ["abcd", "efgh", "ij k"]
    assert wrap_cells("", 5) == [""]
    assert all(cell_len(line) <= 6 for line in wrap_cells("数字が 並ぶ wide", 6))


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("picture", PICTURES, ids=lambda one: one.id)
def test_each_picture_is_drawn_within_its_width(picture: Grid, width: int) -> None:
    lines = picture_lines(picture, width)
    assert lines
    assert [line for line in lines if cell_len(line) > width] == []


def test_a_grid_and_bars_in_characters() -> None:
    grid = Grid("g", "G", ("yes", "no"), ("yes", "no"), ((70, 1), (2.5, 0)), "R1", "R2")
    assert [line.rstrip() for line in picture_lines(grid, 80)] == [
        "R1 \\ R2  yes  no",
        "────────────────",
        "yes       70   1",
        "no       2.5   0",
    ]
    bars = picture_lines(Bars("b", "B", (agreement(0.5), agreement(None)), ("R1 and R2", "R1 and R3")), 40)
    assert bars[0].startswith("R1 and R2")
    assert re.search(r"├─+●─*┤.*0\.50$", bars[0])
    assert bars[1] == "R1 and R3  undefined (one category)"


def test_points_fall_where_they_belong_and_the_diagonal_is_beneath_them() -> None:
    scatter = Scatter("s", "S", PICTURES[2].points[:1], "x", "y", band=0)
    lines = picture_lines(scatter, 80)
    bottom = next(line for line in lines if line.startswith("0 │"))
    assert bottom[3] == "o", "the first point, at 0 and 0, hides the diagonal"
    top = next(line for line in lines if line.startswith("1 │"))
    assert top.rstrip().endswith("·")


# -- Markdown --------------------------------------------------------------------------------------------------


def rendered(report: Report) -> str:
    """As a renderer for GitHub's tables makes HTML of it, raw HTML allowed."""
    return str(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(as_markdown(report)))


class Tags(HTMLParser):
    """The tags and words of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.skipped = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.skipped += tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag == "style"

    def handle_data(self, data: str) -> None:
        self.words += "" if self.skipped else data


def test_markdown_holds_a_strangers_text_as_text() -> None:
    page = Tags(rendered(REPORT))
    names = {tag for tag, _ in page.tags}
    assert names <= {"h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "pre", "code"}
    assert SHOWN in page.words
    assert "\x1b" not in as_markdown(REPORT)
    assert [attrs for _, attrs in page.tags if attrs.keys() - {"style"}] == []


def test_markdown_tables_keep_their_columns() -> None:
    lines = as_markdown(REPORT).splitlines()
    table = lines[lines.index("| Items | Acc. | Prec. | " + lines_cell(lines)) :][:5]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in table)
    assert table[1] == "| --- | ---: | ---: | --- |"
    assert table[2].startswith("| Fixed | 0.88 [0.75, 0.94] | undefined (one category) | ")


def lines_cell(lines: list[str]) -> str:
    return next(line for line in lines if line.startswith("| Items | Acc.")).removeprefix("| Items | Acc. | Prec. | ")


@pytest.mark.parametrize("says", ["- a", "+ a", "# a", "1. a", "2) a", "---", "===", "    code", "> a", "* a", "\ta"])
def test_no_sentence_becomes_a_list_a_heading_a_rule_or_code(says: str) -> None:
    page = Tags(rendered(Report("T", REPORT.provenance, (Section("S", ("Before.", says)),))))
    body = [tag for tag, _ in page.tags if tag not in ("h1", "h2", "table", "thead", "tbody", "tr", "th", "td")]
    assert body == ["p", "p", "p"]  # the third says that there is no number


# -- HTML ------------------------------------------------------------------------------------------------------


def test_the_page_loads_and_runs_nothing_and_shows_a_strangers_text() -> None:
    page = as_html(REPORT)
    found = Tags(page)
    assert {tag for tag, _ in found.tags}.isdisjoint(
        {"script", "img", "link", "iframe", "object", "embed", "base", "form"}
    )
    attributes = [(name, value or "") for _, attrs in found.tags for name, value in attrs.items()]
    assert [name for name, _ in attributes if name.startswith("on") or name == "src"] == []
    assert [value for name, value in attributes if name == "href" and not re.fullmatch(r"#part-\d+", value)] == []
    assert not re.search(r"url\(|@import|javascript:", page)
    assert SHOWN in found.words
    assert "\x1b" not in page
    policies = [attrs.get("content") for tag, attrs in found.tags if tag == "meta" and "http-equiv" in attrs]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_every_part_is_reached_from_the_top_and_every_picture_stands_in_it() -> None:
    page = as_html(REPORT)
    links = re.findall(r'href="#(part-\d+)"', page)
    assert links == re.findall(r'<section id="(part-\d+)"', page) == [f"part-{at}" for at in range(1, 6)]
    assert page.count("<svg ") == len(PICTURES)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


@pytest.mark.parametrize("picture", PICTURES, ids=lambda one: one.id)
def test_each_picture_is_one_whole_element(picture: Grid) -> None:
    text = svg(picture)
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.search(r"nan|inf", re.sub(r">[^<]*<", "><", text))
    _, _, wide, high = map(float, root.attrib["viewBox"].split())
    assert wide > 0
    assert high > 0
    for element in root.iter():
        for name in ("x", "x1", "x2"):
            if name in element.attrib:
                assert -1 <= float(element.attrib[name]) <= wide
        for name in ("y", "y1", "y2"):
            if name in element.attrib:
                assert -1 <= float(element.attrib[name]) <= high


def test_a_bound_beyond_the_scale_of_bars_has_an_arrow_and_no_cap() -> None:
    def strokes(low: float, high: float) -> tuple[int, int]:
        text = svg(Bars("b", "B", (agreement(0.5, low=low, high=high),), ("one",)))
        root = ElementTree.fromstring(text)
        tag = "{http://www.w3.org/2000/svg}"
        caps = [one for one in root.iter(f"{tag}line") if one.get("stroke-width") and one.get("x1") == one.get("x2")]
        return len(caps), sum(one.get("fill") == "none" for one in root.iter(f"{tag}path"))

    assert strokes(0.2, 0.8) == (2, 0)
    assert strokes(-0.3, 0.8) == (1, 1)
    assert strokes(-0.3, 1.2) == (0, 2)


# -- how numbers came about ------------------------------------------------------------------------------------


def test_a_number_that_stands_twice_is_told_once_with_both_places() -> None:
    assert len({encode(one.agreement) for one in numbers_in(REPORT)}) == len(numbers_in(REPORT))
    first = numbers_in(REPORT)[0]
    assert first.agreement == agreement(0.875)
    assert len(first.places) == 2
    assert first.places[1] == "Again: same, Value"


def test_every_number_is_told_with_its_n_its_missing_share_and_its_method_in_each_form() -> None:
    one = agreement(
        0.5, interval="bootstrap", resamples=2000, seed=7, level=0.9, missing=0.125, reasons={"cannot_judge": 2},
        places=1, units=1, traces=1234, raters=1, part="fixed", between="R1 and R2",
    )  # fmt: skip
    table = Table("t", "T", ("", "Value"), (("row", replace(number(0.5), agreement=one)),))
    report = Report("R", REPORT.provenance, (Section("S", tables=(table,)),))
    for text in (as_text(report, 200), as_markdown(report), Tags(as_html(report)).words):
        for words in (
            "Cohen's kappa of state, fixed (R1 and R2)", "0.5000", "90 %, 2,000 resamples of 1,234 clusters, seed 7",
            "1 item of 1 unit in 1,234 clusters, 1 rater", "12.5 % (cannot judge 2)", "T: row, Value",
        ):  # fmt: skip
            assert words in text.replace("\\", "")
    shown = as_text(Report("R", REPORT.provenance, (Section("S", pictures=(PICTURES[5],)),)), 200)
    assert "undefined (one category)" in shown
    assert "interval none: no reason is told" in shown
    assert "a" * 64 in shown


def test_what_rounds_to_nothing_has_no_sign_and_halves_go_up() -> None:
    lines = table_lines(("", "a", "b"), [("x", number(-0.001, digits=1), number(0.3025, digits=1, times=100))], 80)
    assert lines[2].split()[1:2] == ["0.0"]
    assert "30.3 [17.8, 36.5]" in lines[2]
