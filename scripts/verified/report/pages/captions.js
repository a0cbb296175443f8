const data = read("index");
byId("index").remove(); // its text is as long as all captions
const PAGE = 20;
const TYPES = ["statics", "dynamics", "not told"];
const fields = ["query", "type", "split", "low", "high", "state", "sort"];
const COUNT = data.video.length;
const BETWEEN = "\x1f", AFTER = "\x1e"; // between the texts of a moment, and behind each moment

// ---- the index: columns of moments, and one long text that is searched as a whole

const ends = new Uint32Array(COUNT + 1); // ends[n + 1]: where the text of moment n ends
const firsts = new Uint32Array(COUNT + 1); // firsts[n]: its first candidate
const best = new Float64Array(COUNT).fill(NaN), gap = new Float64Array(COUNT);
const placeOf = new Map();
for (let n = 0; n < COUNT; n += 1) {
  ends[n + 1] = data.text.indexOf(AFTER, ends[n]) + 1;
  firsts[n + 1] = firsts[n] + data.count[n];
  placeOf.set(data.text.slice(ends[n], data.text.indexOf(BETWEEN, ends[n])), n);
  let most = -Infinity, least = Infinity;
  for (let at = firsts[n]; at < firsts[n + 1]; at += 1) {
    const score = data.score[at];
    if (score === null) continue;
    if (score > most) most = score;
    if (score < least) least = score;
  }
  if (most === -Infinity) continue;
  const chosen = data.chosen[n] < 0 ? null : data.score[firsts[n] + data.chosen[n]];
  best[n] = chosen === null ? most : chosen;
  gap[n] = most - least;
}
let lower = ""; // the same text in lower case; "" until somebody searches or the page is idle

// Some letters change length in lower case; then moment by moment those letters alone are left as they are.
function lowered() {
  if (lower) return lower;
  lower = data.text.toLowerCase();
  if (lower.length !== data.text.length) {
    lower = data.text.replace(/\P{ASCII}+|[A-Z]+/gu, (run) => (run.toLowerCase().length === run.length ? run.toLowerCase() : run));
  }
  return lower;
}

const textsOf = (n) => data.text.slice(ends[n], ends[n + 1] - 1).split(BETWEEN);

function momentAt(n) {
  const [id, video, coarse, ...captions] = textsOf(n);
  const candidates = captions.map((caption, at) => ({
    caption, type: data.type[firsts[n] + at], number: data.number[firsts[n] + at], score: data.score[firsts[n] + at],
    role: at === data.chosen[n] ? "chosen" : at === data.lowest[n] ? "lowest" : "",
  }));
  return { id, video, coarse, candidates, place: n, start: data.start[n], end: data.end[n], duration: data.duration[n],
    split: data.splits[data.split[n]], refused: data.refused[n], missing: data.missing[n], note: data.notes[n] || "" };
}

let found = new Uint32Array(0); // places of the moments that fit, in the order that is asked for
let page = 0;
let only = null; // the place of the one moment that a deep link names

const tabular = (tag, role, ...children) => make(tag, { role }, ...children); // also where a narrow screen shows no table

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

const FEW = 2000; // moments that are searched one by one: from here on, the whole text is

// Takes out of `kept` (1 or 0 by place) the moments without a word; returns how many are left.
function keepWith(word, kept, left) {
  const text = lowered();
  if (left <= FEW) {
    for (let n = 0; n < COUNT; n += 1) {
      if (kept[n] && !text.slice(ends[n], ends[n + 1]).includes(word)) { kept[n] = 0; left -= 1; }
    }
    return left;
  }
  let n = 0;
  left = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, ends[n])) {
    const from = n;
    while (ends[n + 1] <= at) n += 1;
    kept.fill(0, from, n);
    left += kept[n];
    n += 1;
    if (n === COUNT) break;
  }
  kept.fill(0, n);
  return left;
}

// The places of all moments in the order of a sort key, made once for each.
const orders = new Map();
function orderOf(name) {
  if (!orders.has(name)) {
    const order = Uint32Array.from({ length: COUNT }, (_, n) => n);
    const keys = { best: (n) => -best[n], worst: (n) => best[n], gap: (n) => -gap[n], coarse: (n) => data.coarse[n],
      video: (n) => data.video[n] * 1e7 + data.start[n] };
    if (name) {
      const values = Float64Array.from(order, keys[name]);
      values.forEach((value, n) => { if (Number.isNaN(value)) values[n] = Infinity; }); // without a score: last
      order.sort((a, b) => (values[a] < values[b] ? -1 : values[a] > values[b] ? 1 : a - b));
    }
    orders.set(name, order);
  }
  return orders.get(name);
}

