"""What README, guides and the other documents show is true: commands, keys, files, settings, links and pictures."""

from __future__ import annotations

import ast
import io
import re
import shlex
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path

import pytest

from lab.cli.commands import EARLIER, earlier_names
from lab.cli.parsers import build_parser
from lab.core.settings import Settings
from lab.core.task.task import load_task
from screens.keymap import named_bindings
from simulators import library
from simulators.phone.installed import APPS
from simulators.users.scripted import load_script
from store.file import schema
from store.formats import formats, writers

ROOT = Path(__file__).parents[1]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
USED = [ROOT / "README.md", *GUIDES]
"""The pages for users; their commands are checked."""
PAGES = [*USED, *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md")), *sorted((ROOT / "docs").glob("*.md"))]
"""Every document; their links are checked."""


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks_of(page: Path, language: str) -> list[str]:
    """The code blocks of a page that are marked with a language; unmarked ones are commands."""
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)
    return [body for marked, body in blocks if marked == language]


def commands_of(page: Path) -> list[str]:
    """The lines of a page's command blocks, without comments, pipes and variables in front."""
    lines = [re.split("[#|>]", line)[0].strip() for body in blocks_of(page, "") for line in body.splitlines()]
    return [re.sub(r"^(?:HITLAB_\w+=\S+ )+", "", line) for line in lines]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def subcommands(command: str) -> frozenset[str]:
    """The words that may follow `hitlab`, or `hitlab COMMAND`, as its help lists them."""
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        build_parser().parse_args([*command.split(), "--help"])
    listed = printed.getvalue().partition("\noptions:\n")[2].partition("\n\n")[2].partition("\nexamples:")[0]
    return frozenset(re.findall(r"^  ([a-z][a-z-]*)  ", listed, re.MULTILINE))


@pytest.mark.parametrize("page", USED, ids=name_of)
def test_every_command_shown_is_a_command(page: Path) -> None:
    shown = [line for line in commands_of(page) if line.startswith("hitlab ")]
    assert shown
    parser = build_parser()
    for line in shown:
        try:
            args = parser.parse_args(shlex.split(line)[1:])
        except SystemExit as error:
            pytest.fail(f"{name_of(page)}: {line}: exit {error.code}")
        assert args.run, line


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_in_a_sentence_is_a_command(page: Path) -> None:
    """Pages for users and developers say today's names. The changelog may say those of earlier versions."""
    earlier = {old.partition(" ")[0] for old in earlier_names()} | {word.name for word in EARLIER}
    for line in re.findall(r"`hitlab ([a-z][^`]*)`", text_of(page)):
        first, *rest = line.split()
        if page.name == "CHANGELOG.md":
            assert first in subcommands("") | earlier, f"{name_of(page)}: hitlab {line}"
            continue
        assert first in subcommands(""), f"{name_of(page)}: hitlab {line}"
        if subcommands(first) and rest:
            assert rest[0] in subcommands(first), f"{name_of(page)}: hitlab {line}"


@pytest.mark.parametrize("page", USED, ids=name_of)
def test_every_command_shown_has_the_name_of_today(page: Path) -> None:
    for line in (line for line in commands_of(page) if line.startswith("hitlab ")):
        words = [word for word in shlex.split(line)[1:] if not word.startswith("-")]
        if words and subcommands(words[0]):
            assert len(words) == 1 or words[1] in subcommands(words[0]), line
        elif words and "--db" not in line.split()[:2] and "." not in words[0]:
            assert words[0] in subcommands(""), line


