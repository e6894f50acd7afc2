"""Every command of the served phone's shell, by name."""

from __future__ import annotations

from simulators.phone.served.commands import (
    activities,
    dumpsys,
    filing,
    filtering,
    input,
    packages,
    running,
    seeing,
    settings,
    words,
)
from simulators.phone.served.commands.call import Command

COMMANDS: dict[str, Command] = {
    **words.COMMANDS,
    **filing.COMMANDS,
    **filtering.COMMANDS,
    **input.COMMANDS,
    **seeing.COMMANDS,
    **dumpsys.COMMANDS,
    **packages.COMMANDS,
    **activities.COMMANDS,
    **settings.COMMANDS,
    **running.COMMANDS,
}
