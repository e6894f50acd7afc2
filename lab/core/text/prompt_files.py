"""Prompt files: load, fill in, and identify by a hash of their text."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from string import Template


@cache
def prompt_text(package: str, name: str) -> str:
    """Return a prompt's text from the folder `prompts` of `package`."""
    return files(package).joinpath("prompts", name).read_text(encoding="utf-8")


def fill_prompt(package: str, name: str, **words: str) -> str:
    """Return a prompt with each `$name` replaced. Raise `KeyError` if one has no value."""
    return Template(prompt_text(package, name)).substitute(words).strip()


def prompts_version(package: str, *names: str) -> str:
    """Return the version of prompts: a hash of their names and texts in order, 12 hexadecimal digits."""
    whole = hashlib.sha256()
    for name in names:
        whole.update(name.encode() + b"\n" + prompt_text(package, name).encode() + b"\n")
    return whole.hexdigest()[:12]
