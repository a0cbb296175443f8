const study = read("study");
const ITEMS = study.questions, ITEM = "question", VALUES = ["statics", "dynamics", "accuracy"];
const ID = ["study", study.study, study.participant];
const answered = (item) => VALUES.every((name) => given(item)[name] !== undefined);
const file = (answers) => ({ study: study.study, participant: study.participant, answers });
const note = () => {}; // a study keeps no log

function present(item) {
  for (const name of ["coarse", "fine"]) byId(name).textContent = item[name];
  showClip(item);
}

function fill(item, values) {
  for (const input of document.querySelectorAll("#answers input")) input.checked = String(values[input.name]) === input.value;
}

byId("who").textContent = `${study.title}, participant ${study.participant}`;
byId("count").textContent = String(ITEMS.length);
listen({ answers: ({ target }) => set(target.name, Number(target.value)) }, "change");
buildSteps();
begin();
