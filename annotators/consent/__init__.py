"""What a participant agrees to where a study brings no text of its own: plain, by locale, versioned by its hash."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lab.core.codec import encode
from lab.core.study import Study

HERE = Path(__file__).parent


def consent_text(study: Study, locale: str = "") -> str:
    """The text a participant reads: the study's in that locale (else in its own), else in English, else our own."""
    locale = locale or study.locale
    for texts in (study.consent, _ours()):
        for name in (locale, locale.partition("-")[0], "en", *texts):
            if texts.get(name, "").strip():
                return texts[name]
    raise AssertionError("there is an English text of our own")


def text_sha(text: str) -> str:
    """The version of a text, by the rule of `Study.consent_sha`."""
    return hashlib.sha256(encode(text)).hexdigest()


def _ours() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.txt"))}
