"""The crash log: the traceback of hitlab's last own failure, without the values of variables."""

from __future__ import annotations

import traceback

from lab.core.redaction.secret_keys import without_keys
from lab.core.settings import folder
from lab.core.values.made_files import make_folder, write_text


def traceback_of(error: BaseException) -> str:
    """Return an error's traceback as Python prints it, without API keys."""
    return without_keys("".join(traceback.format_exception(error)))


def write_crash_log(error: BaseException) -> str:
    """Overwrite the crash log with an error's traceback. Return a sentence that names the file."""
    log = folder("cache") / "crash.log"
    try:
        make_folder(log.parent)
        write_text(log, traceback_of(error), "backslashreplace")
    except OSError as refused:
        return f"No log could be written ({refused})."
    return f"What happened is in {log}"
