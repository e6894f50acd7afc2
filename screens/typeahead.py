"""Keys that come in a burst: each goes where the one before has put the focus, none to where the focus was."""

from __future__ import annotations

import asyncio
from collections import deque

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump

_ROUNDS = 3
"""How deep messages of messages are waited for: what a list posts of a key, then what its holder posts of that."""
_PATIENCE = 0.5
"""Seconds after which the next key is handed on whatever became of the one before."""


class TypeAhead(App[None]):
    """An app that hands keys and pastes on one by one.

    Textual hands on all keys that are there, and runs their bindings only once they have risen through the focused
    widget and all around it; so in `/Send` all but the first would be lost on the widget where `/` was pressed.
    """

    class Followed(Message):
        """Rises behind a key through all that the key rises through."""

        def __init__(self, serial: int, target: MessagePump, rounds: int) -> None:
            super().__init__()
            self.serial = serial
            self.target = target
            self.rounds = rounds

    def __init__(self) -> None:
        super().__init__()
        self._kept: deque[events.Event] = deque()
        self._serial = 0
        self._rising: asyncio.TimerHandle | None = None
        """While a key rises: what ends the wait for it."""

    @property
    def typed_out(self) -> bool:
        """Whether every key that came has been handed on and has risen."""
        return self._rising is None and not self._kept

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._rising is not None:
            self._kept.append(event)
        else:
            await self._hand_on(event)

    async def _hand_on(self, event: events.Event) -> None:
        self._serial += 1
        last = self.Followed(self._serial, self, 0)
        self._rising = asyncio.get_running_loop().call_later(_PATIENCE, self.post_message, last)
        target = (self.focused or self.screen) if self.screen_stack else self
        await super().on_event(event)
        self._follow(self.Followed(self._serial, target, _ROUNDS))

    def _follow(self, followed: Followed) -> None:
        if not followed.target.post_message(followed):
            self.post_message(self.Followed(followed.serial, self, 0))

    async def on_type_ahead_followed(self, message: Followed) -> None:
        """A key has risen to the app; what came behind it is next."""
        if message.serial != self._serial or self._rising is None:
            return
        if message.rounds > 1:
            self._follow(self.Followed(message.serial, message.target, message.rounds - 1))
            return
        self._rising.cancel()
        self._rising = None
        if self._kept:
            await self._hand_on(self._kept.popleft())
