"""Commands about the screen: screencap, uiautomator, wm.

Source: AOSP, screencap.cpp, DumpCommand.java with AccessibilityNodeInfoDumper.java, WindowManagerShellCommand.java.
"""

from __future__ import annotations

import re
import struct
from functools import cache
from weakref import WeakKeyDictionary
from xml.sax.saxutils import quoteattr

import msgspec

from lab.core.run.step import Point
from lab.core.run.ui_tree import Node, UiTree
from simulators.phone.kit import draw
from simulators.phone.kit.boxes import Window
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused, encoded
from simulators.phone.served.display import PREVIEW, Display

DENSITY = 420
"""Dots per inch: one pixel for an app (dp) is 2.625 of the phone's."""
PHYSICAL_DISPLAY = 4619827259835644672
COVER, MONITOR = 4619827551948147201, 4619827124781842690
"""Ids of the physical displays that a foldable and a plugged-in monitor add."""
_WARNING = (
    "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, "
    "however this default is not guaranteed to be consistent across captures. A display id should be specified.\n"
)
_RGBA_8888, _SRGB = 1, 1
_GARBAGE = bytes(range(256)) * 64
_HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
"""Characters that Android's serializer writes as numbers."""
_DEFAULT_DUMP = "/sdcard/window_dump.xml"


