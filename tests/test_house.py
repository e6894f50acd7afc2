"""The house rules: who may import whom, what loads what, what every file must be."""

from __future__ import annotations

import ast
import os
import pwd
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from lab.core.seams import Trouble
from lab.devices.adb.adb_server import Server
from tests.markup_doors import markup_doors

ROOT = Path(__file__).parents[1]
PACKAGES = ("lab", "screens", "annotators", "simulators", "store")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

FLOORS = {
    "lab.core": 1,
    "lab.llm": 2,
    "lab.ocr": 2,
    "store": 3,
    "annotators": 3,
    "simulators": 3,
    "lab.agents": 3,
    "lab.devices": 3,
    "lab.runs": 4,
    "lab.studies": 5,
    "lab.serve": 6,
    "screens": 6,
    "lab.cli": 7,
}
"""Each folder's floor: a module imports from its own folder and from lower floors, and nothing else of ours."""

ONLY = {
    "textual": ("screens",),
    "sqlite3": ("store",),
    "sqlite_utils": ("store",),
    "adbutils": ("lab.devices", "simulators.phone"),
    "litellm": ("lab.llm",),
    "rapidocr": ("lab.ocr",),
    "argcomplete": ("lab.cli",),
    "distributed": ("lab.llm.cluster_executor",),
    "dask": (),
    "aiohttp": ("lab.serve",),
}
"""Libraries that one place alone may import."""


SHOWN = "lab.core.text.plain_text"


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def folder_of(module: str) -> str | None:
    """The folder of FLOORS that a module stands in."""
    return next((folder for folder in FLOORS if module == folder or module.startswith(folder + ".")), None)


_IMPORT = re.compile(r"^[ \t]*(from\s+[\w.]+\s+import\s+(?:\([^)]*\)|[^\n(]+)|import[ \t][^\n]+)$", re.MULTILINE)


