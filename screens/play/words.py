"""Texts of the participant's room by locale."""

from __future__ import annotations

from collections.abc import Mapping

from screens.widgets.translation import translation

_EN = {
    "consent": "Before you begin",
    "agree": "I have read this, and I take part",
    "refuse": "I do not take part",
    "refused": "You do not take part",
    "refused.says": "That is all right, and thank you for reading. Nothing else was asked of you, and nothing more is "
    "kept than that you did not agree. You can close this now: {app.quit}.",
    "reread": "Read the text again",
    "card": "Who you are",
    "card.says": "In this study you play {name}. Read who {name} is; nobody hurries you. Then come {count} questions, "
    "to be answered from memory.",
    "card.again": "{right} of {count} were right at the first try; {needed} are needed. Read once more who {name} is, "
    "then the questions come again.",
    "ready": "I am ready",
    "quiz": "What do you remember?",
    "quiz.ask": "From memory: which answer is right?",
    "quiz.left": "{left} still to answer",
    "wrong": "Not quite",
    "wrong.says": "Right is:",
    "wrong.again": "You are asked this once more.",
    "go on": "Go on",
    "brief": "What you see and do",
    "brief.who": "You are {name}. An assistant works on your phone for you.",
    "brief.nobody": "An assistant works on your phone for you.",
    "brief.asked": "You asked it:",
    "brief.unasked": "You asked it for nothing. It may offer you something of its own accord, or stay silent.",
    "brief.mirror": "You see the phone while it works.",
    "brief.no mirror": "You do not see the phone; you only read what the assistant says.",
    "brief.do": "Beside the dialogue stand who you are, when and where it is, and how you decide. When the assistant "
    "asks, answer as that person would. When it proposes something, accept or reject it. It waits as long as you need.",
    "brief.rest": "{done} of {of} tasks are done. You may rest now for as long as you like: nothing goes on until you "
    "begin.",
    "begin": "Begin",
    "again.card": "Read once more who you are",
    "again.consent": "Read once more what you agreed to",
    "back": "Back",
    "agreed": "What you agreed to",
    "after run": "Thank you, this task is over. {run.next} goes on: a few questions on what just happened.",
    "leaving": "Your task is under way. It waits for you as it stands: whoever opens the study for you again leads you "
    "back to this place.",
    "leaving.keys": "{quit.yes}  leave for now\n{quit.no}    stay",
    "minutes": "{minutes} min",
    "run": "Your task is under way",
    "run.says": "It waits for you as you left it.",
    "to run": "Go to it",
    "questions": "About what just happened",
    "done": "Thank you",
    "done.says": "That was all: {count} of {count} tasks are done, and everything is kept. You can close this "
    "now: {app.quit}.",
    "code": "Your code is {code}. To take everything back, give it to whoever runs the study: "
    "`hitlab file withdraw {code}` erases what you wrote and did.",
    "nothing": "Nothing to do",
    "nothing.says": "No task of this study is for {code}. Please tell whoever runs the study.",
    "task of": "task {number} of {of}",
    "early": "That key came before this was read, and did nothing: press it again.",
    "unmarked": "Nothing is marked yet: press a digit.",
    "nothing back": "There is nothing to take back.",
    "no way back": "This study has no going back.",
    "more": "{count} more: space reads on",
    "lobby": "You are in the study {title}: {where}. {lobby.on} goes on there; {app.quit} quits.",
}
_ZH = {
    "consent": "开始之前",
    "agree": "我已读过，愿意参加",
    "refuse": "我不参加",
    "refused": "您不参加",
    "refused.says": "没有关系，谢谢您读完。我们没有再问您什么，除了您没有同意这一点，也不再保存什么。"
    "现在可以关闭：{app.quit}。",
    "reread": "再读一遍说明",
    "card": "您是谁",
    "card.says": "在这项研究里您扮演 {name}。请读一读 {name} 是谁，不必着急。之后有 {count} 道题，凭记忆回答。",
    "card.again": "第一次就答对的有 {right} / {count} 题，需要 {needed} 题。请再读一遍 {name} 是谁，然后重新答题。",
    "ready": "我准备好了",
    "quiz": "您记得什么？",
    "quiz.ask": "请凭记忆选出正确的答案。",
    "quiz.left": "还有 {left} 题",
    "wrong": "不太对",
    "wrong.says": "正确的是：",
    "wrong.again": "这道题会再问一次。",
    "go on": "继续",
    "brief": "您看到什么、做什么",
    "brief.who": "您是 {name}。一个助手替您操作手机。",
    "brief.nobody": "一个助手替您操作手机。",
    "brief.asked": "您让它做的是：",
    "brief.unasked": "您没有让它做什么。它可能会主动提议，也可能不出声。",
    "brief.mirror": "它工作时您能看到手机。",
    "brief.no mirror": "您看不到手机，只读到助手说的话。",
    "brief.do": "对话旁边写着您是谁、时间地点和您怎样决定。助手提问时，请像这个人那样回答；"
    "它提议时，请接受或拒绝。它会一直等您。",
    "brief.rest": "{of} 个任务已完成 {done} 个。现在想休息多久都可以：您开始之前什么都不会进行。",
    "begin": "开始",
    "again.card": "再读一遍您是谁",
    "again.consent": "再读一遍您同意的内容",
    "back": "返回",
    "agreed": "您同意的内容",
    "after run": "谢谢，这个任务结束了。按 {run.next} 继续：几道关于刚才的问题。",
    "leaving": "您的任务正在进行。它会停在这里等您：再次打开这项研究就会回到这里。",
    "leaving.keys": "{quit.yes}  暂时离开\n{quit.no}    留下",
    "minutes": "{minutes} 分钟",
    "run": "您的任务正在进行",
    "run.says": "它停在您离开的地方等您。",
    "to run": "回到任务",
    "questions": "关于刚才的任务",
    "done": "谢谢",
    "done.says": "全部完成：{count} / {count} 个任务，都已保存。现在可以关闭：{app.quit}。",
    "code": "您的代码是 {code}。想全部撤回，请把它告诉研究负责人："
    "`hitlab file withdraw {code}` 会删除您写过和做过的一切。",
    "nothing": "没有要做的事",
    "nothing.says": "这项研究里没有给 {code} 的任务。请告诉研究负责人。",
    "task of": "任务 {number} / {of}",
    "early": "这一键按得太早，没有生效：请再按一次。",
    "unmarked": "还没有选中：请按数字。",
    "nothing back": "没有可以撤回的回答。",
    "no way back": "这项研究不能返回修改。",
    "more": "还有 {count} 行：空格键继续读",
    "lobby": "您在研究 {title} 中：{where}。按 {lobby.on} 继续；{app.quit} 退出。",
}
_BY_LOCALE: Mapping[str, Mapping[str, str]] = {"en": _EN, "zh": _ZH}


def translated(locale: str, key: str, **values: object) -> str:
    """Return a text of the room in that locale."""
    return translation(_BY_LOCALE, locale, key, **values)
