"""MemGUI-Bench and SPA-Bench: sessions of attempts, their screens, their judges and the session's table."""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from lab.core.codec import decode, encode
from lab.core.run.run_records import Imported, Verdict
from lab.core.run.trace import AnyEvent, Ended, Started, Step, fold
from store.formats import FailedRun, KnownRun, detect, read
from store.formats.memgui.table import list_cell

SAMPLE = Path(__file__).parents[3].parent / "shared" / "traces" / "memgui_excerpt"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 1080, 2400) + b"\x08\x02\x00\x00\x00"
SUMMARY = {"total_steps": 1, "finish_signal": 1, "elapsed_time_initial": 1.5, "elapsed_time_exec": 20.5}


def click(number: int, x: float, y: float, px: list[int], **more: Any) -> dict[str, Any]:
    raw = json.dumps({"action_type": "click", "coordinate": [x, y]})
    done = ["click", {"detail_type": "coordinates", "detail": px}]
    return {"step": number, "thought": "I tap.", "raw_response": "said", "raw_action": raw, "action": done, **more}


def spoken(number: int, name: str, detail: str, **more: Any) -> dict[str, Any]:
    return {"step": number, "action": [name, {"detail_type": "string", "detail": detail}], **more}


def put(folder: Path, log: Any, **beside: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "log.json").write_text(log if isinstance(log, str) else json.dumps(log))
    for name, held in beside.items():
        (folder / f"{name}.json").write_text(json.dumps(held))
    return folder


def table(session: Path, **cells: str) -> None:
    with (session / "results.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, list(cells))
        out.writeheader()
        out.writerow(cells)


def one(path: Path) -> Imported:
    [found] = read(path)
    assert isinstance(found, Imported), found
    for event in found.events:
        decode(encode(event), AnyEvent, "event")
    assert fold(found.events).steps is not None
    return found


def steps(of: Imported) -> list[Step]:
    return [event for event in of.events if isinstance(event, Step)]


def started(of: Imported) -> Started:
    first = of.events[0]
    assert isinstance(first, Started)
    return first


def ended(of: Imported) -> Ended:
    last = of.events[-1]
    assert isinstance(last, Ended)
    return last


def verdict(of: Imported, name: str) -> Verdict:
    return next(found for found in of.verdicts if found.name == name)


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="the sample traces are not beside this checkout: memgui_excerpt")
def test_the_real_excerpt_is_read_with_its_row_and_its_judge() -> None:
    run = one(SAMPLE)
    begun = started(run)
    assert (begun.task.id, begun.agent.id, begun.attempt) == ("001-FindProductAndFilter", "GeneralE2E", 1)
    assert begun.task.instruction.startswith("Open the Amazon app, search for")
    assert (begun.task.golden_steps, begun.task.apps) == (11, ("Amazon",))
    assert begun.task.traits["difficulty"] == "easy"
    assert begun.task.traits["memory"] == "no"
    assert begun.task.traits["language"] == "ENG"
    assert begun.source is not None
    assert begun.source.model == "kimi-k2.5-context-v1.0-second"
    assert [step.proposed.action.kind for step in steps(run)] == ["click", "wait", "click", "input_text"]
    first = steps(run)[0].proposed
    assert (first.action.at, first.action.space) == ((168, 386), "0-1")
    assert first.action.raw == '{"action_type": "click", "coordinate": [0.156, 0.161]}'
    assert first.usage is not None
    assert (first.usage.prompt_tokens, first.usage.completion_tokens) == (4584, 78)
    end = ended(run)
    assert (end.status, end.score) == ("completed", 1.0)
    assert end.usage is not None
    assert end.usage.seconds == pytest.approx(265.533, abs=0.001)
    assert (end.usage.prompt_tokens, end.usage.tries) == (160559, 14)
    assert verdict(run, "results.csv").extra["total_token_cost"] == "1.65494"
    assert end.usage.cost is None


def test_screens_stand_before_their_steps_and_the_last_one_after(tmp_path: Path) -> None:
    folder = put(tmp_path / "t" / "A" / "attempt_3", [click(1, 0.5, 0.1, [540, 240]), SUMMARY])
    (folder / "0.png").write_bytes(PNG)
    (folder / "1.png").write_bytes(PNG + b"after")
    run = one(tmp_path)
    assert started(run).attempt == 3
    [step] = steps(run)
    assert step.before.size == (1080, 2400)
    final = ended(run).final
    assert final is not None
    assert final.image not in (None, step.before.image)
    assert len(run.images) == 2


