"""One attempt of MemGUI-Bench or SPA-Bench as events.

The log's last element is a summary. Its `total_steps` is one less than the number of actions. `Ended.usage.seconds` is
`elapsed_time_exec`, the time from the first step to the last. The time before, `elapsed_time_initial`, is in the
verdict *source*. The status is completed if the agent declared that it was done, failed if error.json or the exit code
say so, budget after reaching the step limit, stopped if the log has no summary.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.core.run.run_records import Imported, Verdict
from lab.core.run.step import Action, Usage
from lab.core.task.task import Actor, Task
from store.formats import RunSource
from store.formats.draft import RunDraft
from store.formats.geometry import as_coordinate
from store.formats.knowu.actions import thought_of
from store.formats.memgui.actions import action_of, space_of
from store.formats.memgui.table import TableRow, verdicts
from store.formats.memgui.tokens import usages_of, whole_usage
from store.formats.pictures import Pictures
from store.formats.values import Notes, as_count, notes_below

NAME = "memgui"
SIDE_FILES = (
    "evaluation_summary", "final_decision", "irr_analysis", "badcase_analysis", "self_reflection",
    "long_term_memory", "model_call_stats", "error",
)  # fmt: skip
"""Files beside log.json that are read. detailed_model_logs.json is skipped, because it has megabytes of pictures."""

_JUDGE_FILES = (
    ("evaluation_summary", "evaluation", "final_result", "final_reason"),
    ("final_decision", "final_decision", "decision", "reason"),
    ("irr_analysis", "irr", "irr_percentage", "analysis_reason"),
    ("badcase_analysis", "badcase", "category", "analysis_reason"),
    ("self_reflection", "self_reflection", "judgment", "reason"),
)
"""For each file: its verdict's name, and the fields for the verdict's value and reason."""

_REASON_VERDICTS = ("evaluation", "final_decision", "results.csv")
_PLACED = {"step", "thought", "raw_response", "raw_action", "prompt_tokens", "completion_tokens"}
_OUTPUT_FIELDS = ("raw_response", "action_output", "response", "action_gen_response")
_THOUGHT = re.compile(
    r"^[ \t]*(?:#+\s*)?(?:Thoughts?|Reason)\s*(?:#+|[:：])\s*(.*?)\s*(?:^[ \t]*(?:#+\s*)?(?:Action|Summary)\b|\Z)",
    re.S | re.M,
)
_COPIED = "mobileworld_action"
"""Field of steps copied from a `traj.json`, whose `thought` is the model's whole output."""

_UNDONE = ("Invalid action", "No action matched")
_MIN_BUDGET = 30
_MAX_FIELD = 256 * 1024
"""Maximum bytes of a step's field. Larger ones, such as prompts with pictures, are dropped."""


class MemguiRun(NamedTuple):
    """One run as in its source. `side_files` has the content of its other files, `shots` its screens by number."""

    id: str
    task: str
    agent: str
    attempt: int
    path: str
    data: bytes
    log: list[dict[str, Any]]
    notes: Notes
    side_files: dict[str, Any]
    unread: dict[str, str]
    row: TableRow | None
    shots: dict[int, Path]
    source: RunSource

    @property
    def steps(self) -> list[dict[str, Any]]:
        return [step for step in self.log if not _is_summary(step)]

    @property
    def summary(self) -> dict[str, Any]:
        return next((step for step in reversed(self.log) if _is_summary(step)), {})

    def mapping(self, name: str) -> dict[str, Any]:
        """Return the mapping in the file of that name, empty if it has none."""
        value = self.side_files.get(name)
        return value if isinstance(value, dict) else {}


