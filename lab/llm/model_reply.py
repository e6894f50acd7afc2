"""The one reader of what a model said: the text to act on, its thinking, or why there is no answer.

It takes a whole chat completion as the server sent it, and so do a stream that was put together and a line of a batch.
Agents, simulated users, judges and shadows act on `ModelReply.text` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lab.core.plain_text import plain
from lab.llm.json_in_text import LONGEST, found_objects
from lab.llm.thinking_marks import SplitText, split_thinking

_THINKING_FIELDS = (
    "reasoning_content", "reasoning", "thinking", "thinking_content", "thought", "thoughts", "reasoning_text",
    "thinking_blocks", "reasoning_details",
)  # fmt: skip
"""Where servers put a model's thinking beside its answer; the first that holds any counts."""
_WORDS = ("text", "thinking", "reasoning", "summary", "content", "value", "refusal")
"""Where the words of a part stand."""
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length", "token_limit")
_WITHHELD = ("filter", "safety", "recitation", "blocklist", "prohibited", "sensitive", "spii")
_LONGEST_WHY = 200
_DEEPEST = 8


class ModelReply(NamedTuple):
    """What a model said. `thinking` is what it wrote before its answer, `source` where that stood.

    Where there is no answer, `text` is empty and `why` says so; `final` where asking again would be in vain.
    """

    text: str = ""
    thinking: str = ""
    source: str = ""
    why: str = ""
    hint: str = ""
    final: bool = False


def read_completion(completion: Mapping[str, Any], tokens: int, *, words: bool = False) -> ModelReply:
    """Read a chat completion; `tokens` is the limit that it was asked with (the setting `model_tokens`).

    With `words` an answer in plain words will do, also one that was cut; else it must hold a whole JSON object.
    """
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return ModelReply(why="its reply holds no message")
    message = choice.get("message") or choice.get("delta") or {"content": choice.get("text")}
    if not isinstance(message, dict):
        message = {"content": message}
    content, inner_thinking, refusal = content_parts(message.get("content"))
    split = split_thinking(content)
    thinking, source = _thinking(message, inner_thinking, split)
    why, hint, final = _why_none(choice, message, split, source, tokens, refusal, words=words)
    return ModelReply("" if why else split.answer, thinking, source, why, hint, final)


def _why_none(
    choice: Mapping[str, Any],
    message: Mapping[str, Any],
    split: SplitText,
    source: str,
    tokens: int,
    refusal: str,
    *,
    words: bool,
) -> tuple[str, str, bool]:
    """Why a message is no answer (empty where it is one), what helps, and whether asking again would be in vain."""
    finish = choice.get("finish_reason") or choice.get("stop_reason") or ""
    reason = finish.casefold() if isinstance(finish, str) else ""
    is_cut, answer = reason in _CUT, split.answer.strip()
    limit = f"the limit of tokens (model_tokens is {tokens:,})"
    if any(word in reason for word in _WITHHELD):
        return f"a content filter withheld the answer (finish_reason {plain(reason)})", "", True
    refusal = refusal or _words(message.get("refusal"))
    if not answer and (refusal or reason == "refusal"):
        return f"it refused: {_short(refusal) or 'without words'}", "", True
    if split.is_open and is_cut:
        return f"it was cut inside its thinking by {limit}", "Raise model_tokens.", True
    if split.is_open:
        return f"its thinking ({_short(split.mark)}) has no end, and no answer after it", "", True
    if not answer and is_cut:
        return f"it was cut before its answer by {limit}", "Raise model_tokens: it was used up before the answer.", True
    calls = ", ".join(_called(message))
    if calls and (not answer or not (words or _holds_object(answer))):
        return f"it called a function ({_short(calls)}) in place of an answer, and none was offered", "", True
    if not answer and split.mark:
        return f"nothing stands after its thinking ({_short(split.mark)})", "", True
    if not answer and source:
        hint = "Its server takes the answer for thinking: turn off its reasoning parser, or the model's thinking."
        return f"it came back empty: all that it wrote stands in {source}", hint, True
    if not answer:
        told = f" (finish_reason {_short(reason)})" if reason not in ("", "stop") else ""
        return f"it came back empty{told}", "", False
    if is_cut and not words and not _ends_whole(answer):
        return f"it was cut before its JSON was whole by {limit}", "Raise model_tokens.", True
    return "", "", False


def _thinking(message: Mapping[str, Any], inner: str, split: SplitText) -> tuple[str, str]:
    """A model's thinking and where it stood: in a field of its own, in parts of the content, in the text by marks."""
    told = [(_words(message.get(name)), name) for name in _THINKING_FIELDS]
    told += [(inner, "thinking"), (split.thinking, split.mark)]
    found = [(words, source) for words, source in told if words.strip()]
    if len(found) < 2:
        return found[0] if found else ("", "")
    first, marked = found[0], found[-1]
    if marked[1] != split.mark or marked[0] == first[0]:
        return first
    return f"{first[0].strip()}\n\n{marked[0]}", f"{first[1]}, {marked[1]}"


def content_parts(content: Any) -> tuple[str, str, str]:
    """The text of a message's content, the thinking in it, and a refusal: of a string, or of parts of several kinds."""
    if isinstance(content, str):
        return content, "", ""
    text: list[str] = []
    thinking: list[str] = []
    refusal: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        kind = str(part.get("type") or "").casefold() if isinstance(part, dict) else ""
        is_thinking = any(word in kind for word in ("think", "reason")) or (
            isinstance(part, dict) and (part.get("thought") is True or ("thinking" in part and "text" not in part))
        )
        (thinking if is_thinking else refusal if "refusal" in kind else text).append(_words(part))
    return "".join(text), "\n".join(filter(None, thinking)), "\n".join(filter(None, refusal))


def _words(value: Any, depth: int = 0) -> str:
    """The words of a part, however it is nested."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_words(one, depth + 1) for one in value)))
    if isinstance(value, dict):
        return next((words for name in _WORDS if (words := _words(value.get(name), depth + 1))), "")
    return ""


def _called(message: Mapping[str, Any]) -> Iterator[str]:
    """The names of the functions that a message calls."""
    calls = message.get("tool_calls")
    for call in [*(calls if isinstance(calls, list) else []), {"function": message.get("function_call")}]:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield str(function.get("name") or "without a name")


def _holds_object(answer: str) -> bool:
    return next(found_objects(answer), None) is not None


def _ends_whole(answer: str) -> bool:
    """Whether an answer ends with a whole object: what follows one may take it back, and was cut."""
    objects = list(found_objects(answer))
    return bool(objects) and not any(map(str.isalnum, answer[-LONGEST:][objects[-1].end :]))


def _short(text: str) -> str:
    return plain(text.strip(), lines=False)[:_LONGEST_WHY].rstrip(". ")
