const data = read("index");
byId("index").remove(); // its text is as long as all captions
const PAGE = 20;
const moments = data.moments.map(([id, score, gap, text], place) => ({ id, score, gap, text, small: text.toLowerCase(), place }));
const KEYS = { best: ({ score }) => (score === null ? null : -score), worst: ({ score }) => score, gap: ({ gap }) => (gap === null ? null : -gap) };
const last = (value) => (value === null ? Infinity : value); // without a score: last
const parts = new Map(), waiting = new Map();
let fitting = []; // the moments that fit, in the order that is asked for
let page = 0;
let latest = 0; // number of the last call of show

// The cards of a part: from this page, or from a script beside it.
function partOf(number) {
  if (!parts.has(number)) {
    parts.set(number, new Promise((resolve, reject) => {
      const embedded = byId(`part-${number}`);
      if (embedded) return resolve(JSON.parse(embedded.textContent));
      waiting.set(number, resolve);
      const script = make("script", { src: `${data.beside}/${String(number).padStart(4, "0")}.js` });
      script.onerror = () => reject(new Error(`Keyframes lie in the folder ${data.beside} beside this page.`));
      document.head.append(script);
    }));
  }
  return parts.get(number);
}
window.captionPart = (number, part) => waiting.get(number)(part);

async function cardOf(moment) {
  try {
    const template = make("template"), part = await partOf(Math.floor(moment.place / data.part));
    template.innerHTML = part[moment.place % data.part]; // texts are escaped in it
    return template.content.firstElementChild;
  } catch (error) {
    return make("article", { class: "card plain", tabindex: "-1" },
      make("h2", {}, `Moment ${moment.id}`), moment.text, make("p", { class: "soft" }, error.message));
  }
}

async function show() {
  const here = (latest += 1), until = Math.min(fitting.length, (page + 1) * PAGE);
  const cards = await Promise.all(fitting.slice(page * PAGE, until).map(cardOf));
  if (here !== latest) return;
  byId("moments").replaceChildren(...cards);
  if (!cards.length) byId("moments").append(make("p", { class: "empty" }, "No moment fits. Clear shows all again."));
  byId("place").textContent = cards.length ? `${page * PAGE + 1}–${until} of ${fitting.length} moments` : "No moment fits";
  byId("previous").disabled = page === 0;
  byId("next").disabled = until >= fitting.length;
}

// Moments with all words and phrases in quotation marks, or the one that the address names.
function filter() {
  const words = [...byId("query").value.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g)].map((match) => match[1] || match[2]);
  const only = new URLSearchParams(location.hash.slice(1)).get("moment");
  const key = KEYS[byId("sort").value];
  fitting = moments.filter((one) => (only ? one.id === only : words.every((word) => one.small.includes(word))));
  if (key) fitting.sort((a, b) => last(key(a)) - last(key(b)) || 0);
  page = 0;
  return show();
}

// A changed address filters anew.
const filterAnew = () => (location.hash ? (location.hash = "") : filter());

async function turn(step) {
  page += step;
  await show();
  byId("moments").querySelector("article").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

for (const name of ["title", "about", "warning", "foot"]) byId(name).textContent = data[name];
byId("warning").hidden = !data.warning;
byId("previous").addEventListener("click", () => turn(-1));
byId("next").addEventListener("click", () => turn(1));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("input", filterAnew);
byId("filters").addEventListener("reset", () => setTimeout(filterAnew));
window.addEventListener("hashchange", filter);
browsing(turn, "#moments article");
filter();
