"""Where a person's own words stand in a hitlab file outside their own rows, and covering them there.

Every text of every table is looked through, as the file's schema lists them. What is surely theirs is covered. A text
that anybody may say, that they only repeated, or that stood in the file before they said it, is left to a person.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import decode
from lab.core.design import VERSION as DESIGN_VERSION
from lab.core.design import Revision
from lab.core.errors import LabError
from lab.core.label import Act, Label
from lab.core.proofreading import VERSION as REVIEW_VERSION
from lab.core.proofreading import Review
from lab.core.quotations import OwnText, QuotationRedaction, Quotations, QuotedText, is_telling, tidy
from lab.core.run_records import Blob, RunAct, Verdict
from lab.core.shadow_answer import ShadowAnswer
from lab.core.study import VERSION, Unit
from lab.core.text_redaction import WITHDRAWN
from lab.core.trace import AnyEvent
from store.own_texts import strings_in
from store.text_columns import TextTable, text_tables

Read = Callable[..., Any]

_ROWS: dict[str, tuple[Any, int]] = {
    "event": (AnyEvent, VERSION), "label": (Label, VERSION), "act": (Act, VERSION), "unit": (Unit, VERSION),
    "answer_link": (Act, VERSION), "design": (Revision, DESIGN_VERSION), "review": (Review, REVIEW_VERSION),
    "shadow": (ShadowAnswer, 1), "verdict": (Verdict, 1), "run_act": (RunAct, 1),
}  # fmt: skip
"""What a row's `body` must be still once it is covered."""
_ANOTHER = {"kind": "human", "id": ""}
"""Who signs what stands in a draft of an answer."""
_FROZEN = "study"
"""Plans never change: their hash names them in kits and copies."""
_REFERENCES = ("id", "study", "unit", "trace", "condition")
"""Columns and fields by which rows name one another: a row of somebody else's keeps them, or it is lost."""
_PLACES = 100
"""Places of a text that are told; the others are counted."""


class _Hit(NamedTuple):
    """A row that quotes: what, which whole texts another person said there themselves, and replies after questions.

    `at` is when the task of an item was frozen that quotes, empty for all else.
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
    """What was found: texts of theirs elsewhere, and where they stay, a sentence each; `rows` were covered."""

    texts: tuple[QuotedText, ...] = ()
    left: tuple[str, ...] = ()
    rows: int = 0


class _Texts:
    """What is known of a person's texts, by how they are compared."""

    def __init__(self, own: Iterable[OwnText], covers: Collection[str]) -> None:
        self.by_tidy: dict[str, list[OwnText]] = {}
        for one in own:
            self.by_tidy.setdefault(tidy(one.text), []).append(one)
        self.confirmed = self.by_tidy.keys() & set(map(tidy, covers))
        """What of their texts somebody says is covered; another person's own word stays where it is the very same."""
        self.named = set(map(tidy, covers)) - self.by_tidy.keys()
        """Other texts to be covered, whoever said them."""
        self.by_tidy |= {tidy(text): [OwnText(text)] for text in covers if tidy(text) in self.named}
        self.quotations = Quotations(self.by_tidy)
        self.answers = {(tidy(one.question), text) for text, all in self.by_tidy.items() for one in all if one.question}

    def first_at(self, text: str) -> str:
        """When it was said first; empty where that is unknown."""
        times = [one.at for one in self.by_tidy[text]]
        return min(times) if all(times) else ""

    def had_before(self, text: str) -> frozenset[str]:
        """The runs that were before them as they wrote it."""
        return frozenset[str]().union(*(one.runs for one in self.by_tidy[text]))

    def repeats(self, text: str, says: str) -> bool:
        """Whether a text, or a part of it, only repeats what they had been shown, each time they said it."""
        return all(says in one.repeats for one in self.by_tidy[text])


def cover_quoted(
    db: sqlite3.Connection,
    own: Iterable[OwnText],
    *,
    covers: Collection[str] = (),
    cover_all: bool = False,
    blobs: sqlite3.Connection | None = None,
) -> QuotedTexts:
    """Covers a person's texts wherever they stand in a file, within the caller's transaction.

    `covers` are texts that are covered although they may be anybody's; `cover_all`: all of theirs are. `blobs` is the
    file that holds the bytes of phones' states, where that is another one than `db`.
    """
    texts = _Texts(own, covers)
    if not texts.by_tidy:
        return QuotedTexts()
    return _Covering(db, texts, cover_all=cover_all, blobs=blobs or db).all_of_it()