def imported(of: MemguiRun) -> Imported:
    """Return a run with its pictures and its source's verdicts."""
    pictures = Pictures(of.source)
    session = of.row.session.name.removeprefix("session-") if of.row else ""
    draft = RunDraft(
        of.id,
        _task(of),
        Actor("model", of.agent),
        format=NAME,
        path=of.path,
        data=of.data,
        model=session,
        images=pictures,
        attempt=of.attempt,
    )
    usages = usages_of(of.steps, of.mapping("model_call_stats"))
    space = space_of(of.steps)
    places = [place for place, step in enumerate(of.log) if not _is_summary(step)]
    for i, (place, step) in enumerate(zip(places, of.steps, strict=True)):
        extra = _extra(step, i)
        if changes := notes_below(of.notes, f"[{place}]."):
            extra["missing"] = changes
        _step(draft, of, i, step, usages[i], space, pictures, extra)
    score = _add_verdicts(draft, of)
    _end(draft, of, usages, score, pictures)
    return draft.imported()


def _task(of: MemguiRun) -> Task:
    row = of.row
    description = of.mapping("evaluation_summary").get("task_description")
    return Task(
        id=of.task,
        kind="general",
        instruction=(row.instruction if row else "") or (description.strip() if isinstance(description, str) else ""),
        budget=max(_MIN_BUDGET, len(of.steps)),
        apps=row.apps if row else (),
        golden_steps=row.golden_steps if row else None,
        traits=row.traits if row else {},
    )


def _model_output(step: dict[str, Any]) -> str | None:
    names = (*_OUTPUT_FIELDS, "thought") if _COPIED in step else _OUTPUT_FIELDS
    return next((step[name] for name in names if isinstance(step.get(name), str)), None)


def _extra(step: dict[str, Any], i: int) -> dict[str, Any]:
    """Return the source's fields without a place in a step, unchanged."""
    raw = _model_output(step)
    extra = {k: v for k, v in step.items() if k not in _PLACED and v is not None and v != raw}
    for name in ("thought", "raw_response"):
        if step.get(name) is not None and not isinstance(step[name], str):
            extra[name] = step[name]
    if step.get("raw_action") is None:
        extra.pop("action", None)
    heavy = {name: size for name, value in extra.items() if (size := len(msgspec.json.encode(value))) > _MAX_FIELD}
    for name in heavy:
        del extra[name]
    if heavy:
        extra["left_out"] = heavy
    if step.get("step") != i + 1 and "step" in step:
        extra["step"] = step["step"]
    return extra


def _step(
    draft: RunDraft,
    of: MemguiRun,
    i: int,
    step: dict[str, Any],
    usage: Usage | None,
    space: str | None,
    pictures: Pictures,
    extra: dict[str, Any],
) -> None:
    raw = _model_output(step)
    before = pictures.add_optional(of.shots.get(_step_number(step, i) - 1), extra)
    action = action_of(step, before.size, space)
    draft.step(
        action,
        before,
        thought=_thought(step, raw or ""),
        raw=raw,
        usage=usage,
        error=_error(action, step),
        extra=extra,
    )


def _error(action: Action, step: dict[str, Any]) -> str | None:
    """Return why no action was performed, or None if one was."""
    source_action = step.get("action")
    if action.raw is None or source_action is None:
        return "the source holds no action"
    name = source_action[0] if isinstance(source_action, list) and source_action else ""
    detail = (
        source_action[1].get("detail")
        if isinstance(source_action, list) and len(source_action) > 1 and isinstance(source_action[1], dict)
        else ""
    )
    if name == "error" or (isinstance(detail, str) and detail.startswith(_UNDONE)):
        return detail if isinstance(detail, str) and detail else "no action could be read"
    return None


def _step_number(step: dict[str, Any], i: int) -> int:
    """Return a step's number, from 1. Some agents do not log steps without an action, so there may be gaps."""
    step_number = step.get("step")
    return (
        step_number if isinstance(step_number, int) and not isinstance(step_number, bool) and step_number > 0 else i + 1
    )


def _thought(step: dict[str, Any], text: str) -> str:
    if isinstance(step.get("thought"), str) and step["thought"]:
        return thought_of(step["thought"]) if _COPIED in step else str(step["thought"])
    match = _THOUGHT.search(text)
    return match[1] if match else ""


