// Texts are put on the page as text, never as markup.
const task = read("task");
const NAME = `rextime-${task.task}-${task.annotator}`;
const TITLES = {
  verify: "Check questions and mark their answers",
  "question-span": "Mark what questions speak of",
  human: "Answer questions about videos",
};
const LETTERS = ["A", "B", "C", "D"];
let answers = {};
let log = [];
let at = 0;

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

const done = () => task.items.map(answered);

function set(name, value) {
  const item = task.items[at];
  answers[item.item] = { ...given(item), [name]: value };
  if (value === undefined) delete answers[item.item][name];
  note(name, value === undefined ? null : value);
  say("");
  keepAs(NAME, { answers, log });
  fill();
  showSteps(done(), at);
}

function show() {
  const item = task.items[at];
  byId("heading").textContent = `Question ${at + 1} of ${task.items.length}`;
  byId("facts").textContent = [item.kind, `video ${item.video}`, item.qid, `${item.duration} s`].filter(Boolean).join(" · ");
  byId("query").textContent = item.query;
  byId("answer").textContent = item.answer || "";
  byId("window").textContent = item.window ? `from ${item.window[0]} s to ${item.window[1]} s` : "";
  byId("video").src = read(`video-${item.clip}`);
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
  note("shown", null);
  keepAs(NAME, { answers, log });
  fill();
  showSteps(done(), at);
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

function go(number) {
  if (number < 0 || number >= task.items.length) return;
  at = number;
  show();
  byId("question").focus();
}

function begin() {
  ({ answers = {}, log = [] } = kept(NAME));
  byId("instructions").open = Object.keys(answers).length === 0;
  at = Math.max(0, done().indexOf(false));
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

document.body.classList.add(task.tool);
byId("title").textContent = TITLES[task.tool];
byId("who").textContent = `${task.title}, annotator ${task.annotator}`;
byId("span-legend").textContent =
  task.tool === "question-span" ? "When is the question's event shown?" : "When is the answer shown?";
buildSteps(task.items.length, go, () => saveAnswers(NAME, done(), exported, go));
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
byId("previous").addEventListener("click", () => go(at - 1));
byId("next").addEventListener("click", () => go(at + 1));
document.addEventListener("keydown", typed);
begin();
