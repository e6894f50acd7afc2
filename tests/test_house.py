"""The house rules: who may import whom, what loads what, what every file must be."""

from __future__ import annotations

import ast
import os
import pwd
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.devices.bridge import Server
from lab.seams import Trouble

ROOT = Path(__file__).parents[1]
PACKAGES = ("lab", "screens", "annotators", "simulators", "store")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

LAYERS: list[tuple[str, ...]] = [
    (
        "lab.clauses",
        "lab.drawing",
        "lab.errors",
        "lab.plain",
        "lab.program",
        "lab.rounded",
        "lab.sheet_words",
        "lab.stamp",
    ),
    ("lab.wire",),
    ("lab.uitree",),
    ("lab.task",),
    ("lab.cloak",),
    ("lab.turn",),
    ("lab.trace",),
    ("lab.review",),
    ("lab.records",),
    ("lab.aligning", "lab.case", "lab.design", "lab.redacting", "lab.reviewed", "lab.suspects"),
    ("lab.protocol",),
    ("lab.study",),
    ("lab.label",),
    ("lab.agreement", "lab.blind", "lab.columns", "lab.digits", "lab.labels"),
    ("lab.adjudication", "lab.report", "lab.rules", "lab.seams", "lab.settings", "lab.tried"),
    (
        "lab.answers",
        "lab.llm",
        "lab.mailbox",
        "lab.control",
        "lab.checks",
        "lab.breakpoints",
        "lab.nearest",
        "lab.lacking",
        "lab.family",
        "lab.hiding",
        "lab.steady",
    ),
    ("lab.wording", "lab.recording", "lab.embedding", "lab.reporting"),
    ("store", "simulators", "annotators", "lab.episode", "lab.devices", "lab.agents"),
    ("lab.spec", "lab.resuming"),
    ("lab.session",),
    ("lab.agreed", "lab.fork", "lab.plays"),
    ("lab.gathering", "lab.playing"),
    ("screens",),
    ("lab.cli", "lab.commands", "lab.options", "lab.output", "lab.tables"),
]
"""From the ground up: a module may import what lies in lower layers, and of its own layer only its own folder."""

ONLY = {
    "textual": ("screens",),
    "sqlite3": ("store",),
    "sqlite_utils": ("store",),
    "adbutils": ("lab.devices", "simulators.phone"),
    "litellm": ("lab.llm",),
}
"""Libraries that one place alone may import."""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def place_of(module: str) -> tuple[int, str] | None:
    """The layer a module lies in, and the entry of it that covers it."""
    for height, layer in enumerate(LAYERS):
        for entry in layer:
            if module == entry or module.startswith(entry + "."):
                return height, entry
    return None


def imports_of(path: Path) -> list[str]:
    """Every module a file imports, also inside functions, but not what only type checkers read."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: list[str] = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            module = node.module or ""
            submodules = [f"{module}.{alias.name}" for alias in node.names]
            found += [sub if (ROOT / (sub.replace(".", "/") + ".py")).exists() else module for sub in submodules]
    return found


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_only_from_below(path: Path) -> None:
    name = name_of(path)
    if name == "lab":
        assert not imports_of(path)
        return
    here = place_of(name)
    assert here is not None or path.stat().st_size == 0, f"{name} has no place in the house"
    if here is None:
        return
    for imported in imports_of(path):
        if imported.partition(".")[0] not in PACKAGES:
            continue
        there = place_of(imported)
        assert there is not None, f"{name} imports {imported}, which has no place in the house"
        same_entry = there[1] == here[1]
        commands = here[0] == there[0] == len(LAYERS) - 1
        ground = here[0] == there[0] == 0
        assert there[0] < here[0] or same_entry or commands or ground, f"{name} may not import {imported}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_libraries_stay_in_their_place(path: Path) -> None:
    name = name_of(path)
    for imported in imports_of(path):
        for library, places in ONLY.items():
            if imported == library or imported.startswith(library + "."):
                assert any(name == place or name.startswith(place + ".") for place in places), (
                    f"{name} may not import {library}"
                )


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running `code`."""
    script = f"import sys\n{code}\nsys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(done.stderr.split())


def test_help_loads_nothing_heavy() -> None:
    loaded = loaded_by("import lab.cli\ntry:\n    lab.cli.main(['--help'])\nexcept SystemExit:\n    pass")
    assert "argparse" in loaded
    assert not loaded & {"textual", "litellm", "numpy", "PIL", "sqlite3", "sqlite_utils", "msgspec", "rich", "yaml"}


def test_listing_runs_loads_no_screen(tmp_path: Path) -> None:
    db = tmp_path / "x.db"
    made = f"from pathlib import Path\nfrom store.store import Store\nStore.open(Path({str(db)!r})).close()"
    loaded_by(made)
    loaded = loaded_by(f"import lab.cli\nlab.cli.main(['traces', '--json', '--db', {str(db)!r}])")
    assert "store.store" in loaded
    assert not loaded & {"textual", "litellm", "numpy", "PIL", "sqlite_utils", "av", "adbutils"}


def test_the_table_of_runs_and_two_compared_load_no_screen(tmp_path: Path) -> None:
    db = tmp_path / "x.db"
    main = "import lab.cli\nfor words in {}: assert lab.cli.main([*words, '--db', {!r}]) == 0"
    run = "from pathlib import Path\nfrom store.store import Store\nfrom lab.records import Imported, numbered\n"
    run += "from lab.task import Actor, Task\nfrom lab.trace import Started\n"
    run += "event = Started(trace='r', task=Task('t', 'general', instruction='x'), agent=Actor('script', 'a'))\n"
    loaded_by(run + f"Store.open(Path({str(db)!r})).import_run(Imported(numbered([event]), {{}}, []))")
    loaded = loaded_by(main.format([["runs", "--costs"], ["runs", "--group", "agent"], ["compare", "r", "r"]], str(db)))
    assert "screens.compare.sides" in loaded
    assert not loaded & {"textual", "litellm", "numpy", "PIL", "sqlite_utils", "av", "adbutils"}


TEXT = sorted(
    path
    for pattern in ("*.py", "*.md", "*.toml", "*.yaml", "*.json", "Makefile", ".ci/run")
    for path in ROOT.rglob(pattern)
    if not {".venv", ".git", "build", ".hypothesis", ".mypy_cache", ".ruff_cache"} & set(path.parts)
)


def test_no_file_names_a_machine_or_an_index() -> None:
    hosts = "|".join(["files.python" + "hosted", "py" + "pi.org", "registry." + "npmjs", "deb." + "debian"])
    forbidden = re.compile(rf"(?:/root/|/work/|/Users/\w|/home/\w)|{hosts}")
    for path in TEXT:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if path == Path(__file__) and "forbidden" in line:
                continue
            assert not forbidden.search(line), f"{path.relative_to(ROOT)}:{number} names a machine or an index"


def test_top_level_is_as_agreed() -> None:
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    tops = {line.partition("/")[0] for line in tracked.stdout.splitlines()}
    agreed = {*PACKAGES, "tests", "docs", ".ci", ".gitignore", "pyproject.toml", "README.md", "LICENSE", "Makefile"}
    assert tops <= agreed | {"CHANGELOG.md"}


def test_no_test_looks_at_a_persons_home_or_starts_an_adb_server_for_it() -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert Path.home() != Path(home)
    server = Server.named()
    assert not server.running()
    with pytest.raises(Trouble, match="does not answer"):
        server.ready()
