"""Pictures beside the terminal: a local web page that shows the phone at the current step."""

from __future__ import annotations

import hmac
import io
import re
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.step import Point
from lab.core.seams import Frame
from lab.core.text.plain_text import plain
from screens.mirror.marks import PhoneMark
from screens.picture_page import PAGE

Region = tuple[int, int, int, int]

_LONGEST = 1024
"""Maximum bytes that a page may send."""
_WAIT = 20.0
"""Seconds that a page waits for something newer before it asks again."""
_PACE = 0.2
"""Minimum seconds between two pictures of a moving phone. The page is for close inspection, the mirror is live."""


class WindowPage(NamedTuple):
    """Contents of the page.

    `picture` returns bytes and media type on first request, and `size` is the phone's in pixels.
    """

    number: int
    picture: Callable[[], tuple[bytes, str]] | None
    size: Point | None
    caption: str
    marks: tuple[PhoneMark, ...] = ()
    take: Callable[[Region], None] | None = None
    """Callback: called with a region dragged on the page, in the phone's pixels, or None if no region is wanted."""


class DraggedRegion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request of a page: number of the picture, and left, top, right and bottom of the drag in the phone's pixels."""

    number: int
    box: Region


class PictureWindow:
    """A page at `address`, on the loopback interface and behind a secret path. The newest picture wins.

    All methods may be called from any thread and return at once. `tell` is called on the same thread with True when
    there is something to show, and with False when there is nothing any more.
    """

    def __init__(self, tell: Callable[[bool], None] | None = None) -> None:
        self._token = secrets.token_urlsafe(16)
        self._change = threading.Condition()
        self._shown = WindowPage(0, None, None, "")
        self._encoded: tuple[int, tuple[bytes, str]] | None = None
        self._pace = 0.0
        self._sent_at = 0.0
        self._on_pictures = tell
        self._has_pictures = False
        self._closed = False
        try:
            self._server = _Server(("127.0.0.1", 0), _make_handler(self))
        except OSError as error:
            raise LabError("--window", f"no port of this machine can be had ({error.strerror})") from error
        # 0.1: seconds until `shutdown` is noticed.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="window", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def address(self) -> str:
        """URL for a browser on this machine."""
        return f"http://127.0.0.1:{self.port}/{self._token}/"

    def show(self, image: bytes | None, size: Point | None, caption: str, marks: Sequence[PhoneMark] = ()) -> None:
        """Show a stored picture (PNG or JPEG bytes) with marks in the phone's pixels, or only the caption."""
        # The first two bytes of every JPEG.
        picture = (image, "image/jpeg" if image[:2] == b"\xff\xd8" else "image/png") if image is not None else None
        self._publish(picture and (lambda: picture), size, caption, tuple(marks))

    def show_frame(self, frame: Frame, caption: str = "") -> None:
        """Show a live picture. Pages receive a few a second at most, and always the last one."""
        self._publish(
            lambda: (_encode_jpeg(frame), "image/jpeg"), frame.space or frame.size, caption, self._shown.marks, _PACE
        )

    def mark(self, marks: Sequence[PhoneMark]) -> None:
        """Replace the marks over the picture."""
        page = self._shown
        if tuple(marks) != page.marks:
            self._publish(page.picture, page.size, page.caption, tuple(marks))

    def ask_region(self, take: Callable[[Region], None] | None) -> None:
        """Call `take`, on a thread, with the next region dragged on the page. None stops asking."""
        page = self._shown
        if take is not page.take:
            self._publish(page.picture, page.size, page.caption, page.marks, take=take)

    def hide(self) -> None:
        """Show nothing, because the next item has no phone or hides it."""
        self._publish(None, None, "", (), take=None)
        self._set_has_pictures(False)

    def close(self) -> None:
        """Close the page. A browser that shows it says that hitlab was left."""
        with self._change:
            if self._closed:
                return
            self._closed = True
            self._change.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(2)

    def _publish(
        self,
        picture: Callable[[], tuple[bytes, str]] | None,
        size: Point | None,
        caption: str,
        marks: tuple[PhoneMark, ...],
        pace: float = 0.0,
        *,
        take: Callable[[Region], None] | Literal["as before"] | None = "as before",
    ) -> None:
        with self._change:
            taker = self._shown.take if take == "as before" else take
            self._shown = WindowPage(self._shown.number + 1, picture, size, plain(caption), marks, taker)
            self._pace = pace
            self._change.notify_all()
        if picture is not None:
            self._set_has_pictures(True)

    def _set_has_pictures(self, now: bool) -> None:
        """Call `tell` if there are pictures now and were none before, or the reverse.

        One step without a picture is no change.
        """
        with self._change:
            changes, self._has_pictures = now is not self._has_pictures, now
        if changes and self._on_pictures is not None:
            self._on_pictures(now)

    # -- what a page asks ------------------------------------------------------------------------------------

    def path_below_secret(self, path: str, host: str) -> str | None:
        """Return the path behind the secret part, or None if the secret or the host name is wrong."""
        first, _, rest = path.lstrip("/").partition("/")
        # Another name would mean DNS rebinding: a foreign page that resolves its own name to this machine.
        ours = host in (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        return rest if ours and hmac.compare_digest(first.encode(), self._token.encode()) else None

    def is_own_origin(self, origin: str | None) -> bool:
        """Return True for a request from our page or from no page. Browsers name the origin of other pages."""
        return origin in (None, f"http://127.0.0.1:{self.port}", f"http://localhost:{self.port}")

    def wait_newer(self, than: int) -> dict[str, Any]:
        """Return what is shown, once it is newer than that number or after `_WAIT` seconds."""
        end = time.monotonic() + _WAIT
        with self._change:
            while self._shown.number <= than and not self._closed and (seconds_left := end - time.monotonic()) > 0:
                self._change.wait(seconds_left)
            # The pace is kept here, where pages wait, so that the last picture always arrives.
            while not self._closed and (seconds_left := self._sent_at + self._pace - time.monotonic()) > 0:
                self._change.wait(seconds_left)
            page, self._sent_at = self._shown, time.monotonic()
        return {
            "number": page.number,
            "picture": page.picture is not None,
            "size": page.size,
            "caption": page.caption,
            "marks": [{"kind": m.kind, "at": m.at, "to": m.to, "label": plain(m.label)} for m in page.marks],
            "asks": page.take is not None,
            "over": self._closed,
        }

    def accept_region(self, body: bytes) -> bool:
        """Accept a region from a page.

        Return False if none is wanted, it is invalid, or it belongs to another picture.
        """
        page = self._shown
        try:
            region = msgspec.json.decode(body, type=DraggedRegion)
        except (msgspec.DecodeError, ValueError):
            return False
        left, top, right, bottom = region.box
        if page.take is None or page.size is None or region.number != page.number:
            return False
        if not (0 <= left < right <= page.size[0] and 0 <= top < bottom <= page.size[1]):
            return False
        page.take(region.box)
        return True

    def picture(self) -> tuple[bytes, str] | None:
        """Return the newest picture's bytes and media type, or None without a picture."""
        # Two threads may both make the picture. The result is the same, so no lock is needed.
        page, cache = self._shown, self._encoded
        if page.picture is None:
            return None
        if cache is None or cache[0] != page.number:
            self._encoded = cache = page.number, page.picture()
        return cache[1]


class _Server(ThreadingHTTPServer):
    """Server with a thread per browser. Prints nothing into the terminal."""

    request_queue_size = 128
    """Backlog of connections. With the default of five, the sixth would wait a second for its retry."""

    daemon_threads = True

    def server_bind(self) -> None:
        """Bind without `getfqdn`, which would ask a name server for this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error, because the page asks again."""


def _encode_jpeg(frame: Frame) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.frombuffer("RGB", frame.size, frame.rgb, "raw", "RGB", 0, 1).save(out, "JPEG", quality=88)
    return out.getvalue()


def _make_handler(window: PictureWindow) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers one browser. Reveals nothing about the machine and stores nothing."""

        protocol_version = "HTTP/1.1"
        timeout = 2 * _WAIT
        server_version, sys_version = "hitlab", ""

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            page_path = window.path_below_secret(path, self.headers.get("Host", ""))
            if page_path == "":
                nonce = secrets.token_urlsafe(12)
                self._send(PAGE.replace("NONCE", nonce).encode(), "text/html; charset=utf-8", nonce)
            elif page_path == "now":
                than = query.removeprefix("after=")
                self._send(encode(window.wait_newer(int(than) if re.fullmatch("[0-9]{1,15}", than) else -1)))
            elif page_path == "picture" and (picture := window.picture()) is not None:
                self._send(*picture)
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            page_path = window.path_below_secret(self.path, self.headers.get("Host", ""))
            length = self.headers.get("Content-Length", "")
            short = re.fullmatch("[0-9]{1,4}", length) and int(length) <= _LONGEST
            # The body stays unread, so the connection cannot be used again.
            if page_path != "region" or not short or not window.is_own_origin(self.headers.get("Origin")):
                self.close_connection = True
                self.send_error(404)
            elif window.accept_region(self.rfile.read(int(length))):
                self._send(b"{}")
            else:
                self.send_error(409)

        def _send(self, body: bytes, kind: str = "application/json", nonce: str = "") -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("X-Content-Type-Options", "nosniff")
            source = f"'nonce-{nonce}'" if nonce else "'none'"
            self.send_header(
                "Content-Security-Policy",
                f"default-src 'none'; img-src 'self' blob:; connect-src 'self'; "
                f"script-src {source}; style-src {source}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            )
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing into the terminal."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                return  # the browser went away

    return Handler
