"""Events and traces: every field survives JSON, and folding a run's events keeps all of them."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.core.codec import decode, encode
from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Imported, Summary, Verdict, imported_id, number_events
from lab.core.run.step import Action, Pixel, Proposed, Question, Reply
from lab.core.run.trace import (
    VERSION,
    Acting,
    Answered,
    AnyEvent,
    Asked,
    Ended,
    Paused,
    Resumed,
    Started,
    Step,
    Trace,
    fold,
)
from lab.core.task.task import Actor, Task
from tests.fuzzing_examples import examples

EVENTS: list[Any] = [Started, Asked, Answered, Acting, Step, Paused, Resumed, Ended]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
INT = st.integers(-(2**62), 2**62)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | INT | FLOAT | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: INT,
    Pixel: st.integers(-(2**31), 2**31 - 1),
    float: FLOAT,
    bool: st.booleans(),
    type(None): st.none(),
    Any: JSON,
}


def values(kind: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """Any value of a type that our structs use, from its annotation alone, so that no field is forgotten."""
    if kind in PLAIN:
        return PLAIN[kind]
    args = get_args(kind)
    match get_origin(kind):
        case origin if origin is Literal:
            return st.sampled_from(args)
        case origin if origin in (Union, types.UnionType):
            return st.one_of([values(arg, depth) for arg in args])
        case origin if origin is tuple and args[-1] is ...:
            return st.lists(values(args[0], depth + 1), max_size=0 if depth > 3 else 2).map(tuple)
        case origin if origin is tuple:
            return st.tuples(*(values(arg, depth + 1) for arg in args))
        case origin if origin is dict:
            return st.dictionaries(values(args[0]), values(args[1], depth + 1), max_size=2)
    return structs(kind, depth)


def structs(kind: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    if depth > 6:
        return st.deferred(lambda: st.nothing())
    given_fields = {}
    for field in msgspec.structs.fields(kind):
        if kind.__name__ == "Node" and field.name == "bounds":
            given_fields[field.name] = st.builds(field.type, INT, INT, INT, INT)
        elif kind.__name__ == "Check" and field.name in ("equals", "differs", "contains", "lacks"):
            given_fields[field.name] = st.just(msgspec.UNSET) | TEXT
        elif kind.__name__ == "TdgNode" and field.name == "alternatives" and depth > 3:
            given_fields[field.name] = st.just(())
        elif kind.__name__ == "Event" and field.name == "v":
            given_fields[field.name] = st.just(VERSION)
        else:
            given_fields[field.name] = values(field.type, depth + 1)
    return st.builds(kind, **given_fields)


@pytest.mark.parametrize("kind", EVENTS)
def test_every_field_of_every_event_survives_json(kind: Any) -> None:
    @settings(max_examples=examples(25), deadline=None)
    @given(structs(kind))
    def survives(event: AnyEvent) -> None:
        assert decode(encode(event), AnyEvent, "event") == event

    survives()


@settings(max_examples=examples(20), deadline=None)
@given(structs(Verdict), structs(Summary))
def test_verdicts_and_summaries_survive_json(verdict: Verdict, summary: Summary) -> None:
    assert decode(encode(verdict), Verdict, "verdict") == verdict
    assert decode(encode(summary), Summary, "summary") == summary


TURN = st.lists(st.sampled_from(["ask", "ask and leave", "act", "pause", "resume"]), max_size=8)
PERSON, AGENT = Actor("human", "P01"), Actor("script", "rule")
CLICK = Proposed(Action("click", at=(0, 0)))


def events_of(turns: list[str], ending: bool) -> list[AnyEvent]:
    events: list[AnyEvent] = [Started(trace="t", task=Task("x", "general"), agent=AGENT)]
    steps = 0
    for turn in turns:
        question = Question(f"q{steps}", "ask", "Which?")
        reply = Reply(question.id, "This", PERSON)
        match turn:
            case "ask":
                events += [
                    Asked(index=steps, question=question, proposed=CLICK),
                    Answered(index=steps, reply=reply),
                    Step(index=steps, proposed=CLICK, question=question, reply=reply),
                ]
                steps += 1
            case "ask and leave":
                events.append(Asked(index=steps, question=question, proposed=CLICK))
            case "act":
                events += [Acting(index=steps, action=CLICK.action), Step(index=steps, proposed=CLICK)]
                steps += 1
            case "pause":
                events.append(Paused(by=PERSON))
            case "resume":
                events.append(Resumed(by=PERSON))
    if ending:
        events.append(Ended(status="completed", score=1.0))
    return number_events(events)


@given(TURN, st.booleans())
def test_a_fold_keeps_every_step_and_what_is_under_way(turns: list[str], ending: bool) -> None:
    events = events_of(turns, ending)
    trace = fold(events)
    assert list(trace.steps) == [event for event in events if isinstance(event, Step)]
    assert trace.last == len(events) - 1
    assert trace.status == ("completed" if ending else "open")
    last_step = max((e.seq for e in events if isinstance(e, Step)), default=-1)
    asked = [e for e in events if isinstance(e, Asked)]
    assert (trace.asked is not None) == bool(asked and asked[-1].seq > last_step)
    assert decode(encode(trace), Trace, "trace") == trace


@given(TURN, st.data())
def test_a_fold_refuses_a_stream_with_a_gap(turns: list[str], data: st.DataObject) -> None:
    events = events_of([*turns, "act"], True)
    del events[data.draw(st.integers(1, len(events) - 2))]
    with pytest.raises(ValueError, match="follows"):
        fold(events)


def test_a_fold_refuses_a_stream_without_a_beginning_or_with_two() -> None:
    events = events_of(["act"], True)
    with pytest.raises(ValueError, match="begin"):
        fold(events[1:])
    with pytest.raises(ValueError, match="begin"):
        fold([])
    with pytest.raises(ValueError, match="once"):
        fold(number_events([events[0], *events]))


def test_an_event_of_a_newer_shape_or_with_unknown_fields_is_refused_with_a_sentence() -> None:
    with pytest.raises(LabError, match="newer hitlab"):
        decode(b'{"event":"ended","v":2,"status":"completed","mood":1}', AnyEvent, "event 3", newest=VERSION)
    with pytest.raises(LabError, match="mood"):
        decode(b'{"event":"ended","status":"completed","mood":1}', AnyEvent, "event 3", newest=VERSION)
    with pytest.raises(LabError, match="field status"):
        decode(b'{"event":"ended","status":"gone"}', AnyEvent, "event 3", newest=VERSION)


def test_zero_is_a_coordinate() -> None:
    step = Step(index=0, proposed=CLICK)
    assert step.action is not None
    assert step.action.at == (0, 0)
    again: AnyEvent = decode(encode(step), AnyEvent, "step")
    assert isinstance(again, Step)
    assert again.proposed.action.at == (0, 0)


def test_an_imported_id_depends_on_format_and_bytes() -> None:
    ids = {imported_id(format, data) for format in ("a", "ab") for data in (b"", b"b", b"\0b")}
    assert len(ids) == 6
    assert imported_id("a", b"b") == imported_id("a", b"b")


def test_an_imported_run_knows_its_id_and_a_blob_its_hash() -> None:
    assert Imported(events_of([], True), {}, []).id == "t"
    assert Blob(b"", "image/png").sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
