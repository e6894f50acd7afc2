"""KnowU-Bench 4.4: why runs failed. Shares with Wilson's intervals, in the paper's order; the coders' agreement.

The paper prints percentages of four reasons each; the counts beside ours are worked out from them and from how many of
its runs failed (48 personalized ones, 20 proactive ones). What is right of a run is what was adjudicated, else what
more than half of its coders said; a run of which neither holds is undecided, and in no share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from annotators.agreement.coefficients import gwet_ac, krippendorff_alpha, percent
from annotators.agreement.fields import ratings_of
from annotators.papers.cells import coefficient, count, few, of_all
from annotators.papers.cells import percent as as_percent
from annotators.papers.failure_modes import judges
from annotators.papers.field_answers import answers_in, truths, unsettled
from annotators.studied import StudyData
from lab.core.agreement import Agreement
from lab.core.protocol import Field
from lab.core.report import Bars, Cell, Grid, Number, Section, Table
from lab.core.rounding import rounded

PAPER: Mapping[str, Mapping[str, int]] = {
    "failure-mode-knowu-personalized": {"clarify": 32, "partial": 13, "gui": 2, "preference": 1},
    "failure-mode-knowu-proactive": {"intervention": 12, "passive": 4, "gui": 3, "rejection": 1},
}
"""The paper's order, and its counts."""
PRIMARY, SECONDARY = "primary", "secondary"
_NONE = "none"


def sections(studied: StudyData) -> list[Section]:
    """Shares of reasons, each coder's, their agreement, and second reasons."""
    right = {unit: truth.value for (unit, _), truth in truths(studied, PRIMARY).items()}
    rated_units = {one.unit for one in answers_in(studied, PRIMARY)}
    undecided = len(rated_units - set(right))
    says = [f"{len(right):,} of {len(rated_units | set(right)):,} failed runs are decided."]
    if undecided:
        says.append(f"On {undecided:,} the coders differ, and nobody has settled it: they are in no share.")
    shares = _shares(studied, right)
    order = _order(studied)
    names = dict(zip(order, _shown(studied, order), strict=True))
    tables = [_table(studied, right, shares), _coders(studied), _agreement(studied)]
    tables += judges(studied, names, right, "failures-judges", "KnowU-Bench 4.4")
    bars = Bars("failures-bars", "Share of each reason", tuple(shares.values()), tuple(_shown(studied, shares)))
    grid = _second(studied)
    return [
        Section(
            "Why runs failed", (*says, *few(len(right))), tuple(table for table in tables if table.rows),
            (bars, *([grid] if grid is not None else [])) if right else (),
        )
    ]  # fmt: skip


def _field(studied: StudyData) -> Field:
    field = studied.study.protocol.field(PRIMARY)
    assert field is not None
    return field


def _order(studied: StudyData) -> list[str]:
    """The paper's order, and behind it what else the protocol has."""
    option_ids = [option.id for option in _field(studied).options]
    first = [id for id in PAPER.get(studied.study.protocol.id, {}) if id in option_ids]
    return [*first, *(id for id in option_ids if id not in first)]


def _shown(studied: StudyData, ids: Sequence[str] | Mapping[str, object]) -> list[str]:
    field = _field(studied)
    return [option.shown if (option := field.option(id)) is not None else id for id in ids]


def _shares(studied: StudyData, right: Mapping[str, str]) -> dict[str, Agreement]:
    counts = Counter(right.values())
    left_out = unsettled(studied, PRIMARY)
    return {
        id: of_all(
            studied,
            counts[id],
            len(right),
            PRIMARY,
            "share",
            part=id,
            units=right,
            left_out=left_out,
            why="no run is decided",
        )
        for id in _order(studied)
    }


def _table(studied: StudyData, right: Mapping[str, str], shares: Mapping[str, Agreement]) -> Table:
    papers = PAPER.get(studied.study.protocol.id, {})
    whole = sum(papers.values())
    counts = Counter(right.values())
    rows: list[tuple[Cell, ...]] = []
    for id, reason in zip(shares, _shown(studied, shares), strict=True):
        paper = f"{rounded(papers[id] / whole, 1, 100)} % ({papers[id]} of {whole})" if id in papers else ""
        rows.append((reason, count(counts[id], PRIMARY, part=id), as_percent(shares[id]), paper))
    columns = ("Reason", "Runs", "Share", "Paper (counts derived)")
    notes = ("Wilson's intervals: each run has one reason, and no two are of one run.",)
    return Table("failures", "Reasons, as they were settled", columns, tuple(rows), "KnowU-Bench 4.4", notes)


def _coders(studied: StudyData) -> Table:
    order = _order(studied)
    rows = []
    for rater in studied.people:
        own = Counter(one.value for one in answers_in(studied, PRIMARY, (rater,)))
        rows.append((studied.columns.raters[rater].id, *(f"{own[id]:,}" for id in order), f"{own[None]:,}"))
    columns = ("Coder", *_shown(studied, order), "cannot judge")
    return Table("coders", "What each coder said", columns, tuple(rows))


def _agreement(studied: StudyData) -> Table:
    ratings = ratings_of(studied, PRIMARY)
    agreements = [coefficient(studied, one, ratings) for one in (krippendorff_alpha(ratings), gwet_ac(ratings))]
    same = coefficient(studied, percent(ratings), ratings)
    row: tuple[Cell, ...] = (
        "primary reason",
        as_percent(same),
        *(Number(one) for one in agreements),
        f"{same.places:,}",
    )
    columns = ("", "Percent", "alpha, nominal", "AC1", "Runs")
    return Table("coding", "Agreement of the coders", columns, (row,))


def _second(studied: StudyData) -> Grid | None:
    """How often each second reason was given beside each first one, over all coders."""
    second = {(one.unit, one.rater): one.value for one in answers_in(studied, SECONDARY) if one.value is not None}
    if not second:
        return None
    order = _order(studied)
    seconds = [id for id in order if id in second.values()]
    pairs = Counter(
        (one.value, second.get((one.unit, one.rater), _NONE))
        for one in answers_in(studied, PRIMARY)
        if one.value is not None
    )
    counts = tuple(tuple(float(pairs[first, other]) for other in (*seconds, _NONE)) for first in order)
    return Grid(
        "second", "Second reasons beside the first, all coders' answers", tuple(_shown(studied, order)),
        (*_shown(studied, seconds), _NONE), counts, "first", "second",
    )  # fmt: skip
