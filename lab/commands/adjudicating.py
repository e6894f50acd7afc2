"""The command adjudicate."""

from __future__ import annotations

import argparse


def adjudicate(args: argparse.Namespace) -> int:
    raise NotImplementedError
