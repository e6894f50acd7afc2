"""Who may ask at the endpoint: by the `Host` that is asked for, the page that asks, and a token."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from typing import NamedTuple

from lab.core.errors import LabError

TOKEN = "HITLAB_ENDPOINT_TOKEN"
"""The variable that holds the token; it is no setting, so that it stands in no file."""
_LOCAL_NAMES = frozenset({"localhost", "host.docker.internal", "127.0.0.1", "::1"})
_SHORTEST = 16


class TooManyWait(LabError):
    """No further question can wait."""


class RequestRefused(LabError):
    """A request asks for what a person cannot give; `field` is the one that says so, as OpenAI's errors name it."""

    def __init__(self, field: str, problem: str, *, status: int = 400) -> None:
        super().__init__("the request", f"field {field}: {problem}" if field else problem)
        self.field, self.status = field, status


class Refusal(NamedTuple):
    """Why a request is not looked at: an HTTP status, a sentence, the field of the body, the methods of the path."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    field: str | None = None
    allow: bytes = b""


class Access(NamedTuple):
    """What a request must show. Without a `token` only this machine is served."""

    token: str = ""

    def refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        """Why a request is refused; `headers` by lower-case name. None where it may ask.

        A browser's page names its `Origin`, and no client of the API does. With no token the `Host` must be this
        machine's, or a page of another site could lead its name here (DNS rebinding).
        """
        if "origin" in headers:
            return Refusal(403, "Pages in a browser do not ask here.", "permission_error")
        if self.token:
            scheme, _, token = headers.get("authorization", "").partition(" ")
            right = hmac.compare_digest(token.strip().encode(), self.token.encode())
            if scheme.casefold() != "bearer" or not right:
                return Refusal(401, "The API key is not this endpoint's token.", "authentication_error")
        elif host_name(headers.get("host", "")) not in _LOCAL_NAMES:
            return Refusal(403, "This endpoint serves this machine alone.", "permission_error")
        return None


def host_name(host: str) -> str:
    """The name in a `Host` header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def is_loopback(host: str) -> bool:
    """Whether what listens at an address is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def access_for(host: str, token: str) -> Access:
    """Who may ask of a server on `host`: with a token where one is set, and where others than this machine reach it.

    A token is made where one is needed and none is set.
    """
    if token and len(token) < _SHORTEST:
        raise LabError(TOKEN, f"has fewer than {_SHORTEST} characters.", "Leave it unset, and one is made.", code=2)
    if token or is_loopback(host):
        return Access(token)
    return Access("sk-" + secrets.token_urlsafe(24))
