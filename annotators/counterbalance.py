"""Even spread of units over people, and of plays over tasks, conditions and order, so that none is confounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lab.core.study.study import Study, Unit

Chance = Callable[..., int]


class PlayTurn(NamedTuple):
    """A unit that a participant plays, and its condition."""

    unit: str
    condition: str


def spread_over_raters(
    unit_overlaps: Sequence[tuple[str, int]], raters: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each unit with its people, as many as it needs. Loads differ by one at most.

    Among the people with the smallest load, those who have shared the fewest units come first, so that every pair of
    raters is compared.
    """
    load = [0] * len(raters)
    together = [[0] * len(raters) for _ in raters]
    for turn, (unit, count) in enumerate(unit_overlaps):
        members: list[int] = []
        for _ in range(count):
            members.append(
                min(
                    (who for who in range(len(raters)) if who not in members),
                    key=lambda who: (
                        # The last part rotates the order of ties, so that the first rater is not always preferred.
                        load[who], sum(together[who][other] for other in members), (who - turn) % len(raters)
                    ),
                )
            )  # fmt: skip
        for who in members:
            load[who] += 1
            for other in members:
                together[who][other] += who != other
        yield unit, [raters[who] for who in members]


def counterbalance(
    study: Study, units: Sequence[Unit], raters: Sequence[str], chance: Chance
) -> dict[str, list[PlayTurn]]:
    """Return what each participant plays, in their order: each task at most once, with `overlap` people per task.

    The counts of conditions differ by one at most for each participant and for each task. The order is a row of a Latin
    square in which, if possible, every task follows every other equally often. A search of bounded length spreads the
    conditions over positions.
    """
    tasks: dict[str, dict[str, Unit]] = {}
    for unit in units:
        if unit.play is not None and unit.play.user == "person":
            # Sorted by condition and id later, so the draw does not depend on the order of units.
            tasks.setdefault(unit.play.task.id, {})[f"{unit.play.condition}\x1f{unit.id}"] = unit
    names = sorted(tasks, key=lambda name: (chance(study, "task", name), name))
    task_overlaps = [(name, study.overlap) for name in names]
    edges = [(name, who) for name, some in spread_over_raters(task_overlaps, raters) for who in some]
    options_by_task = {name: [tasks[name][key] for key in sorted(tasks[name])] for name in names}
    condition_count = max(map(len, options_by_task.values()), default=1)
    # A task that lacks a condition has the next one in turn.
    if any(len(options) < condition_count for options in options_by_task.values()):
        options_by_task = {
            name: [options[at % len(options)] for at in range(condition_count)]
            for name, options in options_by_task.items()
        }
    colours = dict(zip(edges, balanced_colouring(edges, condition_count), strict=True))
    tasks_by_rater = {who: [name for name in names if (name, who) in colours] for who in raters}
    orders = spread_over_positions(tasks_by_rater, colours, condition_count, lambda *of: chance(study, "place", *of))
    return {
        who: [_play_turn(options_by_task[name][colours[name, who]]) for name in order] for who, order in orders.items()
    }


def _play_turn(unit: Unit) -> PlayTurn:
    return PlayTurn(unit.id, unit.play.condition if unit.play else "")


def spread_over_positions(
    theirs: Mapping[str, Sequence[str]], colours: dict[tuple[str, str], int], count: int, chance: Chance
) -> dict[str, list[str]]:
    """Return each person's things in the order of their row of the square, with colours spread evenly over positions.

    `colours` is changed in place. If people have the same things, each thing occurs at each position once, unless this
    leaves one colour alone at a position (two people, two things, two colours). Then rows may repeat: a colour is a
    condition, which a study compares, and must not be confounded with its position.
    """
    same = len({tuple(things) for things in theirs.values()}) == 1
    most = max(map(len, theirs.values()), default=0)
    more = len(theirs) + 2 * most
    # As many rows as complete the square, else more, which repeat its rows.
    before = dict(colours)
    orders = _search_positions(theirs, colours, count, most if same else more, chance)
    if same and _is_confounded(orders, colours, count):
        colours.update(before)
        orders = _search_positions(theirs, colours, count, more, chance)
    return orders


