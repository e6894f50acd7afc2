"""MemGUI-Bench's IRR analyzer: a mark for each piece of information, from descriptions of the steps.

It marks the pieces that a study has frozen, and never gives a rate. The marks and the settled outcome determine which
of the four rules applies (a success is 100 %, written-out pieces count as marked, a wrong decision is 0 %, an early
failure is 0 %), as they do for people (`annotators/papers/memgui/irr.py`). Source: MemGUI-Bench A.6, A.11.4. The
prompts are this project's own.
"""

from __future__ import annotations

from annotators.judging.prompt_files import prompt_text, prompts_version
from annotators.judging.question import JudgedPlace, JudgeView, Judging
from annotators.judging.sheet_prompt import question_for_sheet, sheet_version
from annotators.papers.memgui.step_descriptions import descriptions, last_screens, task_words
from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.study.protocol import OUTCOME

_PACKAGE = "annotators.papers.memgui"
_PROMPTS = ("judge-description.md", "irr-analysis.md")


class IrrJudge:
    """Judge that marks each information unit of a run as used correctly, wrong or missing."""

    name = "irr"
    stages = ("description", "analysis")
    tells_outcome = True

    @property
    def version(self) -> str:
        return f"{prompts_version(_PACKAGE, *_PROMPTS)}-{sheet_version()}"

    def judge(self, view: JudgeView) -> Judging:
        """Yield a question for each step's description, and one about all pieces, then return the marks."""
        if len(view.runs) != 1 or view.protocol.targets != "information units":
            raise LabError("judge", f"method irr judges a run's information units, not {view.protocol.id}.", code=2)
        (run,) = view.runs
        descriptions_text = yield from descriptions(run)
        parts: list[str | Blob] = [task_words(run), descriptions_text, "The last screens", last_screens(run)]
        if run.outcome or OUTCOME & set(view.protocol.shows):
            parts.append(f"How it ended\n{run.outcome or 'This is not told.'}")
        parts.append(prompt_text(_PACKAGE, "irr-analysis.md").strip())
        places: list[JudgedPlace] = yield question_for_sheet(view, parts, "analysis")
        return places
