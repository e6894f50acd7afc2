"""Writer for Label Studio: one task for each run, a labeling config, and the screens.

`tasks.json` is Label Studio's import format, `config.xml` its labeling setup, and `README.txt` explains how to load
both. A task shows the instruction, the screens one by one (the page number is the step's), and actions and messages as
a dialogue. Screens are referenced as `/data/local-files/?d=images/<sha256>.png`, which Label Studio serves if this
folder is the root of its local files. A step without a picture uses `images/none.png`, so that pages and steps have the
same numbers.

Anything that raters should not see is left out: score, verdict, reason, the method's name, and facts of the persona.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import encode
from lab.core.run.step import Observation
from lab.core.run.trace import Asked, Ended, Started, Step
from lab.core.run.ui_tree import UiTree
from lab.core.task.instruction_wording import suggest_instruction
from lab.core.text.typed_text import clean
from lab.core.values.made_files import make_folder
from store.formats import StoredRun, Writer
from store.formats.new_files import new_file, write_new_file

PREFIX = "/data/local-files/?d="
"""Prefix by which Label Studio refers to a file in its local files' document root."""

IMAGES = "images"
NONE = "none.png"
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg"}
_GREY = (90, 200, 0xDD)
"""Width, height and shade of the placeholder for a missing picture."""

CONFIG = """\
<View>
  <Header value="Task"/>
  <Text name="instruction" value="$instruction"/>
  <View style="display: flex; gap: 1em">
    <View style="flex: 50%">
      <Image name="screens" valueList="$screens" zoom="true" zoomControl="true"/>
      <RectangleLabels name="region" toName="screens" choice="single" showInline="true">
        <Label value="Right target"/>
        <Label value="Evidence"/>
      </RectangleLabels>
    </View>
    <View style="flex: 50%; max-height: 90vh; overflow-y: auto">
      <ParagraphLabels name="step" toName="turns" choice="single" showInline="true">
        <Label value="Wrong"/>
        <Label value="Needless"/>
        <Label value="Decisive"/>
      </ParagraphLabels>
      <Paragraphs name="turns" value="$turns" layout="dialogue" nameKey="author" textKey="text"/>
    </View>
  </View>
  <Header value="Was the task done?"/>
  <Choices name="success" toName="instruction" choice="single" showInline="true" required="true">
    <Choice value="Yes"/>
    <Choice value="Partly"/>
    <Choice value="No"/>
    <Choice value="Cannot judge"/>
  </Choices>
  <TextArea name="note" toName="instruction" placeholder="Why?" rows="2" maxSubmissions="1"/>
</View>
"""

README = """\
Runs for Label Studio
=====================

1. Start Label Studio with local files switched on, and this folder as their root:

   LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true \\
   LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT=<this folder> label-studio start

2. Make a project; under Settings > Labeling Interface > Code paste config.xml.
3. Under Settings > Cloud Storage add a source storage of the kind Local files with the path <this folder>/images.
   Do not sync it: it only lets the project read the screens.
4. Import tasks.json.

Each task is one run; data.run is its id in hitlab. The page of a screen and the number before what was done are the
step's, counted from 1. A grey page stands for a step of which there is no picture.
"""


def write(runs: Iterable[StoredRun], out: Path, on_run: Callable[[str], None]) -> None:
    """Write every run into `tasks.json`, one at a time, and each of its screens once."""
    make_folder(out / IMAGES, there=False)
    write_new_file(out / "config.xml", CONFIG.encode())
    write_new_file(out / "README.txt", README.encode())
    write_new_file(out / IMAGES / NONE, _grey_png(*_GREY))
    image_names: dict[str, str] = {}
    with new_file(out / "tasks.json") as file:
        file.write(b"[")
        for i, run in enumerate(runs):
            _write_images(run, out / IMAGES, image_names)
            task = msgspec.json.format(encode(_task(run, image_names)), indent=2)
            file.write((b",\n" if i else b"\n") + task)
            on_run(run.id)
        file.write(b"\n]\n")


def _write_images(run: StoredRun, folder: Path, image_names: dict[str, str]) -> None:
    for sha256, blob in run.blobs():
        if blob.mime in _ENDINGS and sha256 not in image_names:
            image_names[sha256] = f"{sha256}.{_ENDINGS[blob.mime]}"
            write_new_file(folder / image_names[sha256], blob.data)


def _task(run: StoredRun, image_names: dict[str, str]) -> dict[str, Any]:
    data: dict[str, Any] = {"run": run.id}
    screens: list[str] = []
    turns: list[dict[str, str]] = []
    waiting: Asked | None = None
    for event in run.events():
        match event:
            case Started():
                task = event.task
                data |= {"task": clean(task.id), "kind": task.kind}
                data["instruction"] = clean(task.instruction) or "(none: the agent decides from its context)"
            case Asked():
                waiting = event
            case Step():
                screens.append(_screen_url(event.before, image_names))
                turns.extend(_dialogue_turns(event))
                waiting = None
            case Ended() if event.final is not None and event.final.image:
                screens.append(_screen_url(event.final, image_names))
    if waiting is not None:
        screens.append(_screen_url(waiting.before, image_names))
        turns.append({"author": f"{waiting.index + 1} asks", "text": clean(waiting.question.text)})
    data["screens"] = screens or [PREFIX + f"{IMAGES}/{NONE}"]
    data["turns"] = turns or [{"author": "", "text": "(nothing was done)"}]
    return {"data": data}


def _screen_url(observation: Observation, image_names: dict[str, str]) -> str:
    return f"{PREFIX}{IMAGES}/{image_names.get(observation.image or '', NONE)}"


def _dialogue_turns(step: Step) -> Iterator[dict[str, str]]:
    number, action = step.index + 1, step.action
    if step.proposed.thought:
        yield {"author": f"{number} thinks", "text": clean(step.proposed.thought)}
    if step.question is not None:
        yield {"author": f"{number} asks", "text": clean(step.question.text)}
        if step.reply is not None:
            decision = f"[{step.reply.decision}] " if step.reply.decision else ""
            yield {"author": f"{number} user", "text": decision + clean(step.reply.text)}
        return
    suggestion = (
        "Nothing: it was not let through"
        if action is None
        else suggest_instruction(action, step.before.tree or UiTree())
    )
    if action is not None and not suggestion:
        suggestion = f"{action.kind} {clean(action.text or '')}".strip()
    where = f" at {action.at[0]}, {action.at[1]}" if action is not None and action.at else ""
    failed = f" (failed: {clean(step.error)})" if step.error else ""
    yield {"author": f"{number} does", "text": f"{suggestion}{where}{failed}"}


def _grey_png(width: int, height: int, shade: int) -> bytes:
    """Return a grey picture as PNG."""
    rows = (b"\0" + bytes([shade]) * width) * height
    # 8 bits, greyscale.
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )


WRITER = Writer("labelstudio", "Label Studio", write)
