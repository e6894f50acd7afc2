// A whole agent: it does each night's settings and asks for which of the log's times to set the alarm (`night_mode`).
import { createInterface } from "node:readline";

const say = (answer) => console.log(JSON.stringify(answer));
const tap = (seen, words) => ({
  kind: "click", thought: `I tap ${words}.`,
  node: seen.nodes.findLast((node) => node.text === words || node.desc === words).number,
});

function* plan(brief) {
  const times = brief.log.flatMap((line) => line.match(/alarm for (\d\d:\d\d)/)?.[1] ?? []).sort();
  let seen = yield;
  seen = yield { kind: "ask_user", text: `For when shall I set the alarm: early (${times[0]}) or late (${times.at(-1)})?` };
  const [hour, minute] = (/early/i.test(seen.done.at(-1).reply.text) ? times[0] : times.at(-1)).split(":");
  seen = yield { kind: "open_app", app: "Settings" };
  for (const words of ["Display", "Dark theme", "Navigate up", "Do not disturb", "Do not disturb"]) seen = yield tap(seen, words);
  seen = yield { kind: "open_app", app: "Clock" };
  for (const words of ["Add alarm", "Hour", hour, "Minute", minute, "Save"])
    seen = yield /\d/.test(words) ? { kind: "input_text", text: words } : tap(seen, words);
  yield { kind: "status", status: "complete" };
}

let steps;
for await (const text of createInterface({ input: process.stdin })) {
  const line = JSON.parse(text);
  if (line.line === "hello") say({ line: "hello", v: 1, screenshot: "none" });
  if (line.line === "brief") (steps = plan(line)).next();
  if (line.line === "observation") say(steps.next(line).value);
}
