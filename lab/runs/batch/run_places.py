"""Places for attempts: the phones and environments that a person names, by address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.settings import EMBEDDED
from lab.core.text.plain_text import plain
from lab.runs.spec import Spec


class RunPlace(NamedTuple):
    """One phone. `device`, `harness` and `environment` are those of a `Spec`. `number` distinguishes embedded ones."""

    device: str = EMBEDDED
    harness: str = ""
    environment: str = ""
    number: int = 0

    @property
    def display_name(self) -> str:
        """The name of the place for people."""
        if self.environment or self.device != EMBEDDED:
            return plain(self.environment or self.device, lines=False)
        return f"embedded phone {self.number}" if self.number else "the embedded phone"

    def spec(self, spec: Spec) -> Spec:
        """Return a spec for a run at this place."""
        return spec._replace(device=self.device, harness=self.harness, environment=self.environment)


def run_places(
    devices: Sequence[str], harnesses: Sequence[str], environments: Sequence[str], jobs: int | None
) -> tuple[RunPlace, ...]:
    """Return the named places, with a harness for each device in order, or as many embedded phones as `jobs`.

    Raise `LabError` if one is named twice, or if the harnesses do not match the devices.
    """
    if environments:
        for option, addresses in (("--device", devices), ("--harness", harnesses)):
            if addresses:
                raise LabError(option, "does not go with --env: an environment has its own phone.", code=2)
        _check_once("--env", environments)
        return tuple(RunPlace(environment=address) for address in environments)
    devices = devices or [EMBEDDED]
    _check_once("--device", devices)
    if harnesses and len(harnesses) != len(devices):
        problem = f"is given {len(harnesses)} times, --device {len(devices)} times."
        raise LabError("--harness", problem, "Name one for each device, in the same order, or none.", code=2)
    _check_once("--harness", harnesses)
    if list(devices) == [EMBEDDED] and not harnesses:
        return tuple(RunPlace(number=number + 1 if (jobs or 1) > 1 else 0) for number in range(jobs or 1))
    return tuple(
        RunPlace(device, harness) for device, harness in zip(devices, harnesses or [""] * len(devices), strict=True)
    )


def _check_once(option: str, addresses: Sequence[str]) -> None:
    twice = next((one for one in addresses if addresses.count(one) > 1), None)
    if twice is not None:
        raise LabError(option, f"names {plain(twice, lines=False)} twice; one run at a time is made there.", code=2)
