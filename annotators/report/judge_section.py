"""Trust in each judge: against settled answers, against each person, against itself, and corrected rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from annotators.agreement.coefficients.additive import Estimate
from annotators.agreement.intervals.estimates import as_agreement, clusters_of
from annotators.study_data import StudyData
from annotators.validation.alternative_annotator import PASSES, AlternativeAnnotatorTest
from annotators.validation.biases import SelfPreference, VerbosityBias
from annotators.validation.judge_config import examples_in, hides_outcome
from annotators.validation.rates import Confusion, JudgeRate
from annotators.validation.study_agents import AgentDifference
from annotators.validation.study_split import SPLITS, Split, parts_of
from annotators.validation.study_validation import JudgedField, judged_fields, reported_categories
from lab.core.study.agreement import IntervalTerms
from lab.core.study.report import Cell, Grid, Number, Picture, Section, Table
from lab.core.values.rounding import count

_NAMES = {"recall": "true positive rate", "specificity": "true negative rate", "f1": "F1"}
_KAPPAS = ("kappa", "entropy")
"""Statistics that are not shares."""
_BOOTSTRAPPED = ("kappa", "difference")
"""Statistics with a bootstrap interval."""
_CORRECTED = (
    "The corrected rate is that of all items that the judge answered, by its answers and by people's where there are "
    "some (prediction-powered inference). Its interval is as wide as what people's labels leave open: where the judge "
    "is worthless it is no narrower than people's own. `worth` says how many labels of people alone would tell as much."
)
_ACTIVE = (
    "People labelled first where judges were unsure. How likely each unit was to be labelled is known, and one over "
    "that weighs it in the corrected shares, and in accuracy, rates, precision and F1. Kappa, macro means, parts of "
    "the study, persons and the alternative annotator test are of the labelled items as they are: harder ones than all."
)
_TEST = (
    "The alternative annotator test (Calderon, Reichart, Dror 2025) asks of each person whether the judge agrees with "
    "the others at least as well, but for epsilon; the judge may take a person's place where it wins against half of "
    "them. It takes items for independent: those of one run are not quite."
)


def sections(
    study_data: StudyData, judge: str = "", part: Split | None = None, *, grids: bool = False
) -> list[Section]:
    """Return a section for each judge (or the named one), none if there is no judge, or nothing is settled.

    A split study has one for each part (or the named one), test before dev. With `grids` each also has the grid of
    answers, which a whole report has elsewhere.
    """
    split = parts_of(study_data)
    if split is None:
        return _sections(study_data, judge, _Part("", ()), grids=grids)
    part_sections = [
        section
        # Test before dev, because only its numbers may be reported.
        for side in ([part] if part is not None else reversed(SPLITS))
        for section in _sections(
            study_data.with_units(split.units(side)),
            judge,
            _Part(side, split.units(side), len(study_data.units)),
            grids=grids,
        )
    ]
    return (
        part_sections
        if part is not None
        else sorted(part_sections, key=lambda section: section.title.partition(", units of ")[0])
    )


class _Part(NamedTuple):
    """The part of a study that numbers are about: name (empty: all of it), units, and the number of all units."""

    name: str
    units: tuple[str, ...]
    of: int = 0

    def sentences(self, study_data: StudyData, judge: str) -> list[str]:
        """Return sentences about the part for the reader."""
        if not self.name:
            return []
        words = (
            f"These numbers are of {self.name}: {len(self.units):,} of {self.of:,} units, by whole tasks. What other "
            "sections say of this judge is of both parts."
        )
        examples = examples_in(study_data.acts, judge)
        if self.name == "test":
            return [words]
        if examples:
            return [f"{words} They are on the units that its {len(examples)} examples came from: report those of test."]
        return [f"{words} Its prompt may have been worked out on these units: report those of test."]


def _sections(study_data: StudyData, judge: str, part: _Part, *, grids: bool) -> list[Section]:
    by_judge: dict[str, list[JudgedField]] = {}
    for one in judged_fields(study_data, judge):
        by_judge.setdefault(one.judge, []).append(one)
    return [_section(study_data, name, fields, part, grids=grids) for name, fields in by_judge.items()]


def _section(study_data: StudyData, name: str, fields: Sequence[JudgedField], part: _Part, *, grids: bool) -> Section:
    tables: list[Table] = []
    pictures: list[Picture] = []
    says: list[str] = part.sentences(study_data, name)
    if hides_outcome(study_data.acts, name):
        says.append("It was told nothing of how a run ended (--hide outcome), which the study shows people.")
    for at, one in enumerate(fields, 1):
        id = f"judge-{name}-{at}" if not part.name else f"judge-{name}-{part.name}-{at}"
        # Without a common item every table would consist of undefined numbers.
        if not one.validation.confusion.counts.sum():
            says.append(f"{one.field.display_name}: nothing that {name} answered is settled by people.")
            continue
        tables += _tables(study_data, id, one)
        pictures += [_grid(id, one)] if grids else []
    says += [_ACTIVE] if any(one.order is not None for one in fields) else []
    if any(one.alternative is not None for one in fields):
        says.append(_TEST)
    if any(one.corrected for one in fields):
        says.append(_CORRECTED)
    # The cost is of whole sheets, so it is the same for all fields.
    cost = next((one.sheet_cost for one in fields if one.sheet_cost is not None), None)
    if cost is not None:
        says.append(f"A sheet cost {cost.mean:.4f} US dollars (n = {cost.sheets:,}).")
        says += [f"An answer cost {cost.answer:.5f} (n = {cost.answers:,})."] if cost.answer is not None else []
    title = f"Judge {name}, units of {part.name}" if part.name else f"Judge {name}"
    return Section(title, tuple(says), tuple(tables), tuple(pictures))


def _tables(study_data: StudyData, id: str, one: JudgedField) -> Iterator[Table]:
    field = one.field.display_name
    yield _rates(study_data, id, one)
    if one.validation.slices:
        yield _slices(study_data, id, one)
    if one.persons:
        yield _persons(study_data, id, one)
    if one.alternative is not None and one.alternative.people:
        yield _alternative(id, field, one.alternative)
    if one.consistency is not None or one.position is not None:
        yield _self_table(study_data, id, one)
    if one.corrected:
        yield _corrected_table(study_data, id, one)
    yield from _agent_tables(study_data, id, one)


def _agent_tables(study_data: StudyData, id: str, one: JudgedField) -> Iterator[Table]:
    """Yield the tables of counts by class, of differences of agents, of the judge's own family, and of length."""
    field, validation = one.field.display_name, one.validation

    def number(name: str, value: Estimate, items: int) -> Number:
        return _number(study_data, one, name, value, items)

    categories = reported_categories(validation.confusion.categories)
    parts = [
        ("all", validation.confusion),
        *((f"{criterion}: {name}", part) for criterion, name, part in validation.parts),
    ]
    if len(categories) > 1 or validation.parts:
        yield counts_table(id, field, categories, parts)
    several = len(categories) > 1
    for at, category in enumerate(categories, 1):
        its = f"{id}-{at}" if several else id
        if apart := [difference for name, difference in one.agents if name == category]:
            yield agents_table(its, field, category, apart, number)
        for name, family in one.family:
            if name == category:
                yield family_table(its, field, category, family, number)
    if one.length is not None and one.length.pairs:
        yield length_table(id, field, one.length, number)


