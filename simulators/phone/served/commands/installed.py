"""The phone's apps as Android's package manager names them."""

from __future__ import annotations

from simulators.phone import keyboard, system
from simulators.phone.app import App
from simulators.phone.installed import APPS
from simulators.phone.served.services import Services

LAUNCHER = "launcher"
KEYBOARD = f"{keyboard.PACKAGE}/.Keyboard"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
"""Keyboard that types broadcast text. It is installed if `settings` lists it as enabled."""
PINYIN_KEYBOARD = "com.google.android.inputmethod.pinyin/.PinyinIME"
"""Keyboard that turns pressed letters into Chinese words. It is active if enabled and selected."""
EXTRA_KEYBOARDS = (ADB_KEYBOARD, PINYIN_KEYBOARD)
_SYSTEM = ("launcher", "settings", "clock", "contacts", "messages", "gallery")


def component(app: App) -> str:
    """Return the component that an app's icon starts: `package/.Screen`."""
    return f"{app.package}/.{''.join(part.title() for part in app.root.split('_'))}"


def by_package(package: str) -> App | None:
    return next((app for app in APPS.values() if app.package == package), None)


def by_component(name: str) -> App | None:
    """Return the app of a component in its short or long form, or None if there is none."""
    package, _, activity = name.partition("/")
    if activity.startswith(f"{package}."):
        activity = activity[len(package) :]
    return next((app for app in APPS.values() if component(app) == f"{package}/{activity}"), None)


def packages(services: Services) -> dict[str, bool]:
    """Map every package to True if it is a system package."""
    system_flags = {"android": True, system.PACKAGE: True, "com.android.shell": True, keyboard.PACKAGE: True}
    system_flags |= {app.package: app.id in _SYSTEM for app in APPS.values()}
    if ADB_KEYBOARD in keyboards(services):
        system_flags[ADB_KEYBOARD.partition("/")[0]] = False
    return system_flags


def keyboards(services: Services) -> list[str]:
    """Return the enabled input methods."""
    return services.settings.get(("secure", "enabled_input_methods"), KEYBOARD).split(":")


def selected(services: Services) -> str:
    """Return the selected input method."""
    return services.settings.get(("secure", "default_input_method"), KEYBOARD)


def pid(package: str) -> int:
    """Return the process id of an app while it runs."""
    names = [app.package for app in APPS.values()]
    return 3000 + 17 * names.index(package) if package in names else 1800


def path(package: str) -> str:
    """Return the path of an app's apk."""
    return f"/data/app/~~{pid(package):x}Qm4w==/{package}-{pid(package):x}Zr==/base.apk"
