"""Position of the person's own part in a system prompt: their scenario, after the guidelines for a language model.

The rules are a small table, in order, based on these facts. tau2-bench puts the scenario between tags, after some 50
lines of guidelines. KnowU-Bench's personalised and proactive tasks have a section `USER PERSONA`. KnowU-Bench and
MobileWorld say "The task goal is: ..." within one paragraph. tau-bench has a line "Instruction: ...".
"""

from __future__ import annotations

import re

_TAGS = ("scenario", "user_scenario", "user_persona", "persona", "user_profile", "profile", "instructions", "task")
"""Tags around the person's part. The first one present counts."""
_OWN = "scenario|persona|profile|task|instructions?|situation|background|role|goal|场景|人设|角色|画像|任务|背景"
_RULES = (
    re.compile(r"#{1,6} {0,4}user persona\b", re.I),
    re.compile(r"\bthe task goal is\b", re.I),
    re.compile(rf"^(?:your |the |user ){{0,3}}(?:{_OWN}) ?[:：]", re.I | re.M),
    re.compile(rf"^#{{1,6}} {{0,4}}(?:your |the |user ){{0,3}}(?:{_OWN}) ?[:：]?$", re.I | re.M),
)
"""Patterns at the start of the person's part, with bounded quantifiers: prompts are untrusted and may be long."""
_HEADING = re.compile(r"^#{1,6} .*$", re.M)
_OF_THE_FORM = re.compile(r"output|format|response|reply|rules|constraint|输出|格式|规则", re.I)
"""Words in headings of sections about the answer's form, not about the person."""
_HEADINGS_SKIPPED = 3


def own_part(prompt: str) -> int:
    """Return the offset of the first line with content in the person's own part of a prompt.

    0 if no rule matches: a prompt of one part is read from its top.
    """
    at = _part_at(prompt)
    for _ in range(_HEADINGS_SKIPPED):
        line = prompt[at : at + 200].lstrip().partition("\n")[0].rstrip()
        begin = at + len(prompt[at:]) - len(prompt[at:].lstrip())
        is_heading = line.startswith("#") or (len(line) < 40 and line.endswith((":", "：")))
        if not at or not is_heading or not prompt[begin + len(line) :].strip():
            return begin if at else 0
        at = begin + len(line)
    return at + len(prompt[at:]) - len(prompt[at:].lstrip())


def _part_at(prompt: str) -> int:
    folded = prompt.lower()
    for tag in _TAGS:
        end = folded.rfind(f"</{tag}>")
        begin = folded.rfind(f"<{tag}>", 0, end) if end > 0 else -1
        if begin >= 0:
            return begin + len(tag) + 2
    match = next((match for rule in _RULES if (match := rule.search(prompt))), None)
    if match is not None:
        return match.start()
    headings = [match for match in _HEADING.finditer(prompt) if not _OF_THE_FORM.search(match[0])]
    return headings[-1].start() if len(headings) > 1 else 0
