// Decisions are kept in this browser and saved as JSON Lines.
const review = read("review");
const items = review.items;
const NAME = `reviewer-of-${review.dataset}`; // no name that a reviewer's own decisions could have
const KEYS = ["dataset", "desc_id", "video", "start", "end", "decision", "type", "candidate", "caption", "reviewer", "when",
  "instead", "text", "reason"];
const TOLD = { accept: "Right", choose: "Another candidate", edit: "Edited", reject: "Rejected", flag: "Flagged" };
let decisions = []; // every decision of this reviewer, in the order of time; nothing is ever taken out
let at = 0;
let asking = ""; // reject or flag, while its reason is asked for

const reviewer = () => byId("reviewer").value.trim();
const place = () => `review-${review.dataset}-${reviewer()}`;
const store = () => keep({ [NAME]: reviewer(), [place()]: decisions });

function restore() {
  decisions = kept(place(), []);
}

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
  if (!reviewer()) {
    byId("reviewer").focus();
    say("Please give your name first: it stands beside each decision.");
    return;
  }
  const item = items[at], judged = item.candidates[item.chosen];
  decisions.push({
    dataset: review.dataset, desc_id: item.desc_id, video: item.video, start: item.start, end: item.end, decision,
    type: judged.type, candidate: judged.candidate, caption: judged.caption,
    reviewer: reviewer(), when: stamp(), ...more,
  });
  const problem = store();
  closeForms();
  if (decision !== "flag" && decision !== "withdraw" && at < items.length - 1) at += 1;
  show();
  say(problem);
}

// Two decisions within a second keep their order: the later one gets a later time.
function stamp() {
  const last = decisions.length ? Date.parse(decisions[decisions.length - 1].when) : 0;
  return new Date(Math.max(Date.now(), last + 1000)).toISOString().replace(/\.\d+Z$/, "Z");
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

function finishEdit(event) {
  event.preventDefault();
  const text = byId("text").value.split(/\s+/).filter(Boolean).join(" ");
  if (!text) return say("The caption is empty. To say that none is right, reject it.");
  if (text === items[at].candidates[items[at].chosen].caption) return decide("accept");
  decide("edit", { text });
}

function finishReason(event) {
  event.preventDefault();
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
  const clip = byId("clip"), source = read(`clip-${item.desc_id}`);
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
  const here = new Set(items.map((item) => item.desc_id));
  const rows = decisions.filter((row) => here.has(row.desc_id));
  if (!rows.length) return say("There is nothing to save yet.");
  const lines = rows.map((row) => JSON.stringify(Object.fromEntries(KEYS.filter((key) => key in row).map((key) => [key, row[key]]))));
  const safe = reviewer().replace(/[^\p{L}\p{N}]+/gu, "-");
  const name = `review-${review.dataset}-${String(review.page).padStart(3, "0")}-${safe}.jsonl`;
  saveFile(name, "application/jsonl", lines.join("\n") + "\n");
  say(`Saved as ${name}. Its path goes into annotations.review of the configuration.`);
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
  const problem = store();
  show();
  say(problem || `${rows.length} decisions of ${rows[0].reviewer} are here again.`);
}

// Goes on where the reviewer, whose name and decisions are kept here, has left.
function begin() {
  byId("reviewer").value = kept(NAME, "");
  restore();
  at = Math.max(0, items.findIndex((item) => !standing(item).decided));
  show();
}

const SHORT = {
  a: () => decide("accept"), e: () => openForm("edit"), r: () => openForm("reject"), f: () => openForm("flag"), u: undo,
  n: () => go(at + 1), p: () => go(at - 1), o: nextOpen, " ": () => playOrPause(byId("clip")),
};
for (let number = 1; number < 10; number += 1) SHORT[number] = () => choose(number - 1);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return closeForms();
  if (event.target.matches("textarea") && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    return finishEdit(event);
  }
  if (event.target.matches("input, textarea, video") || (event.key === " " && event.target.matches("button"))) return;
  shortcut(event, SHORT);
});
listen({ accept: SHORT.a, edit: SHORT.e, reject: SHORT.r, flag: SHORT.f, undo, next: SHORT.n, previous: SHORT.p,
  open: nextOpen, save });
for (const button of document.querySelectorAll(".cancel")) button.addEventListener("click", closeForms);
listen({ editing: finishEdit, rejecting: finishReason }, "submit");
listen({ reviewer: () => { restore(); show(); }, load: ({ target }) => target.files.length && load(target.files[0]) }, "change");

byId("title").textContent = `Review of ${review.title}, page ${review.page} of ${review.pages}`;
byId("warning").textContent = review.warning;
byId("warning").hidden = !review.warning;
byId("about").textContent = `${items.length} moments. The large caption is the one to judge: does it fit the clip in everything it says? `
  + "Decisions stay in this browser, so you can go on later; save them when you are done.";
begin();
