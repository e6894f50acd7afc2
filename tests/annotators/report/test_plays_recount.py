"""KnowU-Bench 4.3 with people as the user, each cell counted anew from the plays, runs and answers as they are printed.

One person withdrew, one play was interrupted on a phone that cannot be put back and dealt again, one goes on, one was
stopped at a question, and some of what is asked afterwards was not answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import combinations
from statistics import fmean, median
from typing import Any, Literal, NamedTuple

import pytest

from lab.core.run.step import Question, Reply
from lab.core.run.trace import DeviceInfo, Started
from lab.core.task.task import Actor
from lab.studies.playing.play_session import Participation
from lab.studies.playing.played_runs import claim, record_end, session_of
from lab.studies.rating.rating_session import RatingSession
from store.store import Store
from tests.annotators.report import recounting as re
from tests.annotators.report.recounting import Lab, Row, Said, same

STUDY = "knowu-5c"
TASKS = ("night_mode", "quiet_meeting", "saturday_walk")
CONDITIONS = ("person", "person, no mirror", "script", "model")
PEOPLE = ("P1", "P2", "P3", "P4", "P5")
SHOWN = datetime.fromisoformat("2026-04-01T09:00:00+00:00")
WORDS = {"night_mode": "The early one, half past six.", "quiet_meeting": "Yes please."}
Way = Literal["answer", "refuse", "wrong", "stop", "leave", "pause"]


class Person(NamedTuple):
    """One who plays: how many plays, what they do in a task's (else they answer), what they say."""

    code: str
    plays: int
    ways: Mapping[str, Way]
    after: tuple[str, ...] = ("4", "2", "5")
    wrong: int = 0


