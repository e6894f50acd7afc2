"""A model that judges, behind a real socket: it reads the sheet out of the question and answers as it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from lab.core.study.study import Study
from lab.llm.client import Llm, ModelTerms
from lab.studies.judging.judge_job import job_of
from lab.studies.judging.judge_terms import JudgeTerms, JudgingDone
from lab.studies.judging.judging import JudgingJob
from store.store import Store
from tests.endpoint import ModelServer, Request, Said
from tests.screens.annotate.host import AGENT, FACT
from tests.screens.runs import WHOLE
from tests.studies import R1

Answers = Callable[[str, str], dict[str, Any] | None]
"""What is said of an item and a field; None leaves the entry out."""


def asked_of(request: Request) -> list[tuple[str, str]]:
    """The items and fields that a sheet's question names, as a model would read them."""
    _, _, sheet = request.text.rpartition("What is asked\n")
    fields = re.findall(r'^Field "([^"]+)"', sheet, re.MULTILINE)
    items = re.findall(r'^- "([^"]+)":', sheet, re.MULTILINE)
    once = re.search(r'^Asked once, with "item": "": (.*)$', sheet, re.MULTILINE)
    alone = once[1].split(", ") if once is not None else [] if items else fields
    return [(item, field) for item in items for field in fields if field not in alone] + [("", one) for one in alone]


def sheet_brain(says: Answers) -> Callable[[Request], Said]:
    """A model that fills in every sheet."""

    def brain(request: Request) -> Said:
        entries = []
        for item, field in asked_of(request):
            said = says(item, field)
            if said is not None:
                entries.append({"item": item, "field": field, "reason": f"because of {field}", **said})
        return Said(f"I looked at it.\n```json\n{json.dumps({'answers': entries})}\n```")

    return brain


MODEL = "openai/tiny"
TERMS = ModelTerms("", tries=3, pause=0.001, seconds=30, timeout=20, price_in=1.0, price_out=4.0)
HIDDEN = (AGENT, "secret-label", "secret-category", FACT, "Zother", R1.id, WHOLE, "one check failed")
"""What a run by `lunch` and a label with that note hold, and no model may be told."""


def begun(
    store: Store,
    study: Study,
    base: str,
    name: str = MODEL,
    method: str = "",
    stages: Mapping[str, str] = {},
    most: int = 12,
    *,
    stream: bool = False,
    **terms: Any,
) -> tuple[JudgingJob, Llm]:
    """A job that asks the model on the server at `base`; `stages` names other models at stages."""
    on = TERMS._replace(base=base, stream=stream)
    asked = JudgeTerms(**{"concurrency": 1, **terms})
    others = {stage: Llm(model, on) for stage, model in stages.items()}
    llm = Llm(MODEL, on)
    job = job_of(store, study, name, llm, method, asked, most=most, longest=512, reads=False, stages=others)
    return job, llm


def judged(store: Store, study: Study, server: ModelServer, *of: Any, **terms: Any) -> JudgingDone:
    """A whole job on this server, as `begun` takes it."""
    job, llm = begun(store, study, server.base, *of, **terms)
    job.sign()
    return job.run(llm)


def check_nothing_hidden(server: ModelServer, *shown: str) -> None:
    """Searches all that a model got for what it may not know; `shown` is what the protocol does tell its raters."""
    sent = "\n".join(part for one in server.requests for part in (one.text, str(one.headers)))
    for hidden in set(HIDDEN) - set(shown):
        assert hidden not in sent, hidden
