"""A cache of drawn pictures, bounded by their memory instead of their number."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Generic, ParamSpec

from simulators.phone.kit.sized_cache import SizedCache

if TYPE_CHECKING:
    from PIL.Image import Image

Arguments = ParamSpec("Arguments")


def picture_bytes(picture: Image) -> int:
    """Return the bytes of a picture's pixels. Pillow stores pictures of several bands in four bytes a pixel."""
    return picture.width * picture.height * (4 if len(picture.getbands()) > 1 else 1)


class KeptPictures(Generic[Arguments]):
    """A drawing function with a cache of its pictures."""

    def __init__(self, draw: Callable[Arguments, Image], most: int) -> None:
        update_wrapper(self, draw)
        self._draw, self._most = draw, most
        self.cache_clear()

    def __call__(self, *args: Arguments.args, **more: Arguments.kwargs) -> Image:
        key = (args, tuple(sorted(more.items())))
        picture = self._cache.get(key)
        # Two threads may draw the same picture at once. Both results are equal, so there is no lock.
        if picture is None:
            picture = self._draw(*args, **more)
            self._cache.store(key, picture)
        return picture

    def cache_clear(self) -> None:
        """Drop every picture. Named after `functools.lru_cache`'s method."""
        self._cache = SizedCache(self._most, picture_bytes)


def keep_pictures(megabytes: int) -> Callable[[Callable[Arguments, Image]], KeptPictures[Arguments]]:
    """Cache the pictures of a function that depends on its arguments alone, up to a number of megabytes.

    Callers must not draw in the result: it is shared. The arguments must be hashable.
    """
    return lambda draw: KeptPictures(draw, megabytes * 1_000_000)
