"""Addresses of environments, as they are typed."""

from __future__ import annotations

import pytest

from lab.core.errors import LabError
from simulators.environments.address import read_address


def test_a_base_url_loses_its_last_slash_and_keeps_its_options() -> None:
    address = read_address("http://10.0.0.7:6800/env/?device=emulator-5556&settle=0.5")
    assert (address.kind, address.place) == ("mobileworld", "http://10.0.0.7:6800/env")
    assert address.options == {"device": "emulator-5556", "settle": "0.5"}
    assert address.display_name == "http://10.0.0.7:6800/env"


def test_a_python_may_stand_anywhere() -> None:
    address = read_address("androidworld:/opt/android world/bin/python?console_port=5556")
    assert (address.kind, address.place) == ("androidworld", "/opt/android world/bin/python")
    assert address.display_name == "androidworld:/opt/android world/bin/python"


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "no environment's address"),
        ("localhost:6800", "no environment's address"),
        ("ftp://host:1", "no environment's address"),
        ("http://", "no URL"),
        ("http://host:99999", "no URL"),
        ("http://host:0", "no URL"),
        ("http://ho st:1", "no URL"),
        ("http://host:1/\x1b[31m", "no URL"),
        ("http://host:1#x", "fragment"),
        ("http://host:1?devise=x", "devise"),
        ("http://host:1?device=a;rm", "device"),
        ("http://host:1?settle=-1", "settle"),
        ("androidworld:", "names no Python"),
        ("androidworld:python?console_port=99999", "console_port"),
        ("androidworld:python?device=x", "device"),
    ],
)
def test_what_is_no_address_is_a_sentence(typed: str, says: str) -> None:
    with pytest.raises(LabError) as caught:
        read_address(typed)
    assert says in caught.value.sentence
    assert "\x1b" not in caught.value.sentence
    assert caught.value.code == 2


def test_a_password_in_an_address_is_refused_and_never_repeated() -> None:
    with pytest.raises(LabError) as caught:
        read_address("http://me:secret123@host:6800")
    assert "secret123" not in caught.value.sentence
    assert "password" in caught.value.sentence
