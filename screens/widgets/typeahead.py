"""Dispatch of fast typing: each key goes to the focus that the previous key has set."""

from __future__ import annotations

import asyncio
import unicodedata
from collections import deque
from collections.abc import Sequence

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.driver import Driver

from lab.core.text.typed_text import clean
from screens.pasted_input import take_pastes_whole

_ROUNDS = 3
"""Rounds of messages to wait for: those that a list posts for a key, then those of its parent, and so on."""
_LONGEST = 30.0
"""Seconds after which a key is abandoned whose handler never ends, so that a person can still quit."""


def _is_blank_of_text(character: str) -> bool:
    """Return True if a typed character belongs to a text but paints nothing: a full-width space, a joiner.

    Textual's fields ignore such a key, but accept the character pasted.
    """
    return character != " " and unicodedata.category(character) in ("Zs", "Cf")


class TypeAhead(App[None]):
    """An app that dispatches keys and pastes one at a time.

    Textual dispatches all queued keys at once, and runs their bindings only after they have bubbled through the focused
    widget and its ancestors. So of `/Send` all but the first key would go to the widget where `/` was pressed. Here the
    next key waits, however long, until the one before has bubbled, and then until the widget that has the focus by then
    (a screen that is still being laid out, for instance) has handled all its messages.
    """

    def __init__(self) -> None:
        super().__init__()
        self._queued: deque[events.Event] = deque()
        self._key_timeout: asyncio.TimerHandle | None = None
        """Timer that abandons the key under way, or None if no key is under way."""
        self._hop = 0
        """Number of the current hop. Callbacks of earlier hops are ignored."""

    def get_driver_class(self) -> type[Driver]:
        return take_pastes_whole(super().get_driver_class())

    @property
    def idle(self) -> bool:
        """True if every key so far has been dispatched and has bubbled."""
        return self._key_timeout is None and not self._queued

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and event.character is not None and _is_blank_of_text(event.character):
            event = events.Paste(event.character)
        elif isinstance(event, events.Paste) and not event.is_forwarded:
            event = events.Paste(clean(event.text))  # of terminals, tmux for one, that send CR between lines
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._key_timeout is not None:
            self._queued.append(event)
        else:
            await self._dispatch_key(event)

    async def _dispatch_key(self, event: events.Event) -> None:
        loop = asyncio.get_running_loop()
        # Through the app's queue, which awaits `_dispatch_next`. The event loop alone would not.
        self._key_timeout = loop.call_later(_LONGEST, self.call_later, self._dispatch_next)
        target = self._key_target
        await super().on_event(event)
        self._follow_key(target, _ROUNDS)

    @property
    def _key_target(self) -> DOMNode:
        """The node that receives the keys."""
        return (self.focused or self.screen) if self.screen_stack else self

    def _follow_key(self, target: DOMNode, rounds: int) -> None:
        """Wait for a key to bubble through the same nodes as the key does."""
        self._climb([node for node in target.ancestors_with_self if node is not self], target, rounds)

    def _climb(self, way: Sequence[DOMNode], target: DOMNode, rounds: int) -> None:
        """Wait for the first existing node on the way to handle its messages or to end. Then wait for the next."""
        self._hop += 1
        for place, node in enumerate(way):
            if self._wait_for(node, way[place + 1 :], target, rounds):
                return
        self.call_later(self._finish_key, self._hop, target, rounds)

    def _wait_for(self, node: DOMNode, on: Sequence[DOMNode], target: DOMNode, rounds: int) -> bool:
        """Return False if `node` is closing. Else continue the climb once it has handled its pending messages."""
        # Textual has no public handle of a node's message loop.
        hop, task = self._hop, node._task

        def go_on(_: object = None) -> None:
            if task is not None:
                task.remove_done_callback(go_on)
            if hop == self._hop and self._key_timeout is not None:
                self._climb(on, target, rounds)

        if not node.call_later(go_on):
            return False
        if task is not None:
            task.add_done_callback(go_on)
        return True

    async def _finish_key(self, hop: int, target: DOMNode, rounds: int) -> None:
        """Handle a key's arrival at the app: follow the new focus if it has moved, else dispatch the next key."""
        if hop != self._hop or self._key_timeout is None:
            return
        if rounds > 1:
            self._follow_key(target, rounds - 1)
        elif self._key_target is not target:
            self._follow_key(self._key_target, _ROUNDS)
        else:
            await self._dispatch_next()

    async def _dispatch_next(self) -> None:
        if self._key_timeout is not None:
            self._key_timeout.cancel()
            self._key_timeout = None
            self._hop += 1
        if self._queued:
            await self._dispatch_key(self._queued.popleft())
