const results = byId("results");
let asked = 0; // number of the latest request; answers to earlier ones are dropped

const address = (path, values) => `${path}?${new URLSearchParams(values)}`;

// ---- the address holds the question, so that a result can be shared

function questionOf(text) {
  const values = new URLSearchParams(text);
  return Object.fromEntries(["q", "video", "top", "like", "start", "end"].map((name) => [name, values.get(name) || ""]));
}

function go(question) {
  const values = Object.entries(question).filter(([name, value]) => value !== "" && !(name === "top" && value === "10"));
  history.pushState(null, "", values.length ? `?${new URLSearchParams(values)}` : location.pathname);
  // Whoever asked goes on from the first moment, unless the focus is elsewhere by then.
  const asking = [document.body, document.activeElement];
  show().then(() => {
    if (results.firstElementChild && asking.includes(document.activeElement)) results.firstElementChild.focus();
  });
}

async function show() {
  const question = questionOf(location.search);
  byId("query").value = question.q;
  byId("video").value = question.like ? "" : question.video;
  const top = question.top || "10";
  if ([...byId("top").options].some((option) => option.value === top)) byId("top").value = top;
  if (!question.q && !question.like) return clear("");
  const values = question.like
    ? { video: question.like, start: question.start, end: question.end, top }
    : { q: question.q, video: question.video, top };
  return answerOf(address(question.like ? "api/like" : "api/search", values));
}

async function answerOf(place, request) {
  const number = ++asked;
  byId("status").textContent = "Searching…";
  try {
    const response = await fetch(place, request);
    const answer = await response.json();
    if (number !== asked) return;
    if (!response.ok) return clear([answer.problem, answer.remedy].filter(Boolean).join(": "));
    list(answer);
  } catch (error) {
    if (number === asked) clear("The server does not answer.");
  }
}

// ---- a picture or a clip that was dropped on the page, with the sentence in the field if there is one; in no address

function example(file) {
  const values = { q: byId("query").value.trim(), video: byId("video").value.trim(), top: byId("top").value };
  return answerOf(address("api/example", values), { method: "POST", body: file });
}

document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length) example(event.dataTransfer.files[0]);
});
byId("choose").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", (event) => {
  if (event.target.files.length) example(event.target.files[0]);
  event.target.value = "";
});

function clear(message) {
  results.replaceChildren();
  byId("nothing").hidden = true;
  byId("status").textContent = message;
  for (const name of ["caution", "hint"]) byId(name).hidden = true;
}

// ---- the list

function list(answer) {
  const count = answer.moments.length;
  results.replaceChildren(...answer.moments.map(entry));
  byId("nothing").hidden = count > 0;
  byId("status").textContent = `${count} ${count === 1 ? "moment" : "moments"}: ${answer.query}`;
  for (const name of ["caution", "hint"]) {
    byId(name).textContent = answer[name];
    byId(name).hidden = !answer[name];
  }
  document.title = `${answer.query} – search`;
}

function entry(moment, rank) {
  const { video, start, end, caption } = moment;
  const parts = Object.entries(moment.parts); // one alone is the score itself
  const shares = (parts.length > 1 ? parts : []).filter(([, share]) => share >= 0.005).sort((a, b) => b[1] - a[1])
    .map(([name, share]) => `${name} ${share.toFixed(2)}`).join(", ");
  const element = make("li", { class: "moment card", tabindex: "-1", "data-video": video, "data-start": start, "data-end": end });
  const said = caption && caption.overlap === 0 ? ` (annotated at ${fromTo(caption.start, caption.end)})` : "";
  const button = (name, text, act) => {
    const one = make("button", { type: "button", class: name }, text);
    one.addEventListener("click", act);
    return one;
  };
  const play = button("play", "Play", () => watch(element, moment));
  const question = questionOf(location.search);
  const narrowed = question.video && !question.like;
  play.disabled = !moment.playable;
  const shown = [
    make("div", { class: "head" }, make("strong", {}, `${rank + 1}. ${video}`),
      make("span", {}, fromTo(start, end)),
      make("span", { class: "soft" }, `score ${moment.score.toFixed(2)}${shares ? `: ${shares}` : ""}`)),
    strip(moment),
    caption && caption.fine ? make("p", { class: "caption" }, caption.fine + said) : null,
    caption ? make("p", { class: "caption soft" }, `${caption.coarse}${caption.fine ? "" : said}`) : null,
    moment.seen.length ? make("p", { class: "caption soft seen" }, `looks like: ${moment.seen.join(", ")}`) : null,
    make("div", { class: "actions" }, play,
      button("like", "More like this", () => go({ like: video, start: String(start), end: String(end) })),
      button("only", narrowed ? "All videos" : "This video only", () => go({ ...question, video: narrowed ? "" : video })),
      moment.playable ? null : make("span", { class: "soft" }, "its file is not the one that was indexed")),
  ];
  element.append(...shown.filter((part) => part !== null)); // appended, null would be a word
  // Without a question in words there is nothing to ask of one video.
  if (!question.q) element.querySelector(".only").remove();
  return element;
}

