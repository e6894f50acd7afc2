"""A scrcpy session through the real adb server with the served phone: pictures, touches, text, keys, apps."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action, Point
from lab.core.seams import Trouble
from lab.devices.adb.shell import Shell
from lab.devices.scrcpy.scrcpy import Scrcpy, apps
from lab.devices.videos import Videos
from tests.crossed import crossed, each_once
from tests.lab.devices.scrcpy_rig import PATIENCE, Mirrored, Start, picture, psnr, until

SIZES = (800, 1200, 0)
"""The video's longer side: a third, a half and the whole of the phone's."""
UPRIGHT, ASIDE = (1080, 2400), (2400, 1080)


@crossed
@pytest.mark.parametrize(("most", "version"), each_once(SIZES, ["2.4", "3.3.4", "4.1"]))
def test_pictures_are_the_phones_and_touches_land(mirrored: Mirrored, start: Start, version: str, most: int) -> None:
    session = start(version, max_size=most)
    assert (session.version, session.name) == (version, "Lantern One")
    for space in (UPRIGHT, ASIDE):
        size = session.size
        assert size is not None
        assert max(size) == (most or 2400)
        shown = mirrored.shown(size)
        picture(session, lambda p, s=size, i=shown: p.size == s and psnr(p, i) > 35)  # type: ignore[misc]
        lands(mirrored, session, space)
        if space == UPRIGHT:
            session.rotate()
            picture(session, lambda p: p.size[0] > p.size[1])
            until(lambda: session.size and session.size[0] > session.size[1])


def lands(mirrored: Mirrored, session: Scrcpy, space: Point) -> None:
    """Touches all over the screen arrive where they were meant, as near as the video's pixels allow."""
    display = mirrored.served.display
    assert session.size is not None
    for across, down in ((0.0, 0.0), (0.31, 0.77), (0.5, 0.5), (0.999, 0.999)):
        left, right = (0, space[0]) if space == UPRIGHT else (961, 1439)  # the phone's picture, but for its edges
        at = (int(left + across * (right - left)), int(down * space[1]))
        meant = display.to_phone(*at)
        assert meant is not None
        session.touch(*at, "down", space)
        session.touch(*at, "up", space)
        kind, felt = mirrored.phone.next_touch()
        assert kind == "click"
        assert felt is not None
        coarse = space[0] / session.size[0] / 2 + 1
        scale = 1080 / (right - left)
        assert max(abs(felt[0] - meant[0]), abs(felt[1] - meant[1])) <= coarse * scale + 1


def test_a_touch_is_exact_where_the_video_is(mirrored: Mirrored, start: Start) -> None:
    session = start(max_size=0)
    for at in ((0, 0), (1, 2), (539, 1201), (1079, 2399)):
        session.touch(*at, "down", UPRIGHT)
        session.touch(*at, "up", UPRIGHT)
        assert mirrored.phone.next_touch() == ("click", at)


def test_what_was_meant_for_another_side_or_beside_the_screen_is_refused(mirrored: Mirrored, start: Start) -> None:
    session = start()
    with pytest.raises(Trouble, match="being turned") as caught:
        session.touch(5, 5, "down", ASIDE)
    assert not caught.value.sent
    for at in ((-1, 5), (1080, 5), (5, 2400)):
        with pytest.raises(LabError, match="outside"):
            session.touch(*at, "down", UPRIGHT)
    assert not mirrored.phone.touched


def test_a_still_screen_sends_nothing_and_lives(mirrored: Mirrored, start: Start) -> None:
    session = start()
    last = picture(session)
    while (more := session.newest(last.number, 0.5)) is not None:
        last = more
    assert session.newest(last.number, 0.3) is None
    assert session.alive
    session.key(3)
    session.touch(900, 1700, "down", UPRIGHT)
    session.touch(900, 1700, "up", UPRIGHT)
    assert session.newest(last.number, PATIENCE) is not None


def test_the_newest_picture_wins_and_streams_end(mirrored: Mirrored, start: Start) -> None:
    session = start()
    stop, seen = threading.Event(), []
    for found in session.pictures(stop):
        seen.append(found.number)
        if len(seen) == 3:
            stop.set()
    assert seen == sorted(set(seen))
    first = session.newest(-1, 0)
    assert first is not None
    assert first.number >= seen[-1]