def imports_of(path: Path) -> set[str]:
    """Every module a file imports: also inside functions, and what only type checkers read.

    Each import begins a line (ruff's E701 and E702 see to that), so the rest of a file need not be parsed.
    """
    found: set[str] = set()
    lines = "\n".join(match[1] for match in _IMPORT.finditer(path.read_text(encoding="utf-8")))
    for node in ast.parse(lines).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the folder"
            module = node.module or ""
            submodules = [f"{module}.{alias.name}" for alias in node.names]
            found |= {sub if (ROOT / (sub.replace(".", "/") + ".py")).exists() else module for sub in submodules}
    return found


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports, by its name."""
    return {name_of(path): imports_of(path) for path in FILES}


def misplaced(name: str) -> list[str]:
    """What a module may not import, a sentence each."""
    here = folder_of(name)
    ours = sorted(one for one in imports()[name] if one.partition(".")[0] in PACKAGES)
    if here is None:
        return [f"{name} has no place in the house"] if ours else []
    found = []
    for imported in ours:
        there = folder_of(imported)
        if there is None or not (there == here or FLOORS[there] < FLOORS[here]):
            found.append(f"{name} may not import {imported}")
    return found


def test_imports_only_from_lower_floors() -> None:
    assert len(imports()) > 500
    assert [wrong for name in sorted(imports()) for wrong in misplaced(name)] == []


def test_no_module_imports_in_a_circle() -> None:
    """No two modules know one another, however far round: neither in functions nor for type checkers only."""
    try:
        TopologicalSorter({name: found & imports().keys() for name, found in imports().items()}).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


MOST_FILES = 25
"""Modules that a folder may hold, beside its `__init__.py`."""
LEAST_LINES = 40


def test_no_folder_holds_more_files_than_one_can_survey() -> None:
    counts = Counter(path.relative_to(ROOT).parent.as_posix() for path in FILES if path.name != "__init__.py")
    assert not [folder for folder, count in counts.items() if count > MOST_FILES]


def test_no_small_file_serves_one_other_file_beside_it() -> None:
    importers: dict[str, set[str]] = {}
    for name, found in imports().items():
        for imported in found:
            importers.setdefault(imported, set()).add(name)
    small = [
        path.relative_to(ROOT).as_posix()
        for path in FILES
        if path.name not in ("__init__.py", "__main__.py", "keys.py")
        and len(path.read_text(encoding="utf-8").splitlines()) < LEAST_LINES
        and len(users := importers.get(name_of(path), set())) == 1
        and next(iter(users)).rpartition(".")[0] == name_of(path).rpartition(".")[0]
    ]
    # These are imported late, so that a command or a start loads no more than it needs.
    assert small == ["screens/browser_driver.py", "store/runs/family.py"]


_OPENINGS = frozenset({"What", "Whose", "Whether", "Where", "Which", "Who", "Of", "None"})


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    opened = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {words[:60]}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(words := node.value.value, str)
        and words.split(None, 1)[:1]
        and words.split(None, 1)[0].rstrip(",:.") in _OPENINGS
    ]
    assert opened == []


def test_the_first_line_of_a_docstring_is_one_statement() -> None:
    joined = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {first}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(words := node.value.value, str)
        and ";" in re.sub(r"`[^`]*`", "", first := words.partition("\n")[0])
    ]
    assert joined == []


_PARTICLES = {
    "again", "answered", "apart", "asked", "at", "away", "back", "beside", "both", "bring", "by", "came", "chosen",
    "closed", "come", "dealt", "done", "down", "drawn", "ended", "entered", "few", "found", "furnish", "given",
    "goes", "going", "gone", "held", "holds", "incoming", "kept", "lacking", "left", "look", "looked", "made",
    "marked", "missing", "moved", "named", "near", "needed", "of", "off", "one", "opened", "others", "out", "over",
    "played", "put", "rated", "refused", "said", "sat", "says", "seen", "shown", "sits", "stands", "stood", "taken",
    "tell", "then", "there", "told", "turned", "up", "used", "waits", "wanted", "within", "without",
}  # fmt: skip
"""Words that do not say what a function does or returns."""
_EVENTS = {"Asked", "Answered", "Ended", "Started"}
"""Events of a trace (`lab/core/run/trace.py`): like messages, they say what happened."""


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def definitions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the functions, classes and methods of a module. Of nested classes only the methods: they are messages."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from (one for one in definitions(node.body) if not isinstance(one, ast.ClassDef))


def test_public_names_say_what_they_do() -> None:
    riddles = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for path, tree in trees().items()
        for node in definitions(tree.body)
        if node.name.lower() in _PARTICLES and node.name not in _EVENTS
    ]
    assert riddles == []


def test_no_two_classes_of_a_floor_share_a_name() -> None:
    places: dict[tuple[int, str], list[str]] = {}
    for path, tree in trees().items():
        folder = folder_of(name_of(path))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and folder is not None:
                places.setdefault((FLOORS[folder], node.name), []).append(path.relative_to(ROOT).as_posix())
    assert {name: found for (_, name), found in places.items() if len(found) > 1} == {}


MOST_LINES = 60
"""Lines of a function, without docstrings and without the functions and classes inside it."""


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    inner = [
        node
        for node in ast.walk(function)
        if node is not function
        and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            or (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            )
        )
    ]
    covered = {line for node in inner for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return (function.end_lineno or function.lineno) - function.lineno + 1 - len(covered)


def test_no_function_is_longer_than_a_screen() -> None:
    longer = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has {lines} lines"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (lines := lines_of(node)) > MOST_LINES
    ]
    assert longer == []


def test_libraries_stay_in_their_place() -> None:
    wrong = [
        f"{name} may not import {library}"
        for name, found in imports().items()
        for imported in found
        for library, places in ONLY.items()
        if imported == library or imported.startswith(library + ".")
        if not any(name == place or name.startswith(place + ".") for place in places)
    ]
    assert wrong == []


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running `code`."""
    script = f"import sys\n{code}\nsys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(done.stderr.split())


def test_text_that_is_shown_is_never_kept() -> None:
    """What `plain` returns holds codes in place of characters: no file, no record and no field may hold it."""
    assert [name for name, found in imports().items() if name.startswith("store") and SHOWN in found] == []
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in FILES}
    records = {name for text in texts.values() for name in re.findall(r"^class (\w+)\(msgspec\.Struct", text, re.M)}
    trees = {name: ast.parse(texts[name]) for name, found in imports().items() if SHOWN in found}
    kept = [
        f"{name}:{call.lineno} {ast.unparse(call.func)}"
        for name, tree in trees.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _called(call) in records
        for inner in ast.walk(call)
        if isinstance(inner, ast.Call) and _called(inner) == "plain"
    ]
    assert kept == []


