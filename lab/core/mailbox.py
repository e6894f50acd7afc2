"""One person's seat: something waits here for them; their answer, or word that it is no longer wanted, comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from lab.core.seams import WaitCancelled

Asked = TypeVar("Asked")
Given = TypeVar("Given")

_POLL = 0.05
"""Seconds between two looks at `stop`."""


class Mailbox(Generic[Asked, Given]):
    """Holds at most one item. The loop's thread waits in `ask`; the screen answers from its own.

    `on_change` is called, on whichever thread changed it, with the item that now waits or None; it must not
    block. An answer that comes too late, or for another item, is refused (`answer` returns False).
    """

    def __init__(self, on_change: Callable[[Asked | None], None] | None = None) -> None:
        self._changed = threading.Condition()
        self._item: Asked | None = None
        self._given: list[Given] = []
        self.on_change = on_change

    @property
    def waiting(self) -> Asked | None:
        """The item that waits for the person, or None."""
        return self._item

    def ask(self, item: Asked, stop: threading.Event) -> Given:
        """Puts an item before the person and blocks until it is answered; `WaitCancelled` once `stop` is set."""
        with self._changed:
            self._item = item
            self._given.clear()
        self._tell(item)
        try:
            with self._changed:
                while not self._given:
                    if stop.is_set() or self._item is not item:
                        raise WaitCancelled
                    self._changed.wait(_POLL)
                return self._given.pop()
        finally:
            with self._changed:
                if self._item is item:
                    self._item = None
            self._tell(None)

    def answer(self, item: Asked, answer: Given) -> bool:
        """Answers the item that waits; False where it no longer does."""
        with self._changed:
            if self._item is not item or self._given:
                return False
            self._given.append(answer)
            self._changed.notify_all()
            return True

    def withdraw(self) -> None:
        """Takes back whatever waits: the one who asked gets `WaitCancelled`."""
        with self._changed:
            self._item = None
            self._changed.notify_all()

    def _tell(self, item: Asked | None) -> None:
        if self.on_change is not None:
            self.on_change(item)
