"""Provenance of a report: hashes of plan, sample, questions, guideline and answers, without clock and path."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from annotators.study_data import StudyData
from lab.core.codec import encode
from lab.core.study.label_columns import Columns
from lab.core.study.report import Provenance


def provenance(study_data: StudyData, code: str, platform: str) -> Provenance:
    """Return the provenance of a report about this study, by this program on this platform."""
    study, how = study_data.study, study_data.how
    is_bootstrap = how.interval == "bootstrap"
    return Provenance(
        study=study.id,
        version=study.version,
        study_sha=study.sha,
        sample_sha=study.sample_sha,
        protocol=study.protocol.id,
        protocol_sha=study.protocol.sha,
        guide_sha=study.protocol.guide_sha(study.locale),
        locale=study.locale,
        labels_sha=labels_sha(study_data),
        code=code,
        platform=platform,
        interval=how.interval,
        level=how.level,
        resamples=how.resamples if is_bootstrap else None,
        seed=how.seed if is_bootstrap else None,
        beside=tuple(f"{one.study.name} (answers {labels_sha(one)})" for one in study_data.further.other_studies),
    )


def labels_sha(study_data: StudyData) -> str:
    """Return a hash of everything that a report reads: current labels, sheets, and settled answers.

    It does not depend on the order of rows in a file, because tables are sorted before the rows.
    """
    columns = study_data.columns
    whole = hashlib.sha256()
    tables, rows = _sorted_rows(columns)
    for table in tables:
        whole.update(encode(table) + b"\n")
    whole.update(rows)
    sheet_rows = sorted(
        (columns.units[unit], encode(columns.raters[rater]).decode(), int(run), bool(handed))
        for (unit, rater, run), handed in zip(columns.dealt.tolist(), columns.handed.tolist(), strict=True)
    )
    # The report states these counts, so they are part of its input.
    whole.update(encode([sheet_rows, columns.open, columns.clashes]) + b"\n")
    for unit, spot in sorted(study_data.settled):
        settlement = study_data.settled[unit, spot]
        whole.update(encode([unit, settlement.what, settlement.by, settlement.at]) + b"\n")
    # Costs and calls are hashed only if there are any, so that the hash of a study without judges stays the same.
    if costs := study_data.further.costs():
        whole.update(encode(sorted(costs.items())) + b"\n")
    if calls := study_data.further.calls():
        whole.update(encode(sorted(map(encode, calls))) + b"\n")
    return whole.hexdigest()


def _sorted_rows(columns: Columns) -> tuple[list[list[str]], bytes]:
    """Return the tables in order, and their rows of indices in order, as bytes."""
    indexed_tables: list[tuple[Sequence[Any], Any]] = [
        (columns.units, columns.unit), (columns.targets, columns.target), (columns.fields, columns.field),
        (columns.raters, columns.rater), (columns.values, columns.value), (columns.reasons, columns.reason),
        (columns.cites_said, columns.cites),
    ]  # fmt: skip
    tables, parts = [], []
    for table, indices in indexed_tables:
        rows = [encode(value).decode() for value in table]
        texts = sorted({rows[at] for at in np.unique(indices).tolist() if at >= 0})
        place = {text: at for at, text in enumerate(texts)}
        new_indices = np.array([*(place.get(text, -1) for text in rows), -1], dtype=np.int64)
        tables.append(texts)
        parts.append(new_indices[np.asarray(indices, dtype=np.int64)])
    parts += [columns.run.astype(np.int64), columns.step.astype(np.int64), columns.at.astype(np.int64)]
    order = np.lexsort(tuple(reversed(parts))) if columns.size else np.zeros(0, dtype=np.int64)
    # Little-endian and 8 bytes wide, so that the hash is the same on every machine.
    whole = np.stack(parts)[:, order].astype("<i8") if columns.size else np.zeros((0, 0), dtype="<i8")
    floats = [np.where(np.isnan(one), -1.0, one)[order].astype("<f8") for one in (columns.seconds, columns.confidence)]
    return tables, whole.tobytes() + b"".join(one.tobytes() for one in floats)
