"""The check's verdict on servers that look at the pictures they are sent, each with another fault."""

import base64
import io
import json
import re

import av
import numpy as np
import pytest
import yaml
from loopback import completion, endpoint
from PIL import Image
from running import PROJECT

from verified.__main__ import main

PAINTED = {  # colour → where red, green and blue are more than halfway
    "red": (True, False, False),
    "blue": (False, False, True),
    "yellow": (True, True, False),
}
KINDS = {  # model → its answer from the seconds and numbers of frames with a new colour, and the number of frames
    "right": lambda seconds, numbers, count: seconds,
    "one-a-second": lambda seconds, numbers, count: numbers,
    "two-a-second": lambda seconds, numbers, count: [number / 2 for number in numbers],
    "evenly": lambda seconds, numbers, count: [8 * number / count for number in numbers],
    "milliseconds": lambda seconds, numbers, count: [1000 * second for second in seconds],
    "clock": lambda seconds, numbers, count: [f"{int(second) // 60:02d}:{int(second) % 60:02d}" for second in seconds],
    "middle": lambda seconds, numbers, count: [4.0, 4.0, 4.0],
    "thirds": lambda seconds, numbers, count: [2.0, 4.0, 6.0],
}


def pictures(body: dict) -> tuple[list[np.ndarray], list[float], str]:
    """Frames, their seconds and the text of a request, as a server reads them."""
    parts = body["messages"][-1]["content"]
    if isinstance(parts, str):
        return [], [], parts
    text = " ".join(part["text"] for part in parts if part["type"] == "text")
    shown = [part[part["type"]]["url"].split(",", 1) for part in parts if part["type"] != "text"]
    if shown[0][0].startswith("data:video/mp4"):
        with av.open(io.BytesIO(base64.b64decode(shown[0][1])), "r") as film:
            decoded = [(frame.to_ndarray(format="rgb24"), float(frame.time or 0)) for frame in film.decode(video=0)]
        return [frame for frame, _ in decoded], [second for _, second in decoded], text
    if shown[0][0].startswith("data:video/jpeg"):
        facts = body["media_io_kwargs"]["video"]
        files = shown[0][1].split(",")
        seconds = [index / facts["fps"] for index in facts["frames_indices"]]
    else:
        files = [data for _, data in shown]
        seconds = [float(second) for second in re.findall(r"Picture \d+: ([\d.]+)", text)]
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(file)))) for file in files], seconds, text


def answer(body: dict) -> str:
    """The answer of the kind that the model's name tells, in the order of the colours in the question."""
    frames, seconds, text = pictures(body)
    colours = re.findall(r"^- (\w+)$", text, re.M)
    if not colours:
        return "A dog runs over a red meadow."
    middles = [frame[frame.shape[0] // 2, frame.shape[1] // 2] > 127 for frame in frames]
    numbers = [next(n for n, middle in enumerate(middles) if tuple(middle) == PAINTED[name]) for name in colours]
    kind = body["model"]
    if kind == "refuses":
        return "I cannot determine when things happen in a video."
    said = json.dumps({"seconds": KINDS.get(kind, KINDS["right"])([seconds[n] for n in numbers], numbers, len(frames))})
    return f'<think>Perhaps {{"seconds": [7, 7, 7]}}.</think>\n{said}' if kind == "thinks" else said


@pytest.mark.parametrize(
    "model, form, level, verdict",
    [
        ("right", "frames", "ok", "keeps time"),
        ("right", "mp4", "ok", "keeps time"),
        ("clock", "frames", "ok", "keeps time"),
        ("thinks", "frames", "ok", "keeps time"),
        ("evenly", "frames", "ok", "keeps the time of even frames alone"),
        ("one-a-second", "mp4", "note", "counts frames: slope 1.50, offset 0.0 s"),
        ("two-a-second", "frames", "note", "ignores the frame rate (as if there were 2 a second)"),
        ("milliseconds", "frames", "note", "states other seconds: slope 1000.00, offset 0.0 s"),
        ("middle", "frames", "note", "cannot tell"),
        ("thirds", "frames", "note", "cannot tell"),
        ("refuses", "frames", "note", "cannot tell"),
    ],
)
def test_a_server_of_each_kind_gets_its_verdict(model, form, level, verdict, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with endpoint(lambda number, body: completion(answer(body), model=body["model"])) as server:
        role = {"engine": "openai", "model": model, "base_url": server.url, "video_input": form}
        values = {"layers": [str(PROJECT / "config/nano.yaml")], "clock": {}, "generation": {"video_lmm": role}}
        (tmp_path / "lab.yaml").write_text(yaml.safe_dump(values))
        assert main(["check", "--configfile", "lab.yaml"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "as stills it" in line]
    assert line.startswith(level) and f"as {form} it {verdict}" in line, line
