"""Files of a FingerTip-20K episode: actions, survey, screens and trees, and the user's profile.

As the data is distributed, `<user>/<yyyymmdd_hhmmss>/` has `action.jsonl` (one `{"<screenshot>": "<call>"}` per line),
`survey_result.json` (`intentDescription`, `scenario`, `app`, ...) and `Screenshots*/` with `<n>.jpg` beside
`tree_<n>.xml`. `user_profile.csv` is above. The paper (A.4) names only the contents, so other file names are accepted,
too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from store.formats import RunSource
from store.formats.csv_table import table_of
from store.formats.fingertip.actions import is_action, source_action
from store.formats.json_parts import first_value
from store.formats.values import Notes, decode_utf8, literal, words

STAMP = re.compile(r"\d{8}[_-]?\d{6}")
"""Name of an episode's folder."""
DATA = (".json", ".jsonl", ".txt")
_IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".avif")
_LISTS = ("actions", "action", "action_list", "steps")
_PROFILES = ("user_profile", "user_profiles", "profile", "profiles", "user_info", "users")
_WORDS = ("intent_description", "intentDescription", "intent", "app", "scenario", "time", "user_id")
_FEW_LINES = 20
_MOST = 64 * 1024**2
_MOST_FILES = 20_000
_ABOVE = 3

Row = tuple[Any, Notes]
"""One row of the actions, and the tolerant reader's changes to it."""


class Files(NamedTuple):
    """Listing of an episode's folder: data files, pictures and trees, each in natural order."""

    source: RunSource
    data: list[Path]
    images: list[Path]
    trees: list[Path]


def files_of(source: RunSource) -> Files:
    """Return the data files in an episode's folder, and pictures and trees up to two levels below."""
    folder = source.path
    paths: list[Path] = []
    for here, below, names in os.walk(folder):
        depth = len(Path(here).relative_to(folder).parts)
        below[:] = sorted(below) if depth < 2 else []
        paths.extend(Path(here) / name for name in names if not name.startswith("._"))
        if len(paths) > _MOST_FILES:
            raise LabError(str(folder), f"holds more than {_MOST_FILES:,} files")
    paths.sort(key=lambda path: natural(str(path.relative_to(folder))))
    own = [path for path in paths if path.parent == folder and path.suffix.lower() in DATA]
    images = [path for path in paths if path.suffix.lower() in _IMAGES]
    trees = [path for path in paths if path.suffix.lower() == ".xml"]
    # Files named after actions first: others may contain actions, too.
    return Files(source, sorted(own, key=lambda path: "action" not in path.name.lower()), images, trees)


def natural(name: str) -> list[Any]:
    """Return a sort key by which 2 comes before 10."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def number_in(name: str) -> str:
    """Return the last number in a file's name, which links a screenshot to its tree, empty if none."""
    return next(iter(re.findall(r"\d+", Path(name).stem)[::-1]), "")


def actions_in(files: Files) -> tuple[Path, bytes, list[Row]]:
    """Return the actions from the first file that has some. Raise `LabError` if there is none."""
    first_problem = ""
    for path in files.data:
        try:
            data = files.source.text(path, most=_MOST)
            rows = _parse_rows(data, str(path))
        except LabError as error:
            first_problem = first_problem or error.sentence
            continue
        if any(is_action(row) for row, _ in rows) or (path.name == "action.jsonl" and not data.strip()):
            return path, data, rows
    why = f" ({first_problem})" if first_problem else ""
    raise LabError(str(files.source.path), f"holds no file with a list of actions{why}")


def _parse_rows(data: bytes, path: str) -> list[Row]:
    """Return a file's rows: from a JSON list, a mapping with one, one per line, or a Python literal."""
    try:
        value, notes = read_json(data, path)
    except LabError:
        text = decode_utf8(data)
        literal_value = literal(text)
        return _list_rows(literal_value, []) or [_parse_line(line) for line in text.splitlines() if line.strip()]
    return _list_rows(value, notes)


def _list_rows(value: Any, notes: Notes) -> list[Row]:
    place = ""
    if isinstance(value, dict):
        key = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
        if key is None:
            pairs = [{name: item} for name, item in value.items()]
            return [(row, []) for row in pairs] if pairs and source_action(pairs[0]).image else [(value, notes)]
        place, value = key, value[key]
    if not isinstance(value, list):
        return []
    starts = [f"{place}[{i}]" for i in range(len(value))]
    return [(row, _notes_below(notes, start)) for row, start in zip(value, starts, strict=True)]


def _notes_below(notes: Notes, start: str) -> Notes:
    return [(at[len(start) :].lstrip("."), original) for at, original in notes if at.startswith(start)]


def _parse_line(line: str) -> Row:
    try:
        value, notes = read_json(line.encode("utf-8", "surrogatepass"), "line")
    except LabError:
        return literal(line.strip()), []
    return value, notes


