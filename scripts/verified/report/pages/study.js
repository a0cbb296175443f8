// Descriptions are put on the page as text, never as markup.
const study = read("study");
const GRADES = ["statics", "dynamics", "accuracy"];
const NAME = `study-${study.study}-${study.participant}`;
let answers = {};
let at = 0;

function answered({ question }) {
  const given = answers[question] || {};
  return GRADES.every((name) => given[name] !== undefined);
}

const done = () => study.questions.map(answered);

function show() {
  const question = study.questions[at];
  byId("heading").textContent = `Question ${at + 1} of ${study.questions.length}`;
  byId("coarse").textContent = question.coarse;
  byId("fine").textContent = question.fine;
  const clip = byId("clip");
  clip.autoplay = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  clip.src = read(`clip-${question.question}`);
  clip.setAttribute("aria-label", `Clip of question ${at + 1}`);
  const given = answers[question.question] || {};
  for (const input of byId("answers").elements) {
    if (input.type === "radio") input.checked = String(given[input.name]) === input.value;
  }
  showSteps(done(), at);
}

function go(number) {
  if (number !== at) byId("instructions").open = false; // read by now, and in the way of what is to be judged
  at = number;
  show();
  byId("question").focus();
}

function begin() {
  answers = kept(NAME);
  byId("instructions").open = Object.keys(answers).length === 0;
  at = Math.max(0, done().indexOf(false));
  show();
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

byId("who").textContent = `${study.title}, participant ${study.participant}`;
byId("count").textContent = String(study.questions.length);
buildSteps(study.questions.length, go, () => saveAnswers(NAME, done(), exported, go));
byId("answers").addEventListener("change", (event) => {
  const question = study.questions[at].question;
  answers[question] = { ...answers[question], [event.target.name]: Number(event.target.value) };
  say("");
  keepAs(NAME, answers);
  showSteps(done(), at);
});
byId("previous").addEventListener("click", () => go(at - 1));
byId("next").addEventListener("click", () => go(at + 1));
begin();
