"""Introduction of a study: the guide, the keys and a practice item before the first item, and who has seen them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from lab.core.study.label import Act, ActKind
from lab.studies.rating.practice import practice_sha

if TYPE_CHECKING:
    from lab.studies.rating.rating_session import RatingSession

Part = Literal["guide", "keys", "practice"]
_READ: dict[Part, ActKind] = {"guide": "guide_read", "keys": "keys_read", "practice": "practice_done"}
_SHOWN: dict[Part, ActKind] = {"guide": "guide_shown", "keys": "keys_shown", "practice": "practice_shown"}


class Introduction:
    """One rater's introduction to a study. Every method is durable on return."""

    def __init__(self, session: RatingSession) -> None:
        self._session = session

    @property
    def skippable(self) -> bool:
        """True if the study allows to skip it."""
        return self._session.study.introduction == "skippable"

    def due(self) -> tuple[Part, ...]:
        """Return the parts that this rater has yet to see, in order, empty if the study has no introduction.

        A part seen in another version of the study counts if its text is the same.
        """
        study = self._session.study
        if study.introduction == "none":
            return ()
        acts = self._session.store.labels.introductions(study.id, self._session.person.id)
        seen_versions = {(part, str(act.detail.get(part, ""))) for act in acts for part in _parts_of(act)}
        return tuple(
            part
            for part, versions in self._versions().items()
            if versions and not versions & _part_versions(seen_versions, part)
        )

    def _versions(self) -> dict[Part, set[str]]:
        """Return the hashes of each part's text in every language, empty for a part without content."""
        study = self._session.study
        guide = {study.protocol.guide_sha(locale) for locale in (*study.protocol.guide, self._session.locale)}
        practice = practice_sha(study)
        return {"guide": guide, "keys": {""}, "practice": {practice} if practice else set()}

    def record_shown(self, part: Part) -> None:
        """Record that a part is shown."""
        self._act(_SHOWN[part])

    def read(self, part: Part) -> None:
        """Record that the rater read a part and continued."""
        self._act(_READ[part])

    def skip(self, why: str = "") -> None:
        """Record that the rater skipped the remaining parts. `why` is the reason if they had no choice."""
        self._act("introduction_skipped", why)

    def _act(self, kind: ActKind, why: str = "") -> None:
        session, study = self._session, self._session.study
        guide, practice = study.protocol.guide_sha(session.locale), practice_sha(study)
        detail = {"guide": guide, "locale": session.locale, "practice": practice, "why": why}
        session.act(kind, detail={name: words for name, words in detail.items() if words})


def _parts_of(act: Act) -> tuple[Part, ...]:
    """Return the parts that an act completes."""
    if act.act == "introduction_skipped":
        return ("guide", "keys", "practice")
    return tuple(part for part, kind in _READ.items() if kind == act.act)


def _part_versions(seen_versions: Iterable[tuple[Part, str]], part: Part) -> set[str]:
    return {version for one, version in seen_versions if one == part}
