"""Pickles that are hostile, broken or enormous: nothing of them runs, and nothing of them is made room for."""

from __future__ import annotations

import collections
import datetime
import enum
import gzip
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lab.core.errors import LabError
from store.formats.androidworld import unpickling, values
from store.formats.androidworld.unpickling import unpickle
from store.formats.androidworld.values import Array, ForeignObject, Global, LargeBytes, Shaper, shot_of
from store.formats.image_spool import Spool, SpooledImage
from store.formats.stream import FileStream
from tests.crossed import IN_SOAK, crossed
from tests.warm_code import python


def load(tmp_path: Path, data: bytes, spool: Spool | None = None) -> Any:
    path = tmp_path / "some.pkl"
    path.write_bytes(data)
    with FileStream(path, tmp_path) as stream:
        return unpickle(stream, spool)


def refusal(tmp_path: Path, data: bytes) -> str:
    with pytest.raises(LabError) as caught:
        load(tmp_path, data, Spool())
    return caught.value.message


class Shell:
    """What a hostile pickle asks for."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.mark}",)


class Colour(enum.Enum):
    RED = 1

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By the value, as most Pythons write it."""
        return Colour, (self.value,)


class Shade(enum.Enum):
    DARK = 1

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By the name, as the first releases of Python 3.11 write it."""
        return getattr, (Shade, self.name)


class Thing:
    def __init__(self) -> None:
        self.size = 3


@pytest.mark.parametrize("protocol", range(6))
def test_plain_values_come_back_as_they_were_whatever_the_protocol(tmp_path: Path, protocol: int) -> None:
    value = {
        "none": None, "yes": True, "no": False, "small": 7, "minus": -70_000, "long": 2**40, "longer": -(2**100),
        "float": 1.5, "text": "hé\n\"x\\", "chinese": "设置", "bytes": b"\x00\xff", "tuple": (), "four": (1, 2, 3, 4),
        "list": [1, [2], {"a": []}], 3: "three", None: "none", (1, "a"): "pair",
    }  # fmt: skip
    found = load(tmp_path, pickle.dumps(value, protocol))
    assert found.pop("(1, a)") == "pair"
    del value[1, "a"]
    assert found == value


@pytest.mark.parametrize("protocol", range(6))
def test_the_few_known_classes_are_made_of_their_values(tmp_path: Path, protocol: int) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=8))
    value = [
        datetime.datetime(2025, 10, 3, 20, 24, 59, 843086), datetime.datetime(2025, 1, 1, tzinfo=zone),
        datetime.date(2024, 2, 29), datetime.timedelta(days=1, seconds=3), {1}, frozenset({2}), bytearray(b"ab"),
        collections.OrderedDict(a=1), collections.defaultdict(list, b=[2]),
    ]  # fmt: skip
    found = load(tmp_path, pickle.dumps(value, protocol))
    assert found == [*value[:4], [1], [2], b"ab", {"a": 1}, {"b": [2]}]


@pytest.mark.parametrize("protocol", range(2, 6))
def test_numpys_numbers_and_small_arrays_become_numbers(tmp_path: Path, protocol: int) -> None:
    value = [np.float64(0.5), np.int32(-3), np.bool_(True), np.arange(6, dtype=np.int16).reshape(2, 3),
             np.array(["ab", "c"]), np.array([1, 2], dtype=">i4"), np.array(5.0), np.array(["x", None], dtype=object),
             np.zeros((0, 3))]  # fmt: skip
    found = Shaper("x").shape(load(tmp_path, pickle.dumps(value, protocol)))
    assert found == [0.5, -3, True, [[0, 1, 2], [3, 4, 5]], ["ab", "c"], [1, 2], 5.0, ["x", None], []]


@pytest.mark.parametrize("protocol", range(2, 6))
def test_a_screen_becomes_a_png_of_the_same_pixels(tmp_path: Path, protocol: int) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8)
    grey = np.tile(np.arange(30, dtype=np.uint8), (20, 1))
    spool = Spool()
    found = load(tmp_path, pickle.dumps([pixels, grey, Image.fromarray(pixels), pixels.copy()], protocol), spool)
    shots = [shot_of(one) for one in found]
    assert all(isinstance(shot, SpooledImage) for shot in shots)
    assert shots[0] == shots[2] == shots[3]
    for shot, same in zip(shots, [pixels, grey], strict=False):
        assert shot is not None
        path = tmp_path / "shot.png"
        path.write_bytes(spool.blob(shot.sha256).data)
        assert shot.size == (30, same.shape[0])
        assert np.array_equal(np.asarray(Image.open(path)), same)


def test_bytes_of_a_screen_are_let_go_and_many_long_ones_are_not_all_held(tmp_path: Path) -> None:
    many = [os.urandom(1) * 30_000_000 for _ in range(4)]
    found = load(tmp_path, pickle.dumps([np.zeros((300, 300, 3), np.uint8), *many]), Spool())
    assert shot_of(found[0])
    assert [one.data is None for one in found[1:]] == [True, True, False, False]
    assert Shaper("x").shape(found)[1] == "30,000,000 bytes, left out"


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_that_a_pickle_names_is_run(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "ran"
    found = load(tmp_path, pickle.dumps([Shell(mark)], protocol))
    assert isinstance(found[0], ForeignObject)
    assert str(found[0].kind) in ("posix.system", "os.system")
    assert not mark.exists()


@pytest.mark.parametrize(
    "data",
    [
        b"cos\nsystem\n(S'touch MARK'\ntR.",
        b"(S'touch MARK'\nios\nsystem\n.",
        b"(cos\nsystem\nS'touch MARK'\no.",
        b"\x80\x02cos\nsystem\nX\x0a\x00\x00\x00touch MARK\x85\x81.",
        b"\x80\x02cbuiltins\neval\nX\x0d\x00\x00\x00open('MARK',1)\x85R.",
        b"\x80\x02cbuiltins\ngetattr\ncos\nsystem\nX\x08\x00\x00\x00__call__\x86RX\x0a\x00\x00\x00touch MARK\x85R.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x0atouch MARK\x85}\x92.",
        b"\x80\x02cbuiltins\n__import__\nX\x02\x00\x00\x00os\x85R}X\x04\x00\x00\x00nameX\x04\x00\x00\x00MARKsb.",
    ],
)
def test_every_way_to_call_something_makes_a_standin(
    tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(load(tmp_path, data), ForeignObject)
    assert [path.name for path in tmp_path.iterdir()] == ["some.pkl"]


def test_unknown_classes_keep_what_they_held(tmp_path: Path) -> None:
    there = {"thing": Thing(), "red": Colour.RED, Colour.RED: 1, "dark": Shade.DARK, Shade.DARK: 2, "class": Thing}
    data = pickle.dumps(there, 4)
    thing, dark = f"{Thing.__module__}.Thing", f"{Shade.__module__}.Shade.DARK"
    assert Shaper("x").shape(load(tmp_path, data)) == {
        "thing": {"class": thing, "state": {"size": 3}},
        "red": {"class": f"{Colour.__module__}.Colour", "args": [1]},
        f"{Colour.__module__}.Colour(1)": 1,
        "dark": dark,
        dark: 2,
        "class": thing,
    }


def test_an_attribute_asked_for_again_and_again_makes_no_longer_and_longer_names(tmp_path: Path) -> None:
    """Each would be as long as all before it."""
    again = b"".join(b"cbuiltins\ngetattr\nh\x00X\x03\x00\x00\x00one\x86Rq\x00" for _ in range(1000))
    made = load(tmp_path, b"\x80\x02cos\npath\nq\x00" + again + b".")
    assert isinstance(made, ForeignObject)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x80\x02X\x01\x00\x00\x00aQ.", "holds the code b'Q'"),
        (b"P1\n.", "holds the code b'P'"),
        (b"\x80\x02\x82\x01.", "holds the code b'\\x82'"),
        (b"\x80\x05\x97.", "holds the code b'\\x97'"),
        (b"\x80\x09.", "protocol 9"),
        (b"\x80\x04\x8e" + struct.pack("<Q", 2**60), "is cut short"),
        (b"\x80\x04\x8d" + struct.pack("<Q", 2**60), "holds a text of"),
        (b"\x80\x05\x96" + struct.pack("<Q", 2**63), "is cut short"),
        (b"\x80\x02\x8b\xff\xff\xff\x7f.", "holds a number of"),
        (b"\x80\x02\x8b\xff\xff\xff\xff.", "holds a number of -1 bytes"),
        (b"I" + b"9" * 5000 + b"\n.", "holds a number that is too long"),
        (b"\x80\x02]r\xff\xff\xff\x7f.", "remembers something at the place"),
        (b"]p-5\n.", "remembers something at the place"),
        (b"\x80\x02h\x07.", "asks for something that it never remembered"),
        (b"g-1\n.", "asks for something that it never remembered"),
        (b"\x80\x02t.", "is no pickle"),
        (b"\x80\x02]]t.", "closes a list that it never opened"),
        (b"\x80\x02K\x01\x86.", "takes more from its stack than is there"),
        (b"\x80\x02", "is cut short"),
        (b"", "is cut short"),
        (b".", "is no pickle"),
        (b"GIF89a", "is cut short"),
        (b"\x80\x02K\x01K\x02a.", "adds items to something that is no list"),
        (b"\x80\x02](K\x01K\x02u.", "puts a key without a value"),
        (b"\x80\x02}(K\x01u.", "puts a key without a value"),
        (b"\x80\x02}]K\x01s.", "neither text nor number"),
        (b"\x80\x02K\x01}b.", "sets the state of something that has none"),
        (b"\x80\x04K\x01K\x02\x93.", "names a class by something that is no text"),
        (b"\x80\x02X\x02\x00\x00\x00\xc3(.", "is no pickle"),
    ],
)
def test_what_is_no_honest_pickle_gets_a_sentence(tmp_path: Path, data: bytes, said: str) -> None:
    assert said in refusal(tmp_path, data)


def array_of(shape: bytes, code: bytes = b"u1", body: bytes = b"C\x04abcd", order: bytes = b"|") -> bytes:
    """A pickle of numpy's own form with a shape, kind and bytes that need not agree."""
    return (
        b"\x80\x04cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01btR(K\x01" + shape
        + b"cnumpy\ndtype\nX" + struct.pack("<I", len(code)) + code + b"\x89\x88\x87R(K\x03X\x01\x00\x00\x00" + order
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89" + body + b"tb."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (array_of(b"K\x05\x85"), "whose bytes are 4"),
        (array_of(b"J\xff\xff\xff\xff\x85"), "whose shape is none"),
        (array_of(b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x87"), "whose bytes are 4"),
        (array_of(b"\x8a\x09\0\0\0\0\0\0\0\0\x01\x85"), "whose shape is none"),
        (array_of(b"G?\xf0\0\0\0\0\0\0\x85"), "whose shape is none"),
        (array_of(b"K\x04\x85", b"f8"), "whose bytes are 4"),
        (array_of(b"K\x04\x85", body=b"N"), "whose bytes are -1"),
        (array_of(b"K\x04\x85", body=b"]"), "whose bytes are 0"),
        (b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n)RK\x01b.", "holds an array whose state is none"),
        (b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n)R(K\x01K\x01\x85K\x02\x89C\x01atb.", "of no known kind"),
        (b"\x80\x04cnumpy._core.numeric\n_frombuffer\n(C\x01aNK\x09\x85X\x01\x00\x00\x00CtR.", "of no known kind"),
    ],
)
def test_an_array_whose_sizes_do_not_agree_gets_a_sentence(tmp_path: Path, data: bytes, said: str) -> None:
    assert said in refusal(tmp_path, data)


@pytest.mark.parametrize(
    ("code", "size"), [(b"O8", 8), (b"V4", 4), (b"U99999999", 1), (b"c8", 8), (b"i3", 3), (b"", 1), (b"\xc3\xa9", 2),
                       (b"M8[ns]", 8), (b"x4", 4)]
)  # fmt: skip
def test_arrays_of_other_kinds_are_named_and_left_out(tmp_path: Path, code: bytes, size: int) -> None:
    found = load(tmp_path, array_of(b"K\x01\x85", code, b"C" + bytes([size]) + bytes(size)), Spool())
    assert isinstance(found, Array)
    assert Shaper("x").shape(found).startswith("array of ")


def test_one_buffer_under_two_arrays_is_shown_once(tmp_path: Path) -> None:
    pixels = os.urandom(200 * 200 * 3)
    body = b"\x8e" + struct.pack("<Q", len(pixels)) + pixels + b"q\x01"
    first = array_of(b"K\xc8K\xc8K\x03\x87", body=body)[:-1]
    second = array_of(b"K\xc8K\xc8K\x03\x87", body=b"h\x01")[2:-1]
    found = load(tmp_path, first + second + b"\x86.", Spool())
    assert [shot_of(one) is not None for one in found] == [True, False]


def test_aliases_cannot_blow_a_value_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_MOST_VALUES", 50_000)
    monkeypatch.setattr(values, "_MOST_TEXT", 50_000_000)
    laughs: list[Any] = ["ha"]
    for _ in range(20):
        laughs = [laughs] * 10
    with pytest.raises(LabError, match="values in one run"):
        Shaper("x").shape(load(tmp_path, pickle.dumps(laughs)))
    text = "ha" * 1_000_000
    with pytest.raises(LabError, match="characters in one run"):
        Shaper("x").shape(load(tmp_path, pickle.dumps([text] * 1000)))


def test_what_nests_without_end_is_refused_and_not_followed(tmp_path: Path) -> None:
    around = b"\x80\x04]\x94h\x00a."
    with pytest.raises(LabError, match="nested too deeply"):
        Shaper("x").shape(load(tmp_path, around))
    deep = load(tmp_path, b"\x80\x04" + b"]" * 50_000 + b"a" * 49_999 + b".")
    with pytest.raises(LabError, match="nested too deeply"):
        Shaper("x").shape(deep)
    tuples = b"\x80\x04K\x01" + b"\x85" * 50_000
    load(tmp_path, tuples + b".")
    load(tmp_path, b"\x80\x04}" + tuples[2:] + b"K\x01s.")
    built = b"\x80\x04" + b"ca\nb\n)\x81" * 50_000 + b"b" * 49_999 + b"."
    with pytest.raises(LabError, match="nested too deeply"):
        Shaper("x").shape(load(tmp_path, built))


@pytest.mark.parametrize("code", [b"]", b"}", b"N0", b"]\x94", b"K\x01\x85", b"C\x00", b"ca\nb\n)\x81", b"(l"])
def test_what_is_repeated_without_end_is_refused(tmp_path: Path, code: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpickling, "_MOST_CODES", 60_000)
    monkeypatch.setattr(unpickling, "_MOST_MADE", 10_000)
    assert "holds more than" in refusal(tmp_path, b"\x80\x04" + code * 70_000)


@crossed
def test_memory_stays_bounded_whatever_a_small_file_unpacks_to(tmp_path: Path) -> None:
    """In a soak up to the four million objects that are read; else up to a quarter of them, in less memory."""
    objects, memory = ("4_000_000", "450") if IN_SOAK else ("1_000_000", "150")
    path = tmp_path / "bomb.pkl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"\x80\x04\x8c\x0dtask_template0\x8c\x0cepisode_data")
        for _ in range(64):
            file.write(b"}" * 1024**2)
    limited = (
        "import resource, sys; from pathlib import Path;"
        "own = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize();"
        "limit = own + int(sys.argv[2]) * 1024**2;"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit));"
        "from store.formats import read; from store.formats.androidworld import unpickling;"
        "unpickling._MOST_MADE = int(sys.argv[3]); (found,) = read(Path(sys.argv[1])); print(found.error)"
    )
    done = python(limited, path, memory, objects, text=True)
    assert "objects" in done.stdout.partition("holds more than")[2], done.stderr[-2000:]


