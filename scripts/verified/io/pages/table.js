// Sorts and copies tables. A page is whole without it.
const TEXTS = new Intl.Collator("en", { numeric: true });

// What a cell counts as: its number where it begins with one, else its text; gaps last.
function weight(cell) {
  const text = cell.textContent.replace("★", "").trim(), number = parseFloat(text.replace(/,/g, "").replace("−", "-"));
  return { gap: text === "" || text === "–", number, text };
}

function sortBy(table, column, head) {
  const down = head.getAttribute("aria-sort") === "descending" ? -1 : 1, next = down === 1 ? "descending" : "ascending";
  const rows = [...table.tBodies[0].rows].map((row) => [weight(row.cells[column]), row]);
  const sign = next === "descending" ? -1 : 1;
  rows.sort(([a], [b]) => {
    if (a.gap || b.gap) return a.gap - b.gap;
    if (!Number.isNaN(a.number) && !Number.isNaN(b.number)) return sign * (a.number - b.number);
    return sign * TEXTS.compare(a.text, b.text);
  });
  table.tBodies[0].append(...rows.map(([, row]) => row));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", next);
}

const textsOf = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => {
  const parts = [...cell.childNodes].map((node) => node.textContent.trim());
  return parts.filter(Boolean).join(" ").replace(/\s+/g, " ");
}));

function asCsv(table) {
  return textsOf(table).map((row) => row.map((text) => {
    const inert = /^[=+@\t]|^-(?![\d.])/.test(text) ? `'${text}` : text; // a spreadsheet would run it
    return /[",\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
  }).join(",")).join("\n") + "\n";
}

const TEX = { "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", $: "\\$", "&": "\\&", "#": "\\#", _: "\\_", "%": "\\%",
  "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$", "–": "--", "†": "$^\\dagger$", "¹": "$^1$", "−": "$-$" };

function asLatex(table) {
  const rows = textsOf(table).map((row) => row.map((text) => {
    const escaped = text.replace(/[\\{}$&#_%~^±–†¹−]/g, (sign) => TEX[sign]);
    return escaped.startsWith("[") ? `{[}${escaped.slice(1)}` : escaped;
  }).join(" & ") + " \\\\");
  const columns = [...table.rows[0].cells].map((cell) => (cell.classList.contains("value") ? "r" : "l")).join("");
  return [`\\begin{tabular}{${columns}}`, "\\toprule", rows[0], "\\midrule", ...rows.slice(1), "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

// To the clipboard, by the old way where a page inside another has no right to the new one.
async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", { "aria-label": "Copied text" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    if (!done) return void (said.textContent = "This browser copies nothing: take it from the field below."), field.focus();
    field.remove();
  }
  said.textContent = "Copied.";
}

for (const table of document.querySelectorAll("table.sheet")) {
  if (!table.tHead) continue;
  if (table.tBodies[0].rows.length > 1) [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    button.addEventListener("click", () => sortBy(table, column, head));
    head.replaceChildren(button);
  });
  const said = make("span", { class: "soft", role: "status" });
  const tools = make("div", { class: "tools" }, ...[["CSV", asCsv], ["LaTeX", asLatex]].map(([name, form]) => {
    const button = make("button", { type: "button" }, `Copy as ${name}`);
    button.addEventListener("click", () => copy(form(table), said));
    return button;
  }), said);
  (table.closest(".wide") || table).after(tools);
}
