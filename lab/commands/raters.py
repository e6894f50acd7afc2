"""The command raters."""

from __future__ import annotations

import argparse


def raters(args: argparse.Namespace) -> int:
    raise NotImplementedError
