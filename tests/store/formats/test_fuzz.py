"""Spoilt and hostile sources of every format: a sentence or a sensible run, and never anything else."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import pickletools
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.formats import formats
from store.runs.run_import import import_paths
from store.store import Store
from tests.crossed import IN_SOAK, crossed
from tests.store.formats.fuzzing import Outside, changed, empty_store, laid, replaced, spoilt, survives
from tests.store.formats.samples import png, recorded, samples

TRACES = Path(__file__).parents[3].parent / "shared" / "traces"
SAMPLES = samples()
SOURCES = {**SAMPLES, **recorded(TRACES)}
CASES = 240 if IN_SOAK else 56
CHUNK = 8
BUILT = 4 if IN_SOAK else 2
"""Cases that hypothesis builds for each format; in a soak they are 300 together with `CASES`."""


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_store(tmp_path_factory.mktemp("template") / "lab.db")


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outside:
    """An empty folder to stand in, and what lies beside the sources."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return Outside(tmp_path / "outside")


def test_there_is_a_sample_of_every_format() -> None:
    assert set(SAMPLES) == set(formats())


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_comes_in_by_its_format(name: str, tmp_path: Path, outside: Outside, template: Path) -> None:
    laid(tmp_path / "in" / "source", SAMPLES[name])
    report = survives(tmp_path / "in" / "source", tmp_path, outside, template)
    assert report.failed == []
    assert list(report.formats) == [name]
    assert report.imported


@crossed
@pytest.mark.parametrize("first", range(0, CASES, CHUNK))
def test_spoilt_sources(first: int, tmp_path: Path, outside: Outside, template: Path) -> None:
    """Each case by its seed; the real recordings take part where they are there."""
    names = sorted(SOURCES)
    for seed in range(first, first + CHUNK):
        name = names[seed % len(names)]
        source = tmp_path / f"in{seed}" / "source"
        done = spoilt(source, SOURCES[name], Random(seed), outside)
        print(f"case {seed}: {name}, {done}")  # pytest shows it where the case fails
        survives(source, tmp_path, outside, template)


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("name", SAMPLES)
@settings(
    max_examples=BUILT,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(value=_JSON, seed=st.integers(0, 2**32))
def test_any_value_in_any_place(
    name: str, value: Any, seed: int, tmp_path: Path, outside: Outside, template: Path
) -> None:
    random = Random(seed)
    files = dict(SAMPLES[name])
    at = random.choice([path for path in sorted(files) if not path.endswith((".png", ".jpg"))])
    files[at] = changed(files[at], lambda document: replaced(document, random, lambda _: value), random)
    source = tmp_path / f"in{len(os.listdir(tmp_path))}" / "source"
    laid(source, files)
    survives(source, tmp_path, outside, template)


# -- pickles that run code ------------------------------------------------------------------------------------


class Payload:
    """Pickles as a call of any function that pickle can name."""

    def __init__(self, function: Any, *given: Any) -> None:
        self.call = (function, given)

    def __reduce__(self) -> tuple[Any, Any]:
        return self.call


def payloads(canary: Path) -> dict[str, bytes]:
    """Pickles that make the canary in ways that have been used."""
    touch = f"open({str(canary)!r}, 'w').close()"
    system = f"touch {canary}"

    def by_name(module: str, name: str, text: str) -> bytes:
        return f"c{module}\n{name}\n(V{text}\ntR.".encode()

    class Built:
        def __reduce__(self) -> Any:
            return (dict, (), {"a": Payload(eval, touch)})

    return {
        "eval": pickle.dumps([{"goal": Payload(eval, touch)}]),
        "exec": pickle.dumps(Payload(exec, touch), protocol=5),
        "posix": by_name("posix", "system", system),
        "os": by_name("os", "system", system),
        "subprocess": b"csubprocess\ncheck_output\n((lVtouch\naV" + str(canary).encode() + b"\natR.",
        "runpy": by_name("runpy", "run_path", str(canary)),
        "instance": f"(V{touch}\nibuiltins\nexec\n.".encode(),
        "object": f"(cbuiltins\nexec\nV{touch}\no.".encode(),
        "getattr": b"cbuiltins\ngetattr\n(cbuiltins\n__import__\n(Vos\ntRVsystem\ntR(V" + system.encode() + b"\ntR.",
        "numpy": by_name("numpy.core.multiarray", "__dict__.__getitem__", "x"),
        "loads": by_name("pickle", "loads", "x"),
        "dotted": b"\x80\x04\x8c\x08builtins\x8c\teval.real\x93(V" + touch.encode() + b"\ntR.",
        "state": pickle.dumps([Built()]),
        "datetime": b"cdatetime\ndatetime.__init_subclass__\n(tR.",
        "extension": b"\x80\x02\x82\x01(tR.",
        "persistent": b"Px\n.",
        "memo": b"\x80\x04]\x94(h\x00h\x00h\x00e." + b"h\x05.",
        "itself": b"\x80\x04]\x94h\x00a.",
        "huge": b"\x80\x04\x8e" + (2**40).to_bytes(8, "little") + b"x.",
        "huge text": b"\x80\x04\x8d" + (2**62).to_bytes(8, "little") + b"x.",
        "long": b"\x80\x04\x8b" + (2**31 - 1).to_bytes(4, "little") + b"x.",
        "marks": b"(" * 100_000 + b".",
        "nested": b"\x80\x04" + b"]" * 50_000 + b"a" * 49_999 + b".",
        "dup": b"\x80\x04]" + b"2" * 100_000 + b"a" * 100_000 + b".",
        "many": b"\x80\x04" + b"]\x94h\x00" * 5_000 + b"(" + b"e.",
    }


@pytest.mark.parametrize("name", payloads(Path("x")))
def test_no_pickle_runs_code(name: str, tmp_path: Path, outside: Outside, template: Path) -> None:
    data = payloads(outside.canary)[name]
    folder = "run_20250101T000000000000"
    laid(tmp_path / "in" / "source", {f"{folder}/T_0.pkl.gz": gzip.compress(data), f"{folder}/T_1.pkl": data})
    report = survives(tmp_path / "in" / "source", tmp_path, outside, template)
    assert report.imported + len(report.failed) >= 1


def test_the_payloads_are_calls_of_what_they_name() -> None:
    """Or the test above would show nothing."""
    for name in ("eval", "exec", "posix", "os", "subprocess", "runpy", "instance", "object", "getattr", "state"):
        names = [op.name for op, _, _ in pickletools.genops(payloads(Path("canary"))[name])]
        assert {"REDUCE", "INST", "OBJ"} & set(names), name
        assert {"GLOBAL", "STACK_GLOBAL", "INST"} & set(names), name


# -- zips that lead elsewhere ---------------------------------------------------------------------------------


def zipped(entries: dict[str, bytes]) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as log:
        for name, data in entries.items():
            log.writestr(name, data)
    return kept.getvalue()


def parts() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(SAMPLES["inspect"]["log.eval"])) as log:
        return {name: log.read(name) for name in log.namelist()}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "at", ["../../outside/{}", "/{}", "samples/../../{}", "samples\\..\\{}", "C:\\{}", "samples/\0{}"]
)
def test_no_entry_of_a_zip_is_written_anywhere(at: str, tmp_path: Path, outside: Outside, template: Path) -> None:
    held = parts()
    held |= {at.format("x.json"): held["samples/1_epoch_1.json"], at.format("header.json"): held["header.json"]}
    laid(tmp_path / "in" / "source", {"log.eval": zipped(held)})
    survives(tmp_path / "in" / "source", tmp_path, outside, template)


