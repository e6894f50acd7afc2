"""Configurations of judges: model, method, terms and examples, as each signed them when it began."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from lab.core.study.label import Act

HIDDEN_OUTCOME = ["outcome"]
"""Value of `hide` in the configuration of a judge that does not see how a run ended."""


def judge_configs(acts: Iterable[Act], judge: str) -> Iterator[Mapping[str, Any]]:
    """Yield the configurations stored in a judge's acts, the oldest first, without damaged or foreign ones."""
    for act in acts:
        if act.act == "sat" and act.rater.id == judge and isinstance(text := act.detail.get("config"), str):
            try:
                config = msgspec.json.decode(text)
            # Configurations of other programs are texts of any kind.
            except msgspec.DecodeError:
                continue
            if isinstance(config, dict):
                yield config


def examples_in(acts: Iterable[Act], judge: str) -> list[str]:
    """Return the units that a judge received as examples, in order, empty if there were none."""
    return [id for config in judge_configs(acts, judge) for id, _ in config.get("examples", ())]


def hides_outcome(acts: Iterable[Act], judge: str) -> bool:
    """Return True if a judge's last configuration hid a run's outcome though its study shows it."""
    return [config.get("hide") for config in judge_configs(acts, judge)][-1:] == [HIDDEN_OUTCOME]


def config_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return the terms in which two configurations differ, with both values if they are short: `tokens: 5, now 6`."""
    changes = []
    for name in sorted(before.keys() | now.keys()):
        old, new = (_value_words(config.get(name)) for config in (before, now))
        if before.get(name) != now.get(name):
            changes.append(f"{name}: {old}, now {new}" if old and new else name)
    return "; ".join(changes)


def _value_words(value: Any) -> str:
    """Return a value of a configuration in a few words, empty if it is longer."""
    words = "nothing" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return words if len(words) <= 60 else ""
