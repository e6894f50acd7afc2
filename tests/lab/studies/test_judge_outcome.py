"""What a judge is told of how a run ended: the command says it, and `--hide outcome` takes it out of every question."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from annotators.protocols import protocol
from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from lab.core.run.trace import Ended
from lab.core.study.label import Act
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.runs.descriptions import status_words
from lab.studies.judging.batch_judging import BatchJudging
from lab.studies.judging.judge_questions import estimated, shown_question
from store.store import Store
from tests.batch_endpoint import batching
from tests.endpoint import Request, Said, serving
from tests.judges import MODEL, begun
from tests.lab.studies.test_judge_examples import ANSWER, CASES
from tests.lab.studies.test_judge_split import of_task, run_id
from tests.studies import frozen, label

WORDS = (status_words("budget"), "0.73", "Zreason of its end")
"""Status, score and reason of every run here."""
PEOPLE = ("R1", "R2")


def ended(task: int, run: int) -> Imported:
    """A run that ended in the words that are looked for."""
    made = of_task(task, run)
    events = [
        replace(event, status="budget", score=0.73, reason=WORDS[2]) if isinstance(event, Ended) else event
        for event in made.events
    ]
    return Imported(events, made.images, made.verdicts)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    with Store.open(tmp_path / "lab.db") as opened:
        opened.runs.add_all([ended(task, 0) for task in range(4)])
        yield opened


def settled(store: Store, name: str, says: dict[tuple[str, str], Any], **unit: Any) -> Study:
    """A study that shows how runs ended, rated by two people who agree."""
    units = [Unit(f"u{task}", runs=(run_id(task, 0),), **unit) for task in range(4)]
    plan = frozen(store, units, protocol(name), raters=PEOPLE, shows=("outcome", "reason"))
    for one in units:
        for rater in PEOPLE:
            actor = Actor("human", rater)
            for (target, field), value in says.items():
                said = label(plan, one, target, field, value, rater=actor, evidence=f"{one.runs[0]}@1")
                store.labels.record(plan, one, said)
            store.labels.hand_in(plan, one, Act(uuid7(), plan.id, 1, actor, "commit", now(), one.id))
    return plan


def answer(request: Request) -> Said:
    return Said(json.dumps(ANSWER))


def asked(store: Store, plan: Study, name: str, *, batch: bool = False, **of: Any) -> Sequence[Request]:
    """All that a job asks, alone or in batches."""
    if batch:
        with batching(answer) as batches:
            job, llm = begun(store, plan, batches.base, name, **of)
            job.sign()
            BatchJudging(job, llm, 0.01).go()
            return [*batches.asked, *batches.alone]
    with serving(answer) as server:
        job, llm = begun(store, plan, server.base, name, **of)
        job.sign()
        job.run(llm)
        return list(server.requests)


def found_in(requests: Sequence[Request]) -> set[str]:
    """The words of a run's end that stand in what was sent."""
    sent = "\n".join(request.data.decode() for request in requests)
    return {word for word in WORDS if word in sent}


