"""How a judge was asked: model, method, terms and examples, as it signed them when it began."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from lab.core.label import Act


def judge_configs(acts: Iterable[Act], judge: str) -> Iterator[Mapping[str, Any]]:
    """What a judge's acts tell of how it was asked, as far as that is kept and is ours; the oldest first."""
    for act in acts:
        if act.act == "sat" and act.rater.id == judge and isinstance(text := act.detail.get("config"), str):
            try:
                config = msgspec.json.decode(text)
            except msgspec.DecodeError:
                continue
            if isinstance(config, dict):
                yield config


def examples_in(acts: Iterable[Act], judge: str) -> list[str]:
    """The units that a judge was told with their right answers, in the order in which it was; none where none were."""
    return [id for config in judge_configs(acts, judge) for id, _ in config.get("examples", ())]
