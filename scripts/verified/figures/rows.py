"""Moments as rows: lines of text on the left, keyframes on the right, a thin line between rows."""

import io
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from matplotlib.lines import Line2D
from PIL import Image

from verified.figures.canvas import COLOURS, LABEL, drawing, literal, printable
from verified.figures.text import line_height, wrap
from verified.keyframes.archive import KeyframeTar

FRAME = 1.4
"""Height of a keyframe in inches, if the whole row fits next to the text."""
WIDEST = 16 / 9
"""Largest ratio of a drawn keyframe's width to its height."""
TEXT, FRAMES = 7.4, 5.0
"""Width of the text and of all keyframes of a row, in inches."""
GAP = 0.15
"""Inches between texts, pictures and rows."""
TIME = 0.3
"""Inches above a keyframe for its time."""


@dataclass
class MomentRow:
    """One row: (time in seconds, image) of its keyframes and its lines as (text, colour's name, bold)."""

    frames: list[tuple[float, Image.Image]]
    lines: list[tuple[str, str, bool]] = field(default_factory=list)
    spans: list[tuple[str, str, bool]] = field(default_factory=list)
    """Texts before they are broken into lines."""

    def add(self, text: str, colour: str = "none", bold: bool = False) -> None:
        """One line more; long ones are broken where they would leave the column."""
        self.spans.append((printable(text), colour, bold))
        for line in wrap(printable(text), TEXT, LABEL, bold, indent="    "):
            self.lines.append((literal(line), colour, bold))

    @property
    def frame_height(self) -> float:
        """Inches: `FRAME`, or less where the keyframes would not fit."""
        shapes = sum(_shape(image) for _, image in self.frames)
        return min(FRAME, (FRAMES - GAP * len(self.frames)) / shapes) if shapes else 0.0

    @property
    def height(self) -> float:
        """Inches that the row needs."""
        pictures = self.frame_height + TIME if self.frames else 0.0
        return max(pictures, line_height(LABEL) * len(self.lines)) + 2 * GAP

    @property
    def width(self) -> float:
        """Inches that the keyframes need."""
        return sum(self.frame_height * _shape(image) + GAP for _, image in self.frames)


def _shape(image: Image.Image) -> float:
    """Width of a picture by its height."""
    return min(WIDEST, image.width / image.height)


def keyframes_of(archives: Iterable[str], ids: set[int]) -> dict[int, list[tuple[float, Image.Image]]]:
    """(time in seconds, image) of the keyframes of the wanted moments, read from the archives of all shards."""
    with KeyframeTar(*archives) as stills:
        return {
            desc_id: [(frame["time"], _image(stills.image(frame["file"]))) for frame in stills.keyframes(desc_id)]
            for desc_id in ids & stills.rows.keys()
        }


def _image(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGB")


def draw_rows(rows: list[MomentRow], paths: Iterable[str | os.PathLike]) -> None:
    """Draw the rows below each other."""
    width = GAP + TEXT + GAP + max(row.width for row in rows)
    height = sum(row.height for row in rows)
    with drawing(paths, width, height, placed=True) as figure:
        texts = [(number, text, kind) for number, row in enumerate(rows, 1) for text, kind, _ in row.spans]
        alt = "Moments with their captions. " + ". ".join(text for _, text, _ in texts)
        figure.describe(alt, ("moment", "text", "kind"), texts)
        top = height
        for number, row in enumerate(rows):
            if number:
                rule = Line2D([GAP / width, 1 - GAP / width], [top / height] * 2, color="#cccccc", linewidth=0.6)
                figure.add_artist(rule)
            for position, (text, colour, bold) in enumerate(row.lines):
                below = top - GAP - position * line_height(LABEL)
                figure.text(
                    GAP / width,
                    below / height,
                    text,
                    color=COLOURS[colour],
                    va="top",
                    weight="bold" if bold else "normal",
                )
            left = GAP + TEXT + GAP
            for time, image in row.frames:
                high = row.frame_height
                box = (left, top - GAP - TIME - high, high * _shape(image), high)
                add_picture(figure, image, box, f"{time:.1f} s")
                left += box[2] + GAP
            top -= row.height


def add_picture(figure, image: Image.Image | np.ndarray, box: tuple[float, float, float, float], label: str) -> None:
    """Put a picture at `box` (left, bottom, width, height in inches), a label above it."""
    width, height = figure.get_size_inches()
    axis = figure.add_axes((box[0] / width, box[1] / height, box[2] / width, box[3] / height))
    axis.imshow(np.asarray(image), interpolation="nearest", aspect="auto")
    axis.set_title(label, pad=3)
    axis.axis("off")
