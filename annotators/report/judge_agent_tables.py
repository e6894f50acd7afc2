"""Tables of a judge by agent: differences of agents, its own family, the longer side, and counts by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from annotators.agreement.additive import Estimate
from annotators.validation.biases import SelfPreference, VerbosityBias
from annotators.validation.rates import Confusion
from annotators.validation.study_agents import AgentDifference
from lab.core.report import Cell, Number, Table

Numbered = Callable[[str, Estimate, int], Number]
"""Function from a statistic's name, its estimate and its number of items to a report's number."""

_PAIRED = (
    "Paired: both agents worked the same tasks, once each, and what tasks have in common falls out of the interval."
)


def agents_table(id: str, field: str, category: str, ones: Sequence[AgentDifference], number: Numbered) -> Table:
    """Return the corrected difference of each two agents' shares, beside those of judge and people alone."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"{one.one} minus {one.other}",
            number("corrected", one.found.corrected, sum(one.items)),
            number("judge", one.found.judge, sum(one.items)),
            number("people", one.found.people, sum(one.labelled)),
            "paired" if one.paired else "unpaired",
            f"{one.items[0]:,} and {one.items[1]:,}",
            f"{one.labelled[0]:,} and {one.labelled[1]:,}",
        )
        for one in ones
    ]
    titles = ("Agents", "Corrected", "By the judge alone", "By people alone", "", "Items", "Labelled by people")
    notes = (_PAIRED,) if any(one.paired for one in ones) else ()
    title = f"{field}: two agents' shares of {category}, corrected by people's labels"
    return Table(f"{id}-agents", title, titles, tuple(rows), "Angelopoulos, Duchi, Zrnic 2023", notes)


def family_table(id: str, field: str, category: str, preference: SelfPreference, number: Numbered) -> Table:
    """Return the excess of a category over the truth, for agents of the judge's own model family and for others."""
    rows: list[tuple[Cell, ...]] = [
        ("agents of its own family", number("own", preference.own, preference.own_units), f"{preference.own_units:,}"),
        (
            "agents of other families",
            number("others", preference.others, preference.other_units),
            f"{preference.other_units:,}",
        ),
        (
            "own minus others",
            number("apart", preference.apart, preference.own_units + preference.other_units),
            f"{preference.own_units + preference.other_units:,}",
        ),
    ]
    note = "A family is the first word of a model's name. Above 0 the judge is kinder to its own."
    title = f"{field}: how much more often it says {category} than is true"
    return Table(f"{id}-family", title, ("", "Value", "Items"), tuple(rows), "Panickssery, Bowman, Feng 2024", (note,))


def length_table(id: str, field: str, bias: VerbosityBias, number: Numbered) -> Table:
    """Return the judge's bias to the longer side, given people's preferences."""
    rows: list[tuple[Cell, ...]] = [
        ("wrong where people prefer the shorter", number("wrong", bias.wrong_where_short, bias.pairs)),
        ("wrong where people prefer the longer", number("wrong", bias.wrong_where_long, bias.pairs)),
        ("the one minus the other", number("apart", bias.parity, bias.pairs)),
        ("prefers the longer, more often than people", number("apart", bias.longer, bias.pairs)),
    ]
    note = f"Of {bias.pairs:,} pairs that both judged. Above 0 the judge favours length."
    return Table(f"{id}-length", f"{field}: the longer side", ("", "Value"), tuple(rows), "Saito et al. 2023", (note,))


def counts_table(id: str, field: str, categories: Sequence[str], parts: Sequence[tuple[str, Confusion]]) -> Table:
    """Return right and wrong answers of each class against the rest, overall and in each part."""
    rows: list[tuple[Cell, ...]] = []
    for name, confusion in parts:
        for category in categories:
            at = confusion.categories.index(category)
            both, total = confusion.counts[at, at], confusion.counts.sum()
            truth, judge_total = confusion.counts[at].sum(), confusion.counts[:, at].sum()
            cells = (both, truth - both, judge_total - both, total - truth - judge_total + both, total)
            label = f"{name}, {category}" if len(categories) > 1 else name
            rows.append((label, *(f"{int(cell):,}" for cell in cells)))
    says = f" of {categories[0]}" if len(categories) == 1 else ""
    titles = ("", "Both say so", "People alone", "Judge alone", "Neither", "Items")
    return Table(f"{id}-counts", f"{field}: how answers{says} came together, in all and by parts", titles, tuple(rows))
