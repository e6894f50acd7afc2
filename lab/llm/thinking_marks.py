"""Split a model's text into thinking and answer. Only the text after the thinking is the answer.

Marks are recognized by the words in them (`<think>`, `[/THINK]`, `<|end_of_thought|>`, `◁/think▷`), so unknown variants
work, too. A quotation in a JSON string of the answer is not a mark.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from lab.llm.json_in_text import LONGEST, FoundObject, found_objects

_MARK = re.compile(
    r"""(?x)
    (?P<bracket>[<\[◁⟨＜【«［《〈‹⟪]|&lt;) \s{0,3} [|｜]? \s{0,3} (?P<slash>[/\\／]?) \s{0,3}
    (?P<name>[^\W\d_][\w:.▁-]{0,60}) (?P<more>\s[^<>\[\]◁▷⟨⟩&]{0,200}?)? \s{0,3}
    (?P<alone>[/／]?) \s{0,3} [|｜]? \s{0,3}
    (?:[>\]▷⟩＞】»］》〉›⟫]|&gt;)
    """
)
_DETAILS = re.compile(
    r"<details\b[^<>]{0,200}(?:>\s{0,9}<summary\b[^<>]{0,200}>[^<>]{0,80}?)?(?:reasoning|think|thought)", re.IGNORECASE
)
"""Beginning of a collapsed section with thinking. Its end tag does not name the thinking."""
_SENTENCE = re.compile(r"(?:^|\n)\s{0,9}Here(?:'s| is) my (thought process|response):", re.IGNORECASE)
"""Sentences that Granite's models write in place of marks."""
_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*(\w*)[ \t]*$", re.MULTILINE)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_THINKING = frozenset(
    {
        "think", "thinks", "thinking", "thought", "thoughts", "rethink", "rethinking", "reasoning", "reflect",
        "reflecting", "reflection", "reflections", "scratchpad", "scratch", "monologue", "monolog", "analysis",
        "analyse", "analyze", "analyzing", "analysing", "deliberate", "deliberation", "ponder", "pondering",
        "contemplate", "contemplation", "contemplator", "muse", "musing", "musings", "ruminate", "rumination",
        "cogitate", "cogitation", "introspection", "brainstorm", "brainstorming", "cot",
    }
)  # fmt: skip
_THINKING_ELSEWHERE = re.compile(r"思考|思维|思維|推理|생각")
"""Words in marks in angle brackets only. In other brackets they are headings."""
_PLAIN = frozenset({"think", "thinking", "thought", "thoughts", "reasoning"})
"""Words that are marks in square brackets, too. Other words in brackets may be ordinary text."""
_ENDS = frozenset({"end", "ends", "stop", "close", "finish", "finished", "done"})
_ANSWER = frozenset(
    {
        "answer", "answers", "final", "output", "response", "reply", "result", "action", "actions", "tool", "call",
        "function", "json", "box", "boxed", "code", "label", "labels", "verdict", "judgement", "judgment", "decision",
        "step", "assistant", "message",
    }
)  # fmt: skip
"""Words in marks around the intended answer."""
_CHANNEL = re.compile(r"<\|?channel\|?>\s{0,9}(\w{0,40})(?:[^<{]{0,80}(?:<\|constrain\|>[^<{]{0,80})?<\|message\|>)?")
_TURN_END = re.compile(
    r"(?<!\s)\s*(?:<\|(?:return|end|call|im_end|eot_id|endoftext|end_of_turn)\|>|<end_of_turn>)(?:<\|start\|>\w*)?\s*$"
)
"""End tokens that a server left at the end of a text."""
_BARE_CHANNEL, _BARE_FINAL = re.compile(r"\s{0,9}(?:analysis|commentary)(?=[^a-z\s\"{])"), "assistantfinal"
"""Beginning of a text whose channels lost their marks, and what then precedes its answer."""


class SplitText(NamedTuple):
    """Parts of a text: its thinking, the mark that delimits it (empty if there is none), and the answer after it.

    `is_open` is True if the thinking has no end. There is no answer then.
    """

    thinking: str
    mark: str
    answer: str
    is_open: bool = False


class _Mark(NamedTuple):
    start: int
    end: int
    text: str
    closes: bool


def split_thinking(text: str) -> SplitText:
    """Split a text into thinking and answer. The whole text is the answer if it has no mark of thinking."""
    offset = max(0, len(text) - LONGEST)
    # `found_objects` counts from the last LONGEST characters.
    objects = [found._replace(start=found.start + offset, end=found.end + offset) for found in found_objects(text)]
    if (split := _by_channels(text, objects)) is not None:
        return split
    marks = sorted(mark for mark in [*_tags(text), *_fences(text)] if not _is_inside(mark.start, objects))
    closing = max((mark for mark in marks if mark.closes), default=None)
    end = closing.end if closing is not None else 0
    if opening := next((mark for mark in marks if mark.start >= end and not mark.closes), None):
        return SplitText(text.strip(), opening.text, "", is_open=True)
    after = _by_unknown_mark(text, [found for found in objects if found.start >= end], max(end, offset))
    if after is not None:
        return after
    if closing is None:
        return SplitText("", "", _TURN_END.sub("", text))
    return SplitText(_without_opening(text[: closing.start], marks), closing.text, _TURN_END.sub("", text[end:]))