def _rates(study_data: StudyData, id: str, one: JudgedField) -> Table:
    rows = [
        (
            _rate_name(rate),
            _number(study_data, one, rate.statistic, rate.estimate, rate.places, rate.units),
            f"{rate.places:,}",
            f"{rate.units:,}",
        )
        for rate in one.validation.rates
    ]
    left_out = one.validation.confusion
    notes = []
    if left_out.unanswered:
        notes.append(f"At {count(left_out.unanswered, 'settled item')} the judge says nothing.")
    if left_out.unsettled:
        notes.append(f"At {count(left_out.unsettled, 'item')} that it answered nothing is settled.")
    title = f"{one.field.display_name}: against what people settled"
    return Table(f"{id}-rates", title, ("", "Value", "Items", "Units"), tuple(rows), notes=tuple(notes))


def _slices(study_data: StudyData, id: str, one: JudgedField) -> Table:
    statistics = ("accuracy", "kappa", "recall", "specificity")
    rows: dict[tuple[str, str], dict[str, JudgeRate]] = {}
    for rate in one.validation.slices:
        if rate.statistic in statistics:
            rows.setdefault((rate.criterion, rate.slice), {}).setdefault(rate.statistic, rate)
    columns = [name for name in statistics if any(name in row for row in rows.values())]
    lines = tuple(
        (
            f"{criterion}: {name}",
            *(
                _number(study_data, one, what, row[what].estimate, row[what].places, row[what].units)
                if what in row
                else ""
                for what in columns
            ),
            f"{max(rate.places for rate in row.values()):,}",
        )
        for (criterion, name), row in rows.items()
    )
    titles = ("", *(_NAMES.get(name, name).capitalize() for name in columns), "Items")
    return Table(f"{id}-slices", f"{one.field.display_name}: by parts of the study", titles, lines)


