"""Every recorded sample comes in: as many runs, steps and questions as its source says. Skipped where none is."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from annotators.papers.measurement import measure_groups
from store.runs.run_import import ImportReport, import_paths
from store.store import Store

TRACES = Path(__file__).parents[3].parent / "shared" / "traces"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason=f"no recorded traces at {TRACES}")

COUNTS = {
    "aitz": (1, 4, 0),
    "androidworld_mai": (1, 10, 0),
    "appagent": (2, 8, 0),
    "knowu_converted": (1, 4, 0),
    "memgui_excerpt": (1, 4, 0),
    "mobileworld/runs": (26, None, 33),
}
"""Runs, steps and questions below each folder."""


def bring(store: Store, *names: str) -> ImportReport:
    return import_paths(store, [TRACES / name for name in names])


@pytest.mark.parametrize("name", COUNTS)
def test_a_sample_comes_in_whole(store: Store, name: str) -> None:
    report = bring(store, name)
    runs, steps, questions = COUNTS[name]
    assert (report.imported, report.skipped, report.failed) == (runs, 0, [])
    lines = store.runs.summaries()
    assert sum(line.questions for line in lines) == questions
    assert sum(line.replies for line in lines) == questions
    if steps is not None:
        assert sum(line.steps for line in lines) == steps
    again = bring(store, name)
    assert (again.imported, again.skipped, again.failed) == (0, runs, [])
    assert store.check() == []


def test_pickles_come_in_those_of_crashed_episodes_too(store: Store) -> None:
    report = bring(store, "androidworld_pkl")
    assert (report.imported, report.failed) == (8, [])
    crashed = [line for line in store.runs.summaries() if line.status == "failed"]
    assert crashed
    for line in crashed:
        assert store.runs.verdicts(line.id)


def test_the_bundles_come_in_whole_with_the_success_rates_of_their_result_texts(store: Store) -> None:
    """Must show 1: SR by model equals counting the results above 0.99, by the paper and by the script.

    To take in all four takes seconds: whatever is looked at of them is looked at here.
    """
    bundles = sorted((TRACES / "mobileworld").glob("*.json.gz"))
    assert len(bundles) == 4
    report = import_paths(store, bundles)
    assert report.failed == []
    counted: dict[str, list[float | None]] = defaultdict(list)
    episodes = questions = 0
    for bundle in bundles:
        for name, held in json.loads(gzip.decompress(bundle.read_bytes())).items():
            if name.startswith("_"):
                continue
            episodes += 1
            steps = held.get("traj") or []
            questions += sum((step.get("action") or {}).get("action_type") == "ask_user" for step in steps)
            found = re.match(r"score: (.+)", held.get("result") or "")
            counted[bundle.name.removesuffix(".json.gz")].append(float(found[1]) if found else None)
    assert report.imported == episodes == 644
    assert sum(line.questions for line in store.runs.summaries()) == questions == 137
    _whole(store)
    _thoughtful(store, "kimi-k2.5")
    groups = {group.by["agent"]: group for group in measure_groups(list(store.runs.measured()), ["agent"], ["knowu"])}
    assert set(groups) == set(counted)
    for model, scores in counted.items():
        known = [score for score in scores if score is not None]
        (script,) = [
            n for n in groups[model].numbers if (n.metric, n.version, n.part) == ("SR", "script", "")
        ]  # fmt: skip
        assert script.n == len(known), model
        assert script.value == pytest.approx(sum(score > 0.99 for score in known) / len(known)), model
        assert dict(script.left_out).get("no result", 0) == len(scores) - len(known), model


def _whole(store: Store) -> None:
    """Each run has its steps, its replies and how it ended."""
    summaries = store.runs.summaries()
    assert sum(s.steps for s in summaries) == 17_225
    assert sum(s.replies for s in summaries) == 137
    empty = [s for s in summaries if not s.steps]
    assert [s.status for s in empty] == ["failed"] * 3
    assert sum(s.score is None for s in summaries) == 4
    assert {s.status for s in summaries} == {"completed", "failed", "budget", "stopped"}
    assert all(s.steps == 50 for s in summaries if s.status == "budget")


def _thoughtful(store: Store, model: str) -> None:
    """Hardly a step of a model's runs is without its thought."""
    runs = [summary.id for summary in store.runs.summaries() if summary.agent == model][:40]
    assert len(runs) == 40
    steps = [s for run in runs for s in store.runs.trace(run).steps]
    assert sum(bool(s.proposed.thought) for s in steps) > 0.95 * len(steps)
    assert not any("<tool_call>" in s.proposed.thought or "</think" in s.proposed.thought for s in steps)
    assert {s.before.size for s in steps} == {(1080, 2400)}


def test_what_holds_no_runs_is_named(store: Store) -> None:
    report = bring(store, "knowu", "uiautomator_xml")
    assert report.imported == 0
    assert len(report.failed) == 2
    assert all("holds no runs of a known format" in failure.error for failure in report.failed)
