"""The command answer: a person, a script or a model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from lab.cli import app
from lab.cli.arguments import Parser, TableArguments, duration, flag, option, port, seconds
from lab.cli.database import open_store
from lab.cli.output import print_json, print_line, warn
from lab.cli.serve.end_signals import end_signals
from lab.cli.serve.endpoint_start import HOST, PORT, place_of
from lab.cli.serve.user_acts import AnswerActArguments, act, list_conversations
from lab.cli.serve.user_links import AnswerLinksArguments, links
from lab.core.errors import LabError
from lab.core.settings import Settings, check_people, load
from lab.core.task.task import Actor
from lab.studies.seats import check_seat, may_answer

if TYPE_CHECKING:
    from lab.llm.client import Llm
    from lab.runs.endpoint.automatic_answers import UserOf
    from lab.serve.answer_service import AnswerPlan
    from simulators.users.endpoint.known_tasks import KnownTask
    from simulators.users.endpoint.place import EndpointPlace


class EndpointServed(msgspec.Struct, frozen=True):
    """Address of `serve user`: `base` is the clients' base URL, `token` their API key, empty if none is needed.

    `people` are the study codes that get conversations, or the script or model that answers.
    """

    base: str
    token: str
    db: str
    people: tuple[str, ...]


class AnswerArguments(AnswerActArguments, AnswerLinksArguments, TableArguments):
    host: str = option("HOST", "listen on this address (default: this machine alone)", default=HOST)
    port: int = option("PORT", f"listen on this port (default: {PORT}; 0: a free one)", type=port, default=PORT)
    task_file: list[str] | None = option(
        "TASK", "recognize this task of clients (e.g. task.yaml) by its id, goal or persona; repeatable",
        action="append", completes="task",
    )  # fmt: skip
    script: str | None = option("FILE", "answer from a script file (e.g. script.yaml), without a screen")
    model: str | None = option("NAME", "let a model answer (e.g. openai/gpt-5), without a screen")
    judge_model: str | None = option("NAME", "let a model answer what a benchmark asks its judges")
    judge_rule: list[str] | None = option(
        "REGEX", "treat requests whose system prompt matches REGEX as a judge's; repeatable", action="append"
    )
    keep_alive: float = option("S", "send a sign of life every S seconds (default: 15)", type=seconds, default=15.0)
    close_after: float = option(
        "TIME", "end conversations whose clients are silent for TIME, e.g. 30m, 2h or 1d (default: never)",
        type=duration, default=0.0,
    )  # fmt: skip
    headless: bool = flag("serve without a screen; people answer by --room or --reply")
    room: bool = flag("open only the room; another `hitlab serve user` serves this file")
    only: bool = flag("with --room: show nothing else of the lab (for a participant)", "--room-only", "--only")

    def table_lines(self) -> str:
        return "" if self.list or self.links else "`hitlab serve user --list` (or --links)"


def add_serve_user(parser: Parser) -> None:
    parser.runs(
        answer, AnswerArguments,
        prints={"answer": EndpointServed, "answer-list": "list:lab.runs.endpoint.conversation_list:ConversationLine",
                "answer-reply": "lab.cli.serve.user_acts:ReplyGiven",
                "answer-links": "lab.cli.serve.user_links:AnswerLinks"},
    )  # fmt: skip
    parser.examples(
        """\
  hitlab serve user --person P07       you are the user of a benchmark
  hitlab serve user --task-file task.yaml --judge-model openai/gpt-5
  hitlab serve user --links --person P01,P02   a browser link for each
  hitlab serve user --reply 019a --accept --text "Yes, please."
"""
    )


def answer(args: AnswerArguments) -> int:
    """Serve the endpoint, with or without a screen at this terminal, or do one act under the same rules."""
    settings = load(db=args.db, person=args.person[0] if args.person else None)
    check_seat(settings, may_answer, "serve user")
    people = _distinct_people(args.person, settings)
    _check_options(args)
    if args.list:
        return list_conversations(args, settings)
    if args.links:
        return links(args, settings, people if args.person else [])
    if args.reply is not None or args.close is not None:
        return act(args, settings)
    return _open_room(args, settings) if args.room else _serve(args, settings, people)


def _distinct_people(codes: Sequence[str] | None, settings: Settings) -> list[str]:
    people = list(dict.fromkeys(codes or [settings.person]))
    check_people(people, "--person", "code")
    return people


def _check_options(args: AnswerArguments) -> None:
    """Raise `LabError` for options that do not go together."""
    acts = [
        name
        for name, there in {
            "--list": args.list,
            "--reply": args.reply is not None,
            "--close": args.close is not None,
            "--room": args.room,
            "--links": args.links,
            "--script": args.script is not None,
            "--model": args.model is not None,
        }.items()
        if there
    ]
    if len(acts) > 1:
        raise LabError("serve user", f"{' and '.join(acts)} do not go together.", code=2)
    served = {
        "--close-after": args.close_after, "--task-file": args.task_file,
        "--judge-rule": args.judge_rule, "--judge-model": args.judge_model,
    }  # fmt: skip
    of_serving = [name for name, value in served.items() if value]
    if of_serving and acts and acts[0] not in ("--script", "--model"):
        problem = f"{acts[0]} and {of_serving[0]} do not go together."
        raise LabError("serve user", problem, f"{of_serving[0]} is for the `hitlab serve user` that serves.", code=2)
    _check_belongs(args)
    tools, arguments = len(args.tool or ()), len(args.arguments or ())
    if tools and (args.text is not None or args.score is not None):
        words = "--text" if args.text is not None else "--score"
        raise LabError(
            "serve user", f"{words} and --tool do not go together.", "A call stands in place of words.", code=2
        )
    if arguments > tools:
        raise LabError("--arguments", "are a function's.", "Name it with --tool.", code=2)
    if 0 < arguments < tools:
        problem = f"stand for {arguments} of {tools} functions."
        raise LabError("--arguments", problem, "Give each --tool its own; '{}' are none.", code=2)
    if not 0.05 <= args.keep_alive <= 60:
        raise LabError("--keep-alive", f"{args.keep_alive:g} s is not from 0.05 to 60.", code=2)


def _check_belongs(args: AnswerArguments) -> None:
    """Raise `LabError` for an option without the one that it belongs to."""
    of_reply: dict[str, object] = {
        "--text": args.text is not None,
        "--accept": args.accept,
        "--reject": args.reject,
        "--tool": args.tool is not None,
        "--arguments": args.arguments is not None,
        "--score": args.score is not None,
    }
    of_links: dict[str, object] = {
        "--renew": args.again,
        "--revoke": args.revoke,
        "--expires": args.until,
        "--shared": args.shared,
        "--url": args.url,
    }
    belongings = (
        ("--reply RUN", args.reply is not None, of_reply),
        ("--links", args.links, of_links),
        ("--room", args.room, {"--room-only": args.only}),
    )
    for owner, there, options in belongings:
        loose = ", ".join(name for name, value in options.items() if value)
        if loose and not there:
            raise LabError("serve user", f"{loose}: belongs to {owner}.", code=2)


# -- serving -----------------------------------------------------------------------------------------------------


def _open_room(args: AnswerArguments, settings: Settings) -> int:
    """Open one person's screen on a file that another process serves."""
    from screens.navigation import Opening

    seat = replace(settings, seat="participant") if args.only else settings
    with open_store(settings, create=False) as store:
        opening = Opening("answer", only_study=args.only)
        return app.show_room(store, seat, opening, "serve user", "--list and --reply work without one.")


