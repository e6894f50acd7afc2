"""`input`: touches, keys and text from a shell. Source: AOSP, InputShellCommand.java."""

from __future__ import annotations

import re

from lab.core.run.step import Action
from simulators.phone.served import keys
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused, ServiceException
from simulators.phone.served.commands.installed import PINYIN_KEYBOARD, selected
from simulators.phone.served.display import Display
from simulators.phone.served.motion import LONG, SLOP

_SOURCES = frozenset(
    ("keyboard", "dpad", "gamepad", "touchscreen", "mouse", "stylus", "trackball", "touchpad", "touchnavigation",
     "joystick")
)  # fmt: skip
_AT = "com.android.server.input.InputShellCommand"
_ILLEGAL = "java.lang.IllegalArgumentException"
_DEFAULT_MS = 300
_FAR = 1e9
_USAGE = """Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The commands and default sources are:
      text <string> (Default: touchscreen)
      keyevent [--longpress|--doubletap|--async|--delay <duration between keycodes in ms>] <key code number or name> ...
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      press (Default: trackball)
      roll <dx> <dy> (Default: trackball)
      motionevent <DOWN|UP|MOVE|CANCEL> <x> <y> (Default: touchscreen)
      keycombination [-t duration(ms)] <key code 1> <key code 2> ..."""


def input_(call: CommandCall) -> int:
    args = list(call.args)
    if args and args[0] in _SOURCES:
        args.pop(0)
    if args[:1] == ["-d"]:
        args = args[2:]
    if not args:
        call.say(_USAGE)
        return 0
    if call.services.faults.deny:
        raise ServiceException(
            "java.lang.SecurityException",
            "Injecting input events requires the caller (or the source of the instrumentation, if any) to have the "
            "INJECT_EVENTS permission.",
            "com.android.server.input.InputManagerService.injectInputEventToTarget(InputManagerService.java:876)",
        )
    kind, *rest = args
    handler = _KINDS.get(kind)
    if handler is None:
        call.say(f"Unknown command: {kind}")
        return 0
    handler(call, rest)
    return 0


def _pop_required(args: list[str], kind: str) -> str:
    if not args:
        raise ServiceException(
            _ILLEGAL, f'Argument expected after "{kind}"', f"{_AT}.onCommand({_AT.rpartition('.')[2]}.java)"
        )
    return args.pop(0)


def _numbers(kind: str, args: list[str], count: int) -> list[float]:
    """Return `count` numbers from the words. Raise Android's parse errors if they are missing."""
    numbers = []
    last = kind
    for _ in range(count):
        last = _pop_required(args, last)
        if not re.fullmatch(r"[-+]?(\d++(?:\.\d*)?|\.\d+)([eE][-+]?\d+)?f?", last) or len(last) > 30:
            raise ServiceException(
                _ILLEGAL,
                f"Error: Invalid arguments for command: {kind}",
                f"{_AT}.onCommand(InputShellCommand.java:214)",
            )
        numbers.append(max(-_FAR, min(_FAR, float(last.rstrip("f")))))
    return numbers


def _tap(call: CommandCall, args: list[str]) -> None:
    x, y = _numbers("tap", args, 2)
    call.display.perform(Action("click", at=(int(x), int(y))))


def _swipe(call: CommandCall, args: list[str]) -> None:
    """Perform a movement. One that stays within a finger's slop is a tap, or a long press."""
    x, y, to_x, to_y = _numbers("swipe", args, 4)
    _wait_duration(call, args)
    _move(call.display, x, y, to_x, to_y, _duration(args))


def _wait_duration(call: CommandCall, args: list[str]) -> None:
    """Wait for the duration of a movement, if the words have one."""
    if args:
        call.wait(_duration(list(args)) / 1000)


def _duration(args: list[str]) -> int:
    ms = int(_numbers("swipe", args, 1)[0]) if args else -1
    return _DEFAULT_MS if ms < 0 else ms


