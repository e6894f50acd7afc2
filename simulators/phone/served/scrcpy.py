"""The scrcpy server on the served phone, started by `app_process / com.genymobile.scrcpy.Server ...`.

Its life is that of Genymobile/scrcpy's server: it accepts its sockets in order (video, sound, control), sends the
phone's name, and streams and obeys until one of its sockets or its console is gone.
"""

from __future__ import annotations

import queue
import struct
import threading
from collections.abc import Callable, Iterator, Sequence

from simulators.phone.installed import APPS
from simulators.phone.nav import LAUNCHER
from simulators.phone.served.commands.installed import packages
from simulators.phone.served.scrcpy_control import ServedControl
from simulators.phone.served.scrcpy_messages import device_name
from simulators.phone.served.scrcpy_options import RefusedOptions, ServerOptions, parse, version_of
from simulators.phone.served.scrcpy_video import VideoStream
from simulators.phone.served.services import Console, HungUp, Services, Stream

_LOOK = 0.1
_LEVELS = ("verbose", "debug", "info", "warn", "error")
_CLASS = "com.genymobile.scrcpy.Server"
_LABEL = 30


class ServerOutput:
    """The server's output: up to info on standard output, the rest on standard error. Silent once nobody listens."""

    def __init__(self, console: Console, level: str) -> None:
        self._console, self._least = console, _LEVELS.index(level)
        self._printing = threading.Lock()

    def __call__(self, level: str, words: str) -> None:
        if _LEVELS.index(level) < self._least:
            return
        line = f"[server] {level.upper()}: {words}\n".encode("utf-8", "replace")
        with self._printing:
            try:
                (self._console.err if level in ("warn", "error") else self._console.write_output)(line)
            except HungUp:
                return


def serve(services: Services, jar: str, arguments: Sequence[str], console: Console) -> int:
    """Run the server of the pushed `jar` (a path in `services.files`) until it ends. Return its exit code.

    `arguments` follow the class name: the client's version, then key=value words.
    """
    version = version_of(services.files.get(jar, b""))
    if version is None:
        console.err(f"Error: Could not find or load main class {_CLASS}\n".encode())
        return 1
    try:
        options = parse(version, arguments)
    except RefusedOptions as error:
        ServerOutput(console, "error")(
            "error", f"{error}\njava.lang.IllegalArgumentException: {error}\n\tat {_CLASS}.main"
        )
        return 1
    log = ServerOutput(console, options.log_level)
    _log_device(services, options, log)
    if options.cleanup:
        services.files.pop(jar, None)
    if options.lists:
        _list(services, options, log)
        return 0
    return _run(services, options, log, console)


def _log_device(services: Services, options: ServerOptions, log: ServerOutput) -> None:
    for key in options.unknown:
        log("warn", f"Unknown server option: {key}")
    tell = services.properties.get
    maker, brand = tell("ro.product.manufacturer", "unknown"), tell("ro.product.brand", "unknown")
    model, release = tell("ro.product.model", "unknown"), tell("ro.build.version.release", "0")
    log("info", f"Device: [{maker}] {brand} {model} (Android {release})")


def _list(services: Services, options: ServerOptions, log: ServerOutput) -> None:
    if "encoders" in options.lists:
        log("info", "List of video encoders:\n    --video-codec=h264 --video-encoder=c2.android.avc.encoder")
    if "displays" in options.lists:
        wide, high = services.display.size
        log("info", f"List of displays:\n    --display-id=0    ({wide}x{high})")
    if options.lists & {"cameras", "camera_sizes"}:
        log("info", "List of cameras:\n    (none)")
    if "apps" in options.lists:
        log("info", "Processing Android apps... (this may take some time)")
        log("info", "List of apps:" + "".join(_apps(services)))


def _apps(services: Services) -> Iterator[str]:
    """Yield a line for each app with an icon, preinstalled ones first."""
    system_flags = packages(services)
    rows = [(not system_flags[app.package], app.label, app.package) for app in APPS.values() if app.id != LAUNCHER]
    for later, label, package in sorted(rows):
        yield f"\n {'-' if later else '*'} {_column(label)} {package}"


def _column(label: str) -> str:
    room = _LABEL - len(label.encode("utf-16-le")) // 2  # Java counts UTF-16 units
    return label + " " * room if room > 0 else f"{label}\n   {' ' * _LABEL}"


def _run(services: Services, options: ServerOptions, log: ServerOutput, console: Console) -> int:
    kinds = [kind for kind in ("video", "audio", "control") if getattr(options, kind)]
    for wrong, words in (
        (not options.tunnel_forward, "Connection refused"),
        (not kinds, "No video, no audio, no control"),
        (options.socket in services.listening, "Address already in use"),
    ):
        if wrong:
            log("error", f"{words}\njava.io.IOException: {words}")
            return 1
    sockets = _accept_sockets(services, options, kinds, console)
    try:
        if len(sockets) == len(kinds):
            _work(services, options, sockets, log, console)
    finally:
        for stream in sockets.values():
            stream.close()
    return 0


def _accept_sockets(
    services: Services, options: ServerOptions, kinds: list[str], console: Console
) -> dict[str, Stream]:
    """Return the sockets in the order of opening, or fewer if the console goes away before."""
    coming: queue.Queue[Stream] = queue.Queue()
    sockets: dict[str, Stream] = {}
    services.listening[options.socket] = coming.put
    try:
        while len(sockets) < len(kinds) and not console.gone.is_set():
            try:
                stream = coming.get(timeout=_LOOK)
            except queue.Empty:
                continue
            sockets[kinds[len(sockets)]] = stream
            if len(sockets) == 1 and options.dummy_byte:
                _write_if_open(stream, b"\0")
    finally:
        services.listening.pop(options.socket, None)
        # A socket that was opened meanwhile must not stay open.
        while not coming.empty():
            coming.get().close()
    return sockets


def _work(
    services: Services, options: ServerOptions, sockets: dict[str, Stream], log: ServerOutput, console: Console
) -> None:
    """Stream and obey until one of both ends, or nobody listens at the console."""
    first = next(iter(sockets.values()))
    if options.device_meta:
        _write_if_open(first, device_name(services.properties.get("ro.product.model", "")))
    if "audio" in sockets:
        log("warn", "Audio disabled: it is not supported on this phone")
        _write_if_open(sockets["audio"], struct.pack(">I", 0))
    if "video" in sockets and options.video_codec != "h264":
        log("error", f"Could not create default video encoder for {options.video_codec}")
        return
    over = threading.Event()
    video = VideoStream(services, options, sockets["video"]) if "video" in sockets else None
    control = ServedControl(services, options, sockets["control"], video, log) if "control" in sockets else None
    runs = [part.run for part in (video, control) if part is not None]
    if control is not None and options.clipboard_autosync:
        runs.append(control.sync)
    threads = [_start_thread(run, over) for run in runs]
    while not over.is_set() and not console.gone.is_set():
        over.wait(_LOOK)
    if video is not None:
        video.stop()
    for stream in sockets.values():
        stream.close()
    for thread in threads:
        thread.join()


def _start_thread(run: Callable[[], None], over: threading.Event) -> threading.Thread:
    def whole() -> None:
        try:
            run()
        finally:
            over.set()

    thread = threading.Thread(target=whole, name="scrcpy-server", daemon=True)
    thread.start()
    return thread


def _write_if_open(stream: Stream, data: bytes) -> None:
    """Write data, and ignore a closed stream."""
    try:
        stream.write(data)
    except HungUp:
        return
