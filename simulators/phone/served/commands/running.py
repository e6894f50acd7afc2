"""Commands that run others: `cmd SERVICE ...`, `app_process`, `service`, `timeout`, `reboot`."""

from __future__ import annotations

import posixpath

from simulators.phone.served.commands import activities, input, packages, seeing, settings
from simulators.phone.served.commands.call import Call, Command, Refused

_SERVER = "com.genymobile.scrcpy.Server"


def app_process(call: Call) -> int:
    """Runs a class of the jar at CLASSPATH: this phone knows scrcpy's server."""
    words = [arg for arg in call.args if not arg.startswith("-")]
    jar = call.environment.get("CLASSPATH", "")
    if len(words) < 2 or words[1] != _SERVER:
        named = words[1] if len(words) > 1 else ""
        call.complain(f"Error: could not find class '{named}'")
        raise Refused("Aborted", 134)
    from simulators.phone.served import scrcpy

    return scrcpy.serve(call.services, posixpath.normpath(call.path(jar)), words[2:], call.io)


def cmd(call: Call) -> int:
    if not call.args:
        raise Refused("cmd: No service specified; use -l to list all running services", 20)
    name, *args = call.args
    if name in ("-l", "-w"):
        call.say("Currently running services:\n" + "\n".join(f"  {known}" for known in sorted(_COMMANDED)))
        return 0
    if name == "clipboard":
        call.say("No shell command implementation.")
        return 0
    if name not in _COMMANDED:
        raise Refused(f"cmd: Can't find service: {name}", 20)
    return _COMMANDED[name](call.again(args, name))


def _statusbar(call: Call) -> int:
    match call.args:
        case ["expand-notifications" | "expand-settings"]:
            call.display.pull(down=True)
        case ["collapse"]:
            call.display.pull(down=False)
        case _:
            raise Refused(f"Unknown command: {' '.join(call.args)}", 255)
    return 0


def _connectivity(call: Call) -> int:
    match call.args:
        case ["airplane-mode", "enable" | "disable" as word]:
            settings.switch(call, "airplane_mode", word == "enable")
        case ["airplane-mode"]:
            call.say("enabled" if settings.value(call, "global", "airplane_mode_on") == "1" else "disabled")
        case _:
            raise Refused(f"Unknown command: {' '.join(call.args)}", 255)
    return 0


def service(call: Call) -> int:
    if call.args[:1] == ["check"] and len(call.args) > 1:
        known = call.args[1] in _COMMANDED or call.args[1] == "clipboard"
        call.say(f"Service {call.args[1]}: {'found' if known else 'not found'}")
        return 0
    raise Refused("service: this phone answers no transactions", 255)


def getevent(call: Call) -> int:
    call.say('add device 1: /dev/input/event1\n  name:     "lantern_touch"')
    call.wait(float("inf"))
    return 0


_COMMANDED: dict[str, Command] = {
    "package": packages.pm, "activity": activities.am, "window": seeing.wm, "input": input.input_,
    "input_method": settings.ime, "settings": settings.settings, "statusbar": _statusbar,
    "connectivity": _connectivity,
}  # fmt: skip
COMMANDS: dict[str, Command] = {
    "app_process": app_process, "cmd": cmd, "service": service, "getevent": getevent,
}  # fmt: skip
