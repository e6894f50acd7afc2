"""Verified cases: a file of inputs with published values, and what this arithmetic makes of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from annotators.agreement.case_inputs import Malformed, read
from annotators.agreement.case_statistics import value_of_case
from lab.errors import LabError

_TOLERANCE = 5e-7


class CaseFile(NamedTuple):
    """The cases of a file, each computed; values agree where they are no further apart than `tolerance`."""

    tolerance: float
    cases: list[Computed]


class Computed(NamedTuple):
    """One case: its value, or None where `undefined` says why; `expected` is the file's own number, None where none."""

    id: str
    statistic: str
    value: float | None
    undefined: str
    expected: float | None


def computed(path: Path) -> CaseFile:
    """Every case in the file's order. Raises LabError, which names file and case, where one cannot be read."""
    document = _document(path)
    cases = document.get("cases") if isinstance(document, dict) else document
    if not isinstance(cases, list):
        raise LabError("cases", f"{path}: cases is missing or no list")
    tolerance = document.get("tolerance", _TOLERANCE) if isinstance(document, dict) else _TOLERANCE
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise LabError("cases", f"{path}: tolerance is no number from 0 to 1")
    return CaseFile(float(tolerance), [_computed(path, at, raw) for at, raw in enumerate(cases)])


def _computed(path: Path, at: int, raw: Any) -> Computed:
    name = raw.get("id") if isinstance(raw, dict) else None
    try:
        case = read(raw)
        value, why = value_of_case(case)
    except Malformed as error:
        where = f"case {name}" if isinstance(name, str) and name else f"case {at + 1}"
        raise LabError("cases", f"{path}: {where}: {error}") from None
    return Computed(case.id, case.statistic, value, why, case.expected)


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError("cases", f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise LabError("cases", f"{path}: it is no JSON ({error})") from None
