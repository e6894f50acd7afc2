"""Imported runs whose source lacks pictures: they come in under an id of their own, and leave room for the whole ones.

Rows are never changed: the run whose pictures were put back is another run, beside the one that came in without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from lab.core.run_records import Imported, whole_and_incomplete
from lab.core.trace import Started, Step
from store.formats.pictures import Pictures

_KEYED = "fingertip"
"""The format whose actions are named after pictures, whether there are any or not."""


class MissingPictures(NamedTuple):
    """How many pictures a run's source lacks, or holds in part; the first by its step, and why where that is told."""

    pictures: int
    first: str


def missing_pictures(run: Imported) -> MissingPictures | None:
    """What is missing of a run from files with a picture for each step; None where nothing is, or it has no such."""
    places = list(_places(run))
    return MissingPictures(len(places), places[0]) if places else None


def _places(run: Imported) -> Iterator[str]:
    first = run.events[0]
    if not isinstance(run.images, Pictures) or not isinstance(first, Started) or first.source is None:
        return
    if first.source.format == _KEYED and not run.images.from_files:
        return
    for event in run.events:
        if not isinstance(event, Step):
            continue
        image = event.before.image
        why = event.extra.get("screenshot") if image is None else run.images.cut.get(image)
        if why or (image is None and run.images.from_files):
            yield f"step {event.index + 1} of {first.source.path}" + (f" ({why})" if isinstance(why, str) else "")


def as_incomplete(run: Imported) -> Imported:
    """The run under the id that leaves room for the whole one."""
    first = run.events[0]
    assert isinstance(first, Started)
    return run._replace(events=[replace(first, trace=whole_and_incomplete(run.id)[1]), *run.events[1:]])
