"""Moments as rows: lines of text on the left, keyframes beside them, a thin line between rows."""

import io
import json
import os
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from matplotlib.lines import Line2D
from PIL import Image

from verified.figures.canvas import COLOURS, drawing, literal
from verified.figures.text import line_height, wrap
from verified.io.archive import open_member

FRAME = 0.95
"""Height of a keyframe in inches; the widest is drawn at most WIDEST times as wide."""
WIDEST = 16 / 9
SIZE = 9
"""Points of the text."""
TEXT = 5.6
"""Width of the text in inches."""
GAP = 0.1
"""Inches between texts, pictures and rows."""
LABEL = 0.14
"""Inches above a keyframe for its time."""


@dataclass
class MomentRow:
    """One row: (time in seconds, image) of its keyframes and its lines as (text, colour's name, bold)."""

    frames: list[tuple[float, Image.Image]]
    lines: list[tuple[str, str, bool]] = field(default_factory=list)

    def add(self, text: str, colour: str = "none", bold: bool = False) -> None:
        """One line more; long ones are broken where they would leave the column."""
        printable = literal(text).replace(r"\$", "$")
        for line in wrap(printable, TEXT, SIZE, bold, indent="    "):
            self.lines.append((literal(line), colour, bold))

    @property
    def height(self) -> float:
        """Inches that the row needs."""
        return max(FRAME + LABEL if self.frames else 0, line_height(SIZE) * len(self.lines)) + 2 * GAP

    @property
    def width(self) -> float:
        """Inches that the keyframes need."""
        return sum(_width(image) + GAP for _, image in self.frames)


def _width(image: Image.Image) -> float:
    return FRAME * min(WIDEST, image.width / image.height)


def keyframes_of(archives: Iterable[str], wanted: set[int]) -> dict[int, list[tuple[float, Image.Image]]]:
    """(time in seconds, image) of the keyframes of the wanted moments, read from the archives of all shards."""
    keyframes = {}
    for path in archives:
        with tarfile.open(path) as archive:
            for line in open_member(archive, "index.jsonl"):
                row = json.loads(line)
                if row["desc_id"] in wanted:
                    keyframes[row["desc_id"]] = [
                        (frame["time"], _image(open_member(archive, frame["file"]).read()))
                        for frame in row["keyframes"]
                    ]
    return keyframes


def _image(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGB")


def draw_rows(rows: list[MomentRow], paths: Iterable[str | os.PathLike]) -> None:
    """Draw the rows below each other. Raises ValueError if there are none: a figure has something to show."""
    if not rows:
        raise ValueError("a figure of moments needs one")
    width = GAP + TEXT + GAP + max(row.width for row in rows)
    height = sum(row.height for row in rows)
    with drawing(paths, width, height, placed=True) as figure:
        top = height
        for number, row in enumerate(rows):
            if number:
                rule = Line2D([GAP / width, 1 - GAP / width], [top / height] * 2, color="#cccccc", linewidth=0.6)
                figure.add_artist(rule)
            for position, (text, colour, bold) in enumerate(row.lines):
                below = top - GAP - position * line_height(SIZE)
                figure.text(
                    GAP / width,
                    below / height,
                    text,
                    color=COLOURS[colour],
                    va="top",
                    size=SIZE,
                    weight="bold" if bold else "normal",
                )
            left = GAP + TEXT + GAP
            for time, image in row.frames:
                box = (left, top - GAP - LABEL - FRAME, _width(image), FRAME)
                add_picture(figure, image, box, f"{time:.1f} s")
                left += _width(image) + GAP
            top -= row.height


def add_picture(figure, image: Image.Image | np.ndarray, box: tuple[float, float, float, float], label: str = ""):
    """Put a picture at `box` (left, bottom, width, height in inches), a label above it; returns its axes."""
    width, height = figure.get_size_inches()
    axis = figure.add_axes((box[0] / width, box[1] / height, box[2] / width, box[3] / height))
    axis.imshow(np.asarray(image), interpolation="nearest", aspect="auto")
    axis.set_title(label, fontsize=7, pad=2)
    axis.axis("off")
    return axis
