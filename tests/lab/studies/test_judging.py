"""A model judges over a real socket: what it is sent, what becomes of its answers, and that nothing is paid twice."""

from __future__ import annotations

import io
import json
import signal
import threading
from collections.abc import Iterator
from itertools import pairwise
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageStat

from annotators.judging.question import JudgedRun, JudgedStep
from annotators.judging.sheet_prompt import steps_with_pictures
from annotators.validation.study_validation import judged_fields
from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.study.label import Label
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Assignment, Study, Unit, UnitText
from lab.llm.client import Llm, ModelTerms
from lab.studies.judging.judge_job import job_of
from lab.studies.judging.judge_questions import estimated, shown_question
from lab.studies.judging.judge_terms import JudgeTerms, JudgingDone
from lab.studies.judging.judge_view import scaled_down
from lab.studies.judging.judging import JudgeLabels, JudgingJob
from lab.studies.progress.study_data import load_study_data
from simulators.phone.phone import Phone
from store.copies.kit_export import make_kit
from store.file.process_lock import process_lock
from store.store import Store
from tests import plays
from tests.bounded import HANGING
from tests.crossed import soak
from tests.endpoint import Cut, ModelServer, Pieces, Refused, Reply, Request, Said, events, in_turn, serving
from tests.forked import forked
from tests.judges import asked_of, begun, sheet_brain
from tests.screens.annotate.host import AGENT, FACT, OTHER, lunch
from tests.screens.runs import WHOLE
from tests.studies import R1, frozen, label, unit

