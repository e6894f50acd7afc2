"""The command completion: the script that a shell evaluates.

It is argcomplete's: at each Tab the shell asks the program itself (`lab.cli.settings.name_completion`), which builds
only the typed command and takes names from the file in force. (shtab writes every command into one script beforehand,
and knows no file.)
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lab.cli.arguments import JsonArguments, Parser, argument
from lab.cli.output import print_line, print_result
from lab.core.errors import LabError

EXTRA = "hitlab[completion]"
Shell = Literal["bash", "zsh", "fish"]

_ADDED: dict[Shell, str] = {
    "bash": '  eval "$(hitlab settings completion bash)"   now; also in ~/.bashrc: always\n',
    "zsh": '  eval "$(hitlab settings completion zsh)"    in ~/.zshrc, after compinit\n',
    "fish": "  hitlab settings completion fish > ~/.config/fish/completions/hitlab.fish\n",
}
"""Lines that install each script, for `--help`."""


class CompletionScript(msgspec.Struct, frozen=True):
    """Script that a shell evaluates to complete `hitlab`: `settings completion`."""

    shell: Shell
    script: str


class CompletionArguments(JsonArguments):
    shell: Shell = argument("SHELL", "print the script of this shell: bash, zsh or fish", choices=tuple(_ADDED))


def add_settings_completion(parser: Parser) -> None:
    parser.runs(completion, CompletionArguments, prints={"completion": CompletionScript})
    parser.examples("".join(_ADDED.values()))


def completion(args: CompletionArguments) -> int:
    """Print the shell's script."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError as error:
        hint = f'pip install "{EXTRA}" brings it.'
        raise LabError("completion", "needs argcomplete, which is not installed.", hint) from error
    script = CompletionScript(args.shell, shellcode(["hitlab"], shell=args.shell))
    print_result(script, lambda _: print_line(script.script.rstrip("\n")), json=args.json)
    return 0
