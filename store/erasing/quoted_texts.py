"""Quotations of a person's texts outside their own rows, and their redaction.

All texts of all tables in the schema are searched. Texts that are certainly theirs are redacted. A person decides on
texts that anyone may say, that they only repeated, or that were in the file before they said them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import decode
from lab.core.errors import LabError
from lab.core.redaction.quotations import OwnText, QuotationRedaction, Quotations, QuotedText, is_telling, normalize
from lab.core.redaction.text_redaction import WITHDRAWN
from lab.core.run.run_records import Blob, RunAct, Verdict
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.trace import AnyEvent
from lab.core.study.label import Act, Label
from lab.core.study.proofreading import VERSION as REVIEW_VERSION
from lab.core.study.proofreading import Review
from lab.core.study.study import VERSION, Unit
from lab.core.task.design import VERSION as DESIGN_VERSION
from lab.core.task.design import Revision
from store.erasing.own_texts import decode_json, strings_in
from store.file.text_columns import TextTable, text_tables

Read = Callable[..., Any]

_ROW_TYPES: dict[str, tuple[Any, int]] = {
    "event": (AnyEvent, VERSION), "label": (Label, VERSION), "act": (Act, VERSION), "unit": (Unit, VERSION),
    "answer_link": (Act, VERSION), "design": (Revision, DESIGN_VERSION), "review": (Review, REVIEW_VERSION),
    "shadow": (ShadowAnswer, 1), "verdict": (Verdict, 1), "run_act": (RunAct, 1),
}  # fmt: skip
"""Type and version that a redacted `body` must still decode to."""
_ANOTHER = {"kind": "human", "id": ""}
"""Signer assigned to a draft of an answer, which has none of its own."""
_FROZEN = "study"
"""Table of frozen plans, which are never redacted: kits and copies identify a plan by its hash."""
_REFERENCES = ("id", "study", "unit", "trace", "condition")
"""Columns and fields by which rows refer to one another. Redacting one would detach other people's rows."""
_MAX_PLACES = 100
"""Maximum number of places listed for a text. The rest is only counted."""


class _QuotingRow(NamedTuple):
    """A row that quotes: quoted texts, texts that another person said there themselves, number of short replies.

    `says` pairs whole texts with the quoted part. `repeated` counts replies that are recognized by their question. `at`
    is the time when the quoting task of a unit was frozen, empty otherwise.
    """

    table: TextTable
    row: Any
    says: frozenset[tuple[str, str]]
    own: frozenset[str]
    repeated: int
    place: str
    at: str
    run: str
    put_in: bool


class QuotedTexts(NamedTuple):
    """Result of a search: the person's texts found elsewhere, a sentence for each place left, rows redacted."""

    texts: tuple[QuotedText, ...] = ()
    remaining: tuple[str, ...] = ()
    rows: int = 0


class _PersonTexts:
    """A person's texts, keyed by their normalized form."""

    def __init__(self, own: Iterable[OwnText], covers: Collection[str]) -> None:
        self.by_tidy: dict[str, list[OwnText]] = {}
        for one in own:
            self.by_tidy.setdefault(normalize(one.text), []).append(one)
        self.confirmed = self.by_tidy.keys() & set(map(normalize, covers))
        """Texts of the person that a user decided to redact. Another person's own identical text stays."""
        self.named = set(map(normalize, covers)) - self.by_tidy.keys()
        """Other texts to redact, whoever said them."""
        self.by_tidy |= {normalize(text): [OwnText(text)] for text in covers if normalize(text) in self.named}
        self.quotations = Quotations(self.by_tidy)
        self.answers = {
            (normalize(one.question), text) for text, all in self.by_tidy.items() for one in all if one.question
        }

    def first_at(self, text: str) -> str:
        """Return the time when a text was first said, empty if unknown."""
        times = [one.at for one in self.by_tidy[text]]
        return min(times) if all(times) else ""

    def had_before(self, text: str) -> frozenset[str]:
        """Return the runs that the person was shown while writing a text."""
        return frozenset[str]().union(*(one.runs for one in self.by_tidy[text]))

    def repeats(self, text: str, says: str) -> bool:
        """Return True if the person was shown `says` before each time they said the text."""
        return all(says in one.repeats for one in self.by_tidy[text])