MODEL = "openai/tiny"
RUN_UNIT = Protocol(
    "judged", "Was it done?", "run",
    (
        Field("state", "Was it completed?", "nominal", (Option("completed"), Option("not_completed")), evidence=True),
        Field("why", "Why not?", "text", show_if="state=not_completed"),
        Field("rating", "How much was done?", "interval", per="unit", least=0, most=100, step=1),
        Field("slip", "Was there a slip?", "flag", required=False),
    ),
    targets="tdg nodes", guide={"en": "Look $closely, at 100 %."},
)  # fmt: skip
PAIR = Protocol(
    "pair", "Which is better?", "pair of runs",
    (Field("overall", "Which?", "nominal", (Option("A"), Option("B"), Option("tie")), sided=True),),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        for run in (WHOLE, OTHER):
            opened.runs.add(lunch(run, AGENT if run == WHOLE else "secret-other-9b"))
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    return frozen(store, [unit("u1", runs=(WHOLE,)), unit("u2", runs=(OTHER,))], RUN_UNIT)


def job(store: Store, study: Study, server: ModelServer, name: str = MODEL, **terms: Any) -> tuple[JudgingJob, Llm]:
    return begun(store, study, server.base, name, **terms)


def went(store: Store, study: Study, server: ModelServer, name: str = MODEL, **terms: Any) -> JudgingDone:
    made, llm = job(store, study, server, name, **terms)
    made.sign()
    return made.run(llm)


def says(item: str, field: str) -> dict[str, Any] | None:
    return {
        "state": {"value": "completed" if item == "open" else "not completed", "step": 3, "confidence": 0.75},
        "why": {"value": "It was never paid."} if item == "pay" else None,
        "rating": {"value": "40"},
        "slip": {"value": "yes"} if item == "open" else None,
    }[field]


def labels(store: Store, study: Study, rater: str = MODEL) -> list[Label]:
    return list(store.labels.read(study, rater=rater))


def values(store: Store, study: Study, unit: str = "u1") -> dict[tuple[str, str], Any]:
    return {(one.target, one.field): one.value for one in labels(store, study) if one.unit == unit}


# -- what is kept --------------------------------------------------------------------------------------------------


def test_a_sheet_is_filled_in_signed_and_handed_in(store: Store, study: Study) -> None:
    with serving(sheet_brain(says)) as server:
        done = went(store, study, server, runs=2, concurrency=3)
        assert (done.progress.done, done.progress.total, done.progress.asked) == (4, 4, 4)
        assert (done.failed, done.unusable, done.ended) == ((), 0, "")
        again = went(store, study, server, runs=2)
        assert (again.progress.total, len(server.requests)) == (0, 4)
    assert values(store, study) == {
        ("open", "state"): "completed", ("open", "slip"): True,
        ("pay", "state"): "not_completed", ("pay", "why"): "It was never paid.", ("", "rating"): 40,
    }  # fmt: skip
    first = next(one for one in labels(store, study) if (one.unit, one.run) == ("u1", 1))
    assert (first.evidence, first.confidence, first.note) == (f"{WHOLE}@3", 0.75, "because of state")
    assert (first.rater.kind, first.source, len(first.config_sha)) == ("model", "judge", 64)
    costs = [one.cost for one in labels(store, study) if (one.unit, one.run) == ("u1", 1)]
    assert costs == [pytest.approx((1000 + 4 * 20) / 1e6), None, None, None, None]
    handed = {(act.unit, act.run) for act in store.labels.acts(study, MODEL) if act.act == "commit"}
    assert handed == {("u1", 1), ("u1", 2), ("u2", 1), ("u2", 2)}


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("I cannot help with that.", "no JSON object"),
        ('{"answers": [{"item": "open", "field": "state", "value": "comple', "no JSON object"),
        ('{"answers": []}', "there is no entry for field state of item open"),
        (
            json.dumps({"answers": [{"item": "open", "field": "state", "value": "perhaps"}]}),
            "'perhaps' is none of completed, not_completed",
        ),
        (
            json.dumps({"answers": [
                {"item": one, "field": "state", "value": "completed"} for one in ("open", "pay")
            ] + [{"item": "", "field": "rating", "value": 140}]}),
            "field rating",
        ),
        *(
            (
                json.dumps({"answers": [
                    {"item": one, "field": "state", "value": "completed"} for one in ("open", "pay")
                ] + [{"item": "", "field": "rating", "value": value}]}),
                f"{value}' is no number",
            )
            for value in ("nan", "-inf", "9" * 400)
        ),
    ],
    ids=["refusal", "truncated", "empty", "no option", "out of range", "nan", "endless", "too long"],
)  # fmt: skip
def test_what_is_unusable_is_asked_for_once_more_and_then_missing_with_its_reason(
    store: Store, study: Study, bad: str, told: str
) -> None:
    good = sheet_brain(says)
    with serving(lambda request: Said(bad) if request.number == 0 else good(request)) as server:
        assert went(store, study, server).unusable == 0
        repair = server.requests[1]
        assert told[:60] in repair.texts[-1], "a number of hundreds of digits is cut"
        assert repair.texts[-2] == bad
        assert len(server.requests) == 3
    assert values(store, study)["open", "state"] == "completed"
    first = next(one for one in labels(store, study) if one.unit == "u1")
    assert first.cost == pytest.approx(2 * (1000 + 4 * 20) / 1e6)
    with serving(in_turn(Said(bad))) as server:
        done = went(store, study, server, "second")
        assert (done.progress.done, done.unusable, len(server.requests)) == (2, 2, 4)
    kept = labels(store, study, "second")
    assert {one.reason_missing for one in kept} == {"cannot_judge"}
    assert all(told[:60] in one.note for one in kept)


def test_a_step_and_a_confidence_in_quotes_are_kept(store: Store, study: Study) -> None:
    quoted = {"state": {"value": "completed", "step": "3", "confidence": "0.75"}, "rating": {"value": "40.0"}}
    with serving(sheet_brain(lambda item, field: quoted.get(field))) as server:
        assert went(store, study, server).unusable == 0
    first = next(one for one in labels(store, study) if one.unit == "u1")
    assert (first.evidence, first.confidence) == (f"{WHOLE}@3", 0.75)
    assert values(store, study)["", "rating"] == 40


