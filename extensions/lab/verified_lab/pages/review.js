// Decisions are kept in this browser and saved as JSON Lines.
const review = read("review");
const items = review.items;
const NAME = `reviewer-of-${review.dataset}`; // no name that a reviewer's own decisions could have
const KEYS = ["version", "dataset", "desc_id", "moment", "video", "start", "end", "decision", "type", "candidate", "caption",
  "reviewer", "when", "instead", "text", "reason", "time"];
const LABELS = { accept: "Right", choose: "Another candidate", edit: "Edited", reject: "Rejected", flag: "Flagged",
  draw: "New moment" };
const WANTED = { edit: "The right caption", draw: "The caption of the new moment" };
const RULES = review.rules.map((rule) => ({ ...rule, pattern: new RegExp(rule.pattern, rule.flags) }));
let decisions = []; // every decision of this reviewer, in the order of time; nothing is ever taken out
let at = 0;
let asking = ""; // the decision whose text or reason is asked for
let times = [0, 0]; // start and end as they stand in the fields, seconds of the video; NaN for what is no time

const reviewer = () => byId("reviewer").value.trim();
const place = () => `review-${review.dataset}-${reviewer()}`;
const store = () => keep({ [NAME]: reviewer(), [place()]: decisions });

function restore() {
  decisions = kept(place(), []);
}

// Whether a decision was made on what an item shows.
const same = (row, item) => row.moment === item.moment;

// The standing decision, the flag and the drawn moments of a moment; what was withdrawn stands no more, nor does what spoke
// of another caption.
function standing(item) {
  let decided = null, flag = null, drawn = [];
  for (const row of decisions) {
    const here = same(row, item);
    if (row.decision === "flag") flag = here ? row : flag;
    else if (row.decision === "draw") drawn = here ? [...drawn, row] : drawn;
    else if (here && row.decision === "withdraw") { decided = flag = null; drawn = []; }
    else if (here) decided = row;
  }
  if (decided && !item.candidates.some((c) => c.type === decided.type && c.caption === decided.caption)) {
    decided = null;
  }
  return { decided, flag, drawn };
}

const STAYS = ["draw", "flag", "withdraw"]; // what is decided beside a moment, which is still shown then
const TIMED = ["accept", "choose", "edit"]; // what is decided on a moment of corrected times

function decide(decision, more = {}) {
  if (!reviewer()) {
    byId("reviewer").focus();
    say("Please give your name first: it stands beside each decision.");
    return;
  }
  const item = items[at], judged = item.candidates[item.chosen];
  if (TIMED.includes(decision) && timesProblem()) return say(timesProblem());
  const time = TIMED.includes(decision) && moved() ? { time: times } : {};
  const row = {
    version: review.version, dataset: review.dataset, desc_id: item.desc_id, moment: item.moment, video: item.video,
    start: item.start, end: item.end, decision, type: judged.type, candidate: judged.candidate, caption: judged.caption,
    reviewer: reviewer(), when: stamp(), ...time, ...more,
  };
  decisions.push(row);
  const problem = store();
  closeForms();
  if (!STAYS.includes(decision)) at = Math.min(at + 1, items.length - 1);
  show();
  say(problem);
}

const moved = () => times[0] !== items[at].start || times[1] !== items[at].end;

function timesProblem([start, end] = times) {
  if (Number.isNaN(start) || Number.isNaN(end)) return "A time is m:ss.s or seconds: 1:02.5 or 62.5.";
  if (start >= end) return "The end must come after the start.";
  return end > items[at].duration ? `The video ends at ${clock(items[at].duration)}.` : "";
}

// Takes over times, and shows them everywhere but in the field that is being written in.
function setTimes(changed) {
  times = changed;
  ["start", "end"].forEach((name, n) => {
    if (document.activeElement !== byId(name)) byId(name).value = Number.isNaN(times[n]) ? byId(name).value : clock(times[n]);
    if (!Number.isNaN(times[n])) byId(`${name}-range`).value = times[n];
  });
  byId("timing").textContent = timesProblem() || (moved() ? "Your next decision on the caption keeps these times, too." : "");
}

const withTime = (n, value) => setTimes(times.map((time, place) => (place === n ? value : time)));
const position = () => Math.round((items[at].clip[0] + byId("clip").currentTime) * 10) / 10;

