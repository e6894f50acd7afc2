"""Labels that a rule gives, so that nobody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.core.study.label import Label
from lab.core.study.rating_sheet import FieldReference, Sheet, answer_to
from lab.core.study.signing import sign_label
from lab.core.task.task import Actor

if TYPE_CHECKING:
    from lab.core.study.study import Study, Unit
    from store.store import Store

RULE = Actor("script", "rule")
"""Author of a rule's labels."""


def answer_by_rule(store: Store, study: Study, unit: Unit) -> int:
    """Write a rule's answers to a unit that are missing. Return the number of labels written."""
    label_count = 0

    for gold in unit.mechanical:
        spot = FieldReference(gold.target, gold.field)

        # Bound as defaults, since the loop's variables change before a late call.
        def say_it(
            sheet: Sheet, spot: FieldReference = spot, value: object = gold.value, why: str = gold.reason
        ) -> Label | None:
            nonlocal label_count
            if sheet.head(spot) is not None:
                return None
            label_count += 1
            return answer_to(sheet, sign_label(study, unit, RULE, spot, source="rule", value=value, note=why))

        store.labels.record_each(study, unit, RULE, 1, [say_it])
    return label_count
