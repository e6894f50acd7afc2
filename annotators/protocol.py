"""Reading and checking of protocol files, and their keys. A protocol's version is the hash of its contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NoReturn

from msgspec.structs import replace

from lab.core.codec import convert, faults_words, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.study.protocol import NO_OPTION, PRACTICE, Field, Option, Protocol
from lab.core.study.sheet_words import ENGLISH
from lab.core.task.practice import Practice

_ID = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_OPTION_ID = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")
_LOCALE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]+)*")
_CHOICES = ("nominal", "ordinal")
_KEYED = 9
"""Number of options that can have a digit each."""


def load_protocol(path: Path) -> Protocol:
    """Return a protocol from a YAML file. Raise `LabError`, with the file and the field, if it is invalid."""
    what = f"protocol file {path}"
    value = read_yaml(read_file(path, what), what).value
    if not isinstance(value, dict):
        raise LabError(what, "holds no mapping of fields")
    value.setdefault("id", path.stem)
    protocol_read: Protocol = convert(value, Protocol, what)
    check_protocol(protocol_read, what)
    return replace(protocol_read, fields=tuple(map(_with_digit_keys, protocol_read.fields)))


def _with_digit_keys(field: Field) -> Field:
    """Give options without a key their number as a digit. Options that only a rule sets have none and do not count."""
    number = 0
    options = []
    for option in field.options:
        number += not option.by_rule
        options.append(option if option.by_rule or option.key else replace(option, key=str(number)))
    return replace(field, options=tuple(options))


def check_protocol(protocol: Protocol, what: str) -> None:
    """Check the rules that a schema cannot express. Raise `LabError`, with `what` and all invalid fields."""
    ids = [field.id for field in protocol.fields]
    checks: list[Callable[[], None]] = [
        lambda: _check_names(protocol, what),
        lambda: _check_unique(what, "fields", ids),
        lambda: _check_unique(what, "shows", protocol.shows),
        lambda: _check_targets(protocol, what),
        lambda: _check_sides(protocol, what),
        *(partial(_check_field, protocol, field, what) for field in protocol.fields),
        lambda: _check_reasons(protocol, what),
    ]
    _all_hold(checks, what)
    # What follows reads fields together, and takes each of them for right.
    together: list[Callable[[], None]] = []
    for place, field in enumerate(protocol.fields):
        together.append(partial(_check_condition, protocol, field, protocol.fields[:place], what))
        together.append(partial(_check_precedence, field, protocol.fields[:place], what))
    together += [lambda: _check_keys(protocol, what), lambda: _check_words(protocol, what)]
    if protocol.practice is not None:
        together.append(partial(_check_practice, protocol, protocol.practice, what))
    _all_hold(together, what)


def _all_hold(checks: Iterable[Callable[[], None]], what: str) -> None:
    """Run all checks and raise one `LabError` with all their faults."""
    faults: list[str] = []
    for check in checks:
        try:
            check()
        except LabError as error:
            faults.append(error.message)
    if faults:
        raise LabError(what, faults_words(faults))


def _check_names(protocol: Protocol, what: str) -> None:
    if not _ID.fullmatch(protocol.id):
        _refuse(what, "id", f"{protocol.id!r} is not small letters and digits, joined by - or _")
    if not protocol.title.strip():
        _refuse(what, "title", "is empty")
    if not protocol.fields:
        _refuse(what, "fields", "there is none")


def _refuse(what: str, place: str, why: str) -> NoReturn:
    raise LabError(what, f"field {place}: {why}")


def _check_unique(what: str, place: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            _refuse(what, place, f"{name!r} is there twice")
        seen.add(name)


def _check_targets(protocol: Protocol, what: str) -> None:
    if protocol.targets in ("tdg nodes", "information units", "branches", "criteria", "steps") and (
        protocol.unit != "run"
    ):
        _refuse(what, "targets", f"a {protocol.unit} has no {protocol.targets}; a run has")
    for name in ("only_failed", "reference"):
        if getattr(protocol, name) and protocol.unit != "run":
            _refuse(what, name, f"is said of runs, and this is asked of a {protocol.unit}")
    if protocol.targets != "unit" and all(field.per == "unit" for field in protocol.fields):
        _refuse(what, "targets", f"no field is asked of each of the {protocol.targets}")


def _check_sides(protocol: Protocol, what: str) -> None:
    if not protocol.sides:
        return
    if protocol.unit != "pair of texts" or any(field.sided for field in protocol.fields):
        _refuse(what, "sides", "are names of a pair of texts that are not compared by where they stand")
    if len(protocol.sides) != 2 or not all(name.strip() for name in protocol.sides):
        _refuse(what, "sides", "there are two, and neither is empty")


# -- one field -------------------------------------------------------------------------------------------------


def _check_field(protocol: Protocol, field: Field, what: str) -> None:
    place = f"fields.{field.id}"
    if not _ID.fullmatch(field.id):
        _refuse(what, place, f"the id {field.id!r} is not small letters and digits, joined by - or _")
    if not field.ask.strip():
        _refuse(what, f"{place}.ask", "is empty")
    if field.key and (len(field.key) != 1 or not field.key.isprintable() or field.key.isspace()):
        _refuse(what, f"{place}.key", f"{field.key!r} is not one key")
    _check_options(protocol, field, what, place)
    _check_scale(field, what, place)
    on_screen = protocol.unit in ("run", "pair of runs", "step")
    if field.kind == "box" and not (on_screen and "screens" in protocol.shows):
        _refuse(what, place, "a box is drawn on a screen, and this protocol shows none")
    if field.kind == "step" and not on_screen:
        _refuse(what, place, f"a {protocol.unit} has no steps to choose from")
    if field.evidence and not on_screen:
        _refuse(what, f"{place}.evidence", f"a {protocol.unit} has no steps to point at")


def _check_options(protocol: Protocol, field: Field, what: str, place: str) -> None:
    options = field.options
    if field.kind not in (*_CHOICES, "many"):
        if options or field.sided or field.after:
            _refuse(what, place, f"a field of kind {field.kind} has no options, sides or precedence")
        return
    rater_options = [option for option in options if not option.by_rule]
    if len(rater_options) < 2 and not (protocol.targets == "branches" and not options and field.kind != "many"):
        _refuse(what, f"{place}.options", "a choice is between two or more")
    _check_unique(what, f"{place}.options", [option.id for option in options])
    for option in options:
        if not _OPTION_ID.fullmatch(option.id):
            _refuse(what, f"{place}.options", f"the id {option.id!r} is not letters and digits, joined by _")
        if option.key and (len(option.key) != 1 or not option.key.isprintable() or option.key.isspace()):
            _refuse(what, f"{place}.options.{option.id}.key", f"{option.key!r} is not one key")
        if option.key and option.by_rule:
            _refuse(what, f"{place}.options.{option.id}.key", "nobody is asked for it, so it has none")
    if len(rater_options) > _KEYED and not all(option.key for option in rater_options):
        _refuse(what, f"{place}.options", f"there are {len(rater_options)}; more than {_KEYED} need a key each")
    _check_unique(
        what, f"{place}.options, a key", [option.key for option in _with_digit_keys(field).options if option.key]
    )
    if field.kind == "many":
        _check_many(field, what, place)
    if field.sided and not (protocol.unit.startswith("pair") and {"A", "B"} <= {option.id for option in options}):
        _refuse(what, f"{place}.sided", "needs a pair, and options A and B")


def _check_many(field: Field, what: str, place: str) -> None:
    """Check a field of many options: it has no precedence or sides, and no option for none of them."""
    if field.sided or field.after:
        _refuse(what, place, "a field of kind many has no sides or precedence")
    if field.option(NO_OPTION) is not None:
        _refuse(what, f"{place}.options", f"{NO_OPTION!r} is how no option at all is named; leave it out")
    option_count = sum(not option.by_rule for option in field.options)
    bounds = [bound for bound in (field.least, field.most) if bound is not None]
    for bound in bounds:
        if bound != int(bound) or not 0 <= bound <= option_count:
            _refuse(what, place, f"least and most are numbers of its {option_count} options, and {bound:g} is not")
    if bounds != sorted(bounds) or field.most == 0:
        _refuse(what, place, "least is above most, or most is 0; nothing could be chosen")


def _check_scale(field: Field, what: str, place: str) -> None:
    scale = (field.least, field.most, field.step)
    if field.kind == "many" and field.step is None:
        return
    if field.kind != "interval":
        if any(number is not None for number in scale):
            _refuse(what, place, f"least, most and step belong to intervals, and this is of kind {field.kind}")
        return
    if field.least is None or field.most is None:
        _refuse(what, place, "an interval needs least and most")
    if not field.least < field.most:
        _refuse(what, place, f"least {field.least:g} is not below most {field.most:g}")
    if field.step is not None:
        # The tolerance below absorbs rounding of decimal steps.
        steps = (field.most - field.least) / field.step if field.step > 0 else 0.0
        if steps < 1 or abs(steps - round(steps)) > 1e-6:
            _refuse(what, f"{place}.step", f"{field.step:g} does not lead from {field.least:g} to {field.most:g}")


# -- fields together -------------------------------------------------------------------------------------------


def _check_condition(protocol: Protocol, field: Field, earlier: tuple[Field, ...], what: str) -> None:
    if not field.show_if:
        return
    place = f"fields.{field.id}.show_if"
    name, equals, value_list = field.show_if.partition("=")
    if not equals or not all(value_list.split(",")):
        _refuse(what, place, f"{field.show_if!r} is not FIELD=value,value")
    other = next((one for one in earlier if one.id == name), None)
    if other is None:
        _refuse(what, place, f"there is no field {name!r} before it")
    if other.per == "target" and field.per == "unit" and protocol.targets != "unit":
        _refuse(what, place, f"{name!r} is asked of each target, and this of the whole")
    # As `str` writes a flag's values.
    possible_values = ["True", "False"] if other.kind == "flag" else [option.id for option in other.options]
    possible_values += [NO_OPTION] if other.kind == "many" else []
    if not possible_values:
        _refuse(what, place, f"{name!r} is of kind {other.kind}, which has no values to name")
    for value in value_list.split(","):
        if value not in possible_values:
            _refuse(what, place, f"{value!r} is none of {', '.join(possible_values)}")


def _check_precedence(field: Field, earlier: tuple[Field, ...], what: str) -> None:
    if not field.after:
        return
    place = f"fields.{field.id}.after"
    first = next((one for one in earlier if one.id == field.after), None)
    if first is None:
        _refuse(what, place, f"there is no field {field.after!r} before it")
    if first.kind not in _CHOICES:
        _refuse(what, place, f"{field.after!r} is of kind {first.kind}, which has no order of options")
    order = [option.id for option in first.options]
    own = [option.id for option in field.options]
    for id in own:
        if id not in order:
            _refuse(what, place, f"{id!r} is no option of {field.after!r}, so nothing says what it comes after")
    if own != [id for id in order if id in own]:
        _refuse(what, place, f"the options stand in another order than those of {field.after!r}")
    if first.per != field.per:
        _refuse(what, place, f"{field.after!r} is not asked of the same thing")


def _check_keys(protocol: Protocol, what: str) -> None:
    """Check that a field's own key is free in all fields from which it can be reached."""
    for field in protocol.fields:
        if not field.key:
            continue
        for other in protocol.fields:
            if other.per != field.per and protocol.targets != "unit":
                continue
            if field.key in {option.key for option in _with_digit_keys(other).options} or (
                other is not field and other.key == field.key
            ):
                _refuse(what, f"fields.{field.id}.key", f"{field.key!r} is taken by {other.id!r}")