def test_text_for_a_page_is_escaped_in_one_place() -> None:
    """`html_text` also makes signs visible that would turn a line of the page around."""
    escape = re.compile(r"from html import .*escape\b|html\.escape\(")
    escaping = [name_of(path) for path in FILES if escape.search(path.read_text(encoding="utf-8"))]
    assert escaping == ["lab.core.text.plain_text"]


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def test_help_loads_nothing_heavy() -> None:
    loaded = loaded_by("import lab.cli.main\ntry:\n    lab.cli.main.main(['--help'])\nexcept SystemExit:\n    pass")
    assert "argparse" in loaded
    heavy = {"textual", "litellm", "numpy", "PIL", "sqlite3", "sqlite_utils", "msgspec", "rich", "yaml"}
    assert not loaded & (heavy | {"rapidfuzz", "argcomplete"})


def test_a_live_run_without_a_model_loads_no_client_of_one() -> None:
    loaded = loaded_by("import lab.runs.session, screens.live.live")
    assert "screens.live.live" in loaded
    assert not loaded & {"httpx", "litellm", "av", "adbutils", "click"}


def test_listing_runs_loads_no_screen(tmp_path: Path) -> None:
    db = tmp_path / "x.db"
    made = f"from pathlib import Path\nfrom store.store import Store\nStore.open(Path({str(db)!r})).close()"
    loaded_by(made)
    loaded = loaded_by(f"import lab.cli.main\nlab.cli.main.main(['traces', '--json', '--db', {str(db)!r}])")
    assert "store.store" in loaded
    assert not loaded & {"textual", "litellm", "numpy", "PIL", "sqlite_utils", "av", "adbutils"}


def test_the_table_of_runs_and_two_compared_load_no_screen(tmp_path: Path) -> None:
    db = tmp_path / "x.db"
    main = "import lab.cli.main\nfor words in {}: assert lab.cli.main.main([*words, '--db', {!r}]) == 0"
    run = "from pathlib import Path\nfrom store.store import Store\n"
    run += "from lab.core.run.run_records import Imported, number_events\n"
    run += "from lab.core.task.task import Actor, Task\nfrom lab.core.run.trace import Started\n"
    run += "event = Started(trace='r', task=Task('t', 'general', instruction='x'), agent=Actor('script', 'a'))\n"
    loaded_by(run + f"Store.open(Path({str(db)!r})).runs.add(Imported(number_events([event]), {{}}, []))")
    loaded = loaded_by(main.format([["runs", "--costs"], ["runs", "--group", "agent"], ["compare", "r", "r"]], str(db)))
    assert "lab.runs.replay.comparison" in loaded
    assert not loaded & {"textual", "litellm", "numpy", "PIL", "sqlite_utils", "av", "adbutils"}


PARSED = {
    "a title": "x.border_title = protocol.title",
    "a title of pieces": 'x.border_subtitle = f"Runs {name}"',
    "a title by another name": "words = plain(title)\n    x.border_title = words",
    "a title with a bracket": 'x.border_title = "[b]ours[/b]"',
    "a tooltip": "x.tooltip = binding.tooltip",
    "a hint of a text area": "TextArea(placeholder=hint)",
    "a static": "Static(words)",
    "a static of a literal, which may say more later": 'Static("Find:")',
    "a static of a class of ours": "class A(Static):\n        def __init__(self): super().__init__('')",
    "a toast": "self.notify(words)",
    "a toast that asks for it": "self.notify(words, markup=True)",
    "a row of a select": "Select([(name, 1) for name in names])",
    "the prompt of a select": "Select([(Text(name), 1) for name in names], prompt=prompt)",
    "an option": "Option(words)",
    "options": "x.add_option(words)",
    "an entry of the palette": "Hit(1, words, run)",
    "what an entry is for": "DiscoveryHit(Content(words), run, help=words)",
    "a cell of a table": "x.add_row(Text('1'), words)",
    "a group": "Group(Text('1'), words)",
    "a panel's title": "Panel(Text(words), title=words)",
    "a renderable": "def render(self) -> RenderableType: return words",
    "a render of nobody knows what": "def render(self): return words",
    "markup": "Content.from_markup(words)",
    "text that is markup by default": "Content.from_text(words)",
    "another widget": "from textual.widgets import Tree",
    "a parser": "from textual.markup import escape",
    "a console": "console.print(words)",
    "a progress": "TextColumn('{task.description}')",
}
"""Where a stranger's `[/]` would be read as markup, a line of code each."""
UNPARSED = """
def shown(x, words: str, parts: list[Text], told: Content) -> None:
    x.border_title = "Runs" if words else ""
    x.border_subtitle = told
    x.tooltip = Content(words) if words else None
    Static(words, markup=False)
    self.notify(words, markup=False)
    rows = [(Text(word), word) for word in words]
    Select(rows, prompt=translated(x, "choose"))
    line = Content.assemble(words)
    line = line.stylize("bold")
    Hit(1, line, x, help=Content(words))
    Group(*parts, Padding(told, (0, 1)))
    console.print(Text(words))
    TextColumn(words, markup=False)
    Input(placeholder=words)
"""
_LIBRARY = """
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.progress import TextColumn
from rich.text import Text
from textual.command import DiscoveryHit, Hit
from textual.content import Content
from textual.widgets import Input, Select, Static, TextArea
from textual.widgets.option_list import Option
"""


