const study = read("study");
const ITEMS = study.questions, ITEM = "question", VALUES = ["statics", "dynamics", "accuracy"];
const ID = ["study", study.study, study.participant];
const answered = (item) => VALUES.every((name) => given(item)[name] !== undefined);
const file = (answers) => ({ study: study.study, participant: study.participant, answers });
const note = () => {}; // a study keeps no log

function present(item) {
  byId("instructions").open = false; // read by now, and in the way of what is to be judged
  byId("coarse").textContent = item.coarse;
  byId("fine").textContent = item.fine;
  const clip = byId("clip");
  clip.autoplay = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  clip.src = read(`clip-${item.question}`);
  clip.setAttribute("aria-label", `Clip of question ${at + 1}`);
}

function fill(item, values) {
  for (const input of document.querySelectorAll("#answers input")) input.checked = String(values[input.name]) === input.value;
}

byId("who").textContent = `${study.title}, participant ${study.participant}`;
byId("count").textContent = String(ITEMS.length);
listen({ answers: ({ target }) => set(target.name, Number(target.value)) }, "change");
buildSteps();
begin();
