"""A run without what a rater must not see: the one door through which annotators' screens and kits get their runs.

What is hidden is taken out of the events themselves, so that no screen, search or copy can come upon it.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from lab.study import Show
from lab.task import Actor, Persona, Task
from lab.trace import Acting, AnyEvent, Asked, Conditions, Ended, Flagged, Paused, Resumed, Source, Started, Step
from lab.turn import Action, Decision, Observation, Proposed, Reply

NOBODY = Actor("script", "hidden")
"""Who stands where an agent's or a person's name was."""


def blinded(event: AnyEvent, shows: Collection[Show]) -> AnyEvent:
    """An event with nothing in it but what `shows` names; its place in the run (`seq`, steps, times) stays."""
    match event:
        case Started():
            return _started(event, shows)
        case Asked():
            asked = replace(
                event,
                proposed=_proposed(event.proposed, shows),
                before=_seen(event.before, shows) or Observation(),
                decision=_decision(event.decision, shows),
            )
            return (
                asked if "dialogue" in shows else replace(asked, question=replace(event.question, text="", options=()))
            )
        case Step():
            return _step(event, shows)
        case Ended():
            return _ended(event, shows)
        case Paused() | Resumed() | Flagged():
            event = replace(event, by=NOBODY)
            return replace(event, reason="") if isinstance(event, Paused) else event
        case Acting():
            return event if "actions" in shows else replace(event, action=Action("other"))
        case _:
            return replace(event, reply=_reply(event.reply, shows) or Reply(event.reply.question_id, "", NOBODY))


def _started(event: Started, shows: Collection[Show]) -> Started:
    known = "method" in shows
    return Started(
        seq=event.seq,
        at=event.at,
        ms=event.ms,
        v=event.v,
        trace=event.trace,
        task=_task(event.task, shows),
        agent=event.agent if known else NOBODY,
        persona=_persona(event.persona, shows),
        device=replace(event.device, id="") if event.device.id else event.device,
        conditions=Conditions(mirror=event.conditions.mirror, log=event.conditions.log),
        source=Source(event.source.format) if event.source is not None and known else None,
    )


def _task(task: Task, shows: Collection[Show]) -> Task:
    """What was asked, as far as it is shown; its id may name an app, never a method, and stays as the link to it."""
    context = "context" in shows
    return Task(
        task.id,
        task.kind,
        instruction=task.instruction if "instruction" in shows else "",
        time=task.time if context else "",
        place=task.place if context else "",
        policy=task.policy if "policy" in shows else "",
        rubric=task.rubric if "rubric" in shows else Task("", "general").rubric,
        golden=task.golden if "golden" in shows else (),
        golden_steps=task.golden_steps if "golden" in shows else None,
    )


def _persona(persona: Persona | None, shows: Collection[Show]) -> Persona | None:
    if persona is None or not {"persona", "log"} & set(shows):
        return None
    log = tuple(replace(entry, label="signal", category="") for entry in persona.log) if "log" in shows else ()
    facts = persona.facts if "persona" in shows else {}
    name = persona.name if "persona" in shows else ""
    return Persona(persona.id, name, facts, log, persona.log_source if log else "none")


def _step(event: Step, shows: Collection[Show]) -> Step:
    dialogue = "dialogue" in shows
    return replace(
        event,
        proposed=_proposed(event.proposed, shows),
        before=_seen(event.before, shows) or Observation(),
        decision=_decision(event.decision, shows),
        question=event.question if dialogue else None,
        reply=_reply(event.reply, shows),
        error=event.error if "actions" in shows else None,
        accepted=(),
        extra={},
        state=None,
        typed_by="",
    )


def _proposed(proposed: Proposed, shows: Collection[Show]) -> Proposed:
    """A proposal without prompt, raw words and cost, which name the model; its instruction tells what was meant."""
    thoughts = "thoughts" in shows
    return Proposed(
        _action(proposed.action, shows),
        thought=proposed.thought if thoughts else "",
        by=NOBODY if proposed.by is not None else None,
        instruction=proposed.instruction if thoughts else "",
    )


def _action(action: Action, shows: Collection[Show]) -> Action:
    if "actions" not in shows:
        return Action("other")
    if action.kind == "ask_user" and "dialogue" not in shows:
        return Action("ask_user")
    return replace(action, raw=None, space=None, boxes=())


def _decision(decision: Decision | None, shows: Collection[Show]) -> Decision | None:
    if decision is None:
        return None
    action = _action(decision.action, shows) if decision.action is not None else None
    return Decision(decision.verdict, NOBODY, action, "", decision.seconds)


def _reply(reply: Reply | None, shows: Collection[Show]) -> Reply | None:
    if reply is None or "dialogue" not in shows:
        return None
    return Reply(reply.question_id, reply.text, NOBODY, reply.decision)


def _seen(observation: Observation | None, shows: Collection[Show]) -> Observation | None:
    if observation is None or "screens" in shows:
        return observation
    return Observation(size=observation.size)


def _ended(event: Ended, shows: Collection[Show]) -> Ended:
    outcome = "outcome" in shows
    return Ended(
        seq=event.seq,
        at=event.at,
        ms=event.ms,
        v=event.v,
        status=event.status if outcome else "completed",
        score=event.score if outcome else None,
        reason=event.reason if "reason" in shows else "",
        final=_seen(event.final, shows),
    )
