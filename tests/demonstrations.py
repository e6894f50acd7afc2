"""Demonstrations to proofread and redact: runs in which a person worked the phone, with screens drawn by Pillow."""

from __future__ import annotations

import io
from functools import cache

from lab.core.run.run_records import Blob, Imported, number_events
from lab.core.run.step import Action, Decision, Observation, Proposed
from lab.core.run.trace import AnyEvent, DeviceInfo, Ended, Started, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.study.proofreading import Act, Field, Review
from lab.core.task.task import Actor, Persona, Task

SIZE = (360, 800)
ANNOTATOR = Actor("human", "A01")
MAIL = "mara.quill@example.org"
PHONE = "+44 20 7946 0018"
NAME = "Mara Quillfeather"
DEMO = "0197aaaa-0000-7000-8000-0000000000d1"


def stamp(seconds: int) -> str:
    return f"2026-03-04T10:00:{seconds:02d}.000000+00:00"


def drawn(lines: list[str]) -> Blob:
    """A screen as PNG, with a text chunk that says more than its pixels."""
    return _drawn(tuple(lines))


@cache
def _drawn(lines: tuple[str, ...]) -> Blob:
    from PIL import Image, ImageDraw
    from PIL.PngImagePlugin import PngInfo

    image = Image.new("RGB", SIZE, (240, 240, 245))
    draw = ImageDraw.Draw(image)
    for i, line in enumerate(lines):
        draw.rectangle((10, 40 + i * 80, 350, 100 + i * 80), fill=(255, 255, 255))
        draw.text((20, 60 + i * 80), line.encode("ascii", "replace").decode(), (10, 10, 10))
    said = PngInfo()
    said.add_text("Author", f"camera of {NAME}")
    out = io.BytesIO()
    image.save(out, "PNG", pnginfo=said)
    return Blob(out.getvalue(), "image/png")


def tree_of(lines: list[str], *, password: bool = False) -> UiTree:
    rows = tuple(
        Node(
            Bounds(10, 40 + i * 80, 351, 101 + i * 80), line, id=f"com.mail:id/row{i}", clickable=True,
            cls="android.widget.TextView", focused=i == 0,
        )
        for i, line in enumerate(lines)
    )  # fmt: skip
    field = Node(Bounds(10, 600, 351, 660), "•••", cls="android.widget.EditText", password=True)
    return UiTree((Node(Bounds(0, 0, *SIZE), children=(*rows, *((field,) if password else ()))),))


SCREENS = [
    ["Mail", f"From {NAME}", f"Call me: {PHONE}", "Weather: dry"],
    ["Compose", "To", "Body"],
    ["Compose", f"To {MAIL}", "Body"],
    ["Sent", "Mail", "Back"],
]


def demonstration(
    trace: str = DEMO, *, by: Actor = ANNOTATOR, intent: str = f"Write to {NAME} that I am late", ended: bool = True
) -> Imported:
    """Four steps: a tap, typed text, a tap, done."""
    shots = [drawn(lines) for lines in SCREENS]
    seen = [
        Observation(shot.sha256, SIZE, tree_of(lines, password=i == 1), "com.mail/.Main")
        for i, (shot, lines) in enumerate(zip(shots, SCREENS, strict=True))
    ]
    state = Blob(f'{{"mail":{{"to":"{MAIL}"}}}}'.encode(), "application/json")
    task = Task("demo-1", "general", "", intent, place="office", budget=500, persona="mara")
    acts = [
        (Action("click", (180, 150)), f"Open the mail from {NAME}"),
        (Action("input_text", (180, 70), text=MAIL), f"Type {MAIL} in To"),
        (Action("click", (180, 230)), "Tap Send"),
        (Action("status", status="complete"), "Done"),
    ]
    first = Started(
        trace=trace, task=task, agent=by, user=by, at=stamp(0), state=state.sha256,
        persona=Persona("mara", NAME, {"identity": {"full_name": NAME, "email": MAIL}}),
        device=DeviceInfo("adb", "serial-1", "Pixel", SIZE, "pixel", "15", "35"),
    )  # fmt: skip
    steps: list[AnyEvent] = [
        Step(
            index=i, before=seen[i], started=stamp(i * 2 + 1), ended=stamp(i * 2 + 2), state=state.sha256,
            proposed=Proposed(action, by=by, instruction=instruction, raw=f'{{"to": "{MAIL}"}}' if i == 1 else None),
            decision=Decision("approve", by, action),
        )
        for i, (action, instruction) in enumerate(acts)
    ]  # fmt: skip
    end: list[AnyEvent] = [Ended(status="completed", final=seen[3])] if ended else []
    blobs = {blob.sha256: blob for blob in (*shots, state)}
    return Imported(number_events([first, *steps, *end]), blobs, [])


_made = 0


def row(
    by: str, act: Act, step: int | None, field: Field, old: object = None, new: object = None, *, note: str = "",
    supersedes: str | None = None, trace: str = DEMO,
) -> Review:  # fmt: skip
    """A review's row with an id and a time of its own, each later than the one before."""
    global _made
    _made += 1
    id, at = f"0197bbbb-0000-7000-8000-{_made:012d}", f"2026-03-05T10:00:00.{_made:06d}+00:00"
    return Review(id, trace, step, field, act, Actor("human", by), at, old, new, note, supersedes)
