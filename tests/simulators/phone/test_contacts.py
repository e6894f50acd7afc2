"""Contacts: the book of people that Messages and Mail read too, and calls that ring, are answered and end."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from simulators.phone.apps.contacts import show_person, start_call, start_entry
from simulators.phone.installed import APPS
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, front, labels, opened, tap, tap_id


def type_into(phone: Phone, id: str, text: str) -> None:
    tap_id(phone, id)
    phone.perform(Action("input_text", text=text))


def person(phone: Phone, name: str) -> dict[str, Any]:
    found = [p for p in app(phone, "contacts")["people"] if p["name"] == name]
    assert len(found) == 1
    return dict(found[0])


@pytest.fixture
def phone() -> Phone:
    return opened("Contacts")


def test_the_book_is_searched_by_name_number_and_company(phone: Phone) -> None:
    for words, name in (
        ("noor", "Noor Haddad"),
        ("5550 7714", "Jonas Weil"),
        ("55503306", "陈伟"),
        ("optik", "Tomas Brandt"),
    ):
        phone.lay({"apps": {"contacts": {"query": ""}}})
        type_into(phone, "search", words)
        rows = phone.current_screen().tree.find(id="contact")
        assert len(rows) == 1, words
        assert name in labels(phone)
    phone.perform(Action("input_text", text="zzz"))
    assert "Nobody found" in labels(phone)


def test_a_person_is_added_and_messages_finds_them(phone: Phone) -> None:
    tap(phone, "New contact")
    phone.perform(Action("input_text", text="  Ulla   Petrov "))
    phone.perform(Action("keyboard_enter"))
    assert phone.snapshot()["focus"] == "number"
    phone.perform(Action("input_text", text="+65 5550 9911"))
    tap(phone, "Save")
    assert person(phone, "Ulla Petrov") == {
        "name": "Ulla Petrov", "number": "+65 5550 9911", "email": "", "company": "", "favourite": False,
    }  # fmt: skip
    assert front(phone) == "com.hitlab.contacts/.Person"
    tap_id(phone, "message")
    assert front(phone) == "com.hitlab.messages/.Thread"
    assert {"Ulla Petrov", "+65 5550 9911"} <= labels(phone)


def test_what_has_no_name_or_one_that_is_taken_is_not_saved(phone: Phone) -> None:
    before = app(phone, "contacts")["people"]
    tap(phone, "New contact")
    tap(phone, "Save")
    assert "Enter a name first" in {phone.snapshot()["toast"]}
    type_into(phone, "name", "Jonas Weil")
    assert "There is a contact of this name" in labels(phone)
    tap(phone, "Save")
    assert app(phone, "contacts")["people"] == before


def test_an_entry_is_changed_in_place(phone: Phone) -> None:
    tap(phone, "Jonas Weil")
    tap(phone, "Edit contact")
    type_into(phone, "company", "Ropeworks")
    phone.perform(Action("navigate_back"))
    tap(phone, "Save")
    assert person(phone, "Jonas Weil")["company"] == "Ropeworks"
    assert "Ropeworks" in labels(phone)
    tap(phone, "Add to favourites")
    assert person(phone, "Jonas Weil")["favourite"]
    assert "Remove from favourites" in labels(phone)


def test_a_person_is_deleted_after_a_question(phone: Phone) -> None:
    phone.lay({"apps": {"contacts": {"query": "weil"}}})
    tap(phone, "Jonas Weil")
    tap(phone, "Delete contact")
    tap(phone, "Cancel")
    assert person(phone, "Jonas Weil")
    tap(phone, "Delete contact")
    tap_id(phone, "delete")
    assert not any(p["name"] == "Jonas Weil" for p in app(phone, "contacts")["people"])
    assert front(phone) == "com.hitlab.contacts/.Home"


def test_a_call_rings_is_answered_and_ends(phone: Phone) -> None:
    tap(phone, "Noor Haddad")
    tap_id(phone, "call")
    last = app(phone, "contacts")["calls"][-1]
    assert (last["name"], last["number"], last["kind"], last["seconds"]) == (
        "Noor Haddad", "+65 5550 1820", "outgoing", 0,
    )  # fmt: skip
    assert "Ringing…" in labels(phone)
    phone.perform(Action("wait", ms=40_000))
    tap(phone, "Mute")
    assert app(phone, "contacts")["call"]["mute"]
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    tap(phone, "Return to call")
    tap(phone, "End call")
    assert app(phone, "contacts")["call"] == {}
    assert 30 < app(phone, "contacts")["calls"][-1]["seconds"] < 60


def test_a_number_is_dialled_by_its_keys(phone: Phone) -> None:
    tap(phone, "Keypad")
    for key in "555077139":
        tap(phone, key, id="key")
    tap_id(phone, "backspace")
    tap(phone, "4", id="key")
    assert app(phone, "contacts")["dialled"] == "555077134"
    phone.lay({"apps": {"contacts": {"dialled": "+6555507714"}}})
    assert "Jonas Weil" in labels(phone)
    tap(phone, "Call")
    assert app(phone, "contacts")["calls"][-1]["name"] == "Jonas Weil"


def test_the_number_of_a_missed_call_can_be_saved(phone: Phone) -> None:
    tap(phone, "Recents")
    assert "Missed, 7 Mar 14:47" in labels(phone)
    tap(phone, "+65 5550 8876", id="name")
    tap(phone, "Create new contact")
    phone.perform(Action("input_text", text="Piano tuner"))
    tap(phone, "Save")
    assert person(phone, "Piano tuner")["number"] == "+65 5550 8876"
    phone.perform(Action("navigate_back"))
    assert "Piano tuner" in labels(phone)
    tap(phone, "Clear call history")
    tap(phone, "Clear")
    assert "No recent calls" in labels(phone)


def test_mail_is_begun_with_the_address(phone: Phone) -> None:
    tap(phone, "Noor Haddad")
    tap_id(phone, "mail")
    assert front(phone).startswith("com.hitlab.mail/")
    assert "n.haddad@softmatter.example" in labels(phone)


def test_other_apps_lead_here() -> None:
    state = Phone().snapshot()
    show_person(state, "Noor Haddad")
    assert front(Phone(state=state)) == "com.hitlab.contacts/.Person"
    start_call(state, "+65 5550 7714")
    assert state["apps"]["contacts"]["call"]["name"] == "Jonas Weil"
    start_entry(state, "+65 5550 9000")
    assert "+65 5550 9000" in labels(Phone(state=state))


def test_a_laid_book_replaces_the_people_and_is_checked() -> None:
    phone = Phone()
    phone.lay({"apps": {"contacts": {"people": [{"name": "Only One"}], "calls": [{"number": "555 01"}]}}})
    assert person(phone, "Only One")["number"] == ""
    assert app(phone, "contacts")["calls"][0]["time"] == phone.snapshot()["clock"]
    phone.perform(Action("open_app", app="Messages"))
    tap(phone, "Start chat")
    assert "Only One" in labels(phone)
    with pytest.raises(LabError, match="fone"):
        phone.lay({"apps": {"contacts": {"people": [{"fone": "1"}]}}})


def test_a_book_without_people_says_so() -> None:
    phone = opened("Contacts")
    phone.lay({"apps": {"contacts": {"people": [], "calls": []}}})
    assert "No contacts" in labels(phone)
    assert APPS["contacts"].label == "Contacts"
