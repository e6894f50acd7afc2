"""Withdrawal of a participant: all data of one person is erased from a hitlab file and is not accepted again.

Erased: their labels and acts in every study, and their part in settlements. Every run in which they were the user or
the agent, approved actions or forked, with its pictures, and every run that repeats one. Units that quote any of it or
were derived from their answers, with everybody's labels on them. Their reviews and clearances.

Kept without their code: acts that others build on (a study that they planned or locked, a draft of a design, a run that
they redacted, archived or tagged). These are signed `withdrawn` and lose their words. The code itself stays in the
frozen plans' lists of raters and in the row that keeps them out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from lab.core.codec import convert, decode, encode, storable
from lab.core.errors import LabError
from lab.core.redaction.quotations import LONG, ErasedWords
from lab.core.redaction.text_redaction import WITHDRAWN
from lab.core.run.run_records import RunAct, Tombstone, normalize_tag
from lab.core.study.adjudication import Settlement, majority_of, place_answers, without_person
from lab.core.study.label import STUDY_ACTS, Act, Label, Withdrawal
from lab.core.study.rating_sheet import FieldReference, submitted_sheets
from lab.core.study.study import VERSION, Study
from lab.core.task.design import VERSION as DESIGN_VERSION
from lab.core.task.design import Design, Revision
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from store.copies.pack import scratch_copy
from store.erasing.erasure import Eraser, triggers_lifted
from store.erasing.own_texts import own_texts
from store.erasing.quoted_texts import QuotedTexts, redact_quotations
from store.erasing.tombstones import actor_prefix, insert_withdrawal, withdrawal_of
from store.file.connection import sqlite_errors
from store.runs.lineage import repetitions_of
from store.runs.run_rows import TOMBSTONE, tombstone_row
from store.store import Store
from store.studies.studies import check_not_kit, key_of

WITHDRAWN_ACTOR = Actor("human", "withdrawn")
"""Signer of acts that others build on."""
_COVER_HINT = "--cover TEXT covers words of theirs that others still quote."
_REPLIES = """
SELECT json_extract(body, '$.reply.text'), json_extract(body, '$.reply.draft')
FROM event WHERE trace = ? AND instr(body, ?)
"""


class Erased(NamedTuple):
    """Result of a withdrawal: the stored row, erased runs, linked picture files outside, and total bytes."""

    row: Withdrawal
    runs: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    bytes: int = 0
    quoted: QuotedTexts = QuotedTexts()
    """Quotations of their texts: redacted, or left for a decision."""


class _TrialRollback(Exception):
    """Raised to roll back a trial withdrawal."""


class RedactionChoice(NamedTuple):
    """Texts to redact even if anyone may say them: these, whoever said them, or `all` of the person's."""

    texts: tuple[str, ...] = ()
    all: bool = False


ONLY_CERTAIN = RedactionChoice()
"""Redact only what is certainly the person's."""


def withdraw(store: Store, code: str, by: Actor, covers: RedactionChoice = ONLY_CERTAIN) -> Erased:
    """Erase a person from the file in one transaction, then wipe it.

    A second call only redacts what `covers` names. Raise `LabError` if nothing in the file is theirs or it is a kit,
    and `NotWiped` if they are erased but bytes may remain.
    """
    with store.erasure.erasing() as eraser:
        erasure = _Withdrawing(eraser, code, by, covers).all_of_it()
    store.erasure.wipe(erasure)
    return erasure


def preview_withdrawal(store: Store, code: str, by: Actor, covers: RedactionChoice = ONLY_CERTAIN) -> Erased:
    """Return what `withdraw` would erase: do it, count, and roll back. Use a copy if the file is read-only."""
    if store.database.readonly:
        with sqlite_errors(store.path), scratch_copy(store.database) as copy, triggers_lifted(copy) as eraser:
            blobs = store.database.connection()
            return _Withdrawing(eraser, code, by, covers, blobs).all_of_it()
    erasures: list[Erased] = []
    try:
        with store.erasure.erasing() as eraser:
            erasures.append(_Withdrawing(eraser, code, by, covers).all_of_it())
            raise _TrialRollback
    except _TrialRollback:
        return erasures[0]


