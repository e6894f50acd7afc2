"""Pictures beside the terminal: one page on this machine that shows the phone of the step that is looked at."""

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
from typing import Any, NamedTuple

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.seams import Frame
from lab.core.step import Point
from screens.mirror.marks import PhoneMark

_WAIT = 20.0
"""Seconds that a page waits for something newer before it asks again."""
_PACE = 0.2
"""Least seconds between two pictures of a phone that moves: a page is for looking closely, the mirror is live."""


class WindowPage(NamedTuple):
    """What the page shows: a picture's bytes and type, made when first asked for; the phone's size in pixels."""

    number: int
    picture: Callable[[], tuple[bytes, str]] | None
    size: Point | None
    caption: str
    marks: tuple[PhoneMark, ...] = ()


class PictureWindow:
    """A page at `address`, on the loopback interface and behind a secret path; the newest picture wins.

    Every verb may be called from any thread and returns at once.
    """

    def __init__(self) -> None:
        self._token = secrets.token_urlsafe(16)
        self._change = threading.Condition()
        self._shown = WindowPage(0, None, None, "")
        self._made: tuple[int, tuple[bytes, str]] | None = None
        self._pace = 0.0
        self._told = 0.0
        self._closed = False
        try:
            self._server = _Server(("127.0.0.1", 0), _handler(self))
        except OSError as error:
            raise LabError("--window", f"no port of this machine can be had ({error.strerror})") from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="window", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        return f"http://127.0.0.1:{self.port}/{self._token}/"

    def show(self, image: bytes | None, size: Point | None, caption: str, marks: Sequence[PhoneMark] = ()) -> None:
        """Shows a stored picture (PNG or JPEG bytes) with marks in the phone's pixels; without one the caption."""
        made = (image, "image/jpeg" if image[:2] == b"\xff\xd8" else "image/png") if image is not None else None
        self._put(made and (lambda: made), size, caption, tuple(marks))

    def show_frame(self, frame: Frame, caption: str = "") -> None:
        """Shows a live picture; pages are told of one a few times a second at most, and of the last one always."""
        self._put(lambda: (_jpeg(frame), "image/jpeg"), frame.space or frame.size, caption, self._shown.marks, _PACE)

    def mark(self, marks: Sequence[PhoneMark]) -> None:
        """Draws these marks over the picture instead of those before."""
        shown = self._shown
        if tuple(marks) != shown.marks:
            self._put(shown.picture, shown.size, shown.caption, tuple(marks))

    def close(self) -> None:
        """Ends the page; a browser that shows it says that hitlab was left."""
        with self._change:
            if self._closed:
                return
            self._closed = True
            self._change.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(2)

    def _put(
        self,
        picture: Callable[[], tuple[bytes, str]] | None,
        size: Point | None,
        caption: str,
        marks: tuple[PhoneMark, ...],
        pace: float = 0.0,
    ) -> None:
        with self._change:
            self._shown = WindowPage(self._shown.number + 1, picture, size, plain(caption), marks)
            self._pace = pace
            self._change.notify_all()

    # -- what a page asks ------------------------------------------------------------------------------------

    def allows(self, path: str, host: str) -> str | None:
        """The part of a path behind the secret one; None for who does not know it, or came by another name."""
        first, _, rest = path.lstrip("/").partition("/")
        ours = host in (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        return rest if ours and hmac.compare_digest(first.encode(), self._token.encode()) else None

    def newer(self, than: int) -> dict[str, Any]:
        """What is shown once it is newer than that number, or after a while as it is."""
        end = time.monotonic() + _WAIT
        with self._change:
            while self._shown.number <= than and not self._closed and (left := end - time.monotonic()) > 0:
                self._change.wait(left)
            while not self._closed and (left := self._told + self._pace - time.monotonic()) > 0:
                self._change.wait(left)
            shown, self._told = self._shown, time.monotonic()
        return {
            "number": shown.number,
            "picture": shown.picture is not None,
            "size": shown.size,
            "caption": shown.caption,
            "marks": [{"kind": m.kind, "at": m.at, "to": m.to, "label": plain(m.label)} for m in shown.marks],
            "over": self._closed,
        }

    def picture(self) -> tuple[bytes, str] | None:
        """The newest picture's bytes and type."""
        shown, made = self._shown, self._made
        if shown.picture is None:
            return None
        if made is None or made[0] != shown.number:
            self._made = made = shown.number, shown.picture()
        return made[1]


class _Server(ThreadingHTTPServer):
    """Answers browsers on threads of their own; nothing of what goes wrong there is printed into the terminal."""

    request_queue_size = 128
    """Clients that may knock at once: of the usual five the next would wait a second to be heard again."""

    daemon_threads = True

    def server_bind(self) -> None:
        """Without asking a name server what this machine is called."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that was not answered asks again."""


def _jpeg(frame: Frame) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.frombuffer("RGB", frame.size, frame.rgb, "raw", "RGB", 0, 1).save(out, "JPEG", quality=88)
    return out.getvalue()


def _handler(window: PictureWindow) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers one browser; it is told nothing about the machine, and keeps nothing."""

        protocol_version = "HTTP/1.1"
        timeout = 2 * _WAIT
        server_version, sys_version = "hitlab", ""

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            rest = window.allows(path, self.headers.get("Host", ""))
            if rest == "":
                nonce = secrets.token_urlsafe(12)
                self._answer(_PAGE.replace("NONCE", nonce).encode(), "text/html; charset=utf-8", nonce)
            elif rest == "now":
                than = query.removeprefix("after=")
                self._answer(encode(window.newer(int(than) if re.fullmatch("[0-9]{1,15}", than) else -1)))
            elif rest == "picture" and (made := window.picture()) is not None:
                self._answer(*made)
            else:
                self.send_error(404)

        def _answer(self, body: bytes, kind: str = "application/json", nonce: str = "") -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("X-Content-Type-Options", "nosniff")
            here = f"'nonce-{nonce}'" if nonce else "'none'"
            self.send_header(
                "Content-Security-Policy",
                f"default-src 'none'; img-src 'self' blob:; connect-src 'self'; script-src {here}; style-src {here}; "
                "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            )
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is written into the terminal."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                return  # the browser went away

    return Handler


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hitlab</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style nonce="NONCE">
html, body { margin: 0; height: 100%; background: #16181d; color: #d8dbe2; font: 15px/1.4 system-ui, sans-serif; }
body { display: flex; flex-direction: column; align-items: center; }
#caption { padding: .6em 1em; min-height: 1.4em; max-width: 60em; white-space: pre-wrap; text-align: center; }
#phone { position: relative; flex: 1; min-height: 0; width: 100%; }
#phone img, #phone svg { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: contain; }
#phone svg { pointer-events: none; }
.gone #phone { opacity: .4; }
</style></head><body>
<div id="caption">waiting for a picture</div>
<div id="phone"><img id="picture" alt=""><svg id="marks" preserveAspectRatio="xMidYMid meet"></svg></div>
<script nonce="NONCE">
const at = name => document.getElementById(name), SVG = "http://www.w3.org/2000/svg";
function add(kind, attributes) {
  const one = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  at("marks").append(one);
  return one;
}
function draw(now) {
  const [width, height] = now.size || [at("picture").naturalWidth || 1, at("picture").naturalHeight || 1];
  const unit = Math.max(width, height) / 100, ink = { stroke: "#ff3b6b", "stroke-width": unit / 2.5, fill: "none" };
  at("marks").setAttribute("viewBox", `0 0 ${width} ${height}`);
  at("marks").replaceChildren();
  for (const mark of now.marks) {
    const [x, y] = mark.at || [2 * unit, height - 6 * unit];
    if (mark.kind === "box" || mark.kind === "evidence") {
      add("rect", { x: x, y: y, width: mark.to[0] - x, height: mark.to[1] - y, ...ink });
      continue;
    }
    add("circle", { cx: x, cy: y, r: 2.2 * unit, ...ink });
    if (mark.to) add("line", { x1: x, y1: y, x2: mark.to[0], y2: mark.to[1], ...ink });
    if (mark.to) add("circle", { cx: mark.to[0], cy: mark.to[1], r: unit, ...ink, fill: "#ff3b6b" });
    if (mark.label) add("text", { x: x + 3 * unit, y: y, fill: "#ff3b6b", "font-size": 2.4 * unit }).textContent =
      mark.label;
  }
}
async function follow() {
  let number = -1, url = "";
  for (;;) {
    try {
      const now = await (await fetch("now?after=" + number)).json();
      if (now.over) throw new Error("over");
      document.body.className = "";
      if (now.number !== number) {
        number = now.number;
        at("caption").textContent = now.caption || (now.picture ? "" : "no picture here");
        at("picture").hidden = !now.picture;
        if (now.picture) {
          const old = url;
          url = URL.createObjectURL(await (await fetch("picture")).blob());
          at("picture").src = url;
          await at("picture").decode().catch(() => 0);
          if (old) URL.revokeObjectURL(old);
        }
        draw(now);
      }
    } catch (gone) {
      document.body.className = "gone";
      at("caption").textContent = "hitlab was left; this is the last picture it showed";
      await new Promise(done => setTimeout(done, 2000));
    }
  }
}
follow();
</script></body></html>
"""
