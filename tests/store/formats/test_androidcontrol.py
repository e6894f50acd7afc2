"""AndroidControl's TFRecords, written here with protobuf and read back: demonstrations, splits, damage."""

from __future__ import annotations

import gzip
import json
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.run_records import Imported
from lab.core.run.trace import Trace, fold
from lab.core.run.ui_tree import Bounds, Node
from lab.core.task.task import Actor
from store.formats import FailedRun, KnownRun, read
from store.formats.androidcontrol import reader
from store.formats.androidcontrol.messages import message_class
from store.formats.androidcontrol.reader import crc32c, masked_crc32c
from store.runs.run_import import import_paths
from store.store import Store
from tests.store.formats.samples import png

pytest.importorskip("google.protobuf", reason="protobuf (the extra androidcontrol) is not installed")
SHARD = "android_control-00000-of-00020"

TAP = {"action_type": "click", "x": 10, "y": 0}
ACTIONS = [{"action_type": "open_app", "app_name": "Zoho Meeting"}, TAP, {"action_type": "scroll", "direction": "down"}]


def feature(entry: Any, name: str, values: list[Any]) -> None:
    entry.key = name.encode()
    if values and isinstance(values[0], int):
        entry.value.int64_list.value.extend(values)
    elif values and isinstance(values[0], float):
        entry.value.float_list.value.extend(values)
    else:
        entry.value.bytes_list.value.extend(v if isinstance(v, bytes) else v.encode() for v in values)


def forest(*nodes: dict[str, Any], layer: int = 0) -> bytes:
    """A forest with one window; nodes are seen unless they say otherwise."""
    made = message_class("Forest")()
    window = made.windows.add(layer=layer)
    for i, fields in enumerate(nodes):
        node = window.tree.nodes.add(**{"unique_id": i, "is_visible_to_user": True, "is_enabled": True, **fields})
        node.bounds_in_screen.right, node.bounds_in_screen.bottom = 100, 200
    data: bytes = made.SerializeToString()
    return data


def example(actions: list[Any] | None = None, **fields: list[Any]) -> bytes:
    """An episode's record; a field that is an empty list is there, and empty."""
    acts = ACTIONS if actions is None else actions
    made = message_class("Example")()
    whole: dict[str, list[Any]] = {
        "episode_id": [17],
        "goal": ["In the Zoho Meet app, view the scheduled meetings."],
        "screenshots": [png(i) for i in range(len(acts) + 1)],
        "accessibility_trees": [forest({"text": str(i).encode()}) for i in range(len(acts) + 1)],
        "screenshot_widths": [1080] * (len(acts) + 1),
        "screenshot_heights": [2400] * (len(acts) + 1),
        "actions": [action if isinstance(action, str | bytes) else json.dumps(action) for action in acts],
        "step_instructions": [f"do {i}" for i in range(len(acts))],
        **fields,
    }
    for name, values in whole.items():
        feature(made.features.feature.add(), name, values)
    data: bytes = made.SerializeToString()
    return data


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc32c(length)) + data + struct.pack("<I", masked_crc32c(data))


def shard(folder: Path, *records: bytes, name: str = SHARD, packed: bool = True) -> Path:
    path = folder / name
    data = b"".join(map(record, records))
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def one(path: Path) -> Imported:
    (found,) = read(path)
    assert isinstance(found, Imported), found
    return found


def trace(path: Path) -> Trace:
    return fold(one(path).events)


def failures(path: Path) -> list[str]:
    found = list(read(path))
    assert all(isinstance(one, FailedRun) for one in found), found
    return [one.error for one in found if isinstance(one, FailedRun)]


def test_the_checksum_is_that_of_rfc_3720() -> None:
    assert crc32c(b"") == 0
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


def test_long_bytes_have_the_same_checksum_as_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random.Random(1).randbytes(300_007)
    fast = crc32c(data)
    monkeypatch.setattr(reader, "_LEAST", 2**60)
    assert crc32c(data) == fast


def test_an_episode_is_a_persons_demonstration(tmp_path: Path) -> None:
    found = one(shard(tmp_path, example()))
    run = fold(found.events)
    assert (run.task.id, run.task.golden_steps, run.task.apps) == ("17", 3, ("Zoho Meeting",))
    assert run.task.instruction == "In the Zoho Meet app, view the scheduled meetings."
    assert (run.agent, run.status) == (Actor("human", "annotator"), "completed")
    assert [step.proposed.instruction for step in run.steps] == ["do 0", "do 1", "do 2"]
    opened, tapped, scrolled = (step.proposed.action for step in run.steps)
    assert (opened.kind, opened.app) == ("open_app", "Zoho Meeting")
    assert (tapped.kind, tapped.at, tapped.space, tapped.raw) == ("click", (10, 0), "px", TAP)
    assert (scrolled.kind, scrolled.direction, scrolled.vector) == ("scroll", "down", (0, 0))
    assert [step.before.tree and step.before.tree.roots[0].text for step in run.steps] == ["0", "1", "2"]
    assert run.ended is not None
    assert run.ended.final is not None
    assert len(found.images) == 4
    assert run.ended.final.image in found.images


