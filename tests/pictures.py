"""Draws the pictures of README and guides from the running app: `python -m tests.pictures docs` (`make pictures`).

Each screen is driven in Textual's own Pilot at 120x40, exported, and rendered by a headless Chromium.
"""

from __future__ import annotations

import asyncio
import functools
import html
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import chdir
from pathlib import Path

from msgspec import structs
from PIL import Image
from rich.cells import cell_len
from textual.pilot import Pilot

from lab.core.run.demonstration import demonstration_task
from lab.core.run.run_records import Imported, RelatedRun
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import AnyEvent, Asked, Started, Step
from lab.core.settings import Settings
from lab.runs.fork.fork import ForkChange, fork_run
from lab.runs.session import Session
from lab.runs.spec import PERSON, Spec, brief_of
from screens.adjudicate.adjudicate import AdjudicateScreen
from screens.adjudicate.settlement_pane import SettlementPane
from screens.agreement.agreement import AgreementScreen
from screens.app import LabApp
from screens.author.author import AuthorScreen
from screens.live.live import LiveScreen
from screens.live.result import ReadFirstCard
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from screens.record.intent import DemonstrationRequest
from screens.record.next_act import ActionDesk
from screens.record.record import RecordedStepList, RecordScreen
from screens.replay.phone_pane import StillPhone
from simulators import library
from simulators.phone.shots import shots
from store.store import Store
from tests import pictured_agreement, pictured_rooms, pictured_studies
from tests.chromium import found
from tests.endpoint import serving
from tests.lab.agents.test_model_agent import Brain
from tests.scrcpy_jar import stand_in
from tests.simulators.phone.served.rig import AdbServer, Rig
from tests.simulators.phone.served.rig import serving as phone_served

SIZE = (120, 40)
PHONE = (
    "launcher",
    "mail-conversation",
    "maps-place",
    "social",
    "quillbarn-product",
    "teamchat-channel",
    "browser-city",
)
Drive = Callable[[Pilot[None]], Awaitable[None]]


