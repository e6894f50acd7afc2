"""A run with a word of its own in every field that holds text, and the search for those words in what was painted."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Collection, Iterable
from functools import cache
from itertools import product
from typing import NamedTuple, get_args

from msgspec.structs import replace

from lab.core.run.run_records import Blob, Imported, Verdict, number_events
from lab.core.run.step import Action, Decision, Observation, Prompt, Proposed, Question, Reply, Usage
from lab.core.run.trace import (
    Acting,
    Answered,
    AnyEvent,
    Asked,
    Conditions,
    DeviceInfo,
    Ended,
    Flagged,
    Forked,
    Paused,
    Resumed,
    Source,
    Started,
    Step,
)
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.study.protocol import Show
from lab.core.task.playbook import Playbook, PlaybookMove
from lab.core.task.task import (
    Actor,
    Branch,
    Check,
    Criterion,
    GoldenStep,
    InformationUnit,
    LogEntry,
    Persona,
    Rubric,
    Task,
    Tdg,
    TdgNode,
)

SHOWS: tuple[Show, ...] = get_args(Show)
SIZE = (360, 800)
SCORE = 0.7391
RUN = "0197cccc-0000-7000-8000-0000000000b1"


class Word(NamedTuple):
    """Where a planted word stands, and what must be shown for it to be seen; None: it never is."""

    place: str
    needs: frozenset[Show] | None

    def shown(self, shows: Collection[Show]) -> bool:
        return self.needs is not None and self.needs <= set(shows)


class Planted(NamedTuple):
    """The run, and every word in it."""

    run: Imported
    words: dict[str, Word]

    def hidden(self, shows: Collection[Show]) -> dict[str, str]:
        """The words that must not be seen, and where each stands."""
        return {word: one.place for word, one in self.words.items() if not one.shown(shows)}

    def shown(self, shows: Collection[Show]) -> dict[str, str]:
        """The words that may be seen."""
        return {word: one.place for word, one in self.words.items() if one.shown(shows)}


class _Planting:
    """Makes words that are in no language, short enough to be painted in one piece."""

    def __init__(self, mark: str) -> None:
        self.words: dict[str, Word] = {}
        self.made = (
            f"{mark}{''.join(letters)}" for letters in product("bdfgkmprstvz", "aeiou", "bdfgkmnprst", "aeiou")
        )

    def __call__(self, place: str, *needs: Show) -> str:
        """A word that is seen where all of `needs` is shown."""
        return self._keep(place, frozenset(needs))

    def never(self, place: str) -> str:
        """A word that no rater sees."""
        return self._keep(place, None)

    def actor(self, place: str, kind: str = "human") -> Actor:
        """A person, whom no rater is told of."""
        return Actor(kind, self.never(f"{place}.id"), self.never(f"{place}.name"))  # type: ignore[arg-type]

    def _keep(self, place: str, needs: frozenset[Show] | None) -> str:
        word = next(self.made)
        self.words[word] = Word(place, needs)
        return word


def planted(trace: str = RUN, mark: str = "Q", *, proactive: bool = False) -> Planted:
    """A run of five steps that asks once, acts, fails once and ends; each text in it is a word found nowhere else."""
    word = _Planting(mark)
    screens = [_screen(i, word) for i in range(5)]
    blobs = {blob.sha256: blob for _, blob in screens}
    seen = [observation for observation, _ in screens]
    events: list[AnyEvent] = [
        _started(trace, word, proactive=proactive),
        *_question(seen[0], word),
        Paused(by=word.actor("paused.by"), reason=word.never("paused.reason")),
        Resumed(by=word.actor("resumed.by")),
        Acting(index=1, action=_action(word, "acting.action", "input_text")),
        *(_step(i, seen[i], word) for i in (1, 2, 3)),
        Flagged(index=2, by=word.actor("flagged.by")),
        _step(4, seen[4], word),
        _ended(seen[4], word),
    ]
    events[0] = _with_playbooks(events[0], word)
    word.words[str(SCORE)] = Word("ended.score", frozenset({"outcome"}))
    verdict = Verdict(word.never("verdict.name"), word.never("verdict.value"), word.never("verdict.reason"))
    return Planted(Imported(number_events(events), blobs, [verdict]), word.words)


def _started(trace: str, word: _Planting, *, proactive: bool) -> Started:
    parts = {part: word(f"agent.{part}", "method") for part in ("id", "name", "implementation", "version", "model")}
    actor = Actor("model", **parts, arguments=((word("agent.key", "method"), word("agent.argument", "method")),))
    return Started(
        trace=trace, task=_task(word, proactive=proactive), agent=actor, user=word.actor("user"),
        at="2026-03-04T10:00:00.000000+00:00",
        persona=Persona(
            word("persona.id", "persona"), word("persona.name", "persona"),
            {"identity": {"full_name": word("persona.facts", "persona")}, "likes": [word("persona.facts", "persona")]},
            (LogEntry(word("log.time", "log"), word("log.location", "log"), word("log.action", "log"),
                      word.never("log.label"), word.never("log.category")),),
            "noise",
        ),
        device=DeviceInfo("adb", word.never("device.id"), word.never("device.model"), SIZE,
                          *(word.never(f"device.{name}") for name in ("product", "release", "sdk"))),
        conditions=Conditions(seat="participant", mirror=False, user_sha=word.never("conditions.user_sha")),
        attempt=4177, parent=word.never("parent"),
        source=Source(word("source.format", "method"), word.never("source.path"), word.never("source.sha256"),
                      word("source.model", "method")),
        state=word.never("state"),
        forked=Forked(1, 3, (("reply", word.never("forked.changes")),), word.actor("forked.by"), word.never("at")),
    )  # fmt: skip


def _with_playbooks(started: AnyEvent, word: _Planting) -> Started:
    """The same, whose task has a playbook and one that goes wrong."""
    assert isinstance(started, Started)
    moves = (
        PlaybookMove(
            ask=word.never("playbook.ask"), options=(word.never("playbook.options"),), label=word.never("label")
        ),
    )
    wrong = Playbook(word.never("playbooks.name"), word.never("playbooks.fault"), moves=moves)
    return replace(started, task=replace(started.task, playbook=moves, playbooks=(wrong,)))


def _task(word: _Planting, *, proactive: bool) -> Task:
    inner = TdgNode(word.never("tdg.inner.id"), word.never("tdg.inner.name"), word.never("tdg.inner.description"))
    node = TdgNode(
        word.never("tdg.id"), word.never("tdg.name"), word.never("tdg.description"), alternatives=((inner,),)
    )
    return Task(
        word.never("task.id") if proactive else word("task.id", "instruction"),
        "proactive" if proactive else "personalized",
        title=word.never("task.title"),
        instruction="" if proactive else word("task.instruction", "instruction"),
        persona=word.never("task.persona"),
        time=word("task.time", "context"),
        place=word("task.place", "context"),
        budget=4231,
        policy=word("task.policy", "policy"),
        phone={word.never("task.phone"): word.never("task.phone")},
        golden=(GoldenStep(word("golden.do", "golden"), word("golden.kind", "golden")),),
        tdg=Tdg((node,)),
        units=(
            InformationUnit(word.never("units.id"), word.never("units.name"), word.never("units.value"),
                            word.never("units.source"), word.never("units.used")),
        ),
        branches=(
            Branch(word.never("branch.id"), word.never("branch.ask"), (word.never("branch.options"),), 1,
                   word.never("branch.right")),
        ),
        rubric=Rubric((Criterion(word("criterion.id", "rubric"), word("criterion.ask", "rubric")),)),
        checks=(Check(word.never("check.name"), word.never("check.path"), equals=word.never("check.equals")),),
        apps=(word.never("task.apps"),),
        golden_steps=4111,
        traits={word.never("traits"): word.never("traits")},
    )  # fmt: skip


def _question(before: Observation, word: _Planting) -> list[AnyEvent]:
    """A question as it is put and answered, and the step that holds both."""
    says = word("question.text", "dialogue")
    question = Question("q0", "ask", says, (word("question.options", "dialogue"), word("question.options", "dialogue")))
    reply = Reply(
        "q0", word("reply.text", "dialogue"), word.actor("reply.by"), "accept", word.never("reply.shown_at"),
        word.never("reply.first_key_at"), word.never("reply.sent_at"), 4391, word.never("reply.draft"),
        Usage(prompt_tokens=4397),
    )  # fmt: skip
    proposed = _proposed(word, "ask", Action("ask_user", text=says, raw={"model": word.never("action.raw")}))
    decision = Decision("approve", word.actor("decision.by"), proposed.action, word.never("decision.note"), 4.391)
    asked = Asked(index=0, question=question, proposed=proposed, before=before, decision=decision)
    step = Step(index=0, question=question, reply=reply, proposed=proposed, before=before, decision=decision)
    return [asked, Answered(index=0, reply=reply), step]


def _proposed(word: _Planting, place: str, action: Action) -> Proposed:
    return Proposed(
        action,
        thought=word(f"{place}.thought", "thoughts"),
        prompt=Prompt(word.never(f"{place}.prompt"), (word.never(f"{place}.prompt.images"),)),
        raw=word.never(f"{place}.raw"),
        usage=Usage(prompt_tokens=4517, cost=4.517),
        by=word.actor(f"{place}.by"),
        instruction=word(f"{place}.instruction", "thoughts"),
        stderr=word.never(f"{place}.stderr"),
    )


def _action(word: _Planting, place: str, kind: str) -> Action:
    return Action(
        kind,  # type: ignore[arg-type]
        at=(40, 90),
        text=word(f"{place}.text", "actions"),
        app=word(f"{place}.app", "actions"),
        raw={word.never(f"{place}.raw"): word.never(f"{place}.raw")},
        space=word.never(f"{place}.space"),
    )


def _step(index: int, before: Observation, word: _Planting) -> Step:
    """Step 1 types, 2 is a model's words that nobody understood, 3 fails and was put right by hand, 4 answers."""
    place = f"step{index}"
    kind = {1: "input_text", 2: "other", 3: "open_app", 4: "answer"}[index]
    action = _action(word, f"{place}.action", kind)
    if index == 2:
        action = replace(action, text=f"the model {word('other.text', 'actions', 'method')} wrote no act")
        word.words = {one: told for one, told in word.words.items() if told.place != "step2.action.text"}
    decision = None
    if index == 3:
        amended = _action(word, f"{place}.amended", "open_app")
        decision = Decision("amend", word.actor(f"{place}.decision"), amended, word.never("note"))
    return Step(
        index=index,
        proposed=_proposed(word, place, action),
        before=before,
        decision=decision,
        error=f"model {word('step.error', 'actions', 'method')} is busy" if index == 3 else None,
        accepted=(_accepted(word),) if index == 1 else (),
        extra={word.never("extra"): [word.never("extra")]},
        state=word.never(f"{place}.state"),
        typed_by=word.never(f"{place}.typed_by"),
        started=word(f"{place}.started", "method"),
        ended=word(f"{place}.ended", "method"),
    )


