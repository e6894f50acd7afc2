"""Runs made of the lab's own events, with fixed ids and times, and screens drawn by Pillow."""

from __future__ import annotations

import io
import zlib
from functools import cache
from operator import is_
from typing import Any
from weakref import WeakKeyDictionary

from textual._compositor import Compositor
from textual.strip import Strip

from lab.core.run.run_records import Blob, Imported, Verdict, number_events
from lab.core.run.step import Action, Decision, Observation, Prompt, Proposed, Question, Reply
from lab.core.run.trace import AnyEvent, Asked, DeviceInfo, Ended, Source, Started, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.task import Actor, Persona, Task

WHOLE = "11111111-0000-7000-8000-000000000001"
BARE = "22222222-0000-7000-8000-000000000002"
WAITING = "33333333-0000-7000-8000-000000000003"
ASKING = "55555555-0000-7000-8000-000000000005"
LONG = "44444444-0000-7000-8000-000000000004"
SIZE = (540, 1200)
AGENT = Actor("script", "rule")
PERSON = Actor("human", "P01")
HOSTILE = "[bold red]not bold[/] \x1b[31mred\x1b]0;title\x07 [link=x]"
"""Rich markup, an ANSI colour and an OSC title: all of it must be painted as characters."""


def stamp(seconds: float) -> str:
    """A fixed time, some seconds into the run."""
    whole = int(seconds)
    return f"2025-03-04T10:{whole // 60:02d}:{whole % 60:02d}.{int(seconds % 1 * 1e6):06d}+00:00"


def drawn(lines: list[str], size: tuple[int, int] = SIZE) -> bytes:
    """A phone's screen as PNG: a bar, and a card for each line."""
    return _drawn(tuple(lines), size)


@cache
def _drawn(lines: tuple[str, ...], size: tuple[int, int]) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", size, (242, 243, 247))
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=40)
    draw.rectangle((0, 0, size[0], 110), fill=(35, 86, 180))
    draw.text((28, 40), "Dishes", (255, 255, 255), font)
    for i, line in enumerate(lines):
        top = 150 + i * 170
        draw.rounded_rectangle((24, top, size[0] - 24, top + 140), 24, fill=(255, 255, 255))
        draw.ellipse((48, top + 30, 128, top + 110), fill=(90 + zlib.crc32(line.encode()) % 150, 140, 90))
        draw.text((154, top + 42), line[:14].encode("ascii", "replace").decode(), (30, 30, 36), font)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def tree_of(lines: list[str], size: tuple[int, int] = SIZE) -> UiTree:
    """The tree that belongs to `drawn(lines)`."""
    cards = [
        Node(
            Bounds(24, 150 + i * 170, size[0] - 24, 290 + i * 170),
            cls="android.view.ViewGroup",
            id=f"com.lab:id/card{i}",
            clickable=True,
            children=(
                Node(Bounds(150, 190 + i * 170, size[0] - 40, 250 + i * 170), line, cls="android.widget.TextView"),
            ),
        )
        for i, line in enumerate(lines)
    ]
    title = Node(Bounds(24, 40, 400, 90), "Dishes", cls="android.widget.TextView")
    return UiTree((Node(Bounds(0, 0, *size), cls="android.widget.FrameLayout", children=(title, *cards)),))


def whole_run(trace: str = WHOLE, *, hostile: bool = False) -> Imported:
    """A run with screenshots: a tap, a question and its reply, a refusal, an error, a final answer, a score."""
    words = HOSTILE if hostile else "Wonton noodles"
    dishes = [
        [words, "Dumplings", "Green tea"],
        [words, "Dumplings"],
        ["Small", "Large", "Add remark"],
        ["Pay", "Back"],
    ]
    blobs = {blob.sha256: blob for blob in (Blob(drawn(lines), "image/png") for lines in dishes)}
    shas = list(blobs)
    seen = [Observation(sha, SIZE, tree_of(lines), "com.food/.Menu") for sha, lines in zip(shas, dishes, strict=True)]
    goal = HOSTILE if hostile else "Order my usual lunch, and ask me if you are not sure about the size."
    task = Task("lunch", "personalized", "Order the usual lunch", goal, persona="ines", budget=12)
    question = Question("q1", "ask", HOSTILE if hostile else "Small or large?", ("small", "large"))
    reply = Reply(
        "q1",
        HOSTILE if hostile else "Large, and no coriander please.",
        PERSON,
        shown_at=stamp(6),
        first_key_at=stamp(8.5),
        sent_at=stamp(14),
        edits=2,
    )
    propose = Question("q2", "propose", "Shall I pay 38.00 now?")
    refusal = Reply("q2", "Not yet.", PERSON, "reject", shown_at=stamp(20), first_key_at=stamp(21), sent_at=stamp(24))
    thought = HOSTILE if hostile else "The usual lunch is on top of the list; I open it."
    prompt = Prompt(f"You work a phone.\nGoal: {goal}\nScreen: {', '.join(dishes[0])}", (shas[0],))
    events: list[AnyEvent] = [
        Started(trace=trace, task=task, agent=AGENT, user=PERSON, persona=Persona("ines", "Ines"),
                device=DeviceInfo("embedded", "phone", "lab", SIZE), at=stamp(0),
                source=Source("test", "runs/lunch")),
        Step(index=0, before=seen[0], started=stamp(1), ended=stamp(3),
             proposed=Proposed(Action("click", (270, 220)), thought, prompt)),
        Step(index=1, before=seen[1], started=stamp(5), ended=stamp(15), question=question, reply=reply,
             proposed=Proposed(Action("ask_user", text=question.text), "Two sizes, and no order tells which.")),
        Step(index=2, before=seen[2], started=stamp(16), ended=stamp(17),
             proposed=Proposed(Action("swipe", (270, 900), (270, 300), direction="up"), "The remark is further down."),
             error="the phone did not answer within 5 s"),
        Step(index=3, before=seen[2], started=stamp(17), ended=stamp(18),
             decision=Decision("amend", PERSON, Action("input_text", text="no coriander"), "shorter", 2.5),
             proposed=Proposed(Action("input_text", text="no coriander, thank you very much"), "I write the remark.")),
        Step(index=4, before=seen[3], started=stamp(19), ended=stamp(24), question=propose, reply=refusal,
             proposed=Proposed(Action("ask_user", text=propose.text), "Paying cannot be undone, so I ask.")),
        Step(index=5, before=seen[3], started=stamp(25), ended=stamp(26),
             proposed=Proposed(Action("answer", text="Your lunch is in the basket, not paid."), "I stop here.")),
        Ended(status="completed", score=0.75, reason="one check failed", final=seen[3],
              checks=(("large chosen", True), ("remark kept", True), ("nothing paid", True), ("basket shown", False))),
    ]  # fmt: skip
    verdicts = [Verdict("success", True, HOSTILE if hostile else "The basket holds the right dish.")]
    return Imported(number_events(events), blobs, verdicts)