def main() -> None:
    """Writes one PNG for each picture of README and guides into the folder named."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tests.pictures FOLDER")
    out = Path(sys.argv[1]).absolute()
    out.mkdir(parents=True, exist_ok=True)
    _phone().save(out / "phone.png", optimize=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder), Store.open(Path("study.db")) as store:
        ids = [_headless(store, task) for task in ("saturday_walk", "flight_alarm", "night_mode", "usual_lunch")]
        family = _branched(store, "morning_coffee")
        for task in (
            "quiet_meeting",
            "two_scarves",
            "parcel_fee",
            "rainy_saturday",
            "usual_groceries",
            "choir_weekend",
        ):
            _headless(store, task)
        modelled = _modelled(store, "usual_lunch")
        openings: dict[str, tuple[Opening, Drive]] = {
            "runs": (Opening("home"), functools.partial(_pressed, "f11")),
            "home": (Opening("home"), _still),
            "live": (Opening("live", spec=_spec("usual_lunch", "participant")), _asked),
            "proposal": (Opening("live", spec=_spec("morning_coffee", "participant")), _asked),
            "gate": (Opening("live", spec=_spec("flight_alarm", "developer", gate="ask")), _gated),
            "record": (Opening("live", ask=_asking("Write down how thick the new films are")), _recorded),
            "replay": (Opening("replay", ids[-1], 17), _still),
            "author": (Opening("author", ids[-1], task=library.task("usual_lunch")), _drafted),
            "sent": (Opening("replay", modelled, 7), functools.partial(_pressed, "p")),
            "family": (Opening("replay", family, 1), functools.partial(_pressed, "t")),
            "compare": (Opening("home"), functools.partial(_compared, store.runs.family(family))),
        }
        for name, (opening, drive) in openings.items():
            seat = opening.spec.seat if opening.spec else "developer"
            settings = (
                Settings(seat=seat, person="D1", bell=False) if name == "author" else Settings(seat=seat, bell=False)
            )
            svg = asyncio.run(_export(store, settings, opening, drive))
            _render(svg, out / f"{name}.png")
        _beside([asyncio.run(_words(store, ids[-1], read=read)) for read in (False, True)], out / "read.png")
        pictured_studies.freeze(store, ids[-1])
        for name, (opening, drive) in pictured_studies.openings(store, _until, _settled).items():
            settings = Settings(seat="rater", person="R1", bell=False)
            _render(asyncio.run(_export(store, settings, opening, drive)), out / f"{name}.png")
        asyncio.run(pictured_rooms.in_browser(store, store.studies.study("units"))).save(out / "browser.png")
        _shrink(out / "browser.png")
        opening = Opening("agreement", study=pictured_agreement.rate(store))
        _render(asyncio.run(_export(store, Settings(bell=False), opening, _agreed)), out / "agreement.png")
        opening, settings = opening._replace(screen="adjudicate"), Settings(seat="designer", person="D1", bell=False)
        _render(asyncio.run(_export(store, settings, opening, _settling)), out / "adjudicate.png")
        _render(asyncio.run(pictured_studies.played(store, SIZE, _until, _settled)), out / "played.png")
        _unplugged(store, Path(folder), out / "device.png")


async def _words(store: Store, run: str, *, read: bool) -> str:
    """A step of a run whose trees were left out, before and after the words in its pictures are read."""
    id = f"{run[:8]}-pictures"
    events: list[AnyEvent] = []
    for event in store.runs.events(run):
        match event:
            case Started():
                events.append(structs.replace(event, trace=id))
            case Step() | Asked():
                events.append(structs.replace(event, before=structs.replace(event.before, tree=None)))
            case _:
                events.append(event)
    if not store.runs.has_run(id):
        store.runs.add(Imported(events, {}, []))

    async def drive(pilot: Pilot[None]) -> None:
        await _still(pilot)
        if read:
            await _until(pilot, lambda: pilot.app.screen.query_one(StillPhone).words is not None)
            await _still(pilot)

    return await _export(store, Settings(bell=False), Opening("replay", id, 3), drive, reads_words=read)


def _beside(svgs: Sequence[str], out: Path) -> None:
    """Screens side by side, less what is right of the phone."""
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for number, svg in enumerate(svgs):
            path = Path(folder) / f"{number}.png"
            _render(svg, path)
            with Image.open(path) as image:
                parts.append(image.convert("RGB").crop((0, 0, image.width * 2 // 3, image.height)))
    both = Image.new("RGB", (sum(part.width for part in parts), parts[0].height))
    both.paste(parts[0], (0, 0))
    both.paste(parts[1], (parts[0].width, 0))
    both.quantize(256).save(out, optimize=True)


def _unplugged(store: Store, folder: Path, out: Path) -> None:
    """A run on a served phone, which is unplugged while a question is open."""
    server = AdbServer(folder)
    server.start()
    (folder / "scrcpy-server-v3.3.4").write_bytes(stand_in("3.3.4"))
    os.environ |= server.environment | {"SCRCPY_SERVER_PATH": str(folder / "scrcpy-server-v3.3.4")}
    try:
        with phone_served(server) as rig:
            opening = Opening("live", spec=_spec("usual_lunch", "developer")._replace(device=rig.serial))
            drive = functools.partial(_cut, rig)
            _render(asyncio.run(_export(store, Settings(bell=False), opening, drive)), out)
    finally:
        server.stop()


async def _cut(rig: Rig, pilot: Pilot[None]) -> None:
    """Unplugs the phone at the question, and waits until that shows."""
    await _asked(pilot)
    await asyncio.sleep(2)  # the phone's words come once it rests
    rig.faults.unplug()
    screen = pilot.app.screen
    assert isinstance(screen, LiveScreen)
    while screen.session.device.trouble is None or not screen.query_one(Mirror).has_class("-stale"):
        await asyncio.sleep(0.1)
    await asyncio.sleep(1)


def _headless(store: Store, task: str) -> str:
    session = Session(store, _spec(task, "developer")._replace(user="script"))
    session.start()
    session.join()
    return session.trace_id


def _modelled(store: Store, name: str) -> str:
    """A run of a model: the playbook agent speaking as one, from a server on this machine."""
    brain = Brain(brief_of(library.task(name), library.persona(library.task(name).persona)))
    with serving(brain) as server:
        os.environ["HITLAB_MODEL_BASE"] = server.base
        os.environ["HITLAB_MODEL_PRICE_IN"], os.environ["HITLAB_MODEL_PRICE_OUT"] = "0.4", "1.6"
        session = Session(store, _spec(name, "developer")._replace(user="script", agent="model:openai/gpt-4.1-mini"))
        brain.session = session
        session.start()
        session.join()
    return session.trace_id


def _branched(store: Store, name: str) -> str:
    """A run and four forks of it, one of them a fork of a fork."""
    first = _headless(store, name)
    for run, at, change in (
        (first, 0, ForkChange(decision="reject", say="Not today, I fast.")),
        (first, 0, ForkChange(decision="accept", say="Yes, but with soy milk.")),
        (first, 6, ForkChange(action=Action("navigate_home"))),
        (None, 9, ForkChange(log="clean")),
    ):
        parent = run or store.runs.family(first)[-1].id
        session = fork_run(store, parent, at, change._replace(user="script"), person="D1")
        session.start()
        session.join()
    return first


async def _pressed(key: str, pilot: Pilot[None]) -> None:
    await _still(pilot)
    await pilot.press(key)
    await _still(pilot)


async def _agreed(pilot: Pilot[None]) -> None:
    """The chance-corrected number of the first question, its pairs, and the cell where two differ."""
    await _until(pilot, lambda: isinstance(pilot.app.screen, AgreementScreen))
    screen = pilot.app.screen
    assert isinstance(screen, AgreementScreen)
    await _until(pilot, lambda: not screen.counting and screen.beneath.grid.has_cells)
    await pilot.press("d", "down", "down", "tab", "tab", "right", "shift+tab", "shift+tab")
    await _still(pilot)


async def _settling(pilot: Pilot[None]) -> None:
    """The first item that is to be settled, what most say chosen."""
    await _until(pilot, lambda: isinstance(pilot.app.screen, AdjudicateScreen))
    screen = pilot.app.screen
    assert isinstance(screen, AdjudicateScreen)
    await _until(pilot, lambda: bool(screen.disputes.rows))
    await pilot.press("enter")
    await _until(pilot, lambda: screen.shown == "case" and screen.query_one(SettlementPane).answers.has_focus)
    await pilot.press("down", "m")
    await _still(pilot)


async def _compared(kin: list[RelatedRun], pilot: Pilot[None]) -> None:
    """A run, and the fork of it that did something else on the phone."""
    await _still(pilot)
    other = next(run for run in kin if run.forked is not None and ("action" in dict(run.forked.changes)))
    app = pilot.app
    assert isinstance(app, LabApp)
    app.open_compare(kin[0].id, other.id)
    await _still(pilot)


def _spec(name: str, seat: str, gate: str = "pass") -> Spec:
    task = library.task(name)
    persona = library.persona(task.persona, task.log)
    return Spec(task, persona, seat=seat, gate=gate)  # type: ignore[arg-type]


async def _export(
    store: Store, settings: Settings, opening: Opening, drive: Drive, *, reads_words: bool = False
) -> str:
    app = LabApp(store, settings, opening, reads_words=reads_words)
    async with app.run_test(size=SIZE) as pilot:
        await drive(pilot)
        svg = app.export_screenshot(title="hitlab")
        if isinstance(app.screen, LiveScreen | RecordScreen):
            app.screen.session.leave()
    return svg


async def _still(pilot: Pilot[None]) -> None:
    await _until(pilot, lambda: True)
    await _settled(pilot)


async def _asked(pilot: Pilot[None]) -> None:
    """Begins the run where something is to be read first, and waits for the question."""

    def asked() -> bool:
        session = _session(pilot)
        return session is not None and session.questions.waiting is not None

    def begins() -> bool:
        return any(card.has_focus for card in pilot.app.screen.query(ReadFirstCard))

    await _until(pilot, lambda: begins() or asked())
    if begins():
        await pilot.press("enter")
    await _until(pilot, asked)
    await _settled(pilot)


async def _gated(pilot: Pilot[None]) -> None:
    """Lets four actions through, and leaves the fifth waiting."""
    for _ in range(4):
        await _until(pilot, lambda: _waiting(pilot) is not None)
        session, waiting = _session(pilot), _waiting(pilot)
        assert session is not None
        assert waiting is not None
        session.gate.approve(waiting)
        await _until(pilot, functools.partial(_another, pilot, waiting))
    await _settled(pilot)


def _asking(intent: str) -> DemonstrationRequest:
    return DemonstrationRequest(
        Spec(demonstration_task(None, intent, "office"), agent=PERSON, person="A07"), intent, "office"
    )


async def _recorded(pilot: Pilot[None]) -> None:
    """Opens a note by steps in words, one of them a slip, and holds what is typed into it."""
    acts = (
        ["o", *"Notes", "enter"],
        ["slash", *"garden", "enter"],
        ["b"],
        ["slash", *"annealing", "enter"],
        ["slash", *"film", "enter"],
    )
    for number, keys in enumerate(acts):
        await _until(pilot, functools.partial(_mine, pilot, number))
        await pilot.press(*keys, "enter")
        if number == 1:
            await _until(pilot, functools.partial(_mine, pilot, number + 1))
            await pilot.press("x")
    await _until(pilot, functools.partial(_mine, pilot, len(acts)))
    await pilot.press("t", *"Film D: 38 nm", "enter")
    await _settled(pilot)


def _mine(pilot: Pilot[None], steps: int) -> bool:
    """Whether the phone is the person's, after so many steps."""
    screen = pilot.app.screen
    if not isinstance(screen, RecordScreen):
        return False
    return any(desk.ready for desk in screen.query(ActionDesk)) and screen.query_one(RecordedStepList).count == steps


