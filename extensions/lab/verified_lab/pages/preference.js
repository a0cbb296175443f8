const preference = read("preference");
const ITEMS = preference.questions, ITEM = "question", VALUES = ["better", "accurate"];
const ID = ["preference", preference.preference, preference.participant];
const answered = (item) => VALUES.every((name) => given(item)[name] !== undefined);
const file = (answers) => ({ preference: preference.preference, participant: preference.participant, answers });
const note = () => {}; // no log is kept

function present(item) {
  for (const side of ["first", "second"]) byId(side).textContent = item[side];
  showClip(item);
}

function fill(item, values) {
  for (const input of document.querySelectorAll("#answers input")) input.checked = values[input.name] === input.value;
}

byId("who").textContent = `Participant ${preference.participant}`;
byId("count").textContent = String(ITEMS.length);
listen({ answers: ({ target }) => set(target.name, target.value) }, "change");
buildSteps();
begin();
