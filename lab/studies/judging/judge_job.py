"""Builds a judging job from a command line: model, method, terms, examples, and the hash of its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from annotators.judging.methods import check_stages, method_of
from annotators.judging.question import JudgeMethod
from annotators.validation.judge_config import HIDDEN_OUTCOME, hides_outcome
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.study.protocol import OUTCOME
from lab.core.study.study import Study
from lab.llm.client import Llm
from lab.studies.judging.judge_terms import JudgeTerms
from lab.studies.judging.judge_view import JudgeViews
from lab.studies.judging.judging import JudgingJob
from lab.studies.planning.study_split import split_of
from lab.studies.settling.label_import import check_rater
from store.store import Store

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader


def job_of(
    store: Store,
    study: Study,
    name: str,
    llm: Llm,
    method: str,
    terms: JudgeTerms,
    *,
    most: int,
    longest: int,
    reads: bool,
    stages: Mapping[str, Llm] = {},  # never written to
) -> JudgingJob:
    """Return a judging job. Raise `LabError` if a person of the study has this name, or the method is unknown.

    A question holds up to `most` pictures of at most `longest` pixels. With `reads` it holds words recognized in a
    screenshot that has no UI tree. `stages` maps stages of the method to models of their own.
    """
    judge = check_rater(study, name, "model", "", "judge")
    judge_method = method_of(study.protocol, method)
    check_stages(judge_method, stages)
    config: dict[str, Any] = {
        "model": llm.model,
        "method": judge_method.name,
        "prompts": judge_method.version,
        "temperature": llm.terms.temperature,
        "tokens": llm.terms.tokens,
        "pictures": most,
        "longest": longest,
        "swaps": terms.swaps,
        # These keys exist only if used, so that the hash of a judge without them does not change.
        **({"stages": {stage: other.model for stage, other in sorted(stages.items())}} if stages else {}),
        **({"hide": HIDDEN_OUTCOME} if terms.hides_outcome else {}),
    }
    if terms.hides_outcome:
        _check_tells_outcome(study, judge_method, has_examples=terms.examples > 0)
    reader, hides = _reader() if reads else None, OUTCOME if terms.hides_outcome else frozenset()
    views = JudgeViews(store, study, longest=longest if most else 0, most=most, reader=reader, hides=hides)
    split = split_of(store, study, terms.dev_share) if terms.split is not None or terms.examples else None
    if terms.examples and split is not None:
        from lab.studies.judging.judge_examples import examples_config, examples_of

        words = JudgeViews(store, study, longest=0, most=0, reader=reader, hides=hides)
        views.examples = examples_of(store, study, words, split, terms.examples, judge.id)
        config["examples"] = examples_config(views.examples)
    return JudgingJob(store, study, judge, encode(config).decode(), judge_method, views, terms, stages, split)


def _check_tells_outcome(study: Study, method: JudgeMethod, *, has_examples: bool) -> None:
    """Raise `LabError` if no question would reveal the outcome anyway, so that hiding it changes nothing."""
    why = "" if method.tells_outcome or has_examples else f"method {method.name} tells no judge how a run ended."
    if not OUTCOME & set(study.visible_parts):
        why = f"{study.name} shows nobody how a run ended."
    if why:
        raise LabError("judge", f"--hide outcome: {why}", "Leave it out: the judge is told the same.", code=2)


def keeps_outcome_hidden(store: Store, study: Study, judge: str) -> bool:
    """Return True if an earlier session of this judge hid the outcome: a resumed one must hide it too."""
    return hides_outcome(store.labels.each_act(study, judge, "sat"), judge)


def _reader() -> TextReader | None:
    """Return the reader of recognized words, None if its extra is not installed."""
    from lab.ocr.reader import TextReader

    try:
        return TextReader()
    except LabError:
        return None
