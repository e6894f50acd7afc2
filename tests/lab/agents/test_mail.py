"""Mail as the rule agent understands it: what an instruction or a line of the log says, and where a fact stands."""

from __future__ import annotations

import pytest

from lab.agents.facts import address_in
from lab.agents.goals import Fact, Send, fact_in, goals_in
from lab.agents.goals.mail import Mail


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("Mail Petra Lang that I bring the rope.", Mail("Petra Lang", "", "I bring the rope")),
        ("She mailed Petra 'On my way'.", Mail("Petra", "", "On my way")),
        (
            "Write a mail to Dana with the subject 'Keys': they are at the desk.",
            Mail("Dana", "Keys", "they are at the desk."),
        ),
        ("Send Mara Olsen an e-mail saying see you at nine", Mail("Mara Olsen", "", "see you at nine")),
        (
            "Mail Dana the address from Petra Lang's mail.",
            Mail("Dana", "", "", (Fact("mail", "Petra Lang", "address"),)),
        ),
        ("Send Noor the time from the mail 'Boat trip'.", Send("Noor", "", (Fact("mail", "Boat trip", "time"),))),
    ],
)
def test_what_is_asked_of_mail(text: str, goal: object) -> None:
    assert goals_in(text) == (goal,)


def test_lines_that_only_speak_of_mail_ask_for_nothing() -> None:
    for text in ("She read the mail from Mr. Brandt.", "He opened the Mail app.", "She deleted the mail 'Sale'."):
        assert goals_in(text) == ()


def test_whose_mail_or_which() -> None:
    assert fact_in("看陈伟的邮件", "time") == Fact("mail", "陈伟", "time")
    assert fact_in("in the latest mail from Mr. Brandt", "time") == Fact("mail", "Mr. Brandt", "time")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("We meet at 27 Tanner Steps, third bell, at 19:30.", "27 Tanner Steps"),
        ("On 12 March, at 10:40, in room 4.07 of 3 Weld Road.", "3 Weld Road"),
        ("在银湖路 8 号南门见。", "银湖路 8 号"),
        ("It is on 26 March.", None),
    ],
)
def test_an_address_is_a_street_and_a_number(text: str, address: str | None) -> None:
    assert address_in(text) == address
