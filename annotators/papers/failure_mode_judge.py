"""The judge of failure modes: each mode by itself, then the first applicable one in the order of precedence.

A model that is asked for one mode of seven picks among several that apply by its own preference. This judge states for
each mode if it applies. The order of a protocol's options, which is its precedence, decides on the primary and
secondary reason. No judge is asked for an answer that a rule has set (a timeout). Source: MemGUI-Bench A.8, KnowU-Bench
4.4, DAC-Bench 3.4. The prompt is this project's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
from annotators.judging.sheet_answer import step_of
from annotators.judging.sheet_prompt import example_texts, join_texts, option_lines, run_parts, steps_with_pictures
from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.study.protocol import Field
from lab.core.text.typed_text import clean
from lab.llm.client import Message
from lab.llm.json_in_text import answer_in, why_no_object

_PACKAGE = "annotators.papers"
_PROMPT = "failure-modes.md"
_PRIMARY, _SECONDARY, _OTHER = "primary", "secondary", "other"
_NOTE = 1_900
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


class ModeAnswers(NamedTuple):
    """The modes that apply, in the order of precedence, each with its reason. `step` is the fatal one, from 1."""

    applying: Mapping[str, str]
    none: str
    """Reasons why no mode applies, if none does."""
    step: int | None


class FailureModeJudge:
    """Judge that names the primary and the secondary reason of a failed run."""

    name = "modes"
    stages = ("modes",)
    tells_outcome = True

    @property
    def version(self) -> str:
        return prompts_version(_PACKAGE, _PROMPT)

    def judge(self, view: JudgeView) -> Judging:
        """Yield one question about all modes, then return the resulting places."""
        primary = view.protocol.field(_PRIMARY)
        if len(view.runs) != 1 or primary is None or not primary.options:
            raise LabError("judge", f"method modes judges why one run failed, not {view.protocol.id}.", code=2)
        answers: ModeAnswers = yield _question(view, primary)
        return _places(view, primary, answers)


def _question(view: JudgeView, primary: Field) -> JudgeQuestion:
    protocol = view.protocol
    title = protocol.word(view.locale, "title", protocol.title)
    system = fill_prompt(_PACKAGE, _PROMPT, title=title, guide=protocol.guideline(view.locale).strip())
    (run,) = view.runs
    parts: list[str | Blob] = [
        *example_texts(view, _right_answer),
        *run_parts(run, steps_with_pictures(view.runs, view.pictures)),
    ]
    parts.append("The reasons\n" + "\n".join(option_lines(view, primary)))
    messages = (Message("system", (system,)), Message("user", join_texts(parts)))
    modes = [option.id for option in primary.options if not option.by_rule]
    return JudgeQuestion("modes", messages, lambda text: _answers(text, modes, run))


def _right_answer(example: JudgeExample) -> dict[str, Any]:
    """Return an example's right answer: the reasons that people gave, the primary one first."""
    return {field: value for _, field, value in example.answers if field in (_PRIMARY, _SECONDARY)}


def _answers(text: str, modes: Sequence[str], run: JudgedRun) -> ModeAnswers:
    """Return a model's answers on the modes. Raise `UnusableJudgement` if one is missing."""
    reply = answer_in(text, lambda found: isinstance(found.get("modes"), list))
    if reply is None:
        raise UnusableJudgement(f'it holds no JSON object with "modes"{why_no_object(text)}.')
    by_mode = {str(one.get("mode") or ""): one for one in reply["modes"] if isinstance(one, dict)}
    says = {mode: _mode_answer(mode, by_mode.get(mode)) for mode in modes}
    applying = {mode: reason for mode, (applies, reason) in says.items() if applies}
    reasons = [f"{mode}: {reason}" for mode, (_, reason) in says.items() if reason]
    return ModeAnswers(applying, "; ".join(reasons), step_of(run, reply.get("step")))


def _mode_answer(mode: str, entry: Mapping[str, Any] | None) -> tuple[bool, str]:
    if entry is None:
        raise UnusableJudgement(f'there is no entry for mode "{mode}".')
    applies = entry.get("applies")
    # Models write a Boolean, or a word for it.
    applies = _TRUTH.get(str(applies).strip().casefold())
    if applies is None:
        raise UnusableJudgement(f'"applies" of mode "{mode}" is {entry.get("applies")!r}, and is to be true or false.')
    return applies, clean(str(entry.get("reason") or ""), lines=False)


def _places(view: JudgeView, primary: Field, answers: ModeAnswers) -> list[JudgedPlace]:
    """Return the first mode that applies and, if the protocol asks for it, the next."""
    applying = list(answers.applying)
    if not applying:
        note = f"none applies: {answers.none}"[:_NOTE]
        if primary.option(_OTHER) is None:
            return [JudgedPlace("", _PRIMARY, None, "cannot_judge", note=note)]
        return [JudgedPlace("", _PRIMARY, _OTHER, step=answers.step, note=note)]
    first, *rest = applying
    more = f" (applies, too: {', '.join(rest)})" if rest else ""
    places = [JudgedPlace("", _PRIMARY, first, step=answers.step, note=f"{answers.applying[first]}{more}"[:_NOTE])]
    secondary = view.protocol.field(_SECONDARY)
    for mode in rest:
        if secondary is not None and secondary.option(mode) is not None:
            return [*places, JudgedPlace("", _SECONDARY, mode, note=answers.applying[mode][:_NOTE])]
    return places
