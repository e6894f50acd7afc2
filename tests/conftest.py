"""No test reads or writes a person's home, or looks at or starts a person's adb server."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

NOBODY = "::ffff:127.0.0.1"
"""This machine by a name that is not taken for it: where nobody listens, no adb server is started there."""


@pytest.fixture(scope="session", autouse=True)
def _nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home of this worker's own, and an adb server that is not there; the rig's fixtures lead to the tests'."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("ANDROID_", "ADB_", "XDG_"))]:
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("ANDROID_ADB_SERVER_ADDRESS", NOBODY)
        patch.setenv("ANDROID_ADB_SERVER_PORT", "1")
        yield
