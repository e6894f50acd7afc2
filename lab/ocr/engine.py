"""OCR engine: finds the installed one and reads pictures with it. Only `worker` loads it.

The engine is RapidOCR with its PP-OCR models, which are part of its package. It downloads nothing, and no picture
leaves the machine. It reads English and Chinese.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

from lab.core.errors import LabError
from lab.core.run.ui_tree import Bounds
from lab.core.text.read_text import ReadLine

EXTRA = "hitlab[ocr]"
"""Package extra that installs the engine."""
_MIN_CONFIDENCE = 0.5
"""Minimum confidence of a line. Less certain lines are mostly icons that look like letters."""
_MIN_CONFIDENCE_ONE_CHARACTER = 0.9
"""Minimum confidence of a line with one character. A single character is more often an icon than a word."""
_THREADS = 2


@cache
def engine_name() -> str:
    """Return name and version of the installed engine, empty if none is installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        if find_spec("rapidocr") is None or find_spec("onnxruntime") is None:
            return ""
        return f"rapidocr {version('rapidocr')}"
    except (ImportError, PackageNotFoundError, ValueError):
        return ""


def check_engine() -> str:
    """Return the engine's name. Raise `LabError`, which names the extra, if none is installed."""
    name = engine_name()
    if not name:
        raise LabError(
            "words from pictures", f"are read by the extra {EXTRA}", f"pip install '{EXTRA}' installs it.", code=2
        )
    return name


def load_engine() -> Callable[[bytes], list[ReadLine]]:
    """Load the models (about a second, several hundred MB). Return a function that reads a PNG or JPEG."""
    import logging

    import numpy as np
    from rapidocr import RapidOCR

    from lab.core.values.safe_images import open_picture

    logging.disable(logging.CRITICAL)
    _let_threads_sleep()
    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # no line of a phone's screen stands on its head
            "Global.text_score": _MIN_CONFIDENCE,
            "EngineConfig.onnxruntime.intra_op_num_threads": _THREADS,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )

    def read(data: bytes) -> list[ReadLine]:
        with open_picture(data) as picture:
            pixels = np.asarray(picture.convert("RGB"))[:, :, ::-1]
        result: Any = engine(np.ascontiguousarray(pixels))
        boxes, texts, scores = result.boxes, result.txts, result.scores
        if boxes is None or texts is None or scores is None:
            return []
        height, width = pixels.shape[:2]
        lines = [
            ReadLine(text.strip(), _bounds(box, width, height), float(score))
            for box, text, score in zip(boxes, texts, scores, strict=True)
        ]
        return [line for line in lines if line.box.area and line.sure >= _minimum_confidence(line.text)]

    return read


def _let_threads_sleep() -> None:
    """Let the engine's threads sleep while idle. By default they spin and take a core from the app.

    RapidOCR has no parameter for it, so this wraps the method that builds its session options. If another version
    builds them differently, its threads keep spinning. The recognized text is the same.
    """
    try:
        from rapidocr.inference_engine.onnxruntime.main import OrtInferSession

        maker: Any = OrtInferSession
        usual = maker._init_sess_opts
    except (ImportError, AttributeError):
        return

    def options(*configuration: Any) -> Any:
        session_options = usual(*configuration)
        session_options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session_options.add_session_config_entry("session.inter_op.allow_spinning", "0")
        return session_options

    maker._init_sess_opts = staticmethod(options)


def _minimum_confidence(text: str) -> float:
    """Return the minimum confidence for a line. An empty line never reaches it."""
    return (2.0, _MIN_CONFIDENCE_ONE_CHARACTER, _MIN_CONFIDENCE)[min(len(text), 2)]


def _bounds(corners: object, width: int, height: int) -> Bounds:
    """Return the upright box around four corners, clipped to the picture."""
    import numpy as np

    points = np.asarray(corners, dtype=float)
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    return Bounds(max(0, round(left)), max(0, round(top)), min(width, round(right)), min(height, round(bottom)))
