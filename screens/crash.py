"""The last panel: what a person reads when hitlab itself fails."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.made_files import make_folder, write_text
from lab.core.plain_text import plain
from lab.core.settings import folder

if TYPE_CHECKING:
    from rich.panel import Panel


class Crash(Exception):
    """An error that ends the app, its trail kept in a log; no local values are shown or written."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.__cause__ = error
        self.sentence = error.sentence if isinstance(error, LabError) else self._logged(error)

    def _logged(self, error: BaseException) -> str:
        log = folder("cache") / "crash.log"
        trail = "".join(traceback.format_exception(error))
        reassurance = "Every event up to here is in the file, and an open run can be resumed."
        try:
            make_folder(log.parent)
            write_text(log, trail, "backslashreplace")
        except OSError as refused:
            return f"hitlab failed ({type(error).__name__}), and no log could be written ({refused}). {reassurance}"
        return f"hitlab failed ({type(error).__name__}). {reassurance} What happened is in {log}"

    def __rich__(self) -> Panel:
        from rich.panel import Panel
        from rich.text import Text

        return Panel(Text(plain(self.sentence)), title="hitlab", border_style="red", expand=False)
