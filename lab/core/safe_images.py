"""Opening a stranger's picture: its header is read, and what has more pixels than any screen is never decoded."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from lab.core.limits import PICTURE_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image


def too_large(size: tuple[int, int] | None) -> str:
    """Why a picture of so many pixels is not decoded; empty where it is."""
    if size is None or size[0] * size[1] <= PICTURE_PIXELS:
        return ""
    return f"is a picture of {size[0]:,} x {size[1]:,} pixels, more than the {PICTURE_PIXELS:,} that are decoded"


def open_picture(data: bytes) -> Image:
    """A PNG or JPEG, not yet decoded; `ValueError` or `OSError` where it is none or too large. Close it."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # ours is asked first; PIL's prints a warning into the terminal
    image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
    if reason := too_large(image.size):
        image.close()
        raise ValueError(reason)
    return image