def _persons(study_data: StudyData, id: str, one: JudgedField) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            person.person,
            _number(study_data, one, "agreement", person.agreement, person.items),
            _number(study_data, one, "accuracy", person.judge, person.items),
            _number(study_data, one, "accuracy", person.own, person.items),
            _number(study_data, one, "difference", person.ahead, person.items),
            _number(study_data, one, "kappa", person.kappa_ahead, person.items),
            f"{person.items:,}",
        )
        for person in one.persons
    ]
    titles = (
        "Person", "Same answer", "Judge against the others", "Person against the others", "Judge ahead by",
        "Ahead by, kappa", "Items",
    )  # fmt: skip
    note = "Nobody is compared with a majority that they voted in: it is that of the other people."
    return Table(f"{id}-persons", f"{one.field.display_name}: beside each person", titles, tuple(rows), notes=(note,))


def _alternative(id: str, field: str, test: AlternativeAnnotatorTest) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            one.person,
            _share(one.judge_share),
            _share(one.person_share),
            "-" if one.p is None else f"{one.p:.3f}",
            "yes" if one.won else "no",
            f"{one.items:,}",
        )
        for one in test.people
    ]
    if test.winning_rate is None:
        verdict = "Nobody could be compared."
    else:
        passes = "passes" if test.passes else "does not pass"
        verdict = (
            f"The judge {passes}: it wins against {test.winning_rate:.0%} of the people (at least {PASSES:.0%} are "
            f"needed), epsilon {test.epsilon:g}; advantage probability {_share(test.advantage)}."
        )
    titles = ("Person", "Judge as good", "Person as good", "p", "Judge wins", "Items")
    return Table(
        f"{id}-alternative", f"{field}: alternative annotator test", titles, tuple(rows),
        source="Calderon, Reichart, Dror 2025", notes=(verdict, *test.cautions),
    )  # fmt: skip


def _self_table(study_data: StudyData, id: str, one: JudgedField) -> Table:
    rows: list[tuple[Cell, ...]] = []
    if (runs := one.consistency) is not None:
        items = f"{runs.items:,}"
        rows.append(("all runs say the same", _number(study_data, one, "identical", runs.identical, runs.items), items))
        rows.append(("Fleiss' kappa over runs", _number(study_data, one, "kappa", runs.kappa, runs.items), items))
        rows.append(("entropy over runs, bits", _number(study_data, one, "entropy", runs.entropy, runs.items), items))
    if (sides := one.position) is not None:
        pairs = f"{sides.pairs:,}"
        rows.append(
            ("changes its mind with the sides", _number(study_data, one, "flips", sides.flips, sides.pairs), pairs)
        )
        rows.append(("prefers the first side", _number(study_data, one, "first", sides.first, sides.pairs), pairs))
    return Table(f"{id}-itself", f"{one.field.display_name}: against itself", ("", "Value", "Items"), tuple(rows))


def _corrected_table(study_data: StudyData, id: str, one: JudgedField) -> Table:
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for category, rate in one.corrected:
        rows.append(
            (
                category,
                _number(study_data, one, "corrected", rate.corrected, rate.units),
                _number(study_data, one, "judge", rate.judge, rate.units),
                _number(study_data, one, "people", rate.people, rate.labelled),
                f"{rate.labelled:,} of {rate.units:,}",
                "-" if rate.worth is None else f"{rate.worth:.0f}",
            )
        )
        notes += [f"{category}: {rate.caution}."] if rate.caution else []
    titles = ("Share of", "Corrected", "By the judge alone", "By people alone", "Labelled by people", "Worth, labels")
    title = f"{one.field.display_name}: shares, corrected by people's labels"
    source = "Angelopoulos, Duchi, Zrnic 2023"
    return Table(f"{id}-corrected", title, titles, tuple(rows), source, tuple(dict.fromkeys(notes)))


def _grid(id: str, one: JudgedField) -> Grid:
    confusion = one.validation.confusion
    counts = tuple(tuple(int(count) for count in row) for row in confusion.counts)
    title = f"{one.field.display_name}: which answers came together"
    return Grid(f"{id}-grid", title, confusion.categories, confusion.categories, counts, "people", one.judge)


def _rate_name(rate: JudgeRate) -> str:
    name = _NAMES.get(rate.statistic, rate.statistic)
    return f"{name} of {rate.category}" if rate.category else name


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _number(
    study_data: StudyData, one: JudgedField, statistic: str, value: Estimate, items: int, units: int = 0
) -> Number:
    """Return an estimate as a report's number over so many items and units, shares as percentages."""
    # `value` is computed already. `how` only tells the reader how.
    is_bootstrap = statistic in _BOOTSTRAPPED or statistic.startswith("macro")
    how = IntervalTerms(
        "bootstrap" if is_bootstrap else "jackknife-t",
        study_data.how.level,
        study_data.how.resamples,
        study_data.how.seed,
    )
    agreement = as_agreement(
        value, how, one.field.id, statistic, between=f"{one.judge} against people", places=items,
        units=units or items, traces=units or items, raters=2, clusters=clusters_of(study_data),
    )  # fmt: skip
    return Number(agreement, 3) if statistic in _KAPPAS else Number(agreement, 1, 100, " %")


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
