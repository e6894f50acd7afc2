"""What a person said in a hitlab file, in their own words: what they replied, typed, wrote, and told of themselves.

Every row that they signed is looked through, whichever table it is in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from lab.core.codec import storable
from lab.core.quotations import OwnText, Quotations, tidy
from lab.core.text_redaction import FIXED
from store.text_columns import TextTable, text_tables
from store.tombstones import signature

Read = Callable[..., Iterable[Any]]

_NAMES = FIXED | {
    "id", "study", "version", "unit", "target", "field", "source", "guide_sha", "protocol_sha", "config_sha",
    "evidence", "question_id", "question", "supersedes", "undoes", "carries", "also", "reason_missing", "shown_at",
    "first_key_at", "sent_at", "by_means", "reason_id", "batch", "app", "activity", "usage", "item", "place", "step",
    "cites", "stage", "model", "v", "condition",
}  # fmt: skip
"""Fields that hold names, hashes and times."""
_OF_OTHERS = frozenset({"prompt", "before", "design", "tree", "task", "persona", "protocol", "observation"})
"""Parts of what somebody signs that are not their words: what they were shown, and what others build on."""
_CHOSEN_ACTS = frozenset({"consent", "played", "interrupted", "quiz", "opened"})
"""Acts whose details the program writes: what was agreed to, shown or played, and which fact was chosen."""
_HIDDEN = "hidden"
"""Who signs in a kit what a person said."""
_HASH = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|\d{4}-\d\d-\d\dT[\d:.+Z-]+")
_NOT_THEIRS = frozenset({"event", "study", "unit", "assignment", "trace", "tombstone", "withdrawal", "kit", "run_act"})
"""Tables of which a row that they signed is no text of theirs; of events each is looked through by itself."""


def own_texts(read: Read, code: str) -> list[OwnText]:
    """Every text of a person in a file; `read` runs SQL there."""
    tables = text_tables(read)
    texts = list(_said_in_runs(read, code))
    if any(table.name == "study" for table in tables):
        texts += [*_written_in_rows(read, code, tables), *_facts_of(read, code)]
    return _distinct(read, texts)


def texts_in_runs(read: Read, runs: Iterable[str]) -> list[OwnText]:
    """What people said in these runs, whoever they are: in a kit nobody's code stands."""
    return _distinct(read, (text for run in runs for text in _said_in(read, run, None)))


def _distinct(read: Read, texts: Iterable[OwnText]) -> list[OwnText]:
    """Texts but for hashes, times and names."""
    names = _names_in(read)
    names |= {"accept", "reject", "approve", "amend"}  # what a review or a reply decides
    return [one for one in texts if tidy(one.text) and not _HASH.fullmatch(one.text) and one.text not in names]


def _said_in_runs(read: Read, code: str) -> Iterator[OwnText]:
    runs = [run for (run,) in read("SELECT DISTINCT trace FROM event WHERE instr(body, ?)", signature(code))]
    for run in runs:
        yield from _said_in(read, run, code)
    for text, at in read("SELECT d.text, d.at FROM draft d JOIN trace t ON t.id = d.trace WHERE t.user = ?", code):
        document = _json_in(text)
        for said, _ in _own(document, code, own=True) if document is not None else [(text, "")]:
            yield OwnText(said, at)


def _said_in(read: Read, run: str, code: str | None) -> Iterator[OwnText]:
    """What they said in a run, each with what of it only repeats what stood before them there."""
    sql = "SELECT kind, body FROM event WHERE trace = ? ORDER BY seq"
    texts: dict[str, tuple[int, OwnText]] = {}
    questions: dict[str, str] = {}
    for at, (_, body) in enumerate(read(sql, run)):
        event = msgspec.json.decode(body)
        question = event.get("question") or {}
        questions |= {question["id"]: question["text"]} if question else {}
        for text, answers in _own(event, code):
            texts.setdefault(text, (at, OwnText(text, event.get("at", ""), questions.get(answers, ""))))
    quotations = Quotations(texts)
    shown: dict[str, int] = {}
    seen: set[str] = set()
    for at, (kind, body) in enumerate(read(sql, run)):
        if kind == "acting" or not quotations.stand_in(body):  # an act repeats what was proposed or decided
            continue
        event = msgspec.json.decode(body)
        for text in Counter(strings_in(event)) - Counter(text for text, _ in _own(event, code)):
            if text not in seen and quotations.may_stand_in(text):
                for quotation in quotations.find(text):
                    shown.setdefault(quotation.says, at)
            seen.add(text)
    for text, (at, one) in texts.items():
        own = Quotations([text]).find(text)
        yield one._replace(repeats=frozenset(part.says for part in own if shown.get(part.says, at + 1) <= at))