@pytest.mark.parametrize("trouble", [Refused(429, "slow", (("Retry-After", "0"),)), Refused(500), Cut()], ids=repr)
def test_what_passes_is_waited_for(store: Store, study: Study, trouble: Reply) -> None:
    good = sheet_brain(says)
    with serving(lambda request: trouble if request.number in (0, 2) else good(request)) as server:
        assert went(store, study, server).progress.done == 2
        assert len(server.requests) == 4


def test_a_sheet_whose_question_got_no_answer_stays_open_and_is_asked_again(store: Store, study: Study) -> None:
    good = sheet_brain(says)
    with serving(lambda request: Refused(400, "no such thing") if request.number == 0 else good(request)) as server:
        done = went(store, study, server)
        assert [(one.unit, one.run) for one in done.failed] == [("u1", 1)]
        assert "no such thing" in done.failed[0].why
        assert (done.progress.done, values(store, study)) == (1, {})
        assert went(store, study, server).progress.asked == 1
        assert values(store, study)["open", "state"] == "completed"


def test_a_model_that_never_answers_is_given_up(store: Store) -> None:
    study = frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(20)], RUN_UNIT)
    with serving(in_turn(Refused(401, "wrong key"))) as server:
        done = went(store, study, server)
        assert done.ended == "the model gave no answer to 5 questions"
        assert len(server.requests) == 5


# -- nothing is paid twice -----------------------------------------------------------------------------------------


def test_what_was_paid_for_before_a_sheet_was_done_is_found_again(
    store: Store, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(sheet_brain(says)) as server:
        with monkeypatch.context() as broken:
            broken.setattr(JudgeLabels, "write", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                went(store, study, server)
        assert labels(store, study) == []
        done = went(store, study, server)
        assert (done.progress.asked, done.progress.found, done.progress.done) == (1, 1, 2)
        assert len(server.requests) == 2


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def resumed(db: str, base: str) -> None:
    """Judges in a process of its own."""
    with Store.open(Path(db)) as store:
        llm = Llm(MODEL, ModelTerms(base, price_in=1.0, price_out=4.0))
        study = store.studies.study("trial")
        made = job_of(store, study, MODEL, llm, "", JudgeTerms(runs=3), most=0, longest=512, reads=False)
        made.sign()
        made.run(llm)


@soak
def test_a_kill_at_any_moment_pays_for_no_kept_answer_again(store: Store) -> None:
    study = frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(4)], RUN_UNIT)
    sheets = 12
    killed: list[ForkServerProcess] = []
    good = sheet_brain(says)

    def brain(request: Request) -> Reply:
        if len(killed) == 1 and request.number == 5:
            killed[0].kill()
        return good(request)

    with serving(brain) as server:
        killed.append(forked(resumed, str(store.database.path), server.base))
        assert _end_of(killed[0], server, 6) == -signal.SIGKILL
        killed.append(killed[0])
        paid = [act for act in store.labels.acts(study, MODEL, judged=True) if act.act == "judged"]
        before = len(server.requests)
        assert 0 < len(paid) < before
        again = forked(resumed, str(store.database.path), server.base)
        assert _end_of(again, server, before + sheets - len(paid)) == 0
        assert len(server.requests) - before == sheets - len(paid)
    handed = [act for act in store.labels.acts(study, MODEL) if act.act == "commit"]
    assert len(handed) == sheets
    places = [(one.unit, one.run, one.target, one.field) for one in labels(store, study)]
    assert len(places) == len(set(places)) == sheets * 5


def _end_of(process: ForkServerProcess, server: ModelServer, requests: int) -> int | None:
    """How a process ended that asks so many questions, however long a busy machine takes for its first."""
    with server.came:
        while len(server.requests) < requests and process.is_alive():
            server.came.wait(0.2)
    process.join(HANGING)
    return process.exitcode