def test_without_pictures_the_sizes_that_are_told_are_used(tmp_path: Path) -> None:
    run = trace(shard(tmp_path, example(screenshots=[])))
    assert (run.device.size, run.steps[2].proposed.action.vector) == ((1080, 2400), (0, -1200))
    assert run.steps[0].before.image is None


@pytest.mark.parametrize(
    ("action", "kind", "fields"),
    [
        ({"action_type": "long_press", "x": 5, "y": 6}, "long_press", {"at": (5, 6)}),
        ({"action_type": "input_text", "text": "hi"}, "input_text", {"text": "hi", "at": None}),
        ({"action_type": "type", "text": "hi", "x": 1, "y": 2}, "input_text", {"text": "hi", "at": (1, 2)}),
        ({"action_type": "navigate_home"}, "navigate_home", {}),
        ({"action_type": "navigate_back"}, "navigate_back", {}),
        ({"action_type": "wait"}, "wait", {}),
        ("no JSON", "other", {"raw": "no JSON"}),
        ("[1]", "other", {"raw": [1]}),
        (b"\xff", "other", {"raw": "\ufffd"}),
        ('{"action_type": "click", "x": NaN, "y": 1e400}', "click", {"at": None}),
    ],
)
def test_actions_by_name(tmp_path: Path, action: Any, kind: str, fields: dict[str, Any]) -> None:
    found = trace(shard(tmp_path, example([action]))).steps[0].proposed.action
    assert (found.kind, {name: getattr(found, name) for name in fields}) == (kind, fields)


def test_plain_files_and_other_names_are_known_by_what_they_hold(tmp_path: Path) -> None:
    assert len(trace(shard(tmp_path, example(), packed=False)).steps) == 3
    assert len(trace(shard(tmp_path, example(), name="part.tfrecord")).steps) == 3
    assert len(trace(shard(tmp_path, example(), name="part2.tfrecords.gz")).steps) == 3
    (tmp_path / "other.tfrecord").write_bytes(b"something else")
    assert not list(read(tmp_path / "other.tfrecord"))


def test_splits_stand_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "splits.json").write_text(json.dumps({"train": [1, 2], "test": [17]}))
    (tmp_path / "test_subsplits.json").write_text(json.dumps({"app_unseen": [17], "task_unseen": [17], "IDD": [5]}))
    run = trace(shard(tmp_path, example()))
    assert run.task.traits == {"split": "test", "subsplit": "app_unseen, task_unseen"}
    (tmp_path / "splits.json").write_text("[")
    assert "splits.json: is not JSON" in failures(tmp_path / SHARD)[0]


def test_a_forest_becomes_nested_nodes_and_hides_what_cannot_be_seen(tmp_path: Path) -> None:
    tree = forest(
        {"child_ids": [1, 3], "class_name": b"android.widget.FrameLayout"},
        {"child_ids": [2], "is_visible_to_user": False},
        {"text": "设置".encode(), "content_description": b"d", "view_id_resource_name": b"a:id/b", "is_clickable": True,
         "package_name": b"p", "is_password": True},
        {"text": b"behind", "is_visible_to_user": False},
        {"text": b"\xff", "is_enabled": False},
    )  # fmt: skip
    found = trace(shard(tmp_path, example([TAP], accessibility_trees=[tree, b""]))).steps[0].before.tree
    assert found is not None
    box = Bounds(0, 0, 100, 200)
    leaf = Node(box, "设置", "d", "a:id/b", package="p", clickable=True, password=True)
    assert found.roots == (
        Node(box, cls="android.widget.FrameLayout", children=(Node(box, children=(leaf,)),)),
        Node(box, "\ufffd", enabled=False),
    )


def test_windows_stand_in_the_order_of_their_layers(tmp_path: Path) -> None:
    tree = forest({"text": b"front"}, layer=5) + forest({"text": b"back"}, layer=1)
    found = trace(shard(tmp_path, example([TAP], accessibility_trees=[tree]))).steps[0].before.tree
    assert found is not None
    assert [node.text for node in found.roots] == ["back", "front"]