def test_a_zip_with_the_same_name_twice_or_none_or_half_of_it(tmp_path: Path, outside: Outside, template: Path) -> None:
    whole = zipped(parts())
    files = {
        "a.eval": zipped({}),
        "b.eval": whole[:-30],
        "c.eval": b"PK" + b"\0" * 200,
        "d.eval": whole[:60] + whole[90:],
    }
    lying = bytearray(whole)
    at = lying.rindex(b"PK\x01\x02")
    lying[at + 24 : at + 28] = (2**32 - 2).to_bytes(4, "little")  # says that it unpacks to 4 GB
    laid(tmp_path / "in" / "source", {**files, "e.eval": bytes(lying)})
    report = survives(tmp_path / "in" / "source", tmp_path, outside, template)
    assert report.failed


def test_what_is_named_twice_by_other_spellings_comes_in_once(tmp_path: Path, store: Store) -> None:
    """The same source by a link, and through `..`: one run, from its own place."""
    laid(tmp_path / "in", SAMPLES["tau2"])
    (tmp_path / "link.json").symlink_to(tmp_path / "in" / "results.json")
    paths = [tmp_path / "link.json", tmp_path / "in" / ".." / "in" / "results.json", tmp_path / "in"]
    report = import_paths(store, paths)
    assert (report.imported, report.skipped, report.failed) == (1, 2, [])


def test_json_that_names_a_field_twice_is_read_as_json_reads_it(tmp_path: Path, store: Store) -> None:
    step = json.dumps({"task_goal": "g", "step": 1, "prediction": "p", "action": {"action_type": "wait"}})
    text = f'{{"A": {{"traj": []}}, "A": {{"traj": [{step}], "traj": [{step}, {step}]}}}}'
    (tmp_path / "x.json").write_text(text)
    assert import_paths(store, [tmp_path / "x.json"]).imported == 1
    assert store.runs.summaries()[0].steps == 2


# -- what the long runs have found ----------------------------------------------------------------------------


def test_a_line_of_ours_that_is_no_text_is_refused(tmp_path: Path, outside: Outside, template: Path) -> None:
    files = {name: data.replace(b'"kind":"', b'"kind":"\xe1', 1) for name, data in SAMPLES["jsonl"].items()}
    laid(tmp_path / "in" / "source", files)
    report = survives(tmp_path / "in" / "source", tmp_path, outside, template)
    assert "is not UTF-8 text" in report.failed[0].error


@pytest.mark.parametrize("width", [True, 0, -1, 2**40, "1080", None, [1]])
def test_a_phones_size_that_is_none_is_left_out(width: Any, tmp_path: Path, outside: Outside, template: Path) -> None:
    step = {"task_goal": "g", "step": 1, "prediction": "p", "action": {"action_type": "wait"}}
    meta = {"original_width": width, "original_height": 2400}
    laid(tmp_path / "in" / "source", {"x.json": json.dumps({"T": {"traj": [step]}, "_meta": meta}).encode()})
    assert survives(tmp_path / "in" / "source", tmp_path, outside, template).imported == 1


def test_a_picture_that_says_it_is_wider_than_any_has_no_size(tmp_path: Path, outside: Outside, template: Path) -> None:
    wide = png()[:16] + b"\xff\xff\xff\xff" + png()[20:]
    files = {name: wide if name.endswith(".png") else data for name, data in SAMPLES["mobile_use"].items()}
    laid(tmp_path / "in" / "source", files)
    assert survives(tmp_path / "in" / "source", tmp_path, outside, template).imported == 1
