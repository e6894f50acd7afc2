"""Rooms in a real Chromium: by keys, by touch, through an input method; the picture beside them; links of all kinds.

One browser is started for all of them. A test waits for what the terminal of the page has painted, or for rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from msgspec import structs

from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Study, Unit
from lab.serve import progress_page
from lab.serve.server import LabServer, ServerPlace
from lab.studies.links import make_link, revoke_link
from screens.mirror.marks import PhoneMark
from screens.picture_window import PictureWindow
from store.store import Store
from tests.chromium import PHONE, Room, launched, person, until
from tests.crossed import soak
from tests.screens.runs import SIZE, drawn, whole_run
from tests.studies import frozen
from tests.watched import begun, handed_in

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Route

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.usefixtures("forked_windows")]

DONE = Field("done", "Was it done?", "nominal", (Option("yes", key="1"), Option("no", key="2")))
WHY = Field("why", "Why?", "text", required=False)
LOOKED = Protocol("looked", "Looked at", "run", (DONE, WHY), shows=("instruction", "screens", "actions"))
RUNS = [f"{number}1111111-0000-7000-8000-000000000001" for number in range(3)]
DISHES = ["Wonton noodles", "Dumplings", "Green tea"]
"""What the first screen of each run shows, and of the second all but the last."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with launched() as browser:
        yield browser


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HITLAB_PERSON", "boss")
    with Store.open(tmp_path / "lab.db") as opened:
        for run in RUNS:
            opened.runs.add(whole_run(run))
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    return frozen(store, [Unit(f"u{number}", runs=(run,)) for number, run in enumerate(RUNS)], LOOKED)


@asynccontextmanager
async def served(store: Store, study: Study) -> AsyncIterator[str]:
    server = LabServer(store, [study], ServerPlace("127.0.0.1", 0))
    await server.start()
    try:
        yield server.place.address
    finally:
        await server.stop()


async def entered(context: BrowserContext, address: str, token: str) -> Page:
    """A page behind a link whose button is pressed."""
    page = await context.new_page()
    await page.goto(f"{address}/r/{token}")
    await page.click("#begin")
    return page


async def begun_room(context: BrowserContext, address: str, token: str) -> Room:
    room = Room(await entered(context, address, token))
    await room.until("Was it done?")
    return room


def answers(store: Store, study: Study) -> list[tuple[str, str, Any]]:
    return [(label.unit, label.field, label.value) for label in store.labels.read(study)]


async def kept(store: Store, study: Study, *wanted: tuple[str, str, Any]) -> None:
    """Waits until these answers, and no others, are in the file."""

    async def there() -> bool:
        return len(answers(store, study)) >= len(wanted)

    await until(there)
    assert answers(store, study) == [*wanted]


async def test_a_person_rates_by_keys_and_a_reload_comes_back_to_the_very_item(
    store: Store, study: Study, chromium: Browser
) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as address, person(chromium) as one:
        room = await begun_room(one, address, token)
        await room.press("1")
        await kept(store, study, ("u0", "done", "yes"))
        await room.until("1 of 2", "✓ saved")
        await room.press("ArrowDown", "Enter")
        await room.until("2 of 3")
        await room.press("2")
        await kept(store, study, ("u0", "done", "yes"), ("u1", "done", "no"))
        await room.page.reload()
        await room.until("2 of 3", "✓ Was it done?", "Enter: type it")
        # a second tab stands at the same item; what it keeps the first shows, and none is kept twice
        other = Room(await one.new_page())
        await other.page.goto(room.page.url)
        await other.until("2 of 3", "✓ Was it done?", "Enter: type it")
        await other.press("Enter")
        await other.until("Your answer")
        await other.page.keyboard.type("from the other tab")
        await other.press("Enter")
        await room.page.bring_to_front()
        await room.until("from the other tab")
        await room.press("Enter")
        await room.until("Enter hands in.")
        await room.press("Enter")
        await room.until("3 of 3")
        assert answers(store, study)[2:] == [("u1", "why", "from the other tab")]


