"""Objects of a pickle: times, containers, arrays and pictures of a few known classes, stand-ins for all others.

Arrays are built from shape, type and bytes, whose sizes must match. numpy is never called.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any

from lab.core.errors import LabError
from store.formats.androidworld.values import Array, Dtype, ForeignObject, Global, LargeBytes
from store.formats.image_spool import Spool, SpooledImage

_LEAST_PICTURE = 16
"""Minimum width and height of a byte array that counts as a picture."""
_MOST_NUMBERS = 4096
_LONGEST_NAME = 400
"""Maximum length of a class with module and member, because a pickle may repeat a long name many times."""
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_ARRAYS = {"numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric"}
_BUILTINS = {"builtins", "__builtin__"}


class ObjectMaker:
    """Makes and fills the objects of one pickle. `spool` receives its pictures. None drops them."""

    def __init__(self, what: str, spool: Spool | None) -> None:
        self.what = what
        self.spool = spool

    def construct(self, kind: Any, args: tuple[Any, ...]) -> Any:
        """Return the object that calling `kind` with `args` would make, without calling anything."""
        if not isinstance(kind, Global):
            return ForeignObject(kind, args)
        if kind.module in _ARRAYS:
            return self._make_numpy(kind, args)
        make = _CONSTRUCTORS.get((kind.module if kind.module not in _BUILTINS else "builtins", kind.name))
        if make is None:
            return ForeignObject(kind, args)
        try:
            value = make(args)
        except (ValueError, TypeError, IndexError, OverflowError, LookupError, UnicodeError):
            value = None
        return ForeignObject(kind, args) if value is None else value

    def _make_numpy(self, kind: Global, args: tuple[Any, ...]) -> Any:
        match kind.name, args:
            case "_reconstruct", _:
                return Array()
            case "scalar", (Dtype() as dtype, bytes(data)):
                numbers = dtype.numbers(data)
                return numbers[0] if numbers else ForeignObject(kind, args)
            case "_frombuffer", (data, dtype, shape, order):
                array = Array()
                self._fill_array(array, shape, dtype, order == "F", data)
                return array
        return ForeignObject(kind, args)

    def append(self, target: Any, items: list[Any]) -> None:
        """Append items to a list or a stand-in."""
        if isinstance(target, list):
            target.extend(items)
        elif isinstance(target, ForeignObject):
            target.items.extend(items)
        else:
            raise LabError(self.what, "adds items to something that is no list")

    def set_items(self, target: Any, items: list[Any]) -> None:
        """Insert alternating keys and values into a mapping or a stand-in."""
        if len(items) % 2 or not isinstance(target, dict | ForeignObject):
            raise LabError(self.what, "puts a key without a value, or into something that is no mapping")
        pairs = [(self._comparable_key(items[i]), items[i + 1]) for i in range(0, len(items), 2)]
        if isinstance(target, dict):
            target.update(pairs)
        else:
            target.items.extend(pairs)

    def _comparable_key(self, key: Any) -> Any:
        """Return a key that is cheap to compare, because a stranger's key may be nested without limit."""
        match key:
            case None | bool() | int() | float() | str() | Global():
                return key
            case bytes() if len(key) <= _MOST_NUMBERS:
                return key
            case tuple() if len(key) <= 16:
                return (
                    "("
                    + ", ".join(str(self._comparable_key(part)) for part in key if not isinstance(part, tuple))
                    + ")"
                )
            case ForeignObject():
                return f"{key.kind if isinstance(key.kind, Global) else 'object'}{self._comparable_key(key.args)}"
        raise LabError(self.what, "holds a mapping with a key that is neither text nor number")

    def build(self, target: Any, state: Any) -> None:
        """Set an object's state."""
        match target:
            case Array():
                self._build_array(target, state)
            case Dtype():
                if isinstance(state, tuple) and len(state) > 4:
                    target.order = state[1] if state[1] in ("<", ">", "|") else "|"
                    target.code = target.code if state[3] is None and state[4] is None else "V"
            case ForeignObject():
                target.state = self._spool_pil_image(target, state) or state
            case dict() | list():
                pass  # attributes of a subclass; only its items matter
            case _:
                raise LabError(self.what, "sets the state of something that has none")

    def _build_array(self, target: Array, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) not in (4, 5):
            raise LabError(self.what, "holds an array whose state is none")
        shape, dtype, fortran, data = state[-4:]
        self._fill_array(target, shape, dtype, bool(fortran), data)

    def _fill_array(self, target: Array, shape: Any, dtype: Any, fortran: bool, data: Any) -> None:
        sizes = shape if isinstance(shape, tuple) else (shape,)
        if len(sizes) > 32 or not all(type(one) is int and 0 <= one < 2**31 for one in sizes):
            raise LabError(self.what, "holds an array whose shape is none")
        if not isinstance(dtype, Dtype):
            raise LabError(self.what, "holds an array of numbers of no known kind")
        count = math.prod(sizes)
        size = data.size if isinstance(data, LargeBytes) else len(data) if isinstance(data, bytes | list) else -1
        expected_size = count if isinstance(data, list) else None if dtype.width is None else count * dtype.width
        if size < 0 or expected_size not in (None, size):
            size_text = "x".join(map(str, sizes))
            raise LabError(self.what, f"holds an array of {size_text} of {dtype.code[:20]} whose bytes are {size:,}")
        target.shape, target.dtype = sizes, f"{dtype.order}{dtype.code}"
        if isinstance(data, list):
            target.numbers = data
            return
        raw = data.data if isinstance(data, LargeBytes) else data
        # Column-major arrays are left out rather than reordered.
        if raw is None or (fortran and len(sizes) > 1):
            return
        if dtype.code == "u1" and (shot := self._spool_picture(raw, sizes)):
            target.picture = shot
        elif count <= _MOST_NUMBERS:
            target.numbers = dtype.numbers(raw)
        if isinstance(data, LargeBytes):
            data.data = None

    def _spool_picture(self, raw: bytes, sizes: tuple[int, ...]) -> SpooledImage | None:
        if self.spool is None or len(sizes) not in (2, 3) or min(sizes[:2]) < _LEAST_PICTURE:
            return None
        mode = _MODES.get(sizes[2] if len(sizes) == 3 else 1)
        return self.spool.add_pixels(raw, sizes[1], sizes[0], mode) if mode else None

    def _spool_pil_image(self, target: ForeignObject, state: Any) -> SpooledImage | None:
        """Return the picture of a PIL image. Its state is info, mode, size, palette and bytes."""
        kind = target.kind
        if self.spool is None or not isinstance(kind, Global) or not kind.module.startswith("PIL."):
            return None
        match state:
            case [_, str(mode), (int(width), int(height)), _, bytes() | LargeBytes() as data]:
                raw = data.data if isinstance(data, LargeBytes) else data
                shot = self.spool.add_pixels(raw, width, height, mode) if raw else None
                if isinstance(data, LargeBytes):
                    data.data = None
                return shot
        return None


