"use strict";
// Captions are put on the page as text, never as markup. Decisions are kept in this browser and saved as JSON Lines.
const review = JSON.parse(document.getElementById("review").textContent);
const byId = (id) => document.getElementById(id);
const items = review.items;
const NAME = `reviewer-of-${review.dataset}`; // no name that a reviewer's own decisions could have
const KEYS = ["dataset", "desc_id", "video", "start", "end", "decision", "type", "candidate", "caption", "reviewer", "when",
  "instead", "text", "reason"];
const TOLD = { accept: "Right", choose: "Another candidate", edit: "Edited", reject: "Rejected", flag: "Flagged" };
let decisions = []; // every decision of this reviewer, in the order of time; nothing is ever taken out
let at = 0;
let asking = ""; // reject or flag, while its reason is asked for

const place = () => `review-${review.dataset}-${byId("reviewer").value.trim()}`;

function say(text) {
  byId("message").textContent = text;
}

function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function keep() {
  try {
    localStorage.setItem(NAME, byId("reviewer").value.trim());
    localStorage.setItem(place(), JSON.stringify(decisions));
    return "";
  } catch {
    return "This browser keeps nothing: save your decisions before you close the page.";
  }
}

function restore() {
  try {
    decisions = JSON.parse(stored(place())) || [];
  } catch {
    decisions = [];
  }
}

const now = () => new Date().toISOString().replace(/\.\d+Z$/, "Z");

function same(row, item) {
  return row.desc_id === item.desc_id && row.video === item.video && row.start === item.start && row.end === item.end;
}

// The standing decision and the flag of a moment; what was withdrawn stands no more, nor does what spoke of another caption.
function standing(item) {
  let decided = null, flag = null;
  for (const row of decisions) {
    if (!same(row, item)) continue;
    if (row.decision === "flag") flag = row;
    else if (row.decision === "withdraw") decided = flag = null;
    else decided = row;
  }
  if (decided && !item.candidates.some((c) => c.type === decided.type && c.caption === decided.caption)) decided = null;
  return { decided, flag };
}

function decide(decision, more = {}) {
  if (!byId("reviewer").value.trim()) {
    byId("reviewer").focus();
    say("Please give your name first: it stands beside each decision.");
    return;
  }
  const item = items[at], judged = item.candidates[item.chosen];
  decisions.push({
    dataset: review.dataset, desc_id: item.desc_id, video: item.video, start: item.start, end: item.end, decision,
    type: judged.type, candidate: judged.candidate, caption: judged.caption,
    reviewer: byId("reviewer").value.trim(), when: stamp(), ...more,
  });
  const problem = keep();
  closeForms();
  if (decision !== "flag" && decision !== "withdraw" && at < items.length - 1) at += 1;
  show();
  say(problem);
}

// Two decisions within a second keep their order: the later one gets a later time.
function stamp() {
  const last = decisions.length ? Date.parse(decisions[decisions.length - 1].when) : 0;
  const time = Math.max(Date.parse(now()), last + 1000);
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}

function choose(number) {
  const item = items[at], other = item.candidates[number];
  if (!other) return;
  if (number === item.chosen) return decide("accept");
  decide("choose", { instead: { type: other.type, candidate: other.candidate, caption: other.caption } });
}

function openForm(name) {
  closeForms();
  if (name === "edit") {
    const { decided } = standing(items[at]);
    byId("editing").hidden = false;
    byId("text").value = decided && decided.text ? decided.text : items[at].candidates[items[at].chosen].caption;
    byId("text").focus();
    return;
  }
  asking = name;
  byId("rejecting").hidden = false;
  byId("asked").textContent = name === "reject" ? "Why is it rejected?" : "What should somebody look at? (may stay empty)";
  byId("reason").value = "";
  byId("reason").focus();
}

function closeForms() {
  byId("editing").hidden = byId("rejecting").hidden = true;
  asking = "";
  byId("moment").focus({ preventScroll: true });
}

function finishEdit() {
  const text = byId("text").value.split(/\s+/).filter(Boolean).join(" ");
  if (!text) return say("The caption is empty. To say that none is right, reject it.");
  if (text === items[at].candidates[items[at].chosen].caption) return decide("accept");
  decide("edit", { text });
}

function finishReason() {
  const reason = byId("reason").value.trim();
  if (asking === "reject" && !reason) return say("Please say why: a few words are enough.");
  decide(asking, reason ? { reason } : {});
}

function undo() {
  const { decided, flag } = standing(items[at]);
  if (decided || flag) decide("withdraw");
  else say("There is no decision on this moment.");
}

function go(number) {
  if (number < 0 || number >= items.length) return;
  at = number;
  closeForms();
  show();
}

function nextOpen() {
  const order = [...items.keys()].map((n) => (at + 1 + n) % items.length);
  const found = order.find((n) => !standing(items[n]).decided);
  if (found === undefined) say("Every moment of this page has a decision. Please save them.");
  else go(found);
}

