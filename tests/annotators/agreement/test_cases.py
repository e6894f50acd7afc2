"""Every verified case to its tolerance; and a case file that cannot be read says which case and why."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.agreement.cases import CaseResult, MalformedCase, compute_cases, parse_case, value_of_case
from lab.core.errors import LabError
from tests.annotators.agreement.rated import CASES
from tests.fuzzing_examples import examples

needs_cases = pytest.mark.skipif(not CASES.is_file(), reason="the verified cases in ../shared are not here")


@needs_cases
def test_every_verified_case_comes_out_to_its_tolerance() -> None:
    found = compute_cases(CASES)
    assert found.tolerance == 5e-7
    assert len(found.cases) >= 52
    for one in found.cases:
        assert one.value is not None, one
        assert one.expected is not None, one
        assert abs(one.value - one.expected) <= found.tolerance, one


def tried(folder: Path, *cases: Any) -> list[CaseResult]:
    file = folder / "cases.json"
    file.write_text(json.dumps({"cases": list(cases)}), encoding="utf-8")
    return compute_cases(file).cases


def case(statistic: str, given: Any, form: str = "units x raters", **more: Any) -> dict[str, Any]:
    return {"id": "one", "statistic": statistic, "input_form": form, "input": given, **more}


PAIRS = [[1, 1], [2, 2], [1, 2], [2, 2], [1, 1], [2, 1]]


@pytest.mark.parametrize(
    ("statistic", "form", "given", "expected"),
    [
        ("percent_agreement", "units x raters", PAIRS, 4 / 6),
        ("percent_agreement (exact)", "units x raters", [[1, 1, 1], [1, 1, 2]], 0.5),
        ("percent_agreement", "contingency table", [[2, 1], [1, 2]], 4 / 6),
        ("cohen_kappa", "units x raters", PAIRS, 1 / 3),
        ("cohen_kappa", "contingency table", [[0.5, 0.25], [0.25, 0.5]], 1 / 3),
        ("scott_pi", "units x raters", PAIRS, 1 / 3),
        ("brennan_prediger", "contingency table", [[2, 1], [1, 2]], 1 / 3),
        ("krippendorff_alpha_nominal", "units x categories counts", [[2, 0], [0, 2]], 1.0),
        ("pearson", "two lists", {"a": [1, 2, 3], "b": [2, 4, 6]}, 1.0),
        ("mae", "two lists", {"a": [1, 2, 4], "b": [2, 4, 4]}, 1.0),
        ("accuracy", "two lists", {"a": ["x", "y", "y"], "b": ["x", "x", "y"]}, 2 / 3),
        ("krippendorff_alpha (ordinal)", "units x raters", [[1, 1], [2, 2]], 1.0),
        ("krippendorff_alpha", "units x raters", [[1, 2], [2, 1]], -0.5),
        ("percent_agreement_exact", "units x raters", [[1, 1, 1], [1, 1, 2]], 0.5),
        ("gwet_ac1_se", "contingency table", [[5, 0], [0, 5]], 0.0),
        ("cohen_kappa_se", "units x raters", [[1, 1], [2, 2]], 0.0),
        ("cohen_kappa_se", "contingency table", [[0, 1, 0], [0, 1, 0], [0, 1, 0]], 0.0),
        ("gwet_ac1 LLM vs majority", "traces", {"trace": [1, 1], "human": [[1], [0]], "llm": [1, 0]}, 1.0),
        ("percent_agreement LLM vs majority", "traces", {"trace": [1, 1], "human": [[1], [0]], "llm": [1, 1]}, 0.5),
        ("share within +-0.5", "two lists", {"a": [1, 2], "b": [1.5, 3]}, 0.5),
    ],
)  # fmt: skip
def test_other_forms_of_the_same_statistics(
    tmp_path: Path, statistic: str, form: str, given: Any, expected: float
) -> None:
    (one,) = tried(tmp_path, case(statistic, given, form))
    assert one.value == pytest.approx(expected, abs=1e-12)
    assert one.expected is None


def test_a_declared_order_counts_categories_that_nobody_used(tmp_path: Path) -> None:
    two, three = tried(
        tmp_path, case("brennan_prediger", PAIRS), case("brennan_prediger", PAIRS, order=[1, 2, 3])
    )  # fmt: skip
    assert two.value == pytest.approx((4 / 6 - 1 / 2) / (1 / 2))
    assert three.value == pytest.approx((4 / 6 - 1 / 3) / (2 / 3))


@pytest.mark.parametrize(
    ("statistic", "given", "form", "why"),
    [
        ("cohen_kappa", [[5, 0], [0, 0]], "contingency table", "one category"),
        ("cohen_kappa", [[0, 0], [0, 0]], "contingency table", "no answers"),
        ("fleiss_kappa", [[3, 0], [3, 0]], "units x categories counts", "one category"),
        ("fleiss_kappa", [[1], [2]], "units x raters", "one rater"),
        ("fleiss_kappa", [[1, None], [None, 2]], "units x raters", "no item that two rated"),
        ("fleiss_kappa", [[None, None]], "units x raters", "no answers"),
        ("icc_A1", [[1, 1], [1, 1], [1, 1]], "units x raters", "no spread"),
        ("accuracy", [[None, None]], "units x raters", "no answers"),
        ("precision LLM vs majority (positive = 1)", {"trace": [1, 1], "human": [[1], [0]], "llm": [0, 0]}, "traces",
         "the judge never said 1"),
    ],
)  # fmt: skip
def test_what_is_undefined_says_why(tmp_path: Path, statistic: str, given: Any, form: str, why: str) -> None:
    (one,) = tried(tmp_path, case(statistic, given, form))
    assert one.value is None
    assert one.undefined == why


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (case("fleiss_kapa", PAIRS), "case one: no statistic 'fleiss_kapa' is known"),
        (case("cohen_kappa_z", PAIRS), "case one: no statistic 'cohen_kappa_z' is known"),
        (case("krippendorff_alpha_cubic", PAIRS), "case one: no level 'cubic'"),
        (case("cohen_kappa", PAIRS, "raters x units"), "case one: no input_form 'raters x units' is known"),
        (case("cohen_kappa", [[1, 1], [1]]), "case one: row 2 has 1 answers, the first has 2"),
        (case("cohen_kappa", [[1, 1, 1]]), "case one: two raters are compared, not 3"),
        (case("cohen_kappa", []), "case one: input is empty"),
        (case("cohen_kappa", "x"), "case one: input is no list"),
        (case("cohen_kappa", [[[1], 1]]), "case one: [1] is no answer"),
        (case("cohen_kappa", [[1, 2], [3, 4], [5, 6]], "contingency table"), "its table is 3 x 2, not square"),
        (case("cohen_kappa", [[1, -2], [3, 4]], "contingency table"), "its table hold -2"),
        (case("cohen_kappa", [[1, "a"], [3, 4]], "contingency table"), "its table hold 'a'"),
        (case("cohen_kappa", [[1, 1e300], [3, 4]], "contingency table"), "its table hold 1e+300"),
        (case("fleiss_kappa_se", [[1e9, 2], [3, 4]], "contingency table"), "its table counts 1,000,000,009 items"),
        (case("fleiss_kappa", [[10_001, 0]], "units x categories counts"), "a row counts 10,001 answers"),
        (case("cohen_kappa", [[float("nan"), 1]]), "nan is no answer"),
        (case("fleiss_kappa", [[0.5, 1]], "units x categories counts"), "its counts are no whole numbers"),
        (case("conger_kappa", [[2, 1]], "units x categories counts"), "conger_kappa needs to know which rater"),
        (case("icc_1", [["a", "b"], ["b", "a"]]), "its answers are no numbers by rater"),
        (case("cohen_kappa_weighted", {"table": [[1, 0], [0, 1]]}, "table + weights"), "its weights are missing"),
        (case("cohen_kappa", {"a": [1], "b": [1, 2]}, "two lists"), "a has 1 answers, b has 2"),
        (case("cohen_kappa", PAIRS, order=[1]), "says 2, which order does not name"),
        (case("cohen_kappa", PAIRS, expected="high"), "expected is no number"),
        (case("accuracy LLM vs majority", {"trace": [1], "human": [[1], [1]]}, "traces"), "trace has 1 entries"),
        ({"id": "one", "statistic": "mse"}, "case one: input_form is missing or no text"),
        ({"statistic": "mse"}, "case 1: id is missing or no text"),
        (3, "case 1: it is no object"),
    ],
)  # fmt: skip
def test_a_malformed_case_is_named_with_its_file(tmp_path: Path, raw: Any, said: str) -> None:
    with pytest.raises(LabError) as error:
        tried(tmp_path, raw)
    assert said in error.value.sentence
    assert str(tmp_path / "cases.json") in error.value.sentence
    assert "\n" not in error.value.sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "it is no JSON"),
        ("{}", "cases is missing or no list"),
        ('{"cases": [], "tolerance": "x"}', "tolerance is no number"),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_cases_says_so(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "cases.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LabError, match=said):
        compute_cases(file)
    with pytest.raises(LabError, match="is not there"):
        compute_cases(tmp_path / "none.json")


def test_an_interval_that_has_no_degrees_of_freedom_says_so(tmp_path: Path) -> None:
    """Of a negative ICC(A,1) what raters and the rest add can cancel out; and where only raters differ, all is 0."""
    for rows, value in (([[1, 2, 1, 1, 1], [1, 1, 1, 2, 1], [1, 1, 1, 2, 1]], -0.2), ([[1, 2], [1, 2]], 0.0)):
        itself, low, high = tried(tmp_path, *(case(f"icc_A1{end}", rows) for end in ("", "_ci95_low", "_ci95_high")))
        assert itself.value == pytest.approx(value)
        assert {(one.value, one.undefined) for one in (low, high)} == {
            (None, "no degrees of freedom are left for its interval")
        }


def test_an_interval_that_is_not_there_says_why_it_is_not(tmp_path: Path) -> None:
    perfect, constant = tried(
        tmp_path,
        case("cohen_kappa_ci95_low", [[1, 1], [2, 2], [1, 1]]),
        case("fleiss_kappa_ci95_low", [[1, 1], [1, 1]]),
    )
    assert (perfect.value, perfect.undefined) == (None, "it is the largest it can be")
    assert (constant.value, constant.undefined) == (None, "one category")


_ANSWERS = st.sampled_from([None, 0, 1, 2, 3, 0.5, -1])
_MATRICES = st.integers(1, 5).flatmap(
    lambda raters: st.lists(st.lists(_ANSWERS, min_size=raters, max_size=raters), min_size=1, max_size=6)
)
_TABLES = st.integers(1, 4).flatmap(
    lambda q: st.lists(st.lists(st.integers(0, 3), min_size=q, max_size=q), min_size=q, max_size=q)
)
_GIVEN = st.one_of(
    st.tuples(_MATRICES, st.just("units x raters")),
    st.tuples(_TABLES, st.sampled_from(["contingency table", "units x categories counts"])),
)
_BASES = (
    "percent_agreement", "percent_exact", "cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "brennan_prediger",
    "gwet_ac1", "gwet_ac2", "light_kappa", "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval", "krippendorff_alpha_ratio", "pearson", "spearman", "mse", "mae", "icc_1", "icc_A1",
    "icc_C1", "icc_1k", "icc_Ak", "icc_Ck", "accuracy", "precision", "recall", "f1",
)  # fmt: skip
_NAMES = st.tuples(
    st.sampled_from(_BASES), st.sampled_from(["", "_linear", "_quadratic"]),
    st.sampled_from(["", "_se", "_z", "_ci95_low", "_ci95_high", "_ci99_low", "_ci01_high"]),
).map("".join)  # fmt: skip


@settings(max_examples=examples(500), deadline=None)
@given(_GIVEN, _NAMES, st.sampled_from(["", " jackknife"]))
def test_every_statistic_of_any_small_table_is_a_number_or_a_sentence(table: Any, name: str, rest: str) -> None:
    try:
        value, why = value_of_case(parse_case(case(name + rest, *table)))
    except MalformedCase:
        return
    assert (value is None) == bool(why)
    assert value is None or isfinite(value)
    assert why != "undefined"
