"""The judge of failure modes over a real socket: every mode by itself, and the order of precedence decides."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from annotators.protocols import protocol
from annotators.units.outcomes import TIMEOUT
from lab.core.errors import LabError
from lab.core.study.label import Label
from lab.core.study.study import Gold, Study, Unit
from lab.llm.client import Llm, ModelTerms
from lab.studies.judging.judge_job import job_of
from lab.studies.judging.judge_questions import estimated, shown_question
from lab.studies.judging.judge_terms import JudgeTerms
from lab.studies.rating.rule_answers import answer_by_rule
from store.store import Store
from tests.endpoint import Request, Said, serving
from tests.judges import MODEL, check_nothing_hidden, judged
from tests.screens.annotate.host import lunch
from tests.screens.runs import WHOLE
from tests.studies import frozen, label

UNIT = Unit("u1", runs=(WHOLE,))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    with Store.open(tmp_path / "lab.db") as opened:
        opened.runs.add(lunch(WHOLE))
        yield opened


def modes_in(request: Request) -> list[str]:
    """The modes that a question names, in its order."""
    return re.findall(r'^"(\w+)": ', request.text.partition("The reasons\n")[2], re.MULTILINE)


def brain(applies: Mapping[str, Any], step: object = 3) -> Callable[[Request], Said]:
    """A model to which these modes apply; it names them in another order than it was asked."""

    def answer(request: Request) -> Said:
        entries = [
            {"mode": mode, "applies": applies.get(mode, False), "reason": f"about {mode}"} for mode in modes_in(request)
        ]
        return Said(json.dumps({"modes": entries[::-1], "step": step}))

    return answer


def said(store: Store, study: Study) -> dict[str, Label]:
    return {one.field: one for one in store.labels.read(study, rater=MODEL)}


@pytest.mark.parametrize(
    ("of", "applies", "primary", "secondary"),
    [
        ("failure-mode-memgui", ("partial_memory_hallucination", "output_memory_hallucination"),
         "output_memory_hallucination", "partial_memory_hallucination"),
        ("failure-mode-memgui", ("process_memory_hallucination", "knowledge_deficiency", "intent_misunderstanding"),
         "intent_misunderstanding", "knowledge_deficiency"),
        ("failure-mode-memgui", (), "other", None),
        ("failure-mode-knowu-personalized", ("gui", "partial", "clarify"), "clarify", "partial"),
        ("failure-mode-knowu-personalized", ("partial", "preference"), "preference", "partial"),
        ("failure-mode-knowu-proactive", ("gui", "intervention", "rejection"), "rejection", "intervention"),
        ("failure-mode-knowu-proactive", ("passive",), "passive", None),
        ("failure-mode-dac", ("termination", "branch_ignored"), "branch_ignored", "termination"),
        ("failure-mode-dac", ("localization", "affordance", "inconsistent_reasoning"),
         "inconsistent_reasoning", "affordance"),
    ],
)  # fmt: skip
def test_the_first_mode_in_the_order_of_precedence_is_the_primary_reason(
    store: Store, of: str, applies: tuple[str, ...], primary: str, secondary: str | None
) -> None:
    study = frozen(store, [UNIT], protocol(of))
    with serving(brain(dict.fromkeys(applies, True), step="3" if secondary else 3)) as server:
        assert judged(store, study, server).progress.done == 1
    found = said(store, study)
    assert (found["primary"].value, found["primary"].evidence) == (primary, f"{WHOLE}@3")
    assert ("secondary" in found, found["secondary"].value if secondary else None) == (secondary is not None, secondary)
    assert TIMEOUT not in modes_in(server.requests[0])
    if applies:
        assert f"about {primary}" in found["primary"].note


def test_a_model_is_told_the_definitions_the_cases_and_nothing_hidden(store: Store) -> None:
    study = frozen(store, [UNIT], protocol("failure-mode-memgui"))
    store.labels.record(study, UNIT, label(study, UNIT, "", "primary", "other", note="Zother rater's words"))
    with serving(brain({"other": True})) as server:
        judged(store, study, server)
    (request,) = server.requests
    assert '"knowledge_deficiency": knowledge deficiency. The agent did not know an app' in request.text
    assert "Decide this before the next one" in request.text, "the guideline"
    assert "for instance: Figure 10." in request.text
    assert len(request.pictures) == 7
    check_nothing_hidden(server)


def test_of_what_a_rule_has_set_nothing_is_asked(store: Store) -> None:
    unit = Unit("u1", runs=(WHOLE,), mechanical=(Gold("", "primary", TIMEOUT, "ended by its limit"),))
    study = frozen(store, [unit], protocol("failure-mode-memgui"))
    answer_by_rule(store, study, unit)
    with serving(brain({})) as server:
        llm = Llm(MODEL, ModelTerms(server.base, price_in=1.0, price_out=1.0))
        job = job_of(store, study, MODEL, llm, "", JudgeTerms(), most=12, longest=512, reads=False)
        estimate = estimated(job, llm)
        assert (estimate.sheets, estimate.questions, estimate.found_again) == (0, 0, 0)
        with pytest.raises(LabError, match="a rule has answered it"):
            shown_question(job, unit)
        done = judged(store, study, server)
        assert (done.progress.total, done.failed) == (0, ())
        assert judged(store, study, server, name="plain", method="sheet").progress.total == 0
    assert server.requests == []
    assert said(store, study) == {}


def test_where_no_mode_applies_and_there_is_no_other_it_cannot_be_judged(store: Store) -> None:
    study = frozen(store, [UNIT], protocol("failure-mode-knowu-personalized"))
    with serving(brain({}, step="three")) as server:
        judged(store, study, server)
    (primary,) = said(store, study).values()
    assert (primary.value, primary.reason_missing) == (None, "cannot_judge")
    assert primary.note.startswith("none applies: clarify: about clarify; ")


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ('{"modes": [{"mode": "clarify", "applies": true}]}', 'there is no entry for mode "preference".'),
        ('{"modes": [{"mode": "clarify", "applies": "perhaps"}]}', "is 'perhaps', and is to be true or false."),
        ('{"primary": "clarify"}', 'it holds no JSON object with "modes".'),
        ('{"modes": [3, null]}', 'there is no entry for mode "clarify".'),
    ],
)
def test_an_answer_that_leaves_modes_out_is_repaired_once(store: Store, bad: str, problem: str) -> None:
    study = frozen(store, [UNIT], protocol("failure-mode-knowu-personalized"))
    good = brain({"gui": "Yes"})

    def answer(request: Request) -> Said:
        return good(request) if "cannot be used" in request.texts[-1] else Said(bad)

    with serving(answer) as server:
        done = judged(store, study, server)
        assert (done.progress.done, done.unusable, len(server.requests)) == (1, 0, 2)
    assert problem in server.requests[-1].texts[-1]
    assert said(store, study)["primary"].value == "gui"
