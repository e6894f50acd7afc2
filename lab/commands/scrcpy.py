"""`hitlab device scrcpy`: brings scrcpy's server, which makes a phone's pictures fast, to this machine."""

from __future__ import annotations

import argparse

import msgspec

from lab.output import print_json, say


class ServerFetched(msgspec.Struct, frozen=True):
    """A scrcpy server that is in the cache: `device scrcpy`. `fresh` is false where it was there already."""

    path: str
    version: str
    bytes: int
    sha256: str
    fresh: bool


def fetch(args: argparse.Namespace) -> int:
    """Fetches the pinned server, or says that it is there."""
    from lab.devices.scrcpy_release import DEFAULT
    from lab.devices.scrcpy_release import fetch as bring

    got = bring(args.version or DEFAULT, base=args.base or "")
    if args.json:
        print_json(ServerFetched(str(got.path), got.version, got.size, got.sha256, got.fresh))
    else:
        done = "fetched and checked" if got.fresh else "was there already, checked"
        say(f"scrcpy server {got.version}: {done} (SHA-256 {got.sha256[:12]}…, {got.size:,} bytes)\n{got.path}")
    return 0
