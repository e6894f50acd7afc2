"""A participant's right: everything of one person is taken out of a hitlab file for good, and does not come back.

What goes: their labels and acts in every study, their part in what others settled; every run in which they were the
user, worked the phone, let acts through or forked, with its pictures; units that quote any of it, with everybody's
labels on them; their reviews and clearances. What stays, without their code: acts that others build on (a study that
they planned or locked, a draft of a design, a run that they redacted) are signed `withdrawn`, their words on them are
gone. Their code stays in the lists of raters of frozen plans, which never change, and in the row that keeps them out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from lab.adjudication import Adjudicated, without
from lab.design.revision import VERSION as DESIGN_VERSION
from lab.design.revision import Design, Revision
from lab.errors import LabError
from lab.label import Act, ActKind, Label, Withdrawal
from lab.records import Tombstone
from lab.stamp import now
from lab.study import VERSION, Study
from lab.task import Actor
from lab.wire import convert, decode, encode, storable
from store.erasing import Eraser
from store.exporting import REVIEWED
from store.rows import TOMBSTONE, tombstone_row
from store.store import Store
from store.studies import check_no_kit
from store.withdrawn import insert_withdrawal, signature, withdrawal_of

GONE = Actor("human", "withdrawn")
"""Who signs what others build on."""
SAID = "(withdrawn)"
"""What stands where a person's objection stood."""
_OF_STUDY: tuple[ActKind, ...] = ("locked", "dealt")
"""Acts that are about a study, not about who did them: without them it would be open again."""
_QUOTED = 12
"""Characters from which the same text in a unit is a quotation of somebody's answer, and no coincidence."""


class Erased(NamedTuple):
    """What went: the row that stays, the runs, files outside with linked pictures of theirs, and all bytes together."""

    row: Withdrawal
    runs: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    bytes: int = 0


class _OnlyLooked(Exception):
    """Ends a transaction that is to leave everything as it was."""


def withdraw(store: Store, code: str, by: Actor) -> Erased:
    """Takes a person out of the file, all in one transaction, and wipes what stood there.

    Raises `LabError` where nothing in the file is theirs, or it is a kit.
    """
    with store.erasing() as eraser:
        erased = _Withdrawing(eraser, code, by).all_of_it()
    store.wipe()
    return erased


def would_erase(store: Store, code: str, by: Actor) -> Erased:
    """What `withdraw` would take out: it is done, counted, and rolled back."""
    found: list[Erased] = []
    try:
        with store.erasing() as eraser:
            found.append(_Withdrawing(eraser, code, by).all_of_it())
            raise _OnlyLooked
    except _OnlyLooked:
        return found[0]


def obey(eraser: Eraser, row: Withdrawal) -> Erased:
    """Takes a person out who has withdrawn from another file: what is here of them goes, and their row stays here."""
    erased = _Withdrawing(eraser, row.code, row.by).taken_out(row.at)
    insert_withdrawal(eraser.db, row)
    return erased


