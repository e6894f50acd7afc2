"""Access to the endpoint: checks of the `Host` header, the `Origin` and a token."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from typing import NamedTuple

from lab.core.errors import LabError

TOKEN = "HITLAB_ENDPOINT_TOKEN"
"""Environment variable of the token. It is not a setting, so that no file contains it."""
_LOCAL_NAMES = frozenset({"localhost", "host.docker.internal", "127.0.0.1", "::1"})
_SHORTEST = 16


class TooManyWait(LabError):
    """The limit of waiting questions is reached."""


class RequestRefused(LabError):
    """A request asks for what a person cannot give. `field` is the offending one, as in OpenAI's errors."""

    def __init__(self, field: str, problem: str, *, status: int = 400) -> None:
        super().__init__("the request", f"field {field}: {problem}" if field else problem)
        self.field, self.status = field, status


class RequestRefusal(NamedTuple):
    """Response to a refused request: an HTTP status, a sentence, the field of the body, the path's allowed methods."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    field: str | None = None
    allow: str = ""


class Access(NamedTuple):
    """Access rule. Without a `token` it admits only this machine."""

    token: str = ""

    def refusal(self, headers: Mapping[str, str]) -> RequestRefusal | None:
        """Return why a request with these headers (lower-case names) is refused, or None.

        A browser's page sends its `Origin`, an API client does not. Without a token the `Host` must be this machine's,
        or a page of another site could resolve its name to this machine (DNS rebinding).
        """
        if "origin" in headers:
            return RequestRefusal(403, "Pages in a browser do not ask here.", "permission_error")
        if self.token:
            scheme, _, token = headers.get("authorization", "").partition(" ")
            # Constant time, so that the duration reveals nothing about the token.
            right = hmac.compare_digest(token.strip().encode(), self.token.encode())
            if scheme.casefold() != "bearer" or not right:
                return RequestRefusal(401, "The API key is not this endpoint's token.", "authentication_error")
        elif host_name(headers.get("host", "")) not in _LOCAL_NAMES:
            return RequestRefusal(403, "This endpoint serves this machine alone.", "permission_error")
        return None


def host_name(host: str) -> str:
    """Return the name in a `Host` header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach a server at this address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def access_for(host: str, token: str) -> Access:
    """Return the access rule of a server on `host`: with the given token, if any.

    Create a token if other machines can reach the server and none is set. Raise `LabError` if the token is too short.
    """
    if token and len(token) < _SHORTEST:
        raise LabError(TOKEN, f"has fewer than {_SHORTEST} characters.", "Leave it unset, and one is made.", code=2)
    if token or is_loopback(host):
        return Access(token)
    return Access("sk-" + secrets.token_urlsafe(24))
