"""Screens of the phone that these tests play on are drawn once for all."""

from tests.drawn_once import drawn_once

__all__ = ["drawn_once"]