def apply_withdrawal(eraser: Eraser, row: Withdrawal) -> Erased:
    """Erase a person who withdrew from another file, and store their withdrawal in this one."""
    erasure = _Withdrawing(eraser, row.code, row.by).taken_out(row.at)
    insert_withdrawal(eraser.db, row)
    return erasure


class _Withdrawing:
    """One withdrawal, within its transaction."""

    def __init__(
        self,
        eraser: Eraser,
        code: str,
        by: Actor,
        covers: RedactionChoice = ONLY_CERTAIN,
        blobs: sqlite3.Connection | None = None,
    ) -> None:
        if not code.strip():  # an empty code would match every unit without an owner
            raise LabError("withdraw", "names nobody: the study code is empty; nothing was done.")
        self.eraser = eraser
        self.db = eraser.db
        self.code = storable(code)  # as rows have it
        self.by = by
        self.covers = covers
        self.blobs = blobs
        self.signed = actor_prefix(self.code)
        self.counts: dict[str, int] = {}
        self._studies: dict[tuple[str, int], Study] = {
            (study.id, study.version): study for _, study in self._read_rows("study", Study)
        }
        condition = "rater = ? AND kind = 'human'"
        self._labels: list[Label] = [label for _, label in self._read_rows("label", Label, condition, storable(code))]
        """Their labels, superseded ones too."""

    def all_of_it(self) -> Erased:
        """Erase everything of theirs. Raise `LabError` if there is nothing."""
        erasure = self.taken_out(now())
        self._check_anything(erasure.row)
        insert_withdrawal(self.db, erasure.row)
        return erasure

    def taken_out(self, at: str) -> Erased:
        """Erase everything of theirs, if there is anything."""
        check_not_kit(self.db)
        runs = self._their_runs()
        # Collect their texts first: the deletes below remove the rows that they are read from.
        quotable_words, words = self._quotable_words(), self._their_words(runs)
        own = own_texts(lambda sql, *values: self.db.execute(sql, values).fetchall(), self.code)
        derived = self._derived_units()
        counts = self.counts
        counts["labels"] = self._delete("label", "rater = ? AND kind = 'human'", self.code)
        counts["reviews"] = self._delete("review", "instr(body, ?)", self.signed)
        counts["clearances"] = self._delete("clearance", "instr(body, ?)", self.signed)
        counts["units"] = counts["labels_of_others"] = 0
        for unit in dict.fromkeys([*self._quoting_units(set(runs), quotable_words), *derived]):
            self._erase_unit(unit)
        counts["assignments"] = self._delete("assignment", "rater = ?", self.code)
        self._redact_settlements(words)
        self._redact_notes(words)
        counts["acts"] = self._erase_acts()
        # A tag may be the code itself.
        self._delete("run_act", "tag = ?", normalize_tag(self.code))
        self._delete("tally", "rater = ?", self.code)
        counts["drafts"] = sum(self._count("draft", "trace = ?", run) for run in runs)
        destroyed = self.eraser.erase_runs(runs)
        counts |= {"runs": len(runs), "pictures": destroyed.blobs}
        counts["designs"] = self._redact_designs(set(runs))
        self._sign_as_withdrawn()
        covers, cover_all = self.covers
        quoted = redact_quotations(self.db, own, covers=covers, cover_all=cover_all, blobs=self.blobs)
        counts["quotations"] += quoted.rows
        by = replace(self.by, name="") if storable(self.by.id) != self.code else WITHDRAWN_ACTOR
        for run in runs:
            self.eraser.insert_tombstone(Tombstone(run, "withdrawn", by, at))
        row = Withdrawal(self.code, at, by, {name: count for name, count in counts.items() if count})
        return Erased(row, tuple(runs), tuple(dict.fromkeys(self.eraser.linked_files)), destroyed.bytes, quoted)

    def _check_anything(self, row: Withdrawal) -> None:
        """Raise `LabError` if nothing was erased and the person is in no plan by which they could still answer."""
        withdrawal_row = self.db.execute("SELECT body FROM withdrawal WHERE code = ?", (self.code,)).fetchone()
        if row.counts:
            return
        if withdrawal_row:
            at = withdrawal_of(withdrawal_row[0]).at[:10]
            raise LabError(f"withdraw {self.code}", f"withdrew on {at}; nothing of theirs is here.", _COVER_HINT)
        if not any(self.code in study.raters for study in self._studies.values()):
            raise LabError(f"withdraw {self.code}", "nothing in this file is theirs; nothing was done.")

    # -- their own data ----------------------------------------------------------------------------------------

    def _their_runs(self) -> list[str]:
        """Return the runs in which they appear, and repetitions of these."""
        sql = "SELECT DISTINCT trace FROM event WHERE instr(body, ?)"
        runs = [run for (run,) in self.db.execute(sql, (self.signed,))]
        copies = repetitions_of(lambda sql, *values: self.db.execute(sql, values).fetchall(), runs)
        self.counts["copies"] = len(copies)
        return sorted([*runs, *copies])

    def _quotable_words(self) -> set[str]:
        """Return their text answers that are long enough to be recognized when a unit quotes them."""
        sql = "SELECT body FROM label WHERE rater = ? AND kind = 'human'"
        values = (msgspec.json.decode(body, type=_QuotedLabel).value for (body,) in self.db.execute(sql, (self.code,)))
        return {value.strip() for value in values if isinstance(value, str) and len(value.strip()) >= LONG}

    def _their_words(self, runs: Iterable[str]) -> ErasedWords:
        """Return their words: notes, text answers (a chosen option is not their own words), and replies in runs."""
        words = {label.note for label in self._labels}
        words |= {str(label.value) for label in self._labels if self._is_text(label) and label.value is not None}
        for run in runs:
            rows = self.db.execute(_REPLIES, (run, self.signed))
            words |= {text for row in rows for text in row if text and len(text) >= LONG}
        return ErasedWords(self.code, words)

    def _is_text(self, label: Label) -> bool:
        """Return True if a label's field is a text field."""
        field = self._studies[label.study, label.version].protocol.field(label.field)
        return field is not None and field.kind == "text"

    def _quoting_units(self, runs: set[str], quotable_words: set[str]) -> list[tuple[str, int, str]]:
        """Return units of these runs, units that are theirs by owner or name, and units that show their answers."""
        units = []
        for study, version, id, body in self.db.execute("SELECT study, version, id, body FROM unit"):
            unit = msgspec.json.decode(body, type=_UnitFields)
            texts = [text.strip() for material in unit.given for text in (material.text, *material.items)]
            is_theirs = self.code in (unit.owner, unit.cluster, *unit.hidden.values())
            if is_theirs or not runs.isdisjoint(unit.runs) or not quotable_words.isdisjoint(texts):
                units.append((study, version, id))
        return units

    def _erase_unit(self, unit: tuple[str, int, str]) -> None:
        self.counts["labels_of_others"] += self.eraser.erase_unit(*unit)
        self.counts["units"] += 1

    def _erase_acts(self) -> int:
        """Delete their acts, sign those about a study with `withdrawn`, and return the number."""
        count = 0
        for n, act in self._read_rows("act", Act, "rater = ?", self.code):
            if act.rater.kind != "human":
                continue
            if act.act in STUDY_ACTS:
                body = encode(replace(act, rater=WITHDRAWN_ACTOR)).decode()
                self.db.execute("UPDATE act SET rater = ?, body = ? WHERE n = ?", (WITHDRAWN_ACTOR.id, body, n))
            else:
                self._delete("act", "n = ?", n)
            count += 1
        self._delete("answer_link", "person = ?", self.code)
        quoted_code = msgspec.json.encode(self.code).decode()
        for table in ("act", "answer_link"):
            for n, act in self._read_rows(table, Act, "instr(body, ?)", quoted_code):
                body = encode(replace(act, detail=_replace_code(act.detail, self.code))).decode()
                self.db.execute(f"UPDATE {table} SET body = ? WHERE n = ?", (body, n))
        return count

    def _derived_units(self) -> list[tuple[str, int, str]]:
        """Return units derived from other units' answers, theirs among them, because these count who gave which."""
        derived_units: list[tuple[str, int, str]] = []
        for study in self._studies.values():
            if study.protocol.targets == "items":
                others = [label for label in self._labels if (label.study, label.version) != (study.id, study.version)]
                answered_units = {storable(label.unit) for label in others if label.value is not None}
                units = self.db.execute("SELECT id FROM unit WHERE study = ? AND version = ?", key_of(study)).fetchall()
                derived_units += [(*key_of(study), id) for (id,) in units if id in answered_units]
        return derived_units

    def _redact_settlements(self, words: ErasedWords) -> None:
        """Remove their moves, words and code from settlements.

        A settlement by majority is deleted if it is not a majority without them.
        """
        self.counts["settlements"] = self.counts["quotations"] = 0
        their_places = {
            (label.study, label.version, label.unit, FieldReference(label.target, label.field))
            for label in self._labels
        }
        for n, act in self._read_rows("act", Act, "act = 'adjudicated'"):
            what: Settlement = convert(act.detail, Settlement, f"act {act.id}")
            study, spot = self._studies[act.study, act.version], FieldReference(what.target, what.field)
            field = study.protocol.field(what.field)
            rest = without_person(what, words, free=field is not None and field.kind == "text")
            is_counted = what.by_means == "majority" and (act.study, act.version, act.unit, spot) in their_places
            if rest is None or (is_counted and not self._is_still_majority(study, act.unit, spot, what)):
                self.counts["settlements"] += self._delete("act", "n = ?", n)
            elif rest != what:
                detail: dict[str, Any] = decode(encode(rest), dict[str, Any], f"act {act.id}")
                self._rewrite("act", n, replace(act, detail=detail))

    def _is_still_majority(self, study: Study, unit: str, spot: FieldReference, what: Settlement) -> bool:
        """Return True if the majority of the remaining raters still agrees with a settlement by majority."""
        key = (*key_of(study), storable(unit))
        labels = [label for _, label in self._read_rows("label", Label, "study = ? AND version = ? AND unit = ?", *key)]
        acts = [act for _, act in self._read_rows("act", Act, "study = ? AND version = ? AND unit = ?", *key)]
        most = majority_of(place_answers(study, spot, labels, set(submitted_sheets(acts))))
        return most is not None and (most.value, most.reason_missing) == (what.value, what.reason_missing)

    def _redact_notes(self, words: ErasedWords) -> None:
        """Redact quotations of their words in others' answers and notes in the same studies."""
        for study in {(label.study, label.version) for label in self._labels}:
            for n, label in self._read_rows("label", Label, "study = ? AND version = ?", storable(study[0]), study[1]):
                value = label.value
                if isinstance(value, str) and self._is_text(label):
                    value = words.remove_from(value)
                rest = replace(label, note=words.remove_from(label.note), value=value)
                if rest != label:
                    self._rewrite("label", n, rest)

    def _rewrite(self, table: str, n: int, row: Any) -> None:
        self.db.execute(f"UPDATE {table} SET body = ? WHERE n = ?", (encode(row).decode(), n))
        self.counts["quotations"] += 1

    # -- acts that others build on -----------------------------------------------------------------------------

    def _redact_designs(self, runs: Collection[str]) -> int:
        """Sign their designs with `withdrawn` and remove their words from all designs. Return the number of theirs."""
        rows = [(n, _decode_revision(body)) for n, body in self.db.execute("SELECT n, body FROM design").fetchall()]
        their_revisions = [revision for _, revision in rows if self._is_person(revision.by)]
        marks = {words for revision in their_revisions for words in revision.marks.values() if words}
        notes = {f"took back: {revision.note}" for revision in their_revisions if revision.note}
        count = 0
        for n, old in rows:
            new = replace(old, marks={key: WITHDRAWN if words in marks else words for key, words in old.marks.items()})
            if self._is_person(old.by):
                new = replace(new, by=WITHDRAWN_ACTOR, note="")
            elif old.note in notes:
                new = replace(new, note="took back")
            new = replace(new, design=_without_evidence(new.design, runs))
            if new != old:
                count += self._is_person(old.by)
                values = (new.by.id, storable(new.note), encode(new).decode(), n)
                self.db.execute("UPDATE design SET by = ?, note = ?, body = ? WHERE n = ?", values)
        return count

    def _sign_as_withdrawn(self) -> None:
        """Sign with `withdrawn` the studies they planned, and their redactions, withdrawals of others and run acts."""
        for n, study in self._read_rows("study", Study, "instr(body, ?)", self.signed):
            self.db.execute(
                "UPDATE study SET body = ? WHERE n = ?", (encode(replace(study, by=WITHDRAWN_ACTOR)).decode(), n)
            )
        for _, stone in self._read_rows("tombstone", Tombstone, "instr(body, ?)", self.signed, key="trace"):
            self._delete("tombstone", "trace = ?", stone.trace)
            self.db.execute(TOMBSTONE, tombstone_row(replace(stone, by=WITHDRAWN_ACTOR)))
        for _, row in self._read_rows("withdrawal", Withdrawal, "instr(body, ?)", self.signed, key="code"):
            self._delete("withdrawal", "code = ?", storable(row.code))
            insert_withdrawal(self.db, replace(row, by=WITHDRAWN_ACTOR))
        for n, act in self._read_rows("run_act", RunAct, "instr(body, ?)", self.signed):
            body = encode(replace(act, by=WITHDRAWN_ACTOR)).decode()
            self.db.execute("UPDATE run_act SET by = ?, body = ? WHERE n = ?", (WITHDRAWN_ACTOR.id, body, n))

    # -- helpers -----------------------------------------------------------------------------------------------

    def _is_person(self, actor: Actor) -> bool:
        return actor.kind == "human" and actor.id == self.code

    def _read_rows(
        self, table: str, kind: type[Any], where: str = "1", *values: object, key: str = "n"
    ) -> Iterable[tuple[Any, Any]]:
        rows = self.db.execute(f"SELECT {key}, body FROM {table} WHERE {where}", values).fetchall()
        return [(n, decode(body, kind, f"a row of {table} in the file", newest=VERSION)) for n, body in rows]

    def _delete(self, table: str, where: str, *values: object) -> int:
        return self.db.execute(f"DELETE FROM {table} WHERE {where}", values).rowcount

    def _count(self, table: str, where: str, *values: object) -> int:
        return int(self.db.execute(f"SELECT count(*) FROM {table} WHERE {where}", values).fetchone()[0])