def _written_in_rows(read: Read, code: str, tables: Iterable[TextTable]) -> Iterator[OwnText]:
    """What they signed in rows of any table: answers, notes, remarks, reviews, drafts that an act keeps."""
    runs: dict[tuple[Any, ...], frozenset[str]] = {}
    quoted = f"%{msgspec.json.encode(storable(code)).decode()}%"
    for table in tables:
        if table.name in _NOT_THEIRS or "body" not in table.columns:
            continue
        for (body,) in read(f"SELECT body FROM {table.name} WHERE body LIKE ?", quoted):
            row = msgspec.json.decode(body)
            key = (row.get("study", ""), row.get("version", 0), row.get("unit", ""))
            if key not in runs:
                runs[key] = _runs_of(read, *key)
            for text, _ in _own(row, code):
                yield OwnText(text, row.get("at", ""), runs=runs[key])


def _runs_of(read: Read, study: str, version: int, unit: str) -> frozenset[str]:
    sql = "SELECT body FROM unit WHERE study = ? AND version = ? AND id = ?"
    bodies = list(read(sql, storable(study), version, storable(unit)))
    return frozenset(run for (body,) in bodies for run in msgspec.json.decode(body).get("runs", ()))


def _facts_of(read: Read, code: str) -> Iterator[OwnText]:
    """What a persona tells that is this person's alone: no run and no item of another has it."""
    others = {id for (id,) in read("SELECT DISTINCT persona FROM trace WHERE user IS NOT ?", storable(code))}
    personas: dict[str, tuple[str, Any]] = {}
    first = "SELECT e.body FROM event e JOIN trace t ON t.id = e.trace WHERE t.user = ? AND e.seq = 0"
    for (body,) in read(first, storable(code)):
        event = msgspec.json.decode(body)
        if event.get("persona"):
            personas.setdefault(event["persona"]["id"], (event.get("at", ""), event["persona"]))
    for (body,) in read("SELECT body FROM unit WHERE instr(body, '\"persona\":{')"):
        unit = msgspec.json.decode(body)
        persona = (unit.get("play") or {}).get("persona") or {}
        if unit.get("owner") == code and persona:
            personas.setdefault(persona["id"], ("", persona))
        elif persona:
            others.add(persona["id"])
    for id, (at, persona) in personas.items():
        if id not in others:
            yield from (
                OwnText(text, at) for text in (persona["name"], *strings_in(persona.get("facts", {}), keys=False))
            )


def _names_in(read: Read) -> set[str]:
    """What protocols call their fields and options: an answer by one is nobody's words."""
    names: set[str] = set()
    there = list(read("SELECT 1 FROM sqlite_master WHERE name = 'study'"))
    for (body,) in read("SELECT body FROM study") if there else ():
        fields = msgspec.json.decode(body)["protocol"]["fields"]
        names |= {field["id"] for field in fields}
        names |= {option["id"] for field in fields for option in field.get("options", ())}
    return names


# -- within one row --------------------------------------------------------------------------------------------


def _own(value: Any, code: str | None, *, own: bool = False, question: str = "") -> Iterator[tuple[str, str]]:
    """The texts in a row that a person signed (None: anybody), each with the id of the question that it answers."""
    match value:
        case str() if own and len(value) > 1:
            yield value, question
        case list():
            for item in value:
                yield from _own(item, code, own=own, question=question)
        case dict() if value.get("act") not in _CHOSEN_ACTS:
            own, question = _is_signed(value, code, own), value.get("question_id", question)
            for key, item in value.items():
                if key == "drafts" and isinstance(item, list):  # each a place, and what was typed there
                    item = [draft[-1] for draft in item if draft]
                if key in ("detail", "changes") or (
                    key not in _OF_OTHERS and not (key in _NAMES and not isinstance(item, dict))
                ):
                    yield from _own(item, code, own=own, question=question)


def _is_signed(value: dict[str, Any], code: str | None, own: bool) -> bool:
    """Whether a part of a row is this person's; one that nobody signs belongs to what it is a part of."""
    for key in ("by", "rater"):
        match value.get(key):
            case {"kind": str(kind), "id": str(id)}:
                return (kind == "human" and code in (id, None)) or (code is None and id == _HIDDEN)
            case str(id):
                return id == code
    return own


def strings_in(value: Any, *, keys: bool = True) -> Iterator[str]:
    """Every text in a value, as deep as it goes."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings_in(item, keys=keys)
        case dict():
            for key, item in value.items():
                if keys:
                    yield key
                yield from strings_in(item, keys=keys)


def _json_in(text: str) -> Any:
    if text[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
