"""Where an endpoint is asked, as those who answer at it are told."""

from __future__ import annotations

from typing import NamedTuple


class EndpointPlace(NamedTuple):
    """Where a program is asked: the clients' base URL, and what they must know.

    `close_after` is after which silence conversations are ended, in words; empty where they are not.
    """

    base: str
    notes: tuple[str, ...] = ()
    close_after: str = ""
