"""Other people's replies are put into one run: hitlab fork --each-ask, as a developer types it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lab.cli.database import open_store
from lab.core.settings import load
from lab.core.task.task import Actor
from lab.studies.playing.play_session import Participation
from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.lab.fitting import fits
from tests.plays import COFFEE, frozen, hand_in, play_to_end, unit

__all__ = ["hitlab"]

REPLIES = """\
- {who: P1, decision: reject, say: "No, leave it."}
- {who: P2, decision: accept}
- {who: P4, decision: reject, say: "No, leave it."}
- {who: P5, decision: reject, say: "Never.", step: 9}
"""


def run_of(hitlab: Hitlab, *args: str) -> str:
    done = hitlab("live", COFFEE, "--headless", "--json", *args)
    return str(done.json["trace"])


def swapped(hitlab: Hitlab, run: str, *args: str) -> dict[str, Any]:
    done = hitlab("fork", run, "--each-ask", *args, "--json")
    assert done.code == 0, done.err
    assert fits(done.json, "answer-swap")
    return dict(done.json)


def test_each_different_reply_is_a_fork_and_its_course_is_told_from_the_others(hitlab: Hitlab, tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text(REPLIES)
    run = run_of(hitlab)
    swap = swapped(hitlab, run, "--replies", "replies.yaml")
    [question] = swap["questions"]
    assert swap["forks"] == 2
    assert [(one["donors"], one["decision"], one["way"]) for one in question["replies"]] == [
        (["(this run)"], "accept", 1), (["P1", "P4"], "reject", 2), (["P2"], "accept", 1),
    ]  # fmt: skip
    assert (question["kind"], question["ways"], question["outcomes"]) == ("propose", 2, 1)
    family = hitlab("family", run, "--json").json
    kin = {line["id"]: line["changes"] for line in family if line["parent"] == run}
    assert kin == {
        question["replies"][1]["run"]: [["reply", "reject: No, leave it."]],
        question["replies"][2]["run"]: [["reply", "accept"]],
    }
    rejected = hitlab("show", question["replies"][1]["run"], "--json").json
    assert [step["reply"]["decision"] for step in rejected["steps"] if step.get("reply")] == ["reject"]
    assert question["replies"][1]["steps"] == len(rejected["steps"]) < question["replies"][0]["steps"]
    painted = hitlab("fork", run, "--each-ask", "--replies", "replies.yaml").out
    assert "the agent listened, with the same outcome (3 replies, 1 outcome, 2 ways)" in painted
    assert "P1, P4" in painted
    assert "Matched by order" not in painted  # each giver was asked this very question


def test_replies_that_fit_no_question_are_named_and_others_keep_their_number_in_the_file(
    hitlab: Hitlab, tmp_path: Path
) -> None:
    (tmp_path / "replies.yaml").write_text("- {who: P1, decision: reject}\n- {say: By bus.}\n- {say: Well., step: 5}")
    run = str(hitlab("live", "way_home", "--headless", "--json").json["trace"])
    done = hitlab("fork", run, "--each-ask", "--replies", "replies.yaml", "--json")
    [question] = done.json["questions"]
    assert [reply["donors"] for reply in question["replies"]] == [["(this run)"], ["reply 2"]]
    assert done.json["passed_over"] == ["P1", "reply 3"]
    assert "passed over, for no question here fits: P1, reply 3" in done.err


def test_an_agent_that_does_not_listen_is_found_out(hitlab: Hitlab, tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text(REPLIES)
    deaf = run_of(hitlab, "--agent", f"recorded:{run_of(hitlab)}")
    [question] = swapped(hitlab, deaf, "--replies", "replies.yaml")["questions"]
    assert question["ways"] == 1
    assert {(one["decision"], one["passed"]) for one in question["replies"]} == {("accept", True), ("reject", False)}
    assert question["outcomes"] == 2  # it ordered what was refused: the rules say so, and its ways are the same


def test_what_participants_replied_in_a_study_is_put_into_another_run(hitlab: Hitlab) -> None:
    run = run_of(hitlab)
    with open_store(load(db=None)) as store:
        study = frozen(store, [unit(COFFEE)], raters=("P1",), quiz=0)
        part = Participation(store, study, Actor("human", "P1"))
        part.agree()
        play_to_end(part)
        hand_in(part)
    [question] = swapped(hitlab, run, "--from", "teas")["questions"]
    assert [(one["donors"], one["match"], one["say"]) for one in question["replies"][1:]] == [
        (["P1"], "asked alike", "mild")
    ]
    done = hitlab("fork", run, "--each-ask", "--from", "tees")
    assert done.code == 1
    assert "did you mean teas?" in done.err


REFUSED: list[tuple[tuple[str, ...], int, str]] = [
    (("--each-ask",), 2, "--each-ask needs --replies FILE or --study STUDY"),
    (("--replies", "r.yaml"), 2, "--replies and --study go with --each-ask"),
    (("--each-ask", "--replies", "r.yaml", "--say", "no"), 2, "--say does not go with --each-ask"),
    (("--each-ask", "--replies", "nowhere.yaml"), 1, "replies file nowhere.yaml: is not there"),
    (("--each-ask", "--replies", "empty.yaml"), 1, "empty.yaml: field [0]: needs `say`, `decision` or both"),
    (("--each-ask", "--replies", "other.yaml"), 1, "was given no reply other than its own"),
    (("--each-ask", "--replies", "r.yaml", "--user", "human"), 2, "nobody answers what a fork asks later on"),
]


def test_what_cannot_be_done_is_one_sentence_and_makes_no_run(hitlab: Hitlab, tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(REPLIES)
    (tmp_path / "empty.yaml").write_text("- {who: P1}")
    (tmp_path / "other.yaml").write_text("- {say: Never., step: 9}")
    run = run_of(hitlab)
    for more, code, words in REFUSED:
        done = hitlab("fork", run, *more)
        assert (more, done.code, words in done.err) == (more, code, True), done.err
        assert len(hitlab("traces", "--json").json) == 1, more
    assert "name the run without a step" in hitlab("fork", f"{run}@1", "--each-ask", "--replies", "r.yaml").err
