// The clip of a question, shown as soon as it comes; what the instructions said is read by then.
function showClip(item) {
  byId("instructions").open = false;
  const clip = byId("clip");
  clip.autoplay = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  clip.src = read(`clip-${item.question}`);
  clip.setAttribute("aria-label", `Clip of question ${at + 1}`);
}
