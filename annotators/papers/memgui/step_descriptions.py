"""MemGUI-Eval's step descriptor: each step in a model's words, once for all runs of a judge, and the last screens.

Source: MemGUI-Bench 4.2, A.11.2. The prompts are this project's own.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from annotators.judging.picture_sheet import picture_sheet
from annotators.judging.prompt_files import fill_prompt
from annotators.judging.question import JudgedRun, JudgedStep, JudgeQuestion, UnusableJudgement
from lab.core.run.run_records import Blob
from lab.core.text.typed_text import clean
from lab.llm.client import Message
from lab.llm.json_in_text import answer_in, why_no_object

_PACKAGE = "annotators.papers.memgui"
LAST = 3
"""Number of screens at a run's end that a judge sees in one picture."""
MOST_WORDS = 1_200
"""Maximum characters of a screen's words, which replace a picture that is missing."""


def task_words(run: JudgedRun) -> str:
    """Return the description of a run's task."""
    return "\n\n".join(f"{title}\n{text}" for title, text in run.sections) or "No instruction was recorded."


def actions_of(run: JudgedRun) -> str:
    """Return a run's actions, questions and replies, step by step."""
    return "The actions\n" + "\n".join(_action(step) for step in run.steps)


def _action(step: JudgedStep) -> str:
    line = f"{step.number}  {step.action or '(not shown)'}"
    line += f"\n   asks the person: {step.question}" if step.question else ""
    return line + (f"\n   the person replies: {step.reply}" if step.reply else "")


def last_screens(run: JudgedRun) -> str | Blob:
    """Return the last three screens in one picture, or their words if there are no pictures."""
    screens = [(f"step {step.number}", step.picture) for step in run.steps]
    screens.append(("the end", run.last_picture))
    titled_pictures = [(title, blob) for title, picture in screens[-LAST:] if (blob := picture()) is not None]
    sheet = picture_sheet(titled_pictures)
    if sheet is not None:
        return sheet
    words = [(f"step {step.number}", step.words) for step in run.steps] + [("the end", run.last_words)]
    return "The words on the last screens\n" + "\n".join(
        f"{title}: {text[:MOST_WORDS] or '(none recorded)'}" for title, text in words[-LAST:]
    )


def descriptions(run: JudgedRun) -> Generator[JudgeQuestion, Any, str]:
    """Yield a question for each step with a picture, then return one line per step.

    Steps without a picture have the screen's own words.
    """
    lines = ["Each step, as a model described it"]
    for step, after in zip(run.steps, [*run.steps[1:], None], strict=True):
        picture = step.picture()
        if picture is None:
            words = step.words[:MOST_WORDS]
            lines.append(_action(step) + (f"\n   on the screen: {words}" if words else ""))
            continue
        following = after.picture() if after is not None else run.last_picture()
        panels = picture_sheet([("before", picture), ("after", following or picture)])
        question_text = fill_prompt(_PACKAGE, "judge-description.md", action=step.action or "(not shown)")
        parts = (panels, question_text) if panels is not None else (question_text,)
        description: str = yield JudgeQuestion(
            "description", (Message("user", parts),), _read_description, serves_all_runs=True
        )
        lines.append(f"{_action(step)}\n   {description}")
    return "\n".join(lines)


_PARTS = ("action_description", "ui_description")


def _read_description(text: str) -> str:
    reply = answer_in(text, lambda found: all(isinstance(found.get(name), str) for name in _PARTS))
    if reply is None:
        names = " and ".join(f'"{name}"' for name in _PARTS)
        raise UnusableJudgement(f"it holds no JSON object with {names}{why_no_object(text)}.")
    return clean(" ".join(str(reply[name]).strip() for name in _PARTS))
