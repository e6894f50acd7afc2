"""The server over real sockets: each person by their link into an app of their own, and nobody by any other way."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import pytest

from lab.core.errors import LabError
from lab.core.study.study import Study
from lab.serve.allowance import Allowance
from lab.serve.app_process import AppProcess
from lab.serve.pages import CLOSE_CODES
from lab.serve.server import WINDOWS_A_LINK, LabServer, ServerPlace
from lab.studies.links import PURPOSES, links_of, make_link, revoke_link
from store.store import Store
from tests import plays
from tests.lab.serve.browser import Browser
from tests.studies import frozen, unit

pytestmark = pytest.mark.usefixtures("forked_windows")

ANY = ServerPlace("127.0.0.1", 0)
HINT = "Did the"


@pytest.fixture
def study(store: Store) -> Study:
    return frozen(store, [unit(f"u{number}", runs=()) for number in range(3)])


@asynccontextmanager
async def served(store: Store, study: Study, **more: Any) -> AsyncIterator[tuple[LabServer, Callable[[], Browser]]]:
    """A server on a free port, and as many browsers as are asked for."""
    server = LabServer(store, [study], ANY, **more)
    browsers: list[Browser] = []

    def browser() -> Browser:
        browsers.append(Browser(server))
        return browsers[-1]

    await server.start()
    try:
        yield server, browser
    finally:
        for one in browsers:
            await one.session.close()
        await server.stop()


async def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 180
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


def answers(store: Store, study: Study) -> list[Any]:
    return [label.value for label in store.labels.read(study)]


@pytest.mark.usefixtures("started_windows")
async def test_a_person_rates_by_a_link_and_comes_back_to_the_very_place(store: Store, study: Study) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as (server, browser):
        one = browser()
        status, page = await one.get(f"/r/{token}")
        assert status == 200
        assert "A trial" in page
        assert "R1" in page
        assert not links_of(store, study)[0].browsers, "a preview takes nothing up"
        status, room = await one.begin(token)
        assert (status, room) == (200, f"/l/{links_of(store, study)[0].id}/")
        async with one.window(room) as window:
            await window.until("1 of 3")
            await window.until("Was it completed?")
            await window.until("Other")  # a verb of the sheet, in the footer where it has the keys
            await window.keys("1")
            await until(lambda: answers(store, study) == ["completed"])
            (process,) = [one.pid for one in server.windows.values()]
        await until(lambda: not server.windows)  # the connection was cut; the app is gone
        await until(lambda: not alive(process))
        assert (await one.get(f"/r/{token}"))[0] == 200, "the same link leads on, in the same browser"
        async with one.window(room) as window:
            await window.until("Was it completed?")
            await window.until("Other")
            await window.keys("2")
            await until(lambda: answers(store, study) == ["completed", "not_completed"])
            await window.keys("\x11")  # ctrl+q
            assert await window.ended() == CLOSE_CODES["left"]
    assert [(label.rater.id, label.target) for label in store.labels.read(study)] == [("R1", "open"), ("R1", "pay")]


async def test_the_page_of_pictures_is_its_own_persons_and_takes_regions_of_no_other_page(
    store: Store, study: Study
) -> None:
    tokens = [make_link(store, study, code, by="boss").token for code in ("R1", "R2")]
    async with served(store, study) as (server, browser):
        one, two = browser(), browser()
        (_, room), _ = await one.begin(tokens[0]), await two.begin(tokens[1])
        async with one.window(room) as window:
            await window.until("Was it completed?")
            await until(lambda: bool(server.windows[window.id].pictures))
            page = f"{room}phone/{window.id}/"
            status, text = await one.get(page)
            assert (status, "waiting for a picture" in text) == (200, True)
            status, text = await one.get(f"{page}now?after=-1")
            assert (status, '"asks":false' in text) == (200, True)
            for path in (page, f"{page}now?after=-1", f"{page}region", f"{page}../../socket/{window.id}"):
                assert (await two.get(path))[0] in (403, 404, 405)

            async def drag(who: Browser, origin: str | None, **more: str) -> int:
                headers = ({} if origin is None else {"Origin": origin}) | more
                url = who.address + page + "region"
                async with who.session.post(url, data=b'{"number":0,"box":[1,2,3,4]}', headers=headers) as answer:
                    return answer.status

            assert await drag(one, one.address) == 409  # it reached the app, in which nobody asks for a region
            assert await drag(one, one.address, **{"Content-Encoding": "deflate"}) == 409, (
                "nothing is unpacked on the way"
            )
            assert await drag(one, "http://evil.example") == 403
            assert await drag(one, None) == 403
            assert await drag(two, two.address) == 403


def alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


async def test_nobody_else_comes_in(store: Store, study: Study) -> None:
    first, second = (make_link(store, study, code, by="boss") for code in ("R1", "R2"))
    async with served(store, study) as (server, browser):
        one, two = browser(), browser()
        _, mine = await one.begin(first.token)
        _, theirs = await two.begin(second.token)
        for path in (theirs, mine.replace(first.link.id, "0" * 36), "/l/x/", f"/l/{second.link.id}/socket/a"):
            assert (await one.get(path))[0] in (403, 404)
        stranger = browser()
        for token in (first.token, "guess", "..", "%2e%2e", first.link.secret_sha, first.link.id, ""):
            status, page = await stranger.get(f"/r/{token}")
            assert status in (403, 404)
            assert "A trial" not in page
        status, page = await stranger.begin(first.token)
        assert status == 403
        assert "another browser" in page
        with pytest.raises(aiohttp.WSServerHandshakeError):
            async with stranger.session.ws_connect(
                f"{server.place.address}/l/{first.link.id}/socket/a", headers={"Origin": stranger.address}
            ):
                pass
        assert not server.windows


OUTSIDE = (
    "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static/js/../../__init__.py",
    "/static//etc/passwd", "/l/../r/x", "/etc/passwd", "/static/",
)  # fmt: skip


async def test_no_path_leads_out_of_what_is_served(store: Store, study: Study) -> None:
    async with served(store, study) as (server, _):
        for path in OUTSIDE:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.place.port)
            request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.place.port}\r\nConnection: close\r\n\r\n"
            writer.write(request.encode())
            answer = (await reader.read()).decode()
            writer.close()
            assert re.match(r"HTTP/1\.1 40[34]", answer), path
            assert "root:" not in answer, path
            assert "Server: hitlab" in answer, path


async def test_pages_of_other_origins_and_names_are_refused(store: Store, study: Study) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as (server, browser):
        one = browser()
        other = {"Origin": "https://evil.example"}
        assert (await one.get(f"/r/{token}", headers={"Host": "evil.example"}))[0] == 403
        async with one.session.post(f"{one.address}/r/{token}", headers=other) as answer:
            assert answer.status == 403
        async with one.session.post(f"{one.address}/r/{token}") as answer:
            assert answer.status == 403, "no page of ours posts without saying where it is from"
        _, room = await one.begin(token)
        for origin in ("https://evil.example", f"http://localhost.evil.example:{server.place.port}", "null"):
            with pytest.raises(aiohttp.WSServerHandshakeError):
                async with one.window(room, Origin=origin):
                    pass
        assert not server.windows
        async with one.session.get(one.address + room) as answer:
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["Cache-Control"] == "no-store"
        cookies = [*one.session.cookie_jar]
        assert [(cookie["httponly"], cookie["samesite"]) for cookie in cookies] == [(True, "Lax")]


async def test_a_revoked_link_closes_its_room(store: Store, study: Study) -> None:
    made = make_link(store, study, "R1", by="boss")
    async with served(store, study) as (_, browser):
        one = browser()
        _, room = await one.begin(made.token)
        async with one.window(room) as window:
            await window.until("1 of 3")
            revoke_link(store, made.link, by="boss")
            assert await window.ended() == CLOSE_CODES["revoked"]
        status, page = await one.get(room)
        assert status == 403
        assert "revoked" in page


async def test_a_link_is_known_as_soon_as_it_is_made(store: Store, study: Study) -> None:
    tokens = [make_link(store, study, "R1", by="boss").token]
    async with served(store, study) as (server, browser):
        one = browser()
        for _ in range(5):  # what was read is remembered for a second, all of this takes less
            assert (await one.get(f"/r/{tokens[-1]}"))[0] == 200
            tokens.append(make_link(store, study, "R2", by="boss").token)
        reads, read = [], server.links._read
        server.links._read = lambda: (reads.append(1), read())[1]  # type: ignore[method-assign,func-returns-value]
        guesses = await asyncio.gather(*(one.get(f"/r/guess{number}") for number in range(300)))
        assert {status for status, _ in guesses} == {404}
        assert len(reads) < 60, "guesses do not keep the file busy"
        assert (await one.get(f"/r/{tokens[0]}"))[0] == 200


async def test_windows_are_counted(store: Store, study: Study) -> None:
    mine, theirs = (make_link(store, study, code, by="boss").token for code in ("R1", "R2"))
    async with served(store, study, most=WINDOWS_A_LINK + 1) as (server, browser):
        one, two = browser(), browser()
        _, room = await one.begin(mine)
        _, other = await two.begin(theirs)
        async with one.window(room) as first, one.window(room), one.window(room):
            await until(lambda: len(server.windows) == WINDOWS_A_LINK)
            async with one.window(room):
                assert await first.ended() == CLOSE_CODES["elsewhere"]
                await until(lambda: len(server.windows) == WINDOWS_A_LINK)
                async with two.window(other), two.window(other) as last:
                    assert await last.ended() == CLOSE_CODES["full"]


async def test_pages_show_a_strangers_title_as_text(store: Store) -> None:
    title = "A\u202eb</title><script>x()</script>\x1b]0;y\x07\u2028[red]"
    study = frozen(store, [unit("u0", runs=())], title=title)
    links = {purpose: make_link(store, study, "R1", by="boss", purpose=purpose).token for purpose in PURPOSES}
    async with served(store, study) as (_, browser):
        for purpose, token in links.items():
            one = browser()
            greeting = (await one.get(f"/r/{token}"))[1]
            _, room = await one.begin(token)
            for page in (greeting, (await one.get(room))[1]):
                assert "<script>x" not in page
                assert not set(page) & set("\u202e\u2028\x1b\x07")
                assert r"A\u202eb&lt;/title&gt;" in page or purpose == "watch"


async def test_a_played_study_has_one_window_that_runs(store: Store) -> None:
    """Two apps that continue the same run would stop each other's."""
    study = plays.frozen(store, [plays.unit(plays.LUNCH)], ("P1",))
    token = make_link(store, study, "P1", by="boss").token
    async with served(store, study) as (server, browser):
        one = browser()
        _, room = await one.begin(token)
        async with one.window(room) as first:
            await first.until("Before you begin")
            async with one.window(room) as second:
                assert await first.ended() == CLOSE_CODES["elsewhere"]
                await second.until("Before you begin")
                assert len(server.windows) == 1


