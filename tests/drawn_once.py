"""Screens of the simulated phone that were drawn and packed before, in whichever process of one run of the tests."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from simulators.phone import phone
from simulators.phone.app import State
from simulators.phone.phone import PackedScreens

FOLDER = "TESTS_SCREENS"
"""The variable that names the folder to processes that are forked from the warm one."""


class DrawnOnce(PackedScreens):
    """As the program keeps screens by the phone's state; what is not in memory is looked for in a folder.

    What the program draws is what is kept: the first process that needs a screen draws it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def png(self, state: State, pack: Callable[[], bytes]) -> bytes:
        return super().png(state, lambda: self._from_folder(state, pack))

    def _from_folder(self, state: State, pack: Callable[[], bytes]) -> bytes:
        path = self._folder / hashlib.sha256(msgspec.json.encode(state)).hexdigest()
        try:
            return path.read_bytes()
        except FileNotFoundError:
            made = pack()
        self._folder.mkdir(exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.{id(made)}")
        part.write_bytes(made)
        part.replace(path)
        return made


def keep_drawn() -> None:
    """Has this process, and those forked from it, take screens from the folder that is named."""
    if folder := os.environ.get(FOLDER):
        phone._PACKED = DrawnOnce(Path(folder))


@pytest.fixture(scope="session", autouse=True)
def drawn_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Screens are drawn once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(shared / "screens"))
        patch.setattr(phone, "_PACKED", phone._PACKED)
        keep_drawn()
        yield
