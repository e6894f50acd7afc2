"""The filter's words, the order of a table and its groups, all without a screen."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from lab.cli.main import main
from lab.core.errors import LabError
from lab.runs.descriptions import mean_words, status_words
from lab.runs.listing.run_columns import RUN_COLUMNS, RunLine
from lab.runs.listing.run_filter import FIELDS, RunFilter, parse_filter
from lab.runs.listing.run_order import GROUPS, SORTS, Order, RunTableLine, arrange, column, group_of
from lab.runs.listing.run_rows import Cost, RunEntry, entry
from screens.runs.table import COLUMNS, group_row, heading, run_row, visible_columns
from store.store import Store
from tests.screens.table.sample_runs import RUNS, made

NEWEST = Order()
COSTS = {"a1": Cost(16040, 0.016, 6.0), "a2": Cost(660, 0.0006, 9.0), "a3": Cost(None, None, 60.0)}


@pytest.fixture
def entries(store: Store) -> list[RunEntry]:
    store.runs.add_all([made(run) for run in RUNS])
    return [entry(row) for row in store.runs.rows(-1)]


def found(entries: list[RunEntry], text: str, order: Order = NEWEST) -> str:
    lines = arrange(entries, parse_filter(text), order, COSTS, frozenset()).lines
    return " ".join(map(named, lines))


def named(line: RunTableLine) -> str:
    if line.entry is not None:
        return line.entry.run.id
    assert line.group is not None
    return f"[{line.group.name}]"


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", "a6 a5 a4 a3 a2 a1"),
        ("  ", "a6 a5 a4 a3 a2 a1"),
        ("LUNCH qwen", "a1"),
        ("agent:qwen", "a3 a1"),
        ("model:QWEN-72B score<1", "a3 a1"),
        ("agent=qwen", ""),
        ("agent=Qwen-72b", "a3 a1"),
        ("agent!=qwen-72b", "a6 a5 a4 a2"),
        ("-agent:qwen -agent:gpt", "a6 a5"),
        ("score<1", "a6 a3 a1"),
        ("score>=0.5", "a2 a1"),
        ("score:0", "a3"),
        ("score!=0", "a6 a2 a1"),
        ("score:none", "a5 a4"),
        ("score!=none asks>0", "a3 a1"),
        ("-score:none -asks:0", "a3 a1"),
        ("status:failed", "a3"),
        ("status:steps", "a4"),
        ('status:"out of"', "a4"),
        ("status!=completed source:memgui", "a4 a3"),
        ("source:none", "a5"),
        ("persona:ines", "a2 a1"),
        ("persona:none agent:gpt", "a4"),
        ('task:"Two words"', "a5"),
        ('"two words, and"', "a5"),
        ('task:"Two wor', "a5"),
        ("bread and butter", ""),
        ("bread -two", "a6 a4 a3 a2 a1"),
        ("started>2025-02", "a6 a5 a3 a1"),
        ("started:2025-02", "a2"),
        ("started<=2025-02-04T10:00", "a2"),
        ("started:none", "a4"),
        ("tokens>1000", "a1"),
        ("cost<1", "a2 a1"),
        ("time>=9", "a3 a2"),
        ("tokens:none", "a6 a5 a4 a3"),
        ("kind:general steps>5 steps<30", "a3 a2"),
        ("[bold", "a6"),
        ("12:30", ""),
        ('"', "a6 a5 a4 a3 a2 a1"),
        ("-", "a6 a5 a4 a3 a2 a1"),
    ],
)
def test_words_and_fields_find(entries: list[RunEntry], text: str, ids: str) -> None:
    assert found(entries, text) == ids


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agnt:qwen", "there is no field 'agnt'"),
        ("\x1bagnt:qwen foo\x1b:x b:[red]", "there is no field"),
        ("score<abc", "'abc' is no number after score<"),
        ("steps:nan", "'nan' is no number after steps:"),
        ("score<", "a number is missing after score<"),
        ("score<none", "'none' is no number"),
        ("status:lost", "there is no status 'lost'"),
        ("task<lunch", "task is a word"),
        ("started>yesterday", "followed by a date"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(LabError) as refused:
        parse_filter(text)
    assert said in refused.value.message
    assert "\x1b" not in refused.value.sentence


@given(st.text(max_size=40))
def test_any_filter_is_read_or_refused(text: str) -> None:
    with suppress(LabError):
        assert isinstance(parse_filter(text), RunFilter)


def test_only_what_asks_for_costs_has_steps_read() -> None:
    texts = [f"{name}:none" for name in FIELDS if name != "status"]
    assert [text for text in texts if parse_filter(text).needs_costs] == [
        "tokens:none", "cost:none", "seconds:none",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("by", "ids"),
    [
        ("newest", "a6 a5 a4 a3 a2 a1"),
        ("agent", "a4 a2 a5 a3 a1 a6"),
        ("persona", "a2 a1 a6 a5 a4 a3"),
        ("score", "a2 a1 a6 a3 a5 a4"),
        ("steps", "a4 a3 a2 a1 a6 a5"),
        ("asks", "a3 a1 a6 a5 a4 a2"),
        ("tokens", "a1 a2 a6 a5 a4 a3"),
        ("started", "a6 a5 a3 a1 a2 a4"),
    ],
)
def test_what_is_not_known_comes_last_whichever_way(entries: list[RunEntry], by: str, ids: str) -> None:
    assert found(entries, "", Order(by)) == ids
    turned = found(entries, "", Order(by, True)).split()
    of = SORTS[by]
    unknown = [it.run.id for it in entries if of(it, COSTS.get(it.run.id, Cost())) is None]
    assert turned[len(turned) - len(unknown) :] == unknown
    assert sorted(turned) == sorted(ids.split())
    assert by not in ("score", "steps") or turned[0] == ids.split()[5 - len(unknown)]


def test_groups_count_what_has_no_score_and_have_no_mean_of_nothing(entries: list[RunEntry]) -> None:
    arranged = arrange(entries, parse_filter(""), Order(group="task"), COSTS, frozenset({"mail"}))
    assert (arranged.runs, arranged.groups) == (6, 4)
    groups = {line.group.name: line.group for line in arranged.lines if line.group}
    lunch, mail, alarm = groups["lunch"], groups["mail"], groups["alarm  Two words, and more"]
    assert (lunch.runs, lunch.n, lunch.mean, lunch.missing, lunch.steps) == (2, 2, 0.75, 0, 5.0)
    assert (mail.runs, mail.n, mail.mean, mail.missing) == (2, 1, 0.0, 1)
    assert (alarm.n, alarm.mean, mean_words(alarm.mean)) == (0, None, "undefined")
    assert dict(mail.statuses) == {"budget": 1, "failed": 1}
    names = [*map(named, arranged.lines)]
    assert names[names.index("[mail]") :][:3] == ["[mail]", "a4", "a3"]


def test_groups_are_sorted_by_name_or_by_the_mean_that_is_sorted_by(entries: list[RunEntry]) -> None:
    assert found(entries, "", Order(group="agent")) == f"[gpt-5] [kimi] [qwen-72b] [{RUNS[5].agent}]"
    assert found(entries, "", Order("newest", True, "agent")).startswith(f"[{RUNS[5].agent}]")
    by_score = found(entries, "-agent:界", Order("score", group="agent"))
    assert by_score == "[gpt-5] [qwen-72b] [kimi]"
    assert found(entries, "-agent:界", Order("score", True, "agent")) == "[qwen-72b] [gpt-5] [kimi]"
    assert found(entries, "-agent:界", Order("steps", group="agent")) == "[gpt-5] [qwen-72b] [kimi]"
    assert "[(made here)]" in found(entries, "", Order(group="source"))
    assert "[(no persona)]" in found(entries, "", Order(group="persona"))


def test_a_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(LabError, match="--sort 'foo' is none of newest"):
        column("foo", SORTS, "--sort")
    assert column("task", GROUPS, "--group") == "task"


@pytest.mark.parametrize("width", [40, 73, 96, 117, 160, 197])
def test_every_row_is_as_wide_as_the_table(entries: list[RunEntry], width: int) -> None:
    from textual.content import Content

    def wide(cells: Any) -> int:
        return Content("".join(text for _, text in cells)).cell_length

    for it in entries:
        assert wide(run_row(it, COSTS.get(it.run.id), width)) == max(width, wide(heading(width, Order())))
        group = group_of(it.run.agent, [it])
        assert wide(group_row(group, width)) == wide(heading(width, Order(group="agent")))
    assert set(visible_columns(width)) <= set(COLUMNS)


@pytest.mark.parametrize(
    ("width", "by", "there"), [(116, "persona", True), (76, "seconds", True), (50, "started", False)]
)
def test_what_runs_are_sorted_by_is_seen_where_it_finds_room(
    entries: list[RunEntry], width: int, by: str, there: bool
) -> None:
    assert by not in visible_columns(width)
    assert (by in visible_columns(width, by)) is there
    titles = dict(heading(width, Order(by)))
    assert (by in titles) is there
    for it in entries:
        cells = dict(run_row(it, None, width, by))
        assert list(cells) == list(titles)
        assert sum(map(cell_len, cells.values())) == sum(map(cell_len, titles.values())) == width


def test_a_run_that_stopped_is_not_said_to_have_been_stopped_by_somebody() -> None:
    assert status_words("stopped") == "stopped"


def test_a_column_is_printed_sorted_and_filtered_by_its_name(
    store: Store, entries: list[RunEntry], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    def printed(*words: str) -> bytes:
        assert main(["runs", "list", *words, "--db", str(store.path)]) == 0
        return capsysbinary.readouterr().out

    run = json.loads(printed("--json"))["runs"][0]
    assert set(run) == {column.name for column in RUN_COLUMNS}
    jsonschema.validate(run, msgspec.json.schema(RunLine))
    heads = printed("--costs", "--format", "csv").splitlines()[0].decode().replace(chr(34), "").split(",")
    assert heads == list(RunLine.__struct_encode_fields__)
    wide = [title.strip(" ▼") for _, title in heading(300, Order())]
    shown = [one for one in RUN_COLUMNS if one.width]
    assert wide == [one.app_title or one.name for one in shown]
    assert [*SORTS] == ["newest", *(one.name for one in shown)]
    for one in RUN_COLUMNS:
        for word in one.filters:
            value = "open" if one.name == "status" else "none"
            assert parse_filter(f"{word}:{value}").needs_costs is one.costly
