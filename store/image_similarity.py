"""Similarity of the same area in two pictures, independent of brightness."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.core.run_records import Blob
from lab.core.safe_images import open_picture
from lab.core.ui_tree import Bounds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

_MIN_CORRELATION = 0.85
"""Minimum correlation of brightness of similar pieces. Different text on the same background stays well below."""
_MIN_DEVIATION = 2.0
"""Standard deviation of brightness (0 to 255) below which a piece counts as empty."""
_MARGIN_SHARE = 0.2
"""Share of an area's height cut off above and below: its frame, or an overlay's edge."""
_CACHE_SIZE = 4


class AreaComparison:
    """Compares areas of pictures by sha256. Caches the last few decoded pictures."""

    def __init__(self, blob: Callable[[str], Blob | None]) -> None:
        self._blob = blob
        self._grey: OrderedDict[str, Image | None] = OrderedDict()

    def __call__(self, first: str, second: str, part: Bounds) -> bool:
        """Return True if both pictures have one size and any non-empty piece of the area is similar in both."""
        import numpy as np

        image_a, image_b = self._grey_image(first), self._grey_image(second)
        if image_a is None or image_b is None or image_a.size != image_b.size:
            return False
        box = part.intersection(Bounds(0, 0, *image_a.size))
        a, b = (
            np.asarray(image.crop((box.left, box.top, box.right, box.bottom)), np.float64)
            for image in (image_a, image_b)
        )
        edge = int(box.height * _MARGIN_SHARE)
        a, b = a[edge : box.height - edge], b[edge : box.height - edge]
        wide = max(8, box.height)
        return any(_correlates(a[:, at : at + wide], b[:, at : at + wide]) for at in range(0, box.width, wide))

    def _grey_image(self, sha256: str) -> Image | None:
        if sha256 not in self._grey:
            self._grey[sha256] = self._decode(sha256)
            if len(self._grey) > _CACHE_SIZE:
                self._grey.popitem(last=False)
        self._grey.move_to_end(sha256)
        return self._grey[sha256]

    def _decode(self, sha256: str) -> Image | None:
        blob = self._blob(sha256)
        if blob is None:
            return None
        try:
            with open_picture(blob.data) as picture:
                return picture.convert("L")
        except (OSError, ValueError, SyntaxError):
            return None


def _correlates(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return True if the brightness of two pieces correlates and neither is flat."""
    if not a.size:
        return False
    deviation_a, deviation_b = float(a.std()), float(b.std())
    if min(deviation_a, deviation_b) < _MIN_DEVIATION:
        return False
    return float(((a - a.mean()) * (b - b.mean())).mean()) / (deviation_a * deviation_b) >= _MIN_CORRELATION
