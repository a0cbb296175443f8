// Pages of numbered questions. Each says: ITEMS, what is asked; ITEM, the key of their numbers; VALUES, the keys of an
// answer; ID, the page's kind, task and person; present(item) and fill(item, given), which show an item and its answer;
// answered(item); note(action, value), its log; and file(answers), what is sent back.
let answers = {};
let log = [];
let at = 0;
let warned = false; // that the answers to be exported are not all there

const NAME = () => ID.join("-");
const done = () => ITEMS.map(answered);
const given = (item = ITEMS[at]) => answers[item[ITEM]] || {};

function changed() {
  warned = false;
  const problem = keep({ [NAME()]: { answers, log } });
  fill(ITEMS[at], given());
  showSteps();
  return problem;
}

function set(name, value) {
  answers[ITEMS[at][ITEM]] = { ...given(), [name]: value };
  note(name, value ?? null);
  say(changed());
}

function show() {
  byId("heading").textContent = `Question ${at + 1} of ${ITEMS.length}`;
  present(ITEMS[at]);
  note("shown", null);
  changed();
}

function go(number) {
  if (number < 0 || number >= ITEMS.length) return;
  at = number;
  show();
  byId("question").focus();
}

// One numbered button per question, and the ways on and back.
function buildSteps() {
  byId("steps").append(...ITEMS.map((_, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = String(number + 1);
    button.addEventListener("click", () => go(number));
    const step = document.createElement("li");
    step.append(button);
    return step;
  }));
  listen({ previous: () => go(at - 1), next: () => go(at + 1), export: send });
  byId("answers").addEventListener("submit", (event) => event.preventDefault());
}

function showSteps() {
  done().forEach((one, number) => {
    const button = byId("steps").children[number].firstChild;
    button.className = one ? "answered" : "";
    button.setAttribute("aria-label", `Question ${number + 1}, ${one ? "answered" : "open"}`);
    if (number === at) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  });
  byId("previous").disabled = at === 0;
  byId("next").disabled = at === ITEMS.length - 1;
  byId("progress").textContent = `${done().filter(Boolean).length} of ${ITEMS.length} answered`;
}

// Goes on where the person has left.
function begin() {
  ({ answers = {}, log = [] } = kept(NAME(), {}));
  at = Math.max(0, done().indexOf(false));
  show();
  byId("instructions").open = Object.keys(answers).length === 0;
}

// FNV-1a, 64 bits: the import finds answers that were changed or mixed up on the way.
function checksum(text) {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, "0");
}

function answerOf(item) {
  const { bad, ...values } = given(item);
  const told = bad ? ["bad"] : VALUES.map((name) => values[name] ?? "");
  const answer = bad ? { bad } : Object.fromEntries(VALUES.map((name) => [name, values[name]]));
  return { [ITEM]: item[ITEM], ...answer, check: checksum([...ID.slice(1), item[ITEM], ...told].join("|")) };
}

// Saves the answers; while some are missing, the first time only says so and shows the first open question.
function send() {
  const open = done().flatMap((one, number) => (one ? [] : [number + 1]));
  if (open.length === ITEMS.length) return say("There is nothing to export yet.");
  if (open.length && !warned) {
    go(open[0] - 1);
    warned = true;
    return say(`Not complete yet. Open: question ${open.join(", ")}. To send what there is, export once more.`);
  }
  const answers = ITEMS.filter(answered).map(answerOf);
  saveFile(`${NAME()}.json`, "application/json", JSON.stringify(file(answers), null, 1));
  const part = open.length ? ` with ${answers.length} of ${ITEMS.length} answers` : "";
  say(`Saved as ${NAME()}.json${part}. Please send this file back.`);
}
