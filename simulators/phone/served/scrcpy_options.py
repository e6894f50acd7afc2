"""Start options of a scrcpy server: its own version, and the key=value words of its command line.

They are read as by Genymobile/scrcpy's server (Options.java of 2.x to 4.x). Options for cameras, virtual displays and
sound are accepted and ignored.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence

import msgspec

from lab.core.run.step import Point

_SAYS = re.compile(rb"The server version \(([^()]{1,40})\) does not match the client")
_LARGEST_DEX = 1 << 26
CODECS = {"h264": 0x68323634, "h265": 0x68323635, "av1": 0x00617631}
_LEVELS = ("verbose", "debug", "info", "warn", "error")


class RefusedOptions(Exception):
    """The server does not start. The text is what it prints."""


class ServerOptions(msgspec.Struct, frozen=True):
    """Settings of one server. `version` is the server's own, `scid` -1 means none, `max_size` and `max_fps` 0 no bound.

    `lists` names what the server only prints: apps, displays, encoders, cameras.
    """

    version: tuple[int, ...]
    scid: int = -1
    log_level: str = "debug"
    video: bool = True
    audio: bool = True
    control: bool = True
    max_size: int = 0
    max_fps: float = 0.0
    video_bit_rate: int = 8_000_000
    video_codec: str = "h264"
    alignment: int = 1
    tunnel_forward: bool = False
    device_meta: bool = True
    frame_meta: bool = True
    dummy_byte: bool = True
    stream_meta: bool = True
    cleanup: bool = True
    power_on: bool = True
    power_off_on_close: bool = False
    clipboard_autosync: bool = True
    lists: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()

    @property
    def sessions(self) -> bool:
        """True if session packets (4.x) divide the video, each with the size of the following frames."""
        return self.version >= (4,)

    @property
    def socket(self) -> str:
        """Name of the abstract socket."""
        return "scrcpy" if self.scid == -1 else f"scrcpy_{self.scid:08x}"


def version_of(jar: bytes) -> str | None:
    """Return the version that a server's jar was built as, or None if it is not such a jar.

    The version is in classes.dex, in the sentence with which the server refuses a client of another version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(jar)) as archive:
            if archive.getinfo("classes.dex").file_size > _LARGEST_DEX:
                return None
            match = _SAYS.search(archive.read("classes.dex"))
    # A pushed file may be any broken archive.
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError, EOFError, ValueError):
        return None
    return match[1].decode("utf-8", "replace") if match else None


def parse(version: str, arguments: Sequence[str]) -> ServerOptions:
    """Parse a client's words. Raise `RefusedOptions` with the server's own message if it would not start."""
    if not arguments:
        raise RefusedOptions("Missing client version")
    if arguments[0] != version:
        raise RefusedOptions(f"The server version ({version}) does not match the client ({arguments[0]})")
    own = numbers(version)
    reads = {**_READ, "send_stream_meta" if own >= (4,) else "send_codec_meta": ("stream_meta", _flag)}
    options: dict[str, object] = {}
    lists: set[str] = set()
    unknown: list[str] = []
    for word in arguments[1:]:
        key, equals, value = word.partition("=")
        if not equals:
            raise RefusedOptions(f'Invalid key=value pair: "{word}"')
        if key in reads:
            name, reader = reads[key]
            options[name] = reader(key, value)
        elif key in _LISTS and own >= _LISTS[key]:
            lists |= {key.removeprefix("list_")} if _flag(key, value) else set()
        elif key == "raw_stream":
            options |= dict.fromkeys(_META, False) if _flag(key, value) else {}
        elif key not in _UNHEEDED:
            unknown.append(key)
    return msgspec.convert({"version": own, **options, "lists": lists, "unknown": unknown}, ServerOptions)


def numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: 3.3.3-rc1 is 3, 3, 3."""
    out = []
    for part in version.split("."):
        digits = re.match(r"\d{1,6}", part)
        if digits is None:
            break
        out.append(int(digits[0]))
        if digits[0] != part:
            break
    return tuple(out)


def video_size(options: ServerOptions, display: Point) -> Point:
    """Return the video's size for a display, with a long side of at most `max_size`.

    Before 4.0 both sides are multiples of 8, the long one rounded down and the short one to the nearest
    (ScreenInfo.java, Size.java). Since then they are multiples of the encoder's alignment, here 2.
    """
    step = max(2, options.alignment) if options.sessions else 8
    long, short = max(display), min(display)
    largest = max(0, options.max_size) // step * step or long
    if long > largest:
        long, short = largest, largest * short // long
    long = long // step * step
    short = short // step * step if options.sessions else min(long, (short + 4) // 8 * 8)
    short = max(step, short)
    return (long, short) if display[0] > display[1] else (short, long)


def _flag(_key: str, value: str) -> bool:
    return value.lower() == "true"


def _number(key: str, value: str) -> int:
    if re.fullmatch(r"[+-]?\d{1,10}", value) is None or abs(int(value)) > 0x7FFFFFFF:
        raise RefusedOptions(f'For input string: "{value}"')
    return int(value)


def _rate(key: str, value: str) -> float:
    try:
        rate = float(value)
    except ValueError as error:
        raise RefusedOptions(f"Invalid float value for {key}: {value}") from error
    return rate if 0 < rate < 1000 else 0.0


def _parse_scid(key: str, value: str) -> int:
    if re.fullmatch(r"-?[0-9a-fA-F]{1,8}", value) is None or int(value, 16) > 0x7FFFFFFF:
        raise RefusedOptions(f'For input string: "{value}"')
    if int(value, 16) < -1:
        raise RefusedOptions(f"scid may not be negative (except -1 for 'none'): {int(value, 16)}")
    return int(value, 16)


def _level(key: str, value: str) -> str:
    if value.lower() not in _LEVELS:
        raise RefusedOptions(f"No enum constant com.genymobile.scrcpy.util.Ln.Level.{value.upper()}")
    return value.lower()


def _codec(key: str, value: str) -> str:
    if value not in CODECS:
        raise RefusedOptions(f"Video codec {value} not supported")
    return value


def _alignment(key: str, value: str) -> int:
    if value not in ("1", "2", "4", "8", "16"):
        raise RefusedOptions(f"min_size_alignment ({value}) must be 1, 2, 4, 8 or 16")
    return int(value)


_META = ("device_meta", "frame_meta", "dummy_byte", "stream_meta")

_READ: dict[str, tuple[str, Callable[[str, str], object]]] = {
    "scid": ("scid", _parse_scid),
    "log_level": ("log_level", _level),
    **{
        name: (name, _flag)
        for name in (
            "video", "audio", "control", "tunnel_forward", "cleanup", "power_on", "power_off_on_close",
            "clipboard_autosync",
        )
    },
    "max_size": ("max_size", _number),
    "max_fps": ("max_fps", _rate),
    "video_bit_rate": ("video_bit_rate", _number),
    "video_codec": ("video_codec", _codec),
    "min_size_alignment": ("alignment", _alignment),
    **{f"send_{name}": (name, _flag) for name in _META if name != "stream_meta"},
}  # fmt: skip

_LISTS = {
    "list_encoders": (2,), "list_displays": (2,), "list_cameras": (2, 2), "list_camera_sizes": (2, 2),
    "list_apps": (3,),
}  # fmt: skip
"""Listings that a client may request, with the first version of each."""

_UNHEEDED = frozenset(
    {
        "audio_codec", "audio_source", "audio_dup", "audio_bit_rate", "audio_codec_options", "audio_encoder",
        "video_source", "video_codec_options", "video_encoder", "crop", "angle", "display_id", "show_touches",
        "stay_awake", "screen_off_timeout", "downsize_on_error", "new_display", "vd_destroy_content",
        "vd_system_decorations", "capture_orientation", "display_ime_policy", "keep_active", "flex_display",
        "lock_video_orientation", "camera_id", "camera_size", "camera_facing", "camera_ar", "camera_fps",
        "camera_high_speed", "camera_zoom", "camera_torch",
    }
)  # fmt: skip
