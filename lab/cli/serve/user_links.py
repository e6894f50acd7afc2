"""Links into the room Answer: each person's own, which opens their conversations in a browser."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lab.cli.arguments import Arguments, flag, option
from lab.cli.database import open_store
from lab.cli.output import print_line, print_result
from lab.cli.study.links import (
    PersonLink,
    check_apart,
    links_address,
    make_missing,
    named_people,
    person_link,
    print_guess_note,
    print_links,
)
from lab.core.settings import Settings
from lab.core.values.ids_and_clock import now
from lab.studies.links import Link, expiry, links_of, revoke_link
from lab.studies.seats import check_seat, sees_outcomes
from store.store import Store


class AnswerLinks(msgspec.Struct, frozen=True):
    """Result of `serve user --links`: each person's newest link into the room Answer."""

    links: tuple[PersonLink, ...]


class AnswerLinksArguments(Arguments):
    links: bool = flag("make a browser link for each person of --person, and list all links")
    again: str | None = option(
        "P1,P2", "with --links: make new links for these people and revoke their old ones", "--renew", "--again"
    )
    revoke: str | None = option("P1,P2", "with --links: revoke these people's links")
    until: str | None = option(
        "WHEN", "with --links: let new links expire (e.g. 14d, 12h or 2026-12-31)", "--expires", "--until"
    )
    shared: bool = flag("with --links: let new links open in any browser (default: in the first one only)")
    url: str | None = option("URL", "with --links: use this public address (e.g. https://lab.example.org)")


def links(args: AnswerLinksArguments, settings: Settings, people: Sequence[str]) -> int:
    """Make a link for each of these people without one, and print the state of all links."""
    check_seat(settings, sees_outcomes, "serve user --links")
    until = expiry(args.until) if args.until else ""
    with open_store(settings, create=False) as store:
        url, is_guess = links_address(store, args.url)
        link_holders = _people_with_links(store)
        again = named_people(args.again, link_holders, "--renew")
        revoked_people = named_people(args.revoke, link_holders, "--revoke")
        recipients = [*people, *(code for code in again if code not in people)]
        check_apart(recipients, revoked_people)
        _revoke(store, [*again, *revoked_people], settings.person)
        new_links = make_missing(store, None, recipients, url, by=settings.person, until=until, shared=args.shared)
        result = AnswerLinks(tuple(_link_rows(store, new_links)))
    print_result(result, lambda _: _print_user_links(result, is_guess=is_guess), json=args.json)
    return 0


def _people_with_links(store: Store) -> list[str]:
    """Return everybody who ever had a link and did not withdraw."""
    return list(dict.fromkeys(link.rater for link in links_of(store, None)))


def _revoke(store: Store, people: Sequence[str], by: str) -> None:
    at = now()
    for link in links_of(store, None):
        if link.rater in people and link.state(at) == "open":
            revoke_link(store, link, by=by)


def _link_rows(store: Store, new_links: dict[str, str]) -> list[PersonLink]:
    last: dict[str, Link] = {link.rater: link for link in links_of(store, None)}
    at = now()
    return [person_link(link, at, new_links.get(code, "")) for code, link in last.items()]


def _print_user_links(result: AnswerLinks, *, is_guess: bool) -> None:
    people = ",".join(link.rater for link in result.links if link.state == "open")
    print_links(result.links)
    if any(link.address for link in result.links):
        print_line(
            f"Each link is shown this once, and is for one person. `hitlab serve study --answer {people}` opens them."
        )
        print_guess_note(is_guess=is_guess)
    elif result.links:
        print_line("A link is shown when it is made. `hitlab serve user --links --renew CODE` makes another.")
    else:
        print_line("Nobody has a link. `hitlab serve user --links --person P01,P02` makes them.")
