"""The judge methods by name, and the method of each protocol."""

from __future__ import annotations

from collections.abc import Iterable

from annotators.judging.question import JudgeMethod
from annotators.judging.sheet_prompt import SheetJudge
from annotators.papers.failure_mode_judge import FailureModeJudge
from annotators.papers.memgui.irr_judge import IrrJudge
from annotators.papers.memgui.judge import MemguiJudge
from annotators.papers.pspa.judge import PspaJudge
from lab.core.errors import LabError
from lab.core.study.protocol import Protocol
from lab.core.text.suggestion import unknown_name


def methods() -> dict[str, JudgeMethod]:
    """Return every judge method by its name."""
    all_methods: tuple[JudgeMethod, ...] = (SheetJudge(), PspaJudge(), MemguiJudge(), IrrJudge(), FailureModeJudge())
    return {method.name: method for method in all_methods}


_BY_PROTOCOL: dict[str, str] = {
    "tdg": PspaJudge.name,
    "success": MemguiJudge.name,
    "information-units": IrrJudge.name,
    "failure-mode-memgui": FailureModeJudge.name,
    "failure-mode-knowu-personalized": FailureModeJudge.name,
    "failure-mode-knowu-proactive": FailureModeJudge.name,
    "failure-mode-dac": FailureModeJudge.name,
}
"""Protocols for which a paper has its own judge. All others are judged by their sheet."""


def method_of(protocol: Protocol, name: str = "") -> JudgeMethod:
    """Return the named method, or that of the protocol. Raise `LabError` if there is none of that name."""
    methods_by_name = methods()
    if name and name not in methods_by_name:
        raise LabError("judge", f"--method {unknown_name(name, methods_by_name)}", code=2)
    return methods_by_name[name or _BY_PROTOCOL.get(protocol.id, SheetJudge.name)]


def check_stages(method: JudgeMethod, stages: Iterable[str]) -> None:
    """Raise `LabError` if a stage with another model is not one of the method's stages."""
    unknown = [stage for stage in stages if stage not in method.stages]
    if unknown:
        raise LabError(
            "judge", f"--stage-model, method {method.name}: {unknown_name(unknown[0], method.stages)}", code=2
        )
