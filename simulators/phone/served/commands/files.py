"""Commands about files: toybox's, on files that were pushed or written by other commands."""

from __future__ import annotations

import base64
import hashlib
import posixpath

from simulators.phone.served import folders
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused

_HASHES = {"md5sum": "md5", "sha1sum": "sha1", "sha256sum": "sha256", "sha512sum": "sha512"}
_WHEN = "2026-03-10 08:50"


def _split(call: CommandCall) -> tuple[str, list[str]]:
    """Return the letters of options, and the remaining words."""
    args, flags = list(call.args), ""
    while args and args[0].startswith("-") and len(args[0]) > 1:
        flag = args.pop(0)
        if flag == "--":
            break
        flags += flag[1:]
    return flags, args


def cat(call: CommandCall) -> int:
    _, names = _split(call)
    return _for_each(call, names or ["-"], lambda name: call.io.write_output(_read(call, name)))


def _read(call: CommandCall, name: str) -> bytes:
    return call.stdin() if name == "-" else call.content(name)


def _for_each(call: CommandCall, names: list[str], does: object) -> int:
    """Call `does` for every name. Print a refusal and continue with the next."""
    assert callable(does)
    status = 0
    for name in names:
        try:
            does(name)
        except CommandRefused as refused:
            call.complain(refused.text)
            status = refused.code
    return status


def ls(call: CommandCall) -> int:
    flags, names = _split(call)
    files = call.services.files

    def show(name: str) -> None:
        path = call.path(name)
        if path in files or (folders.is_folder(files, path) and "d" in flags):
            call.say(_entry(call, posixpath.dirname(path), name, flags, name))
        elif folders.is_folder(files, path):
            entries = [e for e in folders.entries(files, path) if "a" in flags or not e.startswith(".")]
            if len(names) > 1:
                call.say(f"{name}:")
            if "l" in flags:
                call.say(f"total {4 * len(entries)}")
            for entry in entries:
                call.say(_entry(call, path, entry, flags, entry))
        else:
            raise CommandRefused(f"ls: {name}: No such file or directory")

    return _for_each(call, names or [call.within], show)


def _entry(call: CommandCall, folder: str, name: str, flags: str, label: str) -> str:
    if "l" not in flags:
        return label
    path = folders.normal(name, folder)
    data = call.services.files.get(path)
    kind = "drwxrwx--x 2" if data is None else "-rw-rw---- 1"
    return f"{kind} shell shell {4096 if data is None else len(data):8} {_WHEN} {label}"


def rm(call: CommandCall) -> int:
    flags, names = _split(call)
    files = call.services.files

    def remove(name: str) -> None:
        path = call.path(name)
        if not folders.writable(path) and (path in files or folders.is_folder(files, path)):
            raise CommandRefused(f"rm: {name}: Permission denied")
        if path in files:
            files.pop(path, None)
        elif folders.is_folder(files, path):
            if not set(flags) & {"r", "R"}:
                raise CommandRefused(f"rm: {name}: is a directory")
            for inside in [f for f in list(files) if f.startswith(path + "/")]:
                files.pop(inside, None)
        elif "f" not in flags:
            raise CommandRefused(f"rm: {name}: No such file or directory")

    if not names and "f" not in flags:
        raise CommandRefused("rm: Needs 1 argument")
    return _for_each(call, names, remove)


def mkdir(call: CommandCall) -> int:
    flags, names = _split(call)
    files = call.services.files

    def make(name: str) -> None:
        path = call.path(name)
        if path in files or folders.is_folder(files, path):
            if "p" not in flags or path in files:
                raise CommandRefused(f"mkdir: '{name}': File exists")
        elif not folders.writable(path):
            raise CommandRefused(f"mkdir: '{name}': Read-only file system")
        elif "p" not in flags and not folders.is_folder(files, posixpath.dirname(path)):
            raise CommandRefused(f"mkdir: '{name}': No such file or directory")
        elif not folders.has_room(files, path, 0):
            raise CommandRefused(f"mkdir: '{name}': No space left on device")
        else:
            folders.make(files, path)

    return _for_each(call, names, make)


