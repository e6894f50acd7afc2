"""Decode text of unknown encoding: by its byte order mark, as UTF-8, or in an older encoding if that is certain.

Files from Windows and from spreadsheets are often in UTF-16 or in a country's encoding. A guess is accepted only if
every byte decodes, almost every character is common in everyday text of that language, and no other encoding fits as
well. The result names the encoding, for the reader to report.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from lab.core.errors import LabError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks. Of two with the same beginning the longer one is first."""
_NO_TEXT = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem", "utf-7"})
_SAMPLE_BYTES = 256 * 1024
"""Bytes from which to guess an encoding. The whole file must still decode."""
_WIDE_SHARE = 0.2
_SURE, _LEAD = 0.95, 0.04
"""Minimum share of everyday characters of a certain encoding, and the minimum lead over all others."""
_WIDE_NOISE = 4
"""Minimum ratio of zero bytes between the two halves of UTF-16. U+5F00 has a zero byte in the other half."""
_ENOUGH_PAIRS = 16
"""Minimum characters for a conclusion from the byte ranges of a whole text.

Korean syllables occupy the range of half of GB's characters, and two in five of Big5's second bytes are below 0xA1.
"""
_WHOLE_PER_DAMAGED = 4
"""Minimum whole characters for each damaged one in a file that still counts as UTF-8."""


class DecodedText(NamedTuple):
    """A text and its encoding, empty for UTF-8. `damaged` counts the bytes that became U+FFFD."""

    text: str
    encoding: str = ""
    damaged: int = 0


class _Legacy(NamedTuple):
    """An older encoding: patterns for a non-ASCII character, an everyday one, and one that part of a text must have."""

    name: str
    character: re.Pattern[bytes]
    everyday: re.Pattern[bytes]
    required: re.Pattern[bytes] | None = None
    required_share: float = 0


_PAIR = re.compile(rb"[\x81-\xfe][\x40-\xfe]")
_LEGACY = (
    _Legacy("gb18030", _PAIR, re.compile(rb"[\xb0-\xd7\xa1-\xa3][\xa1-\xfe]")),
    _Legacy("cp950", _PAIR, re.compile(rb"[\xa4-\xc6\xa1-\xa3][\x40-\x7e\xa1-\xfe]")),
    _Legacy("cp949", _PAIR, re.compile(rb"[\xb0-\xc8\xa1-\xa3][\xa1-\xfe]")),
    _Legacy("euc_jp", _PAIR, re.compile(rb"[\xa1\xa3-\xa5\xb0-\xcf][\xa1-\xfe]"), re.compile(rb"[\xa4\xa5]."), 0.2),
    _Legacy(
        "cp932",
        re.compile(rb"[\x81-\x9f\xe0-\xfc][\x40-\xfc]|[\xa1-\xdf]"),
        re.compile(rb"\x81[\x40-\xac]|[\x82\x83][\x40-\xf1]|[\x88-\x97][\x40-\xfc]"),
        re.compile(rb"\x82[\x9f-\xf1]|\x83[\x40-\x96]"),
        0.1,
    ),
)
"""Chinese (GB and Big5), Korean and Japanese. Characters of the most frequent rows count as everyday ones."""
_NAMES = {"gb18030": "GBK", "cp950": "Big5", "cp949": "EUC-KR", "euc_jp": "EUC-JP", "cp932": "Shift-JIS"}
_WESTERN = re.compile(
    rb"[\x80\x85\x91-\x97\xa0\xa1\xa3\xa7\xa9\xab\xae\xb0\xb4\xb7\xba\xbb\xbf]"
    rb"|[\xc0-\xcf\xd1-\xd6\xd8-\xdc\xdf-\xef\xf1-\xf6\xf8-\xfc]"
)
"""Letters and signs of western European languages in cp1252, without those of neighbouring alphabets."""
_LETTERS = 3
"""Minimum ASCII letters for each accented one."""
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")


