"""Two runs of one task with screens, that part at their third step; and one of another task without any."""

from __future__ import annotations

from lab.core.run.run_records import Blob, Imported, number_events
from lab.core.run.step import Action, Observation, Proposed, Question, Reply, Usage
from lab.core.run.trace import AnyEvent, Ended, Source, Started, Step
from lab.core.task.task import Actor, Task
from tests.screens.runs import HOSTILE, PERSON, SIZE, drawn, tree_of

ONE, OTHER, THIRD = "c1", "c2", "c3"
_LINES = [["Wonton noodles", "Dumplings"], ["Search", "Milk", "Bread"], ["Small", "Large"], ["Pay", "Back"]]


def _card(row: int) -> Action:
    """A tap on one of the cards of `drawn`."""
    return Action("click", (270, 220 + 170 * row))


def _run(trace: str, agent: str, acts: list[tuple[Action, int, str]], score: float, words: str) -> Imported:
    blobs = [Blob(drawn(lines), "image/png") for lines in _LINES]
    seen = [Observation(b.sha256, SIZE, tree_of(lines)) for b, lines in zip(blobs, _LINES, strict=True)]
    task = Task("lunch", "general", words, "Order my usual lunch.")
    events: list[AnyEvent] = [Started(trace=trace, task=task, agent=Actor("model", agent), source=Source("test"))]
    for i, (action, screen, reply) in enumerate(acts):
        asks = action.kind == "ask_user"
        events.append(
            Step(index=i, before=seen[screen], proposed=Proposed(action, f"{agent} thinks {i + 1}.",
                 usage=Usage(1000, 20, cost=0.01)),
                 question=Question(f"q{i}", "ask", action.text or "") if asks else None,
                 reply=Reply(f"q{i}", reply, PERSON) if asks else None)
        )  # fmt: skip
    events.append(Ended(status="completed", score=score, final=seen[3]))
    return Imported(number_events(events), {blob.sha256: blob for blob in blobs}, [])


def one(words: str = "The usual lunch", trace: str = ONE, agent: str = "model A") -> Imported:
    """tap, tap "Search", ask, tap "Large", tap "Pay", report."""
    ask = Action("ask_user", text="Small or large?")
    acts = [(_card(0), 0, ""), (_card(0), 1, ""), (ask, 2, "large"), (_card(1), 2, ""), (_card(0), 3, ""),
            (Action("status", status="complete"), 3, "")]  # fmt: skip
    return _run(trace, agent, acts, 1.0, words)


def other(words: str = "The usual lunch", trace: str = OTHER, agent: str = "model B") -> Imported:
    """tap, type "milk", back, ask the same and be told otherwise, tap "Small", tap "Pay", report."""
    ask = Action("ask_user", text="Small or large?")
    acts = [(_card(0), 0, ""), (Action("input_text", text="milk"), 1, ""), (Action("navigate_back"), 1, ""),
            (ask, 2, "small"), (_card(0), 2, ""), (_card(0), 3, ""),
            (Action("status", status="complete"), 3, "")]  # fmt: skip
    return _run(trace, agent, acts, 0.5, words)


def bare(trace: str = THIRD) -> Imported:
    """Another task, of a hostile name, without a screen or an end."""
    task = Task(HOSTILE, "general", "", HOSTILE)
    events: list[AnyEvent] = [
        Started(trace=trace, task=task, agent=Actor("model", HOSTILE)),
        Step(index=0, proposed=Proposed(Action("input_text", text=f"界面 {HOSTILE}"), HOSTILE)),
        Step(index=1, proposed=Proposed(Action("click", (0, 0)))),
    ]
    return Imported(number_events(events), {}, [])