async def _drafted(pilot: Pilot[None]) -> None:
    """Begins from the task's own design, keeps the steps that two nodes were seen in, and opens a node's form."""
    await _until(pilot, lambda: isinstance(pilot.app.screen, AuthorScreen))
    screen = pilot.app.screen
    assert isinstance(screen, AuthorScreen)
    await _until(pilot, lambda: screen.apps.current_app != "" or screen.footage.step is not None)
    await pilot.press("enter", *("right",) * 6, "down", "down", "e", "right", "down", "e", "up", "enter")
    await _settled(pilot)


def _waiting(pilot: Pilot[None]) -> Proposed | None:
    session = _session(pilot)
    return None if session is None else session.decisions.waiting


def _another(pilot: Pilot[None], proposed: Proposed) -> bool:
    return _waiting(pilot) not in (None, proposed)


def _session(pilot: Pilot[None]) -> Session | None:
    screen = pilot.app.screen
    return screen.session if isinstance(screen, LiveScreen) else None


async def _until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        await pilot.pause(0.05)
    raise SystemExit("pictures: the screen did not come to what the picture shows")


async def _settled(pilot: Pilot[None]) -> None:
    """Waits until the mirror has drawn what it was given, and everything else has been laid out."""
    await pilot.pause(1.0)
    await _until(pilot, lambda: all(mirror.settled for mirror in pilot.app.screen.query(Mirror)))
    await pilot.pause(0.2)


