"""Agent that plays a playbook: it reads the brief and the screen, and makes the moves one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

from msgspec.structs import replace

from lab.agents.replies import REFUSED, meaning
from lab.agents.targets import Targets, number
from lab.core.errors import LabError
from lab.core.run.action_target import action_on
from lab.core.run.step import Action, Direction, Proposed, Reply
from lab.core.run.trace import Step
from lab.core.run.ui_tree import Node, UiTree
from lab.core.seams import Screen, TaskBrief
from lab.core.task.playbook import Do, FlatMove, MoveTarget, PlaybookMove, Typed, flatten
from lab.core.task.task import Actor

T = TypeVar("T")

NAME = "playbook"
_EMPTY_TREE = UiTree()
_NEAR = 40
"""Maximum distance in pixels between two touches that count as the same."""
_MOST_SCROLLS, _MOST_UP, _MOST_PAGES = 12, 8, 4
_MOST_HELD, _MOST_OVERTAKEN = 3, 100
"""Maximum rejections of one action, and of actions by others, before the agent gives up."""
_SIMILAR = 0.5
"""Share of common labels from which two screens count as the same."""
_SHOWN = 60
"""Maximum characters of a text that a thought quotes."""


class ProposalOutcome(NamedTuple):
    """Result of a proposal: the new screen, the reply, and the action that was done, if any."""

    tree: UiTree
    reply: Reply | None = None
    done: Action | None = None


class RunOver(Exception):
    """The run is over for the agent. `last` is its final proposal."""

    def __init__(self, last: Proposed) -> None:
        super().__init__()
        self.last = last


class MissingTarget(RunOver):
    """The target of the next move is not on the screen."""


class TakenOver(Exception):
    """Someone else acted: `done` is their action, `before` the screen before it."""

    def __init__(self, action: Action, before: Targets) -> None:
        super().__init__()
        self.done = action
        self.before = before


Doing = Generator[Proposed, ProposalOutcome, T]


class PlaybookAgent:
    """Play a playbook by replaying it over the whole history, so that any run can resume and fork."""

    def __init__(self, moves: Sequence[Do], name: str = "") -> None:
        self._lines = flatten(moves)
        self._cached_plan: _CachedPlan | None = None
        self.actor = Actor("script", f"{NAME}:{name}" if name else NAME, "playbook agent")
        self.gave_up = ""

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        """Return the next action on this screen.

        It follows from the history alone. If the cached plan has seen the same steps and screens, continue it.
        """
        # Without the cached plan each step would replay the whole history.
        trees = [*(step.before.tree or _EMPTY_TREE for step in history), screen.tree]
        kept, self._cached_plan = self._cached_plan, None
        if kept is not None and kept.leads_to(history, trees):
            plan, proposed, seen = kept.plan, kept.proposed, len(kept.steps)
        else:
            plan, seen = _Play(self._lines, trees[0]).plan(), 0
            proposed = next(plan)
        for step, tree in zip(history[seen:], trees[seen + 1 :], strict=True):
            proposed = plan.send(ProposalOutcome(tree, step.reply, step.action))
        self._cached_plan = _CachedPlan(plan, proposed, list(history), trees)
        stuck = proposed.thought.startswith(_STUCK)
        self.gave_up = f"the agent gave up: {proposed.thought[len(_STUCK) :]}" if stuck else ""
        return proposed


class _CachedPlan(NamedTuple):
    """Cached plan: the generator, its last proposal, and the steps and screens that it has seen."""

    plan: Generator[Proposed, ProposalOutcome, None]
    proposed: Proposed
    steps: list[Step]
    trees: list[UiTree]

    def leads_to(self, history: Sequence[Step], trees: Sequence[UiTree]) -> bool:
        """Return True if the given steps and screens begin with the cached ones (the same objects)."""
        return (
            len(self.steps) <= len(history)
            and all(one is other for one, other in zip(self.steps, history, strict=False))
            and all(one is other for one, other in zip(self.trees, trees, strict=False))
        )


def _end_run(status: Literal["complete", "infeasible"], why: str) -> RunOver:
    return RunOver(Proposed(Action("status", status=status), why))


def _give_up(reason: str) -> MissingTarget:
    return MissingTarget(Proposed(Action("status", status="infeasible"), f"{_STUCK}{reason}."))


_STUCK = "I stop here: "
"""Beginning of the thought with which a stuck playbook ends."""


class _Play:
    """Playbook in progress: the current line, values and replies so far, and the screen."""

    def __init__(self, lines: Sequence[FlatMove], tree: UiTree) -> None:
        self.lines = lines
        self.screen = Targets(tree)
        self.at = 0
        self.values: dict[str, str] = {}
        self._trail: list[tuple[int, Targets]] = []
        self._replies: dict[int, Reply] = {}
        self._early_replies: list[Reply] = []
        self._packages: dict[str, str] = {}
        self._rounds: Counter[int] = Counter()
        self._overtaken = 0
        self._return_line: int | None = None
        """Line to return to, if actions of others led to a later one and its target is missing."""

    def plan(self) -> Generator[Proposed, ProposalOutcome, None]:
        """Yield the actions of the run, then its end again as long as a gate rejects it."""
        try:
            while True:
                yield from self._play_moves()
        except RunOver as end:
            while True:
                yield end.last

    def _play_moves(self) -> Doing[None]:
        """Make the moves until someone else acts."""
        try:
            while self.at < len(self.lines):
                line = self.lines[self.at]
                self._trail.append((self.at, self.screen))
                follows = yield from self._make_move(line)
                self.at = line.to["next"] if follows is None else follows
            raise _end_run("complete", "That is done.")
        except TakenOver as other:
            self._overtaken += 1
            if self._overtaken > _MOST_OVERTAKEN:
                raise _give_up("others act, and I cannot follow them") from None
            yield from self._catch_up(other)
        except MissingTarget:
            if self._return_line is None:
                raise
            self.at, self._return_line = self._return_line, None

    def _make_move(self, line: FlatMove) -> Doing[int | None]:
        """Make one move. Return the line to continue at, or None for the next one."""
        move = line.move
        match line.verb:
            case "ask" | "offer":
                return (yield from self._ask(line))
            case "if_seen" | "if_less" | "while_seen" | "until_seen":
                return self._branch(line)
            case "done" | "infeasible" | "answer":
                raise self._ending(line)
            case "jump" | "set":
                self.values |= {name: self._substitute(value) for name, value in (move.set or {}).items()}
            case "read":
                yield from self._read(move)
            case "open":
                yield from self._open(self._substitute(move.open or ""))
            case "tap" | "long_press":
                yield from self._touch(line.verb, self._target(getattr(move, line.verb)), move.why)
            case "turn_on" | "turn_off":
                yield from self._switch(self._substitute(getattr(move, line.verb)), line.verb == "turn_on", move.why)
            case "type":
                yield from self._type(move.type if isinstance(move.type, Typed) else Typed(move.type or ""), move.why)
            case "pick_time":
                yield from self._pick_time(self._substitute(move.pick_time or ""))
            case "scroll":
                yield from self._scroll(move.scroll or "down", move.why or f"I scroll {move.scroll}.")
            case "kind":
                action = self._spelled_action(move)
                yield from self._act(action, move.why or f"I do what is written: {action.kind}.")
            case word:
                yield from self._act(_ONE_WORD_MOVES[word][0], move.why or _ONE_WORD_MOVES[word][1])
        return None

    def _branch(self, line: FlatMove) -> int | None:
        """Return the branch that a condition selects, or None to continue after it."""
        move, to = line.move, line.to
        if line.verb == "if_seen":
            return to.get("then" if self.screen.shows(self._substitute(move.if_seen or "")) else "else")
        if line.verb == "if_less":
            one, other = (number(self._substitute(text)) for text in move.if_less or ("", ""))
            return to.get("then" if one is not None and other is not None and one < other else "else")
        self._rounds[self.at] += 1
        visible = self.screen.shows(self._substitute(move.while_seen or move.until_seen or ""))
        again = visible == (line.verb == "while_seen") and self._rounds[self.at] <= move.most
        if not again:
            self._rounds[self.at] = 0
            return None
        for place in range(self.at, to["next"]):
            self._replies.pop(place, None)  # a question within it is asked in each round
        return to.get("do")

    def _ending(self, line: FlatMove) -> RunOver:
        """Return the end that a line states."""
        move = line.move
        if line.verb == "answer":
            text = self._substitute(move.answer or "")
            return RunOver(Proposed(Action("answer", text=text), move.why or f"I found it: {text!r}."))
        if line.verb == "infeasible":
            return _end_run("infeasible", self._substitute(move.infeasible or "") or "That cannot be done.")
        return _end_run("complete", self._substitute(move.done or "") or "That is done.")

    def _substitute(self, text: str) -> str:
        """Replace names in braces by their values."""
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def _spelled_action(self, move: PlaybookMove) -> Action:
        """Return the action that a move spells out, on this screen. End the run if its target is missing."""
        written = move.written_action
        words = {
            name: self._substitute(text) for name in ("text", "app") if (text := getattr(written, name)) is not None
        }
        try:
            return action_on(replace(written, **words), self.screen.tree, None, "playbook")
        except LabError as error:
            raise _give_up(error.message.rstrip(".")) from error

    def _target(self, words: str | MoveTarget) -> MoveTarget:
        target = MoveTarget(words) if isinstance(words, str) else words
        return replace(
            target,
            text=self._substitute(target.text),
            near=self._substitute(target.near),
            without=self._substitute(target.without),
        )

    # -- acts --------------------------------------------------------------------------------------------------

    def _act(self, action: Action, thought: str) -> Doing[Reply | None]:
        """Propose an action until it is accepted. Return the reply if it was a question."""
        for _ in range(_MOST_HELD):
            before = self.screen
            outcome = yield Proposed(action, thought)
            self.screen = Targets(outcome.tree)
            self._remember_package(before, outcome.done)
            if action.kind == "ask_user" and outcome.reply is not None:
                return outcome.reply
            # A reply that arrives with another action answers the next question.
            if outcome.reply is not None:
                self._early_replies.append(outcome.reply)
            if outcome.done is not None and not _is_same_action(outcome.done, action):
                raise TakenOver(outcome.done, before)
            if outcome.done is not None:
                return None
        what = "my question was" if action.kind == "ask_user" else "what I want to do is"
        raise _give_up(f"{what} not let through")

    def _remember_package(self, before: Targets, action: Action | None) -> None:
        """Store which package belongs to an app's name, whoever opened the app."""
        name = action.app if action is not None else ""
        in_other_app = before.package != self.screen.package
        if in_other_app and action is not None and action.kind == "click" and action.at is not None:
            name = before.tree.label_at(*action.at)
        if name:
            self._packages.setdefault(name.casefold(), self.screen.package)

    def _touch(self, kind: str, target: MoveTarget, why: str) -> Doing[None]:
        node = yield from self._seek(lambda: self.screen.find(target), target.text)
        verb = "tap" if kind == "tap" else "hold"
        yield from self._press(node, why or f"I {verb} {_quoted_name(node, target.text)}.", kind)

    def _press(self, node: Node, thought: str, kind: str = "tap") -> Doing[None]:
        """Touch the center of a node, after removing a keyboard or waiting for a notice above it."""
        for _ in range(2):
            over = self.screen.covered(node.bounds.center)
            if over == "keyboard":
                yield from self._act(Action("navigate_back"), "I put the keyboard away.")
                node = self.screen.current_node(node)
            elif over:
                yield from self._act(Action("wait", ms=1000), "Something lies over what I want to tap; I wait.")
        yield from self._act(Action("click" if kind == "tap" else "long_press", at=node.bounds.center), thought)

    def _switch(self, label: str, on: bool, why: str) -> Doing[None]:
        node = yield from self._seek(lambda: self.screen.switch(label), label)
        if node.checked != on:
            yield from self._press(node, why or f"I turn {'on' if on else 'off'} {label!r}.")

    def _scroll(self, direction: Direction, thought: str) -> Doing[bool]:
        """Scroll the largest list. Return False if nothing moved."""
        list_node = self.screen.list()
        if list_node is None:
            return False
        before = self.screen.content_hash
        yield from self._act(Action("scroll", at=list_node.bounds.center, direction=direction), thought)
        return self.screen.content_hash != before

    def _seek(self, find: Callable[[], T | None], words: str) -> Doing[T]:
        """Return what `find` finds, scrolling down and then up. End the run if it is not there."""
        directions: tuple[Direction, ...] = ("down", "up")
        for direction in directions:
            for _ in range(_MOST_SCROLLS):
                node = find()
                if node is not None:
                    return node
                if not (yield from self._scroll(direction, f"I scroll {direction} to find {words!r}.")):
                    break
        node = find()
        if node is not None:
            return node
        # The list may show only the results of an earlier search. Clear that and look once more.
        search_field = self.screen.left_search()
        if search_field is None:
            raise _give_up(f"I do not find {words!r} on the screen")
        yield from self._fill(search_field, "", "What was searched before hides it; I clear that.")
        if self.screen.left_search() is not None:
            raise _give_up(f"I do not find {words!r} on the screen")
        if self.screen.typing():
            yield from self._act(Action("navigate_back"), "I put the keyboard away.")
        return (yield from self._seek(find, words))

    def _read(self, move: PlaybookMove) -> Doing[None]:
        assert move.read is not None
        reading = replace(
            move.read,
            beside=self._substitute(move.read.beside),
            after=self._substitute(move.read.after),
            until=self._substitute(move.read.until),
        )
        self.values[reading.into] = yield from self._seek(
            lambda: self.screen.value(reading), reading.beside or reading.after or reading.until
        )

    def _type(self, entry: Typed, why: str) -> Doing[None]:
        name, text = self._substitute(entry.into), self._substitute(entry.text)
        field = yield from self._seek(lambda: self.screen.field(name), name or "a field")
        yield from self._fill(field, text, why or f"I type {text[:_SHOWN]!r}.")

    def _pick_time(self, time: str) -> Doing[None]:
        for name, digits in zip(("Hour", "Minute"), time.split(":"), strict=False):
            field = yield from self._seek(lambda name=name: self.screen.field(name), name)  # type: ignore[misc]
            yield from self._fill(field, digits, f"It is {time}: I type {digits} as the {name.lower()}.", fresh=True)

    def _fill(self, field: Node, text: str, thought: str, *, fresh: bool = False) -> Doing[None]:
        """Replace the text of a field. `fresh` if typing is likely to replace it by itself."""
        for attempt in range(3):
            here = self.screen.find_again(field)
            if here is None or same_text(here.text, text):
                return
            clear = self.screen.clear(here) if here.text else None
            if clear is not None:
                yield from self._press(clear, f"I clear what stands there: {here.text[:_SHOWN]!r}.")
                here = self.screen.find_again(field) or here
            if not here.focused:
                yield from self._press(here, f"I put the cursor into {_quoted_name(here, 'the field')}.")
                here = self.screen.find_again(field) or here
            prefix_length = 0
            if attempt or not fresh:
                prefix_length = yield from self._erase(here, text)
            if text[prefix_length:]:
                yield from self._act(Action("input_text", text=text[prefix_length:]), thought)

    def _erase(self, field: Node, text: str) -> Doing[int]:
        """Delete the part of the field's text that differs. Return the length of the remaining common prefix."""
        pairs = enumerate(zip(field.text, text, strict=False))
        prefix_length = next((i for i, (a, b) in pairs if a != b), min(len(field.text), len(text)))
        thought = f"I delete what stands there: {field.text[:_SHOWN]!r}."
        for _ in range(len(field.text) - prefix_length):
            key = self.screen.key("Backspace", "Delete")
            if key is None:
                break
            yield from self._act(Action("click", at=key.bounds.center), thought)
        return prefix_length

    # -- apps --------------------------------------------------------------------------------------------------

    def _open(self, name: str) -> Doing[None]:
        """Open an app and go to its first screen, because an app opens on the screen where it was left."""
        if self._packages.get(name.casefold(), "") != self.screen.package or not self.screen.package:
            yield from self._open_from_home(name)
        for _ in range(_MOST_UP):
            up = self.screen.up_button()
            if self.screen.typing():
                yield from self._act(Action("navigate_back"), "I put the keyboard away.")
            elif self.screen.panel():
                yield from self._act(Action("navigate_back"), "Something lies over the app; I close it.")
            elif up is not None:
                yield from self._press(up, "I go up to the first screen of the app.")
            else:
                return

    def _open_from_home(self, name: str) -> Doing[None]:
        """Open an app from the home screen."""
        yield from self._act(Action("navigate_home"), f"I go to the home screen to open {name}.")
        # The apps may be on pages to the side, or in a drawer below.
        directions: tuple[Direction, ...] = ("left", "up")
        for direction in directions:
            for _ in range(_MOST_PAGES):
                icon = self.screen.find(MoveTarget(name))
                if icon is not None:
                    yield from self._press(icon, f"I open {name}.")
                    self._packages[name.casefold()] = self.screen.package
                    return
                before = self.screen.content_hash
                swipe = Action("swipe", at=(540, 1500), direction=direction)
                yield from self._act(swipe, "I look for the app on the next page.")
                if self.screen.content_hash == before:
                    break
        raise _give_up(f"I do not find the app {name!r}")

    # -- the person --------------------------------------------------------------------------------------------

    def _ask(self, line: FlatMove) -> Doing[int | None]:
        """Ask or offer. Ask a second time if the reply settles nothing. Return the line to continue at."""
        move, to = line.move, line.to
        question = self._substitute(move.ask or move.offer or "")
        thought = move.why or "I cannot know that, so I ask."
        for again in (False, True):
            if self.at not in self._replies or again:
                self._replies[self.at] = yield from self._reply(question, thought)
            word, value = meaning(move, self._replies[self.at])
            if move.into and value is not None:
                self.values[move.into] = value
            if word in to:
                return to[word]
            if word == "reject":
                raise _end_run("complete", REFUSED)
            if word != "else":
                return None
            question = _repeat_question(move, question)
            thought = "That did not tell me, so I ask once more."
        if move.usual:
            self.values[move.into] = move.usual
            return to.get(move.usual)
        if move.offer is not None:
            raise _end_run("complete", REFUSED)
        raise _give_up(f"I could not tell which of {', '.join(move.meanings)} it shall be")

    def _reply(self, question: str, thought: str) -> Doing[Reply]:
        if self._early_replies:
            return self._early_replies.pop(0)
        reply = yield from self._act(Action("ask_user", text=question), thought)
        assert reply is not None
        return reply

    # -- others act --------------------------------------------------------------------------------------------

    def _catch_up(self, other: TakenOver) -> Doing[None]:
        """Continue after someone else's action: after the move that it made, or at the newest move possible here."""
        for place in self._lines_ahead():
            follows = self._line_after(self.lines[place], place, other)
            if follows is not None:
                self._return_line = self.at if place > self.at else self._return_line
                for line in self.lines[self.at : place]:
                    self._skip_line(line, other.before)
                self.at = follows
                return
        # These moves do not depend on the screen, or the screen has not changed.
        if (
            self.lines[self.at].verb in ("open", "ask", "offer")
            or self.screen.content_hash == other.before.content_hash
        ):
            return
        app = self._app_name(other.before.package)
        try:
            if app and self.screen.package != other.before.package:
                yield from self._open_from_home(app)
        except TakenOver:
            return
        self.at = self._newest_possible_line(other.before)

    def _lines_ahead(self) -> Iterator[int]:
        """Yield the lines from the current one to the next that opens an app."""
        for place in range(self.at, len(self.lines)):
            yield place
            if place > self.at and self.lines[place].verb == "open":
                return

    def _skip_line(self, line: FlatMove, before: Targets) -> None:
        """Take over the values of a line that was skipped because someone else acted."""
        self.values |= {name: self._substitute(value) for name, value in (line.move.set or {}).items()}
        reading = line.move.read
        value = (before.value(reading) or self.screen.value(reading)) if reading is not None else None
        if reading is not None and value is not None:
            self.values[reading.into] = value

    def _line_after(self, line: FlatMove, place: int, other: TakenOver) -> int | None:
        """Return the next line if the action is this line's move, this line if it opened its app, else None."""
        action, move, before = other.done, line.move, other.before
        if action.kind == "input_text" and isinstance(move.type, Typed):
            field = before.field(self._substitute(move.type.into))
            same = (
                field is not None and field.focused and same_text(action.text or "", self._substitute(move.type.text))
            )
            return line.to["next"] if same else None
        if action.kind not in ("click", "long_press") or action.at is None:
            return None
        node = None
        match line.verb:
            case "tap" | "long_press":
                node = before.find(self._target(getattr(move, line.verb)))
            case "turn_on" | "turn_off":
                node = before.switch(self._substitute(getattr(move, line.verb)))
            case "open":
                package = self._packages.get(self._substitute(move.open or "").casefold())
                return place if package and package == self.screen.package != before.package else None
        if node is None or not before.tappable(node).bounds.contains(*action.at):
            return None
        return line.to["next"]

    def _app_name(self, package: str) -> str:
        """Return the name of a package's app, empty for the home screen."""
        app_names = (self.lines[place].move.open for place, _ in reversed(self._trail))
        names = [self._substitute(name) for name in app_names if name]
        return next((name for name in names if self._packages.get(name.casefold()) == package), "")

    def _newest_possible_line(self, before: Targets) -> int:
        """Return the newest line, since an app was opened, that can run here and ran on a similar screen.

        If no screen is similar enough, return the line with the most similar one, else the line that opens the app.
        """
        now = self.screen.labels
        best, most = self.at, 0.0
        for place, then in [(self.at, before), *reversed(self._trail)]:
            if self.lines[place].verb == "open":
                return best if most else place
            alike = len(now & then.labels) / max(1, len(now | then.labels))
            if alike > most and self._is_possible(self.lines[place]):
                best, most = place, alike
                if alike >= _SIMILAR:
                    break
        return best

    def _is_possible(self, line: FlatMove) -> bool:
        move = line.move
        match line.verb:
            case "tap" | "long_press":
                return self.screen.find(self._target(getattr(move, line.verb))) is not None
            case "turn_on" | "turn_off":
                return self.screen.switch(self._substitute(getattr(move, line.verb))) is not None
            case "type":
                return isinstance(move.type, Typed) and self.screen.field(self._substitute(move.type.into)) is not None
            case "pick_time":
                return self.screen.field("Hour") is not None
        return False


