"""Schema of the exported tables: names, columns in order, and their meanings.

The four tables runs, steps, questions and verdicts share the key `run`. They are for counting and plotting: pictures
appear as sha256, and a step's tree, prompt and `extra` are left out (the jsonl format is complete). Data hidden from
agents is left out, too: the persona's facts and log.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["text", "integer", "number", "truth", "time", "json"]
"""Type of a column: text, integer, number, true or false, a time in UTC, or a value as JSON."""


class FormatColumn(NamedTuple):
    """One column: its name, type and meaning."""

    name: str
    kind: Kind
    meaning: str


def _columns(*lines: str) -> tuple[FormatColumn, ...]:
    """Parse columns from `name kind meaning` lines."""
    kinds: dict[str, Kind] = {
        "text": "text", "integer": "integer", "number": "number", "truth": "truth", "time": "time", "json": "json",
    }  # fmt: skip
    parts = (line.split(" ", 2) for line in lines)
    return tuple(FormatColumn(name, kinds[kind], tells) for name, kind, tells in parts)


RUNS = _columns(
    "run text the run's id",
    "task text the task's id, its source's own where it has one",
    "task_kind text general, personalized or proactive",
    "instruction text what the agent was asked to do; empty in proactive tasks",
    "apps json the apps that the task needs",
    "traits json what tables are broken down by, in the source's words (difficulty, level, platform, ...)",
    "golden_steps integer how many steps the shortest known way takes",
    "persona text the persona's id",
    "agent text who acted",
    "agent_kind text human, model or script",
    "agent_name text the name of the agent's implementation, or what it calls itself; else how it was started",
    "agent_version text its version, where it tells one",
    "agent_model text the model that it asks, where that is told apart from its name",
    "user text who answered",
    "user_kind text human, model or script",
    "seat text the seat of the person who took part",
    "mirror truth whether that person saw the phone",
    "gate text pass: acts were let through; ask: a person was asked before each",
    "log text which history the agent was shown: clean, noise or none",
    "seed integer the seed of the run",
    "attempt integer which try of this task it was, from 1",
    "parent text the run that this one was forked from",
    "reviewed text the run whose reviewed text this is",
    "source text the format it was imported from; empty where it was run here",
    "source_sha256 text the sha256 of what it was imported from",
    "source_model text the model, as its source names it",
    "device text embedded, adb or unknown",
    "device_model text the phone's model",
    "release text the phone's Android version",
    "width integer the screen's width in pixels",
    "height integer the screen's height in pixels",
    "started time when it began",
    "ended time when it ended",
    "status text completed, stopped, failed or budget; open where it has not ended",
    "score number 0 to 1; empty where nothing could be checked",
    "reason text why it ended as it did",
    "steps integer how many steps it took",
    "questions integer how many questions were asked",
    "replies integer how many of them were answered",
    "prompt_tokens integer tokens that were sent to its agent's model",
    "completion_tokens integer tokens that the model wrote",
    "cached_tokens integer tokens that were sent and needed no work",
    "cost number US dollars",
    "seconds number seconds that the run took as its source tells them, else that its model took",
)
STEPS = _columns(
    "run text the run's id",
    "step integer which step of the run, from 0",
    "at time when",
    "ms number milliseconds since the run began",
    "by text who acted, where it was not the run's agent",
    "proposed text the kind of action that the agent proposed",
    "verdict text approve, amend or reject where a person stood between; else empty",
    "kind text the kind of action that was done; empty where none was let through",
    "x integer pixels from the left",
    "y integer pixels from the top",
    "to_x integer where it ended, pixels from the left",
    "to_y integer where it ended, pixels from the top",
    "dx integer the finger's movement to the right in pixels",
    "dy integer the finger's movement down in pixels",
    "direction text the content's for scroll, the finger's for swipe",
    "text text what was typed, answered or asked",
    "app text the app that was opened",
    "status text complete or infeasible, where it reported that",
    "duration_ms integer milliseconds that the act took",
    "space text the source's own coordinates: px, 0-1, 0-1000, box or index",
    "boxes json targets in pixels of which any is right: left, top, right, bottom",
    "accepted json further actions that would have been right",
    "raw json the source's own action, word for word",
    "instruction text what to do here, in words",
    "thought text why, as the agent said",
    "slip truth whether a person flagged it as a slip of the hand",
    "error text why the act failed",
    "question text the id of the question that was asked here",
    "image text the sha256 of the picture that was seen",
    "width integer that picture's width in pixels",
    "height integer that picture's height in pixels",
    "activity text the app's screen, as the phone names it",
    "prompt_tokens integer tokens that were sent to the model",
    "completion_tokens integer tokens that the model wrote",
    "cached_tokens integer tokens that were sent and needed no work",
    "cost number US dollars",
    "seconds number seconds that the model took",
    "tries integer how many calls of the model it took",
)
QUESTIONS = _columns(
    "run text the run's id",
    "step integer the step at which it was asked, from 0",
    "question text the question's id, unique in its run",
    "kind text ask or propose",
    "text text the question",
    "options json what could be chosen from",
    "asked time when it was put",
    "answered truth whether a reply came",
    "by text who answered",
    "by_kind text human, model or script",
    "decision text accept or reject; empty for a plain reply",
    "reply text the reply",
    "shown time when it was shown to who answered",
    "first_key time when the first key was pressed",
    "sent time when the reply was sent",
    "waited_s number seconds from shown to sent",
    "edits integer deletions while the reply was typed",
    "draft text the longest text that was typed and then taken back",
)
VERDICTS = _columns(
    "run text the run's id",
    "verdict integer which of the run's verdicts, from 0",
    "name text what the source calls it",
    "value json the judgement itself",
    "number number the same where it is a number",
    "reason text why, in the source's words",
    "extra json the source's further fields",
)
TABLES: dict[str, tuple[FormatColumn, ...]] = {
    "runs": RUNS,
    "steps": STEPS,
    "questions": QUESTIONS,
    "verdicts": VERDICTS,
}
