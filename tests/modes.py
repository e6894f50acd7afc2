"""A protocol with a question of many options for tests: what went wrong in a run, asked where it failed."""

from __future__ import annotations

from lab.core.study.protocol import Field, Option, Protocol

FAILED = Field("failed", "Did it fail?", "nominal", (Option("yes", key="1"), Option("no", key="2")))
MODES = Field(
    "modes", "What went wrong?", "many",
    (
        Option("ask", "did not ask", key="1"), Option("misread", "misread the screen", key="2"),
        Option("plan", "had a wrong plan", key="3"), Option("memory", "forgot what it had read", key="4"),
    ),
    show_if="failed=yes", most=3, evidence=True,
)  # fmt: skip
WHAT = Field("what", "What did it forget?", "text", show_if="modes=memory")
PROTOCOL = Protocol("modes", "What went wrong", "run", (FAILED, MODES, WHAT), guide={"en": "Look closely."})
