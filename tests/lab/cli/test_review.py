"""Proofreading, export and redaction without a screen: what each prints, refuses, and leaves on the disk."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.core.run.step import Observation
from lab.core.run.trace import Ended
from store.store import Store
from tests.demonstrations import DEMO, MAIL, NAME, PHONE, demonstration, tree_of
from tests.lab.fitting import fits
from tests.warm import Warm

Run = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs one command over a database with one demonstration, as a person."""
    for name, value in (("HOME", tmp_path), ("XDG_CONFIG_HOME", tmp_path / "config")):
        monkeypatch.setenv(name, str(value))
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add(demonstration())

    def call(*args: str, by: str = "P1", json_out: bool = True) -> tuple[int, Any]:
        monkeypatch.setenv("HITLAB_PERSON", by)
        code = main([*args, "--db", str(tmp_path / "lab.db"), *(["--json"] if json_out else [])])
        out = capsysbinary.readouterr()
        text = out.out.decode() + ("" if json_out else out.err.decode())
        if json_out and code == 0 and args[0] in ("review", "privacy", "export"):
            listed = f"{args[0]}-list" if "--list" in args else f"{args[0]}-show" if args[0] == "privacy" else args[0]
            is_act = "--show" not in args and {"--text", "--box", "--clear", "--wipe"} & set(args)
            listed = args[0] if is_act else listed
            fits(json.loads(text), listed)
        return code, json.loads(text) if json_out else text

    return call


def hand_in(run: Run, by: str, *edit: str) -> Any:
    if edit:
        assert run("review", DEMO, "--edit", *edit, by=by)[0] == 0
    assert run("review", DEMO, "--accept", "all", "--commit", by=by)[0] == 0
    return run("review", DEMO, "--show", by=by)[1]


def test_two_proofread_apart_a_third_settles_and_the_reviewed_text_is_exported(run: Run, tmp_path: Path) -> None:
    assert hand_in(run, "P1", "3", "instruction", "Tap the paper plane")["state"] == "one of two"
    blind = run("review", DEMO, "--show", by="P2")[1]
    assert (blind["rows"], blind["differences"], blind["proofreaders"]) == ([], [], 1)
    assert "paper plane" not in json.dumps(blind)
    assert "paper plane" not in run("review", DEMO, "--show", by="P2", json_out=False)[1]
    shown = hand_in(run, "P2", "whole", "place", "school")
    assert shown["state"] == "differs"
    assert [(one["step"], one["field"]) for one in shown["differences"]] == [(None, "place"), (3, "instruction")]
    assert run("export", DEMO, "--out", str(tmp_path / "o"), "--reviewed")[0] == 1
    assert run("review", DEMO, "--settle", "3", "instruction", "Tap the plane", by="P1")[0] == 1
    run("review", DEMO, "--settle", "3", "instruction", "Tap the plane", by="P3")
    settled = run("review", DEMO, "--settle", "whole", "place", "office", "--note", "as recorded", by="P3")[1]
    assert (settled["state"], settled["settled_by"]) == ("settled", ["P3"])
    code, out = run("export", DEMO, "--out", str(tmp_path / "o"), "--reviewed")
    assert (code, out["reviewed"], len(out["runs"])) == (0, True, 1)
    lines = (tmp_path / "o" / out["runs"][0] / "run.jsonl").read_text().splitlines()
    assert json.loads(lines[4])["event"]["proposed"]["instruction"] == "Tap the plane"
    listed = run("review", "--list")[1]
    assert listed["demonstrations"][0]["state"] == "settled"
    (rate,) = listed["annotators"]
    assert (rate["annotator"], rate["looks"], rate["edited"]) == ("A01", 8, 1)


def test_an_action_is_edited_as_json_and_one_that_cannot_be_done_is_refused(run: Run) -> None:
    code, shown = run("review", DEMO, "--edit", "1", "action", '{"kind":"long_press","at":[10,20]}')
    assert (code, shown["places"][1]["mine"]["action"]) == (0, {"kind": "long_press", "at": [10, 20]})
    for value, said in (
        ("{", "action"),
        ('{"kind":"click","at":[9999,3]}', "off the screen"),
        ('{"kind":"fly"}', "kind"),
    ):
        code, refused = run("review", DEMO, "--edit", "1", "action", value)
        assert code == 2
        assert said in refused["message"] + refused["error"]


@pytest.mark.parametrize(
    ("args", "by", "code", "said"),
    [
        (["--accept", "9"], "P1", 2, "neither whole nor a step"),
        (["--accept", "1"], "A01", 1, "A01 recorded it"),
        (["--edit", "1", "intent", "x"], "P1", 2, "1 has no field 'intent'"),
        (["--commit"], "P1", 1, "not looked at"),
        (["--settle", "1", "action", '{"kind":"wait"}'], "P1", 1, "two have to proofread it"),
    ],
)
def test_what_is_refused_says_why(run: Run, args: list[str], by: str, code: int, said: str) -> None:
    found, refused = run("review", DEMO, *args, by=by)
    assert found == code
    assert said in refused["message"]