def _is_confounded(orders: Mapping[str, Sequence[str]], colours: Mapping[tuple[str, str], int], count: int) -> bool:
    """Return True if several people have one and the same colour at a position."""
    at_position: dict[int, list[int]] = defaultdict(list)
    for who, order in orders.items():
        for place, thing in enumerate(order):
            at_position[place].append(colours[thing, who])
    return count > 1 and any(len(these) > 1 and len(set(these)) == 1 for these in at_position.values())


def _search_positions(
    theirs: Mapping[str, Sequence[str]],
    colours: dict[tuple[str, str], int],
    count: int,
    row_count: int,
    chance: Chance,
) -> dict[str, list[str]]:
    """Return the orders with the lowest unevenness found, and change `colours` to match.

    Two kinds of trade preserve all counts at both ends: two people trade the colours of two things that both have, or
    two people trade rows (one of them may be unused). Trades are drawn and accepted if they do no harm, until no
    improvement is possible.
    """
    # The zero character cannot occur in a rater's code.
    unused = [f"\x00{row}" for row in range(len(theirs), row_count)]
    rows = {who: row for row, who in enumerate([*theirs, *unused])}
    orders = {who: _order_of_row(things, rows[who]) for who, things in theirs.items()}
    if count < 2 or not colours:
        return orders
    # The lowest possible unevenness, at which the search can stop.
    least = sum(
        _least_unevenness(sum(len(order) > place for order in orders.values()), count) for place in range(len(colours))
    )
    uneven = _unevenness(orders, colours, count)
    best = (uneven, dict(orders), dict(colours))
    for turn in range(max(200, _EFFORT // len(colours))):
        if best[0] == least:
            break
        # The low bits of one draw decide on the kind of trade and on a step uphill; `// 16` leaves fresh bits for the
        # rest.
        draw = chance(turn)
        undo = (
            _trade_rows(theirs, rows, orders, draw // 16) if draw % 2 else _trade_colours(theirs, colours, draw // 16)
        )
        now = _unevenness(orders, colours, count)
        if now > uneven + (_UPHILL if draw % 16 < 2 else 0):
            undo()
            continue
        uneven = now
        if now < best[0]:
            best = (now, dict(orders), dict(colours))
    colours.update(best[2])
    return best[1]


_UPHILL = 4
"""Largest deterioration that is sometimes accepted, as a way out of a local minimum."""
_EFFORT = 100_000
"""Approximate number of things that the search for an even placing inspects: some tenths of a second."""


def _order_of_row(things: Sequence[str], row: int) -> list[str]:
    square = latin_square(len(things))
    return [things[at] for at in square[row % len(square)]] if things else []


def _least_unevenness(total: int, count: int) -> int:
    """Return the smallest sum of squares of `count` integers with this total."""
    whole, over = divmod(total, count)
    return over * (whole + 1) ** 2 + (count - over) * whole**2


def _unevenness(orders: Mapping[str, Sequence[str]], colours: Mapping[tuple[str, str], int], count: int) -> int:
    """Return the sum of squares of the frequency of each colour at each position."""
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for who, order in orders.items():
        for place, thing in enumerate(order):
            counts[place, colours[thing, who]] += 1
    return sum(times * times for times in counts.values())


def _trade_rows(
    theirs: Mapping[str, Sequence[str]], rows: dict[str, int], orders: dict[str, list[str]], draw: int
) -> Callable[[], None]:
    """Let two people trade rows, or one take an unused row. Return a function that undoes it."""
    people = list(rows)
    one, other = people[draw % len(people)], people[draw // len(people) % len(people)]

    def trade() -> None:
        rows[one], rows[other] = rows[other], rows[one]
        for who in {one, other} & theirs.keys():
            orders[who] = _order_of_row(theirs[who], rows[who])

    trade()
    return trade


def _trade_colours(
    theirs: Mapping[str, Sequence[str]], colours: dict[tuple[str, str], int], draw: int
) -> Callable[[], None]:
    """Let two people with two things in opposite colours trade these. Return a function that undoes it."""
    people = [who for who, things in theirs.items() if things]
    draw, one = draw // len(people), people[draw % len(people)]
    mine = theirs[one]
    draw, first = draw // len(mine), mine[draw % len(mine)]
    draw, second = draw // len(mine), mine[draw % len(mine)]
    pair = colours[first, one], colours[second, one]
    others = [who for who in people if (colours.get((first, who)), colours.get((second, who))) == pair[::-1]]
    if pair[0] == pair[1] or not others:
        return lambda: None
    other = others[draw % len(others)]

    def trade() -> None:
        for thing in (first, second):
            colours[thing, one], colours[thing, other] = colours[thing, other], colours[thing, one]

    trade()
    return trade


def latin_square(size: int) -> list[list[int]]:
    """Return rows in which each of `size` things occurs at each position, and follows each other thing, equally often.

    Odd sizes need twice as many rows. Source: Williams, Experimental designs balanced for the estimation of residual
    effects of treatments, 1949.
    """
    # Williams' zigzag 0, 1, n-1, 2, n-2, ...: its successive differences are all distinct.
    first = [0]
    for at in range(1, size):
        first.append((at + 1) // 2 if at % 2 else size - at // 2)
    rows = [[(place + shift) % size for place in first] for shift in range(size)]
    return rows + [row[::-1] for row in rows] if size % 2 and size > 1 else rows


def balanced_colouring(edges: Sequence[tuple[str, str]], colours: int) -> list[int]:
    """Return a colour for each edge of a bipartite graph, spread evenly.

    The counts of colours differ by one at most at each end, and overall. Colours are balanced in pairs, along closed
    walks that alternate between the two. Source: de Werra, 1971.
    """
    colours_given = [at % colours for at in range(len(edges))]
    while pair := _uneven_colours(edges, colours_given, colours):
        both = [at for at, colour in enumerate(colours_given) if colour in pair]
        for at, second in zip(both, _halve_edges([edges[at] for at in both]), strict=True):
            colours_given[at] = pair[second]
    return colours_given


def _uneven_colours(edges: Sequence[tuple[str, str]], colouring: Sequence[int], colours: int) -> tuple[int, int] | None:
    """Return two colours whose counts differ by more than one, at an end or overall, the rarer first, else None."""
    counts: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0] * colours)
    for ends, colour in zip(edges, colouring, strict=True):
        for side, end in ((0, ends[0]), (1, ends[1]), (2, "")):
            counts[side, end][colour] += 1
    for count in counts.values():
        least, most = min(count), max(count)
        if most - least > 1:
            return count.index(least), count.index(most)
    return None


def _halve_edges(edges: Sequence[tuple[str, str]]) -> list[int]:
    """Return 0 or 1 for each edge, such that at each end and overall the counts are equal or differ by one.

    Ends of odd degree get a link to an extra end on the other side, and the two extra ends one to each other, so that
    every walk closes. Alternating walks halve every degree, and a bipartite graph has no closed walk of odd length.
    """
    extra = ((0, "\x00"), (1, "\x00"))
    links = [((0, a), (1, b)) for a, b in edges]
    degree: dict[tuple[int, str], int] = defaultdict(int)
    for one, other in links:
        degree[one] += 1
        degree[other] += 1
    for end in [end for end, count in degree.items() if count % 2]:
        links.append((end, extra[1]) if end[0] == 0 else (extra[0], end))
        degree[extra[1 - end[0]]] += 1
    if degree[extra[0]] % 2:
        links.append(extra)
    halves = [0] * len(links)
    for walk in _closed_walks(links):
        for place, at in enumerate(walk):
            halves[at] = place % 2
    return halves[: len(edges)]


def _closed_walks(links: Sequence[tuple[tuple[int, str], tuple[int, str]]]) -> Iterator[list[int]]:
    """Yield closed walks that together use each link once (Hierholzer). Every end must have an even number of links."""
    at_end: dict[tuple[int, str], list[int]] = defaultdict(list)
    for at, (one, other) in enumerate(links):
        at_end[one].append(at)
        at_end[other].append(at)
    used = [False] * len(links)
    for start in list(at_end):
        stack: list[tuple[tuple[int, str], int]] = [(start, -1)]
        walk: list[int] = []
        while stack:
            end, came = stack[-1]
            while at_end[end] and used[at_end[end][-1]]:
                at_end[end].pop()
            if at_end[end]:
                link = at_end[end].pop()
                used[link] = True
                one, other = links[link]
                stack.append((other if end == one else one, link))
            else:
                stack.pop()
                if came >= 0:
                    walk.append(came)
        if walk:
            yield walk
