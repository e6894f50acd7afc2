"""The rig, and phones and scrcpy sessions on it, for the tests of this folder."""

from tests.lab.devices.adb_rig import attach, scrcpy_server
from tests.lab.devices.scrcpy_rig import mirrored, start
from tests.simulators.phone.served.rig import adb_environment, adb_server, rig

__all__ = ["adb_environment", "adb_server", "attach", "mirrored", "rig", "scrcpy_server", "start"]