def test_coordinates_keep_the_space_the_model_wrote_them_in(tmp_path: Path) -> None:
    thousand = put(tmp_path / "a" / "A", [click(1, 837, 117, [903, 280]), click(2, 0, 91, [0, 218]), SUMMARY])
    assert {step.proposed.action.space for step in steps(one(thousand))} == {"0-1000"}
    assert steps(one(thousand))[1].proposed.action.at == (0, 218)
    pixels = put(tmp_path / "b" / "A", [click(1, 837, 1170, [837, 1170]), SUMMARY])
    assert steps(one(pixels))[0].proposed.action.space == "px"
    small = [click(1, 540, 800, [540, 800]), {**click(2, 270, 600, []), "action": ["click", {}]}, SUMMARY]
    assert {step.proposed.action.space for step in steps(one(put(tmp_path / "d" / "A", small)))} == {"px"}
    assert [step.proposed.action.at for step in steps(one(tmp_path / "d"))] == [(540, 800), (270, 600)]
    log = [{**click(1, 0.5, 0.1, []), "action": None}, SUMMARY]
    (put(tmp_path / "c" / "A", log) / "0.png").write_bytes(PNG)
    assert steps(one(tmp_path / "c"))[0].proposed.action.at == (540, 240)


def test_other_actions_keep_their_vector_their_words_and_their_raw(tmp_path: Path) -> None:
    scrolled = (
        "The scroll action has been performed starting from coordinates (540,1200) to (540,600). Direction: down."
    )
    log = [
        spoken(1, "scroll", scrolled, raw_action='{"action_type": "scroll", "direction": "down"}'),
        spoken(2, "swipe", "The swipe action has been performed starting from coordinates (900,5) to (100,5)."),
        spoken(3, "memory_add", "Memory add [1]: price", raw_action='{"action_type": "memory_add", "content": "$3"}'),
        spoken(4, "open_app", "Joplin"),
        spoken(5, "answer", 'The answer is "42".'),
        spoken(6, "error", "Action parsing failed"),
        spoken(7, "status", "Task infeasible.", reasoning_content="why"),
        SUMMARY,
    ]
    put(tmp_path / "t" / "A", log)
    done = [step.proposed.action for step in steps(one(tmp_path))]
    assert [action.kind for action in done] == ["scroll", "swipe", "other", "open_app", "answer", "other", "status"]
    assert (done[0].direction, done[0].vector, done[0].at) == ("down", (0, -600), (540, 1200))
    assert (done[1].direction, done[1].vector) == ("left", (-800, 0))
    assert done[2].raw == '{"action_type": "memory_add", "content": "$3"}'
    assert (done[3].app, done[4].text, done[6].status) == ("Joplin", "42", "infeasible")
    assert steps(one(tmp_path))[5].error == "Action parsing failed"
    assert steps(one(tmp_path))[6].extra["reasoning_content"] == "why"


def test_files_of_the_judge_become_verdicts_with_every_field(tmp_path: Path) -> None:
    analysis = {"1": {"_model_info": {"api_cost": 0.2}}, "10": {}, "2": {}}
    irr = {"total_information_units": 4, "correctly_used_units": 2, "irr_percentage": 50.0, "analysis_reason": "half"}
    put(
        tmp_path / "t" / "A" / "attempt_1",
        [click(1, 0.5, 0.1, [540, 240]), SUMMARY],
        evaluation_summary={"final_result": 0, "final_reason": "no", "step_by_step_analysis": analysis},
        final_decision={"evaluation_method": "final", "decision": 0, "reason": "never"},
        irr_analysis={**irr, "evaluation_method": "llm_analysis"},
        badcase_analysis={"category": "partial_memory_hallucination", "confidence": 0.9, "analysis_reason": "lost"},
    )
    run = one(tmp_path)
    assert (ended(run).score, ended(run).reason) == (0.0, "no")
    assert list(verdict(run, "evaluation").extra["step_by_step_analysis"]) == ["1", "2", "10"]
    assert verdict(run, "final_decision").extra["reason"] == "never"
    assert verdict(run, "irr").value == 50.0
    assert verdict(run, "irr").extra["evaluation_method"] == "llm_analysis"
    assert verdict(run, "badcase").value == "partial_memory_hallucination"
    total = ended(run).usage
    assert total is not None
    assert total.cost is None  # what the judge cost is not the agent's


def test_an_undecided_judge_leaves_the_score_open(tmp_path: Path) -> None:
    put(tmp_path / "t" / "A", [click(1, 0.5, 0.1, [5, 2]), SUMMARY], evaluation_summary={"final_result": -1})
    assert ended(one(tmp_path)).score is None


