"""`hitlab agreement --cases FILE`: each case with its value, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from lab.cli.main import main
from lab.cli.settings.schemas import schemas

PAIRS = [[1, 1], [2, 2], [1, 2], [2, 2], [1, 1], [2, 1]]


def written(folder: Path, *statistics: tuple[str, float | None]) -> str:
    cases = [
        {"id": f"case{at}", "statistic": name, "input_form": "units x raters", "input": PAIRS, "expected": expected}
        for at, (name, expected) in enumerate(statistics)
    ]
    file = folder / "cases.json"
    file.write_text(json.dumps({"tolerance": 1e-6, "cases": cases}), encoding="utf-8")
    return str(file)


def test_json_is_id_and_value_of_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, ("cohen_kappa", 1 / 3), ("gwet_ac1", 0.5), ("mse", None))
    assert main(["agreement", "--cases", file, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, msgspec.json.schema(schemas()["agreement-cases"]))
    assert [one["id"] for one in told] == ["case0", "case1", "case2"]
    assert [one["value"] for one in told] == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert [one["agrees"] for one in told] == [True, False, None]


def test_a_table_says_what_differs_and_what_is_undefined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, ("cohen_kappa", 0.333333), ("gwet_ac1", 0.5))
    document = json.loads(Path(file).read_text(encoding="utf-8"))
    one_category = {
        "id": "flat\u001b[31m",
        "statistic": "cohen_kappa",
        "input_form": "units x raters",
        "input": [[1, 1]],
    }
    Path(file).write_text(json.dumps({**document, "cases": [*document["cases"], one_category]}), encoding="utf-8")
    assert main(["agreement", "--cases", file]) == 0
    out = capsys.readouterr().out
    assert "0.500000 differs" in out
    assert "undefined (one category)" in out
    assert "3 cases; 1 of 2 agree to 1e-06" in out
    assert "\u001b" not in out


def test_a_statistic_that_nobody_knows_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, ("kappa_of_mine", 1.0))
    assert main(["agreement", "--cases", file]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"hitlab: cases: {file}: case case0: no statistic 'kappa_of_mine' is known\n"
