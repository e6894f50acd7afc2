"""The texts of a live run for the person who answers in it, by locale."""

from __future__ import annotations

from collections.abc import Mapping

from screens.widgets.translation import translation

_EN = {
    "asks": "The agent asks",
    "says": "The agent says",
    "asks you": "The agent asks you, {name}",
    "says you": "The agent says to you, {name}",
    "part": "You are {name}, the agent's user. tab, then {fold.toggle}: open your part",
    "accept": "accept it",
    "reject": "reject it",
    "question": "no offer: answer",
    "remark": "a remark, if you like (tab)",
    "answer": "your answer",
    "undecided": "! Nothing is decided yet: {keys}.",
    "untyped": "! Nothing is typed yet: write your answer, then {reply.enter}.",
    "sending": "sending ...",
    "sends answer": "{reply.enter} sends your answer",
    "in words": "No offer: write your answer here, {reply.enter} sends it",
    "choice": "{reply.enter} sends your answer · {run.back}: accept or reject",
    "a remark": "A remark. {reply.enter} goes back to the choices; nothing is sent yet",
    "one key": "One key sends · {remark}",
    "with remark": "your remark goes too",
    "to remark": "tab: a remark first",
    "waits": "The agent waits for your answer.",
    "early": "That key came before this was read, and did nothing: press it again.",
    "before": "Before it begins",
    "read first": "Read your part above; arrows and {fold.toggle} open it. Nothing goes on until you begin.",
    "end it?": "End the run?",
    "ends": "The run is then over for good. What you answered is kept.",
    "end it": "End it",
    "begins": "{run.next} begins; tab: what stands above",
}
_ZH = {
    "asks": "助手提问",
    "says": "助手说",
    "asks you": "助手问您（{name}）",
    "says you": "助手对您（{name}）说",
    "part": "您是 {name}，助手的用户。tab，再按 {fold.toggle}：打开您的部分",
    "accept": "接受提议",
    "reject": "拒绝提议",
    "question": "没有提议：我来回答",
    "remark": "想说的话（可不写，tab）",
    "answer": "您的回答",
    "undecided": "! 还没有决定：{keys}。",
    "untyped": "! 还没有写：请写下回答，再按 {reply.enter}。",
    "sending": "正在发送……",
    "sends answer": "按 {reply.enter} 发送回答",
    "in words": "没有提议：请在这里写回答，按 {reply.enter} 发送",
    "choice": "按 {reply.enter} 发送回答 · {run.back}：接受或拒绝",
    "a remark": "附言。按 {reply.enter} 回到选项；还没有发送",
    "one key": "按一个键就发送 · {remark}",
    "with remark": "附言一起发送",
    "to remark": "tab：先写附言",
    "waits": "助手在等您的回答。",
    "early": "这一键按得太早，没有生效：请再按一次。",
    "before": "开始之前",
    "read first": "请先读上面您的部分，用方向键和 {fold.toggle} 打开。您开始之前什么都不会进行。",
    "end it?": "结束这次运行？",
    "ends": "运行就此结束，不能再继续。您的回答会保留。",
    "end it": "结束",
    "begins": "按 {run.next} 开始；tab：上面的内容",
}
_BY_LOCALE: Mapping[str, Mapping[str, str]] = {"en": _EN, "zh": _ZH}


def translated(locale: str, key: str, **values: object) -> str:
    """Return a sentence of the Live screen in that locale."""
    return translation(_BY_LOCALE, locale, key, **values)
