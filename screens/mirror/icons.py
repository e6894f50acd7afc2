"""Icon buttons: one character for what their description says, or the first letters of an unknown description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lab.core.ui_tree import Bounds, Node

_SIGNS = tuple(
    # The order matters: the first match counts, so special cases precede general ones.
    (re.compile(words, re.IGNORECASE), sign)
    for words, sign in (
        (r"^(previous|earlier) (hour|minute|year)\b", "−"),
        (r"^(navigate up|go back|back|previous|prev)\b|^(返回|后退|上一)", "←"),
        (r"^more (?!options|actions|menu)\S", "+"),
        (r"^more$|^(next|later) (hour|minute|year)\b", "+"),
        (r"^newer\b", "←"),
        (r"^(forward|next|older)\b|^(前进|下一)", "→"),
        (r"^(unstar|starred|remove star|unfavou?rite|remove from favou?rites|bookmarked|remove bookmark)\b", "★"),
        (r"\b(star|starred|favou?rites?|bookmark)\b|^(收藏|星标)", "☆"),
        (r"^(unlike|liked|heart)\b", "♥"),
        (r"^(like|love)\b|^赞", "♡"),
        (r"^thumbs? up\b", "+1"),
        (r"^(smile|grin|laugh)\b", ":)"),
        (r"^looking\b", "oo"),
        (r"^(close|dismiss|clear|cancel)\b|^(关闭|清除|取消)", "✕"),
        (r"^(delete|remove|bin|trash|discard)\b|^(删除|移除)", "⌫"),
        (r"^(more|options|overflow)\b|^更多", "⋮"),
        (r"\b(menu|drawer|folders)\b|^菜单", "≡"),
        (r"^(search|find)\b|^(搜索|查找)", "⌕"),
        (r"^(add|new|create|increase|plus|zoom in)\b|^(添加|新建|增加)", "+"),
        (r"^(less|decrease|minus|fewer|zoom out)\b|^减少", "−"),
        (r"^(edit|compose|rename|write)\b|^(编辑|撰写)", "✎"),
        (r"^(done|save|confirm|ok|accept|finish)\b|^(完成|保存|确定)", "✓"),
        (r"^send\b|^发送", "➤"),
        (r"^(call|dial|phone)\b|^(呼叫|拨)", "☎"),
        (r"^(mail|e-?mail|message|mark as (un)?read)\b|^(邮件|短信)", "✉"),
        (r"^comments?\b|^评论", "“”"),
        (r"^archive\b|^归档", "↧"),
        (r"^(select|check ?list)\b|^(选择|清单)", "☑"),
        (r"^plain text\b", "¶"),
        (r"^(backspace|delete key)\b|^退格", "⌫"),
        (r"^shift\b", "⇧"),
        (r"^(enter|return)\b", "⏎"),
        (r"^(settings|preferences)\b|^设置", "⚙"),
        (r"^home\b|^主(页|屏)", "⌂"),
        (r"^(overview|recents?|recent apps)\b|^最近", "□"),
        (r"^(refresh|reload|sync|retry)\b|^刷新", "↻"),
        (r"^(undo|restore)\b|^撤销", "↶"),
        (r"^(share|export)\b|^分享", "↗"),
        (r"^(reply|answer)\b|^回复", "↩"),
        (r"^(play|start|resume)\b|^播放", "▶"),
        (r"^(pause)\b|^暂停", "‖"),
        (r"^(pin|unpin|pinned)\b", "⚑"),
        (r"^(info|details|about)\b|^(信息|详情)", "i"),
        (r"^(sort|filter|swap)\b|^(排序|筛选|交换)", "⇅"),
        (r"^(directions|route)\b|^路线", "↱"),
        (r"^history\b|^历史", "↺"),
        (r"^(expand|show more|down)\b|^展开", "▾"),
        (r"^(collapse|show less|up)\b|^收起", "▴"),
    )
)
_LETTERS = 3


def icons(root: Node, screen: Bounds) -> Iterator[tuple[Bounds, str]]:
    """Yield the boxes and signs of small buttons without text, in drawing order."""
    for node in root.walk():
        box = node.bounds.intersection(screen)
        if not (node.clickable and node.desc) or node.checkable or not box.area:
            continue
        small = box.area < 0.02 * screen.area and 0.4 <= box.width / max(1, box.height) <= 3.2
        if small and not any(inner.text for inner in node.walk()):
            yield box, sign(node.desc)


@lru_cache(maxsize=512)
def sign(desc: str) -> str:
    """Return the sign for a description; the first letters of its first word if no pattern matches."""
    desc = desc.strip()
    symbol = next((mark for words, mark in _SIGNS if words.search(desc)), None)
    return symbol or next(iter(re.findall(r"\w+", desc)), "")[:_LETTERS]