def test_no_text_of_a_stranger_is_read_as_markup() -> None:
    """Content, or `markup=False`, wherever Textual or Rich would look for tags in a `str`."""
    found = {
        f"{path.relative_to(ROOT)}:{wrong}"
        for path in FILES
        if folder_of(name_of(path)) in ("screens", "lab.cli", "lab.serve")
        for wrong in markup_doors(path.read_text(encoding="utf-8"))
    }
    help_texts = re.compile(r"screens/widgets/help_panel\.py:\d+: imports Markdown")
    assert [one for one in sorted(found) if not help_texts.fullmatch(one)] == []


def test_words_of_ours_hold_no_markup() -> None:
    """Words of `translated` may go where markup is read; those of a conversation are shown as they are."""
    files = [path for path in FILES if "\ndef translated(" in path.read_text(encoding="utf-8")]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    words = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert len(words) > 300
    assert [one for one in words if "[" in one] == ["[accepted]", "[rejected]", "[已接受]", "[已拒绝]"]


@pytest.mark.parametrize("line", PARSED.values(), ids=PARSED)
def test_each_way_to_markup_is_found(line: str) -> None:
    code = f"{_LIBRARY}\ndef shown(self, x, console, words: str, title: str, hint: str) -> None:\n    {line}\n"
    assert len(markup_doors(code)) == 1


def test_what_is_shown_as_it_is_passes() -> None:
    assert markup_doors(_LIBRARY + UNPARSED) == []


def texts() -> Iterator[Path]:
    """Every file of ours that is a text; into folders that tools make nobody looks."""
    others = {".venv", ".git", "build", ".hypothesis", ".mypy_cache", ".ruff_cache", "__pycache__"}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in others]
        for path in (Path(folder) / name for name in names):
            if path.suffix in (".py", ".md", ".toml", ".yaml", ".json") or path.name in ("Makefile", "run"):
                yield path


def test_no_file_names_a_machine_or_an_index() -> None:
    hosts = "|".join(["files.python" + "hosted", "py" + "pi.org", "registry." + "npmjs", "deb." + "debian"])
    forbidden = re.compile(rf"(?:/root/|/work/|/Users/\w|/home/\w)|{hosts}")
    for path in sorted(texts()):
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines() if forbidden.search(text) else (), 1):
            if path == Path(__file__) and "forbidden" in line:
                continue
            assert not forbidden.search(line), f"{path.relative_to(ROOT)}:{number} names a machine or an index"


WRITES = frozenset(
    {"write_text", "write_bytes", "mkdir", "makedirs", "mknod", "savefig", "tofile", "to_csv", "extractall"}
)
"""Methods that make a file or folder."""
MAKES_FILES = {
    "lab/core/values/made_files.py": "makes all files, with the mode that the settings say",
    "simulators/environments/androidworld_worker.py": "runs in another Python, and writes into a folder that was made",
}


