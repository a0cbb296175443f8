"""Text that fits: lines are broken by their drawn width, so that no edge cuts them."""

from functools import lru_cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

POINTS = 72
"""To an inch."""


@lru_cache(maxsize=4096)
def width_of(text: str, size: float, bold: bool = False) -> float:
    """Width in inches of a line of text drawn at `size` points."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] / POINTS


def wrap(text: str, width: float, size: float, bold: bool = False, indent: str = "") -> list[str]:
    """The text in lines of at most `width` inches; later ones begin with `indent`. A word too long is divided."""
    lines, line = [], ""
    words = text.split()
    while words:
        word = words.pop(0)
        longer = f"{line} {word}" if line.strip() else line + word
        if width_of(longer, size, bold) <= width:
            line = longer
        elif line.strip():
            lines.append(line)
            line = indent
            words.insert(0, word)
        else:
            fits = next(n for n in range(len(word), 0, -1) if n == 1 or width_of(line + word[:n], size, bold) <= width)
            lines.append(line + word[:fits])
            line = indent
            words[:0] = [word[fits:]] if word[fits:] else []
    return [*lines, line] if line.strip() or not lines else lines


def fit_text(text: str, width: float, height: float, sizes: tuple[float, ...], bold: bool = False) -> tuple[str, float]:
    """(lines, size): the first of `sizes`, in points, at which the text fits into a box in inches.

    If none fits, the smallest, with an ellipsis for the rest.
    """
    for size in sizes:
        lines = wrap(text, width, size, bold)
        if len(lines) * line_height(size) <= height:
            return "\n".join(lines), size
    room = max(1, int(height / line_height(size)))
    return "\n".join([*lines[: room - 1], lines[room - 1][:-2] + " …"]), size


def line_height(size: float) -> float:
    """Inches from one line to the next."""
    return 1.3 * size / POINTS
