"""Quality gate for a judge in continuous integration: `judge --gate FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lab.cli.output import print_line, print_result
from lab.core.codec import convert, encode, read_file, read_json
from lab.core.errors import LabError
from lab.core.study.agreement import IntervalTerms
from lab.core.study.study import Study
from lab.core.text.plain_text import plain
from lab.core.values.made_files import open_file
from lab.core.values.rounding import count

if TYPE_CHECKING:
    from annotators.validation.judge_gate import GatedField, JudgeGate
    from annotators.validation.study_split import Split
    from store.store import Store

# Maximum bytes of a gate file.
_MOST = 256 * 1024 * 1024


class GateLine(msgspec.Struct, frozen=True):
    """One field's agreement with people's settled answers, before and now. `low` and `high` bound the change."""

    field: str
    items: int
    before: float | None
    now: float | None
    change: float | None
    low: float | None
    high: float | None
    lost: int
    won: int
    settled_otherwise: int
    fell: bool


class GateReport(msgspec.Struct, frozen=True):
    """Result of `judge --gate`. `written` is true if the file did not exist."""

    study: str
    judge: str
    before: str
    written: bool
    answers: int
    fields: tuple[GateLine, ...]
    not_compared: dict[str, int] = {}
    """Places of the file without an answer to compare now, by field."""

    @property
    def fell(self) -> bool:
        return any(field.fell for field in self.fields)


def hold_gate(store: Store, study: Study, judge: str, file: Path, part: Split | None, *, json: bool) -> int:
    """Write the judge's answers if there is no file, else return exit code 1 if its agreement fell significantly.

    A file is never overwritten: a new baseline is a new file. With a `part` of a split study, compare only its units.
    """
    from annotators.validation.judge_gate import compare_gates, gate_of, missing_places
    from lab.studies.planning.study_split import check_split
    from lab.studies.progress.study_data import load_study_data

    study_data = load_study_data(store, study)
    if part is not None:
        check_split(study_data)
    now = gate_of(study_data, judge, part)
    if not file.exists():
        _write_gate(file, now)
        report = GateReport(study.name, judge, judge, True, len(now.answers), ())
    else:
        before = _read_gate(file)
        fields = tuple(_gate_line(field) for field in compare_gates(before, now, IntervalTerms("bootstrap")))
        without = missing_places(before, now, study_data, part)
        report = GateReport(study.name, judge, before.judge, False, len(now.answers), fields, without)
    print_result(report, lambda result: _print_report(result, file), json=json)
    return 1 if report.fell else 0


def _write_gate(file: Path, gate: JudgeGate) -> None:
    try:
        with open_file(file, "xb") as stream:
            stream.write(encode(gate) + b"\n")
    except OSError as error:
        raise LabError(f"--gate {file}", f"cannot be written ({error.strerror})") from error


def _read_gate(file: Path) -> JudgeGate:
    from annotators.validation.judge_gate import JudgeGate

    where = f"--gate {file}"
    gate: JudgeGate = convert(
        read_json(read_file(file, where, most=_MOST), where, by_hand=True).value, JudgeGate, where
    )
    return gate


def _gate_line(field: GatedField) -> GateLine:
    from annotators.validation.drift import has_fallen

    drift = field.drift
    return GateLine(
        field.field, drift.items, drift.before.value, drift.after.value, drift.accuracy.value, drift.accuracy.low,
        drift.accuracy.high, drift.lost, drift.won, field.changed, has_fallen(drift),
    )  # fmt: skip


def _print_report(report: GateReport, file: Path) -> None:
    if report.written:
        print_line(
            f"{plain(str(file), lines=False)} holds {report.answers:,} answers of {plain(report.judge)} from now on."
        )
        return
    for field in report.fields:
        interval = f" [{field.low:+.1%}, {field.high:+.1%}]" if field.low is not None and field.high is not None else ""
        verdict = "FELL" if field.fell else "holds"
        print_line(
            f"{verdict}  {field.field}: {_format_share(field.before)} before, {_format_share(field.now)} now, change "
            f"{field.change or 0:+.1%}{interval}; {field.lost:,} lost, {field.won:,} won of {field.items:,} items"
        )
        if field.settled_otherwise:
            print_line(f"       {field.settled_otherwise:,} places were settled otherwise meanwhile, and do not count")
    for name, places in report.not_compared.items():
        print_line(
            f"not compared  {name}: {count(places, 'place')} of the file: {plain(report.judge)} gave no answer there, "
            "or people's is not settled any more"
        )


def _format_share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
