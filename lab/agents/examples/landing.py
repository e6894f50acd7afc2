"""Complete agent: it finds a landing time and a flight number in a chat and sets an alarm (task `flight_alarm`)."""

import json
import re
import sys
from collections.abc import Generator
from typing import Any


def tap(observation: Any, words: str) -> dict[str, Any]:
    numbers = [node["number"] for node in observation["nodes"] if words in (node["text"], node["desc"])]
    return {"kind": "click", "node": numbers[-1], "thought": f"I tap {words}."}


def plan(brief: Any) -> Generator[dict[str, Any], Any, None]:
    yield {}
    observation = yield {"kind": "open_app", "app": "Messages"}
    observation = yield tap(observation, " ".join(brief["instruction"].split()[:2]))
    screen_text = " ".join(node["text"] for node in observation["nodes"])
    (hour, minute), flight = (
        re.findall(r"lands at (\d\d):(\d\d)", screen_text)[-1],
        re.findall(r"flight (\w+\d)", screen_text)[-1],
    )
    observation = yield {"kind": "open_app", "app": "Clock", "thought": f"{flight} lands at {hour}:{minute}."}
    observation = yield tap(observation, "Add alarm")
    for field, text in (("Hour", hour), ("Minute", minute), ("Label", flight)):
        observation = yield tap(observation, field)
        observation = yield {"kind": "input_text", "text": text}
    yield tap(observation, "Save")
    yield {"kind": "status", "status": "complete"}


def say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


steps = plan({})
for line in map(json.loads, sys.stdin):
    match line["line"]:
        case "hello":
            say({"line": "hello", "v": 1, "screenshot": "none"})
        case "brief":
            steps = plan(line)
            next(steps)
        case "observation":
            for past in filter(lambda step: step["nodes"], line["done"]):
                steps.send(past)  # the run is gone on with: the plan goes over what was done before
            say(steps.send(line))