def test_a_budget_is_not_overspent(store: Store) -> None:
    study = frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(9)], RUN_UNIT)
    with serving(sheet_brain(says)) as server:
        made, llm = job(store, study, server)
        one = estimated(made, llm).cost
        assert one is not None
        budget = one / 9 * 1.5
        done = went(store, study, server, budget=budget, concurrency=4)
        assert done.ended == f"the budget of {budget:g} US dollars does not reach for the next question"
        assert 0 < done.progress.done == len(server.requests) < 4
        assert done.progress.spent <= budget
        assert went(store, study, server).progress.done == 9 - done.progress.done


def test_a_budget_counts_an_answer_whose_cost_nobody_knows_as_it_was_expected(
    store: Store, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(9)], RUN_UNIT)
    good = sheet_brain(says)
    with serving(lambda request: good(request)._replace(usage=None)) as server:
        for name, value in {"BASE": server.base, "PRICE_IN": "1", "PRICE_OUT": "4"}.items():
            monkeypatch.setenv(f"HITLAB_MODEL_{name}", value)
        command = ["judge", "trial", "--model", MODEL, "--db", str(store.database.path), "--concurrency", "1"]
        assert main([*command, "--dry-run", "--json"]) == 0
        whole = json.loads(capfd.readouterr().out)["cost"]
        assert main([*command, "--budget", f"{whole / 9 * 2.5:.6f}"]) == 3
        assert len(server.requests) == 2
        assert "$0.0000 and 2 answers of unknown price." in capfd.readouterr().out


REASONS = tuple(Option(name) for name in ("clarify", "partial", "stuck"))
ORDERED = Protocol(
    "ordered", "Why did it fail?", "run",
    (
        Field("primary", "Why?", "nominal", REASONS),
        Field("secondary", "And why else?", "nominal", REASONS, required=False, after="primary"),
    ),
)  # fmt: skip


def test_answers_that_do_not_go_together_are_repaired_and_else_handed_in_without_any(store: Store) -> None:
    study = frozen(store, [unit("u1", runs=(WHOLE,), targets=())], ORDERED)
    said = {"primary": "partial", "secondary": "partial"}
    good = sheet_brain(lambda item, field: {"value": said[field]})
    with serving(good) as server:
        done = went(store, study, server, "sure")
        assert (done.progress.done, done.unusable, done.failed, len(server.requests)) == (1, 1, (), 2)
        assert "secondary 'partial' is the same as primary 'partial'" in server.requests[1].texts[-1]
        (none,) = labels(store, study, "sure")
        assert (none.reason_missing, "is the same as" in none.note) == ("cannot_judge", True)

        def learns(request: Request) -> Said:
            said["secondary"] = "stuck" if "cannot be used" in request.texts[-1] else "partial"
            return good(request)

        server.brain = learns
        assert went(store, study, server, "ready").unusable == 0
    assert {one.field: one.value for one in labels(store, study, "ready")} == {
        "primary": "partial",
        "secondary": "stuck",
    }


