"""A study read from a file for reports and agreement."""

from __future__ import annotations

from annotators.studied import Studied
from lab.agreement import Agreement, How
from lab.study import Study
from store.store import Store


def gathered(store: Store, study: Study, how: How = How()) -> Studied:  # noqa: B008  # frozen
    """All that agreement and reports read of a study."""
    raise NotImplementedError


def agreed(store: Store, study: Study, how: How = How()) -> list[Agreement]:  # noqa: B008  # frozen
    """The study's agreements; as they were computed before where nothing came in since."""
    raise NotImplementedError
