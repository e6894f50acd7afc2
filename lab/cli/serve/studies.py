"""The command serve: studies in browsers, each person by their own link and in their own process."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence

from lab.cli.arguments import Arguments, Parser, argument, flag, option, port, study_codes, up_to
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, warn
from lab.cli.study.links import (
    check_watched,
    checked_url,
    has_watch_link,
    linked_people,
    make_missing,
    make_watch_link,
)
from lab.core.errors import LabError
from lab.core.settings import check_people
from lab.core.study.study import Study
from lab.studies.planning.study_places import check_goes_on, study_named
from lab.studies.seats import sees_outcomes
from store.store import Store

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORT = 8765


class ServeArguments(Arguments):
    studies: list[str] = argument("STUDY", "names of the studies to serve", nargs="*", completes="study")
    study: list[str] | None = option("STUDY", "serve this study, too; repeatable", action="append", completes="study")
    answer: list[str] | None = option(
        "P1,P2", "serve these people's rooms at the endpoint (`hitlab serve user`)", type=study_codes,
        completes="rater",
    )  # fmt: skip
    host: str = option("HOST", "listen on this address (default: this machine alone)", default="127.0.0.1")
    port: int = option("PORT", f"listen on this port (default: {PORT}; 0: a free one)", type=port, default=PORT)
    url: str | None = option("URL", "print links with this public address of a proxy (e.g. https://lab.example.org)")
    watch: bool = flag("also make a link to a page of each study's progress")
    most: int = option(
        "N", "open at most N windows at once (default: 200)", "--max-windows", "--most", type=up_to(10_000), default=200
    )


def add_serve_study(parser: Parser) -> None:
    parser.runs(serve, ServeArguments)
    parser.examples(
        """\
  hitlab study links tdg               makes each person's link
  hitlab serve study tdg
  hitlab serve study tdg mine --url https://lab.example.org
  hitlab serve study --answer P01,P02  beside `hitlab serve user --headless`
"""
    )


def serve(args: ServeArguments) -> int:
    """Serve until Ctrl+C. Make and print links for everybody without one."""
    settings = settings_for(args.db, sees_outcomes, "serve")
    _check_options(args)
    people = list(dict.fromkeys(args.answer or ()))
    check_people(people, "--answer", "code")
    with open_store(settings, create=False) as store:
        named = [study_named(store, name) for name in [*args.studies, *(args.study or ())]]
        studies = [*{(study.id, study.version): study for study in named}.values()]
        for study in studies:
            check_goes_on(store, study)
            linked_people(store, study)
            if args.watch:
                check_watched(store, study)
        asyncio.run(_serve(store, studies, people, args, settings.person))
    return 0


def _check_options(args: ServeArguments) -> None:
    """Raise `LabError` if people could not reach the server as it is configured."""
    if not args.studies and args.study is None and args.answer is None:
        raise LabError("serve", "what is served? Name a STUDY, or people with --answer P01,P02.", code=2)
    if args.most < 1:
        raise LabError("--max-windows", f"{args.most} windows are none.", code=2)
    if args.url is not None:
        checked_url(args.url)
    elif args.host not in _LOOPBACK:
        hint = "Name it with --url (e.g. https://lab.example.org). A proxy in front of the server does TLS."
        raise LabError("--host", f"{args.host}: which address do people type?", hint, code=2)


async def _serve(store: Store, studies: Sequence[Study], people: Sequence[str], args: ServeArguments, by: str) -> None:
    from lab.runs.endpoint.running_servers import RunningServer
    from lab.serve.server import LabServer, ServerPlace

    url = checked_url(args.url) if args.url else ""
    place = ServerPlace(args.host, args.port, url)
    server = LabServer(store, studies, place, most=args.most, answers=bool(people))
    await server.start()
    note = RunningServer(store.path, "serve", server.place.address)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        address = server.place.address
        if address.startswith("http:") and args.host not in _LOOPBACK:
            warn("What people type and see crosses the network as it is: put a proxy with TLS before this server.")
        for study in studies:
            _print_study(store, study, address, by)
            if args.watch:
                _print_watch(store, study, address, by)
        if people:
            _print_answer(store, people, address, by)
        print_line("Ctrl+C ends it; what was answered is kept.")
        # Links appear once only, so they must reach a pipe or log now.
        sys.stdout.flush()
        await server.serve(stop)
    finally:
        note.close()
        await server.stop()


def _print_study(store: Store, study: Study, address: str, by: str) -> None:
    """Print the address of a study and the links that are made now."""
    _print_links(store, study, linked_people(store, study), address, by, f"hitlab study links {study.id}")


def _print_answer(store: Store, people: Sequence[str], address: str, by: str) -> None:
    """Print the address of the room Answer and the links that are made now."""
    _print_links(store, None, people, address, by, "hitlab serve user --links")


def _print_links(store: Store, study: Study | None, people: Sequence[str], address: str, by: str, command: str) -> None:
    """Make and print the missing links. `command` is how to make others."""
    new_links = make_missing(store, study, people, address, by=by)
    name = study.name if study is not None else "Answer"
    print_line(f"{name} is served at {address} to {len(people)} {'people' if len(people) > 1 else 'person'}")
    for code, link in new_links.items():
        print_line(f"  {code}  {link}")
    if there := len(people) - len(new_links):
        print_line(f"  {there} have a link already; `{command} --renew CODE` makes another")


def _print_watch(store: Store, study: Study, address: str, by: str) -> None:
    """Make and print the manager's link of a study, unless there is one."""
    if has_watch_link(store, study):
        print_line(f"  a link to watch it is there already; `hitlab study links {study.id} --watch` makes another")
    else:
        print_line(f"  watch  {make_watch_link(store, study, address, by=by)}")
