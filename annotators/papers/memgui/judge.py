"""MemGUI-Eval, a judge that inspects a run in stages: triage, semantic analysis, and requested screens.

Stage 1 sees the actions and the last three screens and may only decide that the run succeeded. Stage 2 reads a
description of every step, which is made once for all runs of the judge, and may request screens. Stage 3 sees these and
decides. Source: MemGUI-Bench 4.2, A.11. The prompts are this project's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from annotators.judging.picture_sheet import picture_sheet
from annotators.judging.prompt_files import fill_prompt, prompts_version
from annotators.judging.question import (
    JudgedPlace,
    JudgedRun,
    JudgeExample,
    JudgeQuestion,
    JudgeView,
    Judging,
    UnusableJudgement,
)
from annotators.judging.sheet_prompt import example_texts
from annotators.papers.memgui.step_descriptions import MOST_WORDS, actions_of, descriptions, last_screens, task_words
from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.text.typed_text import clean
from lab.llm.client import Message
from lab.llm.json_in_text import answer_in, why_no_object

_PACKAGE = "annotators.papers.memgui"
_PROMPTS = ("judge-rules.md", "judge-triage.md", "judge-description.md", "judge-semantic.md", "judge-visual.md")
_MOST_ASKED = 12
"""Maximum number of screens that stage 2 may request."""
_NOTE = 1_900


class JudgedOutcome(NamedTuple):
    """A stage's decision. `required` are the steps whose screens it requests."""

    decision: str
    reason: str
    required: tuple[int, ...] = ()


class MemguiJudge:
    """Judge that decides if a run succeeded, and records the stage of the decision."""

    name = "memgui"
    stages = ("triage", "description", "semantic", "visual")
    tells_outcome = False

    @property
    def version(self) -> str:
        return prompts_version(_PACKAGE, *_PROMPTS)

    def judge(self, view: JudgeView) -> Judging:
        """Yield one to three questions for a verdict, and questions for descriptions after the first one."""
        if len(view.runs) != 1 or view.protocol.field("outcome") is None:
            raise LabError("judge", f"method memgui judges whether one run succeeded, not {view.protocol.id}.", code=2)
        (run,) = view.runs
        rules = Message(
            "system", (fill_prompt(_PACKAGE, "judge-rules.md", guide=view.protocol.guideline(view.locale)),)
        )
        task_text = "\n\n".join([*example_texts(view, _right_verdict), task_words(run)])
        last = last_screens(run)
        triage_text = fill_prompt(_PACKAGE, "judge-triage.md", steps=str(len(run.steps)))
        outcome: JudgedOutcome = yield _verdict(
            "triage", rules, [task_text, actions_of(run), last, triage_text], ("success",)
        )
        if outcome.decision == "success":
            return _places(run, 1, outcome)
        descriptions_text = yield from descriptions(run)
        semantic = [task_text, descriptions_text, last, fill_prompt(_PACKAGE, "judge-semantic.md")]
        outcome = yield _verdict("semantic", rules, semantic, ("success", "failure"), steps=len(run.steps))
        if outcome.decision != "uncertain":
            return _places(run, 2, outcome)
        screens = _screens(run, outcome.required)
        words = ", ".join(map(str, outcome.required)) or "none"
        visual = [task_text, descriptions_text, last, screens, fill_prompt(_PACKAGE, "judge-visual.md", wanted=words)]
        final: JudgedOutcome = yield _verdict("visual", rules, visual, ("success", "failure"), certain=True)
        return _places(run, 3, final._replace(required=outcome.required))


def _right_verdict(example: JudgeExample) -> dict[str, Any]:
    """Return an example's right verdict, uncertain if people call its task impossible."""
    outcome = next((value for _, field, value in example.answers if field == "outcome"), "")
    return {"decision": outcome if outcome in ("success", "failure") else "uncertain"}


def _places(run: JudgedRun, stage: int, outcome: JudgedOutcome) -> list[JudgedPlace]:
    """Return the verdict as a place. Its evidence is the last requested screen, else the run's last step."""
    step = outcome.required[-1] if outcome.required else len(run.steps)
    note = f"decided at stage {stage}: {outcome.reason}"[:_NOTE]
    return [JudgedPlace("", "outcome", outcome.decision, step=step or None, note=note)]


def _screens(run: JudgedRun, steps: Collection[int]) -> str | Blob:
    """Return the screens of steps in one picture, or their words if there are no pictures."""
    run_steps = [step for step in run.steps if step.number in steps]
    titled_pictures = [(f"step {step.number}", blob) for step in run_steps if (blob := step.picture()) is not None]
    sheet = picture_sheet(titled_pictures)
    if sheet is not None:
        return sheet
    lines = [f"step {step.number}: {step.words[:MOST_WORDS] or '(none recorded)'}" for step in run_steps]
    return "The words on the screens that you asked for\n" + "\n".join(lines or ["(none)"])


# -- verdicts --------------------------------------------------------------------------------------------------


def _verdict(
    stage: str,
    rules: Message,
    parts: Sequence[str | Blob],
    decisions: Collection[str],
    *,
    steps: int = 0,
    certain: bool = False,
) -> JudgeQuestion:
    """Return a question for a verdict. Unless `certain`, the answer may be uncertain."""
    allowed = (*decisions, *(() if certain else ("uncertain",)))
    return JudgeQuestion(stage, (rules, Message("user", tuple(parts))), _reader(allowed, steps))


def _reader(allowed: Sequence[str], steps: int) -> Callable[[str], JudgedOutcome]:
    def read(text: str) -> JudgedOutcome:
        reply = answer_in(text, lambda found: "decision" in found)
        if reply is None:
            raise UnusableJudgement(f'it holds no JSON object with "decision"{why_no_object(text)}.')
        return _outcome(reply, allowed, steps)

    return read


def _outcome(reply: Mapping[str, Any], allowed: Sequence[str], steps: int) -> JudgedOutcome:
    decision = str(reply["decision"]).strip().casefold()
    if decision not in allowed:
        raise UnusableJudgement(f'"decision" is {reply["decision"]!r}, and is to be one of {", ".join(allowed)}.')
    step_list = reply.get("required_steps")
    # A wrong type is not worth a repair unless the decision is uncertain, as checked below.
    numbers = step_list if isinstance(step_list, list) else []
    required_steps = sorted({one for one in numbers if isinstance(one, int) and 1 <= one <= steps})[:_MOST_ASKED]
    if decision == "uncertain" and steps and not required_steps:
        raise UnusableJudgement(f'who is uncertain names "required_steps", numbers from 1 to {steps}.')
    return JudgedOutcome(decision, clean(str(reply.get("reason") or "")), tuple(required_steps))