def test_redacting_says_what_it_did_and_the_new_run_is_cleared(run: Run, tmp_path: Path) -> None:
    assert [line["id"] for line in run("privacy", "--list")[1]] == [DEMO]
    shown = run("privacy", DEMO, "--show")[1]
    looks = {(one["looks"], one["text"]): one["steps"] for one in shown["suspects"]}
    assert looks["e-mail", MAIL] == [2, 3]
    assert looks["name", NAME] == [1]
    assert looks["phone", "+44 20 7946 0018"] == [1]
    assert looks["password", ""] == [2]
    code, done = run("privacy", DEMO, "--text", NAME, "--box", "2", "10,600,351,660", "--clear")
    assert code == 0
    assert (done["cleared"], done["boxes"], done["pictures"], list(done["replaced"])) == (True, 1, 2, [DEMO])
    assert done["bytes"] > 1000
    assert NAME.encode() not in (tmp_path / "lab.db").read_bytes()
    assert run("privacy", "--list")[1] == []
    assert run("show", DEMO[:20])[0] == 1
    assert run("privacy", "--wipe", json_out=False)[0] == 0


def test_show_with_words_and_boxes_is_a_preview_that_changes_nothing(run: Run, tmp_path: Path) -> None:
    line = ("privacy", DEMO, "--text", NAME, "--box", "2", "10,600,351,660")
    before = (tmp_path / "lab.db").read_bytes()
    preview = run(*line, "--show")[1]["preview"]
    text = run(*line, "--show", json_out=False)[1]
    assert f"would be destroyed and replaced: run {DEMO}\nwould be covered: boxes 1" in text
    assert "nothing was changed" in text
    assert (tmp_path / "lab.db").read_bytes() == before
    assert run("privacy", DEMO, "--show")[1]["preview"] is None
    done = run(*line)[1]
    assert list(preview.pop("replaced")) == list(done.pop("replaced")) == [DEMO]
    assert (preview.pop("trace"), done.pop("trace") != DEMO) == (DEMO, True)
    assert preview == done


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"privacy {DEMO} --list --text {MAIL}", "--list does not go with --text"),
        (f"privacy {DEMO} --list --box 1 1,2,3,4", "--list does not go with --box"),
        ("privacy --list --everywhere", "--list does not go with --everywhere"),
        (f"privacy {DEMO} --list --clear", "--list does not go with --clear"),
        (f"privacy {DEMO} --wipe --text {MAIL}", "--wipe does not go with --text"),
        (f"privacy {DEMO} --wipe --clear", "--wipe does not go with --clear"),
        (f"privacy {DEMO} --show --clear", "--show does not go with --clear"),
        (f"privacy {DEMO} --show --text {MAIL} --clear", "--show does not go with --clear"),
        (f"privacy {DEMO} --show --everywhere", "--everywhere goes with --box or --text"),
        (f"privacy {DEMO} --clear --everywhere", "--everywhere goes with --box or --text"),
        (f"review {DEMO} --show --commit", "--show does not go with --commit"),
        (f"review {DEMO} --list --commit", "--list does not go with --commit"),
    ],
)
def test_what_only_reads_goes_with_nothing_that_changes(run: Run, tmp_path: Path, line: str, said: str) -> None:
    before = (tmp_path / "lab.db").read_bytes()
    code, refused = run(*line.split())
    assert (code, refused["message"]) == (2, f"{said}; nothing was done.")
    assert (tmp_path / "lab.db").read_bytes() == before


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--text", "Zyzzyva"], 1, 'the words "Zyzzyva" occur nowhere'),
        (["--text", NAME, "--text", "Zyzzyva", "--text", "not in there"], 1, 'words "Zyzzyva", "not in there" occur'),
        (["--text", "click"], 1, 'the words "click" occur nowhere'),
        (["--text", "Zyzzyva", "--box", "1", "1,2,30,40"], 1, "nothing was done"),
        (["--box", "1", "5000,5000,5001,5001"], 2, "5000,5000,5001,5001 lies outside its picture of 360x800 pixels"),
        (["--box", "1", "1,2,30,40", "--box", "2", "360,0,361,9"], 2, "nothing was done"),
        (["--box", "99", "1,2,30,40"], 2, "there is no step 99: the last screen is 5"),
    ],
)
@pytest.mark.parametrize("show", [True, False])
def test_what_covers_nothing_leaves_the_run_as_it_is(
    run: Run, tmp_path: Path, args: list[str], code: int, said: str, *, show: bool
) -> None:
    before = (tmp_path / "lab.db").read_bytes()
    found, refused = run("privacy", DEMO, *args, *["--show"] * show)
    assert (found, said in refused["message"]) == (code, True), refused
    assert (tmp_path / "lab.db").read_bytes() == before


