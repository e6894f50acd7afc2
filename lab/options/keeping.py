"""The words of the commands over what is kept: traces, show, import, pack, export."""

from __future__ import annotations

from lab.options.common import Commands, command, json

FORMATS = (
    "jsonl", "knowu", "androidworld", "fingertip", "mobile_use", "memgui", "dac", "aitz", "appagent",
    "androidlab", "droidrun", "odyssey", "androidcontrol", "tau2", "inspect",
)  # fmt: skip
WRITTEN = ("jsonl", "knowu", "dac", "fingertip", "labelstudio", "csv", "parquet")
"""As `store.formats` has them; here, too, so that a parser is built without loading it."""


def add(commands: Commands) -> None:
    """Adds them."""
    _kept(commands)
    _export(commands)


def _kept(commands: Commands) -> None:
    traces = command(commands, "traces", "lab.commands.records:traces", "list the runs in a database")
    traces.add_argument("--limit", type=int, metavar="N", help="only the newest N")
    json(traces)

    show = command(commands, "show", "lab.commands.records:show", "print one run")
    show.add_argument("run_id", metavar="ID", help="a run's id or its beginning")
    json(show)

    bring = command(commands, "import", "lab.commands.records:bring", "bring in recorded runs")
    bring.add_argument("paths", nargs="+", metavar="PATH", help="folders or files; runs are found inside folders")
    bring.add_argument("--format", choices=FORMATS, help="read as this format instead of detecting it")
    bring.add_argument(
        "--link", action="store_true", help="leave screenshots in their files; without them the runs have no pictures"
    )
    json(bring)

    pack = command(commands, "pack", "lab.commands.records:pack", "copy a database whole, safe while it is in use")
    pack.add_argument("out", metavar="OUT.db", help="the copy; must not exist")
    pack.add_argument("--no-images", action="store_true", help="leave the screenshots out")
    pack.add_argument("--embed", action="store_true", help="take linked screenshots into the copy")
    json(pack)


def _export(commands: Commands) -> None:
    export = command(commands, "export", "lab.commands.exporting:export", "write whole runs into a folder")
    export.add_argument("run_ids", nargs="*", metavar="ID", help="runs' ids or their beginnings")
    export.add_argument("--all", action="store_true", help="every run (with --reviewed: every demonstration)")
    export.add_argument("--out", required=True, metavar="FOLDER", help="the folder; must not exist")
    export.add_argument("--format", default="jsonl", choices=WRITTEN, help="jsonl: our own, complete (default)")
    export.add_argument("--reviewed", action="store_true", help="demonstrations with what proofreaders agreed on")
    json(export)
