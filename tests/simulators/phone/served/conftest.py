"""The rig for the tests of this folder."""

from tests.simulators.phone.served.rig import adb_environment, adb_server, rig

__all__ = ["adb_environment", "adb_server", "rig"]
