"""A file in which one person's words stand wherever words may stand, and another's beside them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace
from PIL import Image

from lab.core.codec import encode
from lab.core.run.run_records import Blob, Imported, Tombstone, number_events
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Ended, Source, Started, Step
from lab.core.study.label import Act, Label
from lab.core.study.study import Study, UnitText
from lab.core.task.design import Design, first_draft, next_revision, subject_of
from lab.core.task.task import Actor, InformationUnit, Task
from lab.core.values.ids_and_clock import now, uuid7
from lab.runs.listing.run_acts import TagChange, archive_runs, tag_runs
from store.runs.run_export import REVIEWED
from store.store import Store
from tests.blind import Planted, planted
from tests.demonstrations import demonstration, row
from tests.studies import R2, frozen, label, unit

CODE = "P07"
P07, D01 = Actor("human", CODE), Actor("human", "D01")
PLACES = {
    "user": "user.id", "reply": "reply.by.id", "gate": "decision.by.id", "take-over": "step1.by.id",
    "flag": "flagged.by.id", "pause": "paused.by.id", "fork": "forked.by.id",
}  # fmt: skip
"""Where a person may stand in a run, by the name of a run in which they stand only there."""
MARKS = dict(zip((*PLACES, "copy", "linked"), "QWJXYVHCL", strict=True))
GUESS = "zebra umbrellas for the long march"
THEIRS = [
    "zonotes", "zovalue", "zoreview", "zoquiz", "zoobjection", "zodraft", "zotyped", "zonoteof", "zolinked", "zodetail",
    "zoplace", "zomoved", "zosettled", "zoshadow", GUESS,
]  # fmt: skip
"""Words of theirs outside runs, and words of others that quote them."""
OTHERS = [
    "ketag",
    "kenote",
    "kereview",
    "kedraft",
    "kereply",
    "kethought",
    "kenamed",
    "kemoved",
    "kereason",
    "keshadow",
]


class Filled(NamedTuple):
    """What of the file must be nowhere after they withdrew, and what must be there as it was."""

    gone: list[str]
    pictures: list[bytes]
    kept: list[str]
    runs: list[str]
    outside: Path


def standing(name: str, place: str) -> tuple[Planted, Imported]:
    """A planted run in which they stand at one place."""
    plant = planted(f"run-{name}", MARKS[name])
    canary = next(word for word, told in plant.words.items() if told.place == place)
    events: list[AnyEvent] = []
    for event in plant.run.events:
        body = encode(event).decode().replace(f'"kind":"human","id":"{canary}"', f'"kind":"human","id":"{CODE}"')
        events.append(msgspec.json.decode(body, type=AnyEvent))
    del plant.words[canary]
    return plant, plant.run._replace(events=events)


def noise(seed: int) -> Blob:
    """A picture whose bytes are its own."""
    out = io.BytesIO()
    image = Image.new("RGB", (24, 24))
    image.putdata([((i * seed) % 251, (i * 7 + seed) % 241, (i * i + seed) % 239) for i in range(24 * 24)])
    image.save(out, "PNG")
    return Blob(out.getvalue(), "image/png")


def small(id: str, by: Actor, pictures: list[Blob], *, said: str, source: Source | None = None) -> Imported:
    """A run that shows these pictures, one a step."""
    first = Started(trace=id, task=Task("t", "general", "", "Do it"), agent=by, source=source)
    steps = [
        Step(index=i, proposed=Proposed(Action("wait"), thought=said), before=Observation(blob.sha256, (24, 24)))
        for i, blob in enumerate(pictures)
    ]
    events = number_events([first, *steps, Ended(status="completed")])
    return Imported(events, {blob.sha256: blob for blob in pictures}, [])


def fill(store: Store, folder: Path) -> Filled:
    """Puts them everywhere."""
    gone: list[str] = []
    for name, place in PLACES.items():
        plant, run = standing(name, place)
        store.runs.add(run)
        gone += [word for word in plant.words if not word.startswith("0.")]
    own, shared, linked = noise(3), noise(5), noise(11)
    (folder / "linked.png").write_bytes(linked.data)
    model = Actor("model", "m")
    store.runs.add(small("run-own", P07, [own, shared], said="zothought"))
    store.runs.add(small("run-copy", model, [own], said="zocopied", source=Source(REVIEWED, "run-own")))
    store.runs.add_independently(
        [small("run-linked", P07, [linked._replace(path=str(folder / "linked.png"))], said="zolinkedrun")], link=True
    )
    store.runs.add(small("run-other", model, [shared], said="kethought"))
    store.runs.save_draft("run-user", "q0", "zotyped so far")
    store.shadows.record(shadow("run-user", "zoshadow answers"))
    store.shadows.record(shadow("run-other", "keshadow answers"))
    store.runs.save_draft("run-other", "q0", "kereply so far")
    archive_runs(store, ["run-own"], CODE)
    tag_runs(store, ["run-other"], TagChange(("ketag", CODE.casefold())), "D01")
    tag_runs(store, ["run-other"], TagChange(("pilot",)), CODE)
    _proofread(store)
    _design(store)
    _study(store)
    with store.erasure.erasing() as eraser:
        eraser.insert_tombstone(Tombstone("run-before", "redacted", P07, now(), "run-other"))
    runs = [*(f"run-{name}" for name in PLACES), "run-own", "run-copy", "run-linked"]
    gone += [*THEIRS, "zothought", "zocopied", "zolinkedrun"]
    return Filled(gone, [own.data], OTHERS, sorted(runs), folder / "linked.png")


def shadow(run: str, text: str, *, why: str = "") -> ShadowAnswer:
    """What a model answered beside the person of a run, or why it did not."""
    missing: Literal["unusable"] | None = "unusable" if why else None
    return ShadowAnswer(uuid7(), run, "q0", 0, Actor("model", "model:shade"), now(), text, missing=missing, why=why)


def _proofread(store: Store) -> None:
    """A demonstration of another that they and R2 proofread, and they cleared."""
    store.runs.add(demonstration("run-demo"))
    demo = store.reviews.proof_of("run-demo")
    rows = [
        row(CODE, "reject", 0, "step", note="zoreview", trace="run-demo", new="reject"),
        row("R2", "reject", 0, "step", note="kereview", trace="run-demo", new="reject"),
    ]
    for one in rows:
        store.reviews.append(demo, [one])
    store.reviews.record_clearance("run-demo", P07)
    store.reviews.record_clearance("run-demo", R2)


def _design(store: Store) -> None:
    """A design that they drafted and D01 went on with; they objected to another's, and it was drafted anew."""
    draft = Design(units=(InformationUnit("n", "The number", "kedraft"),), evidence={"units/n": ("run-user@1",)})
    mine = first_draft(subject_of(Task("own", "general", "", "Mine")), P07, draft, "zodraft of mine")
    store.designs.append(mine)
    store.designs.append(next_revision(mine, "draft", D01, note="took back: zodraft of mine"))
    first = first_draft(subject_of(Task("other", "general", "", "Theirs")), D01, draft)
    handed = next_revision(first, "submit", D01)
    objected = next_revision(handed, "object", P07, marks={"units/n": "zoobjection"}, note="zonoteof mine")
    for one in (first, handed, objected, next_revision(objected, "draft", D01, design=draft)):
        store.designs.append(one)


