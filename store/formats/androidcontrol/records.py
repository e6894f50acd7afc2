"""Records of a TFRecord file: length, its checksum, data, and their checksum.

Source: TensorFlow's description of the format (`tensorflow/core/lib/io/record_writer.h`).
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.core.errors import LabError
from store.formats.androidcontrol.crc import masked_crc32c
from store.formats.stream import FileStream

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
