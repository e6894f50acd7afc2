"""One rater's numbers in words, for the terminal and the screen. Everything returned is plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from annotators.rater_numbers import RaterNumbers, Stretch
from lab.core.study.agreement import Agreement
from lab.core.study.rating_sheet import MISSING
from lab.core.text.plain_text import plain
from lab.core.text.text_charts import share_bar
from lab.core.values.rounding import count, format_number

_BAR = 20
_MARKS = "▁▂▃▄▅▆▇█"


class NumberLine(NamedTuple):
    """A number with its name and a remark. `points` marks a difference of shares."""

    name: str
    number: Agreement
    points: bool = False
    share: bool = True
    beside: str = ""


def lines_of(one: RaterNumbers, questions: Mapping[str, str]) -> list[NumberLine]:
    """Return a rater's numbers with their names. `questions` maps fields to their words."""
    halves = ", ".join(value_words(NumberLine("", half)) for half in (one.first, one.second))
    before = ""
    if one.same_before is not None and one.chance_before is not None:
        before = f"{format_number(one.same_before, 1, 100)} % same, chance {format_number(one.chance_before, 1, 100)} %"
    lines = [
        NumberLine("as the rest", one.rest),
        NumberLine("drift", one.drift, True, beside=f"halves: {halves}" if one.drift.value is not None else ""),
        NumberLine("as gold", one.gold),
        NumberLine("as settled", one.settled),
        NumberLine("as before, beyond chance", one.before, True, beside=before),
        NumberLine("same when rated again", one.again),
        NumberLine("missing", one.missing, beside=reason_words(one.reasons)),
    ]
    for number in one.fields:
        share = number.statistic.startswith("same")
        question = plain(questions.get(number.field, number.field), lines=False)
        lines.append(NumberLine(f"{question}: {number.statistic}", number, share=share))
    return lines


def value_words(line: NumberLine) -> str:
    """Format the value, a dash if undefined."""
    value = line.number.value
    if value is None:
        return "-"
    return _figure(value, line) + (" points" if line.points else " %" if line.share else "")


def interval_words(line: NumberLine) -> str:
    """Format the interval, else the reason why there is no interval or value."""
    number = line.number
    if number.value is None:
        return f"undefined: {number.undefined}"
    if number.low is None or number.high is None:
        return f"none: {number.no_interval}"
    return f"{_figure(number.low, line)} to {_figure(number.high, line)}"


def n_words(one: Agreement) -> str:
    """Format the n: answers or pairs of them, and runs."""
    if one.value is None:
        return f"{one.places:,}"
    return f"{one.places:,} in {one.traces:,} run{'' if one.traces == 1 else 's'}"


def _figure(value: float, line: NumberLine) -> str:
    text = format_number(value, 1, 100) if line.points or line.share else format_number(value, 2)
    return f"+{text}" if line.points and text.strip("-0.,") and not text.startswith("-") else text


def head_words(one: RaterNumbers) -> str:
    """Describe a rater in one line: code, kind, progress."""
    items = f"{one.done:,} of {count(one.dealt, 'item')} handed in, " if one.dealt else ""
    return f"{plain(one.rater, lines=False)}   {one.kind}   {items}{count(one.answers, 'answer')}"


def pace_words(one: RaterNumbers) -> str:
    """Describe the seconds per answer by median and middle half, else the reason why they are unknown."""
    if one.seconds is None or one.quartiles is None:
        return "pace: not known, no answer came by keys here" if one.answers else "pace: no answers yet"
    low, high = (format_number(end, 1) for end in one.quartiles)
    return f"pace: {format_number(one.seconds, 1)} s an answer, half of them {low} to {high} s (n {one.timed:,})"


def reason_words(reasons: Mapping[str, int]) -> str:
    """Describe how often each reason takes an answer's place."""
    wordings: dict[str, str] = {str(reason): words for reason, words in MISSING.items()}
    return ", ".join(
        f"{wordings.get(name, plain(name.replace('_', ' '), lines=False))} {count:,}" for name, count in reasons.items()
    )


def stretch_lines(what: str, stretches: tuple[Stretch, ...], unit: str, width: int = _BAR) -> list[str]:
    """Return a bar, value and n for each stretch of answers, one line each. Return nothing if there is only one."""
    if len(stretches) < 2:
        return []
    most = 1.0 if unit == "%" else max((one.value or 0.0 for one in stretches), default=0.0)
    places = [f"{one.first:,} to {one.last:,}" for one in stretches]
    values = [_of_stretch(one, unit) for one in stretches]
    wide, value = max(map(len, places)), max(map(len, values))
    return [f"{what} over {stretches[-1].last:,} answers in their order"] + [
        f"  {place:>{wide}}  {share_bar(one.value, width, most)} {number:>{value}}  n {one.n:,}"
        for place, number, one in zip(places, values, stretches, strict=True)
    ]


def spark(what: str, stretches: tuple[Stretch, ...], unit: str) -> str:
    """Return the stretches as a sparkline with the first and last value, empty if there is only one."""
    if len(stretches) < 2:
        return ""
    most = 1.0 if unit == "%" else max((one.value or 0.0 for one in stretches), default=0.0) or 1.0
    marks = "".join(_MARKS[min(7, int((one.value or 0.0) / most * 7 + 0.5))] for one in stretches)
    first, last = (_of_stretch(one, unit) for one in (stretches[0], stretches[-1]))
    return f"{what:<11} {marks} {first} to {last}"


def _of_stretch(one: Stretch, unit: str) -> str:
    if one.value is None:
        return "-"
    return f"{format_number(one.value, 1, 100)} %" if unit == "%" else f"{format_number(one.value, 1)} s"


def streak_words(one: RaterNumbers) -> list[str]:
    """Describe the longest run of equal answers and how often each flag was raised."""
    words = []
    if one.longest is not None:
        words.append(
            f"longest row of the same answer: {one.longest.length:,} of {one.longest.of:,} "
            f"({plain(one.longest.value, lines=False)} to {plain(one.longest.field, lines=False)})"
        )
    if one.flags:
        flag_counts = ", ".join(f"{plain(name, lines=False)} {count:,}" for name, count in one.flags.items())
        words.append(f"flags raised: {flag_counts}")
    return words
