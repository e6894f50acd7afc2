"""Loads what `hitlab judge` needs to ask a model, once for all processes that are forked from this one."""

from __future__ import annotations

import lab.cli.judge
import lab.cli.main
import lab.studies.judging.judging  # noqa: F401 - loaded, not used
from lab.llm.client import Llm

Llm("openai/tiny").check_known()
