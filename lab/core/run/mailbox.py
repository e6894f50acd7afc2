"""One-slot mailbox between a run's thread and a person: put a question, wait for an answer or a cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from lab.core.seams import WaitCancelled

Asked = TypeVar("Asked")
Given = TypeVar("Given")

_POLL = 0.05
"""Seconds between two polls of `stop`."""


class Mailbox(Generic[Asked, Given]):
    """A mailbox for at most one item. The run's thread blocks in `put_and_wait`. The screen's thread calls `answer`.

    `on_change` is called with the waiting item or None, on the thread that changed it. It must not block. `answer`
    returns False if it comes too late or for another item.
    """

    def __init__(self, on_change: Callable[[Asked | None], None] | None = None) -> None:
        self._changed = threading.Condition()
        self._item: Asked | None = None
        self._answers: list[Given] = []
        self.on_change = on_change

    @property
    def waiting(self) -> Asked | None:
        """The item that waits for the person, or None."""
        return self._item

    def put_and_wait(self, item: Asked, stop: threading.Event) -> Given:
        """Show an item to the person and block until it is answered. Raise `WaitCancelled` once `stop` is set."""
        with self._changed:
            self._item = item
            self._answers.clear()
        self._notify(item)
        try:
            # `_notify` runs outside the lock, which the screen's thread takes in `answer`.
            with self._changed:
                while not self._answers:
                    if stop.is_set() or self._item is not item:
                        raise WaitCancelled
                    # `stop` does not notify this condition, so it is polled.
                    self._changed.wait(_POLL)
                return self._answers.pop()
        finally:
            with self._changed:
                if self._item is item:
                    self._item = None
            self._notify(None)

    def answer(self, item: Asked, answer: Given) -> bool:
        """Answer the waiting item. Return False if it no longer waits."""
        with self._changed:
            if self._item is not item or self._answers:
                return False
            self._answers.append(answer)
            self._changed.notify_all()
            return True

    def withdraw(self) -> None:
        """Remove the waiting item. Its `put_and_wait` raises `WaitCancelled`."""
        with self._changed:
            self._item = None
            self._changed.notify_all()

    def _notify(self, item: Asked | None) -> None:
        if self.on_change is not None:
            self.on_change(item)
