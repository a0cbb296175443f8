"use strict";
// Everything that comes from data is put on the page as text, never as markup.
const data = JSON.parse(document.getElementById("index").textContent);
const PAGE = 20;
const TYPES = ["statics", "dynamics", "not told"];
const byId = (id) => document.getElementById(id);
const fields = ["query", "type", "split", "low", "high", "state", "sort"];

// The index holds rows as arrays; data.fields names their places.
const CHOSEN = 1, LOWEST = 2;
const keyed = (names, values) => Object.fromEntries(names.map((name, place) => [name, values[place]]));

const moments = data.moments.map((values, place) => {
  const moment = keyed(data.fields.moment, values);
  moment.candidates = moment.candidates.map((candidate) => keyed(data.fields.candidate, candidate));
  const scores = moment.candidates.map((candidate) => candidate.score).filter((score) => score !== null);
  const chosen = moment.candidates.find((candidate) => candidate.role === CHOSEN);
  return {
    ...moment, place, chosen,
    score: chosen && chosen.score !== null ? chosen.score : scores.length ? Math.max(...scores) : null,
    gap: scores.length ? Math.max(...scores) - Math.min(...scores) : 0,
    text: [moment.id, moment.video, moment.coarse, ...moment.candidates.map((candidate) => candidate.caption)]
      .join("\n").toLowerCase(),
  };
});
const placeOf = new Map(moments.map((moment) => [String(moment.id), moment]));

let found = moments;
let page = 0;
let only = null; // the one moment that a deep link names

const seconds = (time) => time.toFixed(1); // all times on the page
const tabular = (tag, role, ...children) => make(tag, { role }, ...children); // also where a narrow screen shows no table

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function option(value, text) {
  return make("option", { value }, text);
}

// ---- parts: keyframes and lineage of a few hundred moments each, read when they are first shown

const parts = new Map();
const waiting = new Map();

function partOf(moment) {
  const number = Math.floor(moment.place / data.part);
  if (!parts.has(number)) {
    parts.set(number, new Promise((resolve, reject) => {
      const embedded = byId(`part-${number}`);
      if (embedded) return resolve(JSON.parse(embedded.textContent));
      waiting.set(number, resolve);
      const script = make("script", { src: `${data.beside}/${String(number).padStart(4, "0")}.js` });
      script.onerror = () => reject(new Error(`Keyframes and prompts lie in the folder ${data.beside} beside this page.`));
      document.head.append(script);
    }));
  }
  return parts.get(number);
}
window.captionPart = (number, part) => waiting.get(number)(part);

// ---- what is shown

// Words, and phrases in quotation marks; a moment must hold all of them.
function words() {
  return [...byId("query").value.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g)].map((match) => match[1] || match[2]);
}

function filter() {
  const started = performance.now();
  const wanted = words();
  const type = byId("type").value, split = byId("split").value, state = byId("state").value;
  const low = byId("low").value === "" ? -Infinity : Number(byId("low").value);
  const high = byId("high").value === "" ? Infinity : Number(byId("high").value);
  const bounded = low > -Infinity || high < Infinity;
  found = moments.filter((moment) => {
    if (split && moment.split !== split) return false;
    if (type && !(moment.chosen && TYPES[moment.chosen.type] === type)) return false;
    if (bounded && !(moment.score !== null && moment.score >= low && moment.score <= high)) return false;
    if (state === "refused" && !moment.refused) return false;
    if (state === "short" && !moment.missing) return false;
    if (state === "none" && moment.candidates.length) return false;
    return wanted.every((word) => moment.text.includes(word));
  });
  const none = (score, last) => (score === null ? last : score);
  const text = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const orders = {
    best: (a, b) => none(b.score, -Infinity) - none(a.score, -Infinity) || a.place - b.place,
    worst: (a, b) => none(a.score, Infinity) - none(b.score, Infinity) || a.place - b.place,
    gap: (a, b) => b.gap - a.gap || a.place - b.place,
    video: (a, b) => text(a.video, b.video) || a.start - b.start || a.place - b.place,
    coarse: (a, b) => text(a.coarse, b.coarse) || a.place - b.place,
  };
  const order = orders[byId("sort").value];
  if (order) found = found.slice().sort((a, b) => order(a, b) || a.place - b.place);
  page = Math.min(page, Math.max(0, Math.ceil(found.length / PAGE) - 1));
  show();
  document.documentElement.dataset.filterMilliseconds = (performance.now() - started).toFixed(1);
}