_ONE_WORD_MOVES = {
    "back": (Action("navigate_back"), "I go back."),
    "home": (Action("navigate_home"), "I go to the home screen."),
    "enter": (Action("keyboard_enter"), "I press enter."),
    "wait": (Action("wait", ms=1000), "I wait a moment."),
}
"""Actions of the one-word moves, with their thoughts."""


def _is_same_action(action: Action, proposed: Action) -> bool:
    """Return True if the action done is the one proposed, or a touch so near that it means the same."""
    if action.at is None or proposed.at is None:
        return action == proposed
    near = max(abs(action.at[0] - proposed.at[0]), abs(action.at[1] - proposed.at[1])) <= _NEAR
    return (action.kind, action.text, action.direction) == (proposed.kind, proposed.text, proposed.direction) and near


def same_text(one: str, other: str) -> bool:
    """Return True if two texts are equal except for spaces and line breaks, which a one-line field loses."""
    return one.split() == other.split()


def _quoted_name(node: Node, words: str) -> str:
    """Return an element's name for use in a thought."""
    return repr(" ".join((node.desc or node.text or words)[:_SHOWN].split()))


def _repeat_question(move: PlaybookMove, question: str) -> str:
    if not move.meanings:
        return f"That I cannot tell. {question}"
    return f"I need one of these: {', '.join(move.meanings)}. Which shall it be?"
