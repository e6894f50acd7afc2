"""App starts by package, component or common name, without installing anything to find the app."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.text.plain_text import plain
from lab.devices.adb.known_apps import packages as known_packages
from lab.devices.adb.shell import Shell, ShellResult, line_of

if TYPE_CHECKING:
    from lab.devices.scrcpy.scrcpy import InstalledApp

_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)+")
_COMPONENT = re.compile(r"(?<![\w.])([A-Za-z][\w.]*+)/([\w.$]+)")
_LAUNCHABLE = "cmd package query-activities --brief -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
_SHOWN = 6


class Apps:
    """Apps of one phone.

    `labels` lists them with their labels, or returns None without a scrcpy server. `tap_icon` taps an icon of that name
    on the home screen, or returns False.
    """

    def __init__(
        self, shell: Shell, labels: Callable[[], Sequence[InstalledApp] | None], tap_icon: Callable[[str], bool]
    ) -> None:
        self._shell = shell
        self._list_labels = labels
        self._tap_icon = tap_icon
        self._labels: dict[str, str] = {}
        """Label of each package, once queried."""

    def open(self, name: str) -> None:
        """Open the app with that package, component or label.

        Raise `LabError` with the candidates if ambiguous or unknown.
        """
        name = name.strip()
        if not name:
            raise LabError("open app", "the action names no app")
        if _COMPONENT.fullmatch(name):
            self._start(name)
        elif _PACKAGE.fullmatch(name) and self._is_installed(name):
            self._launch(name)
        elif (package := self._find_package(name)) is not None:
            self._launch(package)
        elif not self._tap_icon(name):
            raise self._unknown_app(name)

    def _find_package(self, name: str) -> str | None:
        """Return the package of the app with that name: by label, the table of known apps, or the package's words."""
        there = self._launchable()
        if not self._labels:
            self._labels = {app.package: app.label for app in self._list_labels() or ()}
        labels = self._labels
        by_label = [package for package, label in labels.items() if _same_name(label, name)]
        if by_label:
            return _only_match(name, by_label, labels)
        by_table = [package for package in known_packages(name) if package in there]
        if by_table:
            return by_table[0]
        by_part = [package for package, label in labels.items() if _words(name) in _words(label)]
        if by_part:
            return _only_match(name, by_part, labels)
        by_words = [package for package in there if _package_matches(package, name)] if not labels else []
        return _only_match(name, by_words, labels) if by_words else None

    def _launchable(self) -> list[str]:
        """Return the packages in the launcher, or all if the phone cannot list those (before Android 7)."""
        components = [match[1] for match in _COMPONENT.finditer(self._shell.run(_LAUNCHABLE, 5.0).out)]
        if not components:
            listing = self._shell.run("pm list packages", 5.0).out
            components = [line.removeprefix("package:").strip() for line in listing.splitlines()]
        return list(dict.fromkeys(components))

    def _is_installed(self, package: str) -> bool:
        result = self._shell.run(line_of("pm", "path", package))
        return result.code == 0 and "package:" in result.out

    def _launch(self, package: str) -> None:
        """Start its launcher activity, found by the package manager or by monkey."""
        resolution = self._shell.run(
            line_of("cmd", "package", "resolve-activity", "--brief", "-a", "android.intent.action.MAIN", "-c",
                    "android.intent.category.LAUNCHER", package)
        )  # fmt: skip
        components = _COMPONENT.findall(resolution.out)
        if components and components[-1][0] == package:
            self._start("/".join(components[-1]))
            return
        launch = self._shell.run(line_of("monkey", "-p", package, "-c", "android.intent.category.LAUNCHER", 1), 10.0)
        if launch.code or "monkey aborted" in launch.out + launch.err:
            raise LabError("open app", f"{package} has nothing that a launcher could open.")

    def _start(self, component: str) -> None:
        result = self._shell.run(
            line_of("am", "start", "-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER",
                    "-n", component), 10.0
        )  # fmt: skip
        # `am` may exit with 0 and only print its error.
        if result.code or "Error" in result.out + result.err:
            raise LabError("open app", f"{plain(component)} does not open: {_error_line(result)}.")

    def _unknown_app(self, name: str) -> LabError:
        labels = sorted(self._labels.values(), key=str.casefold) or self._launchable()
        some = ", ".join(plain(label, lines=False) for label in labels[:40])
        hint = f"It has {some}{', ...' if len(labels) > 40 else ''}." if some else ""
        return LabError("open app", f"there is no app {plain(name, lines=False)!r} on this phone", hint)


def _only_match(name: str, names: list[str], labels: dict[str, str]) -> str:
    if len(names) == 1:
        return names[0]
    some = ", ".join(plain(f"{labels[p]} ({p})" if p in labels else p, lines=False) for p in names[:_SHOWN])
    raise LabError("open app", f"{plain(name, lines=False)!r} may be {some}.", "Name its package instead.")


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _same_name(one: str, other: str) -> bool:
    return (_words(one) or one.casefold()) == (_words(other) or other.casefold())


def _package_matches(package: str, name: str) -> bool:
    """Return True if one word of the package, or all of them joined, is the app's name (com.example.teamchat)."""
    own = package.casefold().split(".")[1:]
    compact_name = _words(name).replace(" ", "")
    return bool(compact_name) and (compact_name in own or compact_name == "".join(own))


def _error_line(ran: ShellResult) -> str:
    lines = [line.strip() for line in (ran.out + "\n" + ran.err).splitlines() if "Error" in line]
    return plain(lines[-1], lines=False)[:200] if lines else ran.complaint
