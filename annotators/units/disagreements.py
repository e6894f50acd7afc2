"""Units made of another study's labels: the items of each run on which its raters differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.study.label import Label
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import current_labels, target_of
from lab.core.study.study import Study, Target, Unit
from lab.core.values.whole_number import whole_number


class EarlierStudy(NamedTuple):
    """Another study with its raters' labels. Causes are asked for items on which they differ."""

    study: Study
    units: Sequence[Unit]
    labels: Sequence[Label]


def disagreement_units(protocol: Protocol, earlier: EarlierStudy | None) -> list[Unit]:
    """Return a unit for each of the other study's units on which raters differ, with those places as items.

    Only choices and first ratings are compared, without pilots. An item states how many raters gave each answer and at
    which steps, without names.
    """
    if earlier is None:
        raise LabError(f"study by {protocol.id}", "needs another study, whose raters differ.")
    labels_by_place: dict[str, list[Label]] = {}
    for label in current_labels(earlier.labels):
        # Reasons for having no answer are not compared: only choices have causes of disagreement.
        if label.run == 1 and label.value is not None and label.study == earlier.study.id:
            labels_by_place.setdefault(label.unit, []).append(label)
    units = []
    for unit in earlier.units:
        if unit.pilot or unit.gold:
            continue
        items = _items(earlier.study.protocol, unit, labels_by_place.get(unit.id, []))
        if items:
            units.append(Unit(unit.id, runs=unit.runs[:1], targets=tuple(items), cluster=unit.clustered))
    if not units:
        raise LabError(f"study {earlier.study.name}", "has no item on which its raters differ.")
    return units


def _items(protocol: Protocol, unit: Unit, labels: Sequence[Label]) -> list[Target]:
    choices = [field for field in protocol.fields if field.kind in ("nominal", "ordinal")]
    places = [target.id for target in unit.targets] or [""]
    items = []
    # The empty target last: fields about the unit as a whole follow its targets.
    for place in dict.fromkeys([*places, ""]):
        for field in choices:
            place_labels = [label for label in labels if (label.target, label.field) == (place, field.id)]
            if len({label.value for label in place_labels}) > 1:
                items.append(_item(unit, field, place, place_labels, len(choices) > 1))
    return items


def _item(unit: Unit, field: Field, place: str, labels: Sequence[Label], several: bool) -> Target:
    options = [option.id for option in field.options] or sorted({str(label.value) for label in labels})
    counts = [(id, [label for label in labels if label.value == id]) for id in options]
    text = "; ".join(f"{len(group)} x {_option_text(field, id)}{_steps(group)}" for id, group in counts if group)
    target = target_of(unit, place)
    if target is None:
        return Target(field.id, field.ask, text)
    id = f"{target.id}/{field.id}" if several else target.id
    return replace(target, id=id, detail=text, options=(), requires=())


def _option_text(field: Field, id: str) -> str:
    option = field.option(id)
    return option.display_name if option is not None else id


def _steps(labels: Sequence[Label]) -> str:
    steps = sorted({label.evidence.rpartition("@")[2] for label in labels if label.evidence}, key=_number)
    return f" (step{'' if len(steps) == 1 else 's'} {', '.join(steps)})" if steps else ""


def _number(step: str) -> tuple[int, str]:
    return (whole_number(step) or 0, step)
