const task = read("task");
const ITEMS = task.items, ITEM = "item", VALUES = ["start", "end", "answer"];
const ID = ["rextime", task.task, task.annotator];
const TITLES = {
  verify: "Check questions and mark their answers",
  "question-span": "Mark what questions speak of",
  human: "Answer questions about videos",
};
const LETTERS = ["A", "B", "C", "D"];
const file = (answers) => ({ task: task.task, tool: task.tool, annotator: task.annotator, answers, log });

function note(action, value) {
  log.push({ item: ITEMS[at].item, action, value, at: new Date().toISOString() });
}

// What is wrong with a span, as the import will see it; nothing while it is not complete.
function problem(item) {
  const { start, end } = given(item);
  if (start === undefined || end === undefined) return "";
  if (start < 0) return "The span starts before the video.";
  if (end > item.duration) return `The video ends at ${clock(item.duration)}.`;
  if (start >= end) return "The span must end after its start.";
  return "";
}

function answered(item) {
  const { start, end, bad, answer } = given(item);
  if (bad) return true;
  const marked = start !== undefined && end !== undefined && !problem(item);
  return marked && (task.tool !== "human" || answer !== undefined);
}

function present(item) {
  byId("facts").textContent = [item.kind, `video ${item.video}`, item.qid, clock(item.duration)].filter(Boolean).join(" · ");
  byId("query").textContent = item.query;
  byId("answer").textContent = item.answer || "";
  byId("window").textContent = item.window ? `from ${clock(item.window[0])} to ${clock(item.window[1])}` : "";
  byId("video").src = read(`video-${item.clip}`);
  byId("video").setAttribute("aria-label", `Video of question ${at + 1}`);
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
}

function fill(item, { start, end, bad, answer }) {
  for (const [name, value] of [["start", start], ["end", end]]) {
    if (document.activeElement !== byId(name)) byId(name).value = value === undefined ? "" : clock(value);
  }
  byId("bad").checked = Boolean(bad);
  byId("span").disabled = Boolean(bad);
  for (const input of document.querySelectorAll("#options input")) input.checked = input.value === answer;
  byId("problem").textContent = bad ? "" : problem(item);
}

const move = (by) => step(byId("video"), by, ITEMS[at].duration);

// The video may be a little longer or shorter than its annotated duration.
function mark(name) {
  set(name, Math.min(Math.round(byId("video").currentTime * 10) / 10, ITEMS[at].duration));
}

function typed({ target: { value, id } }) {
  const time = seconds(value);
  set(id, Number.isNaN(time) ? undefined : time);
}

const KEYS = {
  s: () => mark("start"),
  e: () => mark("end"),
  n: () => go(at + 1),
  p: () => go(at - 1),
  ",": () => move(-0.1),
  ".": () => move(0.1),
};
if (task.tool === "verify") KEYS.b = () => set("bad", given().bad ? undefined : true);
if (task.tool === "human") LETTERS.forEach((letter, number) => (KEYS[number + 1] = () => set("answer", letter)));
const ARROWS = { ArrowLeft: () => move(-1), ArrowRight: () => move(1) }; // of their own in a video and in fields
const SPACE = { " ": () => playOrPause(byId("video")) }; // presses buttons

document.body.classList.add(task.tool);
byId("title").textContent = TITLES[task.tool];
byId("who").textContent = `${task.title}, annotator ${task.annotator}`;
byId("span-legend").textContent =
  task.tool === "question-span" ? "When is the question's event shown?" : "When is the answer shown?";
listen({ start: typed, end: typed }, "input");
listen({ bad: ({ target }) => set("bad", target.checked ? true : undefined) }, "change");
listen({ video: () => (byId("now").textContent = tenths(byId("video").currentTime)) }, "timeupdate");
document.addEventListener("keydown", (event) => {
  const on = (selector) => event.target.matches(selector);
  if (on("input[inputmode=decimal]")) return;
  shortcut(event, { ...KEYS, ...(on("video, input") ? {} : ARROWS), ...(on("button, summary, video, input") ? {} : SPACE) });
});
keyHelp([["s e", "the span starts, ends here"], ["space", "play and stop"], ["← →", "back and forth by a second"], [", .", "by a tenth of a second"],
  ...(task.tool === "verify" ? [["b", "the pair is bad"]] : []), ...(task.tool === "human" ? [["1 2 3 4", "choose an option"]] : []),
  ["n p", "next and previous question"]]);
buildSteps();
begin();
