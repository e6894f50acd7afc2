"""Imported runs whose source lacks pictures: stored under an id of their own, which leaves room for the whole run.

Rows are never changed: the run with its pictures restored is another run, stored beside the incomplete one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from lab.core.run_records import Imported, whole_and_incomplete
from lab.core.trace import Started, Step
from store.formats.pictures import Pictures

_KEYED = "fingertip"
"""Format whose actions name pictures, even if the files do not exist."""


class MissingPictures(NamedTuple):
    """Number of missing or truncated pictures of a run, and the first by its step, with the reason if known."""

    pictures: int
    first: str


def missing_pictures(run: Imported) -> MissingPictures | None:
    """Return the missing pictures of a run that has a picture file per step, or None if complete or another kind."""
    places = list(_missing_places(run))
    return MissingPictures(len(places), places[0]) if places else None


def _missing_places(run: Imported) -> Iterator[str]:
    first = run.events[0]
    if not isinstance(run.images, Pictures) or not isinstance(first, Started) or first.source is None:
        return
    # Such a run may never have had pictures, so nothing is missing.
    if first.source.format == _KEYED and not run.images.from_files:
        return
    for event in run.events:
        if not isinstance(event, Step):
            continue
        image = event.before.image
        why = event.extra.get("screenshot") if image is None else run.images.truncated.get(image)
        if why or (image is None and run.images.from_files):
            yield f"step {event.index + 1} of {first.source.path}" + (f" ({why})" if isinstance(why, str) else "")


def as_incomplete(run: Imported) -> Imported:
    """Return the run under the id for incomplete runs."""
    first = run.events[0]
    assert isinstance(first, Started)
    return run._replace(events=[replace(first, trace=whole_and_incomplete(run.id)[1]), *run.events[1:]])