def _add_verdicts(draft: RunDraft, of: MemguiRun) -> float | None:
    """Add the source's verdicts. Return its score, of the evaluation, else of the decision, else of the table."""
    scores: list[float | None] = []
    for file, *_ in _JUDGE_FILES:
        if file not in of.side_files:
            continue
        file_verdict = judgement(file, of.side_files[file])
        draft.verdicts.append(file_verdict)
        if file in ("evaluation_summary", "final_decision"):
            scores.append(_verdict_score(file_verdict.value))
    if of.row is not None:
        judged_names = {verdict.name for verdict in draft.verdicts}
        score, own_verdicts = verdicts(of.row, of.agent, of.attempt, judged_names)
        draft.verdicts.extend(own_verdicts)
        scores.append(score)
    return scores[0] if scores else None


def judgement(file: str, contents: Any) -> Verdict:
    """Return a judge's file (named without `.json`) as a verdict with all of its fields."""
    name, value, reason = next(rest for file_name, *rest in _JUDGE_FILES if file_name == file)
    fields: dict[str, Any] = contents if isinstance(contents, dict) and contents else {"value": contents}
    if file == "evaluation_summary":
        fields = {**fields, **_sorted_analyses(fields)}
    reason_text = fields.get(reason)
    return Verdict(name, fields.get(value), reason_text if isinstance(reason_text, str) else "", fields)


def _verdict_score(value: Any) -> float | None:
    return float(value) if as_count(value) in (0, 1) else None


def _sorted_analyses(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the judge's analyses of the steps sorted by number. In the file they are in order of completion."""
    steps = fields.get("step_by_step_analysis")
    if not isinstance(steps, dict):
        return {}
    return {
        "step_by_step_analysis": dict(sorted(steps.items(), key=lambda item: (as_coordinate(item[0]) or 0, item[0])))
    }


def _end(draft: RunDraft, of: MemguiRun, usages: list[Usage | None], score: float | None, pictures: Pictures) -> None:
    summary = of.summary
    source_fields: dict[str, Any] = {"summary": summary, "unread": of.unread}
    source_fields |= {name: of.side_files.get(name) for name in ("model_call_stats", "long_term_memory", "error")}
    draft.verdicts.append(Verdict("source", extra={name: value for name, value in source_fields.items() if value}))
    status, reason = _status(of)
    judge_reason = next(
        (verdict.reason for verdict in draft.verdicts if verdict.name in _REASON_VERDICTS and verdict.reason), ""
    )
    last = max((_step_number(step, i) for i, step in enumerate(of.steps)), default=0)
    final = pictures.add_final(of.shots[last]) if last in of.shots else None
    draft.end(
        status,
        score,
        reason or judge_reason,
        final=final,
        usage=whole_usage(usages, summary, of.mapping("model_call_stats")),
    )


def _status(of: MemguiRun) -> tuple[Any, str]:
    """Return the status of the run, and the reason if it ended with an error."""
    error = of.side_files.get("error")
    message = error[0].get("error_message") if isinstance(error, list) and error and isinstance(error[0], dict) else ""
    summary = of.summary
    code = of.row.attempt(of.agent, of.attempt).get("exit_code") if of.row else None
    if not of.steps:
        return "failed", str(message or "the source holds no steps")
    if summary.get("finish_signal") in (1, True):
        return "completed", ""
    if message or as_coordinate(code) in (1, 2, 3, 5):
        return "failed", str(message or f"the benchmark ended with code {code}")
    if not summary and _COPIED in of.steps[-1] and action_of(of.steps[-1], None, None).kind in ("status", "answer"):
        return "completed", ""
    return ("budget", "") if summary else ("stopped", "the source holds no result")


def _is_summary(step: dict[str, Any]) -> bool:
    return "action" not in step and "step" not in step and ("total_steps" in step or "finish_signal" in step)