class _Withdrawing:
    """One withdrawal, within its transaction."""

    def __init__(self, eraser: Eraser, code: str, by: Actor) -> None:
        self.eraser = eraser
        self.db = eraser.db
        self.code = code
        self.by = by
        self.signed = signature(code)
        self.counts: dict[str, int] = {}

    def all_of_it(self) -> Erased:
        """All that is theirs; `LabError` where there is nothing."""
        erased = self.taken_out(now())
        self._check_anything(erased.row)
        insert_withdrawal(self.db, erased.row)
        return erased

    def taken_out(self, at: str) -> Erased:
        """All that is theirs, if there is anything."""
        check_no_kit(self.db)
        runs = self._runs()
        said, words = self._said(), self._words()
        counts = self.counts
        counts["labels"] = self._delete("label", "rater = ? AND kind = 'human'", storable(self.code))
        counts["reviews"] = self._delete("review", "instr(body, ?)", self.signed)
        counts["clearances"] = self._delete("clearance", "instr(body, ?)", self.signed)
        counts["units"] = counts["labels_of_others"] = 0
        for unit in self._units(set(runs), said):
            self._take_unit(unit)
        counts["assignments"] = self._delete("assignment", "rater = ?", storable(self.code))
        self._settlements(words)
        counts["acts"] = self._acts()
        self._delete("tally", "rater = ?", storable(self.code))
        counts["drafts"] = sum(self._count("draft", "trace = ?", run) for run in runs)
        destroyed = self.eraser.erase_runs(runs)
        counts |= {"runs": len(runs), "pictures": destroyed.blobs}
        counts["designs"] = self._designs(set(runs))
        self._sign_anew()
        by = replace(self.by, name="") if self.by.id != self.code else GONE
        for run in runs:
            self.eraser.bury(Tombstone(run, "withdrawn", by, at))
        row = Withdrawal(self.code, at, by, {name: count for name, count in counts.items() if count})
        return Erased(row, tuple(runs), tuple(dict.fromkeys(self.eraser.outside)), destroyed.bytes)

    def _check_anything(self, row: Withdrawal) -> None:
        """Raises `LabError` where there was nothing to take out, nor a plan in which the person still could answer."""
        found = self.db.execute("SELECT body FROM withdrawal WHERE code = ?", (storable(self.code),)).fetchone()
        if row.counts:
            return
        if found:
            at = withdrawal_of(found[0]).at[:10]
            raise LabError(f"withdraw {self.code}", f"withdrew on {at}; nothing of theirs is here.")
        if not any(self.code in study.raters for _, study in self._rows("study", Study)):
            raise LabError(f"withdraw {self.code}", "nothing in this file is theirs; nothing was done.")

    # -- what is theirs ----------------------------------------------------------------------------------------

    def _runs(self) -> list[str]:
        """The runs in which they appear, and what was exported of these as reviewed and brought back."""
        sql = "SELECT DISTINCT trace FROM event WHERE instr(body, ?)"
        found = {run for (run,) in self.db.execute(sql, (self.signed,))}
        copies = self.db.execute(
            "SELECT trace.id, json_extract(event.body, '$.source.path') FROM trace JOIN event "
            "ON event.trace = trace.id AND event.seq = 0 WHERE trace.source = ?",
            (REVIEWED,),
        ).fetchall()
        return sorted(found | {run for run, of in copies if of in found})

    def _said(self) -> set[str]:
        """What they answered in words, as far as another unit may quote it."""
        sql = "SELECT body FROM label WHERE rater = ? AND kind = 'human'"
        found = (msgspec.json.decode(body, type=_Said).value for (body,) in self.db.execute(sql, (self.code,)))
        return {value.strip() for value in found if isinstance(value, str) and len(value.strip()) >= _QUOTED}

    def _words(self) -> set[str]:
        """Their own words on sheets, notes among them: an option is nobody's."""
        studies = {(study.id, study.version): study.protocol for _, study in self._rows("study", Study)}
        found = set()
        for _, label in self._rows("label", Label, "rater = ? AND kind = 'human'", storable(self.code)):
            field = studies[label.study, label.version].field(label.field)
            own = isinstance(label.value, str) and field is not None and field.kind == "text"
            found |= {text.strip() for text in (label.value if own else "", label.note)}
        return {text for text in found if len(text) >= _QUOTED}

    def _units(self, runs: set[str], said: set[str]) -> list[tuple[str, int, str]]:
        """Units of those runs, of theirs alone, named after them, or that lay an answer of theirs before others."""
        found = []
        for study, version, id, body in self.db.execute("SELECT study, version, id, body FROM unit"):
            unit = msgspec.json.decode(body, type=_Quoting)
            texts = [text.strip() for given in unit.given for text in (given.text, *given.items)]
            named = self.code in (unit.owner, unit.cluster, *unit.hidden.values())
            if named or not runs.isdisjoint(unit.runs) or not said.isdisjoint(texts):
                found.append((study, version, id))
        return found

    def _take_unit(self, unit: tuple[str, int, str]) -> None:
        self.counts["labels_of_others"] += self.eraser.erase_unit(*unit)
        self.counts["units"] += 1

    def _acts(self) -> int:
        """Their acts; those that are about a study stay, signed anew."""
        count = 0
        for n, act in self._rows("act", Act, "rater = ?", storable(self.code)):
            if act.rater.kind != "human":
                continue
            if act.act in _OF_STUDY:
                body = encode(replace(act, rater=GONE)).decode()
                self.db.execute("UPDATE act SET rater = ?, body = ? WHERE n = ?", (GONE.id, body, n))
            else:
                self._delete("act", "n = ?", n)
            count += 1
        named = msgspec.json.encode(self.code).decode()
        for n, act in self._rows("act", Act, "instr(body, ?)", named):
            detail = _renamed(act.detail, self.code)
            self.db.execute("UPDATE act SET body = ? WHERE n = ?", (encode(replace(act, detail=detail)).decode(), n))
        return count

    def _settlements(self, words: Collection[str]) -> None:
        """What others settled, without their moves, their words and their code."""
        for n, act in self._rows("act", Act, "act = 'adjudicated'"):
            what: Adjudicated = convert(act.detail, Adjudicated, f"act {act.id}")
            left = without(what, self.code, words, SAID)
            if left is None:
                self._delete("act", "n = ?", n)
            elif left != what:
                detail: dict[str, Any] = decode(encode(left), dict[str, Any], f"act {act.id}")
                self.db.execute(
                    "UPDATE act SET body = ? WHERE n = ?", (encode(replace(act, detail=detail)).decode(), n)
                )

    # -- what others build on ----------------------------------------------------------------------------------

    def _designs(self, runs: Collection[str]) -> int:
        """Signs their drafts anew, and takes their words out of every row that repeats them; gives how many."""
        rows = [(n, _revision(body)) for n, body in self.db.execute("SELECT n, body FROM design").fetchall()]
        theirs = [one for _, one in rows if self._is(one.by)]
        marks = {words for one in theirs for words in one.marks.values() if words}
        notes = {f"took back: {one.note}" for one in theirs if one.note}
        count = 0
        for n, old in rows:
            new = replace(old, marks={key: SAID if words in marks else words for key, words in old.marks.items()})
            if self._is(old.by):
                new = replace(new, by=GONE, note="")
            elif old.note in notes:
                new = replace(new, note="took back")
            new = replace(new, design=_without(new.design, runs))
            if new != old:
                count += self._is(old.by)
                values = (new.by.id, storable(new.note), encode(new).decode(), n)
                self.db.execute("UPDATE design SET by = ?, note = ?, body = ? WHERE n = ?", values)
        return count

    def _sign_anew(self) -> None:
        """Studies that they planned, runs that they redacted, people whom they helped to withdraw."""
        for n, study in self._rows("study", Study, "instr(body, ?)", self.signed):
            self.db.execute("UPDATE study SET body = ? WHERE n = ?", (encode(replace(study, by=GONE)).decode(), n))
        for _, stone in self._rows("tombstone", Tombstone, "instr(body, ?)", self.signed, key="trace"):
            self._delete("tombstone", "trace = ?", stone.trace)
            self.db.execute(TOMBSTONE, tombstone_row(replace(stone, by=GONE)))
        for _, row in self._rows("withdrawal", Withdrawal, "instr(body, ?)", self.signed, key="code"):
            self._delete("withdrawal", "code = ?", storable(row.code))
            insert_withdrawal(self.db, replace(row, by=GONE))

    # -- beneath -----------------------------------------------------------------------------------------------

    def _is(self, actor: Actor) -> bool:
        return actor.kind == "human" and actor.id == self.code

    def _rows(
        self, table: str, kind: type[Any], where: str = "1", *values: object, key: str = "n"
    ) -> Iterable[tuple[Any, Any]]:
        found = self.db.execute(f"SELECT {key}, body FROM {table} WHERE {where}", values).fetchall()
        return [(n, decode(body, kind, f"a row of {table} in the file", newest=VERSION)) for n, body in found]

    def _delete(self, table: str, where: str, *values: object) -> int:
        return self.db.execute(f"DELETE FROM {table} WHERE {where}", values).rowcount

    def _count(self, table: str, where: str, *values: object) -> int:
        return int(self.db.execute(f"SELECT count(*) FROM {table} WHERE {where}", values).fetchone()[0])