def test_the_table_speaks_for_its_attempt_and_its_agent_only(tmp_path: Path) -> None:
    session = tmp_path / "results" / "session-x"
    for agent, attempt in (("M3A", 1), ("M3A", 2), ("M3A_MultiTurn", 1)):
        put(session / "007-T" / agent / f"attempt_{attempt}", [click(1, 0.5, 0.1, [5, 2]), {**SUMMARY, "n": attempt}])
    judged = "direct_with_action_attempt"
    table(
        session,
        task_identifier="007-T",
        task_description="Do, please.",
        task_app="['Amazon', 'Joplin']",
        requires_ui_memory="Y",
        task_difficulty="3",
        golden_steps="41",
        M3A_attempt_1_exit_code="0",
        M3A_attempt_2_exit_code="4",
        **{
            f"M3A_{judged}_1_evaluation": "S",
            f"M3A_{judged}_2_evaluation": "F",
            f"M3A_{judged}_2_irr_percentage": "25.0",
            f"M3A_{judged}_2_irr_total_units": "4",
            f"M3A_{judged}_2_irr_correct_units": "1",
            f"M3A_{judged}_2_irr_method": "llm_analysis",
            f"M3A_{judged}_2_badcase_category": "other",
            f"M3A_MultiTurn_{judged}_1_evaluation": "E",
        },
    )
    runs = {(started(run).agent.id, started(run).attempt): run for run in read(tmp_path) if isinstance(run, Imported)}
    assert {who: ended(run).score for who, run in runs.items()} == {
        ("M3A", 1): 1.0,
        ("M3A", 2): 0.0,
        ("M3A_MultiTurn", 1): None,
    }
    first, second = runs["M3A", 1], runs["M3A", 2]
    assert started(first).task.apps == ("Amazon", "Joplin")
    assert (started(first).task.traits["difficulty"], started(first).task.traits["memory"]) == ("hard", "yes")
    assert verdict(second, "irr").extra["total_information_units"] == 4
    assert verdict(second, "irr").extra["correctly_used_units"] == 1
    assert verdict(second, "irr").value == 25
    assert verdict(second, "badcase").value == "other"
    assert "irr" not in {found.name for found in first.verdicts}
    assert verdict(first, "results.csv").extra["exit_code"] == "0"
    assert "MultiTurn" not in str(verdict(first, "results.csv").extra)


@pytest.mark.parametrize(
    ("summary", "beside", "code", "status"),
    [
        ({"finish_signal": 1}, {}, "0", "completed"),
        ({"finish_signal": 0}, {}, "4", "budget"),
        ({"finish_signal": 0}, {}, "", "budget"),
        ({"finish_signal": 0}, {}, "1", "failed"),
        ({"finish_signal": 0}, {"error": [{"error_message": "Error taking step: no phone"}]}, "", "failed"),
        (None, {}, "", "stopped"),
    ],
)
def test_how_a_run_ended(
    tmp_path: Path, summary: dict[str, Any] | None, beside: dict[str, Any], code: str, status: str
) -> None:
    log = [click(1, 0.5, 0.1, [540, 240]), *([{"total_steps": 0, **summary}] if summary else [])]
    put(tmp_path / "session-x" / "t" / "A" / "attempt_1", log, **beside)
    table(tmp_path / "session-x", task_identifier="t", A_attempt_1_exit_code=code)
    end = ended(one(tmp_path))
    assert end.status == status
    if beside:
        assert end.reason == "Error taking step: no phone"


def test_tokens_that_add_up_from_step_to_step_are_taken_apart(tmp_path: Path) -> None:
    log = [
        spoken(1, "wait", "", prompt_tokens=100, completion_tokens=10),
        spoken(2, "wait", "", prompt_tokens=250, completion_tokens=15),
        {**SUMMARY, "total_prompt_tokens": 350, "total_completion_tokens": 25},
    ]
    stats = {"total_model_calls": 2, "total_prompt_tokens": 250, "total_completion_tokens": 15}
    put(tmp_path / "t" / "UITARS", log, model_call_stats=stats)
    run = one(tmp_path)
    used = [step.proposed.usage for step in steps(run)]
    assert [usage and (usage.prompt_tokens, usage.completion_tokens) for usage in used] == [(100, 10), (150, 5)]
    total = ended(run).usage
    assert total is not None
    assert (total.prompt_tokens, total.completion_tokens, total.tries) == (250, 15, 2)


