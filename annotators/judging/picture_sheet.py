"""Several screens as one picture: side by side, each under its number."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from lab.core.run.run_records import Blob
from lab.core.values.safe_images import open_picture

if TYPE_CHECKING:
    from PIL.Image import Image

_HEAD, _GAP = 36, 12
"""Pixels above each screen for its number, and between screens."""
_LONGER_SIDE = 1024
"""Maximum pixels of a screen's longer side."""
_ROW = 6
"""Screens per row."""
_CACHED_SHEETS = 64
"""Number of cached sheets. A judge's runs, and each round of its batches, ask for the same ones again."""
_INK, _GROUND = (255, 255, 255), (32, 34, 40)


def picture_sheet(screens: Sequence[tuple[str, Blob]]) -> Blob | None:
    """Return titled screens in rows of six, as JPEG, or None if none of them can be read."""
    return _sheet(tuple(screens))


@lru_cache(maxsize=_CACHED_SHEETS)
def _sheet(screens: tuple[tuple[str, Blob], ...]) -> Blob | None:
    from PIL import Image as pictures
    from PIL import ImageDraw, ImageFont

    titled_pictures = [(title, picture) for title, blob in screens if (picture := _scaled_picture(blob)) is not None]
    if not titled_pictures:
        return None
    width = max(picture.width for _, picture in titled_pictures)
    height = max(picture.height for _, picture in titled_pictures)
    # Rounded up: the last row may be short.
    columns, rows = min(_ROW, len(titled_pictures)), -(-len(titled_pictures) // _ROW)
    size = columns * (width + _GAP) + _GAP, rows * (height + _HEAD + _GAP) + _GAP
    sheet = pictures.new("RGB", size, _GROUND)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=24)
    for at, (title, picture) in enumerate(titled_pictures):
        left = _GAP + at % _ROW * (width + _GAP)
        top = _GAP + at // _ROW * (height + _HEAD + _GAP)
        pen.text((left, top), title, _INK, font)
        sheet.paste(picture, (left, top + _HEAD))
    out = io.BytesIO()
    sheet.save(out, "JPEG", quality=85)
    return Blob(out.getvalue(), "image/jpeg")


def _scaled_picture(blob: Blob) -> Image | None:
    from PIL.Image import Resampling

    try:
        with open_picture(blob.data) as picture:
            part = min(1.0, _LONGER_SIDE / max(picture.size))
            size = max(1, round(picture.width * part)), max(1, round(picture.height * part))
            return picture.convert("RGB").resize(size, Resampling.LANCZOS)
    # Pillow raises any of these for damaged pictures. A damaged screen is left out.
    except (OSError, ValueError, SyntaxError):
        return None
