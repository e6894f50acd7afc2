"""Keys that come in a burst: each goes where the one before has put the focus, none to where the focus was."""

from __future__ import annotations

import asyncio
import unicodedata
from collections import deque
from collections.abc import Sequence

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.driver import Driver

from lab.core.typed_text import clean
from screens.pasted_input import take_pastes_whole

_ROUNDS = 3
"""How deep messages of messages are waited for: what a list posts of a key, then what its holder posts of that."""
_LONGEST = 30.0
"""Seconds after which a key is given up that a handler which never ends keeps from rising: so hitlab can be left."""


def _is_blank_of_text(character: str) -> bool:
    """Whether a character that was typed belongs to a text although it paints nothing: a full-width space, a joiner.

    Textual's fields take no such key, but they take it pasted.
    """
    return character != " " and unicodedata.category(character) in ("Zs", "Cf")


class TypeAhead(App[None]):
    """An app that hands keys and pastes on one by one.

    Textual hands on all keys that are there, and runs their bindings only once they have risen through the focused
    widget and all around it; so in `/Send` all but the first would be lost on the widget where `/` was pressed. Here
    the next key waits, however long it takes, until the one before has risen, and then until whatever has the focus
    by then, a screen that is still being laid out for instance, has done all it was given.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: deque[events.Event] = deque()
        self._rising: asyncio.TimerHandle | None = None
        """While a key rises: what gives it up."""
        self._hop = 0
        """The step of its way that is taken; what comes of an earlier one no longer counts."""

    def get_driver_class(self) -> type[Driver]:
        return take_pastes_whole(super().get_driver_class())

    @property
    def typed_out(self) -> bool:
        """Whether every key that came has been handed on and has risen."""
        return self._rising is None and not self._kept

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and event.character is not None and _is_blank_of_text(event.character):
            event = events.Paste(event.character)
        elif isinstance(event, events.Paste) and not event.is_forwarded:
            event = events.Paste(clean(event.text))  # of terminals, tmux for one, that send CR between lines
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._rising is not None:
            self._kept.append(event)
        else:
            await self._hand_on(event)

    async def _hand_on(self, event: events.Event) -> None:
        loop = asyncio.get_running_loop()
        self._rising = loop.call_later(_LONGEST, self.call_later, self._next)
        target = self._holder
        await super().on_event(event)
        self._follow(target, _ROUNDS)

    @property
    def _holder(self) -> DOMNode:
        """What is given the keys."""
        return (self.focused or self.screen) if self.screen_stack else self

    def _follow(self, target: DOMNode, rounds: int) -> None:
        """Rises behind a key through all that the key rises through."""
        self._climb([node for node in target.ancestors_with_self if node is not self], target, rounds)

    def _climb(self, way: Sequence[DOMNode], target: DOMNode, rounds: int) -> None:
        """Waits until the first on the way that is there has done what it was given, or is gone; then for the next."""
        self._hop += 1
        for place, node in enumerate(way):
            if self._wait_for(node, way[place + 1 :], target, rounds):
                return
        self.call_later(self._risen, self._hop, target, rounds)

    def _wait_for(self, node: DOMNode, on: Sequence[DOMNode], target: DOMNode, rounds: int) -> bool:
        """Whether `node` still does what it is given."""
        hop, task = self._hop, node._task

        def go_on(_: object = None) -> None:
            if task is not None:
                task.remove_done_callback(go_on)
            if hop == self._hop and self._rising is not None:
                self._climb(on, target, rounds)

        if not node.call_later(go_on):
            return False
        if task is not None:
            task.add_done_callback(go_on)
        return True

    async def _risen(self, hop: int, target: DOMNode, rounds: int) -> None:
        """A key has risen to the app. Where the focus is elsewhere now, that has its turn; else what came behind it."""
        if hop != self._hop or self._rising is None:
            return
        if rounds > 1:
            self._follow(target, rounds - 1)
        elif self._holder is not target:
            self._follow(self._holder, _ROUNDS)
        else:
            await self._next()

    async def _next(self) -> None:
        if self._rising is not None:
            self._rising.cancel()
            self._rising = None
            self._hop += 1
        if self._kept:
            await self._hand_on(self._kept.popleft())