async def test_apps_that_run_are_counted_however_fast_windows_are_opened(
    store: Store, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each window closes the oldest, and starts its app once that one's has ended; others say that the lab is full."""
    running: list[int] = []
    most: list[int] = []
    starts = AppProcess.start

    async def start(process: AppProcess, columns: int, rows: int) -> None:
        await starts(process, columns, rows)
        running.append(process.pid)
        most.append(sum(alive(pid) for pid in running))

    monkeypatch.setattr(AppProcess, "start", start)
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as (server, browser):
        one = browser()
        _, room = await one.begin(token)

        async def opened() -> int | None:
            async with one.window(room) as window:
                return await window.ended()

        opening = [asyncio.create_task(opened()) for _ in range(20)]
        await until(lambda: len([task for task in opening if task.done()]) == 20 - WINDOWS_A_LINK)
        codes = [task.result() for task in opening if task.done()]
        assert set(codes) <= {CLOSE_CODES["elsewhere"], CLOSE_CODES["full"]}
        await until(lambda: len(server.windows) == WINDOWS_A_LINK and len(most) >= WINDOWS_A_LINK)
        assert max(most) == WINDOWS_A_LINK
        async with one.window(room) as window:
            await window.until("1 of 3")
            assert max(most) == WINDOWS_A_LINK
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
    await until(lambda: not any(alive(pid) for pid in running))


@pytest.mark.parametrize("flood", ["pings", "messages"])
async def test_a_flood_ends_its_own_window_and_no_others(store: Store, study: Study, flood: str) -> None:
    token, theirs = (make_link(store, study, code, by="boss").token for code in ("R1", "R2"))
    async with served(store, study) as (_, browser):
        one, two = browser(), browser()
        _, room = await one.begin(token)
        _, other = await two.begin(theirs)
        async with one.window(room) as window, two.window(other) as still:
            await still.until("1 of 3")

            async def send() -> None:
                for _ in range(100_000):
                    if flood == "pings":
                        await window.socket.ping(b"x")
                    else:
                        await window.socket.send_str('["ping", 1]')

            sending = asyncio.create_task(send())
            assert await window.ended() == 1008
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            await still.until("Other")
            await still.keys("1")
            await until(lambda: answers(store, study) == ["completed"])


NO_MESSAGES = ("", "[" * 60_000, "{}", "[]", '["resize"]', '["resize", {"width": "x", "height": 3}]', "x" * 70_000)


async def test_what_is_no_message_ends_that_connection_alone(store: Store, study: Study) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as (server, browser):
        one = browser()
        _, room = await one.begin(token)
        async with one.window(room) as other:
            for message in NO_MESSAGES:
                async with one.window(room) as window:
                    await window.socket.send_str(message)
                    assert await window.ended() in (1007, 1009), message[:40]
                await until(lambda: len(server.windows) == 1)
                assert (await one.get(room))[0] == 200
            await other.socket.send_str("[1]")  # a kind that nobody knows is passed by
            await other.until("1 of 3")
        await until(lambda: not server.windows)


async def test_silent_connections_hold_no_place(store: Store, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.serve.server._SILENT", 0.5)
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as (server, browser):
        idle = [socket.create_connection(("127.0.0.1", server.place.port)) for _ in range(300)]
        idle[0].sendall(b"GET / HTTP/1.1\r\nHost: ")
        one = browser()
        assert (await one.get(f"/r/{token}"))[0] == 200, "others are heard besides"
        for connection in idle:
            connection.settimeout(30)
            with suppress(ConnectionResetError):
                assert await asyncio.to_thread(connection.recv, 1) == b""
            connection.close()
        assert (await one.get(f"/r/{token}"))[0] == 200


def test_a_flood_waits_and_a_person_does_not() -> None:
    flood = Allowance(50.0, 100.0)
    waits = [flood.wait() for _ in range(200)]
    assert waits[:100] == [0.0] * 100
    assert 1.5 < waits[-1] <= 2.0


async def test_many_keys_in_one_message_are_a_flood_and_a_paste_is_none(store: Store, study: Study) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as (server, browser):
        one = browser()
        _, room = await one.begin(token)
        async with one.window(room) as window:
            await window.until("Was it completed?")
            await window.until("Other")
            allowance = server.windows[window.id]._allowance
            await window.keys("\x1b[200~" + "pasted " * 1000 + "\x1b[201~")
            await window.keys("1")
            await until(lambda: answers(store, study) == ["completed"])
            assert allowance.wait() == 0.0
            await window.keys("?" * 30_000)
            assert await window.ended() == 1008
        await until(lambda: not server.windows)


async def test_an_app_whose_server_is_gone_leaves(store: Store, study: Study) -> None:
    command = [sys.executable, "-P", "-m", "lab.cli", "--db", str(store.path), "study", "open", "trial", "--as", "R1"]
    process = AppProcess(command)
    await process.start(100, 30)
    heard = painted = ""
    async for packet in process.packets():
        painted += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", packet.payload.decode("utf-8", "replace"))
        if "Was it completed?" in painted and not heard:
            heard = "nothing more"
            process.hang_up()
    assert heard, painted
    assert await process.stop() == 0


def test_without_the_extra_it_is_named(store: Store, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    with pytest.raises(LabError, match=re.escape("hitlab[serve]")):
        LabServer(store, [study], ANY)