def rmdir(call: CommandCall) -> int:
    files = call.services.files

    def remove(name: str) -> None:
        path = call.path(name)
        if not folders.is_folder(files, path):
            raise CommandRefused(f"rmdir: {name}: No such file or directory")
        if folders.entries(files, path) or not folders.writable(path):
            raise CommandRefused(f"rmdir: {name}: Directory not empty")
        files.pop(path + "/", None)

    return _for_each(call, _split(call)[1], remove)


def copy(call: CommandCall) -> int:
    """Copy or move files (cp, mv), one to a name or several into a folder."""
    _, names = _split(call)
    if len(names) < 2:
        raise CommandRefused(f"{call.name}: Needs 2 arguments")
    *sources, to = names
    inside = folders.is_folder(call.services.files, call.path(to))

    def process(name: str) -> None:
        data = call.content(name)
        call.write(posixpath.join(to, posixpath.basename(name)) if inside else to, data)
        if call.name == "mv":
            call.services.files.pop(call.path(name), None)

    return _for_each(call, sources, process)


def touch(call: CommandCall) -> int:
    def process(name: str) -> None:
        if call.path(name) not in call.services.files:
            call.write(name, b"")

    return _for_each(call, _split(call)[1], process)


def stat(call: CommandCall) -> int:
    args = list(call.args)
    form = args[args.index("-c") + 1] if "-c" in args[:-1] else ""
    names = [a for a in args if a not in ("-c", form)]

    def process(name: str) -> None:
        data = call.content(name)
        if form:
            call.say(form.replace("%s", str(len(data))).replace("%n", name).replace("%a", "660"))
        else:
            call.say(f"  File: {name}\n  Size: {len(data)}\t Blocks: 8\t IO Blocks: 512\tregular file")

    return _for_each(call, names, process)


def digest(call: CommandCall) -> int:
    flags, names = _split(call)

    def process(name: str) -> None:
        hex_digest = hashlib.new(_HASHES[call.name], _read(call, name), usedforsecurity=False).hexdigest()
        call.say(hex_digest if "b" in flags else f"{hex_digest}  {name}")

    return _for_each(call, names or ["-"], process)


def base64_(call: CommandCall) -> int:
    flags, names = _split(call)
    data = _read(call, names[0] if names else "-")
    if "d" in flags:
        try:
            call.io.write_output(base64.b64decode(data, validate=False))
        except ValueError as error:
            raise CommandRefused("base64: bad input") from error
    else:
        text = base64.b64encode(data).decode()
        call.say(text if "w" in flags else "\n".join(text[i : i + 76] for i in range(0, len(text), 76)))
    return 0


def tee(call: CommandCall) -> int:
    flags, names = _split(call)
    data = call.stdin()
    call.io.write_output(data)

    def process(name: str) -> None:
        before = call.services.files.get(call.path(name), b"") if "a" in flags else b""
        call.write(name, before + data)

    return _for_each(call, names, process)


def df(call: CommandCall) -> int:
    call.say("Filesystem      1K-blocks    Used Available Use% Mounted on")
    call.say("/dev/fuse        115249236 9012344 106105820   8% /storage/emulated")
    return 0


def nothing(call: CommandCall) -> int:
    """Accept chmod and the like: every file of this phone belongs to everyone."""
    return _for_each(call, [n for n in _split(call)[1][1:] if n], lambda name: call.content(name))


COMMANDS: dict[str, Command] = {
    "cat": cat, "ls": ls, "rm": rm, "mkdir": mkdir, "rmdir": rmdir, "cp": copy, "mv": copy, "touch": touch,
    "stat": stat, **dict.fromkeys(_HASHES, digest), "base64": base64_, "tee": tee, "df": df, "chmod": nothing,
}  # fmt: skip
