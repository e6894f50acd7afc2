"""FingerTip-20K's accessibility trees: the recording app's own attributes, read as uiautomator spells them."""

from __future__ import annotations

import re
from pathlib import Path

from lab.core.ui_tree import UiTree
from store.formats.files import read_within

_MOST = 64 * 1024**2
_BOUNDS = re.compile(rb'\bbounds="(?:Rect\()?\s*\[?(-?\d+)[,\s]+(-?\d+)\D+?(-?\d+)[,\s]+(-?\d+)[\])]*"')
_NAMES = ((b' content_desc="', b' content-desc="'), (b' view_id="', b' resource-id="'))


def tree_in(path: Path, root: Path) -> UiTree:
    """A tree, from `content_desc`, `view_id` and bounds as an Android `Rect`, or from a uiautomator dump as it is."""
    data = read_within(root, path, most=_MOST)
    for theirs, ours in _NAMES:
        data = data.replace(theirs, ours)
    return UiTree.from_xml(_BOUNDS.sub(rb'bounds="[\1,\2][\3,\4]"', data), str(path))
