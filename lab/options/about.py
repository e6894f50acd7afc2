"""The words of the commands about the lab itself: tasks, personas, where, doctor, schema."""

from __future__ import annotations

from lab.options.common import Commands, command, json


def add(commands: Commands) -> None:
    """Adds them."""
    for name, help in (
        ("tasks", "list the built-in tasks, or check task files"),
        ("personas", "list the built-in personas, or check profiles"),
    ):
        lists = command(commands, name, f"lab.commands.about:{name}", help)
        lists.add_argument("files", nargs="*", metavar="FILE", help="check and list these instead")
        json(lists)
    json(command(commands, "where", "lab.commands.about:where", "say where everything is kept"))
    json(command(commands, "doctor", "lab.commands.about:doctor", "check this machine, terminal and database"))
    schema = command(commands, "schema", "lab.commands.about:schema", "print a JSON Schema of an input or output")
    schema.add_argument("name", nargs="?", metavar="NAME", help="which one; without it, the names")
    json(schema)
