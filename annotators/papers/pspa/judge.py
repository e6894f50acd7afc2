"""PSPA-Bench's trace-graph alignment by a model: the node of each step, then the whole checklist.

First m(a): for each action the unit instruction for which it was effective, or none (Algorithm 1, stage 1), in batches
of as many steps as pictures may be sent. Then every item of the checklist, completed or not, with its step as evidence
(Prompt 2). The path and the dependency rule follow from the answers and are never asked
(`annotators/papers/pspa/tdg.py`). Source: PSPA-Bench 2.3, E.2, E.4. The prompts are this project's own.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any

from annotators.judging.prompt_files import prompt_text, prompts_version
from annotators.judging.question import (
    JudgedPlace,
    JudgedRun,
    JudgedStep,
    JudgeQuestion,
    JudgeView,
    Judging,
    UnusableJudgement,
)
from annotators.judging.sheet_prompt import (
    join_texts,
    question_for_sheet,
    run_parts,
    sample_evenly,
    sheet_version,
    step_words,
    target_line,
)
from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.study.label_rules import COMPLETED
from lab.core.text.plain_text import plain
from lab.llm.client import Message
from lab.llm.json_in_text import answer_in, why_no_object

_PACKAGE = "annotators.papers.pspa"
_PROMPTS = ("judge-alignment.md", "judge-checklist.md")
_WITHOUT_PICTURES = 12
"""Number of steps in one question about alignment if no pictures are sent."""
Alignment = Mapping[int, str]
"""The id of its node for each effective step (from 1)."""


class PspaJudge:
    """Judge that decides for each node of a graph if a run completed it, from the effect of each single step."""

    name = "pspa"
    stages = ("alignment", "checklist")
    tells_outcome = True

    @property
    def version(self) -> str:
        return f"{prompts_version(_PACKAGE, *_PROMPTS)}-{sheet_version()}"

    def judge(self, view: JudgeView) -> Judging:
        """Yield questions about the alignment of all steps and one about the checklist, then return its places."""
        if len(view.runs) != 1 or view.protocol.targets != "tdg nodes":
            raise LabError("judge", f"method pspa judges the graph of one run, not {view.protocol.id}.", code=2)
        (run,) = view.runs
        alignment = yield from _alignment(view, run)
        places: list[JudgedPlace] = yield _checklist(view, run, alignment)
        return [_with_step(place, alignment) for place in places]


def _with_step(place: JudgedPlace, alignment: Alignment) -> JudgedPlace:
    """Return a place. A completion without a step gets the last step that was effective for its node."""
    if place.value != COMPLETED or place.step is not None:
        return place
    return place._replace(step=max((step for step, node in alignment.items() if node == place.target), default=None))


# -- m(a) ------------------------------------------------------------------------------------------------------


def _alignment(view: JudgeView, run: JudgedRun) -> Generator[JudgeQuestion, Any, Alignment]:
    """Yield questions about steps in batches, then return the node of each effective step.

    If the model's answers on a batch are unusable twice, its steps count as effective for none.
    """
    # One picture is reserved for the screen after the last step.
    size = max(1, view.pictures - 1) if view.pictures else _WITHOUT_PICTURES
    alignment: dict[int, str] = {}
    for first in range(0, len(run.steps), size):
        steps = run.steps[first : first + size]
        after = run.steps[first + size].picture if first + size < len(run.steps) else run.last_picture
        try:
            alignment |= yield _about_steps(view, run, steps, after())
        except UnusableJudgement:
            continue
    return alignment


def _about_steps(view: JudgeView, run: JudgedRun, steps: Sequence[JudgedStep], after: Blob | None) -> JudgeQuestion:
    """Return a question about the node of each of some steps."""
    parts: list[str | Blob] = [f"{title}\n{text}" for title, text in run.sections]
    parts.append("The checklist\n" + "\n".join(map(target_line, view.unit.targets)))
    parts.append(f"Steps {steps[0].number} to {steps[-1].number} of {len(run.steps)}")
    for step in steps:
        picture = step.picture()
        parts.append(step_words(step, pictured=picture is not None))
        parts += [picture] if picture is not None else []
    if after is not None and len(steps) < view.pictures:
        parts += [f"The screen after step {steps[-1].number}", after]
    system = Message("system", (prompt_text(_PACKAGE, _PROMPTS[0]).strip(),))
    nodes = {target.id for target in view.unit.targets}
    numbers = [step.number for step in steps]
    return JudgeQuestion(
        "alignment", (system, Message("user", join_texts(parts))), lambda text: _read_alignment(text, numbers, nodes)
    )


def _read_alignment(text: str, steps: Sequence[int], nodes: Collection[str]) -> Alignment:
    """Return a model's nodes of steps. Raise `UnusableJudgement` if a step is missing or a node does not exist."""
    reply = answer_in(text, lambda found: isinstance(found.get("steps"), list))
    if reply is None:
        raise UnusableJudgement(f'it holds no JSON object with "steps"{why_no_object(text)}.')
    by_step = {str(one.get("step")): one for one in reply["steps"] if isinstance(one, dict)}
    alignment = {}
    for step in steps:
        entry = by_step.get(str(step))
        if entry is None:
            raise UnusableJudgement(f"there is no entry for step {step}.")
        node = str(entry.get("item") or "")
        if node and node not in nodes:
            raise UnusableJudgement(f'step {step}: "{plain(node)[:80]}" is no item of the checklist.')
        if node:
            alignment[step] = node
    return alignment


# -- the checklist ---------------------------------------------------------------------------------------------


def _checklist(view: JudgeView, run: JudgedRun, alignment: Alignment) -> JudgeQuestion:
    """Return a question about every item, with priority for the pictures of effective steps."""
    step_lines = [f"Step {step.number}: {alignment.get(step.number) or 'none'}" for step in run.steps]
    parts: list[str | Blob] = [*run_parts(run, _steps_with_pictures(view, run, alignment))]
    parts.append("For which item each step was effective\n" + "\n".join(step_lines))
    parts.append(prompt_text(_PACKAGE, _PROMPTS[1]).strip())
    return question_for_sheet(view, parts, "checklist")


def _steps_with_pictures(view: JudgeView, run: JudgedRun, alignment: Alignment) -> frozenset[tuple[str, int]]:
    """Return the steps whose pictures are sent: effective ones and their successors, an even selection if too many."""
    effective = {number for step in alignment for number in (step, step + 1) if number <= len(run.steps)}
    order = sorted(effective) or [step.number for step in run.steps]
    return frozenset((run.id, number) for number in sample_evenly(order, max(0, view.pictures - 1)))