def makes_a_file(call: ast.Call) -> bool:
    """Whether a call makes a file or folder by itself: with whatever mode the umask leaves it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    words = [*call.args, *(keyword.value for keyword in call.keywords)]
    if name == "open":
        flags = {node.attr for word in words for node in ast.walk(word) if isinstance(node, ast.Attribute)}
        modes = [node.value for word in words for node in ast.walk(word) if isinstance(node, ast.Constant)]
        writes = any(re.fullmatch(r"[rwaxbt+]{1,3}", str(mode)) and set(str(mode)) & set("wax") for mode in modes)
        return ("O_CREAT" in flags or writes) and "devnull" not in flags
    return name in WRITES and not (isinstance(call.func, ast.Name) and name in ("write_text", "write_bytes"))


def test_files_are_made_in_one_place() -> None:
    found = []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        if str(path.relative_to(ROOT)) in MAKES_FILES or not re.search(rf"open\(|{'|'.join(WRITES)}", text):
            continue
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        found += [f"{path.relative_to(ROOT)}:{call.lineno}" for call in calls if makes_a_file(call)]
    assert found == [], (
        "lab/core/values/made_files.py makes files and folders: for their owner alone, unless settings say more"
    )


@pytest.mark.parametrize("line", [
    "open(p, 'w')", "p.open('xb')", "p.open(mode='a')", "p.write_text(t)", "p.mkdir()",
    "os.open(p, os.O_RDWR | os.O_CREAT)", "open(file=p, mode='rb' if x else 'wb')",
])  # fmt: skip
def test_a_line_that_makes_a_file_is_found(line: str) -> None:
    assert any(makes_a_file(node) for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Call))


_SIGNED = re.compile(r"\bLabel\(\s*uuid7\(\)")


def test_labels_are_signed_in_one_place() -> None:
    assert [name_of(path) for path in FILES if _SIGNED.search(path.read_text(encoding="utf-8"))] == [
        "lab.core.study.signing"
    ]


def test_top_level_is_as_agreed() -> None:
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    tops = {line.partition("/")[0] for line in tracked.stdout.splitlines()}
    agreed = {*PACKAGES, "tests", "docs", ".ci", ".gitignore", "pyproject.toml", "README.md", "LICENSE", "Makefile"}
    assert tops <= agreed | {"CHANGELOG.md", "CONTRIBUTING.md"}


def test_no_test_looks_at_a_persons_home_or_starts_an_adb_server_for_it() -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert Path.home() != Path(home)
    server = Server.from_environment()
    assert not server.running()
    with pytest.raises(Trouble, match="does not answer"):
        server.ready()


BY_ADDRESS = {
    "annotators.papers.dac.demonstration_table", "annotators.papers.measurement", "annotators.papers.pspa.metrics",
    "annotators.units.runs", "annotators.validation.study_agents", "lab.cli.runs.run_text",
    "lab.core.run.demonstration", "lab.runs.endpoint.conversation_run", "lab.runs.spec",
    "lab.studies.proofreading.proofreading_queue", "screens.review.privacy", "store.formats.fingertip.writer",
    "store.formats.tables.rows", "store.runs.run_rows",
}  # fmt: skip
"""Modules that ask how an agent was started, or which person it is; which agent it is, is its `identity`."""


_THREADED = re.compile(r"thread=True|call_from_thread")
_CLOSES_WHAT_COMES_LATE = "screens/annotate/introduction.py"
"""A practice item that arrives too late must be closed, so it is not simply dropped."""


def test_rooms_read_off_the_ui_thread_in_one_way() -> None:
    """The newest request wins, errors are shown, and nothing arrives in a closed room: `Background` sees to it."""
    threaded = {
        path.relative_to(ROOT).as_posix()
        for path in FILES
        if folder_of(name_of(path)) == "screens" and _THREADED.search(path.read_text(encoding="utf-8"))
    }
    assert threaded == {"screens/background.py", _CLOSES_WHAT_COMES_LATE}


def test_agents_are_told_apart_by_their_identity() -> None:
    found = {name_of(path) for path in FILES if re.search(r"\.agent\.id\b", path.read_text(encoding="utf-8"))}
    assert found == BY_ADDRESS


_TOLERANT = re.compile(r"""\.decode\([^)\n]*["'](?:replace|ignore|surrogateescape|backslashreplace)["']""")
_COUNTED = ("androidcontrol/tree.py", "androidworld/values.py", "json_parts.py")
"""Where damaged text becomes U+FFFD and is counted, or is looked at only to tell formats apart."""


def test_no_reader_decodes_text_by_itself() -> None:
    """A source's `text` is the one way: it tells the encoding, and counts what is damaged."""
    readers = sorted((ROOT / "store" / "formats").rglob("*.py"))
    assert len(readers) > 60
    found = [path.relative_to(ROOT).as_posix() for path in readers if _TOLERANT.search(path.read_text("utf-8"))]
    assert [path for path in found if not path.endswith(_COUNTED)] == []


def test_no_reader_reads_bytes_but_of_pictures_trees_and_its_own_format() -> None:
    """What is text goes through `RunSource.text`, which alone knows an encoding that was named."""
    may = {"files.py", "pictures.py", "trees.py", "jsonl/reader.py", "__init__.py", "stream.py"}
    folder = ROOT / "store" / "formats"
    reads = re.compile(r"\b(?:read_within|unpacked|read_bytes|read_text)\(")
    found = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if reads.search(path.read_text("utf-8"))
    }
    assert found - may == set()