function show() {
  const shown = only ? [only] : found.slice(page * PAGE, (page + 1) * PAGE);
  byId("moments").replaceChildren(...shown.map(article));
  const last = Math.min(found.length, (page + 1) * PAGE);
  byId("place").textContent = only
    ? "One moment, from a link"
    : found.length
      ? `${page * PAGE + 1}–${last} of ${found.length} moments`
      : "No moment fits these filters";
  byId("previous").disabled = only === null && page === 0;
  byId("previous").textContent = only ? "All moments" : "Previous";
  byId("next").disabled = only !== null || last >= found.length;
}

function caption(text) {
  const element = make("span", { class: "caption", dir: "auto" });
  const wanted = words();
  if (!wanted.length) return element.append(text), element;
  const lower = text.toLowerCase();
  // Some letters change length in lower case: then the places do not match and nothing is marked.
  if (lower.length !== text.length) return element.append(text), element;
  let at = 0;
  while (at < text.length) {
    let next = -1, size = 0;
    for (const word of wanted) {
      const place = lower.indexOf(word, at);
      if (place >= 0 && (next < 0 || place < next || (place === next && word.length > size))) [next, size] = [place, word.length];
    }
    if (next < 0) break;
    element.append(text.slice(at, next), make("mark", {}, text.slice(next, next + size)));
    at = next + size;
  }
  element.append(text.slice(at));
  return element;
}

function article(moment) {
  const { id, video, start, end, split, coarse, candidates, refused, missing, note } = moment;
  const heading = `moment-${id}`;
  const frames = make("div", { class: "frames" });
  const cell = (name, ...children) => make("td", { class: name, role: "cell" }, ...children);
  const heads = ["Type", "No.", "Candidate", "Score", "Role"];
  const body = tabular("table", "table",
    tabular("thead", "rowgroup", tabular("tr", "row", ...heads.map((text) => make("th", { scope: "col", role: "columnheader" }, text)))),
    tabular("tbody", "rowgroup", ...candidates.map(({ type, number, caption: text, score, role }) =>
      make("tr", { class: role === CHOSEN ? "chosen" : "", role: "row" },
        cell(TYPES[type], TYPES[type]),
        cell("number", String(number + 1)),
        cell("text", caption(text)),
        cell("score", score === null ? "not scored" : score.toFixed(3)),
        cell("role", role === CHOSEN ? "✓ chosen" : role === LOWEST ? "lowest" : "")))));
  const remarks = [];
  if (missing) remarks.push(`${missing} missing`);
  if (refused) remarks.push(`${refused} refused`);
  if (note) remarks.push(note);
  const details = make("details", {}, make("summary", {}, "How these captions came about"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) fill(details, moment);
  });
  const element = make("article", { "aria-labelledby": heading, tabindex: "-1" },
    make("header", {},
      make("h2", { id: heading }, make("a", { href: `#moment=${id}` }, `Moment ${id}`)),
      make("span", { class: "soft" }, `${video}, ${seconds(start)}–${seconds(end)} s, ${split}`)),
    make("div", { class: "body" }, frames,
      make("div", {},
        make("div", {}, make("span", { class: "soft" }, "coarse: "), caption(coarse)),
        candidates.length ? body : make("p", {}, "No candidate."),
        remarks.length ? make("p", { class: "soft" }, remarks.join("; ")) : null,
        details)));
  if (!data.parts) {
    frames.remove();
    details.remove();
    element.querySelector(".body").classList.add("bare");
    return element;
  }
  partOf(moment).then((part) => {
    const entry = part.moments[id];
    frames.replaceChildren(...entry.frames.map(([time, url]) => make("figure", {},
      make("img", { src: url, alt: `Keyframe of moment ${id} at ${seconds(time)} seconds` }),
      make("figcaption", {}, `${seconds(time)} s`))));
    if (!entry.frames.length) frames.append(make("span", { class: "soft" }, "no keyframes"));
  }).catch((error) => {
    frames.replaceChildren(make("span", { class: "soft" }, error.message));
    details.remove();
  });
  return element;
}