class _QuotedLabel(msgspec.Struct, frozen=True):
    """The field of a label that units may quote."""

    value: Any = None


class _Material(msgspec.Struct, frozen=True):
    text: str = ""
    items: tuple[str, ...] = ()


class _UnitFields(msgspec.Struct, frozen=True):
    """Fields of a unit that may show that it belongs to a person."""

    runs: tuple[str, ...] = ()
    given: tuple[_Material, ...] = ()
    cluster: str = ""
    owner: str = ""
    hidden: dict[str, str] = {}


def _replace_code(document: Any, code: str) -> Any:
    """Return an act's detail with every occurrence of the code replaced by `withdrawn`."""
    if isinstance(document, dict):
        return {
            WITHDRAWN_ACTOR.id if key == code else key: _replace_code(value, code) for key, value in document.items()
        }
    if isinstance(document, list | tuple):
        return [_replace_code(value, code) for value in document]
    return WITHDRAWN_ACTOR.id if document == code else document


def _decode_revision(body: str) -> Revision:
    return decode(body, Revision, "a design in the file", newest=DESIGN_VERSION)


def _without_evidence(design: Design, runs: Collection[str]) -> Design:
    """Return a design without evidence from these runs."""
    remaining_links = {
        key: tuple(link for link in links if link.partition("@")[0] not in runs)
        for key, links in design.evidence.items()
    }
    evidence = {key: links for key, links in remaining_links.items() if links}
    return design if evidence == design.evidence else replace(design, evidence=evidence)
