"""The pages around a room: who is greeted, the room itself, and why a link opens nothing. English and Chinese."""

from __future__ import annotations

import json
from html import escape
from string import Template
from typing import Literal, NamedTuple

Language = Literal["en", "zh"]
Why = Literal["unknown", "expired", "revoked", "used", "extended", "closed", "full", "busy"]
CLOSE_CODES = {
    "left": 4001, "revoked": 4002, "elsewhere": 4003, "full": 4004, "expired": 4005, "closed": 4006, "extended": 4007,
}  # fmt: skip
"""Why the server closed a window's connection: the code of the WebSocket, and what the page then says."""


class _Words(NamedTuple):
    """What the pages say in one language."""

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
    wait: str


_WORDS: dict[Language, _Words] = {
    "en": _Words(
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
        "You left. What you answered is kept.",
        "This room was opened in further windows of this browser.",
        "Go on",
        "Picture",
        "One moment ...",
    ),
    "zh": _Words(
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
        "您已离开。您的回答已保存。",
        "此房间已在本浏览器的其他窗口中打开。",
        "继续",
        "图片",
        "请稍候……",
    ),
}


def language_of(accepted: str) -> Language:
    """The language of the pages by what a browser accepts (`Accept-Language`)."""
    return "zh" if accepted.lower().lstrip().startswith("zh") else "en"


def greeting_page(title: str, person: str, language: Language, nonce: str) -> str:
    """The page that a link leads to first: it takes nothing up until the button is pressed, as a preview would.

    Without a `person` it is a manager's, who watches.
    """
    words = _WORDS[language]
    greeting = Template(words.greeting).substitute(person=escape(person)) if person else words.watch
    body = (
        f"<h1>{escape(title)}</h1><p>{greeting}</p>"
        f'<form method="post"><button id="begin" autofocus>{words.begin}</button></form>'
    )
    return _page(body, language, nonce)


def refusal_page(why: Why, language: Language, nonce: str) -> str:
    """The page that says why a link opens nothing, and what to do."""
    words = _WORDS[language]
    sentence = getattr(words, why)
    ask = "" if why in ("extended", "closed", "full", "busy") else f"<p>{words.ask}</p>"
    return _page(f"<h1>hitlab</h1><p>{sentence}</p>{ask}", language, nonce)


def _page(body: str, language: Language, nonce: str) -> str:
    return _FRAME.substitute(language=language, nonce=nonce, body=body)


def room_page(title: str, socket: str, pictures: str, language: Language, nonce: str) -> str:
    """The page of a room: the terminal and, beside it, the picture; `socket` and `pictures` are its addresses."""
    words = _WORDS[language]
    return _ROOM.substitute(
        language=language,
        nonce=nonce,
        codes=json.dumps(CLOSE_CODES),
        title=escape(title),
        socket=escape(socket),
        pictures=escape(pictures),
        picture=words.picture,
        wait=words.wait,
        go_on=words.go_on,
        lost=escape(words.lost),
        left=escape(words.left),
        elsewhere=escape(words.elsewhere),
        full=escape(words.full),
        revoked=escape(f"{words.revoked} {words.ask}"),
        expired=escape(f"{words.expired} {words.ask}"),
        extended=escape(words.extended),
        closed=escape(words.closed),
    )


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

