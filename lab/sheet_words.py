"""What every sheet says beside its protocol's own words, in the languages that the built-in protocols have.

Keys begin with `_`, which no field's id does; a protocol's own words go before these.
"""

from __future__ import annotations

from collections.abc import Mapping

SAID: Mapping[str, str] = {
    "_left": "left",
    "_right": "right",
    "_yes": "yes",
    "_no": "no",
    "_step": "step {}",
    "_skipped": "skipped",
    "_cannot_judge": "cannot judge",
    "_not_reached": "not reached",
    "_not_applicable": "not applicable",
    "_sure_0": "a guess",
    "_sure_1": "unsure",
    "_sure_2": "rather sure",
    "_sure_3": "sure",
    "_sure_4": "certain",
    "_hand_in": "Hand in",
    "_handed_in": "Handed in",
    "_open": "{} open",
    "_answered": "all answered",
    "_clash": "two answers: settle",
    "_two_words": "{} answers of yours stand here; Enter settles which.",
    "_also": "also: {}",
    "_take_back": "take back: {}",
    "_flag_first": "A flag first, then the answer.",
    "_all_said": "Everything is answered.",
    "_some_open": "{} open: answer or skip them first.",
    "_is_handed_in": "It is handed in.",
    "_you": "you: {}",
    "_nothing": "nothing",
    "_gold": "right: {}",
}
"""In English; `{}` is a number, or what was said."""
_ZH: Mapping[str, str] = {
    "_left": "左",
    "_right": "右",
    "_yes": "是",
    "_no": "否",
    "_step": "第 {} 步",
    "_skipped": "跳过",
    "_cannot_judge": "无法判断",
    "_not_reached": "未到达",
    "_not_applicable": "不适用",
    "_sure_0": "猜测",
    "_sure_1": "不太确定",
    "_sure_2": "比较确定",
    "_sure_3": "确定",
    "_sure_4": "非常确定",
    "_hand_in": "提交",
    "_handed_in": "已提交",
    "_open": "还有 {} 项未答",
    "_answered": "已全部作答",
    "_clash": "有两个答案，请选定",
    "_two_words": "此处有您的 {} 个答案；按 Enter 选定一个。",
    "_also": "标记：{}",
    "_take_back": "取消标记：{}",
    "_flag_first": "先做标记，再作答。",
    "_all_said": "已全部作答。",
    "_some_open": "还有 {} 项未答：请先作答或跳过。",
    "_is_handed_in": "已提交。",
    "_you": "您的答案：{}",
    "_nothing": "无",
    "_gold": "正确答案：{}",
}
IN: Mapping[str, Mapping[str, str]] = {"en": SAID, "zh": _ZH}
"""By locale."""
