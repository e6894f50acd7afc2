"""Factory of environments by address."""

from __future__ import annotations

from lab.core.seams import Environment
from simulators.environments.address import read_address


def open_environment(text: str) -> Environment:
    """Return the environment at an address, without contacting it. Raise `LabError` if the address is invalid."""
    address = read_address(text)
    if address.kind == "androidworld":
        from simulators.environments.androidworld import AndroidWorld

        return AndroidWorld(address)
    from simulators.environments.mobileworld import MobileWorld

    return MobileWorld(address)
