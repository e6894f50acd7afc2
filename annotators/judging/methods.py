"""The ways of judging by name, and which of them a protocol is judged by."""

from __future__ import annotations

from annotators.judging.question import JudgeMethod
from annotators.judging.sheet_prompt import SheetJudge
from annotators.papers.memgui.judge import MemguiJudge
from lab.core.errors import LabError
from lab.core.protocol import Protocol
from lab.core.suggestion import none_of


def methods() -> dict[str, JudgeMethod]:
    """Every way of judging by its name."""
    made: tuple[JudgeMethod, ...] = (SheetJudge(), MemguiJudge())
    return {method.name: method for method in made}


_BY_PROTOCOL: dict[str, str] = {"success": MemguiJudge.name}
"""Protocols that a paper has a judge of its own for; any other is judged by its sheet."""


def method_of(protocol: Protocol, name: str = "") -> JudgeMethod:
    """The method that is named, or the one for a protocol; `LabError` where there is none of that name."""
    known = methods()
    if name and name not in known:
        raise LabError("judge", f"--method {none_of(name, known)}", code=2)
    return known[name or _BY_PROTOCOL.get(protocol.id, SheetJudge.name)]