def _check_reasons(protocol: Protocol, what: str) -> None:
    """Check that each reason for settling has an id, its own one-line text, and a digit."""
    _check_unique(what, "reasons", [one.id for one in protocol.reasons])
    _check_unique(what, "reasons", [one.display_name for one in protocol.reasons])
    for one in protocol.reasons:
        if not _OPTION_ID.fullmatch(one.id):
            _refuse(what, "reasons", f"the id {one.id!r} is not letters and digits, joined by _")
        if not one.display_name.strip() or "\n" in one.display_name.strip():
            _refuse(what, f"reasons.{one.id}.says", "is not one line of words")
    if len(protocol.reasons) > _KEYED:
        _refuse(what, "reasons", f"there are {len(protocol.reasons)}; {_KEYED} have a digit each")


def _check_words(protocol: Protocol, what: str) -> None:
    keys = set(word_keys(protocol))
    for name in ("guide", "words"):
        for locale in getattr(protocol, name):
            if not _LOCALE.fullmatch(locale):
                _refuse(what, name, f"{locale!r} is no locale, such as en or zh-Hans")
    for locale, words in protocol.words.items():
        for key in words:
            if key not in keys:
                _refuse(what, f"words.{locale}", f"{key!r} is nothing that this protocol says")


# -- practice --------------------------------------------------------------------------------------------------

