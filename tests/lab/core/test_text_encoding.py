"""Which encoding a text is in: by its mark, as UTF-8, by its bytes where they leave no doubt; refused otherwise."""

from __future__ import annotations

import json

import pytest

from lab.core.errors import LabError
from lab.core.text.text_encoding import decode_text, head_as_utf8


def line(words: str) -> str:
    return json.dumps({"step": 1, "prompt": f"The task is to {words}. Your past actions: None"}, ensure_ascii=False)


SURE = [
    ("utf-8", "打开无线网络", ""),
    ("utf-8-sig", "打开无线网络", ""),
    ("utf-16", "打开无线网络", "UTF-16"),
    ("utf-16-le", "打开无线网络", "UTF-16"),
    ("utf-16-be", "plain words", "UTF-16"),
    ("utf-32", "打开无线网络", "UTF-32"),
    ("utf-32-le", "plain words", "UTF-32"),
    ("gbk", "打开无线网络", "GBK"),
    ("gb18030", "设置闹钟为明天早上七点,并且告诉妈妈我会晚到", "GBK"),
    ("big5", "打開無線網路並設定鬧鐘", "Big5"),
    ("shift_jis", "設定を開いてください", "Shift-JIS"),
    ("euc_jp", "設定を開いてください。それからアラームを七時に", "EUC-JP"),
    ("euc_kr", "와이파이를 켜고 내일 아침 일곱 시에 알람을 맞춰 주세요", "EUC-KR"),
    ("cp1252", "régler le réveil à 7 h, don’t wait", "cp1252"),
    ("cp1252", "Öffne die Einstellungen für Müller", "cp1252"),
]


@pytest.mark.parametrize(("encoding", "words", "told"), SURE)
def test_a_sure_encoding_is_taken_and_told(encoding: str, words: str, told: str) -> None:
    decoded = decode_text(line(words).encode(encoding), "log.txt")
    assert (decoded.text, decoded.encoding, decoded.damaged) == (line(words), told, 0)


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("gbk", "点击"), ("euc_kr", "설정"), ("cp1251", "Открой настройки"), ("cp1250", "Włącz łączność"),
     ("cp1254", "Ayarları aç"), ("mac_roman", "réveil à"), ("shift_jis", "設定")],
)  # fmt: skip
def test_what_may_be_several_is_refused_and_read_by_its_name(encoding: str, words: str) -> None:
    data = line(words).encode(encoding)
    with pytest.raises(LabError, match=r"log\.txt: is not UTF-8 text \(byte \d+\)"):
        decode_text(data, "log.txt")
    assert decode_text(data, "log.txt", encoding).text == line(words)


def test_a_few_damaged_bytes_and_a_cut_end_are_counted() -> None:
    whole = "中文字符很多的文本".encode()
    assert decode_text(whole + b"\xff.", "x").damaged == 1
    assert decode_text(b"plain " + whole[:-1], "x") == ("plain 中文字符很多的文\ufffd", "", 1)
    with pytest.raises(LabError, match="byte 4"):
        decode_text(b"abc \xff\xfe\x80\x81 def", "x")


@pytest.mark.parametrize("name", ["no_such", "idna", "rot13", "", "hex", "a\0b"])
def test_what_names_no_encoding_of_text_is_refused(name: str) -> None:
    if name:
        with pytest.raises(LabError, match="is not known"):
            decode_text(b"x", "x", name)
    else:
        assert decode_text(b"x", "x", name).text == "x"


def test_bytes_that_do_not_fit_their_named_encoding_are_told() -> None:
    with pytest.raises(LabError, match=r"is not gbk text \(byte 0\)"):
        decode_text(b"\xff\xff", "x", "gbk")


def test_an_opening_that_ends_within_a_character_is_still_told() -> None:
    data = line("设置闹钟为明天早上七点").encode("gbk")
    cut = data.index("点".encode("gbk")) + 1
    assert head_as_utf8(data[:cut]).decode().endswith("七")
    assert head_as_utf8(b"\x89PNG\r\n\x1a\n\0\0") == b"\x89PNG\r\n\x1a\n\0\0"
