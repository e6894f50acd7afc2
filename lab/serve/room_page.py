"""Page of a room: a person's terminal, the phone's picture beside it, and keys for touch screens."""

from __future__ import annotations

import json
from collections.abc import Iterable
from string import Template

from lab.core.text.plain_text import html_text
from lab.serve.pages import CLOSE_CODES, WORDS, Language

_DIGITS = tuple((digit, digit) for digit in "1234567890")
_KEYS = (("Esc", "\x1b"), ("Tab", "\t"), ("←", "\x1b[D"), ("↑", "\x1b[A"), ("↓", "\x1b[B"), ("→", "\x1b[C"),
         ("␣", " "), ("⏎", "\r"))  # fmt: skip
"""Keys below the terminal on touch screens, with the sequence that each sends. Each tuple is a row."""


def room_page(title: str, socket: str, pictures: str, language: Language, nonce: str) -> str:
    """Return a room's page: the terminal and the picture, from the addresses `socket` and `pictures`."""
    words = WORDS[language]
    return _ROOM.substitute(
        language=language,
        nonce=nonce,
        codes=json.dumps(CLOSE_CODES),
        title=html_text(title),
        socket=html_text(socket),
        pictures=html_text(pictures),
        digits=_buttons(_DIGITS),
        keys=_buttons(_KEYS),
        picture=words.picture,
        keyboard=words.keyboard,
        wait=words.wait,
        go_on=words.go_on,
        lost=html_text(words.lost),
        left=html_text(words.left),
        elsewhere=html_text(words.elsewhere),
        full=html_text(words.full),
        revoked=html_text(f"{words.revoked} {words.ask}"),
        expired=html_text(f"{words.expired} {words.ask}"),
        extended=html_text(words.extended),
        closed=html_text(words.closed),
    )


def _buttons(keys: Iterable[tuple[str, str]]) -> str:
    """Return buttons for keys. Each sends JSON, because an HTML attribute cannot hold an escape character."""
    return "".join(
        f'<button type="button" data-sends="{html_text(json.dumps(sends))}">{caption}</button>'
        for caption, sends in keys
    )


