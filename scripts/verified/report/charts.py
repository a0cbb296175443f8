"""Small charts of the front page as inline SVG: no script, colours of the page, sizes in pixels at any width."""

import html
from collections.abc import Sequence
from typing import NamedTuple

from verified.io.pages import colour_of

ROW, HEAD, FOOT, LANE = 44, 22, 22, 30
"""Pixels: a row, what stands above and below the rows, and the dots' place in a row."""
EDGE = 3
"""Percent left free at either side, so that no dot is cut."""


class Dot(NamedTuple):
    """A value in percent with its 95 % interval, if any."""

    value: float
    low: float | None
    high: float | None
    single: bool
    """Whether it is from one training, whose noise the interval lacks."""

    def __str__(self) -> str:
        between = "" if self.low is None else f" [{self.low:.1f}, {self.high:.1f}]"
        return f"{self.value:.1f}{between}"


class ModelRow(NamedTuple):
    """A model of a panel: trained on coarse and on fine captions, as far as it was."""

    name: str
    coarse: Dot | None
    fine: Dot | None


def upper_bound(values: Sequence[float]) -> float:
    """A round number that no value exceeds, at most 100."""
    most = max([*values, 1.0])
    for bound in (2, 5, 10, 20, 30, 40, 50, 60, 80):
        if most <= bound:
            return float(bound)
    return 100.0


def dot_panel(title: str, rows: Sequence[ModelRow], chance: float | None) -> str:
    """A figure: a row per model, hollow dots trained on coarse and filled ones on fine captions, lines for intervals, a
    dashed line at chance. What it shows is its text for who cannot see it."""
    dots = [dot for row in rows for dot in (row.coarse, row.fine) if dot]
    top = upper_bound([max(dot.value, dot.high or 0.0) for dot in dots] + [chance or 0.0])

    def at(value: float) -> str:
        return f"{EDGE + (100 - 2 * EDGE) * value / top:.2f}%"

    height = HEAD + ROW * len(rows) + FOOT
    foot = height - FOOT
    said = "; ".join(f"{row.name}: {_told(row)}" for row in rows)
    guess = "" if chance is None else f"; chance {chance:.1f}"
    label = html.escape(f"{title} in percent, from 0 to {top:g}. {said}{guess}")
    out = [f'<svg class="dots" role="img" aria-label="{label}" width="100%" height="{height}">']
    for tick in (0.0, top / 2, top):
        anchor = "start" if tick == 0 else "end" if tick == top else "middle"
        out.append(f'<line class="grid" x1="{at(tick)}" x2="{at(tick)}" y1="{HEAD}" y2="{foot}"/>')
        unit = " %" if tick == top else ""
        out.append(f'<text class="tick" x="{at(tick)}" y="{height - 6}" text-anchor="{anchor}">{tick:g}{unit}</text>')
    if chance is not None:
        left = chance < 0.6 * top
        beside = f'dx="{5 if left else -5}" text-anchor="{"start" if left else "end"}"'
        out.append(f'<line class="chance" x1="{at(chance)}" x2="{at(chance)}" y1="{HEAD - 6}" y2="{foot}"/>')
        out.append(f'<text class="tick" x="{at(chance)}" y="{HEAD - 8}" {beside}>chance {chance:.1f}</text>')
    for number, row in enumerate(rows):
        y, colour = HEAD + number * ROW, colour_of(row.name)
        out.append(f'<text class="name" x="{EDGE}%" y="{y + 15}">{html.escape(row.name)}</text>')
        out.append(f'<text class="told" x="{100 - EDGE}%" y="{y + 15}" text-anchor="end">{_short(row)}</text>')
        for dot, hollow in ((row.coarse, True), (row.fine, False)):
            if dot is None:
                continue
            lane = y + LANE + (-3 if hollow else 3)
            if dot.low is not None and dot.high is not None:
                ends = f'x1="{at(max(dot.low, 0))}" x2="{at(min(dot.high, top))}" y1="{lane}" y2="{lane}"'
                out.append(f'<line {ends} stroke="{colour}" stroke-width="{1.5 if hollow else 2.5}"/>')
            fill = "var(--paper)" if hollow else colour
            out.append(
                f'<circle cx="{at(dot.value)}" cy="{lane}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
            )
    out.append("</svg>")
    return f"<figure><figcaption>{html.escape(title)}</figcaption>{''.join(out)}</figure>"


def _told(row: ModelRow) -> str:
    return ", ".join(f"{name} {dot}" for name, dot in (("COG", row.coarse), ("FIG", row.fine)) if dot)


def _short(row: ModelRow) -> str:
    """The values alone: COG to FIG, a raised 1 behind that of one training."""
    texts = [f"{dot.value:.1f}{'¹' if dot.single else ''}" for dot in (row.coarse, row.fine) if dot]
    return " → ".join(texts)


def aim_mark(value: float, low: float | None, high: float | None, aim: str, met: bool | None) -> str:
    """A line with the value, its interval, and what the aim asks for (such as ``>= 0.95``) in green. The line goes from
    0 to 1, or for points of percent from -100 to 100."""
    comparison, _, bound = aim.partition(" ")
    limit = float(bound)
    first, last = (
        (0.0, 1.0) if all(0 <= number <= 1 for number in (value, low or 0.0, high or 0.0)) else (-100.0, 100.0)
    )

    def at(number: float) -> float:
        return round(EDGE + (100 - 2 * EDGE) * (min(max(number, first), last) - first) / (last - first), 2)

    start, end = (at(limit), at(last)) if comparison.startswith(">") else (at(first), at(limit))
    rail = f'x="{EDGE}%" width="{100 - 2 * EDGE}%"'
    out = [
        '<svg class="aim" aria-hidden="true" width="100%" height="14">',
        f'<rect class="rail" {rail} y="5" height="4" rx="2"/>',
        f'<rect class="good" x="{start}%" width="{end - start:.2f}%" y="5" height="4" rx="2"/>',
    ]
    if low is not None and high is not None:
        out.append(f'<line class="stem" x1="{at(low)}%" x2="{at(high)}%" y1="7" y2="7"/>')
    kind = {True: "met", False: "unmet", None: "open"}[met]
    out.append(f'<circle class="{kind}" cx="{at(value)}%" cy="7" r="5"/></svg>')
    return "".join(out)