def test_a_picture_is_had_at_the_size_that_is_wanted(mirrored: Mirrored, start: Start) -> None:
    found = picture(start(max_size=1200))
    for size in ((544, 1200), (271, 601), (90, 200), (1080, 2400)):
        pixels = np.frombuffer(found.rgb(size), np.uint8).reshape(size[1], size[0], 3)
        shown = mirrored.shown(size)
        assert abs(pixels.mean(axis=(0, 1)) - shown.mean(axis=(0, 1))).max() < 3


def field(mirrored: Mirrored) -> str:
    node = next((node for node in mirrored.served.display.tree().nodes() if node.focused), None)
    return node.text if node is not None else ""


def into_a_field(mirrored: Mirrored) -> None:
    """A note is open, and the cursor is in it."""
    mirrored.phone.perform(Action("open_app", app="Notes"))
    tree = mirrored.served.display.tree()
    new = next(node for node in tree.nodes() if node.clickable and "ew note" in f"{node.text} {node.desc}")
    mirrored.phone.perform(Action("click", at=new.bounds.center))
    body = [node for node in mirrored.served.display.tree().nodes() if "EditText" in node.cls][-1]
    mirrored.phone.perform(Action("click", at=body.bounds.center))
    assert mirrored.served.display.typing


AWKWARD = 'it\'s "50%" off; rm -rf $HOME & 你好 🙂\n'


def test_any_text_is_pasted_as_it_is(mirrored: Mirrored, start: Start) -> None:
    into_a_field(mirrored)
    session = start(video=False)
    assert session.size is None
    session.paste(AWKWARD)
    until(lambda: field(mirrored).endswith(AWKWARD))
    session.copy_in("kept")
    assert session.clipboard() == "kept"
    assert mirrored.served.services.clipboard == "kept"


def test_a_secret_does_not_stay_on_the_clipboard(mirrored: Mirrored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRCPY_SERVER_PATH", mirrored.jar("3.3.4"))
    into_a_field(mirrored)
    videos = Videos(mirrored.open, Shell(mirrored.open, "phone"), "scrcpy", 30, 800)
    for before in ("what was copied", ""):
        mirrored.served.services.clipboard = before
        assert videos.paste("pässword", True)
        until(lambda: field(mirrored).endswith("pässword"))
        assert mirrored.served.services.clipboard == before
    assert videos.paste("wörds", False)
    assert mirrored.served.services.clipboard == "wörds"


def test_keys_type_ascii_and_nothing_else(mirrored: Mirrored, start: Start) -> None:
    into_a_field(mirrored)
    session = start(video=False)
    before = field(mirrored)
    session.text('it\'s "50%" off; rm -rf $HOME & ~')
    session.text("")
    until(lambda: field(mirrored) == before + 'it\'s "50%" off; rm -rf $HOME & ~')
    session.key(67)
    until(lambda: field(mirrored) == before + 'it\'s "50%" off; rm -rf $HOME & ')
    for other in ("é", "\n", "\x1b[0m"):
        with pytest.raises(LabError, match="ASCII"):
            session.text(other)


def test_panels_back_home_and_apps(mirrored: Mirrored, start: Start) -> None:
    session = start("4.1")
    display = mirrored.served.display
    session.start_app("com.hitlab.notes")
    until(lambda: "notes" in display.activity)
    session.press_back()
    until(lambda: "notes" not in display.activity)
    session.start_app("?clock")
    until(lambda: "clock" in display.activity)
    session.expand("notifications")
    until(lambda: mirrored.phone.current_screen().state["shade"])
    session.expand("")
    until(lambda: not mirrored.phone.current_screen().state["shade"])
    session.key(3)
    until(lambda: "clock" not in display.activity)
    display.awake = False
    session.press_back()
    until(lambda: display.awake)
    assert session.alive
    with pytest.raises(LabError, match="starts no apps"):
        start("2.4").start_app("com.hitlab.notes")


def test_a_long_press_is_a_finger_that_stays(mirrored: Mirrored, start: Start) -> None:
    session = start()
    session.touch(540, 1200, "down", UPRIGHT)
    kind, at = mirrored.phone.next_touch()
    session.touch(540, 1200, "up", UPRIGHT)
    assert (kind, at) == ("long_press", (540, 1200))


def test_apps_by_their_labels(mirrored: Mirrored) -> None:
    found = apps(mirrored.open, jar=mirrored.jar("4.0"))
    assert ("Notes", "com.hitlab.notes") in [(app.label, app.package) for app in found]
    assert not any("jar" in name for name in mirrored.served.services.files)
    with pytest.raises(LabError, match="lists no apps"):
        apps(mirrored.open, jar=mirrored.jar("2.4"))
