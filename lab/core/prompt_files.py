"""Prompts are files: read once, filled in, and known by a hash of what they say."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from string import Template


@cache
def prompt_text(package: str, name: str) -> str:
    """A prompt as it is written; `package` holds a folder `prompts`."""
    return files(package).joinpath("prompts", name).read_text(encoding="utf-8")


def filled(package: str, name: str, **words: str) -> str:
    """A prompt with words in the place of `$name`; `KeyError` where one has none."""
    return Template(prompt_text(package, name)).substitute(words).strip()


def version_of(package: str, *names: str) -> str:
    """A hash of prompts, in their order: twelve hexadecimal digits."""
    whole = hashlib.sha256()
    for name in names:
        whole.update(name.encode() + b"\n" + prompt_text(package, name).encode() + b"\n")
    return whole.hexdigest()[:12]
