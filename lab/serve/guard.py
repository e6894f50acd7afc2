"""Checks for every request: host names, origins, the browser's content policy, silent connections."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_SILENT = 10.0
"""Seconds in which a connection must send a request."""
_JUNK = (HttpProcessingError, web.RequestPayloadError, ConnectionError, TimeoutError)
_NONCE: ContextVar[str] = ContextVar("nonce", default="")
"""Nonce of the current response's scripts and styles. Each request has its own context."""


def nonce() -> str:
    """Return the nonce that marks the current response's scripts and styles as ours."""
    return _NONCE.get()


def own_names(address: str, port: int) -> frozenset[str]:
    """Return the `Host` values that are valid for a server on loopback or behind `address`."""
    public = urlsplit(address).netloc.lower()
    local = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    return frozenset({public} | local)


def quiet_logger() -> logging.Logger:
    """Return a logger for the server's own errors. It drops invalid HTTP and broken connections.

    Strangers send such bytes all the time, and each would log a traceback.
    """
    logger = logging.getLogger("hitlab.serve")
    if not logger.filters:
        logger.addFilter(lambda record: not isinstance((record.exc_info or (None, None))[1], _JUNK))
    return logger


class Guard:
    """Refuse other hosts and origins, and set the content policy of each response."""

    def __init__(self, *, secure: bool) -> None:
        self.names: frozenset[str] = frozenset()
        """Own `Host` values, set once the port is known."""
        self._secure = secure
        self._silent: set[RequestHandler] = set()
        """Connections without a request so far."""

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse a foreign host (DNS rebinding), and a page of another origin that writes or opens a socket (403)."""
        self._silent.discard(request.protocol)
        _NONCE.set(secrets.token_urlsafe(12))
        if request.host.lower() not in self.names or not self._same_origin(request):
            raise web.HTTPForbidden(text="This address is none of this lab's.")
        return await handler(request)

    def _same_origin(self, request: web.Request) -> bool:
        origin = request.headers.get("Origin")
        asks = request.method not in ("GET", "HEAD") or "upgrade" in request.headers.get("Connection", "").lower()
        if origin is None or not asks:
            return not asks
        try:
            return urlsplit(origin).netloc.lower() == request.host.lower()
        except ValueError:  # it is no address
            return False

    async def sign(self, request: web.Request, response: web.StreamResponse) -> None:
        """Set the headers of every response. A page with its own content policy keeps it."""
        headers = response.headers
        headers["Server"] = "hitlab"
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "same-origin"  # with `no-referrer`, a form sends the origin "null"
        headers.setdefault("Cache-Control", "no-store")
        if "Content-Security-Policy" not in headers:
            sockets = f"{'wss' if self._secure else 'ws'}://{request.host}"
            headers["Content-Security-Policy"] = (
                f"default-src 'none'; script-src 'nonce-{nonce()}'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
                f"img-src 'self' data: blob:; connect-src 'self' {sockets}; frame-src 'self'; form-action 'self'; "
                "base-uri 'none'; frame-ancestors 'none'"
            )

    def close_silent(self, handler: RequestHandler) -> None:
        """Abort a connection that sends no request in time. It would occupy a slot for nothing."""

        def abort_if_silent() -> None:
            if handler in self._silent:
                self._silent.remove(handler)
                if handler.transport is not None:
                    handler.transport.abort()

        self._silent.add(handler)
        asyncio.get_running_loop().call_later(_SILENT, abort_if_silent)