WHO = (
    Person("P1", 3, {"night_mode": "leave", "quiet_meeting": "refuse"}, wrong=1),
    Person("P2", 3, {"night_mode": "stop", "quiet_meeting": "pause"}, ("3", "?", "4"), wrong=2),
    Person("P3", 3, {"night_mode": "wrong"}, ("5", "1")),
    Person("P4", 1, {}, ("1", "5", "1")),
    Person("P5", 0, {}),
)
"""P3's first play is interrupted, so that their last is the same task once more; P4 withdraws; P5 begins the quiz."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("plays"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(made.folder))
        made.hitlab("study", "new", STUDY, "--tasks", *TASKS, "--raters", ",".join(PEOPLE), "--overlap", "all",
                    "--conditions", *CONDITIONS)  # fmt: skip
        made.hitlab("study", "deal", STUDY)
        made.hitlab("study", "play", STUDY, ends=3)  # what waits for a model is left
        with Store.open(made.db) as store:
            for person in WHO:
                _plays(store, person)
            _one_play_of_a_model(store)
        made.hitlab("withdraw", "P4", "--yes")
        yield made


def _plays(store: Store, person: Person) -> None:
    part = Participation(store, store.studies.study(STUDY), Actor("human", person.code))
    part.agree()
    if not person.plays:
        _answer_quiz(part, 1)
    if person.code == "P3":
        _interrupted(part)
    for at in range(person.plays):
        _pass_quiz(part, 0 if at else person.wrong)
        if _play(part, person.ways.get(part.where().play.task.id, "answer"), at):
            _afterwards(part, person.after, hand_in=(person.code, at) != ("P2", 2))


def _interrupted(part: Participation) -> None:
    """A run on a real phone that is cut off, and is dealt again."""
    _pass_quiz(part, 0)
    here = part.where()
    assert here.unit is not None
    run = claim(part.store, part.study, part.person, here.unit.id)
    phone = DeviceInfo("adb", "R58M", "Real", (1080, 2400))
    part.store.runs.append_event(run, Started(seq=0, at=SHOWN.isoformat(), trace=run, task=here.play.task,
                                         agent=Actor("script", "rule"), user=part.person, device=phone))  # fmt: skip


def _pass_quiz(part: Participation, wrong: int) -> None:
    while part.where().stage in ("card", "quiz"):
        _answer_quiz(part, wrong)
        wrong -= 1


def _answer_quiz(part: Participation, wrong: int) -> None:
    persona = part.where().play.persona
    assert persona is not None
    item = part.quiz_state(persona).waiting[0]
    part.answer_quiz(persona, (item.right + (wrong > 0)) % len(item.options))


def _play(part: Participation, way: Way, at: int) -> bool:
    """Plays the next one; whether it came to an end."""
    session = part.session(part.where())
    session.start()
    met: set[str] = set()
    while not session.join(0.005):
        question = session.questions.waiting
        if question is None or question.id in met:  # what was answered waits until the run's own thread took it
            continue
        met.add(question.id)
        if way == "stop":
            session.stop()
        elif way == "leave":
            session.leave()
        else:
            if way == "pause":
                session.pause()
                session.resume_run()
            session.questions.answer(question, _reply(question, part, way, at))
    return way != "leave"


def _reply(question: Question, part: Participation, way: Way, at: int) -> Reply:
    """Shown, typed and sent at times that differ from play to play."""
    text = {"refuse": "No, leave it.", "wrong": "7:15 is early enough."}.get(way, WORDS[part.where().play.task.id])
    decision: Literal["accept", "reject"] | None = None
    if way == "refuse" or question.kind == "propose":
        decision = "reject" if way == "refuse" else "accept"
    number = PEOPLE.index(part.person.id) + 1
    first = SHOWN + timedelta(seconds=number + at)
    typed = first.isoformat() if part.person.id != "P2" else None
    sent = (first + timedelta(seconds=4 * number)).isoformat()
    return Reply(question.id, text, part.person, decision, SHOWN.isoformat(), typed, sent, edits=number + at)


def _afterwards(part: Participation, after: Sequence[str], *, hand_in: bool) -> None:
    here = part.where()
    assert here.stage == "questions"
    assert here.assignment is not None
    desk = RatingSession(part.store, part.study, part.person)
    desk.open(here.assignment)
    assert desk.sheet is not None
    said = dict(zip(("realism", "effort", "wish"), after, strict=False))
    for spot in list(desk.sheet.unanswered):
        value = said.get(spot.field, "?")
        if value == "?":
            desk.answer(spot, missing="cannot_judge")
        else:
            desk.answer(spot, value)
    if hand_in:
        desk.commit()


def _one_play_of_a_model(store: Store) -> None:
    """Its words are the script's, so that nothing goes over a wire."""
    study, model = store.studies.study(STUDY), Actor("model", "model:m", "m")
    unit = next(one for one in store.studies.units(study) if one.id == "night_mode.model")
    assert unit.play is not None
    session = session_of(store, unit.play, claim(store, study, model, unit.id), "", "script")
    session.start()
    assert session.join(180)
    record_end(store, study, model, unit.id, 1, store.runs.trace(session.trace_id))


# -- what is printed -------------------------------------------------------------------------------------------

LOOKING = {"scroll", "navigate_home", "navigate_back", "press_recent", "wait", "answer", "status"}
LEFT = {"interrupted": "interrupted", "open": "not ended"}


class Made(NamedTuple):
    """A played run as it is listed, with its steps; and what its task is."""

    listed: Mapping[str, Any]
    steps: Sequence[Mapping[str, Any]]
    task: Mapping[str, Any]

    @property
    def queries(self) -> int:
        return len(self.listed["questions"])

    @property
    def refused(self) -> int | None:
        """The step (from 1) of the first rejection."""
        return next((one["step"] for one in self.listed["questions"] if one["decision"] == "reject"), None)

    def intervened(self, after: int = 0) -> bool:
        """Whether it asked, or did what changes something, after so many steps."""
        asked = any(one["step"] > after for one in self.listed["questions"])
        done = [(one.get("decision") or {}).get("action") for one in self.steps[after:] if "question" not in one]
        return asked or any(action is not None and action["kind"] not in LOOKING for action in done)

    @property
    def warranted(self) -> bool:
        return not any(check.get("run") == "silent" for check in self.task["checks"])


def _sr(one: Made) -> float | str:
    score = one.listed["score"]
    return "no_score" if score is None else float(score > 0.99)


def _score(one: Made) -> float | str:
    score = one.listed["score"]
    return "no_score" if score is None else float(score)