class _Said(msgspec.Struct, frozen=True):
    """A label, as far as it may be quoted."""

    value: Any = None


class _Laid(msgspec.Struct, frozen=True):
    text: str = ""
    items: tuple[str, ...] = ()


class _Quoting(msgspec.Struct, frozen=True):
    """A unit, as far as it may be somebody's."""

    runs: tuple[str, ...] = ()
    given: tuple[_Laid, ...] = ()
    cluster: str = ""
    owner: str = ""
    hidden: dict[str, str] = {}


def _renamed(told: Any, code: str) -> Any:
    """What an act tells, wherever in it a code stands, with `withdrawn` in its place."""
    if isinstance(told, dict):
        return {GONE.id if key == code else key: _renamed(value, code) for key, value in told.items()}
    if isinstance(told, list | tuple):
        return [_renamed(value, code) for value in told]
    return GONE.id if told == code else told


def _revision(body: str) -> Revision:
    return decode(body, Revision, "a design in the file", newest=DESIGN_VERSION)


def _without(design: Design, runs: Collection[str]) -> Design:
    """A design whose evidence leads to none of these runs."""
    left = {
        key: tuple(link for link in links if link.partition("@")[0] not in runs)
        for key, links in design.evidence.items()
    }
    kept = {key: links for key, links in left.items() if links}
    return design if kept == design.evidence else replace(design, evidence=kept)
