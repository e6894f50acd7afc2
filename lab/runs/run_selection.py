"""Which runs words name, wherever runs are named by ids or by a filter: `all`, ids, or words as `hitlab runs` takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.run_records import check_tag

if TYPE_CHECKING:
    from store.store import Store

_FILTER = re.compile(r"-?[A-Za-z_]+(:|<=|>=|!=|<|>|=)")
"""A word of a filter, which no id is."""
EVERY = "all"


def is_filter(word: str) -> bool:
    """Whether a word is one of a filter, and no run's id."""
    return _FILTER.match(word) is not None


def named_runs(store: Store, words: Sequence[str]) -> list[str]:
    """The runs that ids, or beginnings of ids, name; none of `all` and of a filter. Archived ones are named as others.

    Raises `LabError` where an id leads to no run, and where there are ids and a filter.
    """
    ids = [word for word in words if word != EVERY and not is_filter(word)]
    if ids and len(ids) < len(words):
        raise LabError("runs", "names runs and a filter; it is one or the other", code=2)
    return list(dict.fromkeys(map(store.runs.find, ids)))


def fitting_runs(store: Store, words: Sequence[str], *, archived: bool = False) -> list[str]:
    """The runs that a filter finds (`all`, or no word: every one), the oldest in this file first.

    Those of the lists alone, or with `archived` those that are archived alone. Raises `LabError` where a filter
    cannot be read.
    """
    from lab.runs.run_filter import read
    from lab.runs.run_rows import cost_of, entry

    try:
        run_filter = read(" ".join(word for word in words if word != EVERY))
    except LabError as error:
        raise LabError("runs", error.message, error.hint, code=2) from error
    entries = [entry(row) for row in reversed(store.runs.rows(-1)) if row.archived is archived]
    costs = (
        {case.id: cost_of(case) for case in store.runs.measured([it.run.id for it in entries])}
        if run_filter.costly
        else {}
    )
    return [it.run.id for it in entries if run_filter.fits(it, costs)]


def with_tag(words: Collection[str], tag: str | None) -> list[str]:
    """The words of a filter, with the tag that runs have to bear besides, where one is named."""
    return [*words, *([f"tag={check_tag(tag)}"] if tag is not None else [])]
