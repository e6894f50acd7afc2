"""The words of the commands for kits: study kit, study take."""

from __future__ import annotations

from lab.options.common import Commands, command, json


def add(verbs: Commands) -> None:
    """Adds them to those of `study`."""
    kit = command(verbs, "kit", "lab.commands.kits:kit", "a file with what one rater may see, to rate elsewhere")
    kit.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    kit.add_argument("--rater", metavar="R1", required=True, help="the study code of whose kit it is")
    kit.add_argument("--out", metavar="R1.db", required=True, help="the kit; must not exist")
    json(kit)
    take = command(verbs, "take", "lab.commands.kits:take", "take a kit's work back in, all of it or nothing")
    take.add_argument("kit", metavar="R1.db", help="the kit, as its rater left it")
    json(take)
