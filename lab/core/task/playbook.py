"""Playbooks: what to open, tap, type and ask in a task, in the words on the screen, and variants that go wrong.

A person writes one by hand in the task's file. It is not a program: it has named values, branches on what is seen and
replied, and bounded loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from lab.core.codec import convert, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.run.action_line import MOST_MS, ActionKind, Direction, Place, Status, WrittenAction
from lab.core.text.suggestion import suggestion

MOST_ROUNDS = 200
"""Maximum number of rounds of a loop."""
MOST_MOVES = 2_000
"""Maximum number of moves of a playbook, with those in its branches."""
_DEEPEST = 20
"""Maximum depth of nested blocks."""

Word: TypeAlias = Literal["back", "home", "enter", "wait"]


class MoveTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The element to touch: the one with the label `text`, or with `text` among its words.

    Of several, the one nearest to the words `near`, and never one with the words `without` in its row. `at` is a
    position in pixels, for an element without words.
    """

    text: str = ""
    near: str = ""
    without: str = ""
    at: tuple[int, int] | None = None


class Typed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A `text` that replaces the content of the field `into`, or of the focused field if `into` is empty."""

    text: str
    into: str = ""


class ReadValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value to read from the screen `into` a name: the text `beside` a label, `after` some words, or `until` others.

    Text after words ends with its line, or before the `until` words. Of several such texts the lowest is read. With
    `beside`, the words cut the text that is found there.
    """

    into: str
    beside: str = ""
    after: str = ""
    until: str = ""


