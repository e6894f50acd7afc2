"""Builds the environment that an address leads to: one line for each kind."""

from __future__ import annotations

from lab.core.seams import Environment
from simulators.environments.address import read_address


def open_environment(text: str) -> Environment:
    """The environment at an address; nothing is asked of it yet. A `LabError` where that is no address."""
    address = read_address(text)
    if address.kind == "androidworld":
        from simulators.environments.androidworld import AndroidWorld

        return AndroidWorld(address)
    from simulators.environments.mobileworld import MobileWorld

    return MobileWorld(address)
