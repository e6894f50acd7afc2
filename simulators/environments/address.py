"""Address of an environment, as `--env` accepts it: kind, location and options."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from lab.core.errors import LabError
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import suggestion

FORMS = "It is as http://127.0.0.1:6800 (MobileWorld, KnowU-Bench) or androidworld:/path/to/its/python."
"""Valid forms of an address, for error messages."""
_OPTIONS: dict[str, dict[str, str]] = {
    "mobileworld": {"device": r"[A-Za-z0-9._:-]{1,64}", "settle": r"\d{1,2}(?:\.\d{1,3})?"},
    "androidworld": {"console_port": r"\d{1,5}", "grpc_port": r"\d{1,5}", "adb_path": r"[^\0]{1,4096}"},
}
"""Options allowed after `?`, by kind, with their patterns: serial, seconds to settle, ports, path of adb."""


class Address(NamedTuple):
    """Location of an environment: `place` is a base URL without a final slash, or the path of a Python."""

    kind: Literal["mobileworld", "androidworld"]
    place: str
    options: dict[str, str]

    @property
    def display_name(self) -> str:
        """Form for messages and stored runs, without the options."""
        return self.place if self.kind == "mobileworld" else f"androidworld:{self.place}"


def read_address(text: str) -> Address:
    """Parse an address. Raise `LabError` with the problem, which never repeats a password."""
    if text.startswith("androidworld:"):
        place, _, query = text.removeprefix("androidworld:").partition("?")
        if not place.strip():
            raise LabError("--env", "androidworld: names no Python.", FORMS, code=2)
        return Address("androidworld", place, _options("androidworld", query))
    if not text.startswith(("http://", "https://")):
        raise LabError("--env", f"{_short(text)} is no environment's address.", FORMS, code=2)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
        parts = None
    if parts is None or not host or port == 0 or re.search(r"[\s\\]|[^\x21-\x7e]", text):
        raise LabError("--env", "this is no URL with a host and a port.", FORMS, code=2)
    if parts.username is not None or parts.password is not None:
        raise LabError("--env", "the address holds a name or a password.", "Leave it out: these servers ask for none.")
    if parts.fragment:
        raise LabError("--env", f"{_short(text)} ends in a fragment (#).", FORMS, code=2)
    place = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    return Address("mobileworld", place, _options("mobileworld", parts.query))


def _options(kind: str, query: str) -> dict[str, str]:
    patterns = _OPTIONS[kind]
    options = dict(parse_qsl(query, keep_blank_values=True, separator="&"))
    for name, value in options.items():
        if name not in patterns:
            near = suggestion(name, patterns)
            there = ", ".join(patterns)
            raise LabError("--env", f"the option {_short(name)} is none of {there}{near or '.'}", code=2)
        if not re.fullmatch(patterns[name], value) or (name.endswith("port") and not 0 < int(value) < 1 << 16):
            raise LabError("--env", f"the option {name} is {_short(value)}, which it cannot be.", code=2)
    return options


def _short(text: str) -> str:
    """Return typed text shortened and quoted for a message."""
    return repr(plain(text[:100], lines=False))
