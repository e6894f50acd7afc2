"""The UI tree of a file beside a run: mended where it is damaged, and counted where it is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.core.errors import LabError
from lab.core.tree_xml import ReadTree, read_tree
from store.formats import RunSource
from store.formats.files import read_within, unread

_MOST = 64 * 1024**2


def tree_in(
    source: RunSource, path: Path | None, extra: dict[str, Any], spelled: Callable[[bytes], bytes] = bytes
) -> ReadTree | None:
    """The tree of a file, `spelled` as uiautomator spells it; None where there is none, or none that can be read.

    Why it could not be read is put into `extra` as `tree`, by which it is counted.
    """
    if path is None:
        return None
    try:
        read = read_tree(spelled(read_within(source.root, path, most=_MOST)), str(path))
    except LabError as error:
        extra["tree"] = unread(path, error)
        return None
    if read.mended:
        source.fallbacks.add("mended tree", path, read.mended)
    return read
