"""A practice item with its right answers, on which a rater tries the sheet before their first item."""

from __future__ import annotations

from typing import Any

import msgspec

from lab.core.codec import sha_of


class PracticeRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A run generated for practice: a built-in practice `task`, played by its own playbook or the one named here."""

    task: str
    playbook: str = ""


class PracticeAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The right answer at one place, and its `reason`. `target` is empty for the unit as a whole.

    `field` may be empty if the protocol has only one field.
    """

    value: Any
    field: str = ""
    target: str = ""
    reason: str = ""


class Practice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A protocol's practice item. Its answers do not count.

    `runs` are the runs to rate: one, or the two of a pair. `step` (from 1) is the step, or the step of the question, to
    rate. For a comparison of texts, `item` maps a locale to one line as `--items` takes it. `answers` are the right
    ones with their reasons.
    """

    answers: tuple[PracticeAnswer, ...]
    runs: tuple[PracticeRun, ...] = ()
    step: int | None = None
    item: dict[str, dict[str, Any]] = {}

    @property
    def sha(self) -> str:
        """Version: a hash of the whole item."""
        return sha_of(self)

    def line(self, locale: str) -> dict[str, Any]:
        """Return the texts to compare in a locale, or those in English or the first locale if it is missing."""
        for name in (locale, locale.partition("-")[0], "en", *self.item):
            if name in self.item:
                return self.item[name]
        return {}
