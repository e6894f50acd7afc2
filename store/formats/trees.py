"""UI trees in files beside a run: repaired if damaged, counted if lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.core.errors import LabError
from lab.core.run.tree_xml import ParsedTree, parse_tree
from store.formats import RunSource
from store.formats.files import read_within, unreadable_reason

_MOST = 64 * 1024**2


def tree_in(
    source: RunSource, path: Path | None, extra: dict[str, Any], spelled: Callable[[bytes], bytes] = bytes
) -> ParsedTree | None:
    """Return the tree in a file, converted by `spelled` to uiautomator's XML, or None if missing or unreadable.

    The reason is stored in `extra["tree"]`, by which it is counted.
    """
    if path is None:
        return None
    try:
        read = parse_tree(spelled(read_within(source.root, path, most=_MOST)), str(path))
    except LabError as error:
        extra["tree"] = unreadable_reason(path, error)
        return None
    if read.mended:
        source.fallbacks.add("mended tree", path, read.mended)
    return read
