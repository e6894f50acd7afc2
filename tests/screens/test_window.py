"""The page of pictures: what it serves, to whom, and that it follows what is looked at."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from lab.core.run.step import Action
from lab.core.seams import Frame
from lab.core.settings import Settings
from screens.app import LabApp
from screens.live.phone import LivePhone
from screens.mirror.marks import PhoneMark
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from screens.picture_window import PictureWindow
from screens.replay.phone_pane import StillPhone
from store.store import Store
from tests.screens.runs import WHOLE

Until = Callable[..., Awaitable[None]]


def get(
    window: PictureWindow, rest: str = "", *, path: str | None = None, host: str | None = None
) -> tuple[int, bytes, Any]:
    """What the page answers; `rest` follows its secret path."""
    line = http.client.HTTPConnection("127.0.0.1", window.port, timeout=300)
    where = path if path is not None else "/" + window.address.split("/", 3)[3] + rest
    line.request("GET", where, headers={"Host": host or f"127.0.0.1:{window.port}"})
    answer = line.getresponse()
    body, headers = answer.read(), answer.headers
    line.close()
    return answer.status, body, headers


def post(window: PictureWindow, body: bytes, *, rest: str = "region", origin: str | None = None) -> int:
    """What the page answers to something that is sent."""
    line = http.client.HTTPConnection("127.0.0.1", window.port, timeout=300)
    headers = {"Origin": origin} if origin is not None else {}
    line.request("POST", "/" + window.address.split("/", 3)[3] + rest, body, headers)
    status = line.getresponse().status
    line.close()
    return status


def png(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 60), colour).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def window() -> Any:
    window = PictureWindow()
    yield window
    window.close()


def test_the_page_is_only_for_who_knows_its_address(window: PictureWindow) -> None:
    status, body, headers = get(window)
    assert status == 200
    assert b"<script nonce=" in body
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    for path in ("/", "/wrong/", "/wrong/picture", "/" + window.address.split("/")[3]):
        assert get(window, path=path)[0] in (200, 404)
    assert get(window, path="/")[0] == 404
    assert get(window, path="/wrong/picture")[0] == 404
    assert get(window, host="evil.example")[0] == 404  # a name that was made to lead here


def test_what_goes_wrong_in_it_is_not_printed_into_the_terminal(
    window: PictureWindow, capfd: pytest.CaptureFixture[str]
) -> None:
    assert json.loads(get(window, "now?after=" + "9" * 5000)[1])["picture"] is False
    window.show_frame(Frame(b"too little", (30, 60), None, 0.0, 0))
    with pytest.raises((http.client.HTTPException, OSError)):
        get(window, "picture")
    window.show(png("red"), (30, 60), "")
    assert get(window, "picture")[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_picture_comes_as_it_is_kept_with_its_words_and_marks(window: PictureWindow) -> None:
    assert json.loads(get(window, "now?after=-1")[1])["picture"] is False
    assert get(window, "picture")[0] == 404
    image = png("red")
    window.show(image, (1080, 2400), "step 3\x1b[2J", [PhoneMark("tap", (5, 6), label="<b>")])
    now = json.loads(get(window, "now?after=0")[1])
    assert (now["size"], now["caption"]) == ([1080, 2400], "step 3\\x1b[2J")
    assert now["marks"] == [{"kind": "tap", "at": [5, 6], "to": None, "label": "<b>"}]
    status, body, headers = get(window, "picture")
    assert (status, body, headers["Content-Type"]) == (200, image, "image/png")


def test_a_waiting_page_hears_of_what_is_new_and_of_the_end(window: PictureWindow) -> None:
    heard: list[Any] = []
    waiting = threading.Thread(target=lambda: heard.append(json.loads(get(window, "now?after=0")[1])))
    waiting.start()
    window.show(None, None, "no picture")
    waiting.join(180)
    assert heard[0]["number"] == 1

    def ask() -> None:
        with contextlib.suppress(OSError):  # the page may be closed before it could answer
            heard.append(json.loads(get(window, "now?after=1")[1]))

    asks = threading.Thread(target=ask)
    asks.start()
    while not any("process_request" in thread.name for thread in threading.enumerate()):
        time.sleep(0.01)
    window.close()
    asks.join(180)
    assert not asks.is_alive()


def test_a_moving_phone_is_shown_a_few_times_a_second(window: PictureWindow) -> None:
    for shade in range(150, 201):
        window.show_frame(Frame(bytes([shade, 10, 10]) * (30 * 60), (30, 60), None, 0.0, 0, space=(300, 600)))
    began = time.monotonic()
    now = [json.loads(get(window, f"now?after={than}")[1]) for than in (0, 1)]
    assert time.monotonic() - began >= 0.2
    assert now[1]["size"] == [300, 600]
    with Image.open(io.BytesIO(get(window, "picture")[1])) as image:
        assert image.size == (30, 60)
        red = image.convert("RGB").getpixel((10, 10))
    assert isinstance(red, tuple)
    assert red[0] >= 197  # the last one, after which nothing may come


@pytest.mark.parametrize("seen", [False, True])
def test_who_does_not_see_the_phone_gets_no_picture_of_it_here(
    window: PictureWindow, monkeypatch: pytest.MonkeyPatch, seen: bool
) -> None:
    monkeypatch.setattr(Mirror, "post_frame", lambda self, frame: None)  # it would need an app
    monkeypatch.setattr(Mirror, "mark", lambda self, marks: None)
    phone = LivePhone(seen=seen)
    phone.mirror_to_page(lambda: window)
    phone.show(Frame(b"\xc8\n\n" * (30 * 60), (30, 60), None, 0.0, 0))
    phone.mark(Action("click", (10, 20)))
    now = json.loads(get(window, "now")[1])
    assert (now["picture"], bool(now["marks"])) == (seen, seen)


def test_it_tells_that_there_is_something_to_look_at_and_that_there_is_nothing_any_more() -> None:
    told: list[bool] = []
    window = PictureWindow(told.append)
    try:
        window.show(None, (1080, 2400), "step 1")
        assert told == [], "words alone are no picture"
        window.show(png("red"), (1080, 2400), "step 2")
        window.show(None, (1080, 2400), "step 3")
        window.show(png("red"), (1080, 2400), "step 4")
        assert told == [True], "a step without a picture takes nothing away"
        LivePhone(seen=False).mirror_to_page(lambda: window)  # a run begins whose phone its person does not see
        assert told == [True, False]
        assert json.loads(get(window, "now?after=-1")[1])["picture"] is False
        assert get(window, "picture")[0] == 404
    finally:
        window.close()


def test_a_region_is_taken_where_one_is_asked_for(window: PictureWindow) -> None:
    taken: list[tuple[int, int, int, int]] = []
    window.show(png("red"), (1080, 2400), "step 3")

    def drag(box: object, than: int = 0) -> int:
        number = json.loads(get(window, "now?after=-1")[1])["number"]
        return post(window, json.dumps({"number": number + than, "box": box}).encode())

    assert drag([10, 20, 300, 400]) == 409  # nobody asks
    window.ask_region(taken.append)
    assert json.loads(get(window, "now?after=-1")[1])["asks"] is True
    assert drag([10, 20, 300, 400], than=-1) == 409  # it was another picture
    for box in ([10, 20, 10, 400], [-1, 20, 300, 400], [10, 20, 1081, 400], [1, 2, 3], "1234", [1, 2, 3, 1e99], None):
        assert drag(box) == 409
    for body in (b"", b"{", b"[]", b'{"number": 2}', b"\xff" * 1000):
        assert post(window, body) == 409
    assert post(window, b" " * 1025) == 404
    assert post(window, b"{}", rest="picture") == 404
    good = json.dumps({"number": 2, "box": [10, 20, 300, 400]}).encode()
    assert post(window, good, origin="http://evil.example") == 404
    assert taken == []
    assert post(window, good, origin=f"http://127.0.0.1:{window.port}") == 200
    assert taken == [(10, 20, 300, 400)]
    window.ask_region(None)
    assert drag([10, 20, 300, 400]) == 409
    assert json.loads(get(window, "now?after=-1")[1])["asks"] is False


async def test_a_key_opens_it_in_the_machines_browser_at_any_time(
    full: Store, settings: Settings, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = tmp_path / "opened"
    for name in ("xdg-open", "open"):
        (tmp_path / name).write_text(f'#!/bin/sh\nprintf %s "$1" > "{opened}.new" && mv "{opened}.new" "{opened}"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    app = LabApp(full, settings, Opening("replay", WHOLE))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(StillPhone).mirror.settled)
        assert app.window is None
        await pilot.press("right", "O")
        await until(pilot, opened.exists)
        window = app.window
        assert window is not None
        assert opened.read_text() == window.address
        await until(pilot, lambda: json.loads(get(window, "now")[1])["caption"].startswith("step 2, before"))
        monkeypatch.setenv("SSH_CONNECTION", "there")
        opened.unlink()
        await pilot.press("O")
        await until(pilot, lambda: f"{window.address}  (copied)" in notices(app))
        assert app.window is window
        assert not opened.exists()


def notices(app: LabApp) -> list[str]:
    return [notice.message for notice in app._notifications]


async def test_it_follows_the_step_that_is_replayed(full: Store, settings: Settings, until: Until) -> None:
    app = LabApp(full, msgspec.structs.replace(settings, window=True), Opening("replay", WHOLE))
    async with app.run_test(size=(120, 40)) as pilot:
        window = app.window
        assert window is not None

        def caption() -> str:
            return str(json.loads(get(window, "now?after=-1")[1])["caption"])

        await until(pilot, lambda: caption().startswith("step 1, before"))
        await pilot.press("right")
        await until(pilot, lambda: caption().startswith("step 2, before"))
        port = window.port
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", port, timeout=2).connect()
