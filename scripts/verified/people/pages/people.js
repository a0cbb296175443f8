// What all pages share that people work on.
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

// Moves the player by so many seconds.
function step(video, seconds, most) {
  video.currentTime = Math.min(Math.max(0, video.currentTime + seconds), video.duration || most);
}

// Seconds of "62.5", "1:02.5" or "1:01:02.5"; NaN for anything else.
function seconds(text) {
  const parts = text.trim().split(":");
  if (parts.length > 3 || !parts.every((part, n) => (n === parts.length - 1 ? /^\d+(\.\d*)?$/ : /^\d+$/).test(part))) return NaN;
  return Math.round(parts.reduce((sum, part) => sum * 60 + Number(part), 0) * 1000) / 1000;
}

const playOrPause = (video) => (video.paused ? video.play() : video.pause());

function listen(actions, type = "click") {
  for (const [id, act] of Object.entries(actions)) byId(id).addEventListener(type, act);
}