_ROOM = Template("""<!doctype html>
<html lang="$language"><head><meta charset="utf-8"><title>$title - hitlab</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/css/xterm.css">
<style nonce="$nonce">
@font-face { font-family: "Roboto Mono"; src: url("/static/fonts/RobotoMono-VariableFont_wght.ttf"); }
html, body { margin: 0; height: 100%; background: #121212; color: #e6e8ee; font: 16px/1.5 system-ui, sans-serif; }
body { display: flex; overflow: hidden; }
#terminal { flex: 1; min-width: 0; height: 100%; }
#phone { width: 32vw; max-width: 56vh; border: 0; border-left: 1px solid #333; display: none; }
body.picture #phone { display: block; }
#phone, #toggle, #notice { z-index: 20; }
#toggle { position: fixed; right: 0; top: 0; padding: .1em .7em; font-size: 13px; opacity: .8; display: none; }
body.pictures #toggle { display: block; }
#notice { position: fixed; inset: 0; display: grid; place-items: center; background: #16181dee; }
#notice[hidden] { display: none; }
#notice div { max-width: 32rem; padding: 2rem; }
button { font: inherit; padding: .4em 1.4em; border: 0; border-radius: .3em; background: #2f6fed; color: #fff; }
@media (max-width: 900px) {
  #phone { position: fixed; inset: 0; width: 100vw; max-width: none; height: 100%; }
}
</style></head><body data-pictures="$pictures">
<div id="terminal" class="textual-terminal" data-session-websocket-url="$socket" data-font-size="16"></div>
<iframe id="phone" title="$picture"></iframe>
<button id="toggle" type="button">$picture</button>
<div id="notice" role="status" aria-live="polite"><div><p id="words">$wait</p>
<button id="again" type="button" hidden>$go_on</button></div></div>
<template id="said" data-lost="$lost" data-left="$left" data-elsewhere="$elsewhere" data-full="$full"
 data-revoked="$revoked" data-expired="$expired" data-closed="$closed" data-extended="$extended"></template>
<script nonce="$nonce">
const at = id => document.getElementById(id), said = at("said").dataset, LEAST = 80;
const CODES = $codes, ENDED = Object.fromEntries(Object.entries(CODES).map(([why, code]) => [code, why]));
const TRIED = "hitlab-tried", tried = Number(sessionStorage.getItem(TRIED) || 0);
const scheme = location.protocol === "https:" ? "wss:" : "ws:";
at("terminal").dataset.sessionWebsocketUrl = scheme + "//" + location.host + at("terminal").dataset.sessionWebsocketUrl;
at("terminal").dataset.fontSize = Math.max(7, Math.min(16, Math.floor(at("terminal").clientWidth / LEAST / 0.6)));
function notice(words, again) {
  at("words").textContent = words;
  at("again").hidden = !again;
  at("notice").hidden = false;
  if (again) at("again").focus();
}
function goOn() { location.reload(); }
function tryAgain(words) {
  notice(words, false);
  sessionStorage.setItem(TRIED, tried + 1);
  setTimeout(goOn, Math.min(15000, 500 * 2 ** tried) * (0.75 + Math.random() / 2));
}
function ended(code) {
  const why = ENDED[code] || "lost";
  if (why === "lost" || why === "full") tryAgain(said[why]);
  else notice(said[why], ["left", "elsewhere", "extended"].includes(why));
}
function pictures() {
  document.body.classList.add("pictures");
  if (innerWidth > 900) showPicture(true);
}
function showPicture(shown) {
  const frame = at("phone");
  if (shown && !frame.src) frame.src = document.body.dataset.pictures;
  document.body.classList.toggle("picture", shown);
  dispatchEvent(new Event("resize"));
}
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(address) {
    super(address);
    this.addEventListener("close", event => ended(event.code));
    this.addEventListener("message", event => {
      if (typeof event.data === "string") {
        if (JSON.parse(event.data)[0] === "pictures") pictures();
      } else if (!at("notice").hidden) {
        at("notice").hidden = true;
        sessionStorage.removeItem(TRIED);
        document.querySelector(".xterm-helper-textarea").focus();
      }
    });
  }
  send(data) { if (this.readyState === Plain.OPEN) super.send(data); }
};
window.onresize = () => 0;
at("toggle").onclick = () => {
  showPicture(!document.body.classList.contains("picture"));
  document.querySelector(".xterm-helper-textarea").focus();
};
at("again").onclick = goOn;
function begin() {  // textual.js begins where the page has loaded; here it is later: a terminal is measured by its font
  const start = window.onload;
  window.onload = null;
  start();
}
document.fonts.load("16px 'Roboto Mono'").finally(() => {
  const terminal = document.createElement("script");
  terminal.src = "/static/js/textual.js";
  terminal.nonce = "$nonce";
  terminal.onload = begin;
  document.body.append(terminal);
});
</script>
</body></html>
""")
