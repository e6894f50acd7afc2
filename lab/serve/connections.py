"""Bounds on the connections of a server: how many it may hold, and how long one may stay silent."""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

_FILES = 65_536
"""Open files, and with them connections, that a server asks the system for."""


def allow_many_files() -> None:
    """Raise the soft limit of open files as far as the system allows, up to `_FILES`."""
    with suppress(ValueError, OSError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
        if soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class SilentConnections:
    """Connections without a request so far. Each would occupy a slot for nothing, and is aborted after some time."""

    def __init__(self) -> None:
        self._handlers: set[RequestHandler] = set()

    def watch(self, handler: RequestHandler, seconds: float) -> RequestHandler:
        """Abort a new connection unless it sends a request within `seconds`. Return it."""

        def abort() -> None:
            if handler in self._handlers:
                self._handlers.remove(handler)
                if handler.transport is not None:
                    handler.transport.abort()

        self._handlers.add(handler)
        asyncio.get_running_loop().call_later(seconds, abort)
        return handler

    def discard(self, request: web.BaseRequest) -> None:
        """Stop watching the connection of a request."""
        self._handlers.discard(request.protocol)