def _ie(one: Made) -> float | str | None:
    if one.task["kind"] != "personalized":
        return None
    score = one.listed["score"]
    return "no_score" if score is None else score / max(1, one.queries)


def _policy(one: Made) -> tuple[str, float] | None:
    if one.task["kind"] != "proactive":
        return None
    if one.refused is not None:
        return "Stop", float(not one.intervened(one.refused))
    return ("Act", float(one.intervened())) if one.warranted else ("Silent", float(not one.intervened()))


def _of(group: str) -> Callable[[Made], float | str | None]:
    return lambda one: told[1] if (told := _policy(one)) is not None and told[0] == group else None


MEASURES: Mapping[str, Callable[[Made], float | str | None]] = {
    "SR": _sr, "Average score": _score, "Questions per task": lambda one: float(one.queries), "IE": _ie,
    "Act": _of("Act"), "Silent": _of("Silent"), "Stop": _of("Stop"),
}  # fmt: skip


class Played(NamedTuple):
    """The runs that were begun, those that count, and the report's tables."""

    listed: list[dict[str, Any]]
    made: list[Made]
    tables: dict[str, re.Table]

    def under(self, condition: str) -> list[Made]:
        return [one for one in self.made if one.listed["condition"] == condition]


@pytest.fixture(scope="module")
def played(lab: Lab) -> Played:
    listed = lab.json("study", "runs", STUDY)["runs"]
    made = []
    for one in listed:
        if one["status"] not in LEFT:
            run = lab.json("show", one["trace"])
            made.append(Made(one, run["steps"], run["started"]["task"]))
    return Played(listed, made, lab.tables(STUDY))


def _rows(made: Iterable[Made], name: str) -> list[Row]:
    """What each run of a measure adds, or why not."""
    rows = []
    for one in made:
        told = MEASURES[name](one)
        if told is not None:
            said = Said(None, told) if isinstance(told, str) else Said(told)
            rows.append(Row(one.listed["trace"], "", one.listed["task"], (said,)))
    return rows


def _people(made: Iterable[Made], name: str, tasks: Iterable[str] = TASKS) -> int:
    those = list(tasks)
    told = [one.listed for one in made if isinstance(MEASURES[name](one), float)]
    return len({(one["kind"], one["by"]) for one in told if one["task"] in those})


def _upper(name: str) -> float | None:
    return None if name == "Questions per task" else 1.0


# -- tables ----------------------------------------------------------------------------------------------------


def test_the_study_is_as_awkward_as_it_is_meant_to_be(played: Played) -> None:
    listed = played.listed
    assert Counter(one["status"] for one in listed) == {"completed": 11, "stopped": 1, "open": 1, "interrupted": 1}
    assert "P4" not in {one["by"] for one in listed}, "who withdrew"
    assert [one["condition"] for one in listed].count("model") == 1
    again = [one for one in listed if one["play"] == 2]
    assert [(one["by"], one["status"]) for one in again] == [("P3", "completed")]
    scores = Counter(one["score"] for one in listed)
    assert scores[1.0] > 5, "ties"
    assert scores[None] == 3
    assert any(0 < (one["score"] or 0) < 1 for one in listed)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_by_who_answered(played: Played, condition: str) -> None:
    table, made = played.tables["users"], played.under(condition)
    assert table.row("Runs")[condition] == str(len(made))
    assert table.row("Tasks")[condition] == str(len({one.listed["task"] for one in made}))
    left = Counter(LEFT[one["status"]] for one in played.listed
                   if one["status"] in LEFT and one["condition"] == condition)  # fmt: skip
    assert table.row("Left out")[condition] == (", ".join(f"{n} {why}" for why, n in sorted(left.items())) or "-")
    for name in MEASURES:
        same(
            table.row(name)[condition], re.mean, _rows(made, name), upper=_upper(name), least=0.0, needs=1,
            raters=_people(made, name), where=(condition, name),
        )  # fmt: skip


