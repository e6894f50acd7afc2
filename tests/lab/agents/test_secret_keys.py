"""A key that a program says when it dies is neither kept nor shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.core.redaction.secret_keys import HIDDEN_KEY, without_keys
from store.runs.run_export import export_runs
from store.store import Store
from tests.bounded import bounded
from tests.lab.programs import played, program

OWN = "Zx9-own-value-that-looks-like-no-key"
OPENAI = "sk-proj-" + "aB3" * 16
WORDS = (
    f"openai.AuthenticationError: Incorrect API key provided: {OPENAI}. You can find your key at example.org",
    f"KeyError: config {{'api_key': 'abcdef0123456789', 'mine': '{OWN}'}}",
    "requests: https://me:hunter2hunter2@api.example.org/v1 refused, Authorization: Bearer tok_12345678",
)
KEYS = (OPENAI, OWN, "abcdef0123456789", "hunter2hunter2", "tok_12345678")


@pytest.mark.parametrize("words", WORDS, ids=["openai", "config", "address"])
@pytest.mark.parametrize(
    "last", ["raise SystemExit(3)", "print('no json'); time.sleep(9)", "print(WORDS); time.sleep(9)"]
)
def test_a_key_in_a_program_s_last_words_is_in_no_file_screen_or_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, last: str
) -> None:
    monkeypatch.setenv("MY_SERVICE_API_KEY", OWN)
    agent = program(tmp_path, f"WORDS = {words!r}\nobserved()\nprint(WORDS, file=sys.stderr, flush=True)\n{last}\n")
    with Store.open(tmp_path / "lab.db") as store:
        trace = played(store, agent)
        end = trace.ended
        assert end is not None
        assert end.status == "failed"
        assert HIDDEN_KEY in end.reason
        export_runs(store, [trace.id], tmp_path / "out", "jsonl")
    held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".py")
    shown = bounded("show", trace.id, "--db", "lab.db", cwd=tmp_path)
    assert shown.code == 0
    for key in KEYS:
        assert key.encode() not in held
        assert key not in shown.out


@pytest.mark.parametrize(
    "text",
    ["", "a key: press Enter", "The token 8821 is shown", "sk-1 is short", "secret: x", "https://a.example/b:c@d",
     "password field", "eyJ", "Bearer of news", "x" * 100_000, "api_key" * 20_000, "://" * 50_000, "eyJ." * 40_000],
)  # fmt: skip
def test_what_is_no_key_stays(text: str) -> None:
    assert without_keys(text) == text