def _is_inside(place: int, objects: Sequence[FoundObject]) -> bool:
    at = bisect_left(objects, place, key=lambda found: found.start) - 1
    return at >= 0 and place < objects[at].end


def _tags(text: str) -> list[_Mark]:
    details = _DETAILS.search(text)
    begins = details.start() if details is not None else len(text)
    opening = [_Mark(begins, details.end(), "<details>", closes=False)] if details is not None else []
    sentences = [
        _Mark(one.start(), one.end(), one[0].strip(), closes=one[1].lower() == "response")
        for one in _SENTENCE.finditer(text)
    ]
    return (
        opening
        + (sentences if sentences and not sentences[0].closes else [])
        + [
            _Mark(tag.start(), tag.end(), tag[0], _closes(tag))
            for tag in _MARK.finditer(text)
            if _is_thinking(tag, text) or (begins < tag.start() and tag["slash"] and tag["name"].lower() == "details")
        ]
    )


def _words(tag: re.Match[str]) -> set[str]:
    """Return the words of a mark. Those of attributes count only if the attribute names its kind."""
    more = tag["more"] or ""
    named = more if "=" not in more else " ".join(re.findall(r"""(?:type|kind|class|name)\s?=\s?["']?(\w+)""", more))
    words = {word.lower() for word in _WORD.findall(f"{tag['name']} {named}")}
    return words | {"thinking"} if tag["bracket"] in "<＜" and _THINKING_ELSEWHERE.search(tag["name"]) else words


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag["slash"] or tag["alone"]) or not _ENDS.isdisjoint(_words(tag))


def _is_thinking(tag: re.Match[str], text: str) -> bool:
    words = _words(tag)
    if tag["bracket"] in "[［":
        alone = words - _ENDS - {"begin", "start", "of"}
        return bool(alone) and alone <= _PLAIN and text[tag.end() : tag.end() + 1] != "("
    return not _THINKING.isdisjoint(words) and words.isdisjoint({"no", "not"})


def _fences(text: str) -> list[_Mark]:
    """Return marks for code fences with thinking: each opening fence with its own end, other fences inside skipped."""
    marks: list[_Mark] = []
    depth = 0
    for fence in _FENCE.finditer(text):
        word = fence[1].lower()
        if not depth and word in _THINKING:
            marks.append(_Mark(fence.start(), fence.end(), fence[0].strip(), closes=False))
            depth = 1
        elif depth:
            depth += 1 if word else -1
            if not depth:
                marks.append(_Mark(fence.start(), fence.end(), marks[-1].text, closes=True))
    return marks


def _without_opening(thinking: str, marks: Sequence[_Mark]) -> str:
    """Return thinking without the mark that opens it."""
    first = marks[0]
    return (thinking if first.closes or thinking[: first.start].strip() else thinking[first.end :]).strip()


def _by_channels(text: str, objects: Sequence[FoundObject]) -> SplitText | None:
    """Split a text with channels at the last one, if that is the final channel, or None for a text without channels."""
    bare = _BARE_CHANNEL.match(text)
    if bare and _BARE_FINAL in text:
        thinking, _, answer = text.rpartition(_BARE_FINAL)
        return SplitText(thinking[bare.end() :].strip(), bare[0].strip(), answer)
    channels = [mark for mark in _CHANNEL.finditer(text) if not _is_inside(mark.start(), objects)]
    if not channels:
        return None
    last, mark = channels[-1], channels[0][0]
    if "<channel|>" in last[0]:  # the mark that ends a channel: what follows is no channel's name
        return SplitText(text[: last.start()].strip(), mark, text[last.start() + len("<channel|>") :])
    if last[1].lower() != "final":
        return SplitText(text.strip(), mark, "", is_open=True)
    thinking = text[: last.start()].strip()
    return SplitText(thinking, mark if thinking else "", _TURN_END.sub("", text[last.end() :]))


def _by_unknown_mark(text: str, objects: Sequence[FoundObject], begin: int) -> SplitText | None:
    """Split the text after `begin` at an unknown mark that delimits a draft, or None if there is none.

    The mark closes before the last object, and another object precedes it. If the same mark surrounds both objects,
    they are a list. A mark that opens the text, never closes, and has words after its last object contains drafts, too.
    """
    if not objects:
        return None
    tags = [tag for tag in _MARK.finditer(text, begin) if not _is_inside(tag.start(), objects)]
    tags = [tag for tag in tags if tag["bracket"] not in "[［" and _words(tag).isdisjoint(_ANSWER)]
    last = objects[-1]
    for tag in reversed(tags):
        if _closes(tag) and objects[0].end <= tag.start() < last.start:
            if any(one["name"] == tag["name"] and tag.end() <= one.start() < last.start for one in tags):
                return None
            return SplitText(text[: tag.start()].strip(), tag[0], text[tag.end() :])
    first = next(iter(tags), None)
    if first is None or text[begin : first.start()].strip() or any(map(_closes, tags)):
        return None
    says_more = re.search(r"[^\W\d_]", text[last.end :]) is not None
    return SplitText(text.strip(), first[0], "", is_open=True) if says_more and first.end() <= last.start else None
