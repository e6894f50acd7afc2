"""Opens the app from a command, on a screen or a run, if the terminal is large enough."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from msgspec.structs import replace as changed

from lab.cli.output import print_line
from lab.core.errors import LabError
from lab.core.settings import EMBEDDED, Settings, database, in_browser, load
from lab.core.text.plain_text import plain
from lab.studies.seats import sees_outcomes

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.core.run.trace import Trace
    from lab.core.study.study import Study
    from lab.runs.session import Session
    from lab.runs.spec import Spec
    from screens.navigation import Opening
    from simulators.users.endpoint.place import EndpointPlace
    from store.store import Store


def has_terminal() -> bool:
    """Return True if a person can see and use a screen here: at a terminal, or in a browser (see `lab.serve`)."""
    return in_browser() or (sys.stdin.isatty() and sys.stdout.isatty() and not is_dumb())


def is_dumb() -> bool:
    """Return True if the terminal declares that it prints lines only, as in an editor's shell."""
    return os.environ.get("TERM") in ("dumb", "unknown")


def no_terminal() -> str:
    """Return the reason why no screen can be shown here."""
    dumb = f"this terminal is called {os.environ.get('TERM')} and shows no screens"
    return dumb if is_dumb() else "there is no terminal here"


def show_home(db: str | None, window: bool | None) -> int:
    """Open Home, or the study of a kit's rater."""
    # Start-up allocates much that stays. `spare_pauses` enables collection again.
    gc.disable()
    from lab.cli.database import open_store
    from screens.navigation import Opening

    settings = load(db=db, window=window)
    # A file named on the command line must exist: a wrong name is a typing slip.
    with open_store(settings, create=db is None) as store, ExitStack() as endpoints:
        if (kit := store.kit()) is not None:
            return show_study(store, changed(settings, person=kit.rater), store.studies.study(kit.study, kit.version))

        def serve_endpoint(person: str) -> EndpointPlace:
            from lab.cli.serve.endpoint_start import starter

            return starter(store, endpoints)(person)

        return run_app(store, settings, Opening("home", serve_endpoint=serve_endpoint))


def show_study(store: Store, settings: Settings, study: Study, *, only: bool = False) -> int:
    """Open a study for its person to rate or play. Raise `LabError` without a terminal."""
    from screens.navigation import Opening

    plays = study.protocol.unit == "task to play"
    seat = changed(settings, seat="participant" if plays else "rater")
    opening = Opening("play" if plays else "annotate", study=study, only_study=only)
    return show_room(store, seat, opening, f"study {study.id}", "`hitlab labels add` takes answers without a screen.")


def show_room(store: Store, settings: Settings, opening: Opening, title: str, instead: str) -> int:
    """Open the app on a screen. Raise `LabError` without a terminal, with the alternative `instead`."""
    if not has_terminal():
        raise LabError(title, no_terminal(), instead, code=2)
    return run_app(store, settings, opening)


def show_live(store: Store, settings: Settings, make: Callable[[], Session], title: str) -> int:
    """Open Live with a session from `make`. `title` heads the error without a terminal."""
    if not has_terminal():
        raise LabError(title, no_terminal(), "Add --headless to run without a screen.", code=2)
    check_room()
    from screens.navigation import Opening

    session = make()
    return run_app(store, settings, Opening("live", make=lambda: session))


def live_opening(store: Store, spec: Spec, resume: Trace | None) -> Opening:
    """Return the opening for a run. Raise `LabError` before any screen if its parts are not available.

    The embedded phone is always available, so its run is built behind the first paint. A run on another phone is built
    here.
    """
    from lab.runs.session import Session, check_spec
    from screens.navigation import Opening

    if spec.device == EMBEDDED:
        check_spec(store, spec)
        return Opening("live", spec=spec, resume=resume)
    session = Session(store, spec, resume)
    return Opening("live", make=lambda: session)


def check_room() -> None:
    """Raise `LabError` if the terminal is too small: a run must not begin without a visible question."""
    from shutil import get_terminal_size

    from screens.dialogs import LEAST

    size = get_terminal_size()
    if size.columns < LEAST[0] or size.lines < LEAST[1]:
        raise LabError("terminal", f"is {size.columns}x{size.lines}; a run needs {LEAST[0]}x{LEAST[1]}.", "Enlarge it.")


def run_app(store: Store, settings: Settings, opening: Opening) -> int:
    """Run the app and return its exit code. Raise `LabError` if the terminal does not write UTF-8."""
    # Imports allocate much and free nothing. `spare_pauses` enables collection again.
    gc.disable()
    from screens.app import LabApp
    from screens.memory_use import free_closed_screens, give_pictures_back, spare_pauses
    from screens.mirror.terminal_graphics import graphics_for

    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        raise LabError("terminal", f"its encoding is {sys.stdout.encoding}; screens need UTF-8.", "Set LC_ALL=C.UTF-8.")
    # A browser's terminal speaks no graphics protocol; the pictures are in a window beside it.
    if in_browser():
        settings = changed(settings, graphics="cells", window=True)
    # The seat may differ from that of the settings which opened the file.
    store.database.may_suggest = sees_outcomes(settings.seat)
    graphics = graphics_for(settings.graphics)
    app = LabApp(store, settings, opening, reads_words=settings.ocr, graphics=graphics)
    give_pictures_back()
    free_closed_screens()
    spare_pauses()
    app.run()
    if app.session is not None and app.back_targets.get("live") != "play":
        _print_left_run(store, app.session.trace_id)
    if app.last_own_study is not None and not in_browser():
        _print_resume_hint(store, app.last_own_study, app.settings.person, only=opening.only_study)
    return app.return_code or 0


_WAY_BACK = {
    "en": ("all that is dealt to {person} is handed in.", "what you answered is kept. To go on where you were:"),
    "zh": ("{person} 的全部内容都已提交。", "您的回答已保存。要从原处继续："),
}
"""Words on leaving a study, by language: all handed in, and not all."""


def _print_resume_hint(store: Store, study: Study, person: str, *, only: bool) -> None:
    """Print how to resume a study, in the language of the study."""
    progress = store.studies.progress(study, person)
    if not progress.dealt:
        return
    done, kept = _WAY_BACK.get(study.locale.partition("-")[0], _WAY_BACK["en"])
    title = plain(study.title or study.name, lines=False)
    if progress.done >= progress.dealt:
        print_line(f"{title}: {done.format(person=person)}")
        return
    file = _db_option(store)
    print_line(
        f"{title}: {kept}\n  hitlab study rate {study.id} --person {shlex.quote(person)}{' --study-only' * only}{file}"
    )


def _db_option(store: Store) -> str:
    """Return the file as an option of the next command, empty if it is the default."""
    return "" if database(load()) == store.path else f" --db {shlex.quote(str(store.path))}"


def _print_left_run(store: Store, run: str) -> None:
    """Print the run's id and, if it is open, how to resume it. Print nothing for one that never began."""
    if not store.runs.has_run(run):
        return
    if (trace := store.runs.trace(run)).ended is not None:
        print_line(f"Run {run} is over.")
        return
    verb = "record" if trace.agent.kind == "human" else "live"
    print_line(f"Run {run} is left open. To go on with it:\n  hitlab {verb} --resume {run}{_db_option(store)}")
