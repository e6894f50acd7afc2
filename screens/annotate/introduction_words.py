"""Texts of the introduction by locale. Key names in braces are replaced by the keys as bound."""

from __future__ import annotations

from collections.abc import Mapping

from screens.widgets.translation import translation

_EN = {
    "guide": "The guide",
    "guide.head": "Please read this first: it says how you decide. It opens again at any time by {annotate.guide}.",
    "keys": "What the keys do",
    "keys.head": "Digits answer, arrows move through the run, {answer.next} goes on. {app.help} lists all keys.",
    "keys.digits": "gives the answer with that number",
    "keys.numbers": "type a number: {answer.next} ends it",
    "keys.typed": "opens a line for the answer; {answer.next} keeps what you typed",
    "keys.steps": "the next step of the run, and the one before",
    "keys.next": "on to the next question; behind the last one it hands in",
    "keys.other": "other answers: skip, cannot judge, a note, how sure you are",
    "keys.evidence": "your answer rests on the step that is shown",
    "keys.undo": "takes your last answer back",
    "keys.guide": "the guide, with what each answer means",
    "keys.read": "reads on, and back",
    "keys.header": "the whole instruction",
    "keys.closely": "the picture in full; {annotate.view} shows words instead",
    "keys.side": "the other one of the two runs",
    "keys.back": "leaves; you come back to the very same place",
    "practice": "Practice",
    "practice.title": "practice, counts nowhere",
    "practice.wait": "One item to practise on is being made; it takes a few seconds.",
    "practice.none": "There is no practice item here ({why}); the study begins with the next key.",
    "practice.right": "Practice: all of it is right.",
    "practice.wrong": "Practice: {right} of {of} right. Look at what is right, and why.",
    "practice.after": "This was practice and counts nowhere. The study begins now.",
    "state.read": "{annotate.onward}: read on",
    "state.keys": "{annotate.onward}: on to what the keys do",
    "state.practice": "{annotate.onward}: on to one item for practice, which counts nowhere",
    "state.first": "{annotate.onward}: on to the first item",
    "state.skip": "{annotate.pass_over}: skip all this",
    "counts nowhere": "This is practice: it counts nowhere.",
}
_ZH = {
    "guide": "评分指南",
    "guide.head": "请先读这一页：它说明怎样判断。随时可以按 {annotate.guide} 再次打开。",
    "keys": "各个按键的作用",
    "keys.head": "数字键作答，方向键在运行中移动，{answer.next} 继续。按 {app.help} 可看到全部按键。",
    "keys.digits": "选择该数字的答案",
    "keys.numbers": "键入数字：按 {answer.next} 结束",
    "keys.typed": "打开输入行；按 {answer.next} 保存所输入的内容",
    "keys.steps": "运行的下一步、上一步",
    "keys.next": "到下一个问题；最后一个之后则提交",
    "keys.other": "其他答案：跳过、无法判断、备注、把握程度",
    "keys.evidence": "答案以当前显示的这一步为依据",
    "keys.undo": "撤回最后一个答案",
    "keys.guide": "打开指南，以及每个答案的含义",
    "keys.read": "往下读、往回读",
    "keys.header": "完整的指令",
    "keys.closely": "完整的图片；{annotate.view} 改为显示文字",
    "keys.side": "两次运行中的另一次",
    "keys.back": "离开；下次回到同一处",
    "practice": "练习",
    "practice.title": "练习，不计入结果",
    "practice.wait": "正在准备一道练习，需要几秒钟。",
    "practice.none": "这里没有练习（{why}）；按下一个键即开始研究。",
    "practice.right": "练习：全部正确。",
    "practice.wrong": "练习：{of} 处中 {right} 处正确。请看正确答案及原因。",
    "practice.after": "这是练习，不计入任何结果。研究现在开始。",
    "state.read": "{annotate.onward}：往下读",
    "state.keys": "{annotate.onward}：接下来看各个按键的作用",
    "state.practice": "{annotate.onward}：接下来做一道练习，不计入结果",
    "state.first": "{annotate.onward}：到第一项",
    "state.skip": "{annotate.pass_over}：全部跳过",
    "counts nowhere": "这是练习：不计入任何结果。",
}
_BY_LOCALE: Mapping[str, Mapping[str, str]] = {"en": _EN, "zh": _ZH}


def translated(locale: str, key: str, **values: object) -> str:
    """Return a sentence of the introduction in that locale."""
    return translation(_BY_LOCALE, locale, key, **values)
