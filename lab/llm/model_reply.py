"""The only parser of model replies: the text to act on, the thinking, or the reason why there is no answer.

It reads a whole chat completion as the server sent it, a joined stream, or a line of a batch. Agents, simulated users,
judges and shadows act on `ModelReply.text` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lab.core.text.plain_text import plain
from lab.llm.json_in_text import LONGEST, found_objects
from lab.llm.thinking_marks import SplitText, split_thinking

_THINKING_FIELDS = (
    "reasoning_content", "reasoning", "thinking", "thinking_content", "thought", "thoughts", "reasoning_text",
    "thinking_blocks", "reasoning_details",
)  # fmt: skip
"""Fields in which servers send a model's thinking. The first one with words counts."""
_WORDS = ("text", "thinking", "reasoning", "summary", "content", "value", "refusal")
"""Fields that contain the words of a part."""
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length", "token_limit")
_WITHHELD = ("filter", "safety", "recitation", "blocklist", "prohibited", "sensitive", "spii")
_LONGEST_WHY = 200
_DEEPEST = 8


class ModelReply(NamedTuple):
    """Reply of a model. `thinking` is what it wrote before its answer, `source` where that was found.

    Without an answer, `text` is empty and `why` is the reason. `final` is True if asking again is pointless.
    """

    text: str = ""
    thinking: str = ""
    source: str = ""
    why: str = ""
    hint: str = ""
    final: bool = False


def read_completion(completion: Mapping[str, Any], tokens: int, *, words: bool = False) -> ModelReply:
    """Parse a chat completion. `tokens` is the limit of the request (the setting `model_tokens`).

    With `words` any text is an answer, even a cut one. Without it the answer must hold a whole JSON object.
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
    thinking, source = _find_thinking(message, inner_thinking, split)
    why, hint, final = _why_no_answer(choice, message, split, source, tokens, refusal, words=words)
    return ModelReply("" if why else split.answer, thinking, source, why, hint, final)


def _why_no_answer(
    choice: Mapping[str, Any],
    message: Mapping[str, Any],
    split: SplitText,
    source: str,
    tokens: int,
    refusal: str,
    *,
    words: bool,
) -> tuple[str, str, bool]:
    """Return why a message is not an answer (empty if it is), a hint, and True if asking again is pointless."""
    finish = choice.get("finish_reason") or choice.get("stop_reason") or ""
    reason = finish.casefold() if isinstance(finish, str) else ""
    is_cut, answer = reason in _CUT, split.answer.strip()
    limit = f"the limit of tokens (model_tokens is {tokens:,})"
    if reason == "error":
        return "its server broke the answer off (finish_reason error)", "", False
    if any(word in reason for word in _WITHHELD):
        return f"a content filter withheld the answer (finish_reason {plain(reason)})", "", True
    refusal = refusal or _part_words(message.get("refusal"))
    if not answer and (refusal or reason == "refusal"):
        return f"it refused: {_shorten(refusal) or 'without words'}", "", True
    if split.is_open and is_cut:
        return f"it was cut inside its thinking by {limit}", "Raise model_tokens.", True
    if split.is_open:
        return f"its thinking ({_shorten(split.mark)}) has no end, and no answer after it", "", True
    if not answer and is_cut:
        return f"it was cut before its answer by {limit}", "Raise model_tokens: it was used up before the answer.", True
    calls = ", ".join(_function_names(message))
    if calls and (not answer or (not words and next(found_objects(answer), None) is None)):
        return f"it called a function ({_shorten(calls)}) in place of an answer, and none was offered", "", True
    if not answer and split.mark:
        return f"nothing stands after its thinking ({_shorten(split.mark)})", "", True
    if not answer and source:
        hint = "Its server takes the answer for thinking: turn off its reasoning parser, or the model's thinking."
        return f"it came back empty: all that it wrote stands in {source}", hint, True
    if not answer:
        told = f" (finish_reason {_shorten(reason)})" if reason not in ("", "stop") else ""
        return f"it came back empty{told}", "", False
    if is_cut and not words and not _ends_whole(answer):
        return f"it was cut before its JSON was whole by {limit}", "Raise model_tokens.", True
    return "", "", False


def _find_thinking(message: Mapping[str, Any], inner: str, split: SplitText) -> tuple[str, str]:
    """Return a model's thinking and its source: a field of its own, parts of the content, or marks in the text."""
    told = [(_part_words(message.get(name)), name) for name in _THINKING_FIELDS]
    told += [(inner, "thinking"), (split.thinking, split.mark)]
    found = [(words, source) for words, source in told if words.strip()]
    if len(found) < 2:
        return found[0] if found else ("", "")
    first, marked = found[0], found[-1]
    if marked[1] != split.mark or marked[0] == first[0]:
        return first
    return f"{first[0].strip()}\n\n{marked[0]}", f"{first[1]}, {marked[1]}"


def content_parts(content: Any) -> tuple[str, str, str]:
    """Return the text, the thinking and the refusal of a message's content: a string, or parts of several kinds."""
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
        (thinking if is_thinking else refusal if "refusal" in kind else text).append(_part_words(part))
    return "".join(text), "\n".join(filter(None, thinking)), "\n".join(filter(None, refusal))


def _part_words(value: Any, depth: int = 0) -> str:
    """Return the words of a part, however deeply nested."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_part_words(one, depth + 1) for one in value)))
    if isinstance(value, dict):
        return next((words for name in _WORDS if (words := _part_words(value.get(name), depth + 1))), "")
    return ""


def _function_names(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the functions that a message calls."""
    calls = message.get("tool_calls")
    for call in [*(calls if isinstance(calls, list) else []), {"function": message.get("function_call")}]:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield str(function.get("name") or "without a name")


def _ends_whole(answer: str) -> bool:
    """Return True if an answer ends with a whole object. Text after it may correct it, and was cut."""
    objects = list(found_objects(answer))
    return bool(objects) and not any(map(str.isalnum, answer[-LONGEST:][objects[-1].end :]))


def _shorten(text: str) -> str:
    return plain(text.strip(), lines=False)[:_LONGEST_WHY].rstrip(". ")
