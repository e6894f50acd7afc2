"""Everything that an app lets out: each frame as it is painted, toasts, titles, the clipboard, the page of pictures."""

from __future__ import annotations

import http.client
from typing import Any

import pytest
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.drivers.headless_driver import HeadlessDriver

from screens.app import LabApp
from screens.picture_window import PictureWindow
from tests.screens.runs import painted


class Watched:
    """What was seen of the apps that run while it looks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._seen: dict[str, None] = {}
        self._page = ""
        display, write, put = LabApp._display, HeadlessDriver.write, PictureWindow._publish
        watched = self

        def displayed(app: LabApp, screen: Any, renderable: Any) -> None:
            if isinstance(renderable, LayoutUpdate):
                watched.keep("\n".join("".join(strip.text for strip in line) for line in renderable.strips))
            elif isinstance(renderable, ChopsUpdate):
                chops = renderable.chops
                rows = dict.fromkeys(y for y, _, _ in renderable.spans)
                watched.keep("\n".join("".join(one.text for one in chops[y].values() if one) for y in rows))
            display(app, screen, renderable)

        def written(driver: HeadlessDriver, data: str) -> None:
            watched.keep(data)
            write(driver, data)

        def shown(window: PictureWindow, *told: Any) -> None:
            put(window, *told)
            now = window.wait_newer(-1)
            watched.keep(f"{now['caption']} {' '.join(mark['label'] for mark in now['marks'])}")

        monkeypatch.setattr(LabApp, "_display", displayed)
        monkeypatch.setattr(HeadlessDriver, "write", written)
        monkeypatch.setattr(PictureWindow, "_publish", shown)

    @property
    def text(self) -> str:
        return "\n".join(self._seen)

    def keep(self, *texts: str) -> None:
        """Something left the app; what did so before is there already."""
        self._seen |= dict.fromkeys(texts)

    def look(self, app: LabApp) -> None:
        """Takes in all that stands at this moment, whole."""
        self.keep(painted(app), app.title, app.sub_title, app.clipboard)
        self.keep(*(f"{toast.title} {toast.message}" for toast in app._notifications))

    def serve(self, app: LabApp) -> None:
        """Takes in what the page of pictures answers a browser, its pictures as they are."""
        window = app.window
        assert window is not None
        for rest in ("", "now?after=-1", "picture", "favicon.ico"):
            line = http.client.HTTPConnection("127.0.0.1", window.port, timeout=300)
            path = "/" + window.address.split("/", 3)[3] + rest
            line.request("GET", path, headers={"Host": f"127.0.0.1:{window.port}"})
            answer = line.getresponse()
            self.keep(answer.read().decode("latin-1"), str(answer.headers))
            line.close()