_RUNS = {"run": 1, "step": 1, "question": 1, "pair of runs": 2}
"""Number of runs in a practice item, by the protocol's unit. Other kinds of practice are about texts."""
_TEXTS = ("pair of instruction sets", "pair of texts")


def _check_practice(protocol: Protocol, practice: Practice, what: str) -> None:
    """Check that the practice item is of the protocol's kind. Its answers are checked when the item is built."""
    unit = protocol.unit
    if unit not in _RUNS and unit not in _TEXTS:
        _refuse(what, "practice", f"there is none of a {unit}")
    run_count = _RUNS.get(unit, 0)
    if len(practice.runs) != run_count:
        _refuse(what, "practice.runs", f"there are {len(practice.runs)}, and a {unit} needs {run_count}")
    if bool(practice.item) != (unit in _TEXTS):
        _refuse(what, "practice.item", f"a {unit} {'needs one' if unit in _TEXTS else 'has none'}")
    if practice.step is not None and (unit not in ("step", "question") or practice.step < 1):
        _refuse(what, "practice.step", "is a step of a run from 1, where a step or a question is asked about")
    if not practice.answers:
        _refuse(what, "practice.answers", "there is none, so nothing could be told to be right")
    for number, answer in enumerate(practice.answers, 1):
        place = f"practice.answers, number {number}"
        if answer.field and protocol.field(answer.field) is None:
            _refuse(what, place, f"field {answer.field!r} is none of {', '.join(one.id for one in protocol.fields)}")
        if not answer.reason.strip():
            _refuse(what, place, "has no reason; a rater is to learn why it is right")
    for locale in practice.item:
        if not _LOCALE.fullmatch(locale):
            _refuse(what, "practice.item", f"{locale!r} is no locale, such as en or zh-Hans")