def _datetime(args: tuple[Any, ...]) -> Any:
    zone = args[1] if len(args) > 1 and isinstance(args[1], datetime.timezone) else None
    if not isinstance(args[0], bytes):
        return datetime.datetime(*args[:7])
    # The layout of `datetime.__reduce__`. The month's highest bit is the fold.
    high, low, month, day, hour, minute, second, *micro = args[0]
    return datetime.datetime(
        high * 256 + low, month & 127, day, hour, minute, second, int.from_bytes(bytes(micro)), tzinfo=zone
    )


def _date(args: tuple[Any, ...]) -> Any:
    if not isinstance(args[0], bytes):
        return datetime.date(*args[:3])
    high, low, month, day = args[0]
    return datetime.date(high * 256 + low, month, day)


def _delta(args: tuple[Any, ...]) -> Any:
    return datetime.timedelta(*args[:3])


def _zone(args: tuple[Any, ...]) -> Any:
    return datetime.timezone(args[0])


def _list(args: tuple[Any, ...]) -> Any:
    return [] if not args else list(args[0]) if isinstance(args[0], list | tuple) else None


def _bytes(args: tuple[Any, ...]) -> Any:
    """Return bytes that an old protocol wrote as text."""
    if not args:
        return b""
    if isinstance(args[0], bytes | LargeBytes):
        return args[0]
    latin = args[0] if isinstance(args[0], str) and args[1:] in (("latin1",), ("latin-1",)) else None
    return None if latin is None else latin.encode("latin-1")


def _dtype(args: tuple[Any, ...]) -> Any:
    return Dtype(args[0]) if args and isinstance(args[0], str) and len(args[0]) < 100 else None


def _dict(args: tuple[Any, ...]) -> Any:
    return {} if all(isinstance(one, Global) or not one for one in args) else None


def _reconstructed(args: tuple[Any, ...]) -> Any:
    kind, _, state = args
    instance: Any = {} if str(kind) in ("collections.OrderedDict", "collections.defaultdict") else ForeignObject(kind)
    if isinstance(instance, ForeignObject) and state is not None:
        instance.args = (state,)
    return instance


def _enum_member(args: tuple[Any, ...]) -> Any:
    """Return an enumeration's member as a name only. The first releases of Python 3.11 pickle one with `getattr`."""
    match args:
        case (Global() as kind, str(name)) if (
            name.isidentifier() and len(kind.module + kind.name + name) < _LONGEST_NAME
        ):
            return Global(kind.module, f"{kind.name}.{name}")
    return None


_CONSTRUCTORS: dict[tuple[str, str], Callable[[tuple[Any, ...]], Any]] = {
    ("datetime", "datetime"): _datetime,
    ("datetime", "date"): _date,
    ("datetime", "timedelta"): _delta,
    ("datetime", "timezone"): _zone,
    ("numpy", "dtype"): _dtype,
    ("collections", "OrderedDict"): _dict,
    ("collections", "defaultdict"): _dict,
    ("builtins", "dict"): _dict,
    ("builtins", "getattr"): _enum_member,
    ("builtins", "list"): _list,
    ("builtins", "tuple"): _list,
    # Sets become lists, because JSON has no sets.
    ("builtins", "set"): _list,
    ("builtins", "frozenset"): _list,
    ("builtins", "bytes"): _bytes,
    ("builtins", "bytearray"): _bytes,
    ("_codecs", "encode"): _bytes,
    ("copyreg", "_reconstructor"): _reconstructed,
    ("copy_reg", "_reconstructor"): _reconstructed,
}
"""Constructors by module and name. A result of None becomes a stand-in."""
