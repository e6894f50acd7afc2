"""Links that open rooms, read from the file and cached for a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from lab.core.errors import LabError
from lab.core.study.study import Study
from lab.serve.allowance import Allowance
from lab.studies.links import PURPOSES, Link, LinkRefused, check_free, check_link, enter_link, hashed, knows, links_of
from store.store import Store

_FRESH = 1.0
"""Seconds for which links are cached. A revoked link closes within a few seconds."""
_EXTRA_READS = 10.0, 20.0
"""Rate per second and burst of extra reads for unknown links, which may be new or guessed."""

T = TypeVar("T")


class RoomLink(NamedTuple):
    """A link, and its study or None for the room Answer."""

    link: Link
    study: Study | None


class OpenLinks:
    """Find links for browsers. Only one thread of its own reads the file, never the server's loop.

    With `answers`, include links to the room Answer.
    """

    def __init__(self, store: Store, studies: Sequence[Study], *, answers: bool = False) -> None:
        self._store = store
        self.studies = tuple(studies)
        self._answers = answers
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="links")
        self._read_at = float("-inf")
        self._extra_reads = Allowance(*_EXTRA_READS)
        self._by_secret: dict[str, RoomLink] = {}
        self._by_id: dict[str, RoomLink] = {}

    async def by_token(self, token: str) -> RoomLink:
        """Return the link with this secret, in any state. Raise `LinkRefused` if there is none."""
        asked_at = time.monotonic()
        return await self._on_thread(lambda: self._find(self._by_secret, hashed(token), asked_at))

    async def by_browser(self, id: str, browser: str) -> RoomLink:
        """Return the link with this id, if it is open and bound to this browser. Raise `LinkRefused` otherwise."""

        def find() -> RoomLink:
            room_link = self._find(self._by_id, id)
            if not knows(room_link.link, browser):
                raise LinkRefused("unknown", "is none of this browser.")
            check_link(self._store, room_link.study, room_link.link)
            return room_link

        return await self._on_thread(find)

    async def check_free(self, room_link: RoomLink) -> None:
        """Raise `LinkRefused` if a link opens nothing, or nothing for another browser."""
        await self._on_thread(lambda: check_free(self._store, room_link.study, room_link.link))

    async def enter(self, room_link: RoomLink) -> str:
        """Bind the link to this browser. Return the secret that identifies the browser."""

        def enter() -> str:
            browser = enter_link(self._store, room_link.study, room_link.link)
            # The next request already shows the new secret.
            self._read_at = float("-inf")
            return browser

        return await self._on_thread(enter)

    async def refused_links(self, links: Sequence[RoomLink]) -> dict[str, LinkRefused]:
        """Map the ids of those links that no longer open their rooms to the reasons."""

        def read_refusals() -> dict[str, LinkRefused]:
            refusals: dict[str, LinkRefused] = {}
            for room_link in links:
                try:
                    check_link(self._store, room_link.study, self._find(self._by_id, room_link.link.id).link)
                except LinkRefused as error:
                    refusals[room_link.link.id] = error
                except LabError:
                    continue  # the file may be readable again next time: close no room for it
            return refusals

        return await self._on_thread(read_refusals)

    def close(self) -> None:
        self._thread.shutdown(wait=True)

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _find(self, among: dict[str, RoomLink], key: str, asked_at: float = 0.0) -> RoomLink:
        """Return the link with this key. If it is missing and may be new, read the file once more."""
        if time.monotonic() - self._read_at > _FRESH:
            self._read()
        if key not in among and self._read_at < asked_at and self._extra_reads.allows():
            self._read()
        room_link = among.get(key)
        if room_link is None:
            raise LinkRefused("unknown", "is none that was made here.")
        return room_link

    def _read(self) -> None:
        # The time before the read: links made during it may be missing.
        begins = time.monotonic()
        studies = map(
            self._store.studies.newest_of, self.studies
        )  # a link of an extended study opens its newest version
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
