"""The commands archive, restore, tag and rename-agent, which organize the lists of runs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lab.cli.arguments import JsonArguments, Parser, TableArguments, argument, flag, option
from lab.cli.database import in_file, open_store, settings_for
from lab.cli.output import SHORT_ID, print_line, print_result, print_table
from lab.core.errors import LabError
from lab.core.task.task import AgentName, agent_word, compose_name
from lab.core.values.rounding import count
from lab.runs.listing.run_acts import TagChange, archive_runs, rename_agent, tag_change, tag_runs
from lab.runs.listing.run_selection import EVERY, is_filter, runs_by_id, runs_matching
from lab.studies.seats import sees_outcomes
from store.store import Store


class RunsArchived(msgspec.Struct, frozen=True):
    """Result of `archive` and `restore`. `new` are the runs that it changed."""

    archived: bool
    runs: tuple[str, ...]
    new: tuple[str, ...]


class RunTags(msgspec.Struct, frozen=True):
    """A run with its current tags."""

    id: str
    tags: tuple[str, ...]


class RunsTagged(msgspec.Struct, frozen=True):
    """Result of `tag`: tags added and removed, the number of changes, and the runs' current tags."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changes: int
    runs: tuple[RunTags, ...]


class AgentRenamed(msgspec.Struct, frozen=True):
    """Result of `runs rename-agent`: the agent's name in `runs` (null: its own), and the runs that it changed."""

    agent: AgentName | None
    runs: tuple[str, ...]
    new: tuple[str, ...]


class TagLine(msgspec.Struct, frozen=True):
    """A tag and the number of its runs: `tag` without words."""

    tag: str
    runs: int


_RUNS = "ids, `all`, or words as `hitlab runs list` takes them"


class ArchiveArguments(JsonArguments):
    words: list[str] = argument("ID|FILTER", _RUNS, nargs="*", completes="run")


def add_runs_archive(parser: Parser) -> None:
    parser.runs(archive, ArchiveArguments, prints={"archive": RunsArchived}, loose="words")
    parser.examples(
        """\
  hitlab runs archive 019a 019b         two runs
  hitlab runs archive tag:trial status:failed
  hitlab runs list --archived           the archived runs
  hitlab study archive tdg              a study
"""
    )


def add_runs_restore(parser: Parser) -> None:
    parser.runs(restore, ArchiveArguments, prints={"restore": RunsArchived}, loose="words")
    parser.examples(
        """\
  hitlab runs restore 019a              in the lists again
  hitlab runs restore tag:trial
"""
    )


def archive(args: ArchiveArguments) -> int:
    """Remove runs from the lists. They stay in the file and in studies."""
    return _archive(args, archived=True)


def restore(args: ArchiveArguments) -> int:
    """Return archived runs to the lists."""
    return _archive(args, archived=False)


def _archive(args: ArchiveArguments, *, archived: bool) -> int:
    verb = "archive" if archived else "restore"
    settings = settings_for(args.db, sees_outcomes, verb)
    with open_store(settings, create=False) as store:
        runs = _find_runs(store, args.words, verb, archived=not archived)
        acts = archive_runs(store, runs, settings.person, archived=archived)
    result = RunsArchived(archived, tuple(runs), tuple(act.trace for act in acts))
    print_result(result, lambda _: _print_archived(result, args.db), json=args.json)
    return 0


def _print_archived(result: RunsArchived, db: str | None) -> None:
    already = len(result.runs) - len(result.new)
    beside = f"; {already:,} {'was' if already == 1 else 'were'} so already" if already else ""
    if not result.archived:
        print_line(f"{count(len(result.new), 'run')} back in the lists{beside}")
        return
    print_line(f"{count(len(result.new), 'run')} archived: in no list, and nothing is lost{beside}")
    if result.new:
        ids = result.new[0][:SHORT_ID] + (" ..." if len(result.new) > 1 else "")
        print_line(
            f"`hitlab runs restore {ids}{in_file(db)}` brings back; `hitlab runs list --archived{in_file(db)}` lists"
        )


class TagArguments(TableArguments):
    words: list[str] = argument(
        "ID|FILTER|+TAG|-TAG", f"runs ({_RUNS}), +TAG and -TAG (default: list the tags)", nargs="*"
    )

    def table_lines(self) -> str:
        return "" if not self.words else "`hitlab runs tag` without words"


def add_runs_tag(parser: Parser) -> None:
    parser.runs(tag, TagArguments, prints={"tag": RunsTagged, "tag-list": list[TagLine]}, loose="words")
    parser.examples(
        """\
  hitlab runs tag                       every tag, and its number of runs
  hitlab runs tag 019a 019b +pilot      add a tag
  hitlab runs tag agent:qwen +main -pilot   add one, remove another
  hitlab runs list tag:pilot            the runs with a tag
"""
    )


