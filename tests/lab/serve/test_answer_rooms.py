"""Rooms of the endpoint in a browser: each person by a link of their own, hashed and revocable as those of studies."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest

from lab.cli.main import main
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.runs.endpoint.conversation_intake import Intake
from lab.runs.endpoint.conversation_run import close_conversation
from lab.serve.pages import CLOSE_CODES
from lab.serve.server import LabServer
from lab.studies.links import LinkRefused, check_link, enter_link, hashed, links_of, make_link, newest, revoke_link
from simulators.users.endpoint.request_kinds import judge_rules
from store.erasing.withdrawal import withdraw
from store.store import Store
from tests.answering import request
from tests.lab.serve.browser import Browser
from tests.lab.serve.test_server import ANY, until
from tests.studies import frozen, unit
from tests.warm import Warm


def run(store: Store, *words: str) -> int:
    return main([*words, "--db", str(store.path)])


@pytest.mark.usefixtures("forked_windows")
async def test_each_person_answers_their_own_questions_by_a_link(store: Store) -> None:
    intake = Intake(store, [Actor("human", "P01"), Actor("human", "P02")], judge_rules())
    first, second = (intake.receive(request(f"The {one} question?", session=one)) for one in ("red", "blue"))
    token = make_link(store, None, "P02", by="boss").token
    server = LabServer(store, [], ANY, answers=True)
    await server.start()
    browser = Browser(server)
    try:
        status, page = await browser.get(f"/r/{token}")
        assert (status, "P02" in page, "An assistant" in page) == (200, True, True)
        _, room = await browser.begin(token)
        async with browser.window(room) as window:
            await window.until("The blue question?")
            await window.until("1 waits")
            assert "red" not in window.painted
            for word in ("Home", "Runs", "Live"):
                assert word not in window.painted
            await window.until("⏎ Send")  # what the footer says once the answer's line has the keys
            await window.keys("Indigo.\r")
            await until(lambda: store.runs.trace(second.turn.run).replies == 1)
            intake.deliver_answers()
            async with browser.window(room, **{"Accept-Language": "zh-CN,zh;q=0.9"}) as chinese:
                await chinese.until("对话列表")
            revoke_link(store, links_of(store, None)[0], by="boss")
            assert await window.ended() == CLOSE_CODES["revoked"]
        assert second.answer.result().content == "Indigo."
        assert not first.answer.done()
        assert (await browser.get(f"/r/{token}"))[0] == 403
    finally:
        await browser.session.close()
        await server.stop()


def test_a_server_of_studies_alone_opens_no_such_link(store: Store) -> None:
    token = make_link(store, None, "P01", by="boss").token

    async def greeted() -> int:
        server = LabServer(store, [], ANY)
        await server.start()
        browser = Browser(server)
        try:
            return (await browser.get(f"/r/{token}"))[0]
        finally:
            await browser.session.close()
            await server.stop()

    assert asyncio.run(greeted()) == 404


def test_the_file_keeps_no_secret_and_a_withdrawal_takes_links_along(store: Store, tmp_path: Path) -> None:
    made, other = make_link(store, None, "P01", by="P09"), make_link(store, None, "P02", by="P01")
    browser = enter_link(store, None, made.link)
    with pytest.raises(LinkRefused):
        enter_link(store, None, made.link)
    everything = b"".join(path.read_bytes() for path in tmp_path.glob("lab.db*"))
    assert hashed(made.token).encode() in everything
    for secret in (made.token, other.token, browser):
        assert secret.encode() not in everything
    intake = Intake(store, [Actor("human", "P01")], judge_rules())
    close_conversation(store, intake.receive(request("Which?")).turn.run, Actor("human", "P01"))
    withdraw(store, "P01", Actor("human", "boss"))
    assert [link.rater for link in links_of(store, None)] == ["P02"]
    with pytest.raises(LinkRefused, match="withdrawn"):
        check_link(store, None, made.link)
    assert not store.database.read("SELECT 1 FROM answer_link WHERE instr(body, 'P01')")


def test_links_by_command(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(store, "answer", "--links", "--as", "P01,P02", "--until", "14d", "--json") == 0
    links = json.loads(capsys.readouterr().out)["links"]
    assert [(link["rater"], link["state"]) for link in links] == [("P01", "open"), ("P02", "open")]
    assert all(re.fullmatch(r"http://127\.0\.0\.1:8765/r/[\w-]{43}", link["address"]) for link in links)
    assert run(store, "answer", "--links", "--as", "P01") == 0
    assert "/r/" not in capsys.readouterr().out, "a link is shown when it is made"
    assert run(store, "answer", "--links", "--again", "P01", "--revoke", "P02") == 0
    assert capsys.readouterr().out.count("/r/") == 1
    assert list(newest(links_of(store, None), now())) == ["P01"]
    assert run(store, "answer", "--links", "--revoke", "P07") == 2
    assert "P07 is none of its people" in capsys.readouterr().err
    assert run(store, "answer", "--links", "--as", "P01", "--revoke", "P01") == 2
    assert "P01: is to have a link and none" in capsys.readouterr().err
    assert run(store, "answer", "--again", "P01") == 2
    assert "--renew: belongs to --links" in capsys.readouterr().err


def test_links_lead_to_the_server_that_runs_on_the_file_or_say_that_none_does(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    def address(*words: str) -> tuple[str, bool]:
        """Where a new link leads, and whether it is said to be a guess."""
        capsys.readouterr()
        assert run(store, *words) == 0
        said = capsys.readouterr().out
        found = re.search(r"(http\S+)/r/", said)
        assert found
        return found[1], "No `hitlab serve study` runs" in said

    frozen(store, [unit("u1", runs=())])
    again = (("answer", "--links", "--as", "P01", "--again", "P01"), ("study", "links", "trial", "--again", "R1"),
             ("study", "links", "trial", "--watch"))  # fmt: skip
    assert run(store, "answer", "--links", "--as", "P01") == 0
    assert {address(*words) for words in again} == {("http://127.0.0.1:8765", True)}
    for more in ((), ("--url", "https://lab.example.org")):
        command = ["serve", "--answer", "P01", "--port", "0", "--db", str(store.path), *more]
        process = Warm(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        served = re.search(r"at (http\S+) to 1", process.stdout.readline().decode())
        assert served
        assert {address(*words) for words in again} == {(served[1], False)}
        assert address(*again[1], "--url", "http://other.example") == ("http://other.example", False)
        (process.kill if more else process.terminate)()
        process.communicate(timeout=180)
    assert {address(*words) for words in again} == {("http://127.0.0.1:8765", True)}


@pytest.mark.parametrize(
    ("words", "sentence"), [("", "what is served"), (",", "says nothing"), ("a b", "no study code")]
)
def test_what_is_not_to_be_served_is_a_sentence(
    store: Store, words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = run(store, "serve", *(["--answer", words] if words else []))
    except SystemExit as ended:
        code = ended.code
    assert code in (1, 2)
    assert sentence in capsys.readouterr().err
