"""`settings`, `ime`, `svc` and `content`: the phone's settings.

Source: AOSP, SettingsService.java, InputMethodManagerService's shell command.
"""

from __future__ import annotations

from simulators.phone import touch
from simulators.phone.app import State
from simulators.phone.kit.boxes import Window
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused, ServiceException, number
from simulators.phone.served.commands.installed import EXTRA_KEYBOARDS, KEYBOARD, keyboards, selected

_SPACES = ("system", "secure", "global")
_FIRST = {
    ("system", "accelerometer_rotation"): "1", ("system", "user_rotation"): "0",
    ("system", "screen_off_timeout"): "600000", ("system", "font_scale"): "1.0",
    ("system", "screen_brightness_mode"): "0", ("secure", "show_ime_with_hard_keyboard"): "0",
    ("global", "adb_enabled"): "1", ("global", "device_provisioned"): "1", ("secure", "user_setup_complete"): "1",
    ("global", "window_animation_scale"): "1", ("global", "transition_animation_scale"): "1",
    ("global", "animator_duration_scale"): "1", ("global", "stay_on_while_plugged_in"): "0",
    ("global", "development_settings_enabled"): "1", ("secure", "enabled_input_methods"): KEYBOARD,
    ("secure", "default_input_method"): KEYBOARD,
}  # fmt: skip
_SWITCHES = {("global", "airplane_mode_on"): "airplane_mode", ("global", "wifi_on"): "wifi",
             ("global", "bluetooth_on"): "bluetooth", ("global", "mobile_data"): "mobile_data"}  # fmt: skip
"""Keys that map to a switch in the phone's own settings."""
_MADE = (("system", "screen_brightness"), ("secure", "android_id"))
"""Keys that are computed instead of stored."""
_MOST_SETTINGS = 1000


def value(call: CommandCall, space: str, key: str) -> str | None:
    """Return a setting's value, or None if it is not set."""
    own = call.display.phone.current_screen().state["apps"]["settings"]
    if (space, key) in _SWITCHES:
        return str(int(bool(own[_SWITCHES[space, key]])))
    if (space, key) == ("system", "screen_brightness"):
        return str(round(255 * own["brightness"] / 10))
    if (space, key) == ("secure", "android_id"):
        return "5f1c0de5a11ab1e0"
    return call.services.settings.get((space, key), _FIRST.get((space, key)))


def settings(call: CommandCall) -> int:
    args = list(call.args)
    if "--user" in args:
        at = args.index("--user")
        del args[at : at + 2]
    kind, space, *rest = [*args, "", ""][:2] + args[2:]
    if kind not in ("get", "put", "delete", "list", "reset"):
        raise CommandRefused(f"Invalid command: {kind}", 255)
    if space not in _SPACES:
        raise CommandRefused(f"Invalid namespace '{space}'", 255)
    match kind, rest:
        case "get", [key, *_]:
            call.say(value(call, space, key) or "null")
        case "put", [key, word, *_]:
            store_setting(call, space, key, word)
        case "delete", [key, *_]:
            old_value = call.services.settings.pop((space, key), None)
            call.say(f"Deleted {int(old_value is not None)} rows")
        case "list", _:
            for key in _keys(call, space):
                call.say(f"{key}={value(call, space, key)}")
        case _:
            raise CommandRefused("Bad arguments", 255)
    return 0


def _keys(call: CommandCall, space: str) -> list[str]:
    """Return the sorted keys that have a value."""
    return sorted({key for where, key in [*_FIRST, *_SWITCHES, *_MADE, *call.services.settings] if where == space})


def store_setting(call: CommandCall, space: str, key: str, word: str) -> None:
    """Store a setting and apply its effects, such as the rotation."""
    if (space, key) in _SWITCHES:
        switch(call, _SWITCHES[space, key], word not in ("0", "false"))
        return
    if (space, key) == ("system", "screen_brightness") and (level := number(word)) is not None:
        _set_brightness(call, level)
        return
    if len(call.services.settings) >= _MOST_SETTINGS:
        raise ServiceException("java.lang.IllegalStateException", "too many settings", "SettingsProvider")
    call.services.settings[space, key] = word
    if space == "system" and key in ("user_rotation", "accelerometer_rotation"):
        fixed = value(call, "system", "accelerometer_rotation") == "0"
        rotation = value(call, "system", "user_rotation") or "0"
        call.display.rotation = int(rotation) if fixed and rotation in ("0", "1", "2", "3") else 0


