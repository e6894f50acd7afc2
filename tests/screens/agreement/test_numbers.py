"""Numbers as lines: what stands in each column, which are chosen, and what is never printed as a number."""

from __future__ import annotations

import pytest

from lab.core.study.agreement import Agreement
from lab.runs.descriptions import short_id
from screens.agreement import rows, words
from screens.agreement.rows import NumberFilter
from screens.agreement.table import FieldNumbers, RaterPairs


def number(statistic: str = "Fleiss' kappa", value: float | None = 0.72, **changes: object) -> Agreement:
    """A number with an interval, made by leaving runs out."""
    given: dict[str, object] = {
        "low": 0.61, "high": 0.81, "interval": "jackknife-t", "places": 412, "units": 100, "traces": 98, "raters": 3,
        "missing": 0.021, "reasons": {"cannot_judge": 9, "skipped": 3}, "clusters": "run", **changes,
    }  # fmt: skip
    return Agreement(str(given.pop("field", "state")), statistic, value, **given)  # type: ignore[arg-type]


UNDEFINED = number("Cohen's kappa", None, low=None, high=None, undefined="one category")


def line(one: Agreement, width: int, kind: type[FieldNumbers] | type[RaterPairs] = FieldNumbers) -> str:
    table = kind("agreement-fields")
    table.rows, table.ends = [one], rows.ends_of([one])
    return table.paint(0, width).plain


@pytest.mark.parametrize("width", [60, 76, 116, 136, 196])
def test_a_line_has_value_interval_and_bar_in_every_width(width: int) -> None:
    said = line(number(), width)
    assert len(said) <= width
    for word in ("state", "Fleiss' kappa", "0.72", "●"):
        assert word in said
    assert ("0.61–0.81" in said) is (width >= 76)
    assert ("substantial to almost perfect" in said) is (width >= 136)
    assert ("2.1 %" in said) is (width >= 196)


def test_the_point_lies_within_its_bar_on_the_common_scale() -> None:
    said = line(number(value=0.5, low=0.25, high=0.75), 196)
    bar = said[said.index("·") : said.rindex("·") + 1]
    assert abs(bar.index("●") / (len(bar) - 1) - 0.5) < 0.02
    assert abs(bar.index("├") / (len(bar) - 1) - 0.25) < 0.02
    assert abs(bar.index("┤") / (len(bar) - 1) - 0.75) < 0.02


@pytest.mark.parametrize("width", [40, 76, 196])
def test_what_is_undefined_says_why_and_shows_no_number(width: int) -> None:
    said = line(UNDEFINED, width)
    assert "undefined" in said
    assert "one category" in said or width < 76
    assert "●" not in said
    assert not any(digit in said for digit in "0123456789")
    assert "nan" not in said


def test_words_of_landis_and_koch_never_stand_without_an_interval() -> None:
    assert words.landis_words(number()) == "substantial to almost perfect"
    assert words.landis_words(number(low=None, high=None, no_interval="two runs")) == ""
    assert words.landis_words(number("percent")) == ""
    assert words.landis_words(UNDEFINED) == ""


def test_a_number_in_full_says_what_it_rests_on() -> None:
    said = words.full_sentence(number(part="after"))
    assert said.startswith(
        "Fleiss' kappa of state (after), people: 0.720 [0.610 to 0.810, 95 %, jackknife over 98 runs]"
    )
    assert "412 items, 100 sheets, 98 runs, 3 raters, 2.1 % missing (9 cannot judge, 3 skipped)" in said
    assert "2,000 resamples of 98 runs, seed 7" in words.full_sentence(
        number(interval="bootstrap", resamples=2000, seed=7)
    )
    assert "no interval: two runs" in words.full_sentence(number(low=None, high=None, no_interval="two runs"))
    assert "undefined: one category" in words.full_sentence(UNDEFINED)


def test_clusters_that_are_no_runs_are_called_what_they_are() -> None:
    """Of pairs of instruction sets they are users: a sentence about 98 runs would be untrue."""
    one = number(clusters="user")
    for interval, how in (("jackknife-t", "jackknife over 98 users"), ("bootstrap", "2,000 resamples of 98 users"),
                          ("wilson", "Wilson's, one item a user")):  # fmt: skip
        said = words.full_sentence(number(clusters="user", interval=interval, resamples=2000, seed=7))
        assert how in said
        assert "412 items, 100 sheets, 98 users, 3 raters" in said
        assert " run" not in said
    assert words.wanted_words(one, 0.1, 400).startswith("About 400 users in all, 302 more, would bring")
    assert "run" not in words.wanted_words(one, 0.1, 400) + words.wanted_words(one, 0.5, 98)
    assert "over users is" in words.wanted_words(one, 0.1, None)


@pytest.mark.parametrize("one", ["run", "task", "user"])
def test_the_column_of_clusters_is_headed_by_what_they_are(one: str) -> None:
    table = FieldNumbers("agreement-fields")
    table.rows = [number(clusters=one)]
    table.ends = rows.ends_of(table.rows)
    heading = table.heading(196).plain
    assert f" {one}s " in heading
    assert len(heading) <= 196
    assert [word for word in ("runs", "tasks", "users") if word in heading] == [f"{one}s"]