@soak
async def test_chinese_comes_once_and_whole_through_an_input_method(
    store: Store, study: Study, chromium: Browser
) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as address, person(chromium, language="zh-CN") as one:
        page = await one.new_page()
        await page.goto(f"{address}/r/{token}")
        assert await page.inner_text("#begin") == "开始"
        await page.click("#begin")
        room = Room(page)
        await room.until("Was it done?")
        await room.press("1")
        await room.until("Enter: type it")
        await room.press("Enter")
        await room.until("your words")
        keys = await one.new_cdp_session(page)

        async def composed(letters: str, words: str) -> None:
            """Types letters that an input method shows and holds back, then the words that are chosen for them."""
            for end in range(1, len(letters) + 1):
                place = {"selectionStart": end, "selectionEnd": end}
                await keys.send("Input.imeSetComposition", {"text": letters[:end], **place})
            box = await page.locator(".composition-view.active").bounding_box()
            x, y = await room.place("│ your" if words == "支付前" else "支付前")
            assert box is not None
            assert abs(box["y"] + box["height"] / 2 - y) < box["height"], "the letters stand where one types"
            assert abs(box["x"] - x) < 60
            await keys.send("Input.insertText", {"text": words})
            await room.until(words)

        await composed("zhifuqian", "支付前")
        await composed("mei wen", "没有询问，")
        await page.keyboard.type("ok")
        await room.until("支付前没有询问，ok")
        await room.press("Enter")
        await kept(store, study, ("u0", "done", "yes"), ("u0", "why", "支付前没有询问，ok"))


async def test_a_phone_needs_no_keyboard(store: Store, study: Study, chromium: Browser) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as address, person(chromium, PHONE) as one:
        room = await begun_room(one, address, token)
        page = room.page
        assert (await page.evaluate("() => window.xterm.cols")) >= 64
        assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        assert await page.evaluate("() => document.querySelector('.xterm-helper-textarea').inputMode") == "none"
        await page.touchscreen.tap(*await room.place("1 yes"))
        await kept(store, study, ("u0", "done", "yes"))
        await room.until("saved")
        for key in ("↓", "⏎"):
            await page.locator("#keys").get_by_text(key, exact=True).tap()
        await room.until("2 of 3")
        await page.locator("#keys").get_by_text("2", exact=True).tap()
        await kept(store, study, ("u0", "done", "yes"), ("u1", "done", "no"))
        # the picture fills the window above the keys, which still step through the run
        frame, keys = page.locator("#phone"), page.locator("#keys")
        assert not await frame.is_visible()
        await keys.get_by_text("Picture").tap()
        assert await frame.is_visible()
        shown, below = await frame.bounding_box(), await keys.bounding_box()
        assert shown is not None
        assert below is not None
        assert shown["y"] + shown["height"] <= below["y"]
        pictures = await room.pictures()
        await keys.get_by_text("→").tap()
        await until(partial(says, pictures, "step 2, before"))
        assert await keys.get_by_text("␣", exact=True).is_visible(), "what says that space reads on has a key for it"


async def says(frame: Any, words: str) -> bool:
    """Whether the page of pictures says this of what it shows."""
    return words in str(await frame.evaluate("() => document.body.innerText"))


@soak
async def test_the_picture_beside_the_terminal_is_the_screenshot_itself_and_follows(
    store: Store, study: Study, chromium: Browser
) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as address, person(chromium) as one:
        room = await begun_room(one, address, token)
        pictures = await room.pictures()
        for key, step, dishes in (("", 1, DISHES), ("ArrowRight", 2, DISHES[:2]), ("ArrowLeft", 1, DISHES)):
            if key:
                await room.press(key)
            await until(partial(says, pictures, f"step {step}, before"))
            answer = await one.request.get(f"{pictures.url}picture")
            assert await answer.body() == drawn(dishes)
        assert await pictures.evaluate("() => document.getElementById('picture').naturalWidth") == SIZE[0]
        assert await pictures.evaluate("() => document.querySelectorAll('#marks circle').length") == 1
        assert await room.page.evaluate("() => document.getElementById('phone').clientWidth") > 300
        toggle = await room.page.locator("#toggle").bounding_box()
        caption = await pictures.locator("#caption").bounding_box()
        assert toggle is not None
        assert caption is not None
        assert toggle["y"] + toggle["height"] <= caption["y"], "the button covers no word above the picture"


