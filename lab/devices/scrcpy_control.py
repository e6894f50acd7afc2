"""The hand of a scrcpy session: messages to the phone, and what it says in return."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Callable

from lab.core.seams import Trouble
from lab.devices.scrcpy_codec import (
    Clipboard,
    ClipboardAck,
    UnknownMessage,
    device_message,
    get_clipboard,
    set_clipboard,
)
from lab.devices.scrcpy_stream import WHO, after_silence, over, the_rest
from lab.devices.socket_io import Deadline, hang_up, send

_SEND = 5.0


class ControlSocket:
    """A control socket: `say` sends, a thread hears what comes back."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._saying = threading.Lock()
        self._asking = threading.Lock()
        self._sequences = itertools.count(1)
        self._acknowledged = 0
        self._copies = 0
        self._copied = ""
        self._trouble: Trouble | None = None
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._hear, name="scrcpy-control", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> Trouble | None:
        """Why nothing more can be said; None while all is well."""
        return self._trouble

    def say(self, *messages: bytes) -> None:
        """Sends messages, together and in order; `Trouble` where they cannot be sent."""
        with self._saying:
            self._check()
            try:
                send(self._line, b"".join(messages), Deadline(_SEND), WHO, sent=True)
            except Trouble as error:
                self._end(error)  # half a message may have been sent: nothing after it would be understood
                hang_up(self._line)
                raise

    def set_clipboard(self, words: str, *, paste: bool, seconds: float) -> None:
        """Sets the phone's clipboard, and pastes it where told; returns once the phone has said that it is set."""
        with self._asking:
            sequence = next(self._sequences)
            self.say(set_clipboard(sequence, words, paste=paste))
            if not self._wait(lambda: self._acknowledged >= sequence, seconds):
                hint = "It may be locked, or busy."
                raise Trouble(WHO, f"the phone did not take the text within {seconds:g} s.", hint, sent=True)

    def clipboard(self, seconds: float) -> str | None:
        """What is on the phone's clipboard; None where it does not say within `seconds`, as when nothing is on it."""
        with self._asking:
            before = self._copies
            self.say(get_clipboard())
            return self._copied if self._wait(lambda: self._copies > before, seconds) else None

    def close(self) -> None:
        """Ends it; safe twice, from any thread."""
        hang_up(self._line)
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _wait(self, come: Callable[[], bool], seconds: float) -> bool:
        with self._change:
            self._change.wait_for(lambda: come() or self._trouble is not None, seconds)
            if not come():
                self._check(sent=True)
            return come()

    def _check(self, *, sent: bool = False) -> None:
        if self._trouble is not None:
            raise Trouble(self._trouble.title, self._trouble.message, self._trouble.hint, sent=sent)

    def _hear(self) -> None:
        trouble = over("the control")
        try:
            while (message := self._message()) is not None:
                with self._change:
                    if isinstance(message, ClipboardAck):
                        self._acknowledged = max(self._acknowledged, message.sequence)
                    elif isinstance(message, Clipboard):
                        self._copied, self._copies = message.text, self._copies + 1
                    self._change.notify_all()
        except Trouble as error:
            trouble = error
        finally:
            self._end(trouble)

    def _message(self) -> Clipboard | ClipboardAck | UnknownMessage | None:
        kind = after_silence(self._line, 1)
        if not kind:
            return None
        return device_message(kind[0], lambda count: the_rest(self._line, count))

    def _end(self, trouble: Trouble) -> None:
        with self._change:
            self._trouble = self._trouble or trouble
            self._change.notify_all()