def test_every_make_target_shown_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = [line for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md") for line in commands_of(page)]
    targets = {target for page in PAGES for target in re.findall(r"`make (\w+)`", text_of(page))}
    targets |= {line.split()[1] for line in lines if line.startswith("make ")}
    assert {"demo", "test"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_command_there_is_is_shown() -> None:
    """In the README or in a guide."""
    shown = "\n".join(text_of(page) for page in USED)
    assert subcommands("")
    for name in subcommands(""):
        assert re.search(rf"hitlab {name}\b", shown), name


def test_the_readme_is_short_and_names_every_guide() -> None:
    readme = text_of(ROOT / "README.md")
    assert len(readme.splitlines()) <= 250
    for page in GUIDES:
        if page.stem != "process":  # a part of agents.md, which names it
            assert f"(docs/guides/{page.name})" in readme, page.name


def test_the_files_shown_load(tmp_path: Path) -> None:
    shown = blocks_of(ROOT / "docs" / "guides" / "participants.md", "yaml")
    task, script = tmp_path / "task.yaml", tmp_path / "script.yaml"
    task.write_text(next(body for body in shown if "kind:" in body), encoding="utf-8")
    script.write_text(next(body for body in shown if "replies:" in body), encoding="utf-8")
    assert load_task(task).checks
    assert len(load_script(script).replies) == 2


def test_every_setting_is_listed_with_its_default() -> None:
    page = text_of(ROOT / "docs" / "guides" / "file.md")
    rows = re.findall(r"^\| `(\w+)` \| (`[^`]*`|none) \|", page.partition("## Settings")[2], re.MULTILINE)
    words = {"`true`": "True", "`false`": "False", "none": "None"}
    shown = {name: ast.literal_eval(words.get(value, value.strip("`"))) for name, value in rows}
    settings = Settings()
    assert shown == {name: getattr(settings, name) for name in Settings.__struct_fields__}


def guide(name: str) -> str:
    return text_of(ROOT / "docs" / "guides" / name)


def first_cells(text: str) -> set[str]:
    """What stands as code in the first cells of a text's tables."""
    return {
        name for cell in re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE) for name in re.findall(r"`(\w[^`]*)`", cell)
    }


def test_every_table_of_the_file_is_listed() -> None:
    listed = first_cells(guide("file.md").partition("## Keys")[0])
    assert listed == set(schema.APPEND_ONLY)


def test_every_format_is_listed() -> None:
    imported, _, rest = guide("formats.md").partition("## What is exported")
    assert set(re.findall(r"\| `(\w+)` \|$", imported, re.MULTILINE)) == set(formats())
    assert first_cells(rest.partition("## Metrics")[0]) - {"hitlab export --format"} == set(writers())
    assert len(formats()) == 15  # the pages say fifteen and seven
    assert len(writers()) == 7


def test_every_preset_is_listed_and_what_is_counted_is_there() -> None:
    page = guide("annotators.md")
    presets = {path.stem for path in (ROOT / "annotators" / "presets").glob("*.yaml")}
    assert first_cells(page.partition("## Presets")[2].partition("\n## ")[0]) == presets
    assert len(list((ROOT / "annotators" / "protocols").glob("*.yaml"))) == 21  # twenty-one
    assert (len(library.tasks()), len(library.personas())) == (30, 4)  # thirty and four
    assert len(APPS) == 17  # sixteen, and the launcher


KEYS = {
    "annotators.md": {"annotate", "answer"},
    "agreement.md": {"adjudicate"},
    "replay.md": {"author", "list", "replay"},
    "debugging.md": {"run"},
    "file.md": {"app", "home", "replay", "runs"},
}
"""The guides that hold tables of keys, and of which bindings (the part of their ids before the dot)."""
NAMED = {
    "Esc": "escape",
    "PgDn": "pagedown",
    "?": "question_mark",
    "/": "slash",
    "+": "plus",
    ">": "greater_than_sign",
    "=": "equals_sign",
    "-": "minus",
}
PALETTE = "ctrl+p"
"""The one key shown that Textual binds itself."""


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_every_key_in_a_table_is_bound(page: Path) -> None:
    tables = re.findall(r"^\| key \| what it does \|\n\|---\|---\|\n((?:\|.*\n)+)", text_of(page), re.MULTILINE)
    assert bool(tables) == (page.name in KEYS)
    wanted = KEYS.get(page.name, set())
    of_these = [one for one in named_bindings().values() if one.id.partition(".")[0] in wanted]
    bound = {PALETTE} | {key.strip() for one in of_these for key in one.keys.split(",")}
    for table in tables:
        for cell in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE):
            for key in re.findall(r"`([^`]+)`", cell):
                name = NAMED.get(key, key if len(key) == 1 else key.lower())
                assert name in bound, f"{name_of(page)}: {key}"


# -- links and pictures ---------------------------------------------------------------------------------------


def targets_of(page: Path) -> list[str]:
    """Where a page's links and pictures lead, but for the web."""
    prose = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose))
    return [target for target in found if not re.match(r"https?://|mailto:", target)]


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """The anchors that a forge gives a page's headings."""
    titles = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in targets_of(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name_of(page)}: {target}"
        assert there.is_relative_to(ROOT), f"{name_of(page)}: {target} leads out of the project"
        if anchor:
            assert anchor in anchors_of(there), f"{name_of(page)}: {target}"


def test_every_picture_is_shown_and_described() -> None:
    shown = set()
    for page in PAGES:
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text_of(page)):
            assert words, f"{name_of(page)}: {target} has no description"
            shown.add((page.parent / target).resolve())
    assert shown == set((ROOT / "docs").glob("*.png"))