@pytest.mark.parametrize(
    ("children", "roots", "count"),
    [
        ([[1], [0]], 1, 2), ([[0]], 1, 1), ([[1, 1, 9], [], [1]], 2, 3), ([[], [0], [1]], 1, 3),
        ([[2], [0], [1]], 1, 3),
        ([[i + 1] for i in range(500)], 5, 500),
    ],
)  # fmt: skip
def test_nodes_that_name_their_children_wrongly_are_all_kept_once(
    tmp_path: Path, children: list[list[int]], roots: int, count: int
) -> None:
    tree = forest(*({"child_ids": ids} for ids in children))
    found = trace(shard(tmp_path, example([TAP], accessibility_trees=[tree]))).steps[0].before.tree
    assert found is not None
    assert (len(found.roots), len(list(found.nodes()))) == (roots, count)


def test_a_damaged_record_is_told_and_the_others_come(tmp_path: Path) -> None:
    path = shard(tmp_path, example(), packed=False)
    spoilt = bytearray(record(example(goal=["other"])))
    spoilt[40] ^= 1
    path.write_bytes(path.read_bytes() + spoilt + record(b"\xff\xff") + record(b"") + record(example(episode_id=[18])))
    found = list(read(path))
    assert [type(one) for one in found] == [Imported, FailedRun, FailedRun, FailedRun, Imported]
    assert [one.error.partition(": ")[2] for one in found if isinstance(one, FailedRun)] == [
        "is damaged: its checksum is wrong",
        "is no example, or a damaged one: its bytes are no protocol buffer",
        "is no episode of AndroidControl: fields actions, screenshots are not there",
    ]


def test_a_damaged_length_ends_the_file_in_a_sentence(tmp_path: Path) -> None:
    whole = record(example())
    path = tmp_path / SHARD
    path.write_bytes(whole + b"\x01" + whole[1:])
    *good, last = read(path)
    assert len(good) == 1
    assert isinstance(last, FailedRun)
    assert "the checksum of its length is wrong" in last.error
    huge = struct.pack("<Q", 2**60)
    path.write_bytes(huge + struct.pack("<I", masked_crc32c(huge)))
    assert "more than the" in failures(path)[0]
    for cut in (b"", whole[:5], whole[:-3], gzip.compress(whole)[:-9], b"\x1f\x8b"):
        path.write_bytes(cut)
        assert failures(path)
    assert not list(read(tmp_path / SHARD, "knowu"))


def test_missing_and_wrong_fields_never_crash(tmp_path: Path) -> None:
    names = ["episode_id", "goal", "screenshots", "accessibility_trees", "screenshot_widths", "screenshot_heights",
             "actions", "step_instructions", "more"]  # fmt: skip
    values: list[list[Any]] = [
        [],
        [b"\xff\x00"],
        [1],
        [-(2**63)],
        [1.5, float("nan")],
        ["x"] * 9,
        [b"\x89PNG\r\n\x1a\n"],
    ]
    records = [example(**{name: value}) for name in names for value in values]
    found = list(read(shard(tmp_path, *records)))
    assert len(found) == len(records)
    assert all(isinstance(one, Imported) for one in found)
    spoilt = fold(one(shard(tmp_path, example(screenshots=[b"x", png(1)]))).events)
    assert spoilt.steps[0].extra == {"screenshot": "screenshot 0 is neither PNG nor JPEG"}
    extra = fold(one(shard(tmp_path, example(more=["1", "2"], step_instructions=["a"] * 5))).events).steps[0].extra
    assert extra == {"more": ["1", "2"], "step_instructions": ["a"] * 5}


def test_twice_is_once_and_links_that_lead_out_are_not_followed(tmp_path: Path, store: Store) -> None:
    path = shard(tmp_path, example(), example(episode_id=[18]))
    assert import_paths(store, [path]).imported == 2
    again = import_paths(store, [path])
    assert (again.imported, again.skipped, again.failed) == (0, 2, [])
    assert all(isinstance(one, KnownRun) for one in read(path, known=store.runs.has_run))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / SHARD).symlink_to(path)
    assert "leads out" in failures(tmp_path / "in")[0]


def test_without_protobuf_a_sentence_names_the_extra(tmp_path: Path) -> None:
    path = shard(tmp_path, example())
    without = (
        "import sys; sys.modules['google.protobuf'] = None; from pathlib import Path; from store.formats import read;"
        "(found,) = read(Path(sys.argv[1])); print(found.error)"
    )
    run = [sys.executable, "-c", without, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, cwd=Path(__file__).parents[3], check=False)
    assert 'pip install "hitlab[androidcontrol]"' in done.stdout, done.stderr[-2000:]
