const data = read("index");
const PAGE = 20, LETTERS = "ABCD";
const fields = ["query", "split", "kind", "timed"];
const questions = data.questions.map((row) => ({
  ...row, text: [row.qid, row.vid, row.query, row.answer, ...row.options].join("\n").toLowerCase(),
}));
let found = questions, page = 0;

const within = (time, window) => window && window[0] <= time && time <= window[1];

function figure(time, url, row) {
  const role = within(time, row.window) ? "answer" : within(time, row.asked) ? "question" : "";
  const told = role ? `${tenths(time)}, ${role}` : tenths(time);
  return thumb(url, `${row.vid} at ${told}`, told, role);
}

function article(row) {
  const spans = [row.asked ? `question ${fromTo(...row.asked)}` : null,
    row.window ? `answer ${fromTo(...row.window)}` : "the answer's span is to be marked by people"];
  const facts = [row.split, row.kind.replaceAll("_", " "), row.direction, `video ${row.vid}, ${tenths(row.duration)}`, ...spans];
  const options = row.options.map((text, place) =>
    make("li", { class: LETTERS[place] === row.ans ? "right" : "", dir: "auto" }, text, LETTERS[place] === row.ans ? " ✓" : null));
  const frames = data.frames[row.vid] || [];
  return make("article", { class: "card", tabindex: "-1" }, make("h2", { dir: "auto" }, row.query),
    make("div", { class: "soft" }, facts.filter(Boolean).join(" · "), make("br", {}), row.qid),
    options.length ? make("ol", {}, ...options) : make("p", { dir: "auto" }, row.answer),
    make("div", { class: "frames" }, ...frames.map(([time, url]) => figure(time, url, row)),
      frames.length ? null : make("span", { class: "soft" }, "no frames")));
}

function show() {
  const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  const split = byId("split").value, kind = byId("kind").value, timed = byId("timed").value;
  found = questions.filter((row) => (!split || row.split === split) && (!kind || row.kind === kind) &&
    (!timed || (timed === "known") === Boolean(row.window)) && words.every((word) => row.text.includes(word)));
  page = Math.min(page, Math.max(0, Math.ceil(found.length / PAGE) - 1));
  const last = Math.min(found.length, (page + 1) * PAGE);
  byId("questions").replaceChildren(...found.slice(page * PAGE, last).map(article));
  if (!found.length) byId("questions").append(make("p", { class: "empty" }, "No question fits these filters. Clear shows all again."));
  byId("place").textContent = found.length ? `${page * PAGE + 1}–${last} of ${found.length} questions` : "No question fits these filters";
  byId("previous").disabled = page === 0;
  byId("next").disabled = last >= found.length;
}

function turn(step) {
  page += step;
  show();
  byId("list").focus();
}

byId("title").textContent = data.title;
byId("about").textContent = data.about;
for (const name of ["split", "kind"]) {
  const values = [...new Set(questions.map((row) => row[name]))].sort();
  byId(name).append(option("", `any ${name}`),
    ...values.map((value) => option(value, value.replaceAll("_", " "))));
}
byId("previous").addEventListener("click", () => turn(-1));
byId("next").addEventListener("click", () => turn(1));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("input", () => { page = 0; show(); });
byId("filters").addEventListener("reset", () => setTimeout(() => { page = 0; show(); }));
browsing(turn, "#questions article");
show();
