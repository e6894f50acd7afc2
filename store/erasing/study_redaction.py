"""Redaction of studies: units that quote redacted runs, labels and notes on them, and settlements.

Named words are redacted in every study. Text that lay under a box is redacted only in rows about its run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from lab.core.codec import convert, decode, encode
from lab.core.redaction.text_redaction import LongTextRedaction, TextRedaction, is_coverable, texts_covered_in
from lab.core.study.adjudication import Move, Settlement
from lab.core.study.label import Act, Label
from lab.core.study.study import VERSION, Study, Unit
from store.erasing.erasure import Eraser
from store.studies.studies import key_of

_OF = "study = ? AND version = ?"
_LONG = 8
"""Minimum length of a text that is searched for outside rows about its run."""


class StudiesCovered(NamedTuple):
    """Numbers of rows redacted in studies."""

    items: int = 0
    answers: int = 0
    acts: int = 0


def redact_studies(
    eraser: Eraser, cloak: TextRedaction, ids: Mapping[str, str], local: Mapping[str, Iterable[str]]
) -> StudiesCovered:
    """Redact the words of `cloak` in all studies, and replace run ids by new ones (`ids`).

    `local` are words by run (old or new id) that are redacted only in the run's units and rows about them.
    """
    total = StudiesCovered()
    for (body,) in eraser.db.execute("SELECT body FROM study ORDER BY n").fetchall():
        study: Study = decode(body, Study, "a study in the file", newest=VERSION)
        more = _StudyRedaction(eraser, study, cloak, ids, local).all_of_it()
        total = StudiesCovered(*(a + b for a, b in zip(total, more, strict=True)))
    return total


class _StudyRedaction:
    """Redaction of one study, within the transaction."""

    def __init__(
        self,
        eraser: Eraser,
        study: Study,
        cloak: TextRedaction,
        ids: Mapping[str, str],
        local: Mapping[str, Iterable[str]],
    ) -> None:
        self.db = eraser.db
        self.study = study
        self.cloak = cloak
        self.ids = ids
        self.local = local
        self.texts = {field.id for field in study.protocol.fields if field.kind == "text"}
        fields = study.protocol.fields
        self.names = {*(field.id for field in fields), *(option.id for field in fields for option in field.options)}
        self.names |= set(study.raters)
        self.cloaks: dict[str, TextRedaction] = {}
        """Redaction for rows about a unit, by its id, with the local words of its runs."""

    def all_of_it(self) -> StudiesCovered:
        runs_by_unit = self._played_runs()
        units = sum(
            [
                self._rewrite("unit", n, old, self._redact_unit(old, runs_by_unit))
                for n, old in self._read_rows("unit", Unit)
            ]
        )
        labels = sum(
            [self._rewrite("label", n, old, self._redact_label(old)) for n, old in self._read_rows("label", Label)]
        )
        acts = sum([self._rewrite("act", n, old, self._redact_act(old)) for n, old in self._read_rows("act", Act)])
        return StudiesCovered(units, labels, acts)

    def _read_rows(self, table: str, kind: type[Any]) -> Iterator[tuple[int, Any]]:
        sql, n = f"SELECT n, body FROM {table} WHERE {_OF} AND n > ? ORDER BY n LIMIT 500", 0
        while rows := self.db.execute(sql, (*key_of(self.study), n)).fetchall():
            for n, body in rows:
                yield n, decode(body, kind, f"a row of {table} in the file", newest=VERSION)

    def _rewrite(self, table: str, n: int, old: Any, new: Any) -> bool:
        if new != old:
            self.db.execute(f"UPDATE {table} SET body = ? WHERE n = ?", (encode(new).decode(), n))
        return bool(new != old)

    def _played_runs(self) -> dict[str, set[str]]:
        """Return the runs of units that were played."""
        sql = f"SELECT unit, json_extract(body, '$.detail.run') FROM act WHERE {_OF} AND act = 'played'"
        runs_by_unit: dict[str, set[str]] = {}
        for unit, run in self.db.execute(sql, key_of(self.study)):
            runs_by_unit.setdefault(unit, set()).add(run)
        return runs_by_unit

    def _redact_unit(self, unit: Unit, runs_by_unit: Mapping[str, set[str]]) -> Unit:
        """Return the redacted unit. Its id, the names of its parts and a task to play stay unchanged."""
        runs = {*unit.runs, *runs_by_unit.get(unit.id, ())} & set(self.local)
        words = [word for run in sorted(runs) for word in self.local.get(run, ())]
        cloak = LongTextRedaction(self.cloak.with_words(words), self.names | set(_names_in(unit)))
        self.cloaks[unit.id] = cloak
        # Left out here: a task to play is frozen, and run ids are replaced instead of masked.
        covered_unit: Unit = cloak.cover(replace(unit, play=None, runs=(), cluster=""))
        return replace(
            covered_unit,
            id=unit.id,
            runs=tuple(self.ids.get(run, run) for run in unit.runs),
            cluster=self.ids.get(unit.cluster, unit.cluster),
            play=unit.play,
            owner=unit.owner,
        )

    def _redact_label(self, label: Label) -> Label:
        cloak = self.cloaks.get(label.unit, self.cloak)
        value = cloak.cover(label.value) if label.field in self.texts else label.value
        return replace(label, value=value, note=cloak.mask(label.note), evidence=self._renamed_evidence(label.evidence))

    def _redact_act(self, act: Act) -> Act:
        cloak = self.cloaks.get(act.unit, LongTextRedaction(self.cloak, self.names))
        if act.act == "adjudicated":
            detail = self._redact_settlement(cloak, act)
        else:
            detail = cloak.cover(act.detail)
            run = act.detail.get("run")
            detail = {**detail, "run": self.ids.get(run, run)} if isinstance(run, str) else detail
        return act if detail == act.detail else replace(act, detail=detail)

    def _redact_settlement(self, cloak: TextRedaction, act: Act) -> dict[str, Any]:
        what: Settlement = convert(act.detail, Settlement, f"act {act.id}")
        free = what.field in self.texts
        new = replace(
            what,
            value=cloak.cover(what.value) if free else what.value,
            reason=cloak.mask(what.reason),
            moves=tuple(_redact_move(cloak, move, free=free) for move in what.moves),
        )
        if new == what:
            return act.detail
        detail: dict[str, Any] = decode(encode(new), dict[str, Any], f"act {act.id}")
        return detail

    def _renamed_evidence(self, evidence: str | None) -> str | None:
        """Return an evidence reference (`ID@7`) with the run's new id."""
        if not evidence:
            return evidence
        run, at, step = evidence.rpartition("@")
        return f"{self.ids.get(run, run)}{at}{step}"


