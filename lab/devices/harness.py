"""Client of a served phone's harness: snapshots and faults, which adb cannot carry."""

from __future__ import annotations

import http.client
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from lab.core.codec import decode, encode
from lab.core.errors import LabError
from lab.core.redaction.secret_keys import without_keys
from lab.core.seams import Trouble

_ADDRESS = re.compile(r"(?:http://)?(127\.0\.0\.1|localhost):(\d{1,5})/?")
_PATIENCE = 15.0
_MOST = 64 << 20
_TITLE = "the phone's harness"


class _HarnessRefusal(NamedTuple):
    """Error reply of the harness."""

    title: str
    message: str
    hint: str = ""


class Harness:
    """Client of the harness at `url` (as `hitlab serve phone` prints it), authorized by `token`.

    Each call ends within `patience` seconds. A refused call (a wrong token, too) raises `LabError`, a missing answer
    `Trouble`.
    """

    def __init__(self, url: str, token: str, patience: float = _PATIENCE) -> None:
        match = _ADDRESS.fullmatch(url.strip())
        if match is None or not 0 < int(match[2]) < 1 << 16:
            raise LabError(_TITLE, f"{url!r} is no address on this machine.", "It is as http://127.0.0.1:8500.")
        if not token or not token.isascii() or not token.isprintable():
            raise LabError(_TITLE, "needs the token that `hitlab serve phone` printed.", "Set HITLAB_HARNESS_TOKEN.")
        self.url = f"http://{match[1]}:{match[2]}"
        self._host, self._port = match[1], int(match[2])
        self._token, self._patience = token, patience

    def health(self) -> dict[str, Any]:
        """Return the phone's serial, its rotation and the state of each fault."""
        return self._ask("GET", "/health")

    def snapshot(self) -> dict[str, Any]:
        """Return the phone's whole state."""
        return self._ask("GET", "/snapshot")

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a snapshot."""
        self._ask("POST", "/restore", state)

    def lay(self, overlay: Mapping[str, Any]) -> None:
        """Apply a task's `phone` mapping on top of the state."""
        self._ask("POST", "/lay", overlay)

    def reset(self) -> None:
        """Reset the phone to its state when first served."""
        self._ask("POST", "/reset", {})

    def fault(self, name: str, value: object = None) -> None:
        """Set a fault by its name in `simulators.phone.served`. `clear` removes all."""
        self._ask("POST", "/fault", {"name": name, "value": value})

    def _ask(self, method: str, path: str, value: object = None) -> dict[str, Any]:
        body = encode(value) if method == "POST" else None
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        line = http.client.HTTPConnection(self._host, self._port, timeout=self._patience)
        sent = False
        try:
            line.connect()
            # Once connected, a failed POST may still have reached the phone.
            sent = method == "POST"
            line.request(method, path, body, headers)
            answer = line.getresponse()
            data = answer.read(_MOST + 1)
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise Trouble(
                _TITLE,
                f"{self.url} does not answer ({without_keys(why)}).",
                "Is `hitlab serve phone` running?",
                sent=sent,
            ) from error
        finally:
            line.close()
        if len(data) > _MOST:
            raise LabError(_TITLE, f"{self.url} answers more than a phone holds.")
        if answer.status != http.client.OK:
            self._refuse(answer.status, data)
        reply: dict[str, Any] = decode(data, dict[str, Any], f"answer of {self.url}")
        return reply

    def _refuse(self, status: int, data: bytes) -> NoReturn:
        try:
            refusal = _HarnessRefusal(**decode(data, dict[str, str], "refusal"))
        except (LabError, TypeError):
            raise LabError(_TITLE, f"{self.url} answers with {status}; it is no phone's harness.") from None
        if status == http.client.UNAUTHORIZED:
            hint = "HITLAB_HARNESS_TOKEN is what `hitlab serve phone` printed."
            raise LabError(_TITLE, f"{self.url} does not know this token.", hint)
        raise LabError(refusal.title, refusal.message, refusal.hint)