@pytest.mark.parametrize("condition", CONDITIONS)
def test_metrics_of_the_same_runs_are_the_same(lab: Lab, played: Played, condition: str) -> None:
    made = played.under(condition)
    told = lab.json("metrics", *(one.listed["trace"] for one in made), "--paper", "knowu")["groups"][0]["numbers"]
    names = {
        ("SR", ""): "SR", ("AveQueries", ""): "Questions per task", ("IE", "personalized"): "IE",
        **{(name, "proactive"): name for name in ("Act", "Silent", "Stop")},
    }  # fmt: skip
    seen = set()
    for number in told:
        name = names.get((number["metric"], number.get("part", "")))
        if name is not None and number.get("version", "paper") == "paper":
            values = [row.values[0] for row in _rows(made, name) if row.values]
            assert number["value"] == (pytest.approx(fmean(values)) if values else None), number
            seen.add(name)
    assert seen == set(names.values())


@pytest.mark.parametrize(("one", "other"), combinations(CONDITIONS, 2))
def test_differences_paired_by_task(played: Played, one: str, other: str) -> None:
    (table,) = [table for id, table in played.tables.items() if id.startswith("paired-") and
                table.columns[1:3] == [one, other]]  # fmt: skip
    for name in MEASURES:
        row, means = table.row(name), {}
        for condition in (one, other):
            rows = [row for row in _rows(played.under(condition), name) if row.values]
            means[condition] = {
                task: fmean(row.values[0] for row in rows if row.cluster == task)
                for task in TASKS if any(row.cluster == task for row in rows)
            }  # fmt: skip
        both = [task for task in TASKS if all(task in told for told in means.values())]
        alone = [task for task in TASKS if sum(task in told for told in means.values()) == 1]
        lacks = [Row(task, "", task, (Said(None, "not_under_both"),)) for task in alone]
        assert row["Tasks"] == str(len(both))
        for condition in (one, other):
            told = [Row(task, "", task, (Said(means[condition][task]),)) for task in both]
            raters = _people(played.under(condition), name, both)
            same(row[condition], re.mean, told + lacks, upper=_upper(name), least=0.0, needs=1, raters=raters,
                 where=(condition, name))  # fmt: skip
        gaps = [Row(task, "", task, (Said(means[one][task] - means[other][task]),)) for task in both]
        raters = _people([*played.under(one), *played.under(other)], name, both)
        _is_gap(row["Difference"], row["Difference, bootstrap"], gaps, lacks, raters, _upper(name))


def _is_gap(cell: re.Cell, drawn: re.Cell, gaps: list[Row], lacks: list[Row], raters: int, most: float | None) -> None:
    """A mean difference; its interval is no wider than a difference can be."""
    for one in (cell["agreement"], drawn["agreement"]):
        value = re.mean(gaps)
        assert one.get("value") == (None if value is None else pytest.approx(value)), one
        expected = re.counts([*gaps, *lacks], needs=1, raters=raters)
        assert one.get("places", 0) == one.get("traces", 0) == expected.places
        assert (one.get("raters", 0), one.get("reasons", {})) == (raters if gaps else 0, expected.reasons)
        assert one.get("missing", 0.0) == pytest.approx(expected.missing)
    ends = re.jackknife(gaps, re.mean, None, None, 1)
    told = cell["agreement"]
    if ends is None:
        assert told.get("low") is None
        assert told.get("no_interval") or told.get("undefined")
    else:
        low, high = ends if most is None else (max(-most, ends[0]), min(most, ends[1]))
        assert (told["low"], told["high"]) == pytest.approx((low, high), abs=1e-7)
    there = drawn["agreement"]
    if there.get("low") is not None:
        values = [row.values[0] for row in gaps]
        assert min(values) <= there["low"] <= there["value"] <= there["high"] <= max(values)


# -- how they answered -----------------------------------------------------------------------------------------


def _middle(values: Sequence[float | None], digits: int) -> str:
    told = [one for one in values if one is not None]
    if not told:
        return "not told"
    return f"{median(told):.{digits}f}" + (f" ({len(told)})" if len(told) < len(values) else "")


def _between(first: str | None, last: str | None) -> float | None:
    if first is None or last is None:
        return None
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