def test_what_the_rules_for_labels_refuse_is_handed_in_without_an_answer(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not told to fail again each time, for a method of its own may say what no sheet takes."""
    study = frozen(store, [unit("u1", runs=(WHOLE,), targets=())], ORDERED)
    monkeypatch.setattr("annotators.judging.sheet_answer._check_together", lambda *of: None)
    with serving(sheet_brain(lambda item, field: {"value": "partial"})) as server:
        done = went(store, study, server)
        assert (done.progress.done, done.unusable, done.failed, len(server.requests)) == (1, 1, (), 1)
        assert went(store, study, server).progress.total == 0
    (none,) = labels(store, study)
    assert none.reason_missing == "cannot_judge"
    assert none.cost == pytest.approx((1000 + 4 * 20) / 1e6)


def test_validation_without_anything_to_compare_says_why(
    store: Store, study: Study, capfd: pytest.CaptureFixture[str]
) -> None:
    def told(*more: str) -> str:
        assert main(["judge", "trial", "--validate", "--db", str(store.database.path), *more]) == 1
        return capfd.readouterr().out

    assert told().startswith("No model has judged trial v1: ")
    with serving(lambda request: Said("I cannot say.")) as server:
        assert went(store, study, server, "mute").unusable == 2
    assert told() == "No model gave an answer in trial v1: nothing can be compared.\n"
    assert told("--as", "mute") == "mute gave no answer in trial v1: nothing can be compared.\n"
    assert told("--as", "deaf") == "deaf has judged nothing in trial v1; mute did.\n"


def test_validation_of_a_judge_that_gave_numbers_alone_says_where_these_are_compared(
    store: Store, capfd: pytest.CaptureFixture[str]
) -> None:
    rated = Protocol(
        "rated", "How much?", "run", (Field("rating", "How much?", "interval", least=0, most=100, step=1),)
    )
    study = frozen(store, [unit("u1", runs=(WHOLE,), targets=())], rated)
    with serving(sheet_brain(lambda item, field: {"value": 70})) as server:
        assert went(store, study, server, "mean").progress.done == 1
    assert main(["judge", "trial", "--validate", "--db", str(store.database.path)]) == 1
    says = "No model gave an answer that is a category in trial v1: `hitlab agreement trial` compares numbers.\n"
    assert capfd.readouterr().out == says


def test_closing_waits_for_what_is_under_way(store: Store) -> None:
    study = frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(9)], RUN_UNIT)
    two, go = threading.Event(), threading.Event()
    good = sheet_brain(says)

    def brain(request: Request) -> Reply:
        if request.number == 1:
            two.set()
        assert go.wait(180)
        return good(request)

    with serving(brain) as server:
        made, llm = job(store, study, server, concurrency=2)
        made.sign()

        def close() -> None:
            assert two.wait(180)
            made.closing = True
            go.set()

        closer = threading.Thread(target=close)
        closer.start()
        done = made.run(llm)
        closer.join()
        assert (done.ended, done.progress.done, len(server.requests)) == ("it was interrupted", 2, 2)


def test_a_study_that_is_locked_meanwhile_is_asked_about_no_more(store: Store) -> None:
    study = frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(9)], RUN_UNIT)
    good = sheet_brain(says)

    def brain(request: Request) -> Said:
        if request.number == 2:
            assert main(["study", "lock", study.id, "--even-so", "--db", str(store.path)]) == 0
        return good(request)

    with serving(brain) as server:
        done = went(store, study, server)
        assert done.ended == "the study is locked; nothing in it changes any more"
        assert (done.progress.done, len(done.failed), len(server.requests)) == (2, 1, 3)


def test_two_processes_do_not_pay_for_the_same_answers(
    store: Store, study: Study, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(sheet_brain(says)) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        line = ["judge", study.id, "--model", MODEL, "--db", str(store.path)]
        with process_lock(store.path, study.id, study.version, MODEL, "dev", title="judge", does="judges"):
            assert main(line) == 1
            assert f"another process has {MODEL} judge {study.name} now" in capfd.readouterr().err
            assert server.requests == []
        assert main(line) == 0
        assert len(server.requests) == 2


def test_no_model_is_paid_where_nothing_that_it_says_would_be_kept(
    store: Store, study: Study, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.studies.deal(study, [Assignment(study.id, study.version, R1.id, 0, "u1")])
    make_kit(store, study, R1.id, tmp_path / "kit.db")
    played = plays.frozen(store, [plays.unit(plays.LUNCH)], id="played")
    with serving(sheet_brain(says)) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        assert main(["judge", study.id, "--model", MODEL, "--db", str(tmp_path / "kit.db")]) == 1
        assert "this file is a kit of R1; no model judges in it" in capfd.readouterr().err
        assert main(["judge", played.id, "--model", MODEL, "--db", str(store.path)]) == 1
        assert "is played, not judged" in capfd.readouterr().err
        assert server.requests == []


def test_a_name_of_no_model_is_refused_once_and_nothing_of_it_is_kept(
    store: Store, study: Study, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HITLAB_MODEL_BASE", raising=False)
    assert main(["judge", study.id, "--model", "nosuch", "--db", str(store.path)]) == 2
    told = capfd.readouterr().err
    assert told.startswith("hitlab: model nosuch: is no name of a model that litellm knows. Write PROVIDER/NAME")
    assert not list(store.labels.acts(study, "nosuch"))


def test_other_prompts_or_terms_are_another_judge(store: Store, study: Study) -> None:
    with serving(sheet_brain(says)) as server:
        went(store, study, server)
        llm = Llm("openai/huge", ModelTerms(server.base))
        other = job_of(store, study, MODEL, llm, "", JudgeTerms(), most=12, longest=512, reads=False)
        with pytest.raises(LabError, match="by other prompts or terms"):
            other.sign()
    with pytest.raises(LabError, match="one of the study's people"):
        job_of(store, study, "R1", llm, "", JudgeTerms(), most=12, longest=512, reads=False)
    with pytest.raises(LabError, match="'sheat' is none of"):
        job_of(store, study, "x", llm, "sheat", JudgeTerms(), most=12, longest=512, reads=False)


# -- what is sent --------------------------------------------------------------------------------------------------


def test_what_is_sent_is_what_was_shown_beforehand_and_holds_nothing_hidden(store: Store, study: Study) -> None:
    one = unit("u1", runs=(WHOLE,))
    store.labels.record(study, one, label(study, one, "open", "state", "completed", note="Zother rater's words"))
    with serving(sheet_brain(says)) as server:
        made, llm = job(store, study, server)
        shown = shown_question(made, next(iter(store.studies.units(study))))
        estimate = estimated(made, llm)
        made.sign()
        made.run(llm)
    sent = server.requests[0]
    parts = [part for message in shown.messages for part in message.parts]
    assert [part.text for part in parts if part.text] == sent.texts
    assert [part.size for part in parts if part.mime] == [len(one) for one in sent.pictures]
    assert len(sent.pictures) > 3
    assert (estimate.sheets, estimate.questions, estimate.staged) == (2, 2, False)
    assert estimate.cost is not None
    assert estimate.pictures == sum(len(one.pictures) for one in server.requests)
    everything = "\n".join(part for one in server.requests for part in (one.text, str(one.headers)))
    for hidden in (AGENT, "secret-other-9b", "secret-label", "secret-category", FACT, "Zother", R1.id, WHOLE, "score"):
        assert hidden not in everything, hidden
    assert "Look $closely, at 100 %." in sent.text
    assert asked_of(sent)[:2] == [("open", "state"), ("open", "why")]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_request_that_is_shown_is_the_one_that_is_sent_byte_for_byte(
    store: Store, study: Study, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, stream: bool
) -> None:
    one = unit("u1", runs=(WHOLE,))
    store.labels.record(study, one, label(study, one, "open", "state", "completed", note="Zother rater's words"))
    with serving(sheet_brain(says)) as server:
        for name, value in {"BASE": server.base, "PRICE_IN": "1", "PRICE_OUT": "4"}.items():
            monkeypatch.setenv(f"HITLAB_MODEL_{name}", value)
        command = ["judge", "trial", "--model", MODEL, "--db", str(store.database.path), "--json"]
        command += ["--stream"] if stream else []
        assert main([*command, "--show-prompt", "u1"]) == 0
        shown = json.loads(capfd.readouterr().out)
        assert server.requests == []
        assert main([*command, "--concurrency", "1"]) == 0
    check_shown(shown["body"], server.requests[0], streamed=stream)
    assert values(store, study)["open", "state"] == "completed"
    assert labels(store, study)[0].cost == pytest.approx((1000 + 4 * 20) / 1e6)
    assert b"sk-canary" not in store.database.path.read_bytes()


def check_shown(body: dict[str, Any], sent: Request, *, streamed: bool) -> None:
    """What a server got is what was shown, pictures in full, and holds nothing that a judge may not know."""
    assert json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode() == sent.data
    assert (b'"stream":true' in sent.data) is streamed
    assert len(sent.pictures) > 3
    assert "sk-canary" not in json.dumps(body)
    assert sent.headers["authorization"] == "Bearer sk-canary-0123456789abcdef"
    told = f"{sent.text}\n{sent.headers}\n{[name for name in sent.json if name != 'messages']}"
    for hidden in (AGENT, "secret-other-9b", "secret-label", "secret-category", FACT, "Zother", R1.id, WHOLE, "score"):
        assert hidden not in told, hidden


def test_a_streamed_answer_is_repaired_and_a_cut_one_asked_again(store: Store, study: Study) -> None:
    good = sheet_brain(says)
    cut = Pieces(events('{"answers": [{"item"')[:3], cut=True)
    replies: dict[int, Reply] = {0: Said("I cannot help with that."), 2: cut}
    with serving(lambda request: replies.get(request.number) or good(request)) as server:
        done = went(store, study, server, stream=True)
        assert (done.progress.done, done.unusable, len(server.requests)) == (2, 0, 4)
        assert server.requests[1].texts[-2] == "I cannot help with that."
        assert server.requests[3].data == server.requests[2].data
        assert all(one.json["stream"] for one in server.requests)
    first = next(one for one in labels(store, study) if one.unit == "u1")
    assert first.cost == pytest.approx(2 * (1000 + 4 * 20) / 1e6)


def test_sides_are_exchanged_in_every_second_run_and_turned_back(store: Store) -> None:
    given = (UnitText("Plan", text="First text", side="A"), UnitText("Plan", text="Second text", side="B"))
    study = frozen(store, [Unit("p1", given=given)], PAIR)
    with serving(sheet_brain(lambda item, field: {"value": "A"})) as server:
        went(store, study, server, runs=2)
    assert [one.text.index("First text") < one.text.index("Second text") for one in server.requests] == [True, False]
    assert [(one.run, one.value) for one in labels(store, study)] == [(1, "A"), (2, "B")]
    assert all("A: Plan\n" in one.text and "B: Plan\n" in one.text for one in server.requests)
    (found,) = judged_fields(load_study_data(store, study), MODEL)
    assert found.position is not None
    assert (found.position.first.value, found.position.flips.value) == (1.0, 1.0)


def test_a_long_run_is_sent_with_its_pictures_spread_evenly_and_words_for_the_others(
    store: Store, study: Study
) -> None:
    def nothing() -> None:
        return None

    run = JudgedRun("r", "", (), tuple(JudgedStep(n + 1) for n in range(100)), "", nothing)
    numbers = sorted(number for _, number in steps_with_pictures([run], 12))
    assert (len(numbers), numbers[0], numbers[-1]) == (11, 1, 100)
    assert {b - a for a, b in pairwise(numbers)} <= {9, 10, 11}
    assert steps_with_pictures([run], 0) == frozenset()
    assert len(steps_with_pictures([run], 2)) == 1


def test_a_screen_is_sent_as_large_as_was_told_and_shows_the_same() -> None:
    png = Phone().observe().png
    with Image.open(io.BytesIO(png)) as screen:
        for longest, size in ((128, (58, 128)), (512, (230, 512)), (4000, (1080, 2400))):
            picture = scaled_down(png, longest)
            assert picture is not None
            assert picture.mime == "image/jpeg"
            with Image.open(io.BytesIO(picture.data)) as small:
                assert small.size == size
                assert max(ImageStat.Stat(ImageChops.difference(small, _in_one_step(screen, size))).mean) < 2.5, longest
    assert scaled_down(b"no picture", 128) is None


def _in_one_step(screen: Image.Image, size: tuple[int, int]) -> Image.Image:
    """A screen made small at once from all of its pixels, with what JPEG takes away."""
    out = io.BytesIO()
    screen.resize(size, Image.Resampling.LANCZOS).save(out, "JPEG", quality=85)
    return Image.open(out)