def _render(svg: str, out: Path) -> None:
    """One SVG as a PNG; the fonts it would fetch are taken from this machine instead."""
    svg = re.sub(r"@font-face\s*{.*?}", "", svg, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")
    svg = re.sub(r'textLength="([\d.]+)"([^>]*)>([^<]*)<', _widen, svg)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert box is not None
    width, height = (int(float(side)) + 1 for side in box.groups())
    shoot("screen.svg", svg, out, (width, height))
    _shrink(out)
    sys.stdout.write(f"{out} {width}x{height}\n")


def shoot(name: str, text: str, out: Path, size: tuple[int, int]) -> None:
    """A page (an SVG, or HTML, by its name) as a headless Chromium shows it, in a PNG of that many pixels."""
    browser = found()
    if not browser:
        raise SystemExit("pictures: Chromium is needed to render them, and none is on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / name
        page.write_text(text, encoding="utf-8")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"]
        flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        subprocess.run(
            [browser, *flags, f"--user-data-dir={folder}/profile", f"--window-size={size[0]},{size[1]}",
             "--default-background-color=00000000", f"--screenshot={out.absolute()}", page.as_uri()],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip


def _widen(text: re.Match[str]) -> str:
    """Room for wide characters, which the export counts as one column each."""
    words = html.unescape(text[3])
    length = float(text[1]) * cell_len(words) / max(1, len(words))
    return f'textLength="{length:.1f}"{text[2]}>{text[3]}<'


def _shrink(path: Path) -> None:
    """Fewer colours, so that the repository stays small."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def _phone() -> Image.Image:
    pictures = dict(shots())
    side, gap = (270, 600), 18
    sheet = Image.new("RGB", (len(PHONE) * (side[0] + gap) - gap, side[1]), "white")
    for place, name in enumerate(PHONE):
        with Image.open(io.BytesIO(pictures[name])) as picture:
            sheet.paste(picture.convert("RGB").resize(side, Image.Resampling.LANCZOS), (place * (side[0] + gap), 0))
    return sheet.quantize(128)


if __name__ == "__main__":
    main()