@pytest.mark.parametrize("condition", CONDITIONS)
def test_replies(played: Played, condition: str) -> None:
    asked = [one for made in played.under(condition) for one in made.listed["questions"] if one["sent_at"] is not None]
    row = played.tables["replies"].row(condition)
    assert row["Replies"] == str(len(asked))
    assert row["Seconds to first key"] == _middle([_between(one["shown_at"], one["first_key_at"]) for one in asked], 1)
    assert row["Seconds until sent"] == _middle([_between(one["shown_at"], one["sent_at"]) for one in asked], 1)
    assert row["Characters"] == _middle([float(one["characters"]) for one in asked], 0)
    assert row["Taken back"] == _middle([one["edits"] for one in asked], 0)
    decided = Counter(one["decision"] for one in asked)
    assert row["Accepted / rejected"] == f"{decided['accept']} / {decided['reject']}"


def test_clocks_that_stood_still(played: Played) -> None:
    """Of conditions in which people play: the others wait for nobody."""
    table = played.tables["clocks"]
    assert [row[0] for row in table.rows] == list(CONDITIONS[:2])
    for condition in CONDITIONS[:2]:
        row, listed = table.row(condition), [one.listed for one in played.under(condition)]
        assert row["Runs"] == str(len(listed))
        assert row["Seconds with a question open"] == f"{median(one['waited'] for one in listed):.1f}"
        assert row["Pauses"] == str(sum(one["pauses"] for one in listed))
        assert row["Seconds paused"] == f"{sum(one['paused'] for one in listed):.1f}"
    assert table.row("person")["Pauses"] == "1"


def test_the_quiz(lab: Lab, played: Played) -> None:
    table = played.tables["quiz"]
    persona = {one.listed["task"]: one.task["persona"] for one in played.made}
    told = {(one["by"], persona[one["task"]]): one for one in played.listed if one["kind"] == "human"}
    *rows, (began, _, *counts, right) = table.rows[:-1]
    assert (began, counts, right["agreement"]["reasons"]) == ("P5", ["1", "1"], {"not_passed": 1})
    assert right["agreement"]["undefined"] == "not passed yet"
    assert [tuple(row[:2]) for row in rows] == sorted(told)
    asked = lab.json("study", "show", STUDY)["plan"]["quiz"]
    for code, whom, rounds, answers, right in rows:
        one, share = told[code, whom], right["agreement"]
        assert (rounds, answers) == (str(one["quiz_rounds"]), str(one["quiz_tries"]))
        assert (share["value"], share["places"], share["raters"]) == (one["quiz_share"], asked, 1)
        assert (share["low"], share["high"]) == pytest.approx(re.wilson(round(one["quiz_share"] * asked), asked))
    shares = [Row(f"{code}, {whom}", "", code, (Said(one["quiz_share"]),)) for (code, whom), one in told.items()]
    lacks = Row("P5", "", "P5", (Said(None, "not_passed"),))
    same(table.row("All")["Right at the first try"], re.mean, [*shares, lacks],
         least=0.0, needs=1, raters=len({row.cluster for row in shares}))  # fmt: skip
    assert {one["quiz_share"] for one in told.values()} == {0.8, 1.0}
    assert {one["quiz_rounds"] for one in told.values()} == {1, 2}, "two wrong of five is another round"


@pytest.mark.parametrize("field", ["realism", "effort", "wish"])
def test_what_people_said_afterwards(lab: Lab, played: Played, field: str) -> None:
    """Of every play that a person ended, also of one that was dealt again."""
    shown, answers = lab.json("study", "show", STUDY), lab.answers(STUDY)
    ask = next(one["ask"] for one in shown["plan"]["protocol"]["fields"] if one["id"] == field)
    row = played.tables["afterwards"].row(ask)
    rows = []
    for one in (made.listed for made in played.made if made.listed["kind"] == "human"):
        said = answers.at(one["unit"], "", field, one["by"], one["play"])
        value = None if said.value is None else float(said.value)
        rows.append(Row(f"{one['unit']}", "", one["task"], (Said(value, said.why),)))
    raters = len({key[3] for key, said in answers.of.items() if key[2] == field and said[0] is not None})
    same(row["Mean"], re.mean, rows, upper=5.0, least=1.0, needs=1, raters=raters, where=field)
    assert row["Answers"] == str(sum(bool(one.values) for one in rows))
    assert any(one.said[0].why == "not_handed_in" for one in rows)
