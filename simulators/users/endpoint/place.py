"""Address of an endpoint, as shown to the people who answer there."""

from __future__ import annotations

from typing import NamedTuple


class EndpointPlace(NamedTuple):
    """Base URL for clients, and notes about it.

    `close_after` states in words the silence after which conversations end, empty if they do not.
    """

    base: str
    notes: tuple[str, ...] = ()
    close_after: str = ""