def known_encoding(name: str) -> str:
    """Return Python's name of an encoding. Raise `LabError` if it is unknown or not a text encoding."""
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):  # a name with a NUL in it is a ValueError
        codec = None
    if codec is None or codec.name in _NO_TEXT or not getattr(codec, "_is_text_encoding", True):
        hint = "Known are, for instance, utf-8, utf-16, gbk, big5, shift_jis, euc_kr, cp1252 and latin-1."
        raise LabError(f"encoding {name[:60]!r}", "is not known.", hint, code=2)
    return codec.name


def decode_text(data: bytes, what: str, encoding: str = "", *, hint: str = "Save it as UTF-8.") -> DecodedText:
    """Decode bytes in the named `encoding`, or in one that they reveal. Raise `LabError` if none is certain.

    A few damaged bytes in UTF-8 become U+FFFD and are counted.
    """
    if encoding:
        return _decode_named(data, what, encoding)
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _decode_by_mark(data[len(bom) :], what, name)
    # Before UTF-8, because ASCII in UTF-16 is valid UTF-8, too.
    if (wide := _detect_wide(data)) and (text := _decode_strictly(data, wide)) is not None:
        return DecodedText(text, _display_name(wide))
    try:
        return DecodedText(data.decode())
    except UnicodeDecodeError as error:
        start, reason = error.start, error.reason
    if (damaged := _decode_damaged(data, start, reason)) is not None:
        return damaged
    names = _fitting_encodings(data)
    if len(names) == 1 and (text := _decode_strictly(data, names[0])) is not None:
        return DecodedText(text, _display_name(names[0]))
    raise _not_utf8_error(what, start, names, hint)


def utf8_text(data: bytes, what: str) -> str:
    """Decode bytes that must be UTF-8, without a BOM. Raise `LabError` with the likely encoding otherwise.

    Halves of surrogate pairs stay, because JSON may hold them.
    """
    try:
        return data.decode("utf-8-sig", "surrogatepass")
    except UnicodeDecodeError as error:
        for bom, name in _BOMS[1:]:
            if data.startswith(bom):
                raise LabError(what, f"is {_display_name(name)} text, not UTF-8.", "Save it as UTF-8.") from error
        raise _not_utf8_error(what, error.start, _fitting_encodings(data), "Save it as UTF-8.") from error


def _not_utf8_error(what: str, start: int, names: list[str], hint: str) -> LabError:
    may_be = f"; it may be {' or '.join(map(_display_name, names))}" if names else ""
    return LabError(what, f"is not UTF-8 text (byte {start}){may_be}.", hint)


def head_as_utf8(data: bytes) -> bytes:
    """Return a file's first bytes converted to UTF-8, or unchanged if their encoding is unknown."""
    if data.isascii() and b"\0" not in data:
        return data
    for end in range(len(data), max(0, len(data) - 4), -1):  # the last character may be cut
        try:
            decoded = decode_text(data[:end], "")
        except LabError:
            continue
        return decoded.text.encode("utf-8", "surrogatepass") if decoded.encoding or decoded.damaged else data
    return data


def _decode_named(data: bytes, what: str, encoding: str) -> DecodedText:
    codec = known_encoding(encoding)
    for bom, name in _BOMS:
        if data.startswith(bom) and name.startswith(codec):
            return _decode_by_mark(data[len(bom) :], what, name)
    try:
        return DecodedText(data.decode(codec), "" if codec == "utf-8" else codec)
    except UnicodeError as error:
        byte = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise LabError(what, f"is not {encoding} text{byte}.", "Name another --encoding, or none.") from error


def _decode_by_mark(data: bytes, what: str, name: str) -> DecodedText:
    try:
        return DecodedText(data.decode(name), "" if name == "utf-8" else _display_name(name))
    except UnicodeDecodeError as error:
        damaged = _decode_damaged(data, error.start, error.reason) if name == "utf-8" else None
        if damaged is None:
            hint = "Save it as UTF-8."
            raise LabError(what, f"is not {_display_name(name)} text (byte {error.start}).", hint) from error
        return damaged


