"""Eyes and hands: what a screen offers by its words and roles, and the acts that get somewhere on any app.

Every doing looks at the screen before it acts and after, so it goes on from wherever a person has left the phone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from lab.agents.doing import Doing, GiveUp, Overtaken, Seen
from lab.agents.reading import mentions, words
from lab.turn import Action, Direction, Proposed
from lab.uitree import Bounds, Node, UiTree

_SYSTEM = re.compile(r"systemui|keyboard|inputmethod|\.ime\b|latin$", re.IGNORECASE)
_UP = ("Navigate up", "Back", "Close", "Cancel", "返回")
_LIST = re.compile(r"(RecyclerView|ListView|ScrollView)$")
_ERASE = ("Backspace", "Delete")
_MOST_IDLE, _MOST_ALIKE = 3, 12
"""How often one act may be done on one and the same screen, without and with effect, before the agent is lost."""


class Hands:
    """The screen as it is now, and what can be done on it."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self._alike: Counter[tuple[object, ...]] = Counter()
        self._packages: dict[tuple[str, ...], str] = {}
        self.witnessed: list[UiTree] = []
        """The screens that someone else's acts led to."""

    # -- looking ---------------------------------------------------------------------------------------------

    def nodes(self) -> list[Node]:
        """Everything that apps show, in drawing order: no status bar, no keyboard; only the uppermost dialog."""
        roots = [r for r in self.seen.tree.roots if not _SYSTEM.search(r.package) and r.bounds.area]
        return [node for node in roots[-1].walk() if node.bounds.area] if roots else []

    def package(self) -> str:
        """The app in front."""
        nodes = self.nodes()
        return nodes[0].package if nodes else ""

    def texts(self) -> list[str]:
        """All words shown, in drawing order."""
        return [text for node in self.nodes() for text in (node.text, node.desc) if text]

    def notices(self) -> list[str]:
        """What the system's own windows say (status bar, notifications), each part joined as one line."""
        roots = [r for r in self.seen.tree.roots if _SYSTEM.search(r.package) and r.bounds.area]
        lines = []
        for root in roots:
            for node in root.walk():
                if node.text and not node.children:
                    lines.append(node.text)
                elif node.clickable and node.children:
                    lines.append(self.words_of(node))
        return list(dict.fromkeys(lines))

    def shows(self, *labels: str) -> bool:
        """Whether any of these words stand on the screen."""
        return any(mentions(text, label) for text in self.texts() for label in labels)

    def find(self, *labels: str, exact: bool = False, role: str = "", cls: str = "") -> Node | None:
        """What is called so: exactly before roughly, the topmost drawn last wins; `role` is `tap`, `field`, `check`."""
        fits = [n for n in self.nodes() if n.enabled and _role(n, role) and n.cls.endswith(cls)]
        fits = fits if role == "field" else [n for n in fits if not _role(n, "field")]
        for label in labels:
            wanted = words(label)
            for test in (
                lambda n, w=wanted: w in (words(n.text), words(n.desc)),
                *(() if exact else (lambda n, w=label: mentions(n.text, w) or mentions(n.desc, w),)),
            ):
                found = [node for node in fits if wanted and test(node)]
                if found:
                    return min(found, key=lambda node: (not self.target(node).clickable, len(node.label)))
        return None

    def target(self, node: Node) -> Node:
        """The clickable thing a tap on a node reaches."""
        return self.seen.tree.target(node)

    def row(self, node: Node) -> Node:
        """The smallest clickable or checkable thing around a node, or the node itself."""
        around = [n for n in self.nodes() if (n.clickable or n.checkable) and _inside(node.bounds, n.bounds)]
        return min(around, key=lambda n: n.bounds.area, default=node)

    def row_of(self, node: Node) -> list[Node]:
        """Everything that lies around a node, itself too."""
        return [n for n in self.nodes() if _inside(node.bounds, n.bounds)]

    def switch(self, *labels: str) -> Node | None:
        """The thing to be checked that is called so: itself, or what stands in the same row as the words."""
        own = self.find(*labels, role="check")
        if own is not None:
            return own
        title = self.find(*labels)
        return next((n for n in self.row(title).walk() if n.checkable), None) if title is not None else None

    def words_of(self, node: Node) -> str:
        """All words inside a node, in drawing order."""
        return " ".join(dict.fromkeys(text for n in node.walk() for text in (n.text, n.desc) if text))

    def fields(self) -> list[Node]:
        """The text fields, from the top down."""
        return [node for node in self.nodes() if _role(node, "field")]

    def lists(self) -> list[Node]:
        """What scrolls up and down, the largest first."""
        found = [n for n in self.nodes() if n.scrollable and n.bounds.height > 300]
        return sorted(found, key=lambda n: -n.bounds.area)

    def body(self) -> Node | None:
        """Where the content stands, apart from bars: the largest list, scrollable or not, else the whole screen."""
        lists = [n for n in self.nodes() if n.scrollable or _LIST.search(n.cls)]
        nodes = self.nodes()
        return max(lists, key=lambda n: n.bounds.area, default=nodes[0] if nodes else None)

    # -- acting ----------------------------------------------------------------------------------------------

    def act(self, action: Action, thought: str) -> Doing[None]:
        """Proposes one act; lost (`GiveUp`) where the same was done on the same screen again and again."""
        before = self.look()
        key = (action.kind, action.at, action.text, action.direction, before)
        self.seen = yield Proposed(action, thought)
        if action.kind == "ask_user" and (self.seen.reply is not None or self.seen.held):
            return
        if not self.seen.done:
            held = (*key, "held")
            self._alike[held] += self.seen.held
            if self._alike[held] >= _MOST_IDLE:
                raise GiveUp("what I want to do is not let through")
            self.witnessed.append(self.seen.tree)
            raise Overtaken
        self._alike[key] += 1
        idle = (*key, "idle")
        self._alike[idle] += self.look() == before
        if self._alike[idle] >= _MOST_IDLE:
            raise GiveUp(f"I did the same thing {_MOST_IDLE} times and the screen did not change")
        if self._alike[key] >= _MOST_ALIKE:
            raise GiveUp("I came to the same screen again and again")

    def look(self) -> int:
        """A number that two screens share when they show the same."""
        return hash(tuple((n.text, n.desc, n.checked, n.selected, n.bounds) for n in self.nodes()))

    def tap(self, node: Node, thought: str) -> Doing[None]:
        """Taps the middle of a node, once nothing (a notification, a toast) lies over it."""
        for _ in range(2):
            if not self._covered(node):
                break
            yield from self.act(Action("wait", ms=1000), "Something lies over what I want to tap; I wait for it to go.")
        yield from self.act(Action("click", at=node.bounds.center), thought)

    def _covered(self, node: Node) -> bool:
        """Whether a window drawn later than the app's holds the place where a node would be tapped."""
        x, y = node.bounds.center
        roots = [r for r in self.seen.tree.roots if r.bounds.area]
        own = max((i for i, r in enumerate(roots) if not _SYSTEM.search(r.package)), default=0)
        return any(r.bounds.holds(x, y) for r in roots[own + 1 :])

    def back(self, thought: str) -> Doing[None]:
        yield from self.act(Action("navigate_back"), thought)

    def home(self, thought: str = "I go to the home screen.") -> Doing[None]:
        yield from self.act(Action("navigate_home"), thought)

    def scroll(self, direction: Direction, thought: str) -> Doing[bool]:
        """Scrolls the largest list; False where nothing moved or nothing scrolls."""
        lists = self.lists()
        if not lists:
            return False
        before = self.look()
        yield from self.act(Action("scroll", at=lists[0].bounds.center, direction=direction), thought)
        return self.look() != before

    def seek(self, *labels: str, exact: bool = False, role: str = "", most: int = 12) -> Doing[Node | None]:
        """Finds something, scrolling down and then up for it."""
        for direction in ("down", "up"):
            for _ in range(most):
                found = self.find(*labels, exact=exact, role=role)
                if found is not None:
                    return found
                moved = yield from self.scroll(
                    "down" if direction == "down" else "up", f"I scroll {direction} to find {labels[0]!r}."
                )
                if not moved:
                    break
        return self.find(*labels, exact=exact, role=role)

    def fill(self, field: Node, text: str, thought: str, *, fresh: bool = False) -> Doing[bool]:
        """Puts a text into a field in place of what stands there; True once the field holds it.

        `fresh` where typing is likely to replace what stands there, as in a time's two digits: deleted only if not.
        """
        for attempt in range(3):
            here = self._again(field)
            if here is None or _alike(here.text, text):
                return here is not None
            if not here.focused:
                yield from self.tap(here, f"I put the cursor into {here.desc or 'the field'!r}.")
                here = self._again(field) or here
            kept = 0
            if attempt or not fresh:
                kept = _shared(here.text, text)
                yield from self._erase(here, len(here.text) - kept)
            if text[kept:]:
                yield from self.act(Action("input_text", text=text[kept:]), thought)
        here = self._again(field)
        return here is not None and _alike(here.text, text)

    def _erase(self, field: Node, count: int) -> Doing[None]:
        """Deletes from the end of the field with the cursor, by the keyboard's own key where it can be seen."""
        for _ in range(count):
            key = next((n for n in self.seen.tree.nodes() if n.desc in _ERASE and n.clickable), None)
            if key is None:
                return
            yield from self.act(Action("click", at=key.bounds.center), f"I delete what stands there: {field.text!r}.")

    def _again(self, field: Node) -> Node | None:
        """A field seen before, on the screen as it is now: it moves when the keyboard comes."""
        fields = self.fields()
        same = [f for f in fields if (f.id, f.desc) == (field.id, field.desc)] or fields
        return min(same, key=lambda f: abs(f.bounds.center[1] - field.bounds.center[1]), default=None)

    def open_app(self, *names: str, hints: Sequence[str] = ()) -> Doing[bool]:
        """Opens an app from the home screen by its name, or by a word of what such apps are called; True once open."""
        if self._packages.get(names or tuple(hints)) == self.package():
            yield from self.to_root()
            return True
        yield from self.home(f"I go to the home screen to open {names[0] if names else hints[0]}.")
        for direction in ("left", "up"):
            for _ in range(4):
                icon = self._icon(names, hints)
                if icon is not None:
                    before = self.look()
                    yield from self.tap(icon, f"I open {icon.label}.")
                    if self.look() != before:
                        self._packages[names or tuple(hints)] = self.package()
                        yield from self.to_root()
                        return True
                before = self.look()
                yield from self.act(
                    Action("swipe", at=(540, 1500), direction="left" if direction == "left" else "up"),
                    "I look for the app on the next page.",
                )
                if self.look() == before:
                    break
        return False

    def to_root(self) -> Doing[None]:
        """Goes to the first screen of the app in front, for an app opens where it was left: panels away, then up."""
        for _ in range(8):
            up = self.find(*_UP, exact=True, role="tap")
            if any(field.focused for field in self.fields()):
                yield from self.back("I put the keyboard away.")
            elif self._panel():
                yield from self.back("Something lies over the app; I close it.")
            elif up is not None:
                yield from self.tap(up, "I go up to the first screen of the app.")
            else:
                return

    def _panel(self) -> bool:
        """Whether what is in front is a sheet or a dialog: it does not fill the screen."""
        roots = [r for r in self.seen.tree.roots if r.bounds.area]
        own = [r.bounds for r in roots if not _SYSTEM.search(r.package)]
        wide = max((r.bounds.right for r in roots), default=0)
        return bool(own) and (own[-1].top > 200 or own[-1].width < 0.95 * wide)

    def _icon(self, names: Iterable[str], hints: Iterable[str]) -> Node | None:
        icon = self.find(*names, exact=True, role="tap") if names else None
        icon = icon or (self.find(*names, exact=True) if names else None)
        return icon or next((found for hint in hints if (found := self.find(hint)) is not None), None)


def _role(node: Node, role: str) -> bool:
    match role:
        case "tap":
            return node.clickable
        case "field":
            return node.cls.endswith("EditText") or (node.focusable and "Edit" in node.cls)
        case "check":
            return node.checkable
    return True


def _alike(one: str, other: str) -> bool:
    """Whether two texts are the same but for their spaces and line breaks, which a field of one line loses."""
    return one.split() == other.split()


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _inside(inner: Bounds, outer: Bounds) -> bool:
    return outer.cut(inner) == inner
