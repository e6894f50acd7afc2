"""A cache of drawn pictures, bounded by the memory that they take and not by their number."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import TYPE_CHECKING, Generic, ParamSpec

if TYPE_CHECKING:
    from PIL.Image import Image

Arguments = ParamSpec("Arguments")


class PictureCache:
    """Pictures by key, up to `most` bytes of pixels; the one that was used longest ago goes first."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._pictures: OrderedDict[Hashable, Image] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes of pixels that are kept now."""
        return self._size

    def get(self, key: Hashable) -> Image | None:
        """The picture of a key, or None where none is kept."""
        with self._lock:
            picture = self._pictures.get(key)
            if picture is not None:
                self._pictures.move_to_end(key)
            return picture

    def put(self, key: Hashable, picture: Image) -> None:
        """Keeps a picture, and forgets others while all together are too large; one too large alone is not kept."""
        with self._lock:
            self._forget(key)
            if picture_bytes(picture) > self._most:
                return
            self._pictures[key] = picture
            self._size += picture_bytes(picture)
            while self._size > self._most:
                self._forget(next(iter(self._pictures)))

    def _forget(self, key: Hashable) -> None:
        if (picture := self._pictures.pop(key, None)) is not None:
            self._size -= picture_bytes(picture)


def picture_bytes(picture: Image) -> int:
    """What the pixels of a picture take: Pillow keeps one of several bands in four bytes each."""
    return picture.width * picture.height * (4 if len(picture.getbands()) > 1 else 1)


class KeptPictures(Generic[Arguments]):
    """A function that draws, and the pictures that it drew."""

    def __init__(self, draw: Callable[Arguments, Image], most: int) -> None:
        update_wrapper(self, draw)
        self._draw, self._most = draw, most
        self._cache = PictureCache(most)

    def __call__(self, *args: Arguments.args, **more: Arguments.kwargs) -> Image:
        key = (args, tuple(sorted(more.items())))
        picture = self._cache.get(key)
        if picture is None:
            picture = self._draw(*args, **more)
            self._cache.put(key, picture)
        return picture

    def cache_clear(self) -> None:
        """Forgets every picture, as `functools.lru_cache` has it."""
        self._cache = PictureCache(self._most)


def keep_pictures(megabytes: int) -> Callable[[Callable[Arguments, Image]], KeptPictures[Arguments]]:
    """Has a function that draws by its arguments alone give a picture again that it has drawn, as far as memory goes.

    Nobody may draw in what it gives. Its arguments are hashable.
    """
    return lambda draw: KeptPictures(draw, megabytes * 1_000_000)
