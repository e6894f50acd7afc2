"""Select runs by `all`, ids or filter words, as `hitlab runs list` takes them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.run.run_records import check_tag

if TYPE_CHECKING:
    from store.store import Store

_FILTER = re.compile(r"-?[A-Za-z_]+(:|<=|>=|!=|<|>|=)")
"""A word of a filter, which cannot be an id."""
EVERY = "all"


def is_filter(word: str) -> bool:
    """Return True if a word belongs to a filter and is not a run's id."""
    return _FILTER.match(word) is not None


def runs_by_id(store: Store, words: Sequence[str]) -> list[str]:
    """Return the runs that ids or their prefixes name, archived ones too, nothing for `all` or a filter.

    Raise `LabError` if an id names no run, or if ids and a filter are mixed.
    """
    ids = [word for word in words if word != EVERY and not is_filter(word)]
    if ids and len(ids) < len(words):
        raise LabError("runs", "names runs and a filter; it is one or the other", code=2)
    return list(dict.fromkeys(map(store.runs.find, ids)))


def runs_matching(store: Store, words: Sequence[str], *, archived: bool = False) -> list[str]:
    """Return the runs that a filter matches (`all` or no word: every run), the oldest in this file first.

    They are those in the lists, or with `archived` only archived ones. Raise `LabError` for an invalid filter.
    """
    from lab.runs.listing.run_filter import parse_filter
    from lab.runs.listing.run_rows import cost_of, entry

    try:
        run_filter = parse_filter(" ".join(word for word in words if word != EVERY))
    except LabError as error:
        raise LabError("runs", error.message, error.hint, code=2) from error
    entries = [entry(row) for row in reversed(store.runs.rows(-1)) if row.archived is archived]
    costs = (
        {case.id: cost_of(case) for case in store.runs.measured([candidate.run.id for candidate in entries])}
        if run_filter.needs_costs
        else {}
    )
    return [candidate.run.id for candidate in entries if run_filter.fits(candidate, costs)]


def with_tag(words: Collection[str], tag: str | None) -> list[str]:
    """Return the words of a filter, extended by a required tag if one is named."""
    return [*words, *([f"tag={check_tag(tag)}"] if tag is not None else [])]
