"""Protocols: the fields of a sheet, their options, and the parts of a run that a rater sees."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lab.core.codec import sha_of
from lab.core.study.sheet_words import ENGLISH, PAST_HINTS
from lab.core.study.sheet_words import WORDS_BY_LOCALE as SHEET_WORDS
from lab.core.task.practice import Practice

UnitKind = Literal[
    "run", "pair of runs", "pair of instruction sets", "pair of texts", "step", "question", "task", "task to play"
]
Targets = Literal["unit", "tdg nodes", "information units", "branches", "criteria", "steps", "items"]
FieldKind = Literal["nominal", "ordinal", "many", "interval", "flag", "text", "step", "box"]
Show = Literal[
    "instruction", "context", "persona", "log", "policy", "screens", "actions", "thoughts", "dialogue",
    "outcome", "reason", "rubric", "golden", "method",
]  # fmt: skip
"""Parts of a run or a task that a rater may see before submitting. A part that a protocol does not name is hidden.

`context` is time and place. `outcome` is the status and score. `reason` explains the end (in the source's words too).
`method` is the agent's name and model.
"""
OUTCOME: frozenset[Show] = frozenset({"outcome", "reason"})
"""Parts that reveal how a run ended."""


PRACTICE = "practice."
"""Prefix of the keys of words shown in practice."""
NO_OPTION = "none"
"""The empty set's name in files and commands. No option of a field of many has this id."""


class Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One option of a field: `id` is stored, `says` shown, `means` defines it, `cases` are worked examples.

    `by_rule` options are set by a rule only. People are not asked for them, and they have no key.
    """

    id: str
    says: str = ""
    key: str = ""
    means: str = ""
    cases: tuple[str, ...] = ()
    by_rule: bool = False

    @property
    def display_name(self) -> str:
        return self.says or self.id.replace("_", " ")


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One question to a rater. `options` are in the order that statistics use, `key` is the key to press.

    `per` decides if each target is asked, or the unit as a whole. `show_if` is `FIELD=value,value`: the field is asked
    only if that field of the same target (or of the unit) has one of these values. Interval fields go from `least` to
    `most` in steps of `step`. A field of `many` options accepts any set of them, the empty one too
    (`lab.core.study.option_sets`), or `least` to `most` of them. The options A and B of a `sided` field
    are the unit's sides, whichever is shown on the left. `evidence` stores the step on screen with each answer. `after`
    names an earlier nominal field whose answer must come before this one's in the declared order of options
    (precedence). `says` is a flag's short name, for places too narrow for its question.
    """

    id: str
    ask: str
    kind: FieldKind
    options: tuple[Option, ...] = ()
    required: bool = True
    per: Literal["target", "unit"] = "target"
    show_if: str = ""
    key: str = ""
    least: float | None = None
    most: float | None = None
    step: float | None = None
    sided: bool = False
    evidence: bool = False
    after: str = ""
    hint: str = ""
    says: str = ""

    @property
    def display_name(self) -> str:
        return self.says or self.id.replace("_", " ")

    def option(self, id: str) -> Option | None:
        return next((option for option in self.options if option.id == id), None)

    def is_asked_for(self, value: Any) -> bool:
        """Return True if `show_if` holds for this value of the field it names. In a set one member must match."""
        if value is None:
            return False
        shown_values = self.show_if.partition("=")[2].split(",")
        values = (value or (NO_OPTION,)) if isinstance(value, list | tuple) else (str(value),)
        return any(one in shown_values for one in values)


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A frequent reason for settling a disagreement: `id` is stored and counted, `says` is its text."""

    id: str
    says: str = ""

    @property
    def display_name(self) -> str:
        return self.says or self.id.replace("_", " ")


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The questions about one kind of unit. `shows` is what a rater sees before submitting.

    `guide` is the guideline by locale. `words` are the translations by locale of `title`, `FIELD`, `FIELD.hint`,
    `FIELD.says`, `FIELD.OPTION`, `FIELD.OPTION.means` and `FIELD.OPTION.cases` (one case a line), and of the words of
    every sheet (`lab.core.study.sheet_words`). `source` is the paper and section of its origin.

    `forward` forbids going back to a submitted unit. `only_failed` asks only about failed runs. `reference` shows each
    run beside another one of its task, which the task's owner made. `sides` name the two texts of a pair if it matters
    which is which (translations: `sides.A`, `sides.B`). `reasons` are offered for settling disagreements (translations:
    `reasons.ID`). `practice` is tried before the first item (a translated reason: `practice.1` for its first answer).
    """

    id: str
    title: str
    unit: UnitKind
    fields: tuple[Field, ...]
    targets: Targets = "unit"
    shows: tuple[Show, ...] = ("instruction", "screens", "actions", "dialogue")
    guide: dict[str, str] = {}
    words: dict[str, dict[str, str]] = {}
    source: str = ""
    forward: bool = False
    only_failed: bool = False
    reference: bool = False
    sides: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    practice: Practice | None = None

    @property
    def sha(self) -> str:
        """Version: a hash of all questions, without guideline and practice, which have versions of their own."""
        words = {locale: _without_practice(words) for locale, words in self.words.items()}
        return sha_of(msgspec.structs.replace(self, guide={}, practice=None, words=words))

    def guide_sha(self, locale: str) -> str:
        """Return the version of the guideline in a locale."""
        return sha_of(self.guideline(locale))

    def guideline(self, locale: str) -> str:
        """Return the guideline in a locale, or that in English or the first locale if it is missing."""
        for name in (locale, locale.partition("-")[0], "en", *self.guide):
            if name in self.guide:
                return self.guide[name]
        return ""

    def word(self, locale: str, key: str, default: str) -> str:
        """Return a translated word, or `default` if there is no translation."""
        for words in (self.words, SHEET_WORDS):
            for name in (locale, locale.partition("-")[0]):
                if key in words.get(name, {}):
                    return words[name][key]
        return default

    def hint(self, locale: str, field: Field) -> str:
        """Return the hint below a question, without the advice of earlier versions on typing a number."""
        hint = self.word(locale, f"{field.id}.hint", field.hint)
        return PAST_HINTS.get(hint, hint)

    def sheet_word(self, locale: str, key: str, *of: object) -> str:
        """Return a fixed text of the sheet in a language. `of` replaces `{}`."""
        return self.word(locale, key, ENGLISH[key]).replace("{}", " ".join(map(str, of)))

    def reason_words(self, locale: str) -> dict[str, str]:
        """Return the reasons offered for settling by id, in words."""
        wordings = {one.id: self.word(locale, f"reasons.{one.id}", one.display_name) for one in self.reasons}
        return {id: " ".join(words.split()) for id, words in wordings.items()}

    def reason_id(self, locale: str, words: str) -> str:
        """Return the id of the longest reason with which `words` begin, empty if they begin with none."""
        begins = {id: wording for id, wording in self.reason_words(locale).items() if words.strip().startswith(wording)}
        return max(begins, key=lambda id: len(begins[id]), default="")

    def cases(self, locale: str, field: Field, option: Option) -> tuple[str, ...]:
        """Return an option's worked examples in a locale."""
        text = self.word(locale, f"{field.id}.{option.id}.cases", "")
        return tuple(line for line in text.splitlines() if line.strip()) or option.cases

    def field(self, id: str) -> Field | None:
        return next((field for field in self.fields if field.id == id), None)


def _without_practice(words: dict[str, str]) -> dict[str, str]:
    """Return translations without those of practice."""
    return {key: text for key, text in words.items() if not key.startswith(PRACTICE)}