def practice_words(practice: Practice | None) -> dict[str, str]:
    """Return the texts of practice by their translation keys."""
    answers = practice.answers if practice is not None else ()
    return {f"{PRACTICE}{number}": answer.reason for number, answer in enumerate(answers, 1)}


def word_keys(protocol: Protocol) -> list[str]:
    """Return all keys that a translation may use, in order."""
    keys = ["title", *(["sides.A", "sides.B"] if protocol.sides else [])]
    for field in protocol.fields:
        keys += [field.id, f"{field.id}.hint", f"{field.id}.says"]
        for option in field.options:
            keys += [f"{field.id}.{option.id}{end}" for end in ("", ".means", ".cases")]
    keys += [f"reasons.{one.id}" for one in protocol.reasons]
    return [*keys, *practice_words(protocol.practice), *ENGLISH]


def untranslated(protocol: Protocol, locale: str) -> list[str]:
    """Return the keys of all texts that are missing in a locale: every ask, hint, option, definition and case."""
    texts = {"title": protocol.title} | dict(zip(("sides.A", "sides.B"), protocol.sides, strict=False))
    for field in protocol.fields:
        texts |= {field.id: field.ask, f"{field.id}.hint": field.hint, f"{field.id}.says": field.says}
        for option in field.options:
            texts |= _option_words(f"{field.id}.{option.id}", option)
    texts |= practice_words(protocol.practice)
    texts |= {f"reasons.{one.id}": one.display_name for one in protocol.reasons}
    words = protocol.words.get(locale, {})
    missing = [key for key, text in texts.items() if text and not words.get(key, "").strip()]
    return missing if protocol.guide.get(locale) or not protocol.guide else ["guide", *missing]


def _option_words(key: str, option: Option) -> dict[str, str]:
    words = "" if option.display_name.isdigit() else option.display_name
    return {key: words, f"{key}.means": option.means, f"{key}.cases": "\n".join(option.cases)}
