"use strict";
// Descriptions are put on the page as text, never as markup.
const study = JSON.parse(document.getElementById("study").textContent);
const GRADES = ["statics", "dynamics", "accuracy"];
const byId = (id) => document.getElementById(id);
const place = `study-${study.study}-${study.participant}`;
let answers = {};
let at = 0;

function restore() {
  try {
    answers = JSON.parse(localStorage.getItem(place)) || {};
  } catch {
    answers = {};
  }
}

function keep() {
  try {
    localStorage.setItem(place, JSON.stringify(answers));
  } catch {
    say("This browser does not keep answers: please finish and export before you close the page.");
  }
}

function say(text) {
  byId("message").textContent = text;
}

function answered(question) {
  const given = answers[question.question] || {};
  return GRADES.every((name) => given[name] !== undefined);
}

function show() {
  const question = study.questions[at];
  byId("heading").textContent = `Question ${at + 1} of ${study.questions.length}`;
  byId("coarse").textContent = question.coarse;
  byId("fine").textContent = question.fine;
  const clip = byId("clip");
  clip.autoplay = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  clip.src = JSON.parse(byId(`clip-${question.question}`).textContent);
  clip.setAttribute("aria-label", `Clip of question ${at + 1}`);
  const given = answers[question.question] || {};
  for (const input of byId("answers").elements) {
    if (input.type === "radio") input.checked = String(given[input.name]) === input.value;
  }
  byId("previous").disabled = at === 0;
  byId("next").disabled = at === study.questions.length - 1;
  steps();
}

function steps() {
  study.questions.forEach((question, number) => {
    const button = byId("steps").children[number].firstChild;
    const done = answered(question);
    button.className = done ? "answered" : "";
    button.setAttribute("aria-label", `Question ${number + 1}, ${done ? "answered" : "open"}`);
    if (number === at) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  });
  const done = study.questions.filter(answered).length;
  byId("progress").textContent = `${done} of ${study.questions.length} answered`;
}

function go(number) {
  if (number !== at) byId("instructions").open = false; // read by now, and in the way of what is to be judged
  at = number;
  show();
  byId("question").focus();
}

function begin() {
  restore();
  byId("instructions").open = Object.keys(answers).length === 0;
  at = Math.max(0, study.questions.findIndex((question) => !answered(question)));
  show();
}

// FNV-1a, 64 bits: the import finds answers that were changed or mixed up on the way.
function checksum(text) {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, "0");
}

function exported() {
  return {
    study: study.study,
    participant: study.participant,
    answers: study.questions.map(({ question }) => {
      const given = answers[question];
      const parts = [study.study, study.participant, question, ...GRADES.map((name) => given[name])];
      return { question, ...given, check: checksum(parts.join("|")) };
    }),
  };
}

function save() {
  const open = study.questions.findIndex((question) => !answered(question));
  if (open >= 0) {
    const left = study.questions.flatMap((question, number) => (answered(question) ? [] : [number + 1]));
    go(open);
    say(`Not complete yet. Open: question ${left.join(", ")}.`);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(exported(), null, 1)], { type: "application/json" }));
  link.download = `${place}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
  say(`Saved as ${link.download}. Please send this file back.`);
}

byId("who").textContent = `${study.title}, participant ${study.participant}`;
byId("count").textContent = String(study.questions.length);
study.questions.forEach((_, number) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = String(number + 1);
  button.addEventListener("click", () => go(number));
  const item = document.createElement("li");
  item.append(button);
  byId("steps").append(item);
});
byId("answers").addEventListener("change", (event) => {
  const question = study.questions[at].question;
  answers[question] = { ...answers[question], [event.target.name]: Number(event.target.value) };
  say("");
  keep();
  steps();
});
byId("answers").addEventListener("submit", (event) => event.preventDefault());
byId("previous").addEventListener("click", () => go(at - 1));
byId("next").addEventListener("click", () => go(at + 1));
byId("export").addEventListener("click", save);
begin();
