"""Interpret a person's reply to a question: yes, no, an option, or something else."""

from __future__ import annotations

from lab.agents.targets import mentions, quoted, words
from lab.core.run.input_limits import PLAYBOOK_TEXT
from lab.core.run.step import Reply
from lab.core.task.playbook import PlaybookMove

REFUSED = "The person said no, so I leave everything as it is."
_RESERVED = ("accept", "reject", "else")
_YES = (
    "yes",
    "yeah",
    "yep",
    "ok",
    "okay",
    "sure",
    "please",
    "fine",
    "of course",
    "go on",
    "go ahead",
    "do it",
    "do so",
)
_ZH_YES = ("好", "可以", "行", "是", "嗯")
_NO = ("no", "nope", "never mind", "stop", "cancel", "forget it", "leave it", "skip it", "don't", "do not", "not now",
       "not today", "not tonight", "no thanks", "no thank you")  # fmt: skip
_ZH_NO = ("不用", "不要", "不了", "算了", "取消", "别")
_OPEN = ("don't mind", "don't care", "up to you", "you choose", "you decide", "whatever", "as always", "as usual",
         "the usual", "随便", "都行", "你定", "一样")  # fmt: skip
_NOT = ("not", "no", "never", "without", "不", "别")
_ENDS = ".,!;:，。！；"


def meaning(move: PlaybookMove, reply: Reply) -> tuple[str, str | None]:
    """Return the branch that a reply to this move selects, and the value it gives.

    The branch is `reject`, `accept`, an option, a word that the move looks for, or `else`.
    """
    text = reply.text[:PLAYBOOK_TEXT]
    if reply.decision == "reject":
        return "reject", None
    option = _named_option(move, text)
    if option is not None:
        return option if option in move.on_reply else "accept", option
    looked_for = [word for word in move.on_reply if word not in _RESERVED and mentions(text, word)]
    if looked_for:
        return max(looked_for, key=len), quoted(text)
    if reply.decision == "accept" or (move.offer is not None and _begins_with(text, _YES, _ZH_YES)):
        return "accept", None
    if _begins_with(text, _NO, _ZH_NO):
        return "reject", None
    if any(mentions(text, phrase) for phrase in _OPEN) and (move.usual or move.meanings):
        usual = move.usual or next(iter(move.meanings))
        return usual if usual in move.on_reply else "accept", usual
    if move.offer is not None or move.meanings:
        return "else", None
    return "accept" if "else" not in move.on_reply else "else", quoted(text)


def _named_option(move: PlaybookMove, text: str) -> str | None:
    """Return the option that a text names without negation, of several, the one with the most words."""
    matches = [
        (len(words(phrase)), option)
        for option, others in move.meanings.items()
        for phrase in (option, *others)
        if _names_phrase(text, phrase)
    ]
    return max(matches, key=lambda match: match[0])[1] if matches else None


def _names_phrase(text: str, phrase: str) -> bool:
    whole, part = words(text), words(phrase)
    places = [i for i in range(len(whole) - len(part) + 1) if part and whole[i : i + len(part)] == part]
    return any(not set(whole[max(0, i - 1) : i]) & set(_NOT) for i in places)


def _begins_with(text: str, phrases: tuple[str, ...], chinese: tuple[str, ...]) -> bool:
    """Return True if a text begins with a phrase. A single word needs a pause after: `no, thanks`, not `no onions`."""
    plain = text.strip().casefold().replace("’", "'")
    if plain.startswith(chinese):
        return True
    return any(
        plain.startswith(phrase)
        and (len(phrase.split()) > 1 or phrase == "don't" or plain[len(phrase) :][:1] in ("", *_ENDS))
        for phrase in phrases
    )
