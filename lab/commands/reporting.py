"""The command report."""

from __future__ import annotations

import argparse


def report(args: argparse.Namespace) -> int:
    raise NotImplementedError
