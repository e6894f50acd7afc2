"""FingerTip-20K's accessibility trees: conversion of the recording app's attributes to uiautomator's."""

from __future__ import annotations

import re

_BOUNDS = re.compile(rb'\bbounds="(?:Rect\()?\s*\[?(-?\d+)[,\s]+(-?\d+)\D+?(-?\d+)[,\s]+(-?\d+)[\])]*"')
_NAMES = ((b' content_desc="', b' content-desc="'), (b' view_id="', b' resource-id="'))


def as_uiautomator_dump(data: bytes) -> bytes:
    """Return a tree with `content_desc`, `view_id` and bounds as an Android `Rect`, converted to a uiautomator dump."""
    for theirs, ours in _NAMES:
        data = data.replace(theirs, ours)
    return _BOUNDS.sub(rb'bounds="[\1,\2][\3,\4]"', data)
