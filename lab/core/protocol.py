"""What is asked of one thing: the fields of a sheet, the answers they have, and what a rater sees meanwhile."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lab.core.codec import sha_of
from lab.core.practice import Practice
from lab.core.sheet_words import IN as SHEET_WORDS
from lab.core.sheet_words import PAST_HINTS, SAID

UnitKind = Literal[
    "run", "pair of runs", "pair of instruction sets", "pair of texts", "step", "question", "task", "task to play"
]
Targets = Literal["unit", "tdg nodes", "information units", "branches", "criteria", "steps", "items"]
FieldKind = Literal["nominal", "ordinal", "many", "interval", "flag", "text", "step", "box"]
Show = Literal[
    "instruction", "context", "persona", "log", "policy", "screens", "actions", "thoughts", "dialogue",
    "outcome", "reason", "rubric", "golden", "method",
]  # fmt: skip
"""Parts of a run or a task that a rater may see before committing; what a protocol does not name is hidden.

`context` is time and place, `outcome` the status and score, `reason` why it ended so (the source's words too),
`method` the agent's name and model.
"""
OUTCOME: frozenset[Show] = frozenset({"outcome", "reason"})
"""The parts that say how a run ended."""


PRACTICE = "practice."
"""How the keys of words begin that are said in practice."""
NO_OPTION = "none"
"""How files and commands name the set of no options; no option of a field of many has this id."""


class Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One answer of a field: `id` is stored, `says` shown, `means` its definition, `cases` worked examples of it.

    `by_rule`: a rule alone gives it, and no person is asked for it; it has no key.
    """

    id: str
    says: str = ""
    key: str = ""
    means: str = ""
    cases: tuple[str, ...] = ()
    by_rule: bool = False

    @property
    def shown(self) -> str:
        return self.says or self.id.replace("_", " ")


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing asked of a rater; `options` in the order that statistics use, `key` what a person presses.

    `per` says whether each target is asked, or the unit as a whole. `show_if` is `FIELD=value,value`: asked only where
    that field of the same target (or of the unit) has one of these values. Interval fields go from `least` to `most`
    in steps of `step`. Of a field of `many` options any may be chosen, none too (`lab.core.option_sets`), or at least
    `least` and at most `most` of them. A `sided` field's options A and B are the unit's sides, whichever is shown left.
    `evidence` keeps the step that is shown with each answer. `after` names an earlier nominal field whose answer must
    come before this one's in the declared order of options (precedence). `says` is what a flag is called in a word or
    two, where there is no room for what it asks.
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
    def shown(self) -> str:
        return self.says or self.id.replace("_", " ")

    def option(self, id: str) -> Option | None:
        return next((option for option in self.options if option.id == id), None)

    def asked_where(self, value: Any) -> bool:
        """Whether `show_if` holds where the field that it names has this value; of a set, where it has one of them."""
        if value is None:
            return False
        shown_values = self.show_if.partition("=")[2].split(",")
        values = (value or (NO_OPTION,)) if isinstance(value, list | tuple) else (str(value),)
        return any(one in shown_values for one in values)


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A reason by which disagreements are settled often: `id` is kept and counted, `says` what is written."""

    id: str
    says: str = ""

    @property
    def shown(self) -> str:
        return self.says or self.id.replace("_", " ")


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The questions asked about one unit; `shows` is what a rater sees before committing.

    `guide` is the guideline by locale, `words` the translations by locale of `title`, `FIELD`, `FIELD.hint`,
    `FIELD.says`, `FIELD.OPTION`, `FIELD.OPTION.means` and `FIELD.OPTION.cases` (a case a line), and of what every
    sheet says (`lab.core.sheet_words`). `source` is the paper and section
    it comes from. `forward`: no going back to a committed unit. `only_failed`: only runs that failed are asked about;
    `reference`: each run is rated beside another of its task, which its owner made. `sides`: what the two texts of a
    pair are called where it matters which is which (their translations: `sides.A`, `sides.B`). `reasons` are offered
    where what raters differ on is settled (their translations: `reasons.ID`). `practice` is tried before the first item
    (a translated reason: `practice.1` for its first answer).
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
        """The version: a hash of all that is asked, without guideline and practice, which have their own."""
        words = {locale: _asked(words) for locale, words in self.words.items()}
        return sha_of(msgspec.structs.replace(self, guide={}, practice=None, words=words))

    def guide_sha(self, locale: str) -> str:
        """The guideline's version, as a rater reads it."""
        return sha_of(self.guided(locale))

    def guided(self, locale: str) -> str:
        """The guideline in that locale; English, or the first there is, where it has none."""
        for name in (locale, locale.partition("-")[0], "en", *self.guide):
            if name in self.guide:
                return self.guide[name]
        return ""

    def word(self, locale: str, key: str, default: str) -> str:
        """A translated word; the default where there is none."""
        for words in (self.words, SHEET_WORDS):
            for name in (locale, locale.partition("-")[0]):
                if key in words.get(name, {}):
                    return words[name][key]
        return default

    def hinted(self, locale: str, field: Field) -> str:
        """What is said below a question; how a number was typed in an earlier version is not."""
        hint = self.word(locale, f"{field.id}.hint", field.hint)
        return PAST_HINTS.get(hint, hint)

    def sheet_said(self, locale: str, key: str, *of: object) -> str:
        """A word or two that every sheet says, about what it is `of`."""
        return self.word(locale, key, SAID[key]).replace("{}", " ".join(map(str, of)))

    def reason_words(self, locale: str) -> dict[str, str]:
        """The reasons that are offered for settling, in words, by id."""
        wordings = {one.id: self.word(locale, f"reasons.{one.id}", one.shown) for one in self.reasons}
        return {id: " ".join(words.split()) for id, words in wordings.items()}

    def reason_id(self, locale: str, words: str) -> str:
        """The id of the reason with which these words begin, the longest such; empty where they begin with none."""
        begins = {id: wording for id, wording in self.reason_words(locale).items() if words.strip().startswith(wording)}
        return max(begins, key=lambda id: len(begins[id]), default="")

    def cases(self, locale: str, field: Field, option: Option) -> tuple[str, ...]:
        """An option's worked examples in that locale."""
        text = self.word(locale, f"{field.id}.{option.id}.cases", "")
        return tuple(line for line in text.splitlines() if line.strip()) or option.cases

    def field(self, id: str) -> Field | None:
        return next((field for field in self.fields if field.id == id), None)


def _asked(words: dict[str, str]) -> dict[str, str]:
    """Translations without those of what is said in practice."""
    return {key: text for key, text in words.items() if not key.startswith(PRACTICE)}
