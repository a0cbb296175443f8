"use strict";
// What all pages share. What comes from data is put on a page as text, or as markup whose texts are escaped.
const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const option = (value, text) => make("option", { value }, text);

// 62.5 as 1:02.5, to a thousandth where a tenth is not exact.
function clock(time) {
  const thousandths = Math.round(time * 1000), rest = thousandths % 60000;
  return `${Math.floor(thousandths / 60000)}:${rest < 10000 ? "0" : ""}${(rest / 1000).toFixed(rest % 100 ? 3 : 1)}`;
}

// To a tenth of a second, which is enough where nothing is marked.
const tenths = (time) => clock(Math.round(time * 10) / 10);
const fromTo = (start, end) => `${tenths(start)}–${tenths(end)}`;

// A picture with the time that it is from.
function thumb(url, about, told, kind = "") {
  return make("figure", { class: `thumb ${kind}`.trim() }, make("img", { src: url, alt: about, loading: "lazy" }), make("figcaption", {}, told));
}

// Whether a key belongs to the field that has the focus.
const inField = (event) => ["INPUT", "SELECT", "TEXTAREA", "VIDEO"].includes(event.target.tagName);

// The help that "?" opens: pairs of keys (several apart by spaces) and what they do.
function keyHelp(pairs) {
  const dialog = make("dialog", { class: "keys", "aria-label": "Keys" }, make("h2", {}, "Keys"),
    make("dl", {}, ...[...pairs, ["?", "this list"], ["Esc", "close it"]].flatMap(([keys, does]) =>
      [make("dt", {}, ...keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "])), make("dd", {}, does)])),
    make("form", { method: "dialog" }, make("button", {}, "Close")));
  document.body.append(dialog);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || inField(event) || dialog.open) return;
    event.preventDefault();
    dialog.showModal();
  });
  for (const button of document.querySelectorAll(".show-keys")) button.addEventListener("click", () => dialog.showModal());
}

// The keys of a page that one browses: into the query, from card to card, and to the next page or the one before.
function browsing(turn, cards) {
  const keys = {
    "/": () => byId("query").select(),
    j: () => move(1), k: () => move(-1),
    n: () => byId("next").disabled || turn(1), p: () => byId("previous").disabled || turn(-1),
  };
  const move = (by) => {
    const all = [...document.querySelectorAll(cards)], here = all.indexOf(document.activeElement.closest(cards));
    const next = all[here < 0 ? 0 : here + by];
    if (next) next.focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && inField(event)) event.target.blur();
    if (event.ctrlKey || event.metaKey || event.altKey || inField(event) || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  keyHelp([["/", "to the search field"], ["j k", "next and previous card"], ["n p", "next and previous page"], ["Tab Enter", "into a card and open what it folds"]]);
}
