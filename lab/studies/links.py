"""Links into one person's room in a browser, or to a manager's view of a study's progress: create, enter, revoke.

A link's secret appears once, when the link is made. The file holds its SHA-256. The study's acts record a link's life:
`invited`, `entered` (a browser claimed it), `revoked`. A withdrawal deletes the person's links too. A link without a
study (None) opens the room Answer, where its person answers at the endpoint. A link serves one purpose for good: a
rater's link never shows progress, and a manager's link never opens a room.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.study.label import Act, ActKind
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7

if TYPE_CHECKING:
    from store.store import Store

LINK_ACTS: tuple[ActKind, ...] = ("invited", "entered", "revoked")
"""Kinds of the acts that record a link's life."""
_SECRET_BYTES = 32
"""256 random bits, beyond guessing."""
LinkState = Literal["open", "expired", "revoked"]
Purpose = Literal["room", "watch"]
"""Target of a link: its person's room, or the page with the study's progress."""
PURPOSES: tuple[Purpose, ...] = ("room", "watch")


class Link(msgspec.Struct, frozen=True):
    """One person's access to one study, or to the page of its progress: `rater` then is the manager who made it.

    `study` is empty for a link into the room Answer. `until` is its expiry (UTC), empty if it has none.

    `secret_sha` is the SHA-256 of its secret. `browsers` holds the SHA-256 of the secret of each browser that claimed
    it. A link is for one browser, unless `shared`.
    """

    id: str
    study: str
    version: int
    rater: str
    secret_sha: str
    made_at: str
    until: str = ""
    shared: bool = False
    browsers: tuple[str, ...] = ()
    entered_at: str = ""
    revoked_at: str = ""
    purpose: Purpose = "room"

    def state(self, at: str) -> LinkState:
        """Return the link's own state at a time, regardless of its study."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.until and at >= self.until else "open"


class NewLink(NamedTuple):
    """A new link with its secret, which is stored nowhere else."""

    link: Link
    token: str


class LinkRefused(LabError):
    """Refusal of a link. `why` selects the page to show."""

    def __init__(
        self, why: Literal["unknown", "expired", "revoked", "used", "extended", "closed"], message: str
    ) -> None:
        super().__init__("link", message)
        self.why = why


def hashed(secret: str) -> str:
    """Return the SHA-256 of a secret. 256 random bits need no slow hash."""
    # A typed link may hold lone surrogates, which strict encoding would refuse with a traceback.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def links_of(store: Store, study: Study | None, purpose: Purpose = "room") -> list[Link]:
    """Return every link of a study, or of the room Answer, for a purpose, in order of creation."""
    acts = store.answer_links.acts() if study is None else store.labels.acts_of(study, LINK_ACTS)
    return [link for link in _read_links(acts) if link.purpose == purpose]


def _read_links(acts: Iterable[Act]) -> list[Link]:
    links: dict[str, Link] = {}
    for act in acts:
        detail = act.detail
        id = str(detail.get("link", ""))
        if act.act == "invited":
            links[id] = Link(
                id,
                act.study,
                act.version,
                act.rater.id,
                str(detail.get("sha", "")),
                act.at,
                str(detail.get("until", "")),
                bool(detail.get("shared", False)),
                purpose="watch" if detail.get("purpose") == "watch" else "room",
            )
        elif (link := links.get(id)) is not None and link.rater == act.rater.id:
            links[id] = _apply_act(link, act)
    return list(links.values())


def _apply_act(link: Link, act: Act) -> Link:
    if act.act == "revoked":
        return msgspec.structs.replace(link, revoked_at=act.at)
    browsers = (*link.browsers, str(act.detail.get("browser", "")))
    return msgspec.structs.replace(link, browsers=browsers, entered_at=link.entered_at or act.at)


def make_link(
    store: Store,
    study: Study | None,
    rater: str,
    *,
    by: str,
    until: str = "",
    shared: bool = False,
    purpose: Purpose = "room",
) -> NewLink:
    """Create a link for a person, durable on return."""
    id, version = ("", 0) if study is None else (study.id, study.version)
    link = Link(uuid7(), id, version, rater, "", now(), until, shared, purpose=purpose)
    token = secrets.token_urlsafe(_SECRET_BYTES)
    link = msgspec.structs.replace(link, secret_sha=hashed(token))
    detail: dict[str, object] = {"link": link.id, "sha": link.secret_sha, "by": by}
    detail |= ({"until": until} if until else {}) | ({"shared": True} if shared else {})
    detail |= {"purpose": purpose} if purpose != "room" else {}
    _record_act(store, link, "invited", detail)
    return NewLink(link, token)


def revoke_link(store: Store, link: Link, *, by: str) -> None:
    """Revoke a link and everything that it opened."""
    _record_act(store, link, "revoked", {"link": link.id, "by": by})


def enter_link(store: Store, study: Study | None, link: Link) -> str:
    """Claim a link for a browser. Return the browser's secret and store its SHA-256.

    Raise `LinkRefused` if another browser claimed it before, even if both arrive at once.
    """
    browser = secrets.token_urlsafe(_SECRET_BYTES)

    # Runs inside the transaction that records the claim, so that of two browsers one sees the other's.
    def check() -> None:
        fresh = next((one for one in links_of(store, study, link.purpose) if one.id == link.id), None)
        if fresh is None:
            raise LinkRefused("unknown", "is none that was made here.")
        check_free(store, study, fresh)

    _record_act(store, link, "entered", {"link": link.id, "browser": hashed(browser)}, check)
    return browser


def knows(link: Link, browser: str) -> bool:
    """Return True if a browser's secret is one that claimed the link."""
    return bool(browser) and hashed(browser) in link.browsers


