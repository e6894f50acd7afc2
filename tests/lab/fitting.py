"""Documents that commands print, held against the schemas that `hitlab settings schema NAME` prints."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def validator(name: str) -> Any:
    """Checks documents of one kind; making it takes longer than most of what it checks."""
    import jsonschema
    import msgspec

    from lab.cli.settings.schemas import schemas

    return jsonschema.Draft202012Validator(msgspec.json.schema(schemas()[name]))


def fits(document: Any, name: str) -> bool:
    """Raises where a document does not fit a schema."""
    validator(name).validate(document)
    return True
