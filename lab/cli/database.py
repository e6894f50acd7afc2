"""The file that a command works on: open it, sweep leftovers, erase from it, write new files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lab.cli.output import warn
from lab.core.errors import LabError
from lab.core.settings import UNNAMED, Settings, check_distinct, database, load
from lab.core.values.made_files import make_folder, write_bytes
from lab.studies.seats import Seat, check_seat, sees_outcomes

if TYPE_CHECKING:
    from store.store import Store


def settings_for(db: str | None, may: Callable[[Seat], bool], what: str) -> Settings:
    """Return the settings in force. Raise `LabError` if the command `what` is not available to this seat."""
    settings = load(db=db)
    check_seat(settings, may, what)
    return settings


def is_new(settings: Settings) -> bool:
    """Return True if `open_store` would create the file, so that a command can refuse before."""
    return not database(settings).exists()


def open_store(settings: Settings, *, create: bool = True, readonly: bool = False) -> Store:
    """Open the database in force. Create its folder if it is the default one."""
    from store.file.connection import database_title
    from store.store import Store

    path = database(settings)
    if not path.exists() and (readonly or not create):
        option = f" --db {shlex.quote(settings.db)}" if settings.db else ""
        hint = f"`hitlab demo{option}` makes a new one, and so does `hitlab import PATH{option}`."
        if settings.db and not path.absolute().parent.is_dir():
            hint = f"Its folder {path.absolute().parent} is not there either."
        raise LabError(database_title(path), "is not there.", hint)
    if create and not settings.db:
        try:
            make_folder(path.parent)
        except OSError as error:
            raise LabError(f"data folder {path.parent}", f"cannot be made ({error.strerror})", "Use --db.") from error
    sweep_leftovers(path.parent)
    store = Store.open(path, create=create, readonly=readonly)
    store.database.may_suggest = sees_outcomes(settings.seat)
    # A code that differs from an existing one in case only is a typing slip, and would split a person's data.
    if not readonly and settings.person != UNNAMED:
        try:
            check_distinct(settings.person, store.studies.people(), "--person", "person")
        except LabError:
            store.close()
            raise
    return store


def open_list(settings: Settings) -> Store:
    """Open the database for a command that lists: read-only if it exists.

    If it does not exist, create it empty, unless a flag, a variable or a settings file names it: that is a slip.
    """
    return open_store(settings, create=not settings.db, readonly=bool(settings.db) or not is_new(settings))


def sweep_leftovers(*folders: Path, temporary: bool = False) -> None:
    """Remove what killed commands left in these folders (and in the temporary one) and report it on standard error."""
    from store.file.leftovers import sweep

    leftovers = sweep((folder.absolute() for folder in folders), temporary=temporary)
    for path in leftovers.removed:
        warn(f"removed {path}: a command that was killed had left it")
    for path in leftovers.remaining:
        warn(f"{path} was left by a command that was killed, and cannot be removed; it may hold what was erased")


def in_file(db: str | None) -> str:
    """Return the --db option for the next command, empty if it was not given."""
    return f" --db {shlex.quote(db)}" if db else ""


_NO_LINKS = (1, 45, 95, 102)
"""Error numbers of file systems without hard links: EPERM, and ENOTSUP or EOPNOTSUPP by platform."""


def write_new(out: Path, data: bytes, title: str, nothing: str) -> None:
    """Write `data` to a new file. Raise `LabError` if `out` exists or cannot be written."""
    there = LabError(title, f"is there already; {nothing}.", "Name a new file.")
    sweep_leftovers(out.parent)
    part = out.parent / f".hitlab.part-{os.getpid()}"
    try:
        if os.path.lexists(out):
            raise there
        write_bytes(part, data)
        try:
            # Unlike a renaming, a link never replaces a file that appeared meanwhile.
            os.link(part, out)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            part.rename(out)
    except FileExistsError:
        raise there from None
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else str(error)
        raise LabError(title, f"cannot be written ({problem}).") from error
    finally:
        _remove(part)


def _remove(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except (OSError, ValueError):
        # If nothing could be written, nothing is left.
        return


ERASED_WORDS = {
    "runs": "runs in which they took part, and that repeat such",
    "copies": "of these only repeat others: played again, or read in from a copy",
    "pictures": "pictures and states of these runs",
    "drafts": "drafts of answers in these runs",
    "labels": "answers of theirs in studies, with their history",
    "acts": "acts of theirs in studies",
    "assignments": "items dealt to them",
    "units": "items that quote them or were made of their answers, out of studies",
    "labels_of_others": "answers of others on these items",
    "settlements": "settled places that rested on their answers alone or are their words",
    "quotations": "answers, notes and reasons of others that quote or name them, and all else that does, without that",
    "reviews": "words on demonstrations",
    "clearances": "demonstrations that they cleared",
    "designs": "drafts of designs, which stay and are signed `withdrawn`",
}
"""Words for each count of erased rows, in printing order."""

T = TypeVar("T")


def erased_or_unwiped(path: Path, erase: Callable[[], T]) -> tuple[T, LabError | None]:
    """Return the result of an erasure, and an error if the freed pages could not be wiped.

    Delete caches before and after it: whatever moment kills the process, no cache holds erased data.
    """
    from lab.ocr.reader import forget as forget_read_text
    from lab.studies.progress.agreement_cache import delete_cache
    from store.erasing.erasure import NotWiped

    delete_cache(path)
    forget_read_text()
    try:
        return erase(), None
    except NotWiped as error:
        result: T = error.done
        return result, error
    finally:
        delete_cache(path)
        forget_read_text()


def not_wiped(unwiped: LabError | None) -> int:
    """Print what is left to do and return the exit code."""
    if unwiped is None:
        return 0
    warn(unwiped.sentence)
    return unwiped.code
