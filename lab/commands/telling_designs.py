"""A design told in lines of plain text, for people without a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lab.design.drawing import drawn
from lab.design.outline import rows
from lab.design.revision import Design, Revision, RevisionLine
from lab.design.soundness import Problem
from lab.output import say
from lab.plain import plain

WIDTH = 100


def tell_design(head: Revision, problems: Sequence[Problem], history: Iterable[RevisionLine]) -> None:
    """The whole design, what is wrong with it, what was objected to, and every act on it."""
    say(f"design of {plain(head.task, lines=False)}, version {head.version}: {head.state}")
    for title, lines in _sections(head.design):
        say(f"\n{title}")
        for line in lines:
            say(f"  {line}")
    for key, words in head.marks.items():
        if words:
            say(f"\nobjected to {key}: {plain(words)}")
    say("\nhistory")
    for act in history:
        said = f": {plain(act.note, lines=False)}" if act.note else ""
        say(f"  {act.at[:19].replace('T', ' ')}  v{act.version} {act.act:7} {act.by}{said}")
    say("")
    for problem in problems:
        say(f"! {problem.words}")


def next_words(head: Revision, problems: Sequence[Problem]) -> str:
    """Where a design stands and what comes next, in a line."""
    design = f"version {head.version} of the design of {plain(head.task, lines=False)}"
    if head.state == "verified":
        return f"{design} is verified by {head.by.shown} and frozen; --out FILE writes it"
    if head.state == "submitted":
        return f"{design} is submitted; another person verifies it: --verify --as CODE"
    wrong = f"{len(problems)} thing{'s' if len(problems) > 1 else ''} to mend" if problems else "--submit hands it on"
    if head.state == "objected":
        return f"{design} was sent back by {head.by.shown}{f' ({plain(head.note)})' if head.note else ''}; {wrong}"
    return f"{design} is a draft; {wrong}"


def _sections(design: Design) -> list[tuple[str, list[str]]]:
    """Each part that is not empty, as lines."""
    graph = [
        f"{'  ' * row.depth}{row.number:<4} {row.node.name or '(no name)'}"
        f"{'  ~' if row.node.kind == 'flexible' else ''}  [{row.node.id}]"
        for row in rows(design.tdg)
    ]
    branches = [f"{b.id}: {b.ask}  ({' / '.join(b.options)}; depth {b.depth})" for b in design.branches]
    units = [
        f"{u.id}: {u.name} = {u.value or '-'}  ({u.source or '?'} -> {u.used or '?'}"
        f"{'' if u.explicit else '; steers only'})"
        for u in design.units
    ]
    rubric = [f"{c.id}: {c.ask}  (x{c.weight:g})" for c in design.rubric.criteria]
    told = [("graph  (~ flexible)", graph), ("", drawn(design.tdg, WIDTH)), ("branches", branches),
            ("information units", units), ("rubric", rubric)]  # fmt: skip
    return [(title, lines) for title, lines in told if lines]
