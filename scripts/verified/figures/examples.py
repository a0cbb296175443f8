"""Generated annotations with their keyframes: the coarse caption, the best and the worst fine one (Figure 3)."""

import io
import json
import tarfile
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from verified.common.files import atomic_path
from verified.common.seeds import generator

COLOURS = {"statics": "#1b7837", "dynamics": "#2166ac"}
"""Green for statics and blue for dynamics, as in the paper; the type is also spelled out, for print in grey."""


def pick(annotations: list[dict], count: int, seed: int) -> list[dict]:
    """`count` annotations of `count` different videos, drawn from `seed`, half of them statics where there are both."""
    order = generator(seed, "examples").permutation(len(annotations))
    picked, videos = [], set()
    for wanted in [("statics", "dynamics")[turn % 2] for turn in range(count)]:
        for position in order:
            row = annotations[position]
            if row["video"] not in videos and row.get("fig_desc_type", wanted) == wanted:
                picked.append(row)
                videos.add(row["video"])
                break
    return picked


def keyframes_of(archives: list[str], wanted: set[int]) -> dict[int, list[tuple[float, Image.Image]]]:
    """(time in seconds, image) of the keyframes of the wanted moments, read from the archives of all shards."""
    found = {}
    for path in archives:
        with tarfile.open(path) as archive:
            for line in archive.extractfile("index.jsonl"):
                row = json.loads(line)
                if row["desc_id"] in wanted:
                    found[row["desc_id"]] = [
                        (
                            frame["time"],
                            Image.open(io.BytesIO(archive.extractfile(frame["file"]).read())).convert("RGB"),
                        )
                        for frame in row["keyframes"]
                    ]
    return found


def draw_examples(
    annotations: list[dict], scores: list[dict], archives: list[str], paths: list[str | Path], count: int, seed: int
) -> None:
    """Draw `count` moments, one a row, and save the figure under each of `paths` (format by ending)."""
    chosen = pick(annotations, count, seed)
    frames = keyframes_of(archives, {row["desc_id"] for row in chosen})
    widest = max((len(frames.get(row["desc_id"], [])) for row in chosen), default=1) or 1
    plt.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "verified", "font.size": 9})
    size = (1.5 * widest + 6.5, 1.75 * len(chosen))
    ratios = [1.5] * widest + [6.5]
    figure, axes = plt.subplots(len(chosen), widest + 1, figsize=size, squeeze=False, width_ratios=ratios)
    for row, line in zip(chosen, axes):
        for axis in line:
            axis.axis("off")
        for axis, (time, image) in zip(line, frames.get(row["desc_id"], [])):
            axis.imshow(np.asarray(image), interpolation="nearest")
            axis.set_title(f"{time:.1f} s", fontsize=8)
        _captions(line[-1], row, [entry for entry in scores if entry["desc_id"] == row["desc_id"]])
    figure.tight_layout(h_pad=1.2)
    for path in paths:
        with atomic_path(path) as temporary:
            dated = "Date" if str(path).endswith("svg") else "Software"
            figure.savefig(temporary, dpi=110, metadata={dated: None})
    plt.close(figure)


def _captions(axis, row: dict, scores: list[dict]) -> None:
    start, end = row["time"]
    lines = [
        (f"{row['video']}, {start:g}–{end:g} s", "black", "bold"),
        (f"coarse: {row['cog_desc']}", "black", "normal"),
    ]
    ranked = sorted(scores, key=lambda entry: -entry["score"])
    for label, entry in (("best", ranked[0]), ("worst", ranked[-1])) if ranked else ():
        text = f"{label} ({entry['type']}, {entry['score']:.2f}): {entry['caption']}"
        lines.append((text, COLOURS[entry["type"]], "normal"))
    height = 1.0
    for text, colour, weight in lines:
        wrapped = textwrap.fill(text.replace("$", r"\$"), 92)
        axis.text(0, height, wrapped, color=colour, weight=weight, va="top", transform=axis.transAxes)
        height -= 0.16 * (wrapped.count("\n") + 1) + 0.04
