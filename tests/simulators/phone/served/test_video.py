"""The scrcpy server's side of the protocol, driven in process by a reference client that decodes with PyAV."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from lab.core.run.step import Action
from lab.core.run.ui_tree import UiTree
from simulators.phone.phone import Phone
from simulators.phone.served.scrcpy import serve
from simulators.phone.served.scrcpy_options import RefusedOptions, numbers, parse, version_of, video_size
from simulators.phone.served.services import Services
from tests.crossed import crossed, each_once
from tests.scrcpy_jar import stand_in
from tests.simulators.phone.served.film import Film, FilmPicture, flung
from tests.simulators.phone.served.scrcpy_client import (
    JAR,
    Client,
    Nonsense,
    Start,
    Terminal,
    display,
    on_a_desk,
    psnr,
    shown,
    starting,
    wait_for,
)


@pytest.fixture
def services() -> Services:
    return on_a_desk()


@pytest.fixture
def start(services: Services) -> Iterator[Start]:
    yield from starting(services)


def sees(client: Client, grey: int) -> bool:
    """Whether one of the next pictures is that grey."""
    return any(abs(client.picture().mean() - grey) < 3 for _ in range(12))


@crossed
@pytest.mark.parametrize(("version", "longest"), each_once(["2.4", "3.3.3", "4.0"], [800, 1200, 0]))
def test_video_decodes_to_the_phones_picture(services: Services, start: Start, version: str, longest: int) -> None:
    client = start(version, f"max_size={longest}", "scid=0000beef")
    assert client.greet() == "Lantern One"
    picture = client.picture()
    assert picture.shape[:2] == client.size[::-1]
    assert psnr(picture, shown(services, client.size)) > 33


def test_sizes_are_those_of_the_real_server() -> None:
    def sizes(version: str, *words: str) -> list[tuple[int, int]]:
        options = parse(version, [version, *words])
        return [video_size(options, (1080, 2400)), video_size(options, (2400, 1080))]

    assert sizes("3.3.3") == [(1080, 2400), (2400, 1080)]
    assert sizes("3.3.3", "max_size=1200") == [(544, 1200), (1200, 544)]
    assert sizes("2.4", "max_size=803") == [(360, 800), (800, 360)]
    assert sizes("4.0", "max_size=1200") == [(540, 1200), (1200, 540)]
    assert sizes("4.0", "max_size=1201", "min_size_alignment=16") == [(528, 1200), (1200, 528)]


def test_what_precedes_the_frames(services: Services, start: Start) -> None:
    old, new = start("3.3.3", "scid=00000001"), start("4.0", "scid=00000002")
    for client in (old, new):
        client.greet()
    assert old.size == (1080, 2400)
    assert new.packet().size == (1080, 2400)
    for client in (old, new):
        config, first = client.packet(), client.packet()
        assert config.config
        assert config.data.startswith(b"\0\0\0\1\x67")
        assert first.key
        assert not first.config
        assert 0 <= time.monotonic_ns() // 1000 - first.pts < 10_000_000


def test_raw_streams_have_no_headers(services: Services, start: Start) -> None:
    client = start("3.3.3", "raw_stream=true", "control=false", sockets=("video",))
    assert client.video.take(5) == b"\0\0\0\1\x67"


def test_a_screen_that_does_not_change_falls_silent_and_is_alive(services: Services, start: Start) -> None:
    client = start("3.3.3", "max_size=400")
    client.greet()
    client.picture()
    assert client.until(TimeoutError, patience=1.0) <= 10
    display(services).awake = False
    assert sees(client, 0)


@pytest.mark.parametrize("version", ["3.3.3", "4.0"])
def test_a_turned_screen_begins_a_video_of_its_own(services: Services, start: Start, version: str) -> None:
    client = start(version, "max_size=800")
    client.greet()
    client.picture()
    display(services).rotation = 1
    packet = client.packet()
    while not packet.config and packet.size is None:
        packet = client.packet()
    if version == "4.0":
        assert packet.size == (800, 360)
        packet = client.packet()
    assert packet.config
    client.open(packet.data)
    picture = client.picture()
    assert picture.shape == (360, 800, 3)
    assert psnr(picture, shown(services, (800, 360))) > 33


def test_a_reset_begins_with_a_key_frame(services: Services, start: Start) -> None:
    client = start("3.3.3", "max_size=400")
    client.greet()
    client.picture()
    client.control.send(bytes([17]))
    packet = client.packet()
    while not packet.config:
        packet = client.packet()
    assert client.packet().key


def test_a_film_plays_no_faster_than_asked(services: Services, start: Start) -> None:
    grey = [FilmPicture(bytes([shade]) * (1080 * 2400 * 3), UiTree()) for shade in (60, 120, 180)]
    services.display = film = Film(Phone(), grey)
    client = start("3.3.3", "max_size=400", "max_fps=25")
    client.greet()
    film.play(60)
    pictures, times = [], []
    client.packet()
    for _ in range(8):
        times.append(client.packet().pts)
    assert min(b - a for a, b in pairwise(times)) > 1_000_000 / 25 * 0.85
    film.halt()
    client.reset()
    for _ in range(6):
        pictures.append(client.picture().mean())
    assert abs(pictures[-1] - film.rgb()[0]) < 3
    assert pictures[-1] == pictures[-2]
    before = film.rgb()
    film.phone.perform(Action("wait"))
    assert film.rgb() != before
    assert sees(client, film.rgb()[0])


def test_a_film_of_a_list_moves_and_comes_back() -> None:
    phone = Phone()
    phone.perform(Action("open_app", app="settings"))
    pictures = [shot.rgb for shot in flung(phone, 6, 40)]
    assert len(pictures) == 6
    assert all(a != b for a, b in pairwise([*pictures, pictures[0]]))
    assert pictures[1] == pictures[-1]


def test_a_film_says_what_is_to_be_seen() -> None:
    phone = Phone()
    phone.perform(Action("open_app", app="food"))
    film = Film(phone, flung(phone, 4))
    before = film.tree()
    assert film.png().startswith(b"\x89PNG")
    phone.perform(Action("wait"))
    assert film.tree() != before
    assert film.rgb() == film.shot.rgb


@pytest.mark.parametrize("wrong", ["garbage", "die"])
def test_video_goes_wrong_on_demand(services: Services, start: Start, wrong: str) -> None:
    client = start("3.3.3", "max_size=400")
    client.greet()
    client.picture()
    services.faults.turn("video", wrong)
    client.until(EOFError, Nonsense)
    if wrong == "die":
        wait_for(lambda: client.code is not None)
        assert client.control.end.gone.is_set()


def test_a_slow_phone_is_slow(services: Services, start: Start) -> None:
    services.faults.turn("slow", 0.3)
    began = time.monotonic()
    client = start("3.3.3", "max_size=400")
    client.greet()
    client.picture()
    assert time.monotonic() - began > 0.25


def test_sound_is_refused_and_the_picture_goes_on(services: Services, start: Start) -> None:
    client = start("3.3.3", "max_size=400", "audio=true", sockets=("video", "audio", "control"))
    client.greet()
    client.picture()
    assert client.sockets["audio"].take(4) == bytes(4)


def test_the_server_ends_with_its_sockets_or_its_console(services: Services, start: Start) -> None:
    first, second, third = (
        start("3.3.3", "scid=00000001"),
        start("3.3.3", "scid=00000002"),
        start("3.3.3", "scid=00000003"),
    )
    first.video.end.close()
    second.control.end.close()
    third.console.gone.set()
    for client in (first, second, third):
        wait_for(lambda client=client: client.code == 0)
        assert client.video.end.gone.is_set()
        assert client.control.end.gone.is_set()
    assert not services.listening


def test_nobody_comes(services: Services, start: Start) -> None:
    client = start("3.3.3", sockets=())
    wait_for(lambda: "scrcpy" in services.listening)
    client.console.gone.set()
    wait_for(lambda: client.code is not None)
    assert not services.listening


def test_versions_must_match(services: Services) -> None:
    says = "The server version (3.3.3) does not match the client (3.3.2)"
    console = Terminal()
    services.files[JAR] = stand_in("3.3.3")
    assert serve(services, JAR, ["3.3.2"], console) == 1
    assert console.text.startswith(f"[server] ERROR: {says}\njava.lang.IllegalArgumentException: {says}\n")
    assert serve(services, "/data/local/tmp/other.jar", ["3.3.3"], console) == 1
    assert "Could not find or load main class com.genymobile.scrcpy.Server" in console.text
    for words in ([], ["3.3.3", "tunnel_forward"], ["3.3.3", "max_size=big"], ["3.3.3", "scid=80000000"]):
        with pytest.raises(RefusedOptions):
            parse("3.3.3", words)


@pytest.mark.parametrize("jar", [b"", b"PK\3\4", b"\0" * 100, stand_in("3.3.3")[:-20]])
def test_what_is_no_jar_has_no_version(jar: bytes) -> None:
    assert version_of(jar) is None


def test_a_jar_says_its_version() -> None:
    assert version_of(stand_in("4.0")) == "4.0"
    assert numbers("3.3.3-rc1") == (3, 3, 3)
    assert numbers("beta") == ()


def test_words_of_another_flavour_are_unknown(services: Services, start: Start) -> None:
    new = start("4.0", "send_codec_meta=false", "max_size=400", "log_level=warn")
    assert new.greet()
    assert "[server] WARN: Unknown server option: send_codec_meta" in new.console.text
    assert "INFO" not in new.console.text


def test_a_codec_that_the_phone_has_not(services: Services, start: Start) -> None:
    client = start("3.3.3", "video_codec=h265")
    wait_for(lambda: client.code is not None)
    assert "Could not create default video encoder for h265" in client.console.text


def test_a_tunnel_back_to_the_computer_is_not_there(services: Services) -> None:
    console = Terminal()
    services.files[JAR] = stand_in("3.3.3")
    assert serve(services, JAR, ["3.3.3"], console) == 1
    assert "Connection refused" in console.text


def test_two_servers_do_not_share_a_socket(services: Services, start: Start) -> None:
    start("3.3.3", sockets=())
    wait_for(lambda: "scrcpy" in services.listening)
    console = Terminal()
    assert serve(services, JAR, ["3.3.3", "tunnel_forward=true"], console) == 1
    assert "Address already in use" in console.text
    assert "scrcpy" in services.listening


def test_lists_are_printed_and_the_server_ends(services: Services) -> None:
    console = Terminal()
    services.files[JAR] = stand_in("3.3.3")
    words = ["3.3.3", *(f"list_{what}=true" for what in ("apps", "displays", "encoders", "cameras"))]
    assert serve(services, JAR, words, console) == 0
    assert JAR not in services.files, "a server that cleans up takes its own jar away"
    lines = console.text.splitlines()
    assert lines.index(" * Settings                       com.hitlab.settings") < lines.index(
        " - Browser                        com.hitlab.browser"
    )
    assert "    --display-id=0    (1080x2400)" in lines
    assert "[server] INFO: List of apps:" in lines
    assert parse("2.4", ["2.4", "list_apps=true"]).unknown == ("list_apps",)
