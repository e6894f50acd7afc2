"""Every command of the served phone's shell, by name."""

from __future__ import annotations

from simulators.phone.served.commands import (
    activities,
    dumpsys,
    files,
    filters,
    input,
    packages,
    processes,
    screen,
    settings,
    text,
)
from simulators.phone.served.commands.call import Command, CommandCall, encoded


def which(call: CommandCall) -> int:
    """Print the path of each command. Return 1 if one of them is unknown."""
    names = [name for name in call.args if not name.startswith("-")]
    names_known = [name for name in names if name in COMMANDS]
    for name in names_known:
        call.io.write_output(encoded(f"/system/bin/{name}\n"))
    return int(len(names_known) < len(names))


COMMANDS: dict[str, Command] = {
    **text.COMMANDS,
    **files.COMMANDS,
    **filters.COMMANDS,
    **input.COMMANDS,
    **screen.COMMANDS,
    **dumpsys.COMMANDS,
    **packages.COMMANDS,
    **activities.COMMANDS,
    **settings.COMMANDS,
    **processes.COMMANDS,
    **dict.fromkeys(("which", "command", "type"), which),
}
