"""The command agreement."""

from __future__ import annotations

import argparse


def agreement(args: argparse.Namespace) -> int:
    raise NotImplementedError
