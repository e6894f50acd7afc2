"""Password fields in a picture: where a tree says they are, painted over."""

from __future__ import annotations

import io
from collections.abc import Iterable

from lab.uitree import Bounds, UiTree

_COLOUR = (96, 96, 96)


def password_boxes(*trees: UiTree) -> list[Bounds]:
    """Where the password fields of these trees are."""
    return [node.bounds for tree in trees for node in tree.nodes() if node.password and node.bounds.area]


def painted_over(png: bytes, places: Iterable[Bounds]) -> bytes:
    """The picture with these boxes filled, as PNG; the very bytes where there is none."""
    places = list(places)
    if not places:
        return png
    from PIL import Image

    with Image.open(io.BytesIO(png)) as opened:
        picture = opened.convert("RGB")
    whole = Bounds(0, 0, *picture.size)
    for place in places:
        left, top, right, bottom = place.cut(whole)
        picture.paste(_COLOUR, (left, top, right, bottom))
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()