_ROOM = Template("""<!doctype html>
<html lang="$language"><head><meta charset="utf-8"><title>$title - hitlab</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/css/xterm.css">
<style nonce="$nonce">
@font-face { font-family: "Roboto Mono"; src: url("/static/fonts/RobotoMono-VariableFont_wght.ttf"); }
html, body { margin: 0; height: 100%; background: #121212; color: #e6e8ee; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; grid-template: minmax(0, 1fr) auto / minmax(0, 1fr) auto; overflow: hidden; }
#terminal { grid-area: 1 / 1; width: auto; height: auto; min-width: 0; min-height: 0; }
#phone { grid-area: 1 / 2; width: 32vw; max-width: 56vh; height: 100%; border: 0; border-left: 1px solid #333;
  box-sizing: border-box; display: none; background: #16181d; padding-top: 1.9em; }
body.settling #terminal { opacity: 0; } /* hidden, it would lose the keys */
body.picture #phone { display: block; }
#phone, #toggle, #notice { z-index: 20; }
#toggle { position: fixed; right: 0; top: 0; padding: .1em .7em; font-size: 13px; opacity: .8; }
.toggle { display: none; }
body.pictures .toggle { display: block; }
#keys { grid-area: 2 / 1 / 3 / 3; display: none; grid-template-columns: repeat(22, 1fr); gap: 3px; padding: 3px; }
#keys button { grid-column: span 2; padding: .35em 0; background: #2a2e37; touch-action: manipulation; }
#keys button:active { background: #2f6fed; }
#keys button.toggle { grid-column: span 6; overflow: hidden; }
#keys button[aria-pressed=true] { background: #2f6fed; }
#notice { position: fixed; inset: 0; display: grid; place-items: center; background: #16181dee; }
#notice[hidden] { display: none; }
#notice div { max-width: 32rem; padding: 2rem; }
button { font: inherit; padding: .4em 1.4em; border: 0; border-radius: .3em; background: #2f6fed; color: #fff; }
@media (max-width: 900px) {
  #phone { grid-area: 1 / 1 / 2 / 3; width: 100%; max-width: none; border: 0; }
}
@media (pointer: coarse) {
  #keys { display: grid; }
  #phone { padding-top: 0; }
  body.pictures #toggle { display: none; }
  #terminal { touch-action: none; }
}
@media (max-height: 500px) {
  #keys button { grid-column: span 1; }
  #keys button.toggle { grid-column: span 3; }
}
</style></head><body data-pictures="$pictures">
<div id="terminal" class="textual-terminal" data-session-websocket-url="$socket" data-font-size="16"></div>
<iframe id="phone" title="$picture"></iframe>
<button id="toggle" class="toggle" type="button">$picture</button>
<div id="keys">$digits<button id="keyboard" type="button" aria-label="$keyboard" aria-pressed="false">⌨</button>$keys
<button class="toggle" type="button">$picture</button></div>
<div id="notice" role="status" aria-live="polite"><div><p id="words">$wait</p>
<button id="again" type="button" hidden>$go_on</button></div></div>
<template id="said" data-lost="$lost" data-left="$left" data-elsewhere="$elsewhere" data-full="$full"
 data-revoked="$revoked" data-expired="$expired" data-closed="$closed" data-extended="$extended"></template>
<script nonce="$nonce">
const at = id => document.getElementById(id), said = at("said").dataset, LEAST = [innerWidth > 900 ? 80 : 64, 19];
const CODES = $codes, ENDED = Object.fromEntries(Object.entries(CODES).map(([why, code]) => [code, why]));
const TRIED = "hitlab-tried";
let tried = Number(sessionStorage.getItem(TRIED) || 0);
const scheme = location.protocol === "https:" ? "wss:" : "ws:", touched = matchMedia("(pointer: coarse)").matches;
const typed = () => document.querySelector(".xterm-helper-textarea");
let room = null;
at("terminal").dataset.sessionWebsocketUrl = scheme + "//" + location.host + at("terminal").dataset.sessionWebsocketUrl;
const across = at("terminal").clientWidth / LEAST[0] / 0.6, down = at("terminal").clientHeight / LEAST[1] / 1.35;
at("terminal").dataset.fontSize = Math.max(7, Math.floor(Math.min(16, across, down)));
function notice(words, again) {
  at("words").textContent = words;
  at("again").hidden = !again;
  at("notice").hidden = false;
  if (again) at("again").focus();
}
function goOn() {  // loaded while no server is there, the page would be the browser's or a proxy's, and stay so
  fetch(location.href, { cache: "no-store" }).then(answer => answer.status < 500, () => false).then(there => {
    if (there) location.reload();
    else tryAgain(said.lost);
  });
}
function tryAgain(words) {
  notice(words, false);
  setTimeout(goOn, Math.min(15000, 500 * 2 ** tried) * (0.75 + Math.random() / 2));
  sessionStorage.setItem(TRIED, ++tried);
}
function ended(code) {
  const why = ENDED[code] || "lost";
  if (why === "lost" || why === "full") tryAgain(said[why]);
  else notice(said[why], ["left", "elsewhere", "extended"].includes(why));
}
const SEEN = "hitlab-pictures " + location.pathname, broad = innerWidth > 900;
if (broad && localStorage.getItem(SEEN)) document.body.classList.add("picture");  // else all would move once it comes
function pictures(seen) {  // a study that hides the phone has none
  document.body.classList.toggle("pictures", seen);
  if (seen) localStorage.setItem(SEEN, "yes");
  else localStorage.removeItem(SEEN);
  if (seen) at("phone").src = document.body.dataset.pictures;
  if (seen && broad && !document.body.classList.contains("picture")) {
    shownBy = Date.now() + 1500;  // whatever the app writes until then
    settle(1500);
  }
  showPicture(seen && broad);
}
let settling = 0, shownBy = 0;
function settle(most) {  // made narrower, a terminal shows rows of the wide one for a moment
  document.body.classList.add("settling");
  clearTimeout(settling);
  settling = setTimeout(() => document.body.classList.remove("settling"), most);
}
function showPicture(shown) {
  document.body.classList.toggle("picture", shown);
  fit();
}
function fit() { dispatchEvent(new Event("resize")); }
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(address) {
    super(address);
    room = this;
    this.addEventListener("close", event => ended(event.code));
    this.addEventListener("message", event => {
      if (typeof event.data === "string") {
        const [kind, seen] = JSON.parse(event.data);
        if (kind === "pictures") pictures(seen);
        return;
      }
      if (document.body.classList.contains("settling")) settle(Math.min(150, shownBy - Date.now()));
      if (!at("notice").hidden) {
        at("notice").hidden = true;
        sessionStorage.removeItem(TRIED);
        typed().focus();
      }
    });
  }
  send(data) { if (this.readyState === Plain.OPEN) super.send(data); }
};
window.onresize = () => 0;
for (const toggle of document.querySelectorAll(".toggle")) toggle.onclick = () => {
  showPicture(!document.body.classList.contains("picture"));
  typed().focus();
};
for (const key of document.querySelectorAll("#keys button")) key.onpointerdown = event => event.preventDefault();
for (const key of document.querySelectorAll("#keys [data-sends]")) key.onclick = () => {
  if (room) room.send(JSON.stringify(["stdin", JSON.parse(key.dataset.sends)]));
};
at("keyboard").onclick = () => keyboard(at("keyboard").getAttribute("aria-pressed") !== "true");
function keyboard(wanted) {  // the system's own, which would cover half of a phone whenever something is tapped
  at("keyboard").setAttribute("aria-pressed", wanted);
  typed().inputMode = wanted ? "text" : "none";
  typed().blur();
  typed().focus();
}
let finger = null;
function swipe(event) {  // turns what is below the finger, as a mouse's wheel would
  const point = event.touches[0];
  if (event.type === "touchstart") finger = point.clientY;
  const rows = Math.trunc((finger - point.clientY) / 24);
  if (!rows) return;
  finger = point.clientY;
  const wheel = { deltaY: 24 * rows, clientX: point.clientX, clientY: point.clientY, bubbles: true, cancelable: true };
  document.querySelector(".xterm-screen").dispatchEvent(new WheelEvent("wheel", wheel));
}
addEventListener("message", event => {  // a click on the picture leaves the keys where they are
  if (event.source === at("phone").contentWindow) typed().focus();
});
at("again").onclick = goOn;
function begin() {  // textual.js begins where the page has loaded; here it is later: a terminal is measured by its font
  const start = window.onload;
  window.onload = null;
  start();
  if (!touched) return;
  keyboard(false);
  for (const kind of ["touchstart", "touchmove"]) at("terminal").addEventListener(kind, swipe, { passive: true });
  visualViewport.addEventListener("resize", () => {  // what a keyboard covers is not the terminal's
    document.body.style.height = visualViewport.height + "px";
    fit();
  });
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
