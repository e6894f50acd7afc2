"""The command study links: make links for a study's people, show their state, revoke them."""

from __future__ import annotations

from argparse import BooleanOptionalAction
from collections.abc import Sequence

import msgspec

from lab.cli.arguments import Parser, StudyArguments, TableArguments, flag, option
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result, print_table
from lab.core.errors import LabError
from lab.core.study.study import Study
from lab.core.text.suggestion import suggestion
from lab.core.values.ids_and_clock import now
from lab.studies.links import Link, expiry, links_of, make_link, newest, revoke_link
from lab.studies.planning.study_people import people_there
from lab.studies.planning.study_places import check_goes_on, study_named
from lab.studies.seats import sees_outcomes
from store.store import Store

LOCAL = "http://127.0.0.1:8765"
"""Default address of `hitlab serve study`."""


class PersonLink(msgspec.Struct, frozen=True):
    """One person's newest link. `address` is set only if it was made now, since the file has no secret.

    `state` is open, expired or revoked. `entered` is the time when a browser claimed it, empty if none has.
    """

    rater: str
    state: str
    made: str
    until: str
    entered: str
    browsers: int
    address: str = ""


class StudyLinks(msgspec.Struct, frozen=True):
    """Result of `study links`. `watch` is the newest link to the study's progress, null if there is none."""

    study: str
    version: int
    links: tuple[PersonLink, ...]
    watch: PersonLink | None = None


class StudyLinksArguments(StudyArguments, TableArguments):
    again: str | None = option(
        "R1,R2", "make new links for these people and revoke their old ones", "--renew", "--again"
    )
    revoke: str | None = option("R1,R2", "revoke these people's links and make none")
    until: str | None = option("WHEN", "let new links expire (e.g. 14d, 12h or 2026-12-31)", "--expires", "--until")
    shared: bool = flag("let new links open in any browser (default: in the first one only)")
    url: str | None = option(
        "URL", "use this public address, e.g. https://lab.example.org (default: that of the running server)"
    )
    watch: bool | None = option(
        "", "make a new link to the page of the study's progress instead, or revoke it", action=BooleanOptionalAction
    )


def add_study_links(parser: Parser) -> None:
    parser.runs(links, StudyLinksArguments, prints={"study-links": StudyLinks})
    parser.examples(
        """\
  hitlab study links tdg --expires 14d
  hitlab study links tdg --renew R1    a new link; the old one is revoked
  hitlab study links tdg --revoke R2
"""
    )


def links(args: StudyLinksArguments) -> int:
    """Make a link for everybody without one, and print the state of all links."""
    settings = settings_for(args.db, sees_outcomes, "study links")
    until = expiry(args.until) if args.until else ""
    with open_store(settings, create=False) as store:
        url, is_guess = links_address(store, args.url)
        study = study_named(store, args.study)
        if args.watch is not None:
            return _watch_links(store, study, args, url, until, settings.person, is_guess=is_guess)
        check_goes_on(store, study)
        people = linked_people(store, study)
        again = named_people(args.again, people, "--renew")
        revoked_people = named_people(args.revoke, people, "--revoke")
        check_apart(again, revoked_people)
        _revoke(store, study, [*again, *revoked_people], settings.person)
        recipients = [] if revoked_people and not again else again or people
        new_links = make_missing(store, study, recipients, url, by=settings.person, until=until, shared=args.shared)
        result = StudyLinks(
            study.id, study.version, tuple(_link_rows(store, study, new_links)), _watch_row(store, study)
        )
    print_result(result, lambda _: _print_study_links(result, study.name, is_guess=is_guess), json=args.json)
    return 0


def links_address(store: Store, url: str | None) -> tuple[str, bool]:
    """Return the base URL of links, and True if it is a guess: as typed, of the running server, or the default."""
    from lab.runs.endpoint.running_servers import running_address

    if url is not None:
        return checked_url(url), False
    running = running_address(store.path, "serve")
    return running or LOCAL, not running


def _watch_links(
    store: Store, study: Study, args: StudyLinksArguments, url: str, until: str, by: str, *, is_guess: bool
) -> int:
    """Revoke the links to a study's progress, and make a new one unless --no-watch."""
    if args.again or args.revoke:
        raise LabError("--watch", "is about the manager's link; --renew and --revoke are about people's.", code=2)
    check_watched(store, study)
    at = now()
    open_links = [link for link in links_of(store, study, "watch") if link.state(at) == "open"]
    for link in open_links:
        revoke_link(store, link, by=by)
    address = ""
    if args.watch:
        address = make_watch_link(store, study, url, by=by, until=until, shared=args.shared)
    result = StudyLinks(study.id, study.version, (), _watch_row(store, study, address))
    print_result(result, lambda _: _print_watch(result, study.name, len(open_links), is_guess=is_guess), json=args.json)
    return 0


def check_watched(store: Store, study: Study) -> None:
    """Raise `LabError` if the study is archived or this file holds a part of it only."""
    from lab.studies.progress.study_progress import check_whole

    check_whole(store, f"study {study.name}")
    if store.studies.archived(study):
        raise LabError(f"study {study.name}", "is archived.", f"`hitlab study restore {study.id}` brings it back.")


def make_watch_link(store: Store, study: Study, url: str, *, by: str, until: str = "", shared: bool = False) -> str:
    """Make a link to a study's progress and return its address."""
    link = make_link(store, study, by, by=by, until=until, shared=shared, purpose="watch")
    return f"{url}/r/{link.token}"


def has_watch_link(store: Store, study: Study) -> bool:
    """Return True if an open link to the study's progress exists."""
    at = now()
    return any(link.state(at) == "open" for link in links_of(store, study, "watch"))


