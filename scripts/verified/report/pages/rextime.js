"use strict";
// Texts are put on the page as text, never as markup.
const task = JSON.parse(document.getElementById("task").textContent);
const byId = (id) => document.getElementById(id);
const place = `rextime-${task.task}-${task.annotator}`;
const TITLES = {
  verify: "Check questions and mark their answers",
  "question-span": "Mark what questions speak of",
  human: "Answer questions about videos",
};
const LETTERS = ["A", "B", "C", "D"];
let answers = {};
let log = [];
let at = 0;

function restore() {
  try {
    const kept = JSON.parse(localStorage.getItem(place)) || {};
    answers = kept.answers || {};
    log = kept.log || [];
  } catch {
    answers = {};
    log = [];
  }
}

function keep() {
  try {
    localStorage.setItem(place, JSON.stringify({ answers, log }));
  } catch {
    say("This browser does not keep answers: please finish and export before you close the page.");
  }
}

function say(text) {
  byId("message").textContent = text;
}

function note(action, value) {
  log.push({ item: task.items[at].item, action, value, at: new Date().toISOString() });
}

function given(item = task.items[at]) {
  return answers[item.item] || {};
}

// What is wrong with a span, as the import will see it; nothing while it is not complete.
function problem(item) {
  const { start, end } = given(item);
  if (start === undefined || end === undefined) return "";
  if (start < 0) return "The span starts before the video.";
  if (end > item.duration) return `The video ends at ${item.duration} s.`;
  if (start >= end) return "The span must end after its start.";
  return "";
}

function answered(item) {
  const { start, end, bad, answer } = given(item);
  if (task.tool === "verify" && bad) return true;
  const marked = start !== undefined && end !== undefined && !problem(item);
  return marked && (task.tool !== "human" || answer !== undefined);
}

function set(name, value) {
  const item = task.items[at];
  answers[item.item] = { ...given(item), [name]: value };
  if (value === undefined) delete answers[item.item][name];
  note(name, value === undefined ? null : value);
  say("");
  keep();
  fill();
  steps();
}

function show() {
  const item = task.items[at];
  byId("heading").textContent = `Question ${at + 1} of ${task.items.length}`;
  byId("facts").textContent = [item.kind, `video ${item.video}`, item.qid, `${item.duration} s`].filter(Boolean).join(" · ");
  byId("query").textContent = item.query;
  byId("answer").textContent = item.answer || "";
  byId("window").textContent = item.window ? `from ${item.window[0]} s to ${item.window[1]} s` : "";
  byId("video").src = JSON.parse(byId(`video-${item.clip}`).textContent);
  byId("video").setAttribute("aria-label", `Video of question ${at + 1}`);
  for (const name of ["start", "end"]) byId(name).max = item.duration;
  const options = byId("options");
  while (options.children.length > 1) options.lastChild.remove();
  (item.options || []).forEach((text, number) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "radio";
    input.name = "option";
    input.value = LETTERS[number];
    input.addEventListener("change", () => set("answer", input.value));
    const words = document.createElement("bdi");
    words.textContent = text;
    label.append(input, ` ${LETTERS[number]}. `, words);
    options.append(label);
  });
  byId("previous").disabled = at === 0;
  byId("next").disabled = at === task.items.length - 1;
  note("shown", null);
  keep();
  fill();
  steps();
}

function fill() {
  const item = task.items[at];
  const { start, end, bad, answer } = given(item);
  for (const [name, value] of [["start", start], ["end", end]]) {
    if (document.activeElement !== byId(name)) byId(name).value = value === undefined ? "" : value;
  }
  byId("bad").checked = Boolean(bad);
  byId("span").disabled = task.tool === "verify" && Boolean(bad);
  for (const input of document.querySelectorAll("#options input")) input.checked = input.value === answer;
  byId("problem").textContent = bad ? "" : problem(item);
}

function steps() {
  task.items.forEach((item, number) => {
    const button = byId("steps").children[number].firstChild;
    const done = answered(item);
    button.className = done ? "answered" : "";
    button.setAttribute("aria-label", `Question ${number + 1}, ${done ? "answered" : "open"}`);
    if (number === at) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  });
  const done = task.items.filter(answered).length;
  byId("progress").textContent = `${done} of ${task.items.length} answered`;
}

