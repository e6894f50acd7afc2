"""Commands that filter lines: grep, head, tail, wc, sort, uniq, tr, cut, sed's substitution."""

from __future__ import annotations

import re

from lab.core.text.safe_patterns import Pattern, compile_pattern
from lab.core.text.safe_patterns import UnsafePattern as TooWide
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused, decoded, encoded, number

_CLASSES = {"[:upper:]": "A-Z", "[:lower:]": "a-z", "[:digit:]": "0-9", "[:space:]": " \t\n\r"}


def _lines(call: CommandCall, names: list[str]) -> list[str]:
    """Return the lines of files, or of standard input if there are none."""
    data = b"".join(map(call.content, names)) if names else call.stdin()
    return _split(data)


def _split(data: bytes) -> list[str]:
    """Split bytes into lines without their ends. Only a line feed ends a line."""
    lines = decoded(data).split("\n")
    return lines if lines[-1] else lines[:-1]


def _write_lines(call: CommandCall, lines: list[str]) -> None:
    call.io.write_output(encoded("".join(f"{line}\n" for line in lines)))


def _pattern(call: CommandCall, text: str, flags: str) -> Pattern:
    """Compile a basic (with -E extended) regular expression for Python."""
    if "F" in flags:
        text = re.escape(text)
    elif "E" not in flags:
        text = re.sub(r"\\([|+?(){}])|([|+?(){}])", lambda m: m[1] or "\\" + m[2], text)
    if "w" in flags:
        text = rf"\b(?:{text})\b"
    try:
        return compile_pattern(text, any_case="i" in flags)
    except TooWide as refused:
        raise CommandRefused(f"{call.name}: bad REGEX: {refused}", 2) from refused


def grep(call: CommandCall) -> int:
    args, flags, patterns, most = list(call.args), "E" if call.name == "egrep" else "", [], 1 << 60
    names: list[str] = []
    while args:
        arg = args.pop(0)
        if arg.startswith("-m"):
            most = number(arg[2:] or (args.pop(0) if args else "")) or 0
        elif arg == "-e" and args:
            patterns.append(args.pop(0))
        elif arg.startswith("-") and len(arg) > 1:
            flags += arg[1:]
        else:
            names.append(arg)
    if not patterns:
        if not names:
            raise CommandRefused("grep: no REGEX", 2)
        patterns = names.pop(0).split("\n")
    matchers = [_pattern(call, pattern, flags) for pattern in patterns]
    lines: list[str] = []
    for place, line in enumerate(_lines(call, names), 1):
        hits = [hit for matcher in matchers for hit in matcher.find_all(line)]
        if bool(hits) != ("v" in flags) and len(lines) < most:
            outputs = hits if "o" in flags else [line]
            lines += [f"{place}:{text}" if "n" in flags else text for text in outputs]
    if "c" in flags:
        call.say(str(len(lines)))
    elif "q" not in flags:
        _write_lines(call, lines)
    return int(not lines)


def _parse_count(call: CommandCall, default: int) -> tuple[str, list[str]]:
    """Parse a count given as -n N, -nN or -N. Return it with the names of files."""
    count, names, args = str(default), [], list(call.args)
    while args:
        arg = args.pop(0)
        if arg in ("-n", "-c") and args:
            count = args.pop(0)
        elif re.fullmatch(r"-n?[-+]?[0-9]+", arg):
            count = arg.lstrip("-n")
        else:
            names.append(arg)
    if number(count) is None:
        raise CommandRefused(f"{call.name}: not a number '{count}'")
    return count, names


def head(call: CommandCall) -> int:
    count, names = _parse_count(call, 10)
    _write_lines(call, _lines(call, names)[: int(count)])
    return 0


def tail(call: CommandCall) -> int:
    count, names = _parse_count(call, 10)
    lines = _lines(call, names)
    _write_lines(
        call, lines[int(count) - 1 :] if count.startswith("+") else lines[len(lines) - min(len(lines), int(count)) :]
    )
    return 0