@soak
async def test_the_terminal_is_seen_soon_though_the_app_goes_on_writing(
    store: Store, study: Study, chromium: Browser
) -> None:
    """It is hidden while the picture that comes makes it narrower, and no longer than that."""
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as address, person(chromium) as one:
        room = await begun_room(one, address, token)
        await room.pictures()
        await room.page.evaluate(
            """() => {
                setInterval(() => room.dispatchEvent(new MessageEvent("message", { data: new ArrayBuffer(0) })), 40);
                document.body.classList.remove("picture");
                pictures(true);
            }"""
        )
        await room.page.wait_for_selector("body.settling")
        await room.page.wait_for_selector("body:not(.settling)")


async def types(page: Page) -> bool:
    """Whether the terminal has the keys: after a click beside it they are given back, in a moment."""
    return bool(await page.evaluate("() => document.activeElement.className === 'xterm-helper-textarea'"))


async def dragged(frame: Any, mouse: Any, box: tuple[int, int, int, int]) -> None:
    """Drags over a region, in the phone's pixels, on a page of pictures."""
    phone = await frame.locator("#phone").bounding_box()
    scale = min(phone["width"] / SIZE[0], phone["height"] / SIZE[1])
    left = phone["x"] + (phone["width"] - SIZE[0] * scale) / 2
    top = phone["y"] + (phone["height"] - SIZE[1] * scale) / 2
    await mouse.move(left + box[0] * scale, top + box[1] * scale)
    await mouse.down()
    await mouse.move(left + box[2] * scale, top + box[3] * scale, steps=3)
    await mouse.up()


@soak
async def test_a_region_is_dragged_on_the_picture_and_the_keys_stay_with_the_terminal(
    store: Store, study: Study, chromium: Browser
) -> None:
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as address, person(chromium) as one:
        room = await begun_room(one, address, token)
        pictures = await room.pictures()
        await until(partial(says, pictures, "step 1, before"))
        await room.page.locator("#phone").click()
        await until(partial(types, room.page))
        await room.press("1")
        await kept(store, study, ("u0", "done", "yes"))
        await room.until("Enter: type it")
        await room.press("ArrowUp", "r")
        await until(partial(asks, pictures))
        await dragged(pictures, room.page.mouse, (100, 200, 300, 400))
        await room.until("a region")
        (answer,) = [label for label in store.labels.read(study) if label.evidence is not None]
        assert (answer.value, answer.evidence) == ("yes", f"{RUNS[0]}@1")
        assert answer.region is not None
        assert all(abs(is_ - was) <= 3 for is_, was in zip(answer.region, (100, 200, 300, 400), strict=True))
        await until(partial(types, room.page))
        await room.press("2")
        await room.until("no @1")


@soak
async def test_a_region_is_dragged_on_the_page_in_this_machines_own_browser(chromium: Browser) -> None:
    window, taken = PictureWindow(), list[tuple[int, int, int, int]]()
    try:
        window.show(drawn(DISHES), SIZE, "step 1", [PhoneMark("tap", (270, 220))])
        async with person(chromium) as one:
            page = await one.new_page()
            await page.goto(window.address)
            await until(partial(says, page, "step 1"))
            await dragged(page, page.mouse, (10, 20, 300, 400))
            window.ask_region(taken.append)
            await until(partial(asks, page))
            await dragged(page, page.mouse, (100, 200, 300, 400))

            async def there() -> bool:
                return bool(taken)

            await until(there)
            assert all(abs(is_ - was) <= 3 for is_, was in zip(taken[0], (100, 200, 300, 400), strict=True))
            assert len(taken) == 1, "a drag that nobody asked for is none"
            window.show(drawn(["Pay"]), SIZE, "step 2")
            await until(partial(says, page, "step 2"))
            assert await page.evaluate("() => document.querySelectorAll('#marks circle').length") == 0
            window.close()
            await until(partial(says, page, "hitlab was left"))
    finally:
        window.close()


