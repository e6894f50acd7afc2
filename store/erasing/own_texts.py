"""Texts of one person in a hitlab file: replies, typed text, notes, and facts about themselves.

All rows that the person signed are searched, in every table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from lab.core.codec import storable
from lab.core.redaction.quotations import OwnText, Quotations, normalize
from lab.core.redaction.text_redaction import FIXED
from store.erasing.tombstones import actor_prefix
from store.file.text_columns import TextTable, text_tables

Read = Callable[..., Iterable[Any]]

_NAMES = FIXED | {
    "id", "study", "version", "unit", "target", "field", "source", "guide_sha", "protocol_sha", "config_sha",
    "evidence", "question_id", "question", "supersedes", "undoes", "carries", "also", "reason_missing", "shown_at",
    "first_key_at", "sent_at", "by_means", "reason_id", "batch", "app", "activity", "usage", "item", "place", "step",
    "cites", "stage", "model", "v", "condition",
}  # fmt: skip
"""Fields that hold names, hashes and times."""
_OF_OTHERS = frozenset({"prompt", "before", "design", "tree", "task", "persona", "protocol", "observation"})
"""Parts of a signed row that are not the signer's words: what they saw, and what others wrote."""
_GENERATED_ACTS = frozenset({"consent", "played", "interrupted", "quiz", "opened"})
"""Acts whose details the program writes: the text agreed to, the run played, the fact chosen."""
_HIDDEN = "hidden"
"""Actor id that replaces a person's code in a kit."""
_HASH = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|\d{4}-\d\d-\d\dT[\d:.+Z-]+")
_UNSIGNED_TABLES = frozenset(
    {"event", "study", "unit", "assignment", "trace", "tombstone", "withdrawal", "kit", "run_act"}
)
"""Tables whose rows are never a person's text as a whole. Events are searched one by one."""


def own_texts(read: Read, code: str) -> list[OwnText]:
    """Return every text of a person in a file. `read` runs SQL."""
    tables = text_tables(read)
    texts = list(_texts_in_all_runs(read, code))
    if any(table.name == "study" for table in tables):
        texts += [*_texts_in_rows(read, code, tables), *_persona_facts(read, code)]
    return _without_names(read, texts)


def texts_in_runs(read: Read, runs: Iterable[str]) -> list[OwnText]:
    """Return the texts of all people in these runs. A kit's runs do not contain their codes."""
    return _without_names(read, (text for run in runs for text in _texts_in_run(read, run, None)))


def _without_names(read: Read, texts: Iterable[OwnText]) -> list[OwnText]:
    """Return the texts without hashes, times and names."""
    names = _protocol_names(read)
    names |= {"accept", "reject", "approve", "amend"}  # decisions of a review or a reply
    return [one for one in texts if normalize(one.text) and not _HASH.fullmatch(one.text) and one.text not in names]


def _texts_in_all_runs(read: Read, code: str) -> Iterator[OwnText]:
    runs = [run for (run,) in read("SELECT DISTINCT trace FROM event WHERE instr(body, ?)", actor_prefix(code))]
    for run in runs:
        yield from _texts_in_run(read, run, code)
    for text, at in read("SELECT d.text, d.at FROM draft d JOIN trace t ON t.id = d.trace WHERE t.user = ?", code):
        document = decode_json(text)
        for own_text, _ in _signed_texts(document, code, own=True) if document is not None else [(text, "")]:
            yield OwnText(own_text, at)


def _texts_in_run(read: Read, run: str, code: str | None) -> Iterator[OwnText]:
    """Yield a person's texts in a run, each with the parts that only repeat text shown to them before."""
    sql = "SELECT kind, body FROM event WHERE trace = ? ORDER BY seq"
    texts: dict[str, tuple[int, OwnText]] = {}
    questions: dict[str, str] = {}
    for at, (_, body) in enumerate(read(sql, run)):
        event = msgspec.json.decode(body)
        question = event.get("question") or {}
        questions |= {question["id"]: question["text"]} if question else {}
        for text, answers in _signed_texts(event, code):
            texts.setdefault(text, (at, OwnText(text, event.get("at", ""), questions.get(answers, ""))))
    # Second pass: find these texts in what others wrote, to know which parts were on screen first.
    quotations = Quotations(texts)
    shown_at: dict[str, int] = {}
    seen: set[str] = set()
    for at, (kind, body) in enumerate(read(sql, run)):
        if kind == "acting" or not quotations.occur_in(body):  # an `acting` event repeats the proposal or the decision
            continue
        event = msgspec.json.decode(body)
        for text in Counter(strings_in(event)) - Counter(text for text, _ in _signed_texts(event, code)):
            if text not in seen and quotations.may_occur_in(text):
                for quotation in quotations.find(text):
                    shown_at.setdefault(quotation.quoted_words, at)
            seen.add(text)
    for text, (at, one) in texts.items():
        own = Quotations([text]).find(text)
        yield one._replace(
            repeats=frozenset(part.quoted_words for part in own if shown_at.get(part.quoted_words, at + 1) <= at)
        )


