"""Outcomes of runs for units: failures, and a rule's answers."""

from __future__ import annotations

from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.protocol import Protocol
from lab.core.study.study import Gold

DONE = 0.99
"""A score above it is a success, as in KnowU-Bench. MemGUI-Bench's scores are 0 and 1."""
TIMEOUT = "execution_timeout"
"""Option that a rule sets for a run ended by its budget, if the protocol has it."""


def run_failed(case: MeasuredRun) -> bool | None:
    """Return True if a run failed by its settled answer, else by its score, else by its status, or None if unknown.

    A run without a score that was stopped by hand, or has not ended, is unknown.
    """
    score = case.success_score
    if score is not None:
        return score <= DONE
    return True if case.status in ("failed", "budget") else None


def failures(cases: list[MeasuredRun]) -> list[MeasuredRun]:
    """Return the failed runs. Raise `LabError` if the outcome of one is unknown, or if none failed."""
    failed_cases = []
    for case in cases:
        has_failed = run_failed(case)
        if has_failed is None:
            raise LabError(
                f"run {case.id}",
                f"is {case.status} and has no score: nothing tells whether it failed.",
                "Rate it for success first, or leave it out.",
            )
        if has_failed:
            failed_cases.append(case)
    if cases and not failed_cases:
        raise LabError(f"run {cases[0].id}", "succeeded, and only failed runs are asked about.")
    return failed_cases


def rule_answers(protocol: Protocol, case: MeasuredRun, beyond: float | None) -> tuple[Gold, ...]:
    """Return a rule's answers: timeout if the budget ended a run, failure if it is far longer than its golden way."""
    field = next((field for field in protocol.fields if (option := field.option(TIMEOUT)) and option.by_rule), None)
    if field is not None and case.status == "budget":
        return (Gold("", field.id, TIMEOUT, f"ended by its limit after {_steps(len(case.steps))}"),)
    return _too_long(protocol, case, beyond) if beyond is not None else ()


def _too_long(protocol: Protocol, case: MeasuredRun, beyond: float) -> tuple[Gold, ...]:
    field = next((field for field in protocol.fields if field.option("failure") is not None), None)
    if field is None:
        raise LabError(f"protocol {protocol.id}", "has no option `failure`, which a limit of golden steps would set.")
    shortest = case.task.shortest
    if shortest is None:
        raise LabError(
            f"run {case.id}", f"its task {case.task.id} tells no golden steps, so {beyond:g} times as many is no limit."
        )
    if len(case.steps) <= beyond * shortest:
        return ()
    return (
        Gold("", field.id, "failure", f"{_steps(len(case.steps))}, more than {beyond:g} x {shortest} golden steps"),
    )


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"
