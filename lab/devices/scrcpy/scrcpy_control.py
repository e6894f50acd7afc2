"""Control channel of a scrcpy session: commands to the phone and its replies."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Callable

from lab.core.seams import Trouble
from lab.devices.adb.socket_io import Deadline, hang_up, send
from lab.devices.scrcpy.scrcpy_codec import (
    Clipboard,
    ClipboardAck,
    UnknownMessage,
    device_message,
    get_clipboard,
    set_clipboard,
)
from lab.devices.scrcpy.scrcpy_stream import WHO, after_silence, stream_ended, the_rest

_SEND = 5.0


class ControlSocket:
    """Control socket: `say` sends messages, a thread receives the replies."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._send_lock = threading.Lock()
        # One request at a time: a clipboard reply carries no number.
        self._request_lock = threading.Lock()
        self._sequences = itertools.count(1)
        self._acknowledged = 0
        self._copies = 0
        self._copied = ""
        self._trouble: Trouble | None = None
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._receive, name="scrcpy-control", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> Trouble | None:
        """Reason why no more messages can be sent, or None."""
        return self._trouble

    def say(self, *messages: bytes) -> None:
        """Send messages together and in order. Raise `Trouble` on failure."""
        with self._send_lock:
            self._check()
            try:
                send(self._line, b"".join(messages), Deadline(_SEND), WHO, sent=True)
            except Trouble as error:
                self._finish(error)  # half a message may be out: the server would misread all that follows
                hang_up(self._line)
                raise

    def set_clipboard(self, words: str, *, paste: bool, seconds: float) -> None:
        """Set the phone's clipboard and paste it if `paste`. Return after the phone's acknowledgement."""
        with self._request_lock:
            sequence = next(self._sequences)
            self.say(set_clipboard(sequence, words, paste=paste))
            if not self._wait(lambda: self._acknowledged >= sequence, seconds):
                hint = "It may be locked, or busy."
                raise Trouble(WHO, f"the phone did not take the text within {seconds:g} s.", hint, sent=True)

    def clipboard(self, seconds: float) -> str | None:
        """Return the phone's clipboard, or None if no answer arrives in time (an empty clipboard sends none)."""
        with self._request_lock:
            before = self._copies
            self.say(get_clipboard())
            return self._copied if self._wait(lambda: self._copies > before, seconds) else None

    def close(self) -> None:
        """Close the socket and end its thread. Safe to call twice and from any thread."""
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

    def _receive(self) -> None:
        trouble = stream_ended("the control")
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
            self._finish(trouble)

    def _message(self) -> Clipboard | ClipboardAck | UnknownMessage | None:
        kind = after_silence(self._line, 1)
        if not kind:
            return None
        return device_message(kind[0], lambda count: the_rest(self._line, count))

    def _finish(self, trouble: Trouble) -> None:
        with self._change:
            self._trouble = self._trouble or trouble
            self._change.notify_all()