// Plays the moment again and again, unless the player was moved out of it.
let last = 0;
function playing() {
  const clip = byId("clip"), now = items[at].clip[0] + clip.currentTime;
  byId("now").textContent = clock(Math.round(now * 10) / 10);
  if (!clip.paused && last < times[1] && now >= times[1] && !timesProblem()) clip.currentTime = times[0] - items[at].clip[0];
  last = now;
}

// What the lint finds in a caption, as the run will: [severity, what is meant, what was found].
function findings(text) {
  const coarse = asking === "draw" ? "" : items[at].coarse.toLowerCase();
  return RULES.flatMap((rule) => {
    const said = [...text.matchAll(rule.pattern)].map((match) => match[0])
      .filter((words) => !(rule.coarse_may && coarse.includes(words.toLowerCase())));
    return said.length ? [{ ...rule, said: said[0] }] : [];
  });
}

const written = () => byId("text").value.split(/\s+/).filter(Boolean).join(" ");

function list(found) {
  byId("findings").replaceChildren(...found.map(({ severity, about, said }) => {
    const entry = document.createElement("li");
    entry.className = severity;
    entry.textContent = `${severity}: ${about} “${said}”`;
    return entry;
  }));
}

const lint = () => list(findings(written()));

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
  const item = items[at], caption = item.candidates[item.chosen].caption;
  asking = name;
  if (name in WANTED) {
    const { decided } = standing(item);
    if (name === "draw" && (timesProblem() || !moved())) return say(timesProblem() || "First set the times of the new moment.");
    byId("editing").hidden = false;
    byId("wanted").textContent = WANTED[name];
    byId("clip").pause();
    byId("text").value = name === "draw" ? "" : (name === "edit" && decided && decided.text) || caption;
    lint();
    byId("text").focus();
    return;
  }
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
  const item = items[at], text = written();
  if (!text) return say("The caption is empty. To say that none is right, reject it.");
  const wrong = findings(text).find((found) => found.severity === "error");
  const unchanged = asking === "edit" && text === item.candidates[item.chosen].caption;
  if (wrong && !unchanged) return say(`A run would refuse this caption: ${wrong.about} “${wrong.said}”`);
  if (asking === "draw") return decide("draw", { text, time: times });
  if (unchanged) return decide("accept");
  decide("edit", { text });
}

function finishReason(event) {
  event.preventDefault();
  const reason = byId("reason").value.trim();
  if (asking === "reject" && !reason) return say("Please say why: a few words are enough.");
  decide(asking, reason ? { reason } : {});
}