def _decode_strictly(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except UnicodeDecodeError:
        return None


def _detect_wide(data: bytes) -> str:
    """Return UTF-16 or UTF-32 if the positions of zero bytes reveal it without a BOM, else an empty text."""
    sample = data[: _SAMPLE_BYTES // 4 * 4]
    if b"\0" not in sample or len(data) % 2:
        return ""
    zeros = [sample[at::4].count(0) / max(1, len(sample[at::4])) for at in range(4)]
    # In UTF-32, two of four bytes of the usual characters are always zero.
    if len(data) % 4 == 0 and min(zeros[2:]) == 1 and zeros[0] < 1:
        return "utf-32-le"
    if len(data) % 4 == 0 and min(zeros[:2]) == 1 and zeros[3] < 1:
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd >= _WIDE_SHARE and odd >= _WIDE_NOISE * even:
        return "utf-16-le"
    return "utf-16-be" if even >= _WIDE_SHARE and even >= _WIDE_NOISE * odd else ""


def _decode_damaged(data: bytes, start: int, reason: str) -> DecodedText | None:
    """Decode UTF-8 with a few damaged bytes or a truncated end, or None if it is something else."""
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    whole = sum(byte >= 0xC0 for byte in data.translate(None, bytes(range(0x80)))) - damaged
    is_cut = reason == "unexpected end of data" and start >= len(data) - 3
    return DecodedText(text, damaged=damaged) if is_cut or whole >= _WHOLE_PER_DAMAGED * damaged else None


def _fitting_encodings(data: bytes) -> list[str]:
    """Return the older encodings that fit the bytes, exactly one if it is certain."""
    sample = data[:_SAMPLE_BYTES]
    shares = {
        legacy.name: share
        for legacy in _LEGACY
        if (share := _everyday_share(legacy, sample)) and _decode_strictly(data, legacy.name) is not None
    }
    if _is_western(sample) and _decode_strictly(data, "cp1252") is not None:
        shares["cp1252"] = 1.0
    # Big5 second bytes are often below 0xA1, so a text without any is not Big5.
    pairs = _PAIR.findall(sample)
    if len(pairs) >= _ENOUGH_PAIRS and all(pair[1] >= 0xA1 for pair in pairs):
        shares.pop("cp950", None)
    # Every pair fits both: Korean syllables lie within GB's range, so an all-Korean text is Korean.
    if len(pairs) >= _ENOUGH_PAIRS and shares.get("gb18030") == shares.get("cp949") == 1:
        del shares["gb18030"]
    best = max(shares.values(), default=0.0)
    return [name for name, share in shares.items() if best >= _SURE and share > best - _LEAD]


def _everyday_share(legacy: _Legacy, sample: bytes) -> float:
    """Return the share of everyday characters among the non-ASCII ones, or 0 if too few are of the required kind."""
    everyday = required = count = at = 0
    while match := legacy.character.search(sample, at):
        count, at = count + 1, match.end()
        everyday += legacy.everyday.fullmatch(match[0]) is not None
        required += legacy.required is not None and legacy.required.fullmatch(match[0]) is not None
    if not count or required < legacy.required_share * count:
        return 0
    return everyday / count


def _is_western(sample: bytes) -> bool:
    """Return True if all non-ASCII bytes are western European accents and signs among plain letters."""
    runs = _HIGH_RUN.findall(sample)
    letters = sum(bytes([byte]).isalpha() for byte in sample if byte < 0x80)
    high = b"".join(runs)
    capitals = sum(0xC0 <= byte <= 0xDC for byte in high)
    usual = len(_WESTERN.findall(high)) == len(high) and capitals <= len(high) // 2
    return usual and max(map(len, runs)) <= 2 and letters >= _LETTERS * len(high)


def _display_name(name: str) -> str:
    """Return an encoding's usual name."""
    return _NAMES.get(name, name.removesuffix("-le").removesuffix("-be").upper() if name.startswith("utf") else name)