function strip(moment) {
  const times = moment.thumbnails;
  const half = times.length > 1 ? (times[1] - times[0]) / 2 : moment.duration;
  const images = times.map((at, number) => {
    const inside = at + half > moment.start && at - half < moment.end;
    return make("img", { src: address("thumbnail", { video: moment.video, number }), alt: `at ${tenths(at)}`,
      loading: "lazy", ...(inside ? { class: "inside" } : {}) });
  });
  if (!images.length) return null;
  const whole = make("div", { class: "strip" }, ...images);
  const first = images.find((one) => one.className === "inside");
  const show = () => { whole.scrollLeft = first.offsetLeft - whole.offsetLeft - 40; }; // the span is in view
  if (first) for (const one of images) one.addEventListener("load", show);
  return whole;
}

// ---- the player starts and stops at the span

function stop() {
  for (const player of results.querySelectorAll("video")) {
    const moment = player.closest("li.moment");
    const focused = document.activeElement === player;
    player.pause();
    player.remove();
    if (focused) moment.focus();
  }
}

// A file that this browser cannot show is asked for again as a span of MP4, whose clock starts at the span.
function watch(element, moment, converted = false) {
  stop();
  const [from, until] = converted ? [0, moment.end - moment.start] : [moment.start, moment.end];
  const player = make("video", { controls: "", playsinline: "", tabindex: "0",
    "aria-label": `${moment.video}, ${tenths(moment.start)} to ${tenths(moment.end)}` });
  player.muted = true;
  let through = false; // whoever plays on behind the end may see the rest
  const fail = () => {
    if (!player.isConnected) return;
    if (!converted) return watch(element, moment, true);
    byId("status").textContent = `${moment.video} cannot be played.`;
  };
  player.addEventListener("loadedmetadata", () => {
    if (!player.videoWidth) return fail(); // its sound alone
    if (from) player.currentTime = from;
    player.play().catch(() => {});
    player.scrollIntoView({ block: "nearest" });
  });
  const look = () => {
    if (through || player.currentTime < until) return;
    through = true;
    player.pause();
  };
  const follow = () => { // at each frame: the event comes up to a quarter of a second late
    look();
    if (!through && !player.paused) requestAnimationFrame(follow);
  };
  player.addEventListener("play", follow);
  player.addEventListener("timeupdate", look); // frames are not counted where the page is out of sight
  player.addEventListener("error", fail);
  const { video, start, end } = moment;
  player.src = converted ? address("span", { video, start, end }) : address("media", { video });
  element.append(player);
}

// ---- keyboard

function current() {
  return document.activeElement && document.activeElement.closest("li.moment");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (event.key === "Escape") {
    if (typing) {
      event.preventDefault(); // a browser would empty the query
      event.target.blur();
    }
    return stop();
  }
  if (typing) return;
  const here = current();
  const click = (name) => here && here.querySelector(name) && here.querySelector(name).click();
  if (event.key === "/") {
    event.preventDefault();
    byId("query").focus();
    byId("query").select();
  } else if (event.key === "j" || event.key === "k") {
    const all = [...results.children];
    const next = here ? all.indexOf(here) + (event.key === "j" ? 1 : -1) : 0;
    if (all[next]) all[next].focus();
  } else if (event.key === "Enter" && event.target === here) click(".play");
  else if (event.key === "m") click(".like");
  else if (event.key === "v") click(".only");
});

keyHelp([["/", "to the query"], ["j k", "next and previous moment"], ["Enter", "play"], ["m", "more like this"],
  ["v", "this video only, or all again"], ["Esc", "leave a field, stop"]]);

byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  go({ q: byId("query").value.trim(), video: byId("video").value.trim(), top: byId("top").value });
});
window.addEventListener("popstate", show);
if (!location.search) byId("query").focus();

fetch("api/about").then((response) => response.json()).then((about) => {
  byId("title").textContent = `Search ${about.title}`;
  byId("about").textContent = `${about.videos} videos, ${about.clips} clips of ${about.clip_seconds} s, by ${about.model}.`;
  byId("videos").replaceChildren(...about.ids.map((id) => make("option", { value: id })));
}).catch(() => {});
show();
