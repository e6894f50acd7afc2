"""One person's seat: an item waits, an answer comes back or it is withdrawn."""

from __future__ import annotations

import threading

from lab.core.run.mailbox import Mailbox
from lab.core.seams import WaitCancelled


class Asking:
    """A thread that waits in `put_and_wait`, and what came of it."""

    def __init__(self, box: Mailbox[str, int], item: str, stop: threading.Event) -> None:
        self.waiting = threading.Event()
        self.given: int | None = None
        self.withdrawn = False
        box.on_change = lambda now: self.waiting.set() if now is not None else None
        self.thread = threading.Thread(target=self._ask, args=(box, item, stop), daemon=True)
        self.thread.start()
        assert self.waiting.wait(180)

    def _ask(self, box: Mailbox[str, int], item: str, stop: threading.Event) -> None:
        try:
            self.given = box.put_and_wait(item, stop)
        except WaitCancelled:
            self.withdrawn = True


def test_an_answer_comes_back_once() -> None:
    box: Mailbox[str, int] = Mailbox()
    asking = Asking(box, "q", threading.Event())
    assert box.waiting == "q"
    assert box.answer("q", 7)
    assert not box.answer("q", 8)
    asking.thread.join(180)
    assert asking.given == 7
    assert box.waiting is None


def test_an_answer_to_another_item_is_refused() -> None:
    box: Mailbox[str, int] = Mailbox()
    asking = Asking(box, "now", threading.Event())
    assert not box.answer("before", 1)
    assert box.answer("now", 2)
    asking.thread.join(180)
    assert asking.given == 2


def test_stop_withdraws_what_waits() -> None:
    box: Mailbox[str, int] = Mailbox()
    stop = threading.Event()
    asking = Asking(box, "q", stop)
    stop.set()
    asking.thread.join(180)
    assert asking.withdrawn
    assert not box.answer("q", 1)


def test_withdraw_takes_back_what_waits() -> None:
    box: Mailbox[str, int] = Mailbox()
    asking = Asking(box, "q", threading.Event())
    box.withdraw()
    asking.thread.join(180)
    assert asking.withdrawn
