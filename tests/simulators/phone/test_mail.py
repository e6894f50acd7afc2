"""Mail: reading, answering, forwarding, keeping, throwing away; what was done is in the state."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, labels, opened, tap, tap_id

PEOPLE = [
    {"name": "Lotte Brink", "number": "555 0101", "email": "lotte@post.example"},
    {"name": "韩雪", "number": "555 0102", "email": "xue.han@post.example"},
]


def _mail(**said: Any) -> dict[str, Any]:
    first = {"from": "Lotte Brink", "address": "lotte@post.example", "subject": "Boat", "body": "It leaves at 7."}
    return first | {"to": ["ines.varga@post.example"]} | said


@pytest.fixture
def phone() -> Phone:
    phone = opened("Mail")
    mails = [_mail(unread=True, to=["ines.varga@post.example", "xue.han@post.example"], attachments=["Map.pdf"]),
             _mail(subject="Re: Boat", body="At 8.", time="2026-03-10T08:10:00+08:00"),
             _mail(subject="Garden", time="2026-03-09T08:10:00+08:00")]  # fmt: skip
    phone.lay({"apps": {"contacts": {"people": PEOPLE}, "mail": {"mails": mails}}})
    return phone


def type_into(phone: Phone, id: str, text: str) -> None:
    tap_id(phone, id)
    phone.perform(Action("input_text", text=text))


def mails(phone: Phone, folder: str) -> list[Any]:
    return [mail for mail in app(phone, "mail")["mails"] if mail["folder"] == folder]


def test_mails_of_one_subject_are_one_conversation_and_reading_marks_them(phone: Phone) -> None:
    assert {"Lotte Brink (2)", "Boat", "Garden"} <= labels(phone)
    tap(phone, "Boat")
    assert {"It leaves at 7.", "At 8.", "Map.pdf", "to me, 韩雪"} <= labels(phone)
    assert not any(mail["unread"] for mail in app(phone, "mail")["mails"])
    tap(phone, "Mark as unread")
    assert [mail["body"] for mail in app(phone, "mail")["mails"] if mail["unread"]] == ["It leaves at 7."]


def test_a_reply_goes_to_the_sender_and_leaves_the_draft(phone: Phone) -> None:
    tap(phone, "Boat")
    tap(phone, "Reply all")
    phone.perform(Action("input_text", text="See you there"))
    assert len(app(phone, "mail")["drafts"]) == 1
    tap(phone, "Send", id="send")
    sent = mails(phone, "sent")[0]
    assert sent["to"] == ["lotte@post.example", "xue.han@post.example"]
    assert (sent["subject"], sent["body"], app(phone, "mail")["drafts"]) == ("Re: Boat", "See you there", [])
    assert "See you there" in labels(phone)


def test_a_forward_carries_the_words_and_what_is_attached(phone: Phone) -> None:
    tap(phone, "Boat")
    tap(phone, "Forward")
    phone.perform(Action("input_text", text="韩雪"))
    tap(phone, "xue.han@post.example")
    type_into(phone, "body", "For you")
    tap(phone, "Send", id="send")
    sent = mails(phone, "sent")[0]
    assert (sent["to"], sent["subject"]) == (["xue.han@post.example"], "Fwd: Boat")
    assert sent["body"].startswith("For you\n\nForwarded mail")
    assert "It leaves at 7." in sent["body"]


def test_a_new_mail_knows_names_and_refuses_what_is_no_address(phone: Phone) -> None:
    tap(phone, "Compose")
    phone.perform(Action("input_text", text="nobody"))
    tap(phone, "Send", id="send")
    assert "'nobody' is no mail address." in labels(phone)
    tap(phone, "OK")
    draft = app(phone, "mail")["drafts"][0]
    phone.lay({"apps": {"mail": {"drafts": [draft | {"to": "Lotte Brink, new@post.example"}]}}})
    type_into(phone, "subject", "Hello")
    tap(phone, "Attach file")
    tap(phone, "Boarding pass.pdf")
    tap(phone, "Send", id="send")
    sent = mails(phone, "sent")[0]
    assert sent["to"] == ["lotte@post.example", "new@post.example"]
    assert sent["attachments"] == ["Boarding pass.pdf"]


def test_what_was_begun_stays_a_draft_and_what_was_not_goes(phone: Phone) -> None:
    tap(phone, "Compose")
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    assert app(phone, "mail")["drafts"] == []
    tap(phone, "Compose")
    phone.perform(Action("input_text", text="lotte@post.example"))
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    tap(phone, "Folders")
    tap(phone, "Drafts")
    tap(phone, "Draft to lotte@post.example")
    tap(phone, "Discard")
    tap(phone, "Discard", id="discard")
    assert app(phone, "mail")["drafts"] == []


def test_archive_bin_restore_and_delete_for_ever(phone: Phone) -> None:
    tap(phone, "Garden")
    tap(phone, "Archive")
    assert [mail["subject"] for mail in mails(phone, "archive")] == ["Garden"]
    tap(phone, "Boat")
    tap(phone, "Delete")
    assert len(mails(phone, "bin")) == 2
    assert "No mail" in labels(phone)
    tap(phone, "Folders")
    tap(phone, "Bin")
    tap(phone, "Re: Boat" if "Re: Boat" in labels(phone) else "Boat")
    tap(phone, "Move to inbox")
    assert len(mails(phone, "inbox")) == 2
    phone.perform(Action("navigate_back"))
    tap(phone, "Archive")
    tap(phone, "Garden")
    tap(phone, "Delete")
    phone.perform(Action("navigate_back"))
    tap(phone, "Bin")
    tap(phone, "Empty bin")
    tap(phone, "Delete")
    assert [mail["folder"] for mail in app(phone, "mail")["mails"]] == ["inbox", "inbox"]


def test_search_looks_into_words_and_stars_are_kept(phone: Phone) -> None:
    type_into(phone, "search", "leaves at 7")
    assert {"Boat", "Garden"} <= labels(phone)
    phone.perform(Action("input_text", text="!"))
    assert "Nothing found" in labels(phone)
    phone.lay({"apps": {"mail": {"query": ""}}})
    phone.perform(Action("navigate_back"))
    tap(phone, "Garden")
    tap(phone, "Add star")
    assert [mail["subject"] for mail in app(phone, "mail")["mails"] if mail["starred"]] == ["Garden"]


def test_a_notification_opens_its_conversation_and_a_wrong_key_is_refused(phone: Phone) -> None:
    note = {"app": "mail", "title": "Lotte Brink", "text": "Boat", "screen": "mail", "args": {"subject": "Boat"}}
    phone.lay({"notifications": [note | {"heads_up": True}]})
    tap(phone, "Lotte Brink")
    assert "It leaves at 7." in labels(phone)
    assert not any(mail["unread"] for mail in app(phone, "mail")["mails"])
    with pytest.raises(LabError, match="sent_by"):
        phone.lay({"apps": {"mail": {"mails": [{"sent_by": "me"}]}}})