@pytest.mark.parametrize(("typed", "done"), [(b"yes\n", True), (b"y\n", False), (b"\n", False), (b"", True)])
def test_at_a_terminal_a_redaction_is_shown_and_asked_for_once(
    run: Run, tmp_path: Path, typed: bytes, done: bool
) -> None:
    assert run("privacy", DEMO, "--show")[0] == 0
    terminal, side = pty.openpty()
    program = Warm(
        ["privacy", DEMO, "--text", NAME, "--db", str(tmp_path / "lab.db"), *["--yes"] * (not typed)],
        env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HITLAB_PERSON": "D1"},
        stdin=side, stdout=side, stderr=side,
    )  # fmt: skip
    os.close(side)
    os.write(terminal, typed)
    seen = b""
    with suppress(OSError):  # how Linux says that the other side has closed
        while data := os.read(terminal, 65536):
            seen += data
    os.close(terminal)
    assert program.wait(180) == (0 if done else 1), seen
    assert (seen.count(b"Type yes to go on"), b"would be destroyed" in seen) == (bool(typed), bool(typed))
    with Store.open(tmp_path / "lab.db", readonly=True) as store:
        assert store.runs.has_run(DEMO) != done


def test_the_id_of_a_redacted_run_names_the_one_in_its_place(run: Run, tmp_path: Path) -> None:
    first = run("privacy", DEMO, "--text", NAME)[1]["trace"]
    second = run("privacy", first, "--text", MAIL)[1]["trace"]
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add(demonstration(f"{DEMO[:-1]}2"))
    for line in (
        "show",
        "privacy --show",
        "privacy --text x1",
        "replay",
        "export --out o",
        "fork --headless",
        "author --show",
    ):
        verb, *options = line.split()
        for old in (DEMO, first, first[:-1]):
            code, text = run(verb, f"{old}@1" if verb == "fork" else old, *options, json_out=False)
            assert (line, code, f"was redacted; run {second} stands in its place" in text) == (line, 1, True), text


@pytest.mark.parametrize("seat", ["rater", "participant"])
def test_who_may_not_list_runs_learns_nothing_of_a_redaction(
    run: Run, monkeypatch: pytest.MonkeyPatch, seat: str
) -> None:
    new = run("privacy", DEMO, "--text", NAME)[1]["trace"]
    monkeypatch.setenv("HITLAB_SEAT", seat)
    for line in (("show", DEMO), ("replay", DEMO), ("review", DEMO, "--show")):
        code, text = run(*line, json_out=False)
        assert (code, "redacted" in text, new in text) == (1, False, False), text


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--box", "0", "1,2,3,4"], "step '0' is no number"),
        (["--box", "1", "1,2,3"], "is no box"),
        (["--box", "1", "9,2,3,4"], "is empty"),
        (["--text", "x"], "too short"),
    ],
)
def test_what_cannot_be_covered_is_refused(run: Run, args: list[str], said: str) -> None:
    code, refused = run("privacy", DEMO, *args)
    assert code == 2
    assert said in refused["message"]


def test_what_looks_private_is_told_by_step_and_the_last_screen_by_its_name(run: Run, tmp_path: Path) -> None:
    shown, seen = demonstration("0197bbbb-0000-7000-8000-000000000000"), tree_of([PHONE, MAIL])
    end = Ended(status="completed", final=Observation(None, (361, 640), seen), seq=shown.events[-1].seq)
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add(shown._replace(events=[*shown.events[:-1], end]))
    text = run("privacy", "0197bbbb", "--show", json_out=False)[1]
    assert f"{MAIL}, steps 2, 3 and the last screen\n" in text
    assert f"{PHONE}, step 1 and the last screen\n" in text
    assert "step 5" not in text


def test_words_for_people_tell_the_same(run: Run) -> None:
    assert "0197aaaa-0000" in run("review", "--list", json_out=False)[1]
    text = run("review", DEMO, "--reject", "2", "a slip", json_out=False)[1]
    assert "rejected by you: a slip" in text
    assert "steps 1, 3, 4 and the demonstration as a whole are not looked at yet" in text
    told = run("privacy", DEMO, "--text", MAIL, json_out=False)[1]
    assert "copies made before (packs, exports, backups) cannot be reached" in told
    assert MAIL not in told


def test_seats_that_judge_nobody_have_none_of_this(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITLAB_SEAT", "participant")
    for args in (["review", "--list"], ["privacy", "--list"], ["export", DEMO, "--out", "x"]):
        assert run(*args)[0] == 1


def test_export_and_import_by_command(run: Run, tmp_path: Path) -> None:
    code, out = run("export", "--all", "--out", str(tmp_path / "all"))
    assert (code, out["runs"]) == (0, [DEMO])
    assert run("import", str(tmp_path / "all"))[1]["skipped"] == 1
    assert run("export", "--all", "--out", str(tmp_path / "all"))[0] == 1
    assert run("export", "--out", str(tmp_path / "none"))[0] == 2
    assert run("export", "--all", "--out", str(tmp_path / "one"), json_out=False)[1].startswith("1 run, ")
