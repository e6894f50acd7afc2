"""Where a scrcpy server is found, which version it says it is, and what starts it."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from pathlib import Path

import pytest

from lab.cli.settings.doctor import _check_scrcpy
from lab.core.errors import LabError
from lab.devices.scrcpy.scrcpy_codec import speech
from lab.devices.scrcpy.scrcpy_server import PINNED, cache, command, find, places, version_of
from tests.scrcpy_jar import stand_in

Env = dict[str, str]


@pytest.fixture
def env(tmp_path: Path) -> Env:
    return {"PATH": str(tmp_path / "bin"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def laid(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(stand_in(version))
    return path


def installed(root: Path, version: str) -> Path:
    """A scrcpy as packages lay it: a program in bin, its server in share."""
    program = root / "bin" / "scrcpy"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return laid(root / "share" / "scrcpy" / "scrcpy-server", version)


def test_the_version_stands_in_the_jar(tmp_path: Path) -> None:
    assert version_of(laid(tmp_path / "scrcpy-server", "3.3.4")) == "3.3.4"
    assert version_of(laid(tmp_path / "scrcpy-server-v9.9", "4.0")) == "4.0"


def test_else_its_name_tells_it(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as jar:
        jar.writestr("classes.dex", b"dex\n035\0 nothing of a version")
    for name in ("scrcpy-server-v3.3.3", "scrcpy-server-v3.3.3.jar"):
        (tmp_path / name).write_bytes(data.getvalue())
        assert version_of(tmp_path / name) == "3.3.3"
    (tmp_path / "scrcpy-server").write_bytes(data.getvalue())
    with pytest.raises(LabError, match="does not say which version"):
        version_of(tmp_path / "scrcpy-server")


def test_what_is_no_server_gets_a_sentence(tmp_path: Path) -> None:
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as jar:
        jar.writestr("readme.txt", "no classes in here")
    broken = bytearray(stand_in("3.3.4"))
    broken[40:60] = bytes(20)
    path = tmp_path / "scrcpy-server-v3.3.4"
    for data in (b"", b"not a zip", other.getvalue(), bytes(broken), stand_in("3.3.4")[:80]):
        path.write_bytes(data)
        with pytest.raises(LabError, match="is no scrcpy server"):
            version_of(path)
    with pytest.raises(LabError, match="cannot be read"):
        version_of(tmp_path / "none")
    with path.open("wb") as file:
        file.truncate(1 << 24)
    with pytest.raises(LabError, match="too large"):
        version_of(path)


def test_the_one_that_is_named_comes_first_and_must_do(tmp_path: Path, env: Env) -> None:
    installed(tmp_path, "3.3.4")
    mine, old = laid(tmp_path / "mine.jar", "4.1"), laid(tmp_path / "old.jar", "1.25")
    assert find(env=env | {"SCRCPY_SERVER_PATH": str(mine)}).speech.version == "4.1"
    assert find(str(mine), env | {"SCRCPY_SERVER_PATH": str(old)}).path == mine
    with pytest.raises(LabError, match=r"1\.25 is none that is understood"):
        find(env=env | {"SCRCPY_SERVER_PATH": str(old)})
    with pytest.raises(LabError, match=r"SCRCPY_SERVER_PATH: .* cannot be read") as refused:
        find(env=env | {"SCRCPY_SERVER_PATH": str(tmp_path / "none")})
    assert "unset it" in refused.value.hint


def test_an_installed_scrcpys_is_taken_before_a_fetched_one(tmp_path: Path, env: Env) -> None:
    jar = installed(tmp_path, "3.3.3")
    laid(cache(env) / "scrcpy-server-v3.3.4", "3.3.4")
    found = find(env=env)
    assert (found.path, found.source, found.speech.version) == (jar, "installed scrcpy", "3.3.3")


def test_a_program_that_is_a_link_leads_to_its_own_server(tmp_path: Path, env: Env) -> None:
    jar = installed(tmp_path / "cellar", "3.3.4")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "scrcpy").symlink_to(tmp_path / "cellar" / "bin" / "scrcpy")
    assert find(env=env).path == jar


def test_one_that_is_too_old_gives_way_to_a_fetched_one(
    tmp_path: Path, env: Env, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "1.25")
    with pytest.raises(LabError, match=r"scrcpy-server: its server 1\.25"):
        find(env=env)
    for version in ("3.3.3", "3.3.4", "4.0"):
        laid(cache(env) / f"scrcpy-server-v{version}", version)
        data = (cache(env) / f"scrcpy-server-v{version}").read_bytes()
        monkeypatch.setitem(PINNED, version, hashlib.sha256(data).hexdigest())
    assert [path.name[-5:] for path, source in places(env) if source == "fetched"] == ["-v4.0", "3.3.4", "3.3.3"]
    assert find(env=env).speech.version == "4.0"


def test_none_at_all_says_how_to_get_one(env: Env) -> None:
    with pytest.raises(LabError) as caught:
        find(env=env)
    assert "hitlab settings scrcpy" in caught.value.hint


def test_the_line_that_starts_it() -> None:
    line = command("/data/local/tmp/x.jar", speech("3.3.4"), 0xABC, max_size=1200, control=True)
    assert line.startswith(
        "CLASSPATH=/data/local/tmp/x.jar app_process / com.genymobile.scrcpy.Server 3.3.4 scid=00000abc "
    )
    assert " max_size=1200 control=true; rm -f /data/local/tmp/x.jar" in line
    assert "send_codec_meta=true" in line
    assert "send_stream_meta=true" in command("/x", speech("4.0"), 1)
    assert re.fullmatch(r"[\w./= ;-]*", line)


def test_one_in_the_cache_that_is_not_what_was_fetched_is_not_taken(
    tmp_path: Path, env: Env, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cache(env) / "scrcpy-server-v3.3.4"
    laid(path, "3.3.4")
    with pytest.raises(LabError, match=r"scrcpy-server-v3\.3\.4 has the SHA-256 [0-9a-f]{64}, not"):
        find(env=env)
    monkeypatch.setitem(PINNED, "3.3.4", hashlib.sha256(path.read_bytes()).hexdigest())
    jar = find(env=env)
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(LabError, match="has the SHA-256"):
        jar.read()


@pytest.mark.parametrize("harm", ["named", "fetched"])
def test_doctor_ticks_off_no_server_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SCRCPY_SERVER_PATH", raising=False)
    assert _check_scrcpy().ok
    if harm == "named":
        monkeypatch.setenv("SCRCPY_SERVER_PATH", str(tmp_path / "nowhere"))
    else:
        laid(cache() / "scrcpy-server-v3.3.4", "3.3.4")
    found = _check_scrcpy()
    assert not found.ok
    assert found.do