def _redact_move(cloak: TextRedaction, move: Move, *, free: bool) -> Move:
    was, now = (cloak.cover(value) if free else value for value in (move.was, move.now))
    return replace(move, was=was, now=now, code=cloak.mask(move.code), why=cloak.mask(move.why))


def _names_in(unit: Unit) -> Iterator[str]:
    """Yield the names in a unit that other rows refer to: its parts, and nodes of its task's graph."""
    yield from (unit.id, unit.question, unit.owner)
    for target in unit.targets:
        yield from (target.id, *target.options, *target.requires)
    yield from (node.id for node in unit.tdg.walk())
    if unit.task is not None:
        yield from (unit.task.id, *(node.id for node in unit.task.tdg.walk()))


class RedactedContent:
    """Redacted content, recovered by comparing redacted runs with copies that still have it.

    `parts` are redacted everywhere: pieces of texts, and whole texts long enough not to match by coincidence. `local`
    has everything by run, because a text redacted as a whole may have been under a box.
    """

    def __init__(self) -> None:
        self.parts: set[str] = set()
        self.local: dict[str, set[str]] = {}

    def add_differences(self, runs: Iterable[str], rows_before: Iterable[str], rows_after: Iterable[str]) -> None:
        """Add the differences between a run's JSON rows before and after redaction. `runs` are its ids."""
        for before, after in zip(rows_before, rows_after, strict=False):
            parts, wholes = texts_covered_in(msgspec.json.decode(before), msgspec.json.decode(after))
            self.parts |= {
                word for word in parts | {text for text in wholes if len(text) >= _LONG} if is_coverable(word)
            }
            for run in runs:
                self.local.setdefault(run, set()).update(filter(is_coverable, parts | wholes))

    def redact(self, eraser: Eraser, ids: Mapping[str, str]) -> StudiesCovered:
        """Redact the collected content in all studies. `ids` maps old run ids to new ones."""
        return redact_studies(eraser, TextRedaction(sorted(self.parts), ids), ids, self.local)


def local_words(words: Mapping[int, Sequence[str]]) -> list[str]:
    """Return the texts under boxes in any step of a run."""
    return list(dict.fromkeys(word for texts in words.values() for word in texts))
