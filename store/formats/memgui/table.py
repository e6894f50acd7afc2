"""results.csv of a MemGUI-Bench or SPA-Bench session: fields of a task and of one attempt at it.

Source: `framework/utils.py` of both. Lists are Python reprs. Two columns are misleading and only stored unchanged:
`step_ratio` is not the ratio of steps to golden steps, and `total_token_cost` uses one model's prices for every model.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from lab.core.errors import LabError
from lab.core.run.run_records import Verdict
from store.formats import RunSource
from store.formats.csv_table import table_of
from store.formats.geometry import as_coordinate
from store.formats.values import literal

_LONGEST_LIST = 10_000
_DIFFICULTY = {"1": "easy", "2": "medium", "3": "hard"}
_SCORES = {"S": 1.0, "F": 0.0}
_YES = {"Y": "yes", "N": "no", "TRUE": "yes", "FALSE": "no", "1": "yes", "0": "no"}
_PLAIN_TRAITS = ("category", "output_type", "shortcut_potential", "num_apps")
_TASK = {
    "task_identifier", "task_description", "task_app", "task_language", "task_difficulty", "golden_steps",
    "is_cross_app", "requires_ui_memory", *_PLAIN_TRAITS,
}  # fmt: skip


_MODE = r"(?:direct|result_only)_(?:no_action|with_action|text_action)"
_UNNUMBERED = (
    "completion", "device", "exit_code", "total_steps", "total_token_cost", "total_time", "finish_signal",
    "step_ratio", "elapsed_time_initial", "elapsed_time_exec", "avg_prompt_tokens", "avg_completion_tokens",
    "exec_error", "evaluation", "details", "successful_attempts", "success_count",
)  # fmt: skip


class TableRow(NamedTuple):
    """One task's row by column, and the folder of the session that has the table."""

    session: Path
    cells: dict[str, str]

    @property
    def instruction(self) -> str:
        return self.cells.get("task_description", "").strip()

    @property
    def golden_steps(self) -> int | None:
        amount = as_coordinate(self.cells.get("golden_steps"))
        return int(amount) if amount is not None and amount >= 1 else None

    @property
    def apps(self) -> tuple[str, ...]:
        return tuple(list_cell(self.cells.get("task_app", "")))

    @property
    def traits(self) -> dict[str, str]:
        """Difficulty in words, `yes` or `no` for memory and cross-app tasks, and other traits unchanged."""
        difficulty = _cell_text(self.cells.get("task_difficulty", ""))
        if "requires_ui_memory" in self.cells:
            difficulty = _DIFFICULTY.get(difficulty, difficulty)
        trait_cells = {
            "difficulty": difficulty,
            "memory": _yes_or_no(self.cells.get("requires_ui_memory", "")),
            "language": self.cells.get("task_language", ""),
            "cross_app": _yes_or_no(self.cells.get("is_cross_app", "")),
            **{name: "; ".join(list_cell(self.cells.get(name, ""))) for name in _PLAIN_TRAITS},
        }
        return {name: value for name, value in trait_cells.items() if value}

    def attempt(self, agent: str, attempt: int) -> dict[str, str]:
        """Return the cells of one attempt by one agent, by column without the agent's and attempt's prefix.

        SPA-Bench has one attempt and does not number it.
        """
        numbered = rf"(?:{_MODE}_)?attempt_{attempt}_(?P<name>.+)"
        ours = re.compile(rf"(?:{_MODE}_)?{re.escape(agent)}_(?:{numbered}|(?P<plain>{'|'.join(_UNNUMBERED)}))")
        attempt_cells: dict[str, str] = {}
        for column, cell in self.cells.items():
            match = ours.fullmatch(column)
            if match and cell != "":
                attempt_cells[match["name"] or match["plain"]] = cell
        return attempt_cells


def row_of(source: RunSource, task: str) -> TableRow | None:
    """Return a task's row in the nearest results.csv, from the run's folder up to `root`, or None if there is none.

    Raise `LabError` if a table cannot be read.
    """
    for above in (source.path, *source.path.parents):
        table = above / "results.csv"
        if table.is_file():
            rows = table_of(source, source.text(table), table)
            if rows and "task_identifier" not in rows[0]:
                raise LabError(str(table), "has no column task_identifier")
            cells = next((cells for cells in rows if cells.get("task_identifier") == task), None)
            return None if cells is None else TableRow(above, cells)
        if above == source.root:
            break
    return None


def list_cell(cell: str) -> list[str]:
    """Return the texts of a cell with a Python list, or the cell itself as the only one."""
    text = cell.strip()
    values = literal(text)
    if isinstance(values, list) and len(text) <= _LONGEST_LIST:
        return [value if isinstance(value, str) else str(value) for value in values]
    return [text] if text else []


def verdicts(row: TableRow, agent: str, attempt: int, judged_names: set[str]) -> tuple[float | None, list[Verdict]]:
    """Return the table's score for an attempt, and its columns as verdicts.

    `judged_names` are verdicts that separate files already gave. `irr` and `badcase` are built from columns only if
    those files are missing, with the same field names.
    """
    cells = row.attempt(agent, attempt)
    if not cells:
        return None, []
    letter = cells.get("evaluation", "")
    task = {name: cell for name, cell in row.cells.items() if name in _TASK and cell}
    details = cells.get("details", "")
    verdict_list = [
        Verdict("results.csv", letter or None, "" if details.startswith("{") else details, {**task, **cells})
    ]
    if "irr" not in judged_names and cells.get("irr_method"):
        fields: dict[str, Any] = {
            "total_information_units": _cell_number(cells.get("irr_total_units")),
            "correctly_used_units": _cell_number(cells.get("irr_correct_units")),
            "irr_percentage": _cell_number(cells.get("irr_percentage")),
            "analysis_reason": cells.get("irr_reason", ""),
            "evaluation_method": cells["irr_method"],
        }
        verdict_list.append(Verdict("irr", fields["irr_percentage"], fields["analysis_reason"], fields))
    if "badcase" not in judged_names and cells.get("badcase_category"):
        badcases: dict[str, Any] = {k.removeprefix("badcase_"): v for k, v in cells.items() if k.startswith("badcase_")}
        badcases["confidence"] = _cell_number(badcases.get("confidence"))
        verdict_list.append(Verdict("badcase", badcases["category"], badcases.get("analysis_reason", ""), badcases))
    return _SCORES.get(letter), verdict_list


def _cell_number(cell: Any) -> float | int | None:
    amount = as_coordinate(cell)
    return int(amount) if amount is not None and amount.is_integer() else amount


def _cell_text(cell: str) -> str:
    amount = _cell_number(cell)
    return cell.strip() if amount is None else f"{amount:g}"


def _yes_or_no(cell: str) -> str:
    return _YES.get(cell.strip().upper(), cell.strip())
