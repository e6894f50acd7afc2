"""AndroidControl: TFRecord files such as `android_control-00000-of-00020`, gzipped or not.

A record is an episode: its goal, its screens, an action between every two screens, and an instruction for each action.
Reading needs the package protobuf (the extra `androidcontrol`). `splits.json` and `test_subsplits.json` beside the file
assign episodes to splits.

A TFRecord file holds for each record its length, a checksum of the length, the data, and a checksum of the data. The
checksums are CRC-32C (Castagnoli, RFC 3720 appendix B.4) in TFRecord's masked form. Long data is split into lanes of
equal length, whose remainders are computed in parallel. Two remainders are combined by shifting the first by the length
of the second and adding both.

Sources: `android_control/README.md` of google-research/google-research, TensorFlow's
`tensorflow/core/lib/io/record_writer.h`.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Observation, Point
from lab.core.run.trace import DeviceInfo, Started, Step
from lab.core.run.ui_tree import UiTree
from lab.core.task.task import Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.androidcontrol.messages import message_class, parse_message
from store.formats.androidcontrol.tree import text_of, tree_of
from store.formats.androidworld.actions import action_of
from store.formats.demonstrations import ANNOTATOR
from store.formats.draft import RunDraft, run_id
from store.formats.image_spool import RunImages, Spool
from store.formats.stream import FileStream

NAME = "androidcontrol"
_SHARD = re.compile(r"android_?control.*-\d{5}-of-\d{5}(?:\.gz)?|.*\.tfrecords?(?:\.gz)?", re.I)
_KEYS = (b"accessibility_trees", b"screenshot_widths", b"step_instructions")
_SPLITS = {"splits.json": "split", "test_subsplits.json": "subsplit"}
_KNOWN_FEATURES = {
    "episode_id", "goal", "screenshots", "accessibility_trees", "screenshot_widths", "screenshot_heights", "actions",
    "step_instructions",
}  # fmt: skip
_MOST_SPLITS = 64 * 1024**2


class _Episode(NamedTuple):
    """One record: its features as lists by name."""

    place: str
    fields: dict[str, list[Any]]

    def texts(self, name: str) -> list[str]:
        return [text_of(data) for data in self.fields.get(name, []) if isinstance(data, bytes)]

    def single_value(self, name: str) -> str:
        values = self.fields.get(name, [])
        return "" if not values else text_of(values[0]) if isinstance(values[0], bytes) else str(values[0])


def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield every episode of a file, one at a time. A damaged one is a `FailedRun` and does not stop the others."""
    path = source.path
    try:
        message_class("Example")
        splits = _read_splits(source)
        with FileStream(path, source.root) as stream:
            count = 0
            for record in records(stream):
                run = _read_record(record, f"{path}#{count}", path, splits, is_known)
                if isinstance(run, Imported) and (damaged := _count_damaged(run)):
                    source.fallbacks.add("damaged text", f"{path}#{count}", count=damaged)
                yield run
                count += 1
        if not count:
            raise LabError(str(path), "holds no episodes")
    except LabError as error:
        yield FailedRun(str(path), error.sentence)


def _read_record(
    record: bytes | LabError, place: str, path: Path, splits: dict[str, dict[str, str]], is_known: Callable[[str], bool]
) -> Imported | KnownRun | FailedRun:
    if isinstance(record, LabError):
        return FailedRun(place, record.sentence)
    sha256 = hashlib.sha256(record)
    id = run_id(NAME, "", sha256.digest())
    if is_known(id):
        return KnownRun(id, escape_surrogates(str(path)))
    try:
        episode = _Episode(place, _features(record, place))
        return _build_run(episode, id, sha256.hexdigest(), escape_surrogates(str(path)), splits)
    except LabError as error:
        return FailedRun(place, error.sentence)


def _count_damaged(run: Imported) -> int:
    """Return the number of damaged characters in a run's texts and trees."""
    steps = [event for event in run.events if isinstance(event, Step)]
    nodes = (node for step in steps if step.before.tree for node in step.before.tree.nodes())
    started = next(event for event in run.events if isinstance(event, Started))
    texts = [started.task.instruction, *(step.proposed.instruction for step in steps)]
    return sum(text.count("\ufffd") for text in [*texts, *(node.text + node.desc for node in nodes)])


