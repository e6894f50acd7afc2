"""The app's rooms, a row each. Modes, keys, style sheets and what a seat may enter follow from the row."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lab.studies.seats import Seat, may_answer, may_author, may_rate, may_replay, may_review, sees_outcomes

if TYPE_CHECKING:
    from textual.screen import Screen


def anyone(seat: Seat) -> bool:
    """Return True: every seat has the room."""
    return True


class Room(NamedTuple):
    """A room. `screen` is its class, as module:class, which is imported when the room is first entered."""

    name: str
    title: str
    screen: str
    may_enter: Callable[[Seat], bool] = anyone
    """Rule of `lab.studies.seats` that says which seats have the room."""
    key: str = ""
    """Key that opens it from anywhere, empty for a room that others open."""
    tooltip: str = ""
    styles: tuple[str, ...] = ()
    """Folders with a style sheet of their own name."""
    if_empty: tuple[str, str] = ("", "")
    """Error and hint while nothing is open in it. Without one, the room can always be entered."""
    shows_results: bool = False
    """True for rooms about one study's results. All show the study that was opened last in any of them."""
    signed: bool = False
    """True if its work is signed with a study code. The app asks for one if the person is unnamed."""
    for_blind_rater: Literal["never", "if named", "always"] = "never"
    """Access of a rater with an open study, who looks nothing up. "if named": if the command line named the room."""

    def load_class(self) -> Callable[..., Screen[None]]:
        """Import its screen's class."""
        module, _, name = self.screen.partition(":")
        kind: Any = getattr(import_module(module), name)
        return kind  # type: ignore[no-any-return]


_NO_STUDY = ("no study is open.", "{studies.agreement:a} on a study in Home ({app.home}) opens it.")

# In the order of the cascade: where two rooms style the same widget, the later sheet wins.
_ROOMS = (
    Room(
        "home", "Home", "screens.home.home:HomeScreen", key="f2", tooltip="Runs, tasks, devices",
        for_blind_rater="always",
    ),
    Room(
        "replay", "Replay", "screens.replay.replay:ReplayScreen", may_replay, "f4", "The run replayed", ("replay",),
        ("no run is open.", "{list.open} on a run in Home ({app.home}) opens it."),
    ),
    Room(
        "live", "Live", "screens.launcher:LiveLauncher", anyone, "f3", "The run under way", ("live", "record"),
        ("no run is live.", "{list.open} on a task in Home ({app.home}) starts one."),
    ),
    Room(
        "author", "Author", "screens.author.author:AuthorScreen", may_author, "f9", "The design drafted", ("author",),
        ("no design is open.", "{home.author:a} on a run or a task in Home ({app.home}) opens its design."),
        signed=True,
    ),
    Room(
        "review", "Review", "screens.review.review:ReviewScreen", may_review, "f10", "Proofread recordings",
        ("review",), signed=True, for_blind_rater="if named",
    ),
    Room(
        "privacy", "Privacy", "screens.review.privacy:PrivacyScreen", may_review, "f12",
        "Take out of recordings what is private", signed=True, for_blind_rater="if named",
    ),
    Room("runs", "Runs", "screens.runs.runs:RunsScreen", sees_outcomes, "f11", "All runs as a table", ("runs",)),
    Room(
        "compare", "Compare", "screens.compare.compare:CompareScreen", sees_outcomes, styles=("compare",),
        if_empty=("no two runs are open.", "{runs.compare:c} on two runs in Runs ({app.runs}) opens them."),
    ),
    Room(
        "play", "Play", "screens.play.play:PlayScreen", styles=("play",),
        if_empty=("no study is open.", "`hitlab study rate STUDY --person CODE` opens one."),
    ),
    Room(
        "annotate", "Annotate", "screens.annotate.annotate:AnnotateScreen", may_rate, "f5", "The study that is rated",
        ("annotate",), ("no study is open.", "{list.open} on a study in Home ({app.home}) opens it."),
        for_blind_rater="always",
    ),
    Room(
        "agreement", "Agreement", "screens.agreement.agreement:AgreementScreen", sees_outcomes, "f6",
        "How far a study's raters agree", ("agreement",), _NO_STUDY, shows_results=True,
    ),
    Room(
        "raters", "Raters", "screens.raters.raters:RatersScreen", sees_outcomes, "f8", "Each rater by themself",
        ("raters",), _NO_STUDY, shows_results=True,
    ),
    Room(
        "progress", "Progress", "screens.study_progress.study_progress:ProgressScreen", sees_outcomes,
        styles=("study_progress",), shows_results=True,
        if_empty=("no study is open.", "{studies.progress:w} on a study in Home ({app.home}) shows how far it is."),
    ),
    Room(
        "adjudicate", "Adjudicate", "screens.adjudicate.adjudicate:AdjudicateScreen", sees_outcomes, "f7",
        "Settle what raters disagree on", ("adjudicate",), _NO_STUDY, shows_results=True, signed=True,
    ),
    Room("answer", "Answer", "screens.answer.answer:AnswerScreen", may_answer, styles=("answer",)),
)  # fmt: skip
ROOMS = {room.name: room for room in _ROOMS}