def _accepted(word: _Planting) -> Action:
    return Action("open_app", text=word("accepted.text", "actions", "golden"), raw=word.never("accepted.raw"))


def _ended(final: Observation, word: _Planting) -> Ended:
    return Ended(
        status="failed",
        score=SCORE,
        reason=word("ended.reason", "reason"),
        checks=((word.never("ended.checks"), True),),
        final=final,
        usage=Usage(prompt_tokens=4663),
        stderr=word.never("ended.stderr"),
    )


def _screen(index: int, word: _Planting) -> tuple[Observation, Blob]:
    blob = _picture(index)
    node = Node(Bounds(10, 40 + index * 60, 351, 101 + index * 60), word(f"screen{index}.text", "screens"),
                id=word(f"screen{index}.id", "screens"), desc=word(f"screen{index}.desc", "screens"))  # fmt: skip
    tree = UiTree((Node(Bounds(0, 0, *SIZE), children=(node,)),))
    activity, at = (word(f"screen{index}.{name}", "screens") for name in ("activity", "at"))
    return Observation(blob.sha256, SIZE, tree, activity, at), blob


@cache
def _picture(index: int) -> Blob:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", SIZE, (240, 240, 245 - index))
    ImageDraw.Draw(image).rectangle((10, 40 + index * 60, 350, 100 + index * 60), fill=(20, 90, 160))
    out = io.BytesIO()
    image.save(out, "PNG")
    return Blob(out.getvalue(), "image/png")


# -- searching -------------------------------------------------------------------------------------------------


def found(words: Iterable[str], painted: str) -> set[str]:
    """Which words stand in what was painted, wherever a line or a style broke them."""
    text = html.unescape(painted)
    bare = re.sub(r"<[^>]*>", "", text)
    pressed = re.sub(r"\s+", "", bare)
    wanted = set(words)
    any_of = re.compile("|".join(map(re.escape, sorted(wanted, key=len, reverse=True))))
    return {one for whole in (text, bare, pressed) for one in any_of.findall(whole)} if wanted else set()
