"""Pages of the participant's room: their text and the answers to choose from."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from rich.console import Group
from rich.text import Text

from annotators.quiz import QuizItem, pass_mark
from lab.core.task.task import Persona
from lab.core.text.plain_text import plain
from lab.studies.playing.persona_prose import persona_prose
from lab.studies.playing.play_session import Participation, PlayPosition, QuizState
from lab.studies.playing.quiz_wording import option_words, quiz_question
from screens.live.seat_pane import prose
from screens.play.words import translated


class ParticipantPage(NamedTuple):
    """A title, a text, and the lines to choose from. With `marked`, Enter may choose the first at once.

    `long` means that the text may need all the rows.
    """

    title: str
    body: Text | Group
    lines: tuple[str, ...] = ()
    marked: bool = True
    long: bool = False


def page_of(part: Participation, here: PlayPosition, keyed: Callable[[str], str]) -> ParticipantPage:
    """Return the page of a position. The sheet and the run have screens of their own. `keyed` fills in keys."""
    locale = part.locale
    match here.stage:
        case "consent":
            return consent_page(part)
        case "refused":
            return ParticipantPage(
                translated(locale, "refused"),
                Text(keyed(translated(locale, "refused.says"))),
                (translated(locale, "reread"),),
            )
        case "card":
            return card_page(part, here)
        case "quiz":
            persona = _persona(here)
            return quiz_page(locale, persona, part.quiz_state(persona))
        case "brief":
            return brief_page(locale, here)
        case "run":
            return ParticipantPage(
                translated(locale, "run"), Text(translated(locale, "run.says")), (translated(locale, "to run"),)
            )
        case "done":
            again = (translated(locale, "again.consent"),)
            return ParticipantPage(
                translated(locale, "done"),
                _paragraphs(keyed(translated(locale, "done.says", count=here.of)), _code_words(part)),
                again,
            )
        case _:
            code = part.person.id
            return ParticipantPage(
                translated(locale, "nothing"),
                _paragraphs(translated(locale, "nothing.says", code=code), _code_words(part)),
            )


def consent_page(part: Participation) -> ParticipantPage:
    """Return the consent text, with the code for a withdrawal."""
    locale = part.locale
    body = _paragraphs(plain(part.consent).strip(), _code_words(part))
    return ParticipantPage(
        translated(locale, "consent"),
        body,
        (translated(locale, "agree"), translated(locale, "refuse")),
        marked=False,
        long=True,
    )


def reread_page(part: Participation, here: PlayPosition, what: str) -> ParticipantPage:
    """Return the consent text (`consent`) or the persona (`card`) to read again. Its only line leads back."""
    locale = part.locale
    back = (translated(locale, "back"),)
    if what == "consent":
        return ParticipantPage(
            translated(locale, "agreed"), _paragraphs(plain(part.consent).strip(), _code_words(part)), back, long=True
        )
    return ParticipantPage(translated(locale, "card"), _prose_of(_persona(here), locale), back, long=True)


def card_page(part: Participation, here: PlayPosition) -> ParticipantPage:
    """Return the persona's page: every fact, and how many questions follow."""
    locale, persona = part.locale, _persona(here)
    name, stands = plain(persona.name, lines=False), part.quiz_state(persona)
    if stands.missed is None:
        head = translated(locale, "card.says", name=name, count=stands.asked)
    else:
        needed = ceil(pass_mark(part.study.bar) * stands.asked)
        right = round(stands.missed * stands.asked)
        head = translated(locale, "card.again", name=name, right=right, count=stands.asked, needed=needed)
    body = Group(Text(head + "\n"), _prose_of(persona, locale))
    return ParticipantPage(translated(locale, "card"), body, (translated(locale, "ready"),), long=True)


def quiz_page(locale: str, persona: Persona, stands: QuizState) -> ParticipantPage:
    """Return the page of one quiz question, answered from memory."""
    item = stands.waiting[0]
    body = Text(translated(locale, "quiz.ask") + "\n\n")
    body.append(quiz_question(item, persona.name, locale), style="bold")
    body.append("\n\n" + translated(locale, "quiz.left", left=len(stands.waiting)), style="dim not bold")
    return ParticipantPage(
        translated(locale, "quiz"), body, tuple(option_words(option, locale) for option in item.options), marked=False
    )


def wrong_page(locale: str, persona: Persona, item: QuizItem) -> ParticipantPage:
    """Return the page with the right answer."""
    body = Text(quiz_question(item, persona.name, locale) + "\n\n", style="bold")
    body.append(translated(locale, "wrong.says") + "\n", style="not bold")
    body.append(option_words(item.answer, locale))
    body.append("\n\n" + translated(locale, "wrong.again"), style="dim not bold")
    return ParticipantPage(translated(locale, "wrong"), body, (translated(locale, "go on"),))


def brief_page(locale: str, here: PlayPosition) -> ParticipantPage:
    """Return the briefing for the next task. It never names the task or a right answer."""
    play = here.play
    task, persona = play.task, play.persona
    name = plain(persona.name, lines=False) if persona is not None else ""
    rest = translated(locale, "brief.rest", done=here.number - 1, of=here.of) + "\n\n" if here.number > 1 else ""
    body = Text(rest + (translated(locale, "brief.who", name=name) if name else translated(locale, "brief.nobody")))
    if task.instruction:
        body.append("\n\n" + translated(locale, "brief.asked") + "\n")
        body.append(plain(task.instruction), style="bold")
    else:
        body.append("\n\n" + translated(locale, "brief.unasked"))
    body.append("\n\n" + translated(locale, "brief.mirror" if play.mirror else "brief.no mirror"))
    body.append("\n\n" + translated(locale, "brief.do"))
    again = [translated(locale, f"again.{what}") for what in pages_to_reread(here)]
    return ParticipantPage(translated(locale, "brief"), body, (translated(locale, "begin"), *again))


def pages_to_reread(here: PlayPosition) -> tuple[str, ...]:
    """Return the names of the pages that can be read again at a position, in the order of their lines."""
    if here.stage == "done":
        return ("consent",)
    if here.stage != "brief":
        return ()
    return ("card", "consent") if here.play.persona is not None else ("consent",)


def position_words(part: Participation, here: PlayPosition, page: str = "") -> str:
    """Return the participant's position in a few words. `page` is the title of what they read there."""
    stage = page or translated(part.locale, here.stage)
    if not here.number or here.stage in ("card", "quiz"):
        return stage
    return f"{translated(part.locale, 'task of', number=here.number, of=here.of)} · {stage}"


def _persona(here: PlayPosition) -> Persona:
    persona = here.play.persona
    assert persona is not None
    return persona


def _prose_of(persona: Persona, locale: str) -> Group:
    """Return the persona as paragraphs."""
    return prose(persona_prose(persona.facts, persona.name, locale))


def _code_words(part: Participation) -> str:
    return translated(part.locale, "code", code=part.person.id)


def _paragraphs(*parts: str) -> Text:
    return Text("\n\n".join(parts))
