"""The words of the commands that lay runs beside one another: runs, compare."""

from __future__ import annotations

from lab.options.common import Commands, command, json


def add(commands: Commands) -> None:
    """Adds them."""
    runs = command(commands, "runs", "lab.commands.listing:runs", "a table of runs: filtered, sorted, in groups")
    runs.loose = "words"
    runs.add_argument(
        "words", nargs="*", metavar="WORD",
        help="words, or agent:qwen 'score<1' 'asks>0' status:failed 'task:\"a b\"'; with a - before it, all but those",
    )  # fmt: skip
    runs.add_argument("--sort", metavar="COLUMN", help="by this column; with a - after it, the other way round")
    runs.add_argument("--group", metavar="COLUMN", help="by task, agent, source, persona or status, with mean scores")
    runs.add_argument("--limit", type=int, metavar="N", help="only the first N lines")
    runs.add_argument("--costs", action="store_true", help="also what each run cost, for which its steps are read")
    json(runs)

    compare = command(commands, "compare", "lab.commands.comparing:compare", "two runs side by side, step by step")
    compare.add_argument("left", metavar="ID", help="a run's id or its beginning")
    compare.add_argument("right", metavar="ID", help="another's")
    json(compare)
