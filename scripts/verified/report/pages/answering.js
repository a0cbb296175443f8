"use strict";
// What all pages share that people answer on: answers kept in the browser, the steps, the file that is sent back.
const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);

function say(text) {
  byId("message").textContent = text;
}

// What this browser kept under a name; {} where it kept nothing.
function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) || {};
  } catch {
    return {};
  }
}

function keepAs(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    say("This browser does not keep answers: please finish and export before you close the page.");
  }
}

// One numbered button per question, and the ways on and back.
function buildSteps(count, go, save) {
  for (let number = 0; number < count; number += 1) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = String(number + 1);
    button.addEventListener("click", () => go(number));
    const item = document.createElement("li");
    item.append(button);
    byId("steps").append(item);
  }
  byId("answers").addEventListener("submit", (event) => event.preventDefault());
  byId("export").addEventListener("click", save);
}

// done: for each question whether it is answered; at: the one that is shown.
function showSteps(done, at) {
  done.forEach((answered, number) => {
    const button = byId("steps").children[number].firstChild;
    button.className = answered ? "answered" : "";
    button.setAttribute("aria-label", `Question ${number + 1}, ${answered ? "answered" : "open"}`);
    if (number === at) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  });
  byId("previous").disabled = at === 0;
  byId("next").disabled = at === done.length - 1;
  byId("progress").textContent = `${done.filter(Boolean).length} of ${done.length} answered`;
}

// FNV-1a, 64 bits: the import finds answers that were changed or mixed up on the way.
function checksum(text) {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, "0");
}

// Saves the answers as NAME.json if all questions are answered; else shows the first open one.
function saveAnswers(name, done, exported, go) {
  if (!done.every(Boolean)) {
    const left = done.flatMap((answered, number) => (answered ? [] : [number + 1]));
    go(done.indexOf(false));
    say(`Not complete yet. Open: question ${left.join(", ")}.`);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(exported(), null, 1)], { type: "application/json" }));
  link.download = `${name}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
  say(`Saved as ${link.download}. Please send this file back.`);
}