def test_mutated_pickles_never_do_more_than_refuse(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    whole = pickle.dumps(
        [{"a": np.zeros((20, 20, 3), np.uint8), "t": datetime.datetime(2024, 1, 1), "n": np.float32(2), "x": Thing()}]
    )
    refused: list[str] = []
    for _ in range(800):
        data = bytearray(whole)
        for at in rng.integers(0, len(data), rng.integers(1, 6)):
            data[at] = rng.integers(0, 256)
        cut = bytes(data[: rng.integers(len(data) // 2, len(data) + 1)])
        try:
            Shaper("x").shape(load(tmp_path, cut, Spool()))
        except LabError as error:
            refused.append(error.sentence)
    assert refused
    assert all("some.pkl" in sentence for sentence in refused)


def test_a_web_answer_keeps_no_key_and_no_cookie() -> None:
    answer = ForeignObject(Global("requests.models", "Response"))
    answer.state = {
        "status_code": 200,
        "_content": b'{"usage": {}}',
        "headers": {"x": "secret"},
        "request": LargeBytes(None, 9),
    }
    assert Shaper("x").shape(answer) == {
        "class": "requests.models.Response", "state": {"status_code": 200, "_content": '{"usage": {}}'}
    }  # fmt: skip
    asked = ForeignObject(Global("requests.models", "PreparedRequest"))
    asked.state = {"headers": {"Authorization": "secret"}}
    assert Shaper("x").shape([asked]) == ["a request, left out"]