def wc(call: CommandCall) -> int:
    flags = "".join(arg[1:] for arg in call.args if arg.startswith("-")) or "lwc"
    names = [arg for arg in call.args if not arg.startswith("-")]
    data = b"".join(map(call.content, names)) if names else call.stdin()
    counts = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data), "m": len(decoded(data))}
    call.say(" ".join([str(counts[flag]) for flag in "lwcm" if flag in flags] + names))
    return 0


def sort(call: CommandCall) -> int:
    flags = "".join(arg[1:] for arg in call.args if arg.startswith("-"))
    lines = _lines(call, [arg for arg in call.args if not arg.startswith("-")])
    lines = list(dict.fromkeys(lines)) if "u" in flags else lines

    def key(line: str) -> tuple[int, str]:
        match = re.match(r"\s*(-?[0-9]{1,18})", line)
        return (int(match[1]) if match and "n" in flags else 0, line)

    _write_lines(call, sorted(lines, key=key, reverse="r" in flags))
    return 0


def uniq(call: CommandCall) -> int:
    lines = _lines(call, [arg for arg in call.args if not arg.startswith("-")])
    _write_lines(call, [line for i, line in enumerate(lines) if not i or line != lines[i - 1]])
    return 0


def tr(call: CommandCall) -> int:
    drop = call.args[:1] == ["-d"]
    sets = [_expand_set(arg) for arg in call.args[drop:]]
    if len(sets) != 2 - drop:
        raise CommandRefused("tr: Needs 2 arguments")
    text = decoded(call.stdin())
    to = sets[-1] + sets[-1][-1:] * len(sets[0])
    table = dict.fromkeys(map(ord, sets[0])) if drop else {ord(a): b for a, b in zip(sets[0], to, strict=False)}
    call.io.write_output(encoded(text.translate(table)))
    return 0


def _expand_set(text: str) -> str:
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
    return re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), min(ord(m[2]), ord(m[1]) + 255) + 1))), text)


def cut(call: CommandCall) -> int:
    option_pairs = re.findall(r"(?:^|\0)-([dfc])\0?([^\0]*)", "\0".join(call.args))
    options: dict[str, str] = dict(option_pairs)
    if "f" not in options and "c" not in options:
        raise CommandRefused("cut: needs -f or -c")
    lines = []
    for line in _split(call.stdin()):
        mark = options.get("d", "\t")
        parts = line.split(mark) if "f" in options else list(line)
        selection: list[str] = []
        for span in (options.get("f") or options.get("c") or "").split(","):
            low, dash, high = span.partition("-")
            begin = max(0, (number(low) or 1) - 1)
            selection += parts[begin : number(high) or (len(parts) if dash else begin + 1)]
        lines.append((mark if "f" in options else "").join(selection))
    _write_lines(call, lines)
    return 0


def sed(call: CommandCall) -> int:
    """`s/PATTERN/TEXT/[g]` and `-n Np` only."""
    args = [arg for arg in call.args if arg not in ("-e", "-E", "-r")]
    printed_line = re.fullmatch(r"([0-9]{1,18})p", args[1]) if args[:1] == ["-n"] and len(args) > 1 else None
    if printed_line:
        _write_lines(call, _lines(call, args[2:])[int(printed_line[1]) - 1 : int(printed_line[1])])
        return 0
    match = re.fullmatch(r"s(\W)(.*?)(?<!\\)\1(.*?)(?<!\\)\1(g?)", args[0] if args else "")
    if not match:
        raise CommandRefused("sed: this phone's sed only substitutes")
    expression = _pattern(call, match[2], "E" if set(call.args) & {"-E", "-r"} else "")
    text = re.sub(r"(?<!\\)&", r"\\g<0>", match[3])
    _write_lines(call, [expression.replace(line, text, 0 if match[4] else 1) for line in _lines(call, args[1:])])
    return 0


COMMANDS: dict[str, Command] = {
    "grep": grep, "egrep": grep, "head": head, "tail": tail, "wc": wc, "sort": sort, "uniq": uniq, "tr": tr,
    "cut": cut, "sed": sed,
}  # fmt: skip
