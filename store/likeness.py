"""Whether the same part of two pictures shows the same, be it dimmed or lit otherwise."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.records import Blob
from lab.uitree import Bounds

if TYPE_CHECKING:
    from PIL.Image import Image

_LEAST = 0.8
"""Correlation of brightness from which on two parts are alike; another text on the same ground stays well below."""
_FLAT = 2.0
"""Standard deviation of brightness, 0 to 255, below which a part shows nothing."""
_KEPT = 4


class Likeness:
    """Compares parts of pictures by their sha256; the last few stay decoded."""

    def __init__(self, blob: Callable[[str], Blob | None]) -> None:
        self._blob = blob
        self._grey: OrderedDict[str, Image | None] = OrderedDict()

    def __call__(self, first: str, second: str, part: Bounds) -> bool:
        """Whether both pictures, of the same size, show the same in this part."""
        import numpy as np

        one, other = self._picture(first), self._picture(second)
        if one is None or other is None or one.size != other.size:
            return False
        box = part.cut(Bounds(0, 0, *one.size))
        if not box.area:
            return False
        a, b = (
            np.asarray(image.crop((box.left, box.top, box.right, box.bottom)), np.float64) for image in (one, other)
        )
        spread = float(a.std()), float(b.std())
        if min(spread) < _FLAT:
            return False
        return float(((a - a.mean()) * (b - b.mean())).mean()) / (spread[0] * spread[1]) >= _LEAST

    def _picture(self, sha256: str) -> Image | None:
        if sha256 not in self._grey:
            self._grey[sha256] = self._read(sha256)
            if len(self._grey) > _KEPT:
                self._grey.popitem(last=False)
        self._grey.move_to_end(sha256)
        return self._grey[sha256]

    def _read(self, sha256: str) -> Image | None:
        from PIL import Image

        blob = self._blob(sha256)
        if blob is None:
            return None
        try:
            with Image.open(io.BytesIO(blob.data)) as opened:
                return opened.convert("L")
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return None