def tag(args: TagArguments) -> int:
    """Add and remove tags of runs. Without words list all tags."""
    settings = settings_for(args.db, sees_outcomes, "tag")
    words = [word.strip() for word in args.words]
    if not words:
        with open_store(settings, create=False, readonly=True) as store:
            lines = [TagLine(name, runs) for name, runs in store.runs.acts.tags().items()]
        nothing = "no tags; `hitlab runs tag RUN +NAME` puts one on"
        print_result(lines, lambda _: _print_tags(lines), json=args.json, nothing=nothing)
        return 0
    marks = [word for word in words if word[:1] in "+-" and not is_filter(word)]
    change = tag_change(marks)
    if not marks:
        raise LabError("tag", "needs +TAG or -TAG after the runs", "`hitlab runs tag` alone lists the tags.", code=2)
    with open_store(settings, create=False) as store:
        runs = _find_runs(store, [word for word in words if word not in marks], "tag")
        acts = tag_runs(store, runs, change, settings.person)
        states = store.runs.acts.states(runs)
    run_tags = tuple(RunTags(run, states[run].tags if run in states else ()) for run in runs)
    result = RunsTagged(change.added, change.removed, len(acts), run_tags)
    print_result(result, lambda _: _print_tagged(result, change), json=args.json)
    return 0


class RenameArguments(JsonArguments):
    words: list[str] = argument("ID|FILTER", _RUNS, nargs="*", completes="run")
    to: str | None = option("NAME", "give the agent this name", "--new-name", "--to", one_of="name!")
    undo: bool = flag("give the agent its own name again", one_of="name!")
    version: str = option("V", "with --new-name: give its version (e.g. 2)", default="")
    model: str = option("M", "with --new-name: give the model that it asks", default="")


def add_runs_rename_agent(parser: Parser) -> None:
    parser.runs(rename, RenameArguments, prints={"rename-agent": AgentRenamed}, loose="words")
    parser.examples(
        """\
  hitlab runs rename-agent source:tau2 agent:m/one --new-name retry_agent
  hitlab runs rename-agent 019a 019b --new-name mine --version 2
  hitlab runs rename-agent 019a --undo  its own name again
"""
    )


def rename(args: RenameArguments) -> int:
    """Rename the agent of runs in every table. The imported data does not change, and --undo reverts it."""
    name = None if args.to is None else AgentName(*(agent_word(word) for word in (args.to, args.version, args.model)))
    if name is None and (args.version or args.model):
        raise LabError("rename-agent", "--version and --model go with --new-name.", code=2)
    if name is not None and not name.name:
        raise LabError("rename-agent", "--new-name is empty.", "--undo brings the agent's own name back.", code=2)
    settings = settings_for(args.db, sees_outcomes, "rename-agent")
    with open_store(settings, create=False) as store:
        runs = _find_runs(store, args.words, "rename-agent")
        acts = rename_agent(store, runs, name, settings.person)
    result = AgentRenamed(name, tuple(runs), tuple(act.trace for act in acts))
    print_result(result, lambda _: _print_renamed(result), json=args.json)
    return 0


def _print_renamed(result: AgentRenamed) -> None:
    name = result.agent
    whole = "its own name again" if name is None else compose_name(name.name, name.version, name.model, ())
    already = len(result.runs) - len(result.new)
    print_line(f"{count(len(result.new), 'run')}: agent {whole}" + (f"; {already:,} so already" if already else ""))


def _print_tags(lines: Sequence[TagLine]) -> None:
    print_table(["tag", "runs"], [[line.tag, f"{line.runs:,}"] for line in lines])


def _print_tagged(result: RunsTagged, change: TagChange) -> None:
    words = [f"+{name}" for name in change.added] + [f"-{name}" for name in change.removed]
    note = "" if result.changes else "; all was so already"
    print_line(f"{count(len(result.runs), 'run')}: {' '.join(words)}{note}")


def _find_runs(store: Store, words: Sequence[str], verb: str, *, archived: bool = False) -> list[str]:
    """Return the runs that words name. A filter searches the listed runs, or with `archived` the archived ones."""
    words = [word.strip() for word in words]
    if not words:
        raise LabError(
            verb, "names no run", "Ids, `all`, or a filter name runs; `hitlab runs list` lists them.", code=2
        )
    runs = runs_by_id(store, words) or runs_matching(store, words, archived=archived)
    if not runs:
        criterion = "" if words == [EVERY] else f" that fits {' '.join(words)!r}"
        raise LabError(verb, f"there is no {'archived ' if archived else ''}run{criterion}.")
    return runs
