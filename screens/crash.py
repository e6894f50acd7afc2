"""The last panel, which a person reads if hitlab itself fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.core.crash_log import write_crash_log
from lab.core.errors import LabError
from lab.core.text.plain_text import plain

if TYPE_CHECKING:
    from rich.panel import Panel


class Crash(Exception):
    """An error that ends the app. The traceback goes to a log without local values."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.__cause__ = error
        self.sentence = error.sentence if isinstance(error, LabError) else self._write_log(error)

    def _write_log(self, error: BaseException) -> str:
        reassurance = "Every event up to here is in the file, and an open run can be resumed."
        return f"hitlab failed ({type(error).__name__}). {reassurance} {write_crash_log(error)}"

    def __rich__(self) -> Panel:
        from rich.panel import Panel
        from rich.text import Text

        return Panel(Text(plain(self.sentence)), title="hitlab", border_style="red", expand=False)