@pytest.mark.parametrize("batch", [False, True], ids=["alone", "batch"])
@pytest.mark.parametrize("method", ["", "sheet"], ids=["own method", "sheet"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.protocol)
def test_what_is_said_to_be_told_is_sent_and_what_is_hidden_is_in_no_question(
    case: Any, store: Store, method: str, *, batch: bool
) -> None:
    plan = settled(store, case.protocol, case.says, **case.unit)
    of: dict[str, Any] = {"method": method, "most": 3, "examples": 1, "dev_share": 0.5}
    job, llm = begun(store, plan, "", "open", **of)
    first = next(iter(store.studies.units(plan)))
    parts = shown_question(job, first).outcome
    assert parts == estimated(job, llm).outcome
    open_requests = asked(store, plan, "open", batch=batch, **of)
    assert len(open_requests) >= 2
    assert len(parts) == len(found_in(open_requests)), parts
    hidden, _ = begun(store, plan, "", "blind", hides_outcome=True, **of)
    assert (shown_question(hidden, first).outcome, estimated(hidden, llm).hides_outcome) == ((), True)
    blind_requests = asked(store, plan, "blind", hides_outcome=True, batch=batch, **of)
    assert len(blind_requests) == len(open_requests)
    assert found_in(blind_requests) == set()
    assert any(request.pictures for request in blind_requests)
    assert not store.labels.config_hashes(plan, "open") & store.labels.config_hashes(plan, "blind")


def test_a_pair_of_runs_is_judged_without_how_they_ended(store: Store) -> None:
    pair = Unit("pair", runs=(run_id(0, 0), run_id(1, 0)))
    plan = frozen(store, [pair], protocol("pairwise-runs"), shows=("outcome", "reason"))
    assert found_in(asked(store, plan, "open", runs=2)) == set(WORDS)
    assert found_in(asked(store, plan, "blind", runs=2, hides_outcome=True)) == set()


def test_a_method_that_tells_no_end_says_so_and_cannot_hide_it(store: Store) -> None:
    plan = settled(store, "success", {("", "outcome"): "failure"})
    assert shown_question(begun(store, plan, "")[0], next(iter(store.studies.units(plan)))).outcome == ()
    assert found_in(asked(store, plan, "open")) == set()
    with pytest.raises(LabError, match="method memgui tells no judge how a run ended"):
        begun(store, plan, "", "blind", hides_outcome=True)


Hitlab = Callable[..., tuple[int, str]]


@pytest.fixture
def hitlab(store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hitlab:
    """`hitlab judge` of the file: its exit code and what it prints."""
    for name, value in {"PRICE_IN": "1", "PRICE_OUT": "4"}.items():
        monkeypatch.setenv(f"HITLAB_MODEL_{name}", value)

    def judge(*words: str) -> tuple[int, str]:
        code = main(["judge", "trial", "--db", str(store.database.path), *words])
        told = capsys.readouterr()
        return code, " ".join((told.out + told.err).split())

    return judge


def test_the_command_says_what_is_told_and_a_resumed_judge_is_told_no_more(
    store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(store, "failure-mode-memgui", {("", "primary"): "other"})
    told = "Of how a run ended the judge is told: status, score, reason. --hide outcome leaves that out."
    nothing = "The judge is told nothing of how a run ended (--hide outcome)."
    model = ("--model", MODEL, "--concurrency", "1")
    assert told in hitlab(*model, "--dry-run")[1]
    assert told in hitlab(*model, "--show-prompt", "u1")[1]
    hide = ("--hide", "outcome", "--as", "blind")
    assert nothing in hitlab(*model, *hide, "--dry-run")[1]
    code, shown = hitlab(*model, *hide, "--show-prompt", "u1")
    assert (code, nothing in shown, any(word in shown for word in WORDS)) == (0, True, False)
    with serving(answer) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        estimate = json.loads(hitlab(*model, *hide, "--dry-run", "--json")[1])
        assert hitlab(*model, *hide, "--budget", f"{estimate['cost'] / 4 * 1.01}")[0] == 3
        code, refused = hitlab(*model, "--as", "blind")
        assert (code, "by other prompts or terms" in refused, "hide: outcome, now nothing" in refused) == (
            1,
            True,
            True,
        )
        assert hitlab(*model, "--as", "blind", "--resume")[0] == 0
        assert len(server.requests) >= 4
        assert found_in(server.requests) == set()
        assert hitlab(*model, "--as", "open")[0] == 0
    code, validated = hitlab("--validate")
    assert code == 0
    assert validated.count("It was told nothing of how a run ended (--hide outcome)") == 1
    assert validated.index("Judge blind") < validated.index("(--hide outcome)") < validated.index("Judge open")


def test_hiding_what_nobody_is_shown_is_refused(store: Store, hitlab: Hitlab) -> None:
    frozen(store, [Unit("u1", runs=(run_id(0, 0),))], protocol("tdg"))
    code, told = hitlab("--model", MODEL, "--hide", "outcome", "--dry-run")
    assert (code, "--hide outcome: trial v1 shows nobody how a run ended." in told) == (2, True)
    code, told = hitlab("--model", MODEL, "--show-prompt", "u1")
    assert "The judge is told nothing of how a run ended." in told
