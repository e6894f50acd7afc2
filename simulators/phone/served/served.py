"""The embedded phone as an adb device: its screen, shell, files and video behind a loopback port."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from lab.core.errors import LabError
from lab.core.text.suggestion import list_sentence
from simulators.phone.phone import Phone
from simulators.phone.served import shell
from simulators.phone.served.adbd import Adbd
from simulators.phone.served.display import LOCKS, Display
from simulators.phone.served.faults import NAMES, Faults
from simulators.phone.served.harness import HarnessPort
from simulators.phone.served.services import Services

PROPERTIES = {
    "ro.product.name": "lantern", "ro.product.device": "lantern", "ro.product.model": "Lantern One",
    "ro.product.brand": "Lantern", "ro.product.manufacturer": "Lantern", "ro.product.board": "lantern",
    "ro.product.cpu.abi": "arm64-v8a", "ro.product.cpu.abilist": "arm64-v8a,armeabi-v7a,armeabi",
    "ro.product.locale": "en-US", "persist.sys.locale": "en-US", "persist.sys.timezone": "Asia/Shanghai",
    "ro.build.version.release": "15", "ro.build.version.sdk": "35", "ro.build.version.codename": "REL",
    "ro.build.version.security_patch": "2026-02-05", "ro.build.type": "user", "ro.build.id": "LAN1.260205.001",
    "ro.build.fingerprint": "Lantern/lantern/lantern:15/LAN1.260205.001/1:user/release-keys",
    "ro.debuggable": "0", "ro.secure": "1",
    "sys.boot_completed": "1", "dev.bootcomplete": "1", "init.svc.adbd": "running", "init.svc.bootanim": "stopped",
    "ro.sf.lcd_density": "420",
}  # fmt: skip
_LEAST_TOKEN = 8
_SCREEN = ("asleep", "secured", "folded", "second")


class PhoneServer:
    """Server of a phone from `start` to `close`, or as a context. `port` and `harness_port` 0 pick free ones.

    `harness_port` None disables the harness. `token` is the harness's secret, generated if empty. Raise `LabError` if a
    port is taken.
    """

    def __init__(
        self,
        phone: Phone,
        *,
        port: int = 0,
        harness_port: int | None = 0,
        token: str = "",
        display: Display | None = None,
    ) -> None:
        if token and (len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token):
            problem = f"is {_LEAST_TOKEN} or more plain characters without spaces."
            raise LabError("the harness's token", problem, "Leave it out, and one is made up.")
        self.phone = phone
        self.faults = Faults()
        self.display = display or Display(phone)
        self.serialno = f"LANTERN{secrets.token_hex(4).upper()}"
        """Serial number that identifies the phone, over adb and at the harness."""
        own = {"ro.serialno": self.serialno, "ro.boot.serialno": self.serialno}
        self.services = Services(self.display, self.faults, properties=PROPERTIES | own)
        self.token = token or secrets.token_urlsafe(24)
        self._first = phone.snapshot()
        self._adbd = Adbd(self.services, shell.run, port)
        try:
            self._harness = (
                None if harness_port is None else HarnessPort(self.token, self._harness_answers(), harness_port)
            )
        except LabError:
            self._adbd.close()
            raise

    @property
    def serial(self) -> str:
        """Address for `adb connect`, and the phone's name afterwards."""
        return self._adbd.serial

    @property
    def harness_url(self) -> str:
        """Address of the harness, empty without one."""
        return self._harness.url if self._harness else ""

    def start(self) -> PhoneServer:
        """Start the daemon and the harness. Both accept connections on return."""
        self._adbd.start()
        if self._harness:
            self._harness.start()
        return self

    def close(self) -> None:
        """Cut all connections, release the ports and end all threads. The phone stays usable. Safe to call twice."""
        if self._harness:
            self._harness.close()
        self._adbd.close()

    def __enter__(self) -> PhoneServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def reset(self) -> None:
        """Restore the phone as it was when this server was created, upright and lit, without files, settings and
        faults.
        """
        services = self.services
        self.faults.clear()
        services.files.clear()
        services.settings.clear()
        services.clipboard = ""
        self.display.rotation = 0
        self.display.override = None
        self._reset_screen()
        self.phone.restore(self._first)

    def fault(self, name: str, value: object) -> None:
        """Set a switch of `Faults` or of the screen, or `clear` all. Raise `LabError` for an unknown name.

        The screen's are `rotate` (0 to 3), `asleep`, `secured`, `folded`, `second` (a monitor), each true or false, and
        `lock` ("", "swipe", "pin").
        """
        if name == "clear":
            self.faults.clear()
            self._reset_screen()
        elif name in _SCREEN:
            if not isinstance(value, bool):
                raise LabError("fault", f"{name} is true or false, not {value!r}.")
            setattr(self.display, "awake" if name == "asleep" else name, value != (name == "asleep"))
        elif name == "lock":
            if value not in LOCKS:
                raise LabError("fault", f"lock cannot be {value!r}.", f"It is one of {', '.join(map(repr, LOCKS))}.")
            self.display.lock = str(value)
        elif name == "rotate":
            if value not in (0, 1, 2, 3) or isinstance(value, bool):
                raise LabError("fault", f"rotate is 0, 1, 2 or 3, not {value!r}.")
            self.display.rotation = int(str(value))
        elif name in NAMES:
            self.faults.turn(name, value)
        else:
            there = list_sentence((*NAMES, *_SCREEN, "lock", "rotate", "clear"))
            raise LabError("fault", f"{name!r} is none.", there)

    def _reset_screen(self) -> None:
        """Light and unlock the screen, without changing its rotation."""
        display = self.display
        display.awake, display.lock, display.secured, display.folded, display.second = True, "", False, False, False

    def health(self) -> dict[str, Any]:
        """Return the server's identity and state."""
        return {
            "serial": self.serial,
            "serialno": self.serialno,
            "rotation": self.display.rotation,
            "faults": self.faults.state(),
            "screen": {
                "asleep": not self.display.awake,
                **{name: getattr(self.display, name) for name in ("lock", "secured", "folded", "second")},
            },
        }

    # -- what the harness asks -------------------------------------------------------------------------------

    def _harness_answers(self) -> dict[str, Any]:
        return {
            "GET /health": lambda _: self.health(),
            "GET /snapshot": lambda _: self.phone.snapshot(),
            "POST /restore": self._restore,
            "POST /lay": self._lay,
            "POST /reset": self._reset,
            "POST /fault": self._fault,
        }

    def _restore(self, state: Any) -> dict[str, Any]:
        self.phone.restore(state)
        return self.health()

    def _lay(self, overlay: Any) -> dict[str, Any]:
        if not isinstance(overlay, Mapping):
            raise LabError("field phone", "is no mapping.")
        self.phone.lay(dict(overlay))
        return self.health()

    def _reset(self, _: Any) -> dict[str, Any]:
        self.reset()
        return self.health()

    def _fault(self, request: Any) -> dict[str, Any]:
        if (
            not isinstance(request, Mapping)
            or not set(request) <= {"name", "value"}
            or not isinstance(request.get("name"), str)
        ):
            raise LabError("fault", "is asked for as a name and a value.")
        self.fault(request["name"], request.get("value"))
        return self.health()
