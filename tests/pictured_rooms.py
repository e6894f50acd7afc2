"""The guides' picture of a room in a browser: at a desk beside the phone's picture, and in the hand."""

from __future__ import annotations

import io

from PIL import Image

from lab.core.study.study import Study
from lab.serve.server import LabServer, ServerPlace
from lab.studies.links import make_link
from store.store import Store
from tests.chromium import PHONE, WIDE, Room, launched, person, until

_GAP = 24
_LOOKED_AT = 7
"""Steps into the run, where something is to be seen."""


async def in_browser(store: Store, study: Study) -> Image.Image:
    """The room of a rater who has answered nothing yet, in two windows side by side."""
    rater = study.raters[-1]
    server = LabServer(store, [study], ServerPlace("127.0.0.1", 0))
    await server.start()
    try:
        async with launched() as browser:
            shots = []
            for size in (WIDE, PHONE):
                async with person(browser, size) as one:
                    page = await one.new_page()
                    token = make_link(store, study, rater, by="boss").token
                    await page.goto(f"{server.place.address}/r/{token}")
                    await page.click("#begin")
                    shots.append(await _shot(Room(page), first=size == WIDE))
    finally:
        await server.stop()
    height = max(shot.height for shot in shots)
    both = Image.new("RGB", (sum(shot.width for shot in shots) + _GAP, height), "white")
    left = 0
    for shot in shots:
        both.paste(shot, (left, 0))
        left += shot.width + _GAP
    return both


async def _shot(room: Room, *, first: bool) -> Image.Image:
    await room.until("1 of 1")
    pictures = await room.pictures()
    if first:
        for _ in range(_LOOKED_AT):
            await room.press("ArrowRight")
        await room.press("1")
        await room.until("used correctly @", "✓ saved")

        async def follows() -> bool:
            return f"step {_LOOKED_AT + 1}," in str(await pictures.evaluate("() => document.body.innerText"))

        await until(follows)
        await room.page.wait_for_selector("body:not(.settling)")
    else:
        await room.until("used correctly @", "Instruction", "Copper Ladle")  # the phone's words are painted, too
    await room.page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    shown = Image.open(io.BytesIO(await room.page.screenshot()))
    shown.load()
    return shown.convert("RGB")
