"""Breakpoints of a run: pause after an agent's proposal and before the action, under given conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec

from lab.core.errors import LabError
from lab.core.run.step import ActionKind, Observation, Proposed
from lab.core.run.trace import Step
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Screen
from lab.core.text.read_text import is_from_ocr, line_contains
from lab.core.text.suggestion import suggestion
from lab.core.values.whole_number import whole_number

Kind = Literal["step", "action", "app", "text", "ask"]

SPELLINGS = "step:7, action:input_text, app:NAME, text:WORDS, ask"
"""The spellings of a breakpoint, for error messages."""
REASON = "breakpoint "
"""Prefix of a pause's reason at a breakpoint. Its `spec` follows."""


OCR_NOTE = "read from the picture"
"""Note on a breakpoint's words that came from OCR."""


class Breakpoint(msgspec.Struct, frozen=True):
    """One breakpoint. `value` is a step's number from 1, a kind of action, an app's name, or words."""

    kind: Kind
    value: str = ""
    on: bool = True

    @property
    def spec(self) -> str:
        """The spelling that `parse` accepts."""
        return f"{self.kind}:{self.value}" if self.value else self.kind


class BreakpointStop(NamedTuple):
    """A pause at a breakpoint, before step `step` (from 0) does what is proposed.

    `read` is true if OCR read the words, because the phone reported none.
    """

    step: int
    breakpoint: Breakpoint
    proposed: Proposed
    read: bool = False

    @property
    def words(self) -> str:
        """The breakpoint's spelling, with a note if OCR read its words."""
        return f"{self.breakpoint.spec} ({OCR_NOTE})" if self.read else self.breakpoint.spec


def parse(spec: str) -> Breakpoint:
    """Parse `step:7` (or `7`), `action:click`, `app:Notes`, `text:Pay now`, `ask` or `ask:coffee`."""
    kind, colon, value = spec.strip().partition(":")
    kind, value = kind.strip().casefold(), value.strip()
    if kind.isascii() and kind.isdigit() and not colon:
        kind, value = "step", kind
    if kind not in get_args(Kind):
        raise _spelling_error(spec, "is no breakpoint")
    if kind == "ask":
        return Breakpoint("ask", value)
    if not value:
        raise _spelling_error(spec, f"says no {'words' if kind == 'text' else kind}")
    if kind == "step" and not 1 <= (whole_number(value) or 0) < 10**6:
        raise _spelling_error(spec, "names no step: they count from 1")
    if kind == "action":
        value = value.casefold().replace(" ", "_")
        if value not in get_args(ActionKind):
            kinds = get_args(ActionKind)
            near = suggestion(value, kinds) or f"; they are {', '.join(kinds)}"
            raise _spelling_error(spec, f"names no kind of action{near}")
    return Breakpoint(kind, str(int(value)) if kind == "step" else value)  # type: ignore[arg-type]


def _spelling_error(spec: str, why: str) -> LabError:
    return LabError(f"breakpoint {spec!r}", why, f"Write it as one of {SPELLINGS}.", code=2)


class Breakpoints:
    """The breakpoints of one run, added and toggled while it runs. Thread-safe.

    `apps` maps an app's name in lower case to its package, so that people may write what the phone shows. `words`
    returns a screen's text as a tree, perhaps from OCR, and may block.
    """

    def __init__(
        self,
        specs: Iterable[str] = (),
        apps: Mapping[str, str] | None = None,
        words: Callable[[Screen | Observation], UiTree | None] = lambda screen: screen.tree,
    ) -> None:
        self._apps = apps or {}
        self._words = words
        # Replaced and never changed, so that other threads may read it without a lock.
        self._all: tuple[Breakpoint, ...] = ()
        for spec in specs:
            self.add(spec)

    @property
    def all(self) -> tuple[Breakpoint, ...]:
        """All breakpoints in the order of their addition."""
        return self._all

    def add(self, spec: str) -> Breakpoint:
        """Add a breakpoint, or enable an existing one. Raise `LabError` if its spelling is wrong."""
        new = parse(spec)
        if new.kind == "app":
            self._check_app(spec, new.value)
        if any(point.spec == new.spec for point in self._all):
            self._all = tuple(new if point.spec == new.spec else point for point in self._all)
        else:
            self._all = (*self._all, new)
        return new

    def _check_app(self, spec: str, name: str) -> None:
        """Raise `LabError` for a bare name that no app of a known phone has: a typo would never match."""
        app_name = name.casefold()
        packages = {package.rpartition(".")[2] for package in self._apps.values()}
        # A dot makes it a package, which this phone need not have.
        if not self._apps or app_name in self._apps or app_name in packages or "." in app_name:
            return
        hint = suggestion(app_name, self._apps) or f"; there are {', '.join(sorted(self._apps))}"
        raise LabError(
            f"breakpoint {spec!r}", f"names no app of this phone{hint}",
            "Or write a whole package, as in app:com.example.shop.", code=2,
        )  # fmt: skip

    def toggle(self, spec: str) -> None:
        """Disable or enable a breakpoint."""
        self._all = tuple(
            msgspec.structs.replace(point, on=not point.on) if point.spec == spec else point for point in self._all
        )

    def remove(self, spec: str) -> None:
        """Remove a breakpoint."""
        self._all = tuple(point for point in self._all if point.spec != spec)

    def find_match(self, proposed: Proposed, screen: Screen, history: Sequence[Step]) -> Breakpoint | None:
        """Return the first enabled breakpoint that matches.

        Apps and words match when they appear, not while they stay.
        """
        return next(
            (point for point in self._all if point.on and self._matches(point, proposed, screen, history)), None
        )

    def _matches(self, point: Breakpoint, proposed: Proposed, screen: Screen, history: Sequence[Step]) -> bool:
        action, before = proposed.action, history[-1].before if history else None
        match point.kind:
            case "step":
                return len(history) + 1 == int(point.value)
            case "action":
                return action.kind == point.value
            case "ask":
                return action.kind == "ask_user" and point.value.casefold() in (action.text or "").casefold()
            case "app":
                was_there = before is not None and self._is_app_shown(before.activity, point.value)
                return self._is_app_shown(screen.activity, point.value) and not was_there
            case "text":
                was_there = _contains_words(self._words(screen), point.value)
                return was_there and not (before is not None and _contains_words(self._words(before), point.value))

    def matches_by_ocr(self, point: Breakpoint, screen: Screen) -> bool:
        """Return True if a matching breakpoint's words came from OCR of this screen."""
        return point.kind == "text" and is_from_ocr(self._words(screen))

    def _is_app_shown(self, activity: str, name: str) -> bool:
        app_name, package = name.casefold(), activity.partition("/")[0].casefold()
        app_package = self._apps.get(app_name, app_name)
        return app_name == activity.casefold() or package == app_package or package.endswith(f".{app_name}")


def _contains_words(tree: UiTree | None, words: str) -> bool:
    if tree is not None and is_from_ocr(tree):
        return any(line_contains(node.text, words) for node in tree.nodes())
    return tree is not None and bool(tree.find(contains=words))
