"""Links: made once, taken up by one browser, expired, revoked; what is kept of them opens nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.study.study import Study
from lab.studies.links import (
    Link,
    LinkRefused,
    check_link,
    enter_link,
    expiry,
    hashed,
    knows,
    links_of,
    make_link,
    newest,
    revoke_link,
)
from store.store import Store
from tests.studies import frozen, unit

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    return frozen(store, [unit()])


def link(store: Store, study: Study) -> Link:
    (one,) = links_of(store, study)
    return one


def test_the_file_keeps_no_secret(store: Store, study: Study, tmp_path: Path) -> None:
    made = make_link(store, study, "R1", by="boss")
    assert len(made.token) >= 43
    browser = enter_link(store, study, made.link)
    store.close()
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert hashed(made.token).encode() in everything
    for secret in (made.token, browser):
        assert secret.encode() not in everything


def test_one_browser_takes_a_link_up(store: Store, study: Study) -> None:
    made = make_link(store, study, "R1", by="boss")
    browser = enter_link(store, study, made.link)
    assert knows(link(store, study), browser)
    assert not knows(link(store, study), "")
    assert not knows(link(store, study), made.token)
    with pytest.raises(LinkRefused) as refused:
        enter_link(store, study, made.link)
    assert refused.value.why == "used"
    assert len(link(store, study).browsers) == 1


def test_a_shared_link_is_for_any_browser(store: Store, study: Study) -> None:
    made = make_link(store, study, "R1", by="boss", shared=True)
    first, second = enter_link(store, study, made.link), enter_link(store, study, made.link)
    assert knows(link(store, study), first)
    assert knows(link(store, study), second)


def test_what_is_revoked_or_expired_opens_nothing(store: Store, study: Study) -> None:
    revoked = make_link(store, study, "R1", by="boss").link
    browser = enter_link(store, study, revoked)
    revoke_link(store, revoked, by="boss")
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat(timespec="microseconds")
    make_link(store, study, "R2", by="boss", until=past)
    first, second = links_of(store, study)
    for one, why in ((first, "revoked"), (second, "expired")):
        with pytest.raises(LinkRefused) as refused:
            check_link(store, study, one)
        assert refused.value.why == why
    assert knows(first, browser), "it is the link that opens nothing any more"
    assert newest([first, second], datetime.now(UTC).isoformat()) == {}


def test_a_link_into_a_study_that_is_archived_is_closed(store: Store, study: Study) -> None:
    from lab.core.study.label import Act
    from lab.core.task.task import Actor
    from lab.core.values.ids_and_clock import now, uuid7

    made = make_link(store, study, "R1", by="boss").link
    check_link(store, study, made)
    store.labels.record_act(Act(uuid7(), study.id, study.version, Actor("human", "boss"), "archived", now()))
    with pytest.raises(LinkRefused) as refused:
        check_link(store, study, made)
    assert refused.value.why == "closed"


@pytest.mark.parametrize(
    ("words", "after"),
    [("14d", timedelta(days=14)), ("12h", timedelta(hours=12)), ("2026-05-03", timedelta(days=2, hours=12))],
)
def test_when_a_link_expires(words: str, after: timedelta) -> None:
    assert datetime.fromisoformat(expiry(words, NOW)) == NOW + after


@pytest.mark.parametrize("words", ["", "d", "soon", "-1d", "0d", "2026-04-01", "9999999999d", "2026-13-01", "\u0661d"])
def test_what_is_no_time_is_refused(words: str) -> None:
    with pytest.raises(LabError, match="--expires"):
        expiry(words, NOW)
