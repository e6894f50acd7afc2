"""A coefficient in words: short for a table's cells, in full for the line below."""

from __future__ import annotations

from collections.abc import Sequence

from lab.core.study.agreement import Agreement, interval_text, is_share
from lab.core.study.study import Study
from lab.core.values.rounding import count, format_number
from lab.runs.descriptions import one_line
from screens.agreement.rows import MINUS, of_people

_NAMES = {"fleiss kappa": "Fleiss' kappa", "cohen kappa": "Cohen's kappa", "ac1": "AC1", "ac2": "AC2", "mae": "MAE",
          "mse": "MSE", "f1": "F1", "irr": "IRR"}  # fmt: skip
_CHANCE = ("kappa", "alpha", " pi", "ac1", "ac2", "brennan")
"""Statistics with labels of Landis and Koch: those that are corrected for chance."""


def statistic_words(agreement: Agreement) -> str:
    """Return a statistic's name as people write it."""
    first, of, rest = one_line(agreement.statistic, 60).partition(" of ")
    name = _NAMES.get(first.casefold(), first.replace("icc(", "ICC("))
    return f"{name}{of}{rest}"


def value_words(one: Agreement) -> str:
    """Return the value, or a dash if undefined. The reason is displayed beside it."""
    return "-" if one.value is None else f"{_short_value(one, one.value)}{' %' if is_share(one) else ''}"


def interval_words(one: Agreement) -> str:
    """Return the interval's ends, or a dash."""
    if one.value is None or one.low is None or one.high is None:
        return "-"
    dash = " to " if one.low < 0 else "–"
    return f"{_short_value(one, one.low)}{dash}{_short_value(one, one.high)}"


def _short_value(one: Agreement, value: float) -> str:
    """Return a value with a table's digits: two, or one for a percentage."""
    return format_number(value, 1, 100) if is_share(one) else format_number(value, 2)


def undefined_words(one: Agreement) -> str:
    """Return why the value is undefined."""
    return f"undefined: {one_line(one.undefined or 'no reason is known')}"


def missing_words(one: Agreement) -> str:
    """Return the share of missing answers."""
    return f"{format_number(one.missing, 1, 100)} %"


def name_of(one: Agreement) -> str:
    """Return the field and its part."""
    return one_line(" ".join(part for part in (one.field, f"({one.part})" if one.part else "") if part), 80)


def full_sentence(one: Agreement) -> str:
    """Return everything about a number in a sentence or two, for a reader who does not see its line."""
    between = f", {one_line(one.between)}" if one.between else ""
    return f"{statistic_words(one)} of {name_of(one)}{between}: {details(one)}"


def details(one: Agreement) -> str:
    """Return what a number's line in the table leaves out."""
    text = undefined_words(one) if one.value is None else f"{_long_value(one, one.value)}{_interval_phrase(one)}"
    return f"{text}\n{basis_words(one)}"


def _interval_phrase(one: Agreement) -> str:
    if one.low is None or one.high is None:
        return f", no interval: {one_line(one.no_interval)}" if one.no_interval else ""
    how = {
        "jackknife-t": f"jackknife over {count(one.traces, one.clusters)}",
        "bootstrap": f"{one.resamples:,} resamples of {count(one.traces, one.clusters)}, seed {one.seed}"
        if one.resamples is not None
        else f"resamples of {one.clusters}s",
        "wilson": "Wilson's, one item a " + one.clusters,
    }.get(one.interval, "as if each item stood alone")
    ends = f"{_long_value(one, one.low)} to {_long_value(one, one.high)}"
    landis = f", {interval_text(one)}" if has_words(one) else ""
    return f" [{ends}, {format_number(one.level, 0, 100)} %, {how}]{landis}"


def _long_value(one: Agreement, value: float) -> str:
    """Return a value with three digits, or one for a percentage."""
    return f"{format_number(value, 1, 100)} %" if is_share(one) else format_number(value, 3)


def basis_words(one: Agreement) -> str:
    """Return the counts that a number is based on: items, sheets, runs, raters, missing answers."""
    why = ", ".join(f"{many:,} {one_line(reason.replace('_', ' '))}" for reason, many in sorted(one.reasons.items()))
    missing = f"{missing_words(one)} missing{f' ({why})' if why else ''}" if one.missing or why else "none missing"
    sheets = f", {count(one.units, 'sheet')}" if one.units not in (one.traces, one.places) else ""
    return (
        f"{count(one.places, 'item')}{sheets}, {count(one.traces, one.clusters)}, "
        f"{count(one.raters, 'rater')}, {missing}{', planned beforehand' if one.planned else ''}"
    )


def has_words(one: Agreement) -> bool:
    """Return True for a chance-corrected coefficient with an interval: only these get labels of Landis and Koch."""
    chance = any(word in one.statistic.casefold() for word in _CHANCE) and MINUS not in one.between
    return chance and one.value is not None and one.low is not None


def landis_words(one: Agreement) -> str:
    """Return these labels for a cell, empty for other numbers."""
    return interval_text(one) if has_words(one) else ""


def wanted_words(one: Agreement, width: float, traces: int | None) -> str:
    """Return how many runs would narrow an interval to a width, and the assumption behind the estimate."""
    if one.value is None:
        return f"There is no interval to narrow: {undefined_words(one)}."
    if one.low is None or one.high is None:
        return f"There is no interval to narrow: {one_line(one.no_interval or 'none was computed')}."
    current_width = one.high - one.low
    subject = f"{statistic_words(one)} of {name_of(one)}"
    if traces is None:
        return f"For {subject} that cannot be told: its spread over {one.clusters}s is not known."
    if current_width <= width:
        return (
            f"The interval of {subject} is {format_number(current_width, 2)} wide with "
            f"{count(one.traces, one.clusters)}: "
            f"{format_number(width, 2)} is reached already."
        )
    return (
        f"About {count(traces, one.clusters)} in all, {traces - one.traces:,} more, would bring the interval of "
        f"{subject} from {format_number(current_width, 2)} to {format_number(width, 2)}. "
        f"An estimate: it takes the {count(one.traces, one.clusters)} of now for a fair picture of those to come."
    )


def no_answers_words(study: Study | None) -> str:
    """Return the text for a study without submitted answers, with the commands that show assignments and open it."""
    name = one_line(study.id, 40) if study is not None else ""
    return (
        f"Nobody's answers are handed in yet.\n`hitlab study status {name}` says who has what.\n"
        f"`hitlab study rate {name} --person CODE` opens it for a rater."
    )


def missing_words_of_study(agreements: Sequence[Agreement], study: Study | None) -> str:
    """Return what is missing for any agreement of people, and the next command, empty if nothing is missing."""
    people = [agreement for agreement in agreements if of_people(agreement)]
    if not people or any(agreement.value is not None or agreement.raters > 1 for agreement in people):
        return ""
    reasons = sorted(
        {agreement.undefined for agreement in people if agreement.undefined.startswith(("only ", "no item "))}
    )
    if not reasons:
        return no_answers_words(study)
    name = one_line(study.id, 40) if study is not None else ""
    return (
        f"{reasons[-1][0].upper()}{one_line(reasons[-1])[1:]}; agreement needs two people at one item.\n"
        f"`hitlab study status {name}` says who has what left.\n`hitlab study deal` deals more."
    )
