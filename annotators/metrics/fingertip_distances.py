"""Levenshtein's distance of many pairs of texts at once: each pair is a lane of numpy's arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from annotators.metrics.fingertip_text import distance, trimmed

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD = 64
LANES = 512
"""Most pairs that are worked on together: their columns fit into a processor's cache."""
FEW = 8
"""Fewer pairs than this are sooner done one by one."""
ROOM = 1 << 22
"""Most words in the table of where each sign stands: 32 MB."""

Pair = tuple[str, str]


def distances(pairs: Sequence[Pair]) -> list[int]:
    """What `distance` says of each pair; the same two texts are compared once."""
    found: dict[Pair, int] = {}
    left: dict[Pair, list[Pair]] = {}
    for pair in dict.fromkeys(pairs):
        short, long = trimmed(*pair)
        if short:
            left.setdefault((short, long), []).append(pair)
        else:
            found[pair] = len(long)
    rest = sorted(left, key=lambda pair: (len(pair[0]), len(pair[1])))
    for lanes in _batches(rest):
        many = len(lanes) >= FEW
        for pair, far in zip(lanes, _together(lanes) if many else (distance(*pair) for pair in lanes), strict=True):
            found.update(dict.fromkeys(left[pair], far))
    return [found[pair] for pair in pairs]


def similarities(pairs: Sequence[Pair]) -> list[float]:
    """1 - distance / the longer length of each pair; two empty texts are the same."""
    longest = [max(len(one), len(other)) for one, other in pairs]
    return [1 - far / long if long else 1.0 for far, long in zip(distances(pairs), longest, strict=True)]


def _batches(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    """Pairs of like lengths together, so many that their table has room."""
    start = 0
    while start < len(pairs):
        lanes = min(LANES, len(pairs) - start)
        while lanes > 1 and _room(pairs[start : start + lanes]) > ROOM:
            lanes //= 2
        yield pairs[start : start + lanes]
        start += lanes


def _room(pairs: Sequence[Pair]) -> int:
    signs = len(set().union(*(long for _, long in pairs), *(short for short, _ in pairs))) + 1
    return _blocks(pairs) * len(pairs) * signs


def _blocks(pairs: Sequence[Pair]) -> int:
    """Words for the longest of the longer texts, each lengthened by what its shorter text is."""
    widest = max(len(short) for short, _ in pairs)
    return -(-max(len(long) + widest - len(short) for short, long in pairs) // WORD)


def _together(pairs: Sequence[Pair]) -> list[int]:
    """Myers' and Hyyrö's algorithm (2003) in words of 64 bits, the words of all pairs side by side.

    Both texts of a pair are lengthened by one sign that is in neither, until all shorter texts are as long as the
    longest: that changes no distance. A word needs what the word before it carried over in the same column; so word b
    is one column behind word b - 1, and all words of all pairs move on together.
    """
    import numpy as np

    blocks, columns, lanes = _blocks(pairs), len(pairs[-1][0]), len(pairs)
    where, places, signs = _table(pairs, blocks)
    up = np.full((blocks, lanes), ~np.uint64(0))
    down = np.zeros((blocks, lanes), np.uint64)
    risen, fallen = np.zeros((2, 2, blocks + 1, lanes), np.uint64)
    risen[:, 0] = 1
    one, last = np.uint64(1), np.uint64(WORD - 1)
    starts = (np.arange(blocks) * lanes * signs)[:, None]
    for wave in range(columns + blocks - 1):
        low, high = max(0, wave - columns + 1), min(blocks - 1, wave) + 1
        at = places[wave - high + 1 : wave - low + 1][::-1] + starts[low:high]
        v_up, v_down = up[low:high], down[low:high]
        h_up, h_down = risen[wave & 1, low:high], fallen[wave & 1, low:high]
        same = where.take(at)
        either = same | v_down
        same |= h_down
        across = same & v_up
        across += v_up
        across ^= v_up
        across |= same
        more = across | v_up
        np.invert(more, out=more)
        more |= v_down
        less = across
        less &= v_up
        np.right_shift(more, last, out=risen[~wave & 1, low + 1 : high + 1])
        np.right_shift(less, last, out=fallen[~wave & 1, low + 1 : high + 1])
        more <<= one
        more |= h_up
        less <<= one
        less |= h_down
        np.bitwise_and(more, either, out=v_down)
        more |= either
        np.invert(more, out=more)
        np.bitwise_or(more, less, out=v_up)
    lengths = np.array([len(long) + columns - len(short) for short, long in pairs])
    within = ~_from(lengths, blocks)
    return [int(far) for far in columns + _bits(up & within) - _bits(down & within)]


def _table(pairs: Sequence[Pair], blocks: int) -> tuple[NDArray[Any], NDArray[Any], int]:
    """For each word, pair and sign the places of the longer text that have it; the shorter texts' signs, by column, as
    places in that table (of word 0); how many signs there are. Sign 0 is what texts are lengthened by."""
    import numpy as np

    lanes = len(pairs)
    shorts, longs = _codes((short for short, _ in pairs), lanes), _codes((long for _, long in pairs), lanes)
    there = np.zeros(max(int(shorts.max()), int(longs.max())) + 1, np.int64)
    there[shorts] = 1
    there[longs] = 1
    there[0] = 0
    number = np.cumsum(there)
    number[0] = 0
    signs = int(number[-1]) + 1
    where = np.zeros((blocks, lanes, signs), np.uint64)
    lengths = np.array([len(long) for _, long in pairs])
    order = np.arange(lanes)
    numbers = number[longs]
    for place in range(longs.shape[1]):
        some = order[lengths > place]
        where[place // WORD, some, numbers[some, place]] |= np.uint64(1 << place % WORD)
    where[:, :, 0] = _from(lengths, blocks)
    places = np.ascontiguousarray(number[shorts].T) + order * signs
    return where.reshape(-1), places, signs


def _codes(texts: Iterable[str], lanes: int) -> NDArray[Any]:
    """A row for each text: its characters' numbers plus one, then zeros."""
    import numpy as np

    rows = [np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) for text in texts]
    codes = np.zeros((lanes, max(map(len, rows))), np.int64)
    for code, row in zip(codes, rows, strict=True):
        code[: len(row)] = row
        code[: len(row)] += 1
    return codes


def _from(lengths: NDArray[Any], blocks: int) -> NDArray[Any]:
    """For each word and pair: ones from the place `lengths` on."""
    import numpy as np

    first = np.clip(lengths - WORD * np.arange(blocks)[:, None], 0, WORD).astype(np.uint64)
    ones = ~np.uint64(0) << np.minimum(first, np.uint64(WORD - 1))
    found: NDArray[Any] = np.where(first == WORD, np.uint64(0), ones)
    return found


def _bits(words: NDArray[Any]) -> NDArray[Any]:
    """How many ones the words of each pair have."""
    import numpy as np

    ones = np.unpackbits(np.ascontiguousarray(words.T).view(np.uint8), axis=1)
    found: NDArray[Any] = ones.sum(axis=1, dtype=np.int64)
    return found