def _study(store: Store) -> None:
    """A study that they planned, rate in and locked; and units that quote them."""
    units = [
        unit("theirs", runs=("run-user",)),
        unit("other", runs=("run-other",)),
        unit("quoting", runs=(), given=(UnitText("One", GUESS), UnitText("Two", "kenote alone"))),
        unit("named", runs=(), hidden={"A": CODE, "B": "m"}),
        unit("owned", runs=(), owner=CODE),
    ]
    plan = frozen(store, units, raters=(CODE, "R2", "R3"), by=P07)
    for i, one in enumerate(units):
        quoting = i in (0, 2, 3, 4)
        store.labels.record(plan, one, _by(label(plan, one, "open", "state", "not_completed", note="zonotes"), P07))
        store.labels.record(plan, one, _by(label(plan, one, "open", "why", GUESS if i == 1 else "zovalue"), P07))
        said = "zonotes quoted" if quoting else "kenote"
        store.labels.record(plan, one, _by(label(plan, one, "open", "state", "completed", note=said), R2))
        store.labels.record_act(Act(uuid7(), plan.id, 1, P07, "picture", now(), one.id, detail={"place": "zodetail"}))
        store.labels.record_act(Act(uuid7(), plan.id, 1, R2, "picture", now(), one.id))
    store.labels.record_act(Act(uuid7(), plan.id, 1, P07, "quiz", now(), detail={"answers": ["zoquiz"]}))
    store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "R3"), "released", now(), detail={"by": CODE}))
    typed = {"item": ["open", "why"], "place": "zoplace", "drafts": [["open", "why", "note", "zotyped draft"]]}
    store.labels.record_act(Act(uuid7(), plan.id, 1, P07, "looked", now(), "other", detail=typed))
    named = {"left": {CODE: 2, "R3": 1}, "also": [["kenamed", CODE]]}
    store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "R3"), "dealt", now(), detail=named))
    store.labels.record_act(Act(uuid7(), plan.id, 1, P07, "locked", now(), detail={"left": {CODE: 2}}))
    _settled(store, plan)


def _settled(store: Store, plan: Study) -> None:
    """What D01 settled after a discussion in which they moved, quoting and naming them; and what they settled."""
    moves = [
        {"rater": CODE, "was": "not_completed", "now": "completed", "why": "zomoved after all"},
        {"rater": "R2", "was": "completed", "now": "completed", "why": f"kemoved, as {CODE} says"},
    ]
    told = {"target": "open", "field": "state", "by_means": "discussion", "value": "not_completed", "moves": moves}
    told["reason"] = f"kereason of {CODE}"
    quoted = {"target": "pay", "field": "state", "by_means": "adjudicator", "value": "not_completed"}
    quoted["reason"] = f"said so: {GUESS}"
    words = {"target": "open", "field": "why", "by_means": "adjudicator", "value": GUESS, "reason": "keword"}
    for by, detail in ((D01, told), (D01, quoted), (D01, words), (P07, {**quoted, "reason": "zosettled"})):
        store.labels.record_act(Act(uuid7(), plan.id, 1, by, "adjudicated", now(), "other", detail=detail))


def _by(one: Label, rater: Actor) -> Label:
    return replace(one, rater=rater)