def bare_run(trace: str = BARE) -> Imported:
    """A run without screenshots or trees, as most published runs are, cut off without an end."""
    task = Task("mail", "general", "", "Write to Kevin that the meeting moved to Friday, and say so on the calendar.")
    steps = [
        Action("open_app", app="Mail"),
        Action("click", (0, 1130)),
        Action("input_text", text="Kevin"),
        Action("scroll", (500, 1200), direction="down"),
        Action("drag", (200, 400), (900, 1800)),
    ]
    events: list[AnyEvent] = [
        Started(trace=trace, task=task, agent=Actor("model", "some-model"), at=stamp(0), source=Source("test"),
                device=DeviceInfo("adb", "", "", (1080, 2400))),
        *(Step(index=i, proposed=Proposed(action, f"Step {i + 1} of the plan."), before=Observation(size=(1080, 2400)))
          for i, action in enumerate(steps)),
    ]  # fmt: skip
    return Imported(number_events(events), {}, [])


def waiting_run(trace: str = WAITING) -> list[AnyEvent]:
    """A run of this program's own that stands at an unanswered question."""
    task = Task("sleep", "proactive", "Turn the alarm off")
    ask = Proposed(Action("ask_user", text="Tomorrow is a holiday. Turn the alarm off?"), "No school tomorrow.")
    return number_events(
        [
            Started(trace=trace, task=task, agent=AGENT, user=PERSON, at=stamp(100)),
            Step(index=0, proposed=Proposed(Action("open_app", app="Clock"), "I look at the alarms.")),
            Asked(index=1, question=Question("q", "propose", "Turn the alarm off?"), proposed=ask),
        ]
    )


def asking_run(trace: str = ASKING) -> Imported:
    """A run that begins with a question; it can be played again on the embedded phone."""
    task = Task("ask", "general", "", "Ask me.")
    ask = Proposed(Action("ask_user", text="Is this you?"))
    question, reply = Question("q", "ask", "Is this you?"), Reply("q", "Yes.", PERSON)
    events: list[AnyEvent] = [
        Started(trace=trace, task=task, agent=AGENT, source=Source("test")),
        Step(index=0, proposed=ask, question=question, reply=reply),
        Ended(status="completed"),
    ]
    return Imported(number_events(events), {}, [])


def long_run(steps: int, trace: str = LONG) -> Imported:
    """A run of many steps with a tree and a picture each (four pictures in turn)."""
    base = [["One", "Two", "Three"], ["Two", "Three"], ["Three"], ["Four", "Five", "Six", "Seven"]]
    blobs = [Blob(drawn(lines), "image/png") for lines in base]
    seen = [Observation(b.sha256, SIZE, tree_of(lines)) for b, lines in zip(blobs, base, strict=True)]
    task = Task("long", "general", "A long run", "Keep tapping.")
    events: list[AnyEvent] = [Started(trace=trace, task=task, agent=AGENT, at=stamp(0), source=Source("test"))]
    for i in range(steps):
        action = Action("click", (270, 220 + 170 * (i % 3)))
        events.append(Step(index=i, before=seen[i % 4], proposed=Proposed(action, f"Tap number {i + 1}.")))
    events.append(Ended(status="budget", final=seen[0]))
    return Imported(number_events(events), {blob.sha256: blob for blob in blobs}, [])


_READ: WeakKeyDictionary[Compositor, tuple[int, list[Strip], str]] = WeakKeyDictionary()
"""What each screen's lines said last: whoever waits reads the same ones many times."""


def painted(app: Any) -> str:
    """All characters that stand on the terminal now, row by row."""
    width, height = app.size
    compositor: Compositor = app.screen._compositor
    lines = compositor.render_strips(app.size)[:height]
    known = _READ.get(compositor)
    if known is None or known[0] != width or len(known[1]) != len(lines) or not all(map(is_, known[1], lines)):
        text = "\n".join("".join(segment.text for segment in line)[:width] for line in lines)
        known = _READ[compositor] = (width, lines, text)
    return known[2]