function show() {
  const item = items[at], { decided, flag } = standing(item);
  byId("heading").textContent = `Moment ${item.desc_id} (${at + 1} of ${items.length})`;
  byId("where").textContent = `${item.video}, ${item.start.toFixed(2)}–${item.end.toFixed(2)} s, ${item.split}`;
  byId("coarse").textContent = item.coarse;
  byId("judged").textContent = item.candidates[item.chosen].caption;
  const clip = byId("clip"), source = JSON.parse(byId(`clip-${item.desc_id}`).textContent);
  if (clip.dataset.shown !== String(item.desc_id)) {
    clip.src = source;
    clip.dataset.shown = String(item.desc_id);
    clip.setAttribute("aria-label", `Clip of moment ${item.desc_id}`);
  }
  const parts = [];
  if (decided) {
    const told = decided.decision === "choose" ? decided.instead.caption : decided.text || decided.reason || "";
    parts.push(TOLD[decided.decision] + (told ? `: ${told}` : ""));
  }
  if (flag) parts.push(`Flagged${flag.reason ? `: ${flag.reason}` : ""}`);
  byId("decided").textContent = parts.join("; ");
  byId("candidates").replaceChildren(...item.candidates.map((candidate, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = number === item.chosen ? "chosen" : "";
    const cells = [[String(number + 1), "no"], [candidate.type, "kind"], [candidate.caption, "caption"],
      [candidate.score === null ? "–" : candidate.score.toFixed(2), "score"]];
    button.append(...cells.map(([text, name]) => {
      const cell = document.createElement("span");
      cell.className = name;
      cell.textContent = text;
      return cell;
    }));
    button.addEventListener("click", () => choose(number));
    const entry = document.createElement("li");
    entry.append(button);
    return entry;
  }));
  byId("previous").disabled = at === 0;
  byId("next").disabled = at === items.length - 1;
  const done = items.filter((one) => standing(one).decided).length;
  byId("progress").textContent = `${done} of ${items.length} decided`;
}

function save() {
  const name = byId("reviewer").value.trim();
  const here = new Set(items.map((item) => item.desc_id));
  const rows = decisions.filter((row) => here.has(row.desc_id));
  if (!rows.length) return say("There is nothing to save yet.");
  const lines = rows.map((row) => JSON.stringify(Object.fromEntries(KEYS.filter((key) => key in row).map((key) => [key, row[key]]))));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "application/jsonl" }));
  const safe = name.replace(/[^\p{L}\p{N}]+/gu, "-");
  link.download = `review-${review.dataset}-${String(review.page).padStart(3, "0")}-${safe}.jsonl`;
  link.click();
  URL.revokeObjectURL(link.href);
  say(`Saved as ${link.download}. Its path goes into annotations.review of the configuration.`);
}

async function load(file) {
  let rows;
  try {
    rows = (await file.text()).split("\n").filter(Boolean).map((line) => JSON.parse(line));
    if (!rows.length || rows.some((row) => row.dataset !== review.dataset || !row.reviewer || !row.when)) throw new Error();
  } catch {
    return say("This file holds no decisions on this data set.");
  }
  byId("reviewer").value = rows[0].reviewer;
  restore();
  const known = new Set(decisions.map((row) => JSON.stringify(row)));
  decisions.push(...rows.filter((row) => row.reviewer === rows[0].reviewer && !known.has(JSON.stringify(row))));
  decisions.sort((a, b) => (a.when < b.when ? -1 : a.when > b.when ? 1 : 0));
  const problem = keep();
  show();
  say(problem || `${rows.length} decisions of ${rows[0].reviewer} are here again.`);
}

// Goes on where the reviewer, whose name and decisions are kept here, has left.
function begin() {
  byId("reviewer").value = stored(NAME) || "";
  restore();
  at = Math.max(0, items.findIndex((item) => !standing(item).decided));
  show();
}

const SHORT = {
  a: () => decide("accept"), e: () => openForm("edit"), r: () => openForm("reject"), f: () => openForm("flag"), u: undo,
  n: () => go(at + 1), p: () => go(at - 1), o: nextOpen,
  " ": () => (byId("clip").paused ? byId("clip").play() : byId("clip").pause()),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return closeForms();
  if (event.target.matches("textarea") && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    return finishEdit();
  }
  if (event.target.matches("input, textarea, video") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && event.target.matches("button")) return;
  const act = /^[1-9]$/.test(event.key) ? () => choose(Number(event.key) - 1) : SHORT[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
for (const [id, act] of [["accept", SHORT.a], ["edit", SHORT.e], ["reject", SHORT.r], ["flag", SHORT.f], ["undo", SHORT.u],
  ["next", SHORT.n], ["previous", SHORT.p], ["open", SHORT.o], ["save", save]]) byId(id).addEventListener("click", act);
for (const button of document.querySelectorAll(".cancel")) button.addEventListener("click", closeForms);
byId("editing").addEventListener("submit", (event) => { event.preventDefault(); finishEdit(); });
byId("rejecting").addEventListener("submit", (event) => { event.preventDefault(); finishReason(); });
byId("reviewer").addEventListener("change", () => { restore(); show(); });
byId("load").addEventListener("change", (event) => event.target.files.length && load(event.target.files[0]));

byId("title").textContent = `Review of ${review.title}, page ${review.page} of ${review.pages}`;
byId("warning").textContent = review.warning;
byId("warning").hidden = !review.warning;
byId("about").textContent = `${items.length} moments. The large caption is the one to judge: does it fit the clip in everything it says? `
  + "Decisions stay in this browser, so you can go on later; save them when you are done.";
begin();