def _serve(args: AnswerArguments, settings: Settings, people: Sequence[str]) -> int:
    from lab.runs.endpoint.conversation_list import waiting_count, waiting_words
    from lab.serve.answer_service import serving

    # A script or model needs no screen, and --json prints instead.
    headless = args.headless or args.json or args.script is not None or args.model is not None
    if not headless and not app.has_terminal():
        raise LabError("serve user", app.no_terminal(), "Add --headless, --script FILE or --model NAME.", code=2)
    plan = _serving_plan(args, settings, people)
    with open_store(settings) as store, serving(store, plan, lambda error: warn(error.sentence)) as server:
        if headless:
            codes, place = tuple(person.id for person in plan.people), place_of(server, plan)
            endpoint = EndpointServed(server.base, plan.access.token, str(store.path), codes)
            with end_signals() as end:
                _print_endpoint(endpoint, place, as_json=args.json)
                end.wait_for_end()
            if waiting := waiting_count(store):
                warn(waiting_words(waiting))
            return 0
        from screens.navigation import Opening

        return app.run_app(store, settings, Opening("answer", endpoint=place_of(server, plan)))


def _serving_plan(args: AnswerArguments, settings: Settings, people: Sequence[str]) -> AnswerPlan:
    """Return how to serve the endpoint. Raise `LabError` before a file is made."""
    from lab.serve.answer_service import AnswerPlan
    from simulators.users.endpoint.access import TOKEN, access_for
    from simulators.users.endpoint.request_kinds import judge_rules

    users, actors = _users(args, settings, people)
    return AnswerPlan(
        args.host,
        args.port,
        access_for(args.host, os.environ.get(TOKEN, "")),
        judge_rules(args.judge_rule),
        actors,
        _known_tasks(args.task_file or ()),
        users,
        _llm(args.judge_model, settings) if args.judge_model is not None else None,
        args.keep_alive,
        args.close_after,
    )


def _known_tasks(names: Sequence[str]) -> list[KnownTask]:
    from simulators import library
    from simulators.users.endpoint.known_tasks import KnownTask

    tasks = [library.task(name) for name in names]
    return [KnownTask(task, library.persona(task.persona, task.log) if task.persona else None) for task in tasks]


def _users(args: AnswerArguments, settings: Settings, people: Sequence[str]) -> tuple[UserOf | None, list[Actor]]:
    """Return the automatic user (None: people answer) and the actors who get conversations."""
    if args.script is not None:
        from simulators import library
        from simulators.users.scripted import Scripted

        user = Scripted(library.script(args.script))
        return (lambda about: user), [user.actor]
    if args.model is not None:
        from simulators.users.model import ModelUser

        name, llm = args.model, _llm(args.model, settings)
        return (lambda about: ModelUser(name, llm, about.task, about.persona)), [Actor("model", f"model:{name}", name)]
    return None, [Actor("human", code) for code in people]


def _llm(name: str, settings: Settings) -> Llm:
    """Return a model's client. Raise `LabError` if the name is wrong or its key is missing."""
    from lab.llm.client import Llm, terms

    llm = Llm(name, terms(settings))
    llm.check()
    return llm


def _print_endpoint(endpoint: EndpointServed, place: EndpointPlace, *, as_json: bool) -> None:
    if as_json:
        print_json(endpoint)
        return
    print_line(
        f"{', '.join(endpoint.people)} {'answers' if len(endpoint.people) == 1 else 'answer'} at {endpoint.base}"
    )
    for note in place.notes:
        print_line(f"  {note}")
    if place.close_after:
        print_line(f"  conversations end after {place.close_after} of silence")
    print_line("Ctrl+C ends it; what was answered is kept.")
    # Whoever reads this through a pipe needs the address now, not when the server ends.
    sys.stdout.flush()
