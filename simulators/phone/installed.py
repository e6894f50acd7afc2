"""The apps installed on this phone."""

from __future__ import annotations

from datetime import datetime
from random import Random

from lab.core.errors import LabError
from simulators.phone import nav
from simulators.phone.app import App, State
from simulators.phone.apps.browser import Browser
from simulators.phone.apps.calendar import Calendar
from simulators.phone.apps.clock import ClockApp
from simulators.phone.apps.contacts import Contacts
from simulators.phone.apps.food.food import Food
from simulators.phone.apps.food.supper import Supper
from simulators.phone.apps.gallery import Gallery
from simulators.phone.apps.launcher import Launcher
from simulators.phone.apps.mail import Mail
from simulators.phone.apps.maps import Maps
from simulators.phone.apps.messages import Messages
from simulators.phone.apps.notes import Notes
from simulators.phone.apps.settings import SettingsApp
from simulators.phone.apps.shops.marrowby import Marrowby
from simulators.phone.apps.shops.quillbarn import Quillbarn
from simulators.phone.apps.social import Social
from simulators.phone.apps.teamchat import TeamChat

_APPS: tuple[App, ...] = (
    Messages(),
    Contacts(),
    Mail(),
    Calendar(),
    Gallery(),
    TeamChat(),
    Social(),
    Browser(),
    Maps(),
    Food(),
    Supper(),
    Marrowby(),
    Quillbarn(),
    Notes(),
    ClockApp(),
    SettingsApp(),
)

APPS: dict[str, App] = {app.id: app for app in (Launcher(_APPS), *_APPS)}


def first_state(seed: int, clock: str) -> State:
    """Return the state of an untouched phone. `seed` orders what has no natural order."""
    now = moment(clock, "phone clock")
    return {
        "seed": seed,
        "clock": clock,
        "battery": 78,
        "charging": False,
        # One generator per app: a new app must not reorder the others.
        "apps": {app.id: app.first_state(Random(f"{seed}/{app.id}"), now) for app in APPS.values()},
        "nav": nav.home_state({app.id: app.root for app in APPS.values()}),
        "focus": None,
        "keyboard": {"page": "letters", "shift": "off", "fresh": False},
        "scroll": {},
        "notifications": [],
        "shade": False,
        "toast": None,
    }


def moment(clock: str, what: str) -> datetime:
    """Parse a time with an offset. Raise a `LabError` naming `what` if the text is not one."""
    try:
        then = datetime.fromisoformat(clock)
    except (TypeError, ValueError) as error:
        raise LabError(what, f"{clock!r} is no time, as 2026-03-10T08:50:00+08:00 is one") from error
    if then.utcoffset() is None:
        raise LabError(what, f"{clock!r} has no offset, as 2026-03-10T08:50:00+08:00 has one")
    return then


def app_id(name: str) -> str:
    """Return the id of the app with that label, package or id.

    Raise a `LabError` that lists the apps if none matches.
    """
    key = name.strip().casefold().partition("/")[0]
    for app in APPS.values():
        if key in (app.id, app.label.casefold(), app.package):
            return app.id
    labels = ", ".join(app.label for app in APPS.values() if app.id != nav.LAUNCHER)
    raise LabError("open app", f"there is no app {name!r} on this phone", f"It has {labels}.")