def test_spa_bench_has_one_attempt_other_names_and_gaps(tmp_path: Path) -> None:
    session = tmp_path / "session-spa"
    log = [
        {
            **spoken(1, "tap", ""),
            "action": ["tap", {"detail_type": "coordinates", "detail": [10, 0]}],
            "response": "Tap",
        },
        spoken(3, "swipe up", "Swipe up."),
        spoken(4, "press home", "Return to home page."),
        spoken(5, "type", "hello"),
        spoken(6, "task impossible", "Task impossible."),
        {**SUMMARY, "finish_signal": 0},
    ]
    folder = put(session / "clock_0_ENG" / "CogAgent", log, error=[{"error_message": "ERROR: The task is impossible"}])
    (folder / "2.png").write_bytes(PNG)
    table(
        session,
        task_identifier="clock_0_ENG",
        task_description="Set an alarm",
        task_app="Clock",
        task_difficulty="1",
        golden_steps="4",
        task_language="ENG",
        CogAgent_exit_code="5",
        direct_with_action_CogAgent_evaluation="F",
        direct_with_action_CogAgent_details='{"reason": "x"}',
    )
    run = one(tmp_path)
    done = [step.proposed.action for step in steps(run)]
    assert [action.kind for action in done] == ["click", "swipe", "navigate_home", "input_text", "status"]
    assert (done[0].at, done[3].text, done[4].status) == ((10, 0), "hello", "infeasible")
    assert steps(run)[1].before.size == (1080, 2400)
    assert (done[1].direction, done[1].vector) == ("up", (0, -1200))
    assert steps(run)[1].extra["step"] == 3
    assert (ended(run).status, ended(run).score) == ("failed", 0.0)
    assert started(run).task.traits["difficulty"] == "1"
    assert verdict(run, "results.csv").extra["details"] == '{"reason": "x"}'


def test_spa_benchs_other_agents_write_names_of_their_own(tmp_path: Path) -> None:
    log = [
        {"step": 1, "action": ["TAP", {"detail_type": "coordinates", "detail": [10.4, 20.6]}], "response": "x"},
        spoken(2, "SWIPE", "The swipe action has been performed starting from coordinates (5.0,9.5) to (5.0,1.5)."),
        spoken(3, "swipe", "The coordinates (540,1200) have been swiped to the left."),
        spoken(4, 'click text "Go (now)"', "Invalid action: The text is not detected in the screenshot."),
        {"step": 5, "action": ['Open app "(Clock)"', {"detail_type": "coordinates", "detail": [7, 8]}]},
        spoken(6, "page down", ""),
        spoken(7, "exit", "Exit the app and go back to the desktop."),
        spoken(8, "STATUS_TASK_COMPLETE", "Task completed.", response="### Thought ###\nDone.\n### Action ###\nStop"),
        SUMMARY,
    ]
    put(tmp_path / "t" / "A", log)
    found = steps(one(tmp_path))
    done = [step.proposed.action for step in found]
    assert [action.kind for action in done] == [
        "click", "swipe", "swipe", "click", "open_app", "scroll", "navigate_home", "status",
    ]  # fmt: skip
    assert (done[0].at, done[1].direction, done[4].app, done[4].at) == ((10, 21), "up", "Clock", (7, 8))
    assert (done[2].at, done[2].direction, done[5].direction) == ((540, 1200), "left", "down")
    assert found[3].error == "Invalid action: The text is not detected in the screenshot."
    assert (done[7].status, found[7].proposed.thought) == ("complete", "Done.")


