"""Commands about text: echo, printf, test, sleep, date, id, getprop, which.

echo and printf are mksh's own (echo knows backslashes). The others are toybox's.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from lab.core.run.step import Action
from simulators.phone.served import folders
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused, encoded, number

_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|0([0-7]{0,3})|(.))", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v", "\\": "\\"}
_FORMAT = re.compile(r"%([-0]?[0-9]{0,3})([sdxcbi%])")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_ID = (
    "uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),"
    "1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats),3009(readproc),3011(uhid) "
    "context=u:r:shell:s0"
)


def escaped(text: str) -> str:
    """Replace the backslash escapes that echo knows."""

    def replacement(match: re.Match[str]) -> str:
        if match[3] is None:
            byte = int(match[1], 16) if match[1] else int(match[2] or "0", 8) & 0xFF
            return bytes([byte]).decode("utf-8", "surrogateescape")
        return _PLAIN.get(match[3], match[0])

    return _ESCAPE.sub(replacement, text)


def echo(call: CommandCall) -> int:
    end, escapes, args = "\n", True, list(call.args)
    while args and re.fullmatch(r"-[neE]+", args[0]):
        flags = args.pop(0)
        end = "" if "n" in flags else end
        escapes = flags.rfind("E") <= flags.rfind("e") if "E" in flags or "e" in flags else escapes
    text = " ".join(args)
    if escapes:
        text, stop_mark, _ = text.partition("\\c")
        text, end = escaped(text), "" if stop_mark else end
    call.io.write_output(encoded(text + end))
    return 0


def printf(call: CommandCall) -> int:
    if not call.args:
        raise CommandRefused("printf: missing operand")
    form, values = escaped(call.args[0]), call.args[1:]

    def replacement(match: re.Match[str]) -> str:
        if match[2] == "%":
            return "%"
        value = values.pop(0) if values else ""
        if match[2] in "dix":
            return f"%{match[1]}{'x' if match[2] == 'x' else 'd'}" % (number(value) or 0)
        text = {"b": escaped(value), "c": value[:1]}.get(match[2], value)
        return f"%{match[1].replace('0', '')}s" % text if match[1] else text

    while True:
        count_before = len(values)
        call.io.write_output(encoded(_FORMAT.sub(replacement, form)))
        if not values or len(values) == count_before:
            return 0


def test(call: CommandCall) -> int:
    args = list(call.args)
    if call.name == "[":
        if args[-1:] != ["]"]:
            raise CommandRefused("/system/bin/sh: [: missing ]", 2)
        args.pop()
    negated = args[:1] == ["!"]
    return int(_evaluate_test(call, args[negated:]) == negated)


def _evaluate_test(call: CommandCall, args: list[str]) -> bool:
    if len(args) < 2:
        return bool(args and args[0])
    if len(args) == 2:
        path, files = call.path(args[1]), call.services.files
        match args[0]:
            case "-n" | "-z":
                return bool(args[1]) == (args[0] == "-n")
            case "-f" | "-s" | "-r":
                return path in files and (args[0] != "-s" or bool(files[path]))
            case "-d":
                return folders.is_folder(files, path)
            case "-e":
                return path in files or folders.is_folder(files, path)
    if len(args) == 3:
        left, how, right = args
        if how in ("=", "==", "!="):
            return (left == right) == (how != "!=")
        low, high = number(left), number(right)
        signs = {"-eq": (0,), "-ne": (-1, 1), "-lt": (-1,), "-le": (-1, 0), "-gt": (1,), "-ge": (0, 1)}
        if how in signs and low is not None and high is not None:
            return (low > high) - (low < high) in signs[how]
    raise CommandRefused(f"/system/bin/sh: test: {' '.join(args)}: unexpected operator/operand", 2)


def sleep(call: CommandCall) -> int:
    """Wait, and advance the phone's clock by as much: it stands still while nothing is done."""
    total = 0.0
    for arg in call.args or [""]:
        match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+)([smhd]?)", arg)
        if not match:
            raise CommandRefused(f"sleep: not a number '{arg}'" if arg else "sleep: Needs 1 argument")
        total += float(match[1]) * _UNITS[match[2]]
    call.wait(total)
    if not call.io.gone.is_set():
        call.display.phone.perform(Action("wait", ms=round(1000 * total)))
    return 0


def date(call: CommandCall) -> int:
    now = datetime.fromisoformat(call.display.phone.current_screen().state["clock"])
    if "-u" in call.args:
        now = now.astimezone(UTC)
    form = next((arg[1:] for arg in call.args if arg.startswith("+")), "")
    if not form:
        zone = now.strftime("%Z").replace("UTC+", "GMT+")
        call.say(f"{now:%a %b} {now.day:2} {now:%H:%M:%S} {zone} {now.year}")
        return 0
    form = form.replace("%N", f"{now.microsecond * 1000:09}").replace("%s", str(int(now.timestamp())))
    call.say(now.strftime(form))
    return 0


def identity(call: CommandCall) -> int:
    call.say("shell" if call.name == "whoami" or "-un" in call.args else "2000" if "-u" in call.args else _ID)
    return 0


def getprop(call: CommandCall) -> int:
    properties = call.services.properties
    if not call.args:
        for name in sorted(properties):
            call.say(f"[{name}]: [{properties[name]}]")
        return 0
    call.say(properties.get(call.args[0], call.args[1] if len(call.args) > 1 else ""))
    return 0


def setprop(call: CommandCall) -> int:
    if len(call.args) != 2:
        raise CommandRefused("setprop: Need 2 arguments")
    if not call.args[0].startswith(("debug.", "log.")):
        raise CommandRefused(
            f"Failed to set property '{call.args[0]}' to '{call.args[1]}'.\nSee dmesg for error reason."
        )
    call.services.properties[call.args[0]] = call.args[1]
    return 0


def uname(call: CommandCall) -> int:
    call.say("Linux localhost 5.10.177-android13 #1 SMP PREEMPT aarch64 Toybox" if "-a" in call.args else "Linux")
    return 0


def pwd(call: CommandCall) -> int:
    call.say(call.within)
    return 0


def true(call: CommandCall) -> int:
    return 0


def false(call: CommandCall) -> int:
    return 1


COMMANDS: dict[str, Command] = {
    "echo": echo, "printf": printf, "test": test, "[": test, "sleep": sleep, "date": date, "id": identity,
    "whoami": identity, "getprop": getprop, "setprop": setprop, "uname": uname, "pwd": pwd, "true": true,
    "false": false, ":": true, "set": true, "sync": true, "logcat": true,
}  # fmt: skip
