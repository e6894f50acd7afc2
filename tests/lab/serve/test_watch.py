"""A manager's link over real sockets: it shows how far a study is, and nothing else; nobody else sees it."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path

import aiohttp
import pytest

from lab.cli.main import main
from lab.core.study.study import Study, Unit
from lab.serve.server import LabServer, ServerPlace
from lab.studies.links import hashed, links_of, make_link, revoke_link
from store.copies.kit_export import make_kit
from store.store import Store
from tests.lab.serve.browser import Browser
from tests.warm import shim
from tests.watched import ASKED, answered, begun, did, handed_in

ANY = ServerPlace("127.0.0.1", 0)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HITLAB_PERSON", "boss")
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    monkeypatch.setattr("lab.serve.server._FRESH", 0.0)
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    """R1 has done two of three; R1 and R2 differ; a judge answered; notes and texts that nobody may see here."""
    plan = begun(store, 3, of=[Unit(f"u{at}") for at in range(3)], title="<b>What</b> & is right")
    handed_in(store, plan, "R1", "u0", 10)
    answered(store, plan, "R1", "u1", 15, "zebra", field="why", note="giraffe")
    handed_in(store, plan, "R1", "u1", 30, "n")
    handed_in(store, plan, "R2", "u0", 10, "n")
    answered(store, plan, "<i>judge</i>", "u0", 10, "y", kind="model", cost=0.02, note="giraffe")
    return plan


@asynccontextmanager
async def served(store: Store, study: Study) -> AsyncIterator[tuple[LabServer, Callable[[], Browser]]]:
    server = LabServer(store, [study], ANY)
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


class Tags(HTMLParser):
    """Every tag of a page with its attributes, and the words between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


async def test_a_manager_sees_how_far_it_is_and_what_comes_in(store: Store, study: Study) -> None:
    token = make_link(store, study, "boss", by="boss", purpose="watch").token
    async with served(store, study) as (_, browser):
        one = browser()
        status, greeting = await one.get(f"/r/{token}")
        assert status == 200
        assert "how far the people of this study are" in greeting
        assert "R1" not in greeting, "a preview sees nothing"
        status, room = await one.begin(token)
        assert status == 200
        status, page = await one.get(room)
        words = Tags(page).words
        assert status == 200
        assert {"R1", "2/3", "R2", "1/3", "R3", "0/3", "all", "3/9", "$0.02"} <= {*words}
        assert any("not begun" in word for word in words)
        handed_in(store, study, "R3", "u0", 40)
        assert "4/9" in Tags((await one.get(room))[1]).words
        assert (await one.get(f"/r/{token}"))[0] == 200, "the same link leads there again, in the same browser"


async def test_nothing_on_it_leads_anywhere_and_no_answer_is_told(store: Store, study: Study) -> None:
    token = make_link(store, study, "boss", by="boss", purpose="watch").token
    async with served(store, study) as (_, browser):
        one = browser()
        _, room = await one.begin(token)
        async with one.session.get(one.address + room) as answer:
            page, policy = await answer.text(), answer.headers["Content-Security-Policy"]
            assert answer.headers["Cache-Control"] == "no-store"
    read = Tags(page)
    assert not {tag for tag, _ in read.tags} & {"a", "form", "button", "input", "iframe", "img", "b", "i"}
    assert [attributes["href"] for tag, attributes in read.tags if tag == "link"] == ["data:,"]
    assert not any(name.startswith("on") for _, attributes in read.tags for name in attributes)
    (script,) = [attributes for tag, attributes in read.tags if tag == "script"]
    assert [*script] == ["nonce"]
    assert f"script-src 'nonce-{script['nonce']}';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "<b>What</b> & is right" in "".join(read.words)
    assert "<i>judge</i>" in read.words
    for hidden in ("zebra", "giraffe", "/r/", "/l/", token):
        assert hidden not in page
    assert "http-equiv" in page, "without scripts it is loaded again, too"
    assert ASKED.fields[0].display_name in read.words


async def test_nobody_else_sees_it(store: Store, study: Study) -> None:
    watch = make_link(store, study, "boss", by="boss", purpose="watch")
    rater = make_link(store, study, "R1", by="boss")
    async with served(store, study) as (server, browser):
        boss, one, stranger = browser(), browser(), browser()
        _, progress = await boss.begin(watch.token)
        _, room = await one.begin(rater.token)
        for who, path in ((one, progress), (stranger, progress), (boss, room)):
            status, page = await who.get(path)
            assert status in (403, 404)
            assert "2/3" not in page
        status, page = await stranger.begin(watch.token)
        assert status == 403
        assert "another browser" in page
        for token in (watch.link.secret_sha, watch.link.id, watch.token[:-1], "guess"):
            assert (await stranger.get(f"/r/{token}"))[0] == 404
        assert "2/3" not in (await one.get(room))[1], "a rater's room is no page of progress"
        assert not server.windows


async def test_it_opens_no_room_and_no_picture(store: Store, study: Study) -> None:
    watch = make_link(store, study, "R1", by="boss", purpose="watch")  # a rater's code makes no room of it
    async with served(store, study) as (server, browser):
        boss = browser()
        _, progress = await boss.begin(watch.token)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            async with boss.session.ws_connect(f"{boss.address}{progress}socket/abc", headers={"Origin": boss.address}):
                pass
        assert (await boss.get(f"{progress}phone/abc/now"))[0] == 403
        assert not server.windows


