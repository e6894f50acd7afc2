"""Commands that run others: `cmd SERVICE ...`, `app_process`, `service`, `timeout`, `reboot`."""

from __future__ import annotations

import posixpath

from simulators.phone.kit.theme import HEIGHT, WIDTH
from simulators.phone.served.commands import activities, input, packages, screen, settings
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused

_SERVER = "com.genymobile.scrcpy.Server"


def app_process(call: CommandCall) -> int:
    """Run a class of the jar at CLASSPATH. This phone knows only scrcpy's server."""
    words = [arg for arg in call.args if not arg.startswith("-")]
    jar = call.environment.get("CLASSPATH", "")
    if len(words) < 2 or words[1] != _SERVER:
        class_name = words[1] if len(words) > 1 else ""
        call.complain(f"Error: could not find class '{class_name}'")
        raise CommandRefused("Aborted", 134)
    from simulators.phone.served import scrcpy

    return scrcpy.serve(call.services, posixpath.normpath(call.path(jar)), words[2:], call.io)


def cmd(call: CommandCall) -> int:
    if not call.args:
        raise CommandRefused("cmd: No service specified; use -l to list all running services", 20)
    name, *args = call.args
    if name in ("-l", "-w"):
        call.say(
            "Currently running services:\n" + "\n".join(f"  {service_name}" for service_name in sorted(_COMMANDED))
        )
        return 0
    if name == "clipboard":
        call.say("No shell command implementation.")
        return 0
    if name not in _COMMANDED:
        raise CommandRefused(f"cmd: Can't find service: {name}", 20)
    return _COMMANDED[name](call.with_args(args, name))


def _statusbar(call: CommandCall) -> int:
    match call.args:
        case ["expand-notifications" | "expand-settings"]:
            call.display.pull(down=True)
        case ["collapse"]:
            call.display.pull(down=False)
        case _:
            raise CommandRefused(f"Unknown command: {' '.join(call.args)}", 255)
    return 0


def _connectivity(call: CommandCall) -> int:
    match call.args:
        case ["airplane-mode", "enable" | "disable" as word]:
            settings.switch(call, "airplane_mode", word == "enable")
        case ["airplane-mode"]:
            call.say("enabled" if settings.value(call, "global", "airplane_mode_on") == "1" else "disabled")
        case _:
            raise CommandRefused(f"Unknown command: {' '.join(call.args)}", 255)
    return 0


def service(call: CommandCall) -> int:
    if call.args[:1] == ["check"] and len(call.args) > 1:
        exists = call.args[1] in _COMMANDED or call.args[1] == "clipboard"
        call.say(f"Service {call.args[1]}: {'found' if exists else 'not found'}")
        return 0
    raise CommandRefused("service: this phone answers no transactions", 255)


_AXES = (
    (0x2F, "ABS_MT_SLOT", 9), (0x35, "ABS_MT_POSITION_X", WIDTH - 1), (0x36, "ABS_MT_POSITION_Y", HEIGHT - 1),
    (0x39, "ABS_MT_TRACKING_ID", 65535), (0x3A, "ABS_MT_PRESSURE", 255),
)  # fmt: skip


def getevent(call: CommandCall) -> int:
    """Print touches as they arrive. `-p` describes the touchscreen, `-i` adds its identity."""
    call.say('add device 1: /dev/input/event1\n  name:     "lantern_touch"')
    flags = "".join(arg[1:] for arg in call.args if arg.startswith("-"))
    if "p" in flags or "i" in flags:
        for number, (code, name, most) in enumerate(_AXES):
            head = "    ABS (0003): " if not number else " " * 16
            label = f"{name:20}" if "l" in flags else f"{code:04x} "
            call.say(
                f"{'  events:' + chr(10) if not number else ''}{head}{label} : value 0, min 0, max {most}, fuzz 0, "
                "flat 0, resolution 0"
            )
        call.say("  input props:\n    INPUT_PROP_DIRECT" if "l" in flags else "  input props:\n    0001")
        return 0
    call.wait(float("inf"))
    return 0


_COMMANDED: dict[str, Command] = {
    "package": packages.pm, "activity": activities.am, "window": screen.wm, "input": input.input_,
    "input_method": settings.ime, "settings": settings.settings, "statusbar": _statusbar,
    "connectivity": _connectivity,
}  # fmt: skip
COMMANDS: dict[str, Command] = {
    "app_process": app_process, "cmd": cmd, "service": service, "getevent": getevent,
}  # fmt: skip