def screencap(call: CommandCall) -> int:
    args, names, png, panel = list(call.args), [], False, ""
    while args:
        arg = args.pop(0)
        if arg == "-d" and args:
            panel = args.pop(0)
            if panel not in ("0", str(PHYSICAL_DISPLAY)):
                raise CommandRefused("Capturing failed.")
        elif arg.startswith("-"):
            png = png or "p" in arg
        else:
            names.append(arg)
    fault = call.services.faults.screencap
    if fault == "fail":
        raise CommandRefused("Failed to take screenshot. Status: -38")
    png = png or any(name.endswith(".png") for name in names)
    parts = _picture(call, png) if panel else _first_picture(call, png)
    if fault:
        whole = b"".join(parts)
        parts = [_GARBAGE] if fault == "garbage" else [whole[: len(whole) // 2]]
    if names:
        call.write(names[0], b"".join(parts))
        return 0
    for part in parts:
        call.io.write_output(part)
    return 0


def _first_picture(call: CommandCall, png: bool) -> list[bytes]:
    """Return the picture of the first display found if none is named. It need not be the phone's own."""
    display = call.services.display
    if not display.second:
        return _picture(call, png)
    call.io.write_output(_WARNING.encode())
    return _monitor(png)


@cache
def _monitor(png: bool) -> list[bytes]:
    """Return a plugged-in monitor's picture."""
    from PIL import Image

    monitor = Image.new("RGB", (1920, 1080), (90, 30, 30))
    if png:
        return [draw.png(monitor)]
    return [struct.pack("<IIII", *monitor.size, _RGBA_8888, _SRGB), monitor.convert("RGBA").tobytes()]


def _picture(call: CommandCall, png: bool) -> list[bytes]:
    display = call.services.display
    if png:
        return [display.png()]
    size = display.size
    return [struct.pack("<IIII", *size, _RGBA_8888, _SRGB), _rgba(display, size)]


_held: WeakKeyDictionary[Display, tuple[bytes, bytes]] = WeakKeyDictionary()
"""Pixels that each display showed at the last request, and the same with alpha."""


def _rgba(display: Display, size: Point) -> bytes:
    """Return the display's pixels with alpha. Cached while nothing changes, since clients poll it."""
    from PIL import Image

    pixels = display.rgb()
    shown, made = _held.get(display, (b"", b""))
    if shown != pixels:  # a display that is turned or dark gives them anew each time
        made = Image.frombytes("RGB", size, pixels).convert("RGBA").tobytes()
        _held[display] = pixels, made
    return made


def uiautomator(call: CommandCall) -> int:
    if call.args[:1] != ["dump"]:
        raise CommandRefused(
            "Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n\ndump: creates an XML dump"
        )
    flags = {arg for arg in call.args[1:] if arg.startswith("-")}
    name = next((arg for arg in call.args[1:] if not arg.startswith("-")), _DEFAULT_DUMP)
    if call.services.faults.deny:
        raise CommandRefused("java.lang.SecurityException: You do not have android.permission.RETRIEVE_WINDOW_CONTENT")
    # uiautomator reports this on standard error and still exits with 0.
    if call.services.faults.restless:
        call.complain("ERROR: could not get idle state.")
        return 0
    if "--windows" in flags:
        xml = _windows(call.display.windows(), call.display.rotation, "--compressed" in flags, call.display.preview)
    else:
        tree = call.services.display.tree()
        if not tree.roots:
            call.complain("ERROR: null root node returned by UiTestAutomationBridge.")
            return 0
        xml = _HEAD + _hierarchy(tree, "--compressed" in flags)
    if name in ("/dev/tty", "/dev/stdout"):
        call.io.write_output(encoded(xml))
    else:
        call.write(name, encoded(xml))
    call.say(f"UI hierchary dumped to: {name if name == '/dev/tty' else call.path(name)}")
    return 0


def _hierarchy(tree: UiTree, compressed: bool) -> str:
    if compressed:
        tree = UiTree(tuple(node for root in tree.roots for node in _compress(root)), tree.rotation)
    return _BEYOND.sub(lambda match: f"&#{ord(match[0])};", tree.to_xml().partition("?>")[2])


def _compress(node: Node) -> list[Node]:
    """Return a node without descendants that have no label and no action."""
    below = tuple(descendant for child in node.children for descendant in _compress(child))
    worth = node.label or node.clickable or node.scrollable or node.checkable or node.long_clickable or node.focusable
    return [msgspec.structs.replace(node, children=below)] if worth else list(below)


def _windows(window_trees: list[tuple[Window, UiTree]], rotation: int, compressed: bool, preview: str = "") -> str:
    """Return all windows of the display, topmost first."""
    parts = [_HEAD, '<displays><display id="0">']
    focused = max(
        (i for i, (window, _) in enumerate(window_trees) if window.owner not in ("system", "keyboard")), default=0
    )
    for index, (layer, (window, tree)) in enumerate(reversed(list(enumerate(window_trees)))):
        kind = {"system": "TYPE_SYSTEM", "keyboard": "TYPE_INPUT_METHOD"}.get(window.owner, "TYPE_APPLICATION")
        bounds = tree.roots[0].bounds if tree.roots else window.root.bounds
        active = str(layer == focused).lower()
        title = quoteattr({"keyboard": "InputMethod"}.get(window.owner, window.package))
        parts.append(
            f'<window index="{index}" id="{layer + 1}" title={title} bounds="[{bounds.left},{bounds.top}]'
            f'[{bounds.right},{bounds.bottom}]" active="{active}" type="{kind}" layer="{layer}" token="[*]" '
            f'focused="{active}" accessibility-focused="false">'
        )
        parts.append(_hierarchy(msgspec.structs.replace(tree, rotation=rotation), compressed) + "</window>")
    return "".join([*parts, _preview(preview), "</display></displays>"])


def _preview(text: str) -> str:
    """Return the window of the clipboard's preview, empty if it is not shown."""
    if not text:
        return ""
    words = Node(PREVIEW, text, id="com.android.systemui:id/text_preview", package="com.android.systemui")
    box = Node(PREVIEW, id="com.android.systemui:id/clipboard_preview", package=words.package, children=(words,))
    return (
        f'<window index="9" id="99" title="ClipboardOverlay" bounds="[{PREVIEW.left},{PREVIEW.top}][{PREVIEW.right},'
        f'{PREVIEW.bottom}]" active="false" type="TYPE_SYSTEM" layer="9" token="[*]" focused="false" '
        f'accessibility-focused="false">{_hierarchy(UiTree((box,)), False)}</window>'
    )


def wm(call: CommandCall) -> int:
    match call.args:
        case ["size"]:
            call.say("Physical size: 1080x2400")
            if (size := call.display.override) is not None:
                call.say(f"Override size: {size[0]}x{size[1]}")
        case ["size", "reset"]:
            call.display.override = None
        case ["size", dimensions]:
            call.display.override = _size(dimensions)
        case ["density"]:
            call.say(f"Physical density: {DENSITY}")
        case ["density", "reset"]:
            return 0
        case ["dismiss-keyguard"]:
            if call.display.lock == "swipe":
                call.display.lock = ""
        case ["user-rotation" | "set-user-rotation", *words]:
            _rotation(call, words)
        case _:
            raise CommandRefused(f"Error: unknown command '{' '.join(call.args)}' on this phone", 255)
    return 0


def _size(dimensions: str) -> Point:
    match = re.fullmatch(r"(\d{3,4})x(\d{3,4})", dimensions)
    if match is None or not min(int(match[1]), int(match[2])) >= 200:
        raise CommandRefused(f"Error: bad size {dimensions}", 255)
    return int(match[1]), int(match[2])


def _rotation(call: CommandCall, words: list[str]) -> None:
    """`wm user-rotation [-d 0] [free | lock [0-3]]`. Without a word it prints the current one."""
    words = words[2:] if words[:1] == ["-d"] else words
    settings = call.services.settings
    if not words:
        free = settings.get(("system", "accelerometer_rotation"), "1") == "1"
        call.say("free" if free else f"lock {call.display.rotation}")
    elif words[0] == "free":
        settings["system", "accelerometer_rotation"] = "1"
        call.display.rotation = 0
    elif words[0] == "lock" and words[1:] in ([], ["0"], ["1"], ["2"], ["3"]):
        settings["system", "accelerometer_rotation"] = "0"
        rotation = int(words[1]) if len(words) > 1 else call.display.rotation
        settings["system", "user_rotation"] = str(rotation)
        call.display.rotation = rotation
    else:
        raise CommandRefused(f"Error: argument needs to be either -d, free or lock, not {words[0]}", 255)


COMMANDS: dict[str, Command] = {"screencap": screencap, "uiautomator": uiautomator, "wm": wm}
