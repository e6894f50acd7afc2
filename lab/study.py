"""What is asked of people: protocols, studies, the units they are dealt, and the labels they give."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec

from lab.sheet_words import IN as SHEET_WORDS
from lab.sheet_words import SAID
from lab.task import Actor, Persona, Task, Tdg
from lab.wire import encode

VERSION = 1
"""The newest stored shape of a study, a unit, a label or an act that this program knows."""

UnitKind = Literal[
    "run", "pair of runs", "pair of instruction sets", "pair of texts", "step", "question", "task", "task to play"
]
Targets = Literal["unit", "tdg nodes", "information units", "branches", "criteria", "steps", "items"]
FieldKind = Literal["nominal", "ordinal", "interval", "flag", "text", "step", "box"]
Missing = Literal["not_reached", "not_applicable", "cannot_judge", "skipped"]
Show = Literal[
    "instruction", "context", "persona", "log", "policy", "screens", "actions", "thoughts", "dialogue",
    "outcome", "reason", "rubric", "golden", "method",
]  # fmt: skip
"""Parts of a run or a task that a rater may see before committing; what a protocol does not name is hidden.

`context` is time and place, `outcome` the status and score, `reason` why it ended so (the source's words too),
`method` the agent's name and model.
"""
Blind = Literal["people", "models", "method", "outcome", "raters"]
"""What stays hidden: other people's labels, models' labels, the method's name, outcome and scores, raters' codes."""
Stage = Literal["pilot", "main", "repeat"]
ActKind = Literal[
    "sat", "rose", "idle", "break", "opened", "looked", "picture", "guide", "commit", "reopen", "gold", "held",
    "released", "consent", "quiz", "played", "interrupted", "dealt", "replaced", "left", "locked",
]  # fmt: skip


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
    in steps of `step`. A `sided` field's options A and B are the unit's sides, whichever is shown left.
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


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The questions asked about one unit; `shows` is what a rater sees before committing.

    `guide` is the guideline by locale, `words` the translations by locale of `title`, `FIELD`, `FIELD.hint`,
    `FIELD.says`, `FIELD.OPTION`, `FIELD.OPTION.means` and `FIELD.OPTION.cases` (a case a line), and of what every
    sheet says (`lab.sheet_words`). `source` is the paper and section
    it comes from. `forward`: no going back to a committed unit. `only_failed`: only runs that failed are asked about;
    `reference`: each run is rated beside another of its task, which its owner made. `sides`: what the two texts of a
    pair are called where it matters which is which (their translations: `sides.A`, `sides.B`).
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

    @property
    def sha(self) -> str:
        """The version: a hash of all that is asked, without the guideline, which has its own."""
        return _sha(msgspec.structs.replace(self, guide={}))

    def guide_sha(self, locale: str) -> str:
        """The guideline's version, as a rater reads it."""
        return _sha(self.guided(locale))

    def guided(self, locale: str) -> str:
        """The guideline in that locale; English, or the first there is, where it has none."""
        for name in (locale, locale.partition("-")[0], "en", *self.guide):
            if name in self.guide:
                return self.guide[name]
        return ""

    def said(self, locale: str, key: str, default: str) -> str:
        """A translated word; the default where there is none."""
        for words in (self.words, SHEET_WORDS):
            for name in (locale, locale.partition("-")[0]):
                if key in words.get(name, {}):
                    return words[name][key]
        return default

    def sheet_said(self, locale: str, key: str, *of: object) -> str:
        """A word or two that every sheet says, about what it is `of`."""
        return self.said(locale, key, SAID[key]).replace("{}", " ".join(map(str, of)))

    def cases(self, locale: str, field: Field, option: Option) -> tuple[str, ...]:
        """An option's worked examples in that locale."""
        said = self.said(locale, f"{field.id}.{option.id}.cases", "")
        return tuple(line for line in said.splitlines() if line.strip()) or option.cases

    def field(self, id: str) -> Field | None:
        return next((field for field in self.fields if field.id == id), None)


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing inside a unit that is labelled by itself: a node, an information unit, a branch, a criterion, a step.

    `kind` is its type, for tables (fixed | flexible, explicit | implicit); `step` (from 0) where it is a step;
    `options` are a branch's own ways, in place of the field's; `requires` are targets it depends on; `weight` is a
    criterion's, relative to the others'.
    """

    id: str
    says: str
    detail: str = ""
    kind: str = ""
    step: int | None = None
    options: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    weight: float = 1.0


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A text that a unit lays before the rater: `side` A or B where it is one of two, `items` a list in it."""

    title: str
    text: str = ""
    items: tuple[str, ...] = ()
    side: Literal["", "A", "B"] = ""


class Gold(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is right at a place, and why: a calibration unit's answer, or one that a rule sets without a person."""

    target: str
    field: str
    value: Any
    reason: str = ""


class Play(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A task to be played, and the condition: who is its user, and whether they see the phone."""

    task: Task
    persona: Persona | None = None
    user: Literal["person", "model", "script"] = "person"
    mirror: bool = True
    agent: str = "rule"
    seed: int = 0
    vary: int = 0

    @property
    def condition(self) -> str:
        """The condition in a word, as tables name it."""
        return self.user if self.user != "person" or self.mirror else "person, no mirror"


class Unit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one sheet is about, with everything needed to ask of it; frozen with the study.

    `runs` are trace ids: one, the two of a pair (A, B), or a run and then its reference. `cluster` is what intervals
    are clustered by (empty: the first run). `hidden` are the designers' words that no rater sees (which method a side
    is). `gold` makes it a calibration unit; `mechanical` are answers that a rule gave, so that nobody is asked.
    `owner` is the study code of whom alone it is dealt to: whose run it was.
    """

    id: str
    runs: tuple[str, ...] = ()
    step: int | None = None
    question: str = ""
    targets: tuple[Target, ...] = ()
    given: tuple[Given, ...] = ()
    tdg: Tdg = Tdg()
    explicit: bool | None = None
    task: Task | None = None
    play: Play | None = None
    cluster: str = ""
    hidden: dict[str, str] = {}
    gold: tuple[Gold, ...] = ()
    mechanical: tuple[Gold, ...] = ()
    pilot: bool = False
    owner: str = ""
    v: int = VERSION

    @property
    def clustered(self) -> str:
        return self.cluster or (self.runs[0] if self.runs else self.id)


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A frozen plan: who rates which units by which protocol. Changing anything makes a new version.

    Its units stand apart (they may be many); `sample_sha` is the hash of them all, in order. `overlap` is how many
    raters a unit is dealt to, `shared` the share of units to which that applies (the others go to one), `repeats` the
    share dealt to the same rater once more, `bar` the least agreement with gold (0 to 1) by which a rater passes the
    pilot. `statistics` are what its report holds, as they were settled beforehand. `consent` is the text a participant
    agrees to, by locale; `quiz` how many questions on the persona come before a play. `shows` adds to what the
    protocol shows.
    """

    id: str
    version: int
    title: str
    protocol: Protocol
    raters: tuple[str, ...]
    units: int
    sample_sha: str
    overlap: int = 2
    shared: float = 1.0
    repeats: float = 0.0
    blind: tuple[Blind, ...] = ("people", "models", "method", "outcome", "raters")
    shows: tuple[Show, ...] = ()
    seed: int = 0
    locale: str = "en"
    bar: float | None = None
    consent: dict[str, str] = {}
    quiz: int = 0
    rest_minutes: int = 45
    preset: str = ""
    note: str = ""
    statistics: tuple[str, ...] = ()
    by: Actor | None = None
    at: str = ""
    v: int = VERSION

    @property
    def name(self) -> str:
        """How people and files name this version."""
        return f"{self.id} v{self.version}"

    @property
    def shown(self) -> tuple[Show, ...]:
        """All that a rater may see before committing."""
        more: list[Show] = []
        if "method" not in self.blind:
            more.append("method")
        if "outcome" not in self.blind:
            more.append("outcome")
        return tuple(dict.fromkeys((*self.protocol.shows, *self.shows, *more)))

    @property
    def sha(self) -> str:
        """A hash of the plan and its sample: two versions of one number with different hashes are a clash."""
        return _sha(msgspec.structs.replace(self, at="", by=None))

    def consent_sha(self, locale: str) -> str:
        """The version of the text that was agreed to."""
        return _sha(self.consent.get(locale) or self.consent.get("en", ""))


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One unit dealt to one rater, at its place in their order; `run` counts how often they rate it (repeats are 2).

    `swap`: the sides of a pair are shown the other way round. Its id follows from the rest, so that dealing again
    deals the same.
    """

    study: str
    version: int
    rater: str
    position: int
    unit: str
    stage: Stage = "main"
    run: int = 1
    swap: bool = False
    condition: str = ""
    at: str = ""
    v: int = VERSION


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A signed sentence about one place in a unit; never changed, only superseded.

    `target` is empty where the unit as a whole is meant. `value` is None where `reason_missing` says why, or where an
    undo left nothing. `run` tells repeated ratings by the same rater apart. `evidence` is a place in a run (`ID@7`,
    steps from 1), `region` pixels (left, top, right, bottom) there. An undo restores what stood before the label that
    it `undoes`. Times are UTC, `first_key_at` None for paste or composition; `idle_ms` is the time away while it was
    open. `source` says how it came: keys, a file's name, a rule; `config_sha` is a model's prompt and parameters.
    It `supersedes` what stood there, and where that was a clash, `also` the other last words.
    """

    id: str
    study: str
    version: int
    unit: str
    target: str
    field: str
    rater: Actor
    value: Any = None
    run: int = 1
    act: Literal["answer", "undo"] = "answer"
    undoes: str | None = None
    reason_missing: Missing | None = None
    confidence: float | None = None
    evidence: str | None = None
    region: tuple[int, int, int, int] | None = None
    note: str = ""
    cites: str = ""
    shown_at: str | None = None
    first_key_at: str | None = None
    at: str = ""
    idle_ms: float = 0.0
    guide_sha: str = ""
    protocol_sha: str = ""
    config_sha: str = ""
    source: str = ""
    supersedes: str | None = None
    also: tuple[str, ...] = ()
    v: int = VERSION

    @property
    def replaces(self) -> tuple[str, ...]:
        """All that it takes the place of."""
        return (*((self.supersedes,) if self.supersedes else ()), *self.also)

    @property
    def cleared(self) -> bool:
        """Whether it leaves its place unanswered."""
        return self.value is None and self.reason_missing is None


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Something a person did at a study beside answering: sat down, handed a unit in, looked at a picture in full."""

    id: str
    study: str
    version: int
    rater: Actor
    act: ActKind
    at: str
    unit: str = ""
    run: int = 1
    detail: dict[str, Any] = {}
    v: int = VERSION


class Withdrawal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What stays of a person who withdrew: their code, when, and how much was erased; never a word of theirs."""

    code: str
    at: str
    by: Actor
    counts: dict[str, int] = {}
    v: int = VERSION


class StudyLine(msgspec.Struct, frozen=True):
    """A study in one line; `done` of `dealt` counts committed assignments of all its people."""

    id: str
    version: int
    title: str
    protocol: str
    unit: str
    units: int
    raters: int
    dealt: int
    done: int
    locked: bool
    at: str


class Progress(msgspec.Struct, frozen=True):
    """How far one person is: of `dealt` units `done` are handed in, `begun` have an answer."""

    rater: str
    dealt: int
    done: int
    begun: int
    held: bool = False


class Agreement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One statistic over labels; `value` is None where `undefined` says why, and is then never printed as a number."""

    field: str
    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None
    units: int = 0
    traces: int = 0
    raters: int = 0
    missing: float = 0.0
    undefined: str = ""


def sample_sha(units: list[Unit] | tuple[Unit, ...]) -> str:
    """The hash of a study's units in their order."""
    whole = hashlib.sha256()
    for unit in units:
        whole.update(encode(unit) + b"\n")
    return whole.hexdigest()


def _sha(value: Any) -> str:
    return hashlib.sha256(encode(value)).hexdigest()