def _texts_in_rows(read: Read, code: str, tables: Iterable[TextTable]) -> Iterator[OwnText]:
    """Yield the texts that a person signed in any table: answers, notes, reviews, drafts stored in acts."""
    runs: dict[tuple[Any, ...], frozenset[str]] = {}
    # Only a prefilter, so `%` and `_` in a code need no escaping: `_signed_texts` checks the signature.
    quoted = f"%{msgspec.json.encode(storable(code)).decode()}%"
    for table in tables:
        if table.name in _UNSIGNED_TABLES or "body" not in table.columns:
            continue
        for (body,) in read(f"SELECT body FROM {table.name} WHERE body LIKE ?", quoted):
            row = msgspec.json.decode(body)
            key = (row.get("study", ""), row.get("version", 0), row.get("unit", ""))
            if key not in runs:
                runs[key] = _unit_runs(read, *key)
            for text, _ in _signed_texts(row, code):
                yield OwnText(text, row.get("at", ""), runs=runs[key])


def _unit_runs(read: Read, study: str, version: int, unit: str) -> frozenset[str]:
    sql = "SELECT body FROM unit WHERE study = ? AND version = ? AND id = ?"
    bodies = list(read(sql, storable(study), version, storable(unit)))
    return frozenset(run for (body,) in bodies for run in msgspec.json.decode(body).get("runs", ()))


def _persona_facts(read: Read, code: str) -> Iterator[OwnText]:
    """Yield facts of personas that belong to this person only: no other person's run or unit uses them."""
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


def _protocol_names(read: Read) -> set[str]:
    """Return ids of protocols' fields and options: as an answer they are not a person's own words."""
    names: set[str] = set()
    has_studies = list(read("SELECT 1 FROM sqlite_master WHERE name = 'study'"))
    for (body,) in read("SELECT body FROM study") if has_studies else ():
        fields = msgspec.json.decode(body)["protocol"]["fields"]
        names |= {field["id"] for field in fields}
        names |= {option["id"] for field in fields for option in field.get("options", ())}
    return names


# -- within one row --------------------------------------------------------------------------------------------


def _signed_texts(value: Any, code: str | None, *, own: bool = False, question: str = "") -> Iterator[tuple[str, str]]:
    """Yield a person's texts in a row (anyone's if `code` is None), each with the id of the question it answers."""
    match value:
        case str() if own and len(value) > 1:
            yield value, question
        case list():
            for item in value:
                yield from _signed_texts(item, code, own=own, question=question)
        case dict() if value.get("act") not in _GENERATED_ACTS:
            own, question = _is_signed(value, code, own), value.get("question_id", question)
            for key, item in value.items():
                if key == "drafts" and isinstance(item, list):  # each draft is a place and its typed text
                    item = [draft[-1] for draft in item if draft]
                if key in ("detail", "changes") or (
                    key not in _OF_OTHERS and not (key in _NAMES and not isinstance(item, dict))
                ):
                    yield from _signed_texts(item, code, own=own, question=question)


def _is_signed(value: dict[str, Any], code: str | None, own: bool) -> bool:
    """Return True if a part of a row is this person's. A part without a signature inherits `own`."""
    for key in ("by", "rater"):
        match value.get(key):
            case {"kind": str(kind), "id": str(id)}:
                return (kind == "human" and code in (id, None)) or (code is None and id == _HIDDEN)
            case str(id):
                return id == code
    return own


def strings_in(value: Any, *, keys: bool = True) -> Iterator[str]:
    """Yield every text in a nested value."""
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


def decode_json(text: str) -> Any:
    """Return the JSON object or array of a row, or None for plain text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
