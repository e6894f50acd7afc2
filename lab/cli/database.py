"""The file that a command works on: opened, swept, what was erased from it; and new files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lab.cli.output import warn
from lab.core.errors import LabError
from lab.core.made_files import make_folder, write_bytes
from lab.core.settings import UNNAMED, Settings, check_unlike, database, load
from lab.studies.seats import Seat, check_seat, sees_outcomes

if TYPE_CHECKING:
    from store.store import Store


def settings_for(db: str | None, may: Callable[[Seat], bool], what: str) -> Settings:
    """The settings in force; raises `LabError` where the command `what` is not for the person of this seat."""
    settings = load(db=db)
    check_seat(settings, may, what)
    return settings


def is_new(settings: Settings) -> bool:
    """Whether `open_store` would make the file: what can be refused before is refused before."""
    return not database(settings).exists()


def open_store(settings: Settings, *, create: bool = True, readonly: bool = False) -> Store:
    """The database in force; its folder is made where it is ours to make."""
    from store.connection import named
    from store.store import Store

    path = database(settings)
    if not path.exists() and (readonly or not create):
        option = f" --db {shlex.quote(settings.db)}" if settings.db else ""
        hint = f"`hitlab demo{option}` makes a new one, and so does `hitlab import PATH{option}`."
        raise LabError(named(path), "is not there.", hint)
    if create and not settings.db:
        try:
            make_folder(path.parent)
        except OSError as error:
            raise LabError(f"data folder {path.parent}", f"cannot be made ({error.strerror})", "Use --db.") from error
    sweep_leftovers(path.parent)
    store = Store.open(path, create=create, readonly=readonly)
    store.database.suggests = sees_outcomes(settings.seat)
    if not readonly and settings.person != UNNAMED:
        try:
            check_unlike(settings.person, store.studies.people(), "--as", "person")
        except LabError:
            store.close()
            raise
    return store


def open_list(settings: Settings, db: str | None) -> Store:
    """The database in force for a command that lists what is in it: only to read, where it is there.

    One that `db`, the command line, does not name is made where it is not, and holds nothing.
    """
    return open_store(settings, create=db is None, readonly=db is not None or not is_new(settings))


def sweep_leftovers(*folders: Path, temporary: bool = False) -> None:
    """Removes what killed commands left in these folders, and in the temporary one; says which, on standard error."""
    from store.leftovers import sweep

    leftovers = sweep((folder.absolute() for folder in folders), temporary=temporary)
    for path in leftovers.removed:
        warn(f"removed {path}: a command that was killed had left it")
    for path in leftovers.left:
        warn(f"{path} was left by a command that was killed, and cannot be removed; it may hold what was erased")


def in_file(db: str | None) -> str:
    """The file as a command that comes next names it; empty where it was not named."""
    return f" --db {shlex.quote(db)}" if db else ""


_NO_LINKS = (1, 45, 95, 102)
"""What a folder says that knows no second names for a file: EPERM, and ENOTSUP or EOPNOTSUPP by platform."""


def write_new(out: Path, data: bytes, title: str, nothing: str) -> None:
    """Writes `data` to the file `out`, called `title`; `LabError` where one is there, or none can be."""
    there = LabError(title, f"is there already; {nothing}.", "Name a new file.")
    sweep_leftovers(out.parent)
    part = out.parent / f".hitlab.part-{os.getpid()}"
    try:
        if os.path.lexists(out):
            raise there
        write_bytes(part, data)
        try:
            os.link(part, out)  # unlike a renaming it never takes the place of what came meanwhile
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
        _removed(part)


def _removed(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except (OSError, ValueError):
        return  # where nothing could be written, nothing is left


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
"""What each count is of, in the order in which they are told."""

T = TypeVar("T")


def erased_or_unwiped(path: Path, erase: Callable[[], T]) -> tuple[T, LabError | None]:
    """What was erased, and why the file could not be wiped where that is so; what was computed before is forgotten.

    What was computed goes before and after: between the two nothing may keep it if this is killed.
    """
    from lab.ocr.reader import forget as forget_read_text
    from lab.studies.agreement_cache import forget
    from store.erasure import NotWiped

    forget(path)
    forget_read_text()
    try:
        return erase(), None
    except NotWiped as error:
        result: T = error.done
        return result, error
    finally:
        forget(path)
        forget_read_text()


def not_wiped(unwiped: LabError | None) -> int:
    """Says what is left to do, and gives the exit code."""
    if unwiped is None:
        return 0
    warn(unwiped.sentence)
    return unwiped.code