def redact_quotations(
    db: sqlite3.Connection,
    own: Iterable[OwnText],
    *,
    covers: Collection[str] = (),
    cover_all: bool = False,
    blobs: sqlite3.Connection | None = None,
) -> QuotedTexts:
    """Redact a person's texts everywhere in a file, within the caller's transaction.

    `covers` are texts to redact even if anyone may say them. `cover_all` redacts all texts of theirs. `blobs` is the
    database with the bytes of phone states, if it is not `db`.
    """
    texts = _PersonTexts(own, covers)
    if not texts.by_tidy:
        return QuotedTexts()
    return _QuotationSearch(db, texts, cover_all=cover_all, blobs=blobs or db).all_of_it()


class _QuotationSearch:
    """One search and redaction of a file, within its transaction."""

    def __init__(
        self, db: sqlite3.Connection, texts: _PersonTexts, *, cover_all: bool, blobs: sqlite3.Connection
    ) -> None:
        self.db, self.blobs = db, blobs
        self.texts = texts
        self.cover_all = cover_all
        self.left: dict[str, None] = {}
        self.runs: dict[str, tuple[str, str, str]] = {}
        self.put_in = self._forks_with_swapped_replies()

    def all_of_it(self) -> QuotedTexts:
        hits = [hit for table in text_tables(self._read) for hit in self._quoting_rows(table)]
        sure, unsure = self._classify(hits)
        confirmed = unsure if self.cover_all else unsure & self.texts.confirmed
        spares = {text for text in confirmed if not is_telling(text)}
        covers = sure | self.texts.named | (confirmed - spares)
        # A list, not a generator with `any`: every hit must be redacted.
        rows = sum([self._redact_row(hit, covers, spares) for hit in hits])
        return QuotedTexts(tuple(self._list_texts(hits, covers, spares)), tuple(self.left), rows)

    def _read(self, sql: str, *values: object) -> Any:
        return self.db.execute(sql, values)

    # -- searching -----------------------------------------------------------------------------------------------

    def _forks_with_swapped_replies(self) -> set[str]:
        """Return forks in which a reply replaced the one that the person gave."""
        sql = "SELECT trace FROM event WHERE seq = 0 AND instr(body, '\"changes\":[') AND instr(body, '[\"reply\",')"
        return {run for (run,) in self.db.execute(sql)}

    def _quoting_rows(self, table: TextTable) -> Iterator[_QuotingRow]:
        if not table.columns:
            return
        if table.name == "blob":
            present = {sha256 for (sha256,) in self.db.execute("SELECT sha256 FROM blob")}
            all_rows = self.blobs.execute("SELECT sha256, bytes FROM blob WHERE mime NOT LIKE 'image/%'")
            rows: Iterable[Any] = (row for row in all_rows if row[0] in present)
        else:
            key = "rowid" if table.has_rowid else "0"
            rows = self.db.execute(f"SELECT {key}, {', '.join(table.columns)} FROM {table.name}")
        for row, *values in rows:
            values = [_as_text(value) for value in values]
            if any(map(self.texts.quotations.occur_in, values)):
                hit = self._quoting_row(table, row, values)
                if hit is not None:
                    yield hit

    def _quoting_row(self, table: TextTable, row: Any, values: list[str]) -> _QuotingRow | None:
        redaction = self._new_redaction((), ())
        columns = dict(zip(table.columns, values, strict=False))
        document = decode_json(columns.get("body", "")) or {}
        run = str(columns.get("trace") or columns.get("id") or "") if table.name in _RUN_TABLES else ""
        redaction.is_filled_in = run in self.put_in
        for value in dict.fromkeys(values):
            read = decode_json(value) or value
            redaction.cover({"by": _ANOTHER, "text": read} if table.name == "draft" else read)
        if not redaction.found and not redaction.repeated:
            return None
        if table.name == _FROZEN:
            redaction.own += map(normalize, strings_in(document))
        at = self._task_frozen_at(document, columns) if table.name == "unit" else ""
        return _QuotingRow(
            table, row, frozenset((one.text, one.quoted_words) for one in redaction.found), frozenset(redaction.own),
            redaction.repeated, self._describe_place(table.name, document, columns, run), at, run,
            redaction.is_filled_in,
        )  # fmt: skip

    def _new_redaction(self, covers: Iterable[str], spares: Iterable[str]) -> QuotationRedaction:
        return QuotationRedaction(self.texts.quotations, covers, spares, self.texts.answers)

    def _run_actors(self, run: str) -> tuple[str, str, str]:
        """Return a run's user, agent and format."""
        if run not in self.runs:
            row = self.db.execute("SELECT user, agent, source FROM trace WHERE id = ?", (run,)).fetchone()
            self.runs[run] = tuple(value or "" for value in row or ("", "", ""))  # type: ignore[assignment]
        return self.runs[run]

    def _task_frozen_at(self, unit: dict[str, Any], columns: dict[str, str]) -> str:
        """Return when the unit's quoting task was frozen, empty if another part of the unit quotes."""
        redaction = self._new_redaction((), ())
        redaction.cover([unit.get("task"), unit.get("play")])
        sql = "SELECT max(at) FROM study WHERE id = ?"
        return str(self.db.execute(sql, (columns["study"],)).fetchone()[0] or "") if redaction.found else ""

    def _describe_place(self, table: str, document: dict[str, Any], columns: dict[str, str], run: str) -> str:
        """Describe a row's place for users."""
        who = document.get("rater") or document.get("by") or {}
        name = str(who.get("id", "")) if isinstance(who, dict) else ""
        study = f"study {document.get('study') or columns.get('study') or ''}"
        user, agent, _ = self._run_actors(run) if run else ("", "", "")
        of_run = f"run {run}" + (f", {user}'s" if user else "")
        match table:
            case "event" | "trace" | "use":
                return f"{user}'s conversation, {of_run}" if agent.startswith("endpoint") else of_run
            case "label":
                judge = who.get("kind") != "human"
                return f"{f'judge {name}' if judge else name}'s label on {document.get('unit')} in {study}"
            case "act" if document.get("act") == "judged":
                return f"judge {name}'s paid answer in {study}"
            case "act" if document.get("act") == "adjudicated":
                return f"what {name} settled in {study}"
            case "act":
                return f"what {name} did in {study} ({document.get('act')})"
            case "shadow":
                return f"shadow {name}'s answer in {of_run}"
            case "draft":
                return f"a draft of an answer in {of_run}"
            case "design":
                return f"the design of task {columns.get('task')}, by {name}"
            case "unit":
                return f"item {document.get('id')} of {study}"
            case "study":
                return f"the frozen plan of study {columns.get('id')}, which never changes"
            case "blob":
                return "a phone's state"
        owner = f"{name}'s {table}" if name else f"a {table}"
        return f"{owner} of {of_run}" if run else f"table {table}"

    # -- classifying -----------------------------------------------------------------------------------------------

    def _classify(self, hits: Iterable[_QuotingRow]) -> tuple[set[str], set[str]]:
        """Return the texts (whole or parts) to redact automatically, and those that a person must decide on."""
        sure: dict[str, bool] = {}
        for hit in hits:
            for text, says in hit.says:
                sure.setdefault(says, is_telling(says) and not self.texts.repeats(text, says))
                sure[says] = sure[says] and not self._was_seen_before(hit, text) and says not in hit.own
        return {says for says, is_sure in sure.items() if is_sure}, {
            says for says, is_sure in sure.items() if not is_sure and says in self.texts.by_tidy
        }

    def _was_seen_before(self, hit: _QuotingRow, text: str) -> bool:
        """Return True if the person had seen the quoting row when they said the text."""
        said_at = self.texts.first_at(text)
        return bool(hit.at and said_at and hit.at < said_at) or hit.run in self.texts.had_before(text)

    def _list_texts(
        self, hits: Iterable[_QuotingRow], covers: Collection[str], spares: Collection[str]
    ) -> Iterator[QuotedText]:
        """Yield the person's texts found elsewhere with their places, redacted ones first."""
        places: dict[tuple[bool, str], list[str]] = {}
        for hit in hits:
            found: set[tuple[bool, str]] = set()
            for text, says in hit.says:
                is_covered = says in covers or says in spares
                is_own = says in hit.own and says not in covers and not is_telling(says)
                if hit.table.name == _FROZEN or is_own or (not is_covered and says != text):
                    continue  # another person's own text, or an uncertain part of a text
                found.add((is_covered, text))
            for key in found - {(False, text) for covered, text in found if covered}:
                places.setdefault(key, []).append(hit.place)
            if hit.repeated and not found:
                places.setdefault((True, ""), []).append(hit.place)
        for (covered, text), where in sorted(places.items(), key=lambda one: (not one[0][0], -len(one[1]), one[0][1])):
            unique_places = tuple(dict.fromkeys(where))
            says = self.texts.by_tidy[text][0].text if text else "(short replies, each after its question)"
            yield QuotedText(says, len(where), unique_places[:_MAX_PLACES], covered)

    # -- redacting -------------------------------------------------------------------------------------------------

    def _redact_row(self, hit: _QuotingRow, covers: Collection[str], spares: Collection[str]) -> bool:
        """Redact one row. Return True if anything changed."""
        if not hit.repeated and not any(says in covers or says in spares for _, says in hit.says):
            return False
        if hit.table.name == _FROZEN:
            self.left[f"it stands in {hit.place}"] = None
            return False
        if hit.table.name == "blob":
            return self._redact_state(hit, covers, spares)
        if not hit.table.has_rowid:
            return False
        row = self.db.execute(
            f"SELECT {', '.join(hit.table.columns)} FROM {hit.table.name} WHERE rowid = ?", (hit.row,)
        ).fetchone()
        changes = {}
        for column, value in zip(hit.table.columns, row, strict=True):
            new = self._redacted_value(hit, value, covers, spares)
            if new != value and (column in hit.table.keys or column in _REFERENCES):
                self.left[f"it stands in a name: {hit.place}"] = None
            elif new != value:
                changes[column] = new
        if changes and self._is_readable(hit.table.name, changes.get("body")):
            assignments = ", ".join(f"{column} = ?" for column in changes)
            values = (*changes.values(), hit.row)
            self.db.execute(f"UPDATE {hit.table.name} SET {assignments} WHERE rowid = ?", values)
            return True
        if changes:
            self.left[f"it stands in {hit.place}, which could not be read without it"] = None
        return False

    def _redacted_value(self, hit: _QuotingRow, value: Any, covers: Collection[str], spares: Collection[str]) -> Any:
        """Return a column's value without the texts to redact, in the form in which it is stored."""
        text = _as_text(value)
        redaction = self._new_redaction(covers, spares)
        redaction.is_filled_in = hit.put_in
        document = decode_json(text)
        new = redaction.cover(document if document is not None else text)
        if isinstance(document, dict):
            new |= {name: document[name] for name in _REFERENCES if name in document}
        if new == (document if document is not None else text):
            return value
        if document is not None:
            if hit.table.name == "act" and document.get("act") == "judged":  # the reply no longer fits it
                new = {**new, "detail": {**new["detail"], "question": WITHDRAWN}}
            new = msgspec.json.encode(new).decode()
        return new.encode() if isinstance(value, bytes) else new

    def _is_readable(self, table: str, body: str | None) -> bool:
        """Return True if a redacted row still decodes."""
        if body is None or table not in _ROW_TYPES:
            return True
        kind, newest = _ROW_TYPES[table]
        try:
            decode(body, kind, f"a row of {table}", newest=newest)
        except LabError:
            return False
        return True

    def _redact_state(self, hit: _QuotingRow, covers: Collection[str], spares: Collection[str]) -> bool:
        """Replace a phone state by a redacted one with its own hash, wherever runs refer to it."""
        (data, mime) = self.blobs.execute("SELECT bytes, mime FROM blob WHERE sha256 = ?", (hit.row,)).fetchone()
        new = Blob(self._redacted_value(hit, data, covers, spares), mime)
        if new.data == data:
            return False
        old = hit.row
        self.db.execute("INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)", (new.sha256, mime, len(new.data), new.data))
        runs = "trace IN (SELECT trace FROM use WHERE sha256 = ?) AND instr(body, ?)"
        # A sha256 does not occur by coincidence, so a replacement in the text is safe.
        self.db.execute(f"UPDATE event SET body = replace(body, ?, ?) WHERE {runs}", (old, new.sha256, old, old))
        self.db.execute("INSERT OR IGNORE INTO use SELECT trace, ? FROM use WHERE sha256 = ?", (new.sha256, old))
        self.db.execute("DELETE FROM use WHERE sha256 = ?", (old,))
        self.db.execute("DELETE FROM blob WHERE sha256 = ?", (old,))
        return True


_RUN_TABLES = frozenset({"event", "trace", "shadow", "draft", "verdict", "review", "clearance", "run_act", "use"})


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""
