"""Safe reader of pickles: interprets the opcodes itself and never imports, calls or runs anything.

Every class and function is only a name. Objects become inert stand-ins, except times, plain containers, and arrays of
numbers, which are built from their bytes after their sizes are checked. Pictures are converted to PNG and spooled at
once. Memory is bounded by the number of objects and the size of long byte strings.

Source: the opcodes as documented in `pickletools` (protocols 0 to 5).
"""

from __future__ import annotations

import codecs
import struct
import sys
from collections.abc import Callable
from typing import Any

from lab.core.errors import LabError
from store.formats.androidworld.objects import ObjectMaker
from store.formats.androidworld.values import ForeignObject, Global, LargeBytes
from store.formats.image_spool import Spool
from store.formats.stream import FileStream

_MOST_CODES = 30_000_000
_MOST_MADE = 4_000_000
"""Maximum numbers of opcodes and of objects."""
_MOST_TEXT = 128 * 1024**2
_LONG = 64 * 1024
"""Length from which on byte strings are stored separately and dropped when there are too many."""
_MOST_LONG = 128 * 1024**2
_MOST_HELD = 64 * 1024**2
_LONGEST_NUMBER = 64
_FAR = 1024
"""Maximum gap between the last index in the memo and a new one."""

_MARK = object()


def unpickle(stream: FileStream, spool: Spool | None) -> Any:
    """Return the value of a pickle. Raise `LabError` if it is invalid.

    Pictures go to `spool`, or are dropped without one.
    """
    try:
        return PickleMachine(stream, spool).run()
    except (IndexError, KeyError, struct.error, TypeError, ValueError) as error:
        raise LabError(str(stream.path), f"is no pickle that can be read ({type(error).__name__}: {error})") from error
    except (MemoryError, RecursionError) as error:
        raise LabError(str(stream.path), "holds more than this machine has room for") from error


