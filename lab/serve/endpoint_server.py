"""HTTP server of the endpoint: uvicorn on its own thread, silent, and no request in any log."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from typing import TYPE_CHECKING, Any

from lab.core.errors import LabError
from lab.core.run import limits
from lab.serve.open_files import allow_many_files
from simulators.users.endpoint.access import TOKEN, Access, is_loopback
from simulators.users.endpoint.asgi import Application

if TYPE_CHECKING:
    import uvicorn

EXTRA = "hitlab[endpoint]"
_EXIT_SECONDS = 10.0
"""Seconds that the server has to stop."""


class EndpointServer:
    """Serve an endpoint from `start` to `stop`. Port 0 selects a free one."""

    def __init__(self, app: Application, access: Access, host: str, port: int) -> None:
        self._app, self.access, self.host, self.port = app, access, host, port
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def base(self) -> str:
        """Base URL for clients."""
        return base_url(self.host, self.port)

    def start(self) -> None:
        """Start listening. Raise `LabError` if the extra is not installed or the port is in use."""
        server = _server(self._app)
        # Bind here and not in uvicorn, so that a port in use raises in the caller.
        listening = self._listen()
        self.port = listening.getsockname()[1]
        allow_many_files()
        self._server = server
        self._thread = threading.Thread(target=server.run, args=([listening],), name="endpoint server", daemon=True)
        self._thread.start()

    def _listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            # A restarted server must not wait for old connections in TIME_WAIT.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((self.host.strip("[]"), self.port))
            listening.listen(1024)
            listening.setblocking(False)
        except OSError as error:
            listening.close()
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise LabError("serve user", f"{self.host}:{self.port} cannot be had ({why}).") from error
        return listening

    def stop(self) -> None:
        """Close all connections. A pending question stays in the file, and its client may ask it again."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(_EXIT_SECONDS)


def base_url(host: str, port: int) -> str:
    """Return the base URL of an endpoint. A wildcard address becomes loopback."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/v1"


def check_server() -> None:
    """Raise `LabError` if uvicorn is not installed."""
    try:
        import uvicorn  # noqa: F401
    except ModuleNotFoundError:
        raise LabError(
            "serve user", f"needs the extra {EXTRA}", f"pip install '{EXTRA}' installs it.", code=2
        ) from None


def _server(app: Application) -> uvicorn.Server:
    check_server()
    import uvicorn

    # uvicorn logs invalid requests even without an access log.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    config = uvicorn.Config(
        app,
        interface="asgi3",
        http=_protocol(),
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=75,
        limit_concurrency=limits.ENDPOINT_CONNECTIONS,
        # Requests wait for people. Do not wait for those.
        timeout_graceful_shutdown=1,
        headers=[("server", "hitlab")],
    )
    return uvicorn.Server(config)


def _protocol() -> Any:
    """Return uvicorn's HTTP protocol with a timeout for connections that send no request."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class BoundedProtocol(H11Protocol):
        """Closes a connection without a complete request head, which would occupy a slot for nothing."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            asyncio.get_running_loop().call_later(limits.ENDPOINT_SECONDS, self._close_silent)

        def _close_silent(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                self.transport.abort()

    return BoundedProtocol


def reached_words(access: Access, host: str) -> list[str]:
    """Return what people must know about a server that other machines can reach."""
    if not access.token:
        return []
    lines = [f"clients need the API key {access.token}"]
    if not is_loopback(host):
        lines.append("what is asked and answered crosses the network as it is: put a proxy with TLS before it")
    return [*lines, f"{TOKEN} sets another key"]
