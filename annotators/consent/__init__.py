"""The consent text for studies without one of their own, by locale and versioned by its hash."""

from __future__ import annotations

from pathlib import Path

from lab.core.study.study import Study

HERE = Path(__file__).parent


def consent_text(study: Study, locale: str = "") -> str:
    """Return the consent text: the study's in this locale, in its own, in English or in any, else the built-in one."""
    locale = locale or study.locale
    for texts in (study.consent, _built_in_texts()):
        for name in (locale, locale.partition("-")[0], "en", *texts):
            if texts.get(name, "").strip():
                return texts[name]
    raise AssertionError("there is an English text of our own")


def _built_in_texts() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.txt"))}