function go(number) {
  if (number < 0 || number >= task.items.length) return;
  at = number;
  show();
  byId("question").focus();
}

function begin() {
  restore();
  byId("instructions").open = Object.keys(answers).length === 0;
  at = Math.max(0, task.items.findIndex((item) => !answered(item)));
  show();
}

function tenths(seconds) {
  return Math.round(seconds * 10) / 10;
}

function move(seconds) {
  const video = byId("video");
  video.currentTime = Math.min(Math.max(0, video.currentTime + seconds), video.duration || task.items[at].duration);
}

// The video may be a little longer or shorter than its annotated duration.
function mark(name) {
  set(name, Math.min(tenths(byId("video").currentTime), task.items[at].duration));
}

function typed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input[type=number]")) return;
  const video = byId("video");
  const keys = {
    s: () => mark("start"),
    e: () => mark("end"),
    n: () => go(at + 1),
    p: () => go(at - 1),
    ",": () => move(-0.1),
    ".": () => move(0.1),
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
  };
  if (task.tool === "verify") keys.b = () => set("bad", given().bad ? undefined : true);
  if (task.tool === "human") {
    LETTERS.forEach((letter, number) => {
      keys[String(number + 1)] = () => set("answer", letter);
    });
  }
  const pressable = event.target.matches("button, summary, video, input");
  if (!pressable) keys[" "] = () => (video.paused ? video.play() : video.pause());
  if (!keys[event.key] || (event.key.startsWith("Arrow") && event.target.matches("video, input"))) return;
  event.preventDefault();
  keys[event.key]();
}

// FNV-1a, 64 bits: the import finds answers that were changed or mixed up on the way.
function checksum(text) {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, "0");
}

function exported() {
  return {
    task: task.task,
    tool: task.tool,
    annotator: task.annotator,
    answers: task.items.map((item) => {
      const { start, end, bad, answer } = given(item);
      const value = task.tool === "verify" && bad ? { bad: true } : { start, end };
      if (task.tool === "human") value.answer = answer;
      const told = value.bad ? "bad" : `${start}|${end}|${value.answer || ""}`;
      return { item: item.item, ...value, check: checksum([task.task, task.annotator, item.item, told].join("|")) };
    }),
    log,
  };
}

function save() {
  const open = task.items.findIndex((item) => !answered(item));
  if (open >= 0) {
    const left = task.items.flatMap((item, number) => (answered(item) ? [] : [number + 1]));
    go(open);
    say(`Not complete yet. Open: question ${left.join(", ")}.`);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(exported(), null, 1)], { type: "application/json" }));
  link.download = `${place}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
  say(`Saved as ${link.download}. Please send this file back.`);
}

document.body.classList.add(task.tool);
byId("title").textContent = TITLES[task.tool];
byId("who").textContent = `${task.title}, annotator ${task.annotator}`;
byId("span-legend").textContent =
  task.tool === "question-span" ? "When is the question's event shown?" : "When is the answer shown?";
task.items.forEach((_, number) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = String(number + 1);
  button.addEventListener("click", () => go(number));
  const item = document.createElement("li");
  item.append(button);
  byId("steps").append(item);
});
for (const name of ["start", "end"]) {
  byId(name).addEventListener("input", (event) => {
    const value = event.target.value;
    set(name, value === "" || !Number.isFinite(Number(value)) ? undefined : Math.round(Number(value) * 1000) / 1000);
  });
}
byId("bad").addEventListener("change", (event) => set("bad", event.target.checked ? true : undefined));
byId("video").addEventListener("timeupdate", () => {
  byId("now").textContent = byId("video").currentTime.toFixed(1);
});
byId("answers").addEventListener("submit", (event) => event.preventDefault());
byId("previous").addEventListener("click", () => go(at - 1));
byId("next").addEventListener("click", () => go(at + 1));
byId("export").addEventListener("click", save);
document.addEventListener("keydown", typed);
begin();
