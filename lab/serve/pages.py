"""Pages before a room: the greeting, and why a link opens nothing. Texts of all pages in English and Chinese."""

from __future__ import annotations

from string import Template
from typing import Literal, NamedTuple

from lab.core.text.plain_text import html_text

Language = Literal["en", "zh"]
Why = Literal["unknown", "expired", "revoked", "used", "extended", "closed", "full", "busy"]
CLOSE_CODES = {
    "left": 4001, "revoked": 4002, "elsewhere": 4003, "full": 4004, "expired": 4005, "closed": 4006, "extended": 4007,
}  # fmt: skip
"""WebSocket codes with which the server closes a window, by reason. The page shows a text for each."""


class PageWords(NamedTuple):
    """Texts of the pages in one language."""

    begin: str
    greeting: str
    watch: str
    ask: str
    unknown: str
    expired: str
    revoked: str
    used: str
    extended: str
    closed: str
    full: str
    busy: str
    lost: str
    left: str
    elsewhere: str
    go_on: str
    picture: str
    keyboard: str
    wait: str
    answer: str


WORDS: dict[Language, PageWords] = {
    "en": PageWords(
        "Begin",
        "You take part as $person. What you answer is kept at once: you can close this page at any time, and go on "
        "where you were by the same link in this browser.",
        "This link shows how far the people of this study are. It is for you alone, in this browser.",
        "Ask who sent it to you for a new one.",
        "This link opens nothing.",
        "This link has expired.",
        "This link was revoked.",
        "This link was opened in another browser, and is for one.",
        "There is more in this study now. What you answered is kept; it goes on from there.",
        "This study is closed to you: nothing in it is left to do.",
        "The lab is full. This page tries again by itself.",
        "The file cannot be read now. Load this page again in a moment.",
        "The connection was lost. What you answered is kept; this page tries again by itself.",
        "You left. What you answered is kept: the same link in this browser leads back to where you were.",
        "This room was opened in further windows of this browser.",
        "Go on",
        "Picture",
        "Keyboard",
        "One moment ...",
        "An assistant's questions to you",
    ),
    "zh": PageWords(
        "开始",
        "您的代号是 $person。您的回答会立即保存：您可以随时关闭此页面，之后在同一浏览器中用同一链接从原处继续。",
        "此链接显示本研究中各参与者的进度，仅供您本人在此浏览器中使用。",
        "请向发给您链接的人索取新的链接。",
        "此链接无效。",
        "此链接已过期。",
        "此链接已被撤销。",
        "此链接已在另一个浏览器中打开，只能在一个浏览器中使用。",
        "此研究增加了新的内容。您的回答已保存，可以从原处继续。",
        "此研究已对您关闭，没有剩余的内容。",
        "实验室已满。此页面会自动重试。",
        "暂时无法读取文件，请稍后重新加载此页面。",
        "连接已断开。您的回答已保存；此页面会自动重试。",
        "您已离开。您的回答已保存：在此浏览器中打开同一链接即可从原处继续。",
        "此房间已在本浏览器的其他窗口中打开。",
        "继续",
        "图片",
        "键盘",
        "请稍候……",
        "助手向您提的问题",
    ),
}


def language_of(accept_language: str) -> Language:
    """Return the language of the pages for an `Accept-Language` header."""
    return "zh" if accept_language.lower().lstrip().startswith("zh") else "en"


def greeting_page(title: str, person: str, language: Language, nonce: str) -> str:
    """Return the first page of a link. Only its button binds the link, because a preview loads the page, too.

    Without a `person` it is a manager's page, for watching.
    """
    words = WORDS[language]
    greeting = Template(words.greeting).substitute(person=html_text(person)) if person else words.watch
    body = (
        f"<h1>{html_text(title)}</h1><p>{greeting}</p>"
        f'<form method="post"><button id="begin" autofocus>{words.begin}</button></form>'
    )
    return _page(body, language, nonce)


def refusal_page(why: Why, language: Language, nonce: str) -> str:
    """Return the page that explains why a link opens nothing, and what to do."""
    words = WORDS[language]
    sentence = getattr(words, why)
    ask = "" if why in ("extended", "closed", "full", "busy") else f"<p>{words.ask}</p>"
    return _page(f"<h1>hitlab</h1><p>{sentence}</p>{ask}", language, nonce)


def _page(body: str, language: Language, nonce: str) -> str:
    return _FRAME.substitute(language=language, nonce=nonce, body=body)


_FRAME = Template("""<!doctype html>
<html lang="$language"><head><meta charset="utf-8"><title>hitlab</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<style nonce="$nonce">
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #16181d; color: #e6e8ee;
  font: 17px/1.6 system-ui, sans-serif; }
main { max-width: 32rem; padding: 2rem; }
button { font: inherit; padding: .6em 2em; border: 0; border-radius: .3em; background: #2f6fed; color: #fff; }
button:focus { outline: 3px solid #9dbdff; }
</style></head><body><main>$body</main></body></html>
""")