def switch(call: CommandCall, name: str, on: bool) -> None:
    """Set one of the phone's own switches."""

    def turns(state: State, screen_windows: list[Window]) -> bool:
        if bool(state["apps"]["settings"][name]) == on:
            return False
        touch.act(state, "system", ("setting", name), screen_windows)
        return True

    call.display.phone.change(turns)


def _set_brightness(call: CommandCall, level: int) -> None:
    """Set the brightness: 255 is the phone's own 10."""

    def sets(state: State, screen_windows: list[Window]) -> bool:
        state["apps"]["settings"]["brightness"] = round(min(255, max(0, level)) * 10 / 255)
        return True

    call.display.phone.change(sets)


def ime(call: CommandCall) -> int:
    keyboard_names = keyboards(call.services)
    match call.args:
        case ["list", *flags]:
            for name in keyboard_names:
                package = name.partition("/")[0]
                call.say(name if "-s" in flags else f"{name}:\n  mId={name} mSettingsActivityName=null\n  {package}")
        case ["enable", name] if name in EXTRA_KEYBOARDS and name not in keyboard_names:
            call.services.settings["secure", "enabled_input_methods"] = ":".join([*keyboard_names, name])
            call.say(f"Input method {name}: now enabled for user #0")
        case ["set" | "enable" | "disable" as kind, name]:
            if name not in keyboard_names:
                participle = {"set": "selected", "enable": "enabled", "disable": "disabled"}[kind]
                raise CommandRefused(f"Unknown input method {name} cannot be {participle} for user #0", 255)
            if kind == "set":
                call.services.settings["secure", "default_input_method"] = name
                call.say(f"Input method {name} selected for user #0")
            else:
                call.say(f"Input method {name}: {'already ' if kind == 'enable' else 'now '}{kind}d for user #0")
        case ["reset"]:
            call.services.settings.pop(("secure", "default_input_method"), None)
            call.say(
                f"Reset current and enabled IMEs for user #0\n Newly selected input method: {selected(call.services)}"
            )
        case _:
            raise CommandRefused(f"Unknown command: {' '.join(call.args)}", 255)
    return 0


def svc(call: CommandCall) -> int:
    names = {"wifi": "wifi", "data": "mobile_data", "bluetooth": "bluetooth"}
    match call.args:
        case [what, "enable" | "disable" as kind] if what in names:
            switch(call, names[what], kind == "enable")
        case ["power", "stayon", _]:
            return 0
        case _:
            raise CommandRefused("Available commands:\n    help\n    power\n    data\n    wifi\n    bluetooth")
    return 0


def content(call: CommandCall) -> int:
    """`content query --uri content://settings/SPACE [--where "name='KEY'"]`. No other provider answers."""
    args = list(call.args)
    uri = args[args.index("--uri") + 1] if "--uri" in args[:-1] else ""
    space = uri.removeprefix("content://settings/")
    if args[:1] != ["query"] or space not in _SPACES:
        call.complain(f"Error while accessing provider:{uri.removeprefix('content://').partition('/')[0]}")
        raise CommandRefused(f"java.lang.IllegalStateException: Could not find provider: {uri}")
    where = args[args.index("--where") + 1] if "--where" in args[:-1] else ""
    name_filter = where.partition("=")[2].strip("'\"")
    keys = _keys(call, space)
    for row, key in enumerate(k for k in keys if not name_filter or k == name_filter):
        call.say(f"Row: {row} _id={row + 1}, name={key}, value={value(call, space, key)}, package=android")
    return 0


COMMANDS: dict[str, Command] = {"settings": settings, "ime": ime, "svc": svc, "content": content}
