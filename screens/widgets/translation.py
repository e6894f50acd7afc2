"""Translation of a room's sentences from its tables by locale."""

from __future__ import annotations

from collections.abc import Mapping


def translation(tables: Mapping[str, Mapping[str, str]], locale: str, key: str, **values: object) -> str:
    """Return a sentence from tables by locale, English if the locale has none. `values` are inserted unchanged."""
    english = tables["en"]
    words = tables.get(locale) or tables.get(locale.partition("-")[0]) or english
    text = words.get(key, english[key])
    for name, value in values.items():
        # Not `str.format`: keys such as {run.next} stay for `with_keys`, and a value may hold braces.
        text = text.replace("{" + name + "}", str(value))
    return text