class PlaybookMove(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One move of a playbook: exactly one of the verb fields, and the fields that belong to it.

    `open` opens an app by its name, at its first screen. `tap` and `long_press` touch an element by its words.
    `turn_on` and `turn_off` set a switch or a check box. `type` enters a text. `pick_time` puts HH:MM into a clock's
    fields. `scroll` shows what is further up or down. `read` reads a value from the screen, and `set` assigns values to
    names. `{name}` in any text inserts a value.

    `ask` asks a question, `offer` makes a proposal in a proactive task. `options` are the answers, each with other
    words for it. The option that the reply names is stored `into` a name. Without options it is the reply's quoted
    part, else all of it. `usual` is the option for a reply that leaves it open. `on_reply` continues after `accept`,
    `reject`, words found in the reply, or `else`. Without it a refusal ends the run, and a reply that names no option
    is asked once more.

    `if_seen` searches the screen for words, and `if_less` compares two numbers or times: then `then`, or `else`.
    `while_seen` and `until_seen` repeat `do`, at most `most` times.

    `kind` is an action as a program writes it (`hitlab settings schema agent-writes`) with `at` or `node`, `to` or
    `to_node`, `text`, `direction`, `app`, `status` and `ms`.

    `done`, `infeasible` and `answer` end the run, with words. `label` names the move for a `Change`. `why` is the
    thought reported with it.
    """

    open: str | None = None
    tap: str | MoveTarget | None = None
    long_press: str | MoveTarget | None = None
    turn_on: str | None = None
    turn_off: str | None = None
    type: str | Typed | None = None
    pick_time: str | None = None
    scroll: Literal["up", "down", "left", "right"] | None = None
    read: ReadValue | None = None
    set: dict[str, str] | None = None
    ask: str | None = None
    offer: str | None = None
    if_seen: str | None = None
    if_less: tuple[str, str] | None = None
    while_seen: str | None = None
    until_seen: str | None = None
    done: str | None = None
    infeasible: str | None = None
    answer: str | None = None
    kind: ActionKind | None = None
    at: Place | None = None
    node: int | None = None
    to: Place | None = None
    to_node: int | None = None
    text: str | None = None
    direction: Direction | None = None
    app: str | None = None
    status: Status | None = None
    ms: int | None = None
    options: tuple[str, ...] | dict[str, tuple[str, ...]] = ()
    into: str = ""
    usual: str = ""
    on_reply: dict[str, tuple[Do, ...]] = {}
    then: tuple[Do, ...] = ()
    otherwise: tuple[Do, ...] = msgspec.field(default=(), name="else")
    do: tuple[Do, ...] = ()
    most: int = 10
    label: str = ""
    why: str = ""

    @property
    def verb(self) -> str:
        """Name of the verb field that is set, empty if none is."""
        return next((name for name in VERBS if getattr(self, name) is not None), "")

    @property
    def written_action(self) -> WrittenAction:
        """The written action of `kind` and its fields."""
        assert self.kind is not None
        return WrittenAction(self.kind, **{name: getattr(self, name) for name in _OF_KIND})

    @property
    def blocks(self) -> dict[str, tuple[Do, ...]]:
        """The nested moves by the name of their block."""
        inner = {"then": self.then, "else": self.otherwise, "do": self.do}
        return {name: moves for name, moves in inner.items() if moves} | {
            f"on_reply.{word}": moves for word, moves in self.on_reply.items()
        }

    @property
    def meanings(self) -> dict[str, tuple[str, ...]]:
        """Every option with the other words for it."""
        return self.options if isinstance(self.options, dict) else dict.fromkeys(self.options, ())


Do: TypeAlias = Word | PlaybookMove
"""One line of a playbook: a bare word, or a move with its fields."""
VERBS = (
    "open", "tap", "long_press", "turn_on", "turn_off", "type", "pick_time", "scroll", "read", "set", "ask", "offer",
    "if_seen", "if_less", "while_seen", "until_seen", "done", "infeasible", "answer", "kind",
)  # fmt: skip
"""Fields of a move that name what it does."""
_OF_KIND = ("at", "node", "to", "to_node", "text", "direction", "app", "status", "ms")
"""Fields that belong to `kind`."""
_OWNERS = {
    "options": ("ask", "offer"), "into": ("ask", "offer"), "usual": ("ask", "offer"), "on_reply": ("ask", "offer"),
    "then": ("if_seen", "if_less"), "else": ("if_seen", "if_less"), "do": ("while_seen", "until_seen"),
    "most": ("while_seen", "until_seen"), **dict.fromkeys(_OF_KIND, ("kind",)),
}  # fmt: skip
"""The verbs to which each other field belongs."""


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Change of a failing playbook at the move with the label `at`.

    `replace` puts other moves in its place, `skip` leaves it out, `insert` puts moves before it, and `stop` ends the
    run there with these words as if the task were done.
    """

    at: str
    replace: tuple[Do, ...] | None = None
    skip: bool = False
    insert: tuple[Do, ...] | None = None
    stop: str | None = None


class Playbook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A playbook that goes wrong. `fault` describes how, in words that raters do not see.

    It is the task's own playbook with `changes`, or has `moves` of its own.
    """

    name: str
    fault: str
    changes: tuple[Change, ...] = ()
    moves: tuple[Do, ...] = ()


class PlaybookFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Content of a playbook's own file: two fields of a task file, ready to paste into one."""

    playbook: tuple[Do, ...]
    playbooks: tuple[Playbook, ...] = ()


def load_playbook(path: Path) -> PlaybookFile:
    """Load a playbook from a YAML file. Raise `LabError` that names the file and the wrong field."""
    what = f"playbook file {path}"
    playbook_file: PlaybookFile = convert(read_yaml(read_file(path, what), what).value, PlaybookFile, what)
    check_playbooks(playbook_file.playbook, playbook_file.playbooks, what)
    return playbook_file


def moves_of(playbook: Sequence[Do], playbooks: Sequence[Playbook], name: str, what: str = "agent") -> tuple[Do, ...]:
    """Return the moves of a named playbook (empty: the good one). Raise `LabError` with the known names if unknown."""
    if not name:
        return tuple(playbook)
    for one in playbooks:
        if one.name == name:
            return one.moves or apply_changes(playbook, one.changes)
    names = [one.name for one in playbooks]
    there = f"those with a name are: {', '.join(names) or 'none'}"
    raise LabError(what, f"has no playbook {name!r}; {there}{suggestion(name, names)}", code=2)


def apply_changes(moves: Sequence[Do], changes: Sequence[Change]) -> tuple[Do, ...]:
    """Return the moves with the changes applied."""
    by_label = {change.at: change for change in changes}
    changed_moves: list[Do] = []
    for move in moves:
        change = by_label.get(move.label) if isinstance(move, PlaybookMove) and move.label else None
        if change is None:
            changed_moves.append(_change_blocks(move, changes))
        elif change.replace is not None:
            changed_moves += change.replace
        elif change.stop is not None:
            changed_moves.append(PlaybookMove(done=change.stop))
        elif not change.skip:
            changed_moves += [*(change.insert or ()), _change_blocks(move, changes)]
    return tuple(changed_moves)


def _change_blocks(move: Do, changes: Sequence[Change]) -> Do:
    if not isinstance(move, PlaybookMove) or not move.blocks:
        return move
    return msgspec.structs.replace(
        move,
        then=apply_changes(move.then, changes),
        otherwise=apply_changes(move.otherwise, changes),
        do=apply_changes(move.do, changes),
        on_reply={word: apply_changes(inner, changes) for word, inner in move.on_reply.items()},
    )


def walk(moves: Sequence[Do], place: str = "playbook", depth: int = 0) -> Iterator[tuple[str, Do, int]]:
    """Yield every move in order, with its path (`playbook[3].then[0]`) and its depth."""
    for number, move in enumerate(moves):
        path = f"{place}[{number}]"
        yield path, move, depth
        # One level more than is allowed is still yielded, for `_check_moves` to refuse.
        if isinstance(move, PlaybookMove) and depth <= _DEEPEST:
            for name, inner in move.blocks.items():
                yield from walk(inner, f"{path}.{name}", depth + 1)


def check_playbooks(playbook: Sequence[Do], playbooks: Sequence[Playbook], what: str) -> None:
    """Check the rules that a schema cannot express. Raise `LabError` that names `what` and the field."""
    labels = _check_moves(playbook, what, "playbook")
    _check_values(playbook, playbooks, what)
    names = [one.name for one in playbooks]
    for number, one in enumerate(playbooks):
        place = f"playbooks[{number}]"
        if not one.name.replace("-", "").replace("_", "").isalnum():
            raise LabError(what, f"field {place}.name: {one.name!r} is no name of letters, digits and hyphens")
        if names.count(one.name) > 1:
            raise LabError(what, f"field {place}.name: {one.name!r} is used twice")
        if bool(one.moves) == bool(one.changes):
            raise LabError(what, f"field {place}: needs either changes of the good playbook or moves of its own")
        _check_moves(one.moves, what, f"{place}.moves")
        for index, change in enumerate(one.changes):
            path = f"{place}.changes[{index}]"
            if change.at not in labels:
                raise LabError(what, f"field {path}.at: no move of the playbook is labelled {change.at!r}")
            given_changes = (
                change.replace is not None,
                change.skip,
                change.insert is not None,
                change.stop is not None,
            )
            if sum(given_changes) != 1:
                raise LabError(what, f"field {path}: needs one of replace, skip, insert, stop")
            _check_moves(change.replace or change.insert or (), what, path)


def _check_moves(moves: Sequence[Do], what: str, place: str) -> set[str]:
    """Check all moves and return their labels."""
    labels: set[str] = set()
    for count, (path, move, depth) in enumerate(walk(moves, place)):
        if count >= MOST_MOVES or depth > _DEEPEST:
            raise LabError(what, f"field {path}: more than {MOST_MOVES} moves, or {_DEEPEST} blocks within blocks")
        if isinstance(move, PlaybookMove):
            _check_move(move, what, path)
            if move.label and move.label in labels:
                raise LabError(what, f"field {path}.label: {move.label!r} is used twice")
            labels.add(move.label)
    return labels - {""}


def _check_values(playbook: Sequence[Do], playbooks: Sequence[Playbook], what: str) -> None:
    """Raise `LabError` if a text names a value that no move sets."""
    every = [*walk(playbook)]
    for number, one in enumerate(playbooks):
        every += walk(one.moves, f"playbooks[{number}].moves")
        for index, change in enumerate(one.changes):
            every += walk(change.replace or change.insert or (), f"playbooks[{number}].changes[{index}]")
    moves = [(path, move) for path, move, _ in every if isinstance(move, PlaybookMove)]
    value_names = {
        name for _, move in moves for name in (move.into, *(move.set or ()), move.read.into if move.read else "")
    }
    for path, move in moves:
        alone = msgspec.structs.replace(move, then=(), otherwise=(), do=(), on_reply={})
        for text in _texts(msgspec.to_builtins(alone)):
            for part in text.split("{")[1:]:
                name, brace, _ = part.partition("}")
                if brace and name.isidentifier() and name not in value_names:
                    raise LabError(what, f"field {path}: {{{name}}} is a value that no move gives")


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a plain value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _check_move(move: PlaybookMove, what: str, path: str) -> None:
    verbs = [name for name in VERBS if getattr(move, name) is not None]
    if len(verbs) != 1:
        problem = f"says {' and '.join(verbs)} at once" if verbs else "says nothing that is done"
        raise LabError(what, f"field {path}: {problem}; a move has one of {', '.join(VERBS)}")
    defaults = PlaybookMove()
    for name, owners in _OWNERS.items():
        attribute = "otherwise" if name == "else" else name
        if verbs[0] not in owners and getattr(move, attribute) != getattr(defaults, attribute):
            raise LabError(what, f"field {path}.{name}: belongs to {' and '.join(owners)}, not to {verbs[0]}")
    field, needs = move.written_action.missing_field() if move.kind is not None else ("", "")
    if field:
        raise LabError(what, f"field {path}.{field}: {needs}")
    if move.ms is not None and not 0 <= move.ms <= MOST_MS:
        raise LabError(what, f"field {path}.ms: {move.ms} is not 0 to {MOST_MS:,}")
    _check_words(move, what, path)


def _check_words(move: PlaybookMove, what: str, path: str) -> None:
    for name in ("open", "turn_on", "turn_off", "pick_time", "ask", "offer", "if_seen", "while_seen", "until_seen"):
        if getattr(move, name) is not None and not getattr(move, name).strip():
            raise LabError(what, f"field {path}.{name}: needs words")
    for name in ("tap", "long_press"):
        target = getattr(move, name)
        words = target if isinstance(target, str) else target.text if target is not None and target.at is None else "-"
        if not words.strip():
            raise LabError(what, f"field {path}.{name}: needs words that stand on the screen, or at: [x, y]")
    if move.read is not None and not (move.read.beside or move.read.after or move.read.until):
        raise LabError(what, f"field {path}.read: needs beside, after or until")
    if not 1 <= move.most <= MOST_ROUNDS:
        raise LabError(what, f"field {path}.most: {move.most} is not 1 to {MOST_ROUNDS}")
    if move.usual and move.meanings and move.usual not in move.meanings:
        raise LabError(what, f"field {path}.usual: {move.usual!r} is none of its options")


class FlatMove(NamedTuple):
    """One line of a flattened playbook. `to` maps a branch's word, and `next`, to the index of the next line."""

    verb: str
    move: PlaybookMove
    to: dict[str, int]


def flatten(moves: Sequence[Do]) -> list[FlatMove]:
    """Flatten the moves into a list, with jumps at the ends of branches and loops."""
    lines: list[FlatMove] = []

    def flatten_block(inner: Sequence[Do]) -> None:
        for entry in inner:
            move = entry if isinstance(entry, PlaybookMove) else PlaybookMove()
            line = FlatMove(entry if isinstance(entry, str) else move.verb, move, {})
            begin = len(lines)
            lines.append(line)
            ends: list[FlatMove] = []
            for name, below in move.blocks.items():
                line.to[name.removeprefix("on_reply.")] = len(lines)
                flatten_block(below)
                ends.append(FlatMove("jump", PlaybookMove(), {}))
                lines.append(ends[-1])
            line.to["next"] = len(lines)
            for end in ends:
                # A loop's body returns to its condition; a branch continues behind the move.
                end.to["next"] = begin if move.do else len(lines)

    flatten_block(moves)
    return lines