def checked_url(url: str) -> str:
    """Return a base URL without its last slash. Raise `LabError` if it is not one."""
    scheme, slashes, rest = url.rstrip("/").partition("://")
    name, _, path = rest.partition("/")
    if scheme not in ("http", "https") or not slashes or not name or path or "@" in name or "?" in name or "#" in name:
        raise LabError("--url", f"{url!r} is no address.", "Say https://NAME, or http://NAME:PORT.", code=2)
    return f"{scheme}://{rest}"


def linked_people(store: Store, study: Study) -> list[str]:
    """Return everybody who may get a link: with assignments in this file, and neither left nor withdrawn.

    Raise `LabError` if there is nobody.
    """
    people = [code for code in people_there(store, study) if store.studies.progress(study, code).dealt]
    if not people:
        raise LabError(f"study {study.name}", "is dealt to nobody.", f"`hitlab study deal {study.id}` deals it.")
    return people


def make_missing(
    store: Store,
    study: Study | None,
    people: Sequence[str],
    url: str,
    *,
    by: str,
    until: str = "",
    shared: bool = False,
) -> dict[str, str]:
    """Make a link for each of these people without an open one. Return the new addresses.

    Without a study they lead into the room Answer.
    """
    there = newest(links_of(store, study), now())
    addresses: dict[str, str] = {}
    for code in people:
        if code not in there:
            link = make_link(store, study, code, by=by, until=until, shared=shared)
            addresses[code] = f"{url}/r/{link.token}"
    return addresses


def named_people(words: str | None, people: Sequence[str], option: str) -> list[str]:
    """Parse a comma-separated list of codes. Raise `LabError` for a code that is not among `people`."""
    codes = [code.strip() for code in (words or "").split(",") if code.strip()]
    for code in codes:
        if code not in people:
            problem = f"{code} is none of its people{suggestion(code, people) or '.'}"
            raise LabError(option, problem, f"They are {', '.join(people)}." if people else "", code=2)
    return codes


def check_apart(recipients: Sequence[str], revoked_people: Sequence[str]) -> None:
    """Raise `LabError` if somebody is to get a link and to lose it."""
    both = [code for code in dict.fromkeys(revoked_people) if code in recipients]
    if both:
        problem = f"{', '.join(both)}: is to have a link and none."
        raise LabError("--revoke", problem, "--renew alone revokes the old one, too.", code=2)


def _revoke(store: Store, study: Study, people: Sequence[str], by: str) -> None:
    at = now()
    for link in links_of(store, study):
        if link.rater in people and link.state(at) == "open":
            revoke_link(store, link, by=by)


def _link_rows(store: Store, study: Study, new_links: dict[str, str]) -> list[PersonLink]:
    """Return each person's last link, in the order of the study's people."""
    last: dict[str, Link] = {link.rater: link for link in links_of(store, study)}
    at = now()
    return [
        person_link(link, at, new_links.get(code, ""))
        for code in linked_people(store, study)
        if (link := last.get(code)) is not None
    ]


def _watch_row(store: Store, study: Study, address: str = "") -> PersonLink | None:
    """Return the newest link to a study's progress."""
    links = links_of(store, study, "watch")
    return person_link(links[-1], now(), address) if links else None


def person_link(link: Link, at: str, address: str) -> PersonLink:
    """Return a link's line at a time. `address` is set if it was made now."""
    return PersonLink(
        link.rater, link.state(at), link.made_at, link.until, link.entered_at, len(link.browsers), address
    )


def _print_watch(result: StudyLinks, name: str, revoked: int, *, is_guess: bool) -> None:
    if result.watch is not None and result.watch.address:
        print_line(f"{result.watch.rater} watches {name}  {result.watch.address}")
        print_line("The link is shown this once. `hitlab serve study` opens it.")
        print_guess_note(is_guess=is_guess)
    else:
        print_line(
            f"The link to watch {name} opens nothing any more." if revoked else f"No link to watch {name} was open."
        )


def print_guess_note(*, is_guess: bool) -> None:
    """Print that the links have the default address, since no server runs on the file."""
    if is_guess:
        print_line(
            f"No `hitlab serve study` runs on this file now: {LOCAL} is where it listens if nothing else is said."
        )
        print_line("Where it is another address, put that in its place, or make the links with --url.")


def _print_study_links(result: StudyLinks, name: str, *, is_guess: bool) -> None:
    print_links(result.links, result.watch)
    if any(link.address for link in result.links):
        print_line("Each link is shown this once, and is for one person. `hitlab serve study` opens them.")
        print_guess_note(is_guess=is_guess)
    elif result.links:
        print_line(f"A link is shown when it is made. `hitlab study links {result.study} --renew CODE` makes another.")
    else:
        print_line(f"Nobody in {name} has a link.")


def print_links(links: Sequence[PersonLink], watch: PersonLink | None = None) -> None:
    """Print a table of links and their use. The new addresses follow on lines of their own, to be copied whole."""
    shown = (*links, *([watch] if watch is not None else []))
    rows = [
        [
            link.rater if link is not watch else f"{link.rater} (watches)", _format_state(link),
            _format_minute(link.entered), _format_minute(link.until),
        ]
        for link in shown
    ]  # fmt: skip
    print_table(["person", "link", "opened", "expires"], rows, records=(PersonLink, shown))
    for link in links:
        if link.address:
            print_line(f"{link.rater}  {link.address}")


def _format_minute(at: str) -> str:
    """Format a UTC time to the minute."""
    return at[:16].replace("T", " ")


def _format_state(link: PersonLink) -> str:
    if link.state != "open":
        return link.state
    if link.address:
        return "new"
    return "opened" if link.entered else "not opened yet"
