"""A cache of drawn pictures, bounded by the memory that they take and not by their number."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Generic, ParamSpec

from simulators.phone.sized_cache import SizedCache

if TYPE_CHECKING:
    from PIL.Image import Image

Arguments = ParamSpec("Arguments")


def picture_bytes(picture: Image) -> int:
    """What the pixels of a picture take: Pillow keeps one of several bands in four bytes each."""
    return picture.width * picture.height * (4 if len(picture.getbands()) > 1 else 1)


class KeptPictures(Generic[Arguments]):
    """A function that draws, and the pictures that it drew."""

    def __init__(self, draw: Callable[Arguments, Image], most: int) -> None:
        update_wrapper(self, draw)
        self._draw, self._most = draw, most
        self.cache_clear()

    def __call__(self, *args: Arguments.args, **more: Arguments.kwargs) -> Image:
        key = (args, tuple(sorted(more.items())))
        picture = self._cache.get(key)
        if picture is None:
            picture = self._draw(*args, **more)
            self._cache.put(key, picture)
        return picture

    def cache_clear(self) -> None:
        """Forgets every picture, as `functools.lru_cache` has it."""
        self._cache = SizedCache(self._most, picture_bytes)


def keep_pictures(megabytes: int) -> Callable[[Callable[Arguments, Image]], KeptPictures[Arguments]]:
    """Has a function that draws by its arguments alone give a picture again that it has drawn, as far as memory goes.

    Nobody may draw in what it gives. Its arguments are hashable.
    """
    return lambda draw: KeptPictures(draw, megabytes * 1_000_000)
