"""Web server: a link opens a room, which is an app in its own process beside a picture of its phone."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import aiohttp
from aiohttp import web

from lab.core.errors import LabError
from lab.core.study.study import Study
from lab.core.study.study_progress import StudyProgress
from lab.serve import browser_window
from lab.serve.app_process import AppProcess
from lab.serve.browser_window import BrowserWindow
from lab.serve.connections import allow_many_files
from lab.serve.guard import Guard, nonce, own_names, quiet_logger
from lab.serve.open_links import OpenLinks, RoomLink
from lab.serve.pages import CLOSE_CODES, WORDS, Language, greeting_page, language_of, refusal_page
from lab.serve.progress_page import progress_page
from lab.serve.room_page import room_page
from lab.studies.links import PURPOSES, LinkRefused, Purpose, knows
from lab.studies.progress.study_progress import ProgressReader
from store.store import Store

EXTRA = "hitlab[serve]"
WINDOWS_A_LINK = 3
"""Maximum running apps per person. Another window closes the oldest one and starts after that one's app has ended.

A played study has one: two apps cannot continue the same run.
"""
_WAITING_A_LINK = 3
"""Maximum further windows per person that wait for this. More get the code `full` and try again."""
_LOOKS_AT_PICTURES = 4
"""Maximum simultaneous requests for pictures per window."""
_SILENT = 10.0
"""Seconds in which a connection must send a request."""
_LOOKS = 2.0
"""Seconds between two checks of the links of open rooms."""
# 400 days is the maximum that browsers accept.
_COOKIE_AGE = 400 * 24 * 3600
_REGION = 1024
"""Maximum bytes of a region dragged on a picture."""
_ID = re.compile(r"[0-9a-f-]{36}")


class ServerPlace(NamedTuple):
    """Address on which a server listens, and the URL for people if a proxy precedes it."""

    host: str
    port: int
    url: str = ""

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.url or f"http://{host}:{self.port}"


class LabServer:
    """Serve studies, and the room Answer with `answers`, to people with links. `most` limits the open windows."""

    def __init__(
        self, store: Store, studies: Sequence[Study], place: ServerPlace, *, most: int = 200, answers: bool = False
    ) -> None:
        self.links = OpenLinks(store, studies, answers=answers)
        self._progress = OpenProgress(store)
        self.place = place
        self.windows: dict[str, BrowserWindow] = {}
        """Open windows by id, the oldest first, from before the app's start until its process has ended."""
        self._ended = asyncio.Condition()
        self._store = store
        self._max_windows = most
        self._static = static_folder()
        self._secure = place.address.startswith("https:")
        self._runner: web.AppRunner | None = None
        self._listening: asyncio.Server | None = None
        self._link_check: asyncio.Task[None] | None = None
        self._pictures: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        """Start listening. Raise `LabError` if the port is in use. Port 0 selects a free one."""
        allow_many_files()
        loop = asyncio.get_running_loop()
        guard = Guard(secure=self._secure)
        app = web.Application(middlewares=[guard.middleware], client_max_size=browser_window.MOST_MESSAGE)
        app.on_response_prepare.append(guard.sign)
        app.add_routes(self._routes())
        self._runner = runner = web.AppRunner(
            app,
            access_log=None,
            logger=quiet_logger(),
            keepalive_timeout=15,
            handle_signals=False,
            auto_decompress=False,  # our pages send nothing compressed, and a zip bomb would block all others
        )
        await runner.setup()

        def connected() -> asyncio.BaseProtocol:
            assert runner.server is not None
            return guard.silent.watch(runner.server(), _SILENT)

        try:
            self._listening = await loop.create_server(connected, self.place.host, self.place.port, backlog=512)
        except OSError as error:
            await runner.cleanup()
            where, why = f"{self.place.host}:{self.place.port}", os.strerror(error.errno or 0)
            raise LabError("serve", f"{where} cannot be had ({why}).") from error
        port = self._listening.sockets[0].getsockname()[1]
        self.place = self.place._replace(port=port)
        guard.names = own_names(self.place.address, port)
        # No common limit: each window has its own, so that none waits for another's pictures.
        everyone = aiohttp.TCPConnector(limit=0)
        self._pictures = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60), connector=everyone)
        self._link_check = asyncio.create_task(self._check_links())

    async def serve(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set. Raise the error that ended the link check, since no link could be revoked then."""
        assert self._link_check is not None
        waits = asyncio.create_task(stop.wait())
        await asyncio.wait({waits, self._link_check}, return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        if self._link_check.done():
            self._link_check.result()

    async def stop(self) -> None:
        """Close every room, which saves its answers, and stop listening."""
        if self._listening is not None:
            self._listening.close()
        if self._link_check is not None:
            self._link_check.cancel()
        # 1012 (service restart) has no text in CLOSE_CODES, so pages reconnect by themselves.
        await asyncio.gather(*(room.close(1012) for room in [*self.windows.values()]), return_exceptions=True)
        if self._pictures is not None:
            await self._pictures.close()
        if self._runner is not None:
            await self._runner.cleanup()
        self.links.close()
        self._progress.close()

    def _routes(self) -> list[web.AbstractRouteDef]:
        return [
            web.get("/r/{token}", self._greet),
            web.post("/r/{token}", self._begin),
            web.get("/l/{link}/", self._show_room),
            web.get("/l/{link}/socket/{window}", self._open_room),
            web.get("/l/{link}/phone/{window}/{rest:|now|picture}", self._picture),
            web.post("/l/{link}/phone/{window}/{rest:region}", self._picture),
            web.static("/static", self._static),
            web.get("/{rest:.*}", self._not_found),
        ]

    # -- links -----------------------------------------------------------------------------------------------

    async def _greet(self, request: web.Request) -> web.StreamResponse:
        """Redirect a browser that has the link to its room, and greet one that may take it."""
        language = _language(request)
        try:
            room_link = await self.links.by_token(request.match_info["token"])
            if knows(room_link.link, _browser(request, room_link.link.id)):
                raise web.HTTPSeeOther(f"/l/{room_link.link.id}/")
            await self.links.check_free(room_link)
        except LinkRefused as error:
            return _refusal(error, language)
        person = room_link.link.rater if room_link.link.purpose == "room" else ""
        return _html(greeting_page(_title(room_link, language), person, language, nonce()))

    async def _begin(self, request: web.Request) -> web.StreamResponse:
        """Bind the link to this browser after the greeting's button."""
        try:
            room_link = await self.links.by_token(request.match_info["token"])
            there = web.HTTPSeeOther(f"/l/{room_link.link.id}/")
            if not knows(room_link.link, _browser(request, room_link.link.id)):
                browser = await self.links.enter(room_link)
                # Lax and not Strict: people follow the link from a mail or chat, and Strict would omit the cookie then.
                there.set_cookie(
                    _cookie(room_link.link.id),
                    browser,
                    max_age=_COOKIE_AGE,
                    httponly=True,
                    samesite="Lax",
                    secure=self._secure,
                )
        except LinkRefused as error:
            return _refusal(error, _language(request))
        raise there

    async def _find_link(self, request: web.Request, *purposes: Purpose) -> RoomLink:
        """Return the path's link, for the browser that has it and for these purposes. Raise `LinkRefused` otherwise."""
        id = request.match_info["link"]
        if not _ID.fullmatch(id):
            raise LinkRefused("unknown", "is none.")
        room_link = await self.links.by_browser(id, _browser(request, id))
        if room_link.link.purpose not in (purposes or ("room",)):
            raise LinkRefused("unknown", "leads elsewhere.")
        return room_link

    async def _not_found(self, request: web.Request) -> web.StreamResponse:
        return _refusal(LinkRefused("unknown", ""), _language(request))

    # -- rooms -----------------------------------------------------------------------------------------------

    async def _show_room(self, request: web.Request) -> web.StreamResponse:
        """Return a person's room, or a study's progress for a manager's link."""
        try:
            room_link = await self._find_link(request, *PURPOSES)
        except LinkRefused as error:
            return _refusal(error, _language(request))
        if room_link.link.purpose == "watch":
            return await self._show_progress(room_link, _language(request))
        here, id = f"/l/{room_link.link.id}", secrets.token_hex(8)
        page = room_page(
            _title(room_link, _language(request)),
            f"{here}/socket/{id}",
            f"{here}/phone/{id}/",
            _language(request),
            nonce(),
        )
        return _html(page)

    async def _open_room(self, request: web.Request) -> web.StreamResponse:
        """Serve a window's socket. The app runs while it is open."""
        try:
            room_link = await self._find_link(request)
        except LinkRefused as error:
            raise web.HTTPForbidden(text=error.message) from None
        # The window answers pings itself, because they count towards its limit.
        socket = web.WebSocketResponse(heartbeat=20, autoping=False, max_msg_size=browser_window.MOST_MESSAGE)
        await socket.prepare(request)
        id = request.match_info["window"]
        if id in self.windows or len(self.windows) >= self._max_windows or self._is_full(room_link):
            await socket.close(code=CLOSE_CODES["full"])
            return socket
        process = AppProcess(self._command(room_link), _environment(room_link, _language(request)))
        self.windows[id] = window = BrowserWindow(room_link, process, socket)
        try:
            await self._wait_for_room(window)
            if not window.closed:
                await window.run(_number(request, "width", 80), _number(request, "height", 24))
        except OSError:
            await socket.close(code=CLOSE_CODES["full"])  # no process can be started now, and the page tries again
        finally:
            self.windows.pop(id, None)
            async with self._ended:
                self._ended.notify_all()
        return socket

    def _command(self, room_link: RoomLink) -> list[str]:
        study, rater = room_link.study, room_link.link.rater
        opens = (
            ["serve", "user", "--room", "--room-only"]
            if study is None
            else ["study", "rate", f"{study.id}@{study.version}", "--study-only"]
        )
        # -P: never import modules from the working folder.
        lab = (sys.executable, "-P", "-m", "lab.cli", "--db", str(self._store.path))
        return [*lab, *opens, "--person", rater]

    def _windows_of(self, link: str) -> list[BrowserWindow]:
        return [window for window in self.windows.values() if window.link.link.id == link]

    def _is_full(self, room_link: RoomLink) -> bool:
        """Return True if the link has its maximum number of waiting windows."""
        return len(self._windows_of(room_link.link.id)) >= _max_apps(room_link) + _WAITING_A_LINK

    async def _wait_for_room(self, window: BrowserWindow) -> None:
        """Close the link's oldest windows, and wait until enough of their apps have ended."""
        link, most = window.link.link.id, _max_apps(window.link)
        for older in self._windows_of(link)[:-most]:
            await older.close(CLOSE_CODES["elsewhere"])
        async with self._ended:
            await self._ended.wait_for(lambda: window.closed or self._windows_of(link).index(window) < most)

    async def _check_links(self) -> None:
        """Close rooms whose links no longer open them."""
        while True:
            await asyncio.sleep(_LOOKS)
            links = {window.link.link.id: window.link for window in self.windows.values()}
            refusals = await self.links.refused_links([*links.values()]) if links else {}
            for window in [*self.windows.values()]:
                if (error := refusals.get(window.link.link.id)) is not None:
                    await window.close(CLOSE_CODES.get(error.why, CLOSE_CODES["revoked"]))

    async def _show_progress(self, room_link: RoomLink, language: Language) -> web.StreamResponse:
        """Return the page of a study's current progress."""
        assert room_link.study is not None
        try:
            progress = await self._progress.read(room_link.study)
        except LabError:
            return _html(refusal_page("busy", language, nonce()), 503)
        return _html(progress_page(progress, nonce()))

    # -- pictures --------------------------------------------------------------------------------------------

    async def _picture(self, request: web.Request) -> web.StreamResponse:
        """Forward the page of pictures of the window's app, for the frame beside the terminal."""
        try:
            room_link = await self._find_link(request)
        except LinkRefused as error:
            raise web.HTTPForbidden(text=error.message) from None
        window = self.windows.get(request.match_info["window"])
        if window is None or window.link.link.id != room_link.link.id or not window.pictures:
            raise web.HTTPNotFound(text="No picture is here.")
        if window.looks >= _LOOKS_AT_PICTURES:
            raise web.HTTPTooManyRequests(text="This window looks at pictures already.")
        assert self._pictures is not None
        address = window.pictures + request.match_info["rest"]
        window.looks += 1
        try:
            region = await request.content.read(_REGION) if request.method == "POST" else None
            async with self._pictures.request(request.method, address, params=request.query, data=region) as answer:
                body = await answer.read()
                # The app forbids framing of its page. The room, of the same origin, frames it.
                policy = answer.headers.get("Content-Security-Policy", "")
                headers = {
                    "Content-Type": answer.headers.get("Content-Type", "text/plain"),
                    "Content-Security-Policy": policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
                }
                return web.Response(status=answer.status, body=body, headers=headers)
        except (aiohttp.ClientError, TimeoutError):
            raise web.HTTPNotFound(text="No picture is here.") from None
        finally:
            window.looks -= 1


def static_folder() -> Path:
    """Return the folder of xterm.js in textual-serve. Raise `LabError` if that is not installed."""
    try:
        folder = Path(str(files("textual_serve"))) / "static"
    except ModuleNotFoundError:
        raise LabError("serve", f"needs the extra {EXTRA}", f"pip install '{EXTRA}' installs it.", code=2) from None
    return folder


def _title(room_link: RoomLink, language: Language) -> str:
    return WORDS[language].answer if room_link.study is None else room_link.study.title


def _max_apps(room_link: RoomLink) -> int:
    """Return the maximum number of running apps for a link."""
    study = room_link.study
    return 1 if study is not None and study.protocol.unit == "task to play" else WINDOWS_A_LINK


def _environment(room_link: RoomLink, language: Language) -> dict[str, str]:
    """Return extra environment for a window's app. A study has its own language, Answer uses the browser's."""
    return {"HITLAB_LOCALE": language} if room_link.study is None and language != "en" else {}


def _html(page: str, status: int = 200) -> web.Response:
    return web.Response(text=page, content_type="text/html", status=status)


def _refusal(error: LinkRefused, language: Language) -> web.Response:
    return _html(refusal_page(error.why, language, nonce()), 404 if error.why == "unknown" else 403)


def _language(request: web.Request) -> Language:
    return language_of(request.headers.get("Accept-Language", ""))


def _cookie(link: str) -> str:
    return f"hitlab-{link}"


def _browser(request: web.Request, link: str) -> str:
    """Return the secret that this browser got when it took the link."""
    return request.cookies.get(_cookie(link), "")


def _number(request: web.Request, name: str, otherwise: int) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else otherwise


_FRESH = 2.0
"""Seconds for which progress is cached, so that many watchers cost no more than one."""


class OpenProgress:
    """Read studies' progress. Only one thread of its own reads the file, never the server's loop."""

    def __init__(self, store: Store) -> None:
        self._reader = ProgressReader(store)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="progress")
        self._read: dict[str, tuple[float, StudyProgress]] = {}
        """Time of the last read and its result, by the study's hash."""

    async def read(self, study: Study) -> StudyProgress:
        """Return a study's current progress. Raise `LabError` if the file cannot be read."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read_cached, study)

    def _read_cached(self, study: Study) -> StudyProgress:
        read_at, progress = self._read.get(study.sha, (float("-inf"), None))
        if progress is None or time.monotonic() - read_at > _FRESH:
            progress = self._reader.read(study)
            self._read[study.sha] = time.monotonic(), progress
        return progress

    def close(self) -> None:
        self._thread.shutdown(wait=True)