function filter() {
  const started = performance.now();
  const type = data.types.indexOf(byId("type").value), split = data.splits.indexOf(byId("split").value), state = byId("state").value;
  const low = byId("low").value === "" ? -Infinity : Number(byId("low").value);
  const high = byId("high").value === "" ? Infinity : Number(byId("high").value);
  const bounded = low > -Infinity || high < Infinity;
  const kept = new Uint8Array(COUNT);
  let left = 0;
  for (let n = 0; n < COUNT; n += 1) {
    if (split >= 0 && data.split[n] !== split) continue;
    if (type >= 0 && !(data.chosen[n] >= 0 && data.type[firsts[n] + data.chosen[n]] === type)) continue;
    if (bounded && !(best[n] >= low && best[n] <= high)) continue;
    if (state === "refused" && !data.refused[n]) continue;
    if (state === "short" && !data.missing[n]) continue;
    if (state === "none" && data.count[n]) continue;
    kept[n] = 1;
    left += 1;
  }
  for (const word of words().sort((a, b) => b.length - a.length)) left = keepWith(word, kept, left);
  found = new Uint32Array(left);
  let at = 0;
  for (const n of orderOf(byId("sort").value)) if (kept[n]) found[at++] = n;
  page = Math.min(page, Math.max(0, Math.ceil(found.length / PAGE) - 1));
  show();
  document.documentElement.dataset.filterMilliseconds = (performance.now() - started).toFixed(1);
}

function show() {
  const shown = only === null ? [...found.slice(page * PAGE, (page + 1) * PAGE)] : [only];
  byId("moments").replaceChildren(...shown.map(momentAt).map(article));
  if (!shown.length) byId("moments").append(make("p", { class: "empty" }, "No moment fits these filters. Clear shows all again."));
  const last = Math.min(found.length, (page + 1) * PAGE);
  byId("place").textContent = only !== null
    ? "One moment, from a link"
    : found.length
      ? `${page * PAGE + 1}–${last} of ${found.length} moments`
      : "No moment fits these filters";
  byId("previous").disabled = only === null && page === 0;
  byId("previous").textContent = only === null ? "Previous" : "All moments";
  byId("next").disabled = only !== null || last >= found.length;
}

function caption(text) {
  const element = make("span", { class: "caption", dir: "auto" });
  const wanted = words();
  if (!wanted.length) return element.append(text), element;
  const small = text.toLowerCase();
  // Some letters change length in lower case: then the places do not match and nothing is marked.
  if (small.length !== text.length) return element.append(text), element;
  let at = 0;
  while (at < text.length) {
    let next = -1, size = 0;
    for (const word of wanted) {
      const place = small.indexOf(word, at);
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
  const { id, video, start, end, duration, split, coarse, candidates, refused, missing, note } = moment;
  const heading = `moment-${id}`;
  const frames = make("div", { class: "frames" });
  const cell = (name, ...children) => make("td", { class: name, role: "cell" }, ...children);
  const heads = ["Type", "No.", "Candidate", "Score", "Role"];
  const body = tabular("table", "table",
    tabular("thead", "rowgroup", tabular("tr", "row", ...heads.map((text) => make("th", { scope: "col", role: "columnheader" }, text)))),
    tabular("tbody", "rowgroup", ...candidates.map(({ type, number, caption: text, score, role }) =>
      make("tr", { class: role === "chosen" ? "chosen" : "", role: "row" },
        cell(TYPES[type], TYPES[type]),
        cell("no", String(number + 1)),
        cell("text", caption(text)),
        cell("score", score === null ? "not scored" : score.toFixed(3)),
        cell("role", role === "chosen" ? "✓ chosen" : role)))));
  const remarks = [];
  if (missing) remarks.push(`${missing} missing`);
  if (refused) remarks.push(`${refused} refused`);
  if (note) remarks.push(note);
  const details = make("details", {}, make("summary", {}, "How these captions came about"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) fill(details, moment);
  });
  const element = make("article", { class: "card", "aria-labelledby": heading, tabindex: "-1" },
    make("header", {},
      make("h2", { id: heading }, make("a", { href: `#moment=${id}` }, `Moment ${id}`)),
      make("span", { class: "soft" }, `${video}, ${fromTo(start, end)}, ${split}`),
      duration ? track(start, end, duration) : null),
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
    frames.replaceChildren(...entry.frames.map(([time, url]) => thumb(url, `Keyframe of moment ${id} at ${tenths(time)}`, tenths(time))));
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
      if (call) inner.append(make("pre", { tabindex: "0", role: "region", "aria-label": "Prompt", dir: "auto" }, call.prompt.map((line) => part.lines[line]).join("\n")));
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
    history.replaceState(null, "", `#${only === null ? state() : `moment=${textsOf(only)[0]}`}`);
  } catch { /* a page shown inside another has no address of its own */ }
}

function follow() {
  const link = new URLSearchParams(location.hash.slice(1));
  only = placeOf.get(link.get("moment")) ?? null;
  if (!link.has("moment")) {
    for (const name of fields) byId(name).value = link.get(name) || "";
    page = Math.max(0, Number(link.get("page") || 1) - 1) || 0;
  }
  filter();
}

function turn(step) {
  if (only !== null) only = null;
  else page += step;
  show();
  remember();
  const first = byId("moments").querySelector("article");
  if (first) first.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function filterAnew() {
  only = null;
  page = 0;
  filter();
  remember();
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
byId("filters").addEventListener("input", filterAnew);
byId("filters").addEventListener("reset", () => setTimeout(filterAnew));
byId("moments").addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#moment="]');
  if (!link) return;
  event.preventDefault();
  only = placeOf.get(link.getAttribute("href").slice("#moment=".length));
  show();
  remember();
});
browsing(turn, "#moments article");
window.addEventListener("hashchange", follow);
follow();
document.documentElement.dataset.openMilliseconds = performance.now().toFixed(1);
setTimeout(lowered, 200); // before somebody types