function undo() {
  const { decided, flag, drawn } = standing(items[at]);
  if (decided || flag || drawn.length) decide("withdraw");
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

function describe(row) {
  const detail = row.decision === "choose" ? row.instead.caption : row.text || row.reason;
  return LABELS[row.decision] + (row.time ? ` (${row.time.map(clock).join("–")})` : "") + (detail ? `: ${detail}` : "");
}

function show() {
  const item = items[at], { decided, flag, drawn } = standing(item);
  byId("heading").textContent = `Moment ${item.desc_id} (${at + 1} of ${items.length})`;
  byId("where").textContent = `${item.video}, ${clock(item.start)}–${clock(item.end)} of ${clock(item.duration)}, ${item.split}`
    + (item.near ? `; near-duplicates: ${item.near} together here` : "");
  byId("audit").replaceChildren(...(item.audit || []).map((found) => {
    const entry = document.createElement("li");
    entry.textContent = found;
    return entry;
  }));
  byId("proposed").hidden = !item.proposed;
  byId("proposed").title = item.proposed ? item.proposed.map(clock).join("–") : "";
  byId("coarse").textContent = item.coarse;
  byId("judged").textContent = item.candidates[item.chosen].caption;
  const clip = byId("clip"), source = read(`clip-${item.desc_id}`);
  if (clip.dataset.shown !== String(item.desc_id)) {
    clip.src = source;
    clip.dataset.shown = String(item.desc_id);
    clip.setAttribute("aria-label", `Clip of moment ${item.desc_id}`);
    for (const name of ["start", "end"]) [byId(`${name}-range`).min, byId(`${name}-range`).max] = item.clip;
    last = item.start;
  }
  byId("start").blur();
  byId("end").blur();
  setTimes((decided && TIMED.includes(decided.decision) && decided.time) || [item.start, item.end]);
  byId("decided").textContent = [decided, flag, ...drawn].filter(Boolean).map(describe).join("; ");
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
  const rows = decisions.filter((row) => items.some((item) => same(row, item)));
  if (!rows.length) return say("There is nothing to save yet.");
  const lines = rows.map((row) => JSON.stringify(Object.fromEntries(KEYS.filter((key) => key in row).map((key) => [key, row[key]]))));
  const safe = reviewer().replace(/[^\p{L}\p{N}]+/gu, "-");
  const name = `review-${review.dataset}-${String(review.page).padStart(3, "0")}-${safe}.jsonl`;
  saveFile(name, "application/jsonl", lines.join("\n") + "\n");
  say(`Saved as ${name}. Its path goes into review.decisions of the configuration.`);
}

async function load(file) {
  let rows;
  try {
    rows = (await file.text()).split("\n").filter(Boolean).map((line) => JSON.parse(line));
    if (!rows.length || rows.some((row) => row.dataset !== review.dataset || !row.reviewer || !row.when)) throw new Error();
  } catch {
    return say("This file holds no decisions on this data set.");
  }
  if (rows.some((row) => row.version !== review.version)) {
    return say("This file was saved by a page of another version: build the pages again with the version that is newer.");
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
  d: () => openForm("draw"),
  t: () => items[at].proposed && setTimes(items[at].proposed),
  "[": () => withTime(0, position()), "]": () => withTime(1, position()),
  ",": () => step(byId("clip"), -0.1), ".": () => step(byId("clip"), 0.1),
  n: () => go(at + 1), p: () => go(at - 1), o: nextOpen, " ": () => playOrPause(byId("clip")),
};
for (let number = 1; number < 10; number += 1) SHORT[number] = () => choose(number - 1);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return closeForms();
  if (event.target.matches("textarea") && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    return finishEdit(event);
  }
  if (event.target.matches("input:not([type=range]), textarea, select, video") || (event.key === " " && event.target.matches("button"))) return;
  shortcut(event, SHORT);
});
listen({ accept: SHORT.a, edit: SHORT.e, reject: SHORT.r, flag: SHORT.f, draw: SHORT.d,
  "from-here": SHORT["["], "until-here": SHORT["]"], reset: () => setTimes([items[at].start, items[at].end]),
  proposed: SHORT.t,
  undo, next: SHORT.n, previous: SHORT.p,
  open: nextOpen, save });
for (const button of document.querySelectorAll(".cancel")) button.addEventListener("click", closeForms);
listen({ editing: finishEdit, rejecting: finishReason }, "submit");
["start", "end"].forEach((name, n) => {
  listen({ [name]: ({ target }) => withTime(n, seconds(target.value)), [`${name}-range`]: ({ target }) => {
    withTime(n, Number(target.value));
    byId("clip").currentTime = Math.max(0, times[n] - items[at].clip[0]);
  } }, "input");
});
listen({ text: lint }, "input");
listen({ clip: playing }, "timeupdate");
listen({ clip: () => (byId("clip").currentTime = items[at].start - items[at].clip[0]) }, "loadedmetadata");
listen({ reviewer: () => { restore(); show(); }, load: ({ target }) => target.files.length && load(target.files[0]) }, "change");

byId("title").textContent = `Review of ${review.title}, page ${review.page} of ${review.pages}`;
byId("warning").textContent = review.warning;
byId("warning").hidden = !review.warning;
byId("about").textContent = `${items.length} moments. The large caption is the one to judge: does it fit the clip in everything it says? `
  + "Decisions stay in this browser, so you can go on later; save them when you are done.";
keyHelp([["a", "the caption is right"], ["1 … 9", "another candidate is"], ["e", "edit it"], ["r", "reject it"], ["f", "flag the moment"],
  ["d", "draw a new moment"], ["[ ]", "the moment starts, ends here"], ["u", "undo"],
  ["space", "play and stop"], [", .", "back and forth by a tenth of a second"], ["n p o", "next, previous, next without decision"]]);
begin();