class PickleMachine:
    """Interprets a pickle's opcodes over a stack of values."""

    def __init__(self, stream: FileStream, spool: Spool | None) -> None:
        self.stream = stream
        self.what = str(stream.path)
        self.maker = ObjectMaker(self.what, spool)
        self.stack: list[Any] = []
        self.memo: list[Any] = []
        self.made = 0
        self.text = 0
        self.held: list[LargeBytes] = []

    def run(self) -> Any:
        """Run the opcodes up to STOP and return the top of the stack."""
        take, codes = self.stream.read, _codes(self)
        for _ in range(_MOST_CODES):
            code = take(1)
            if code == b".":
                return self.stack.pop()
            follow = codes.get(code)
            if follow is None:
                raise self.error(f"holds the code {code!r}, which no pickle of this kind needs; it is not followed")
            follow()
        raise self.error(f"holds more than {_MOST_CODES:,} codes")

    def error(self, why: str) -> LabError:
        return LabError(self.what, why)

    def push(self, value: Any) -> None:
        """Push a new object."""
        self.made += 1
        if self.made > _MOST_MADE:
            raise self.error(f"holds more than {_MOST_MADE:,} objects")
        self.stack.append(value)

    def pop_to_mark(self) -> list[Any]:
        """Return the values above the last mark, and remove the mark."""
        stack = self.stack
        at = len(stack) - 1
        while stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise self.error("closes a list that it never opened")
        items = stack[at + 1 :]
        del stack[at:]
        return items

    # Numbers and text

    # pickle itself encodes text with `surrogatepass`.
    def push_text(self, data: bytes, encoding: str = "utf-8", errors: str = "surrogatepass") -> None:
        text = data.decode(encoding, errors)
        # The real size: text beyond Latin-1 takes two or four bytes a character.
        self.text += sys.getsizeof(text)
        if self.text > _MOST_TEXT:
            raise self.error(f"holds more than {_MOST_TEXT:,} bytes of text")
        self.push(text)

    def push_sized_text(self, form: str, size: int) -> None:
        length = self.stream.number(form, size)
        if length > _MOST_TEXT:
            raise self.error(f"holds a text of {length:,} bytes")
        self.push_text(self.stream.read(length))

    def push_bytes(self, form: str, size: int) -> None:
        """Push bytes. Long ones are stored separately, and the oldest of them dropped if there are too many."""
        length = self.stream.number(form, size)
        if length < _LONG:
            self.text += length
            if self.text > _MOST_TEXT:
                raise self.error(f"holds more than {_MOST_TEXT:,} bytes of text")
            self.push(self.stream.read(length))
            return
        if length > _MOST_LONG:
            self.stream.skip(length)
            self.push(LargeBytes(None, length))
            return
        data = self.stream.read(length)
        # An encoded picture is spooled at once, so that it need not stay in memory.
        if data.startswith(b"\x89PNG\r\n") and self.maker.spool and (shot := self.maker.spool.add(data)):
            self.push(shot)
            return
        large_bytes = LargeBytes(data, length)
        self.held = [*(chunk for chunk in self.held if chunk.data is not None), large_bytes]
        while sum(chunk.size for chunk in self.held) > _MOST_HELD and len(self.held) > 1:
            self.held.pop(0).data = None
        self.push(large_bytes)

    def push_number(self, form: str, size: int) -> None:
        self.push(struct.unpack(form, self.stream.read(size))[0])

    def push_long(self, form: str, size: int) -> None:
        length = self.stream.number(form, size)
        if not 0 <= length <= _LONGEST_NUMBER:
            raise self.error(f"holds a number of {length:,} bytes")
        self.push(int.from_bytes(self.stream.read(length), "little", signed=True))

    def int_line(self) -> None:
        line = self.stream.line()
        if len(line) > _LONGEST_NUMBER:
            raise self.error("holds a number that is too long")
        self.push({b"00": False, b"01": True}[line] if line in (b"00", b"01") else int(line.rstrip(b"L")))

    def quoted_line(self) -> None:
        line = self.stream.line().strip()
        decoded, _ = codecs.escape_decode(line[1:-1])
        # Texts of Python 2 are bytes in any encoding.
        self.push_text(bytes(decoded), "utf-8", "surrogateescape")

    # Containers

    def append(self, items: list[Any]) -> None:
        self.maker.append(self.stack[-1], items)

    def put_pairs(self, items: list[Any]) -> None:
        self.maker.set_items(self.stack[-1], items)

    def append_one(self) -> None:
        item = self.stack.pop()
        self.append([item])

    def put_one(self) -> None:
        pair = self.stack[-2:]
        del self.stack[-2:]
        self.put_pairs(pair)

    def dict_of(self) -> None:
        items = self.pop_to_mark()
        self.push({})
        self.put_pairs(items)

    def tuple_of(self, count: int) -> None:
        if len(self.stack) < count:
            raise self.error("takes more from its stack than is there")
        items = tuple(self.stack[-count:])
        del self.stack[-count:]
        self.push(items)

    # The memo

    def memo_get(self, place: int) -> None:
        if not 0 <= place < len(self.memo):
            raise self.error("asks for something that it never remembered")
        self.stack.append(self.memo[place])

    def memo_put(self, place: int) -> None:
        if not 0 <= place <= len(self.memo) + _FAR or place >= _MOST_MADE:
            raise self.error(f"remembers something at the place {place:,}")
        # The gap is bounded above, so a huge index cannot fill the memory.
        self.memo.extend([None] * (place + 1 - len(self.memo)))
        self.memo[place] = self.stack[-1]

    # Objects

    def push_global(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise self.error("names a class by something that is no text")
        self.push(Global(module, name))

    def made_of(self, kind: Any, args: Any) -> None:
        self.push(self.maker.construct(kind, args if isinstance(args, tuple) else (args,)))

    def reduce(self) -> None:
        args = self.stack.pop()
        self.made_of(self.stack.pop(), args)

    def new_with_names(self) -> None:
        keywords, args, kind = self.stack.pop(), self.stack.pop(), self.stack.pop()
        instance = self.maker.construct(kind, args if isinstance(args, tuple) else (args,))
        if isinstance(instance, ForeignObject) and keywords:
            instance.args = (*instance.args, keywords)
        self.push(instance)

    def build(self) -> None:
        state = self.stack.pop()
        self.maker.build(self.stack[-1], state)

    def object_of(self) -> None:
        items = self.pop_to_mark()
        self.made_of(items[0], tuple(items[1:]))

    def instance_of(self) -> None:
        kind = Global(self.stream.line().decode(), self.stream.line().decode())
        self.made_of(kind, tuple(self.pop_to_mark()))

    def protocol(self) -> None:
        if (version := self.stream.read(1)[0]) > 5:
            raise self.error(f"is a pickle of protocol {version}; those up to 5 are read")


def _codes(m: PickleMachine) -> dict[bytes, Callable[[], Any]]:
    """Return the handler of each opcode.

    Opcodes that reach outside the file (persistent ids, extension codes, out-of-band buffers) are left out on purpose.
    """
    stream, stack, push = m.stream, m.stack, m.push
    return {
        b"\x80": m.protocol,  # PROTO
        b"\x95": lambda: stream.read(8),  # FRAME
        b"(": lambda: stack.append(_MARK),  # MARK
        b"0": lambda: stack.pop(),  # POP
        b"1": m.pop_to_mark,  # POP_MARK
        b"2": lambda: stack.append(stack[-1]),  # DUP
        b"N": lambda: stack.append(None),  # NONE
        b"\x88": lambda: stack.append(True),  # NEWTRUE
        b"\x89": lambda: stack.append(False),  # NEWFALSE
        b"K": lambda: stack.append(stream.read(1)[0]),  # BININT1
        b"M": lambda: m.push_number("<H", 2),  # BININT2
        b"J": lambda: m.push_number("<i", 4),  # BININT
        b"G": lambda: m.push_number(">d", 8),  # BINFLOAT
        b"\x8a": lambda: m.push_long("<B", 1),  # LONG1
        b"\x8b": lambda: m.push_long("<i", 4),  # LONG4
        b"I": m.int_line,  # INT
        b"L": m.int_line,  # LONG
        b"F": lambda: push(float(stream.line())),  # FLOAT
        b"S": m.quoted_line,  # STRING
        b"V": lambda: m.push_text(stream.line(), "raw-unicode-escape", "strict"),  # UNICODE
        b"\x8c": lambda: m.push_sized_text("<B", 1),  # SHORT_BINUNICODE
        b"X": lambda: m.push_sized_text("<I", 4),  # BINUNICODE
        b"\x8d": lambda: m.push_sized_text("<Q", 8),  # BINUNICODE8
        b"U": lambda: m.push_text(stream.read(stream.read(1)[0]), "utf-8", "surrogateescape"),  # SHORT_BINSTRING
        b"T": lambda: m.push_sized_text("<I", 4),  # BINSTRING
        b"C": lambda: m.push_bytes("<B", 1),  # SHORT_BINBYTES
        b"B": lambda: m.push_bytes("<I", 4),  # BINBYTES
        b"\x8e": lambda: m.push_bytes("<Q", 8),  # BINBYTES8
        b"\x96": lambda: m.push_bytes("<Q", 8),  # BYTEARRAY8
        b"\x98": lambda: None,  # READONLY_BUFFER
        **_object_codes(m),
    }


def _object_codes(m: PickleMachine) -> dict[bytes, Callable[[], Any]]:
    """Return the handlers of the opcodes that build containers and objects and use the memo."""
    stream, stack, push = m.stream, m.stack, m.push
    return {
        b"]": lambda: push([]),  # EMPTY_LIST
        b"}": lambda: push({}),  # EMPTY_DICT
        b")": lambda: push(()),  # EMPTY_TUPLE
        b"\x8f": lambda: push([]),  # EMPTY_SET
        b"l": lambda: push(m.pop_to_mark()),  # LIST
        b"t": lambda: push(tuple(m.pop_to_mark())),  # TUPLE
        b"\x91": lambda: push(m.pop_to_mark()),  # FROZENSET
        b"d": m.dict_of,  # DICT
        b"\x85": lambda: m.tuple_of(1),  # TUPLE1
        b"\x86": lambda: m.tuple_of(2),  # TUPLE2
        b"\x87": lambda: m.tuple_of(3),  # TUPLE3
        b"a": m.append_one,  # APPEND
        b"e": lambda: m.append(m.pop_to_mark()),  # APPENDS
        b"\x90": lambda: m.append(m.pop_to_mark()),  # ADDITEMS
        b"s": m.put_one,  # SETITEM
        b"u": lambda: m.put_pairs(m.pop_to_mark()),  # SETITEMS
        b"\x94": lambda: m.memo_put(len(m.memo)),  # MEMOIZE
        b"p": lambda: m.memo_put(int(stream.line()[:20])),  # PUT
        b"q": lambda: m.memo_put(stream.read(1)[0]),  # BINPUT
        b"r": lambda: m.memo_put(stream.number("<I", 4)),  # LONG_BINPUT
        b"g": lambda: m.memo_get(int(stream.line()[:20])),  # GET
        b"h": lambda: m.memo_get(stream.read(1)[0]),  # BINGET
        b"j": lambda: m.memo_get(stream.number("<I", 4)),  # LONG_BINGET
        b"c": lambda: m.push_global(stream.line().decode(), stream.line().decode()),  # GLOBAL
        b"\x93": lambda: m.push_global(*(stack.pop(-2), stack.pop())),  # STACK_GLOBAL
        b"R": m.reduce,  # REDUCE
        b"\x81": m.reduce,  # NEWOBJ
        b"\x92": m.new_with_names,  # NEWOBJ_EX
        b"b": m.build,  # BUILD
        b"o": m.object_of,  # OBJ
        b"i": m.instance_of,  # INST
    }
