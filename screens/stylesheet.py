"""The app's stylesheet, parsed anew only where a theme changed what it says."""

from __future__ import annotations

from textual.css.stylesheet import Stylesheet


class ThemedStylesheet(Stylesheet):
    """A stylesheet that keeps its rules while the theme's variables stay the same.

    Textual refreshes all CSS for the first screen of each mode, though no theme was changed: a tenth of a start.
    """

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parsed_with = dict(variables)
        self._other_variables = False

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._parsed_with:
            self._parsed_with, self._other_variables = dict(variables), True
            super().set_variables(variables)

    def reparse(self) -> None:
        if self._other_variables:
            super().reparse()
            self._other_variables = False