def spells_actions(opening: bytes) -> bool:
    """Return True if a file's opening has a list of actions, as JSON, JSON lines or calls in text."""
    value, _ = first_value(opening)
    if isinstance(value, list) or (isinstance(value, dict) and any(key in value for key in _LISTS)):
        return any(is_action(row) for row, _ in _list_rows(value, []))
    if isinstance(value, dict) and len(value) > 1:
        return source_action(_list_rows(value, [])[0][0]).image != "" and any(
            is_action(row) for row, _ in _list_rows(value, [])
        )
    text = decode_utf8(opening)
    if text.lstrip().startswith("["):
        return any(is_action(row) for row, _ in _list_rows(literal(text), []))
    lines = [line for line in text.splitlines()[:_FEW_LINES] if line.strip()]
    return any(("(" in line or line.lstrip().startswith("{")) and is_action(_parse_line(line)[0]) for line in lines)


def spells_calls(opening: bytes) -> bool:
    """Return True if a file's actions are calls such as `click(coordinates=(x,y))`, or keyed by screenshots."""
    value, _ = first_value(opening)
    if isinstance(value, list):
        rows = value
    elif isinstance(value, dict):
        rows = next(
            (value[key] for key in _LISTS if isinstance(value.get(key), list)), [{k: v} for k, v in value.items()]
        )
    else:
        rows = [line for line in decode_utf8(opening).splitlines()[:_FEW_LINES] if line.strip()]
    return any(is_action(row) and (isinstance(row, str) or source_action(row).image) for row in rows)


def episode_fields(files: Files, actions: Path) -> dict[str, Any]:
    """Return an episode's fields, from its JSON mappings and from text files named after a field."""
    fields: dict[str, Any] = {}
    for path in files.data:
        if path.suffix.lower() == ".txt":
            if path.stem in _WORDS:
                data = files.source.side_text(path, most=_MOST) or b""
                fields.setdefault(path.stem, decode_utf8(data).strip())
            continue
        try:
            value = read_json(files.source.text(path, most=_MOST), str(path)).value
        except LabError as error:
            if path != actions:
                files.source.fallbacks.add("side file", path, error.body)
                fields.setdefault("unread", []).append(escape_surrogates(error.sentence))
            continue
        if isinstance(value, dict) and not source_action(value).image:
            fields = {**value, **fields} if path == actions else {**fields, **value}
    return {key: value for key, value in fields.items() if key not in _LISTS or not isinstance(value, list)}


def profile_of(files: Files, user: str) -> dict[str, Any]:
    """Return the user's profile from a file beside or above the episodes, empty if there is none."""
    for folder in list(files.source.path.parents)[: _ABOVE + 1]:
        for name in _PROFILES:
            for ending in (".json", ".csv"):
                path = folder / f"{name}{ending}"
                if path.is_file() and (profile := _read_profile(files.source, path, user, folder.name == user)):
                    return profile
        if folder == files.source.root:
            break
    return {}


def _read_profile(source: RunSource, path: Path, user: str, own: bool) -> dict[str, Any]:
    """Return the user's row of a file. With `own` the file is in the user's folder and needs no user id."""
    try:
        data = source.text(path, most=_MOST)
        rows: Any = table_of(source, data, path) if path.suffix == ".csv" else read_json(data, str(path)).value
    except LabError as error:
        source.fallbacks.add("side file", path, error.body)
        return {}
    if isinstance(rows, dict):
        user_row = rows.get(user)
        rows = (
            [{"user_id": user, **user_row}]
            if isinstance(user_row, dict)
            else [{"user_id": user, **rows} if own else rows]
        )
    users = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return next((row for row in users if words(row.get("user_id", row.get("userId"))).strip() == user), {})


def screens(files: Files, rows: list[Row]) -> Iterator[tuple[Path | None, Path | None]]:
    """Yield each action's screenshot and tree, found by the stated name, its number, or by position."""
    images = {path.name: path for path in files.images}
    numbered = {number: path for path in files.images if (number := number_in(path.name))}
    trees = {number: path for path in files.trees if (number := number_in(path.name))}
    names = [source_action(row).image for row, _ in rows]
    by_name = any(_find_image(name, images, numbered) for name in names)
    one_each = len(files.trees) in (len(files.images), 0 if files.images else len(rows))
    for i, name in enumerate(names):
        image = _find_image(name, images, numbered) if by_name else _item_at(files.images, i)
        tree = trees.get(number_in(image.name if image else name))
        if tree is None and one_each and (image or not by_name):
            tree = _item_at(files.trees, files.images.index(image) if image else i)
        yield image, tree


def _find_image(name: str, images: dict[str, Path], numbered: dict[str, Path]) -> Path | None:
    base = name.replace("\\", "/").rpartition("/")[2]
    return images.get(base) or numbered.get(number_in(base)) if base else None


def _item_at(paths: list[Path], i: int) -> Path | None:
    return paths[i] if i < len(paths) else None