def _move(display: Display, x: float, y: float, to_x: float, to_y: float, ms: int) -> None:
    at = display.to_phone(x, y)
    if at is None:
        return
    to = display.nearest_pixel(to_x, to_y)
    if max(abs(to[0] - at[0]), abs(to[1] - at[1])) > SLOP:
        display.perform(Action("swipe", at=(int(x), int(y)), to=(int(to_x), int(to_y))))
    else:
        display.perform(Action("long_press" if ms >= LONG * 1000 else "click", at=(int(x), int(y))))


def _drag_and_drop(call: CommandCall, args: list[str]) -> None:
    """Drag and drop: a movement that starts with a long press. On this phone only lists can be dragged."""
    x, y, to_x, to_y = _numbers("draganddrop", args, 4)
    _wait_duration(call, args)
    _move(call.display, x, y, to_x, to_y, max(_duration(args), int(LONG * 1000)))


def _motion(call: CommandCall, args: list[str]) -> None:
    kind = _pop_required(args, "motionevent").upper()
    finger = call.display.finger
    if kind == "CANCEL":
        finger.cancel()
        return
    if kind not in ("DOWN", "MOVE", "UP"):
        raise ServiceException(_ILLEGAL, f"Unknown action: {kind}", f"{_AT}.getAction(InputShellCommand.java:431)")
    x, y = _numbers("motionevent", args, 2)
    {"DOWN": finger.finger_down, "MOVE": finger.move, "UP": finger.finger_up}[kind](x, y)


def spoken(text: str) -> str:
    """Replace each `%s` by a space, as `input text` does."""
    return text.replace("%s", " ")


def _text(call: CommandCall, args: list[str]) -> None:
    """Type characters of a US keyboard. One that it lacks fails the whole text."""
    text = spoken(_pop_required(args, "text"))
    # KeyCharacterMap.getEvents returns null for such a text, and Android's `input` fails on it.
    if not all(" " <= ch <= "~" or ch in "\n\t" for ch in text):
        raise ServiceException(
            "java.lang.NullPointerException",
            "Attempt to get length of null array",
            f"{_AT}.sendText(InputShellCommand.java:308)",
        )
    for i, line in enumerate(text.replace("\t", "").split("\n")):
        if i:
            keys.press(call.services, call.display, keys.ENTER)
        # A pinyin keyboard composes characters from the letters.
        composes = selected(call.services) == PINYIN_KEYBOARD
        call.display.type(re.sub(r"[A-Za-z]+", "你好", line) if composes else line)


def _keyevent(call: CommandCall, args: list[str]) -> None:
    double, delay = False, 0.0
    first = _pop_required(args, "keyevent")
    while first.startswith("--"):
        double = double or first == "--doubletap"
        if first == "--delay":
            delay = _numbers("keyevent", args, 1)[0] / 1000
        if not args:
            break
        first = args.pop(0)
    for i, name in enumerate([first, *args]):
        if i and delay:
            call.wait(delay)
        for _ in range(1 + double):
            keys.press(call.services, call.display, keys.code_of(name))


def _key_combination(call: CommandCall, args: list[str]) -> None:
    if args[:1] == ["-t"]:
        args = args[2:]
    codes = [keys.code_of(name) for name in args]
    if len(codes) < 2 or 0 in codes:
        why = "keycombination requires at least 2 keycodes" if 0 not in codes else f"Unknown keycode: {args[0]}"
        raise ServiceException(_ILLEGAL, why, f"{_AT}.runKeyCombination(InputShellCommand.java:468)")
    for i, code in enumerate(codes):
        keys.press(call.services, call.display, code, tuple(codes[:i]))


def _refuse_trackball(call: CommandCall, args: list[str]) -> None:
    raise CommandRefused(f"Error: Unknown command: {call.args[0]}: this phone has no trackball")


_KINDS = {
    "tap": _tap, "swipe": _swipe, "draganddrop": _drag_and_drop, "motionevent": _motion, "text": _text,
    "keyevent": _keyevent, "keycombination": _key_combination, "press": _refuse_trackball, "roll": _refuse_trackball,
}  # fmt: skip
COMMANDS: dict[str, Command] = {"input": input_}
