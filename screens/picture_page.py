"""HTML of the page of pictures: the newest picture, its marks, and a region that is dragged on it."""

from __future__ import annotations

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hitlab</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style nonce="NONCE">
html, body { margin: 0; height: 100%; background: #16181d; color: #d8dbe2; font: 15px/1.4 system-ui, sans-serif; }
body { display: flex; flex-direction: column; align-items: center; }
#caption { padding: .6em 1em; min-height: 1.4em; max-width: 60em; white-space: pre-wrap; text-align: center; }
#phone { position: relative; flex: 1; min-height: 0; width: 100%; }
#phone img, #phone svg { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: contain; }
#phone svg { pointer-events: none; }
.asked #phone { cursor: crosshair; touch-action: none; outline: 3px solid #e0a030; outline-offset: -3px; }
.asked #caption::before { content: "Which part? Drag over it. "; color: #e0a030; }
.gone #phone { opacity: .4; }
</style></head><body>
<div id="caption">waiting for a picture</div>
<div id="phone"><img id="picture" alt=""><svg id="marks" preserveAspectRatio="xMidYMid meet"></svg></div>
<script nonce="NONCE">
const at = name => document.getElementById(name), SVG = "http://www.w3.org/2000/svg";
function add(kind, attributes) {
  const one = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  at("marks").append(one);
  return one;
}
function draw(now) {
  const [width, height] = now.size || [at("picture").naturalWidth || 1, at("picture").naturalHeight || 1];
  const unit = Math.max(width, height) / 100, ink = { stroke: "#ff3b6b", "stroke-width": unit / 2.5, fill: "none" };
  at("marks").setAttribute("viewBox", `0 0 ${width} ${height}`);
  at("marks").replaceChildren();
  for (const mark of now.marks) {
    const [x, y] = mark.at || [2 * unit, height - 6 * unit];
    if (mark.kind === "box" || mark.kind === "evidence") {
      add("rect", { x: x, y: y, width: mark.to[0] - x, height: mark.to[1] - y, ...ink });
      continue;
    }
    add("circle", { cx: x, cy: y, r: 2.2 * unit, ...ink });
    if (mark.to) add("line", { x1: x, y1: y, x2: mark.to[0], y2: mark.to[1], ...ink });
    if (mark.to) add("circle", { cx: mark.to[0], cy: mark.to[1], r: unit, ...ink, fill: "#ff3b6b" });
    if (mark.label) add("text", { x: x + 3 * unit, y: y, fill: "#ff3b6b", "font-size": 2.4 * unit }).textContent =
      mark.label;
  }
}
addEventListener("focus", () => {  // beside a terminal the keys are the terminal's
  if (parent !== window) parent.postMessage("focus", location.origin);
});
let number = -1, size = [1, 1], from = null;
function pixel(event) {
  const box = at("phone").getBoundingClientRect(), [width, height] = size;
  const scale = Math.min(box.width / width, box.height / height);
  const x = (event.clientX - box.left - (box.width - width * scale) / 2) / scale;
  const y = (event.clientY - box.top - (box.height - height * scale) / 2) / scale;
  return [Math.min(Math.max(Math.round(x), 0), width), Math.min(Math.max(Math.round(y), 0), height)];
}
function region(to) {
  return [Math.min(from[0], to[0]), Math.min(from[1], to[1]), Math.max(from[0], to[0]), Math.max(from[1], to[1])];
}
function frame(box) {
  for (const old of at("marks").querySelectorAll(".drag")) old.remove();
  if (box) add("rect", { class: "drag", x: box[0], y: box[1], width: box[2] - box[0], height: box[3] - box[1],
    stroke: "#e0a030", "stroke-width": Math.max(...size) / 250, fill: "#e0a03040" });
}
at("phone").addEventListener("pointerdown", event => {
  if (!document.body.classList.contains("asked")) return;
  event.preventDefault();
  at("phone").setPointerCapture(event.pointerId);
  from = pixel(event);
});
at("phone").addEventListener("pointermove", event => { if (from) frame(region(pixel(event))); });
at("phone").addEventListener("pointercancel", () => { from = null; frame(null); });
at("phone").addEventListener("pointerup", async event => {
  if (!from) return;
  const box = region(pixel(event));
  from = null;
  frame(null);
  await fetch("region", { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ number: number, box: box }) }).catch(() => 0);
});
async function follow() {
  let url = "";
  for (;;) {
    try {
      const now = await (await fetch("now?after=" + number)).json();
      if (now.over) throw new Error("over");
      if (now.number === number) continue;
      number = now.number;
      from = null;
      document.body.className = "";  // nothing is dragged on a picture that gives way
      at("picture").hidden = !now.picture;
      if (now.picture) {
        const old = url;
        url = URL.createObjectURL(await (await fetch("picture")).blob());
        at("picture").src = url;
        await at("picture").decode().catch(() => 0);
        if (old) URL.revokeObjectURL(old);
      }
      size = now.size || [at("picture").naturalWidth || 1, at("picture").naturalHeight || 1];
      at("caption").textContent = now.caption || (now.picture ? "" : "no picture here");
      draw(now);
      document.body.className = now.asks ? "asked" : "";
    } catch (gone) {
      number = -1;
      document.body.className = "gone";
      at("caption").textContent = "hitlab was left; this is the last picture it showed";
      await new Promise(done => setTimeout(done, 2000));
    }
  }
}
follow();
</script></body></html>
"""
