"""Shares of what most people say, each cell counted anew: PSPA-Bench D.2, KnowU-Bench 5b, MemGUI-Bench A.8 and IRR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from annotators.protocols import protocol
from lab.core.study.study import Gold, Target, Unit, UnitText
from lab.core.task.task import Task
from store.store import Store
from tests.annotators.report import recounting as re
from tests.annotators.report.recounting import Answers, Lab, Row, Said, Table, same, wilson
from tests.papers import run
from tests.studies import frozen

RATERS = ("R1", "R2", "R3")
PAIRS = {
    f"p{at:02}": ((("ours", "static"), ("static", "ours"), ("random", "ours"))[at % 3], f"user{at % 7}")
    for at in range(16)
}
"""Which method is A and which is B, and whose the sets are."""
SIDED = ("plausibility", "relevance", "overall")
FAILED = {f"f{at:02}": "m3a" if at % 3 else "t3a" for at in range(13)}
TIMEOUTS = {"f04", "f09"}
MODES = {
    "knowu": ("clarify", "partial", "gui", "preference"),
    "memgui": ("intent_misunderstanding", "knowledge_deficiency", "partial_memory_hallucination", "other"),
}
COPY = Task("copy", "general", instruction="Copy it.")
MARKED = {f"m{at:02}": ("m3a" if at % 2 else "t3a", at % 5 == 0, at % 4 != 0) for at in range(10)}
"""By run its agent, whether it succeeded, and whether its pieces are written out."""
PIECES = ("date", "price", "name")


def _units() -> Mapping[str, list[Unit]]:
    both = (UnitText("A", "one"), UnitText("B", "another"))
    runs = {unit: (f"run-{unit}",) for unit in (*FAILED, *MARKED)}
    out_of_time = (Gold("", "primary", "execution_timeout", "it ran out of steps"),)
    return {
        "pairwise-sets": [
            Unit(id, cluster=user, given=both, hidden=dict(zip("AB", sides, strict=True)))
            for id, (sides, user) in PAIRS.items()
        ],
        "failure-mode-knowu-personalized": [Unit(id, runs=runs[id]) for id in FAILED],
        "failure-mode-memgui": [
            Unit(id, runs=runs[id], mechanical=out_of_time if id in TIMEOUTS else ()) for id in FAILED
        ],
        "information-units": [
            Unit(
                id, runs=runs[id], explicit=explicit,
                targets=tuple(Target(one, one, kind="explicit" if explicit else "implicit") for one in PIECES),
            )
            for id, (_, _, explicit) in MARKED.items()
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("shares"))
    _freeze(made.db)
    draw = Random(5)
    for at, rater in enumerate(RATERS):
        left = draw.sample([*PAIRS], 3 * at)
        pairs = [id for id in PAIRS if id not in left]
        made.label("pairwise-sets", rater, _sheets(draw, pairs, SIDED, ("A", "B", "tie"), 0.5))
        for study, modes in (("failure-mode-knowu-personalized", "knowu"), ("failure-mode-memgui", "memgui")):
            runs = [id for id in FAILED if modes == "knowu" or id not in TIMEOUTS]
            made.label(study, rater, _sheets(draw, runs[at:], ("primary",), MODES[modes], 0.4))
        made.label("information-units", rater, _marks(draw, [*MARKED][: 10 - at]))
    return made


def _freeze(db: Path) -> None:
    with Store.open(db) as store:
        failed = [run(f"run-{id}", COPY, agent, score=0.0) for id, agent in FAILED.items()]
        marked = [run(f"run-{id}", COPY, agent, score=float(done)) for id, (agent, done, _) in MARKED.items()]
        store.runs.add_all([*failed, *marked])
        for name, units in _units().items():
            frozen(store, units, protocol(name), id=name, raters=RATERS)


def _sheets(
    draw: Random, units: Iterable[str], fields: Sequence[str], words: Sequence[str], careless: float
) -> list[dict[str, Any]]:
    """Sheets of one word a question: mostly that of the unit, some another, some with a reason."""
    rows: list[dict[str, Any]] = []
    for unit in units:
        for field in fields:
            word = draw.choice(words) if draw.random() < careless else words[int(unit[1:]) % len(words)]
            lacks = draw.random() < 0.15
            rows.append({"unit": unit, "field": field, **({"missing": "cannot_judge"} if lacks else {"value": word})})
        rows.append({"unit": unit, "commit": True})
    return rows


def _marks(draw: Random, units: Iterable[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for unit in units:
        for piece in PIECES:
            row = {"unit": unit, "target": piece, "field": "use"}
            word = draw.choice(["correct", "correct", "wrong", "missing"])
            rows.append({**row, **({"missing": "skipped"} if draw.random() < 0.1 else {"value": word})})
        rows.append({"unit": unit, "commit": True})
    return rows


def _items(answers: Answers, field: str, units: Iterable[str], clusters: Callable[[str], str]) -> list[Row]:
    return [
        Row(unit, "", clusters(unit), tuple(answers.at(unit, "", field, rater) for rater in RATERS)) for unit in units
    ]


def _itself(row: Row, truth: str) -> str:
    return truth


def _same_share(
    cell: re.Cell, rows: Sequence[Row], wanted: str, *, where: object, name: Callable[[Row, str], str] = _itself
) -> None:
    """A share of the items that most people settle: value, n, what is not settled, how many people, interval."""
    told = cell["agreement"]
    rated = [row for row in rows if any(one.voice for one in row.said)]
    settled = [(row, truth) for row in rated if (truth := re.most(row.said)) is not None]
    open_ = len(rated) - len(settled)
    hits = [Row(row.unit, "", row.cluster, (Said(float(name(row, truth) == wanted)),)) for row, truth in settled]
    assert told.get("value") == (None if not hits else pytest.approx(re.mean(hits))), (where, told)
    assert told.get("places", 0) == len(settled), (where, told)
    assert told.get("reasons", {}) == ({"no_majority": open_} if open_ else {}), (where, told)
    assert told.get("missing", 0.0) == pytest.approx(open_ / len(rated) if rated else 0.0), (where, told)
    if settled:
        who = {at for row, _ in settled for at, one in enumerate(row.said) if one.value is not None}
        assert told["raters"] == len(who), (where, told)
        assert told["traces"] == len({row.cluster for row, _ in settled}), (where, told)
        _ends(told, hits, where)


def _ends(told: Mapping[str, Any], hits: Sequence[Row], where: object) -> None:
    if told.get("interval") == "wilson":
        assert (told["low"], told["high"]) == pytest.approx(wilson(round(told["value"] * len(hits)), len(hits))), where
        return
    ends = re.jackknife(hits, re.mean, 1.0, 0.0, 1)
    assert (told.get("low") is None) == (ends is None), (where, told)
    assert ends is None or (told["low"], told["high"]) == pytest.approx(ends, abs=1e-7), (where, told)


# -- D.2 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", SIDED)
def test_d2_wins_losses_and_ties(lab: Lab, field: str) -> None:
    table = lab.tables("pairwise-sets")[f"pspa-d2-{field}"]
    answers = lab.answers("pairwise-sets")
    for methods in ({"ours", "static"}, {"ours", "random"}):
        first, second = sorted(methods)
        row = table.row(f"{first} against {second}")
        units = [id for id, (sides, _) in PAIRS.items() if set(sides) == methods]
        items = _items(answers, field, units, lambda id: PAIRS[id][1])

        def winner(one: Row, truth: str) -> str:
            sides = dict(zip("AB", PAIRS[one.unit][0], strict=True))
            return sides.get(truth, truth)

        for name, which in (("First wins", first), ("Second wins", second), ("Tie", "tie")):
            _same_share(row[name], items, which, where=(field, name), name=winner)
        rated = [one for one in items if any(of.voice for of in one.said)]
        without = row["No majority (of all)"]["agreement"]
        assert without["value"] == pytest.approx(fmean(re.most(one.said) is None for one in rated))
        assert without["places"] == len(rated)
        re.is_count(row["Pairs"], len(rated))


@pytest.mark.parametrize("field", SIDED)
def test_d2_agreement(lab: Lab, field: str) -> None:
    row = lab.tables("pairwise-sets")["pspa-d2-agreement"].row(field)
    items = _items(lab.answers("pairwise-sets"), field, PAIRS, lambda id: PAIRS[id][1])
    same(row["alpha"], re.alpha, items, adds=2)
    same(row["AC1"], re.ac1(3), items)
    same(row["Two raters agree"], re.pairs_agree, items, least=0.0, adds=2)
    same(row["All agree"], re.all_agree, items, least=0.0, adds=2)


# -- failure modes ---------------------------------------------------------------------------------------------


def test_5b_shares_and_coders(lab: Lab) -> None:
    tables, answers = lab.tables("failure-mode-knowu-personalized"), lab.answers("failure-mode-knowu-personalized")
    items = _items(answers, "primary", FAILED, lambda id: f"run-{id}")
    counts = Counter(re.most(one.said) for one in items)
    cells = [dict(zip(tables["failures"].columns, row, strict=True)) for row in tables["failures"].rows]
    assert len(cells) == len(MODES["knowu"])
    for cell in cells:
        mode = cell["Runs"]["agreement"]["part"]
        re.is_count(cell["Runs"], counts[mode])
        _same_share(cell["Share"], items, mode, where=mode)
    row = tables["coding"].row("primary reason")
    same(row["Percent"], re.pairs_agree, items, least=0.0, adds=2)
    same(row["alpha, nominal"], re.alpha, items, adds=2)
    same(row["AC1"], re.ac1(len(MODES["knowu"])), items)


def test_a8_shares_by_agent_and_coders(lab: Lab) -> None:
    tables, answers = lab.tables("failure-mode-memgui"), lab.answers("failure-mode-memgui")
    asked = [id for id in FAILED if id not in TIMEOUTS]
    items = _items(answers, "primary", asked, lambda id: f"run-{id}")
    for row in tables["memgui-agents"].rows:
        own = [one for one in items if FAILED[one.unit] == row[0]]
        for cell in row[2:]:
            mode = cell["agreement"]["part"].rpartition(", ")[2]
            _same_share(cell, own, mode, where=(row[0], mode))
    settled = Counter(truth for one in items if (truth := re.most(one.said)) is not None)
    failures = settled.total() + len(TIMEOUTS)
    for row in tables["memgui-modes"].rows:
        mode = row[1]["agreement"].get("part")
        many = len(TIMEOUTS) if mode == "execution_timeout" else settled[mode]
        told = row[3]["agreement"]
        assert (told["value"], told["places"]) == (pytest.approx(many / failures), failures)
    declared = len({row[1]["agreement"]["part"] for row in tables["memgui-modes"].rows}) - 1
    coders = {one[0]: one[1] for one in tables["memgui-coders"].rows}
    same(coders["pairs agree"], re.pairs_agree, items, least=0.0, adds=2)
    same(coders["Alpha (nominal)"], re.alpha, items, adds=2)
    same(coders["Fleiss' kappa"], re.fleiss, items)
    same(coders["AC1"], re.ac1(declared), items)


# -- IRR -------------------------------------------------------------------------------------------------------


def _irr(answers: Answers, unit: str, rater: str) -> float | None:
    """Prompt 8: success 1; the decision of a failed run 0; else what was used correctly; None with an open piece."""
    _, done, explicit = MARKED[unit]
    said = [answers.at(unit, piece, "use", rater) for piece in PIECES]
    if not any(one.voice for one in said):
        return None
    if done:
        return 1.0
    values = [one.value for one in said if one.value is not None]
    if len(values) < len(PIECES):
        return None
    return values.count("correct") / len(PIECES) if explicit else 0.0


@pytest.mark.parametrize("agent", ["m3a", "t3a", "All"])
def test_irr_by_agent(lab: Lab, agent: str) -> None:
    row = lab.tables("information-units")["memgui-irr"].row(agent)
    answers = lab.answers("information-units")
    rows: list[Row] = []
    who: set[str] = set()
    for unit, (of, _, _) in MARKED.items():
        rates = {rater: rate for rater in RATERS if (rate := _irr(answers, unit, rater)) is not None}
        if rates and agent in (of, "All"):
            rows.append(Row(unit, "", f"run-{unit}", (Said(fmean(rates.values())),)))
            who |= rates.keys()
    same(row["IRR"], re.mean, rows, least=0.0, needs=1, raters=len(who), where=agent)
    re.is_count(row["Runs"], len(rows))


def test_irr_agreement(lab: Lab) -> None:
    table: Table = lab.tables("information-units")["memgui-irr-agreement"]
    answers = lab.answers("information-units")
    marks = [
        Row(unit, piece, f"run-{unit}", tuple(answers.at(unit, piece, "use", rater) for rater in RATERS))
        for unit in MARKED
        for piece in PIECES
    ]
    row = table.row("what became of each piece")
    same(row["Alpha"], re.alpha, marks, adds=2)
    same(row["AC1"], re.ac1(3), marks)
    same(row["Pairs agree"], re.pairs_agree, marks, least=0.0, adds=2)
    rates = []
    for unit in MARKED:
        found = [(_irr(answers, unit, rater), (unit, rater, 1) in answers.sheets) for rater in RATERS]
        why = ["nothing_follows" if handed else "not_handed_in" for _, handed in found]
        said = tuple(Said(rate, "" if rate is not None else no) for (rate, _), no in zip(found, why, strict=True))
        rates.append(Row(unit, "", f"run-{unit}", said))
    rates = [one for one in rates if one.values]
    same(table.row("IRR")["ICC(A,1)"], re.icc("A,1", len(RATERS)), rates, needs=len(RATERS), adds=len(RATERS))
