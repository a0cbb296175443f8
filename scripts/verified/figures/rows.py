"""Moments as rows: keyframes on the left, lines of text beside them."""

import io
import json
import os
import tarfile
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from verified.figures.canvas import COLOURS, drawing, literal

FRAME = 1.15
"""Side of a keyframe in inches."""
LINE = 0.165
"""Height of a line of text in inches."""
LETTERS = 96
"""Letters in a line of text."""
TEXT = 6.6
"""Width of the text in inches."""


@dataclass
class MomentRow:
    """One row: (time in seconds, image) of its keyframes and its lines as (text, colour's name, bold)."""

    frames: list[tuple[float, Image.Image]]
    lines: list[tuple[str, str, bool]] = field(default_factory=list)

    def add(self, text: str, colour: str = "none", bold: bool = False) -> None:
        """One line more; long ones are wrapped."""
        wrapped = textwrap.wrap(text, LETTERS, subsequent_indent="    ") or [""]
        self.lines += [(literal(part), colour, bold) for part in wrapped]

    @property
    def height(self) -> float:
        """Inches that the row needs."""
        return max(FRAME + 0.35, LINE * len(self.lines) + 0.3)


def keyframes_of(archives: Iterable[str], wanted: set[int]) -> dict[int, list[tuple[float, Image.Image]]]:
    """(time in seconds, image) of the keyframes of the wanted moments, read from the archives of all shards."""
    found = {}
    for path in archives:
        with tarfile.open(path) as archive:
            for line in archive.extractfile("index.jsonl"):
                row = json.loads(line)
                if row["desc_id"] in wanted:
                    found[row["desc_id"]] = [
                        (frame["time"], _image(archive.extractfile(frame["file"]).read())) for frame in row["keyframes"]
                    ]
    return found


def _image(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGB")


def draw_rows(rows: list[MomentRow], paths: Iterable[str | os.PathLike], empty: str) -> None:
    """Draw the rows below each other; `empty` is the text of a figure without any."""
    widest = max((len(row.frames) for row in rows), default=0)
    heights = [row.height for row in rows] or [0.6]
    with drawing(paths, FRAME * widest + TEXT, sum(heights)) as figure:
        if not rows:
            figure.text(0.5, 0.5, empty, ha="center", va="center")
            return
        ratios = [FRAME] * widest + [TEXT]
        axes = figure.subplots(len(rows), widest + 1, squeeze=False, width_ratios=ratios, height_ratios=heights)
        for row, line in zip(rows, axes):
            for axis in line:
                axis.axis("off")
            for axis, (time, image) in zip(line, row.frames):
                axis.imshow(np.asarray(image), interpolation="nearest")
                axis.set_title(f"{time:.1f} s", fontsize=8)
                axis.set_anchor("N")
            for number, (text, colour, bold) in enumerate(row.lines):
                line[-1].text(0, 1 - number * LINE / row.height, text, color=COLOURS[colour], va="top",
                              weight="bold" if bold else "normal", transform=line[-1].transAxes)  # fmt: skip
