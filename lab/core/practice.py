"""A practice item: what a rater tries the sheet on before their first item, and what is right there."""

from __future__ import annotations

from typing import Any

import msgspec

from lab.core.codec import sha_of


class PracticeRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A run that is made where it is shown: a built-in practice `task`, played by its playbook or one of that name."""

    task: str
    playbook: str = ""


class PracticeAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is right at a place, and the `reason`; `target` is empty where the unit as a whole is asked.

    In `field` the protocol's only field may be left out.
    """

    value: Any
    field: str = ""
    target: str = ""
    reason: str = ""


class Practice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The practice item of a protocol; it counts nowhere.

    `runs` are what is rated: one, or the two of a pair. Of a step (or a question) `step` says which, from 1. Where
    texts are compared, `item` is a line of them as `--items` takes it, by locale. `answers` are what is right, and why.
    """

    answers: tuple[PracticeAnswer, ...]
    runs: tuple[PracticeRun, ...] = ()
    step: int | None = None
    item: dict[str, dict[str, Any]] = {}

    @property
    def sha(self) -> str:
        """Its version: a hash of all of it."""
        return sha_of(self)

    def line(self, locale: str) -> dict[str, Any]:
        """The texts that are compared, in that locale; English, or the first there are, where it has none."""
        for name in (locale, locale.partition("-")[0], "en", *self.item):
            if name in self.item:
                return self.item[name]
        return {}