async def test_a_revoked_link_shows_nothing_more(store: Store, study: Study) -> None:
    made = make_link(store, study, "boss", by="boss", purpose="watch")
    async with served(store, study) as (server, browser):
        one = browser()
        _, room = await one.begin(made.token)
        revoke_link(store, made.link, by="boss")
        server.links._read_at = float("-inf")
        status, page = await one.get(room)
        assert status == 403
        assert "revoked" in page
        assert "2/3" not in page


async def test_it_is_shown_to_the_end_of_a_study_and_not_of_an_archived_one(store: Store, study: Study) -> None:
    token = make_link(store, study, "boss", by="boss", purpose="watch").token
    async with served(store, study) as (_, browser):
        one = browser()
        _, room = await one.begin(token)
        did(store, study, "boss", "locked", 100)
        status, page = await one.get(room)
        assert status == 200
        assert "locked" in page
        did(store, study, "boss", "archived", 200)
        assert (await one.get(room))[0] == 403


async def test_many_who_look_cost_one_reading(store: Store, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.serve.server._FRESH", 3600.0)
    token = make_link(store, study, "boss", by="boss", shared=True, purpose="watch").token
    async with served(store, study) as (_, browser):
        one, two = browser(), browser()
        _, room = await one.begin(token)
        await two.begin(token)
        assert "3/9" in (await one.get(room))[1]
        handed_in(store, study, "R3", "u0", 40)
        pages = await asyncio.gather(*(who.get(room) for who in (one, two) for _ in range(10)))
        assert all("3/9" in page for _, page in pages)


def test_a_managers_link_is_none_of_the_raters(store: Store, study: Study) -> None:
    made = make_link(store, study, "R1", by="boss", purpose="watch")
    assert links_of(store, study) == []
    (link,) = links_of(store, study, "watch")
    assert (link.id, link.secret_sha, link.purpose) == (made.link.id, hashed(made.token), "watch")


# -- commands ----------------------------------------------------------------------------------------------------


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main([*words])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_links_makes_shows_and_revokes_it(
    store: Store, study: Study, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    import json

    code, said = told(capsys, "study", "links", "trial", "--watch")
    found = re.search(r"http://127\.0\.0\.1:8765/r/(\S+)", said)
    assert code == 0
    assert found
    (first,) = links_of(store, study, "watch")
    assert first.secret_sha == hashed(found[1])
    everything = b"".join(path.read_bytes() for path in tmp_path.glob("lab.db*"))
    assert found[1].encode() not in everything
    row = json.loads(told(capsys, "study", "links", "trial", "--json")[1])
    assert (row["watch"]["rater"], row["watch"]["state"], row["watch"]["address"]) == ("boss", "open", "")
    assert [one["rater"] for one in row["links"]] == ["R1", "R2", "R3"]
    assert "boss (watches)" in told(capsys, "study", "links", "trial")[1]
    told(capsys, "study", "links", "trial", "--watch")
    assert [one.state("2026-05-01") for one in links_of(store, study, "watch")] == ["revoked", "open"]
    assert "opens nothing any more" in told(capsys, "study", "links", "trial", "--no-watch")[1]
    assert {one.state("2026-05-01") for one in links_of(store, study, "watch")} == {"revoked"}
    assert "No link to watch trial v1 was open" in told(capsys, "study", "links", "trial", "--no-watch")[1]
    assert [one.state("2026-05-01") for one in links_of(store, study)] == ["open"] * 3, "people's stay"
    code, said = told(capsys, "study", "links", "trial", "--watch", "--again", "R1")
    assert (code, "--renew and --revoke are about people's" in said) == (2, True)


def test_nobody_is_given_a_link_who_is_to_have_none(
    store: Store, study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = told(capsys, "study", "links", "trial", "--again", "R1,R2", "--revoke", "R2,R3")
    assert (code, "--revoke: R2: is to have a link and none" in said) == (2, True), said
    assert links_of(store, study) == []


@pytest.mark.parametrize("words", [("study", "links", "trial", "--watch"), ("serve", "--study", "trial", "--watch")])
def test_a_kit_has_no_such_link(
    store: Store, study: Study, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    make_kit(store, study, "R1", tmp_path / "R1.db")
    code, said = told(capsys, *words, "--db", str(tmp_path / "R1.db"))
    assert (code, "this file is a kit of R1" in said) == (1, True), said


async def test_serve_prints_the_link_once(store: Store, study: Study, tmp_path: Path) -> None:
    program = shim(tmp_path / "hitlab")

    async def lines(until: str) -> list[str]:
        server = await asyncio.create_subprocess_exec(
            *(program, "serve", "--study", "trial", "--study", "trial@1", "--watch", "--port", "0"),
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdout is not None
        printed: list[str] = []
        while until not in (line := (await asyncio.wait_for(server.stdout.readline(), 60)).decode()):
            assert line, printed
            printed.append(line)
        server.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(server.wait(), 60) == 0
        assert [line.split()[0] for line in printed if " is served at " in line] == ["trial"], "once, by either name"
        return printed

    (link,) = [line for line in await lines("Ctrl+C ends it") if line.startswith("  watch  http://127.0.0.1:")]
    (made,) = links_of(store, study, "watch")
    assert made.secret_sha == hashed(link.strip().rpartition("/r/")[2])
    assert made.rater == "boss"
    again = await lines("Ctrl+C ends it")
    assert not [line for line in again if line.startswith("  watch")]
    assert any("`hitlab study links trial --watch` makes another" in line for line in again)
