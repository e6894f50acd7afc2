"""The row of replies to a proposal at the endpoint: accept or reject."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from screens.live.choices import Choice, choice_bindings
from screens.live.reply import AnswerRow


class ConsentRow(AnswerRow):
    """Row of two replies, accept and reject. A key sends the tag that the benchmark parses."""

    HELP = """
    The benchmark reads a decision out of your answer. **{consent.accept}** accepts, **{consent.reject}** rejects; the
    key sends the decision in the form that the benchmark parses, with the remark if you typed one. **tab** goes to the
    remark; nothing that is typed there decides anything.
    """
    GROUP = "consent"
    CHOICES = (
        Choice("accept", "a", "accept", "Accept what is proposed"),
        Choice("reject", "r", "reject", "Reject what is proposed"),
    )
    BINDINGS: ClassVar[list[BindingType]] = choice_bindings(GROUP, CHOICES)
