"use strict";
// What all pages share that people work on. Everything that comes from data is put on the page as text, never as markup.
const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);

function say(text) {
  byId("message").textContent = text;
}

// What this browser keeps under a name, or `otherwise`.
function kept(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

// Keeps values by their names; returns what is to be said if it cannot.
function keep(values) {
  try {
    for (const [name, value] of Object.entries(values)) localStorage.setItem(name, JSON.stringify(value));
    return "";
  } catch {
    return "This browser keeps nothing: save what you have done before you close the page.";
  }
}

function saveFile(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// Runs what `keys` holds for a pressed key.
function shortcut(event, keys) {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

const playOrPause = (video) => (video.paused ? video.play() : video.pause());

function listen(actions, type = "click") {
  for (const [id, act] of Object.entries(actions)) byId(id).addEventListener(type, act);
}
