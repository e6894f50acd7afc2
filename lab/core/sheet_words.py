"""What every sheet says beside its protocol's own words, in the languages that the built-in protocols have.

Keys begin with `_`, which no field's id does; a protocol's own words go before these.
"""

from __future__ import annotations

from collections.abc import Mapping

SAID: Mapping[str, str] = {
    "_number": "{}: type the number, and Enter where a digit could follow.",
    "_hundredths": "{}, as hundredths: 85 is 0.85; Enter where a digit could follow.",
    "_digit": "{}: one digit",
    "_in_steps": " in steps of {}",
    "_left": "left",
    "_right": "right",
    "_not_seen": "I could not see it",
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
    "_may_stay": "All that must be answered is. Left open: {}",
    "_optional": "{} left open",
    "_some_open": "{} open: answer or skip them first.",
    "_is_handed_in": "It is handed in.",
    "_taken_up": "Another window answered here meanwhile; its answers are shown now.",
    "_not_kept": "Your last key kept nothing: press it again if you mean it.",
    "_is_handed_in_there": "Another window handed it in.",
    "_you": "you: {}",
    "_nothing": "nothing",
    "_gold": "right: {}",
}
"""In English; `{}` is a number, or what was said."""
_ZH: Mapping[str, str] = {
    "_number": "{}：键入数字；若后面还可能有数字，按 Enter 结束。",
    "_hundredths": "{}，按百分之一计：85 即 0.85；若后面还可能有数字，按 Enter 结束。",
    "_digit": "{}：一位数字",
    "_in_steps": "，每 {} 一档",
    "_left": "左",
    "_right": "右",
    "_not_seen": "我看不到",
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
    "_may_stay": "必答的已全部作答。未答：{}",
    "_optional": "{} 项留空",
    "_some_open": "还有 {} 项未答：请先作答或跳过。",
    "_is_handed_in": "已提交。",
    "_taken_up": "另一个窗口刚刚在此作答。现在显示的是那些答案。",
    "_not_kept": "您刚才的按键没有保存：如确有此意，请再按一次。",
    "_is_handed_in_there": "另一个窗口已提交。",
    "_you": "您的答案：{}",
    "_nothing": "无",
    "_gold": "正确答案：{}",
}
IN: Mapping[str, Mapping[str, str]] = {"en": SAID, "zh": _ZH}
"""By locale."""

PAST_HINTS: Mapping[str, str] = {
    "two digits: 85 is 85, 07 is 7; 0 and Enter is 0; 00 is 100": "",
    "two digits, hundredths in steps of five: 85 is .85, 05 is .05; 0 and Enter is 0; 00 is 1": "",
    "two digits, as above; it need not be the mean of the criteria": "it need not be the mean of the criteria",
    "两位数字：85 即 85，07 即 7；0 加回车即 0；00 即 100": "",
    "两位数字，百分之几，以五为一级：85 即 .85，05 即 .05；0 加回车即 0；00 即 1": "",
    "两位数字，同上；不必是各条标准的平均": "不必是各条标准的平均",
}
"""Hints that studies of version 0.1.0 hold, on how a number was typed then; and what is said in their place."""