def _features(record: bytes, place: str) -> dict[str, list[Any]]:
    fields: dict[str, list[Any]] = {}
    for entry in parse_message("Example", record, place).features.feature:
        feature = entry.value
        values = [*feature.bytes_list.value, *feature.int64_list.value, *feature.float_list.value]
        fields[text_of(entry.key)] = values
    return fields


def _build_run(episode: _Episode, id: str, sha256: str, path: str, splits: dict[str, dict[str, str]]) -> Imported:
    if "actions" not in episode.fields and "screenshots" not in episode.fields:
        raise LabError(episode.place, "is no episode of AndroidControl: fields actions, screenshots are not there")
    shots = RunImages(spool := Spool())
    number = episode.single_value("episode_id") or "unknown"
    raws = [_read_action(text) for text in episode.texts("actions")]
    observations, troubles = _observations(episode, shots, spool)
    actions = [action_of(raw, observations[i].size if i < len(observations) else None) for i, raw in enumerate(raws)]
    draft = RunDraft(
        id,
        Task(
            id=number,
            kind="general",
            instruction=episode.single_value("goal"),
            golden_steps=len(actions),
            apps=tuple(dict.fromkeys(action.app for action in actions if action.app)),
            traits={
                name: split_by_episode[number]
                for name, split_by_episode in splits.items()
                if number in split_by_episode
            },
        ),
        ANNOTATOR,
        format=NAME,
        path=path,
        sha256=sha256,
        images=shots,
        device=DeviceInfo(size=observations[0].size if observations else None),
    )
    _steps(draft, episode, actions, observations, troubles)
    last = observations[len(actions)] if len(observations) > len(actions) else None
    if actions:
        draft.end("completed", final=last)
    else:
        draft.end("failed", reason="the source holds no steps", final=last)
    return draft.imported()


def _steps(
    draft: RunDraft, episode: _Episode, actions: list[Action], observations: list[Observation], troubles: dict[int, str]
) -> None:
    texts = episode.texts("step_instructions")
    for i, action in enumerate(actions):
        extra: dict[str, Any] = {"screenshot": troubles[i]} if i in troubles else {}
        if i == 0:
            extra |= _unknown_features(episode)
            # Surplus instructions belong to no step, so the first one stores all of them.
            if len(texts) > len(actions):
                extra["step_instructions"] = texts
        draft.step(
            action,
            observations[i] if i < len(observations) else Observation(),
            instruction=texts[i] if i < len(texts) else "",
            extra=extra,
        )


def _unknown_features(episode: _Episode) -> dict[str, Any]:
    """Return the record's unknown features, for future releases, without long values."""
    return {
        name: [text_of(value) if isinstance(value, bytes) else value for value in values if len(str(value)) < 10_000]
        for name, values in episode.fields.items()
        if name not in _KNOWN_FEATURES and values
    }


def _observations(episode: _Episode, shots: RunImages, spool: Spool) -> tuple[list[Observation], dict[int, str]]:
    """Return the observations before each action and at the end, and errors by index."""
    pictures, trees = episode.fields.get("screenshots", []), episode.fields.get("accessibility_trees", [])
    observations: list[Observation] = []
    troubles: dict[int, str] = {}
    for i in range(max(len(pictures), len(trees))):
        shot = spool.add(pictures[i]) if i < len(pictures) and isinstance(pictures[i], bytes) else None
        if shot is None and i < len(pictures):
            troubles[i] = f"screenshot {i} is neither PNG nor JPEG"
        tree: UiTree | None = None
        if i < len(trees) and isinstance(trees[i], bytes):
            try:
                tree = tree_of(trees[i], f"accessibility tree {i}")
            except LabError as error:
                troubles[i] = error.sentence
        observations.append(shots.observation(shot, tree, _screen_size(episode, i)))
    return observations, troubles


def _screen_size(episode: _Episode, i: int) -> Point | None:
    sides = [episode.fields.get(name, [])[i : i + 1] for name in ("screenshot_widths", "screenshot_heights")]
    match sides:
        case [[int(width)], [int(height)]] if 0 < width < 2**20 and 0 < height < 2**20:
            return width, height
    return None


def _read_action(text: str) -> Any:
    try:
        return read_json(text.encode(), "action").value
    except LabError:
        return text


