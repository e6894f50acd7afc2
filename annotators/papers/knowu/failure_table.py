"""KnowU-Bench 4.4: why runs failed. Shares with Wilson's intervals in the paper's order, and the coders' agreement.

The paper prints percentages of four reasons each. The counts beside ours are derived from them and from the number of
its failed runs (48 personalized ones, 20 proactive ones). A run's right reason is the adjudicated one, else that of
more than half of its coders. A run without either is undecided and in no share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from annotators.agreement.coefficients.categorical import gwet_ac, krippendorff_alpha, percent
from annotators.agreement.ratings.fields import ratings_of
from annotators.papers.cells import coefficient, count, few_runs_warning, share_of_independent
from annotators.papers.cells import percent as as_percent
from annotators.papers.failure_modes import judges
from annotators.papers.field_answers import answers_in, truths, unsettled_counts
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field
from lab.core.study.report import Bars, Cell, Grid, Number, Section, Table
from lab.core.values.rounding import format_number

PAPER: Mapping[str, Mapping[str, int]] = {
    "failure-mode-knowu-personalized": {"clarify": 32, "partial": 13, "gui": 2, "preference": 1},
    "failure-mode-knowu-proactive": {"intervention": 12, "passive": 4, "gui": 3, "rejection": 1},
}
"""The paper's order, with its counts."""
PRIMARY, SECONDARY = "primary", "secondary"
_NONE = "none"


def sections(study_data: StudyData) -> list[Section]:
    """Return shares of reasons, each coder's counts, their agreement, and secondary reasons."""
    right = {unit: truth.value for (unit, _), truth in truths(study_data, PRIMARY).items()}
    rated_units = {one.unit for one in answers_in(study_data, PRIMARY)}
    undecided = len(rated_units - set(right))
    says = [f"{len(right):,} of {len(rated_units | set(right)):,} failed runs are decided."]
    if undecided:
        says.append(f"On {undecided:,} the coders differ, and nobody has settled it: they are in no share.")
    shares = _shares(study_data, right)
    order = _order(study_data)
    names = dict(zip(order, _option_texts(study_data, order), strict=True))
    tables = [_table(study_data, right, shares), _coders(study_data), _agreement(study_data)]
    tables += judges(study_data, names, right, "failures-judges", "KnowU-Bench 4.4")
    bars = Bars(
        "failures-bars", "Share of each reason", tuple(shares.values()), tuple(_option_texts(study_data, shares))
    )
    grid = _secondary_grid(study_data)
    return [
        Section(
            "Why runs failed", (*says, *few_runs_warning(len(right))), tuple(table for table in tables if table.rows),
            (bars, *([grid] if grid is not None else [])) if right else (),
        )
    ]  # fmt: skip


def _field(study_data: StudyData) -> Field:
    field = study_data.study.protocol.field(PRIMARY)
    assert field is not None
    return field


def _order(study_data: StudyData) -> list[str]:
    """Return the paper's order, followed by other options of the protocol."""
    option_ids = [option.id for option in _field(study_data).options]
    first = [id for id in PAPER.get(study_data.study.protocol.id, {}) if id in option_ids]
    return [*first, *(id for id in option_ids if id not in first)]


def _option_texts(study_data: StudyData, ids: Sequence[str] | Mapping[str, object]) -> list[str]:
    field = _field(study_data)
    return [option.display_name if (option := field.option(id)) is not None else id for id in ids]


def _shares(study_data: StudyData, right: Mapping[str, str]) -> dict[str, Agreement]:
    counts = Counter(right.values())
    left_out = unsettled_counts(study_data, PRIMARY)
    return {
        id: share_of_independent(
            study_data,
            counts[id],
            len(right),
            PRIMARY,
            "share",
            part=id,
            units=right,
            left_out=left_out,
            why="no run is decided",
        )
        for id in _order(study_data)
    }


def _table(study_data: StudyData, right: Mapping[str, str], shares: Mapping[str, Agreement]) -> Table:
    papers = PAPER.get(study_data.study.protocol.id, {})
    whole = sum(papers.values())
    counts = Counter(right.values())
    rows: list[tuple[Cell, ...]] = []
    for id, reason in zip(shares, _option_texts(study_data, shares), strict=True):
        paper = f"{format_number(papers[id] / whole, 1, 100)} % ({papers[id]} of {whole})" if id in papers else ""
        rows.append((reason, count(counts[id], PRIMARY, part=id), as_percent(shares[id]), paper))
    columns = ("Reason", "Runs", "Share", "Paper (counts derived)")
    notes = ("Wilson's intervals: each run has one reason, and no two are of one run.",)
    return Table("failures", "Reasons, as they were settled", columns, tuple(rows), "KnowU-Bench 4.4", notes)


def _coders(study_data: StudyData) -> Table:
    order = _order(study_data)
    rows = []
    for rater in study_data.people:
        # None counts the answers with a reason: "cannot judge".
        own = Counter(one.value for one in answers_in(study_data, PRIMARY, (rater,)))
        rows.append((study_data.columns.raters[rater].id, *(f"{own[id]:,}" for id in order), f"{own[None]:,}"))
    columns = ("Coder", *_option_texts(study_data, order), "cannot judge")
    return Table("coders", "What each coder said", columns, tuple(rows))


def _agreement(study_data: StudyData) -> Table:
    ratings = ratings_of(study_data, PRIMARY)
    agreements = [coefficient(study_data, one, ratings) for one in (krippendorff_alpha(ratings), gwet_ac(ratings))]
    same = coefficient(study_data, percent(ratings), ratings)
    row: tuple[Cell, ...] = (
        "primary reason",
        as_percent(same),
        *(Number(one) for one in agreements),
        f"{same.places:,}",
    )
    columns = ("", "Percent", "alpha, nominal", "AC1", "Runs")
    return Table("coding", "Agreement of the coders", columns, (row,))


def _secondary_grid(study_data: StudyData) -> Grid | None:
    """Return how often each secondary reason accompanies each primary one over all coders, or None without any."""
    second = {(one.unit, one.rater): one.value for one in answers_in(study_data, SECONDARY) if one.value is not None}
    if not second:
        return None
    order = _order(study_data)
    seconds = [id for id in order if id in second.values()]
    pairs = Counter(
        (one.value, second.get((one.unit, one.rater), _NONE))
        for one in answers_in(study_data, PRIMARY)
        if one.value is not None
    )
    counts = tuple(tuple(float(pairs[first, other]) for other in (*seconds, _NONE)) for first in order)
    return Grid(
        "second", "Second reasons beside the first, all coders' answers", tuple(_option_texts(study_data, order)),
        (*_option_texts(study_data, seconds), _NONE), counts, "first", "second",
    )  # fmt: skip
