"""The links that a server opens rooms by: read from the file, remembered for a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from lab.core.errors import LabError
from lab.core.study import Study
from lab.serve.allowance import Allowance
from lab.studies.links import PURPOSES, Link, LinkRefused, check_free, check_link, enter_link, hashed, knows, links_of
from store.store import Store

_FRESH = 1.0
"""Seconds for which what was read of links is not read again: a revoked one closes within a few seconds."""
_AGAIN = 10.0, 20.0
"""How often a second, and at once, the file is read again for what was not in it: a link may be new, or guessed."""

T = TypeVar("T")


class RoomLink(NamedTuple):
    """A link and the study that it leads into; None where that is the room Answer."""

    link: Link
    study: Study | None


class OpenLinks:
    """Finds links by what a browser shows. The file is read on one thread of its own, never on the server's loop.

    With `answers` also those into the room Answer.
    """

    def __init__(self, store: Store, studies: Sequence[Study], *, answers: bool = False) -> None:
        self._store = store
        self.studies = tuple(studies)
        self._answers = answers
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="links")
        self._read_at = float("-inf")
        self._again = Allowance(*_AGAIN)
        self._by_secret: dict[str, RoomLink] = {}
        self._by_id: dict[str, RoomLink] = {}

    async def by_token(self, token: str) -> RoomLink:
        """The link of this secret, whatever its state; `LinkRefused` where there is none."""
        asked_at = time.monotonic()
        return await self._on_thread(lambda: self._found(self._by_secret, hashed(token), asked_at))

    async def by_browser(self, id: str, browser: str) -> RoomLink:
        """The link of this id, open and taken up by this browser; `LinkRefused` otherwise."""

        def find() -> RoomLink:
            room_link = self._found(self._by_id, id)
            if not knows(room_link.link, browser):
                raise LinkRefused("unknown", "is none of this browser.")
            check_link(self._store, room_link.study, room_link.link)
            return room_link

        return await self._on_thread(find)

    async def check_free(self, room_link: RoomLink) -> None:
        """Raises `LinkRefused` where a link opens nothing, or nothing for one more browser."""
        await self._on_thread(lambda: check_free(self._store, room_link.study, room_link.link))

    async def enter(self, room_link: RoomLink) -> str:
        """This browser takes the link up; gives the secret by which it is known."""

        def enter() -> str:
            browser = enter_link(self._store, room_link.study, room_link.link)
            self._read_at = float("-inf")
            return browser

        return await self._on_thread(enter)

    async def refused(self, links: Sequence[RoomLink]) -> dict[str, LinkRefused]:
        """Of links by which rooms are open, those that open nothing any more, by their ids, and why."""

        def look() -> dict[str, LinkRefused]:
            refusals: dict[str, LinkRefused] = {}
            for room_link in links:
                try:
                    check_link(self._store, room_link.study, self._found(self._by_id, room_link.link.id).link)
                except LinkRefused as error:
                    refusals[room_link.link.id] = error
                except LabError:
                    continue  # the file could not be read now: nobody is sent away for that
            return refusals

        return await self._on_thread(look)

    def close(self) -> None:
        self._thread.shutdown(wait=True)

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _found(self, among: dict[str, RoomLink], key: str, asked_at: float = 0.0) -> RoomLink:
        """The link of this key; one that is not there is looked for again where it may have been made since."""
        if time.monotonic() - self._read_at > _FRESH:
            self._read()
        if key not in among and self._read_at < asked_at and self._again.allows():
            self._read()
        room_link = among.get(key)
        if room_link is None:
            raise LinkRefused("unknown", "is none that was made here.")
        return room_link

    def _read(self) -> None:
        begins = time.monotonic()
        studies = map(self._store.studies.newest_of, self.studies)  # one that was extended leads on
        links = [
            RoomLink(link, study)
            for study in studies
            for purpose in PURPOSES
            for link in links_of(self._store, study, purpose)
        ]
        if self._answers:
            links += [RoomLink(link, None) for link in links_of(self._store, None)]
        self._by_secret.clear()
        self._by_id.clear()
        self._by_secret.update({room_link.link.secret_sha: room_link for room_link in links})
        self._by_id.update({room_link.link.id: room_link for room_link in links})
        self._read_at = begins