async function fill(details, moment) {
  const part = await partOf(moment);
  const entry = part.moments[moment.id];
  const list = (pairs) => make("dl", {}, ...pairs.flatMap(([term, text]) =>
    text === "" || text === null || text === undefined ? [] : [make("dt", {}, term), make("dd", { dir: "auto" }, text)]));
  for (const [name, made] of Object.entries(entry.made)) {
    details.append(make("h3", { class: name }, name));
    details.append(list(made.facts));
    if (made.refused.length) {
      details.append(make("p", {}, "Refused:"),
        make("ul", {}, ...made.refused.map(([text, reason]) => make("li", {}, caption(text), ` — ${reason}`))));
    }
    for (const key of made.calls) {
      const call = part.calls[key];
      const inner = make("details", {}, make("summary", {}, call ? `${call.task}: ${call.model}` : "a call that the ledger does not hold"));
      inner.append(list([["ledger key", key], ...(call ? [["model", call.model], ["revision", call.revision], ["engine", call.engine], ["sampling", call.sampling]] : [])]));
      if (call) inner.append(make("pre", { tabindex: "0", "aria-label": "Prompt", dir: "auto" }, call.prompt.map((line) => part.lines[line]).join("\n")));
      details.append(inner);
    }
  }
}

// ---- state and links

function state() {
  const pairs = fields.map((name) => [name, byId(name).value]).filter(([, value]) => value !== "");
  if (page) pairs.push(["page", String(page + 1)]);
  return new URLSearchParams(pairs).toString();
}

function remember() {
  try {
    history.replaceState(null, "", `#${only ? `moment=${only.id}` : state()}`);
  } catch { /* a page shown inside another has no address of its own */ }
}

function follow() {
  const link = new URLSearchParams(location.hash.slice(1));
  only = placeOf.get(link.get("moment")) || null;
  if (!link.has("moment")) {
    for (const name of fields) byId(name).value = link.get(name) || "";
    page = Math.max(0, Number(link.get("page") || 1) - 1) || 0;
  }
  filter();
}

function turn(step) {
  if (only) only = null;
  else page += step;
  show();
  remember();
  const first = byId("moments").querySelector("article");
  if (first) first.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

byId("title").textContent = data.title;
document.title = data.title;
byId("about").textContent = data.about;
byId("foot").textContent = data.foot;
byId("warning").textContent = data.warning || "";
byId("warning").hidden = !data.warning;
byId("type").append(option("", "any type"), ...data.types.map((type) => option(type, type)));
byId("split").append(option("", "all splits"), ...data.splits.map((split) => option(split, split)));
byId("previous").addEventListener("click", () => turn(-1));
byId("next").addEventListener("click", () => turn(1));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("input", () => { only = null; page = 0; filter(); remember(); });
byId("filters").addEventListener("reset", () => setTimeout(() => { only = null; page = 0; filter(); remember(); }));
byId("moments").addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#moment="]');
  if (!link) return;
  event.preventDefault();
  only = placeOf.get(link.getAttribute("href").slice("#moment=".length));
  show();
  remember();
});
window.addEventListener("hashchange", follow);
follow();
document.documentElement.dataset.openMilliseconds = performance.now().toFixed(1);