def test_another_formats_log_is_not_claimed(tmp_path: Path) -> None:
    for name, text in (("a", '{"step": 1}'), ("b", '[{"level": "info"}]'), ("c", "plain"), ("d", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.json").write_text(text)
    assert [found for found in detect(tmp_path) if getattr(found, "format", "") == "memgui"] == []


def test_a_log_that_makes_no_sense_is_told_in_a_sentence(tmp_path: Path) -> None:
    for name, log in (("a", '[{"step": 1, "action": ["click"'), ("b", '[{"step": 1, "action": ["click"]}, 1]')):
        put(tmp_path / "t" / name, log)
    found = list(read(tmp_path))
    assert [type(run) for run in found] == [FailedRun, FailedRun]
    assert "is not JSON" in found[0].error  # type: ignore[union-attr]
    assert "field [1]: is no step" in found[1].error  # type: ignore[union-attr]


@pytest.mark.parametrize("wrong", [None, 7, -1, "x", [], {}, 1e300, True, [[1, 2]], 2**70, "\ud800"])
def test_wrong_types_never_end_the_reading(tmp_path: Path, wrong: Any) -> None:
    whole = [
        click(1, 0.5, 0.1, [540, 240], usage_raw={}, prompt_tokens=1),
        spoken(2, "scroll", "(1,2) to (3,4)"),
        SUMMARY,
    ]
    judge = {"final_result": 1, "final_reason": "", "step_by_step_analysis": {}}
    count = 0
    for place, step in enumerate(whole):
        for key in step:
            log = [dict(part) for part in whole]
            log[place][key] = wrong
            put(tmp_path / f"{count}" / "A", log, evaluation_summary={**judge, "final_result": wrong}, error=wrong)
            count += 1
    for action in (wrong, [wrong], ["click", wrong], ["click", {"detail": wrong}], [wrong, {"detail": [wrong, wrong]}]):
        put(tmp_path / f"a{count}" / "A", [{"step": 1, "action": action, "raw_action": wrong}, SUMMARY])
        count += 1
    found = list(read(tmp_path, "memgui"))
    assert len(found) == count
    for run in found:
        assert isinstance(run, Imported)
        assert [decode(encode(event), AnyEvent, "event") for event in run.events]
        encode(run.verdicts)


def test_what_stands_beside_may_be_broken_or_lead_out(tmp_path: Path) -> None:
    folder = put(tmp_path / "in" / "s" / "t" / "A", [click(1, 0.5, 0.1, [540, 240]), SUMMARY])
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "0.png").symlink_to(tmp_path / "secret.png")
    (folder / "irr_analysis.json").write_text("{")
    (tmp_path / "in" / "s" / "results.csv").write_bytes(b'task_identifier\n"t' + b"x" * 200_000)
    run = one(tmp_path / "in")
    assert "leads out" in steps(run)[0].extra["screenshot"]
    assert not run.images
    assert set(verdict(run, "source").extra["unread"]) == {"irr_analysis.json", "results.csv"}


def test_the_same_run_is_known_the_second_time(tmp_path: Path) -> None:
    put(tmp_path / "t" / "A" / "attempt_1", [click(1, 0.5, 0.1, [540, 240]), SUMMARY])
    run = one(tmp_path)
    [again] = read(tmp_path, known=lambda id: id == run.id)
    assert isinstance(again, KnownRun)
    assert one(tmp_path / "t" / "A" / "attempt_1" / "log.json").id == run.id


def test_a_copy_of_a_traj_json_tells_its_directions_apps_and_thoughts(tmp_path: Path) -> None:
    """What MemGUI-Bench's evaluation makes of a run in MobileWorld's layout: no summary, other kinds of detail."""

    def copied(number: int, name: str, kind: str, detail: Any) -> dict[str, Any]:
        said = f'Thought: t{number}\nAction: {{"action_type": "{name}"}}'
        action = {"action_type": name}
        done = [name, {"detail_type": kind, "detail": detail}]
        return {"step": number, "thought": said, "action": done, "mobileworld_action": action, "tool_call": None}

    log = [
        copied(1, "click", "coordinates", [903, 280]),
        copied(2, "scroll", "direction", "down"),
        copied(3, "input_text", "text", "shoes"),
        copied(4, "open_app", "app", "Amazon"),
        copied(5, "drag", "coordinates", [1, 2, 3, 40]),
        copied(6, "navigate_back", "status", "navigate_back"),
        copied(7, "unknown", "raw", {"action_type": "unknown", "text": "?"}),
        copied(8, "finished", "status", "finished"),
    ]
    run = one(put(tmp_path / "_memgui_eval" / "001-Find" / "memgui" / "attempt_1", log))
    actions = [step.proposed.action for step in steps(run)]
    kinds = ["click", "scroll", "input_text", "open_app", "drag", "navigate_back", "other", "status"]
    assert [action.kind for action in actions] == kinds
    assert (actions[0].at, actions[1].direction, actions[2].text) == ((903, 280), "down", "shoes")
    assert (actions[3].app, actions[4].vector, actions[7].status) == ("Amazon", (2, 38), "complete")
    first = steps(run)[0]
    assert (first.proposed.thought, first.proposed.raw) == ("t1", log[0]["thought"])
    assert (started(run).task.id, ended(run).status) == ("001-Find", "completed")


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("['Amazon', 'Joplin']", ["Amazon", "Joplin"]),
        ('["Amazon"]', ["Amazon"]),
        ("Amazon", ["Amazon"]),
        ("", []),
        ("[{[]: 1}]", ["[{[]: 1}]"]),
        ("[{{}}]", ["[{{}}]"]),
        ("['cut", ["['cut"]),
        ("[__import__('os')]", ["[__import__('os')]"]),
    ],
)
def test_a_cell_that_spells_a_list_is_one_and_any_other_stands_as_it_is(cell: str, names: list[str]) -> None:
    assert list_cell(cell) == names
