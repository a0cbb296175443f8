// The page of what is still at work loads itself again, unless it is paused or something on it has the focus.
{
  const button = byId("pause");
  let paused = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    if (!paused) button.blur();
  });
  setInterval(() => {
    if (!paused && document.activeElement === document.body) location.reload();
  }, 1000 * Number(button.dataset.seconds));
}
