"""What every request passes: the names this server has, what a browser may do with its pages, silent connections."""

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
"""Seconds within which a connection must have asked for something."""
_JUNK = (HttpProcessingError, web.RequestPayloadError, ConnectionError, TimeoutError)
_NONCE: ContextVar[str] = ContextVar("nonce", default="")
"""What marks scripts and styles of the answer under way as ours; a request has a context of its own."""


def nonce() -> str:
    """What marks the scripts and styles of the answer under way as ours."""
    return _NONCE.get()


def own_names(address: str, port: int) -> frozenset[str]:
    """The `Host` names by which a server on loopback, or behind `address`, may be asked for."""
    public = urlsplit(address).netloc.lower()
    local = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    return frozenset({public} | local)


def quiet_logger() -> logging.Logger:
    """A log of the server's own faults: what is no HTTP, or breaks off, is refused, and told to nobody.

    Strangers send such bytes all the time, and each would be a traceback.
    """
    logger = logging.getLogger("hitlab.serve")
    if not logger.filters:
        logger.addFilter(lambda record: not isinstance((record.exc_info or (None, None))[1], _JUNK))
    return logger


class Guard:
    """Refuses other names and other origins, and says in each answer what a browser may load."""

    def __init__(self, *, secure: bool) -> None:
        self.names: frozenset[str] = frozenset()
        """The `Host` names that are ours; known once the port is."""
        self._secure = secure
        self._silent: set[RequestHandler] = set()
        """Connections on which nothing was asked for yet."""

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A name that is not ours (DNS rebinding), or a page of another origin that writes or opens a socket: 403."""
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
        """The headers of every answer; a page that says more of itself keeps its own policy."""
        headers = response.headers
        headers["Server"] = "hitlab"
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "same-origin"  # with none at all, a form says that its origin is null
        headers.setdefault("Cache-Control", "no-store")
        if "Content-Security-Policy" not in headers:
            sockets = f"{'wss' if self._secure else 'ws'}://{request.host}"
            headers["Content-Security-Policy"] = (
                f"default-src 'none'; script-src 'nonce-{nonce()}'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
                f"img-src 'self' data: blob:; connect-src 'self' {sockets}; frame-src 'self'; form-action 'self'; "
                "base-uri 'none'; frame-ancestors 'none'"
            )

    def close_silent(self, handler: RequestHandler) -> None:
        """Ends a connection on which nothing was asked for in time: it would hold a place for nothing."""

        def look() -> None:
            if handler in self._silent:
                self._silent.remove(handler)
                if handler.transport is not None:
                    handler.transport.abort()

        self._silent.add(handler)
        asyncio.get_running_loop().call_later(_SILENT, look)