def test_sheets_are_told_where_they_are_neither_items_nor_runs() -> None:
    assert "412 items, 98 runs" in words.full_sentence(number(units=98))
    assert "none missing" in words.full_sentence(number(missing=0.0, reasons={}))
    assert "(8 not handed in)" in words.full_sentence(number(reasons={"not_handed_in": 8}))


@pytest.mark.parametrize(
    ("statistic", "share"), [("box iou>=.5", True), ("centre in box", True), ("f1", True), ("difference of mae", False)]
)
def test_what_is_a_share_is_one_in_the_table_and_below_it(statistic: str, share: bool) -> None:
    one = number(statistic, 0.9, low=0.81, high=0.95)
    assert words.value_words(one) == ("90.0 %" if share else "0.90")
    assert (": 90.0 % [81.0 % to 95.0 %, 95 %" in words.full_sentence(one)) is share


JUDGED = [
    number(name, field="state", part="flexible, before", between="glass against most people")
    for name in ("accuracy", "AC1", "f1")
]  # fmt: skip


def test_whose_answers_they_are_stands_in_a_second_line_where_there_is_no_room() -> None:
    table = FieldNumbers("agreement-fields")
    table.rows = [*JUDGED, number("percent"), *JUDGED[:1]]
    table.set_reactive(FieldNumbers.cursor, 3)
    named = [table.words_at(at, "name", 24) for at in range(table.count)]
    assert named == ["state (flexible, before)", "  glass", "", "state", "state (flexible, before) · glass"]
    assert table.words_at(0, "name", 40) == "state (flexible, before) · glass"
    assert table.words_at(1, "name", 40) == ""


def test_items_are_named_by_as_much_of_an_id_as_tells_them_apart() -> None:
    one, other = "019a3b7c-0485-70ac-a082-c69506315498", "019a3b7c-0486-70ac-a082-c69506315498"
    assert short_id(f"{one}@7") == "019a3b7c-0485@7"
    assert short_id(f"{one}+{other}") == "019a3b7c-0485+019a3b7c-0486"
    assert short_id("way_home") == "way_home"


def test_a_share_is_told_as_a_percentage_rounded_half_up() -> None:
    assert words.value_words(number("percent", 0.3025)) == "30.3 %"
    assert words.value_words(number(value=-0.001)) == "0.00"
    assert words.interval_words(number(low=-0.2)) == "-0.20 to 0.81"


def test_a_stranger_s_words_are_one_line_of_plain_characters() -> None:
    said = line(number(between="\x1b[31mR1\nR2", part="[bold]x[/]"), 196)
    assert "\x1b" not in said
    assert "\n" not in said
    assert "[bold]x[/]" in said


def test_what_is_in_its_own_unit_stands_on_no_scale() -> None:
    assert "●" not in line(number("MAE", 0.3, low=0.2, high=0.4), 196)
    assert rows.ends_of([number("mean absolute error", 4.2, low=-3.0, high=9.0)]) == (0.0, 1.0)


def test_one_wide_interval_does_not_flatten_the_others() -> None:
    assert rows.ends_of([number()]) == (0.0, 1.0)
    assert rows.ends_of([number(), number(low=-9.0)]) == (-0.25, 1.0)
    assert rows.ends_of([number(value=-0.3, low=-0.9)]) == (-0.5, 1.0)
    assert "◂" in line(number(low=-9.0), 196)


MANY = [
    number(part="before"), number("percent", part="before"), number(part="after"), number("percent", part="after"),
    number("F1", between="glass against most people"), number("AC1"),
]  # fmt: skip


def test_a_view_shows_people_or_judges_one_part_one_statistic() -> None:
    assert [one.statistic for one in rows.filtered(MANY, NumberFilter("judges"))] == ["F1"]
    assert len(rows.filtered(MANY, NumberFilter())) == 5
    # A number that is of no part stands beside every part.
    assert [one.part for one in rows.filtered(MANY, NumberFilter(part="after"))] == ["after", "after", ""]
    assert [one.part for one in rows.filtered(MANY, NumberFilter(statistic="percent"))] == ["before", "after"]
    assert rows.parts(MANY) == ["before", "after"]
    assert rows.statistics(MANY, NumberFilter(part="after")) == ["Fleiss' kappa", "percent", "AC1"]


def test_whose_answers_a_grid_is_of_follows_from_the_number() -> None:
    assert rows.raters_of(number()) == ("", "")
    assert rows.raters_of(number(between="R1 and R2")) == ("R1", "R2")
    assert rows.raters_of(number(between="glass against most people")) == ("truth", "glass")


def test_a_plan_says_how_many_runs_more_and_that_it_is_an_estimate() -> None:
    said = words.wanted_words(number(), 0.1, 392)
    assert said.startswith("About 392 runs in all, 294 more,")
    assert "from 0.20 to 0.10" in said
    assert "An estimate" in said
    assert "reached already" in words.wanted_words(number(), 0.3, 50)
    assert "cannot be told" in words.wanted_words(number(), 0.1, None)
    assert "undefined: one category" in words.wanted_words(UNDEFINED, 0.1, None)