class _Covering:
    """One search through a file, within its transaction."""

    def __init__(self, db: sqlite3.Connection, texts: _Texts, *, cover_all: bool, blobs: sqlite3.Connection) -> None:
        self.db, self.blobs = db, blobs
        self.texts = texts
        self.cover_all = cover_all
        self.left: dict[str, None] = {}
        self.runs: dict[str, tuple[str, str, str]] = {}
        self.put_in = self._put_in()

    def all_of_it(self) -> QuotedTexts:
        hits = [hit for table in text_tables(self._read) for hit in self._hits_in(table)]
        sure, unsure = self._decided(hits)
        confirmed = unsure if self.cover_all else unsure & self.texts.confirmed
        spares = {text for text in confirmed if not is_telling(text)}
        covers = sure | self.texts.named | (confirmed - spares)
        rows = sum([self._covered(hit, covers, spares) for hit in hits])
        return QuotedTexts(tuple(self._found(hits, covers, spares)), tuple(self.left), rows)

    def _read(self, sql: str, *values: object) -> Any:
        return self.db.execute(sql, values)

    # -- where they stand ----------------------------------------------------------------------------------------

    def _put_in(self) -> set[str]:
        """Forks in which a reply was put in the place of what their person said."""
        sql = "SELECT trace FROM event WHERE seq = 0 AND instr(body, '\"changes\":[') AND instr(body, '[\"reply\",')"
        return {run for (run,) in self.db.execute(sql)}

    def _hits_in(self, table: TextTable) -> Iterator[_Hit]:
        if not table.columns:
            return
        if table.name == "blob":
            there = {sha256 for (sha256,) in self.db.execute("SELECT sha256 FROM blob")}
            all_rows = self.blobs.execute("SELECT sha256, bytes FROM blob WHERE mime NOT LIKE 'image/%'")
            rows: Iterable[Any] = (row for row in all_rows if row[0] in there)
        else:
            key = "rowid" if table.has_rowid else "0"
            rows = self.db.execute(f"SELECT {key}, {', '.join(table.columns)} FROM {table.name}")
        for row, *values in rows:
            values = [_text(value) for value in values]
            if any(map(self.texts.quotations.stand_in, values)):
                hit = self._hit(table, row, values)
                if hit is not None:
                    yield hit

    def _hit(self, table: TextTable, row: Any, values: list[str]) -> _Hit | None:
        redaction = self._redaction((), ())
        columns = dict(zip(table.columns, values, strict=False))
        document = _json_in(columns.get("body", "")) or {}
        run = str(columns.get("trace") or columns.get("id") or "") if table.name in _OF_RUNS else ""
        redaction.put_in = run in self.put_in
        for value in dict.fromkeys(values):
            read = _json_in(value) or value
            redaction.cover({"by": _ANOTHER, "text": read} if table.name == "draft" else read)
        if not redaction.found and not redaction.repeated:
            return None
        if table.name == _FROZEN:
            redaction.own += map(tidy, strings_in(document))
        at = self._planned_at(document, columns) if table.name == "unit" else ""
        return _Hit(
            table, row, frozenset((one.text, one.says) for one in redaction.found), frozenset(redaction.own),
            redaction.repeated, self._place(table.name, document, columns, run), at, run, redaction.put_in,
        )  # fmt: skip

    def _redaction(self, covers: Iterable[str], spares: Iterable[str]) -> QuotationRedaction:
        return QuotationRedaction(self.texts.quotations, covers, spares, self.texts.answers)

    def _run(self, run: str) -> tuple[str, str, str]:
        """A run's user, agent and format."""
        if run not in self.runs:
            row = self.db.execute("SELECT user, agent, source FROM trace WHERE id = ?", (run,)).fetchone()
            self.runs[run] = tuple(value or "" for value in row or ("", "", ""))  # type: ignore[assignment]
        return self.runs[run]

    def _planned_at(self, unit: dict[str, Any], columns: dict[str, str]) -> str:
        """When the task of an item that quotes was frozen; empty where another part of the item quotes."""
        redaction = self._redaction((), ())
        redaction.cover([unit.get("task"), unit.get("play")])
        sql = "SELECT max(at) FROM study WHERE id = ?"
        return str(self.db.execute(sql, (columns["study"],)).fetchone()[0] or "") if redaction.found else ""

    def _place(self, table: str, document: dict[str, Any], columns: dict[str, str], run: str) -> str:
        """Where a row stands, in words."""
        who = document.get("rater") or document.get("by") or {}
        name = str(who.get("id", "")) if isinstance(who, dict) else ""
        study = f"study {document.get('study') or columns.get('study') or ''}"
        user, agent, _ = self._run(run) if run else ("", "", "")
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
        whose = f"{name}'s {table}" if name else f"a {table}"
        return f"{whose} of {of_run}" if run else f"table {table}"

    # -- what is surely theirs -------------------------------------------------------------------------------------

    def _decided(self, hits: Iterable[_Hit]) -> tuple[set[str], set[str]]:
        """What is covered by itself, and what is left to a person: whole texts, and parts of them."""
        sure: dict[str, bool] = {}
        for hit in hits:
            for text, says in hit.says:
                sure.setdefault(says, is_telling(says) and not self.texts.repeats(text, says))
                sure[says] = sure[says] and not self._was_there(hit, text) and says not in hit.own
        return {says for says, is_sure in sure.items() if is_sure}, {
            says for says, is_sure in sure.items() if not is_sure and says in self.texts.by_tidy
        }

    def _was_there(self, hit: _Hit, text: str) -> bool:
        """Whether they had it before them when they said it."""
        said_at = self.texts.first_at(text)
        return bool(hit.at and said_at and hit.at < said_at) or hit.run in self.texts.had_before(text)

    def _found(self, hits: Iterable[_Hit], covers: Collection[str], spares: Collection[str]) -> Iterator[QuotedText]:
        """Texts of theirs that stand elsewhere, with the places of each: those that are covered first."""
        places: dict[tuple[bool, str], list[str]] = {}
        for hit in hits:
            found: set[tuple[bool, str]] = set()
            for text, says in hit.says:
                is_covered = says in covers or says in spares
                is_own = says in hit.own and says not in covers and not is_telling(says)
                if hit.table.name == _FROZEN or is_own or (not is_covered and says != text):
                    continue  # what another said themselves, and a part of a text that says little
                found.add((is_covered, text))
            for key in found - {(False, text) for covered, text in found if covered}:
                places.setdefault(key, []).append(hit.place)
            if hit.repeated and not found:
                places.setdefault((True, ""), []).append(hit.place)
        for (covered, text), where in sorted(places.items(), key=lambda one: (not one[0][0], -len(one[1]), one[0][1])):
            told = tuple(dict.fromkeys(where))
            says = self.texts.by_tidy[text][0].text if text else "(short replies, each after its question)"
            yield QuotedText(says, len(where), told[:_PLACES], covered)

    # -- covering --------------------------------------------------------------------------------------------------

    def _covered(self, hit: _Hit, covers: Collection[str], spares: Collection[str]) -> bool:
        """Covers one row; whether anything in it was covered."""
        if not hit.repeated and not any(says in covers or says in spares for _, says in hit.says):
            return False
        if hit.table.name == _FROZEN:
            self.left[f"it stands in {hit.place}"] = None
            return False
        if hit.table.name == "blob":
            return self._covered_state(hit, covers, spares)
        if not hit.table.has_rowid:
            return False
        row = self.db.execute(
            f"SELECT {', '.join(hit.table.columns)} FROM {hit.table.name} WHERE rowid = ?", (hit.row,)
        ).fetchone()
        changes = {}
        for column, value in zip(hit.table.columns, row, strict=True):
            new = self._without(hit, value, covers, spares)
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

    def _without(self, hit: _Hit, value: Any, covers: Collection[str], spares: Collection[str]) -> Any:
        """A column's value without what is to be covered, as it can be stored."""
        text = _text(value)
        redaction = self._redaction(covers, spares)
        redaction.put_in = hit.put_in
        document = _json_in(text)
        new = redaction.cover(document if document is not None else text)
        if isinstance(document, dict):
            new |= {name: document[name] for name in _REFERENCES if name in document}
        if new == (document if document is not None else text):
            return value
        if document is not None:
            if hit.table.name == "act" and document.get("act") == "judged":  # it answers the old question no more
                new = {**new, "detail": {**new["detail"], "question": WITHDRAWN}}
            new = msgspec.json.encode(new).decode()
        return new.encode() if isinstance(value, bytes) else new

    def _is_readable(self, table: str, body: str | None) -> bool:
        """Whether a row that is covered is still one."""
        if body is None or table not in _ROWS:
            return True
        kind, newest = _ROWS[table]
        try:
            decode(body, kind, f"a row of {table}", newest=newest)
        except LabError:
            return False
        return True

    def _covered_state(self, hit: _Hit, covers: Collection[str], spares: Collection[str]) -> bool:
        """Puts a covered state in a state's place, under its own hash, wherever runs name it."""
        (data, mime) = self.blobs.execute("SELECT bytes, mime FROM blob WHERE sha256 = ?", (hit.row,)).fetchone()
        new = Blob(self._without(hit, data, covers, spares), mime)
        if new.data == data:
            return False
        old = hit.row
        self.db.execute("INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)", (new.sha256, mime, len(new.data), new.data))
        runs = "trace IN (SELECT trace FROM use WHERE sha256 = ?) AND instr(body, ?)"
        self.db.execute(f"UPDATE event SET body = replace(body, ?, ?) WHERE {runs}", (old, new.sha256, old, old))
        self.db.execute("INSERT OR IGNORE INTO use SELECT trace, ? FROM use WHERE sha256 = ?", (new.sha256, old))
        self.db.execute("DELETE FROM use WHERE sha256 = ?", (old,))
        self.db.execute("DELETE FROM blob WHERE sha256 = ?", (old,))
        return True


_OF_RUNS = frozenset({"event", "trace", "shadow", "draft", "verdict", "review", "clearance", "run_act", "use"})


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def _json_in(text: str) -> Any:
    """The mapping or list of a row's JSON; None where it is plain text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
