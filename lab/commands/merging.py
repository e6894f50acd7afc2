"""The command merge."""

from __future__ import annotations

import argparse


def merge(args: argparse.Namespace) -> int:
    raise NotImplementedError