async def test_no_region_is_asked_for_before_its_picture_is_there(chromium: Browser) -> None:
    """What is dragged meanwhile would be of the picture before, or forgotten when the new one comes."""
    window, regions = PictureWindow(), list[tuple[int, int, int, int]]()
    wanted, free = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        wanted.set()
        await free.wait()
        await route.continue_()

    try:
        window.show(drawn(DISHES), SIZE, "step 1")
        async with person(chromium) as one:
            page = await one.new_page()
            await page.goto(window.address)
            await until(partial(says, page, "step 1"))
            await page.route("**/picture", hold)
            window.ask_region(regions.append)
            await wanted.wait()
            assert not await asks(page)
            await dragged(page, page.mouse, (10, 20, 300, 400))
            free.set()
            await until(partial(asks, page))
            await dragged(page, page.mouse, (100, 200, 300, 400))

            async def there() -> bool:
                return bool(regions)

            await until(there)
            assert len(regions) == 1
    finally:
        free.set()
        window.close()


async def asks(frame: Any) -> bool:
    """Whether the page of pictures asks for a region."""
    return bool(await frame.evaluate("() => document.body.classList.contains('asked')"))


async def test_where_the_phone_is_hidden_no_frame_is(store: Store, chromium: Browser) -> None:
    blind = structs.replace(LOOKED, id="blind", shows=("instruction", "actions"))
    study = frozen(store, [Unit("u0", runs=(RUNS[0],))], blind)
    token = make_link(store, study, "R1", by="boss").token
    async with served(store, study) as address, person(chromium) as one:
        room = await begun_room(one, address, token)
        await room.press("ArrowRight")
        await room.until("Steps  2/6")
        assert not await room.page.locator("#phone").is_visible()
        assert not await room.page.locator("#toggle").is_visible()
        assert await room.page.evaluate("() => window.xterm.cols") > 120


@soak
async def test_a_page_waits_for_a_server_that_is_started_again(store: Store, study: Study, chromium: Browser) -> None:
    token = make_link(store, study, "R1", by="boss").token
    first = LabServer(store, [study], ServerPlace("127.0.0.1", 0))
    await first.start()
    async with person(chromium) as one:
        room = await begun_room(one, first.place.address, token)
        page = room.page
        async with page.expect_event("requestfailed"):  # it looked while nobody listened
            await first.stop()
        assert "tries again" in await page.inner_text("#words")
        again = LabServer(store, [study], first.place)
        await again.start()
        try:
            await page.locator("#notice").wait_for(state="hidden", timeout=180_000)
            await room.until("Was it done?")
        finally:
            await again.stop()


@soak
async def test_links_that_open_nothing_say_why(store: Store, study: Study, chromium: Browser) -> None:
    made = make_link(store, study, "R1", by="boss")
    async with served(store, study) as address, person(chromium) as one, person(chromium) as two:
        room = await begun_room(one, address, made.token)
        stranger = await two.new_page()
        await stranger.goto(f"{address}/r/{made.token}")
        assert "another browser" in await stranger.inner_text("main")
        revoke_link(store, made.link, by="boss")
        await room.page.locator("#words").get_by_text("revoked").wait_for(timeout=180_000)
        assert "Ask who sent it" in await room.page.inner_text("#words")
        assert not await room.page.locator("#again").is_visible()
        await room.page.reload()
        assert "revoked" in await room.page.inner_text("main")
        await stranger.goto(f"{address}/r/guess")
        assert "opens nothing" in await stranger.inner_text("main")


@soak
async def test_a_managers_page_renews_itself(store: Store, chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.serve.server._FRESH", 0.0)
    monkeypatch.setattr(progress_page, "EVERY", 1)
    plan = begun(store, 3, of=[Unit(f"u{at}") for at in range(3)])
    made = make_link(store, plan, "boss", by="boss", purpose="watch")
    async with served(store, plan) as address, person(chromium) as one:
        page = await entered(one, address, made.token)
        row = page.locator("tr", has=page.get_by_role("rowheader", name="R1", exact=True)).first
        assert "0/3" in await row.inner_text()
        handed_in(store, plan, "R1", "u0", 10)
        await row.get_by_text("1/3").wait_for(timeout=180_000)
        revoke_link(store, made.link, by="boss")
        await page.get_by_text("revoked").wait_for(timeout=180_000)