def _read_splits(source: RunSource) -> dict[str, dict[str, str]]:
    """Return the split of each episode, by kind of split. The files list the episodes of each split."""
    splits: dict[str, dict[str, str]] = {}
    for name, kind in _SPLITS.items():
        path = source.path.parent / name
        if not path.is_file():
            continue
        value, _ = read_json(source.text(path, most=_MOST_SPLITS), str(path))
        split_by_episode = splits.setdefault(kind, {})
        for split, ids in value.items() if isinstance(value, dict) else ():
            for id in ids if isinstance(ids, list) else ():
                split_by_episode[str(id)] = (
                    f"{split_by_episode[str(id)]}, {split}" if str(id) in split_by_episode else split
                )
    return splits


def _is_shard(candidate: CandidateFile) -> bool:
    if not _SHARD.fullmatch(candidate.name):
        return False
    if "control" in candidate.name.lower():
        return True
    opening = candidate.opening
    if opening.startswith(b"\x1f\x8b"):
        try:
            # 31 means a gzip header with the largest window.
            opening = zlib.decompressobj(31).decompress(opening, 256 * 1024)
        except zlib.error:
            return False
    return any(key in opening for key in _KEYS)


ANDROIDCONTROL = Format(
    name=NAME,
    title="AndroidControl",
    is_run_folder=lambda folder, names, root: False,
    is_file=_is_shard,
    read=read,
)


MOST_RECORD = 512 * 1024**2


def records(stream: FileStream) -> Iterator[bytes | LabError]:
    """Yield every record in order. One with a wrong checksum is a `LabError` in its place.

    Raise `LabError` if a length is damaged, because the next record cannot be found then.
    """
    number = 0
    while not stream.at_end():
        place = f"{stream.path}, record {number}"
        header = stream.read(8)
        if masked_crc32c(header) != stream.number("<I", 4):
            raise LabError(place, "is no record, or a damaged one: the checksum of its length is wrong")
        length = int.from_bytes(header, "little")
        if length > MOST_RECORD:
            raise LabError(place, f"is {length:,} bytes, more than the {MOST_RECORD:,} that are read")
        # The length is trustworthy, so a damaged record does not hide the next one.
        data = stream.read(length)
        right = masked_crc32c(data) == stream.number("<I", 4)
        yield data if right else LabError(place, "is damaged: its checksum is wrong")
        number += 1


# 0x1EDC6F41 with its bits reversed.
_POLYNOMIAL = 0x82F63B78
_LANES = 8192
# Shorter data is not worth the setup of the lanes.
_LEAST = 16 * _LANES


def masked_crc32c(data: bytes) -> int:
    """Return the checksum as stored in a TFRecord: rotated by 15 bits, plus a constant."""
    crc = crc32c(data)
    # The constant is `kMaskDelta` of TensorFlow's `crc32c.h`.
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of `data`."""
    head = len(data) % _LANES if len(data) >= _LEAST else len(data)
    crc = 0xFFFFFFFF
    table = _crc_table()
    for byte in data[:head]:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    if head < len(data):
        crc = _extend_by_lanes(crc, memoryview(data)[head:])
    return crc ^ 0xFFFFFFFF


@cache
def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


def _extend_by_lanes(crc: int, data: memoryview) -> int:
    """Return the remainder after `crc` over `data`, whose length is a multiple of the number of lanes."""
    import numpy as np

    table: Any = np.array(_crc_table(), np.uint32)
    length = len(data) // _LANES
    lanes = np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(_LANES, length).T)
    ones = np.uint32(1) << np.arange(32, dtype=np.uint32)  # one zero lane per bit, to learn the effect of a shift
    # The 32 extra lanes receive no data. They show how the length of a lane shifts each bit of a remainder.
    state = np.concatenate([np.zeros(_LANES, np.uint32), ones])
    low, eight = np.uint32(255), np.uint32(8)
    for column in lanes:
        index = state & low
        index[:_LANES] ^= column
        state = table[index] ^ (state >> eight)
    shifted = [int(one) for one in state[_LANES:]]
    # Combine the lanes: shift the remainder so far by a lane's length, then add the next one.
    for lane in state[:_LANES]:
        carried = int(lane)
        bit = 0
        while crc:
            if crc & 1:
                carried ^= shifted[bit]
            crc >>= 1
            bit += 1
        crc = carried
    return crc