def check_link(store: Store, study: Study | None, link: Link) -> None:
    """Raise `LinkRefused` if a link opens nothing now."""
    state = link.state(now())
    if state == "revoked":
        raise LinkRefused("revoked", "was revoked.")
    if state == "expired":
        raise LinkRefused("expired", "has expired.")
    rater = link.rater
    if study is None:
        if store.labels.has_withdrawn(rater):
            raise LinkRefused("closed", "is of a person who has withdrawn.")
        return
    if store.studies.extended_by(study) is not None:
        raise LinkRefused("extended", "leads into a study that was extended since; opened again, it goes on there.")
    closed = store.studies.archived(study) or store.labels.has_withdrawn(rater)
    # A manager may still see how a study ended.
    if link.purpose == "room":
        closed = closed or store.studies.locked(study) or store.studies.has_left(study, rater)
    if closed:
        raise LinkRefused("closed", "leads into a study that is closed to you.")


def check_free(store: Store, study: Study | None, link: Link) -> None:
    """Raise `LinkRefused` if a link opens nothing, or accepts no further browser."""
    check_link(store, study, link)
    if link.browsers and not link.shared:
        raise LinkRefused("used", "was taken up in another browser.")


def expiry(words: str, at: datetime | None = None) -> str:
    """Return a link's expiry from `14d`, `12h` or a date (the end of that day, UTC). Raise `LabError` for others."""
    at = at or datetime.now(UTC)
    number, unit = words[:-1], words[-1:]
    try:
        if unit in ("d", "h") and number.isascii() and number.isdigit():
            until = at + (timedelta(days=int(number)) if unit == "d" else timedelta(hours=int(number)))
        else:
            until = datetime.fromisoformat(words)
            # A date means the end of that day.
            until = until + timedelta(days=1) if len(words) == len("2026-01-31") else until
            until = until.replace(tzinfo=until.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise LabError("--expires", f"{words!r} is no time.", "Say 14d, 12h or 2026-12-31.", code=2) from None
    if until <= at:
        raise LabError("--expires", f"{words} is over already.", code=2)
    return until.isoformat(timespec="microseconds")


def newest(links: Iterable[Link], at: str) -> dict[str, Link]:
    """Return each person's newest open link."""
    return {link.rater: link for link in links if link.state(at) == "open"}


def _record_act(
    store: Store, link: Link, kind: ActKind, detail: dict[str, object], check: Callable[[], None] = lambda: None
) -> None:
    act = Act(uuid7(), link.study, link.version, Actor("human", link.rater), kind, now(), detail=detail)
    (store.labels.record_act if link.study else store.answer_links.record)(act, check)
