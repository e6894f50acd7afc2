"""Checks of the option --budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.text.plain_text import plain

if TYPE_CHECKING:
    from lab.llm.client import Llm


def check_budget(command: str, budget: float | None) -> None:
    """Raise `LabError` if a budget is not a sum of dollars."""
    if budget is not None and not 0 < budget < float("inf"):
        raise LabError(command, f"--budget {budget:g} is no sum of dollars.", code=2)


def check_priced(command: str, llm: Llm) -> None:
    """Raise `LabError` if the model's price is unknown, so that a budget cannot hold."""
    if llm.prices() is None:
        hint = "Set model_price_in and model_price_out: US dollars for a million tokens."
        raise LabError(command, f"--budget: nobody knows what {plain(llm.model)} costs.", hint)
